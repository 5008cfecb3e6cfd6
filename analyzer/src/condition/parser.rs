//! Text to conditions. The last alternative of each choice says what was expected where the text
//! goes on otherwise.

use crate::scope::duration::{decimal, unit_ns};
use regex::{Regex, RegexBuilder};
use winnow::combinator::{alt, eof, not, opt, peek, preceded, repeat, separated, terminated};
use winnow::error::{ParseError, ParserError};
use winnow::prelude::*;
use winnow::stream::Stateful;
use winnow::token::{any, none_of, one_of, take_while};

use super::{
    Condition, ConditionError, ConditionNode, ConditionOperator, Field, FieldKind, Operand,
};

/// Deeper nesting is refused: evaluation recurses.
const MAX_DEPTH: usize = 64;

/// Regular expressions that would take more memory than this are refused.
const MAX_REGEX_BYTES: usize = 1 << 20;

type ParserInput<'a> = Stateful<&'a str, ParserContext<'a>>;

#[derive(Debug, Clone, Copy)]
struct ParserContext<'a> {
    fields: &'a [Field<'a>],
    depth: usize,
}

/// Why a parser does not go on.
#[derive(Debug)]
enum ParseFailure {
    /// Something else may be there.
    Other,
    /// The text is no condition.
    Refused(ConditionError),
}

impl From<ConditionError> for ParseFailure {
    fn from(error: ConditionError) -> Self {
        Self::Refused(error)
    }
}

impl<'a> ParserError<ParserInput<'a>> for ParseFailure {
    type Inner = Self;

    fn from_input(_: &ParserInput<'a>) -> Self {
        Self::Other
    }

    fn is_backtrack(&self) -> bool {
        matches!(self, Self::Other)
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

type Parsed<T> = Result<T, ParseFailure>;

pub(super) fn parse(text: &str, fields: &[Field]) -> Result<ConditionNode, ConditionError> {
    let input = Stateful {
        input: text,
        state: ParserContext { fields, depth: 0 },
    };
    let end = alt((preceded(blank, eof).void(), expected("`and` or `or`")));
    let parsed = terminated(any_of, end).parse(input);
    parsed.map_err(
        |error: ParseError<ParserInput, ParseFailure>| match error.into_inner() {
            ParseFailure::Refused(error) => error,
            ParseFailure::Other => wanted("a condition", text),
        },
    )
}

/// Rows that have `text` in a column of text.
pub(super) fn word(text: &str, fields: &[Field]) -> Result<ConditionNode, ConditionError> {
    search(
        &regex::escape(text),
        !text.chars().any(char::is_uppercase),
        fields,
    )
}

fn search(
    pattern: &str,
    any_case: bool,
    fields: &[Field],
) -> Result<ConditionNode, ConditionError> {
    let columns = (0..fields.len()).filter(|&at| fields[at].kind == FieldKind::Text);
    Ok(ConditionNode::Word(
        columns.collect(),
        regex(pattern, any_case)?,
    ))
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

fn wanted(expected: &'static str, rest: &str) -> ConditionError {
    let place = match rest.trim_start() {
        "" => "at the end".to_owned(),
        rest => format!("before {rest:?}"),
    };
    ConditionError::Expected { expected, place }
}

/// Refuses whatever there is.
fn expected<'a, T>(expected: &'static str) -> impl Parser<ParserInput<'a>, T, ParseFailure> {
    move |input: &mut ParserInput<'a>| Err(wanted(expected, input).into())
}

fn blank<'a>(input: &mut ParserInput<'a>) -> Parsed<&'a str> {
    take_while(0.., char::is_whitespace).parse_next(input)
}

fn sign<'a>(sign: &'static str) -> impl Parser<ParserInput<'a>, &'a str, ParseFailure> {
    preceded(blank, sign)
}

/// Text without quotes. `!` ends it only where an operator begins: it may be part of a name.
fn bare<'a>(input: &mut ParserInput<'a>) -> Parsed<&'a str> {
    let ends = |c: char| c.is_whitespace() || "<>=~()\"".contains(c);
    let letter = preceded(
        not(alt((one_of(ends).void(), "!=".void(), "!~".void()))),
        any,
    );
    let word = repeat::<_, _, (), _, _>(1.., letter).take();
    preceded(blank, word).parse_next(input)
}

