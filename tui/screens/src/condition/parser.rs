//! Tokens to conditions.

use portmortem_analyzer::scope::duration::{decimal, unit_ns};
use regex::{Regex, RegexBuilder};

use super::lexer::{Token, tokens};
use super::{Comparison, Condition, ConditionError, Field, FieldKind, Node, Operand};

/// Deeper nesting is refused: evaluation recurses.
const MAX_DEPTH: usize = 64;

/// Regular expressions that would take more memory than this are refused.
const MAX_REGEX_BYTES: usize = 1 << 20;

pub(super) fn parse(text: &str, fields: &[Field]) -> Result<Node, ConditionError> {
    let mut parser = Parser {
        text,
        tokens: tokens(text)?,
        at: 0,
        fields,
        depth: 0,
    };
    let node = parser.any()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.expected("`and` or `or`")),
    }
}

/// Rows that have `text` in a column of text.
pub(super) fn word(text: &str, fields: &[Field]) -> Result<Node, ConditionError> {
    search(
        &regex::escape(text),
        !text.chars().any(char::is_uppercase),
        fields,
    )
}

fn search(pattern: &str, any_case: bool, fields: &[Field]) -> Result<Node, ConditionError> {
    let columns = (0..fields.len()).filter(|&at| fields[at].kind == FieldKind::Text);
    Ok(Node::Word(columns.collect(), regex(pattern, any_case)?))
}

fn regex(pattern: &str, any_case: bool) -> Result<Regex, ConditionError> {
    RegexBuilder::new(pattern)
        .case_insensitive(any_case)
        .size_limit(MAX_REGEX_BYTES)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            ConditionError::Regex(last.trim_start_matches("error: ").to_owned())
        })
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token)>,
    at: usize,
    fields: &'a [Field<'a>],
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn take(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(text)) if text.eq_ignore_ascii_case(word))
    }

    fn expected(&self, expected: &'static str) -> ConditionError {
        let place = match self.tokens.get(self.at) {
            Some(&(at, _)) => format!("before {:?}", &self.text[at..]),
            None => "at the end".to_owned(),
        };
        ConditionError::Expected { expected, place }
    }

    fn any(&mut self) -> Result<Node, ConditionError> {
        let mut parts = vec![self.all()?];
        while self.is_word("or") {
            self.at += 1;
            parts.push(self.all()?);
        }
        Ok(single(parts, Node::Any))
    }

    fn all(&mut self) -> Result<Node, ConditionError> {
        let mut parts = vec![self.factor()?];
        loop {
            if self.is_word("and") {
                self.at += 1;
            } else if self.peek().is_none()
                || self.is_word("or")
                || self.peek() == Some(&Token::Close)
            {
                return Ok(single(parts, Node::All));
            }
            parts.push(self.factor()?);
        }
    }

    fn factor(&mut self) -> Result<Node, ConditionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ConditionError::TooDeep);
        }
        let node = self.nested();
        self.depth -= 1;
        node
    }

    fn nested(&mut self) -> Result<Node, ConditionError> {
        if self.is_word("not") {
            self.at += 1;
            return Ok(Node::Not(Box::new(self.factor()?)));
        }
        if self.is_word("and") || self.is_word("or") {
            return Err(self.expected("a condition"));
        }
        match self.peek() {
            Some(Token::Open) => {
                self.at += 1;
                let node = self.any()?;
                if self.peek() != Some(&Token::Close) {
                    return Err(self.expected("`)`"));
                }
                self.at += 1;
                Ok(node)
            }
            Some(Token::Matches) => {
                self.at += 1;
                let pattern = self.pattern()?;
                search(&pattern, true, self.fields)
            }
            Some(Token::Quoted(text)) => {
                let text = text.clone();
                self.at += 1;
                word(&text, self.fields)
            }
            Some(Token::Word(text)) => {
                let text = text.clone();
                self.at += 1;
                self.after(&text)
            }
            _ => Err(self.expected("a condition")),
        }
    }

    /// A word alone, or a comparison that begins with it.
    fn after(&mut self, name: &str) -> Result<Node, ConditionError> {
        let found = column(name, self.fields);
        let unknown = || ConditionError::UnknownColumn(name.to_owned());
        match self.peek() {
            Some(Token::Compare(comparison)) => {
                let comparison = *comparison;
                self.at += 1;
                let at = found.ok_or_else(unknown)?;
                let operand = self.operand(at)?;
                Ok(Node::Compare(at, comparison, operand))
            }
            Some(Token::Matches | Token::MatchesNot) => {
                let negated = self.take() == Some(Token::MatchesNot);
                let at = found.ok_or_else(unknown)?;
                if self.fields[at].kind != FieldKind::Text {
                    return Err(mismatch(&self.fields[at], "is no text"));
                }
                let node = Node::Matches(at, regex(&self.pattern()?, true)?);
                Ok(if negated {
                    Node::Not(Box::new(node))
                } else {
                    node
                })
            }
            // A column of truth values is a condition itself.
            _ => match found.filter(|&at| self.fields[at].kind == FieldKind::Bool) {
                Some(at) => Ok(Node::Compare(at, Comparison::Equal, Operand::Bool(true))),
                None => word(name, self.fields),
            },
        }
    }

    fn pattern(&mut self) -> Result<String, ConditionError> {
        match self.peek() {
            Some(Token::Word(text) | Token::Quoted(text)) => {
                let text = text.clone();
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.expected("a regular expression")),
        }
    }

    fn operand(&mut self, left: usize) -> Result<Operand, ConditionError> {
        let field = self.fields[left];
        let (text, quoted) = match self.peek() {
            Some(Token::Word(text)) => (text.clone(), false),
            Some(Token::Quoted(text)) => (text.clone(), true),
            _ => return Err(self.expected("a value")),
        };
        let other = column(&text, self.fields).filter(|_| !quoted);
        let operand = match (field.kind, other) {
            (kind, Some(other)) if comparable(kind, self.fields[other].kind) => {
                Some(Operand::Column(other))
            }
            (FieldKind::Text, _) => Some(Operand::Text(text)),
            (FieldKind::Bool, _) => match text.as_str() {
                "true" | "yes" => Some(Operand::Bool(true)),
                "false" | "no" => Some(Operand::Bool(false)),
                _ => None,
            },
            (FieldKind::Count | FieldKind::Time { .. }, _) => {
                number(&text, &field)?.map(Operand::Number)
            }
        };
        let operand = operand.ok_or_else(|| match field.kind {
            FieldKind::Bool => self.expected("true or false"),
            _ => self.expected("a number"),
        })?;
        self.at += 1;
        Ok(operand)
    }
}

