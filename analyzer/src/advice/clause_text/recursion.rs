//! How clauses call their own predicate.

use std::ops::Range;

use super::{GoalText, Lexeme, Token, body, head_name, neck};

/// Whether the head of a clause takes a list apart, and its body calls the same predicate.
pub(in crate::advice) fn goes_along_list(clause: &[Token]) -> bool {
    let (Some(name), Some(neck)) = (head_name(clause), neck(clause)) else {
        return false;
    };
    let calls_itself = |token: &Token| token.kind == Lexeme::Atom && token.text == name;
    clause[..neck].iter().any(|token| token.text == "|") && body(clause).iter().any(calls_itself)
}

impl GoalText<'_> {
    /// Whether the clause calls its own predicate behind this goal, with a variable of the goal in
    /// place of one that the head has there and the goal has, too: what comes out of a round goes
    /// into the next.
    pub(in crate::advice) fn goes_round(&self) -> bool {
        let head = GoalText { name: 0, ..*self };
        let own = self.variables();
        let given = head.arguments();
        let again = (self.end(self.name)..self.tokens.len())
            .map(|name| GoalText { name, ..*self })
            .filter(|goal| goal.is(goal.name, head.name()));
        let single = |goal: &Self, range: &Range<usize>| match &goal.tokens[range.clone()] {
            [one] if one.kind == Lexeme::Variable && own.contains(&one.text) => Some(one.text),
            _ => None,
        };
        self.name > 0
            && again.into_iter().any(|again| {
                let handed = again.arguments();
                let mut pairs = given.iter().zip(&handed);
                given.len() == handed.len()
                    && pairs.any(|(from, to)| {
                        let (from, to) = (single(&head, from), single(&again, to));
                        from.is_some() && to.is_some() && from != to
                    })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    fn goes_round(clause: &str) -> bool {
        let text = format!("{clause}.");
        let clauses = clauses(&text);
        GoalText::all(&clauses, 1, "step")
            .iter()
            .any(GoalText::goes_round)
    }

    #[test]
    fn what_comes_out_goes_in_again() {
        for clause in [
            "p(S0, S) :- step(S0, S1), !, p(S1, S)",
            "p(S0, S) :- ( step(S0, S1) -> p(S1, S) ; S = S0 )",
            "p(N, S0, S) :- step(x, S0, S1), N1 is N-1, p(N1, S1, S)",
        ] {
            assert!(goes_round(clause), "{clause}");
        }
        for clause in [
            "p(S0, S) :- step(S0, S1), q(S1, S)",
            "p([X|Xs], N0, N) :- step(X, Y), N1 is N0+Y, p(Xs, N1, N)",
            "p(S0, S) :- p(S0, S1), step(S1, S)",
            "p(S0) :- step(S0, _), p(S0)",
            "step(S0, S) :- s(S0, S1), step(S1, S)",
        ] {
            assert!(!goes_round(clause), "{clause}");
        }
    }

    #[test]
    fn what_takes_a_list_apart() {
        let goes_along = |clause: &str| goes_along_list(&clauses(&format!("{clause}."))[0]);
        assert!(goes_along("look(K, [_|Xs], V) :- look(K, Xs, V)"));
        assert!(!goes_along("look(K, [K-V|_], V) :- !"));
        assert!(!goes_along("count(N, V) :- M is N-1, count(M, V)"));
    }
}
