//! One call against the usual one: what it did more than the median call of its predicate.

use portmortem_analyzer::calls::{AgainstUsual, Did};

use super::OverlayAnswer;
use crate::analysis::AnalysisView;
use crate::format::{count, left, right, shorten_name, time};

/// Rows that are shown; the others differ less.
const MOST: usize = 14;
/// Room for a name.
const NAME: usize = 28;

/// The comparison, as it is drawn.
#[derive(Debug)]
pub struct Against {
    title: String,
    heading: String,
    rows: Vec<String>,
    notes: Vec<String>,
}

impl Against {
    /// Puts a comparison into words.
    #[must_use]
    pub fn new(found: &AgainstUsual, analysis: &AnalysisView) -> Self {
        let of = |ticks| time(analysis.ns(ticks));
        let title = format!(
            " {}: this call {}, the usual {} ",
            analysis.short_name(found.predicate),
            of(found.this.ticks),
            of(found.usual.ticks)
        );
        let differences = found.differences();
        let row = |name: &str, cells: [String; 6]| {
            let widths = [9, 7, 7, 7, 9, 9];
            let cells = cells.iter().zip(widths);
            let cells = cells.map(|(cell, width)| " ".to_owned() + &right(cell, width));
            left(&shorten_name(name, NAME), NAME) + &cells.collect::<String>()
        };
        let usual = || "usual".to_owned();
        let names = ["calls", "redos", "own time"].map(str::to_owned);
        let [calls, redos, own] = names;
        let heading = row("", [calls, usual(), redos, usual(), own, usual()]);
        let cells = |this: Did, usual: Did| {
            let number = |number| match number {
                0 => "–".to_owned(),
                number => count(number),
            };
            let ticks = |ticks| match ticks {
                0 => "–".to_owned(),
                ticks => of(ticks),
            };
            [
                number(this.calls),
                number(usual.calls),
                number(this.redos),
                number(usual.redos),
                ticks(this.ticks),
                ticks(usual.ticks),
            ]
        };
        let rows = differences.iter().take(MOST).map(|beside| {
            let name = analysis.short_name(beside.predicate);
            row(&name, cells(beside.this, beside.usual))
        });
        let rows: Vec<String> = rows.collect();
        let mut notes = Vec::new();
        match differences.len().saturating_sub(MOST) {
            0 => {}
            more => notes.push(format!(
                "{} more predicates differ less",
                count(more as u64)
            )),
        }
        if differences.is_empty() {
            notes.push("it did what the usual call does".to_owned());
        }
        notes.push(format!(
            "the usual call: the middle one by time of {} calls; Esc closes",
            count(found.calls)
        ));
        Self {
            title,
            heading,
            rows,
            notes,
        }
    }

    /// What is compared.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Names of the columns.
    #[must_use]
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// A line for each predicate.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        &self.rows
    }

    /// What is said below.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn key(name: &str) -> OverlayAnswer {
        match name {
            "esc" | "q" | "=" | "enter" => OverlayAnswer::Closed,
            _ => OverlayAnswer::Pending,
        }
    }
}
