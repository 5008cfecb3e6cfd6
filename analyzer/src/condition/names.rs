//! Names in conditions: of a predicate with its module or without, as it is printed.

use portmortem_tracer::pattern::wildcard;

/// Whether a text that a user wrote means a name. Patterns and modules are only looked for in the
/// names of predicates.
pub(super) fn means(text: &str, name: &str) -> bool {
    if text == name {
        return true;
    }
    let Some(short) = without_module(name) else {
        return false;
    };
    let is_in_user = short == name;
    wildcard(text, name)
        || wildcard(text, short)
        || is_in_user
            && text
                .strip_prefix("user:")
                .is_some_and(|text| wildcard(text, name))
}

/// A predicate's name without its module; `None` if it is no such name. Atoms with signs in them
/// are in quotes.
fn without_module(name: &str) -> Option<&str> {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if digits.len() == name.len() || !digits.ends_with('/') {
        return None;
    }
    let module = match name.strip_prefix('\'') {
        Some(rest) => rest.find("':").map(|end| end + 2),
        None => name.find(|c: char| !c.is_alphanumeric() && c != '_'),
    };
    let rest = module.and_then(|end| name[end..].strip_prefix(':'));
    Some(rest.map_or(name, str::trim_start))
}

#[cfg(test)]
mod tests {
    use super::means;

    #[test]
    fn predicates_are_meant_with_or_without_their_module() {
        for (text, name, is) in [
            ("lists:append/3", "lists:append/3", true),
            ("append/3", "lists:append/3", true),
            ("user:append/3", "append/3", true),
            ("append/3", "append/3", true),
            ("append/2", "lists:append/3", false),
            ("end/3", "lists:append/3", false),
            ("user:append/3", "lists:append/3", false),
            ("lists:*", "lists:append/3", true),
            ("app*/3", "lists:append/3", true),
            ("run/1", "'a:b':run/1", true),
            ("b':run/1", "'a:b':run/1", false),
            ("'a:b'/1", "'a:b'/1", true),
            ("b'/1", "'a:b'/1", false),
            ("semi*", "semidet", false),
            ("semidet", "semidet", true),
        ] {
            assert_eq!(means(text, name), is, "{text} and {name}");
        }
    }
}
