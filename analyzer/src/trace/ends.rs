//! How far streams go.

use portmortem_tracer::format::Closing;

use super::{StreamInfo, Trace};

impl Trace {
    /// How many events the thread of a stream of this trace did after the end of the recording, at
    /// least: they count as lost, and as [`crate::figures::StreamFigures::lost_events`], too.
    #[must_use]
    pub fn events_after_end(&self, stream: &StreamInfo) -> u64 {
        let last = stream.blocks.clone().next_back();
        let header = last.and_then(|block| self.block_header(block));
        header.map_or(0, |header| header.after_end)
    }

    /// When a stream ends and how many events it has, lost ones included, as far as the trace says.
    pub(crate) fn end_of(&self, stream: &StreamInfo) -> (u64, u64) {
        if let Some(end) = stream.end {
            return (end.tick, end.events);
        }
        let last = stream.blocks.clone().next_back();
        let Some((last, header)) = last.and_then(|last| Some((last, self.block_header(last)?)))
        else {
            return (0, 0);
        };
        match (header.closing, self.number_after(last)) {
            (Closing::Closed(close), Some(events)) => {
                (close.last_tick, events.saturating_add(header.dropped))
            }
            _ => (header.base_tick, header.first_event),
        }
    }

    /// The number of the event after those of a block, if it is closed.
    pub(crate) fn number_after(&self, block: usize) -> Option<u64> {
        let header = self.block_header(block)?;
        match header.closing {
            Closing::Closed(close) => Some(header.first_event.saturating_add(close.events.into())),
            Closing::Open | Closing::Damaged => None,
        }
    }
}
