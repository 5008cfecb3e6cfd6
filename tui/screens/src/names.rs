//! Names of predicates, goals and streams on the screens. Where there is little room, the modules
//! are left out first.

use portmortem_analyzer::trace::StreamInfo;

use crate::format::{shorten_name, shorten_words, width};

/// What stands for a module that is left out.
const MODULE: &str = "…:";

/// What is between the caller and what it calls in the name of a goal.
const CALLS: &str = " > ";

/// A caller is not cut to less than this share of the room, so that it can be told from others.
const CALLER: usize = 3;

/// What a stream is called, also one that is not in the trace.
pub(crate) fn stream_title(stream: Option<&StreamInfo>) -> String {
    stream.map_or_else(|| "the stream".to_owned(), StreamInfo::title)
}

/// `select/3` of `lists:select/3`: a name, as it is printed, without its module.
pub(crate) fn without_module(name: &str) -> &str {
    let rest = after_atom(name).and_then(|rest| rest.strip_prefix(':'));
    let bare = rest.map(str::trim_start).filter(|bare| !bare.is_empty());
    bare.unwrap_or(name)
}

/// What follows the atom that a text begins with; `None` if it begins with none that may be a
/// module's name.
fn after_atom(text: &str) -> Option<&str> {
    if let Some(inside) = text.strip_prefix('\'') {
        let mut letters = inside.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => {
                    letters.next();
                }
                '\'' if inside[at + 1..].starts_with('\'') => {
                    letters.next();
                }
                '\'' => return Some(&inside[at + 1..]),
                _ => {}
            }
        }
        return None;
    }
    let first = text.chars().next()?;
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    first
        .is_alphabetic()
        .then(|| text.trim_start_matches(is_part))
}

/// A name, or that of a goal (`caller #1.2 > callee`): as it is if it fits, else without modules,
/// else cut, the caller of a goal more than what it calls.
pub(crate) fn fitting(name: &str, room: usize) -> String {
    let fits = |text: &String| width(text) <= room;
    let Some((caller, callee)) = name.split_once(CALLS) else {
        let bare = without_module(name);
        let found = [name.to_owned(), marked(name), bare.to_owned()];
        let found = found.into_iter().find(fits);
        return found.unwrap_or_else(|| shorten_name(bare, room));
    };
    let goal = |caller: &str, callee: &str| format!("{caller}{CALLS}{callee}");
    let (bare_caller, bare_callee) = (without_module(caller), without_module(callee));
    let found = [
        name.to_owned(),
        goal(&marked(caller), &marked(callee)),
        goal(bare_caller, bare_callee),
    ];
    if let Some(found) = found.into_iter().find(fits) {
        return found;
    }
    let both = room.saturating_sub(width(CALLS));
    let least = width(bare_caller).min(both / CALLER);
    let callee = shorten_name(bare_callee, both - least);
    let left = both.saturating_sub(width(&callee));
    // Which of its goals it is stays.
    let (head, number) = bare_caller.split_at(bare_caller.rfind(" #").unwrap_or(bare_caller.len()));
    let caller = match left.saturating_sub(width(number)) {
        0 => shorten_words(bare_caller, left),
        left => shorten_name(head, left) + number,
    };
    goal(&caller, &callee)
}

/// The name with a sign in place of its module.
fn marked(name: &str) -> String {
    match without_module(name) {
        bare if bare == name => name.to_owned(),
        bare => format!("{MODULE}{bare}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_told_from_names() {
        for (name, bare) in [
            ("lists:select/3", "select/3"),
            ("'my queens':safe/2", "safe/2"),
            (r"'it''s':p/0", "p/0"),
            (r"'a\':b':p/0", "p/0"),
            ("clpfd: #= /2", "#= /2"),
            ("main/0", "main/0"),
            (":/2", ":/2"),
            ("(:)/2", "(:)/2"),
            ("'a:b'/1", "'a:b'/1"),
            ("cost_center(sorting)", "cost_center(sorting)"),
            ("most of the work: p/1", "most of the work: p/1"),
            ("", ""),
            ("'", "'"),
        ] {
            assert_eq!(without_module(name), bare, "{name}");
        }
    }

    #[test]
    fn modules_go_before_letters_and_callers_before_callees() {
        const GOAL: &str = "grammar:parse/1 #1.2 > lists:select/3";
        for (name, room, shown) in [
            ("lists:select/3", 14, "lists:select/3"),
            ("lists:select/3", 13, "…:select/3"),
            ("lists:select/3", 9, "select/3"),
            ("lists:select/3", 7, "sele…/3"),
            ("main/0", 5, "ma…/0"),
            ("a:p/1 #1.2 > b:q/2", 18, "a:p/1 #1.2 > b:q/2"),
            (GOAL, 36, "…:parse/1 #1.2 > …:select/3"),
            (GOAL, 26, "parse/1 #1.2 > select/3"),
            (GOAL, 22, "par…/1 #1.2 > select/3"),
            (GOAL, 3, " > "),
        ] {
            let fits = fitting(name, room);
            assert!(width(&fits) <= room, "{name}, {room}: {fits}");
            assert_eq!(fits, shown, "{name}, {room}");
        }
    }
}
