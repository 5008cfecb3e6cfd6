//! Columns as the command line names them.

use portmortem_analyzer::tables::{Column, Table};
use portmortem_analyzer::text::similar;

/// What `--columns` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedColumn {
    /// A list of all columns.
    List,
    /// The column at this place in the catalogue.
    At(usize),
}

/// Reads the name of a column, or `help`.
pub(super) fn parse_asked(name: &str) -> Result<AskedColumn, String> {
    match name {
        "help" | "list" => Ok(AskedColumn::List),
        name => parse_column(name).map(AskedColumn::At),
    }
}

/// What a report is sorted by unless it is said.
pub(crate) const USUAL_SORT: &str = "time";

/// The name of a column to sort by, in the catalogue: one of predicates, or one that only clauses,
/// tests or waits have; or [`USUAL_SORT`].
pub(super) fn parse_sort(name: &str) -> Result<&'static str, String> {
    let name = name.trim();
    if name.eq_ignore_ascii_case(USUAL_SORT) {
        return Ok(USUAL_SORT);
    }
    if let Ok(place) = parse_column(name) {
        return Ok(Table::Predicates.all_columns()[place].name);
    }
    for table in [Table::Clauses, Table::Tests, Table::Waits] {
        if let Some(place) = table.find(name) {
            return Ok(table.all_columns()[place].name);
        }
    }
    let names = [&[USUAL_SORT], &column_names()[..]].concat();
    Err(no_column(name, &names))
}

/// The place of a column of the table of predicates in the catalogue. `name` is that of the
/// predicate.
fn parse_column(name: &str) -> Result<usize, String> {
    let name = name.trim();
    let known = if name == "name" { "predicate" } else { name };
    Table::Predicates
        .find(known)
        .ok_or_else(|| no_column(known, &column_names()))
}

/// What the columns of predicates can be called.
fn column_names() -> Vec<&'static str> {
    let columns = Table::Predicates.all_columns();
    // Another column may be called so itself.
    let name_of =
        |column: &'static Column| match columns.iter().any(|c| c.name == column.short_name()) {
            true => column.name,
            false => column.short_name(),
        };
    columns.iter().map(name_of).collect()
}

/// That no column is called so; which ones may be meant, and which ones there are.
fn no_column(wanted: &str, names: &[&str]) -> String {
    let similar = similar(wanted, names.iter().copied());
    let there_are = match similar[..] {
        [] => "there are".to_owned(),
        _ => format!("did you mean {}? There are", similar.join(" or ")),
    };
    format!("no column is called so; {there_are} {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reports_are_sorted_by() {
        assert_eq!(parse_sort(" Time "), Ok("time"));
        assert_eq!(parse_sort("fails"), Ok("fails"));
        assert_eq!(parse_sort("entered"), Ok("entered"));
        assert_eq!(parse_sort("collections"), Ok("collections"));
        let error = parse_sort("tme").unwrap_err();
        assert!(error.contains("did you mean time? There are "), "{error}");
        let error = parse_sort("xyzzy").unwrap_err();
        assert!(
            error.starts_with("no column is called so; there are time, "),
            "{error}"
        );
    }

    #[test]
    fn columns_are_found_or_the_nearest_named() {
        for (text, name) in [
            ("self", "self_ns"),
            ("self_ns", "self_ns"),
            (" Calls", "calls"),
            ("exits", "exits"),
            ("name", "predicate"),
            ("self_comp", "self_comp_ns"),
        ] {
            let place = parse_column(text).unwrap();
            assert_eq!(Table::Predicates.all_columns()[place].name, name);
        }
        assert_eq!(parse_asked("list"), Ok(AskedColumn::List));
        let error = parse_column("fals").unwrap_err();
        assert!(error.contains("did you mean fails or "), "{error}");
        assert!(error.contains("determinism"), "{error}");
        assert!(error.contains("open_ns, ") && !error.contains("self_ns"));
    }
}
