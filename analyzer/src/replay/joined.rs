//! Works, joined in their order: their figures, their streams, and their faults.

mod kept;

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::chunk::Before;
use super::join::{GiveUp, Join};
use super::plan::ReplayWork;
use super::reader::StreamFaults;
use super::state::State;
use super::work::{Done, ReplayWorker, StreamPart, begin_of};
use crate::figures::StreamFigures;
use crate::figures::profile::Profile;
use crate::moment::checkpoint::{Checkpoint, MOST_BYTES, StacksChange};
use crate::scope::Scope;
use crate::trace::{StreamInfo, Trace};
pub(super) use kept::KeptJoined;

/// Events after which it is seen whether a stream is better replayed in one piece.
const DEEP_EVENTS: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(super) struct Joined {
    join: Join,
    streams: Vec<StreamFigures>,
    found: StreamFaults,
    /// The stream whose state `join` has, and how far it is.
    current: Option<(u32, Reached)>,
    /// Streams that were put away before they ended, by id.
    open: FxHashMap<u32, (State, Reached)>,
    /// Streams that lost events and have not ended, by id: their figures so far.
    lost: FxHashMap<u32, (StreamFigures, Reached)>,
    /// Ticks that all streams lasted so far.
    lasted: u64,
    pub(super) checkpoints: Option<Checkpoints>,
}

/// How far a stream is joined.
#[derive(Debug, Clone, Copy, Default, Encode, Decode)]
pub(super) struct Reached {
    /// Events so far, and the number of the next.
    events: u64,
    pub(super) number: u64,
    /// Time of the last event so far.
    pub(super) tick: u64,
    /// The sequence of the block that comes next, or a smaller one that the stream has not.
    pub(super) sequence: u64,
    /// Boxes that were handed from chunk to chunk, or met in a later one.
    moved: u64,
}

/// Places where walks can begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Checkpoints {
    /// By the id of their stream. Blocks have their sequence.
    all: Vec<(u32, Checkpoint)>,
    bytes: usize,
}

impl Checkpoints {
    /// The stacks of a stream changed so since the last one, and the block of this sequence is
    /// next.
    fn add(&mut self, stream: &StreamInfo, part: &StreamPart, sequence: u64, change: StacksChange) {
        self.bytes += change.size();
        if self.bytes > MOST_BYTES || part.is_last {
            return;
        }
        let checkpoint = Checkpoint {
            stream: part.stream as u64,
            block: sequence,
            event: part.next,
            change,
        };
        self.all.push((stream.id, checkpoint));
    }

    /// Where they are in a trace.
    pub(super) fn in_trace(mut self, trace: &Trace) -> Vec<Checkpoint> {
        self.leave_blocks_behind(trace);
        let places = self.all.into_iter().filter_map(|(id, one)| {
            let (stream, block) = block_of(trace, id, one.block)?;
            Some(Checkpoint {
                stream: stream as u64,
                block: block as u64,
                ..one
            })
        });
        places.collect()
    }

    /// Those whose block has left the trace become part of the next one of their stream.
    pub(super) fn leave_blocks_behind(&mut self, trace: &Trace) {
        let mut gone: FxHashMap<u32, Checkpoint> = FxHashMap::default();
        let mut left = Vec::with_capacity(self.all.len());
        for (id, mut one) in std::mem::take(&mut self.all) {
            if let Some(before) = gone.remove(&id) {
                one.change = before.change.and(&one.change);
            }
            match block_of(trace, id, one.block) {
                Some(_) => left.push((id, one)),
                None => _ = gone.insert(id, one),
            }
        }
        // The next one of the stream is a change of it.
        left.extend(gone);
        self.bytes = left.iter().map(|(_, one)| one.change.size()).sum();
        self.all = left;
    }

    /// The stream of each, the event that comes next, and the sequence of its block.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, u64, u64)> {
        let places = self.all.iter();
        places.map(|(stream, one)| (*stream, one.event, one.block))
    }
}

/// The place of a stream in a trace, and that of its block of this sequence, if it is there.
fn block_of(trace: &Trace, stream: u32, sequence: u64) -> Option<(usize, usize)> {
    let at = trace.stream_place(stream)?;
    let stream = &trace.streams()[at];
    let block = trace.block_from(stream, sequence);
    let found = trace.blocks(block..stream.blocks.end).first()?;
    (found.sequence == sequence).then_some((at, block))
}

impl Joined {
    pub(super) fn new(scope: &Scope, checkpoints: Option<Checkpoints>) -> Self {
        Self {
            join: Join::new(scope),
            streams: Vec::new(),
            found: StreamFaults::default(),
            current: None,
            open: FxHashMap::default(),
            lost: FxHashMap::default(),
            lasted: 0,
            checkpoints,
        }
    }

