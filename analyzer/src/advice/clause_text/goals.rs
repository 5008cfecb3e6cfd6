//! The goals of a body: what it calls, as far as its text says.

use super::{GoalText, Lexeme, Token, parts, split};

/// Control constructs and predicates that call arguments of theirs, and which, counted from 0.
const CALLING: [(&str, &[usize]); 10] = [
    ("\\+", &[0]),
    ("bagof", &[1]),
    ("call", &[0]),
    ("catch", &[0, 2]),
    ("findall", &[1]),
    ("foldl", &[0]),
    ("forall", &[0, 1]),
    ("maplist", &[0]),
    ("once", &[0]),
    ("setof", &[1]),
];

/// Operators whose operands are terms.
const OF_TERMS: [&str; 9] = ["=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>=", "=.."];

/// Operators whose operands are expressions.
const OF_EXPRESSIONS: [&str; 7] = ["is", "=:=", "=\\=", "<", ">", "=<", ">="];

/// Whether all that a body calls is known by its name: predicates, and the functions in its
/// expressions. A variable that is called may be anything. A goal with an
/// operator is known if that is one of ISO Prolog.
pub(in crate::advice) fn calls_only(tokens: &[Token], is_known: &impl Fn(&str) -> bool) -> bool {
    let tokens = match tokens {
        [inner @ .., end] if end.kind == Lexeme::End => inner,
        all => all,
    };
    parts(tokens).into_iter().all(|part| {
        steps(part)
            .into_iter()
            .all(|goal| is_goal_known(goal, is_known))
    })
}

fn is_atom(token: &Token, names: &[&str]) -> bool {
    token.kind == Lexeme::Atom && names.contains(&token.text)
}

/// What is between control constructs that are in no brackets.
fn steps<'c, 't>(tokens: &'c [Token<'t>]) -> Vec<&'c [Token<'t>]> {
    split(tokens, |token| is_atom(token, &["->", "*->", ";", "|"]))
}

fn is_goal_known(goal: &[Token], is_known: &impl Fn(&str) -> bool) -> bool {
    let is_operator = |all: &[&str]| split(goal, |token| is_atom(token, all)).len() > 1;
    match goal {
        [] => true,
        [not, rest @ ..] if not.text == "\\+" && !rest.is_empty() => is_goal_known(rest, is_known),
        [module, colon, rest @ ..] if colon.text == ":" && module.kind != Lexeme::Constant => {
            is_goal_known(rest, is_known)
        }
        [name] => is_name_known(name, is_known),
        [open, inner @ .., _] if is_bracketed(goal, 0) => {
            open.text == "[" || calls_only(inner, is_known)
        }
        [name, _, inner @ .., _] if is_bracketed(goal, 1) => {
            let of = CALLING.iter().find(|(of, _)| *of == name.text);
            let called = of.map_or(&[][..], |(_, called)| called);
            let arguments = parts(inner);
            let mut called = called.iter().filter_map(|&at| arguments.get(at));
            is_name_known(name, is_known)
                && called.all(|argument| is_argument_known(argument, is_known))
        }
        _ if is_operator(&OF_EXPRESSIONS) => {
            let mut atoms = goal.iter().filter(|token| token.kind == Lexeme::Atom);
            atoms.all(|token| is_known(token.text))
        }
        _ => is_operator(&OF_TERMS),
    }
}

/// What a variable calls is not known. Text in a grammar calls nothing.
fn is_name_known(name: &Token, is_known: &impl Fn(&str) -> bool) -> bool {
    match name.kind {
        Lexeme::Atom => is_known(name.text),
        Lexeme::Variable => false,
        _ => true,
    }
}

/// An argument that is called. Variables may stand before it, `X^Goal`.
fn is_argument_known(argument: &[Token], is_known: &impl Fn(&str) -> bool) -> bool {
    let goal = split(argument, |token| is_atom(token, &["^"])).pop();
    goal.is_none_or(|goal| calls_only(goal, is_known))
}

/// Whether the bracket at a place is closed at the end.
fn is_bracketed(tokens: &[Token], open: usize) -> bool {
    let is_open = |token: &Token| matches!(token.kind, Lexeme::Open { .. });
    let all = GoalText { tokens, name: 0 };
    tokens.get(open).is_some_and(is_open) && all.after_bracket(open) == tokens.len()
}

#[cfg(test)]
mod tests {
    use super::super::{body, clauses};
    use super::*;

    fn is_known(text: &str) -> bool {
        let text = format!("p(X) :- {text}.\n");
        let known = [
            "p", "q", "is", "+", "mod", "=", "findall", "setof", "\\+", "!", "call",
        ];
        calls_only(body(&clauses(&text)[0]), &|name: &str| {
            known.contains(&name)
        })
    }

    #[test]
    fn what_is_called() {
        for text in [
            "q(f(X), [g(X)]), p(X)",
            "X = f(Y), !, q(Y)",
            "( q -> p(X) ; \\+ q, \\+ (q, p(X)) )",
            "Y is X + 1 mod 2",
            "findall(f(Y), q(X, g(Y)), L)",
            "setof(Y, Z^W^q(X, Y, Z, W), L)",
            "findall(Y, ( q(Y), m:p(Y) ), L)",
            "call(q, other(X))",
            "\"text\", { q }",
            "(q), ((p ; q))",
            "X = a",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in [
            "other(X)",
            "other",
            "X",
            "call(X)",
            "findall(Y, G, L)",
            "q, ( q -> other ; p(X) )",
            "\\+ other(X)",
            "\\+ (q, other)",
            "Y is X + other",
            "Y is other(X)",
            "findall(Y, other(Y), L)",
            "setof(Y, Z^other(Y, Z), L)",
            "call(other, X)",
            "m:other(X)",
            "X <- q",
            "q, other:other",
        ] {
            assert!(!is_known(text), "{text}");
        }
        assert!(calls_only(body(&clauses("p(X).")[0]), &|_: &str| false));
        let grammar = clauses("p --> [a], q, { other }.");
        assert!(!calls_only(body(&grammar[0]), &|name: &str| name == "q"));
        assert!(calls_only(body(&grammar[0]), &|name: &str| name != "p"));
    }
}
