//! Keys of the flame graph.

use crate::keys::{Action, Binding, bind};

pub(super) const KEYS: &[Binding] = &[
    bind(
        &["z"],
        Action::Zoom,
        "zoom",
        "show this box as if it were all; Esc undoes",
    ),
    bind(
        &["s"],
        Action::Measure,
        "measure",
        "inclusive time, self time, undone time, events",
    ),
    bind(
        &["i"],
        Action::Invert,
        "invert",
        "from what took the time itself up to its callers",
    ),
    bind(
        &["w", "space"],
        Action::Whole,
        "all",
        "waiting, loading, collections, set-up: show or leave out",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "predicate",
        "go into the predicate of the box",
    ),
    bind(
        &["/"],
        Action::Filter,
        "search",
        "mark boxes whose name has a word in it, or ~regex",
    ),
    bind(
        &["n"],
        Action::NextMatch,
        "",
        "to the next box that was searched",
    ),
    bind(&["N"], Action::PreviousMatch, "", "to the one before"),
    bind(&["up", "k"], Action::Up, "", "to the box above"),
    bind(&["down", "j"], Action::Down, "", "to the largest box below"),
    bind(&["left", "h"], Action::Left, "", "to the box on the left"),
    bind(
        &["right", "l"],
        Action::Right,
        "",
        "to the box on the right",
    ),
    bind(&["home", "gg"], Action::Top, "", "to the box at the top"),
    bind(&["end", "G"], Action::Bottom, "", "down the hottest path"),
];
