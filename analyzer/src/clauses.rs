//! From events to figures by clause, in one pass over each stream.
//!
//! Both stacks are plain, as in [`crate::moment`]: a box that is re-entered lies below whatever box
//! is active then. A frame here is a physical box. It knows in which clause its innermost logical
//! box is, and how many of those before it departed from which clause: they exit, are redone and
//! fail together. So the work of an event is in proportion to the distinct clauses in its chain.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use portmortem_tracer::format::{Dialect, Event};

use crate::figures::clauses::{ClauseFigures, Clauses};
use crate::scope::Scope;
use crate::scope::focus::Way;
use crate::trace::{ClauseIndex, PredicateIndex, StreamInfo, Trace};

/// Events between two looks at whether it was cancelled.
const LOOK_EVERY: u32 = 1 << 16;

/// The figures of what is looked at, counts up to the end of its window; nothing if the trace does
/// not name clauses, or if it was cancelled.
pub(crate) fn figures(trace: &Trace, scope: &Scope, cancel: Option<&AtomicBool>) -> Clauses {
    if trace.clauses().is_empty() {
        return Clauses::new();
    }
    let clauses = trace.clauses().iter().map(|clause| clause.predicate);
    let mut books = Books::new(scope, clauses.collect(), trace.unknown_predicate());
    for stream in trace.streams() {
        if scope.has_stream(stream.id) && !one_stream(&mut books, trace, stream, cancel) {
            return Clauses::new();
        }
    }
    books.into_clauses()
}

/// Whether it was read to its end.
fn one_stream(
    books: &mut Books,
    trace: &Trace,
    stream: &StreamInfo,
    cancel: Option<&AtomicBool>,
) -> bool {
    let mut state = State::new(books, stream.dialect());
    let mut last = None;
    let mut read = 0_u32;
    for timed in trace.events(stream) {
        read = read.wrapping_add(1);
        if read.is_multiple_of(LOOK_EVERY)
            && cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
        {
            return false;
        }
        last = Some(timed.tick);
        if state.books.scope.is_over(timed.tick) {
            break;
        }
        let event = match timed.event {
            Event::Clause { clause } => Happened::Clause(trace.clause_index(clause)),
            other => Happened::Port(other),
        };
        state.happen(event, timed.tick);
    }
    if let Some(last) = last {
        state.finish(stream.end.map_or(last, |end| end.tick.max(last)));
    }
    true
}

/// An event, and of a clause which one it is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happened {
    /// One that does not enter a clause.
    Port(Event),
    /// A clause is entered; `None` if the trace does not say which.
    Clause(Option<ClauseIndex>),
}

/// Index of a row in [`Books`]: clauses by their index, then predicates without a clause, then what
/// has no row of its own.
type Row = u32;

/// Where figures are booked, of all streams.
#[derive(Debug)]
pub(crate) struct Books<'s> {
    scope: &'s Scope,
    /// By clause: whose it is.
    predicates: Vec<PredicateIndex>,
    /// By predicate, the unknown one included: the row of its boxes while no clause is known.
    without: Vec<Row>,
    rows: Vec<ClauseFigures>,
    /// By row: failed ticks so far, modulo 2⁶⁴.
    failed: Vec<u64>,
    /// By row: how many boxes on the active chain are in it, and since when some are.
    on_chain: Vec<(u64, u64)>,
    /// What has no row.
    nobody: Row,
}

impl<'s> Books<'s> {
    /// `predicates` says of each clause whose it is; `unknown` comes after all predicates.
    pub(crate) fn new(
        scope: &'s Scope,
        predicates: Vec<PredicateIndex>,
        unknown: PredicateIndex,
    ) -> Self {
        const NONE: Row = Row::MAX;
        let mut without = vec![NONE; unknown as usize + 1];
        let mut next = predicates.len() as Row;
        for &predicate in &predicates {
            let row = &mut without[predicate as usize];
            if *row == NONE {
                *row = next;
                next += 1;
            }
        }
        for row in without.iter_mut().filter(|row| **row == NONE) {
            *row = next;
        }
        let rows = next as usize + 1;
        Self {
            scope,
            predicates,
            without,
            rows: vec![ClauseFigures::default(); rows],
            failed: vec![0; rows],
            on_chain: vec![(0, 0); rows],
            nobody: next,
        }
    }

