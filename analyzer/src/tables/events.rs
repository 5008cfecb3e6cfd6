//! The table `events`: every event with the box it belongs to.
//!
//! It needs positions only, not figures; memory is that of the boxes that are active or can be
//! re-entered.

use std::slice;

use super::Tables;
use super::row::{Cell, Row, rows};
use crate::machine::{Class, EventKind, Note};
use crate::trace::{StreamInfo, Trace};
use crate::walk::{Step, Walk};

rows! {
    /// A row of the table `events`.
    ///
    /// The box of a port is the one that it is a port of; of anything else, the active one. Boxes
    /// are those of the engine: last calls share the box of their caller, and `predicate` is what
    /// it runs.
    pub struct EventRow<'t> of e: EventAt<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = e.name;
        /// Number of the stream.
        "stream" None stream: u32 = e.stream;
        /// Number of the event in its stream, from 0; lost events count. Of a gap: the last one
        /// lost.
        "event" None seq: u64 = e.step.number;
        /// When, in ns since the beginning of the trace.
        "at" Clock ns: u64 = e.trace.clock().since_start_ns(e.step.tick);
        /// `call`, `tail`, `exit_det`, `exit_nondet`, `redo`, `fail`, `exception`, `cut`, `pause`,
        /// `resume`, `gap`, `mark`, `clause`, `arguments`, `table`, `value` or `sync`.
        "port" None port: &'t str = e.step.kind().name();
        /// Indicator of the predicate that the box runs; of a call or last call, the predicate that
        /// is called.
        "predicate" None predicate: Option<&'t str> = e.step.of.map(|(of, _)| e.trace.predicate_name(of.predicate));
        /// Boxes around the box.
        "depth" Count depth: Option<u64> = e.step.of.map(|(_, depth)| depth);
        /// The box: number of the event by which it was called.
        "box" None r#box: Option<u64> = e.step.of.map(|(of, _)| of.called);
        /// The box around it, likewise; empty if there is none.
        "parent" None parent: Option<u64> = e.step.of.and_then(|(of, _)| of.caller);
        /// Of a cut: how many boxes lost their choicepoints. Of a gap: how many events were lost.
        "count" Count count: Option<u64> = e.count();
        /// Of a mark: its text. Of a `sync`: the name of the mutex, queue or thread.
        "text" None text: Option<&'t str> = e.text();
        /// Of a `clause`: the number of the clause that the box enters, from 1.
        "clause" None clause: Option<u32> = e.clause();
    }
}

impl<'t> Tables<'t> {
    /// By stream, then as they happened; of a part of a trace, those of that. Reads the trace
    /// again.
    pub fn events(self) -> impl Iterator<Item = EventRow<'t>> {
        EventRows {
            trace: self.trace,
            name: self.name,
            from: self.trace.part().map_or(0, |part| part.from),
            streams: self.trace.streams().iter(),
            current: None,
        }
    }
}

struct EventRows<'t> {
    trace: &'t Trace,
    name: &'t str,
    /// The first tick of it.
    from: u64,
    streams: slice::Iter<'t, StreamInfo>,
    current: Option<(u32, Walk<'t>)>,
}

impl<'t> Iterator for EventRows<'t> {
    type Item = EventRow<'t>;

    fn next(&mut self) -> Option<EventRow<'t>> {
        loop {
            if let Some((stream, walk)) = &mut self.current
                && let Some(step) = walk.find(|step| step.tick >= self.from)
            {
                return Some(EventRow::of(self.trace, self.name, *stream, step));
            }
            let info = self.streams.next()?;
            self.current = Some((info.id, Walk::from(self.trace, None, info, 0)));
        }
    }
}

impl<'t> EventRow<'t> {
    /// The row of an event of the stream with this number, in a trace that is called `name`.
    #[must_use]
    pub fn of(trace: &'t Trace, name: &'t str, stream: u32, step: Step) -> Self {
        Self::new(&EventAt {
            trace,
            name,
            stream,
            step,
        })
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct EventAt<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// What it is called.
    pub name: &'t str,
    /// The number of the stream.
    pub stream: u32,
    /// What happened.
    pub step: Step,
}

impl<'t> EventAt<'t> {
    pub(super) fn count(&self) -> Option<u64> {
        match self.step.class() {
            Class::Cut(count) => Some(count.into()),
            Class::Lose(lost) => Some(lost),
            Class::Enter(_)
            | Class::Depart(_)
            | Class::Leave(_)
            | Class::ReEnter
            | Class::Pause(_)
            | Class::Note(_) => None,
        }
    }

    pub(super) fn clause(&self) -> Option<u32> {
        let Class::Note(Note::Clause(clause)) = self.step.class() else {
            return None;
        };
        let at = self.trace.clause_index(clause)?;
        Some(self.trace.clauses()[at as usize].number)
    }

    pub(super) fn text(&self) -> Option<&'t str> {
        let Class::Note(note) = self.step.class() else {
            return None;
        };
        match note {
            Note::Mark(text) => self.trace.text(text),
            Note::Sync(call) => self.trace.shared(call.shared),
            Note::Clause(_) | Note::Arguments(_) | Note::Table(_) | Note::Value(_) => None,
        }
    }
}

/// All that the column `text` can say of events of a kind in a trace.
pub(crate) fn texts(trace: &Trace, kind: EventKind) -> Vec<Cell<'_>> {
    match kind {
        EventKind::Mark => trace.texts().map(Cell::Text).collect(),
        EventKind::Sync => {
            let all = trace.all_shared().into_iter();
            all.map(|(_, name)| Cell::Text(name)).collect()
        }
        _ => vec![Cell::Missing],
    }
}
