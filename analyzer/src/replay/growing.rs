//! The replay of a trace that is being recorded: it goes on where it was, and reads what is new.
//!
//! What was joined so far is a value: the ledger, and the state of each stream that has not ended.
//! It is of blocks that the recorder has closed, so nothing in them changes any more. For the
//! figures of a moment a copy goes on to the end of what there is, and its streams end there.

mod works;

use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;

use bincode::enc::Encoder;
use bincode::error::EncodeError;
use bincode::{Decode, Encode};
use portmortem_tracer::format::Dialect;
use rustc_hash::{FxHashSet, FxHasher};

use super::joined::{Checkpoints, Joined, KeptJoined};
use super::plan::ReplayWork;
use super::schedule::WorkBatch;
use super::work::ReplayWorker;
use super::{ReplayOptions, beside, completed};
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::moment::checkpoint::Checkpoint;
use crate::reading::Found;
use crate::scope::Scope;
use crate::trace::{StreamEnd, StreamInfo, Trace};
use crate::walk::Trail;
pub(crate) use works::NewParts;
use works::{BlockStretch, Works, bytes_of, closed_until};

/// The replay of a trace, as far as its blocks were closed.
#[derive(Debug, Clone)]
pub(crate) struct Growing {
    /// The trace.
    of: u64,
    /// Bytes of events between two places where walks can begin, at least.
    stride: u64,
    names: ReplayedNames,
    joined: Joined,
    /// Its streams must be replayed from beginning to end.
    in_one_piece: bool,
    /// It was read from a file, and its figures were not checked yet.
    is_doubtful: bool,
    /// It goes on behind lost events, without the boxes that were open there.
    survives_loss: bool,
    /// The last blocks that were joined, as [`last_of`] names them: to see that it is the same
    /// file.
    last: Vec<LastBlock>,
}

/// The last block of a stream that was joined: the stream's id, the block's sequence, and where it
/// was recorded.
type LastBlock = (u32, u64, u64);

/// What the replay found in a trace as it is now.
#[derive(Debug)]
pub(crate) struct Grown {
    pub(crate) profile: Profile,
    /// Places where walks can begin.
    pub(crate) checkpoints: Vec<Checkpoint>,
    /// Bytes of blocks that were read for it.
    pub(crate) read: u64,
}

/// Why it does not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// It was cancelled. It can go on.
    Cancelled,
    /// Its streams must be replayed from beginning to end.
    InOnePiece,
}

/// Predicates and goals of which events were replayed: those must be the same in the trace that it
/// goes on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
struct ReplayedNames {
    predicates: usize,
    sites: usize,
    digest: u64,
}

impl ReplayedNames {
    fn of(trace: &Trace, scope: &Scope) -> Self {
        Self::first(trace, scope, trace.predicates().len(), trace.sites().len())
    }

    fn first(trace: &Trace, scope: &Scope, predicates: usize, sites: usize) -> Self {
        let mut hasher = FxHasher::default();
        let infos = trace.predicates().iter().zip(&scope.kinds);
        for (info, kind) in infos.take(predicates) {
            info.declared.id.hash(&mut hasher);
            (info.center, info.is_collector(), info.is_center).hash(&mut hasher);
            kind.hash(&mut hasher);
        }
        for site in trace.sites().iter().take(sites) {
            (site.caller, site.callee, site.then_fails).hash(&mut hasher);
        }
        Self {
            predicates,
            sites,
            digest: hasher.finish(),
        }
    }

    /// Whether a trace has them where they were.
    fn are_in(self, trace: &Trace, scope: &Scope) -> bool {
        self.predicates <= trace.predicates().len()
            && self.sites <= trace.sites().len()
            && Self::first(trace, scope, self.predicates, self.sites) == self
    }
}

/// The same as it is read from a file.
#[derive(Debug, Decode)]
pub(crate) struct KeptGrowing {
    of: u64,
    stride: u64,
    names: ReplayedNames,
    joined: KeptJoined,
    last: Vec<LastBlock>,
}

impl Encode for Growing {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.of.encode(encoder)?;
        self.stride.encode(encoder)?;
        self.names.encode(encoder)?;
        self.joined.encode(encoder)?;
        self.last.encode(encoder)
    }
}

