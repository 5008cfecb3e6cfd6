//! What the unification of a head with a call does, found out without doing it.
//!
//! Variables of the clause are bound in an environment, those of the call in a list: the engine's
//! terms are only read, so that no goal of a coroutine wakes up. Nothing recurses.

use std::collections::HashMap;

use super::program::{ClauseHead, Pattern, counted};
use super::unbound;
use crate::ffi::{self, Term};

/// Terms larger than this are taken to unify.
const MAX_STEPS: u32 = 1 << 20;

/// What a head does to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HeadOutcome {
    /// Whether they unify.
    pub(crate) unifies: bool,
    /// Variables of the call that get a value, or become one with another.
    pub(crate) bound: u64,
    /// Cells of the terms that variables of the call are bound to.
    pub(crate) cells: u64,
}

/// A term of the call, or a node of the head.
#[derive(Debug, Clone, Copy)]
enum UnifiedNode {
    Term(Term),
    Head(usize),
}

/// What a node is once variables with a value are looked through.
enum FoundNode {
    /// A variable of the clause, by its number.
    Free(usize),
    /// A variable of the call.
    Unbound(Term),
    Value(UnifiedNode),
}

struct Unifier<'c> {
    clause: &'c ClauseHead,
    environment: Vec<Option<UnifiedNode>>,
    bindings: Vec<(Term, UnifiedNode)>,
    pending: Vec<(UnifiedNode, UnifiedNode)>,
    outcome: HeadOutcome,
}

/// What unifying the head of `clause` with a call does; `arguments` are the call's.
pub(crate) fn outcome(clause: &ClauseHead, arguments: &[Term]) -> HeadOutcome {
    let mut unifier = Unifier {
        clause,
        environment: vec![None; clause.variables],
        bindings: Vec::new(),
        pending: Vec::new(),
        outcome: HeadOutcome::default(),
    };
    let mut steps = 0;
    for (at, &argument) in arguments.iter().enumerate().take(clause.arity) {
        unifier
            .pending
            .push((UnifiedNode::Head(at), UnifiedNode::Term(argument)));
        while let Some((head, term)) = unifier.pending.pop() {
            steps += 1;
            if !unifier.unify(head, term) {
                return unifier.outcome;
            }
            if steps > MAX_STEPS {
                unifier.pending.clear();
            }
        }
    }
    unifier.outcome.unifies = true;
    unifier.outcome
}

/// Whether the engine may leave out a clause because of this argument: both have a value, of
/// another kind.
pub(crate) fn excluded(clause: &ClauseHead, argument: usize, term: Term) -> bool {
    match clause.nodes.get(argument) {
        None | Some(Pattern::Variable(_)) => false,
        Some(Pattern::Compound(functor, _)) => functor_of(term) != Some(*functor),
        Some(atomic) => !is_atomic(atomic, term),
    }
}

impl Unifier<'_> {
    fn unify(&mut self, a: UnifiedNode, b: UnifiedNode) -> bool {
        match (self.find(a), self.find(b)) {
            (FoundNode::Free(a), FoundNode::Free(b)) if a == b => {}
            (FoundNode::Free(free), _) => self.environment[free] = Some(b),
            (_, FoundNode::Free(free)) => self.environment[free] = Some(a),
            (FoundNode::Unbound(a), FoundNode::Unbound(b)) => {
                if !same(a, b) {
                    self.bind(a, UnifiedNode::Term(b));
                }
            }
            (FoundNode::Unbound(variable), FoundNode::Value(value))
            | (FoundNode::Value(value), FoundNode::Unbound(variable)) => self.bind(variable, value),
            (FoundNode::Value(a), FoundNode::Value(b)) => return self.unify_values(a, b),
        }
        true
    }

    fn find(&self, mut node: UnifiedNode) -> FoundNode {
        loop {
            let next = match node {
                UnifiedNode::Head(at) => match self.clause.nodes[at] {
                    Pattern::Variable(number) => match self.environment[number] {
                        Some(next) => next,
                        None => return FoundNode::Free(number),
                    },
                    _ => return FoundNode::Value(node),
                },
                UnifiedNode::Term(term) if unbound(term) => {
                    let mut bindings = self.bindings.iter();
                    match bindings.find(|&&(bound, _)| same(bound, term)) {
                        Some(&(_, next)) => next,
                        None => return FoundNode::Unbound(term),
                    }
                }
                UnifiedNode::Term(_) => return FoundNode::Value(node),
            };
            node = next;
        }
    }

    fn bind(&mut self, variable: Term, value: UnifiedNode) {
        self.outcome.bound += 1;
        if let UnifiedNode::Head(at) = value {
            self.outcome.cells += self.clause.cells[at];
        }
        self.bindings.push((variable, value));
    }

    fn unify_values(&mut self, a: UnifiedNode, b: UnifiedNode) -> bool {
        match (a, b) {
            (UnifiedNode::Head(head), UnifiedNode::Term(term))
            | (UnifiedNode::Term(term), UnifiedNode::Head(head)) => self.unify_head(head, term),
            (UnifiedNode::Head(a), UnifiedNode::Head(b)) => self.unify_heads(a, b),
            (UnifiedNode::Term(a), UnifiedNode::Term(b)) => self.unify_terms(a, b),
        }
    }

    fn unify_head(&mut self, head: usize, term: Term) -> bool {
        let Pattern::Compound(functor, below) = self.clause.nodes[head].clone() else {
            return is_atomic(&self.clause.nodes[head], term);
        };
        if functor_of(term) != Some(functor) {
            return false;
        }
        for (at, node) in below.enumerate().rev() {
            self.pending.push((
                UnifiedNode::Head(node),
                UnifiedNode::Term(argument(term, at + 1)),
            ));
        }
        true
    }

    fn unify_heads(&mut self, a: usize, b: usize) -> bool {
        match (&self.clause.nodes[a], &self.clause.nodes[b]) {
            (Pattern::Compound(f, below_a), Pattern::Compound(g, below_b)) if f == g => {
                let pairs = below_a.clone().zip(below_b.clone()).rev();
                self.pending
                    .extend(pairs.map(|(a, b)| (UnifiedNode::Head(a), UnifiedNode::Head(b))));
                true
            }
            (Pattern::Atom(a), Pattern::Atom(b)) => a == b,
            (Pattern::Integer(a), Pattern::Integer(b)) => a == b,
            (Pattern::Other(a), other @ Pattern::Other(_)) => is_atomic(other, recorded(*a)),
            _ => false,
        }
    }

    fn unify_terms(&mut self, a: Term, b: Term) -> bool {
        if same(a, b) {
            return true;
        }
        let Some(functor) = functor_of(a).filter(|_| functor_of(a) == functor_of(b)) else {
            return false;
        };
        // SAFETY: a functor that the engine gave. Versions differ in the width of the answer.
        let arity = unsafe { ffi::PL_functor_arity(functor) } & 0xffff_ffff;
        for at in (1..=arity).rev() {
            self.pending.push((
                UnifiedNode::Term(argument(a, at)),
                UnifiedNode::Term(argument(b, at)),
            ));
        }
        true
    }
}

