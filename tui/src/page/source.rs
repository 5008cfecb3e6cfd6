//! Source files with figures beside their lines, as `annotate` has them.

use std::collections::BTreeSet;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::annotation::{SourceFile, SourceLine, file_shares, files};
use portmortem_analyzer::text::shorten;
use portmortem_analyzer::trace::names::printable;
use serde::Serialize;

use super::names::PageNames;

/// So many lines are shown of all files together.
const MOST_LINES: usize = 6_000;

/// Of longer files only the lines near figures are shown.
const LONG: usize = 1_500;

/// So many lines before and after one with figures are near.
const NEAR: u32 = 3;

/// So much of a line is shown.
const MOST_CELLS: usize = 240;

/// The files with the most self time.
#[derive(Debug, Serialize)]
pub(super) struct PageSource {
    files: Vec<PageFile>,
    /// The work as recorded, which times of goals are a part of.
    work_ns: u64,
    /// How many files have no room.
    others: usize,
    /// The recording does not say which goals made calls.
    has_no_goals: bool,
}

#[derive(Debug, Serialize)]
struct PageFile {
    name: String,
    shares: String,
    remark: Option<String>,
    /// Lines without figures near are left out.
    is_cut: bool,
    /// Number, text, figures of the goals there, and the predicates that begin there.
    lines: Vec<(u32, String, Option<LineGoals>, Vec<usize>)>,
}

/// What the goals of a line called.
#[derive(Debug, Serialize)]
struct LineGoals {
    served_ns: u64,
    calls: u64,
    exits: u64,
    redos: u64,
    fails: u64,
}

impl PageSource {
    /// `outside`: also the text of files that are neither of the program nor of the engine.
    pub(super) fn of(analysis: &Analysis, outside: bool, names: &mut PageNames) -> Self {
        let mut all = files(analysis);
        for file in &mut all {
            file.is_withheld &= !outside;
        }
        let with_goals = all.iter().filter(|file| !file.goals.is_empty());
        let (mut shown, mut others, mut room) = (Vec::new(), 0, MOST_LINES);
        for source in with_goals {
            match PageFile::of(analysis, source, room, names) {
                Some(file) => {
                    room -= file.lines.len();
                    shown.push(file);
                }
                None => others += 1,
            }
        }
        Self {
            files: shown,
            work_ns: analysis.ns(analysis.work(None).ticks),
            others,
            has_no_goals: analysis.trace.sites().is_empty(),
        }
    }
}

impl PageFile {
    /// `None` if it has more lines with figures than there is room.
    fn of(
        analysis: &Analysis,
        source: &SourceFile,
        room: usize,
        names: &mut PageNames,
    ) -> Option<Self> {
        let annotated = source.annotated(analysis);
        let mut lines = annotated.lines;
        let is_cut = lines.len() > room.min(LONG);
        if is_cut {
            let has_figures =
                |line: &&SourceLine| line.goals.is_some() || !line.predicates.is_empty();
            let numbers = lines.iter().filter(has_figures).map(|line| line.number);
            let numbers: BTreeSet<u32> = numbers.collect();
            lines.retain(|line| {
                let near = line.number.saturating_sub(NEAR)..=line.number.saturating_add(NEAR);
                numbers.range(near).next().is_some()
            });
        }
        if lines.len() > room {
            return None;
        }
        let line = |line: SourceLine| {
            let goals = line.goals.map(|goals| LineGoals {
                served_ns: analysis.ns(goals.served_ticks),
                calls: goals.calls,
                exits: goals.exits(),
                redos: goals.redos,
                fails: goals.fails,
            });
            let predicates = line.predicates.iter().map(|&of| names.id(of)).collect();
            (
                line.number,
                shorten(&line.text, MOST_CELLS),
                goals,
                predicates,
            )
        };
        Some(Self {
            name: printable(source.file),
            shares: file_shares(analysis, source),
            remark: annotated.remark.map(|remark| printable(&remark)),
            is_cut,
            lines: lines.into_iter().map(line).collect(),
        })
    }
}
