//! The table `clauses`: which clauses boxes entered, and what came of it.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::clauses::ClauseFigures;
use crate::trace::{ClauseIndex, ClauseInfo, PredicateIndex};

rows! {
    /// A row of the table `clauses`: one for every clause that was entered, and one for the boxes
    /// of each predicate with such clauses while no clause of them is known. Empty unless the
    /// recording says which clauses were entered.
    pub struct ClauseRow<'t> of c: ClauseData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = c.tables.name;
        /// Indicator of the predicate.
        "predicate" None predicate: &'t str = c.tables.trace.predicate_name(c.predicate);
        /// Number of the clause, from 1. Empty: no clause is known, as before the first one is
        /// entered.
        "clause" None clause: Option<u32> = c.info().map(|info| info.number);
        /// Source file of the clause.
        "file" None file: Option<&'t str> = c.file();
        /// Line where the clause begins.
        "line" None line: Option<u32> = c.line();
        /// How often it was entered: its head had been unified. Without a clause: boxes that were
        /// left, or departed, before they had entered one.
        "entered" Count entered: u64 = c.figures.entered;
        /// Exits of boxes in it.
        "exits" Count exits: u64 = c.figures.exits;
        /// Re-entries by backtracking into boxes that were in it.
        "redos" Count redos: u64 = c.figures.redos;
        /// Entries after which the box entered its next clause, or failed, without having exited.
        "in vain" Count failed: u64 = c.figures.failed;
        /// The same after at least one exit: there were no more solutions.
        "used up" Count exhausted: u64 = c.figures.exhausted;
        /// Boxes in it that were left by an exception.
        "exc." Count exceptions: u64 = c.figures.exceptions;
        /// Boxes in it that were active at the end.
        "open" Count open: u64 = c.figures.open;
        /// Nondeterminate exits that left no recorded box inside to be re-entered. What can be
        /// re-entered is the box itself: at its next clauses, at a disjunction in this one, or in a
        /// goal that has no box.
        "left" Count left: u64 = c.figures.left;
        /// Those of `left` that were re-entered.
        "redone" Count left_redos: u64 = c.figures.left_redos;
        /// Those of `left` that were cut: never used.
        "cut" Count left_cuts: u64 = c.figures.left_cuts;
        /// Those of `left` that were there at the end: never used.
        "pending" Count left_pending: u64 = c.figures.left_pending;
        /// Time while a box in it was the active one, in ns. Sums over the rows of a predicate to
        /// its self time.
        "self" Time self_ns: u64 = c.tables.ns(c.figures.self_ticks);
        /// Time while a box in it was on the active chain, in ns; recursion counted once.
        "inclusive" Time inclusive_ns: u64 = c.tables.ns(c.figures.inclusive_ticks);
        /// Work from the entry to the end of those entries that `failed` counts, in ns, whatever
        /// ran then; recursion counted once.
        "failed" Time failed_ns: u64 = c.tables.ns(c.figures.failed_ticks);
    }
}

impl<'t> Tables<'t> {
    /// By predicate, then by clause; the row without a clause first.
    pub fn clauses(self) -> impl Iterator<Item = ClauseRow<'t>> {
        let clauses = self.clause_list().into_iter();
        clauses.map(|clause| ClauseRow::new(&clause))
    }

    /// The same, as what rows are made of.
    #[must_use]
    pub fn clause_list(self) -> Vec<ClauseData<'t>> {
        let rows = self.profile.clauses.iter();
        let mut clauses: Vec<_> = rows
            .map(|(&(predicate, clause), &figures)| ClauseData {
                tables: self,
                predicate,
                clause,
                figures,
            })
            .collect();
        // One that was loaded again has another index.
        clauses.sort_by_key(|row| (row.predicate, row.info().map(|info| info.number)));
        clauses
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct ClauseData<'t> {
    tables: Tables<'t>,
    /// The predicate.
    pub predicate: PredicateIndex,
    /// The clause, if it is known.
    pub clause: Option<ClauseIndex>,
    /// What was counted and timed there.
    pub figures: ClauseFigures,
}

impl<'t> ClauseData<'t> {
    /// What the trace says of it.
    #[must_use]
    pub fn info(&self) -> Option<&'t ClauseInfo> {
        self.tables.trace.clauses().get(self.clause? as usize)
    }

    /// Path of its source file.
    #[must_use]
    pub fn file(&self) -> Option<&'t str> {
        self.tables.trace.file(self.info()?.file?)
    }

    /// Line where it begins.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.info().map(|info| info.line).filter(|&line| line != 0)
    }
}