/// How often each operator or function in an arithmetic expression is evaluated: `name/arity`.
pub(crate) fn operators(expression: Term) -> HashMap<String, u64> {
    let mut found = Vec::new();
    let mut pending = vec![expression];
    let mut steps = 0;
    while let Some(term) = pending.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            break;
        }
        let (mut name, mut arity) = (0, 0);
        // SAFETY: a reference of this foreign call and places for the answers.
        let is_callable = unsafe {
            ffi::truth(ffi::PL_is_callable(term))
                && ffi::truth(ffi::PL_get_name_arity(term, &raw mut name, &raw mut arity))
        };
        if !is_callable {
            continue;
        }
        // A list of one element is that element, and the empty one nothing.
        // SAFETY: as above.
        let is_list = unsafe { ffi::truth(ffi::PL_is_list(term)) };
        if !is_list {
            found.push(format!("{}/{arity}", crate::values::atom_text(name)));
        }
        let arguments = if is_list { arity.min(1) } else { arity };
        pending.extend((1..=arguments).map(|at| argument(term, at)));
    }
    counted(found)
}

fn argument(term: Term, at: usize) -> Term {
    // SAFETY: references of this foreign call. What is no argument stays an unbound variable.
    unsafe {
        let argument = ffi::PL_new_term_ref();
        ffi::PL_get_arg(at, term, argument);
        argument
    }
}

fn functor_of(term: Term) -> Option<ffi::Functor> {
    let mut functor = 0;
    // SAFETY: a reference of this foreign call and a place for the answer.
    let found = unsafe {
        ffi::truth(ffi::PL_is_compound(term))
            && ffi::truth(ffi::PL_get_functor(term, &raw mut functor))
    };
    found.then_some(functor)
}

/// Whether the term is this atomic one.
fn is_atomic(pattern: &Pattern, term: Term) -> bool {
    // SAFETY: a reference of this foreign call and places for the answers.
    unsafe {
        match pattern {
            Pattern::Atom(atom) => {
                let mut other = 0;
                ffi::truth(ffi::PL_get_atom(term, &raw mut other)) && other == *atom
            }
            Pattern::Integer(value) => {
                let mut other = 0;
                ffi::truth(ffi::PL_is_integer(term))
                    && ffi::truth(ffi::PL_get_int64(term, &raw mut other))
                    && other == *value
            }
            Pattern::Other(record) => !unbound(term) && same(recorded(*record), term),
            Pattern::Variable(_) | Pattern::Compound(..) => false,
        }
    }
}

fn recorded(record: ffi::RecordedTerm) -> Term {
    // SAFETY: a record that was made once and is never erased.
    unsafe {
        let term = ffi::PL_new_term_ref();
        ffi::PL_recorded(record, term);
        term
    }
}

/// Whether two terms are identical, as `==/2` says.
fn same(a: Term, b: Term) -> bool {
    // SAFETY: references of this foreign call.
    unsafe { ffi::PL_compare(a, b) == 0 }
}
