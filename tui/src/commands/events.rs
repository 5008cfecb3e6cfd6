//! `portmortem events`: the events that a condition holds for, as they happened.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::export::TableWriter;
use portmortem_analyzer::export::csv::Csv;
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::export::prolog::{PrologFacts, WrittenTerm};
use portmortem_analyzer::index::{self, Index};
use portmortem_analyzer::listing::{BoxHistory, Listing};
use portmortem_analyzer::moment::OpenBox;
use portmortem_analyzer::tables::{Cell, Listed, ListedRow, Row, SiteNames};
use portmortem_analyzer::text::{count, counted, time};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::kept::{KeptEvents, has_holes, kept};
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::{ReplayOptions, Window};
use serde::Serialize;

use super::analysis::INCOMPLETE;
use super::scope::streams;
use crate::cli::{EventFormat, EventsArgs};
use crate::report::{Lines, history_of_box, page_width};

/// Events that are printed on a terminal unless a user says how many.
const PAGE: u64 = 40;

/// Streams of which it is said which events are kept, and ranges of each.
const MOST_KEPT: usize = 4;

/// Boxes of a stack that are in files.
const MOST_BOXES: usize = 300;

/// Boxes of a stack that are printed.
const BOXES_AS_TEXT: usize = 20;

/// Prints the events; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &EventsArgs) -> Result<ExitCode> {
    let trace = Trace::open(&args.trace)?;
    let index = Index::load(&trace, &args.trace).ok();
    let folded = || index::folded(&trace, &args.trace, &ReplayOptions::default());
    let folded = index.is_none().then(folded).flatten();
    let trail = folded.as_ref().map(|folded| &folded.trail);
    let trail = trail.or(index.as_ref().map(Index::trail));
    let name = args.trace.file_stem().unwrap_or(args.trace.as_os_str());
    let name = name.to_string_lossy().into_owned();
    let sites = SiteNames::of(&trace);
    let mut listing = Listing::new(&trace, &name, trail, &sites);
    let mut asked = Vec::new();
    for stream in &args.stream {
        asked.extend(streams(&trace, stream)?);
    }
    if !asked.is_empty() {
        listing.streams = asked;
    }
    if let Some(time) = &args.time {
        listing.window = Window::parse(time, &trace)?;
    }
    listing.numbers.start = args.from;
    if args.stack {
        listing.boxes = match args.format {
            EventFormat::Text => BOXES_AS_TEXT,
            EventFormat::Csv | EventFormat::Json | EventFormat::Prolog => MOST_BOXES,
        };
    }
    let mut out = BufWriter::new(io::stdout());
    let mut conditions = Vec::new();
    if let Some(boxed) = args.boxed {
        let history = one_box(&mut listing, boxed)?;
        if args.format == EventFormat::Text {
            writeln!(out, "{}", history_of_box(&trace, &sites, &history))?;
        }
        // Of the box, and one level below it.
        conditions.push(format!("box = {boxed} or parent = {boxed}"));
    }
    conditions.extend(args.condition.clone());
    let text = match conditions.as_slice() {
        [] => "event >= 0".to_owned(),
        parts => format!("({})", parts.join(") and (")),
    };
    // Errors are about what the user wrote.
    if let Some(asked) = &args.condition {
        ListedCondition::parse(asked, &trace, &sites).context("--where")?;
    }
    let condition = ListedCondition::parse(&text, &trace, &sites)?;
    let is_page = args.format == EventFormat::Text && io::stdout().is_terminal();
    let count = args.count.unwrap_or(if is_page { PAGE } else { u64::MAX });
    let mut printer = printer(args, &trace, &mut out)?;
    let (mut printed, mut failed, mut more) = (0, None, false);
    let _ = listing.each(&condition, &mut |event, stack| {
        if printed == count {
            more = true;
            return ControlFlow::Break(());
        }
        printed += 1;
        match printer.event(event, stack) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    printer.finish()?;
    drop(printer);
    if args.format == EventFormat::Text {
        match (printed, more) {
            (0, false) => writeln!(out, "  no events")?,
            (_, true) => writeln!(out, "  … and more; --count says how many are printed")?,
            _ => {}
        }
    }
    out.flush()?;
    drop(out);
    trace.check_whole(&args.trace)?;
    let is_lost = listing.met_losses() || !trace.damage().is_empty() || trace.end().is_none();
    if is_lost {
        let path = printable(&args.trace.to_string_lossy());
        let what = match folded
            .as_ref()
            .and_then(|folded| folded.profile.kept_events)
        {
            Some(_) => kept_events(&trace),
            None => "events were lost or damaged; `portmortem verify` says which".to_owned(),
        };
        let _ = writeln!(io::stderr(), "warning: {path}: {what}");
        return Ok(ExitCode::from(INCOMPLETE));
    }
    Ok(ExitCode::SUCCESS)
}

/// Which events a trace has of which others were folded.
fn kept_events(trace: &Trace) -> String {
    let streams = trace.streams().iter();
    let streams = streams.filter(|stream| has_holes(trace, stream));
    let kept: Vec<KeptEvents> = streams.flat_map(|stream| kept(trace, stream)).collect();
    let at = |tick| time(trace.clock().since_start_ns(tick));
    let of_stream = |kept: &[KeptEvents]| {
        let ranges = kept.iter().take(MOST_KEPT).map(|kept| {
            let from = format!("{} ({})", count(kept.events.start), at(kept.ticks.start));
            match kept.events.end {
                u64::MAX => format!("from {from}"),
                end => format!("{from} to {} ({})", count(end - 1), at(kept.ticks.end)),
            }
        });
        let mut ranges: Vec<String> = ranges.collect();
        if let Some(more) = kept.len().checked_sub(MOST_KEPT).filter(|more| *more > 0) {
            ranges.push(counted(more as u64, "more range", "more ranges"));
        }
        format!("stream {} {}", kept[0].stream, ranges.join(", "))
    };
    let streams = kept.chunk_by(|one, next| one.stream == next.stream);
    let mut streams: Vec<&[KeptEvents]> = streams.collect();
    let more = streams.len().saturating_sub(MOST_KEPT);
    streams.truncate(MOST_KEPT);
    let mut texts: Vec<String> = streams.into_iter().map(of_stream).collect();
    if more > 0 {
        texts.push(counted(more as u64, "more stream", "more streams"));
    }
    let of = texts.join("; ");
    format!("events were folded into figures, which are of the whole run; kept are: {of}")
}

/// Lists only what happens to one box.
fn one_box(listing: &mut Listing, boxed: u64) -> Result<BoxHistory> {
    let histories = listing.histories(boxed);
    match histories.as_slice() {
        [] => bail!(
            "no event {boxed} is a call, so no box is called so; \
             `portmortem events TRACE --where 'port = call'` lists calls"
        ),
        [history] => {
            listing.streams = vec![history.stream];
            listing.numbers = listing.numbers.start.max(boxed)..history.last.saturating_add(1);
            Ok(*history)
        }
        [first, others @ ..] => {
            let others = others.iter().map(|history| history.stream.to_string());
            let others = others.collect::<Vec<_>>().join(", ");
            bail!(
                "event {boxed} is a call in the streams {}, {others}; say which by --stream",
                first.stream
            )
        }
    }
}

/// Prints one event after the other.
trait Printer {
    fn event(&mut self, event: &Listed, stack: &[(u64, OpenBox)]) -> Result<()>;

    fn finish(&mut self) -> Result<()>;
}

fn printer<'p>(
    args: &EventsArgs,
    trace: &'p Trace,
    out: &'p mut (impl Write + Send),
) -> Result<Box<dyn Printer + 'p>> {
    Ok(match args.format {
        EventFormat::Text => Box::new(EventText {
            lines: Lines::new(trace, page_width()),
            out,
        }),
        EventFormat::Csv => {
            let names = ListedRow::COLUMNS.iter().map(|column| column.name);
            let names = names.chain(args.stack.then_some("stack"));
            Box::new(EventTable {
                trace,
                stack: args.stack,
                out: Some(Csv::with_names(names, Box::new(out))?),
            })
        }
        EventFormat::Json => Box::new(Objects {
            trace,
            stack: args.stack,
            out,
        }),
        EventFormat::Prolog => {
            let mut facts = PrologFacts::new();
            let names = ListedRow::COLUMNS.iter().map(|column| column.name);
            facts.declare(EVENT, names.chain(args.stack.then_some("stack")));
            out.write_all(facts.text().as_bytes())?;
            Box::new(EventTerms {
                trace,
                stack: args.stack,
                facts,
                out,
            })
        }
    })
}