    pub(super) fn into_profile(mut self) -> Profile {
        self.streams.sort_by_key(|figures| figures.stream);
        Profile {
            violations: self.found.violations,
            violation_count: self.found.violation_count,
            damage: self.found.damage,
            ..self.join.into_profile(self.streams)
        }
    }

    /// Joins the chunk of a work.
    pub(super) fn add<'t>(
        &mut self,
        worker: ReplayWorker<'t>,
        work: &ReplayWork,
        done: Done<'t>,
    ) -> Result<(), GiveUp> {
        if let ReplayWork::AfterLoss { .. } = work {
            return self.add_after_loss(worker, done);
        }
        let Some(part) = done.part else {
            self.put_away();
            for figures in &done.figures {
                self.add_stream(*figures)?;
            }
            self.found.merge(done.found);
            self.join.add_streams(done.chunk);
            return Ok(());
        };
        let stream = &worker.trace.streams()[part.stream];
        let mut reached =
            self.take_up(stream.id, &part, || begin_of(stream, Some(part.first_tick)))?;
        // A block that claims to begin before the last event does not set the time back. Its part
        // did not know of that event.
        if part.first != reached.number || part.begin_tick < reached.tick {
            return Err(GiveUp::Unusual);
        }
        (reached.number, reached.tick) = (part.next, part.end_tick);
        reached.events += part.events;
        if let Some(last) = worker.trace.blocks(0..part.end_block).last() {
            reached.sequence = last.sequence.saturating_add(1);
        }
        // It was not to be foreseen.
        let roots = self.join.find_roots(&done.chunk)?;
        let before = self.join.not_foreseen(&roots);
        let again = (before != Before::default()).then(|| worker.replay(work, &before).chunk);
        let chunk = again.as_ref().unwrap_or(&done.chunk);
        let wanted = self.checkpoints.is_some();
        let change = self
            .join
            .add_part(chunk, roots, part.first, part.first_tick, wanted)?;
        reached.moved += chunk.moved();
        if worker.may_give_up && reached.is_deep() {
            return Err(GiveUp::Deep);
        }
        self.current = Some((stream.id, reached));
        if let (Some(checkpoints), Some(change)) = (&mut self.checkpoints, change) {
            checkpoints.add(stream, &part, reached.sequence, change);
        }
        if part.is_last {
            self.finish_current(stream)?;
        }
        Ok(())
    }

    /// Adds a part of a stream of which nothing is known where it begins. What was open before is
    /// left there.
    fn add_after_loss(&mut self, worker: ReplayWorker, done: Done) -> Result<(), GiveUp> {
        let (Some(part), Some(found)) = (done.part, done.figures.first()) else {
            return Err(GiveUp::Unusual);
        };
        let stream = &worker.trace.streams()[part.stream];
        let (before, reached) = self.lose_track(stream, part.begin_tick);
        let is_behind = (part.first, part.begin_tick) == (reached.number, reached.tick);
        // Where callers are not known, events may seem impossible that are not.
        if !is_behind || !done.found.damage.is_empty() {
            return Err(GiveUp::Unusual);
        }
        self.join.add_streams(done.chunk);
        let figures = before.and_after_loss(found);
        if part.is_last {
            return self.add_stream(figures);
        }
        let last = worker.trace.blocks(0..part.end_block).last();
        let reached = Reached {
            events: figures.events,
            number: part.next,
            tick: part.end_tick,
            sequence: last.map_or(0, |last| last.sequence.saturating_add(1)),
            moved: 0,
        };
        self.lost.insert(stream.id, (figures, reached));
        Ok(())
    }

    /// A stream lost events where it was put away, or where it begins: its figures until then, and
    /// how far it is.
    fn lose_track(&mut self, stream: &StreamInfo, begin: u64) -> (StreamFigures, Reached) {
        self.put_away();
        if let Some(known) = self.lost.remove(&stream.id) {
            return known;
        }
        let Some((state, reached)) = self.open.remove(&stream.id) else {
            let figures = StreamFigures {
                stream: stream.id,
                first_tick: begin,
                last_tick: begin,
                ..StreamFigures::default()
            };
            let reached = Reached {
                tick: begin,
                ..Reached::default()
            };
            return (figures, reached);
        };
        self.join.take_up(state);
        let figures = StreamFigures {
            stream: stream.id,
            events: reached.events,
            ..self.join.finish_stream(reached.tick)
        };
        (figures, reached)
    }

    /// The state of a stream when a part of it begins; the stream that is in hand is put away.
    fn take_up(
        &mut self,
        id: u32,
        part: &StreamPart,
        begin: impl FnOnce() -> u64,
    ) -> Result<Reached, GiveUp> {
        if let Some((_, reached)) = self.current.filter(|&(of, _)| of == id) {
            return Ok(reached);
        }
        self.put_away();
        // The blocks from which it goes on may be the first ones that are left of it.
        if let Some((state, reached)) = self.open.remove(&id) {
            self.join.take_up(state);
            return Ok(reached);
        }
        if !part.is_first {
            return Err(GiveUp::Unusual);
        }
        self.join.begin_stream(begin());
        Ok(Reached::default())
    }

    /// Puts the stream away that is in hand, so that it can go on later.
    pub(super) fn put_away(&mut self) {
        if let Some((id, reached)) = self.current.take() {
            self.open.insert(id, (self.join.put_away(), reached));
        }
    }

    /// How far the streams are that were put away.
    pub(super) fn reached(&self, id: u32) -> Option<Reached> {
        let open = self.open.get(&id).map(|&(_, reached)| reached);
        open.or_else(|| self.lost.get(&id).map(|&(_, reached)| reached))
    }

    /// Whether events were lost in any stream.
    pub(super) fn has_lost_any(&self) -> bool {
        !self.lost.is_empty() || self.streams.iter().any(|figures| figures.lost_events > 0)
    }

    /// Whether a stream that has not ended lost events so far.
    pub(super) fn has_lost(&self, id: u32) -> bool {
        self.lost.contains_key(&id)
    }

    /// The streams that ended, by id.
    pub(super) fn ended(&self) -> impl Iterator<Item = u32> {
        self.streams.iter().map(|figures| figures.stream)
    }

    /// A stream that was put away ends. It may have lost events only if that is survived.
    pub(super) fn finish(
        &mut self,
        trace: &Trace,
        stream: &StreamInfo,
        survives_loss: bool,
    ) -> Result<(), GiveUp> {
        if self.loses(trace, stream) {
            return match survives_loss {
                true => self.lose_the_rest(trace, stream),
                false => Err(GiveUp::Unusual),
            };
        }
        let (state, reached) = self.open.remove(&stream.id).ok_or(GiveUp::Unusual)?;
        self.put_away();
        self.join.take_up(state);
        self.current = Some((stream.id, reached));
        self.finish_current(stream)
    }

    /// Whether events of a stream that was put away were lost so far, or behind that.
    fn loses(&self, trace: &Trace, stream: &StreamInfo) -> bool {
        let (_, events) = trace.end_of(stream);
        let reached = self.reached(stream.id);
        self.has_lost(stream.id) || reached.is_some_and(|reached| events > reached.number)
    }

    /// A stream ends where it was put away, or before it began. The rest of it is lost.
    pub(super) fn lose_the_rest(
        &mut self,
        trace: &Trace,
        stream: &StreamInfo,
    ) -> Result<(), GiveUp> {
        if self.ended().any(|ended| ended == stream.id) {
            return Ok(());
        }
        let (figures, reached) = self.lose_track(stream, begin_of(stream, None));
        let (end, events) = trace.end_of(stream);
        let gap = end.saturating_sub(figures.last_tick);
        let lost = events.saturating_sub(reached.number);
        self.add_stream(StreamFigures {
            lost_events: figures.lost_events.saturating_add(lost),
            gap_ticks: figures.gap_ticks + gap,
            last_tick: figures.last_tick + gap,
            ..figures
        })
    }

    /// The stream that is in hand ends.
    fn finish_current(&mut self, stream: &StreamInfo) -> Result<(), GiveUp> {
        let end = stream.end.map_or(0, |end| end.tick);
        let figures = self.join.finish_stream(end);
        let events = self.current.take().map_or(0, |(_, reached)| reached.events);
        self.add_stream(StreamFigures {
            stream: stream.id,
            events,
            ..figures
        })
    }

    /// Books add ticks modulo 2⁶⁴, so they are of use only as long as all streams together last no
    /// longer. More than that has a trace with impossible ticks.
    fn add_stream(&mut self, figures: StreamFigures) -> Result<(), GiveUp> {
        let lasted = figures.last_tick.saturating_sub(figures.first_tick);
        self.lasted = self.lasted.checked_add(lasted).ok_or(GiveUp::Long)?;
        self.streams.push(figures);
        Ok(())
    }

    /// Whether all events were in order that were joined.
    pub(super) fn is_in_order(&self) -> bool {
        self.found.violation_count == 0 && self.found.damage.is_empty()
    }

    /// Whether all predicates that boxes were of are declared.
    pub(super) fn knows_all(&self) -> bool {
        self.join.knows_all()
    }

    /// Predicates and goals were declared since, which changed no number but that of what stands
    /// for no predicate, and of goals, which follow on it.
    pub(super) fn renumber(&mut self, scope: &Scope) {
        let numbers = self.join.renumber(scope);
        for (state, _) in self.open.values_mut() {
            state.renumber(numbers);
        }
    }
}

impl Reached {
    /// Most boxes are handed from chunk to chunk.
    fn is_deep(&self) -> bool {
        self.events > DEEP_EVENTS && self.moved > self.events / 4
    }
}
