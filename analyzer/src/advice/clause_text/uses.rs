//! What a clause does with a result of one of its goals.

use std::ops::Range;

use super::{GoalText, Lexeme, Token, opens_arguments};

/// What is done with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::advice) enum KeyUse {
    /// Something is looked up by it.
    Lookup,
    /// Something is kept under it.
    Store,
}

/// A predicate that looks something up by a key, or keeps it under a key. Any term can be one.
#[derive(Debug, Clone, Copy)]
pub(in crate::advice) struct KeyedGoal {
    pub(in crate::advice) name: &'static str,
    /// The argument that is the key, counted from 0.
    pub(in crate::advice) key: usize,
    pub(in crate::advice) does: KeyUse,
}

/// Predicates that keep a clause.
const STORING: [&str; 3] = ["assert", "asserta", "assertz"];

/// Predicates that give an element of a list, by name.
#[derive(Debug)]
pub(in crate::advice) struct ElementGoals {
    /// Those that give the first one, with their first argument; their second one is the list.
    pub(in crate::advice) first: &'static [(&'static str, &'static str)],
    /// Those that give the last one of the list that is their first argument.
    pub(in crate::advice) last: &'static [&'static str],
}

/// The element of a list that a clause looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::advice) enum ListEnd {
    First,
    Last,
}

/// A predicate that makes something.
#[derive(Debug, Clone, Copy)]
pub(in crate::advice) struct Maker<'m> {
    pub(in crate::advice) name: &'m str,
    pub(in crate::advice) arity: usize,
    /// The argument, counted from 0, that it becomes.
    pub(in crate::advice) argument: usize,
}

/// The arguments of the head of a clause, counted from 0, that are a variable which a goal of one
/// of these predicates makes.
pub(in crate::advice) fn made_in_head(clause: &[Token], makers: &[Maker]) -> Vec<usize> {
    let head = GoalText {
        tokens: clause,
        name: 0,
    };
    let Some(neck) = super::neck(clause) else {
        return Vec::new();
    };
    let goals = (neck + 1..clause.len()).map(|name| GoalText {
        tokens: clause,
        name,
    });
    let made: Vec<&str> = goals
        .filter(|goal| clause[goal.name].kind == Lexeme::Atom)
        .filter_map(|goal| {
            let arity = goal.arguments().len();
            let is_it = |maker: &&Maker| maker.name == goal.name() && maker.arity == arity;
            let maker = makers.iter().find(is_it)?;
            goal.variable_around(maker.argument)
        })
        .collect();
    let arguments = 0..head.arguments().len();
    arguments
        .filter(|&at| head.variable_in(at).is_some_and(|one| made.contains(&one)))
        .collect()
}

impl<'t> GoalText<'t> {
    /// Which element of the list that an argument is the clause looks at, if that is one: it takes
    /// the first one, as [`Self::is_for_first`] says, or the list stands once more, as that of a
    /// goal that gives its last element.
    pub(in crate::advice) fn end_of_list(
        &self,
        argument: usize,
        elements: &ElementGoals,
    ) -> Option<ListEnd> {
        if self.is_for_first(argument, elements) {
            return Some(ListEnd::First);
        }
        let list = self.variable_in(argument).filter(|list| *list != "_")?;
        let own = self.name..self.end(self.name);
        let uses =
            (0..self.tokens.len()).filter(|at| !own.contains(at) && self.tokens[*at].text == list);
        let &[at] = &uses.collect::<Vec<_>>()[..] else {
            return None;
        };
        let is_list_of_last = at >= 2
            && opens_arguments(self.tokens, at - 1)
            && elements.last.iter().any(|last| self.is(at - 2, last))
            && self.tokens.get(at + 1)?.kind == Lexeme::Comma;
        is_list_of_last.then_some(ListEnd::Last)
    }