impl KeptGrowing {
    /// The replay of the beginning of a trace, ready to go on; `None` if it is not that. It may
    /// [survive loss](Growing::surviving_loss).
    pub(crate) fn open(self, trace: &Trace, survives_loss: bool) -> Option<Growing> {
        let scope = Scope::of(trace, &Default::default());
        if self.of != trace.file_id() || !self.names.are_in(trace, &scope) {
            return None;
        }
        let predicates = u32::try_from(self.names.predicates).ok()?;
        let sites = u32::try_from(self.names.sites).ok()?;
        let growing = Growing {
            of: self.of,
            stride: self.stride,
            names: self.names,
            joined: self.joined.open(&scope, predicates, sites)?,
            in_one_piece: false,
            is_doubtful: true,
            survives_loss,
            last: self.last,
        };
        growing.is_of(trace, &scope).then_some(growing)
    }
}

impl Growing {
    /// Whether it can be gone on from, and says all that was found.
    pub(crate) fn is_in_order(&self) -> bool {
        !self.in_one_piece && self.joined.is_in_order() && self.joined.knows_all()
    }

    /// Nothing of it is replayed yet.
    pub(crate) fn new(trace: &Trace, stride: u64) -> Self {
        let scope = Scope::of(trace, &Default::default());
        Self {
            of: trace.file_id(),
            stride,
            names: ReplayedNames::of(trace, &scope),
            joined: Joined::new(&scope, Some(Checkpoints::default())),
            in_one_piece: false,
            is_doubtful: false,
            survives_loss: false,
            last: Vec::new(),
        }
    }

