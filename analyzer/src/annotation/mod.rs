//! Source files with figures beside their lines: those of the goals on a line, and those of the
//! predicates that begin there. Times are of work, as recorded: sites have no net ones.

pub mod html;
pub mod json;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::Analysis;
use crate::figures::counted::Counted;
use crate::figures::profile::Profile;
use crate::figures::{Caller, SiteFigures};
use crate::sources;
use crate::text::{count, counted, percent, time};
use crate::trace::PredicateIndex;

/// What is said of a file whose text is not shown.
const WITHHELD: &str = "it is neither in the program's directory nor one of the engine's libraries: only lines with figures are \
    shown, without their text (--outside shows it)";

/// A source file that the trace names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile<'a> {
    /// As the trace names it.
    pub file: &'a str,
    /// By line: what its goals called. Time is work, served by outermost activations of the goals.
    pub goals: BTreeMap<u32, SiteFigures>,
    /// By line of their first clauses: predicates that ran.
    pub predicates: BTreeMap<u32, Vec<PredicateIndex>>,
    /// Ticks of self time of all these predicates.
    pub self_ticks: u64,
    /// Ticks of work while a box of one of them is active or around the active one, each moment
    /// once.
    pub inclusive_ticks: u64,
    /// Its text is not shown: it is neither of the program nor of the engine
    /// ([`Analysis::is_of_program`]).
    pub is_withheld: bool,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// From 1.
    pub number: u32,
    /// The text, escaped; empty if it cannot be read.
    pub text: String,
    /// What its goals called, if they are known to have called anything.
    pub goals: Option<SiteFigures>,
    /// Predicates that begin here.
    pub predicates: Vec<PredicateIndex>,
}

/// A file line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnotatedFile {
    /// All lines; of a file that cannot be read, those with figures.
    pub lines: Vec<SourceLine>,
    /// Why lines may be missing or others than those that ran.
    pub remark: Option<String>,
}

/// The files of predicates that ran and of goals that called, those with the most self time first.
#[must_use]
pub fn files(analysis: &Analysis) -> Vec<SourceFile<'_>> {
    let mut files = BTreeMap::<&str, SourceFile>::new();
    for predicate in analysis.tables().used_predicates() {
        if let Some((file, line)) = analysis.source(predicate) {
            let source = files.entry(file).or_insert_with(|| SourceFile::of(file));
            let ticks = analysis.profile.predicates[predicate as usize].self_ticks;
            source.self_ticks = source.self_ticks.saturating_add(ticks);
            if line > 0 {
                source.predicates.entry(line).or_default().push(predicate);
            }
        }
    }
    for ((file, line), goals) in goals(analysis) {
        let source = files.entry(file).or_insert_with(|| SourceFile::of(file));
        source.goals.insert(line, goals);
    }
    for (file, ticks) in inclusive_ticks(analysis) {
        if let Some(source) = files.get_mut(file) {
            source.inclusive_ticks = ticks;
        }
    }
    let mut files: Vec<_> = files.into_values().collect();
    for source in &mut files {
        source.is_withheld = !analysis.is_of_program(source.file);
    }
    files.sort_by_key(|source| (Reverse(source.self_ticks), source.file));
    files
}

/// By file: ticks of work in and below the outermost rows of the call tree whose predicate is of
/// the file.
fn inclusive_ticks(analysis: &Analysis) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::<_, u64>::new();
    // The files of the rows around the present one, and how often each is among them.
    let mut around = Vec::new();
    let mut often = BTreeMap::<_, usize>::new();
    let rows = analysis.profile.contexts.iter();
    for (row, work) in rows.zip(&analysis.work(None).contexts) {
        for left in around.drain((row.depth as usize).min(around.len())..) {
            often.entry(left).and_modify(|times| *times -= 1);
        }
        let file = analysis.source(row.predicate).map(|(file, _)| file);
        let times = often.entry(file).or_default();
        if let (Some(file), 0) = (file, *times) {
            let sum = all.entry(file).or_default();
            *sum = sum.saturating_add(*work);
        }
        *times += 1;
        around.push(file);
    }
    all
}

/// The shares of a file in the work: of itself, and with all that it called.
#[must_use]
pub fn file_shares(analysis: &Analysis, source: &SourceFile) -> String {
    let share = |ticks| percent(ticks, analysis.work(None).ticks);
    format!(
        "{} % of the work, {} % with what it called",
        share(source.self_ticks),
        share(source.inclusive_ticks)
    )
}

