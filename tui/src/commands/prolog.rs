//! Texts as Prolog reads them.

/// Quoted atoms, as the elements of a list.
pub(super) fn atoms(texts: &[String]) -> String {
    texts
        .iter()
        .map(|text| atom(text))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A quoted Prolog atom.
pub(super) fn atom(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => {
                quoted.push('\\');
                quoted.push(c);
            }
            c if c.is_control() => quoted.push_str(&format!("\\x{:x}\\", c as u32)),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_quoted() {
        assert_eq!(atom("it's a \\ path"), r"'it\'s a \\ path'");
        assert_eq!(atom("a\nb"), "'a\\xa\\b'");
    }
}
