//! Chunks of a trace, replayed in parallel and joined in order.
//!
//! A long stream is cut into parts; short ones are put together. Chunks are taken in order, so few wait to be
//! joined at a time, and memory does not grow with the trace. Joining is the serial part.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::ReplayOptions;
use super::chunk::Before;
use super::join::GiveUp;
use super::joined::{Checkpoints, Joined};
use super::plan::{Work, plan};
use super::work::Worker;
use crate::figures::profile::Profile;
use crate::moment::checkpoint::Checkpoint;
use crate::scope::Scope;
use crate::trace::Trace;

/// The replay of all streams. `checkpoints` gets those of streams that were cut into chunks.
///
/// A stream that cannot be joined from chunks is replayed in one piece. That says nothing of the trace: whether it is
/// in order is told by its profile.
pub(super) fn replay(
    trace: &Trace,
    options: &ReplayOptions,
    scope: &Scope,
    checkpoints: Option<&mut Vec<Checkpoint>>,
) -> Profile {
    let works = plan(trace, options, scope);
    let taken = checkpoints.is_some().then(Checkpoints::default);
    let mut joined = Run::new(trace, options, scope, works, taken).all();
    match joined.failed {
        Some(failed) if !options.is_cancelled() => match failed {
            GiveUp::Long => one_by_one(trace, options, scope),
            // Little was done until then, or the trace is unusual.
            GiveUp::Unusual | GiveUp::Deep => {
                let options = ReplayOptions {
                    chunk_bytes: Some(u64::MAX),
                    ..options.clone()
                };
                replay(trace, &options, scope, checkpoints)
            }
        },
        _ => {
            if let (Some(all), Some(taken)) = (checkpoints, joined.checkpoints.take()) {
                *all = taken.all;
            }
            joined.into_profile()
        }
    }
}

/// The replay of streams whose ticks together have more than 64 bits: sums stay where those end.
fn one_by_one(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Profile {
    let mut all = Profile::default();
    for stream in 0..trace.streams().len() {
        let works = vec![Work::Streams(stream..stream + 1)];
        all.merge(
            Run::new(trace, options, scope, works, None)
                .all()
                .into_profile(),
        );
    }
    all
}

struct Run<'t> {
    worker: Worker<'t>,
    works: Vec<Work>,
    next: AtomicUsize,
    joined: Mutex<Joined<'t>>,
    /// Fewer chunks wait.
    fewer: Condvar,
    most_ready: usize,
}

impl<'t> Run<'t> {
    fn new(
        trace: &'t Trace,
        options: &'t ReplayOptions<'t>,
        scope: &'t Scope,
        works: Vec<Work>,
        checkpoints: Option<Checkpoints>,
    ) -> Self {
        Self {
            worker: Worker {
                trace,
                options,
                scope,
            },
            works,
            next: AtomicUsize::new(0),
            joined: Mutex::new(Joined::new(scope, checkpoints)),
            fewer: Condvar::new(),
            most_ready: 0,
        }
    }

    /// Does all works on rayon's current threads.
    fn all(mut self) -> Joined<'t> {
        let threads = rayon::current_num_threads().min(self.works.len()).max(1);
        self.most_ready = 2 * threads;
        let run = &self;
        rayon::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| run.work());
            }
        });
        let joined = self.joined.into_inner();
        joined.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Joined<'t>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        // Others may wait for the chunk that this thread is at.
        let _stop = StopIfPanicking(self);
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(work) = self.works.get(at) else {
                return;
            };
            let done = self.worker.replay(work, &Before::default());
            let mut joined = self.lock();
            joined.ready.insert(at, done);
            self.join(&mut joined);
            while joined.ready.len() >= self.most_ready && joined.failed.is_none() {
                joined = self
                    .fewer
                    .wait(joined)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if joined.failed.is_some() {
                return;
            }
        }
    }

    /// Joins the chunks that can be joined.
    fn join(&self, joined: &mut Joined<'t>) {
        let begin = Instant::now();
        let mut next = joined.next;
        while let Some(done) = joined.ready.remove(&next) {
            if joined.failed.is_none() {
                joined.failed = joined.add(self.worker, &self.works[next], done).err();
            }
            next += 1;
        }
        joined.next = next;
        if joined.failed.is_some() {
            self.stop();
        }
        self.fewer.notify_all();
        if let Some(effort) = self.worker.options.effort {
            effort.joined(begin.elapsed());
        }
    }

    /// No thread need take further works.
    fn stop(&self) {
        self.next.store(self.works.len(), Ordering::Relaxed);
    }
}

/// Lets the other threads end when one panics: they would wait for its chunk for ever. The panic goes on when
/// they have.
struct StopIfPanicking<'r, 't>(&'r Run<'t>);

impl Drop for StopIfPanicking<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.lock().failed = Some(GiveUp::Unusual);
            self.0.stop();
            self.0.fewer.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::replay::tests::{long_script, long_trace};
    use crate::trace::mapping::Mapping;

    /// The thread that panics never delivers its chunk. The others used to wait for that, for ever.
    #[test]
    fn a_panic_in_a_chunk_ends_the_replay() {
        let mut runner = TestRunner::deterministic();
        let script = long_script().new_tree(&mut runner).unwrap().current();
        let mapping = Mapping::from(long_trace(&script));
        let trace = Trace::read(mapping, "a.pmt".as_ref()).unwrap();
        let options = ReplayOptions::default();
        let scope = options.scope(&trace);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let replay = || {
            let nowhere = Work::Streams(usize::MAX - 1..usize::MAX);
            let mut works = vec![Work::Streams(0..1); 100];
            works[0] = nowhere;
            Run::new(&trace, &options, &scope, works, None).all()
        };
        let panicked = catch_unwind(AssertUnwindSafe(|| pool.unwrap().install(replay)));
        assert!(panicked.is_err());
    }
}
