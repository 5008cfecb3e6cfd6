//! What stubs do: from a place and the engine's state to events.
//!
//! A handler runs between two instructions of the engine. It reads the engine's stacks and
//! changes nothing but cells of code. It cannot call Prolog, and makes no terms.

use super::plant::{self, Handlers};
use super::view::EngineView;
use super::{emit, exchange};
use crate::engine::Engine;
use crate::engines;
use crate::ffi::TRUE;
use crate::native::held_values::{HeldArguments, MOST_CALLS};
use crate::native::instructions::InstructionKind;
use crate::native::known::catch_definition;
use crate::native::offsets::{self, FRAME_DEFINITION, FRAME_PARENT, FRAME_RETURN};
use crate::native::open_box::Offset;
use crate::native::place::{RecordedGoal, StubPlace, StubWork, role};
use crate::native::predicates;
use crate::native::shadow::{Expected, Left, OpeningCall, Shadow, Sink};
use crate::native::sites::Given;
use crate::native::standing::Standing;
use crate::native::words::{WORD, word};
use crate::panics::guarded;
use crate::recording;

/// All handlers.
pub(super) const HANDLERS: Handlers = Handlers {
    look: on_look,
    call: on_call,
    select: on_select,
    wrapped: on_wrapped,
    wrapper: on_wrapper,
    shift: on_shift,
    new_body: on_new_body,
    new_code: on_new_code,
    recovery: on_recovery,
    entry: on_entry,
    meta_call: on_meta_call,
};

/// The engine that has come to a stub.
pub(super) struct Visit {
    pub(super) view: EngineView,
    pub(super) shadow: &'static mut Shadow,
    pub(super) engine: &'static mut Engine,
}

