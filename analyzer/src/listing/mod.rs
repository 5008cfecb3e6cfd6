//! The events of a trace that a condition holds for, in order, with what their way there tells: how
//! long their activation took and how it ended, which goal called the box, and who failed.
//!
//! Streams are read in pieces (`piece`), many at once where the trace has an index, each without
//! knowing what was before it. Pieces are joined in order (`join`). What they cannot say of their
//! events alone (when the activation of a box from before began, or how one that is still open
//! ends) is found out there. A condition is asked as soon as it can be decided.
//!
//! Memory: the boxes that are open, a piece for every thread, and `join::MOST_QUEUED` rows that
//! wait for the end of an activation. If there are more, the stream is read ahead until those that
//! wait have ended, and then once more.

mod exceptions;
mod explanation;
mod history;
mod join;
mod nearby;
mod open_activation;
mod piece;
mod reasons;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::moment::OpenBox;
use crate::scope::Window;
use crate::tables::{Listed, SiteNames};
use crate::trace::{BoxKind, PredicateIndex, StreamInfo, Trace};
use crate::walk::{Step, Trail};
pub use exceptions::{Thrown, failure_into, thrown};
pub use explanation::{Explainer, Explanation};
pub use history::BoxHistory;
use join::PieceJoin;
pub use nearby::{Lasted, durations, still_open};
use piece::{PieceRow, Reading};
use rayon::prelude::*;
pub(crate) use reasons::LastPort;

/// Which events are listed.
#[derive(Debug)]
pub struct Listing<'t> {
    trace: &'t Trace,
    name: &'t str,
    trail: Option<&'t Trail>,
    sites: &'t SiteNames,
    /// Streams by their numbers; all if there are none.
    pub streams: Vec<u32>,
    /// Numbers of the events.
    pub numbers: Range<u64>,
    /// When they happened.
    pub window: Window,
    /// How many of the active boxes are kept for each.
    pub boxes: usize,
    lost: AtomicBool,
}

/// A condition on events.
pub trait Wanted: Sync {
    /// Whether it holds for an event of which nothing but the step is known; `None` if that cannot
    /// be said.
    fn quick(&self, step: &Step) -> Option<bool>;

    /// Whether it holds for an event; `None` if that depends on what is pending.
    fn decide(&self, event: &Listed, pending: Pending) -> Option<bool>;

    /// Whether it asks how activations end that calls and redos begin.
    fn needs_end(&self) -> bool;

    /// Outside of these it holds for no event.
    fn bounds(&self) -> Bounds;
}

/// What is not known yet of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pending {
    /// The goal that called the box.
    pub site: bool,
    /// How the activation ends.
    pub end: bool,
    /// How long it takes.
    pub took: bool,
}

/// Where the events are that a condition may hold for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Their streams.
    pub streams: RangeInclusive<u64>,
    /// Their numbers.
    pub numbers: RangeInclusive<u64>,
    /// When, in ns since the beginning of the trace.
    pub ns: RangeInclusive<u64>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            streams: 0..=u64::MAX,
            numbers: 0..=u64::MAX,
            ns: 0..=u64::MAX,
        }
    }
}

/// Takes an event with the newest boxes there, each with how many are around it; breaks if it wants
/// no more.
pub type TakeEvent<'a> = dyn FnMut(&Listed, &[(u64, OpenBox)]) -> ControlFlow<()> + 'a;

impl<'t> Listing<'t> {
    /// All events of a trace called `name`; of a part, those of that. With a trail they are read in
    /// parallel.
    #[must_use]
    pub fn new(
        trace: &'t Trace,
        name: &'t str,
        trail: Option<&'t Trail>,
        sites: &'t SiteNames,
    ) -> Self {
        Self {
            trace,
            name,
            trail,
            sites,
            streams: trace
                .part()
                .map_or_else(Vec::new, |part| part.streams.clone()),
            numbers: 0..u64::MAX,
            window: trace.part().map_or(Window::ALL, Window::of_part),
            boxes: 0,
            lost: AtomicBool::new(false),
        }
    }

    /// Hands out the events that the condition holds for, by stream, then as they happened.
    pub fn each(&self, wanted: &dyn Wanted, take: &mut TakeEvent) -> ControlFlow<()> {
        let kinds = BoxKind::by_predicate(self.trace);
        let bounds = wanted.bounds();
        for (at, stream) in self.trace.streams().iter().enumerate() {
            if !self.has_stream(stream.id) || !bounds.streams.contains(&stream.id.into()) {
                continue;
            }
            let cx = ReadingContext {
                trace: self.trace,
                name: self.name,
                trail: self.trail,
                sites: self.sites,
                stream: stream.id,
                wanted: Some(wanted),
                future: wanted.needs_end(),
                boxes: self.boxes,
                kinds: &kinds,
                window: self.window,
                lost: &self.lost,
            };
            self.stream(&cx, at, stream, &bounds, take)?;
        }
        ControlFlow::Continue(())
    }

