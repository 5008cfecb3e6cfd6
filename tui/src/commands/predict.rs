//! `portmortem predict`: times on another platform, or for sizes of the input that were never run.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::{has_record_options, record_hint};
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::text::{TimeUnit, count, counted, shell_quoted};
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use portmortem_models::model::Model;
use portmortem_models::platform::Platform;
use portmortem_models::prediction::{Predicted, Prediction, predict};
use portmortem_models::recordings::{SizedRecording, TimesKind, recordings};
use portmortem_tracer::pattern::PredicatePattern;

use super::analysis::{INCOMPLETE, analyse_all};
use crate::cli::{OutcomeFormat, PredictArgs, SizeOf, named_twice};
use crate::report::{as_list, losses as losses_of, page_width};
use crate::text_table::{TextColumn, render};

/// Prints the prediction; status 3 if parts of a trace are missing.
pub(crate) fn run(args: &PredictArgs) -> Result<ExitCode> {
    let read = read(args)?;
    let platform = args.platform.as_deref().map(Platform::read).transpose()?;
    let priced = platform
        .as_ref()
        .map(|platform| (platform, &platform.refined));
    let prediction = predict(&read.recordings, priced, args.at)?;
    let mut out = io::BufWriter::new(io::stdout());
    match args.format {
        OutcomeFormat::Text => text(&prediction, priced, &read, args.top, &mut out)?,
        OutcomeFormat::Csv => prediction.write_csv(&mut out)?,
        OutcomeFormat::Json => json(&prediction, priced, &read, &mut out)?,
    }
    out.flush()?;
    Ok(if read.losses.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(INCOMPLETE)
    })
}

/// The recordings of all traces.
struct ReadTraces {
    recordings: Vec<SizedRecording>,
    /// What is missing from them.
    losses: Vec<String>,
    /// Whether `portmortem record` can make all of them again.
    have_options: bool,
}

fn read(args: &PredictArgs) -> Result<ReadTraces> {
    let sizes = args.size.as_ref().map(|sizes| &sizes.0);
    if let Some(sizes) = sizes.filter(|sizes| sizes.len() != args.traces.len()) {
        bail!(
            "{} for {}: --size takes the size of each trace, in their order, for example --size n=10,20,30",
            counted(sizes.len() as u64, "size", "sizes"),
            counted(args.traces.len() as u64, "trace", "traces"),
        );
    }
    if let Some(said) = named_twice(&args.traces) {
        bail!("{said}");
    }
    let mut read = ReadTraces {
        recordings: Vec::new(),
        losses: Vec::new(),
        have_options: true,
    };
    for (index, path) in args.traces.iter().enumerate() {
        let analysis = analyse_all(path)?;
        let size = match &args.size_of {
            Some(of) => {
                Some(recorded_size(&analysis, of).with_context(|| path.display().to_string())?)
            }
            None => sizes.map(|sizes| sizes[index]),
        };
        let found = recordings(&analysis.trace, &analysis.profile, size);
        analysis.trace.check_whole(path)?;
        let found = found.with_context(|| path.display().to_string())?;
        read.recordings.extend(found);
        let of_trace = losses_of(&analysis).into_iter();
        let of_trace = of_trace.map(|loss| format!("{}: {loss}", path.display()));
        read.losses.extend(of_trace);
        read.have_options &= has_record_options(&analysis.trace);
    }
    Ok(read)
}

/// The greatest size that an argument had.
fn recorded_size(analysis: &Analysis, of: &SizeOf) -> Result<u64> {
    let pattern = PredicatePattern::new(&of.predicate);
    let predicates = analysis.trace.predicates();
    let is_meant = |at: PredicateIndex| {
        predicates.get(at as usize).is_some_and(|info| {
            let named = &info.declared;
            pattern.matches(&named.module, &named.name, named.arity)
        })
    };
    let sizes = analysis
        .arguments()
        .iter()
        .filter(|(at, _)| is_meant(**at))
        .flat_map(|(_, figures)| &figures.sizes)
        .filter(|((argument, _), _)| *argument == of.argument);
    let greatest = sizes.map(|(_, size)| size.greatest).max();
    let greatest = greatest.with_context(|| {
        let SizeOf { predicate, argument } = of;
        let hint = format!(
            "; record it with --arguments {}, which keeps those of the first four arguments if they are integers or lists",
            shell_quoted(predicate)
        );
        let hint = record_hint(&analysis.trace, &hint);
        format!("no size of argument {argument} of {predicate} was recorded{hint}")
    })?;
    u64::try_from(greatest)
        .with_context(|| format!("the greatest size is {greatest}: sizes are not negative"))
}

