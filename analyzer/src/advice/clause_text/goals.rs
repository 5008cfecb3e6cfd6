//! The goals of a body: what it calls, as far as its text says. What the operators of ISO Prolog do
//! not explain is not known.

use super::{
    GoalText, Lexeme, Token, after_operand, head_name, neck, opens_arguments, parts, split,
};

/// Control constructs and predicates that call arguments of theirs, and which, counted from 0.
const CALLING: [(&str, &[usize]); 7] = [
    ("\\+", &[0]),
    ("bagof", &[1]),
    ("catch", &[0, 2]),
    ("findall", &[1]),
    ("forall", &[0, 1]),
    ("once", &[0]),
    ("setof", &[1]),
];

/// Predicates that call their first argument, with as many more arguments as they have others.
const CALLING_WITH_MORE: [&str; 3] = ["call", "foldl", "maplist"];

/// Operators whose operands are terms.
const OF_TERMS: [&str; 9] = ["=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>=", "=.."];

/// Operators whose operands are expressions.
const OF_EXPRESSIONS: [&str; 7] = ["is", "=:=", "=\\=", "<", ">", "=<", ">="];

/// Operators that stand between the operands of a term, and bind more than those of goals.
const INFIX: [&str; 16] = [
    "*", "**", "+", "-", "/", "//", "/\\", ":", "<<", ">>", "\\/", "^", "div", "mod", "rem", "xor",
];

/// Those that stand before an operand.
const PREFIX: [&str; 3] = ["+", "-", "\\"];

/// What a clause names, with the number of arguments of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::advice) enum NamedAs {
    /// A goal.
    Predicate(u32),
    /// A part of an expression.
    Function(u32),
}

/// Whether all that a clause calls is known: predicates, and the functions in its expressions. A
/// variable that is called may be anything, and so may a clause or a goal with an operator that is
/// none of ISO Prolog.
pub(in crate::advice) fn calls_only(
    clause: &[Token],
    is_known: &impl Fn(&str, NamedAs) -> bool,
) -> bool {
    let clause = match clause {
        [inner @ .., end] if end.kind == Lexeme::End => inner,
        all => all,
    };
    let goals = |is_grammar| Goals {
        is_grammar,
        is_known,
    };
    let is_neck = |token: &Token| is_atom(token, &[":-", "-->", "?-"]);
    match split(clause, is_neck).as_slice() {
        // A directive is no clause of a predicate, and behind the last one there is none.
        [[]] | [[], _] => true,
        [fact] => is_term(fact),
        [head, body] => {
            let is_grammar = clause[head.len()].text == "-->";
            goals(is_grammar).are_known(body)
        }
        _ => false,
    }
}

fn is_atom(token: &Token, names: &[&str]) -> bool {
    token.kind == Lexeme::Atom && names.contains(&token.text)
}

/// The operands of the operators of such names that are in no brackets.
fn operands<'c, 't>(tokens: &'c [Token<'t>], names: &[&str]) -> Vec<&'c [Token<'t>]> {
    split(tokens, |token| is_atom(token, names))
}

/// The operands of a term that operators of ISO Prolog are between, without those before them;
/// `None` if others stand there.
fn terms<'c, 't>(tokens: &'c [Token<'t>]) -> Option<Vec<&'c [Token<'t>]>> {
    let (mut found, mut at) = (Vec::new(), 0);
    loop {
        while at + 1 < tokens.len()
            && is_atom(&tokens[at], &PREFIX)
            && !opens_arguments(tokens, at + 1)
            && !is_atom(&tokens[at + 1], &INFIX)
        {
            at += 1;
        }
        let first = tokens.get(at)?;
        if matches!(first.kind, Lexeme::Comma | Lexeme::Close) {
            return None;
        }
        let end = after_operand(tokens, at);
        found.push(&tokens[at..end]);
        match tokens.get(end) {
            None => return Some(found),
            Some(operator) if is_atom(operator, &INFIX) => at = end + 1,
            Some(_) => return None,
        }
    }
}

fn is_term(tokens: &[Token]) -> bool {
    terms(tokens).is_some()
}

