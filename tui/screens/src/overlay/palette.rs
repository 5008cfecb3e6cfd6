//! The palette: all that can be done here, from the tables that keys are dispatched from, and all that can be gone to.
//!
//! Typing searches actions, those of other screens, too, predicates and streams; a number is that
//! of an event, and a number with a unit a time. Enter does what the cursor is on. So it is help,
//! too: screens come first, and words and signs are explained ([`GLOSSARY`]).

use std::collections::BTreeSet;
use std::sync::Arc;

use portmortem_analyzer::scope::duration::parse_ns;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;
use ratatui::crossterm::event::KeyEvent;
use tui_input::Input;

use super::glossary::GLOSSARY;
use super::{OverlayAnswer, prompt};
use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding};

/// More predicates than this are not listed.
const MOST_PREDICATES: usize = 50;

/// Nor more streams.
const MOST_STREAMS: usize = 20;

/// Nor more marks.
const MOST_MARKS: usize = 50;

/// What may be typed before the text of a mark.
const MARK: &str = "mark";

/// Cells of a line that explains a word.
const ABOUT: usize = 56;

/// What can be done, and where.
#[derive(Debug, Default)]
pub struct Offered {
    /// Keys that hold on the screen below, and what they are for.
    pub here: Vec<(&'static str, Vec<Binding>)>,
    /// Those of other screens: the place of the screen, what they are for, and the keys.
    pub elsewhere: Vec<(usize, String, Vec<Binding>)>,
    /// The stream that numbers of events are of.
    pub stream: String,
    /// Where times and marks are shown.
    pub moments: &'static str,
}

/// The palette of the screen below.
#[derive(Debug)]
pub struct Palette {
    offered: Offered,
    analysis: Option<Arc<AnalysisView>>,
    /// Those that were called, the hottest first.
    predicates: Vec<PredicateIndex>,
    search: Input,
    lines: Vec<PaletteLine>,
    /// The line that Enter is for; none while nothing is searched for.
    cursor: Option<usize>,
    first: usize,
}

/// A line of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaletteLine {
    /// What the lines below are.
    Heading(String),
    /// Keys, and what they do.
    Keys(String, &'static str, PaletteChoice),
    /// A word and the first line of what it means; a line that goes on has no word.
    Word(&'static str, String),
    /// An event of the stream that is looked at, by its number.
    Event(u64),
    /// A moment, in nanoseconds since the beginning.
    Time(u64),
    /// A mark that the program set: the id of its text, and that.
    Mark(u32, String),
    /// A stream to go to, by its place in the trace.
    Stream(usize, String),
    /// A predicate to go to.
    Predicate(PredicateIndex),
}

/// What was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaletteChoice {
    /// Do this.
    Act(Action),
    /// Press this key on another screen.
    Press(usize, &'static str),
    /// Show the event of this number.
    Event(u64),
    /// Show this moment, in nanoseconds since the beginning.
    Time(u64),
    /// Show the next mark with the text of this id.
    Mark(u32),
    /// Show the stream at this place on the timeline.
    Stream(usize),
    /// Show this predicate.
    Predicate(PredicateIndex),
}

impl Palette {
    /// What is offered, and the predicates of an analysis.
    #[must_use]
    pub fn new(offered: Offered, analysis: Option<&Arc<AnalysisView>>) -> Self {
        let mut predicates = Vec::new();
        if let Some(analysis) = analysis {
            let figures = (0..).zip(&analysis.profile.predicates);
            let called = figures.filter(|(_, figures)| figures.is_used());
            predicates = called.map(|(index, _)| index).collect();
            let time = |index: &PredicateIndex| analysis.predicate_times(*index).self_ticks;
            predicates.sort_by_key(|index| std::cmp::Reverse(time(index)));
        }
        let mut palette = Self {
            offered,
            analysis: analysis.map(Arc::clone),
            predicates,
            search: Input::default(),
            lines: Vec::new(),
            cursor: None,
            first: 0,
        };
        palette.find();
        palette
    }

    /// What is searched for.
    #[must_use]
    pub fn search(&self) -> &Input {
        &self.search
    }

    /// First line shown, when `height` of them fit.
    pub fn first(&mut self, height: usize) -> usize {
        if let Some(cursor) = self.cursor {
            self.first = self.first.min(cursor);
            self.first = self.first.max((cursor + 1).saturating_sub(height));
        }
        self.first = self.first.min(self.lines.len().saturating_sub(height));
        self.first
    }

    /// The lines that have what is searched for.
    #[must_use]
    pub fn lines(&self) -> &[PaletteLine] {
        &self.lines
    }

    /// The line that Enter is for.
    #[must_use]
    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    /// The stream that numbers of events are of.
    #[must_use]
    pub fn stream(&self) -> &str {
        &self.offered.stream
    }

    /// Where times and marks are shown.
    #[must_use]
    pub fn moments(&self) -> &'static str {
        self.offered.moments
    }

    /// The name of a predicate, as it is printed.
    #[must_use]
    pub fn name(&self, predicate: PredicateIndex) -> &str {
        let analysis = self.analysis.as_ref();
        analysis.map_or("", |analysis| analysis.predicate(predicate))
    }

    fn find(&mut self) {
        let wanted = self.search.value().trim().to_lowercase();
        let has = |text: &str| text.to_lowercase().contains(&wanted);
        let here = &self.offered.here;
        let screens: Vec<Binding> = here
            .iter()
            .flat_map(|(_, table)| table)
            .filter(|of| matches!(of.action, Action::Show(_)))
            .copied()
            .collect();
        let act = |of: &Binding| PaletteChoice::Act(of.action);
        let mut lines = section("Screens", &screens, &has, act);
        // A digit is that of a screen first.
        let is_screen = screens.iter().any(|of| of.keys.contains(&&*wanted));
        if let Some(number) = number(&wanted) {
            let at = if is_screen { lines.len() } else { 0 };
            lines.insert(at, PaletteLine::Event(number));
        }
        lines.extend(moment(&wanted).map(PaletteLine::Time));
        if !wanted.is_empty() {
            lines.extend(self.marks(&wanted));
            lines.extend(words(&wanted));
        }
        for (heading, table) in here {
            let others = table
                .iter()
                .filter(|of| !screens.iter().any(|screen| screen.keys == of.keys));
            let others: Vec<Binding> = others.copied().collect();
            lines.extend(section(heading, &others, &has, act));
        }
        if !wanted.is_empty() {
            let found = self.predicates.iter().copied();
            let found = found.filter(|&index| has(self.name(index)));
            let found: Vec<PaletteLine> = found
                .take(MOST_PREDICATES)
                .map(PaletteLine::Predicate)
                .collect();
            if !found.is_empty() {
                lines.push(PaletteLine::Heading("Predicates".to_owned()));
                lines.extend(found);
            }
            lines.extend(self.streams(&has));
            for (screen, heading, table) in &self.offered.elsewhere {
                let press = |of: &Binding| PaletteChoice::Press(*screen, of.keys[0]);
                lines.extend(section(heading, table, &has, press));
            }
        }
        if wanted.is_empty() {
            lines.extend(words(""));
        }
        self.lines = lines;
        self.first = 0;
        let mut lines = self.lines.iter();
        let first = lines.position(PaletteLine::can_be_chosen);
        self.cursor = first.filter(|_| !wanted.is_empty());
    }

    /// The marks that a text asks for by their own, with `mark` before that or not, below their
    /// heading.
    fn marks(&self, wanted: &str) -> Vec<PaletteLine> {
        let Some(analysis) = &self.analysis else {
            return Vec::new();
        };
        let text_of = wanted.strip_prefix(MARK).map_or(wanted, str::trim_start);
        let marks = analysis.trace.marks().into_iter();
        let found = marks.filter(|(_, text)| text.to_lowercase().contains(text_of));
        let mut texts = BTreeSet::new();
        let found = found.filter(|(_, text)| texts.insert(*text));
        let found = found.take(MOST_MARKS);
        let mut lines = vec![PaletteLine::Heading(format!("Marks, {}", self.moments()))];
        lines.extend(found.map(|(id, text)| PaletteLine::Mark(id, printable(text))));
        if lines.len() == 1 {
            lines.clear();
        }
        lines
    }

    /// The streams whose names have what is searched for, below their heading.
    fn streams(&self, has: &dyn Fn(&str) -> bool) -> Vec<PaletteLine> {
        let Some(analysis) = &self.analysis else {
            return Vec::new();
        };
        let streams = analysis.trace.streams().iter().enumerate();
        let titles = streams.map(|(at, stream)| (at, stream.title()));
        let found = titles.filter(|(_, title)| has(title)).take(MOST_STREAMS);
        let found = found.map(|(at, title)| PaletteLine::Stream(at, title));
        let mut lines = vec![PaletteLine::Heading("Streams, on the timeline".to_owned())];
        lines.extend(found);
        if lines.len() == 1 {
            lines.clear();
        }
        lines
    }

    /// To the next line that is no heading, or the one before.
    fn step(&mut self, forward: bool) {
        let can = |&at: &usize| !matches!(self.lines[at], PaletteLine::Heading(_));
        let found = match (self.cursor, forward) {
            (Some(at), false) => (0..at).rev().find(can),
            (at, true) => (at.map_or(0, |at| at + 1)..self.lines.len()).find(can),
            (None, false) => None,
        };
        self.cursor = found.or(self.cursor);
    }

    fn choice(&self) -> Option<PaletteChoice> {
        Some(match self.lines.get(self.cursor?)? {
            PaletteLine::Heading(_) | PaletteLine::Word(..) => return None,
            PaletteLine::Keys(_, _, choice) => *choice,
            PaletteLine::Event(number) => PaletteChoice::Event(*number),
            PaletteLine::Time(ns) => PaletteChoice::Time(*ns),
            PaletteLine::Mark(id, _) => PaletteChoice::Mark(*id),
            PaletteLine::Stream(at, _) => PaletteChoice::Stream(*at),
            PaletteLine::Predicate(index) => PaletteChoice::Predicate(*index),
        })
    }

    pub(super) fn key(&mut self, name: &str, event: &KeyEvent) -> OverlayAnswer {
        let nothing_typed = self.search.value().is_empty();
        match name {
            "esc" | "f1" => return OverlayAnswer::Closed,
            "enter" => {
                let at_word = self.cursor.map(|at| &self.lines[at]);
                return match self.choice() {
                    Some(choice) => OverlayAnswer::Chosen(choice),
                    // There is nothing to do with a word.
                    None if matches!(at_word, Some(PaletteLine::Word(..))) => {
                        OverlayAnswer::Pending
                    }
                    None => OverlayAnswer::Closed,
                };
            }
            "?" if nothing_typed => return OverlayAnswer::Closed,
            ":" if nothing_typed => {}
            "up" => self.step(false),
            "down" => self.step(true),
            "pgup" => (0..10).for_each(|_| self.step(false)),
            "pgdn" => (0..10).for_each(|_| self.step(true)),
            _ => {
                if let Some(request) = prompt::request(name, event) {
                    self.search.handle(request);
                    self.find();
                }
            }
        }
        OverlayAnswer::Pending
    }
}

impl PaletteLine {
    fn can_be_chosen(&self) -> bool {
        !matches!(self, Self::Heading(_) | Self::Word(..))
    }
}

/// The words and signs that a text asks for, explained below their heading; all of them if it is
/// empty.
fn words(wanted: &str) -> Vec<PaletteLine> {
    let mut lines = vec![PaletteLine::Heading("Words and signs".to_owned())];
    let asked = GLOSSARY.iter();
    for word in asked.filter(|word| wanted.is_empty() || word.is_asked(wanted)) {
        let mut name = word.word;
        for about in textwrap::wrap(word.about, ABOUT) {
            lines.push(PaletteLine::Word(name, about.into_owned()));
            name = "";
        }
    }
    if lines.len() == 1 {
        lines.clear();
    }
    lines
}

/// The lines of a table that have what is searched for, below their heading.
fn section(
    heading: &str,
    table: &[Binding],
    has: &dyn Fn(&str) -> bool,
    choice: impl Fn(&Binding) -> PaletteChoice,
) -> Vec<PaletteLine> {
    let mut lines = vec![PaletteLine::Heading(heading.to_owned())];
    for binding in table {
        let keys = binding.keys.join(" ");
        if has(&keys) || has(binding.label) || has(binding.about) {
            lines.push(PaletteLine::Keys(keys, binding.about, choice(binding)));
        }
    }
    if lines.len() == 1 {
        lines.clear();
    }
    lines
}

/// The number of an event, as people write it.
fn number(text: &str) -> Option<u64> {
    let digits = text.replace([',', '_', ' '], "");
    let digits = digits.strip_prefix('#').unwrap_or(&digits);
    digits.parse().ok()
}

/// A time with its unit: a number alone is that of an event.
fn moment(text: &str) -> Option<u64> {
    parse_ns(text).filter(|_| text.ends_with(char::is_alphabetic))
}
