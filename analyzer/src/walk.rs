//! From any event of a stream on, with the boxes at each: what lies between is not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portmortem_tracer::format::Event;

use crate::machine::{Class, EventKind};
use crate::moment::checkpoint::{Checkpoint, Kept, MOST_BYTES};
use crate::moment::stack::StackChange;
use crate::moment::{Moment, OpenBox};
use crate::progress::Progress;
use crate::scope::Scope;
use crate::trace::events::Events;
use crate::trace::{SiteIndex, StreamInfo, Trace};

/// Bytes of events between two places where walks can begin: some ten milliseconds. Larger ones
/// make the index cheaper, and keys that lead to an event slower.
pub(crate) const STRIDE: u64 = 3 << 19;

/// Places where walks can begin, by stream. All moments that are kept share their boxes.
#[derive(Debug, Default)]
pub struct Trail {
    follow: Arc<Scope>,
    streams: Vec<Vec<WalkStart>>,
}

/// The beginning of a block, and the boxes there.
#[derive(Debug)]
pub(crate) struct WalkStart {
    pub(crate) block: usize,
    /// Number of the event that comes next.
    pub(crate) event: u64,
    /// How the active chain differs from that of the place before.
    pub(crate) active: StackChange,
    kept: Kept,
}

impl WalkStart {
    /// How many boxes are active.
    pub(crate) fn height(&self) -> u64 {
        self.kept.height()
    }
}

impl Trail {
    /// The checkpoints of an index.
    pub(crate) fn new(trace: &Trace, checkpoints: &[Checkpoint]) -> Self {
        let mut streams: Vec<Vec<WalkStart>> = trace.streams().iter().map(|_| Vec::new()).collect();
        for checkpoint in checkpoints {
            let stream = usize::try_from(checkpoint.stream).unwrap_or(usize::MAX);
            let Some(starts) = streams.get_mut(stream) else {
                continue;
            };
            let mut kept = starts
                .last()
                .map_or_else(Kept::default, |start: &WalkStart| start.kept.clone());
            kept.change(&checkpoint.change);
            starts.push(WalkStart {
                block: usize::try_from(checkpoint.block).unwrap_or(usize::MAX),
                event: checkpoint.event,
                active: checkpoint.change.active.clone(),
                kept,
            });
        }
        Self {
            follow: Arc::default(),
            streams,
        }
    }

    /// Reads a trace that has no index, because it is damaged or its recording did not end; or one
    /// that has, to follow a focus. `progress` counts up bytes of the trace. `None` if it was
    /// cancelled.
    #[must_use]
    pub fn scan(trace: &Trace, follow: Arc<Scope>, progress: &Progress) -> Option<Self> {
        let scan = Scan {
            every: STRIDE,
            trace,
            follow,
            progress: Some(progress.counter()),
            cancel: Some(progress.stop_flag()),
        };
        let trail = scan.all();
        (!progress.is_stopped()).then_some(trail)
    }

    /// The places of a stream.
    pub(crate) fn starts(&self, stream: usize) -> &[WalkStart] {
        self.streams.get(stream).map_or(&[], Vec::as_slice)
    }

    /// The places of a stream: the number of the event that comes next, and the block that it is
    /// in.
    pub(crate) fn places(&self, stream: usize) -> impl Iterator<Item = (u64, usize)> {
        let starts = self.starts(stream).iter();
        starts.map(|start| (start.event, start.block))
    }

    /// The last place of a stream that is not after an event.
    fn before(&self, stream: usize, number: u64) -> Option<&WalkStart> {
        let starts = self.streams.get(stream)?;
        let after = starts.partition_point(|start| start.event <= number);
        starts.get(after.checked_sub(1)?)
    }
}

/// How to go through a trace for checkpoints.
pub(crate) struct Scan<'s> {
    /// A checkpoint every so many bytes.
    pub(crate) every: u64,
    pub(crate) trace: &'s Trace,
    pub(crate) follow: Arc<Scope>,
    /// Counts up bytes of the trace.
    pub(crate) progress: Option<&'s AtomicU64>,
    /// Ends it, with less checkpoints.
    pub(crate) cancel: Option<&'s AtomicBool>,
}