fn single(mut parts: Vec<Node>, wrap: fn(Vec<Node>) -> Node) -> Node {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        wrap(parts)
    }
}

fn comparable(left: FieldKind, right: FieldKind) -> bool {
    use FieldKind::{Bool, Count, Text, Time};
    matches!(
        (left, right),
        (Text, Text) | (Bool, Bool) | (Count, Count) | (Time { .. }, Time { .. })
    )
}

/// The column of this name, or of this name and `_ns`.
fn column(name: &str, fields: &[Field]) -> Option<usize> {
    fields.iter().position(|field| field.is_called(name))
}

fn mismatch(field: &Field, problem: &'static str) -> ConditionError {
    ConditionError::Mismatch {
        column: field.name.to_owned(),
        problem,
    }
}

/// A number with a unit that suits the column, in thousandths; `None` if it is no number.
fn number(text: &str, field: &Field) -> Result<Option<i128>, ConditionError> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_' && c != ',')
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let Some(value) = decimal(digits) else {
        return Ok(None);
    };
    let factor: i128 = match (field.kind, unit) {
        (_, "") => 1,
        (FieldKind::Count, "k") => 1_000,
        (FieldKind::Count, "M") => 1_000_000,
        (FieldKind::Count, "G") => 1_000_000_000,
        (FieldKind::Count, _) => return Err(mismatch(field, "is a count: k, M, G")),
        (FieldKind::Time { whole: Some(whole) }, "%") => {
            return Ok(Some(value.saturating_mul(whole.into()) / 100 / 1_000_000));
        }
        (FieldKind::Time { .. }, unit) => {
            unit_ns(unit).ok_or_else(|| mismatch(field, "is a time: ns, us, ms, s"))?
        }
        _ => return Ok(None),
    };
    Ok(Some(value.saturating_mul(factor) / 1_000_000))
}

impl Condition {
    /// The columns that conditions on these fields can name, for a list in help.
    #[must_use]
    pub fn names(fields: &[Field]) -> Vec<String> {
        let short = |field: &Field| {
            let name = field.name;
            name.strip_suffix("_ns").unwrap_or(name).to_owned()
        };
        fields.iter().map(short).collect()
    }
}