fn text(
    prediction: &Prediction,
    priced: Option<(&Platform, &Model)>,
    read: &ReadTraces,
    top: usize,
    out: &mut impl Write,
) -> Result<()> {
    let what = headline(prediction, priced);
    writeln!(out, "{}\n", textwrap::fill(&what, page_width()))?;
    let longest = prediction.total_ns.high;
    let unit = TimeUnit::for_longest(longest as u64);
    write!(out, "{}", table(prediction, unit, top))?;
    let rest = prediction.rows.len().saturating_sub(top);
    if rest > 0 {
        writeln!(
            out,
            "  and {}",
            counted(rest as u64, "more predicate", "more predicates")
        )?;
    }
    let total = prediction.total_ns;
    writeln!(
        out,
        "\n  in all {}, between {} and {}",
        unit.with_unit(total.value as u64),
        unit.format(total.low as u64),
        unit.with_unit(total.high as u64),
    )?;
    write!(out, "\n{}", as_list(&remarks(prediction, read)))?;
    Ok(())
}

fn headline(prediction: &Prediction, priced: Option<(&Platform, &Model)>) -> String {
    let place = priced.map_or_else(
        || "on the machine that recorded".to_owned(),
        |(platform, model)| {
            format!(
                "on {}, {} (model {})",
                printable(&platform.machine.processor),
                printable(&platform.machine.engine),
                model.components().join(" ")
            )
        },
    );
    match prediction.size {
        Some(size) => format!("Predicted for n = {} {place}", count(size)),
        None => format!("Predicted {place}"),
    }
}

fn table(prediction: &Prediction, unit: TimeUnit, top: usize) -> String {
    const UNKNOWN: &str = "?";
    let rows = &prediction.rows[..prediction.rows.len().min(top)];
    let cells = |cell: &dyn Fn(&Predicted) -> Option<String>| -> Vec<String> {
        rows.iter()
            .map(|row| cell(row).unwrap_or_else(|| UNKNOWN.to_owned()))
            .collect()
    };
    let mut columns = vec![
        TextColumn::right(
            format!("self {}", unit.name()),
            cells(&|row| Some(unit.format(row.self_ns?.value as u64))),
        ),
        TextColumn::right(
            "at least",
            cells(&|row| Some(unit.format(row.self_ns?.low as u64))),
        ),
        TextColumn::right(
            "at most",
            cells(&|row| Some(unit.format(row.self_ns?.high as u64))),
        ),
        TextColumn::right(
            "calls",
            cells(&|row| Some(count(row.calls?.value.round() as u64))),
        ),
    ];
    if prediction.size.is_some() {
        let evidence = |row: &Predicted| {
            let sign = if row.growth.is_exact() { "=" } else { "~" };
            Some(format!("{sign} {}", row.growth.formula()?))
        };
        let checks = |row: &Predicted| Some(row.growth.evidence()?.checks().to_string());
        columns.push(TextColumn::right("checks", cells(&checks)));
        columns.push(TextColumn::left("calls of n", cells(&evidence)));
    }
    columns.push(TextColumn::left(
        "predicate",
        cells(&|row| Some(row.predicate.clone())),
    ));
    render(&columns, page_width())
}

/// What the prediction does not cover.
fn remarks(prediction: &Prediction, read: &ReadTraces) -> Vec<String> {
    let mut remarks = read.losses.clone();
    let hint = |hint| if read.have_options { hint } else { "" };
    let unknown = prediction
        .rows
        .iter()
        .filter(|row| row.self_ns.is_none())
        .count();
    if unknown > 0 {
        remarks.push(format!(
            "of {} nothing is known that predicts the time: too few sizes, what it does was not counted, or it took less \
             than recording it",
            counted(unknown as u64, "predicate", "predicates")
        ));
    }
    if !prediction.unpriced.is_empty() {
        let names: Vec<&str> = prediction.unpriced.iter().map(String::as_str).collect();
        remarks.push(format!(
            "not included, since the platform has no cost of it: {}",
            names.join(", ")
        ));
    }
    match prediction.times {
        None | Some(TimesKind::Measured | TimesKind::OfCounting) => {}
        Some(TimesKind::Estimated) => remarks.push(format!(
            "net times of these recordings are an estimate{}",
            hint("; record --baseline measures their sum")
        )),
        Some(TimesKind::AsRecorded) => remarks.push(format!(
            "times include the recorder's own: what recording costs is not known of parts of a trace{}",
            hint("; record one trace for each size, with --baseline")
        )),
    }
    remarks.push("garbage collections and stack shifts are not included".to_owned());
    remarks
}

fn json(
    prediction: &Prediction,
    priced: Option<(&Platform, &Model)>,
    read: &ReadTraces,
    out: &mut impl Write,
) -> Result<()> {
    let total = prediction.total_ns;
    let report = serde_json::json!({
        "size": prediction.size,
        "platform": priced.map(|(platform, _)| &platform.machine),
        "model": priced.map(|(_, model)| model.components()),
        "predicates": prediction.table().collect::<Vec<_>>(),
        "total_ns": total.value.round() as u64,
        "total_low_ns": total.low.round() as u64,
        "total_high_ns": total.high.round() as u64,
        "unpriced": prediction.unpriced,
        "remarks": remarks(prediction, read),
    });
    serde_json::to_writer_pretty(Escaped(&mut *out), &report)?;
    writeln!(out)?;
    Ok(())
}
