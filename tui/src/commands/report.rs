//! `portmortem report`: the profile of a trace, for people or as a file.

mod files;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::tables::{ClauseRow, PredicateRow, Row, SiteRow, Table, TestRow, WaitRow};
use portmortem_analyzer::text::shell_word;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::{Analysis, Tables};

use super::analysis::{exit_code, read};
use super::scope;
use crate::cli::{AskedColumn, ReportArgs, ReportFormat, USUAL_SORT};
use crate::report::{
    as_list, clause_order, clause_table, headline, order, overview, page_width, predicates,
    remarks, site_order, site_table, test_order, test_table, wait_order, wait_table, work,
};

/// By self time unless a user asks for another column: net where it is measured.
fn sort_column(args: &ReportArgs, analysis: &Analysis) -> &'static str {
    match args.sort {
        USUAL_SORT if analysis.net_is_measured() => "self_comp_ns",
        USUAL_SORT => "self_ns",
        asked => asked,
    }
}

/// How many predicates a report for people shows unless it is said.
const USUAL_TOP: usize = 20;

/// Prints a table in place of the usual report, of some predicates only if they were chosen.
type ListingPrinter =
    fn(&Analysis, Option<&[PredicateIndex]>, &ReportArgs, &mut Vec<u8>) -> Result<()>;

/// Prints the report; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode> {
    let Some(columns) = places(&args.columns) else {
        io::stdout().write_all(column_help().as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    };
    let path = args.trace.as_ref().context("name the trace to report on")?;
    if let Some(another) = &args.another {
        let [path, another] = [path, another].map(|path| shell_word(&path.display().to_string()));
        bail!("a report is of one trace; to compare two: portmortem diff {path} {another}");
    }
    // Files have columns of calls, and a report on predicates has their times.
    let with_calls = (args.predicate.is_some() || args.format != ReportFormat::Text)
        && !(args.sites || args.clauses || args.tests || args.waits);
    let filters = |trace: &_| scope::filters(&args.scope, trace);
    let analysis = read(path, filters, with_calls)?;
    let chosen = match &args.predicate {
        Some(pattern) => Some(scope::meant(&analysis.trace, pattern)?),
        None => None,
    };
    let mut out = Vec::new();
    let of_goals_or_clauses: Option<ListingPrinter> = match () {
        () if args.sites => Some(sites),
        () if args.clauses => Some(clauses),
        () if args.tests => Some(tests),
        () if args.waits => Some(waits),
        () => None,
    };
    if let Some(print) = of_goals_or_clauses {
        print(&analysis, chosen.as_deref(), args, &mut out)?;
        analysis.trace.check_whole(path)?;
        io::stdout().write_all(&out)?;
        return Ok(exit_code(&analysis));
    }
    let sort = place_in(Table::Predicates, sort_column(args, &analysis))?;
    let counted = counted(args);
    let rows = PrintedRows {
        tables: analysis.tables(),
        order: order(analysis.tables_of(counted), chosen.as_deref(), sort),
        is_chosen: chosen.is_some(),
        columns,
        top: args.top,
        counted,
    };
    // Cost centres are read from the events: nothing is printed before it is known that they were all there.
    match args.format {
        ReportFormat::Text => text(&analysis, &rows, &mut out)?,
        ReportFormat::Csv => files::csv(&rows, &mut out)?,
        ReportFormat::Json => files::json(&analysis, &rows, &mut out)?,
        ReportFormat::Prolog => files::prolog(&analysis, &rows, &mut out)?,
    }
    analysis.trace.check_whole(path)?;
    io::stdout().write_all(&out)?;
    Ok(exit_code(&analysis))
}

/// The places of columns in the catalogue; `None` if a list of them was asked for.
fn places(asked: &[AskedColumn]) -> Option<Vec<usize>> {
    let place = |asked: &AskedColumn| match asked {
        AskedColumn::List => None,
        AskedColumn::At(place) => Some(*place),
    };
    asked.iter().map(place).collect()
}

/// All columns with their help.
fn column_help() -> String {
    let columns = PredicateRow::ALL.iter();
    let longest = columns.clone().map(|column| column.name.len()).max();
    let margin = longest.unwrap_or(0) + 2;
    let indent = " ".repeat(margin);
    let wrap = textwrap::Options::new(page_width()).subsequent_indent(&indent);
    columns
        .map(|column| {
            textwrap::fill(&format!("{:<margin$}{}", column.name, column.help), &wrap) + "\n"
        })
        .collect()
}

/// What inclusive times and shares are of: for people work, unless they want all. Files have all
/// time.
fn counted(args: &ReportArgs) -> Counted {
    match args.format {
        ReportFormat::Text if !args.all => Counted::Work,
        _ => Counted::All,
    }
}

/// What to print of the table of predicates.
struct PrintedRows<'t> {
    tables: Tables<'t>,
    /// All predicates that may be printed.
    order: Vec<PredicateIndex>,
    /// They were chosen, and are not all.
    is_chosen: bool,
    /// The columns asked for; none if the usual ones are wanted.
    columns: Vec<usize>,
    /// How many are printed, if that was said.
    top: Option<usize>,
    counted: Counted,
}

