//! What is known of the counted clauses before they run: their heads, and what their goals cost.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::integer;
use super::totals::{self, Symbol};
use crate::ffi::{self, Atom, Functor, Term};
use crate::recording;

/// The clauses of a predicate, as they were when it was copied.
pub(crate) struct Set {
    /// The recording that they belong to.
    epoch: u32,
    /// Predicate id.
    pub(crate) predicate: u32,
    pub(crate) clauses: Vec<ClauseHead>,
    /// By argument: whether clauses are selected by it, if it has a value and none before it does.
    pub(crate) indexable: Vec<bool>,
}

/// The head of a clause. Nodes come before those below them.
#[derive(Default)]
pub(crate) struct ClauseHead {
    pub(crate) nodes: Vec<Pattern>,
    /// The arguments are the first of the nodes.
    pub(crate) arity: usize,
    pub(crate) variables: usize,
    /// By node: cells of the compound terms in it, arity + 1 each.
    pub(crate) cells: Vec<u64>,
    /// By node: function symbols, constants and variables in it.
    pub(crate) symbols: Vec<u64>,
}

/// A node of a clause's head.
#[derive(Clone)]
pub(crate) enum Pattern {
    /// By number of the variable.
    Variable(usize),
    Atom(Atom),
    Integer(i64),
    /// Any other atomic term.
    Other(ffi::RecordedTerm),
    /// The arguments are these nodes.
    Compound(Functor, Range<usize>),
}

/// What the engine tells clauses apart by.
#[derive(PartialEq, Eq, Hash)]
enum IndexKey {
    Atom(Atom),
    Integer(i64),
    Other(usize),
    Functor(Functor),
}

impl Pattern {
    /// None for a variable. Other atomic terms are all taken to be different.
    fn key(&self) -> Option<IndexKey> {
        match self {
            Self::Variable(_) => None,
            Self::Atom(atom) => Some(IndexKey::Atom(*atom)),
            Self::Integer(value) => Some(IndexKey::Integer(*value)),
            Self::Other(record) => Some(IndexKey::Other(*record as usize)),
            Self::Compound(functor, _) => Some(IndexKey::Functor(*functor)),
        }
    }
}

// SAFETY: a record belongs to no thread; it is only read.
unsafe impl Send for Pattern {}
// SAFETY: as above.
unsafe impl Sync for Pattern {}

/// A goal of a clause's body, and what running it costs.
pub(crate) struct CostedGoal {
    pub(crate) predicate: u32,
    pub(crate) clause: u32,
    pub(crate) costs: Vec<(Symbol, u64)>,
}

#[derive(Default)]
struct CostedProgram {
    /// By number, from 1.
    sets: Vec<Arc<Set>>,
    goals: Vec<Arc<CostedGoal>>,
}

static PROGRAM: Mutex<CostedProgram> = Mutex::new(CostedProgram {
    sets: Vec::new(),
    goals: Vec::new(),
});

fn lock() -> MutexGuard<'static, CostedProgram> {
    PROGRAM.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The set of this number, if it belongs to the recording in progress.
pub(crate) fn set(number: usize) -> Option<Arc<Set>> {
    let set = Arc::clone(lock().sets.get(number.checked_sub(1)?)?);
    (Some(set.epoch) == recording::epoch()).then_some(set)
}

/// The goal of this number.
pub(crate) fn goal(number: usize) -> Option<Arc<CostedGoal>> {
    lock().goals.get(number.checked_sub(1)?).map(Arc::clone)
}

/// Keeps a list of heads; its number.
pub(crate) fn add_set(predicate: u32, heads: Term) -> usize {
    let clauses: Vec<ClauseHead> = elements(heads).into_iter().map(ClauseHead::new).collect();
    let arity = clauses.first().map_or(0, |clause| clause.arity);
    let indexable = (0..arity)
        .map(|argument| is_indexable(&clauses, argument))
        .collect();
    let set = Set {
        epoch: recording::epoch().unwrap_or(0),
        predicate,
        clauses,
        indexable,
    };
    let mut program = lock();
    program.sets.push(Arc::new(set));
    program.sets.len()
}

/// Whether an argument tells enough clauses apart. The first one need not tell more than two
/// apart; of the others as many clauses as SWI-Prolog wants: on average, a value must leave at
/// most two thirds of them.
fn is_indexable(clauses: &[ClauseHead], argument: usize) -> bool {
    let heads = clauses
        .iter()
        .filter_map(|clause| clause.nodes.get(argument));
    let keys: HashSet<IndexKey> = heads.filter_map(Pattern::key).collect();
    if argument == 0 || keys.is_empty() {
        return !keys.is_empty();
    }
    let heads = clauses
        .iter()
        .filter_map(|clause| clause.nodes.get(argument));
    let variables = heads.filter(|head| head.key().is_none()).count();
    let values = clauses.len() - variables;
    // clauses / (variables + values / keys) >= 3 / 2
    2 * clauses.len() * keys.len() >= 3 * (variables * keys.len() + values)
}

