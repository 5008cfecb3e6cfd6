//! Events to figures, in parallel.
//!
//! A long stream is cut into chunks (`plan`) that are replayed at the same time (`schedule`), each
//! from a state that is not known yet (`chunk`). They are joined in their order (`join`, `state`).
//! The figures are those of the brute-force model in the tests (`naive`), to the tick, for every
//! size of chunk and number of threads.
//!
//! # What a chunk needs to know of what came before: nothing
//!
//! Boxes made in the chunk lie in an arena with parent links (`boxes`); one that calls nothing is
//! not made (`leaves`). A box of before that the chunk comes to is a *root*. The box that was
//! active at its beginning is one; its caller becomes one when that box is left, and so on
//! (*levels*). So does a re-entered box of the choice stack of before. Figures are booked on *arcs*
//! between *places* (`ledger`). A place below a root is a path of predicates that starts there;
//! what the root itself does is booked on an arc of its own.
//!
//! Joining says which box each root is. With that, every place of the chunk is a place of the
//! trace, because the context of a box follows from the context of the box below which it was
//! called: contexts are lists of distinct predicates in the order of their first box, and such a
//! list is appended to another by leaving out what is there already. A time that was booked as that
//! of an outermost box may turn out to be recursion; it is moved as a sum. So joining takes work in
//! proportion to roots, arcs and boxes left over, not to events.
//!
//! # An example
//!
//! Say `m` calls `p`, that calls `q`, which exits and can be re-entered; `p` exits
//! nondeterminately, too, and the first chunk ends. It leaves `m` on the chain and `[q, p]` on the
//! choice stack.
//!
//! The second chunk is: redo, redo, call `p`, exit, exit, exit, exit. Its level 0 is the box that
//! is active at its beginning. The first redo makes a root `r1` out of the newest entry of the
//! choice stack, the second `r2` out of the next. `p`, called by `r2`, is booked on the arc `r2 →
//! p`, as an outermost box of its predicate. Then `p`, `r2`, `r1` and level 0 exit.
//!
//! Joining: level 0 is `m`, `r1` is the box of `p`, `r2` that of `q`. The place of `r2` is `m p q`,
//! so the arc `r2 → p` is the arc from `m p q` to its recursive `p`: no box of `p` there is
//! outermost, and what was booked as inclusive time of `p` is time that the first `p` no longer
//! spends in `q` (the arc by which that was left). The exits of the roots are booked on the arcs by
//! which `p`, `q` and `m` were entered, once for each logical box of a chain of last calls.
//!
//! # What is not done this way
//!
//! Some streams stay in one piece: those with gaps, damage or impossible events (`impossible`,
//! `moved`), and those of engines that report only the innermost redo. So do all when only a part
//! of the trace is looked at (`scope`), and those whose deep recursion would hand most boxes from
//! chunk to chunk. Nothing recurses on the machine's stack.

mod arc_table;
mod assemble;
mod backtrack;
mod booked;
mod boxes;
mod choice_stack;
mod choices;
mod chunk;
mod clock;
mod feed;
mod goals;
pub(crate) mod growing;
mod impossible;
mod join;
mod joined;
mod last_calls;
mod last_failure;
mod leaves;
mod ledger;
mod moved;
mod on_chain;
mod plan;
mod reader;
mod roots;
mod routes;
mod schedule;
mod small_map;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod thrown_away;
mod transparent;
mod ways_out;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::calls::CallsOnRequest;
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::moment::checkpoint::Checkpoint;
use crate::net::Rates;
use crate::reading::{self, Asked, Found};
use crate::scope::focus::Focus;
use crate::scope::hide::Hide;
use crate::scope::window::Window;
use crate::scope::{Filters, Scope};
use crate::trace::Trace;

/// The part of a trace to replay, and how.
#[derive(Debug, Clone, Default)]
pub struct ReplayOptions<'o> {
    /// Predicates to treat as if they were part of their callers.
    pub hide: Hide,
    /// Only what runs there.
    pub focus: Focus,
    /// Only what happens then; all of it if there is none.
    pub window: Option<Window>,
    /// Only the streams of these numbers; all if there are none.
    pub streams: Vec<u32>,
    /// Counts up the bytes of event blocks read, for a display of progress against
    /// [`Trace::size`].
    pub progress: Option<&'o AtomicU64>,
    /// Once it is set, [`try_replay`] ends without a result.
    pub cancel: Option<&'o AtomicBool>,
    /// Sums up the time of the replay.
    pub effort: Option<&'o Effort>,
    /// The times of single calls of the same part of the trace, to be found on the way.
    pub calls: Option<&'o CallsOnRequest>,
    /// Bytes of events that are replayed at a time; the default suits the trace and the threads.
    pub chunk_bytes: Option<u64>,
}

