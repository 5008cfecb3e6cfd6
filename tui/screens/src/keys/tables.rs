//! The keys of all screens, of lists, and of the event stream.

use super::{Action, Binding, bind};

/// From a predicate to its slowest call.
pub const SLOWEST_CALL: Binding = bind(
    &["v"],
    Action::SlowestCall,
    "slowest call",
    "show the slowest call of the predicate among the events",
);
/// One line up.
pub const UP: Binding = bind(&["up", "k"], Action::Up, "", "up");
/// One line down.
pub const DOWN: Binding = bind(&["down", "j"], Action::Down, "", "down");
/// As many lines up as are seen.
pub const PAGE_UP: Binding = bind(&["pgup", "ctrl-b"], Action::PageUp, "", "a screenful up");
/// As many lines down as are seen.
pub const PAGE_DOWN: Binding = bind(
    &["pgdn", "ctrl-f", "space"],
    Action::PageDown,
    "",
    "a screenful down",
);

/// Keys that do the same on every screen.
pub const EVERYWHERE: &[Binding] = &[
    bind(
        &["?", ":", "f1"],
        Action::Palette,
        "help",
        "all keys; type what to do, a name, an event's number",
    ),
    bind(&["q", "ctrl-c"], Action::Quit, "quit", "end the program"),
    bind(
        &["esc", "backspace"],
        Action::Back,
        "",
        "back one step: screen, row, zoom, filter",
    ),
    bind(&["1"], Action::Show('1'), "", "all predicates"),
    bind(
        &["2"],
        Action::Show('2'),
        "",
        "one predicate; a digit leads to a screen as it was left",
    ),
    bind(&["3"], Action::Show('3'), "", "the call tree"),
    bind(&["4"], Action::Show('4'), "", "backtracking"),
    bind(&["5"], Action::Show('5'), "", "the timeline"),
    bind(&["6"], Action::Show('6'), "", "the events"),
    bind(&["7"], Action::Show('7'), "", "advice"),
    bind(&["8"], Action::Show('8'), "", "the flame graph"),
    bind(&["9"], Action::Show('9'), "", "the trace and its streams"),
    bind(
        &["0"],
        Action::Show('0'),
        "",
        "what changed since another recording",
    ),
    bind(
        &["g2"],
        Action::TakeTo('2'),
        "",
        "the predicate under the cursor",
    ),
    bind(
        &["g3"],
        Action::TakeTo('3'),
        "",
        "the same in the call tree",
    ),
    bind(
        &["g4"],
        Action::TakeTo('4'),
        "",
        "the same on the screen of backtracking",
    ),
    bind(
        &["g5"],
        Action::TakeTo('5'),
        "",
        "this moment on the timeline",
    ),
    bind(
        &["g6"],
        Action::TakeTo('6'),
        "",
        "this moment among the events",
    ),
    bind(
        &["g7"],
        Action::TakeTo('7'),
        "",
        "advice about the predicate",
    ),
    bind(
        &["g8"],
        Action::TakeTo('8'),
        "",
        "the predicate in the flame graph",
    ),
    bind(&["g1"], Action::TakeTo('1'), "", "the predicate among all"),
    bind(&["tab"], Action::NextScreen, "", "next screen"),
    bind(&["backtab"], Action::PreviousScreen, "", "screen before"),
    bind(
        &["v"],
        Action::SlowestCall,
        "event",
        "show the event here, a box's call, or the slowest call",
    ),
    bind(
        &["="],
        Action::Compare,
        "",
        "compare this call, or the slowest, with the usual one",
    ),
    bind(
        &["!"],
        Action::Exceptions,
        "",
        "exceptions: raised and caught where, the uncaught first",
    ),
    bind(
        &["V"],
        Action::FirstEvent,
        "",
        "show the first event of the predicate",
    ),
    bind(
        &["d", "del"],
        Action::Hide,
        "hide",
        "hide the predicate: its time goes to its callers",
    ),
    bind(
        &["D"],
        Action::HidePattern,
        "",
        "hide predicates by a pattern: lists:*, call/*",
    ),
    bind(
        &["C"],
        Action::Net,
        "",
        "times without the recorder's own (net), or as recorded",
    ),
    bind(
        &["w"],
        Action::Whole,
        "",
        "waiting, loading, collections, set-up: show or leave out",
    ),
    bind(
        &["W"],
        Action::Window,
        "",
        "look only at a range of time: 1.5ms..2s",
    ),
    bind(
        &["o"],
        Action::Edit,
        "",
        "open the source in $VISUAL or $EDITOR, at the line",
    ),
    bind(
        &["y"],
        Action::Copy,
        "",
        "copy the row (through the terminal, also over ssh)",
    ),
    bind(&["Y"], Action::CopyAll, "", "copy the whole view"),
    bind(&["e"], Action::Export, "export", "write the view as a file"),
    bind(
        &["F"],
        Action::Focus,
        "focus",
        "look only at what runs in this predicate or context",
    ),
    bind(&["T"], Action::Theme, "", "colours: dark, light, none"),
    bind(&["R"], Action::Reload, "", "read the trace again"),
    bind(&["ctrl-l"], Action::Redraw, "", "draw everything again"),
    bind(
        &["ctrl-z"],
        Action::Suspend,
        "",
        "stop; the shell's fg goes on",
    ),
];

