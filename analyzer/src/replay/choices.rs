//! The terms of backtracking: entries of the choice stack, and the causes of redos and cuts.

use std::hash::{Hash, Hasher};

use bincode::{Decode, Encode};

use super::boxes::{ArenaBox, RootId};
use super::ledger::{ArcId, add};
use crate::trace::PredicateIndex;

/// An entry of the choice stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) id: ArenaBox,
    pub(super) pushed: u64,
    pub(super) live: Live,
}

/// Work that is not undone, since the chunk began or since the last redo of a root.
///
/// It contains the time of the outermost root so far, which is kept apart, too: it is no work if that root
/// turns out to be no box.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Live {
    pub(super) ticks: u64,
    /// Ticks of the outermost root.
    pub(super) idle: u64,
    /// Which root that is: how many there had been.
    pub(super) level: u32,
}

/// What happens to entries of the choice stack of before the chunk, newest first.
#[derive(Debug, Clone, Copy)]
pub(super) enum Taken {
    /// One is re-entered.
    Redo {
        root: RootId,
        now: u64,
        live: Live,
        cause: RedoCause,
    },
    /// Some are discarded.
    Cut { count: u32, now: u64, by: Who },
}

/// A predicate, or a box that joining finds the predicate of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Predicate(PredicateIndex),
    /// The innermost logical box of a root.
    Inner(RootId),
    /// The outermost logical box of a root.
    Outer(RootId),
    /// The box that failed before the chunk, or else the innermost at its beginning.
    Before,
    /// The box that failed before so many boxes, in which the chunk begins, if they happened between two ports; or else the
    /// innermost logical box of the root `active`, which called `exited`.
    After {
        left: u32,
        exited: RootId,
        active: RootId,
    },
}

/// Each redo looks for its cause in a table. Kinds are left out of the hash: nearly all are
/// predicates.
impl Hash for Who {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(match *self {
            Self::Predicate(number) | Self::Inner(number) | Self::Outer(number) => number,
            Self::After { exited, .. } => exited,
            Self::Before => 0,
        });
    }
}

/// What is re-entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resumed {
    /// A box that was entered by this arc.
    By(ArcId),
    /// A box of before the chunk.
    Root(RootId),
}

/// As that of [`Who`].
impl Hash for Resumed {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (Self::By(number) | Self::Root(number)) = *self;
        state.write_u32(number);
    }
}

/// Why a box is re-entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RedoCause {
    /// The box that failed, or was active when an unrecorded one failed.
    pub(super) who: Who,
    /// Not known of [`Who::Before`] and [`Who::After`].
    pub(super) reason: Reason,
}

/// The reason is left out, for a box has few.
impl Hash for RedoCause {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.who.hash(state);
    }
}

impl RedoCause {
    /// A box failed.
    #[inline(always)]
    pub(super) fn failed(who: Who) -> Self {
        Self {
            who,
            reason: Reason::Failed,
        }
    }
}

/// What a box had to do with a redo that it is blamed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub(super) enum Reason {
    /// It failed.
    Failed,
    /// It was active when something unrecorded failed.
    WasActive,
    /// It was active, and the last port was the exit of a call after which its clause fails: a driver loop.
    Drove,
    /// The last of these if the root was called so, or else the one before. Joining finds out which.
    CalledRoot(RootId),
}

impl Reason {
    /// That of the box which is active after the exit of one.
    pub(super) fn after_exit(then_fails: bool) -> Self {
        if then_fails {
            Self::Drove
        } else {
            Self::WasActive
        }
    }
}

/// The failure that a redo would come from.
///
/// What happens between two ports ([`crate::trace::BoxKind::is_between_ports`]) is no step of the program, and changes nothing:
/// whether there was any depends on time and load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    /// The last port was no failure: then it is that of the innermost box.
    Nothing,
    /// The same, and the last port was the exit of a call after which the clause of that box fails.
    Driver,
    /// The same if the root that exited was called so; or else it is as if there was no exit.
    Exited(RootId),
    /// There was no port in the chunk yet.
    AsBefore,
    /// That of a box, which may have been some redos ago.
    Known(RedoCause),
    /// The last ports were calls of what happens between two ports, so many. When they have exited it is what
    /// [`LastFailure::held`](super::last_failure::LastFailure::held) says.
    Held(u32),
    /// The only ports in the chunk were exits of so many boxes of before.
    Left(u32),
}

impl Failed {
    /// After the exit of a box of the chunk, behind which the clause of its caller fails or not.
    #[inline(always)]
    pub(super) fn after(then_fails: bool) -> Self {
        if then_fails {
            Self::Driver
        } else {
            Self::Nothing
        }
    }
}

/// Work that one backtrack edge threw away.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Backtrack {
    pub(super) count: u64,
    pub(super) undone: u64,
    pub(super) idle: Idle,
}

/// How much of the undone work is that of the outermost root, since it is that.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Idle {
    pub(super) ticks: u64,
    pub(super) level: u32,
}

impl Idle {
    pub(super) fn add(&mut self, other: Self) {
        if self.level != other.level {
            *self = other;
        } else {
            add(&mut self.ticks, other.ticks);
        }
    }
}
