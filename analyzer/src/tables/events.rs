//! The table `events`: every event with the box it belongs to.
//!
//! It needs positions only, not figures; memory is that of the boxes that are active or can be re-entered.

use std::slice;

use portmortem_tracer::format::Event;

use super::Tables;
use super::row::rows;
use crate::trace::{StreamInfo, Trace};
use crate::walk::{Step, Walk};

rows! {
    /// A row of the table `events`.
    ///
    /// The box of a port is the one that it is a port of; of anything else, the active one. Boxes are
    /// those of the engine: last calls share the box of their caller, and `predicate` is what it runs.
    pub struct EventRow<'t> {
        /// Name of the trace.
        pub trace: &'t str,
        /// Number of the stream.
        pub stream: u32,
        /// Number of the event in its stream, from 0; lost events count. Of a gap: the last one lost.
        pub seq: u64,
        /// When, in ns since the beginning of the trace.
        pub ns: u64,
        /// `call`, `tail`, `exit_det`, `exit_nondet`, `redo`, `fail`, `exception`, `cut`, `pause`,
        /// `resume`, `gap` or `mark`.
        pub port: &'t str,
        /// Indicator of what the box runs, of a call or last call: what is called.
        pub predicate: Option<&'t str>,
        /// Boxes around the box.
        pub depth: Option<u64>,
        /// The box: number of the event by which it was called.
        pub r#box: Option<u64>,
        /// The box around it, likewise; nothing if nobody traced is.
        pub parent: Option<u64>,
        /// Of a cut: how many boxes lost their choicepoints. Of a gap: how many events were lost.
        pub count: Option<u64>,
        /// Of a mark: what it says.
        pub text: Option<&'t str>,
    }
}

impl<'t> Tables<'t> {
    /// By stream, then as they happened. Reads the trace again.
    pub fn events(self) -> impl Iterator<Item = EventRow<'t>> {
        EventRows {
            trace: self.trace,
            name: self.name,
            streams: self.trace.streams().iter(),
            current: None,
        }
    }
}

struct EventRows<'t> {
    trace: &'t Trace,
    name: &'t str,
    streams: slice::Iter<'t, StreamInfo>,
    current: Option<(u32, Walk<'t>)>,
}

impl<'t> Iterator for EventRows<'t> {
    type Item = EventRow<'t>;

    fn next(&mut self) -> Option<EventRow<'t>> {
        loop {
            if let Some((stream, walk)) = &mut self.current
                && let Some(step) = walk.next()
            {
                return Some(EventRow::of(self.trace, self.name, *stream, &step));
            }
            let info = self.streams.next()?;
            self.current = Some((info.id, Walk::from(self.trace, None, info, 0)));
        }
    }
}

impl<'t> EventRow<'t> {
    /// The row of an event of the stream with this number, in a trace that is called `name`.
    #[must_use]
    pub fn of(trace: &'t Trace, name: &'t str, stream: u32, step: &Step) -> Self {
        let (of, depth) = step.of.unzip();
        Self {
            trace: name,
            stream,
            seq: step.number,
            ns: trace.clock().since_start_ns(step.tick),
            port: port(step.event),
            predicate: of.map(|of| trace.predicate_name(of.predicate)),
            depth,
            r#box: of.map(|of| of.called),
            parent: of.and_then(|of| of.caller),
            count: match step.event {
                Event::Cut { count } => Some(count.into()),
                Event::Gap { lost } => Some(lost),
                _ => None,
            },
            text: match step.event {
                Event::Mark { text } => trace.text(text),
                _ => None,
            },
        }
    }
}

/// What happened, as the tables call it.
#[must_use]
pub fn port(event: Event) -> &'static str {
    match event {
        Event::Call { .. } => "call",
        Event::Tail { .. } => "tail",
        Event::ExitDet => "exit_det",
        Event::ExitNondet => "exit_nondet",
        Event::Redo => "redo",
        Event::Fail => "fail",
        Event::Exception => "exception",
        Event::Cut { .. } => "cut",
        Event::Pause => "pause",
        Event::Resume => "resume",
        Event::Gap { .. } => "gap",
        Event::Mark { .. } => "mark",
    }
}
