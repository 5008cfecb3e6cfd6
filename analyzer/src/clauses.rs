//! From events to figures by clause, as an `Observer` of all streams.
//!
//! With a physical box it keeps in which clause the innermost logical box is, and how many of those
//! before it departed from which clause: they exit, are redone and fail together. So the work of an
//! event is in proportion to the distinct clauses in its chain.

use std::collections::BTreeMap;

use crate::figures::clauses::{ClauseFigures, Clauses};
use crate::machine::{At, Note, Observer, OpenBox, WayOut};
use crate::scope::Scope;
use crate::trace::{PredicateIndex, Trace};

/// Index of a row in [`ClauseLedger`]: clauses by their index, then predicates without a clause,
/// then what has no row of its own.
type ClauseRowIndex = u32;

/// Where figures are booked, of all streams.
#[derive(Debug)]
pub(crate) struct ClauseLedger<'s> {
    scope: &'s Scope,
    /// By clause: whose it is.
    predicates: Vec<PredicateIndex>,
    /// By predicate, the unknown one included: the row of its boxes while no clause is known.
    without: Vec<ClauseRowIndex>,
    rows: Vec<ClauseFigures>,
    /// Ticks so far in which what was active was no work, modulo 2⁶⁴.
    left_out: u64,
    /// By row: failed ticks so far, modulo 2⁶⁴.
    failed: Vec<u64>,
    /// By row: how many boxes on the active chain are in it, and since when some are.
    on_chain: Vec<(u64, u64)>,
    /// Stands for no row; what is booked here is lost.
    no_row: ClauseRowIndex,
    /// The window has not begun.
    early: bool,
    /// By row: what was counted until then, to be taken away. Empty if there is no window.
    before: Vec<ClauseFigures>,
}

/// Figures of some streams by clause, and of them what was counted until the window began.
#[derive(Debug, Default)]
pub(crate) struct CountedClauses {
    all: Clauses,
    before: Clauses,
}

impl CountedClauses {
    /// With those of other streams.
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (sums, parts) in [(&mut self.all, other.all), (&mut self.before, other.before)] {
            for (key, part) in parts {
                sums.entry(key).or_default().add(&part);
            }
        }
        self
    }

    /// The figures of the window.
    pub(crate) fn since(mut self) -> Clauses {
        for (key, before) in &self.before {
            if let Some(figures) = self.all.get_mut(key) {
                figures.take(before);
            }
        }
        self.all.retain(|_, left| *left != ClauseFigures::default());
        self.all
    }
}

impl<'s> ClauseLedger<'s> {
    /// Of a trace; `None` if it names no clauses.
    pub(crate) fn of(trace: &Trace, scope: &'s Scope) -> Option<Self> {
        let clauses = trace.clauses().iter().map(|clause| clause.predicate);
        let clauses: Vec<_> = clauses.collect();
        (!clauses.is_empty()).then(|| Self::new(scope, clauses, trace.unknown_predicate()))
    }

    /// `predicates` says of each clause whose it is; `unknown` comes after all predicates.
    pub(crate) fn new(
        scope: &'s Scope,
        predicates: Vec<PredicateIndex>,
        unknown: PredicateIndex,
    ) -> Self {
        const NONE: ClauseRowIndex = ClauseRowIndex::MAX;
        let mut without = vec![NONE; unknown as usize + 1];
        let mut next = predicates.len() as ClauseRowIndex;
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
            left_out: 0,
            failed: vec![0; rows],
            on_chain: vec![(0, 0); rows],
            no_row: next,
            early: false,
            before: vec![ClauseFigures::default(); scope.window.map_or(0, |_| rows)],
        }
    }

    pub(crate) fn counted(self) -> CountedClauses {
        CountedClauses {
            all: self.clauses(&self.rows),
            before: self.clauses(&self.before),
        }
    }

    fn clauses(&self, rows: &[ClauseFigures]) -> Clauses {
        let of_clauses = (0..)
            .zip(&self.predicates)
            .map(|(clause, &of)| ((of, Some(clause)), clause));
        let without = (0..)
            .zip(&self.without)
            .filter(|&(_, &row)| row != self.no_row)
            .map(|(predicate, &row)| ((predicate, None), row));
        of_clauses
            .chain(without)
            .filter_map(|(key, row)| Some((key, *rows.get(row as usize)?)))
            .filter(|(_, figures)| *figures != ClauseFigures::default())
            .collect()
    }

    fn row(&mut self, row: ClauseRowIndex) -> &mut ClauseFigures {
        &mut self.rows[row as usize]
    }

    /// Counts something that happens now.
    fn count(&mut self, row: ClauseRowIndex, count: impl Fn(&mut ClauseFigures)) {
        count(self.row(row));
        if self.early {
            self.count_before(row, count);
        }
    }

    /// Counts something as if it had been before the window.
    fn count_before(&mut self, row: ClauseRowIndex, count: impl Fn(&mut ClauseFigures)) {
        if let Some(before) = self.before.get_mut(row as usize) {
            count(before);
        }
    }

    fn come(&mut self, row: ClauseRowIndex, times: u64, now: u64) {
        let (boxes, since) = &mut self.on_chain[row as usize];
        if *boxes == 0 {
            *since = now;
        }
        *boxes += times;
    }

    fn go(&mut self, row: ClauseRowIndex, times: u64, now: u64) {
        let (boxes, since) = &mut self.on_chain[row as usize];
        *boxes -= times;
        if *boxes == 0 {
            let stretch = now - *since;
            add(&mut self.row(row).inclusive_ticks, stretch);
        }
    }

    /// All work since an entry that came to nothing; what did inside already is not counted again.
    fn lose(&mut self, row: ClauseRowIndex, entry: ClauseEntry, now: u64) {
        let before = self.failed[row as usize].wrapping_sub(entry.failed);
        let work = self.work(now).wrapping_sub(entry.work);
        let lost = work.saturating_sub(before);
        self.failed[row as usize] = self.failed[row as usize].wrapping_add(lost);
        add(&mut self.row(row).failed_ticks, lost);
    }

    /// Ticks of work so far, modulo 2⁶⁴.
    fn work(&self, now: u64) -> u64 {
        now.wrapping_sub(self.left_out)
    }

    fn entry(&self, row: ClauseRowIndex, now: u64) -> ClauseEntry {
        ClauseEntry {
            work: self.work(now),
            failed: self.failed[row as usize],
        }
    }
}