    pub(crate) fn into_clauses(self) -> Clauses {
        let rows = &self.rows;
        let of_clauses = (0..)
            .zip(&self.predicates)
            .map(|(clause, &of)| ((of, Some(clause)), rows[clause as usize]));
        let without = (0..)
            .zip(&self.without)
            .filter(|&(_, &row)| row != self.nobody)
            .map(|(predicate, &row)| ((predicate, None), rows[row as usize]));
        of_clauses
            .chain(without)
            .filter(|(_, figures)| *figures != ClauseFigures::default())
            .collect()
    }

    fn row(&mut self, row: Row) -> &mut ClauseFigures {
        &mut self.rows[row as usize]
    }

    fn come(&mut self, row: Row, times: u64, now: u64) {
        let (boxes, since) = &mut self.on_chain[row as usize];
        if *boxes == 0 {
            *since = now;
        }
        *boxes += times;
    }

    fn go(&mut self, row: Row, times: u64, now: u64) {
        let (boxes, since) = &mut self.on_chain[row as usize];
        *boxes -= times;
        if *boxes == 0 {
            let stretch = now - *since;
            add(&mut self.row(row).inclusive_ticks, stretch);
        }
    }

    /// All that ran since an entry came to nothing; what did inside already is not counted again.
    fn lose(&mut self, row: Row, entry: Entry, now: u64) {
        let before = self.failed[row as usize].wrapping_sub(entry.failed);
        let lost = (now - entry.at).saturating_sub(before);
        self.failed[row as usize] = self.failed[row as usize].wrapping_add(lost);
        add(&mut self.row(row).failed_ticks, lost);
    }

    fn entry(&self, row: Row, now: u64) -> Entry {
        Entry {
            at: now,
            failed: self.failed[row as usize],
        }
    }
}

fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}

/// When a clause was entered.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u64,
    /// Failed ticks of the row until then.
    failed: u64,
}

/// A logical box in a clause.
#[derive(Debug, Clone, Copy)]
struct InClause {
    row: Row,
    entry: Entry,
    /// It has exited since.
    exited: bool,
    /// The entry is counted. If no clause is known that is only so when the box has come to a port.
    counted: bool,
}

/// Logical boxes of a frame that departed from a clause.
#[derive(Debug, Clone, Copy)]
struct Departed {
    /// Those that have not exited since they entered it, and the entry of the first.
    fresh: u64,
    entry: Entry,
    /// The others.
    exited: u64,
}

/// A physical box.
#[derive(Debug)]
struct Frame {
    /// Its name, and that of the box around it; 0 if there is none.
    number: u64,
    caller: u64,
    /// What its innermost logical box runs.
    predicate: PredicateIndex,
    way: Way,
    /// Boxes that could be re-entered when it was called.
    base: usize,
    /// Where its time is booked: for the innermost visible box on the chain.
    row: Row,
    /// Its innermost logical box, if that is visible.
    innermost: Option<InClause>,
    /// By row: the visible ones before it.
    departed: BTreeMap<Row, Departed>,
    /// It exited, and left a choicepoint of its own.
    left: bool,
}

/// The boxes of a stream.
#[derive(Debug)]
pub(crate) struct State<'b, 's> {
    books: &'b mut Books<'s>,
    dialect: Dialect,
    /// Callers are not known after a gap.
    lost: bool,
    paused: bool,
    began: bool,
    tick: u64,
    /// Ticks so far that belong to somebody.
    now: u64,
    boxes: u64,
    active: Vec<Frame>,
    choices: Vec<Frame>,
}

impl<'b, 's> State<'b, 's> {
    pub(crate) fn new(books: &'b mut Books<'s>, dialect: Dialect) -> Self {
        Self {
            books,
            dialect,
            lost: false,
            paused: false,
            began: false,
            tick: 0,
            now: 0,
            boxes: 0,
            active: Vec::new(),
            choices: Vec::new(),
        }
    }

    /// The next event, with predicates that it names, not sites.
    pub(crate) fn happen(&mut self, event: Happened, tick: u64) {
        if !self.began {
            self.began = true;
            self.tick = self.books.scope.nearest(tick);
        }
        self.pass(tick, matches!(event, Happened::Port(Event::Gap { .. })));
        match event {
            Happened::Clause(clause) => self.clause(clause),
            Happened::Port(event) => self.port(event),
        }
    }

    /// Nothing comes after `tick`.
    pub(crate) fn finish(mut self, tick: u64) {
        self.pass(tick, false);
        self.abandon();
    }