/// Text in quotes, so it is never a column or `and`. `\"` stands for a quote; `\` before anything
/// else stays, because regular
/// expressions are full of it.
fn quoted(input: &mut ParserInput) -> Parsed<String> {
    let letter = alt(("\\\"".value('"'), none_of('"')));
    let text = repeat(0.., letter).fold(String::new, |text: String, c| {
        text + c.encode_utf8(&mut [0; 4])
    });
    let end = alt(("\"".void(), expected("a closing quote")));
    preceded(sign("\""), terminated(text, end)).parse_next(input)
}

fn keyword<'a>(word: &'static str) -> impl Parser<ParserInput<'a>, (), ParseFailure> {
    bare.verify(move |text: &str| text.eq_ignore_ascii_case(word))
        .void()
}

fn any_of(input: &mut ParserInput) -> Parsed<ConditionNode> {
    let parts = separated(1.., all_of, keyword("or"));
    parts
        .map(|parts| single(parts, ConditionNode::Any))
        .parse_next(input)
}

fn all_of(input: &mut ParserInput) -> Parsed<ConditionNode> {
    let end = alt((preceded(blank, eof).void(), sign(")").void(), keyword("or")));
    let goes_on = alt((keyword("and"), peek(not(end))));
    let (first, others): (_, Vec<ConditionNode>) =
        (factor, repeat(0.., preceded(goes_on, factor))).parse_next(input)?;
    let parts = [first].into_iter().chain(others).collect();
    Ok(single(parts, ConditionNode::All))
}

fn factor(input: &mut ParserInput) -> Parsed<ConditionNode> {
    if input.state.depth == MAX_DEPTH {
        return Err(ConditionError::TooDeep.into());
    }
    input.state.depth += 1;
    let closed = alt((sign(")"), expected("`)`")));
    let node = alt((
        preceded(keyword("not"), factor).map(|node| ConditionNode::Not(Box::new(node))),
        preceded(sign("("), terminated(any_of, closed)),
        anywhere,
        of_column,
        expected("a condition"),
    ))
    .parse_next(input);
    input.state.depth -= 1;
    node
}

/// `~ text`, or a text in quotes: looked for in all columns of text.
fn anywhere(input: &mut ParserInput) -> Parsed<ConditionNode> {
    let fields = input.state.fields;
    Ok(match opt(sign("~")).parse_next(input)? {
        Some(_) => search(&pattern(input)?, true, fields)?,
        None => word(&quoted(input)?, fields)?,
    })
}

/// A word alone, or a comparison that begins with it.
fn of_column(input: &mut ParserInput) -> Parsed<ConditionNode> {
    not(alt((keyword("and"), keyword("or")))).parse_next(input)?;
    let name = bare(input)?;
    let fields = input.state.fields;
    let found = column(name, fields);
    let unknown = || ConditionError::UnknownColumn {
        name: name.to_owned(),
        names: Condition::names(fields),
    };
    if let Some(comparison) = opt(comparison).parse_next(input)? {
        let at = found.or_else(|| begins(name, fields)).ok_or_else(unknown)?;
        return compared(input, at, comparison);
    }
    if let Some(sign) = opt(alt((sign("~"), sign("!~")))).parse_next(input)? {
        let at = found.or_else(|| begins(name, fields)).ok_or_else(unknown)?;
        if !matches!(fields[at].kind, FieldKind::Text | FieldKind::Label) {
            return Err(mismatch(&fields[at], "is no text").into());
        }
        let node = ConditionNode::Matches(at, regex(&pattern(input)?, true)?);
        return Ok(match sign {
            "~" => node,
            _ => ConditionNode::Not(Box::new(node)),
        });
    }
    // A column of truth values is a condition itself.
    Ok(
        match found.filter(|&at| fields[at].kind == FieldKind::Bool) {
            Some(at) => ConditionNode::Compare(at, ConditionOperator::Equal, Operand::Bool(true)),
            None => word(name, fields)?,
        },
    )
}

fn comparison(input: &mut ParserInput) -> Parsed<ConditionOperator> {
    let sign = alt((
        "<=".value(ConditionOperator::AtMost),
        "=<".value(ConditionOperator::AtMost),
        ">=".value(ConditionOperator::AtLeast),
        "!=".value(ConditionOperator::NotEqual),
        "==".value(ConditionOperator::Equal),
        "=".value(ConditionOperator::Equal),
        "<".value(ConditionOperator::Less),
        ">".value(ConditionOperator::Greater),
    ));
    preceded(blank, sign).parse_next(input)
}