    /// Whether events were missing in what was read so far.
    #[must_use]
    pub fn met_losses(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Whether a stream is listed.
    #[must_use]
    pub fn has_stream(&self, id: u32) -> bool {
        self.streams.is_empty() || self.streams.contains(&id)
    }

    fn stream(
        &self,
        cx: &ReadingContext<'t, '_>,
        at: usize,
        stream: &StreamInfo,
        bounds: &Bounds,
        take: &mut TakeEvent,
    ) -> ControlFlow<()> {
        let places = self.places(at, stream);
        let last = bounds.numbers.end().saturating_add(1);
        let listed = self.numbers.start.max(*bounds.numbers.start())..self.numbers.end.min(last);
        let begins =
            |place: &PlaceToBegin| place.event <= listed.start && !self.is_late(place.tick, bounds);
        let first = places.partition_point(begins).saturating_sub(1);
        let ends =
            |place: &PlaceToBegin| place.event >= listed.end || self.is_over(place.tick, bounds);
        let end = first
            + 1
            + places[first + 1..]
                .iter()
                .take_while(|place| !ends(place))
                .count();
        let mut readings = Vec::new();
        for at in first..end {
            let until = places.get(at + 1).map_or(u64::MAX, |next| next.event);
            readings.push(places[at].event..until);
        }
        let mut join = PieceJoin::new(cx, stream, &places);
        let mut last = None;
        for wave in readings.chunks(rayon::current_num_threads().max(1) * 2) {
            let read = |events: &Range<u64>| {
                let mut reading = Reading::new(cx, stream, events.clone());
                let piece = reading.read(cx, &listed);
                (reading, piece)
            };
            let pieces: Vec<_> = wave.par_iter().map(read).collect();
            for (mut reading, mut piece) in pieces {
                loop {
                    // Without a trail a stream is one place.
                    let is_over = piece
                        .ticks
                        .is_some_and(|(_, last)| self.is_over(last, bounds));
                    join.add(piece, &reading, take)?;
                    if reading.is_over() || reading.next_number() >= listed.end || is_over {
                        break;
                    }
                    piece = reading.read(cx, &listed);
                }
                last = Some(reading);
            }
        }
        match last {
            Some(reading) => join.finish(&reading, take),
            None => ControlFlow::Continue(()),
        }
    }

    /// Where reading can begin.
    fn places(&self, at: usize, stream: &StreamInfo) -> Vec<PlaceToBegin> {
        let mut places = vec![PlaceToBegin { event: 0, tick: 0 }];
        for (event, block) in self.trail.into_iter().flat_map(|trail| trail.places(at)) {
            let known = places.last().is_some_and(|last| last.event < event);
            let header = self.trace.block_header(block);
            if let Some(header) = header.filter(|_| known && stream.blocks.contains(&block)) {
                let tick = header.base_tick;
                places.push(PlaceToBegin { event, tick });
            }
        }
        places
    }

    /// Whether an event at this tick may be listed, as far as earlier ones are not.
    fn is_late(&self, tick: u64, bounds: &Bounds) -> bool {
        tick >= self.window.from && self.trace.clock().since_start_ns(tick) >= *bounds.ns.start()
    }

    /// Whether no event after this tick is listed.
    fn is_over(&self, tick: u64, bounds: &Bounds) -> bool {
        tick >= self.window.until || self.trace.clock().since_start_ns(tick) > *bounds.ns.end()
    }
}

/// Where reading can begin: the number of the first event, and a tick that none before is after.
#[derive(Debug, Clone, Copy)]
struct PlaceToBegin {
    event: u64,
    tick: u64,
}

/// What reading takes, for one stream.
#[derive(Clone, Copy)]
struct ReadingContext<'t, 'w> {
    trace: &'t Trace,
    name: &'t str,
    trail: Option<&'t Trail>,
    sites: &'t SiteNames,
    stream: u32,
    /// `None`: no event is listed.
    wanted: Option<&'w dyn Wanted>,
    /// The ends of activations are found out.
    future: bool,
    boxes: usize,
    kinds: &'w [BoxKind],
    window: Window,
    /// Set where events are missing.
    lost: &'w AtomicBool,
}

impl<'t> ReadingContext<'t, '_> {
    /// Whether an event may be listed.
    fn lists(&self, step: &Step, listed: &Range<u64>) -> bool {
        self.wanted.is_some_and(|wanted| {
            wanted.quick(step) != Some(false)
                && listed.contains(&step.number)
                && (self.window.from..self.window.until).contains(&step.tick)
        })
    }

    fn is_between_ports(&self, predicate: PredicateIndex) -> bool {
        BoxKind::of(self.kinds, predicate).is_between_ports()
    }

    fn verdict(&self, row: &PieceRow) -> Option<bool> {
        let wanted = self.wanted?;
        wanted.decide(&row.listed(self), row.pending())
    }

    /// Asks once more whether a row is listed.
    fn judge(&self, row: &mut PieceRow) {
        if row.awaits.verdict
            && let Some(verdict) = self.verdict(row)
        {
            row.awaits.verdict = false;
            row.awaits.dropped = !verdict;
        }
    }

    /// The same without a condition: what is read only changes what is known.
    fn silent(&self) -> Self {
        Self {
            wanted: None,
            future: false,
            boxes: 0,
            ..*self
        }
    }
}
