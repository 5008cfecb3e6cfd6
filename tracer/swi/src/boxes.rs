//! The open boxes of one engine, as its guards' choicepoints see them.
//!
//! Every box has a guard: a choicepoint of the foreign predicate `enter/2`, made when the box is entered.
//! Guards lie on the engine's choicepoint stack, so boxes form a stack too: when the guard of a box is reached by
//! backtracking or pruned, every newer guard is gone already. The active box is not always the newest one: boxes
//! that exited and can be re-entered keep their guards.

use crate::frames::FrameId;

/// A box as the wrapper's clause holds it: index and tag in one small integer.
///
/// The index is where the box lies in the stack; the tag tells it from later boxes at the same place, because
/// a continuation can resume a clause long after its box is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoxId(i64);

const INDEX_BITS: u32 = 32;
/// The engine's small integers end at 2^56 in the oldest version. A larger one would take room on the global stack.
const TAG_MASK: u64 = (1 << 24) - 1;

impl BoxId {
    fn new(index: u32, serial: u64) -> Self {
        Self(((serial & TAG_MASK) << INDEX_BITS | u64::from(index)) as i64)
    }

    /// The integer given to the engine; never negative.
    pub(crate) fn to_raw(self) -> i64 {
        self.0
    }

    /// Back from the engine.
    pub(crate) fn from_raw(raw: i64) -> Self {
        Self(raw)
    }

    /// Where the box lies in the stack.
    pub(crate) fn index(self) -> u32 {
        self.0 as u32
    }
}

/// Where control is, relative to a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has been entered and not left: it is the active box or an ancestor of it.
    Inside,
    /// It exited and can be re-entered.
    Exited,
    /// It exited for good; its guard is about to be removed by our own cut.
    Done,
    /// `shift/1` left it: for the engine it is neither inside nor exited, its guard is still there.
    Suspended,
}

#[derive(Debug, Clone, Copy)]
struct OpenBox {
    id: BoxId,
    /// The frame of its wrapper.
    frame: FrameId,
    /// Index of the box that was active when this one was entered.
    parent: u32,
    state: State,
}

/// What the pruning of a guard means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pruned {
    /// Nothing to report: the box is done, or the cut was reported by its exit.
    Silent,
    /// The box was left by an exception.
    Exception,
    /// A box left by `shift/1` lost its choicepoint.
    Cut,
}

/// How an exit relates to the active box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The active box exits.
    Active,
    /// The box is an ancestor, or the root: this many boxes below it were left by `shift/1` and count as exited first.
    Below(usize),
    /// The box is gone: a continuation resumed its clause. Not an event.
    Stale,
}

/// The stack of boxes with a guard. Index 0 is the root: control outside of every box.
#[derive(Debug)]
pub(crate) struct Boxes {
    stack: Vec<OpenBox>,
    active: u32,
    serial: u64,
}

impl Boxes {
    pub(crate) fn new(first_serial: u64) -> Self {
        let root = OpenBox {
            id: BoxId(0),
            frame: FrameId::NONE,
            parent: 0,
            state: State::Inside,
        };
        Self {
            stack: vec![root],
            active: 0,
            serial: first_serial,
        }
    }