    fn pass(&mut self, tick: u64, lost: bool) {
        let tick = self.books.scope.nearest(tick);
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        if self.paused || lost {
            return;
        }
        self.now += stretch;
        if let Some(frame) = self.active.last() {
            add(&mut self.books.row(frame.row).self_ticks, stretch);
        }
    }

    fn port(&mut self, event: Event) {
        match event {
            Event::Call { predicate } => self.call(predicate),
            Event::Tail { predicate } => self.tail(predicate),
            Event::ExitDet | Event::ExitNondet => self.exit(event == Event::ExitNondet),
            Event::Fail => self.fail(),
            Event::Exception => self.exception(),
            Event::Redo => self.redo(),
            Event::Cut { count } => {
                let left = self.choices.len().saturating_sub(count as usize);
                for frame in self.choices.drain(left..) {
                    if let Some(row) = frame.left_in() {
                        self.books.row(row).left_cuts += 1;
                    }
                }
            }
            Event::Gap { .. } => {
                self.abandon();
                (self.lost, self.paused) = (true, false);
            }
            Event::Pause | Event::Resume => self.paused = event == Event::Pause,
            Event::Mark { .. } | Event::Clause { .. } | Event::Arguments(_) => {}
        }
    }

    /// Where the time of the active chain is booked.
    fn row(&self) -> Row {
        self.active
            .last()
            .map_or(self.books.nobody, |frame| frame.row)
    }

    fn call(&mut self, predicate: PredicateIndex) {
        let caller = self.active.last();
        let from = caller.map(|caller| caller.way);
        let way = self.books.scope.enter(from, self.lost, predicate);
        self.boxes += 1;
        let frame = Frame {
            number: self.boxes,
            caller: caller.map_or(0, |caller| caller.number),
            predicate,
            way,
            base: self.choices.len(),
            row: self.row(),
            innermost: None,
            departed: BTreeMap::new(),
            left: false,
        };
        self.active.push(frame);
        self.open(predicate);
    }

    /// The active frame has a new logical box.
    fn open(&mut self, predicate: PredicateIndex) {
        let Some(frame) = self.active.last_mut() else {
            return;
        };
        frame.predicate = predicate;
        if self.books.scope.shows(frame.way, predicate) {
            let row = self.books.without[predicate as usize];
            self.books.come(row, 1, self.now);
            frame.row = row;
            frame.innermost = Some(InClause {
                row,
                entry: self.books.entry(row, self.now),
                exited: false,
                counted: false,
            });
        }
    }

    /// A port of the active box may be that of one that nothing is known of.
    fn be_active(&mut self) {
        if self.active.is_empty() {
            self.call(self.books.without.len() as PredicateIndex - 1);
        }
    }

    fn tail(&mut self, predicate: PredicateIndex) {
        self.be_active();
        let Some(frame) = self.active.last_mut() else {
            return;
        };
        frame.way = self.books.scope.enter(Some(frame.way), false, predicate);
        if let Some(mut before) = frame.innermost.take() {
            before.count(self.books);
            let group = frame.departed.entry(before.row).or_insert(Departed {
                fresh: 0,
                entry: before.entry,
                exited: 0,
            });
            if before.exited {
                group.exited += 1;
            } else {
                if group.fresh == 0 {
                    group.entry = before.entry;
                }
                group.fresh += 1;
            }
        }
        self.open(predicate);
    }

    fn clause(&mut self, clause: Option<ClauseIndex>) {
        let books = &mut *self.books;
        let Some(frame) = self.active.last_mut() else {
            return;
        };
        let row = match clause {
            Some(clause) if books.predicates[clause as usize] == frame.predicate => clause,
            Some(_) => return,
            None => books.without[frame.predicate as usize],
        };
        let Some(in_clause) = &mut frame.innermost else {
            return;
        };
        if in_clause.counted {
            in_clause.end(books, self.now);
        }
        books.go(in_clause.row, 1, self.now);
        books.come(row, 1, self.now);
        frame.row = row;
        *in_clause = InClause {
            row,
            entry: books.entry(row, self.now),
            exited: false,
            counted: false,
        };
        in_clause.count(books);
    }

    /// Takes the active frame off the chain.
    fn leave(&mut self) -> Option<Frame> {
        self.be_active();
        let frame = self.active.pop()?;
        if let Some(innermost) = &frame.innermost {
            self.books.go(innermost.row, 1, self.now);
        }
        for (&row, group) in &frame.departed {
            self.books.go(row, group.boxes(), self.now);
        }
        Some(frame)
    }

