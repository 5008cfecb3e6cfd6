//! The state of one Prolog engine (a thread, or an engine of `engine_create/3`): its stream and
//! its boxes.
//!
//! Recording can stop and start; [`recording::epoch`] tells the state of one
//! recording from that of the next.

use std::sync::Weak;

use portmortem_tracer::Stream;
use portmortem_tracer::format::{Dialect, StreamKind};
use rustc_hash::FxHashMap;

use crate::boxes::{BoxId, BoxStack, Pruned};
use crate::collections::Collections;
use crate::coming::Coming;
use crate::credit::Credits;
use crate::frames::FrameCache;
use crate::leaving;
use crate::native::held_values::KeptValues;
use crate::native::{self, Shadow, Standings};
use crate::recording::{self, Recording};
use crate::symbolic::CostCounter;

/// What the ports of one engine work on.
pub(crate) struct Engine {
    epoch: u32,
    kind: StreamKind,
    /// Gone when the operating system's thread is in which it was made.
    maker: Weak<()>,
    /// Its Prolog thread had been told to end when it was made: see [`leaving::LEFT`].
    left: bool,
    pub(crate) stream: Stream,
    pub(crate) boxes: BoxStack,
    /// The boxes, as stubs see them. Never freed.
    /// Stubs have been put into all frames that there were, down to the oldest.
    pub(crate) knows_deep_frames: bool,
    pub(crate) shadow: *mut Shadow,
    /// What calls of predicates are, as stubs need it.
    pub(crate) standings: Standings,
    pub(crate) frames: FrameCache,
    /// What the clause said that is about to call a wrapper.
    pub(crate) coming: Option<Coming>,
    /// A wrapper was entered, and the event of the call is recorded: what its arguments are may
    /// follow.
    pub(crate) entered: bool,
    /// What may be spent on looking at arguments.
    pub(crate) credits: Credits,
    /// Of which predicates values are recorded.
    pub(crate) values: KeptValues,
    /// Ids in the trace of mutexes, queues and threads, by their names.
    pub(crate) shared_names: FxHashMap<String, u32>,
    /// The program has paused recording.
    paused: bool,
    /// How deep we are in code of our own, which may call predicates that are recorded.
    own: u32,
    /// Either of them: calls get no boxes.
    pub(crate) quiet: bool,
    /// Whether last calls are recorded as such.
    pub(crate) tails: bool,
    /// Whether the clauses that are entered are recorded.
    pub(crate) clauses: bool,
    /// Inferences that were made before the stream began.
    pub(crate) inferences: Option<u64>,
    /// Garbage collections, stack shifts and waiting so far.
    pub(crate) collections: Collections,
    /// What is counted in a symbolic recording.
    pub(crate) symbolic: Option<Box<CostCounter>>,
    /// So many boxes make [`Engine::exception`] look how much stack they take; none once it has
    /// said so.
    suspicious_depth: usize,
    /// If they take so much, it suspects the stack limit.
    suspicious_bytes: usize,
}

/// What an open box costs on the engine's local stack if a wrapper opened it: the wrapper's
/// frame, the guard's and its choicepoint.
const WRAPPER_BYTES: usize = 240;
/// The same if it was opened at a goal: a choicepoint.
const GOAL_BYTES: usize = 80;

/// Which part of the stack limit recording must have taken, to be suspected of an overflow.
const SUSPICIOUS_PART: usize = 4;

impl Engine {
    /// A state that begins. `left` says whether its Prolog thread has been told to end; `data` is
    /// the address of the engine's data, or whatever tells engines apart.
    pub(crate) fn new(
        recording: &Recording,
        epoch: u32,
        kind: StreamKind,
        name: &str,
        left: bool,
        data: usize,
    ) -> Self {
        Self {
            epoch,
            kind,
            maker: leaving::life(),
            left,
            stream: recording.recorder.stream(kind, name, Dialect::EveryRedo),
            boxes: BoxStack::new(u64::from(epoch) << 16),
            knows_deep_frames: false,
            shadow: native::shadow_of(data),
            standings: Standings::default(),
            frames: FrameCache::new(),
            coming: None,
            entered: false,
            credits: Credits::new(),
            values: KeptValues::new(!recording.selection.values.is_empty()),
            shared_names: FxHashMap::default(),
            paused: false,
            own: 0,
            quiet: false,
            tails: recording.tails,
            clauses: recording.clauses,
            inferences: native::inferences::made(),
            collections: Collections::new(native::pauses()),
            symbolic: recording.symbolic.then(|| Box::new(CostCounter::new())),
            suspicious_depth: recording.stack_limit / WRAPPER_BYTES / SUSPICIOUS_PART,
            suspicious_bytes: recording.stack_limit / SUSPICIOUS_PART,
        }
    }

    /// What it is.
    pub(crate) fn kind(&self) -> StreamKind {
        self.kind
    }