impl PrintedRows<'_> {
    /// The predicates that are printed, if that is `usual` many unless it was said.
    fn shown(&self, usual: usize) -> &[PredicateIndex] {
        &self.order[..self.order.len().min(self.top.unwrap_or(usual))]
    }

    /// The columns of files.
    fn of_file(&self) -> Vec<usize> {
        match self.columns[..] {
            [] => (0..PredicateRow::COLUMNS.len()).collect(),
            _ => self.columns.clone(),
        }
    }
}

/// The table of sites in one of the formats.
fn sites(
    analysis: &Analysis,
    chosen: Option<&[PredicateIndex]>,
    args: &ReportArgs,
    out: &mut Vec<u8>,
) -> Result<()> {
    let sort = match args.sort {
        USUAL_SORT | "self_ns" | "inclusive_ns" => "served_ns",
        "predicate" => "caller",
        other => other,
    };
    let sort = place_in(Table::Sites, sort)?;
    let counted = counted(args);
    let sites = site_order(analysis, chosen, sort, counted);
    let text = |top| site_table(analysis, &sites, sort, counted, top);
    listing::<SiteRow>(analysis, "sites", &sites, text, args, out)
}

/// The table of clauses in one of the formats.
fn clauses(
    analysis: &Analysis,
    chosen: Option<&[PredicateIndex]>,
    args: &ReportArgs,
    out: &mut Vec<u8>,
) -> Result<()> {
    let sort = match args.sort {
        USUAL_SORT => "failed_ns",
        other => other,
    };
    let clauses = clause_order(analysis, chosen, place_in(Table::Clauses, sort)?);
    let text = |top| clause_table(analysis, &clauses, top);
    listing::<ClauseRow>(analysis, "clauses", &clauses, text, args, out)
}

/// The table of tests in one of the formats.
fn tests(
    analysis: &Analysis,
    _chosen: Option<&[PredicateIndex]>,
    args: &ReportArgs,
    out: &mut Vec<u8>,
) -> Result<()> {
    let sort = place_in(Table::Tests, sort_column(args, analysis))?;
    let counted = counted(args);
    let tests = test_order(analysis, sort, counted);
    let text = |top| test_table(analysis, &tests, top, counted);
    listing::<TestRow>(analysis, "tests", &tests, text, args, out)
}

/// The table of waits in one of the formats.
fn waits(
    analysis: &Analysis,
    _chosen: Option<&[PredicateIndex]>,
    args: &ReportArgs,
    out: &mut Vec<u8>,
) -> Result<()> {
    let sort = match args.sort {
        USUAL_SORT => "waited_ns",
        other => other,
    };
    let waits = wait_order(analysis, place_in(Table::Waits, sort)?);
    let text = |top| wait_table(analysis, &waits, top);
    listing::<WaitRow>(analysis, "waits", &waits, text, args, out)
}

/// The place of a column to sort by.
fn place_in(table: Table, column: &str) -> Result<usize> {
    let place = table.find(column);
    place.with_context(|| {
        let column = column.strip_suffix("_ns").unwrap_or(column);
        format!("{} have no column {column}", table.name())
    })
}

/// Rows of a table in one of the formats; `text` makes the text of the first so many.
fn listing<'t, R: Row<'t>>(
    analysis: &Analysis,
    name: &str,
    rows: &[R::Of],
    text: impl Fn(usize) -> String,
    args: &ReportArgs,
    out: &mut Vec<u8>,
) -> Result<()> {
    let shown = &rows[..rows.len().min(args.top.unwrap_or(usize::MAX))];
    match args.format {
        ReportFormat::Text => {
            let table = text(args.top.unwrap_or(USUAL_TOP));
            let (lines, _) = remarks(analysis);
            writeln!(
                out,
                "{}\n{table}\n{}",
                headline(analysis),
                as_list(&lines).trim_end()
            )?;
        }
        ReportFormat::Csv => files::csv_of::<R>(shown, out)?,
        ReportFormat::Json => files::json_of::<R>(analysis, name, shown, out)?,
        ReportFormat::Prolog => files::prolog_of::<R>(analysis, name, shown, out)?,
    }
    Ok(())
}

fn text(analysis: &Analysis, rows: &PrintedRows, out: &mut impl Write) -> Result<()> {
    let shows_all = rows.is_chosen || rows.counted == Counted::All;
    let left_out = work(analysis).filter(|_| !shows_all).unwrap_or_default();
    writeln!(out, "{}{left_out}", headline(analysis))?;
    let body = if rows.is_chosen {
        predicates(
            analysis,
            &rows.columns,
            rows.shown(usize::MAX),
            rows.counted,
        )
    } else {
        overview(
            analysis,
            &rows.columns,
            &rows.order,
            rows.top.unwrap_or(USUAL_TOP),
            rows.counted,
        )
    };
    writeln!(out, "{body}")?;
    let (lines, _) = remarks(analysis);
    write!(out, "{}", as_list(&lines))?;
    Ok(())
}