    /// The arguments of the goal, counted from 0, that are a variable, or a term around one as
    /// `atom(Text)`, by which something is looked up, and which stands elsewhere in the clause only
    /// where something is looked up by it or kept under it: as the key of one of these goals, or in
    /// the arguments of a predicate that `is_dynamic`.
    pub(in crate::advice) fn keys(
        &self,
        keyed: &[KeyedGoal],
        is_dynamic: impl Fn(&str) -> bool,
    ) -> Vec<usize> {
        let own = self.name..self.end(self.name);
        let is_key = |argument: &usize| {
            let Some(variable) = self.variable_around(*argument) else {
                return false;
            };
            let uses = (0..self.tokens.len())
                .filter(|at| !own.contains(at) && self.tokens[*at].text == variable);
            let mut uses = uses.peekable();
            // What an earlier goal has given is not made.
            if uses.peek().is_some_and(|&at| at < own.start) {
                return false;
            }
            let uses = uses.map(|at| self.key_use(at, keyed, &is_dynamic));
            let uses: Option<Vec<KeyUse>> = uses.collect();
            uses.is_some_and(|uses| uses.contains(&KeyUse::Lookup))
        };
        (0..self.arguments().len()).filter(is_key).collect()
    }

    /// What the goal that a place stands in does with what is there, if that is a key.
    fn key_use(
        &self,
        at: usize,
        keyed: &[KeyedGoal],
        is_dynamic: impl Fn(&str) -> bool,
    ) -> Option<KeyUse> {
        super::neck(self.tokens).filter(|&neck| neck < at)?;
        let found = self.names_around(at).find_map(|(open, name)| {
            let end = self.after_bracket(open) - 1;
            let parts = self.parts(open + 1..end);
            let argument = parts.iter().position(|part| part.contains(&at))?;
            match keyed.iter().find(|one| one.name == name) {
                Some(one) => (one.key == argument).then_some(one.does),
                None => is_dynamic(name).then_some(KeyUse::Lookup),
            }
        })?;
        let mut around = self.names_around(at);
        match around.any(|(_, name)| STORING.contains(&name)) {
            true => Some(KeyUse::Store),
            false => Some(found),
        }
    }

