//! What is kept of open boxes beside a [`Moment`](crate::moment::Moment): when their activation
//! began, and which goal called them.

use crate::trace::SiteIndex;

/// When an activation began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Began {
    /// At this number of ticks, pauses left out, by the event of this number.
    At { running: u64, event: u64 },
    /// Before the piece: that of the box that was active with so many around it.
    Active(usize),
    /// In lost events.
    Lost,
}

/// Which goal called a box, or made the last call that it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Site(Option<SiteIndex>),
    /// That of the box that was active when the piece began, with so many around it.
    Active(usize),
    /// That of the box that could be re-entered then, so many before it.
    Choice(usize),
}

/// An open box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub(super) began: Began,
    pub(super) caller: Caller,
}

impl Side {
    const LOST: Self = Self {
        began: Began::Lost,
        caller: Caller::Site(None),
    };
}

/// How both stacks differ from those at the beginning of a piece: so many of the boxes from then
/// are left, with these on top.
#[derive(Debug, Clone, Default)]
pub(super) struct Sides {
    pub(super) active_left: usize,
    pub(super) active: Vec<Side>,
    pub(super) choices_left: usize,
    pub(super) choices: Vec<Caller>,
}

impl Sides {
    /// With so many active and re-enterable boxes.
    pub(super) fn new(active: usize, choices: usize) -> Self {
        Self {
            active_left: active,
            choices_left: choices,
            ..Self::default()
        }
    }

    /// How many boxes are active.
    pub(super) fn depth(&self) -> usize {
        self.active_left + self.active.len()
    }

    /// The active box; `None` if there is none.
    pub(super) fn top(&self) -> Option<Side> {
        let before = || {
            let at = self.active_left.checked_sub(1)?;
            Some(Side {
                began: Began::Active(at),
                caller: Caller::Active(at),
            })
        };
        self.active.last().copied().or_else(before)
    }

    pub(super) fn push(&mut self, side: Side) {
        self.active.push(side);
    }

    /// The active box is left. One that is not known was called in lost events.
    pub(super) fn pop(&mut self) -> Side {
        let top = self.top();
        if self.active.pop().is_none() {
            self.active_left = self.active_left.saturating_sub(1);
        }
        top.unwrap_or(Side::LOST)
    }

    /// The active box departs.
    pub(super) fn depart(&mut self, site: Option<SiteIndex>) {
        let caller = Caller::Site(site);
        let side = Side {
            caller,
            ..self.pop()
        };
        self.push(side);
    }

    /// The newest box is re-entered at a time.
    pub(super) fn redo(&mut self, began: Began) {
        let before = || {
            self.choices_left = self.choices_left.checked_sub(1)?;
            Some(Caller::Choice(self.choices_left))
        };
        let caller = self.choices.pop().or_else(before);
        let caller = caller.unwrap_or(Caller::Site(None));
        self.push(Side { began, caller });
    }

    /// A box can be re-entered.
    pub(super) fn leave_choice(&mut self, of: Caller) {
        self.choices.push(of);
    }

    /// So many boxes can still be re-entered.
    pub(super) fn cut(&mut self, left: usize) {
        self.choices
            .truncate(left.saturating_sub(self.choices_left));
        self.choices_left = self.choices_left.min(left);
    }

    /// Nothing is known any more.
    pub(super) fn lose(&mut self) {
        *self = Self::default();
    }
}
