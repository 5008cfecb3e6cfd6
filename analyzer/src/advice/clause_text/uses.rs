//! What a clause does with a result of one of its goals.

use std::ops::Range;

use super::{Kind, Written};

impl Written<'_> {
    /// Whether the clause looks at no more than the first element of the list that an argument is:
    /// the argument is `[X|_]`, or a variable that stands once more, in `List = [X|_]` or as the
    /// list of `nth0(0, …)` or `nth1(1, …)`.
    pub(in crate::advice) fn is_for_first(&self, argument: usize) -> bool {
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
        let (Kind::Variable, &[at]) = (list.kind, &uses.collect::<Vec<_>>()[..]) else {
            return false;
        };
        let text = |at: usize| self.tokens.get(at).map_or("", |token| token.text);
        let is_nth = |name: &str, n: &str| {
            at >= 4 && self.is(at - 4, name) && text(at - 2) == n && text(at - 1) == ","
        };
        let is_unified = text(at + 1) == "=" && text(at + 2) == "[" && {
            let end = self.after_bracket(at + 2);
            self.is_first_of_list(at + 2..end)
        };
        list.text != "_" && (is_unified || is_nth("nth0", "0") || is_nth("nth1", "1"))
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
            && close.kind == Kind::Close
            && bar.text == "|"
            && rest.kind == Kind::Variable
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
        let range = self.arguments().get(argument).cloned().unwrap_or(0..0);
        let variable = match &self.tokens[range] {
            [one] => one,
            [_, open, one, close]
                if matches!(open.kind, Kind::Open { .. }) && close.kind == Kind::Close =>
            {
                one
            }
            _ => return false,
        };
        if variable.kind != Kind::Variable || variable.text == "_" {
            return false;
        }
        let own = self.name..self.end(self.name);
        let mut uses = (0..self.tokens.len())
            .filter(|at| !own.contains(at) && self.tokens[*at].text == variable.text)
            .peekable();
        let names = |at: usize| {
            // The brackets around it, from the inside to the outside.
            let mut around = std::iter::successors(self.bracket(at), |&open| self.bracket(open));
            around.any(|open| open > 0 && self.is(open - 1, name))
        };
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
            token.kind != Kind::Variable || before.iter().any(|one| one.text == token.text)
        })
    }
}
