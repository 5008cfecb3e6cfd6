//! What to change: a paragraph for each finding.

use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::Finding;
use portmortem_analyzer::text::{count, percent, shell_word, time};
use portmortem_analyzer::trace::names::file_line;
use serde_json::{Value, json};

use textwrap::WordSplitter;

use super::page_width;

/// What shares are of, and what stands beside it.
pub(crate) fn whole(analysis: &Analysis) -> String {
    let whole = analysis.whole();
    let beside = [
        ("waiting", whole.waiting_ticks),
        ("loading", whole.loading_ticks),
        ("collections", whole.memory_ticks),
        ("set-up", whole.set_up_ticks),
    ];
    let beside = beside.into_iter().filter(|&(_, ticks)| ticks > 0);
    let time = |ticks| time(analysis.ns(ticks));
    let beside: Vec<String> = beside
        .map(|(name, ticks)| format!("{name} {}", time(ticks)))
        .collect();
    let mut text = format!("work: {}", time(whole.work_ticks));
    if !beside.is_empty() {
        text += &format!("; beside it {}", beside.join(", "));
    }
    fill(&text, "", "  ")
}

/// The first `top` findings, and a line on the rest.
pub(crate) fn findings(analysis: &Analysis, all: &[Finding], top: usize) -> String {
    if all.is_empty() {
        return "Nothing worked here.\n".to_owned();
    }
    let shown = all.iter().take(top).enumerate();
    let mut texts: Vec<String> = shown
        .map(|(at, one)| finding(analysis, at + 1, one))
        .collect();
    let more = all.len().saturating_sub(top);
    if more > 0 {
        texts.push(format!(
            "… and {} more; --top {} shows all\n",
            count(more as u64),
            all.len()
        ));
    }
    texts.join("\n")
}

/// A finding in full.
pub(crate) fn finding(analysis: &Analysis, number: usize, finding: &Finding) -> String {
    let total = finding.whole_ticks(analysis.whole().work_ticks);
    let head = format!(
        "{number}. {} %, {}: {}",
        percent(finding.cost_ticks, total),
        time(analysis.ns(finding.cost_ticks)),
        finding.title
    );
    let place = &finding.place;
    let place = match (&place.file, place.line) {
        (Some(file), Some(line)) => {
            format!("   {}, {}\n", file_line(file, line), place.predicate)
        }
        _ => String::new(),
    };
    let sure = finding.certainty.name();
    let mut text = fill(&head, "", "   ") + &place;
    text += &fill(&finding.evidence, "   ", "   ");
    text += &fill(&finding.remedy, "   Change: ", "           ");
    text += &format!("   Name:   {}\n", finding.cause.name());
    text += &format!("   Sure:   {sure}\n");
    for command in commands(analysis, finding) {
        // Not wrapped: it is there to be copied.
        text += &format!("   See:    {command}\n");
    }
    text
}

/// Lines of a paragraph. A number and its unit stay on one line.
pub(crate) fn fill(text: &str, first: &str, rest: &str) -> String {
    const KEPT: [(&str, &str); 5] = [
        (" %", "\u{a0}%"),
        (" s ", "\u{a0}s "),
        (" ms", "\u{a0}ms"),
        (" µs", "\u{a0}µs"),
        (" ns", "\u{a0}ns"),
    ];
    let joined = KEPT.iter().fold(text.to_owned(), |text, (loose, kept)| {
        text.replace(loose, kept)
    });
    let options = textwrap::Options::new(page_width())
        .initial_indent(first)
        .subsequent_indent(rest)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(&joined, options).replace('\u{a0}', " ") + "\n"
}

/// Commands that show the evidence.
fn commands(analysis: &Analysis, finding: &Finding) -> Vec<String> {
    let trace = shell_word(&analysis.path.to_string_lossy());
    let first = finding.predicates.first();
    let command = first.map(|&index| {
        let predicate = analysis.predicate(index);
        // A name without its module is found, too, and can be typed.
        let predicate = match predicate.split_once("':") {
            Some((module, name)) if module.starts_with('\'') && !name.contains('\'') => name,
            _ => predicate,
        };
        let predicate = shell_word(predicate);
        format!("portmortem report {trace} --predicate {predicate}")
    });
    command.into_iter().collect()
}

/// A finding for programs.
pub(crate) fn object(analysis: &Analysis, finding: &Finding) -> Value {
    let commands = commands(analysis, finding);
    json!({
        "cause": finding.cause,
        "title": finding.title,
        "predicate": finding.place.predicate,
        "file": finding.place.file,
        "line": finding.place.line,
        "cost_ns": analysis.ns(finding.cost_ticks),
        "certainty": finding.certainty,
        "evidence": finding.evidence,
        "remedy": finding.remedy,
        "commands": commands,
    })
}
