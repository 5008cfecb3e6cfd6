//! From events to columns: the boxes of the active chain, each at its depth, from when to when.

use portmortem_tracer::format::Event;
use rustc_hash::FxHashMap;

use super::column::{Began, Cell, Column, Ended, Segment};
use super::slice::Slice;
use crate::moment::{Moment, OpenBox};
use crate::scope::Scope;
use crate::trace::PredicateIndex;
use crate::walk::Step;

/// A box on the active chain or on the choice stack.
#[derive(Debug, Clone, Copy)]
struct Open {
    called: u64,
    /// What it shows: the last predicate of its chain of last calls that is not hidden.
    shows: Option<PredicateIndex>,
    /// Rows taken by the boxes around it.
    around: u64,
    /// Since when it is where it is, and shows what it shows.
    since: u64,
    began: Began,
}

impl Open {
    /// Rows taken by it and the boxes around it.
    fn depth(&self) -> u64 {
        self.around + u64::from(self.shows.is_some())
    }
}

/// Paints some columns.
#[derive(Debug)]
pub(super) struct Painter<'w> {
    /// Where each column begins, and where the last one ends.
    edges: Vec<u64>,
    rows: Rows,
    scope: &'w Scope,
    unknown: PredicateIndex,
    active: Vec<Open>,
    choices: Vec<Open>,
    /// Stands for all that is not known since there was a gap.
    bottom: Option<Open>,
    /// Tick of the last event.
    tick: u64,
    paused_since: Option<u64>,
    gap_since: Option<u64>,
    /// The column that is being painted, and its ticks. Before the first one, up to where it
    /// begins.
    at: u32,
    begin: u64,
    end: u64,
    inside: bool,
    last: u32,
    /// Where the last column ends.
    limit: u64,
    column: Column,
    /// Ticks in the column, by row and predicate.
    times: FxHashMap<(u32, PredicateIndex), u64>,
    /// A box in it is deeper than the rows that are painted.
    deeper: bool,
    done: Vec<Column>,
    /// The same with what sums of them need, if somebody wants that.
    slices: Option<Vec<Slice>>,
}

/// Which depths are painted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    /// The least one.
    pub(super) first: u32,
    /// How many.
    pub(super) many: u32,
}

impl<'w> Painter<'w> {
    /// Paints columns from `moment` on, which begin at these ticks; at the last one the last one
    /// ends.
    pub(super) fn new(edges: Vec<u64>, rows: Rows, scope: &'w Scope, moment: &Moment) -> Self {
        let open = |open: &OpenBox| Open {
            called: open.called,
            shows: predicate_shown(scope, open).unwrap_or(Some(open.called_as)),
            around: 0,
            since: 0,
            began: Began::Before,
        };
        let mut active: Vec<Open> = moment.active().to_vec().iter().map(open).collect();
        let mut depth = 0;
        for open in &mut active {
            open.around = depth;
            depth = open.depth();
        }
        let (first, limit) = (edges.first().copied(), edges.last().copied());
        let columns = edges.len().saturating_sub(1);
        Self {
            edges,
            rows,
            unknown: scope.hidden.len().saturating_sub(1) as PredicateIndex,
            scope,
            active,
            choices: moment.choices().to_vec().iter().map(open).collect(),
            bottom: None,
            tick: 0,
            paused_since: moment.is_paused().then_some(0),
            gap_since: None,
            at: 0,
            begin: 0,
            end: first.unwrap_or(0),
            inside: false,
            last: columns as u32,
            limit: limit.unwrap_or(0),
            column: Column::default(),
            times: FxHashMap::default(),
            deeper: false,
            done: Vec::with_capacity(columns),
            slices: None,
        }
    }

    /// The same, for [`Self::slices`].
    pub(super) fn for_slices(self) -> Self {
        Self {
            slices: Some(Vec::new()),
            ..self
        }
    }

    /// Where a column begins, the one after the last included.
    fn start_of(&self, column: u32) -> u64 {
        let edge = self.edges.get(column as usize).copied();
        edge.unwrap_or(self.limit)
    }

