//! The words and signs of the screens, explained. The palette finds them beside the keys.

/// A word or a sign, and what it means.
#[derive(Debug, Clone, Copy)]
pub struct Word {
    /// As the screens write it.
    pub word: &'static str,
    /// Other ways to ask for it.
    also: &'static [&'static str],
    /// What it means.
    pub about: &'static str,
}

const fn word(word: &'static str, also: &'static [&'static str], about: &'static str) -> Word {
    Word { word, also, about }
}

/// All of them: words by the alphabet, then signs.
pub const GLOSSARY: &[Word] = &[
    word(
        "active",
        &["chain"],
        "The box that runs, and the boxes around it that wait for it: the active chain.",
    ),
    word(
        "box",
        &["activation"],
        "One call of a predicate, from its call to its last way out. A redo enters it again.",
    ),
    word(
        "call",
        &["port", "ports"],
        "A box is entered. The ports of a box are call, exit, redo, fail and exception.",
    ),
    word(
        "choicepoint",
        &["choicepoints", "left"],
        "What an exit leaves if the box can give more solutions. Never used: it was cut, or the \
         run ended.",
    ),
    word(
        "collected",
        &["collector"],
        "Work before backtracking whose result was kept: by findall/3, forall/2 and the like, or \
         in a loop that ends in fail. It is no undone work.",
    ),
    word(
        "collections",
        &["garbage", "GC", "stack shifts"],
        "Garbage collections and stack shifts of the engine. They are no work; w shows them.",
    ),
    word(
        "cost centre",
        &["center"],
        "A name that the program or --tests gives to a part of the run, with figures of its own.",
    ),
    word(
        "cut",
        &["cuts"],
        "Choicepoints are discarded: by !, an if-then-else, once/1 and the like.",
    ),
    word("depth", &[], "How many boxes are around a box."),
    word(
        "det",
        &["determinism", "semidet", "multi", "nondet", "failing"],
        "As observed. det: one solution; semidet: one or none; multi: one or more, or a \
         choicepoint; nondet: any number; failing: none.",
    ),
    word(
        "exception",
        &["exc.", "raised", "caught"],
        "A box is left by an exception. ! lists where they were raised and caught.",
    ),
    word(
        "exit",
        &["exit_det", "exit_nondet"],
        "A box has a solution. exit_nondet leaves a choicepoint, exit_det leaves none.",
    ),
    word(
        "fail",
        &["fails", "failed"],
        "A box is left without a solution, or without a further one. failed: time in such boxes.",
    ),
    word(
        "goal",
        &["site"],
        "A call in the body of a clause. p/1 #2.4 is goal 4 of clause 2 of p/1.",
    ),
    word(
        "growth",
        &[],
        "How the time of a call changes with its ordinal: constant, linear and so on.",
    ),
    word(
        "hottest path",
        &[],
        "From the top, always into the callee with the most work.",
    ),
    word(
        "inclusive",
        &["incl", "cumulative"],
        "Work while a box of the predicate is active or waits for what it called; recursion \
         counts once.",
    ),
    word(
        "last call",
        &["tail", "tail call"],
        "A call in place of the box that made it: the box stands for both from then on, and a \
         loop of last calls is one box.",
    ),
    word(
        "loading",
        &["autoload"],
        "Libraries that are loaded on demand. That is no work; w shows it.",
    ),
    word(
        "mark",
        &["marks", "pm_mark"],
        "A moment that the program names by pm_mark/1. : and its text leads there.",
    ),
    word(
        "mean",
        &["max"],
        "Mean and longest time of single calls, with all that passes in them, waiting, too.",
    ),
    word(
        "net",
        &["compensated"],
        "Times without what recording cost, where that is known. C turns to times as recorded.",
    ),
    word(
        "open",
        &[],
        "The box had no way out before the end, or events were lost.",
    ),
    word(
        "pending",
        &[],
        "The box could be entered again at the end, and never was.",
    ),
    word(
        "redo",
        &["redos", "redone", "resumed"],
        "Backtracking enters a box again that had left a choicepoint.",
    ),
    word(
        "self",
        &["own time"],
        "Time while the box itself is active: not what it calls.",
    ),
    word(
        "served",
        &[],
        "Of a goal: work in what it calls, for this goal.",
    ),
    word(
        "set-up",
        &["setup"],
        "What the recorder does to the program while that runs. It is no work; w shows it.",
    ),
    word(
        "stream",
        &["thread", "engine"],
        "The events of one thread or engine. Events are numbered from 0 in each stream.",
    ),
    word(
        "took",
        &["so far"],
        "Time from a call or redo to the next way out, pauses left out. ≥ before it: so far, as \
         the box was open at the end.",
    ),
    word(
        "traced",
        &["untraced"],
        "Time while a recorded box is active; untraced: while none is.",
    ),
    word(
        "undone",
        &["thrown away", "undo"],
        "Work that backtracking went back before, so that its result was lost. What was collected \
         is not in it. Shares are of all work.",
    ),
    word(
        "usual",
        &["× usual"],
        "The usual call of a predicate is the middle one by time of all its calls.",
    ),
    word(
        "waiting",
        &["wait", "waits", "idle"],
        "Time in which a thread had no processor: for a mutex, a queue, input, a sleep, or the \
         scheduler. It is no work; w shows it.",
    ),
    word(
        "work",
        &["whole"],
        "Time of the program's own calls. Waiting, loading, collections and set-up are left out. \
         Shares are of work, unless w shows all time.",
    ),
    word(
        "~",
        &["longest"],
        "On the timeline: several boxes in a cell, and the name of the one that is there longest. \
         In a filter: a regular expression follows.",
    ),
    word(
        "×",
        &["times"],
        "×12: so many times, or so many boxes of a recursion in one row. In a cell of the \
         timeline: of several boxes some fail and some are redone.",
    ),
    word(
        "░",
        &["several"],
        "A cell of the timeline with several boxes, none of which fails or is redone.",
    ),
    word("✗", &["fails✗"], "On the timeline: a box fails here."),
    word("↶", &["redos↶"], "On the timeline: a box is redone here."),
    word(
        "◇",
        &["again"],
        "On the timeline: the box exits and leaves a choicepoint.",
    ),
    word(
        "»",
        &["by last call"],
        "On the timeline: the box begins with a last call.",
    ),
    word(
        "‹",
        &["from before", "›", "goes on"],
        "‹ the box began before what is shown; › it goes on after that. In a list: there are more \
         columns on that side.",
    ),
    word("▏", &["called"], "On the timeline: the box is called here."),
    word(
        "·",
        &["dots"],
        "On the timeline: the thread waits, or the engine loads or collects. Where nothing else \
         is: not read yet, or its events were folded into figures and are gone.",
    ),
    word("‖", &["paused", "pause"], "Recording is paused."),
    word(
        "? in a picture",
        &["gap", "lost"],
        "Events were lost: what was open then is not known.",
    ),
    word(
        "!",
        &["uncaught"],
        "An exception. As a key: the list of exceptions.",
    ),
    word(
        "┆",
        &["new block", "block"],
        "On the timeline: the recorder began a new block of the trace, which took time.",
    ),
    word(
        "↻",
        &["recursive", "recursion"],
        "The box has calls of its own predicate inside.",
    ),
    word("–", &["unknown"], "Not known."),
    word(
        "…",
        &["cut off"],
        "Something is cut off here; of a time: it is still looked for.",
    ),
    word(
        "≥",
        &[">="],
        "So far: the box was open at the end of the trace.",
    ),
    word(
        "Δ",
        &["delta"],
        "Time since the row above; of changes: after less before.",
    ),
    word(
        "▼",
        &["▲", "sorted"],
        "The list is sorted by this column, the largest first (▼) or the smallest (▲).",
    ),
];

impl Word {
    /// Whether a text, in small letters, asks for it. A letter alone asks for no word.
    pub(super) fn is_asked(&self, wanted: &str) -> bool {
        let is_sign = !wanted.chars().all(char::is_alphanumeric);
        let mut names = std::iter::once(&self.word).chain(self.also);
        (is_sign || wanted.chars().count() > 1)
            && names.any(|name| name.to_lowercase().starts_with(wanted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(wanted: &str) -> Vec<&'static str> {
        let words = GLOSSARY.iter().filter(|word| word.is_asked(wanted));
        words.map(|word| word.word).collect()
    }

    #[test]
    fn words_are_found_by_their_beginning_and_signs_by_themselves() {
        assert_eq!(asked("undone"), ["undone"]);
        assert_eq!(asked("wo"), ["work"]);
        assert_eq!(asked("~"), ["~"]);
        assert_eq!(asked("×"), ["usual", "×"]);
        assert_eq!(asked("✗"), ["✗"]);
        assert_eq!(asked("›"), ["‹"]);
        assert_eq!(asked("gc"), ["collections"]);
        assert_eq!(asked("w"), [""; 0]);
        assert_eq!(asked(""), [""; 0]);
        assert_eq!(asked("no such word"), [""; 0]);
    }

    /// Each is asked for by all of its names.
    #[test]
    fn no_word_is_there_twice() {
        let mut words: Vec<&str> = GLOSSARY.iter().map(|word| word.word).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), GLOSSARY.len());
        for word in GLOSSARY {
            for name in word.also {
                assert!(asked(&name.to_lowercase()).contains(&word.word), "{name}");
            }
        }
    }
}