    /// Whether the Prolog thread that made the state is gone, and nothing has told of its end: see
    /// [`leaving::LEFT`]. `ends_here` says whether the one that runs here has been told to end.
    #[inline]
    pub(crate) fn is_left_over(&self, ends_here: impl FnOnce() -> bool) -> bool {
        let gone = || self.maker.strong_count() == 0 || self.left && !ends_here();
        self.kind == StreamKind::Thread && gone()
    }

    /// The number of the recording that the state belongs to.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The program pauses recording, or goes on.
    pub(crate) fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        self.settle_quiet();
    }

    /// Code of our own calls, or ends, more of it.
    pub(crate) fn is_deep_in_own(&self) -> bool {
        self.own > 1
    }

    /// Code of our own runs.
    pub(crate) fn is_in_own(&self) -> bool {
        self.own > 0
    }

    /// Code of our own begins.
    pub(crate) fn enter_own(&mut self) {
        self.own += 1;
        self.settle_quiet();
    }

    /// Code of our own ends.
    pub(crate) fn leave_own(&mut self) {
        // It may have begun before the recording did.
        self.own = self.own.saturating_sub(1);
        self.settle_quiet();
    }

    /// The active box fails: it was opened at a goal.
    pub(crate) fn fail_active(&mut self) {
        if self.boxes.is_recorded_goal() {
            self.stream.fail();
        }
        self.boxes.leave_goal();
    }

    /// The active box was re-entered.
    pub(crate) fn redo_active(&mut self) {
        self.stream.redo();
    }

    /// The guard of a box's exit was pruned: the box is cut, and with it all that exited later or
    /// inside of it.
    ///
    /// If an exception did that, it has left the boxes first that were opened since.
    pub(crate) fn exit_pruned(&mut self, id: BoxId) {
        let Some(position) = self.boxes.newest_exit(id) else {
            return;
        };
        let before = self.stream.last_tick();
        while self.boxes.is_goal_after(position) {
            self.exception_at_goal();
        }
        let inside = self.boxes.exited_before(id);
        self.cut_light(position + 1);
        let recorded = self.boxes.cut_at(position);
        self.cut(recorded);
        self.boxes.doom(inside);
        while let Some(recorded) = self.boxes.cut_doomed() {
            self.cut(recorded);
        }
        self.boxes.trim();
        self.passed_unasked(before);
    }

    /// The guard of a box was pruned. If the box had not been left, an exception leaves it now,
    /// and those inside of it before.
    pub(crate) fn guard_pruned(&mut self, id: BoxId) {
        let before = self.stream.last_tick();
        while self.boxes.is_goal_inside(id.index()) {
            self.exception_at_goal();
        }
        let silent = self.boxes.is_silent(id);
        if self.boxes.is_active(id) {
            self.cut_light(self.boxes.exited_before(id));
        }
        match self.boxes.prune(id) {
            Pruned::Silent => return,
            _ if silent => return,
            Pruned::Exception => self.exception(),
            Pruned::Cut => self.cut(true),
        }
        self.passed_unasked(before);
    }

    fn exception_at_goal(&mut self) {
        self.cut_light(self.boxes.exited_before(self.boxes.active_id()));
        if self.boxes.is_recorded_goal() {
            self.exception();
        }
        self.boxes.leave_goal();
    }

    /// What exited without a guard and is not among the first `size` is cut.
    fn cut_light(&mut self, size: usize) {
        while let Some(recorded) = self.boxes.cut_light(size) {
            self.cut(recorded);
        }
    }

    fn cut(&mut self, recorded: bool) {
        if recorded && !self.stream.cut_if_soon() {
            self.note_waiting_if_long();
            self.stream.cut();
        }
    }

    fn settle_quiet(&mut self) {
        let quiet = self.paused || self.own > 0;
        if quiet != self.quiet {
            self.quiet = quiet;
            // SAFETY: this engine's own, which no reference leads to while its state changes.
            unsafe { (*self.shadow).leave_to_handlers() };
            if quiet {
                self.stream.pause();
            } else {
                self.stream.resume();
            }
        }
    }

    /// An exception left a box. If it came deep enough, it may be that of a stack which is full
    /// only because of the recording.
    pub(crate) fn exception(&mut self) {
        self.note_waiting_if_long();
        self.stream.exception();
        let depth = self.boxes.depth() + 1;
        if depth >= self.suspicious_depth {
            let at_goals = self.boxes.count_at_goals();
            let bytes = at_goals * GOAL_BYTES + (depth - at_goals) * WRAPPER_BYTES;
            if bytes < self.suspicious_bytes {
                self.suspicious_depth = depth * 2;
                return;
            }
            self.suspicious_depth = usize::MAX;
            let text = format!(
                "an exception came {depth} boxes deep, where recording took {} MB of stack; if the stack limit was hit, record again with --stack-limit 4G",
                bytes / 1_000_000
            );
            recording::with(|current| current.recorder.note(&text));
        }
    }
}
