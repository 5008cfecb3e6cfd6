//! What a comparison keeps of a recording: names and numbers, so that the trace may go.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Figure, RecordingFigures};
use crate::Analysis;
use crate::figures::PortTotals;
use crate::figures::counted::Counted;
use crate::tables::{Row, TestRow};
use crate::trace::PredicateInfo;

/// A goal of a clause and what it called, or the calls of a caller and a callee that do not say
/// their goal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComparedGoal {
    /// Indicator of the predicate whose clause has the goal, or of the caller.
    pub caller: String,
    /// Number of the clause in its predicate, and of the goal in the clause, both from 1.
    pub place: Option<(u32, u32)>,
    /// Indicator of the callee.
    pub callee: String,
}

impl ComparedGoal {
    /// The clause and the callee: within them, the numbers of goals change by what is written in
    /// between.
    pub(super) fn group(&self) -> Option<(&str, u32, &str)> {
        let (clause, _) = self.place?;
        Some((&self.caller, clause, &self.callee))
    }
}

/// A test of plunit, as in the table `tests`. Its place changes by what is written before it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Test {
    /// Its name, behind that of its unit and a colon. Several tests may have the same.
    pub name: String,
    /// Source file of its unit.
    pub file: Option<String>,
    /// Line where it begins.
    pub line: Option<u32>,
}

/// The name, then the place as far as it is known.
impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { name, file, line } = self;
        match (file, line) {
            (Some(file), Some(line)) => write!(f, "{name} ({file}:{line})"),
            (Some(file), None) => write!(f, "{name} ({file})"),
            (None, Some(line)) => write!(f, "{name} (line {line})"),
            (None, None) => write!(f, "{name}"),
        }
    }
}

/// The goal `G` of clause `C` of a predicate is its `#C.G`.
impl fmt::Display for ComparedGoal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            caller,
            place,
            callee,
        } = self;
        match place {
            Some((clause, goal)) => write!(f, "{caller} #{clause}.{goal} > {callee}"),
            None => write!(f, "{caller} > {callee}"),
        }
    }
}

/// The figures of one recording.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// Whether net times were measured.
    pub(super) net_is_measured: bool,
    pub(super) predicates: BTreeMap<String, RecordingFigures>,
    /// By caller and callee; without times. The caller of a goal in an argument, as of `findall/3`,
    /// is the predicate whose clause has it.
    pub(super) edges: BTreeMap<(String, String), RecordingFigures>,
    pub(super) goals: BTreeMap<ComparedGoal, RecordingFigures>,
    pub(super) tests: BTreeMap<Test, RecordingFigures>,
    /// By test: the name of its cost centre, which has the line of the test.
    pub(super) test_centers: BTreeMap<Test, String>,
    /// Sum over the predicates; without the engine's own work.
    pub(super) all: RecordingFigures,
    /// Names of the rows that are the engine's own work.
    pub(super) engine_work: BTreeSet<String>,
}

impl Recorded {
    /// The figures of what is looked at.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        let mut recorded = Self {
            net_is_measured: analysis.net_is_measured(),
            ..Self::default()
        };
        recorded.predicates(analysis);
        recorded.tests(analysis);
        for site in analysis.tables().site_list() {
            let goal = ComparedGoal {
                caller: analysis.caller(site.caller).to_owned(),
                place: site.info().map(|info| (info.clause, info.goal)),
                callee: analysis.predicate(site.callee).to_owned(),
            };
            let pair = (goal.caller.clone(), goal.callee.clone());
            let calls = recorded.edges.entry(pair).or_default();
            add(calls, values(&site.figures.ports, 0, 0));
            let time = analysis.ns(site.figures.served_work_ticks);
            let row = recorded.goals.entry(goal).or_default();
            add(row, values(&site.figures.ports, time, 0));
        }
        recorded
    }

    /// Whether there is a test of plunit that has figures of its own.
    #[must_use]
    pub fn has_tests(&self) -> bool {
        !self.tests.is_empty()
    }

    /// Times are of work, as those of other rows.
    fn tests(&mut self, analysis: &Analysis) {
        for test in analysis.tables_of(Counted::Work).test_list() {
            let row = TestRow::new(&test);
            let net = row.self_comp_ns.unwrap_or(0);
            let mut values = values(test.ports(), row.self_ns, net);
            values[Figure::Left as usize] = row.choicepoints;
            let test_center = test.center();
            let test = Test {
                name: row.test.to_owned(),
                file: row.file.map(str::to_owned),
                line: row.line,
            };
            let center = analysis.predicate(test_center);
            self.test_centers.insert(test.clone(), center.to_owned());
            add(self.tests.entry(test).or_default(), values);
        }
    }

    /// The same with other names of predicates.
    pub(super) fn renamed(&self, names: &BTreeMap<String, String>) -> Self {
        let name = |old: &String| names.get(old).unwrap_or(old).clone();
        let predicates = self.predicates.iter();
        let edges = self.edges.iter();
        let edge = |(caller, callee): &(String, String)| (name(caller), name(callee));
        let goals = self.goals.iter();
        let goal = |goal: &ComparedGoal| ComparedGoal {
            caller: name(&goal.caller),
            callee: name(&goal.callee),
            ..goal.clone()
        };
        Self {
            predicates: predicates.map(|(of, values)| (name(of), *values)).collect(),
            edges: edges.map(|(of, values)| (edge(of), *values)).collect(),
            goals: goals.map(|(of, values)| (goal(of), *values)).collect(),
            ..self.clone()
        }
    }

    fn predicates(&mut self, analysis: &Analysis) {
        for index in analysis.tables().used_predicates() {
            let figures = &analysis.profile.predicates[index as usize];
            let net = analysis.profile.net.as_ref();
            let net = net.and_then(|net| net.predicates.get(index as usize));
            let values = values(
                &figures.ports,
                analysis.ns(figures.self_ticks),
                net.map_or(0, |times| analysis.ns(times.self_ticks)),
            );
            let name = analysis.predicate(index);
            let info = analysis.trace.predicates().get(index as usize);
            if info.is_some_and(PredicateInfo::is_engine_work) {
                self.engine_work.insert(name.to_owned());
            } else {
                add(&mut self.all, values);
            }
            add(self.predicates.entry(name.to_owned()).or_default(), values);
        }
    }
}

fn values(ports: &PortTotals, time: u64, net: u64) -> RecordingFigures {
    Figure::ALL.map(|figure| match figure {
        Figure::Calls => ports.calls,
        Figure::Exits => ports.exits(),
        Figure::Redos => ports.redos,
        Figure::Fails => ports.fails,
        Figure::Exceptions => ports.exceptions,
        Figure::Left => ports.exits_nondet,
        Figure::Time => time,
        Figure::Net => net,
    })
}

fn add(sums: &mut RecordingFigures, values: RecordingFigures) {
    for (sum, value) in sums.iter_mut().zip(values) {
        *sum = sum.saturating_add(value);
    }
}
