//! The recording in progress: which trace is written, and whether there is one.
//!
//! One process records into one trace at a time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, OnceLock};

use portmortem_tracer::format::{
    ENGINE_HOME, ENGINE_WORK, Outcome, Role, Roles, engine_work_module, swi_prolog_roles,
};
use portmortem_tracer::locks::{self, Locked};
use portmortem_tracer::pattern::PredicatePattern;
use portmortem_tracer::program_end::Written;
use portmortem_tracer::{Ids, NewPredicate, RecordError, Recorder};

/// Odd while something is being recorded; every recording has a number of its own.
static EPOCH: AtomicU32 = AtomicU32::new(0);
/// There is a recording in [`CURRENT`].
static OPEN: AtomicBool = AtomicBool::new(false);
/// That one is of trials.
static OF_TRIALS: AtomicBool = AtomicBool::new(false);
/// The process that records: not its children.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// Another program has shortened a trace while it was written.
static SHORTENED: AtomicBool = AtomicBool::new(false);
/// The process is the child of one that recorded with stubs.
static LEFT_TO_PARENT: AtomicBool = AtomicBool::new(false);
static WRAPPER_GENERATION: AtomicU32 = AtomicU32::new(0);
static CONTINUATIONS: AtomicBool = AtomicBool::new(false);
static GOALS: AtomicBool = AtomicBool::new(false);
static CURRENT: Mutex<Option<Recording>> = Mutex::new(None);
/// What a predicate, a goal or a clause was called in one recording, it is called in all.
static IDS: LazyLock<Ids> = LazyLock::new(Ids::default);

/// The trace and what is to be recorded in it.
pub(crate) struct Recording {
    pub(crate) recorder: Recorder,
    pub(crate) selection: Selection,
    /// Trials of what recording costs are recorded, and not the program.
    pub(crate) of_trials: bool,
    /// Whether last calls are recorded as such, or get boxes of their own.
    pub(crate) tails: bool,
    /// Whether the clauses that are entered are recorded.
    pub(crate) clauses: bool,
    /// Whether symbolic costs are counted.
    pub(crate) symbolic: bool,
    /// The engine's limit for its stacks, in bytes.
    pub(crate) stack_limit: usize,
    /// Where the engine is installed.
    pub(crate) home: PathBuf,
    /// Ids of predicates that stand for what the engine does without a call, in the order of
    /// their names.
    pub(crate) pseudo: [OnceLock<u32>; ENGINE_WORK.len()],
}

impl Recording {
    /// How a file is named in the trace. The engine's own files are named so that they are found
    /// wherever it is installed.
    pub(crate) fn file_name(&self, path: &str) -> String {
        let own = Path::new(path).strip_prefix(&self.home).ok();
        let own = own
            .filter(|_| self.home.is_absolute())
            .and_then(Path::to_str);
        own.map_or_else(|| path.to_owned(), |own| format!("{ENGINE_HOME}{own}"))
    }

    /// Names a predicate in the trace, with what it is to the engine ([`Recorder::predicate`]):
    /// one that a file of the program defines has no roles, whatever its name is.
    pub(crate) fn predicate(&self, new: NewPredicate) -> u32 {
        let known = swi_prolog_roles(new.module, new.name, new.arity);
        let is_outside = new.file.is_some_and(|file| !file.starts_with(ENGINE_HOME));
        let roles = match is_outside && !known.has(Role::BuiltIn) {
            true => Roles::default(),
            false => known,
        };
        self.recorder.predicate(new.with_roles(roles))
    }

    /// The id of a predicate that stands for what the engine does without a call; its name is one
    /// of [`ENGINE_WORK`].
    pub(crate) fn pseudo(&self, name: &'static str) -> u32 {
        let module = engine_work_module(name);
        let declare = || self.predicate(NewPredicate::named(module, name, 0));
        let mut known = ENGINE_WORK.iter().zip(&self.pseudo);
        match known.find(|(known, _)| **known == name) {
            Some((_, id)) => *id.get_or_init(declare),
            None => declare(),
        }
    }
}

/// Which predicates are recorded.
#[derive(Default)]
pub(crate) struct Selection {
    pub(crate) include: Vec<PredicatePattern>,
    pub(crate) exclude: Vec<PredicatePattern>,
    /// Of these, what calls are made with is recorded.
    pub(crate) arguments: Vec<PredicatePattern>,
    /// Of these, what arguments are at calls and exits is recorded.
    pub(crate) values: Vec<PredicatePattern>,
}

impl Selection {
    /// Whether to record a predicate; `by_default` says what holds where no `--include` was given.
    pub(crate) fn selects(&self, by_default: bool, module: &str, name: &str, arity: u32) -> bool {
        let included = if self.include.is_empty() {
            by_default
        } else {
            any(&self.include, module, name, arity)
        };
        included && !self.excludes(module, name, arity)
    }

    /// Whether `--exclude` names a predicate.
    pub(crate) fn excludes(&self, module: &str, name: &str, arity: u32) -> bool {
        any(&self.exclude, module, name, arity)
    }

    /// Whether `--arguments` names a predicate.
    pub(crate) fn keeps_arguments(&self, module: &str, name: &str, arity: u32) -> bool {
        any(&self.arguments, module, name, arity)
    }

    /// Whether `--values` names a predicate.
    pub(crate) fn keeps_values(&self, module: &str, name: &str, arity: u32) -> bool {
        any(&self.values, module, name, arity)
    }

    /// Whether there can be predicates to record in that module.
    pub(crate) fn selects_in(&self, module: &str) -> bool {
        let mut include = self.include.iter();
        self.include.is_empty() || include.any(|pattern| pattern.matches_in(module))
    }
}

