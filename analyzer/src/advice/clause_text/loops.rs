//! Loops by failure: what asks a goal for its next solution though no test has rejected one.

use std::ops::Range;

use super::{GoalText, Lexeme, opens_arguments};

/// A loop: where it generates, and what it does with each solution. What comes back out of the
/// second part has passed, for a failure in it ends the loop.
struct Loop {
    condition: Range<usize>,
    action: Range<usize>,
}

impl<'t> GoalText<'t> {
    /// Whether this goal stands in a loop that may go back into it when `last` has exited and no
    /// call was made since: whether a test between has passed or not. `last` is `None` if it is not
    /// known; `calls` are goals of the clause that made calls: where one of them would have come
    /// next, a test has failed.
    pub(in crate::advice) fn is_driven(
        &self,
        last: Option<&GoalText<'t>>,
        calls: &[GoalText<'t>],
    ) -> bool {
        let Some(around) = self.loop_around() else {
            return false;
        };
        let last = last.filter(|last| {
            std::ptr::eq(last.tokens, self.tokens) && around.condition.contains(&last.name)
        });
        let Some(last) = last else {
            return true;
        };
        let behind = self.end(last.name).min(around.condition.end)..around.condition.end;
        let comes = |call: &GoalText| {
            std::ptr::eq(call.tokens, self.tokens)
                && (self.is_step(behind.clone(), call.name)
                    || self.is_step(around.action.clone(), call.name))
        };
        !calls.iter().any(comes)
    }

    /// The innermost loop that this goal generates for.
    fn loop_around(&self) -> Option<Loop> {
        let mut at = self.name;
        loop {
            let open = self.bracket(at);
            let begin = match open {
                Some(open) => open + 1,
                None => super::neck(self.tokens)? + 1,
            };
            let end = match open {
                Some(open) => self.after_bracket(open) - 1,
                None => self.tokens.len() - 1,
            };
            let is_argument = open.is_some_and(|open| opens_arguments(self.tokens, open));
            let is = |open: usize, atom| open > 0 && self.is(open - 1, atom);
            if let Some(open) = open
                && is(open, "\\+")
            {
                return self.negation(begin..end, at);
            }
            if let Some(open) = open
                && is_argument
            {
                let parts = self.parts(begin..end);
                return match &parts[..] {
                    [condition, action] if is(open, "forall") && condition.contains(&at) => {
                        Some(Loop {
                            condition: condition.clone(),
                            action: action.clone(),
                        })
                    }
                    _ => None,
                };
            }
            if open.is_some_and(|open| self.tokens[open].text != "(") {
                return None;
            }
            // Of alternatives and conditions, the one that it stands in.
            let before = self.control(begin..at).last().map(|&at| at + 1);
            let after = self.control(at..end).first().copied();
            if after.is_some_and(|after| self.is(after, "->")) {
                return None;
            }
            let branch = before.unwrap_or(begin)..after.unwrap_or(end);
            let last = self.parts(branch.clone()).pop();
            if let Some(last) = last
                && last.len() == 1
                && (self.is(last.start, "fail") || self.is(last.start, "false"))
            {
                return Some(Loop {
                    condition: branch.start..last.start,
                    action: last,
                });
            }
            at = open?;
        }
    }

    /// `\+ ( Condition, \+ Action )`.
    fn negation(&self, inside: Range<usize>, at: usize) -> Option<Loop> {
        let parts = self.parts(inside.clone());
        let action = parts.last()?.clone();
        let is_loop = self.control(inside.clone()).is_empty()
            && self.is(action.start, "\\+")
            && at < action.start;
        is_loop.then(|| Loop {
            condition: inside.start..action.start,
            action: action.start + 1..action.end,
        })
    }

    /// Whether this goal and `earlier`, which stands before it, are steps of one conjunction, with
    /// no condition or alternative between them.
    pub(in crate::advice) fn is_in_a_row(&self, earlier: &GoalText) -> bool {
        std::ptr::eq(self.tokens, earlier.tokens)
            && earlier.name < self.name
            && self.bracket(self.name) == self.bracket(earlier.name)
            && self.control(earlier.name..self.name).is_empty()
            && !self.is_negated(self.name)
    }

    /// Whether what is at a place is a goal of a conjunction, and not within an alternative.
    fn is_step(&self, range: Range<usize>, place: usize) -> bool {
        if !range.contains(&place) {
            return false;
        }
        let range = self.within_brackets(range);
        if !self.control(range.clone()).is_empty() {
            return false;
        }
        let parts = self.parts(range);
        let part = parts.into_iter().find(|part| part.contains(&place));
        part.is_some_and(|part| {
            let is_first =
                part.start == place || part.start + 2 == place && self.is(part.start + 1, ":");
            let is_in_brackets = self.tokens[part.start].text == "("
                && matches!(self.tokens[part.start].kind, Lexeme::Open { .. });
            is_first || is_in_brackets && self.is_step(part, place)
        })
    }

    /// What is in the brackets that are all of a range.
    fn within_brackets(&self, range: Range<usize>) -> Range<usize> {
        let is_whole = range.len() > 1
            && self.tokens[range.start].text == "("
            && self.after_bracket(range.start) == range.end;
        match is_whole {
            true => range.start + 1..range.end - 1,
            false => range,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    /// Whether a body may go back into `gen` behind `last` though no test has failed; `do` makes
    /// calls.
    fn is_driven(body: &str) -> bool {
        let text = format!("p(X) :-\n{body}.\n");
        let clauses = clauses(&text);
        let all = |name| GoalText::all(&clauses, 2, name);
        let last = all("last").pop();
        let generator = all("gen")[0];
        let calls = [all("do"), all("last"), all("gen")].concat();
        generator.is_driven(last.as_ref(), &calls)
    }

    #[test]
    fn a_loop_asks_for_all_solutions() {
        for body in [
            "forall(gen(X), ( last(X, Y), Y > 3 ))",
            "forall(gen(X), last(X))",
            "forall(( gen(X), last(X), X > 3 ), Y > X)",
            "forall(( gen(X), last(X), X > 3 ), ( Y > X -> do(X) ; true ))",
            "\\+ ( gen(X), \\+ ( last(X, Y), Y > 3 ) )",
            "\\+ ( gen(X), last(X, Y), \\+ Y > 3 )",
            "( gen(X), last(X, Y), Y > 3, fail ; true )",
            "gen(X), ( a ; b ), last(X), X > 3, fail",
            "( c -> gen(X), last(X), X > 3, false ; true )",
            "gen(X), last(X), ( X > 3 -> do(X) ; true ), fail",
            "gen(X), fail",
        ] {
            assert!(is_driven(body), "{body}");
        }
    }

    #[test]
    fn a_test_rejects() {
        for body in [
            "gen(X), last(X, Y), Y > 3",
            "( gen(X), last(X), X > 3 -> a ; b ), fail",
            "forall(( gen(X), last(X), X > 3 ), do(X))",
            "forall(( gen(X), last(X), X > 3 ), ( Y is X, do(Y) ))",
            "\\+ ( gen(X), last(X), X > 3 )",
            "\\+ ( gen(X), last(X), X > 3, \\+ do(X) )",
            "( gen(X), last(X), X > 3, do(X), fail ; true )",
            "gen(X), last(X), X > 3, ( m:do(X), c ), fail",
            "findall(X, ( gen(X), last(X), X > 3 ), Xs), fail",
            "\\+ ( gen(X), last(X) ), fail",
        ] {
            assert!(!is_driven(body), "{body}");
        }
    }
}