impl Scan<'_> {
    pub(crate) fn all(&self) -> Trail {
        let mut checkpoints = Vec::new();
        for stream in 0..self.trace.streams().len() {
            self.stream(stream, &mut checkpoints);
        }
        Trail {
            follow: Arc::clone(&self.follow),
            ..Trail::new(self.trace, &checkpoints)
        }
    }

    /// Goes through a stream, given by its place.
    pub(crate) fn stream(&self, stream: usize, checkpoints: &mut Vec<Checkpoint>) {
        let info = &self.trace.streams()[stream];
        let taken = checkpoints.iter().map(|one| one.change.size());
        let mut room = MOST_BYTES.saturating_sub(taken.sum());
        let walk = Walk::from(self.trace, None, info, 0);
        let mut walk = walk.following(Arc::clone(&self.follow));
        let mut kept = Kept::default();
        let (mut read, mut last) = (0, 0);
        loop {
            let now = walk.events.bytes_read();
            if now > read && self.is_cancelled(now - read) {
                return;
            }
            read = now;
            if read - last >= self.every
                && let Some(left) = walk.events.next_block_follows()
            {
                last = read;
                let change = walk.moment.change();
                let size = change.size();
                if size > room {
                    return;
                }
                room -= size;
                // What the checkpoints have already is not kept twice.
                kept.change(&change);
                walk.moment.come_back(&kept);
                checkpoints.push(Checkpoint {
                    stream: stream as u64,
                    block: (info.blocks.end - left) as u64,
                    event: walk.events.next_number(),
                    change,
                });
            }
            if walk.next().is_none() {
                return;
            }
        }
    }

    /// So many bytes more were read.
    fn is_cancelled(&self, bytes: u64) -> bool {
        if let Some(progress) = self.progress {
            progress.fetch_add(bytes, Ordering::Relaxed);
        }
        self.cancel
            .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

/// Goes through a stream event by event, with the boxes at each. Behind events that were not kept
/// it knows the boxes again if a walk can begin there.
#[derive(Debug, Clone)]
pub struct Walk<'t> {
    events: Events<'t>,
    moment: Moment,
    /// Places of the stream where walks can begin.
    starts: &'t [WalkStart],
}

/// An event on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Number of the event in its stream, from 0; lost ones count.
    pub number: u64,
    /// What happened; predicates as in [`crate::trace::PredicateIndex`].
    pub event: Event,
    /// The goal that made the call, if this is one and it says so.
    pub site: Option<SiteIndex>,
    /// When, in ticks.
    pub tick: u64,
    /// The box that it belongs to ([`Moment::step`]), and how many are around it.
    pub of: Option<(OpenBox, u64)>,
}

impl Step {
    /// What the event does to boxes.
    #[inline]
    #[must_use]
    pub fn class(&self) -> Class {
        Class::of(self.event)
    }

    /// Of what kind the event is.
    #[inline]
    #[must_use]
    pub fn kind(&self) -> EventKind {
        EventKind::of(self.event)
    }
}

impl<'t> Walk<'t> {
    /// From the event of this number on; from the beginning if the number is 0. With places where
    /// walks can begin that takes a few milliseconds at most; without them the stream is read up to
    /// there.
    #[must_use]
    pub fn from(
        trace: &'t Trace,
        trail: Option<&'t Trail>,
        stream: &StreamInfo,
        number: u64,
    ) -> Self {
        let mut moment = Moment::beginning(stream.dialect(), trace.unknown_predicate());
        if let Some(trail) = trail {
            moment = moment.following(Arc::clone(&trail.follow));
        }
        let place = trace.stream_place(stream.id);
        let trail = trail.zip(place);
        let starts = trail.map_or(&[][..], |(trail, place)| trail.starts(place));
        let start = trail.and_then(|(trail, place)| trail.before(place, number));
        let events = match start.filter(|start| stream.blocks.contains(&start.block)) {
            Some(start) => {
                moment.come_back(&start.kept);
                Events::part(trace, stream, start.block..stream.blocks.end)
            }
            None => trace.events(stream),
        };
        let mut walk = Self {
            events,
            moment,
            starts,
        };
        while walk.events.next_number() < number {
            if walk.next().is_none() {
                break;
            }
        }
        walk
    }

