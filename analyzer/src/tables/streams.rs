//! The table `streams`.

use portmortem_tracer::format::StreamKind;

use super::Tables;
use super::row::rows;

rows! {
    /// A row of the table `streams`: one for every Prolog thread and engine.
    ///
    /// `self + untraced + paused + gap = last − first`.
    pub struct StreamRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Number of the stream.
        pub stream: u32,
        /// `thread` or `engine`.
        pub kind: &'t str,
        /// Its name in the engine, empty if it had none or that was lost.
        pub name: &'t str,
        /// Events read.
        pub events: u64,
        /// Its beginning, in ns since that of the trace.
        pub first_ns: u64,
        /// Its end, or its last event, in ns since the beginning of the trace.
        pub last_ns: u64,
        /// Events known to be lost.
        pub lost_events: u64,
        /// Time while a traced box was active, in ns.
        pub self_ns: u64,
        /// Time while no traced box was active, in ns.
        pub untraced_ns: u64,
        /// Time in pauses, in ns.
        pub paused_ns: u64,
        /// Time in gaps, in ns: from the last event before a loss to where recording goes on.
        pub gap_ns: u64,
        /// Greatest number of frames that were open at once. Last calls share one.
        pub max_depth: u64,
        /// Greatest number of frames that could be re-entered at once.
        pub max_choices: u64,
    }
}

impl<'t> Tables<'t> {
    /// By number.
    pub fn streams(self) -> impl Iterator<Item = StreamRow<'t>> {
        self.profile.streams.iter().map(move |figures| {
            let known = self.trace.streams();
            let place = known.binary_search_by_key(&figures.stream, |stream| stream.id);
            let info = place.ok().map(|at| &known[at]);
            let moment = |tick| self.trace.clock().since_start_ns(tick);
            StreamRow {
                trace: self.name,
                stream: figures.stream,
                kind: match info.map(crate::trace::StreamInfo::kind) {
                    Some(StreamKind::Engine) => "engine",
                    Some(StreamKind::Thread) | None => "thread",
                },
                name: info.map_or("", |info| info.name()),
                events: figures.events,
                first_ns: moment(figures.first_tick),
                last_ns: moment(figures.last_tick),
                lost_events: figures.lost_events,
                self_ns: self.ns(figures.self_ticks),
                untraced_ns: self.ns(figures.untraced_ticks),
                paused_ns: self.ns(figures.paused_ticks),
                gap_ns: self.ns(figures.gap_ticks),
                max_depth: figures.max_depth,
                max_choices: figures.max_choices,
            }
        })
    }
}
