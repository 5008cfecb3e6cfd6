//! The open boxes of one engine, as frames and choicepoints tell them.
//!
//! A stub knows three things of the moment in which control passes it: the running frame, the
//! newest choicepoint, and the cell. What has happened to the boxes since the last stub follows
//! from them:
//!
//! - The active box has failed, or was left by an exception, if its frame is newer than the
//!   running one.
//! - An exited box was entered again if the running frame lies within it: not older than its
//!   frame, and older than the choicepoint that it had left.
//! - An exited box was cut if that choicepoint is gone and control is elsewhere.
//!
//! This is exact because nothing is missed. While a box is open or can be entered again:
//!
//! - Wherever the newest choicepoint resumes there is a stub, also if its predicate has no box. So
//!   whatever has failed was seen to fail, and what a stub finds gone elsewhere was left by an
//!   exception.
//! - Wherever an exception is caught there is a stub: at the recovery of `catch/3`.
//! - The choicepoint of a query resumes in foreign code, and that of a cleanup handler calls one:
//!   queries are seen to begin and to end ([`crate::stubs`]), and say what has happened.
//!
//! Frames and choicepoints are distances in bytes from the base of the local stack, which the
//! engine moves when it grows. A frame that called another is older, and lies below.

use std::iter;
use std::mem::offset_of;
use std::ptr;

use rustc_hash::FxHashMap;

use super::held_values::{HeldArguments, HeldValues, MOST_CALLS, SeenArguments};
use super::open_box::{Exited, NOWHERE, Offset, ROOT, Return, StubBox, mark};
use super::sites::Given;
use super::stack::ElementStack;

/// The value of [`Shadow::quiet`] if a stub must always look.
pub(crate) const NOT_QUIET: Offset = -2;

/// What control passes a stub with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StubMoment {
    pub(crate) frame: Offset,
    pub(crate) choice: Offset,
}

/// A call that opens a box.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OpeningCall {
    pub(crate) frame: Offset,
    pub(crate) caller: Offset,
    pub(crate) choice: Offset,
    pub(crate) returns_to: Return,
    /// Foreign code calls.
    pub(crate) foreign: bool,
    /// As in an [`StubBox`].
    pub(crate) boundary: bool,
    pub(crate) given: Given,
}

/// How boxes were left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    ByFailure,
    ByException,
    /// No stub has seen how: by an exception, or, from the outermost box on that foreign code
    /// called, by failure. That is what foreign code goes on after; the engine's own is seen.
    Unseen,
}

/// What events are written to.
pub(crate) trait Sink {
    fn exit_det(&mut self);
    fn exit_nondet(&mut self);
    /// `active` tells whether a box was active before.
    fn redo(&mut self, active: bool);
    fn fail(&mut self);
    fn exception(&mut self);
    /// The active box is about to exit. Arguments of its calls were held: those of the last one
    /// come first.
    fn values(&mut self, held: &[Option<HeldArguments>; MOST_CALLS]);
    /// `active` as for [`Sink::redo`].
    fn cut(&mut self, active: bool);
}

/// What a predicate that begins may be to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Its goal.
    Goal,
    /// Its goal, if it is written in the arguments that the active box was given.
    Written,
    /// What unrecorded code calls for itself.
    Nothing,
}

/// The boxes of one engine. Machine code reads and writes all of it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Shadow {
    /// The frame of the active box, if no box that can be entered again lies within it: nothing
    /// has happened when control is there or in a newer
    /// frame.
    pub(crate) quiet: Offset,
    /// The frame whose call has been recorded, and whose predicate has not begun.
    pub(crate) announced: Offset,
    /// The frame that a goal of a recorded clause is about to run in, if its predicate was not
    /// known: its first box is that of the goal.
    pub(crate) expected: Offset,
    /// Where that frame returns to: a later frame at the same place returns elsewhere.
    pub(crate) expected_return: Return,
    /// That goal belongs to no module of the program: it is the program's only if it is written
    /// in the arguments that the box was given.
    pub(crate) expects_written: bool,
    /// Where the stream has its fields. Null while calls are no events, so that machine code
    /// leaves them to handlers.
    pub(crate) stream: *const u8,
    pub(crate) boxes: ElementStack<StubBox>,
    exited: ElementStack<Exited>,
    pub(crate) active: u32,
    /// The newest choicepoint when `shift/1` was called, if no stub has been met since.
    pub(crate) shifted: Option<Offset>,
    /// Arguments of open calls.
    held: HeldValues,
    /// The definitions of predicates whose wrappers run, by the numbers of their boxes.
    pub(super) wrapped: FxHashMap<u32, usize>,
}

/// What machine code needs of exited boxes, in bytes.
pub(crate) mod exited {
    use super::{Exited, Shadow, offset_of};