    /// An event; `moment` is what is after it. `false` if it lies behind the last column, and its
    /// end.
    pub(super) fn step(&mut self, step: &Step, moment: &Moment) -> bool {
        if step.tick > self.limit {
            if matches!(step.event, Event::Gap { .. }) {
                self.leave_all(Ended::Gap, self.tick);
                self.gap_since = Some(self.tick);
            }
            return false;
        }
        if let Event::Gap { lost } = step.event {
            self.gap(step, lost);
        } else {
            self.go_to(step.tick);
            self.count(step);
            self.port(step, moment);
        }
        self.tick = step.tick;
        true
    }

    /// No further events: the stream ended at `end` if that is said, else where the last column
    /// does.
    pub(super) fn finish(mut self, end: Option<u64>) -> Vec<Column> {
        self.end_at(end);
        self.done
    }

    /// The same, with what sums of columns need.
    pub(super) fn slices(mut self, end: Option<u64>) -> Vec<Slice> {
        self.end_at(end);
        let slices = self.slices.unwrap_or_default().into_iter().zip(self.done);
        slices
            .map(|(slice, column)| Slice { column, ..slice })
            .collect()
    }

    fn end_at(&mut self, end: Option<u64>) {
        if let Some(end) = end {
            self.go_to(end.max(self.tick));
            self.leave_all(Ended::End, end.max(self.tick));
        }
        self.go_to(self.limit);
    }

    /// Time passes.
    fn go_to(&mut self, tick: u64) {
        while tick >= self.end && self.at < self.last {
            if self.inside {
                self.end_column();
                self.at += 1;
            }
            self.inside = self.at < self.last;
            self.begin = self.start_of(self.at);
            self.end = self.start_of(self.at + 1);
        }
    }

    fn end_column(&mut self) {
        let first = u64::from(self.rows.first);
        let from = self.active.partition_point(|open| open.depth() <= first);
        for at in from..self.active.len() {
            let open = self.active[at];
            if open.around >= first + u64::from(self.rows.many) {
                self.deeper = true;
                break;
            }
            self.draw(&open, self.end, Ended::After);
        }
        if let Some(bottom) = self.bottom {
            self.draw(&bottom, self.end, Ended::After);
        }
        let stretch =
            |since: Option<u64>| since.map_or(0, |since| self.end - since.max(self.begin));
        self.column.paused_ticks += stretch(self.paused_since);
        self.column.gap_ticks += stretch(self.gap_since);
        if let Some(slices) = &mut self.slices {
            let times = self.times.iter();
            slices.push(Slice {
                column: Column::default(),
                times: times.map(|(key, ticks)| (*key, *ticks)).collect(),
                deeper: self.deeper,
                paused: self.paused_since.is_some(),
            });
        }
        self.deeper = false;
        for ((row, predicate), ticks) in self.times.drain() {
            let longest = &mut self.column.cells[row as usize].longest;
            if longest
                .is_none_or(|(other, most)| ticks > most || (ticks == most && predicate < other))
                && ticks > 0
            {
                *longest = Some((predicate, ticks));
            }
        }
        self.column.read = true;
        self.done.push(std::mem::take(&mut self.column));
    }

    /// The cell of a row, if it is in the window.
    fn cell(&mut self, row: u64) -> Option<(u32, &mut Cell)> {
        let row = row.checked_sub(self.rows.first.into())?;
        if !self.inside || row >= u64::from(self.rows.many) {
            self.deeper |= self.inside;
            return None;
        }
        let cells = &mut self.column.cells;
        if cells.len() <= row as usize {
            cells.resize(row as usize + 1, Cell::default());
        }
        Some((row as u32, &mut cells[row as usize]))
    }

