//! The table `streams`.

use portmortem_tracer::format::StreamKind;

use super::Tables;
use super::row::{Row, rows};
use crate::figures::StreamFigures;
use crate::trace::StreamInfo;

rows! {
    /// A row of the table `streams`: one for every Prolog thread and engine.
    ///
    /// `self + untraced + paused + gap = last − first`.
    pub struct StreamRow<'t> of s: StreamData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = s.tables.name;
        /// Number of the stream.
        "stream" None stream: u32 = s.figures.stream;
        /// `thread` or `engine`.
        "kind" None kind: &'t str = s.kind();
        /// Its name in the engine, empty if it had none or that was lost.
        "name" None name: &'t str = s.info.map_or("", StreamInfo::name);
        /// Events read.
        "events" Count events: u64 = s.figures.events;
        /// Its beginning, in ns since that of the trace.
        "from" Clock first_ns: u64 = s.tables.trace.clock().since_start_ns(s.figures.first_tick);
        /// Its end, or its last event, in ns since the beginning of the trace.
        "to" Clock last_ns: u64 = s.tables.trace.clock().since_start_ns(s.figures.last_tick);
        /// Events known to be lost.
        "lost" Count lost_events: u64 = s.figures.lost_events;
        /// Time while a traced box was active, in ns.
        "traced" Clock self_ns: u64 = s.tables.ns(s.figures.self_ticks);
        /// Part of `self_ns` that is work: waiting, loading, collections, stack shifts and set-up
        /// are not in it.
        "work" Clock work_ns: u64 = s.tables.ns(s.figures.work_ticks);
        /// Part of `self_ns` in which the thread had no processor: it waited for a mutex, a queue,
        /// input, a sleep, or the scheduler.
        "waiting" Clock waiting_ns: u64 = s.tables.ns(s.figures.waiting_ticks);
        /// Time while no traced box was active, in ns.
        "untraced" Clock untraced_ns: u64 = s.tables.ns(s.figures.untraced_ticks);
        /// Time in pauses, in ns.
        "paused" Clock paused_ns: u64 = s.tables.ns(s.figures.paused_ticks);
        /// Time in gaps, in ns: from the last event before a loss to where recording goes on.
        "gaps" Clock gap_ns: u64 = s.tables.ns(s.figures.gap_ticks);
        /// Greatest number of frames that were open at once. Last calls share one.
        "depth" Count max_depth: u64 = s.figures.max_depth;
        /// Greatest number of frames that could be re-entered at once.
        "choices" Count max_choices: u64 = s.figures.max_choices;
    }
}

impl<'t> Tables<'t> {
    /// By number.
    pub fn streams(self) -> impl Iterator<Item = StreamRow<'t>> {
        let streams = 0..self.profile.streams.len();
        streams.map(move |at| StreamRow::new(&self.stream(at)))
    }

    /// A stream, by its place among those of the profile.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn stream(self, at: usize) -> StreamData<'t> {
        let figures = &self.profile.streams[at];
        let place = self.trace.stream_place(figures.stream);
        StreamData {
            tables: self,
            figures,
            info: place.map(|at| &self.trace.streams()[at]),
        }
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct StreamData<'t> {
    tables: Tables<'t>,
    figures: &'t StreamFigures,
    info: Option<&'t StreamInfo>,
}

impl StreamData<'_> {
    fn kind(&self) -> &'static str {
        match self.info.map(StreamInfo::kind) {
            Some(StreamKind::Engine) => "engine",
            Some(StreamKind::Thread) | None => "thread",
        }
    }
}