/// Looks at the goals of a body, or at what goals call.
struct Goals<'k, K> {
    /// Non-terminals of a grammar have two arguments more, and text stands among them.
    is_grammar: bool,
    is_known: &'k K,
}

impl<K: Fn(&str, NamedAs) -> bool> Goals<'_, K> {
    /// Those of goals that stand outside of a grammar, or in curly brackets.
    fn plain(&self) -> Self {
        Self {
            is_grammar: false,
            is_known: self.is_known,
        }
    }

    fn are_known(&self, tokens: &[Token]) -> bool {
        let goals = parts(tokens).into_iter();
        let mut goals = goals.flat_map(|part| operands(part, &["->", ";", "|"]));
        goals.all(|goal| self.is_goal_known(goal))
    }

    fn is_goal_known(&self, goal: &[Token]) -> bool {
        match goal {
            [] => true,
            [not, rest @ ..] if is_atom(not, &["\\+"]) && !rest.is_empty() => {
                self.is_goal_known(rest)
            }
            [module, colon, rest @ ..] if is_qualified(module, colon) => self.is_goal_known(rest),
            [cut] if is_atom(cut, &["!"]) => true,
            // Text in a grammar calls nothing.
            [text] if text.kind == Lexeme::Constant => self.is_grammar,
            [open, inner @ .., _] if is_bracketed(goal, 0) => match open.text {
                "(" => self.are_known(inner),
                "{" => self.is_grammar && self.plain().are_known(inner),
                _ => self.is_grammar,
            },
            _ => match named(goal) {
                Some((name, arguments)) => {
                    let more = if self.is_grammar { 2 } else { 0 };
                    self.is_call_known(name, &arguments, more)
                }
                None => !self.is_grammar && self.is_comparison_known(goal),
            },
        }
    }

    /// A goal that is an operator of ISO Prolog with its operands.
    fn is_comparison_known(&self, goal: &[Token]) -> bool {
        if let [left, right] = operands(goal, &OF_EXPRESSIONS).as_slice() {
            return self.is_expression(left) && self.is_expression(right);
        }
        match operands(goal, &OF_TERMS).as_slice() {
            [left, right] => is_term(left) && is_term(right),
            _ => false,
        }
    }

    /// A call of a name with these arguments and some more that the text does not show.
    fn is_call_known(&self, name: &Token, arguments: &[&[Token]], more: usize) -> bool {
        let arity = arguments.len() + more;
        if name.kind != Lexeme::Atom
            || !(self.is_known)(name.text, NamedAs::Predicate(arity as u32))
        {
            return false;
        }
        let plain = self.plain();
        if OF_EXPRESSIONS.contains(&name.text) {
            return arguments.iter().all(|one| plain.is_expression(one));
        }
        if CALLING_WITH_MORE.contains(&name.text) {
            let called = arguments.first();
            return called.is_some_and(|called| plain.is_argument_known(called, arity - 1));
        }
        let calling = CALLING.iter().find(|(one, _)| *one == name.text);
        let mut called = calling.map_or(&[][..], |(_, called)| called).iter();
        called.all(|&at| {
            let called = arguments.get(at);
            called.is_some_and(|called| plain.is_argument_known(called, 0))
        })
    }

    /// An argument that is called with some more arguments. Variables may stand before a goal,
    /// `X^Goal`.
    fn is_argument_known(&self, argument: &[Token], more: usize) -> bool {
        match argument {
            _ if more == 0 => {
                let goal = operands(argument, &["^"]).pop();
                goal.is_some_and(|goal| self.are_known(goal))
            }
            [module, colon, rest @ ..] if is_qualified(module, colon) => {
                self.is_argument_known(rest, more)
            }
            _ => named(argument)
                .is_some_and(|(name, arguments)| self.is_call_known(name, &arguments, more)),
        }
    }

    fn is_expression(&self, tokens: &[Token]) -> bool {
        let is_of_functions = operands(tokens, &[":"]).len() == 1;
        let found = terms(tokens).filter(|_| is_of_functions);
        found.is_some_and(|all| all.into_iter().all(|one| self.is_operand(one)))
    }

    /// An operand of an expression.
    fn is_operand(&self, tokens: &[Token]) -> bool {
        match tokens {
            [one] if one.kind != Lexeme::Atom => true,
            [_, inner @ .., _] if is_bracketed(tokens, 0) => self.is_expression(inner),
            _ => named(tokens).is_some_and(|(name, arguments)| {
                let function = NamedAs::Function(arguments.len() as u32);
                (self.is_known)(name.text, function)
                    && arguments.iter().all(|one| self.is_expression(one))
            }),
        }
    }
}

