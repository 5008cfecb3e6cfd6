//! Arguments that only carry numbers: which are computed with, and which decide nothing.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{GoalText, Lexeme, Token, head_name, neck};

/// The arguments of a predicate, counted from 0, that its clauses use in arithmetic, in their heads
/// and in calls of the predicate itself alone, while one of its calls is given what was computed of
/// such an argument. A result that is handed through is none. The clauses of the predicate are
/// those of this name and number of arguments.
pub(in crate::advice) fn sums(clauses: &[Vec<Token>], name: &str, arity: usize) -> Vec<usize> {
    let own: Vec<GoalText> = clauses
        .iter()
        .filter(|clause| head_name(clause) == Some(name))
        .map(|clause| GoalText {
            tokens: clause,
            name: 0,
        })
        .filter(|head| head.arguments().len() == arity)
        .collect();
    let is_rule = |head: &GoalText| neck(head.tokens).is_some_and(|at| head.is(at, ":-"));
    let decides_nothing = |at: &usize| own.iter().all(|head| head.decides_nothing(*at));
    let carried: Vec<usize> = (0..arity).filter(decides_nothing).collect();
    let is_summed = own.iter().filter(|head| is_rule(head)).any(|head| {
        let computed = head.computed_of(&carried);
        head.calls_of_itself().any(|call| {
            let given = call.arguments();
            let handed = carried.iter().filter_map(|&at| call.only(&given[at]));
            handed.into_iter().any(|one| computed.contains(&one))
        })
    });
    if !is_summed {
        return Vec::new();
    }
    let computed: BTreeSet<usize> = own
        .iter()
        .flat_map(|head| computed_with(head.tokens))
        .collect();
    let sums = carried.into_iter().filter(|at| computed.contains(at));
    sums.collect()
}

/// The arguments of the head of a clause, counted from 0, that arithmetic of the clause computes
/// with.
pub(in crate::advice) fn computed_with(clause: &[Token]) -> Vec<usize> {
    let head = GoalText {
        tokens: clause,
        name: 0,
    };
    let Some(neck) = neck(clause) else {
        return Vec::new();
    };
    let arguments = head.arguments();
    let is_computed_with = |range: &Range<usize>| {
        let Some(variable) = head.only(range) else {
            return false;
        };
        let mut body = neck + 1..clause.len();
        body.any(|at| clause[at].text == variable && head.is_in_arithmetic(at))
    };
    let numbered = arguments.iter().enumerate();
    let found = numbered.filter(|(_, range)| is_computed_with(range));
    found.map(|(at, _)| at).collect()
}

impl<'t> GoalText<'t> {
    /// The variable that is all of a range.
    pub(super) fn only(&self, range: &Range<usize>) -> Option<&'t str> {
        match &self.tokens[range.clone()] {
            [one] if one.kind == Lexeme::Variable => Some(one.text),
            _ => None,
        }
    }

    /// The calls of the predicate of this head in its clause.
    pub(super) fn calls_of_itself(&self) -> impl Iterator<Item = Self> + use<'_, 't> {
        let arity = self.arguments().len();
        let places = neck(self.tokens).unwrap_or(self.tokens.len())..self.tokens.len();
        let all = places.map(|name| Self {
            tokens: self.tokens,
            name,
        });
        all.filter(move |goal| goal.is(goal.name, self.name()) && goal.arguments().len() == arity)
    }

    /// Whether an argument of this head is a variable that stands in the head, in arithmetic, and
    /// in calls of the same predicate alone.
    fn decides_nothing(&self, argument: usize) -> bool {
        let arguments = self.arguments();
        let Some(variable) = self.only(&arguments[argument]) else {
            return false;
        };
        let neck = neck(self.tokens).unwrap_or(self.tokens.len());
        let own: Vec<Range<usize>> = self
            .calls_of_itself()
            .map(|call| call.name..call.end(call.name))
            .collect();
        let mut uses = (neck..self.tokens.len()).filter(|&at| self.tokens[at].text == variable);
        variable == "_"
            || uses.all(|at| self.is_in_arithmetic(at) || own.iter().any(|call| call.contains(&at)))
    }

    /// The variables that arithmetic of the clause of this head gives values, from one of these
    /// arguments.
    fn computed_of(&self, arguments: &[usize]) -> Vec<&'t str> {
        let given = self.arguments();
        let from: Vec<&str> = arguments
            .iter()
            .filter_map(|&at| self.only(&given[at]))
            .collect();
        let is = (1..self.tokens.len()).filter(|&at| self.is(at, "is"));
        let results = is.filter(|&is| {
            let mut behind = is + 1..self.tokens.len();
            behind.any(|at| {
                from.contains(&self.tokens[at].text) && self.arithmetic_of(at) == Some(is)
            })
        });
        results.map(|at| self.tokens[at - 1].text).collect()
    }

    /// Whether a place is on the right of `is`.
    fn is_in_arithmetic(&self, at: usize) -> bool {
        self.arithmetic_of(at).is_some()
    }

    /// The `is` that a place is on the right of.
    pub(super) fn arithmetic_of(&self, place: usize) -> Option<usize> {
        let mut depth = 0_u32;
        for at in (0..place).rev() {
            match self.tokens[at].kind {
                Lexeme::Close => depth += 1,
                Lexeme::Open { .. } => depth = depth.saturating_sub(1),
                Lexeme::Atom if depth == 0 && self.is(at, "is") => return Some(at),
                // Arguments of functions are in brackets: what is around those comes first.
                Lexeme::Comma if depth == 0 && !self.is_in_function(at) => return None,
                _ if depth == 0
                    && ["->", ";", "*->", "|", ":-"]
                        .iter()
                        .any(|one| self.is(at, one)) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        None
    }

    /// Whether the brackets around a comma are those of arguments, as in `max(A, B)`.
    fn is_in_function(&self, at: usize) -> bool {
        let open = self.bracket(at);
        open.is_some_and(|open| {
            super::opens_arguments(self.tokens, open) && self.arithmetic_of(open).is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    fn carried(text: &str) -> Vec<usize> {
        sums(&clauses(text), "p", 3)
    }

    #[test]
    fn what_is_only_added_up() {
        let counted = "p(0, N, N).\np(I, N0, N) :- J is I-1, N1 is N0+f(I, 2), p(J, N1, N).";
        assert_eq!(carried(counted), [1]);
        let places = "p(I, N, R) :- I > 9, !, R = x.\np(I, N0, R) :- g(I, J), N1 is max(N0, J), p(J, N1, R).";
        assert_eq!(carried(places), [1]);
        let tested = "p(I, N, N) :- N > 9.\np(I, N0, R) :- g(I, J), N1 is N0+J, p(J, N1, R).";
        assert!(carried(tested).is_empty());
        let handed = "p(I, N0, R) :- g(I, N0, N1), p(I, N1, R).";
        assert!(carried(handed).is_empty());
    }

    #[test]
    fn what_is_computed_with() {
        let of = |clause: &str| computed_with(&clauses(clause)[0]);
        assert_eq!(of("p(A, B, C) :- X is B*max(A, 2), q(X, C)."), [0, 1]);
        assert!(of("p(A, B, C) :- q(A), C is 2, r(B).").is_empty());
        assert!(of("p(a, b, c).").is_empty());
    }
}
