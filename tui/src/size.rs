//! Sizes in bytes as people write them.

/// Reads `500`, `64K`, `500M`, `2G` (powers of 1024; a trailing `B` or `iB` is allowed).
///
/// # Errors
/// A text for the user if it is not a size.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.trim_end_matches("ib").trim_end_matches('b');
    let (digits, shift) = match number.chars().last() {
        Some('k') => (&number[..number.len() - 1], 10),
        Some('m') => (&number[..number.len() - 1], 20),
        Some('g') => (&number[..number.len() - 1], 30),
        Some('t') => (&number[..number.len() - 1], 40),
        _ => (number, 0),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|value| value.checked_mul(1 << shift))
        .ok_or_else(|| "not a size; write for example 500M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("500"), Ok(500));
        assert_eq!(parse_size("64K"), Ok(65_536));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert!(parse_size("much").is_err());
        assert!(parse_size("99999999999T").is_err());
        assert!(parse_size("").is_err());
    }
}
