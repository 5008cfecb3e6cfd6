//! How long activations took, for the events in sight: found in pieces of the stream around them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use portmortem_analyzer::listing::durations;

use super::reader::Reader;

/// Events on either side of those in sight that are read at once: some milliseconds.
const NEAR: u64 = 2_000;
const AT_ONCE: u64 = 10_000;

/// The same for what is not found there, by a thread.
const FAR: u64 = 20_000;
const PIECE: u64 = 1 << 18;

/// More are not kept.
const MOST: usize = 100_000;

/// Ticks that activations took, by the number of an event that begins or ends one.
#[derive(Debug, Default)]
pub(super) struct Took {
    stream: usize,
    known: HashMap<u64, u64>,
    /// Looked for near them; and in the larger pieces.
    near: HashSet<u64>,
    far: HashSet<u64>,
    job: Option<Job>,
}

/// A thread; one that is dropped stops.
#[derive(Debug)]
struct Job {
    numbers: Vec<u64>,
    found: Receiver<Vec<(u64, u64)>>,
    stop: Arc<AtomicBool>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// What is known of how long an activation took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// So many ticks.
    Ticks(u64),
    /// It is being looked for.
    NotYet,
    /// Its other end is in none of the pieces that were read.
    No,
}

impl Took {
    pub(super) fn get(&self, number: u64) -> Known {
        match self.known.get(&number) {
            Some(ticks) => Known::Ticks(*ticks),
            None if self.job.is_none() && self.far.contains(&number) => Known::No,
            None => Known::NotYet,
        }
    }

    /// Looks for events of a stream, given in order by their numbers, unless that was done already.
    pub(super) fn look_for(&mut self, reader: &Reader, numbers: &[u64]) {
        if self.stream != reader.stream || self.near.len() > MOST {
            *self = Self {
                stream: reader.stream,
                ..Self::default()
            };
        }
        let new = |number: &&u64| !self.near.contains(number);
        let asked: HashSet<u64> = numbers.iter().filter(new).copied().collect();
        if let (Some(first), Some(last)) = (asked.iter().min(), asked.iter().max()) {
            let until = last.saturating_add(AT_ONCE);
            let piece = first.saturating_sub(NEAR)..until;
            // What is far apart is all left to the thread.
            if until - piece.start <= 2 * AT_ONCE {
                self.known.extend(read(reader, piece, &asked));
            }
            self.near.extend(asked);
        }
        let missing =
            |number: &&u64| !self.known.contains_key(number) && !self.far.contains(number);
        let mut missing: Vec<u64> = numbers.iter().filter(missing).copied().collect();
        if !missing.is_empty() {
            // What the thread before had not found may not have been read.
            let before = self.job.iter().flat_map(|job| &job.numbers);
            missing.extend(before.filter(|number| !self.known.contains_key(number)));
            missing.sort_unstable();
            missing.dedup();
            self.far.extend(&missing);
            self.job = Some(Job::start(reader, missing));
        }
    }

    /// Takes what the thread found, or waits for all of it; whether there was something.
    pub(super) fn poll(&mut self, wait: bool) -> bool {
        let mut some = false;
        while let Some(job) = &self.job {
            let found = if wait {
                job.found.recv().map_err(|_| TryRecvError::Disconnected)
            } else {
                job.found.try_recv()
            };
            match found {
                Ok(found) => self.known.extend(found),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.job = None,
            }
            some = true;
        }
        some
    }
}

impl Job {
    fn start(reader: &Reader, numbers: Vec<u64>) -> Self {
        let (sender, found) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (reader, stopped) = (reader.clone(), Arc::clone(&stop));
        let all = numbers.clone();
        thread::spawn(move || {
            let asked: HashSet<u64> = numbers.iter().copied().collect();
            let mut done = None;
            for number in numbers {
                if done.is_some_and(|done| number <= done) {
                    continue;
                }
                let from = number.saturating_sub(FAR);
                // So that those that begin here have most of the piece for their ends.
                done = Some(number.saturating_add(FAR));
                let found = read(&reader, from..from.saturating_add(PIECE), &asked);
                // Nobody listens any more if it was dropped.
                let gone = sender.send(found).is_err();
                if gone || stopped.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        Self {
            numbers: all,
            found,
            stop,
        }
    }
}

fn read(reader: &Reader, piece: Range<u64>, asked: &HashSet<u64>) -> Vec<(u64, u64)> {
    let asked = |number| asked.contains(&number);
    let analysis = &reader.analysis;
    durations(
        &analysis.trace,
        analysis.trail(),
        reader.stream,
        piece,
        &asked,
    )
}
