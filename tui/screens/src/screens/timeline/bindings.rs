//! Keys of the timeline.

use crate::keys::{Action, Binding, bind};

pub(super) const KEYS: &[Binding] = &[
    bind(
        &["+"],
        Action::ZoomIn,
        "in",
        "half as much time, around the cursor",
    ),
    bind(&["-"], Action::ZoomOut, "out", "twice as much time"),
    bind(
        &["z"],
        Action::Zoom,
        "box",
        "show the whole box, closer or further",
    ),
    bind(
        &["n"],
        Action::NextMatch,
        "next ↶✗",
        "to the next redo (↶) or failure (✗), or match of /",
    ),
    bind(&["N"], Action::PreviousMatch, "", "to the one before"),
    bind(
        &["'"],
        Action::NextMark,
        "",
        "to the next gap ?, exception !, pause ‖, new block ┆",
    ),
    bind(
        &["\""],
        Action::PreviousMark,
        "",
        "the one before (a block's cost is not in the trace)",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "predicate",
        "go into the predicate; ~name: longest of several",
    ),
    bind(
        &["/"],
        Action::Filter,
        "search",
        "search a word in names, or ~regex; n and N go on",
    ),
    bind(
        &["["],
        Action::RangeBegin,
        "",
        "a range of time begins at the cursor",
    ),
    bind(
        &["]"],
        Action::RangeEnd,
        "",
        "a range of time ends at the cursor",
    ),
    bind(
        &["space"],
        Action::Toggle,
        "fold",
        "fold all streams, or unfold the one here",
    ),
    bind(
        &["a"],
        Action::Measure,
        "",
        "times of the ruler: since the left edge or the beginning",
    ),
    bind(&["}"], Action::NextStream, "", "to the next stream"),
    bind(&["{"], Action::PreviousStream, "", "to the stream before"),
    bind(
        &["up", "k"],
        Action::Up,
        "",
        "to the box around it, then to the stream above",
    ),
    bind(
        &["down", "j"],
        Action::Down,
        "",
        "to the box inside it, then to the stream below",
    ),
    bind(
        &["left", "h"],
        Action::Left,
        "",
        "to where the box begins, or the one before",
    ),
    bind(
        &["right", "l"],
        Action::Right,
        "",
        "to the box after it at the same depth",
    ),
    bind(&[",", "<"], Action::CellLeft, "", "one cell to the left"),
    bind(&[".", ">"], Action::CellRight, "", "one cell to the right"),
    bind(
        &["shift-left", "H"],
        Action::ScrollLeft,
        "",
        "a quarter of the view earlier",
    ),
    bind(
        &["shift-right", "L"],
        Action::ScrollRight,
        "",
        "a quarter of the view later",
    ),
    bind(
        &["pgup", "ctrl-b"],
        Action::PageUp,
        "",
        "some boxes further out",
    ),
    bind(
        &["pgdn", "ctrl-f"],
        Action::PageDown,
        "",
        "some boxes further in",
    ),
    bind(&["home", "gg"], Action::Top, "", "to the beginning"),
    bind(&["end", "G"], Action::Bottom, "", "to the end"),
];
