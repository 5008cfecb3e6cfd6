//! Names of predicates, and with a star at the end how such names begin.

/// Whether a name is one of these, or begins as one does.
pub(super) fn is_one_of(name: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|one| match one.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *one,
    })
}
