//! Tables of text for people: numbers to the right, names to the left, within a given width.

use portmortem_analyzer::text::{count, rounded, shorten};
use unicode_width::UnicodeWidthStr;

/// One column: its heading and what it holds.
#[derive(Debug, Clone)]
pub(crate) struct TextColumn {
    heading: String,
    cells: Vec<String>,
    /// What the cells become where the table would be too wide.
    short: Option<Vec<String>>,
    /// It is left out where the table would be too wide: the smallest rank first. 0: never.
    rank: u8,
    align: Align,
    cut: CutEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// What is lost of a cell that is too wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CutEnd {
    End,
    /// The end of what is before the last [`CALLS`]; the end only if that does not suffice.
    Caller,
}

/// Between a caller and its callee.
const CALLS: &str = " > ";

impl TextColumn {
    /// A column of numbers.
    pub(crate) fn right(heading: impl Into<String>, cells: Vec<String>) -> Self {
        Self {
            heading: heading.into(),
            cells,
            short: None,
            rank: 0,
            align: Align::Right,
            cut: CutEnd::End,
        }
    }

    /// A column of counts: exact, unless that makes the table too wide.
    pub(crate) fn counts(heading: impl Into<String>, values: &[u64]) -> Self {
        let values: Vec<_> = values.iter().copied().map(Some).collect();
        Self::some_counts(heading, &values)
    }

    /// The same, with rows that have none.
    pub(crate) fn some_counts(heading: impl Into<String>, values: &[Option<u64>]) -> Self {
        let written = |write: fn(u64) -> String| {
            let values = values.iter();
            values
                .map(|value| value.map_or_else(String::new, write))
                .collect()
        };
        Self {
            short: Some(written(rounded)),
            ..Self::right(heading, written(count))
        }
    }

    /// A column of names. The last one of a table may be shortened to fit.
    pub(crate) fn left(heading: impl Into<String>, cells: Vec<String>) -> Self {
        Self {
            align: Align::Left,
            ..Self::right(heading, cells)
        }
    }

    /// A column of goals, `CALLER > CALLEE`: callers are cut before callees.
    pub(crate) fn goals(heading: impl Into<String>, cells: Vec<String>) -> Self {
        Self {
            cut: CutEnd::Caller,
            ..Self::left(heading, cells)
        }
    }

    /// A cell within a width.
    fn shown(&self, row: usize, width: usize) -> String {
        let cell = &self.cells[row];
        match cell.rfind(CALLS) {
            Some(at) if self.cut == CutEnd::Caller => cut_caller(cell.split_at(at), width),
            _ => shorten(cell, width),
        }
    }

