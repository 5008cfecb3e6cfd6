//! The text of a clause as tokens: enough of the syntax to see what stands in which brackets, and
//! what comes before and after it there.

use std::ops::Range;

mod answers;
mod goals;
mod loops;
mod powers;
mod recursion;
mod sums;
mod uses;

pub(super) use answers::{built_up, declared, keeps_some};
pub(super) use goals::{NamedAs, calls_only, head_indicator};
pub(super) use powers::{Power, powers};
pub(super) use recursion::goes_along_list;
pub(super) use sums::{computed_with, sums};
pub(super) use uses::{ElementGoals, KeyUse, KeyedGoal, ListEnd, Maker, made_in_head};

/// A piece of the text that is neither layout nor a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'t> {
    pub(super) kind: Lexeme,
    /// Of a quoted atom, what is between the quotes.
    pub(super) text: &'t str,
    /// From 1.
    pub(super) line: u32,
}

/// What a [`Token`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexeme {
    /// An atom, quoted or not, of whatever characters.
    Atom,
    Variable,
    /// A number, a string, or text in back quotes.
    Constant,
    Open {
        /// It opens the arguments of what stands directly before it.
        arguments: bool,
    },
    Close,
    Comma,
    /// The full stop.
    End,
}

/// The clauses of a text, each with its full stop.
pub(super) fn clauses(text: &str) -> Vec<Vec<Token<'_>>> {
    let mut clauses = vec![Vec::new()];
    for token in (Lexer {
        text,
        at: 0,
        line: 1,
    }) {
        if let Some(clause) = clauses.last_mut() {
            clause.push(token);
        }
        if token.kind == Lexeme::End {
            clauses.push(Vec::new());
        }
    }
    clauses
}

/// The name of the predicate that a clause is of.
pub(super) fn head_name<'t>(clause: &[Token<'t>]) -> Option<&'t str> {
    let head = match clause {
        [module, colon, head @ ..] if colon.text == ":" && module.kind == Lexeme::Atom => head,
        head => head,
    };
    let first = head.first()?;
    (first.kind == Lexeme::Atom && first.text != ":-").then_some(first.text)
}

/// Where the head of a clause ends; `None` for a fact.
fn neck(clause: &[Token]) -> Option<usize> {
    let is_neck =
        |token: &Token| token.kind == Lexeme::Atom && [":-", "-->", "=>"].contains(&token.text);
    clause.iter().position(is_neck)
}

/// What follows the head of a clause. A fact has nothing there, nor has a directive.
pub(super) fn body<'c, 't>(clause: &'c [Token<'t>]) -> &'c [Token<'t>] {
    match neck(clause) {
        Some(at) if at > 0 => &clause[at + 1..],
        _ => &[],
    }
}

/// What is between the commas that are in no brackets.
pub(super) fn parts<'c, 't>(tokens: &'c [Token<'t>]) -> Vec<&'c [Token<'t>]> {
    split(tokens, |token| token.kind == Lexeme::Comma)
}

/// What is between the tokens that are in no brackets and are such ones.
fn split<'c, 't>(tokens: &'c [Token<'t>], is_one: impl Fn(&Token) -> bool) -> Vec<&'c [Token<'t>]> {
    let mut depth = 0_u32;
    let parts = tokens.split(|token| {
        match token.kind {
            Lexeme::Open { .. } => depth += 1,
            Lexeme::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && is_one(token)
    });
    parts.collect()
}

/// Behind the operand of an operator that is at a place: what is in brackets, with a name before
/// them or not, or one token.
fn after_operand(tokens: &[Token], at: usize) -> usize {
    let is_open = |at: usize| {
        let token = tokens.get(at);
        token.is_some_and(|token| matches!(token.kind, Lexeme::Open { .. }))
    };
    let has_arguments = at + 1 < tokens.len() && opens_arguments(tokens, at + 1);
    let open = if has_arguments { at + 1 } else { at };
    match is_open(open) {
        true => GoalText { tokens, name: open }.after_bracket(open),
        false => at + 1,
    }
}

/// Reads a text from its beginning.
struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

const SYMBOLS: &str = "+-*/\\^<>=~:.?@#&$";

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn take(&mut self, bytes: usize) -> &'t str {
        let taken = &self.rest()[..bytes];
        self.at += bytes;
        self.line += taken.matches('\n').count() as u32;
        taken
    }

    fn take_while(&mut self, of: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        self.take(rest.find(|c| !of(c)).unwrap_or(rest.len()))
    }

    /// Whether there was layout or a comment.
    fn skip_layout(&mut self) -> bool {
        let begin = self.at;
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            let length = match rest {
                _ if rest.starts_with('%') => rest.find('\n'),
                _ if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
                _ => return self.at > begin,
            };
            self.take(length.unwrap_or(rest.len()));
        }
    }

    /// What is between quotes; the first of them comes next.
    fn quoted(&mut self, quote: char) -> &'t str {
        self.take(1);
        let rest = self.rest();
        let mut chars = rest.char_indices();
        while let Some((end, c)) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                _ if c == quote && rest[end + 1..].starts_with(quote) => {
                    chars.next();
                }
                _ if c == quote => {
                    let text = self.take(end);
                    self.take(1);
                    return text;
                }
                _ => {}
            }
        }
        self.take(rest.len())
    }

    /// A number; it may be the code of a character, `0'c`.
    fn number(&mut self) -> &'t str {
        let rest = self.rest();
        if let Some(code) = rest.strip_prefix("0'") {
            let mut chars = code.chars();
            let length = match (chars.next(), chars.next()) {
                (Some('\\'), Some(c)) => 1 + c.len_utf8(),
                (Some('\''), Some('\'')) => 2,
                (first, _) => first.map_or(0, char::len_utf8),
            };
            return self.take(2 + length);
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let whole = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let fraction = rest[whole..].strip_prefix('.').map_or("", |rest| {
            let end = rest.find(|c: char| !c.is_alphanumeric());
            &rest[..end.unwrap_or(rest.len())]
        });
        match fraction.starts_with(|c: char| c.is_ascii_digit()) {
            true => self.take(whole + 1 + fraction.len()),
            false => self.take(whole),
        }
    }
}

