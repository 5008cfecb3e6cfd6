//! Marks of a trace as ends of ranges of time: where `pm_mark` said something.

use rayon::prelude::*;

use portmortem_tracer::format::Event;

use crate::trace::Trace;

/// A mark that a program set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark<'t> {
    pub(super) tick: u64,
    pub(super) text: &'t str,
}

/// All marks of a trace, in the order of time. Reads all events.
pub(super) fn marks(trace: &Trace) -> Vec<Mark<'_>> {
    let streams = trace.streams().par_iter();
    let of_stream = streams.flat_map_iter(|stream| {
        trace.events(stream).filter_map(|timed| match timed.event {
            Event::Mark { text } => trace.text(text).map(|text| Mark {
                tick: timed.tick,
                text,
            }),
            _ => None,
        })
    });
    let mut marks: Vec<_> = of_stream.collect();
    marks.sort();
    marks
}