    fn exit(&mut self, nondet: bool) {
        let Some(mut frame) = self.leave() else {
            return;
        };
        let books = &mut *self.books;
        if let Some(innermost) = &mut frame.innermost {
            innermost.count(books);
            innermost.exited = true;
            books.row(innermost.row).exits += 1;
            if nondet && self.choices.len() <= frame.base {
                frame.left = true;
                books.row(innermost.row).left += 1;
            }
        }
        for (&row, group) in &mut frame.departed {
            books.row(row).exits += group.boxes();
            group.exited += std::mem::take(&mut group.fresh);
        }
        if nondet {
            self.choices.push(frame);
        }
    }

    fn fail(&mut self) {
        let Some(mut frame) = self.leave() else {
            return;
        };
        if let Some(innermost) = &mut frame.innermost {
            innermost.count(self.books);
            innermost.end(self.books, self.now);
        }
        for (&row, group) in &frame.departed {
            if group.fresh > 0 {
                self.books.lose(row, group.entry, self.now);
            }
            let figures = self.books.row(row);
            figures.failed += group.fresh;
            figures.exhausted += group.exited;
        }
    }

    fn exception(&mut self) {
        if let Some(frame) = self.leave() {
            self.stop(frame, |figures, boxes| figures.exceptions += boxes);
        }
    }

    /// Counts each logical box of a frame that ends like this.
    fn stop(&mut self, mut frame: Frame, count: impl Fn(&mut ClauseFigures, u64)) {
        if let Some(innermost) = &mut frame.innermost {
            innermost.count(self.books);
            count(self.books.row(innermost.row), 1);
        }
        for (&row, group) in &frame.departed {
            count(self.books.row(row), group.boxes());
        }
    }

    fn redo(&mut self) {
        let Some(mut entered) = self.choices.pop() else {
            // Called before a gap.
            self.call(self.books.without.len() as PredicateIndex - 1);
            return;
        };
        loop {
            let number = entered.number;
            self.enter(entered);
            // In this dialect those around it were re-entered with it.
            let around = |choice: &mut Frame| {
                self.dialect == Dialect::InnermostRedo && choice.caller == number
            };
            let Some(next) = self.choices.pop_if(around) else {
                return;
            };
            entered = next;
        }
    }

    fn enter(&mut self, mut frame: Frame) {
        frame.caller = self.active.last().map_or(0, |caller| caller.number);
        let around = self.row();
        let books = &mut *self.books;
        if let Some(row) = frame.left_in() {
            books.row(row).left_redos += 1;
            frame.left = false;
        }
        if let Some(innermost) = &frame.innermost {
            books.row(innermost.row).redos += 1;
            books.come(innermost.row, 1, self.now);
        } else if frame.departed.is_empty() {
            frame.row = around;
        }
        for (&row, group) in &frame.departed {
            books.row(row).redos += group.boxes();
            books.come(row, group.boxes(), self.now);
        }
        self.active.push(frame);
    }

    /// Nothing is known of any box from here on.
    fn abandon(&mut self) {
        while !self.active.is_empty() {
            if let Some(frame) = self.leave() {
                self.stop(frame, |figures, boxes| figures.open += boxes);
            }
        }
        for frame in self.choices.drain(..) {
            if let Some(row) = frame.left_in() {
                self.books.row(row).left_pending += 1;
            }
        }
    }
}

impl InClause {
    /// It is certain that the box is in this clause, or in none that is known.
    fn count(&mut self, books: &mut Books) {
        if !self.counted {
            self.counted = true;
            books.row(self.row).entered += 1;
        }
    }

    /// The box failed, or goes on with its next clause.
    fn end(&self, books: &mut Books, now: u64) {
        if self.exited {
            books.row(self.row).exhausted += 1;
        } else {
            books.lose(self.row, self.entry, now);
            books.row(self.row).failed += 1;
        }
    }
}

impl Departed {
    fn boxes(&self) -> u64 {
        self.fresh + self.exited
    }
}

impl Frame {
    /// The clause that it left a choicepoint of its own in.
    fn left_in(&self) -> Option<Row> {
        self.innermost
            .as_ref()
            .filter(|_| self.left)
            .map(|innermost| innermost.row)
    }
}