    /// The same, with boxes that know where in the focus of `follow` they are; not yet begun.
    pub(crate) fn following(mut self, follow: Arc<Scope>) -> Self {
        self.moment = self.moment.following(follow);
        self
    }

    /// The events to come, and the boxes before them.
    pub(crate) fn into_parts(self) -> (Events<'t>, Moment) {
        (self.events, self.moment)
    }

    /// The number of the next event, if none is lost before it.
    #[must_use]
    pub fn next_number(&self) -> u64 {
        self.events.next_number()
    }

    /// Events are missing. The boxes behind them are known if the next one is such a place.
    #[cold]
    fn find_boxes(&mut self) {
        let next = self.events.next_number();
        let at = self.starts.binary_search_by_key(&next, |start| start.event);
        if let Some(start) = at.ok().and_then(|at| self.starts.get(at)) {
            self.moment.come_back(&start.kept);
        }
    }

    /// The boxes after the last event.
    #[must_use]
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// The same, so that it is cheap to copy ([`Moment::freeze`]).
    #[must_use]
    pub fn frozen(&mut self) -> &Moment {
        self.moment.freeze();
        &self.moment
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        let timed = self.events.next()?;
        let number = self.events.number();
        let of = self.moment.step(timed.event, number);
        if matches!(Class::of(timed.event), Class::Lose(_)) {
            self.find_boxes();
        }
        Some(Step {
            number,
            event: timed.event,
            site: timed.site,
            tick: timed.tick,
            of,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::replay::tests::{long_script, long_trace};
    use crate::trace::mapping::Mapping;

    /// Every moment is that of the way from the beginning.
    fn check(bytes: &[u8], every: u64, streams: usize) -> usize {
        let trace = Trace::read(Mapping::from(bytes.to_vec()), Path::new("a.pmt")).unwrap();
        let scan = Scan {
            every,
            trace: &trace,
            follow: Arc::default(),
            progress: None,
            cancel: None,
        };
        let trail = scan.all();
        for stream in trace.streams().iter().take(streams) {
            let mut plain = Walk::from(&trace, None, stream, 0);
            let mut number = 0;
            while let Some(step) = plain.next() {
                if number % 101 == 0 {
                    let mut jumped = Walk::from(&trace, Some(&trail), stream, step.number + 1);
                    assert_eq!(jumped.moment(), plain.moment());
                    let next = Walk::from(&trace, None, stream, step.number + 1).next();
                    assert_eq!(jumped.next(), next);
                }
                number += 1;
            }
        }
        trail.streams.iter().map(Vec::len).sum()
    }

    #[test]
    fn whole_damaged_and_cut_traces() {
        let mut runner = TestRunner::deterministic();
        let script = long_script().new_tree(&mut runner).unwrap().current();
        let whole = long_trace(&script);
        assert!(check(&whole, 1000, usize::MAX) > 3);
        let mut flipped = whole.clone();
        for at in (whole.len() / 3..whole.len()).step_by(whole.len() / 5) {
            flipped[at] ^= 0x55;
        }
        assert!(check(&flipped, 1000, usize::MAX) > 0);
        assert!(check(&whole[..whole.len() * 2 / 3], 1000, usize::MAX) > 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn any_damage(script in long_script(), flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..6)) {
            let mut bytes = long_trace(&script);
            for (at, bits) in flips {
                let at = 4096 + at.index(bytes.len() - 4096);
                bytes[at] ^= bits;
            }
            if Trace::read(Mapping::from(bytes.clone()), Path::new("a.pmt")).is_ok() {
                check(&bytes, 1000, 2);
            }
        }
    }
}
