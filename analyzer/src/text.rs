//! Counts, times, shares and names as text for people, of a known width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How many cells of a terminal a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text as HTML writes it, also in attributes.
#[must_use]
pub fn as_html(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// The text, or its beginning and `…` if it is wider than `width`.
#[must_use]
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        shown.push(c);
    }
    if width > 0 {
        shown.push('…');
    }
    shown
}

/// As [`shorten`], but no word is cut, if at least half of the room is used so.
#[must_use]
pub fn shorten_words(text: &str, width: usize) -> String {
    let cut = shorten(text, width);
    let Some(shown) = cut.strip_suffix('…').filter(|_| cut != text) else {
        return cut;
    };
    let ends_word = text[shown.len()..].starts_with(' ');
    let whole = match shown.rfind(' ') {
        _ if ends_word => shown,
        Some(blank) => &shown[..blank],
        None => return cut,
    };
    match whole.trim_end() {
        whole if 2 * whole.width() >= width => format!("{whole}…"),
        _ => cut,
    }
}

/// As [`shorten_words`], but the arity at the end of a name stays: `implication_ac…/3`.
#[must_use]
pub fn shorten_name(text: &str, width: usize) -> String {
    let name = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let arity = text.len() - name.len() + 1;
    // Something of the name stays, too.
    if text.width() <= width || !name.ends_with('/') || arity == 1 || arity + 2 > width {
        return shorten_words(text, width);
    }
    let (name, arity) = text.split_at(text.len() - arity);
    shorten(name, width - arity.len()) + arity
}

/// As many of the parts as fit, each with its separator before it; `…` for the others.
#[must_use]
pub fn fitting<'p>(parts: impl IntoIterator<Item = &'p str>, width: usize) -> String {
    let mut shown = String::new();
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        let after = if parts.peek().is_some() { 2 } else { 0 };
        let all_fits = shown.width() + part.width() + after <= width;
        if !shown.is_empty() && !all_fits {
            shown.push_str(" …");
            break;
        }
        shown.push_str(part);
    }
    shorten(&shown, width)
}

/// As [`shorten`], filled up with spaces after it.
#[must_use]
pub fn left(text: &str, width: usize) -> String {
    let mut shown = shorten(text, width);
    let gap = width.saturating_sub(shown.width());
    shown.extend(std::iter::repeat_n(' ', gap));
    shown
}

/// As [`shorten`], filled up with spaces before it.
#[must_use]
pub fn right(text: &str, width: usize) -> String {
    let shown = shorten(text, width);
    let gap = width.saturating_sub(shown.width());
    " ".repeat(gap) + &shown
}

/// A size with three significant digits: `1.21 MB` (powers of 1000).
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// `5,000,050,000`
#[must_use]
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A difference of counts with its sign, rounded as [`rounded`] does; of 0 a dot, so that others
/// stand out.
#[must_use]
pub fn difference(difference: i128) -> String {
    let size = rounded(u64::try_from(difference.unsigned_abs()).unwrap_or(u64::MAX));
    match difference {
        0 => "·".to_owned(),
        1.. => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

/// Three digits of a count of 100,000 and more: `123k`, `5.00G`.
#[must_use]
pub fn rounded(value: u64) -> String {
    if value < 100_000 {
        return count(value);
    }
    let (mut value, mut unit) = (value as f64 / 1e3, 0);
    // What would be written as 1000.
    while value >= 999.5 {
        value /= 1e3;
        unit += 1;
    }
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{}", ["k", "M", "G", "T", "P", "E"][unit])
}

/// `1 stream`, `2,000 streams`
#[must_use]
pub fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// `41.7`, in percent; `–` of nothing.
#[must_use]
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1}", part as f64 * 100.0 / whole as f64)
    }
}

/// The text in quotes, as one word of a shell.
#[must_use]
pub fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// One word of a shell, in quotes only if it has to be.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        shell_quoted(text)
    }
}

/// A bar of `width` cells for a part of a whole, to an eighth of a cell; filled up with spaces.
#[must_use]
pub fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if whole == 0 {
        0.0
    } else {
        (part as f64 / whole as f64).min(1.0)
    };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    let text = "█".repeat(eighths / 8) + EIGHTHS[eighths % 8];
    left(&text, width)
}

/// A time on its own, with a unit that suits it: `1.235 ms`, `87 ns`.
#[must_use]
pub fn time(ns: u64) -> String {
    match ns {
        0 => "0".to_owned(),
        1..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} µs", four_digits(ns as f64 / 1e3)),
        1_000_000..1_000_000_000 => format!("{} ms", four_digits(ns as f64 / 1e6)),
        _ => format!("{} s", four_digits(ns as f64 / 1e9)),
    }
}