    /// Where a shadow has their stack.
    pub(crate) const STACK: usize = offset_of!(Shadow, exited);
    pub(crate) const SIZE: usize = size_of::<Exited>();
    pub(crate) const OPEN: usize = offset_of!(Exited, open);
    pub(crate) const BOXES: usize = offset_of!(Exited, boxes);
    pub(crate) const CHOICE: usize = offset_of!(Exited, choice);
}

impl Shadow {
    pub(crate) fn new() -> Self {
        let mut boxes = ElementStack::new();
        boxes.push(ROOT);
        Self {
            quiet: NOT_QUIET,
            announced: NOWHERE,
            expected: NOWHERE,
            expected_return: 0,
            expects_written: false,
            stream: ptr::null(),
            boxes,
            exited: ElementStack::new(),
            active: 0,
            shifted: None,
            held: HeldValues::default(),
            wrapped: FxHashMap::default(),
        }
    }

    /// Machine code records nothing until a handler has looked at the engine again.
    pub(crate) fn leave_to_handlers(&mut self) {
        self.stream = ptr::null();
    }

    /// The engine goes away: no stub finds anything here any more.
    pub(crate) fn retire(&mut self) {
        *self = Self::new();
    }

    pub(super) fn active_box(&self) -> &StubBox {
        &self.boxes[self.active as usize]
    }

    /// The frame of the active box.
    pub(crate) fn active_frame(&self) -> Offset {
        self.active_box().frame
    }

    /// The newest choicepoint before the active box.
    pub(crate) fn choice_before(&self) -> Offset {
        self.active_box().choice
    }

    /// The newest exited box inside the active one.
    fn newest_inside(&self) -> Option<&Exited> {
        let inside = self.exited.len() > self.active_box().exited as usize;
        inside.then(|| self.exited.last()).flatten()
    }

    /// `shift/1` leaves boxes. Which ones the next stub sees, so machine code leaves it to
    /// handlers.
    pub(crate) fn shift(&mut self, choice: Offset) {
        self.shifted = Some(choice);
        self.quiet = NOT_QUIET;
        self.leave_to_handlers();
    }

    /// What stubs compare is set again after anything has changed.
    pub(crate) fn settle(&mut self) {
        self.quiet = match self.newest_inside() {
            None => self.active_box().frame,
            Some(_) => NOT_QUIET,
        };
    }

    /// A predicate is called: a box opens. Its event is the caller's work.
    #[inline]
    pub(crate) fn call(&mut self, call: &OpeningCall, silent: bool) {
        let open = StubBox {
            frame: call.frame,
            caller: call.caller,
            choice: call.choice,
            returns_to: call.returns_to,
            parent: self.active,
            exited: self.exited.len() as u32,
            marks: self.marks(call, silent),
            boundary: call.boundary.into(),
            given: call.given,
        };
        self.active = self.boxes.len() as u32;
        self.boxes.push(open);
        self.quiet = call.frame;
    }

    fn marks(&self, call: &OpeningCall, silent: bool) -> u32 {
        let set = |mark, is| if is { mark } else { 0 };
        set(mark::SILENT, silent)
            | set(mark::FOREIGN, call.foreign)
            | set(
                mark::STACKED,
                self.active_is_from(call.caller, call.returns_to),
            )
    }

    /// The arguments of the call that has just been recorded, which has opened the active box or is
    /// a last call in it. False if there is no room for them.
    pub(crate) fn hold(&mut self, held: HeldArguments) -> bool {
        let active = self.active;
        let is_held = active > 0 && self.held.hold(active, held, &self.boxes);
        if is_held {
            self.boxes[active as usize].marks |= mark::VALUES;
        }
        is_held
    }

    /// What was seen of the arguments of the call that was held last.
    pub(crate) fn values_seen(&mut self, seen: SeenArguments) {
        self.held.saw(self.active, seen);
    }

    /// What is expected of the goal that begins in a frame. It is forgotten then.
    pub(crate) fn take_expected(&mut self, frame: Offset, returns_to: Return) -> Expected {
        if self.expected != frame {
            return Expected::Nothing;
        }
        // The box of `call/N` has the frame of the goal that it calls.
        let of_call = {
            let active = self.active_box();
            active.frame == frame && active.returns_to == returns_to
        };
        if !of_call && self.expected_return != returns_to {
            return Expected::Nothing;
        }
        self.expected = NOWHERE;
        if self.expects_written && !of_call {
            Expected::Written
        } else {
            Expected::Goal
        }
    }

    /// Whether the active box is one of a predicate that is not recorded.
    pub(crate) fn is_at_boundary(&self) -> bool {
        self.active > 0 && self.active_box().boundary != 0
    }

