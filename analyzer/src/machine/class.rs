//! What an event means for the boxes of its stream.

use portmortem_tracer::format::Event;

use crate::trace::PredicateIndex;

/// What an event does to the active chain and the choice stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A new box of this predicate, called by the active one, becomes active.
    Enter(PredicateIndex),
    /// The active box departs into this predicate.
    Depart(PredicateIndex),
    /// The active box is left; after a nondeterminate exit it lies on the choice stack.
    Leave(WayOut),
    /// The newest box of the choice stack becomes active again.
    ReEnter,
    /// So many of the newest boxes leave the choice stack.
    Cut(u32),
    /// Events were lost: nothing is known of any box from here on.
    Lose,
    /// Recording is suspended, or goes on.
    Pause(bool),
    /// No box moves.
    Note,
}

/// How an activation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayOut {
    /// By an exit without a choicepoint inside.
    ExitDet,
    /// By an exit with one.
    ExitNondet,
    /// By failure.
    Fail,
    /// By an exception.
    Exception,
    /// Not before the end of the stream.
    Open,
    /// Events were lost before that.
    Lost,
}

impl Class {
    /// That of an event whose predicates are [`PredicateIndex`].
    #[inline]
    #[must_use]
    pub fn of(event: Event) -> Self {
        match event {
            Event::Call { predicate } => Self::Enter(predicate),
            Event::Tail { predicate } => Self::Depart(predicate),
            Event::ExitDet => Self::Leave(WayOut::ExitDet),
            Event::ExitNondet => Self::Leave(WayOut::ExitNondet),
            Event::Fail => Self::Leave(WayOut::Fail),
            Event::Exception => Self::Leave(WayOut::Exception),
            Event::Redo => Self::ReEnter,
            Event::Cut { count } => Self::Cut(count),
            Event::Gap { .. } => Self::Lose,
            Event::Pause | Event::Resume => Self::Pause(event == Event::Pause),
            Event::Mark { .. }
            | Event::Clause { .. }
            | Event::Arguments(_)
            | Event::Table(_)
            | Event::Value(_)
            | Event::Sync(_) => Self::Note,
        }
    }
}

impl WayOut {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ExitDet,
        Self::ExitNondet,
        Self::Fail,
        Self::Exception,
        Self::Open,
        Self::Lost,
    ];

    /// The way out that an event is; `None` if it is none.
    #[inline]
    #[must_use]
    pub fn of(event: Event) -> Option<Self> {
        match Class::of(event) {
            Class::Leave(way_out) => Some(way_out),
            _ => None,
        }
    }

    /// What tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ExitDet => "exit_det",
            Self::ExitNondet => "exit_nondet",
            Self::Fail => "fail",
            Self::Exception => "exception",
            Self::Open => "open",
            Self::Lost => "lost",
        }
    }
}
