//! What an event says of the causes of later ones: one rule for all that tell them.

use portmortem_tracer::format::Event;

use crate::tables::Place;

/// The last port that the program made: what a redo is blamed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastPort {
    Failure(Place),
    /// Control went on.
    Other,
    Lost,
}

impl LastPort {
    /// What an event by `here` makes of it; `None` if it leaves it alone. Not to be asked of what
    /// happens between ports.
    pub(super) fn of(event: Event, here: Option<Place>) -> Option<Self> {
        match event {
            Event::Fail => here.map(Self::Failure),
            Event::Gap { .. } => Some(Self::Lost),
            Event::Redo
            | Event::Pause
            | Event::Resume
            | Event::Mark { .. }
            | Event::Clause { .. }
            | Event::Table(_) => None,
            _ => Some(Self::Other),
        }
    }
}

/// What an event does to an exception that is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passage {
    /// It leaves one more box.
    Flies,
    /// It is caught.
    Lands,
    /// Nothing.
    Stays,
}

impl Passage {
    /// Not to be asked of what happens between ports.
    pub(super) fn of(event: Event) -> Self {
        match event {
            Event::Exception => Self::Flies,
            Event::Cut { .. }
            | Event::Pause
            | Event::Resume
            | Event::Mark { .. }
            | Event::Clause { .. }
            | Event::Table(_) => Self::Stays,
            _ => Self::Lands,
        }
    }
}
