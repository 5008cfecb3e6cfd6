//! Durations as people write them: `250`, `1.5ms`, `2s`.

/// Thousand-millionths in a whole.
const WHOLE: i128 = 1_000_000_000;

/// Nanoseconds of a duration; without a unit it is in nanoseconds. `None` if it is none.
#[must_use]
pub fn parse_ns(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor = if unit.is_empty() { 1 } else { unit_ns(unit)? };
    let ns = decimal(digits.trim_end())?.checked_mul(factor)? / WHOLE;
    u64::try_from(ns).ok()
}

/// Nanoseconds in a unit of time: `ns`, `us` or `µs`, `ms`, `s`, `min`.
#[must_use]
pub fn unit_ns(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" => WHOLE,
        "min" => 60 * WHOLE,
        _ => return None,
    })
}

/// A decimal number in thousand-millionths: nine decimals, so that seconds are exact. `_` and `,`
/// between digits mean nothing.
#[must_use]
pub fn decimal(text: &str) -> Option<i128> {
    let text = text.replace(['_', ','], "");
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 18 || !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    let decimals: String = decimals
        .chars()
        .chain("000000000".chars())
        .take(9)
        .collect();
    let whole: i128 = whole.parse().ok()?;
    let decimals: i128 = decimals.parse().ok()?;
    Some(whole * WHOLE + decimals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(parse_ns("250"), Some(250));
        assert_eq!(parse_ns(" 1.5ms "), Some(1_500_000));
        assert_eq!(parse_ns("2 s"), Some(2_000_000_000));
        assert_eq!(parse_ns("0.000000001s"), Some(1));
        assert_eq!(parse_ns("1_000us"), Some(1_000_000));
        assert_eq!(parse_ns("1min"), Some(60_000_000_000));
        for nonsense in [
            "",
            "ms",
            "1.2.3s",
            "-1s",
            "1h",
            "1e9",
            "99999999999999999999",
        ] {
            assert_eq!(parse_ns(nonsense), None, "{nonsense}");
        }
    }
}
