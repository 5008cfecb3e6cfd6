//! Results that grow behind a recursive call: lists and sums of the way that led to an answer.

use super::{GoalText, Lexeme, Token, head_name, neck};

/// The arguments of a predicate, counted from 0, that a clause of it builds from what its recursive
/// call gave there: it puts that into a larger term, or computes with it.
pub(in crate::advice) fn built_up(clauses: &[Vec<Token>], name: &str, arity: usize) -> Vec<usize> {
    let rules: Vec<GoalText> = clauses
        .iter()
        .filter(|clause| head_name(clause) == Some(name) && neck(clause).is_some())
        .map(|clause| GoalText {
            tokens: clause,
            name: 0,
        })
        .filter(|head| head.arguments().len() == arity)
        .collect();
    let is_built = |at: &usize| rules.iter().any(|head| head.builds_up(*at));
    (0..arity).filter(is_built).collect()
}

/// Whether a declaration of tables in these clauses says which answers of a predicate are kept: it
/// has arguments, and not their number alone.
pub(in crate::advice) fn keeps_some(clauses: &[Vec<Token>], name: &str) -> bool {
    let declarations = clauses
        .iter()
        .filter(|clause| matches!(&clause[..], [neck, table, ..] if neck.text == ":-" && table.text == "table"));
    declarations.into_iter().any(|tokens| {
        let names = tokens.iter().zip(tokens.iter().skip(1));
        names.into_iter().any(|(of, next)| {
            of.text == name && matches!(next.kind, Lexeme::Open { arguments: true })
        })
    })
}

/// The names of predicates in a declaration, `:- dynamic p/1, m:q/2.`; none if a clause is no
/// declaration of that kind.
pub(in crate::advice) fn declared<'t>(clause: &[Token<'t>], kind: &str) -> Vec<&'t str> {
    match clause {
        [neck, of, names @ ..] if neck.text == ":-" && of.text == kind => {
            let pairs = names.iter().zip(names.iter().skip(1));
            let named = pairs.filter(|(name, slash)| {
                name.kind == Lexeme::Atom && ["/", "//"].contains(&slash.text)
            });
            named.map(|(name, _)| name.text).collect()
        }
        _ => Vec::new(),
    }
}

impl GoalText<'_> {
    /// Whether this head has, as this argument, more than what a call of the same predicate in its
    /// clause gave there.
    fn builds_up(&self, argument: usize) -> bool {
        let Some(own) = self.arguments().get(argument).cloned() else {
            return false;
        };
        let given = self.calls_of_itself().filter_map(|call| {
            let range = call.arguments().get(argument).cloned()?;
            call.only(&range).filter(|variable| *variable != "_")
        });
        let given: Vec<&str> = given.collect();
        let is_larger = own.len() > 1
            && self.tokens[own.clone()]
                .iter()
                .any(|token| given.contains(&token.text));
        let computed = self.only(&own).is_some_and(|result| {
            let is = (1..self.tokens.len())
                .filter(|&at| self.is(at, "is") && self.tokens[at - 1].text == result);
            is.into_iter().any(|is| {
                let mut behind = is + 1..self.tokens.len();
                behind.any(|at| {
                    given.contains(&self.tokens[at].text) && self.arithmetic_of(at) == Some(is)
                })
            })
        });
        is_larger || computed
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    #[test]
    fn what_grows_behind_the_recursive_call() {
        let built = |text: &str| built_up(&clauses(text), "p", 3);
        for (text, expected) in [
            ("p(X, Y, [X|P]) :- r(X, Z), p(Z, Y, P).", vec![2]),
            ("p(X, Y, N) :- r(X, Z), p(Z, Y, M), N is M+1.", vec![2]),
            (
                "p(X, Y, 1-[X]) :- r(X, Y).\np(X, Y, N-[X|P]) :- p(Z, Y, M-P), r(X, Z), N is M+1.",
                vec![],
            ),
            ("p(X, Y, f(P)) :- p(X, Z, P), r(Z, Y).", vec![2]),
            ("p(X, Y, Z) :- p(X, U, Z), r(U, Y).", vec![]),
            ("p(X, Y, Z) :- q(X, Y, V), Z is V+1.", vec![]),
            ("p(X, Y, [X]).", vec![]),
        ] {
            assert_eq!(built(text), expected, "{text}");
        }
    }

    #[test]
    fn what_a_declaration_names() {
        let names = |text: &str| {
            let clauses = clauses(text);
            let of = declared(&clauses[0], "dynamic");
            of.into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(names(":- dynamic p/1, m:q/2.  % r/3"), ["p", "q"]);
        assert_eq!(
            names(":- dynamic([a//1, 'b c'/0], [incremental(true)])."),
            ["a", "b c"]
        );
        assert!(names(":- discontiguous p/1.").is_empty());
        assert!(names("dynamic(p/1).").is_empty());
    }

    #[test]
    fn which_answers_a_declaration_keeps() {
        let keeps = |text: &str| keeps_some(&clauses(text), "p");
        assert!(keeps(":- table p(_, _, min).\np(1, 2, 3)."));
        assert!(keeps(":- table q/1, p(_, lattice(best/3))."));
        assert!(!keeps(":- table p/3.\np(1, 2, 3)."));
        assert!(!keeps(":- dynamic p(_).\n:- table q(_)."));
    }
}
