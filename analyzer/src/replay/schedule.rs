//! Chunks of a trace, replayed in parallel and joined in order.
//!
//! A long stream is cut into parts; short ones are put together. Chunks are taken in order, so few wait to be
//! joined at a time, and memory does not grow with the trace. Joining is the serial part.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::ReplayOptions;
use super::chunk::Before;
use super::join::GiveUp;
use super::joined::{Checkpoints, Joined};
use super::plan::{ReplayWork, plan};
use super::work::{Done, ReplayWorker};
use crate::figures::profile::Profile;
use crate::moment::checkpoint::Checkpoint;
use crate::on_panic::OnPanic;
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
    let worker = ReplayWorker::new(trace, options, scope);
    let (mut joined, failed) = WorkBatch::new(worker, works, Joined::new(scope, taken)).all();
    match failed {
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
                *all = taken.in_trace(trace);
            }
            joined.into_profile()
        }
    }
}

/// The replay of streams whose ticks together have more than 64 bits: sums stay where those end.
fn one_by_one(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Profile {
    let mut all = Profile::default();
    for stream in 0..trace.streams().len() {
        let works = vec![ReplayWork::Streams(stream..stream + 1)];
        let worker = ReplayWorker::new(trace, options, scope);
        let (joined, _) = WorkBatch::new(worker, works, Joined::new(scope, None)).all();
        all.merge(joined.into_profile());
    }
    all
}

/// Some works, which are done at the same time and joined in their order.
pub(super) struct WorkBatch<'t> {
    worker: ReplayWorker<'t>,
    works: Vec<ReplayWork>,
    next: AtomicUsize,
    queue: Mutex<JoinQueue<'t>>,
    /// Fewer chunks wait.
    fewer: Condvar,
    most_ready: usize,
    /// Once it is set, no further work is begun.
    stop: Option<&'t AtomicBool>,
}

/// What was joined, and what is to be joined.
struct JoinQueue<'t> {
    joined: Joined,
    /// The work to be joined next.
    next: usize,
    /// Chunks that are replayed and cannot be joined yet.
    ready: BTreeMap<usize, Done<'t>>,
    failed: Option<GiveUp>,
}

impl<'t> WorkBatch<'t> {
    /// Works that go on from what was joined before.
    pub(super) fn new(worker: ReplayWorker<'t>, works: Vec<ReplayWork>, joined: Joined) -> Self {
        Self {
            worker,
            works,
            next: AtomicUsize::new(0),
            queue: Mutex::new(JoinQueue {
                joined,
                next: 0,
                ready: BTreeMap::new(),
                failed: None,
            }),
            fewer: Condvar::new(),
            most_ready: 0,
            stop: None,
        }
    }

    /// The same; once `stop` is set, no further work is begun.
    pub(super) fn until(self, stop: Option<&'t AtomicBool>) -> Self {
        Self { stop, ..self }
    }

    /// Does all works on rayon's current threads. What was joined is of no use if that failed.
    pub(super) fn all(mut self) -> (Joined, Option<GiveUp>) {
        let threads = rayon::current_num_threads().min(self.works.len()).max(1);
        self.most_ready = 2 * threads;
        let run = &self;
        rayon::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|_| run.work());
            }
        });
        let queue = self.queue.into_inner();
        let queue = queue.unwrap_or_else(PoisonError::into_inner);
        (queue.joined, queue.failed)
    }

    fn lock(&self) -> MutexGuard<'_, JoinQueue<'t>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn work(&self) {
        // Other threads may wait for the chunk that this one is at: for ever, if this one panics.
        // The panic goes on when they have ended.
        let _stop = OnPanic(|| {
            self.lock().failed = Some(GiveUp::Unusual);
            self.stop();
            self.fewer.notify_all();
        });
        while !self.is_stopped() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(work) = self.works.get(at) else {
                return;
            };
            let done = self.worker.replay(work, &Before::default());
            let mut queue = self.lock();
            queue.ready.insert(at, done);
            self.join(&mut queue);
            while queue.ready.len() >= self.most_ready && queue.failed.is_none() {
                queue = self
                    .fewer
                    .wait(queue)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            if queue.failed.is_some() {
                return;
            }
        }
    }

    /// Joins the chunks that can be joined.
    fn join(&self, queue: &mut JoinQueue<'t>) {
        let begin = Instant::now();
        while let Some(done) = queue.ready.remove(&queue.next) {
            if queue.failed.is_none() {
                let added = queue.joined.add(self.worker, &self.works[queue.next], done);
                queue.failed = added.err();
            }
            queue.next += 1;
        }
        if queue.failed.is_some() {
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
            let nowhere = ReplayWork::Streams(usize::MAX - 1..usize::MAX);
            let mut works = vec![ReplayWork::Streams(0..1); 100];
            works[0] = nowhere;
            let worker = ReplayWorker::new(&trace, &options, &scope);
            WorkBatch::new(worker, works, Joined::new(&scope, None)).all()
        };
        let panicked = catch_unwind(AssertUnwindSafe(|| pool.unwrap().install(replay)));
        assert!(panicked.is_err());
    }
}