    /// Whether the active box may call goals of the program: its predicate is not recorded, and
    /// the program gave it goals, as far as is known.
    pub(crate) fn calls_for_program(&self) -> bool {
        self.is_at_boundary() && !self.active_box().given.has_no_goals()
    }

    /// A library is loaded for the predicate of the active box, which begins later.
    pub(crate) fn await_beginning(&mut self) {
        let active = self.active as usize;
        if active > 0 {
            self.boxes[active].marks |= mark::AWAITED;
        }
    }

    /// Whether the predicate that begins in a frame is that of the active box, for which a
    /// library was loaded.
    pub(crate) fn take_awaited(&mut self, frame: Offset) -> bool {
        let active = self.active as usize;
        let open = &mut self.boxes[active];
        let awaited = open.frame == frame && open.marks & mark::AWAITED != 0;
        if awaited {
            open.marks &= !mark::AWAITED;
        }
        awaited
    }

    /// The goals that the active box may call for the program; then those that boxes around it
    /// have passed on.
    pub(crate) fn given(&self) -> impl Iterator<Item = Given> + '_ {
        let mut next = Some(self.active);
        iter::from_fn(move || {
            let open = &self.boxes[next.filter(|&at| at > 0)? as usize];
            next = open.given.passes().then_some(open.parent);
            Some(open.given)
        })
    }

    /// The active box departs into a predicate that was given other goals.
    pub(crate) fn departed(&mut self, boundary: bool, given: Given) {
        let active = self.active as usize;
        if active > 0 {
            self.boxes[active].boundary = boundary.into();
            if !given.only_passes() {
                self.boxes[active].given = given;
            }
        }
    }

    /// Whether there is any box: active, or exited.
    pub(crate) fn has_boxes(&self) -> bool {
        self.boxes.len() > 1
    }

    /// Whether there is an active box.
    pub(crate) fn is_active(&self) -> bool {
        self.active > 0
    }

    /// Whether the active box is not recorded.
    pub(crate) fn is_silent(&self) -> bool {
        self.active_box().is_silent()
    }

    /// The active box is left for good.
    fn leave(&mut self) -> StubBox {
        let left = *self.active_box();
        // The root is never left.
        if self.active > 0 {
            self.boxes.truncate(self.active as usize);
            self.active = left.parent;
        }
        left
    }

    fn fail(&mut self, events: &mut impl Sink) {
        if !self.leave().is_silent() {
            events.fail();
        }
    }

    fn raise(&mut self, events: &mut impl Sink) {
        self.cut_all(events);
        if !self.leave().is_silent() {
            events.exception();
        }
    }

    /// Boxes newer than `frame` were left.
    pub(crate) fn left(&mut self, left: Left, frame: Offset, events: &mut impl Sink) {
        if self.active_frame() <= frame {
            return;
        }
        // A box has a larger number than those around it.
        let first_failed = match left {
            Left::ByFailure => 0,
            Left::ByException => u32::MAX,
            Left::Unseen => self.outermost_foreign(frame),
        };
        while self.active_frame() > frame {
            self.lose(first_failed, events);
        }
    }

    /// The outermost box around the active one that foreign code called and that is newer than
    /// `frame`; `u32::MAX` if there is none.
    fn outermost_foreign(&self, frame: Offset) -> u32 {
        let mut at = self.active;
        let mut outermost = u32::MAX;
        while at > 0 && self.boxes[at as usize].frame > frame {
            if self.boxes[at as usize].marks & mark::FOREIGN != 0 {
                outermost = at;
            }
            at = self.boxes[at as usize].parent;
        }
        outermost
    }

    /// The active box was left: it failed, if it is one of those from `first_failed` on, or by an
    /// exception.
    fn lose(&mut self, first_failed: u32, events: &mut impl Sink) {
        if self.active >= first_failed {
            self.cut_all(events);
            self.fail(events);
        } else {
            self.raise(events);
        }
    }

    fn cut_newest(&mut self, events: &mut impl Sink) {
        if let Some(exited) = self.exited.pop()
            && !self.boxes[exited.open as usize].is_silent()
        {
            events.cut(self.is_active());
        }
    }

    /// All exited boxes inside the active one are cut.
    fn cut_all(&mut self, events: &mut impl Sink) {
        while self.newest_inside().is_some() {
            self.cut_newest(events);
        }
    }

    /// Exited boxes inside the active one are cut whose choicepoints are gone.
    pub(crate) fn cut_after(&mut self, choice: Offset, events: &mut impl Sink) {
        while self
            .newest_inside()
            .is_some_and(|exited| exited.choice > choice)
        {
            self.cut_newest(events);
        }
    }

    fn redo(&mut self, events: &mut impl Sink) {
        if let Some(exited) = self.exited.pop() {
            let active = self.is_active();
            self.active = exited.open;
            self.boxes.truncate(exited.boxes as usize);
            if !self.active_box().is_silent() {
                events.redo(active);
            }
        }
    }

    /// The active box exits.
    pub(crate) fn exit(&mut self, choice: Offset, events: &mut impl Sink) {
        self.cut_after(choice, events);
        let active = *self.active_box();
        let is_det = choice <= active.choice;
        if is_det {
            self.cut_all(events);
        }
        if active.marks & mark::VALUES != 0 {
            if !active.is_silent() {
                events.values(&self.held.of(self.active));
            }
            if is_det {
                self.held.forget(self.active);
            }
        }
        if is_det {
            self.leave();
            if !active.is_silent() {
                events.exit_det();
            }
        } else {
            self.exited.push(Exited {
                open: self.active,
                boxes: self.boxes.len() as u32,
                choice,
            });
            self.active = active.parent;
            if !active.is_silent() {
                events.exit_nondet();
            }
        }
    }

    /// Whether the box was called from a place, in a clause that runs in `caller`.
    fn is_from(open: &StubBox, caller: Offset, returns_to: Return) -> bool {
        open.caller == caller && open.returns_to == returns_to
    }

    fn active_is_from(&self, caller: Offset, returns_to: Return) -> bool {
        self.active > 0 && Self::is_from(self.active_box(), caller, returns_to)
    }

    /// Control is at the cell behind a call. Whatever was called there exits, if it was recorded:
    /// several boxes if unrecorded code has made last calls. False if nothing was.
    pub(crate) fn returned(
        &mut self,
        moment: StubMoment,
        returns_to: Return,
        events: &mut impl Sink,
    ) -> bool {
        let StubMoment { frame, choice } = moment;
        if !self.active_is_from(frame, returns_to)
            && !self.reach_caught(frame, returns_to, events)
            && !self.reach_again(frame, returns_to, events)
        {
            return false;
        }
        while self.active_is_from(frame, returns_to) {
            self.exit(choice, events);
        }
        true
    }

    /// An exception was caught in an open box that was called there: it left what is inside.
    fn reach_caught(&mut self, frame: Offset, returns_to: Return, events: &mut impl Sink) -> bool {
        let mut at = self.active;
        while at > 0 {
            let open = self.boxes[at as usize];
            if Self::is_from(&open, frame, returns_to) {
                let first_failed = self.outermost_foreign(open.frame);
                while self.active != at {
                    self.lose(first_failed, events);
                }
                return true;
            }
            if open.frame <= frame {
                break;
            }
            at = open.parent;
        }
        false
    }

    /// An exited box that was called there was entered again, unseen, and exits again.
    fn reach_again(&mut self, frame: Offset, returns_to: Return, events: &mut impl Sink) -> bool {
        if returns_to == 0 {
            return false;
        }
        for index in (0..self.exited.len()).rev() {
            let wanted = self.exited[index].open;
            let open = self.boxes[wanted as usize];
            if Self::is_from(&open, frame, returns_to) {
                while self.active != wanted {
                    if self.newest_inside().is_some() {
                        self.redo(events);
                    } else {
                        self.fail(events);
                    }
                }
                return true;
            }
            if open.frame < frame {
                break;
            }
        }
        false
    }

    /// Control is somewhere after backtracking: what has failed, and what was entered again? At the
    /// beginning of a clause (`in_clause`) the running frame may have choicepoints of its own.
    pub(crate) fn resumed(&mut self, moment: StubMoment, in_clause: bool, events: &mut impl Sink) {
        let StubMoment { frame, choice } = moment;
        loop {
            if let Some(&exited) = self.newest_inside() {
                let within = self.boxes[exited.open as usize].frame;
                let inside = within <= frame && frame < exited.choice;
                let touched = if in_clause {
                    within > frame || frame < exited.choice
                } else {
                    exited.choice > choice || inside
                };
                if touched {
                    if inside {
                        self.redo(events);
                    } else {
                        self.cut_newest(events);
                    }
                    continue;
                }
            }
            if self.active_box().frame > frame {
                // If a continuation was called, frames of boxes inside are gone, and others stand
                // there.
                self.cut_all(events);
                self.fail(events);
                continue;
            }
            return;
        }
    }

    /// Unrecorded code calls a recorded predicate: what is newer than its frame was left.
    pub(crate) fn entered(&mut self, call: &OpeningCall, events: &mut impl Sink) {
        let first_failed = self.outermost_foreign(call.frame);
        loop {
            let active = self.active_box();
            let same = active.frame == call.frame && active.caller == call.caller;
            if active.frame < call.frame || same {
                return self.cut_after(call.choice, events);
            }
            self.lose(first_failed, events);
        }
    }
}