fn add(sum: &mut u64, part: u64) {
    *sum = sum.saturating_add(part);
}

/// When a clause was entered.
#[derive(Debug, Clone, Copy)]
struct ClauseEntry {
    /// Ticks of work until then.
    work: u64,
    /// Failed ticks of the row until then.
    failed: u64,
}

/// A logical box in a clause.
#[derive(Debug, Clone, Copy)]
struct InClause {
    row: ClauseRowIndex,
    entry: ClauseEntry,
    /// It has exited since.
    exited: bool,
    /// The entry is counted. If no clause is known that is only so when the box has come to a port.
    counted: bool,
    /// It was before the window.
    early: bool,
}

/// Logical boxes of a frame that departed from a clause.
#[derive(Debug, Clone, Copy)]
struct Departed {
    /// Those that have not exited since they entered it, and the entry of the first.
    fresh: u64,
    entry: ClauseEntry,
    /// The others.
    exited: u64,
}

/// What is kept with a physical box.
#[derive(Debug)]
pub(crate) struct ClauseFrame {
    /// Boxes that could be re-entered when it was called.
    base: usize,
    /// Where its time is booked: for the innermost visible box on the chain.
    row: ClauseRowIndex,
    /// Its innermost logical box, if that is visible.
    innermost: Option<InClause>,
    /// By row: the visible ones before it.
    departed: BTreeMap<ClauseRowIndex, Departed>,
    /// It exited, and left a choicepoint of its own.
    left: bool,
    /// Time while it is active is work: by the kind of the innermost visible box on the chain.
    is_work: bool,
}

impl Observer for ClauseLedger<'_> {
    type Kept = ClauseFrame;

    fn begins(&mut self, _stream: u32) {
        self.early = self.scope.window.is_some();
    }

    fn window_begins(&mut self) {
        self.early = false;
    }

    fn passed(&mut self, ticks: u64, active: Option<&ClauseFrame>) {
        if let Some(frame) = active {
            add(&mut self.row(frame.row).self_ticks, ticks);
            if !frame.is_work {
                self.left_out = self.left_out.wrapping_add(ticks);
            }
        }
    }

    fn called(&mut self, at: &At, open: &OpenBox, around: Option<&ClauseFrame>) -> ClauseFrame {
        let mut frame = ClauseFrame {
            base: at.choices,
            row: self.row_of(around),
            innermost: None,
            departed: BTreeMap::new(),
            left: false,
            is_work: around.is_none_or(|around| around.is_work),
        };
        self.open(at, open, &mut frame);
        frame
    }

    fn departed(&mut self, at: &At, open: &OpenBox, frame: &mut ClauseFrame) {
        if let Some(mut before) = frame.innermost.take() {
            before.count(self);
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
        self.open(at, open, frame);
    }

    fn left(&mut self, at: &At, frame: &mut ClauseFrame, way_out: WayOut) {
        if let Some(innermost) = &mut frame.innermost {
            self.go(innermost.row, 1, at.now);
            innermost.count(self);
        }
        for (&row, group) in &frame.departed {
            self.go(row, group.boxes(), at.now);
        }
        match way_out {
            WayOut::ExitDet => self.exit(frame),
            WayOut::ExitNondet => {
                self.exit(frame);
                if let Some(innermost) = &frame.innermost
                    && at.choices <= frame.base
                {
                    frame.left = true;
                    self.count(innermost.row, |figures| figures.left += 1);
                }
            }
            WayOut::Fail => self.fail(at, frame),
            WayOut::Exception => self.stop(frame, |figures, boxes| figures.exceptions += boxes),
            WayOut::Open | WayOut::Lost => {
                self.stop(frame, |figures, boxes| figures.open += boxes);
            }
        }
    }

    fn re_entered(&mut self, at: &At, frame: &mut ClauseFrame, around: Option<&ClauseFrame>) {
        if let Some(row) = frame.left_in() {
            self.count(row, |figures| figures.left_redos += 1);
            frame.left = false;
        }
        if let Some(innermost) = &frame.innermost {
            self.count(innermost.row, |figures| figures.redos += 1);
            self.come(innermost.row, 1, at.now);
        } else if frame.departed.is_empty() {
            frame.row = self.row_of(around);
            frame.is_work = around.is_none_or(|around| around.is_work);
        }
        for (&row, group) in &frame.departed {
            self.count(row, |figures| figures.redos += group.boxes());
            self.come(row, group.boxes(), at.now);
        }
    }

    fn cut(&mut self, _: &At, frame: ClauseFrame) {
        if let Some(row) = frame.left_in() {
            self.count(row, |figures| figures.left_cuts += 1);
        }
    }

    fn lost(&mut self, _: &At, frame: ClauseFrame) {
        if let Some(row) = frame.left_in() {
            self.row(row).left_pending += 1;
        }
    }

    /// A clause is entered; one that the trace does not name is greater than all.
    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut ClauseFrame)>) {
        let (Note::Clause(clause), Some((open, frame))) = (note, active) else {
            return;
        };
        let row = match self.predicates.get(clause as usize) {
            Some(&of) if of == open.predicate => clause,
            Some(_) => return,
            None => self.without[open.predicate as usize],
        };
        let Some(in_clause) = &mut frame.innermost else {
            return;
        };
        if in_clause.counted {
            in_clause.end(self, at.now);
        } else if in_clause.early && !self.early {
            // When the window began it was not known that it would enter one.
            self.count_before(in_clause.row, |figures| figures.entered += 1);
        }
        self.go(in_clause.row, 1, at.now);
        self.come(row, 1, at.now);
        frame.row = row;
        *in_clause = self.enter(row, at);
        in_clause.count(self);
    }
}