    /// What a box showed until `to` in this column.
    fn draw(&mut self, open: &Open, to: u64, ended: Ended) {
        let Some(predicate) = open.shows else { return };
        let began = if open.since < self.begin {
            Began::Before
        } else {
            open.began
        };
        let from = open.since.max(self.begin);
        if began == Began::Before && to <= self.begin {
            return self.ended_before(open, predicate, ended);
        }
        let Some((row, cell)) = self.cell(open.around) else {
            return;
        };
        let segment = Segment {
            called: open.called,
            predicate,
            from,
            to,
            began,
            ended,
        };
        cell.segments += 1;
        cell.ticks += to - from;
        cell.first.get_or_insert(segment);
        cell.last = Some(segment);
        *self.times.entry((row, predicate)).or_default() += to - from;
    }

    /// A box ends where the column before does.
    fn ended_before(&mut self, open: &Open, predicate: PredicateIndex, ended: Ended) {
        let columns = self.at as usize - self.done.len()..self.at as usize;
        let done = columns.zip(&mut self.done).rev();
        // A column without a tick has no boxes.
        let begins = |at: usize| self.edges.get(at).copied();
        let mut done = done.skip_while(|(at, _)| begins(*at) == Some(self.begin));
        let row = open.around.checked_sub(self.rows.first.into());
        if let (Some((_, column)), Some(row)) = (done.next(), row)
            && let Some(cell) = column.cells.get_mut(row as usize)
            && let Some(last) = &mut cell.last
            && (last.called, last.predicate) == (open.called, predicate)
        {
            last.ended = ended;
            if cell.segments == 1 {
                cell.first = cell.last;
            }
        }
    }

    fn count(&mut self, step: &Step) {
        if !self.inside {
            return;
        }
        let column = &mut self.column;
        column.first_event.get_or_insert(step.number);
        column.counts.events += 1;
        column.counts.marks += u64::from(matches!(step.event, Event::Mark { .. }));
    }

    fn port(&mut self, step: &Step, moment: &Moment) {
        match step.event {
            Event::Call { predicate } => self.call(predicate, step),
            Event::Tail { predicate } => self.last_call(predicate, step),
            Event::ExitDet => self.leave(step, Ended::ExitDet),
            Event::ExitNondet => self.leave(step, Ended::ExitNondet),
            Event::Fail => self.leave(step, Ended::Fail),
            Event::Exception => self.leave(step, Ended::Exception),
            Event::Redo => {
                while self.active.len() < moment.active().len() {
                    self.redo(step);
                }
            }
            Event::Cut { .. } => {
                let left = moment.choices().len().min(self.choices.len());
                let cut = self.choices.drain(left..);
                let cuts = cut.filter(|open| open.shows.is_some()).count() as u64;
                if self.inside {
                    self.column.counts.cuts += cuts;
                }
            }
            Event::Pause => {
                self.paused_since.get_or_insert(step.tick);
            }
            Event::Resume => self.resume(step.tick),
            Event::Gap { .. }
            | Event::Mark { .. }
            | Event::Clause { .. }
            | Event::Arguments(_)
            | Event::Table(_)
            | Event::Value(_) => {}
        }
    }

    fn depth(&self) -> u64 {
        let innermost = self.active.last().or(self.bottom.as_ref());
        innermost.map_or(0, Open::depth)
    }

    fn call(&mut self, predicate: PredicateIndex, step: &Step) {
        let open = Open {
            called: step.number,
            shows: self.visible(predicate, step),
            around: self.depth(),
            since: step.tick,
            began: Began::Call,
        };
        self.active.push(open);
        if self.inside && open.shows.is_some() {
            self.column.counts.calls += 1;
        }
    }

    fn last_call(&mut self, predicate: PredicateIndex, step: &Step) {
        self.be_active(step);
        let Some(predicate) = self.visible(predicate, step) else {
            return;
        };
        if self.inside {
            self.column.counts.last_calls += 1;
        }
        let Some(open) = self
            .active
            .last_mut()
            .filter(|open| open.shows != Some(predicate))
        else {
            return;
        };
        let before = *open;
        open.shows = Some(predicate);
        open.since = step.tick;
        open.began = Began::LastCall;
        self.draw(&before, step.tick, Ended::LastCall);
    }