impl<'t> Iterator for Lexer<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let after_layout = self.skip_layout() || self.at == 0;
        let line = self.line;
        let first = self.rest().chars().next()?;
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let (kind, text) = match first {
            '\'' => (Lexeme::Atom, self.quoted(first)),
            '"' | '`' => (Lexeme::Constant, self.quoted(first)),
            '(' if after_layout => (Lexeme::Open { arguments: false }, self.take(1)),
            '(' => (Lexeme::Open { arguments: true }, self.take(1)),
            '[' | '{' => (Lexeme::Open { arguments: false }, self.take(1)),
            ')' | ']' | '}' => (Lexeme::Close, self.take(1)),
            ',' => (Lexeme::Comma, self.take(1)),
            '!' | ';' | '|' => (Lexeme::Atom, self.take(1)),
            _ if first.is_ascii_digit() => (Lexeme::Constant, self.number()),
            _ if first == '_' || first.is_uppercase() => {
                (Lexeme::Variable, self.take_while(is_name))
            }
            _ if first.is_alphanumeric() => (Lexeme::Atom, self.take_while(is_name)),
            _ if SYMBOLS.contains(first) => {
                let text = self.take_while(|c| SYMBOLS.contains(c));
                let next = self.rest().chars().next();
                let is_end = text == "." && next.is_none_or(|c| c.is_whitespace() || c == '%');
                (if is_end { Lexeme::End } else { Lexeme::Atom }, text)
            }
            _ => (Lexeme::Constant, self.take(first.len_utf8())),
        };
        Some(Token { kind, text, line })
    }
}

/// Whether `(` opens arguments is known of what stands before it, too.
fn opens_arguments(tokens: &[Token], at: usize) -> bool {
    let names = |before: &Token| matches!(before.kind, Lexeme::Atom | Lexeme::Variable);
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    tokens[at].kind == Lexeme::Open { arguments: true } && before.is_some_and(names)
}

/// A goal in the text of its clause: the place of its name among the tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct GoalText<'t> {
    tokens: &'t [Token<'t>],
    name: usize,
}

