//! What one engine is counting: the cost centre of each open box, and how far its call has come.

use std::collections::HashMap;
use std::sync::Arc;

use super::program::{ClauseHead, CostedGoal, Set};
use super::totals::{
    self, BOUND, CALLS, CELLS, CHOICES, CostSite, CostTotals, EXPRESSION, GIUNIF, GOUNIF, NARGS,
    STEP, TRIED, UPDATES, VIUNIF, VOUNIF,
};
use super::unbound;
use super::unify::{self, HeadOutcome};
use crate::ffi::{self, Term};

/// The state that goes with the boxes of an engine: by index of the box, the root included.
pub(crate) struct CostCounter {
    boxes: Vec<CounterEntry>,
    serial: i64,
}

/// What a box is in, and the newest call in it.
#[derive(Default)]
struct CounterEntry {
    center: Option<u32>,
    call: Option<TriedCall>,
}

/// A call whose clauses are being tried.
struct TriedCall {
    serial: i64,
    set: Arc<Set>,
    /// By argument: an unbound variable when the predicate was called.
    unbound: Vec<bool>,
    /// The clauses that are tried if it comes to that, by index, and what comes of it.
    candidates: Vec<(usize, HeadOutcome)>,
    /// How many of them have been.
    tried: usize,
    /// Whether the engine will try the others if the call is backtracked into.
    open: bool,
}

impl CostCounter {
    pub(crate) fn new() -> Self {
        Self {
            boxes: vec![CounterEntry::default()],
            serial: 0,
        }
    }

    /// A box of `id` was entered, called by the active one, `around`.
    pub(crate) fn opened(&mut self, index: usize, around: usize, id: u32) {
        let center = self.center_of(id).or(self.center(around));
        self.boxes.truncate(index);
        // Boxes that were entered while nothing was counted are outside of all centres.
        self.boxes.resize_with(index, CounterEntry::default);
        self.boxes.push(CounterEntry { center, call: None });
    }

    /// The active box departed into a box of `id`.
    pub(crate) fn departed(&mut self, active: usize, id: u32) {
        let center = self.center_of(id).or(self.center(active));
        if let Some(entry) = self.boxes.get_mut(active) {
            *entry = CounterEntry { center, call: None };
        }
    }

    /// The box failed: the clauses that were left have been tried in vain.
    pub(crate) fn failed(&mut self, index: usize) {
        let center = self.center(index);
        let Some(call) = self
            .boxes
            .get_mut(index)
            .and_then(|entry| entry.call.take())
        else {
            return;
        };
        if call.open {
            totals::with(|totals| {
                for &(clause, _) in &call.candidates[call.tried..] {
                    totals.add(call.site(center, clause as u32 + 1), TRIED, 1);
                }
            });
        }
    }

    /// A predicate is about to run. Returns what names the call; never 0.
    pub(crate) fn call(&mut self, active: usize, set: Arc<Set>, goal: Term) -> i64 {
        self.serial += 1;
        let arguments = arguments(goal);
        let call = TriedCall {
            serial: self.serial,
            unbound: arguments
                .iter()
                .map(|&argument| unbound(argument))
                .collect(),
            candidates: candidates(&set, &arguments),
            set,
            tried: 0,
            open: true,
        };
        let site = call.site(self.center(active), 0);
        totals::with(|totals| totals.add(site, CALLS, 1));
        if let Some(entry) = self.boxes.get_mut(active) {
            entry.call = Some(call);
        }
        self.serial
    }

    /// The head of clause `number`, from 1, is unified; `remain` says whether the engine has kept
    /// others.
    pub(crate) fn enter(&mut self, active: usize, serial: i64, number: u32, remain: bool) {
        let center = self.center(active);
        let Some(call) = self.known(active, serial) else {
            return;
        };
        call.open = remain;
        let index = number as usize - 1;
        let first = call.tried;
        let passed = call.candidates[first..]
            .iter()
            .position(|&(at, _)| at == index);
        let Some(passed) = passed else { return };
        call.tried = first + passed + 1;
        let site = call.site(center, number);
        let outcome = call.candidates[first + passed].1;
        totals::with(|totals| {
            for &(clause, _) in &call.candidates[first..=first + passed] {
                totals.add(call.site(center, clause as u32 + 1), TRIED, 1);
            }
            totals.add(site, CHOICES, u64::from(remain));
            totals.add(site, BOUND, outcome.bound);
            totals.add(site, UPDATES, outcome.bound);
            totals.add(site, CELLS, outcome.cells);
            step(totals, site, &call.set.clauses[index], &call.unbound);
        });
    }