    fn leave(&mut self, step: &Step, ended: Ended) {
        self.be_active(step);
        let Some(open) = self.active.pop() else {
            return;
        };
        self.draw(&open, step.tick, ended);
        if ended == Ended::ExitNondet {
            self.choices.push(open);
        }
        if open.shows.is_none() || !self.inside {
            return;
        }
        let counts = &mut self.column.counts;
        match ended {
            Ended::Fail => counts.fails += 1,
            Ended::Exception => counts.exceptions += 1,
            _ => counts.exits += 1,
        }
        if !matches!(ended, Ended::Fail | Ended::Exception) {
            return;
        }
        if let Some((_, cell)) = self.cell(open.around) {
            cell.fails += u64::from(ended == Ended::Fail);
            cell.exceptions += u64::from(ended == Ended::Exception);
        }
    }

    fn redo(&mut self, step: &Step) {
        let choice = self.choices.pop();
        let choice = choice.unwrap_or_else(|| self.unknown_box(step));
        let open = Open {
            around: self.depth(),
            since: step.tick,
            began: Began::Redo,
            ..choice
        };
        self.active.push(open);
        if open.shows.is_some() && self.inside {
            self.column.counts.redos += 1;
            if let Some((_, cell)) = self.cell(open.around) {
                cell.redos += 1;
            }
        }
    }

    /// After a gap a port may belong to a box that nothing is known of.
    fn be_active(&mut self, step: &Step) {
        if self.active.is_empty() {
            let open = self.unknown_box(step);
            self.active.push(open);
        }
    }

    fn unknown_box(&self, step: &Step) -> Open {
        Open {
            called: step.number,
            shows: Some(self.unknown),
            around: self.depth(),
            since: step.tick,
            began: Began::Gap,
        }
    }

    /// What the box shows that an event calls, or makes something else of.
    fn visible(&self, predicate: PredicateIndex, step: &Step) -> Option<PredicateIndex> {
        let inside = step.of.is_none_or(|(of, _)| self.scope.contains(of.way));
        (inside && !self.scope.hides(predicate)).then_some(predicate)
    }

    /// Events were lost between the last one and this.
    fn gap(&mut self, step: &Step, lost: u64) {
        self.leave_all(Ended::Gap, self.tick);
        self.gap_since = Some(self.tick);
        self.go_to(step.tick);
        self.count(step);
        let since = self.gap_since.take().unwrap_or(step.tick);
        if self.inside {
            self.column.gap_ticks += step.tick.saturating_sub(since.max(self.begin));
            self.column.counts.gaps += 1;
            self.column.counts.lost = self.column.counts.lost.saturating_add(lost);
        }
        self.bottom = Some(self.unknown_box(step));
    }

    fn leave_all(&mut self, ended: Ended, tick: u64) {
        self.resume(tick);
        while let Some(open) = self.active.pop() {
            self.draw(&open, tick, ended);
        }
        if let Some(bottom) = self.bottom.take() {
            self.draw(&bottom, tick, ended);
        }
        self.choices.clear();
    }

    fn resume(&mut self, tick: u64) {
        if let Some(since) = self.paused_since.take()
            && self.inside
        {
            self.column.paused_ticks += tick.saturating_sub(since.max(self.begin));
        }
    }
}

/// What a box shows, from what is known at a moment; `None` if that cannot be told: all that it is
/// known to have run in the end is hidden, and it made last calls before, or came into the focus by
/// one.
pub(super) fn predicate_shown(scope: &Scope, open: &OpenBox) -> Option<Option<PredicateIndex>> {
    if !scope.contains(open.way) {
        return Some(None);
    }
    if open.is_shown(scope) {
        return Some(Some(open.predicate));
    }
    let first = (!scope.hides(open.called_as)).then_some(open.called_as);
    match open.last_calls {
        0 => Some(None),
        1 if !scope.is_focused() => Some(first),
        _ => None,
    }
}