/// The name and the number of arguments of the predicate that a clause is of. A grammar adds two.
pub(in crate::advice) fn head_indicator<'t>(clause: &[Token<'t>]) -> Option<(&'t str, u32)> {
    let head = match clause {
        [module, colon, head @ ..] if is_qualified(module, colon) => head,
        head => head,
    };
    let name = head_name(head)?;
    let (_, arguments) = named(&head[..after_operand(head, 0)])?;
    let is_grammar = neck(clause).is_some_and(|at| clause[at].text == "-->");
    let more = if is_grammar { 2 } else { 0 };
    Some((name, (arguments.len() + more) as u32))
}

fn is_qualified(module: &Token, colon: &Token) -> bool {
    matches!(module.kind, Lexeme::Atom | Lexeme::Variable) && is_atom(colon, &[":"])
}

/// A name with its arguments, if some tokens are no more than that.
fn named<'c, 't>(tokens: &'c [Token<'t>]) -> Option<(&'c Token<'t>, Vec<&'c [Token<'t>]>)> {
    match tokens {
        [name] => Some((name, Vec::new())),
        [name, _, inner @ .., _] if is_bracketed(tokens, 1) && opens_arguments(tokens, 1) => {
            Some((name, parts(inner)))
        }
        _ => None,
    }
}