    /// The clause that was entered last has cut the others.
    pub(crate) fn commit(&mut self, active: usize, serial: i64) {
        if let Some(call) = self.known(active, serial) {
            call.open = false;
        }
    }

    /// A goal of a clause's body runs.
    pub(crate) fn run(&self, active: usize, goal: &CostedGoal) {
        let site = CostSite {
            center: self.center(active),
            predicate: goal.predicate,
            clause: goal.clause,
        };
        totals::with(|totals| {
            for &(symbol, count) in &goal.costs {
                totals.add(site, symbol, count);
            }
        });
    }

    /// Operators are evaluated.
    pub(crate) fn evaluate(
        &self,
        active: usize,
        set: &Set,
        clause: u32,
        operators: &HashMap<String, u64>,
    ) {
        let site = self.site(active, set, clause);
        totals::with(|totals| {
            totals.add(site, EXPRESSION, u64::from(!operators.is_empty()));
            for (name, &count) in operators {
                let symbol = totals.symbol(&format!("arith:{name}"));
                totals.add(site, symbol, count);
            }
        });
    }

    /// A built-in has given values to variables.
    pub(crate) fn update(&self, active: usize, set: &Set, clause: u32, updates: u64) {
        let site = self.site(active, set, clause);
        totals::with(|totals| totals.add(site, UPDATES, updates));
    }

    fn site(&self, active: usize, set: &Set, clause: u32) -> CostSite {
        CostSite {
            center: self.center(active),
            predicate: set.predicate,
            clause,
        }
    }

    fn center(&self, index: usize) -> Option<u32> {
        self.boxes.get(index)?.center
    }

    fn center_of(&self, id: u32) -> Option<u32> {
        totals::with(|totals| totals.center(id))?
    }

    /// The newest call in the active box, if it is this one.
    fn known(&mut self, active: usize, serial: i64) -> Option<&mut TriedCall> {
        let call = self.boxes.get_mut(active)?.call.as_mut()?;
        (call.serial == serial).then_some(call)
    }
}

impl TriedCall {
    fn site(&self, center: Option<u32>, clause: u32) -> CostSite {
        CostSite {
            center,
            predicate: self.set.predicate,
            clause,
        }
    }
}

/// A clause is entered: Mera et al. 2006, section 2.2.
fn step(totals: &mut CostTotals, site: CostSite, clause: &ClauseHead, modes: &[bool]) {
    totals.add(site, STEP, 1);
    totals.add(site, NARGS, clause.arity as u64);
    let (variables, symbols) = clause.unified(modes, false);
    totals.add(site, VIUNIF, variables);
    totals.add(site, GIUNIF, symbols);
    let (variables, symbols) = clause.unified(modes, true);
    totals.add(site, VOUNIF, variables);
    totals.add(site, GOUNIF, symbols);
}

/// The clauses that are tried: those not excluded by the leftmost argument that has a value and
/// tells clauses apart ([`Set::indexable`]).
fn candidates(set: &Set, arguments: &[Term]) -> Vec<(usize, HeadOutcome)> {
    let mut usable = arguments.iter().zip(&set.indexable).enumerate();
    let index = usable.find_map(|(at, (&argument, &indexable))| {
        (indexable && !unbound(argument)).then_some((at, argument))
    });
    let chosen = set.clauses.iter().enumerate().filter(|(_, clause)| {
        index.is_none_or(|(at, argument)| !unify::excluded(clause, at, argument))
    });
    chosen
        .map(|(number, clause)| (number, unify::outcome(clause, arguments)))
        .collect()
}

fn arguments(goal: Term) -> Vec<Term> {
    let mut all = Vec::new();
    for at in 1.. {
        // SAFETY: references of this foreign call.
        unsafe {
            let argument = ffi::PL_new_term_ref();
            if !ffi::truth(ffi::PL_get_arg(at, goal, argument)) {
                break;
            }
            all.push(argument);
        }
    }
    all
}
