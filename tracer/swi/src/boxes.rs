//! The open boxes of one engine, as its choicepoints see them.
//!
//! A box that a wrapper opened has a guard: a choicepoint of the foreign predicate `enter/2`,
//! made when the box is entered. Guards lie on the engine's choicepoint stack, so boxes form a
//! stack too: when the guard of a box is reached by backtracking or pruned, every newer guard is
//! gone already. The active box is not always the newest one: boxes that exited and can be
//! re-entered keep their guards.
//!
//! A box that was opened at a goal of an instrumented clause ([`crate::goals`]) has no guard, and
//! lies within one that has. What happens to it without a port of its own is known from the
//! guards around it: see [`BoxStack::is_goal_after`] and [`BoxStack::cut_light`].

use std::ops::Range;

use crate::frames::FrameId;

/// A box as the wrapper's clause holds it: index and tag in one small integer.
///
/// The index is where the box lies in the stack; the tag tells it from later boxes at the same
/// place, because a continuation can resume a clause long after its box is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoxId(i64);

const INDEX_BITS: u32 = 32;
/// The engine's small integers end at 2^56 in the oldest version. A larger one would take room on
/// the global stack.
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
enum BoxState {
    /// It has been entered and not left: it is the active box or an ancestor of it.
    Inside,
    /// It exited and can be re-entered.
    Exited,
    /// It exited for good; its guard is about to be removed by our own cut.
    Done,
    /// `shift/1` left it: for the engine it is neither inside nor exited, its guard is still there.
    Suspended,
    /// It was opened at a goal, and is no longer there.
    Gone,
}

/// A box on the stack.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StackedBox {
    id: BoxId,
    /// The frame of its wrapper.
    frame: FrameId,
    /// Index of the box that was active when this one was entered.
    parent: u32,
    /// How many exited boxes could be re-entered then.
    exited: u32,
    state: BoxState,
    /// Opened at a goal: it has no guard.
    at_goal: bool,
    /// Opened while recording was paused: its ports are no events.
    silent: bool,
    /// Its exit has no guard.
    light: bool,
    /// It departed while recording was paused: whose clauses run in it is not known.
    strayed: bool,
}

impl StackedBox {
    const ROOT: Self = Self {
        id: BoxId(0),
        frame: FrameId::NONE,
        parent: 0,
        exited: 0,
        state: BoxState::Inside,
        at_goal: false,
        silent: true,
        light: false,
        strayed: false,
    };

    /// The active box departs.
    #[inline(always)]
    pub(crate) fn depart(&mut self) {
        self.strayed = false;
    }
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
    /// The box is an ancestor, or the root: this many boxes below it were left by `shift/1` and
    /// count as exited first.
    Below(usize),
    /// The box is gone: a continuation resumed its clause. Not an event.
    Stale,
}

/// The active box, opened at a goal: what is needed to leave it for good.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ActiveGoal {
    /// Whether its ports are events.
    pub(crate) is_recorded: bool,
    index: usize,
    parent: u32,
    exited: usize,
}

/// The stack of boxes. Index 0 is the root: control outside of every box.
#[derive(Debug)]
pub(crate) struct BoxStack {
    stack: Vec<StackedBox>,
    active: u32,
    serial: u64,
    /// Boxes that exited and can be re-entered, in the order of their exits.
    exited: Vec<u32>,
    /// Of those, the ones in these ranges are being cut; the last range is the newest. A cleanup
    /// handler that runs meanwhile has boxes of its own, which exit behind them.
    doomed: Vec<Range<usize>>,
}

impl BoxStack {
    pub(crate) fn new(first_serial: u64) -> Self {
        Self {
            stack: vec![StackedBox::ROOT],
            active: 0,
            serial: first_serial,
            exited: Vec::new(),
            doomed: Vec::new(),
        }
    }

    /// The box, unless it is gone.
    #[inline(always)]
    fn find(&self, id: BoxId) -> Option<&StackedBox> {
        let open = self.stack.get(id.index() as usize)?;
        (open.id == id).then_some(open)
    }