    /// How many boxes have a guard.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len() - 1
    }

    /// Whether any box is active.
    #[inline]
    pub(crate) fn any_active(&self) -> bool {
        self.active != 0
    }

    /// The active box, or the root.
    pub(crate) fn active_id(&self) -> BoxId {
        self.stack[self.active as usize].id
    }

    /// Where the active box lies in the stack; 0 if none is active.
    pub(crate) fn active_index(&self) -> usize {
        self.active as usize
    }

    /// A new box, called by the active one, becomes active. Its wrapper runs in `frame`.
    #[inline]
    pub(crate) fn enter(&mut self, frame: FrameId) -> BoxId {
        let index = self.stack.len() as u32;
        self.serial += 1;
        let id = BoxId::new(index, self.serial);
        self.stack.push(OpenBox {
            id,
            frame,
            parent: self.active,
            state: State::Inside,
        });
        self.active = index;
        id
    }

    /// Whether the wrapper of `id` runs in `frame`, and not in a frame that a continuation has made from it.
    pub(crate) fn is_frame_of(&self, id: BoxId, frame: FrameId) -> bool {
        self.stack
            .get(id.index() as usize)
            .is_some_and(|open| open.id == id && open.frame == frame)
    }

    /// Whether `id` is the active box.
    #[inline]
    pub(crate) fn is_active(&self, id: BoxId) -> bool {
        self.stack[self.active as usize].id == id && self.active != 0
    }

    /// What an exit through the wrapper of `id` is.
    #[inline]
    pub(crate) fn classify_exit(&self, id: BoxId) -> Exit {
        if self.is_active(id) {
            Exit::Active
        } else {
            self.exit_of_other(id)
        }
    }

    #[cold]
    fn exit_of_other(&self, id: BoxId) -> Exit {
        let mut at = self.active;
        let mut below = 0;
        while at > id.index() {
            at = self.stack[at as usize].parent;
            below += 1;
        }
        if below > 0 && self.stack[at as usize].id == id {
            Exit::Below(below)
        } else {
            Exit::Stale
        }
    }

    /// The active box exits for good.
    #[inline]
    pub(crate) fn exit_det(&mut self) {
        self.leave(State::Done);
    }

    /// The active box exits and can be re-entered.
    #[inline]
    pub(crate) fn exit_nondet(&mut self) {
        self.leave(State::Exited);
    }

    /// The active box was left by `shift/1`.
    pub(crate) fn suspend(&mut self) {
        self.leave(State::Suspended);
    }

    #[inline]
    fn leave(&mut self, state: State) {
        let open = &mut self.stack[self.active as usize];
        open.state = state;
        self.active = open.parent;
    }

    /// Whether `id` is a box of this recording that still has its guard.
    #[inline]
    pub(crate) fn holds(&self, id: BoxId) -> bool {
        self.stack
            .get(id.index() as usize)
            .is_some_and(|open| open.id == id)
    }

    /// The box that was active when `id` was entered, or the root; None if `id` has no guard any more.
    pub(crate) fn parent(&self, id: BoxId) -> Option<BoxId> {
        let open = self.stack.get(id.index() as usize)?;
        (open.id == id).then(|| self.stack[open.parent as usize].id)
    }

    /// Backtracking re-enters an exited box. Returns how many of its ancestors, left by `shift/1`, are re-entered on the
    /// way, or None if the box is not known (left over from an earlier recording).
    #[inline]
    pub(crate) fn redo(&mut self, id: BoxId) -> Option<usize> {
        let open = self.stack.get_mut(id.index() as usize)?;
        if open.id != id || open.state != State::Exited {
            return None;
        }
        open.state = State::Inside;
        let parent = open.parent;
        self.active = id.index();
        Some(self.resume(parent))
    }

    /// Backtracking reached the guard of `id`: the box fails and is gone. Returns how many boxes left by `shift/1`
    /// are re-entered on the way (this one included), or None if the box is not known.
    #[inline]
    pub(crate) fn fail(&mut self, id: BoxId) -> Option<usize> {
        let index = id.index() as usize;
        let open = *self.stack.get(index)?;
        if open.id != id {
            return None;
        }
        let resumed = self.resume(id.index());
        self.active = open.parent;
        self.stack.truncate(index);
        Some(resumed)
    }

    /// Marks a box and its ancestors, up to the first that is not suspended, as entered again; returns how many there are.
    #[inline]
    fn resume(&mut self, mut index: u32) -> usize {
        let mut resumed = 0;
        while self.stack[index as usize].state == State::Suspended {
            self.stack[index as usize].state = State::Inside;
            index = self.stack[index as usize].parent;
            resumed += 1;
        }
        resumed
    }

    /// The guard of `id` was pruned: the box is gone.
    #[inline]
    pub(crate) fn prune(&mut self, id: BoxId) -> Pruned {
        let index = id.index() as usize;
        let Some(open) = self.stack.get(index).copied().filter(|open| open.id == id) else {
            return Pruned::Silent;
        };
        self.stack.truncate(index);
        match open.state {
            State::Done | State::Exited => Pruned::Silent,
            State::Suspended => Pruned::Cut,
            State::Inside => {
                self.active = open.parent;
                Pruned::Exception
            }
        }
    }
}
