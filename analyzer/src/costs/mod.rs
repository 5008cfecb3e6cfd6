//! Symbolic costs: how often each basic operation was performed, by cost centre, predicate and
//! clause.
//!
//! A symbolic recording counts them while the program runs; here they are summed up. What each
//! counts, precisely: `SYMBOLIC.md`. The symbols F to V are those of Brassel et al. 2004, table 1;
//! the components of cost models those of Mera et al. 2006, sections 2 and 3.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::trace::{Center, PredicateIndex, Trace};

/// The symbol of what no engine lets be counted: looking up a variable.
pub const NOT_OBSERVABLE: &str = "V";
/// The symbol of how often a cost centre was entered, which every trace knows.
pub const ENTERED: &str = "E";

/// The symbol of calls.
pub const UNFOLDINGS: &str = "F";

const OPERATOR: &str = "arith:";
const BUILTIN: &str = "builtin:";

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// F: calls, that is unfoldings.
    Calls,
    /// N: clauses entered while others of the same call remained.
    Choices,
    /// C: clauses tried.
    Tried,
    /// B: variables of the call that the head bound.
    Bound,
    /// H: cells of terms that the clause built.
    Cells,
    /// U: variables that were given a value, those of B included.
    Updates,
    /// Clauses entered.
    Step,
    /// Arguments of the heads of clauses entered.
    Nargs,
    /// Symbols in head arguments that are no variables, unified with input.
    Giunif,
    /// The same, unified with output.
    Gounif,
    /// Head arguments that are variables, unified with input.
    Viunif,
    /// The same, unified with output.
    Vounif,
    /// Conditions proved: of `->`, `*->` and `\+`.
    Condition,
    /// Those cells of H that goals of the body built, other than arithmetic expressions.
    Built,
    /// Arithmetic expressions evaluated that have an operator.
    Expression,
    /// An arithmetic operator or function was evaluated: `+/2`.
    Operator(String),
    /// A goal of the clause's body was run that is not recorded itself: `is/2`, `lists:append/3`.
    Builtin(String),
}

impl Component {
    /// Those with a fixed name.
    pub const FIXED: [Self; 15] = [
        Self::Calls,
        Self::Choices,
        Self::Tried,
        Self::Bound,
        Self::Cells,
        Self::Updates,
        Self::Step,
        Self::Nargs,
        Self::Giunif,
        Self::Gounif,
        Self::Viunif,
        Self::Vounif,
        Self::Condition,
        Self::Built,
        Self::Expression,
    ];

    /// Its name, in traces and tables.
    #[must_use]
    pub fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Calls => UNFOLDINGS,
            Self::Choices => "N",
            Self::Tried => "C",
            Self::Bound => "B",
            Self::Cells => "H",
            Self::Updates => "U",
            Self::Step => "step",
            Self::Nargs => "nargs",
            Self::Giunif => "giunif",
            Self::Gounif => "gounif",
            Self::Viunif => "viunif",
            Self::Vounif => "vounif",
            Self::Condition => "condition",
            Self::Built => "built",
            Self::Expression => "expression",
            Self::Operator(name) => return Cow::Owned(format!("{OPERATOR}{name}")),
            Self::Builtin(name) => return Cow::Owned(format!("{BUILTIN}{name}")),
        })
    }

    /// The component of this name. What is no other is a built-in.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        if let Some(fixed) = Self::FIXED.into_iter().find(|fixed| fixed.name() == name) {
            fixed
        } else if let Some(operator) = name.strip_prefix(OPERATOR) {
            Self::Operator(operator.to_owned())
        } else {
            Self::Builtin(name.strip_prefix(BUILTIN).unwrap_or(name).to_owned())
        }
    }
}

/// How often something was done.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CostCount {
    /// The innermost cost centre around it.
    pub center: Center,
    /// The predicate whose clause did it, or which was called.
    pub predicate: PredicateIndex,
    /// Number of the clause in its predicate, from 1; 0 for what is of the call and no clause.
    pub clause: u32,
    /// What was done.
    pub component: Component,
    /// How often.
    pub count: u64,
}

/// The symbolic costs of a trace.
///
/// Predicates whose clauses could not be counted have none: dynamic ones, for example. Whether all
/// calls of a predicate were counted is seen from [`Costs::counted_calls`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Costs {
    rows: Vec<CostCount>,
    complete: bool,
}

impl Costs {
    /// Sums up what the trace has. Predicates and centres that it does not name are the unknown
    /// one.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let (costs, complete) = trace.costs();
        let mut sums = BTreeMap::<(Center, PredicateIndex, u32, u32), u64>::new();
        let index = |id| {
            trace
                .predicate_index(id)
                .unwrap_or(trace.unknown_predicate())
        };
        for cost in costs {
            let key = (
                cost.center.map(index),
                index(cost.predicate),
                cost.clause,
                cost.symbol,
            );
            let sum = sums.entry(key).or_default();
            *sum = sum.saturating_add(cost.count);
        }
        let mut rows: Vec<CostCount> = sums
            .into_iter()
            .filter_map(|((center, predicate, clause, symbol), count)| {
                let component = Component::from_name(trace.text(symbol)?);
                Some(CostCount {
                    center,
                    predicate,
                    clause,
                    component,
                    count,
                })
            })
            .collect();
        rows.sort_unstable();
        Self { rows, complete }
    }

    /// Whether the recording was a symbolic one, and anything was counted.
    #[must_use]
    pub fn is_symbolic(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether everything was counted up to the end. Not if the process was killed or there was no
    /// room.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// All counts, ordered by centre, predicate, clause and component.
    #[must_use]
    pub fn rows(&self) -> &[CostCount] {
        &self.rows
    }

    /// Of a predicate, in all centres and clauses.
    #[must_use]
    pub fn of_predicate(&self, predicate: PredicateIndex) -> BTreeMap<Component, u64> {
        self.sum(|row| row.predicate == predicate)
    }

    /// Of one clause, in all centres.
    #[must_use]
    pub fn of_clause(&self, predicate: PredicateIndex, clause: u32) -> BTreeMap<Component, u64> {
        self.sum(|row| row.predicate == predicate && row.clause == clause)
    }

    /// How many calls of a predicate were counted. If it was called more often, its other counts
    /// are too small as well.
    #[must_use]
    pub fn counted_calls(&self, predicate: PredicateIndex) -> u64 {
        self.of_clause(predicate, 0)
            .get(&Component::Calls)
            .copied()
            .unwrap_or(0)
    }

    fn sum(&self, chosen: impl Fn(&CostCount) -> bool) -> BTreeMap<Component, u64> {
        let mut sums = BTreeMap::<Component, u64>::new();
        for row in self.rows.iter().filter(|row| chosen(row)) {
            let sum = sums.entry(row.component.clone()).or_default();
            *sum = sum.saturating_add(row.count);
        }
        sums
    }
}
