//! Text to tokens.

use super::{Comparison, ConditionError};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// Without quotes.
    Word(String),
    /// It was in quotes, so it is never a column or `and`.
    Quoted(String),
    Open,
    Close,
    Compare(Comparison),
    Matches,
    MatchesNot,
}

/// The tokens, each with where it begins, in bytes.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ConditionError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (token, length) = next(&text[at..])?;
        found.push((at, token));
        at += length;
    }
    Ok(found)
}

fn next(text: &str) -> Result<(Token, usize), ConditionError> {
    const SIGNS: [(&str, Token); 12] = [
        ("<=", Token::Compare(Comparison::AtMost)),
        ("=<", Token::Compare(Comparison::AtMost)),
        (">=", Token::Compare(Comparison::AtLeast)),
        ("!=", Token::Compare(Comparison::NotEqual)),
        ("==", Token::Compare(Comparison::Equal)),
        ("!~", Token::MatchesNot),
        ("=", Token::Compare(Comparison::Equal)),
        ("<", Token::Compare(Comparison::Less)),
        (">", Token::Compare(Comparison::Greater)),
        ("~", Token::Matches),
        ("(", Token::Open),
        (")", Token::Close),
    ];
    if let Some(rest) = text.strip_prefix('"') {
        return quoted(rest).map(|(token, length)| (token, length + 1));
    }
    for (sign, token) in SIGNS {
        if text.starts_with(sign) {
            return Ok((token, sign.len()));
        }
    }
    let length = text
        .char_indices()
        .find(|&(at, c)| {
            at > 0 && (c.is_whitespace() || "<>=~()\"".contains(c) || negates(text, at))
        })
        .map_or(text.len(), |(at, _)| at);
    Ok((Token::Word(text[..length].to_owned()), length))
}

/// `!` ends a word only where an operator begins: it may be part of a name.
fn negates(text: &str, at: usize) -> bool {
    text[at..].starts_with("!=") || text[at..].starts_with("!~")
}

/// What follows a quote, up to the next one; `\"` and `\\` stand for themselves, `\` before anything else
/// stays, because regular expressions are full of it.
fn quoted(text: &str) -> Result<(Token, usize), ConditionError> {
    let mut value = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Token::Quoted(value), at + 1)),
            '\\' if matches!(chars.peek(), Some((_, '"'))) => {
                value.push('"');
                chars.next();
            }
            c => value.push(c),
        }
    }
    Err(ConditionError::Expected {
        expected: "a closing quote",
        place: "at the end".to_owned(),
    })
}