    /// Where its streams have been cut so that walks can begin there: the stream, the event that
    /// comes next, and the sequence of its block. In order.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, u64, u64)> {
        let taken = self.joined.checkpoints.iter();
        taken.flat_map(Checkpoints::places)
    }

    /// Places in a trace where walks can begin.
    pub(crate) fn trail(&self, trace: &Trace) -> Trail {
        let taken = self.joined.checkpoints.clone();
        let taken = taken.map_or_else(Vec::new, |taken| taken.in_trace(trace));
        Trail::new(trace, &taken)
    }

    /// Whether events were lost in what was joined so far.
    pub(crate) fn has_lost(&self) -> bool {
        self.joined.has_lost_any()
    }

    /// The same, for a recording whose events are folded: where some were lost it goes on, and
    /// nothing is known of the boxes that were open then. So it is where it was folded next after
    /// that, too. A replay in one piece knows more of those, but needs all events.
    pub(crate) fn surviving_loss(self) -> Self {
        Self {
            survives_loss: true,
            ..self
        }
    }

    /// Goes on with all that the trace has by now. Of the options, those do not count that leave
    /// something out.
    ///
    /// # Errors
    /// [`Stopped`]; if not by cancelling, nothing can go on from it.
    pub(crate) fn go_on(
        &mut self,
        trace: &Trace,
        options: &ReplayOptions,
    ) -> Result<Grown, Stopped> {
        // Figures by clause, arguments and values are found from the beginning. So are waits, which
        // many more traces have: they are found once the recording has ended.
        let waits = trace.end().is_some();
        self.go_on_beside(trace, options, |scope| beside(trace, scope, options, waits))
    }

    /// The same without all that is found beside the replay.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub(crate) fn go_on_alone(
        &mut self,
        trace: &Trace,
        options: &ReplayOptions,
    ) -> Result<Grown, Stopped> {
        self.go_on_beside(trace, options, |_| Some(Found::default()))
    }

    fn go_on_beside(
        &mut self,
        trace: &Trace,
        options: &ReplayOptions,
        beside: impl FnOnce(&Scope) -> Option<Found> + Send,
    ) -> Result<Grown, Stopped> {
        let scope = Scope::of(trace, &Default::default());
        let join = || self.join(trace, &scope, options);
        let (grown, found) = rayon::join(join, || beside(&scope));
        let (grown, found) = (grown?, found.ok_or(Stopped::Cancelled)?);
        let profile = completed(trace, &scope, grown.profile, found);
        if self.is_doubtful && !laws::check(&profile).is_empty() {
            self.in_one_piece = true;
            return Err(Stopped::InOnePiece);
        }
        self.is_doubtful = false;
        Ok(Grown { profile, ..grown })
    }

    /// Goes on with what is new.
    fn join(
        &mut self,
        trace: &Trace,
        scope: &Scope,
        options: &ReplayOptions,
    ) -> Result<Grown, Stopped> {
        if !self.is_of(trace, scope) {
            *self = Self {
                survives_loss: self.survives_loss,
                ..Self::new(trace, self.stride)
            };
        }
        if self.in_one_piece {
            return Err(Stopped::InOnePiece);
        }
        self.names = ReplayedNames::of(trace, scope);
        self.joined.renumber(scope);
        let whole = ReplayOptions {
            progress: options.progress,
            ..ReplayOptions::default()
        };
        let worker = ReplayWorker {
            may_give_up: false,
            ..ReplayWorker::new(trace, &whole, scope)
        };
        let Works {
            closed,
            ended,
            open,
            rest,
            cut_short,
        } = self.works(trace, false).ok_or(Stopped::InOnePiece)?;
        let read = closed.iter().chain(&rest);
        let read = read.map(|work| bytes_of(trace, work)).sum();
        if let Some(progress) = options.progress {
            progress.fetch_add(trace.size().saturating_sub(read), Ordering::Relaxed);
        }
        self.join_for_good(worker, closed, &ended, options)?;
        let mut joined = self.joined.clone();
        self.finish(&mut joined, trace, &open)?;
        let checkpoints = joined.checkpoints.take();
        let checkpoints = checkpoints.map_or_else(Vec::new, |taken| taken.in_trace(trace));
        let (mut joined, failed) = WorkBatch::new(worker, rest, joined).all();
        if failed.is_some() {
            return Err(Stopped::InOnePiece);
        }
        joined.put_away();
        self.finish(&mut joined, trace, &cut_short)?;
        Ok(Grown {
            profile: joined.into_profile(),
            checkpoints,
            read,
        })
    }

    /// Joins blocks that will not change, and ends the streams that ended with what was joined
    /// before.
    fn join_for_good(
        &mut self,
        worker: ReplayWorker,
        closed: Vec<ReplayWork>,
        ended: &[usize],
        options: &ReplayOptions,
    ) -> Result<(), Stopped> {
        // Until it is seen that it is not so.
        self.in_one_piece = true;
        let trace = worker.trace;
        let joined = std::mem::replace(&mut self.joined, Joined::new(worker.scope, None));
        let (mut joined, failed) = WorkBatch::new(worker, closed, joined)
            .until(options.cancel)
            .all();
        if failed.is_some() {
            return Err(Stopped::InOnePiece);
        }
        joined.put_away();
        if !options.is_cancelled() {
            self.finish(&mut joined, trace, ended)?;
        }
        let streams = trace.streams().iter();
        let last = streams.filter_map(|stream| last_of(trace, &joined, stream));
        self.last = last.collect();
        self.joined = joined;
        self.in_one_piece = false;
        match options.is_cancelled() {
            true => Err(Stopped::Cancelled),
            false => Ok(()),
        }
    }

    /// Goes on with the blocks of the trace that are closed, if they have `least` bytes or more: it
    /// knows all that figures need of them. Nothing else is found out.
    ///
    /// # Errors
    /// [`Stopped::InOnePiece`]: nothing can go on from it.
    pub(crate) fn fold(&mut self, trace: &Trace, least: u64) -> Result<NewParts, Stopped> {
        if self.in_one_piece {
            return Err(Stopped::InOnePiece);
        }
        let works = self.works(trace, true).ok_or(Stopped::InOnePiece)?;
        let new = NewParts::of(trace, &works);
        if new.bytes < least {
            return Ok(NewParts::default());
        }
        let scope = Scope::of(trace, &Default::default());
        if !self.is_of(trace, &scope) {
            return Err(Stopped::InOnePiece);
        }
        self.names = ReplayedNames::of(trace, &scope);
        self.joined.renumber(&scope);
        let options = ReplayOptions::default();
        let worker = ReplayWorker {
            may_give_up: false,
            ..ReplayWorker::new(trace, &options, &scope)
        };
        self.join_for_good(worker, works.closed, &works.ended, &options)?;
        if let Some(taken) = &mut self.joined.checkpoints {
            taken.leave_blocks_behind(trace);
        }
        Ok(new)
    }

    /// The profile of what was joined so far. What comes after it in the trace counts as lost.
    /// `None` if it is of another trace.
    pub(crate) fn ending_here(mut self, trace: &Trace) -> Option<Profile> {
        let scope = Scope::of(trace, &Default::default());
        if !self.is_of(trace, &scope) {
            return None;
        }
        self.joined.renumber(&scope);
        for stream in trace.streams() {
            self.joined.lose_the_rest(trace, stream).ok()?;
        }
        let profile = self.joined.into_profile();
        Some(completed(trace, &scope, profile, Found::default()))
    }

    /// Streams whose blocks were all joined end there.
    fn finish(&self, joined: &mut Joined, trace: &Trace, streams: &[usize]) -> Result<(), Stopped> {
        for &at in streams {
            let stream = &trace.streams()[at];
            let ended = joined.finish(trace, stream, self.survives_loss);
            ended.map_err(|_| Stopped::InOnePiece)?;
        }
        Ok(())
    }

    /// Whether what was replayed is the beginning of a trace.
    fn is_of(&self, trace: &Trace, scope: &Scope) -> bool {
        let is_there = |&(stream, sequence, offset): &LastBlock| {
            let Some(at) = trace.stream_place(stream) else {
                return false;
            };
            let stream = &trace.streams()[at];
            let at = trace.block_from(stream, sequence);
            let found = trace.blocks(at..stream.blocks.end).first();
            match found.filter(|block| block.sequence == sequence) {
                Some(block) => block.recorded_at == offset,
                // Others may have its room now.
                None => trace.header().mode.keep_last,
            }
        };
        self.of == trace.file_id()
            && self.names.are_in(trace, scope)
            && (self.survives_loss || self.joined.knows_all())
            && self.last.iter().all(is_there)
    }

    /// What is to be done. `None` if a stream cannot be cut.
    ///
    /// While a trace is recorded not all blocks were seen that there are, nor while it is folded
    /// and they are written over: a stream ends when all its events were.
    fn works(&self, trace: &Trace, is_folded: bool) -> Option<Works> {
        let ended: FxHashSet<u32> = self.joined.ended().collect();
        let mut works = Works::default();
        for (at, stream) in trace.streams().iter().enumerate() {
            if ended.contains(&stream.id) {
                continue;
            }
            if stream.dialect() != Dialect::EveryRedo {
                return None;
            }
            let reached = self.joined.reached(stream.id);
            let from = reached.map_or(stream.blocks.start, |reached| {
                trace.block_from(stream, reached.sequence)
            });
            let next = reached.map_or(0, |reached| reached.sequence);
            let until = closed_until(trace, from..stream.blocks.end, next);
            // A block that stays, further back, says nothing of where the stream is.
            let last = (stream.blocks.start..until).next_back();
            let last = last.filter(|&last| trace.block(last).sequence + 1 >= next);
            let known = last.and_then(|last| trace.number_after(last));
            let known = known.or(reached.map(|reached| reached.number));
            let is_all = |end: StreamEnd| {
                let behind = last.and_then(|last| trace.block_header(last));
                let behind = behind.map_or(0, |header| header.dropped);
                let is_seen = !is_folded && trace.is_settled();
                is_seen || known.map(|known| known.saturating_add(behind)) == Some(end.events)
            };
            let is_over = until == stream.blocks.end && stream.end.is_some_and(is_all);
            if reached.is_none() && is_over {
                let bytes = trace.bytes_of(from..until);
                if bytes < self.stride {
                    works.closed.push(ReplayWork::Streams(at..at + 1));
                    continue;
                }
            }
            let behind = reached.map(|reached| (reached.number, reached.tick));
            let mut stretch = BlockStretch {
                trace,
                at,
                behind,
                survives_loss: self.survives_loss,
                has_lost: self.joined.has_lost(stream.id),
            };
            if from == until && reached.is_none() {
                works.rest.push(ReplayWork::Streams(at..at + 1));
                continue;
            }
            let mut is_finished = false;
            if from < until {
                let stride = self.stride;
                is_finished = stretch.works(from..until, is_over, stride, &mut works.closed);
            }
            if until < stream.blocks.end {
                let rest = until..stream.blocks.end;
                if !stretch.works(rest, true, u64::MAX, &mut works.rest) {
                    works.cut_short.push(at);
                }
            } else if !is_over {
                works.open.push(at);
            } else if !is_finished {
                works.ended.push(at);
            }
        }
        Some(works)
    }
}

/// The last block of a stream that was joined so far and is in the trace.
fn last_of(trace: &Trace, joined: &Joined, stream: &StreamInfo) -> Option<LastBlock> {
    let next = trace.block_from(stream, joined.reached(stream.id)?.sequence);
    let block = trace.blocks(stream.blocks.start..next).last()?;
    Some((stream.id, block.sequence, block.recorded_at))
}
