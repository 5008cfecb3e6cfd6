//! Tables of text for people: numbers to the right, names to the left, within a given width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One column: its heading and what it holds.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    heading: String,
    cells: Vec<String>,
    align: Align,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

impl Column {
    /// A column of numbers.
    pub(crate) fn right(heading: impl Into<String>, cells: Vec<String>) -> Self {
        Self {
            heading: heading.into(),
            cells,
            align: Align::Right,
        }
    }

    /// A column of names. The last one of a table may be shortened to fit.
    pub(crate) fn left(heading: impl Into<String>, cells: Vec<String>) -> Self {
        Self {
            heading: heading.into(),
            cells,
            align: Align::Left,
        }
    }

    fn width(&self) -> usize {
        self.cells
            .iter()
            .map(|cell| cell.width())
            .chain([self.heading.width()])
            .max()
            .unwrap_or(0)
    }
}

/// Shortest that a name is cut to; a table with larger numbers than fit is wider than asked for.
const MIN_NAME: usize = 16;

/// Lays the columns out, a line each row, headings first. Two spaces before the first column.
pub(crate) fn render(columns: &[Column], width: usize) -> String {
    let mut widths: Vec<usize> = columns.iter().map(Column::width).collect();
    let wide = |gap| widths.iter().map(|width| width + gap).sum::<usize>();
    // Closer together before names are cut.
    let gap = if wide(2) > width { 1 } else { 2 };
    let total = wide(gap);
    if let (Some(last), true) = (widths.last_mut(), total > width) {
        let others = total - *last;
        *last = (*last).min(width.saturating_sub(others).max(MIN_NAME));
    }
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut text = String::new();
    push_row(&mut text, columns, &widths, gap, |column| &column.heading);
    for row in 0..rows {
        push_row(&mut text, columns, &widths, gap, |column| {
            &column.cells[row]
        });
    }
    text
}

fn push_row<'a>(
    text: &mut String,
    columns: &'a [Column],
    widths: &[usize],
    gap: usize,
    cell: impl Fn(&'a Column) -> &'a String,
) {
    let start = text.len();
    for (column, &width) in columns.iter().zip(widths) {
        let shown = shorten(cell(column), width);
        let padding = " ".repeat(width - shown.width());
        text.push_str(&"  "[..gap]);
        match column.align {
            Align::Left => text.extend([shown.as_str(), &padding]),
            Align::Right => text.extend([padding.as_str(), &shown]),
        }
    }
    text.truncate(start + text[start..].trim_end().len());
    text.push('\n');
}

/// The text, or its beginning and `…` if it is wider than `width`.
pub(crate) fn shorten(text: &str, width: usize) -> String {
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
    shown.push('…');
    shown
}

/// `5,000,050,000`
pub(crate) fn count(value: u64) -> String {
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

/// `1 stream`, `2,000 streams`
pub(crate) fn counted(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}

/// `41.7`, in percent; `–` of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        "–".to_owned()
    } else {
        format!("{:.1}", part as f64 * 100.0 / whole as f64)
    }
}

/// The unit that all times of one table are written in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TimeUnit {
    /// `s`, `ms` or `µs`
    pub(crate) name: &'static str,
    nanoseconds: f64,
    decimals: usize,
}

impl TimeUnit {
    /// The unit in which `longest` (nanoseconds) is easy to read.
    pub(crate) fn for_longest(longest: u64) -> Self {
        match longest {
            10_000_000_000.. => Self {
                name: "s",
                nanoseconds: 1e9,
                decimals: 3,
            },
            1_000_000_000.. => Self {
                name: "ms",
                nanoseconds: 1e6,
                decimals: 1,
            },
            1_000_000.. => Self {
                name: "ms",
                nanoseconds: 1e6,
                decimals: 3,
            },
            _ => Self {
                name: "µs",
                nanoseconds: 1e3,
                decimals: 1,
            },
        }
    }

    /// A time in nanoseconds, without the unit.
    pub(crate) fn format(self, nanoseconds: u64) -> String {
        format!(
            "{:.*}",
            self.decimals,
            nanoseconds as f64 / self.nanoseconds
        )
    }

    /// A time in nanoseconds, with the unit.
    pub(crate) fn with_unit(self, nanoseconds: u64) -> String {
        format!("{} {}", self.format(nanoseconds), self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(5_000_050_000), "5,000,050,000");
    }

    #[test]
    fn names_are_shortened_by_what_is_seen() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(shorten("日本語", 4), "日…");
    }

    #[test]
    fn rows_line_up() {
        let table = render(
            &[
                Column::right("n", vec!["1".into(), "1,000".into()]),
                Column::left("name", vec!["a".into(), "x".repeat(50)]),
            ],
            40,
        );
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "     n name");
        assert_eq!(lines[1], "     1 a");
        assert!(lines[2].ends_with('…') && lines[2].width() <= 40);
        let narrow = [Column::right("n", vec!["1".into()])];
        assert_eq!(render(&narrow, 40), "  n\n  1\n");
    }

    #[test]
    fn times_share_a_unit() {
        let unit = TimeUnit::for_longest(123_456_789);
        assert_eq!(unit.with_unit(1_234_567), "1.235 ms");
        assert_eq!(TimeUnit::for_longest(900).with_unit(900), "0.9 µs");
    }
}