/// By file and line: what the goals called.
///
/// A goal in an argument, as of `findall/3`, runs inside another goal, usually of the same line: of
/// the times of the two kinds a line has the longer one. So it is with goals by which one predicate
/// calls another inside of themselves.
fn goals(analysis: &Analysis) -> BTreeMap<(&str, u32), SiteFigures> {
    let trace = &analysis.trace;
    let nested = nested_pairs(&analysis.profile);
    let mut pairs = BTreeMap::<_, SiteFigures>::new();
    for (&(caller, callee, site), figures) in &analysis.profile.sites {
        let info = site.and_then(|site| trace.sites().get(site as usize));
        if let Some(info) = info
            && let Some(file) = info.file.and_then(|file| trace.file(file))
            && info.line > 0
        {
            let is_inside = caller != Caller::Predicate(info.caller);
            let figures = &Counted::Work.site(figures);
            let key = ((file, info.line), is_inside, (caller, callee));
            match pairs.entry(key) {
                Entry::Occupied(mut known) if nested.contains(&(caller, callee)) => {
                    add_inside(known.get_mut(), figures);
                }
                pair => pair.or_default().add(figures),
            }
        }
    }
    let mut kinds = BTreeMap::<_, SiteFigures>::new();
    for ((place, is_inside, _), figures) in pairs {
        kinds.entry((place, is_inside)).or_default().add(&figures);
    }
    let mut lines = BTreeMap::new();
    for ((place, _), figures) in kinds {
        add_inside(lines.entry(place).or_default(), &figures);
    }
    lines
}

/// Adds figures of goals that run inside of others, or others inside of them.
fn add_inside(sum: &mut SiteFigures, more: &SiteFigures) {
    let ticks = sum.served_ticks.max(more.served_ticks);
    let work = sum.served_work_ticks.max(more.served_work_ticks);
    sum.add(more);
    (sum.served_ticks, sum.served_work_ticks) = (ticks, work);
}

/// Callers and callees whose goals run inside each other: their times add up to more than is served
/// for the caller.
fn nested_pairs(profile: &Profile) -> BTreeSet<(Caller, PredicateIndex)> {
    let mut sums = BTreeMap::<_, u64>::new();
    for (&(caller, callee, _), figures) in &profile.sites {
        let sum = sums.entry((caller, callee)).or_default();
        *sum = sum.saturating_add(figures.served_ticks);
    }
    sums.retain(|pair, sum| {
        let edge = profile.edges.get(pair);
        *sum > edge.map_or(0, |edge| edge.served_ticks)
    });
    sums.into_keys().collect()
}

impl<'a> SourceFile<'a> {
    fn of(file: &'a str) -> Self {
        Self {
            file,
            goals: BTreeMap::new(),
            predicates: BTreeMap::new(),
            self_ticks: 0,
            inclusive_ticks: 0,
            is_withheld: false,
        }
    }

    /// Whether the file on this machine was changed after the trace was written.
    #[must_use]
    pub fn is_newer(&self, analysis: &Analysis) -> bool {
        let modified = |path: &Path| -> Option<SystemTime> {
            let metadata = fs::metadata(path).ok()?;
            metadata.modified().ok()
        };
        modified(&analysis.locate(self.file)) > modified(&analysis.path)
    }

    /// The lines of the file on this machine, and what is to be said of them.
    fn texts(&self, analysis: &Analysis) -> (Vec<(u32, String)>, Option<String>) {
        let path = analysis.locate(self.file);
        match sources::lines(&path, 1, usize::MAX) {
            Ok(lines) => {
                let remark = "it is newer than the trace: lines may be others than those that ran";
                (lines, self.is_newer(analysis).then(|| remark.to_owned()))
            }
            Err(error) => {
                let remark = format!(
                    "{} cannot be read ({error}): only lines with figures are shown",
                    path.display()
                );
                (Vec::new(), Some(remark))
            }
        }
    }

    /// The lines of the file on this machine with their figures.
    #[must_use]
    pub fn annotated(&self, analysis: &Analysis) -> AnnotatedFile {
        let (texts, remark) = match self.is_withheld {
            true => (Vec::new(), Some(WITHHELD.to_owned())),
            false => self.texts(analysis),
        };
        let mut texts: BTreeMap<u32, String> = texts.into_iter().collect();
        let numbers: BTreeSet<u32> = texts
            .keys()
            .chain(self.goals.keys())
            .chain(self.predicates.keys())
            .copied()
            .collect();
        let line = |number| SourceLine {
            number,
            text: texts.remove(&number).unwrap_or_default(),
            goals: self.goals.get(&number).copied(),
            predicates: self.predicates.get(&number).cloned().unwrap_or_default(),
        };
        AnnotatedFile {
            lines: numbers.into_iter().map(line).collect(),
            remark,
        }
    }
}

/// What a predicate did, in a line.
#[must_use]
pub fn predicate_line(analysis: &Analysis, predicate: PredicateIndex) -> String {
    let figures = &analysis.profile.predicates[predicate as usize];
    format!(
        "{}: self {} ({} %), {}, {} failed",
        analysis.predicate(predicate),
        time(analysis.ns(figures.self_ticks)),
        percent(figures.self_ticks, analysis.work(None).ticks),
        counted(figures.calls, "call", "calls"),
        count(figures.fails),
    )
}