/// Keeps what a goal costs; its number.
pub(crate) fn add_goal(set: usize, clause: u32, costs: Term) -> usize {
    let pairs = elements(costs).into_iter().filter_map(cost);
    let costs = pairs.collect();
    let mut program = lock();
    let set = set.checked_sub(1).and_then(|at| program.sets.get(at));
    let predicate = set.map_or(0, |set| set.predicate);
    program.goals.push(Arc::new(CostedGoal {
        predicate,
        clause,
        costs,
    }));
    program.goals.len()
}

/// `Name-Count`.
fn cost(pair: Term) -> Option<(Symbol, u64)> {
    // SAFETY: references made here.
    let (name, count) = unsafe {
        let (name, count) = (ffi::PL_new_term_ref(), ffi::PL_new_term_ref());
        let both = ffi::truth(ffi::PL_get_arg(1, pair, name))
            && ffi::truth(ffi::PL_get_arg(2, pair, count));
        both.then_some((name, count))?
    };
    let name = crate::values::text(name);
    let symbol = totals::with(|totals| totals.symbol(&name))?;
    Some((symbol, u64::try_from(integer(count)).ok()?))
}

/// References to the elements of a list.
fn elements(list: Term) -> Vec<Term> {
    let mut all = Vec::new();
    // SAFETY: term references of this foreign call.
    unsafe {
        let tail = ffi::PL_copy_term_ref(list);
        loop {
            let head = ffi::PL_new_term_ref();
            if !ffi::truth(ffi::PL_get_list(tail, head, tail)) {
                return all;
            }
            all.push(head);
        }
    }
}

impl ClauseHead {
    fn new(head: Term) -> Self {
        let mut reader = NodeReader::default();
        reader.arguments(head);
        let arity = reader.nodes.len();
        reader.read_all();
        let mut clause = Self {
            cells: vec![0; reader.nodes.len()],
            symbols: vec![1; reader.nodes.len()],
            nodes: reader.nodes,
            arity,
            variables: reader.variables.len(),
        };
        for at in (0..clause.nodes.len()).rev() {
            if let Pattern::Compound(_, below) = clause.nodes[at].clone() {
                let cells: u64 = clause.cells[below.clone()].iter().sum();
                let symbols: u64 = clause.symbols[below.clone()].iter().sum();
                clause.cells[at] = cells + below.len() as u64 + 1;
                clause.symbols[at] = symbols + 1;
            }
        }
        clause
    }

    /// The arguments that are variables, and the symbols of the others, where the call's argument
    /// is in `unbound` or not: output or input.
    pub(crate) fn unified(&self, unbound: &[bool], output: bool) -> (u64, u64) {
        let (mut variables, mut symbols) = (0, 0);
        for argument in (0..self.arity).filter(|&at| unbound.get(at) == Some(&output)) {
            match self.nodes[argument] {
                Pattern::Variable(_) => variables += 1,
                _ => symbols += self.symbols[argument],
            }
        }
        (variables, symbols)
    }
}

/// Makes nodes of a term, breadth first.
#[derive(Default)]
struct NodeReader {
    nodes: Vec<Pattern>,
    /// The terms that the nodes are made of.
    terms: Vec<Term>,
    variables: Vec<Term>,
}

impl NodeReader {
    /// Nodes for the arguments of a term, to be read later.
    fn arguments(&mut self, term: Term) -> Range<usize> {
        let first = self.nodes.len();
        for at in 1.. {
            // SAFETY: references of this foreign call.
            unsafe {
                let argument = ffi::PL_new_term_ref();
                if !ffi::truth(ffi::PL_get_arg(at, term, argument)) {
                    break;
                }
                self.nodes.push(Pattern::Variable(0));
                self.terms.push(argument);
            }
        }
        first..self.nodes.len()
    }

    fn read_all(&mut self) {
        let mut at = 0;
        while at < self.nodes.len() {
            self.nodes[at] = self.read(self.terms[at]);
            at += 1;
        }
    }

    fn read(&mut self, term: Term) -> Pattern {
        // SAFETY: references of this foreign call, and places for the answers.
        unsafe {
            if ffi::truth(ffi::PL_is_variable(term)) {
                let same = |&other: &Term| ffi::PL_compare(other, term) == 0;
                let known = self.variables.iter().position(same);
                return Pattern::Variable(known.unwrap_or_else(|| {
                    self.variables.push(term);
                    self.variables.len() - 1
                }));
            }
            let (mut atom, mut functor, mut value) = (0, 0, 0);
            if ffi::truth(ffi::PL_is_compound(term))
                && ffi::truth(ffi::PL_get_functor(term, &raw mut functor))
            {
                Pattern::Compound(functor, self.arguments(term))
            } else if ffi::truth(ffi::PL_get_atom(term, &raw mut atom)) {
                ffi::PL_register_atom(atom);
                Pattern::Atom(atom)
            } else if ffi::truth(ffi::PL_is_integer(term))
                && ffi::truth(ffi::PL_get_int64(term, &raw mut value))
            {
                Pattern::Integer(value)
            } else {
                Pattern::Other(ffi::PL_record(term))
            }
        }
    }
}

/// How often each occurs.
pub(crate) fn counted<T: std::hash::Hash + Eq>(
    all: impl IntoIterator<Item = T>,
) -> HashMap<T, u64> {
    let mut counts = HashMap::new();
    for one in all {
        *counts.entry(one).or_default() += 1;
    }
    counts
}