struct EventText<'p, W> {
    lines: Lines<'p>,
    out: W,
}

impl<W: Write> Printer for EventText<'_, W> {
    fn event(&mut self, event: &Listed, stack: &[(u64, OpenBox)]) -> Result<()> {
        Ok(self.out.write_all(self.lines.of(event, stack).as_bytes())?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

struct EventTable<'p> {
    trace: &'p Trace,
    stack: bool,
    /// `None` when it is written.
    out: Option<Box<dyn TableWriter + 'p>>,
}

impl Printer for EventTable<'_> {
    fn event(&mut self, event: &Listed, stack: &[(u64, OpenBox)]) -> Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let row = ListedRow::new(event);
        if !self.stack {
            return Ok(row.with_cells(|cells| out.row(cells))?);
        }
        let boxes = stack
            .iter()
            .map(|(_, of)| format!("{} {}", of.called, self.trace.predicate_name(of.predicate)));
        let boxes = boxes.collect::<Vec<_>>().join("; ");
        row.with_cells(|cells| {
            let cells: Vec<Cell> = cells.iter().copied().chain([Cell::Text(&boxes)]).collect();
            Ok(out.row(&cells)?)
        })
    }

    fn finish(&mut self) -> Result<()> {
        match self.out.take() {
            Some(out) => Ok(out.finish()?),
            None => Ok(()),
        }
    }
}