impl<'t> GoalText<'t> {
    /// The goals with a name that begin at a line.
    pub(super) fn all(clauses: &'t [Vec<Token<'t>>], line: u32, name: &str) -> Vec<Self> {
        let all = clauses.iter().flat_map(|clause| {
            let places = 0..clause.len();
            places.map(|name| GoalText {
                tokens: clause,
                name,
            })
        });
        let is_it = |goal: &GoalText| {
            let token = &goal.tokens[goal.name];
            token.kind == Lexeme::Atom && token.text == name && token.line == line
        };
        all.filter(is_it).collect()
    }

    fn is(&self, at: usize, atom: &str) -> bool {
        let token = &self.tokens[at];
        token.kind == Lexeme::Atom && token.text == atom
    }

    /// Its name.
    pub(super) fn name(&self) -> &'t str {
        self.tokens[self.name].text
    }

    /// What follows its name.
    pub(super) fn rest(&self) -> &'t [Token<'t>] {
        &self.tokens[self.name + 1..]
    }

    /// The variables of the goal.
    pub(super) fn variables(&self) -> Vec<&'t str> {
        self.variables_in(self.name..self.end(self.name))
    }

    /// The variables of the head of its clause.
    pub(super) fn head_variables(&self) -> Vec<&'t str> {
        self.variables_in(0..neck(self.tokens).unwrap_or(0))
    }

    /// The arguments of the goal.
    fn arguments(&self) -> Vec<Range<usize>> {
        let (open, end) = (self.name + 1, self.end(self.name));
        match open == end {
            true => Vec::new(),
            false => self.parts(open + 1..end - 1),
        }
    }

    /// The parts of a range between the commas that are in no brackets of it.
    fn parts(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut begin = range.start;
        let parts = parts(&self.tokens[range]).into_iter().map(|part| {
            let end = begin + part.len();
            let part = begin..end;
            begin = end + 1;
            part
        });
        parts.collect()
    }

    /// The atoms in an argument of the goal, which is counted from 0.
    pub(super) fn atoms_in(&self, argument: usize) -> Vec<&'t str> {
        let range = self.arguments().get(argument).cloned();
        let tokens = self.tokens[range.unwrap_or(0..0)].iter();
        let atoms = tokens.filter(|token| token.kind == Lexeme::Atom);
        atoms.map(|token| token.text).collect()
    }

    /// The variable that an argument of the goal is, if it is one.
    pub(super) fn variable_in(&self, argument: usize) -> Option<&'t str> {
        let range = self.arguments().get(argument).cloned()?;
        let [token] = &self.tokens[range] else {
            return None;
        };
        (token.kind == Lexeme::Variable).then_some(token.text)
    }

    /// Whether an argument of the goal is a list.
    pub(super) fn is_list(&self, argument: usize) -> bool {
        let range = self.arguments().get(argument).cloned();
        let first = range.and_then(|range| self.tokens[range].first());
        first.is_some_and(|token| token.text == "[")
    }

    fn variables_in(&self, range: Range<usize>) -> Vec<&'t str> {
        let tokens = self.tokens[range].iter();
        let named = tokens.filter(|token| token.kind == Lexeme::Variable && token.text != "_");
        named.map(|token| token.text).collect()
    }

    /// Behind what is at a place, with its arguments.
    fn end(&self, at: usize) -> usize {
        let next = at + 1;
        match next < self.tokens.len() && opens_arguments(self.tokens, next) {
            true => self.after_bracket(next),
            false => next,
        }
    }

    /// Behind the bracket that closes the one at a place.
    fn after_bracket(&self, open: usize) -> usize {
        let mut depth = 0_u32;
        for (at, token) in self.tokens.iter().enumerate().skip(open) {
            match token.kind {
                Lexeme::Open { .. } => depth += 1,
                Lexeme::Close if depth == 1 => return at + 1,
                Lexeme::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The innermost bracket around a place; `None`: it is none but the clause.
    fn bracket(&self, at: usize) -> Option<usize> {
        let mut depth = 0_u32;
        (0..at).rev().find(|&before| {
            match self.tokens[before].kind {
                Lexeme::Close => depth += 1,
                Lexeme::Open { .. } if depth == 0 => return true,
                Lexeme::Open { .. } => depth -= 1,
                _ => {}
            }
            false
        })
    }

    /// The control structures of a range at the level of its end, in their order.
    fn control(&self, range: Range<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = range.start;
        while at < range.end {
            if matches!(self.tokens[at].kind, Lexeme::Open { .. }) {
                at = self.after_bracket(at);
                continue;
            }
            if self.tokens[at].kind == Lexeme::Close {
                found.clear();
            }
            if ["->", "*->", ";", "|"].iter().any(|one| self.is(at, one)) {
                found.push(at);
            }
            at += 1;
        }
        found
    }

    /// Whether the failure of this goal is that of the conjunction that `earlier` stands in, too.
    /// It is not if this is an argument, negated, or a condition or an alternative in brackets
    /// that do not hold `earlier`.
    pub(super) fn fails_with(&self, earlier: &GoalText) -> bool {
        if !std::ptr::eq(self.tokens, earlier.tokens) || earlier.name >= self.name {
            return false;
        }
        let mut at = self.name;
        loop {
            let open = self.bracket(at);
            let begin = open.map_or(0, |open| open + 1);
            if self.is_negated(at) {
                return false;
            }
            let is_common = earlier.name >= begin;
            if is_common {
                let between = self.control(earlier.name..at);
                return !between
                    .iter()
                    .any(|&at| self.is(at, ";") || self.is(at, "|"));
            }
            if open.is_some_and(|open| {
                opens_arguments(self.tokens, open) || self.tokens[open].text != "("
            }) || self.has_other_way(begin, at)
            {
                return false;
            }
            let Some(open) = open else {
                return false;
            };
            at = open;
        }
    }

    /// `\+` stands directly before it, or before its module.
    fn is_negated(&self, at: usize) -> bool {
        let mut before = at;
        while before >= 2 && self.is(before - 1, ":") {
            before -= 2;
        }
        before > 0 && self.is(before - 1, "\\+")
    }

    /// Where the part at `at` of brackets that begin at `begin` fails, another part follows: it is
    /// a condition of an if-then-else, or an alternative after which there is one.
    fn has_other_way(&self, begin: usize, at: usize) -> bool {
        let end = match begin.checked_sub(1) {
            Some(open) => self.after_bracket(open) - 1,
            None => self.tokens.len(),
        };
        let before = self.control(begin..at);
        let is_committed = before
            .last()
            .is_some_and(|&last| self.is(last, "->") || self.is(last, "*->"));
        let after = self.control(at..end);
        !is_committed && after.iter().any(|&at| self.is(at, ";") || self.is(at, "|"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the failure of `test` is that of `costly` in a body.
    fn fails_with(body: &str) -> bool {
        let text = format!("p(X) :-\n{body}.\n");
        let clauses = clauses(&text);
        let one = |name| {
            let all = clauses[0].iter().enumerate();
            let found = all.filter(|(_, token)| token.text == name);
            let places: Vec<usize> = found.map(|(at, _)| at).collect();
            assert_eq!(places.len(), 1, "{body}");
            GoalText {
                tokens: &clauses[0],
                name: places[0],
            }
        };
        one("test").fails_with(&one("costly"))
    }

    #[test]
    fn bodies_of_clauses() {
        let text = "a(x).\nb :- c.\nd --> e.\nf, g => h.\n:- i.\n";
        let clauses = clauses(text);
        let bodies = clauses.iter().map(|clause| body(clause));
        let bodies: Vec<Vec<&str>> = bodies
            .map(|body| body.iter().map(|token| token.text).collect())
            .collect();
        let expected: [&[&str]; 6] = [&[], &["c", "."], &["e", "."], &["h", "."], &[], &[]];
        assert_eq!(bodies, expected);
    }

    #[test]
    fn where_a_failure_goes() {
        for body in [
            "costly(X), test(X)",
            "costly, test",
            "other, ( costly(X), test(X) -> a ; b )",
            "costly(X), ( c -> test(X) ; d )",
            "costly(X), ( test(X) -> a )",
            "costly(X), ( c, test(X), d )",
            "costly(X), ( c ; test(X) )",
            "( costly(X) -> a ; b ), m:test(X)",
            "( a ; costly(X), test(X) )",
            "( costly(X), test(X) ; b )",
            "costly(0'(, \"(\", '(', 0'\\n), /* ( */ test(X) % (\n, a",
            "costly('it''s', 1.5, 0x1F), test([X|_])",
        ] {
            assert!(fails_with(body), "{body}");
        }
        for body in [
            "once(test(X)), costly(X)",
            "costly(X), ( test(X) -> a ; b )",
            "costly(X), ( test(X) *-> a ; b )",
            "costly(X), ( c, test(X) -> a ; b )",
            "costly(X), ( c -> a ; test(X) -> b ; d )",
            "costly(X), ( test(X) ; b )",
            "costly(X), ( ( test(X), c ) ; b )",
            "costly(X), \\+ test(X)",
            "costly(X), \\+ m:test(X)",
            "costly(X), \\+ ( c, test(X) )",
            "costly(X), once(test(X))",
            "costly(X), findall(X, ( c, test(X) ), Xs)",
            "costly(X), [test]",
            "( costly(X) ; test(X) )",
            "( costly(X), a ; b, test(X) )",
            "costly(test(X))",
        ] {
            assert!(!fails_with(body), "{body}");
        }
    }

    #[test]
    fn clauses_end_at_full_stops() {
        let text =
            "a :- X = \"a. b\", Y = 'c. d', Z = 1.5, f(X.y).\nb.% c.\n/* d. */ e:- 0'. = X.\n";
        let ends: Vec<u32> = clauses(text)
            .iter()
            .filter_map(|clause| clause.last().map(|last| last.line))
            .collect();
        assert_eq!(ends, [1, 2, 3]);
        let cut_short = ["'abc", "\"", "0'", "/* a", "f(", "a :- b", "\\", "0'\\"];
        for text in cut_short {
            assert_eq!(clauses(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn variables_of_goals_and_heads() {
        let text = "p(X, _, [Y|_Z]) :- f(X, A, 'B', \"C\", _), g.";
        let all = clauses(text);
        let goal = GoalText::all(&all, 1, "f")[0];
        assert_eq!(goal.variables(), ["X", "A"]);
        assert_eq!(goal.head_variables(), ["X", "Y", "_Z"]);
        let without = GoalText::all(&all, 1, "g")[0];
        assert!(without.variables().is_empty());
    }
}
