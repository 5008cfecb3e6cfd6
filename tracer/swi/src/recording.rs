//! The recording in progress: which trace is written, and whether there is one.
//!
//! One process records into one trace at a time.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use portmortem_tracer::Recorder;
use portmortem_tracer::format::Outcome;
use portmortem_tracer::pattern::PredicatePattern;

use crate::collections;

/// Odd while something is being recorded; every recording has a number of its own.
static EPOCH: AtomicU32 = AtomicU32::new(0);
static WRAPPER_GENERATION: AtomicU32 = AtomicU32::new(0);
static CONTINUATIONS: AtomicBool = AtomicBool::new(false);
static CURRENT: Mutex<Option<Recording>> = Mutex::new(None);

/// The trace and what is to be recorded in it.
pub(crate) struct Recording {
    pub(crate) recorder: Recorder,
    pub(crate) selection: Selection,
    /// Whether last calls are recorded as such, or get boxes of their own.
    pub(crate) tails: bool,
    /// Whether symbolic costs are counted.
    pub(crate) symbolic: bool,
    /// The engine's limit for its stacks, in bytes.
    pub(crate) stack_limit: usize,
    /// Ids of predicates that stand for what the engine does without a call; those of [`crate::collections`].
    pub(crate) pseudo: [OnceLock<u32>; collections::KINDS],
}

impl Recording {
    /// The id of a predicate that stands for what the engine does without a call.
    pub(crate) fn pseudo(&self, kind: usize, name: &str) -> u32 {
        *self.pseudo[kind].get_or_init(|| self.recorder.predicate("system", name, 0, None, 0))
    }
}

/// Which predicates are recorded.
#[derive(Default)]
pub(crate) struct Selection {
    pub(crate) include: Vec<PredicatePattern>,
    pub(crate) exclude: Vec<PredicatePattern>,
}

impl Selection {
    /// Whether to record a predicate; `by_default` says what holds where no `--include` was given.
    pub(crate) fn selects(&self, by_default: bool, module: &str, name: &str, arity: u32) -> bool {
        let any = |patterns: &[PredicatePattern]| {
            patterns
                .iter()
                .any(|pattern| pattern.matches(module, name, arity))
        };
        let included = if self.include.is_empty() {
            by_default
        } else {
            any(&self.include)
        };
        included && !any(&self.exclude)
    }

    /// Whether there can be predicates to record in that module.
    pub(crate) fn selects_in(&self, module: &str) -> bool {
        let mut include = self.include.iter();
        self.include.is_empty() || include.any(|pattern| pattern.matches_in(module))
    }
}

/// The number of the recording in progress.
#[inline]
pub(crate) fn epoch() -> Option<u32> {
    let epoch = EPOCH.load(Ordering::Acquire);
    (epoch % 2 == 1).then_some(epoch)
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

fn current() -> MutexGuard<'static, Option<Recording>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to record. False if a recording is in progress.
pub(crate) fn start(recording: Recording) -> bool {
    let mut current = current();
    if current.is_some() {
        return false;
    }
    *current = Some(recording);
    EPOCH.fetch_add(1, Ordering::AcqRel);
    true
}

/// Ends the recording, if there is one.
pub(crate) fn stop(outcome: &Outcome) -> bool {
    let Some(recording) = current().take() else {
        return false;
    };
    // The calling engine's stream ends in order; those of other threads stay as they are, readable to the last event.
    crate::engine::detach_current();
    EPOCH.fetch_add(1, Ordering::AcqRel);
    crate::symbolic::finish(&recording.recorder);
    // What cannot be written any more is missing from the trace, which says so; the program must not notice.
    let _ = recording.recorder.close(outcome.clone());
    true
}

/// Does something with the recording in progress.
pub(crate) fn with<T>(action: impl FnOnce(&Recording) -> T) -> Option<T> {
    current().as_ref().map(action)
}
