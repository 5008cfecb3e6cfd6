//! How long activations took, for the events in sight: found in pieces of the stream around them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::Instant;

use portmortem_analyzer::listing::durations;

use super::reader::Reader;
use crate::worker::{Received, Worker};

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

/// What is looked for, by their numbers, and by whom.
#[derive(Debug)]
struct Job {
    numbers: Vec<u64>,
    worker: Worker<Vec<(u64, u64)>>,
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
            match job.worker.next((!wait).then(Instant::now)) {
                Received::Value(found) => self.known.extend(found),
                Received::NotYet => break,
                Received::Ended => self.job = None,
            }
            some = true;
        }
        some
    }
}

impl Job {
    fn start(reader: &Reader, numbers: Vec<u64>) -> Self {
        let (reader, all) = (reader.clone(), numbers.clone());
        let worker = Worker::start(0, move |task| {
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
                task.found(found);
                if !task.is_wanted() {
                    return;
                }
            }
        });
        Self {
            numbers: all,
            worker,
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
