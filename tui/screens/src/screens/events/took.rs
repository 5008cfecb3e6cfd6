//! How long activations took, for the events in sight: found in pieces of the stream around them,
//! and for calls that never ended, at the end of the stream.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use portmortem_analyzer::listing::{Lasted, durations, still_open};
use portmortem_analyzer::machine::Class;
use portmortem_analyzer::trace::PredicateIndex;

use super::reader::EventReader;
use crate::worker::{Received, Worker, poll_until};

/// Events on either side of those in sight that are read at once: some milliseconds.
const NEAR: u64 = 2_000;
const AT_ONCE: u64 = 10_000;

/// The same for what is not found there, by a thread.
const FAR: u64 = 20_000;
const PIECE: u64 = 1 << 18;

/// More are not kept.
const MOST: usize = 100_000;

/// How long activations took, by the number of an event that begins or ends one.
#[derive(Debug, Default)]
pub(super) struct ActivationTimes {
    stream: usize,
    known: HashMap<u64, Lasted>,
    /// Looked for near them; and in the larger pieces.
    near: HashSet<u64>,
    far: HashSet<u64>,
    job: Option<TimesJob>,
}

/// What is looked for, by their numbers, and by whom.
#[derive(Debug)]
struct TimesJob {
    numbers: Vec<u64>,
    worker: Worker<Vec<Lasted>>,
}

/// What is known of how long an activation took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KnownTime {
    /// This.
    Took(Lasted),
    /// It is being looked for.
    NotYet,
    /// Its other end is in none of the pieces that were read, nor is it known to be open.
    No,
}

impl ActivationTimes {
    pub(super) fn get(&self, number: u64) -> KnownTime {
        match self.known.get(&number) {
            Some(lasted) => KnownTime::Took(*lasted),
            None if self.job.is_none() && self.far.contains(&number) => KnownTime::No,
            None => KnownTime::NotYet,
        }
    }

    /// Looks for events of a stream, given in order by their numbers, unless that was done already.
    pub(super) fn look_for(&mut self, reader: &EventReader, numbers: &[u64]) {
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
                self.know(read(reader, piece, &asked));
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
            self.job = Some(TimesJob::start(reader, missing));
        }
    }

    /// Takes what the thread found, or waits for all of it; whether there was something.
    pub(super) fn poll(&mut self, wait: bool) -> bool {
        let mut some = false;
        while let Some(job) = &self.job {
            match job.worker.next(poll_until(wait)) {
                Received::Value(found) => self.know(found),
                Received::NotYet => break,
                Received::Ended => self.job = None,
            }
            some = true;
        }
        some
    }

    fn know(&mut self, found: Vec<Lasted>) {
        let found = found.into_iter().map(|lasted| (lasted.number, lasted));
        self.known.extend(found);
    }
}

impl TimesJob {
    fn start(reader: &EventReader, numbers: Vec<u64>) -> Self {
        let (reader, all) = (reader.clone(), numbers.clone());
        let worker = Worker::start(0, move |task| {
            let asked: HashSet<u64> = numbers.iter().copied().collect();
            let (mut done, mut left) = (None, asked.clone());
            for number in numbers {
                if done.is_some_and(|done| number <= done) {
                    continue;
                }
                let from = number.saturating_sub(FAR);
                // So that those that begin here have most of the piece for their ends.
                done = Some(number.saturating_add(FAR));
                let found = read(&reader, from..from.saturating_add(PIECE), &asked);
                for lasted in &found {
                    left.remove(&lasted.number);
                }
                task.found(found);
                if !task.is_wanted() {
                    return;
                }
            }
            task.found(never_ended(&reader, &left, || task.is_wanted()));
        });
        Self {
            numbers: all,
            worker,
        }
    }
}

/// Those of these calls that are known to have no way out. Figures tell whether a box was entered
/// again only where they are of all boxes. Pauses cannot be left out here: there must be none after
/// the call.
pub(super) fn never_ended(
    reader: &EventReader,
    calls: &HashSet<u64>,
    is_wanted: impl Fn() -> bool,
) -> Vec<Lasted> {
    let analysis = &reader.analysis;
    let profile = &analysis.profile;
    let Some(figures) = profile.streams.get(reader.stream) else {
        return Vec::new();
    };
    if calls.is_empty() || !analysis.filters.is_everything() {
        return Vec::new();
    }
    let may_be_redone = |predicate: PredicateIndex| {
        let figures = profile.predicates.get(predicate as usize);
        figures.is_none_or(|figures| figures.redos > 0)
    };
    let mut found = still_open(
        &analysis.trace,
        analysis.trail(),
        reader.stream,
        |number| calls.contains(&number),
        may_be_redone,
        is_wanted,
    );
    found.retain(|lasted| {
        figures.paused_ticks == 0
            || paused_before(reader, lasted.number) == Some(figures.paused_ticks)
    });
    found
}

/// Ticks of pauses before an event; `None` if it is far from the beginning of its stream.
fn paused_before(reader: &EventReader, number: u64) -> Option<u64> {
    let walk = reader.walk(0).filter(|_| number <= FAR)?;
    let (mut paused, mut since) = (0, None);
    for step in walk.take_while(|step| step.number < number) {
        match step.class() {
            Class::Pause(true) => since = Some(step.tick),
            Class::Pause(false) => paused += since.take().map_or(0, |since| step.tick - since),
            _ => {}
        }
    }
    Some(paused)
}

fn read(reader: &EventReader, piece: Range<u64>, asked: &HashSet<u64>) -> Vec<Lasted> {
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
