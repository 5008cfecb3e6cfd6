//! The figures in the order in which findings read them: goals by clause, and the words for places, times and shares.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::Place;
use crate::Analysis;
use crate::figures::{BacktrackFigures, Caller, PredicateFigures};
use crate::tables::Site;
use crate::text::{percent, time};
use crate::trace::names::printable;
use crate::trace::{PredicateIndex, PredicateInfo, SiteIndex};

/// How the names of files begin that came with the engine.
const ENGINE_FILES: &str = "engine:";

/// A clause: its predicate, and its number there.
pub(super) type ClauseKey = (PredicateIndex, u32);

/// What findings are made of.
#[derive(Debug)]
pub(super) struct Evidence<'a> {
    pub(super) analysis: &'a Analysis,
    /// By clause: its goals that made calls, in the order in which they are written.
    pub(super) clauses: BTreeMap<ClauseKey, Vec<Site<'a>>>,
    /// Goals that another predicate called than that of their clause: they stand in an argument.
    in_arguments: BTreeSet<SiteIndex>,
    /// Ticks of work.
    pub(super) total_ticks: u64,
    /// By predicate: whether it does more than compute, once that was asked for.
    pub(super) effects: RefCell<BTreeMap<PredicateIndex, bool>>,
    /// Modules of the program: those that its source files define predicates of, and `user`.
    modules: BTreeSet<&'a str>,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let mut clauses = BTreeMap::<ClauseKey, Vec<Site>>::new();
        for site in analysis.tables().site_list() {
            if let Some(info) = site.info() {
                let goals = clauses.entry((info.caller, info.clause)).or_default();
                goals.push(site);
            }
        }
        let goal = |site: &Site| site.info().map(|info| info.goal);
        clauses
            .values_mut()
            .for_each(|goals| goals.sort_by_key(goal));
        let predicates = analysis.trace.predicates();
        let is_in_program = |info: &&PredicateInfo| {
            let file = info
                .declared
                .file
                .and_then(|file| analysis.trace.file(file));
            file.is_some_and(|file| !file.starts_with(ENGINE_FILES))
        };
        let of_program = predicates.iter().filter(is_in_program);
        let modules = of_program.map(|info| info.declared.module.as_str());
        let called = analysis.profile.sites.keys();
        let in_arguments = called.filter_map(|&(by, _, site)| {
            let info = analysis.trace.sites().get(site? as usize)?;
            (by != Caller::Predicate(info.caller)).then_some(site?)
        });
        Self {
            in_arguments: in_arguments.collect(),
            effects: RefCell::default(),
            modules: modules.chain(["user"]).collect(),
            analysis,
            clauses,
            total_ticks: analysis.whole().work_ticks,
        }
    }

    /// Whether a goal is called by the goal in whose argument it stands, and is no step of its
    /// clause.
    pub(super) fn is_in_argument(&self, goal: &Site) -> bool {
        goal.site
            .is_some_and(|site| self.in_arguments.contains(&site))
    }

    /// The goals of all clauses of a predicate that made calls.
    pub(super) fn goals_of(&self, predicate: PredicateIndex) -> impl Iterator<Item = &Site<'a>> {
        let clauses = self.clauses.range((predicate, 0)..=(predicate, u32::MAX));
        clauses.flat_map(|(_, goals)| goals)
    }

    /// A predicate, what its clauses call, what that calls, and so on.
    pub(super) fn called(&self, predicate: PredicateIndex) -> BTreeSet<PredicateIndex> {
        reached([predicate], |predicate| {
            self.goals_of(predicate).map(|goal| goal.callee)
        })
    }

    /// All predicates that the trace names, with their figures.
    pub(super) fn predicates(
        &self,
    ) -> impl Iterator<Item = (PredicateIndex, &'a PredicateInfo, &'a PredicateFigures)> {
        let infos = self.analysis.trace.predicates().iter();
        let figures = &self.analysis.profile.predicates;
        (0..)
            .zip(infos.zip(figures))
            .map(|(index, (info, figures))| (index, info, figures))
    }

    /// Whether it is one of the program's own, dynamic ones included, and none of the engine or a library.
    pub(super) fn is_of_program(&self, predicate: PredicateIndex) -> bool {
        let info = self.analysis.trace.predicates().get(predicate as usize);
        info.is_some_and(|info| {
            info.is_called_by_program() && self.modules.contains(info.declared.module.as_str())
        })
    }

    /// Whether its answers are kept in tables.
    pub(super) fn is_tabled(&self, predicate: PredicateIndex) -> bool {
        let Analysis { trace, profile, .. } = self.analysis;
        profile.tables_filled(trace, predicate).is_some()
    }

    /// All goals that made calls.
    pub(super) fn sites(&self) -> impl Iterator<Item = &Site<'a>> {
        self.clauses.values().flatten()
    }

    /// The name of a predicate without module and arity, if it is none of the program.
    pub(super) fn foreign_name(&self, predicate: PredicateIndex) -> Option<&'a str> {
        let info = self.analysis.trace.predicates().get(predicate as usize)?;
        let is_foreign = info.is_called_by_program() && !self.is_of_program(predicate);
        is_foreign.then_some(info.declared.name.as_str())
    }

    /// The figures of a predicate.
    pub(super) fn figures(&self, predicate: PredicateIndex) -> &'a PredicateFigures {
        &self.analysis.profile.predicates[predicate as usize]
    }

    /// What backtracking from one predicate into another threw away.
    pub(super) fn backtracks(
        &self,
        failed: PredicateIndex,
        resumed: PredicateIndex,
    ) -> BacktrackFigures {
        let pair = (Caller::Predicate(failed), resumed);
        let found = self.analysis.profile.backtracks.get(&pair);
        found.copied().unwrap_or_default()
    }

    /// The name of a predicate; without its module if that is `user`, as everywhere.
    pub(super) fn name(&self, predicate: PredicateIndex) -> &'a str {
        self.analysis.predicate(predicate)
    }

    /// The goal that made the dearest calls of a predicate.
    pub(super) fn dearest_goal(&self, callee: PredicateIndex) -> Option<&Site<'a>> {
        let goals = self.clauses.values().flatten();
        goals
            .filter(|site| site.callee == callee)
            .max_by_key(|site| (site.figures.served_work_ticks, site.figures.calls))
    }

    /// Where a goal is; where the clauses of its caller begin, if calls do not say their goal.
    pub(super) fn place_of(&self, site: &Site) -> Place {
        if let (None, Some(caller)) = (site.info(), site.caller.predicate()) {
            return self.clauses_of(caller);
        }
        Place {
            predicate: self.analysis.caller(site.caller).to_owned(),
            file: site.file().map(printable),
            line: site.line(),
        }
    }

    /// Where the first clause of a predicate is; where the dearest call of it is, if that is not known.
    pub(super) fn place(&self, predicate: PredicateIndex) -> Place {
        match (
            self.analysis.source(predicate),
            self.dearest_goal(predicate),
        ) {
            (None, Some(site)) => self.place_of(site),
            _ => self.clauses_of(predicate),
        }
    }

    /// Where the first clause of a predicate is, as far as it is known.
    fn clauses_of(&self, predicate: PredicateIndex) -> Place {
        let source = self.analysis.source(predicate);
        Place {
            predicate: self.name(predicate).to_owned(),
            file: source.map(|(file, _)| printable(file)),
            line: source.map(|(_, line)| line).filter(|&line| line > 0),
        }
    }

    /// "at line 4 of slow/2".
    pub(super) fn at(&self, site: &Site) -> String {
        let predicate = self.analysis.caller(site.caller);
        match site.line() {
            Some(line) => format!("at line {line} of {predicate}"),
            None => format!("in {predicate}"),
        }
    }

    /// A time for people.
    pub(super) fn time(&self, ticks: u64) -> String {
        time(self.analysis.ns(ticks))
    }
}

/// The predicates to begin with, their callees, what those call, and so on.
pub(super) fn reached<C: Iterator<Item = PredicateIndex>>(
    from: impl IntoIterator<Item = PredicateIndex>,
    callees: impl Fn(PredicateIndex) -> C,
) -> BTreeSet<PredicateIndex> {
    let mut seen: BTreeSet<_> = from.into_iter().collect();
    let mut left: Vec<_> = seen.iter().copied().collect();
    while let Some(predicate) = left.pop() {
        left.extend(callees(predicate).filter(|&callee| seen.insert(callee)));
    }
    seen
}

/// A share in whole percent for people: "99 %", "more than 99 %".
pub(super) fn share(part: u64, whole: u64) -> String {
    if part < whole && u128::from(part) * 1000 >= u128::from(whole) * 995 {
        return "more than 99 %".to_owned();
    }
    let percent = percent(part, whole);
    let whole = percent.split('.').next().unwrap_or(&percent);
    format!("{whole} %")
}

/// `part` of `whole`, of a quantity: rounded down.
pub(super) fn part_of(quantity: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(quantity) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    u64::try_from(share).unwrap_or(u64::MAX)
}
