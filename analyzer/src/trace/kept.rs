//! Which events of a trace are there of which not all were kept: the newest ones of a flight
//! recorder, and of a recording whose events were folded those around some moments, too.

use std::ops::Range;

use portmortem_tracer::format::Closing;

use super::{StreamInfo, Trace};

/// Events of a stream that follow on each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEvents {
    /// The stream.
    pub stream: u32,
    /// Their numbers; of those that may become more, up to the greatest one.
    pub events: Range<u64>,
    /// A tick in which the first one happens or after which nothing happens before it, and that of
    /// the last one; of those that may become more the greatest one.
    pub ticks: Range<u64>,
}

/// The events that there are of a stream. Streams of which none is missing have one range or, if
/// they have no block, none.
#[must_use]
pub fn kept(trace: &Trace, stream: &StreamInfo) -> Vec<KeptEvents> {
    let mut all: Vec<KeptEvents> = Vec::new();
    for block in stream.blocks.clone() {
        let Some(header) = trace.block_header(block) else {
            continue;
        };
        let (until, last) = match header.closing {
            Closing::Closed(close) => (
                header.first_event.saturating_add(close.events.into()),
                close.last_tick,
            ),
            Closing::Open | Closing::Damaged => (u64::MAX, u64::MAX),
        };
        match all.last_mut() {
            Some(before) if before.events.end == header.first_event => {
                (before.events.end, before.ticks.end) = (until, last);
            }
            _ => all.push(KeptEvents {
                stream: stream.id,
                events: header.first_event..until,
                ticks: header.base_tick..last,
            }),
        }
    }
    all
}

/// Ranges of ticks in which events of a stream happened that were not kept; nothing of them is
/// there at the ticks in between, without both ends.
#[must_use]
pub(crate) fn gone(trace: &Trace, stream: &StreamInfo) -> Vec<Range<u64>> {
    if !trace.header().mode.keep_last {
        return Vec::new();
    }
    let mut gone = Vec::new();
    let mut before = Some((0, 0));
    for block in stream.blocks.clone() {
        let Some(header) = trace.block_header(block) else {
            continue;
        };
        let follows = before.is_none_or(|(sequence, _)| sequence == header.sequence);
        if !follows && let Some((_, tick)) = before {
            gone.push(tick..header.base_tick);
        }
        before = match header.closing {
            Closing::Closed(close) => Some((header.sequence + 1, close.last_tick)),
            Closing::Open | Closing::Damaged => None,
        };
    }
    if let (Some((_, tick)), Some(end)) = (before, stream.end)
        && behind(trace, stream) < end.events
    {
        gone.push(tick..end.tick.saturating_add(1));
    }
    gone
}

/// Whether events of a stream were not kept.
#[must_use]
pub fn has_holes(trace: &Trace, stream: &StreamInfo) -> bool {
    !gone(trace, stream).is_empty()
}

/// Whether events of a trace were not kept.
pub(crate) fn is_incomplete(trace: &Trace) -> bool {
    let mut streams = trace.streams().iter();
    streams.any(|stream| has_holes(trace, stream))
}

/// The number that comes after the events that a stream has at its end, and after those that it
/// lost there.
fn behind(trace: &Trace, stream: &StreamInfo) -> u64 {
    let Some(last) = stream.blocks.clone().next_back() else {
        return 0;
    };
    let dropped = trace.block_header(last).map_or(0, |header| header.dropped);
    let behind = trace.number_after(last);
    behind.map_or(u64::MAX, |behind| behind.saturating_add(dropped))
}

impl Trace {
    /// Whether events of a stream that are missing were not kept, those before the one behind
    /// `last` or before its end: they were folded into figures, or newer ones of a flight recorder
    /// took their room. Else they were lost.
    #[must_use]
    pub fn are_not_kept(&self, stream: u32, last: u64) -> bool {
        let Some(stream) = self.stream_place(stream).map(|at| &self.streams()[at]) else {
            return false;
        };
        if !self.header.mode.keep_last {
            return false;
        }
        let is_before = |block: usize| {
            let header = self.block_header(block);
            header.is_some_and(|header| header.first_event <= last)
        };
        let blocks = stream.blocks.clone();
        let (mut at, mut until) = (blocks.start, blocks.end);
        while at < until {
            let middle = at + (until - at) / 2;
            match is_before(middle) {
                true => at = middle + 1,
                false => until = middle,
            }
        }
        let sequence_of = |at: usize| self.block(at).sequence;
        let before = at.checked_sub(1).filter(|before| blocks.contains(before));
        let next = before.map_or(0, |before| sequence_of(before) + 1);
        match blocks.contains(&at) {
            true => sequence_of(at) != next,
            false => stream
                .end
                .is_some_and(|end| behind(self, stream) < end.events),
        }
    }
}
