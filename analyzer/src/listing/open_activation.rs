//! What is kept of open boxes in a piece: when their activation began, and which goal called them.

use crate::machine::{At, Class, Observer, OpenBox, WayOut};
use crate::trace::SiteIndex;

/// When an activation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActivationBegan {
    /// At this number of ticks, pauses left out, by the event of this number. The ticks are not
    /// known where recording may have been paused since events that were not kept.
    At { running: Option<u64>, event: u64 },
    /// Before the piece: that of the box that was active with so many around it.
    Active(usize),
    /// In lost events.
    Lost,
}

/// Which goal called a box, or made the last call that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallingGoal {
    Site(Option<SiteIndex>),
    /// That of the box that was active when the piece began, with so many around it.
    Active(usize),
    /// That of the box that could be re-entered then, so many before it.
    Choice(usize),
}

/// The activation of an open box; of one that was left, only the caller is still asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenActivation {
    pub(super) began: ActivationBegan,
    pub(super) caller: CallingGoal,
}

impl OpenActivation {
    /// Of one that began, and whose box was called, in events that are missing.
    pub(super) const UNKNOWN: Self = Self {
        began: ActivationBegan::Lost,
        caller: CallingGoal::Site(None),
    };

    /// That of a box that was active when the piece began.
    pub(super) fn of_active(around: usize) -> Self {
        Self {
            began: ActivationBegan::Active(around),
            caller: CallingGoal::Active(around),
        }
    }

    /// That of a box that could be re-entered then.
    pub(super) fn of_choice(before: usize) -> Self {
        Self {
            began: ActivationBegan::Lost,
            caller: CallingGoal::Choice(before),
        }
    }

    /// Whether it began before the piece.
    pub(super) fn is_from_before(&self) -> bool {
        matches!(self.began, ActivationBegan::Active(_))
    }
}

/// What one event did to activations.
#[derive(Debug, Default)]
pub(super) struct ActivationKeeper {
    /// Recording may be paused.
    pub(super) may_be_paused: bool,
    /// The activation that it ended.
    pub(super) left: Option<OpenActivation>,
}

impl Observer for ActivationKeeper {
    type Kept = OpenActivation;

    fn called(&mut self, at: &At, _: &OpenBox, _: Option<&OpenActivation>) -> OpenActivation {
        OpenActivation {
            // No box is called in a pause.
            began: ActivationBegan::At {
                running: Some(at.now),
                event: at.number,
            },
            caller: CallingGoal::Site(at.site),
        }
    }

    /// One that is not known was called in lost events.
    fn found(&mut self, at: &At, _: &OpenBox, _: Option<&OpenActivation>) -> OpenActivation {
        let is_entered = at.class() == Class::ReEnter;
        OpenActivation {
            began: if is_entered {
                self.began(at)
            } else {
                ActivationBegan::Lost
            },
            caller: CallingGoal::Site(None),
        }
    }

    fn departed(&mut self, at: &At, _: &OpenBox, kept: &mut OpenActivation) {
        kept.caller = CallingGoal::Site(at.site);
    }

    /// What lost events end has no last event.
    fn left(&mut self, _: &At, kept: &mut OpenActivation, way_out: WayOut) {
        self.left = Some(*kept).filter(|_| way_out != WayOut::Lost);
    }

    fn re_entered(&mut self, at: &At, kept: &mut OpenActivation, _: Option<&OpenActivation>) {
        kept.began = self.began(at);
    }
}

impl ActivationKeeper {
    /// A box was entered again.
    fn began(&self, at: &At) -> ActivationBegan {
        ActivationBegan::At {
            running: (!self.may_be_paused).then_some(at.now),
            event: at.number,
        }
    }
}