/// Runs a handler if the engine is recorded. Control goes on where it would without stubs.
fn visit(place: usize, cell: usize, work: impl FnOnce(&mut Visit, &'static StubPlace)) {
    // SAFETY: stubs have addresses of places, which are never freed.
    let place = unsafe { &*(place as *const StubPlace) };
    guarded(TRUE, || {
        match Visit::begin() {
            Some(mut visit) => work(&mut visit, place),
            None => exchange::leave(cell, place.op),
        }
        TRUE
    });
}

extern "C" fn on_look(place: usize, cell: usize) {
    visit(place, cell, |visit, place| visit.look(place.roles, cell));
}

extern "C" fn on_call(place: usize, cell: usize) {
    visit(place, cell, |visit, place| {
        if let StubWork::Call(goal) = place.work {
            visit.call(place, cell, goal);
        }
    });
}

extern "C" fn on_select(place: usize, cell: usize) {
    visit(place, cell, |visit, place| visit.select(place, cell));
}

extern "C" fn on_wrapped(place: usize, cell: usize) {
    visit(place, cell, |visit, _| visit.wrapped());
}

extern "C" fn on_wrapper(place: usize, cell: usize) {
    visit(place, cell, |visit, place| visit.wrapper(place, cell));
}

extern "C" fn on_shift(place: usize, cell: usize) {
    visit(place, cell, |visit, _| visit.shift());
}

extern "C" fn on_new_body(place: usize, cell: usize) {
    visit(place, cell, |visit, place| visit.new_body(place, cell));
}

extern "C" fn on_new_code(place: usize, cell: usize) {
    visit(place, cell, |visit, place| visit.new_code(place, cell));
}

extern "C" fn on_entry(place: usize, cell: usize) {
    visit(place, cell, |visit, place| {
        if let StubWork::Entry(clause) = place.work {
            visit.entry(place, cell, clause);
        }
    });
}

extern "C" fn on_recovery(place: usize, cell: usize) {
    visit(place, cell, |visit, _| visit.recovery());
}

extern "C" fn on_meta_call(place: usize, cell: usize) {
    visit(place, cell, |visit, place| visit.meta_call(place, cell));
}

/// The engine's events.
impl Sink for Engine {
    fn exit_det(&mut self) {
        if !self.stream.exit_det_if_soon() {
            self.note_pauses(true);
            self.stream.exit_det();
        }
    }

    fn exit_nondet(&mut self) {
        if !self.stream.exit_nondet_if_soon() {
            self.note_pauses(true);
            self.stream.exit_nondet();
        }
    }

    fn redo(&mut self, active: bool) {
        if !self.stream.redo_if_soon() {
            self.note_pauses(active);
            self.stream.redo();
        }
    }

    fn fail(&mut self) {
        if !self.stream.fail_if_soon() {
            self.note_pauses(true);
            self.stream.fail();
        }
    }

    fn exception(&mut self) {
        self.note_pauses(true);
        self.stream.exception();
    }

    fn values(&mut self, held: &[Option<HeldArguments>; MOST_CALLS]) {
        self.note_values_at_exit(held);
    }

    fn cut(&mut self, active: bool) {
        if !self.stream.cut_if_soon() {
            self.note_pauses(active);
            self.stream.cut();
        }
    }
}

/// Machine code records again.
impl Drop for Visit {
    fn drop(&mut self) {
        let block = emit::thread_block();
        // SAFETY: the calling thread's own block.
        unsafe {
            (*block).engine = self.view.engine();
            (*block).handles = false;
        }
    }
}

/// Whether nothing more can be recorded: the trace is full, or this is the child of a fork. Then
/// the recording ends.
fn has_stopped(engine: &Engine) -> bool {
    let stopped = engine.stream.has_stopped();
    if stopped {
        recording::abandon_epoch(engine.epoch());
    }
    stopped
}

impl Visit {
    pub(super) fn begin() -> Option<Self> {
        let offsets = offsets::known()?;
        let data = offsets::running_engine(offsets);
        let block = emit::thread_block();
        // A handler that a signal has interrupted is not disturbed.
        // SAFETY: the calling thread's own block.
        if unsafe { (*block).handles } {
            return None;
        }
        if !predicates::is_recording() {
            Self::forget();
            return None;
        }
        // SAFETY: the only reference until the handler ends.
        let engine = unsafe { engines::of_stub(data, emit::kind_of_engine) };
        let Some(engine) = engine.filter(|engine| !has_stopped(engine)) else {
            Self::forget();
            return None;
        };
        // SAFETY: the calling thread's own block; a shadow is never freed, and used by its engine
        // only. Machine code leaves everything to handlers until this one ends.
        let shadow = unsafe {
            (*block).handles = true;
            (*block).engine = 0;
            (*block).shadow = engine.shadow;
            &mut *engine.shadow
        };
        shadow.stream = if engine.quiet {
            std::ptr::null()
        } else {
            engine.stream.fields()
        };
        let mut visit = Self {
            view: EngineView::new(offsets, data),
            shadow,
            engine,
        };
        visit.see_shift();
        Some(visit)
    }

    /// The thread runs an engine that is not recorded.
    fn forget() {
        // SAFETY: the calling thread's own block.
        unsafe { (*emit::thread_block()).engine = 0 };
    }

    /// What has happened since the last stub.
    fn look(&mut self, roles: u8, cell: usize) {
        let moment = self.view.moment();
        let returns_to = self.view.fixed(cell);
        if roles & role::RETURN != 0 {
            let returned = self.shadow.returned(moment, returns_to, self.engine);
            if returned || roles & !role::SELDOM == role::RETURN {
                if !returned {
                    self.shadow.left(Left::Unseen, moment.frame, self.engine);
                }
                self.shadow.settle();
                self.shadow.announced = -1;
                if returned {
                    self.watch_newest();
                }
                return;
            }
        }
        if roles & role::CAUGHT != 0 {
            self.shadow
                .left(Left::ByException, moment.frame, self.engine);
        }
        if roles & (role::RESUME | role::CLAUSE) != 0 {
            let in_clause = roles & role::CLAUSE != 0;
            self.shadow.resumed(moment, in_clause, self.engine);
            self.watch_newest();
        }
        if roles & role::AFTER_CUT != 0 {
            self.shadow.cut_after(moment.choice, self.engine);
        }
        self.shadow.settle();
        self.shadow.announced = -1;
    }

    /// A goal of a recorded clause calls.
    fn call(&mut self, place: &StubPlace, cell: usize, goal: RecordedGoal) {
        let is_another = place.is_stale()
            || self
                .view
                .callee(place.kind, cell)
                .is_some_and(|callee| callee != goal.callee);
        // A definition that is no longer called may have been freed.
        // SAFETY: the definition that is called.
        let has_come =
            !is_another && !goal.is_there && unsafe { predicates::is_there(goal.callee) };
        let goal = if is_another || has_come || goal.id.is_none() {
            self.plant_again(place, cell)
        } else {
            Some(goal)
        };
        let frame = self.view.frame();
        let newest = self.view.newest();
        // What is older was seen to when the box opened that runs here.
        if newest > frame {
            self.watch(newest);
        }
        let Some(goal) = goal else { return };
        let departs = match place.kind {
            InstructionKind::LastCall | InstructionKind::LastCallSelf => true,
            kind if kind.departs() => goal.is_there && self.view.newest_of_all() <= frame,
            _ => false,
        };
        if departs {
            self.tail(goal, frame, self.view.is_on_stack(cell));
        } else {
            self.open(goal, frame, newest, cell + place.length);
            if place.kind.calls_goal() {
                // The goal gets the frame of `call/N`.
                self.expect(self.view.offset(self.view.top()), cell + place.length);
            }
        }
        if goal.says_more() {
            let is_in_place = matches!(
                place.kind,
                InstructionKind::LastCall | InstructionKind::LastCallSelf
            );
            let called = if is_in_place { frame } else { self.view.top() };
            self.note_call(&goal, called);
        }
    }

    /// A last call: the callee gets the running frame. If that is the frame of the active box,
    /// the box departs; but that of `call/1` stays, which has made the clause that calls.
    fn tail(&mut self, goal: RecordedGoal, frame: usize, made: bool) {
        let at = self.view.offset(frame);
        self.shadow.expected = -1;
        self.shadow.announced = -1;
        let Some(id) = goal.id else {
            // SAFETY: the running frame.
            return self.expect(at, unsafe { word(frame, FRAME_RETURN) });
        };
        if made || self.shadow.active_frame() != at {
            self.enter(id, frame, goal.boundary, goal.given);
        } else {
            // Whatever exited inside was cut, or this were no last call.
            self.shadow.cut_after(at, self.engine);
            let silent = self.shadow.is_silent() || self.engine.quiet;
            if !silent && !self.engine.stream.tail_if_soon(id) {
                self.engine.note_pauses(self.shadow.is_active());
                self.engine.stream.tail(id);
            }
            self.shadow.departed(goal.boundary, goal.given);
            if !goal.is_there {
                self.shadow.await_beginning();
            }
        }
        if goal.announce {
            self.shadow.announced = at;
        }
    }

    fn open(&mut self, goal: RecordedGoal, frame: usize, newest: usize, returns_to: usize) {
        let top = self.view.offset(self.view.top());
        let Some(id) = goal.id else {
            self.shadow.announced = -1;
            return self.expect(top, returns_to);
        };
        let call = OpeningCall {
            frame: top,
            caller: self.view.offset(frame),
            choice: self.view.offset(newest),
            returns_to: self.view.fixed(returns_to),
            foreign: false,
            boundary: goal.boundary,
            given: goal.given,
        };
        self.called(id, &call);
        self.shadow.expected = -1;
        self.shadow.announced = if goal.announce { top } else { -1 };
        if !goal.is_there {
            self.shadow.await_beginning();
        }
    }

    /// A goal of the program will begin in this frame; which one is not known.
    pub(super) fn expect(&mut self, frame: Offset, returns_to: usize) {
        self.shadow.expected = frame;
        self.shadow.expected_return = self.view.fixed(returns_to);
        self.shadow.expects_written = false;
    }

    pub(super) fn called(&mut self, id: u32, call: &OpeningCall) {
        let silent = self.engine.quiet;
        if !silent && !self.engine.stream.call_if_soon(id) {
            self.engine.note_pauses(self.shadow.is_active());
            self.engine.stream.call(id);
        }
        self.shadow.call(call, silent);
    }

    /// A predicate begins, and no stub has recorded its call: its clauses are about to be
    /// selected, or its function is about to be called.
    fn select(&mut self, place: &StubPlace, cell: usize) {
        // SAFETY: the running frame.
        let definition = unsafe { word(self.view.frame(), FRAME_DEFINITION) };
        self.begins(definition, place, cell);
    }

    /// A predicate begins in the running frame: it, or its wrapper.
    pub(super) fn begins(&mut self, definition: usize, place: &StubPlace, cell: usize) {
        let frame = self.view.frame();
        let at = self.view.offset(frame);
        // SAFETY: the running frame.
        let returns_to = self.view.fixed(unsafe { word(frame, FRAME_RETURN) });
        let expected = match self.shadow.take_expected(at, returns_to) {
            Expected::Goal => true,
            Expected::Written => self.is_written(definition),
            Expected::Nothing => false,
        };
        let announced = std::mem::replace(&mut self.shadow.announced, -1);
        if announced == at || self.shadow.take_awaited(at) {
            return;
        }
        if announced >= 0 && announced == self.shadow.active_frame() {
            // The handler of a signal runs between a call and the beginning of its predicate.
            self.shadow.await_beginning();
        }
        if !expected {
            self.recovery();
        }
        if !expected && self.engine.standings.is_at_boundary(definition) && !self.is_given(frame) {
            return self.pass(place, cell, definition);
        }
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing_of_running(definition) };
        let id = match standing {
            Standing::FillsTable(id) => return self.note_filling(id, frame),
            Standing::CompletesTables => return self.note_complete(frame),
            Standing::Search => return self.search(frame),
            Standing::Center => self.center(frame),
            Standing::Tests(id) => Some(self.test(definition, frame).unwrap_or(id)),
            _ => standing.at_goal(),
        };
        let Some(id) = id else {
            if standing == Standing::Unrecorded {
                self.pass(place, cell, definition);
            }
            return;
        };
        let boundary = !standing.is_always_called();
        // What `call/N` calls in the frame of its box was called where that was.
        let is_of_active = expected && at == self.shadow.active_frame();
        if !is_of_active && (self.is_called_by_recorder(frame) || self.is_called_by_held(frame)) {
            return;
        }
        if is_of_active && !self.shadow.is_at_boundary() {
            // An undefined predicate is no last call, so this one has clauses that may be asserted.
            let goal = RecordedGoal {
                callee: definition,
                id: Some(id),
                announce: false,
                with_arguments: false,
                with_values: None,
                sync: None,
                is_there: true,
                boundary,
                given: Given::UNKNOWN,
            };
            self.tail(goal, frame, false);
        } else {
            let is_test = matches!(standing, Standing::Tests(_));
            let site = if is_test {
                None
            } else if expected || boundary || self.is_from_foreign(frame) {
                self.named(definition, id)
            } else {
                None
            };
            let (id, given) = site.unwrap_or((id, Given::UNKNOWN));
            self.enter(id, frame, boundary, given);
        }
        if matches!(standing, Standing::WithArguments(_)) {
            self.note_arguments(definition, frame);
        }
        if let Some(id) = self.with_values(definition, standing) {
            self.note_values(definition, id, frame);
        }
        if let Some(sharing) = self.sharing(definition, standing) {
            self.note_sync(sharing, definition, frame);
        }
    }

    /// Whether a clause of the recorder's own library has called the predicate that begins in a
    /// frame.
    fn is_called_by_recorder(&mut self, frame: usize) -> bool {
        // SAFETY: frames of the engine's.
        let caller = unsafe {
            match word(frame, FRAME_PARENT) {
                0 => return false,
                parent => word(parent, FRAME_DEFINITION),
            }
        };
        self.engine.standings.is_own(caller)
    }

    /// The predicate begins at this cell, and gets no box.
    fn pass(&self, place: &StubPlace, cell: usize, definition: usize) {
        if place.work == StubWork::Select
            && let Some(mut planter) = plant::planter()
        {
            // SAFETY: the running predicate, and the cell that control is at.
            unsafe { planter.pass(definition, cell, place.op) };
        }
    }

    /// Whether C has called the predicate that begins in a frame.
    pub(super) fn is_from_foreign(&self, frame: usize) -> bool {
        // SAFETY: frames of the engine's. The caller is that of a query, if it has none itself.
        unsafe {
            let parent = word(frame, FRAME_PARENT);
            parent == 0 || word(parent, FRAME_PARENT) == 0
        }
    }

    /// The body of a clause begins for the first time, or a fact ends.
    fn new_body(&mut self, place: &StubPlace, cell: usize) {
        let frame = self.view.frame();
        let Some(code) = self.view.clause_with(frame, cell) else {
            return;
        };
        if self.wrapped_by(code.definition).is_some() {
            return self.new_wrapper(place, cell);
        }
        if cell == code.start {
            self.look(role::CLAUSE, cell);
        }
        // SAFETY: a definition of the engine's.
        let standing = unsafe { self.engine.standings.standing(code.definition) };
        if standing != Standing::Untouched {
            // A fact is entered where it ends.
            self.plant_and_enter(&code, standing.is_recorded(), cell);
        }
    }

    /// A body begins that `call/1` has made. What is newer than its frame was left by an
    /// exception: had it failed, a stub would have seen it.
    fn new_code(&mut self, place: &StubPlace, cell: usize) {
        let frame = self.view.frame();
        let Some(code) = self.view.clause_with(frame, cell) else {
            return;
        };
        let moment = self.view.moment();
        self.shadow
            .left(Left::ByException, moment.frame, self.engine);
        self.shadow.cut_after(moment.choice, self.engine);
        self.shadow.settle();
        // SAFETY: the running frame.
        let returns_to = self.view.fixed(unsafe { word(frame, FRAME_RETURN) });
        let at = self.view.offset(frame);
        let goals = self.shadow.take_expected(at, returns_to) == Expected::Goal
            || self.has_goals(frame, &code);
        let named = self.plant_made(&code, goals, cell);
        if goals {
            // The body has no box of its own: what is older than its boxes is watched from here,
            // and so are the clauses that it returns to.
            self.watch_newest();
            self.demand(frame);
        }
        // A body may begin with a goal.
        let mut plain = || self.goal(code.definition, place.kind, cell).recorded();
        if goals && let Some(goal) = named.or_else(&mut plain) {
            self.call(place, cell, goal);
        }
    }

    /// A predicate begins. If it is the recovery of `catch/3`, an exception has left what is
    /// newer. The goal of `catch/3` runs behind a choicepoint, its recovery in the place of that.
    pub(super) fn recovery(&mut self) {
        let frame = self.view.frame();
        // SAFETY: frames of the engine's.
        let is_recovery = unsafe {
            let parent = word(frame, FRAME_PARENT);
            self.view.arguments(parent) + 3 * WORD == frame
                && word(parent, FRAME_DEFINITION) == catch_definition()
        };
        if is_recovery {
            let at = self.view.offset(frame);
            self.shadow.left(Left::ByException, at, self.engine);
            self.shadow.settle();
        }
    }
}
