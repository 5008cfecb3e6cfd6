//! The list of all screens.

mod advice;
mod backtracking;
mod call_tree;
mod changes;
mod events;
mod flame;
mod predicate;
mod predicates;
mod timeline;
mod trace;

use crate::screen::Screen;
pub(crate) use predicate::edit as predicate_source;

/// A screen by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScreenId {
    /// All predicates.
    Predicates,
    /// One predicate, its callers and callees.
    Predicate,
    /// Calling contexts.
    CallTree,
    /// Failures, redos, choicepoints, cuts.
    Backtracking,
    /// Calling contexts as boxes.
    Flame,
    /// The boxes over time.
    Timeline,
    /// The events of a stream.
    Events,
    /// What costs time and what to do about it.
    Advice,
    /// What the trace is, and its streams.
    Trace,
    /// What changed since another recording.
    Changes,
}

/// A screen as the program lists it.
#[derive(Debug, Clone, Copy)]
pub struct ScreenEntry {
    /// Which.
    pub id: ScreenId,
    /// Its key.
    pub digit: char,
    /// Its name.
    pub name: &'static str,
    /// The same where there is little room.
    pub short: &'static str,
    make: fn() -> Box<dyn Screen>,
}

impl ScreenEntry {
    /// The screen, with nothing to show yet.
    #[must_use]
    pub fn make(&self) -> Box<dyn Screen> {
        (self.make)()
    }
}

/// All screens, by their digits.
pub const SCREENS: &[ScreenEntry] = &[
    ScreenEntry {
        id: ScreenId::Predicates,
        digit: '1',
        name: "Predicates",
        short: "Preds",
        make: || Box::new(predicates::PredicatesScreen::default()),
    },
    ScreenEntry {
        id: ScreenId::Predicate,
        digit: '2',
        name: "Predicate",
        short: "Pred",
        make: || Box::new(predicate::PredicateScreen::default()),
    },
    ScreenEntry {
        id: ScreenId::CallTree,
        digit: '3',
        name: "Call tree",
        short: "Tree",
        make: || Box::new(call_tree::CallTreeScreen::default()),
    },
    ScreenEntry {
        id: ScreenId::Backtracking,
        digit: '4',
        name: "Backtracking",
        short: "Back",
        make: || Box::new(backtracking::BacktrackingScreen::default()),
    },
    ScreenEntry {
        id: ScreenId::Timeline,
        digit: '5',
        name: "Timeline",
        short: "Time",
        make: || Box::<timeline::TimelineScreen>::default(),
    },
    ScreenEntry {
        id: ScreenId::Events,
        digit: '6',
        name: "Events",
        short: "Events",
        make: || Box::new(events::EventsScreen::default()),
    },
    ScreenEntry {
        id: ScreenId::Advice,
        digit: '7',
        name: "Advice",
        short: "Advice",
        make: || Box::<advice::AdviceScreen>::default(),
    },
    ScreenEntry {
        id: ScreenId::Flame,
        digit: '8',
        name: "Flame graph",
        short: "Flame",
        make: || Box::<flame::FlameScreen>::default(),
    },
    ScreenEntry {
        id: ScreenId::Trace,
        digit: '9',
        name: "Trace",
        short: "Trace",
        make: || Box::<trace::TraceScreen>::default(),
    },
    ScreenEntry {
        id: ScreenId::Changes,
        digit: '0',
        name: "Changes",
        short: "Diff",
        make: || Box::<changes::ChangesScreen>::default(),
    },
];