/// So many decimals that there are four digits, at least.
fn four_digits(value: f64) -> String {
    let decimals = match value {
        ..10.0 => 3,
        ..100.0 => 2,
        ..1000.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// The unit that all times of one table are written in, so that they can be compared at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, to the millisecond.
    Seconds,
    /// Milliseconds, to a tenth.
    Milliseconds,
    /// Milliseconds, to the microsecond.
    FineMilliseconds,
    /// Microseconds, to a tenth.
    Microseconds,
}

impl TimeUnit {
    /// The unit in which `longest` (nanoseconds) is easy to read.
    #[must_use]
    pub fn for_longest(longest: u64) -> Self {
        match longest {
            10_000_000_000.. => Self::Seconds,
            1_000_000_000.. => Self::Milliseconds,
            1_000_000.. => Self::FineMilliseconds,
            _ => Self::Microseconds,
        }
    }

    /// `s`, `ms` or `µs`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds | Self::FineMilliseconds => "ms",
            Self::Microseconds => "µs",
        }
    }

    /// A time in nanoseconds, without the unit.
    #[must_use]
    pub fn format(self, ns: u64) -> String {
        let ns = ns as f64;
        match self {
            Self::Seconds => format!("{:.3}", ns / 1e9),
            Self::Milliseconds => format!("{:.1}", ns / 1e6),
            Self::FineMilliseconds => format!("{:.3}", ns / 1e6),
            Self::Microseconds => format!("{:.1}", ns / 1e3),
        }
    }

    /// A time in nanoseconds, with the unit.
    #[must_use]
    pub fn with_unit(self, ns: u64) -> String {
        format!("{} {}", self.format(ns), self.name())
    }
}

/// The names that are most like `wanted`, the most similar first: so few letters differ that it may
/// be a slip.
#[must_use]
pub fn similar<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    /// More names than these do not help.
    const MOST: usize = 3;
    let wanted = wanted.to_lowercase();
    let most = 1 + wanted.chars().count() / 4;
    let names = names.into_iter().map(|name| {
        let differ = strsim::damerau_levenshtein(&name.to_lowercase(), &wanted);
        (differ, name)
    });
    let mut names: Vec<_> = names.filter(|&(differ, _)| differ <= most).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(MOST);
    names.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size(999), "999 bytes");
        assert_eq!(size(1_210_000), "1.21 MB");
        assert_eq!(size(999_900), "1.00 MB");
    }

    #[test]
    fn a_name_that_is_cut_keeps_its_arity() {
        for (name, width, shown) in [
            ("implication_acetext/3", 21, "implication_acetext/3"),
            ("implication_acetext/3", 12, "implicati…/3"),
            ("lists:numlist/13", 8, "list…/13"),
            ("lists:numlist/3", 4, "l…/3"),
            ("lists:numlist/3", 3, "li…"),
            ("most of the work", 12, "most of the…"),
            ("a/", 1, "…"),
        ] {
            assert_eq!(super::shorten_name(name, width), shown);
        }
    }

    #[test]
    fn names_are_shortened_by_what_is_seen() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("日本語", 4), "日…");
        assert_eq!(shorten("abc", 0), "");
        assert_eq!(left("日本", 5), "日本 ");
        assert_eq!(right("12", 4), "  12");
    }

    #[test]
    fn words_are_not_cut_where_there_is_a_way() {
        assert_eq!(
            shorten_words("loop/3 (recursive)", 18),
            "loop/3 (recursive)"
        );
        assert_eq!(shorten_words("loop/3 (recursive)", 12), "loop/3…");
        assert_eq!(shorten_words("two words here", 10), "two words…");
        // Too much room would be lost, or there is one word only.
        assert_eq!(shorten_words("a long_predicate/3", 12), "a long_pred…");
        assert_eq!(shorten_words("long_predicate/3", 8), "long_pr…");
        let parts = [" 12 s", " · 3 calls", " · 4 fails"];
        assert_eq!(fitting(parts, 25), " 12 s · 3 calls · 4 fails");
        assert_eq!(fitting(parts, 24), " 12 s · 3 calls …");
        assert_eq!(fitting(parts, 16), " 12 s …");
        assert_eq!(fitting(parts, 4), " 12…");
    }

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(1, 2, 4), "██  ");
        assert_eq!(bar(1, 16, 2), "▏ ");
        assert_eq!(bar(9, 3, 2), "██");
        assert_eq!(bar(1, 0, 2), "  ");
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time(87), "87 ns");
        assert_eq!(time(1_234_567), "1.235 ms");
        assert_eq!(time(386_338), "386.3 µs");
        assert_eq!(time(12_345_678_901_234), "12346 s");
        assert_eq!(
            TimeUnit::for_longest(123_456_789).format(1_234_567),
            "1.235"
        );
        assert_eq!(TimeUnit::for_longest(900).with_unit(900), "0.9 µs");
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(5_000_050_000), "5,000,050,000");
    }
    #[test]
    fn large_counts_are_rounded() {
        for (value, text) in [
            (99_999, "99,999"),
            (100_000, "100k"),
            (999_499, "999k"),
            (999_500, "1.00M"),
            (9_996_000, "10.0M"),
            (5_000_050_000, "5.00G"),
            (u64::MAX, "18.4E"),
        ] {
            assert_eq!(rounded(value), text);
        }
    }
}
