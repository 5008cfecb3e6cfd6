//! What an event says of the causes of later ones: one rule for all that tell them.

use crate::machine::{Class, WayOut};
use crate::tables::PredicateMoment;

/// The last port that the program made: what a redo is blamed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastPort {
    Failure(PredicateMoment),
    /// Control went on.
    Other,
    /// The same, and a redo came, which this box asked for: other redos in a row come from it, too.
    Asked(AskingBox),
    Lost,
}

/// The box that was active when a redo came that no failure caused; `None` if none was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AskingBox(pub(crate) Option<PredicateMoment>);

impl LastPort {
    /// What it is behind a redo, which comes from this box if no failure caused it.
    pub(super) fn behind_redo(self, asking: AskingBox) -> Self {
        match self {
            Self::Other => Self::Asked(asking),
            Self::Failure(_) | Self::Asked(_) | Self::Lost => self,
        }
    }

    /// What an event by `here` makes of it; `None` if it leaves it alone, or is a redo. Not to be
    /// asked of what happens between ports.
    pub(crate) fn of(class: Class, here: Option<PredicateMoment>) -> Option<Self> {
        match class {
            Class::Leave(WayOut::Fail) => here.map(Self::Failure),
            Class::Lose(_) => Some(Self::Lost),
            Class::ReEnter | Class::Pause(_) | Class::Note(_) => None,
            Class::Enter(_) | Class::Depart(_) | Class::Leave(_) | Class::Cut(_) => {
                Some(Self::Other)
            }
        }
    }
}