impl ClauseLedger<'_> {
    /// Where the time of a box is booked that shows nothing of its own.
    fn row_of(&self, around: Option<&ClauseFrame>) -> ClauseRowIndex {
        around.map_or(self.no_row, |frame| frame.row)
    }

    /// The box has a new logical box.
    fn open(&mut self, at: &At, open: &OpenBox, frame: &mut ClauseFrame) {
        if open.is_shown(self.scope) {
            frame.is_work = self.scope.kind_of(open.predicate).is_work();
            let row = self.without[open.predicate as usize];
            self.come(row, 1, at.now);
            frame.row = row;
            frame.innermost = Some(self.enter(row, at));
        }
    }

    fn enter(&self, row: ClauseRowIndex, at: &At) -> InClause {
        InClause {
            row,
            entry: self.entry(row, at.now),
            exited: false,
            counted: false,
            early: self.early,
        }
    }

    fn exit(&mut self, frame: &mut ClauseFrame) {
        if let Some(innermost) = &mut frame.innermost {
            innermost.exited = true;
            self.count(innermost.row, |figures| figures.exits += 1);
        }
        for (&row, group) in &mut frame.departed {
            self.count(row, |figures| figures.exits += group.boxes());
            group.exited += std::mem::take(&mut group.fresh);
        }
    }

    fn fail(&mut self, at: &At, frame: &ClauseFrame) {
        if let Some(innermost) = &frame.innermost {
            innermost.end(self, at.now);
        }
        for (&row, group) in &frame.departed {
            if group.fresh > 0 {
                self.lose(row, group.entry, at.now);
            }
            self.count(row, |figures| {
                figures.failed += group.fresh;
                figures.exhausted += group.exited;
            });
        }
    }

    /// Counts each logical box of a frame that ends like this.
    fn stop(&mut self, frame: &ClauseFrame, count: impl Fn(&mut ClauseFigures, u64)) {
        if let Some(innermost) = &frame.innermost {
            self.count(innermost.row, |figures| count(figures, 1));
        }
        for (&row, group) in &frame.departed {
            self.count(row, |figures| count(figures, group.boxes()));
        }
    }
}

impl InClause {
    /// It is certain that the box is in this clause, or in none that is known.
    fn count(&mut self, ledger: &mut ClauseLedger) {
        if !self.counted {
            self.counted = true;
            ledger.row(self.row).entered += 1;
            if self.early {
                ledger.count_before(self.row, |figures| figures.entered += 1);
            }
        }
    }

    /// The box failed, or goes on with its next clause.
    fn end(&self, ledger: &mut ClauseLedger, now: u64) {
        if self.exited {
            ledger.count(self.row, |figures| figures.exhausted += 1);
        } else {
            ledger.lose(self.row, self.entry, now);
            ledger.count(self.row, |figures| figures.failed += 1);
        }
    }
}

impl Departed {
    fn boxes(&self) -> u64 {
        self.fresh + self.exited
    }
}

impl ClauseFrame {
    /// The clause that it left a choicepoint of its own in.
    fn left_in(&self) -> Option<ClauseRowIndex> {
        self.innermost
            .as_ref()
            .filter(|_| self.left)
            .map(|innermost| innermost.row)
    }
}
