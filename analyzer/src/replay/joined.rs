//! Works, joined in their order: their figures, their streams, and their faults.

use std::collections::BTreeMap;

use super::chunk::Before;
use super::join::{GiveUp, Join};
use super::plan::Work;
use super::reader::Found;
use super::work::{Done, Part, Worker, begin_of};
use crate::figures::StreamFigures;
use crate::figures::profile::Profile;
use crate::moment::checkpoint::{Change, Checkpoint, MOST_BYTES};
use crate::scope::Scope;

/// Events after which it is seen whether a stream is better replayed in one piece.
const DEEP_EVENTS: u64 = 1 << 20;

pub(super) struct Joined<'t> {
    join: Join,
    /// The work to be joined next.
    pub(super) next: usize,
    /// Chunks that are replayed and cannot be joined yet.
    pub(super) ready: BTreeMap<usize, Done<'t>>,
    streams: Vec<StreamFigures>,
    found: Found,
    /// Events of the stream so far, and the number of the next.
    events: u64,
    number: u64,
    /// Time of its last event so far.
    tick: u64,
    /// Ticks that all streams lasted so far.
    lasted: u64,
    pub(super) checkpoints: Option<Checkpoints>,
    /// Boxes of the stream that were handed from chunk to chunk, or met in a later one.
    moved: u64,
    pub(super) failed: Option<GiveUp>,
}

#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    pub(super) all: Vec<Checkpoint>,
    bytes: usize,
    /// The stream got too deep.
    enough: bool,
}

impl Checkpoints {
    fn add(&mut self, part: &Part, change: Change) {
        if part.is_first {
            self.enough = false;
        }
        self.bytes += change.size();
        self.enough |= self.bytes > MOST_BYTES;
        if self.enough || part.is_last {
            return;
        }
        self.all.push(Checkpoint {
            stream: part.stream as u64,
            block: part.end_block as u64,
            event: part.next,
            change,
        });
    }
}

impl<'t> Joined<'t> {
    pub(super) fn new(scope: &Scope, checkpoints: Option<Checkpoints>) -> Self {
        Self {
            join: Join::new(scope),
            next: 0,
            ready: BTreeMap::new(),
            streams: Vec::new(),
            found: Found::default(),
            events: 0,
            number: 0,
            tick: 0,
            lasted: 0,
            checkpoints,
            moved: 0,
            failed: None,
        }
    }

    pub(super) fn into_profile(self) -> Profile {
        Profile {
            violations: self.found.violations,
            violation_count: self.found.violation_count,
            damage: self.found.damage,
            ..self.join.into_profile(self.streams)
        }
    }

    /// Joins the chunk of a work.
    pub(super) fn add(
        &mut self,
        worker: Worker<'t>,
        work: &Work,
        done: Done<'t>,
    ) -> Result<(), GiveUp> {
        let Some(part) = done.part else {
            for figures in &done.figures {
                self.add_stream(*figures)?;
            }
            self.found.merge(done.found);
            self.join.add_streams(done.chunk);
            return Ok(());
        };
        let stream = &worker.trace.streams()[part.stream];
        if part.is_first {
            self.join
                .begin_stream(begin_of(stream, Some(part.first_tick)));
            (self.events, self.number, self.tick, self.moved) = (0, 0, 0, 0);
        }
        // A block that claims to begin before the last event does not set the time back. Its part did not know
        // of that event.
        if part.first != self.number || part.begin_tick < self.tick {
            return Err(GiveUp::Unusual);
        }
        (self.number, self.tick) = (part.next, part.end_tick);
        self.events += part.events;
        // It was not to be foreseen.
        let roots = self.join.find_roots(&done.chunk)?;
        let before = self.join.not_foreseen(&roots);
        let again = (before != Before::default()).then(|| worker.replay(work, &before).chunk);
        let chunk = again.as_ref().unwrap_or(&done.chunk);
        let wanted = self.checkpoints.is_some();
        let change = self
            .join
            .add_part(chunk, roots, part.first, part.first_tick, wanted)?;
        self.moved += chunk.moved();
        if self.events > DEEP_EVENTS && self.moved > self.events / 4 {
            return Err(GiveUp::Deep);
        }
        if let (Some(checkpoints), Some(change)) = (&mut self.checkpoints, change) {
            checkpoints.add(&part, change);
        }
        if part.is_last {
            let end = stream.end.map_or(0, |end| end.tick);
            let figures = self.join.finish_stream(end);
            self.add_stream(StreamFigures {
                stream: stream.id,
                events: self.events,
                ..figures
            })?;
        }
        Ok(())
    }

    /// Books add ticks modulo 2⁶⁴, so they are of use only as long as all streams together last no longer. More
    /// than that has a trace with impossible ticks.
    fn add_stream(&mut self, figures: StreamFigures) -> Result<(), GiveUp> {
        let lasted = figures.last_tick.saturating_sub(figures.first_tick);
        self.lasted = self.lasted.checked_add(lasted).ok_or(GiveUp::Long)?;
        self.streams.push(figures);
        Ok(())
    }
}