fn any(patterns: &[PredicatePattern], module: &str, name: &str, arity: u32) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| pattern.matches(module, name, arity))
}

/// The number of the recording in progress.
#[inline]
pub(crate) fn epoch() -> Option<u32> {
    let epoch = EPOCH.load(Ordering::Acquire);
    (epoch % 2 == 1).then_some(epoch)
}

/// [`epoch`], or a number that is no recording's.
#[inline(always)]
pub(crate) fn last_epoch() -> u32 {
    EPOCH.load(Ordering::Acquire)
}

/// Changes with every wrapper that is made or changed.
#[inline]
pub(crate) fn wrapper_generation() -> u32 {
    WRAPPER_GENERATION.load(Ordering::Relaxed)
}

/// A wrapper was made or changed.
pub(crate) fn wrappers_changed() {
    WRAPPER_GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Whether a delimited continuation has ever been resumed in this process.
#[inline]
pub(crate) fn continuations_in_use() -> bool {
    CONTINUATIONS.load(Ordering::Relaxed)
}

/// A delimited continuation is about to be resumed.
pub(crate) fn continuation_resumed() {
    CONTINUATIONS.store(true, Ordering::Relaxed);
}

/// Whether clauses with ports at their goals have been made in this process.
#[inline]
pub(crate) fn has_goals() -> bool {
    GOALS.load(Ordering::Relaxed)
}

/// Clauses with ports at their goals are being made.
pub(crate) fn goals_made() {
    GOALS.store(true, Ordering::Relaxed);
}

/// The ids of the program's recordings: stubs have them, and are used again.
pub(crate) fn ids() -> Ids {
    IDS.clone()
}

fn current() -> Locked<'static, Option<Recording>> {
    locks::lock(&CURRENT)
}

/// Begins to record. False if a recording is in progress.
pub(crate) fn start(recording: Recording) -> bool {
    let mut current = current();
    if current.is_some() {
        return false;
    }
    OF_TRIALS.store(recording.of_trials, Ordering::Relaxed);
    *current = Some(recording);
    debug_assert!(
        EPOCH.load(Ordering::Relaxed).is_multiple_of(2),
        "no recording is in progress"
    );
    PROCESS.store(std::process::id(), Ordering::Relaxed);
    OPEN.store(true, Ordering::Release);
    EPOCH.fetch_add(1, Ordering::AcqRel);
    true
}

/// Takes the recording in progress, if there is one, to end it: no other begins before that.
pub(crate) fn take() -> Option<Recording> {
    let recording = current().take()?;
    OPEN.store(false, Ordering::Release);
    Some(recording)
}

/// [`take`], because the process ends. `None` in a child of a fork.
pub(crate) fn take_at_exit() -> Option<Recording> {
    if PROCESS.load(Ordering::Relaxed) != std::process::id() {
        return None;
    }
    current().take()
}

/// Nothing more is recorded, because nothing can be or something went wrong. The trace stays open
/// until the recording is ended, to say how the program did.
pub(crate) fn abandon() {
    end_epoch();
}

/// [`abandon`] of the recording with this number. While the thread that has found its trace full
/// had no processor, it may have ended, and another one may have begun.
pub(crate) fn abandon_epoch(epoch: u32) {
    if epoch % 2 == 1 {
        let next = epoch.wrapping_add(1);
        let _ = EPOCH.compare_exchange(epoch, next, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// In the child of a fork: nothing more is recorded. Signal-safe.
pub(crate) fn leave_to_parent() {
    LEFT_TO_PARENT.store(true, Ordering::Relaxed);
    end_epoch();
}

/// Whether this is the child of a fork, in which a lock may be held for ever.
pub(crate) fn is_left_to_parent() -> bool {
    LEFT_TO_PARENT.load(Ordering::Relaxed)
}

/// Whether a recording has begun and has not been ended, even if nothing more is recorded.
pub(crate) fn is_open() -> bool {
    epoch().is_some() || OPEN.load(Ordering::Acquire)
}

/// Whether the newest recording is one of trials of what recording costs.
pub(crate) fn is_of_trials() -> bool {
    OF_TRIALS.load(Ordering::Relaxed)
}

/// From now on nothing is being recorded.
fn end_epoch() {
    let next = |epoch: u32| (epoch % 2 == 1).then(|| epoch.wrapping_add(1));
    let _ = EPOCH.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
}

/// What cannot be written any more is missing from the trace, which says so; the program must not
/// notice.
pub(crate) fn close(recording: &Recording, outcome: Outcome) {
    note_whether_shortened(&recording.recorder.close(outcome));
}

/// [`close`], because the process ends: other threads wait at their next port.
pub(crate) fn close_at_exit(recording: &Recording, outcome: Outcome) {
    note_whether_shortened(&recording.recorder.close_at_exit(outcome));
}

fn note_whether_shortened(closed: &Result<(), RecordError>) {
    if let Err(RecordError::Shortened { .. }) = closed {
        SHORTENED.store(true, Ordering::Relaxed);
    }
}

/// What became of the traces of this process.
pub(crate) fn written() -> Written {
    if SHORTENED.load(Ordering::Relaxed) {
        Written::Shortened
    } else if PROCESS.load(Ordering::Relaxed) == std::process::id() {
        Written::Whole
    } else {
        Written::Nothing
    }
}

/// Does something with the recording in progress.
pub(crate) fn with<T>(action: impl FnOnce(&Recording) -> T) -> Option<T> {
    current().as_ref().map(action)
}
