//! The figures in the order in which findings read them: goals by clause, and the words for places, times and shares.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use portmortem_tracer::format::Role;

use super::generated::{self, Constraint};
use super::libraries::{self, BuiltIn, EngineLibraries};
use super::{AdvisedPlace, clause_text, source};
use crate::Analysis;
use crate::figures::{BacktrackFigures, Caller, PredicateFigures};
use crate::tables::SiteData;
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
    /// What is known of predicates of the engine of the trace, and of its libraries.
    pub(super) libraries: &'static EngineLibraries,
    /// By clause: its goals that made calls, in the order in which they are written.
    pub(super) clauses: BTreeMap<ClauseKey, Vec<SiteData<'a>>>,
    /// Goals that another predicate called than that of their clause: they stand in an argument.
    in_arguments: BTreeSet<SiteIndex>,
    /// Ticks of work.
    pub(super) total_ticks: u64,
    /// By predicate: whether it does more than compute, once that was asked for.
    pub(super) effects: RefCell<BTreeMap<PredicateIndex, bool>>,
    /// See [`Self::callees_of`], once that was asked for.
    callees: OnceCell<BTreeMap<PredicateIndex, BTreeSet<PredicateIndex>>>,
    /// Predicates of the program that others called, by name.
    called_back: OnceCell<BTreeMap<&'a str, BTreeSet<PredicateIndex>>>,
    /// See [`source::declared_dynamic`], once that was asked for.
    dynamic: OnceCell<BTreeSet<String>>,
    /// Names of predicates of the program, once that was asked for.
    names: OnceCell<BTreeSet<(&'a str, u32)>>,
    /// See [`generated::constraints`], once that was asked for.
    generated: OnceCell<BTreeMap<PredicateIndex, Constraint>>,
    /// Modules of the program: those that its source files define predicates of, and `user`.
    modules: BTreeSet<&'a str>,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        let mut clauses = BTreeMap::<ClauseKey, Vec<SiteData>>::new();
        for site in analysis.tables().site_list() {
            if let Some(info) = site.info() {
                let goals = clauses.entry((info.caller, info.clause)).or_default();
                goals.push(site);
            }
        }
        let goal = |site: &SiteData| site.info().map(|info| info.goal);
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
            callees: OnceCell::new(),
            called_back: OnceCell::new(),
            dynamic: OnceCell::new(),
            names: OnceCell::new(),
            generated: OnceCell::new(),
            modules: modules.chain(["user"]).collect(),
            libraries: libraries::of_engine(&analysis.trace.header().engine),
            analysis,
            clauses,
            total_ticks: analysis.whole().work_ticks,
        }
    }

    /// Whether a goal is called by the goal in whose argument it stands, and is no step of its
    /// clause.
    pub(super) fn is_in_argument(&self, goal: &SiteData) -> bool {
        goal.site
            .is_some_and(|site| self.in_arguments.contains(&site))
    }

    /// The goals of all clauses of a predicate that made calls.
    pub(super) fn goals_of(
        &self,
        predicate: PredicateIndex,
    ) -> impl Iterator<Item = &SiteData<'a>> {
        let clauses = self.clauses.range((predicate, 0)..=(predicate, u32::MAX));
        clauses.flat_map(|(_, goals)| goals)
    }

    /// A predicate, what its clauses call, what that calls, and so on.
    pub(super) fn called(&self, predicate: PredicateIndex) -> BTreeSet<PredicateIndex> {
        reached([predicate], |predicate| {
            self.goals_of(predicate).map(|goal| goal.callee)
        })
    }

    /// What the clauses of a predicate of the program call, in arguments of other goals, too.
    pub(super) fn callees_of(
        &self,
        predicate: PredicateIndex,
    ) -> impl Iterator<Item = PredicateIndex> {
        let callees = self.callees.get_or_init(|| self.find_callees());
        callees.get(&predicate).into_iter().flatten().copied()
    }

    /// What boxes of a predicate called, whatever clause or goal names it. Work of the engine and
    /// of the recorder is left out.
    pub(super) fn boxes_called(
        &self,
        predicate: PredicateIndex,
    ) -> impl Iterator<Item = PredicateIndex> {
        let edges = self.analysis.profile.edges.keys();
        let called = edges.filter(move |(caller, _)| caller.predicate() == Some(predicate));
        let predicates = self.analysis.trace.predicates();
        let is_work = |index| {
            let info: Option<&PredicateInfo> = predicates.get(index as usize);
            info.is_some_and(PredicateInfo::is_called_by_program)
        };
        called
            .map(|&(_, callee)| callee)
            .filter(move |&callee| is_work(callee))
    }

    /// Whether it is a predicate of the program whose clauses call nothing that has boxes: facts,
    /// or what its clauses do by themselves.
    pub(super) fn is_leaf(&self, predicate: PredicateIndex) -> bool {
        self.is_of_program(predicate) && self.callees_of(predicate).next().is_none()
    }

    fn find_callees(&self) -> BTreeMap<PredicateIndex, BTreeSet<PredicateIndex>> {
        let predicates = self.analysis.trace.predicates();
        let is_work = |index| {
            let info: Option<&PredicateInfo> = predicates.get(index as usize);
            info.is_some_and(|info| info.is_engine_work() || info.is_filling())
        };
        let edges = self.analysis.profile.edges.keys();
        let by_boxes = edges.filter_map(|&(caller, callee)| Some((caller.predicate()?, callee)));
        let goals = self.clauses.iter();
        let by_clauses = goals.flat_map(|(&(predicate, _), goals)| {
            goals.iter().map(move |goal| (predicate, goal.callee))
        });
        let mut callees = BTreeMap::<_, BTreeSet<_>>::new();
        for (caller, callee) in by_boxes.chain(by_clauses) {
            if self.is_of_program(caller) && !is_work(callee) {
                callees.entry(caller).or_default().insert(callee);
            }
        }
        for predicate in (0..predicates.len() as u32).filter(|&one| self.is_of_program(one)) {
            let named = self.called_back_by(predicate);
            callees.entry(predicate).or_default().extend(named);
        }
        callees
    }

    /// The predicates of the program that built-in or library ones called and that the clauses of a
    /// predicate name, as in `maplist(step, List)`.
    fn called_back_by(&self, predicate: PredicateIndex) -> BTreeSet<PredicateIndex> {
        let by_name = self.called_back.get_or_init(|| {
            let mut names = BTreeMap::<&str, BTreeSet<PredicateIndex>>::new();
            for &(caller, callee) in self.analysis.profile.edges.keys() {
                let is_back = caller
                    .predicate()
                    .is_some_and(|one| !self.is_of_program(one));
                if is_back && self.is_of_program(callee) {
                    let info = &self.analysis.trace.predicates()[callee as usize];
                    let named = names.entry(info.declared.name.as_str());
                    named.or_default().insert(callee);
                }
            }
            names
        });
        let mut found = BTreeSet::new();
        if by_name.is_empty() {
            return found;
        }
        let text = source::of_predicate(self.analysis, predicate).unwrap_or_default();
        let clauses = clause_text::clauses(&text);
        for token in clauses.iter().flat_map(|clause| clause_text::body(clause)) {
            if token.kind == clause_text::Lexeme::Atom {
                found.extend(by_name.get(token.text).into_iter().flatten());
            }
        }
        found
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

    /// Whether a predicate of the program has that name.
    pub(super) fn is_name_of_program(&self, name: &str) -> bool {
        let mut from = self.names_of_program().range((name, 0)..);
        from.next().is_some_and(|(first, _)| *first == name)
    }

    /// Whether the program has a predicate of this name with so many arguments.
    pub(super) fn is_predicate_of_program(&self, name: &str, arity: u32) -> bool {
        self.names_of_program().contains(&(name, arity))
    }

    fn names_of_program(&self) -> &BTreeSet<(&'a str, u32)> {
        self.names.get_or_init(|| {
            let own = self.predicates();
            let own = own.filter(|&(index, ..)| self.is_of_program(index));
            let names = own.map(|(_, info, _)| (info.declared.name.as_str(), info.declared.arity));
            names.collect()
        })
    }

    /// Whether a source file of the program declares a predicate of this name dynamic.
    pub(super) fn is_declared_dynamic(&self, predicate: PredicateIndex) -> bool {
        let info = self.analysis.trace.predicates().get(predicate as usize);
        info.is_some_and(|info| self.is_dynamic_name(&info.declared.name))
    }

    /// The same of any predicate of that name.
    pub(super) fn is_dynamic_name(&self, name: &str) -> bool {
        let declared = self
            .dynamic
            .get_or_init(|| source::declared_dynamic(self.analysis));
        declared.contains(name)
    }

    /// Whether its answers are kept in tables.
    pub(super) fn is_tabled(&self, predicate: PredicateIndex) -> bool {
        let Analysis { trace, profile, .. } = self.analysis;
        profile.tables_filled(trace, predicate).is_some()
    }

    /// All goals that made calls.
    pub(super) fn sites(&self) -> impl Iterator<Item = &SiteData<'a>> {
        self.clauses.values().flatten()
    }

    /// The name of a predicate without module and arity, if it is none of the program.
    pub(super) fn foreign_name(&self, predicate: PredicateIndex) -> Option<&'a str> {
        let info = self.analysis.trace.predicates().get(predicate as usize)?;
        let is_foreign = info.is_called_by_program() && !self.is_of_program(predicate);
        is_foreign.then_some(info.declared.name.as_str())
    }

    /// What is known of a predicate that is none of the program.
    pub(super) fn built_in(&self, predicate: PredicateIndex) -> Option<&'static BuiltIn> {
        self.libraries.built_in(self.foreign_name(predicate)?)
    }

    /// Whether a predicate that is none of the program has a role.
    pub(super) fn is_foreign(&self, predicate: PredicateIndex, role: Role) -> bool {
        let infos = self.analysis.trace.predicates();
        let has_role = infos
            .get(predicate as usize)
            .is_some_and(|info| info.has(role));
        has_role && self.foreign_name(predicate).is_some()
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

    /// The module of a predicate.
    pub(super) fn module(&self, predicate: PredicateIndex) -> &'a str {
        let infos = self.analysis.trace.predicates();
        infos
            .get(predicate as usize)
            .map_or("", |info| info.declared.module.as_str())
    }

    /// Whether it is one of the predicates of the library of constraints that give variables
    /// values.
    pub(super) fn is_labelling(&self, predicate: PredicateIndex) -> bool {
        let library = self.libraries.constraints;
        library.is_some_and(|library| library.is_labelling(self.name(predicate)))
    }

    /// The goal that made the costliest calls of a predicate.
    pub(super) fn costliest_goal(&self, callee: PredicateIndex) -> Option<&SiteData<'a>> {
        let goals = self.clauses.values().flatten();
        goals
            .filter(|site| site.callee == callee)
            .max_by_key(|site| (site.figures.served_work_ticks, site.figures.calls))
    }

    /// The goal that made the costliest calls of a predicate; if only libraries call it, the one that
    /// made the costliest calls of what calls it most, and so on.
    pub(super) fn costliest_goal_to(&self, callee: PredicateIndex) -> Option<&SiteData<'a>> {
        let mut seen = BTreeSet::new();
        let mut callee = callee;
        while seen.insert(callee) {
            let goal = self.costliest_goal(callee);
            let is_of_program = |goal: &&SiteData| {
                goal.info()
                    .is_some_and(|info| self.is_of_program(info.caller))
            };
            if let Some(goal) = goal.filter(is_of_program) {
                return Some(goal);
            }
            let edges = self.analysis.profile.edges.iter();
            let into = edges.filter(|((_, to), _)| *to == callee);
            let callers =
                into.filter_map(|(&(from, _), edge)| Some((from.predicate()?, edge.ports.calls)));
            let (caller, _) = callers
                .filter(|(from, _)| !seen.contains(from))
                .max_by_key(|&(_, calls)| calls)?;
            callee = caller;
        }
        None
    }

    /// The constraint whose rules a predicate was made of.
    pub(super) fn constraint_of(&self, predicate: PredicateIndex) -> Option<&Constraint> {
        let all = self
            .generated
            .get_or_init(|| generated::constraints(self.analysis));
        all.get(&predicate)
    }

    /// The constraint whose rules a goal stands in.
    pub(super) fn constraint_around(&self, site: &SiteData) -> Option<&Constraint> {
        self.constraint_of(site.caller.predicate()?)
    }

    /// Where a goal is; where the clauses of its caller begin, if calls do not say their goal, or
    /// if no line of the file is that of the goal.
    pub(super) fn place_of(&self, site: &SiteData) -> AdvisedPlace {
        if let Some(caller) = site.caller.predicate()
            && (site.info().is_none() || self.constraint_of(caller).is_some())
        {
            return self.clauses_of(caller);
        }
        AdvisedPlace {
            predicate: self.analysis.caller(site.caller).to_owned(),
            file: site.file().map(printable),
            line: site.line(),
        }
    }

    /// Where the first clause of a predicate is; where the costliest call of it is, if that is not
    /// known.
    pub(super) fn place(&self, predicate: PredicateIndex) -> AdvisedPlace {
        match (
            self.analysis.source(predicate),
            self.costliest_goal(predicate),
        ) {
            (None, Some(site)) => self.place_of(site),
            _ => self.clauses_of(predicate),
        }
    }

    /// Where the first clause of a predicate is, as far as it is known; of one that was made of
    /// rules, where their constraint is declared.
    fn clauses_of(&self, predicate: PredicateIndex) -> AdvisedPlace {
        let source = self.analysis.source(predicate);
        let constraint = self.constraint_of(predicate);
        let line = match constraint {
            Some(of) => Some(of.line),
            None => source.map(|(_, line)| line),
        };
        AdvisedPlace {
            predicate: constraint
                .map_or_else(|| self.name(predicate).to_owned(), |of| of.name.clone()),
            file: source.map(|(file, _)| printable(file)),
            line: line.filter(|&line| line > 0),
        }
    }

    /// "at line 4 of slow/2", "in the rules of leq/2".
    pub(super) fn at(&self, site: &SiteData) -> String {
        if let Some(constraint) = self.constraint_around(site) {
            return format!("in the rules of {}", constraint.name);
        }
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

/// Whether a goal has solutions to choose from. What has hardly more than one a call is asked once
/// more in vain, and what has no arguments, such as `repeat/0`, gives nothing.
pub(super) fn generates(goal: &SiteData) -> bool {
    goal.has_arguments() && goal.figures.exits() >= goal.figures.calls.saturating_mul(2)
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