/// Whether the bracket at a place is closed at the end.
fn is_bracketed(tokens: &[Token], open: usize) -> bool {
    let is_open = |token: &Token| matches!(token.kind, Lexeme::Open { .. });
    let all = GoalText { tokens, name: 0 };
    tokens.get(open).is_some_and(is_open) && all.after_bracket(open) == tokens.len()
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    const PREDICATES: [(&str, u32); 21] = [
        ("p", 1),
        ("q", 0),
        ("q", 1),
        ("q", 2),
        ("q", 4),
        ("r", 3),
        ("is", 2),
        ("=", 2),
        ("findall", 3),
        ("setof", 3),
        ("\\+", 1),
        ("call", 1),
        ("call", 2),
        ("call", 3),
        ("maplist", 2),
        ("maplist", 3),
        ("foldl", 4),
        ("once", 1),
        ("float", 1),
        ("<", 2),
        ("own", 2),
    ];

    const FUNCTIONS: [(&str, u32); 6] = [
        ("abs", 1),
        ("float", 1),
        ("log", 1),
        ("max", 2),
        ("pi", 0),
        ("-", 1),
    ];

    fn is_clause_known(clause: &str) -> bool {
        calls_only(&clauses(clause)[0], &|name, named| match named {
            NamedAs::Predicate(arity) => PREDICATES.contains(&(name, arity)),
            NamedAs::Function(arity) => FUNCTIONS.contains(&(name, arity)),
        })
    }

    fn is_known(text: &str) -> bool {
        is_clause_known(&format!("p(X) :- {text}.\n"))
    }

    #[test]
    fn what_is_called() {
        for text in [
            "q(f(X), [g(X)]), p(X)",
            "X = f(Y), !, q(Y)",
            "( q -> p(X) ; \\+ q, \\+ (q, p(X)) )",
            "findall(f(Y), q(X, g(Y)), L)",
            "setof(Y, Z^W^q(X, Y, Z, W), L)",
            "findall(Y, ( q(Y), m:p(Y) ), L)",
            "call(q, other(X))",
            "call(q(X), other(X))",
            "(q), ((p(X) ; q))",
            "X = a",
            "maplist(q, L)",
            "maplist(q(X), L)",
            "maplist(m:q, L, M)",
            "maplist(call(q), L)",
            "foldl(r, L, 0, S)",
            "once((q, p(X)))",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in [
            "other(X)",
            "other",
            "p",
            "p(X, Y)",
            "X",
            "X(Y)",
            "call(X)",
            "findall(Y, G, L)",
            "findall(Y, q(Y), L, [])",
            "q, ( q -> other ; p(X) )",
            "\\+ other(X)",
            "\\+ (q, other)",
            "findall(Y, other(Y), L)",
            "setof(Y, Z^other(Y, Z), L)",
            "call(other, X)",
            "call(r, X)",
            "m:other(X)",
            "X:Y",
            "q, other:other",
            "maplist(p(X), L)",
            "maplist(call, L)",
            "maplist(once, L)",
            "maplist(call(other), L)",
            "maplist(G, L)",
            "maplist(q, L, M, N)",
            "foldl(q, L, 0, S)",
            "[file]",
            "\"file\"",
            "{ q }",
            "q (X)",
        ] {
            assert!(!is_known(text), "{text}");
        }
        assert!(is_clause_known("p(X)."));
        assert!(is_clause_known(":- other."));
        assert!(calls_only(&[], &|_: &str, _: NamedAs| false));
    }

    #[test]
    fn a_function_is_no_goal_and_a_predicate_no_function() {
        for text in [
            "Y is X + 1 mod 2",
            "Y is abs(X - (log(X) + 1)) * pi",
            "Y is max(X, 2 ** -1) - -X",
            "Y is -(X), float(Y)",
            "Y is float(X)",
            "abs(X) < 2",
            "is(Y, log(X))",
            "maplist(<(1), L)",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in [
            "log(X)",
            "abs(X), q",
            "pi",
            "maplist(log, L)",
            "Y is X + other",
            "Y is other(X)",
            "Y is log(X, 2)",
            "Y is log(other(X))",
            "Y is (1 + other(X)) * 2",
            "Y is q(X)",
            "Y is m:log(X)",
            "is(Y, other(X))",
            "maplist(<(other), L)",
        ] {
            assert!(!is_known(text), "{text}");
        }
    }

    #[test]
    fn other_operators_may_mean_anything() {
        for text in [
            "X = a - b * -1",
            "X = m:f(Y) / 2",
            "X == (a :- b <- c)",
            "X = [a <- b|c]",
            "- = X",
            "X = - ",
        ] {
            assert!(is_known(text), "{text}");
        }
        for text in [
            "X <- q",
            "X = a <- b",
            "X == Y :: other",
            "X = a, Y = b <- c",
            "table X = a",
            "X = f(Y) other",
            "Y is X + 1 <- 2",
            "q *-> q",
            "q => q",
        ] {
            assert!(!is_known(text), "{text}");
        }
        for clause in ["p(X).", "m:p(X).", "a - b.", "p :- q.", "x <- y :- q."] {
            assert!(is_clause_known(clause), "{clause}");
        }
        for clause in [
            "p(X) => q.",
            "p(X), other => q.",
            "p(X) <- q.",
            "p(X) -->> q.",
            "p(X) :: q.",
            "p :- q :- q.",
        ] {
            assert!(!is_clause_known(clause), "{clause}");
        }
    }

    #[test]
    fn what_a_grammar_calls() {
        for clause in [
            "p --> [a], q, { p(X) }, \"text\", !.",
            "p, [b] --> ( q ; [] ), r(X).",
            "p --> call(q), \\+ q.",
            "p --> own.",
        ] {
            assert!(is_clause_known(clause), "{clause}");
        }
        for clause in [
            "p --> p.",
            "p --> q, { other }.",
            "p --> q(X).",
            "p --> X.",
            "p --> X = a.",
            "p --> call(p).",
            "p --> findall(X, q, L).",
        ] {
            assert!(!is_clause_known(clause), "{clause}");
        }
    }

    #[test]
    fn heads_have_indicators() {
        for (clause, expected) in [
            ("p.", Some(("p", 0))),
            ("p(X, f(Y, Z)) :- q.", Some(("p", 2))),
            ("m:p(X) :- q.", Some(("p", 1))),
            ("p(X) --> q.", Some(("p", 3))),
            ("p, [a] --> q.", Some(("p", 2))),
            (":- p.", None),
            ("X :- p.", None),
        ] {
            assert_eq!(head_indicator(&clauses(clause)[0]), expected, "{clause}");
        }
    }
}