/// Keys of all lists.
pub const LISTS: &[Binding] = &[
    bind(
        &["/"],
        Action::Filter,
        "filter",
        "filter: a word, ~regex, or fails > 1k and self > 1ms",
    ),
    bind(
        &["s"],
        Action::Columns,
        "sort",
        "choose the column to sort by, and which are shown",
    ),
    bind(&["r"], Action::Reverse, "reverse", "turn the order round"),
    bind(
        &["<", ","],
        Action::SortLeft,
        "",
        "sort by the column to the left",
    ),
    bind(
        &[">", "."],
        Action::SortRight,
        "",
        "sort by the column to the right",
    ),
    UP,
    DOWN,
    PAGE_UP,
    PAGE_DOWN,
    bind(&["home", "gg"], Action::Top, "", "to the first row"),
    bind(&["end", "G"], Action::Bottom, "", "to the last row"),
    bind(
        &["left", "h"],
        Action::Left,
        "",
        "columns to the left; in trees: fold, or go up",
    ),
    bind(
        &["right", "l"],
        Action::Right,
        "",
        "columns to the right; in trees: unfold",
    ),
    bind(
        &["shift-left", "H"],
        Action::ScrollLeft,
        "",
        "columns to the left, in trees too",
    ),
    bind(
        &["shift-right", "L"],
        Action::ScrollRight,
        "",
        "columns to the right, in trees too",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "",
        "go into the predicate of the row",
    ),
    bind(
        &["n"],
        Action::NextMatch,
        "",
        "next row that the filter found",
    ),
    bind(&["N"], Action::PreviousMatch, "", "the one before"),
    bind(
        &["m"],
        Action::Mark,
        "",
        "mark the row, or take the mark away",
    ),
    bind(&["'"], Action::NextMark, "", "to the next mark"),
];

/// Keys of the event stream.
pub const EVENTS: &[Binding] = &[
    bind(
        &["%"],
        Action::BoxEnd,
        "other end",
        "from the call of the box to where it ends, and back",
    ),
    bind(
        &["v"],
        Action::BoxCall,
        "its call",
        "to the call of this box, then of the one around it",
    ),
    bind(
        &["x"],
        Action::Cause,
        "why",
        "why: who failed last, cut, raised it, caught it",
    ),
    bind(
        &["/"],
        Action::Filter,
        "filter",
        "list only some: port = fail and depth > 10, or a word",
    ),
    bind(
        &["n"],
        Action::NextMatch,
        "",
        "next event that the filter finds; without one, as *",
    ),
    bind(&["N"], Action::PreviousMatch, "", "the one before"),
    bind(
        &["*"],
        Action::NextOfPredicate,
        "same predicate",
        "next event of the same predicate",
    ),
    bind(
        &["#"],
        Action::PreviousOfPredicate,
        "",
        "event before of the same predicate",
    ),
    bind(
        &[".", ">"],
        Action::NextPort,
        "same port",
        "next event at the same port",
    ),
    bind(
        &[",", "<"],
        Action::PreviousPort,
        "",
        "event before at the same port",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "predicate",
        "go into the predicate of the event, or of the box",
    ),
    bind(
        &["t"],
        Action::NextTable,
        "",
        "to the boxes beside the list; arrows scroll",
    ),
    bind(
        &["["],
        Action::RangeBegin,
        "",
        "a range of time begins at the event",
    ),
    bind(
        &["]"],
        Action::RangeEnd,
        "",
        "a range of time ends after the event",
    ),
    bind(&["}"], Action::NextStream, "", "next stream"),
    bind(&["{"], Action::PreviousStream, "", "stream before"),
    bind(&["up", "k"], Action::Up, "", "one event back"),
    bind(&["down", "j"], Action::Down, "", "one event on"),
    bind(&["pgup", "ctrl-b"], Action::PageUp, "", "a screenful back"),
    bind(
        &["pgdn", "ctrl-f", "space"],
        Action::PageDown,
        "",
        "a screenful on",
    ),
    bind(&["home", "gg"], Action::Top, "", "to the first event"),
    bind(&["end", "G"], Action::Bottom, "", "to the last event"),
];
