//! The table `tests`: what each test of plunit did, where the recording gave it a cost centre.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::{PortTotals, PredicateFigures};
use crate::net::centers::{CenterSum, by_center};
use crate::trace::{PredicateIndex, PredicateInfo};

/// The modules in which plunit keeps units of tests begin so.
const MODULE: &str = "plunit_";

/// The name there of the predicate whose clauses are the bodies of the tests.
const BODY: &str = "unit body";

/// What stands between the name of a test and its line in the name of its cost centre.
const AT_LINE: &str = "@line ";

rows! {
    /// A row of the table `tests`: one for every test of plunit that ran, if it has a cost centre
    /// (`record --tests`).
    ///
    /// Counts and times are of the body of the test and of all that ran in it, except what ran in
    /// another cost centre inside; not of its setup, cleanup and comparison.
    pub struct TestRow<'t> of t: UnitTest<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = t.tables.name;
        /// Name of the test, behind that of its unit and a colon.
        "test" None test: &'t str = t.name;
        /// Source file of the first test of the unit.
        "file" None file: Option<&'t str> = t.file;
        /// Line where the test begins.
        "line" None line: Option<u32> = t.line;
        /// How often its body ran.
        "runs" Count runs: u64 = t.own.calls;
        /// Exits of its body that left a choicepoint.
        "left" Count choicepoints: u64 = t.own.exits_nondet;
        /// Boxes opened in it, last calls included.
        "calls" Count calls: u64 = t.sum.figures.calls;
        /// Re-entries by backtracking in it.
        "redos" Count redos: u64 = t.sum.figures.redos;
        /// Final failures in it.
        "fails" Count fails: u64 = t.sum.figures.fails;
        /// Boxes in it that were left by an exception.
        "exc." Count exceptions: u64 = t.sum.figures.exceptions;
        /// Garbage collections in it.
        "collections" Count collections: u64 = t.collections;
        /// Time while its body, or a box in it, was the active one, in ns.
        "self" Time self_ns: u64 = t.tables.ns(t.sum.figures.self_ticks);
        /// `self_ns` less the cost of recording, if that is known.
        "net" Time self_comp_ns: Option<u64> = t.sum.net_ticks.map(|ticks| t.tables.ns(ticks));
    }
}

/// What a row of the table `tests` is made of.
#[derive(Debug, Clone, Copy)]
pub struct UnitTest<'t> {
    tables: Tables<'t>,
    name: &'t str,
    file: Option<&'t str>,
    line: Option<u32>,
    /// Its cost centre.
    center: PredicateIndex,
    sum: CenterSum,
    /// Of its body.
    own: &'t PredicateFigures,
    collections: u64,
}

impl UnitTest<'_> {
    /// Its cost centre.
    pub(crate) fn center(&self) -> PredicateIndex {
        self.center
    }

    /// What the boxes in it did; its body is not among them.
    #[must_use]
    pub fn ports(&self) -> &PortTotals {
        &self.sum.figures
    }
}

impl<'t> Tables<'t> {
    /// In the order in which the tests ran first.
    pub fn tests(self) -> impl Iterator<Item = TestRow<'t>> {
        let tests = self.test_list().into_iter();
        tests.map(|test| TestRow::new(&test))
    }

    /// The same, as what rows are made of.
    #[must_use]
    pub fn test_list(self) -> Vec<UnitTest<'t>> {
        let units: Vec<_> = self.units().collect();
        if units.is_empty() {
            return Vec::new();
        }
        let sums = by_center(self.trace, self.profile, self.counted());
        let tests = sums.into_iter().filter_map(|(center, sum)| {
            let index = center?;
            let info = self.trace.predicates().get(index as usize)?;
            let is_of = |unit: &str| {
                let test = info.declared.name.strip_prefix(unit);
                test.is_some_and(|test| test.starts_with(':'))
            };
            let &(_, unit) = units.iter().find(|(unit, _)| is_of(unit))?;
            let (name, line) = info.declared.name.rsplit_once(AT_LINE)?;
            Some(UnitTest {
                tables: self,
                name,
                file: unit.declared.file.and_then(|file| self.trace.file(file)),
                line: line.parse().ok(),
                center: index,
                sum,
                own: self.profile.predicates.get(index as usize)?,
                collections: self.collections_in(index),
            })
        });
        tests.collect()
    }

    /// The names of units, and the predicates that have the bodies of their tests.
    fn units(self) -> impl Iterator<Item = (&'t str, &'t PredicateInfo)> {
        let known = self.trace.predicates().iter();
        let bodies = known.filter(|info| info.declared.name == BODY && info.declared.arity == 2);
        bodies.filter_map(|info| Some((info.declared.module.strip_prefix(MODULE)?, info)))
    }

    fn collections_in(self, center: PredicateIndex) -> u64 {
        let known = (0..).zip(self.trace.predicates());
        let collections = known.filter(|(_, info)| info.is_collection());
        let figures =
            collections.filter_map(|(index, _)| self.profile.centers.get(&(Some(center), index)));
        figures
            .map(|figures| figures.ports.calls)
            .fold(0, u64::saturating_add)
    }
}