struct Objects<'p, W> {
    trace: &'p Trace,
    stack: bool,
    out: W,
}

/// A row, and the boxes there.
#[derive(Serialize)]
struct EventObject<'p> {
    #[serde(flatten)]
    row: ListedRow<'p>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stack: Option<Vec<InStack<'p>>>,
}

#[derive(Serialize)]
struct InStack<'p> {
    r#box: u64,
    depth: u64,
    predicate: &'p str,
}

impl<W: Write> Printer for Objects<'_, W> {
    fn event(&mut self, event: &Listed, stack: &[(u64, OpenBox)]) -> Result<()> {
        let stack = self.stack.then(|| {
            let boxes = stack.iter().map(|(depth, of)| InStack {
                r#box: of.called,
                depth: *depth,
                predicate: self.trace.predicate_name(of.predicate),
            });
            boxes.collect()
        });
        let row = ListedRow::new(event);
        serde_json::to_writer(Escaped(&mut self.out), &EventObject { row, stack })
            .map_err(io::Error::from)?;
        Ok(self.out.write_all(b"\n")?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What the facts of events are called. Those of the table `events` have other columns.
const EVENT: &str = "event";

struct EventTerms<'p, W> {
    trace: &'p Trace,
    stack: bool,
    facts: PrologFacts,
    out: W,
}

impl<W: Write> Printer for EventTerms<'_, W> {
    fn event(&mut self, event: &Listed, stack: &[(u64, OpenBox)]) -> Result<()> {
        let row = ListedRow::new(event);
        let boxes = stack.iter().map(|(depth, of)| {
            let name = self.trace.predicate_name(of.predicate);
            [
                WrittenTerm::Integer(of.called.into()),
                WrittenTerm::Integer((*depth).into()),
                WrittenTerm::Text(name),
            ]
        });
        let boxes: Vec<_> = boxes.collect();
        let boxes: Vec<_> = boxes
            .iter()
            .map(|of| WrittenTerm::Compound("box", of))
            .collect();
        let stack = self.stack.then_some(WrittenTerm::List(&boxes));
        row.with_cells(|cells| {
            let cells = cells.iter().copied().map(WrittenTerm::from);
            let terms: Vec<_> = cells.chain(stack).collect();
            self.facts.fact(EVENT, &terms);
        });
        Ok(self.out.write_all(self.facts.text().as_bytes())?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
}
