//! Powers that are computed as a whole and reduced then: `Base ** Exponent mod Modulus`.

use super::{Lexeme, Token, after_operand};

/// Such an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::advice) struct Power<'t> {
    /// Of the operator, as [`Token::line`].
    pub(in crate::advice) line: u32,
    /// `**` or `^`.
    pub(in crate::advice) operator: &'t str,
    /// `mod` or `rem`.
    pub(in crate::advice) reduced_by: &'t str,
}

/// Those of a clause: in one expression, or the power in `V is Base ** Exponent` and
/// `V mod Modulus` in a later one.
pub(in crate::advice) fn powers<'t>(clause: &[Token<'t>]) -> Vec<Power<'t>> {
    let body = super::body(clause);
    let operators = (1..body.len()).filter(|&at| is_atom(&body[at], &["**", "^"]));
    let power = |at: usize| {
        let reduced_by = reduced_in_it(body, at).or_else(|| reduced_later(body, at))?;
        Some(Power {
            line: body[at].line,
            operator: body[at].text,
            reduced_by,
        })
    };
    operators.filter_map(power).collect()
}

fn is_atom(token: &Token, atoms: &[&str]) -> bool {
    token.kind == Lexeme::Atom && atoms.contains(&token.text)
}

/// The operator that reduces the power at `at` in the same expression, also a product with it.
fn reduced_in_it<'t>(body: &[Token<'t>], at: usize) -> Option<&'t str> {
    let mut behind = after_operand(body, at + 1);
    loop {
        let token = body.get(behind)?;
        if is_atom(token, &["mod", "rem"]) {
            return Some(token.text);
        }
        behind = match token.kind {
            Lexeme::Close if ["(", ")"].contains(&token.text) => behind + 1,
            Lexeme::Atom if token.text == "*" => after_operand(body, behind + 1),
            _ => return None,
        };
    }
}

/// The operator that reduces the variable that is nothing but the power at `at`.
fn reduced_later<'t>(body: &[Token<'t>], at: usize) -> Option<&'t str> {
    let is = (0..at).rev().find(|&is| is_atom(&body[is], &["is"]))?;
    let end = after_operand(body, at + 1);
    let is_all = after_operand(body, is + 1) == at
        && matches!(body.get(end)?.kind, Lexeme::Comma | Lexeme::End);
    let variable = body.get(is.checked_sub(1)?)?;
    if !is_all || variable.kind != Lexeme::Variable {
        return None;
    }
    let mut pairs = body[end..].windows(2);
    let reduced =
        pairs.find(|pair| pair[0].text == variable.text && is_atom(&pair[1], &["mod", "rem"]))?;
    Some(reduced[1].text)
}

#[cfg(test)]
mod tests {
    use super::super::clauses;
    use super::*;

    fn count(body: &str) -> usize {
        powers(&clauses(&format!("p(X) :-\n{body}.\n"))[0]).len()
    }

    #[test]
    fn powers_that_are_reduced() {
        for body in [
            "C is B**E mod N",
            "C is (B ^ (E+1)) mod N",
            "C is B ** f(E) rem N, q(C)",
            "C is A * B**E mod N",
            "C is (B**E * A) mod N",
            "P is B ** E, C is P mod N",
            "a, P is 3^E, b, ( C is P mod 7 -> c ; d )",
        ] {
            assert_eq!(count(body), 1, "{body}");
        }
        for body in [
            "C is B**E",
            "C is B**(E mod N)",
            "C is B**E + A mod N",
            "C is powm(B, E, N)",
            "P is B ** E, C is Q mod N",
            "P is B ** E + 1, C is P mod N",
            "setof(X, Y^p(X, Y), L), N is M mod 3",
        ] {
            assert_eq!(count(body), 0, "{body}");
        }
    }
}
