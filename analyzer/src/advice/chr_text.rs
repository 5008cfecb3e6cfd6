//! Which constraints of library chr a text declares, and with which modes.

use super::clause_text::{Lexeme, Token, parts};

/// A constraint that a text declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeclaredConstraint {
    pub(super) name: String,
    pub(super) arity: u32,
    /// An argument of it is said to be ground: only such ones are looked up by an index.
    pub(super) has_ground: bool,
    /// Line of its declaration, from 1.
    pub(super) line: u32,
}

/// All constraints of a text, in the order in which this directive declares them.
pub(super) fn declared(clauses: &[Vec<Token>], directive: &str) -> Vec<DeclaredConstraint> {
    let declared = |clause: &Vec<Token>| match clause.as_slice() {
        [neck, of, items @ .., end]
            if neck.text == ":-" && of.text == directive && end.kind == Lexeme::End =>
        {
            let items = match items {
                [open, inner @ .., _] if matches!(open.kind, Lexeme::Open { .. }) => inner,
                items => items,
            };
            parts(items).into_iter().filter_map(item).collect()
        }
        _ => Vec::new(),
    };
    clauses.iter().flat_map(declared).collect()
}

/// `name/2`, `name(+int, ?any)` or `name`.
fn item(tokens: &[Token]) -> Option<DeclaredConstraint> {
    let name = tokens.first().filter(|name| name.kind == Lexeme::Atom)?;
    let (arity, has_ground) = match &tokens[1..] {
        [] => (0, false),
        [slash, arity] if slash.text == "/" => (arity.text.parse().ok()?, false),
        [open, inner @ .., close]
            if matches!(open.kind, Lexeme::Open { .. }) && close.kind == Lexeme::Close =>
        {
            let arguments = parts(inner);
            let is_ground = |argument: &&[Token]| argument.first().is_some_and(|of| of.text == "+");
            (
                u32::try_from(arguments.len()).ok()?,
                arguments.iter().any(is_ground),
            )
        }
        _ => return None,
    };
    Some(DeclaredConstraint {
        name: name.text.to_owned(),
        arity,
        has_ground,
        line: name.line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::clause_text;

    #[test]
    fn constraints_and_their_modes() {
        let text = ":- use_module(library(chr)).\n:- chr_constraint a/2, b(+int, ?any),\n  'c d'(?list(int), ?any), e.\n\
                    :- chr_constraint(f/1).\na(X, Y) <=> X = Y.\n";
        let clauses = clause_text::clauses(text);
        let found = declared(&clauses, "chr_constraint");
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.arity, one.has_ground, one.line))
            .collect();
        assert_eq!(
            found,
            [
                ("a", 2, false, 2),
                ("b", 2, true, 2),
                ("c d", 2, false, 3),
                ("e", 0, false, 3),
                ("f", 1, false, 4),
            ]
        );
    }
}
