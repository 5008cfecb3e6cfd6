//! Findings that the user does not want to see: by an option, or by a comment in the source.

use std::fs;

use portmortem_tracer::pattern::PredicatePattern;

use super::{Cause, Finding};
use crate::Analysis;

/// How a comment begins that ignores findings of its clause or goal.
const COMMENT: &str = "portmortem: ignore ";

/// Findings of one cause, of all predicates or of some: `NAME` or `NAME:PREDICATE`.
#[derive(Debug, Clone)]
pub struct Ignored {
    cause: Cause,
    predicates: Option<(String, PredicatePattern)>,
}

impl Ignored {
    /// Reads `NAME` or `NAME:PREDICATE`, the predicate as in other options.
    ///
    /// # Errors
    /// If no cause has that name; the text lists those that there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, predicates) = match text.split_once(':') {
            Some((name, text)) => (name, Some((text.to_owned(), PredicatePattern::new(text)))),
            None => (text, None),
        };
        let cause = Cause::named(name)?;
        Ok(Self { cause, predicates })
    }

    /// The pattern of the predicates, if not all are meant.
    #[must_use]
    pub fn predicates(&self) -> Option<&str> {
        self.predicates.as_ref().map(|(text, _)| text.as_str())
    }

    /// Whether a finding is one of these: by the predicate whose clause it stands in.
    #[must_use]
    pub fn matches(&self, analysis: &Analysis, finding: &Finding) -> bool {
        let is_in = |(_, pattern): &(String, PredicatePattern)| {
            (0..).zip(analysis.trace.predicates()).any(|(index, info)| {
                let of = &info.declared;
                analysis.predicate(index) == finding.place.predicate
                    && pattern.matches(&of.module, &of.name, of.arity)
            })
        };
        self.cause == finding.cause && self.predicates.as_ref().is_none_or(is_in)
    }
}

/// Whether a comment in the source names the finding: in its line, or in the lines of comments
/// directly above.
pub(super) fn in_source(analysis: &Analysis, finding: &Finding) -> bool {
    let place = &finding.place;
    let (Some(file), Some(line)) = (&place.file, place.line) else {
        return false;
    };
    let Ok(text) = fs::read_to_string(analysis.locate(file)) else {
        return false;
    };
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let Some((own, above)) = lines.split_last() else {
        return false;
    };
    let comments = above.iter().rev();
    let comments = comments.take_while(|line| line.trim_start().starts_with('%'));
    std::iter::once(own).chain(comments).any(|line| {
        let comment = line.split_once('%').map(|(_, comment)| comment);
        let names = comment.and_then(|comment| comment.split_once(COMMENT));
        names.is_some_and(|(_, names)| {
            let mut names = names.split([' ', ',', ';', '\t']);
            names.any(|name| name == finding.cause.name())
        })
    })
}