fn pattern(input: &mut ParserInput) -> Parsed<String> {
    let bare = bare.map(str::to_owned);
    alt((bare, quoted, expected("a regular expression"))).parse_next(input)
}

/// What a column is compared with: a value, or of numbers a range of them.
fn compared(
    input: &mut ParserInput,
    at: usize,
    comparison: ConditionOperator,
) -> Parsed<ConditionNode> {
    let field = input.state.fields[at];
    let before = *input;
    let is_number = matches!(field.kind, FieldKind::Count | FieldKind::Time { .. });
    let ends = opt(bare)
        .parse_next(input)?
        .and_then(|text| text.split_once(".."));
    let (Some((least, most)), true) = (ends, is_number) else {
        *input = before;
        return Ok(ConditionNode::Compare(at, comparison, operand(input, at)?));
    };
    let most = with_unit(input, most, &field);
    let ends = (number(least, &field)?, number(&most, &field)?);
    let (Some(least), Some(most)) = ends else {
        return Err(wanted("a range of numbers, as 100..200,", &before).into());
    };
    if least > most {
        return Err(mismatch(&field, "is in no range that ends before it begins").into());
    }
    match comparison {
        ConditionOperator::Equal => Ok(ConditionNode::Within(at, least, most)),
        // A missing cell is in no range, and outside of none.
        ConditionOperator::NotEqual => Ok(ConditionNode::Any(vec![
            ConditionNode::Compare(at, ConditionOperator::Less, Operand::Number(least)),
            ConditionNode::Compare(at, ConditionOperator::Greater, Operand::Number(most)),
        ])),
        _ => Err(mismatch(&field, "is compared with a range by = or !=").into()),
    }
}

fn operand(input: &mut ParserInput, left: usize) -> Parsed<Operand> {
    let before = *input;
    let fields = input.state.fields;
    let field = fields[left];
    let bare = bare.map(|text| (text.to_owned(), column(text, fields)));
    let quoted = quoted.map(|text| (text, None));
    let (text, other) = alt((bare, quoted, expected("a value"))).parse_next(input)?;
    let operand = match (field.kind, other) {
        (kind, Some(other)) if comparable(kind, fields[other].kind) => Some(Operand::Column(other)),
        (FieldKind::Text | FieldKind::Label, _) => Some(Operand::Text(text)),
        (FieldKind::Bool, _) => match text.as_str() {
            "true" | "yes" => Some(Operand::Bool(true)),
            "false" | "no" => Some(Operand::Bool(false)),
            _ => None,
        },
        (FieldKind::Count | FieldKind::Time { .. }, _) => {
            let text = with_unit(input, &text, &field);
            number(&text, &field)?.map(Operand::Number)
        }
    };
    let kind = match field.kind {
        FieldKind::Bool => "true or false",
        _ => "a number",
    };
    Ok(operand.ok_or_else(|| wanted(kind, &before))?)
}

fn single(
    mut parts: Vec<ConditionNode>,
    wrap: fn(Vec<ConditionNode>) -> ConditionNode,
) -> ConditionNode {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        wrap(parts)
    }
}

fn comparable(left: FieldKind, right: FieldKind) -> bool {
    use FieldKind::{Bool, Count, Label, Text, Time};
    matches!(
        (left, right),
        (Text | Label, Text | Label) | (Bool, Bool) | (Count, Count) | (Time { .. }, Time { .. })
    )
}

/// The column of this name, or of this name and `_ns`.
fn column(name: &str, fields: &[Field]) -> Option<usize> {
    fields.iter().position(|field| field.is_called(name))
}

/// The only column whose name begins so: `det` for `determinism`.
fn begins(name: &str, fields: &[Field]) -> Option<usize> {
    let name = name.to_lowercase();
    let mut found = (0..fields.len()).filter(|&at| fields[at].name.starts_with(&name));
    found.next().filter(|_| found.next().is_none())
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

/// A number with the unit after it, if it has none and the next word is one: `5 ms`, `10 %`.
fn with_unit(input: &mut ParserInput, text: &str, field: &Field) -> String {
    let before = *input;
    let is_unit = |word: &str| match field.kind {
        FieldKind::Count => matches!(word, "k" | "M" | "G"),
        FieldKind::Time { whole } => unit_ns(word).is_some() || word == "%" && whole.is_some(),
        _ => false,
    };
    match bare(input) {
        Ok(word) if decimal(text).is_some() && is_unit(word) => format!("{text}{word}"),
        _ => {
            *input = before;
            text.to_owned()
        }
    }
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