    /// The variable that an argument is, or that the term has as its only argument.
    fn variable_around(&self, argument: usize) -> Option<&'t str> {
        let range = self.arguments().get(argument).cloned()?;
        let variable = match &self.tokens[range] {
            [one] => one,
            [_, open, one, close]
                if matches!(open.kind, Lexeme::Open { .. }) && close.kind == Lexeme::Close =>
            {
                one
            }
            _ => return None,
        };
        (variable.kind == Lexeme::Variable && variable.text != "_").then_some(variable.text)
    }

    /// The names in whose arguments a place stands, the innermost first, each with the bracket
    /// that opens its arguments.
    fn names_around(&self, at: usize) -> impl Iterator<Item = (usize, &'t str)> {
        let around = std::iter::successors(self.bracket(at), |&open| self.bracket(open));
        around.filter_map(|open| {
            let name = self.tokens.get(open.checked_sub(1)?)?;
            let is_name = opens_arguments(self.tokens, open) && name.kind == Lexeme::Atom;
            is_name.then_some((open, name.text))
        })
    }

    /// Whether the clause looks at no more than the first element of the list that an argument is:
    /// the argument is `[X|_]`, or a variable that stands once more, in `List = [X|_]` or as the
    /// list of a goal that gives its first element.
    pub(in crate::advice) fn is_for_first(&self, argument: usize, elements: &ElementGoals) -> bool {
        let Some(range) = self.arguments().get(argument).cloned() else {
            return false;
        };
        if self.is_first_of_list(range.clone()) {
            return true;
        }
        let [list] = &self.tokens[range.clone()] else {
            return false;
        };
        let is_list = |at: &usize| self.tokens[*at].text == list.text;
        let uses = (0..self.tokens.len()).filter(|at| *at != range.start && is_list(at));
        let (Lexeme::Variable, &[at]) = (list.kind, &uses.collect::<Vec<_>>()[..]) else {
            return false;
        };
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
        let is_of_first = |&(name, first): &(&str, &str)| {
            at >= 4 && self.is(at - 4, name) && text(at - 2) == first && text(at - 1) == ","
        };
        let is_unified = text(at + 1) == "=" && text(at + 2) == "[" && {
            let end = self.after_bracket(at + 2);
            self.is_first_of_list(at + 2..end)
        };
        list.text != "_" && (is_unified || elements.first.iter().any(is_of_first))
    }

    /// Whether a term is `[X|_]`, and nothing else in the clause names the rest of that list.
    fn is_first_of_list(&self, range: Range<usize>) -> bool {
        let [open, .., bar, rest, close] = &self.tokens[range.clone()] else {
            return false;
        };
        let is_whole = open.text == "[" && self.after_bracket(range.start) == range.end;
        let elements = range.start + 1..range.end - 3;
        let same = self.tokens.iter().filter(|token| token.text == rest.text);
        let is_named_once = rest.text == "_" || same.count() == 1;
        is_whole
            && close.kind == Lexeme::Close
            && bar.text == "|"
            && rest.kind == Lexeme::Variable
            && !elements.is_empty()
            && self.parts(elements).len() == 1
            && is_named_once
    }

    /// Whether an argument is a variable that stands once more in the clause, where it is compared
    /// with 0, or with 1 so that it says the same.
    pub(in crate::advice) fn is_compared_with_none(&self, argument: usize) -> bool {
        let Some(number) = self.variable_in(argument) else {
            return false;
        };
        let own = self.name..self.end(self.name);
        let uses = (0..self.tokens.len())
            .filter(|at| !own.contains(at) && self.tokens[*at].text == number);
        let &[at] = &uses.collect::<Vec<_>>()[..] else {
            return false;
        };
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
        matches!(
            (text(at + 1), text(at + 2)),
            (">" | "=:=" | "=\\=" | "==" | "\\==" | "=", "0") | (">=" | "<", "1")
        )
    }

    /// Whether an argument is a variable, or a term around one as `string(Text)`, which stands
    /// elsewhere in the clause, and there in arguments of goals of this name alone.
    pub(in crate::advice) fn is_only_for(&self, argument: usize, name: &str) -> bool {
        let Some(variable) = self.variable_around(argument) else {
            return false;
        };
        let own = self.name..self.end(self.name);
        let mut uses = (0..self.tokens.len())
            .filter(|at| !own.contains(at) && self.tokens[*at].text == variable)
            .peekable();
        let names = |at: usize| self.names_around(at).any(|(_, one)| one == name);
        uses.peek().is_some() && uses.all(names)
    }

    /// Whether all variables in arguments of the goal but one, counted from 0, stand before the
    /// goal, too: nothing else can be made of them.
    pub(in crate::advice) fn takes_all_but(&self, argument: usize) -> bool {
        let arguments = self.arguments();
        let others = arguments
            .iter()
            .enumerate()
            .filter(|(at, _)| *at != argument);
        let mut tokens = others.flat_map(|(_, range)| &self.tokens[range.clone()]);
        let before = &self.tokens[..self.name];
        tokens.all(|token| {
            token.kind != Lexeme::Variable || before.iter().any(|one| one.text == token.text)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    /// The only goal of that name in a body.
    fn of_goal<T>(body: &str, name: &str, say: impl FnOnce(&GoalText) -> T) -> T {
        let text = format!("p(X) :-\n{body}.\n");
        let clauses = clauses(&text);
        let goals = GoalText::all(&clauses, 2, name);
        assert_eq!(goals.len(), 1, "{body}");
        say(&goals[0])
    }

    const ELEMENTS: ElementGoals = ElementGoals {
        first: &[("nth0", "0"), ("nth1", "1")],
        last: &["last"],
    };

    #[test]
    fn what_looks_at_the_first_element_alone() {
        let is_for_first = |body: &str| {
            let text = format!("p(X) :-\n{body}.\n");
            let clauses = clauses(&text);
            let goals = GoalText::all(&clauses, 2, "findall");
            assert_eq!(goals.len(), 1, "{body}");
            assert_eq!(goals[0].arguments().len(), 3, "{body}");
            goals[0].is_for_first(2, &ELEMENTS)
        };
        for body in [
            "findall(Y, q(X, Y), [Y|_])",
            "findall(f(Y, Z), ( q(X, Y), r(Z, [a, b]) ), Ys), Ys = [f(A, B)|_], s(A, B)",
            "( findall(Y, q(X, Y), Ys), Ys = [Y|_Rest] -> s(Y) ; t )",
            "findall(Y, q(X, Y), Ys), nth0(0, Ys, Y)",
            "findall(Y, q(X, Y), Ys), lists:nth1(1, Ys, Y)",
        ] {
            assert!(is_for_first(body), "{body}");
        }
        for body in [
            "findall(Y, q(X, Y), Ys), Ys = [Y|_], s(Ys)",
            "findall(Y, q(X, Y), X), X = [Y|_]",
            "findall(Y, q(X, Y), Ys), Ys = [Y|Rest], s(Rest)",
            "findall(Y, q(X, Y), Ys), Ys = [Y, Z|_]",
            "findall(Y, q(X, Y), Ys), Ys = [Y]",
            "findall(Y, q(X, Y), [Y])",
            "findall(Y, q(X, Y), [Y|Rest]), s(Rest)",
            "findall(Y, q(X, Y), Ys), nth0(1, Ys, Y)",
            "findall(Y, q(X, Y), Ys), member(Y, Ys)",
            "findall(Y, q(X, Y), _), s(_)",
        ] {
            assert!(!is_for_first(body), "{body}");
        }
    }

    #[test]
    fn which_end_of_a_list_is_looked_at() {
        for (body, end) in [
            ("sort(X, [Y|_])", Some(ListEnd::First)),
            ("sort(X, L), L = [Y|_], q(Y)", Some(ListEnd::First)),
            ("sort(X, L), last(L, Y)", Some(ListEnd::Last)),
            ("sort(X, L), last(L, Y), q(L)", None),
            ("sort(X, L), q(last, L)", None),
            ("sort(X, L), last(Y, L)", None),
            ("sort(X, [Y])", None),
            ("sort(X, _), last(X, Y)", None),
        ] {
            let found = of_goal(body, "sort", |goal| goal.end_of_list(1, &ELEMENTS));
            assert_eq!(found, end, "{body}");
        }
    }

    #[test]
    fn what_is_a_key() {
        let goal = |name, does| KeyedGoal { name, key: 0, does };
        let keyed = [
            goal("get_assoc", KeyUse::Lookup),
            goal("put_assoc", KeyUse::Store),
            goal("memberchk", KeyUse::Lookup),
        ];
        let is_key = |body: &str| {
            let keys = of_goal(body, "make", |goal| {
                goal.keys(&keyed, |name| name == "seen")
            });
            !keys.is_empty()
        };
        for body in [
            "make(X, K), seen(K)",
            "make(X, K), \\+ seen(K), assertz(seen(K))",
            "make(X, atom(K)), ( get_assoc(K, A, V) -> q(V) ; put_assoc(K, A, 1, B) )",
            "make(X, K), memberchk(K-V, L)",
            "make(X, K), findall(Y, seen(K, Y), L)",
        ] {
            assert!(is_key(body), "{body}");
        }
        for body in [
            "make(X, K)",
            "make(X, K), assertz(seen(K))",
            "make(X, K), get_assoc(a, A, K)",
            "make(X, K), seen(K), print(K)",
            "make(X, f(K, K)), seen(K)",
            "make(X, K), other(K)",
            "seen(K), make(X, K)",
            "text(K), make(X, K), seen(K)",
            "make(X, K), K = seen",
            "make(X, K), debug(seen, '~w', [K])",
        ] {
            assert!(!is_key(body), "{body}");
        }
    }

    #[test]
    fn what_a_predicate_makes() {
        let maker = |name, arity, argument| Maker {
            name,
            arity,
            argument,
        };
        let makers = [
            maker("format", 3, 0),
            maker("atomic_list_concat", 2, 1),
            maker("atomic_list_concat", 3, 2),
        ];
        let made = |text: &str| made_in_head(&clauses(text)[0], &makers);
        assert_eq!(made("p(X, T) :- format(atom(T), x, [X])."), [1]);
        assert_eq!(
            made("p(T, X) :- q(X, Y), atomic_list_concat(Y, -, T)."),
            [0]
        );
        assert!(made("p(X, T) :- format(atom(_), x, [X]), q(T).").is_empty());
        assert!(made("p(X, T) :- atomic_list_concat(T, -, X0), q(X0, X).").is_empty());
        assert!(made("p(X, f(T)) :- format(atom(T), x, [X]).").is_empty());
        assert!(made("p(x, t).").is_empty());
    }
}