impl ReplayOptions<'_> {
    /// The options that filters ask for.
    #[must_use]
    pub fn of(filters: &Filters) -> Self {
        Self {
            hide: filters.hide(),
            focus: filters.focus(),
            window: filters.window(),
            streams: filters.streams(),
            ..Self::default()
        }
    }

    /// Whether nothing is left out.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.hide.is_empty()
            && self.focus.is_everything()
            && self.window.is_none()
            && self.streams.is_empty()
    }

    pub(crate) fn scope(&self, trace: &Trace) -> Scope {
        let hiding = Scope::hiding(trace, &self.hide);
        hiding.within(self.focus.clone(), self.window, self.streams.clone())
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel
            .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

/// The time of a replay, for benchmarks.
#[derive(Debug, Default)]
pub struct Effort {
    parallel: AtomicU64,
    serial: AtomicU64,
}

impl Effort {
    /// Time of all threads in the part that runs in parallel.
    #[must_use]
    pub fn parallel(&self) -> Duration {
        Duration::from_nanos(self.parallel.load(Ordering::Relaxed))
    }

    /// Time in the part that one thread does at a time: joining chunks.
    #[must_use]
    pub fn serial(&self) -> Duration {
        Duration::from_nanos(self.serial.load(Ordering::Relaxed))
    }

    fn replayed(&self, took: Duration) {
        self.parallel
            .fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }

    fn joined(&self, took: Duration) {
        self.serial
            .fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    }
}

/// Replays all streams of a trace, in parallel on rayon's current threads. Cannot be cancelled.
///
/// The profile also has all damage of the trace: what was known when it was opened, and what its
/// events had.
#[must_use]
pub fn replay(trace: &Trace, options: &ReplayOptions) -> Profile {
    let options = ReplayOptions {
        cancel: None,
        ..options.clone()
    };
    try_replay(trace, &options).unwrap_or_default()
}

/// Like [`replay`]; `None` if it was cancelled.
#[must_use]
pub fn try_replay(trace: &Trace, options: &ReplayOptions) -> Option<Profile> {
    replay_with(trace, options, None)
}

/// [`try_replay`] that takes checkpoints, too, if the options leave nothing out.
fn replay_with(
    trace: &Trace,
    options: &ReplayOptions,
    checkpoints: Option<&mut Vec<Checkpoint>>,
) -> Option<Profile> {
    let scope = options.scope(trace);
    let since_it_begins = || {
        let profile = schedule::replay(trace, options, &scope, checkpoints);
        match scope.window {
            Some(window) => {
                let before = schedule::replay(trace, options, &scope.before(window), None);
                profile.since(&before)
            }
            None => profile,
        }
    };
    let (profile, found) = rayon::join(since_it_begins, || beside(trace, &scope, options, true));
    let profile = completed(trace, &scope, profile, found?);
    (!options.is_cancelled()).then_some(profile)
}

/// What is found beside the replay; the times of single calls are kept where the options want them.
/// `None` if it was cancelled.
fn beside(trace: &Trace, scope: &Scope, options: &ReplayOptions, waits: bool) -> Option<Found> {
    let calls = options.calls.is_some();
    let asked = Asked { calls, waits };
    let mut found = reading::read(trace, scope, asked, options.cancel)?;
    if let (Some(calls), Some(found)) = (options.calls, found.calls.take()) {
        calls.keep(Arc::new(found));
    }
    Some(found)
}

/// What the replay found, with what was found beside it, and what follows from that.
fn completed(trace: &Trace, scope: &Scope, profile: Profile, found: Found) -> Profile {
    let mut profile = Profile {
        clauses: found.clauses,
        arguments: found.arguments,
        values: found.values,
        waits: found.waits,
        ..profile
    };
    profile
        .predicates
        .resize(scope.hidden.len(), Default::default());
    profile.damage.extend_from_slice(trace.damage());
    profile.settle();
    profile.net = Rates::of(trace).map(|rates| NetTimes::of(&profile, &rates));
    profile
}

/// The profile of a trace, and checkpoints every so many bytes of events in its long streams: not
/// in all of them. `None` if it was cancelled.
pub(crate) fn replay_for_index(
    trace: &Trace,
    bytes: u64,
    options: &ReplayOptions,
) -> Option<(Profile, Vec<Checkpoint>)> {
    let options = ReplayOptions {
        chunk_bytes: Some(bytes),
        ..options.clone()
    };
    let mut checkpoints = Vec::new();
    let profile = replay_with(trace, &options, Some(&mut checkpoints))?;
    Some((profile, checkpoints))
}
