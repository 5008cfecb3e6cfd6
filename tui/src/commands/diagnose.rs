//! `portmortem diagnose`: records a program, once more if findings are in doubt, tries the changes,
//! and prints one page.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};

use anyhow::{Result, ensure};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::{Finding, Need, findings, suspects};
use portmortem_analyzer::export::json::Escaped;
use portmortem_analyzer::index::Index;
use portmortem_analyzer::text::{count, shell_quoted};
use portmortem_analyzer::trace::names::printable;
use serde_json::json;

use super::analysis::{analyse_all, exit_code, warn_of_losses};
use super::record::is_trace;
use super::refuse_input;
use super::trial::{self, Attempt, ChangeTrial, Runs, say};
use crate::cli::{AdviseFormat, DiagnoseArgs};
use crate::report;

/// So many findings are on the page.
const SHOWN: usize = 4;

/// A trace that was written, and the options that it was recorded with.
type NamedTrace = (PathBuf, String);

/// Does all of it.
pub(crate) fn run(args: &DiagnoseArgs) -> Result<ExitCode> {
    let how = &args.how;
    let runs = Runs::of_program(how, "diagnose")?;
    let first = match &args.output {
        Some(path) => path.clone(),
        None => runs.start().trace()?,
    };
    let more = first.with_extension("more.pmt");
    for path in [&first, &more] {
        if let Some(program) = &runs.start().program {
            refuse_input(path, program, "program")?;
        }
        ensure!(
            !path.exists() || is_trace(path),
            "{} exists and is no trace; name another with -o",
            path.display()
        );
    }
    say("recording the program: it runs once; how often it runs after that is said then");
    let begin = |trace: &Path| {
        runs.ending().begin(trace);
        // That of a large trace is not kept.
        runs.ending().begin(&Index::path_of(trace));
    };
    begin(&first);
    let status = runs.record(&first, &[])?;
    let mut analysis = analyse_all(&first)?;
    let mut found = findings(&analysis, how.least);
    let mut named = vec![(first, String::new())];
    let in_doubt = found.iter().flat_map(|one| one.needs.iter().cloned());
    let needs: BTreeSet<Need> = in_doubt.chain(suspects(&analysis)).collect();
    if !needs.is_empty() {
        let options: Vec<&str> = needs.iter().flat_map(Need::options).collect();
        let shown = in_words(&options);
        let times = match needs.contains(&Need::Baseline) {
            true => "once, and up to 5 times more for its unrecorded time",
            false => "once",
        };
        say(&format!(
            "recording it again with {shown}, to see more: it runs {times}"
        ));
        begin(&more);
        runs.record(&more, &options)?;
        analysis = analyse_all(&more)?;
        found = findings(&analysis, how.least);
        named.push((more, shown));
    }
    let attempt = trial::attempt(&runs, &analysis, &found)?;
    let text = match how.format {
        AdviseFormat::Text => page(&analysis, status, &found, &attempt) + &traces(&named),
        AdviseFormat::Json => object(&analysis, status, &found, &attempt, &named)?,
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    for (path, _) in &named {
        runs.ending().keep(path);
    }
    warn_of_losses(&analysis);
    Ok(exit_code(&analysis))
}

/// Options as they are typed.
fn in_words(options: &[&str]) -> String {
    let words = options.iter().map(|word| match word.starts_with("--") {
        true => (*word).to_owned(),
        false => shell_quoted(word),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What the time is, what to change, and what was confirmed.
fn page(analysis: &Analysis, status: ExitStatus, found: &[Finding], attempt: &Attempt) -> String {
    let mut text = report::headline(analysis) + &report::whole(analysis);
    if !status.success() {
        text += &format!("The program itself did not succeed: {status}.\n");
    }
    let (standing, refuted) = attempt.weighed(found);
    for (number, finding) in (1..).zip(standing.iter().take(SHOWN)) {
        text += "\n";
        text += &report::finding(analysis, number, finding);
        for trial in attempt.shown().filter(|trial| trial.is_of(finding)) {
            text += &report::fill(&trial.outcome(), "   Tried:  ", "           ");
        }
    }
    let hidden = standing.len().saturating_sub(SHOWN);
    if hidden > 0 {
        let trace = printable(&analysis.path.display().to_string());
        text += &format!(
            "\n… and {} more: portmortem advise {trace} --top {}\n",
            count(hidden as u64),
            found.len()
        );
    }
    text += "\n";
    let confirmed = attempt.shown().filter(|trial| trial.is_confirmed());
    let confirmed: Vec<String> = confirmed.map(ChangeTrial::outcome).collect();
    if confirmed.is_empty() {
        text += "Confirmed: nothing\n";
    }
    for outcome in confirmed {
        let outcome = outcome.replacen(": confirmed: ", ": ", 1);
        text += &report::fill(&outcome, "Confirmed: ", "           ");
    }
    if let Some(outcome) = attempt.together.outcome() {
        text += &report::fill(&outcome, "Together:  ", "           ");
    }
    for one in refuted {
        text += &report::fill(&one.outcome(), "Refuted:   ", "           ");
    }
    if let Some(untried) = attempt.untried() {
        text += &report::fill(&untried, "Untried:   ", "           ");
    }
    text
}

fn traces(named: &[NamedTrace]) -> String {
    let lines = named.iter().map(|(path, options)| {
        let path = printable(&path.display().to_string());
        match options.is_empty() {
            true => format!("Trace:     {path}\n"),
            false => format!("Trace:     {path}, recorded with {options}\n"),
        }
    });
    lines.collect()
}

/// The page for programs.
fn object(
    analysis: &Analysis,
    status: ExitStatus,
    found: &[Finding],
    attempt: &Attempt,
    named: &[NamedTrace],
) -> Result<String> {
    let paths: Vec<&Path> = named.iter().map(|(path, _)| path.as_path()).collect();
    let all = json!({
        "status": status.code(),
        "work_ns": analysis.ns(analysis.whole().work_ticks),
        "traces": paths,
        "findings": attempt.objects(analysis, found),
        "together": attempt.together.object(),
    });
    let mut text = Vec::new();
    serde_json::to_writer_pretty(Escaped(&mut text), &all)?;
    text.push(b'\n');
    Ok(String::from_utf8(text)?)
}