    /// How many boxes there are.
    pub(crate) fn depth(&self) -> usize {
        self.stack.len() - 1
    }

    /// How many of them were opened at goals.
    pub(crate) fn count_at_goals(&self) -> usize {
        self.stack.iter().filter(|open| open.at_goal).count()
    }

    /// Whether any box is active.
    #[inline]
    pub(crate) fn any_active(&self) -> bool {
        self.active != 0
    }

    /// The active box, if its ports are events.
    #[inline(always)]
    pub(crate) fn recorded(&mut self) -> Option<&mut StackedBox> {
        let open = &mut self.stack[self.active as usize];
        (!open.silent).then_some(open)
    }

    /// Whether a box is active whose ports are events.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        !self.stack[self.active as usize].silent
    }

    /// Whether a box is active whose ports are events, and clauses that are entered are those of
    /// its predicate.
    #[inline]
    pub(crate) fn knows_predicate(&self) -> bool {
        let open = &self.stack[self.active as usize];
        !open.silent && !open.strayed
    }

    /// The active box departs, and there is no event of it.
    pub(crate) fn stray(&mut self) {
        self.stack[self.active as usize].strayed = true;
    }

    /// The active box departs.
    #[inline]
    pub(crate) fn depart(&mut self) {
        self.stack[self.active as usize].depart();
    }

    /// Whether the active box was opened at a goal, and its ports are events.
    #[inline]
    pub(crate) fn is_recorded_goal(&self) -> bool {
        let open = &self.stack[self.active as usize];
        open.at_goal && !open.silent
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
    pub(crate) fn enter(&mut self, frame: FrameId, silent: bool) -> BoxId {
        self.open(frame, false, silent)
    }

    /// A new box, called by the active one at a goal of its clause, becomes active.
    #[inline]
    pub(crate) fn enter_goal(&mut self) {
        self.open(FrameId::NONE, true, false);
    }

    /// The same while recording is paused.
    pub(crate) fn enter_silently(&mut self) {
        self.open(FrameId::NONE, true, true);
    }

    #[inline(always)]
    fn open(&mut self, frame: FrameId, at_goal: bool, silent: bool) -> BoxId {
        let index = self.stack.len() as u32;
        self.serial += 1;
        let id = BoxId::new(index, self.serial);
        self.stack.push(StackedBox {
            id,
            frame,
            parent: self.active,
            exited: self.exited.len() as u32,
            state: BoxState::Inside,
            at_goal,
            silent,
            light: false,
            strayed: false,
        });
        self.active = index;
        id
    }

    /// The active box, if it was opened at a goal.
    #[inline(always)]
    pub(crate) fn active_goal(&self) -> Option<ActiveGoal> {
        let index = self.active as usize;
        let open = &self.stack[index];
        open.at_goal.then_some(ActiveGoal {
            is_recorded: !open.silent,
            index,
            parent: open.parent,
            exited: open.exited as usize,
        })
    }

    /// The active box is left for good.
    #[inline(always)]
    pub(crate) fn leave_active(&mut self, goal: ActiveGoal) {
        self.active = goal.parent;
        self.exited.truncate(goal.exited);
        self.stack.truncate(goal.index);
    }

    /// The active box is left for good, if it was opened at a goal.
    #[inline]
    pub(crate) fn leave_goal(&mut self) {
        if let Some(goal) = self.active_goal() {
            self.leave_active(goal);
        }
    }

    /// The active box exits and can be re-entered, if it was opened at a goal. `light`: no guard
    /// will tell when it cannot be any more.
    #[inline]
    pub(crate) fn exit_goal(&mut self, light: bool) -> Option<BoxId> {
        let open = &mut self.stack[self.active as usize];
        if !open.at_goal {
            return None;
        }
        open.light = light;
        let id = open.id;
        self.leave(BoxState::Exited);
        self.push_exited(id.index());
        Some(id)
    }

    /// Backtracking re-enters the box that exited last. False if its exit has a guard: then this
    /// is about a box that is not known.
    #[inline]
    pub(crate) fn redo_light(&mut self) -> bool {
        match self.exited.last() {
            Some(&index)
                if self
                    .stack
                    .get(index as usize)
                    .is_some_and(|open| open.light) =>
            {
                self.exited.pop();
                self.stack[index as usize].state = BoxState::Inside;
                self.active = index;
                true
            }
            _ => false,
        }
    }

    /// Backtracking re-enters a box that was opened at a goal. False if it is not known.
    #[inline]
    pub(crate) fn redo_goal(&mut self, id: BoxId) -> bool {
        self.redo(id).is_some()
    }

    /// Where among the exited boxes `id` is; `None` if it is not one of them.
    #[inline]
    pub(crate) fn newest_exit(&self, id: BoxId) -> Option<usize> {
        self.find(id)?;
        self.exited.iter().rposition(|&index| index == id.index())
    }

    /// Whether the active box was opened at a goal after the exited box at `position` had exited.
    /// If the guard of that box's exit is pruned now, an exception leaves the active box.
    #[inline]
    pub(crate) fn is_goal_after(&self, position: usize) -> bool {
        let open = &self.stack[self.active as usize];
        open.at_goal && open.exited as usize > position
    }

    /// Whether the active box was opened at a goal, in the box at `index`, whose guard is being
    /// pruned.
    #[inline]
    pub(crate) fn is_goal_inside(&self, index: u32) -> bool {
        self.active > index && self.stack[self.active as usize].at_goal
    }

    /// How many exited boxes there were when `id` was opened; all that there are if it has been
    /// removed.
    pub(crate) fn exited_before(&self, id: BoxId) -> usize {
        self.find(id)
            .map_or(self.exited.len(), |open| open.exited as usize)
    }

    /// Removes the newest exited box if it is not among the first `size`, and has no guard that
    /// tells when it is cut. Whether its ports are events.
    #[inline]
    pub(crate) fn cut_light(&mut self, size: usize) -> Option<bool> {
        if self.exited.len() <= size {
            return None;
        }
        let index = *self.exited.last()?;
        let open = self
            .stack
            .get_mut(index as usize)
            .filter(|open| open.light)?;
        open.state = BoxState::Gone;
        self.exited.pop();
        Some(!open.silent)
    }

    /// A box is the newest that exited and can be re-entered. It is none of those that are being
    /// cut.
    #[inline(always)]
    fn push_exited(&mut self, index: u32) {
        if let Some(range) = self.doomed.last_mut() {
            range.end = range.end.min(self.exited.len());
        }
        self.exited.push(index);
    }

    /// Removes the exited box at `position`. Whether its ports are events.
    #[inline]
    pub(crate) fn cut_at(&mut self, position: usize) -> bool {
        for range in &mut self.doomed {
            range.start -= usize::from(position < range.start);
            range.end -= usize::from(position < range.end);
        }
        let open = &mut self.stack[self.exited.remove(position) as usize];
        if open.at_goal {
            open.state = BoxState::Gone;
        }
        !open.silent
    }

    /// The exited boxes from `size` on are being cut, too, as they lie inside of one that was.
    /// Those with guards will be told of.
    pub(crate) fn doom(&mut self, size: usize) {
        while self.doomed.pop_if(|range| range.start >= size).is_some() {}
        if size < self.exited.len() {
            self.doomed.push(size..self.exited.len());
        }
    }

    /// Removes the newest exited box if it is being cut and has no guard that tells of it.
    #[inline]
    pub(crate) fn cut_doomed(&mut self) -> Option<bool> {
        while let Some(range) = self.doomed.last().cloned() {
            if self.exited.len() > range.end {
                return None;
            }
            if self.exited.len() > range.start {
                return self.cut_light(range.start);
            }
            self.doomed.pop();
        }
        None
    }

    /// Forgets boxes at the end of the stack that are gone.
    #[inline]
    pub(crate) fn trim(&mut self) {
        while self
            .stack
            .last()
            .is_some_and(|open| open.state == BoxState::Gone)
        {
            self.stack.pop();
        }
    }

    /// Whether the wrapper of `id` runs in `frame`, and not in a frame that a continuation has
    /// made from it.
    pub(crate) fn is_frame_of(&self, id: BoxId, frame: FrameId) -> bool {
        self.find(id).is_some_and(|open| open.frame == frame)
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
        self.leave(BoxState::Done);
    }

    /// The active box exits and can be re-entered.
    #[inline]
    pub(crate) fn exit_nondet(&mut self) {
        self.push_exited(self.active);
        self.leave(BoxState::Exited);
    }

    /// The active box was left by `shift/1`.
    pub(crate) fn suspend(&mut self) {
        self.push_exited(self.active);
        self.leave(BoxState::Suspended);
    }

    /// It is no longer one of the exited boxes; nor is any that exited after it.
    #[inline]
    fn take_exit(&mut self, index: u32) {
        while self.exited.pop().is_some_and(|newest| newest != index) {}
    }

    #[inline]
    fn leave(&mut self, state: BoxState) {
        let open = &mut self.stack[self.active as usize];
        open.state = state;
        self.active = open.parent;
    }

    /// Whether the ports of `id` are events, if it still has its guard.
    #[inline]
    pub(crate) fn is_silent(&self, id: BoxId) -> bool {
        self.find(id).is_some_and(|open| open.silent)
    }

    /// The box that was active when `id` was entered, or the root; None if `id` has no guard any
    /// more.
    pub(crate) fn parent(&self, id: BoxId) -> Option<BoxId> {
        let open = self.find(id)?;
        Some(self.stack[open.parent as usize].id)
    }

    /// Backtracking re-enters an exited box. Returns how many of its ancestors, left by
    /// `shift/1`, are re-entered on the way, or None if the box is not known (left over from an
    /// earlier recording).
    #[inline]
    pub(crate) fn redo(&mut self, id: BoxId) -> Option<usize> {
        let open = self.stack.get_mut(id.index() as usize)?;
        if open.id != id || open.state != BoxState::Exited {
            return None;
        }
        open.state = BoxState::Inside;
        let parent = open.parent;
        self.active = id.index();
        self.take_exit(id.index());
        Some(self.resume(parent))
    }

    /// Backtracking reached the guard of `id`: the box fails and is gone. Returns how many boxes
    /// left by `shift/1` are re-entered on the way (this one included), or None if the box is not
    /// known.
    #[inline]
    pub(crate) fn fail(&mut self, id: BoxId) -> Option<usize> {
        let index = id.index() as usize;
        let open = *self.find(id)?;
        let resumed = self.resume(id.index());
        self.active = open.parent;
        self.exited.truncate(open.exited as usize);
        self.stack.truncate(index);
        Some(resumed)
    }

    /// Marks a box and its ancestors, up to the first that is not suspended, as entered again;
    /// returns how many there are.
    #[inline]
    fn resume(&mut self, mut index: u32) -> usize {
        let mut resumed = 0;
        while self.stack[index as usize].state == BoxState::Suspended {
            self.stack[index as usize].state = BoxState::Inside;
            self.exited.retain(|&exited| exited != index);
            index = self.stack[index as usize].parent;
            resumed += 1;
        }
        resumed
    }

    /// The guard of `id` was pruned: the box is gone.
    #[inline]
    pub(crate) fn prune(&mut self, id: BoxId) -> Pruned {
        let index = id.index() as usize;
        let Some(&open) = self.find(id) else {
            return Pruned::Silent;
        };
        self.stack.truncate(index);
        while self
            .exited
            .pop_if(|exited| *exited as usize >= index)
            .is_some()
        {}
        match open.state {
            BoxState::Done | BoxState::Exited | BoxState::Gone => Pruned::Silent,
            BoxState::Suspended => Pruned::Cut,
            BoxState::Inside => {
                self.active = open.parent;
                Pruned::Exception
            }
        }
    }
}