    /// The column may be left out where the table would be too wide, those of small ranks first.
    pub(crate) fn dispensable(self, rank: u8) -> Self {
        Self { rank, ..self }
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

/// A caller and its callee within a width.
fn cut_caller((caller, callee): (&str, &str), width: usize) -> String {
    let caller = shorten(caller, width.saturating_sub(callee.width()).max(1));
    let left = width.saturating_sub(caller.width());
    caller + &shorten(callee, left)
}

/// Names are not cut shorter than this if large counts can be rounded or columns left out instead.
const MIN_NAME: usize = 16;

/// Lays the columns out, a line each row, headings first. Two spaces before the first column.
///
/// Where the table would be wider than `width`, columns come closer together, then large counts are rounded, the widest column
/// first, then dispensable columns are left out, and at last names in the last column are cut. But the rest of the table gives
/// way to half a line of names only: one very long name is no reason to leave out figures of all rows.
pub(crate) fn render(columns: &[TextColumn], width: usize) -> String {
    render_keeping(columns, width, MIN_NAME.max(width / 2))
}

/// The same; names of up to `least` cells are not cut if something else can be done.
pub(crate) fn render_keeping(columns: &[TextColumn], width: usize, least: usize) -> String {
    let mut columns = columns.to_vec();
    let mut widths: Vec<usize> = columns.iter().map(TextColumn::width).collect();
    let wide = |widths: &[usize], gap| widths.iter().map(|width| width + gap).sum::<usize>();
    let gap = if wide(&widths, 2) > width { 1 } else { 2 };
    let name = widths.last().copied().unwrap_or(0);
    while wide(&widths, gap) - name + name.min(least) > width {
        let exact = (0..columns.len()).filter(|&at| columns[at].short.is_some());
        let Some(widest) = exact.max_by_key(|&at| widths[at]) else {
            break;
        };
        if let Some(short) = columns[widest].short.take() {
            columns[widest].cells = short;
        }
        widths[widest] = columns[widest].width();
    }
    while wide(&widths, gap) - name + name.min(least) > width {
        let dispensable = (0..columns.len()).filter(|&at| columns[at].rank > 0);
        let Some(first) = dispensable.min_by_key(|&at| columns[at].rank) else {
            break;
        };
        columns.remove(first);
        widths.remove(first);
    }
    let total = wide(&widths, gap);
    if let Some(last) = widths.last_mut() {
        *last = last.saturating_sub(total.saturating_sub(width)).max(1);
    }
    let columns = columns;
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let mut text = String::new();
    push_row(&mut text, &columns, &widths, gap, |column, width| {
        shorten(&column.heading, width)
    });
    for row in 0..rows {
        push_row(&mut text, &columns, &widths, gap, |column, width| {
            column.shown(row, width)
        });
    }
    text
}

fn push_row(
    text: &mut String,
    columns: &[TextColumn],
    widths: &[usize],
    gap: usize,
    cell: impl Fn(&TextColumn, usize) -> String,
) {
    let start = text.len();
    for (column, &width) in columns.iter().zip(widths) {
        let shown = cell(column, width);
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

#[cfg(test)]
mod tests {
    use portmortem_analyzer::text::TimeUnit;

    use super::*;

    #[test]
    fn rows_line_up() {
        let table = render(
            &[
                TextColumn::right("n", vec!["1".into(), "1,000".into()]),
                TextColumn::left("name", vec!["a".into(), "x".repeat(50)]),
            ],
            40,
        );
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "     n name");
        assert_eq!(lines[1], "     1 a");
        assert!(lines[2].ends_with('…') && lines[2].width() <= 40);
        let narrow = [TextColumn::right("n", vec!["1".into()])];
        assert_eq!(render(&narrow, 40), "  n\n  1\n");
    }

    #[test]
    fn dispensable_columns_make_room_for_names() {
        let columns = [
            TextColumn::right("kept", vec!["1".repeat(20)]),
            TextColumn::right("second", vec!["2".into()]).dispensable(2),
            TextColumn::right("first", vec!["3".into()]).dispensable(1),
            TextColumn::left("predicate", vec!["a_predicate_name/12".into()]),
        ];
        let headings = |width| {
            let table = render(&columns, width);
            let line = table.lines().next().unwrap_or_default();
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            words.join(" ")
        };
        assert_eq!(headings(70), "kept second first predicate");
        assert_eq!(headings(48), "kept second predicate");
        assert_eq!(headings(38), "kept predicate");
        assert_eq!(headings(30), "kept predica…");
    }

    #[test]
    fn callers_are_cut_before_callees() {
        let cells = ["a.pl:7: caller/1 > callee/2", "p/0 > q/0"];
        let columns = [
            TextColumn::right("n", vec!["1".into(), "2".into()]),
            TextColumn::goals("goal", cells.map(str::to_owned).to_vec()),
        ];
        let lines = |width| {
            let table = render(&columns, width);
            table.lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(80)[0], "  1  a.pl:7: caller/1 > callee/2");
        assert_eq!(lines(24), [" 1 a.pl:7: c… > callee/2", " 2 p/0 > q/0"]);
        assert_eq!(lines(12), [" 1 … > call…", " 2 p/0 > q/0"]);
        let plain = [TextColumn::left(
            "name",
            vec!["no goal but a long name".into()],
        )];
        assert_eq!(render(&plain, 10), " name\n no goal …\n");
    }

    #[test]
    fn no_numbers_and_names_are_wider_than_the_table() {
        let of = |digits: u32| u64::MAX / 10u64.pow(19 - digits);
        for digits in 1..=19u32 {
            let counts = |heading| TextColumn::counts(heading, &[1, of(digits)]);
            let time = |heading| {
                let longest = TimeUnit::for_longest(of(digits.min(16)));
                TextColumn::right(
                    heading,
                    vec!["0.0".to_owned(), longest.format(of(digits.min(16)))],
                )
            };
            let names = [
                "p/1",
                "'a module with a long name':'and a predicate of it'/12",
            ];
            let table = render(
                &[
                    time("self ms"),
                    TextColumn::right("%", vec!["0.0".to_owned(), "100.0".to_owned()]),
                    time("incl."),
                    counts("calls"),
                    counts("exits"),
                    counts("redos"),
                    counts("fails"),
                    counts("exc."),
                    TextColumn::left("predicate", names.map(str::to_owned).to_vec()),
                ],
                80,
            );
            let lines: Vec<&str> = table.lines().collect();
            assert!(lines.iter().all(|line| line.width() <= 80), "{table}");
            assert!(
                lines[1].ends_with("p/1") && lines[2].contains("'a mod"),
                "{table}"
            );
            // Five digits are always exact.
            if digits < 5 {
                assert!(lines[2].contains(&count(of(digits))), "{table}");
            }
        }
    }
}
