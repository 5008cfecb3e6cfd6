//! The source around the clauses of a predicate, or, if that is not known, around the goal that calls it most; what goals and clauses did
//! there.

use std::collections::BTreeMap;

use portmortem_analyzer::Tables;
use portmortem_analyzer::calls::Goal;
use portmortem_analyzer::figures::clauses::ClauseFigures;
use portmortem_analyzer::figures::{Caller, SiteFigures};
use portmortem_analyzer::sources;
use portmortem_analyzer::tables::SiteData;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::names::printable;

use crate::analysis::AnalysisView;
use crate::format::{count, time};

/// Lines before the first clause, and after the last goal or clause, at least.
const BEFORE: u32 = 10;
const AFTER: usize = 60;

/// More lines are not read.
const LINES: usize = 5000;

/// Lines of a source file, and what happened there.
#[derive(Debug, Default)]
pub(super) struct SourceListing {
    /// Where the predicate is, or that it is not known; and where it is called, if that is what the lines are.
    pub(super) place: String,
    /// The file of the lines, as the trace names it.
    pub(super) file: Option<String>,
    /// The line of the first clause, or of the goal that calls most.
    pub(super) begin: u32,
    /// Empty if the source cannot be read.
    pub(super) rows: Vec<SourceRow>,
    /// By line.
    pub(super) goals: BTreeMap<u32, GoalsOfLine>,
}

/// A row of the list.
#[derive(Debug)]
pub(super) struct SourceRow {
    /// Of the source, or of the clause that the text is about.
    pub(super) line: u32,
    pub(super) text: String,
    /// It is what came of the entries of a clause.
    pub(super) is_figures: bool,
}

/// What goals on a line did.
#[derive(Debug, Default)]
pub(super) struct GoalsOfLine {
    pub(super) figures: SiteFigures,
    /// Those that were called, the one with the most time first.
    pub(super) goals: Vec<(u64, Goal)>,
}

impl SourceListing {
    pub(super) fn of(analysis: &AnalysisView, predicate: PredicateIndex) -> Self {
        let own = analysis.source(predicate);
        let place = match own {
            Some((file, line)) => format!("{}:{line}", printable(file)),
            None => "source: not known".to_owned(),
        };
        let mut listing = Self {
            place,
            ..Self::default()
        };
        if let Some((file, begin)) = own {
            let me = Caller::Predicate(predicate);
            listing.goals = goals(analysis.tables(), file, |site| site.caller == me);
            listing.read(analysis, file, begin, &clauses(analysis, predicate, file));
        }
        if listing.rows.is_empty() {
            listing.show_callers(analysis, predicate);
        }
        listing
    }

    /// Lists the lines where the predicate is called, if they can be read: those of the file with the goal that takes most of its time.
    fn show_callers(&mut self, analysis: &AnalysisView, predicate: PredicateIndex) {
        let tables = analysis.tables_of(analysis.counted_of(predicate));
        let sites = tables.site_list().into_iter().rev();
        let sites = sites.filter(|site| site.callee == predicate);
        let places = sites.filter_map(|site| {
            let place = (site.file()?, site.line()?);
            Some((site.figures.served_ticks, place))
        });
        let Some((_, (file, line))) = places.max_by_key(|&(ticks, _)| ticks) else {
            return;
        };
        self.read(analysis, file, line, &BTreeMap::new());
        if !self.rows.is_empty() {
            self.goals = goals(tables, file, |site| site.callee == predicate);
            let called = format!("called at {}:{line}", printable(file));
            self.place = match analysis.source(predicate) {
                Some(_) => format!("{}; {called}", self.place),
                None => called,
            };
        }
    }

    /// Reads the lines around `begin`, and those with goals and clauses.
    fn read(&mut self, analysis: &AnalysisView, file: &str, begin: u32, clauses: &ClausesByLine) {
        (self.begin, self.file) = (begin, Some(file.to_owned()));
        if !analysis.sources || begin == 0 {
            return;
        }
        let known = || self.goals.keys().chain(clauses.keys()).chain([&begin]);
        let first = known().min().copied().unwrap_or(begin);
        let last = known().max().copied().unwrap_or(begin);
        let first = first.saturating_sub(BEFORE).max(1);
        let most = (last.saturating_sub(first) as usize + AFTER).min(LINES);
        // What cannot be read is not there: the file may have moved since.
        let lines = sources::lines(&analysis.locate(file), first, most);
        for (line, text) in lines.unwrap_or_default() {
            let figures = clauses.get(&line).into_iter().flatten();
            self.rows.extend(figures.map(|clause| SourceRow {
                line,
                text: entries(analysis, clause),
                is_figures: true,
            }));
            self.rows.push(SourceRow {
                line,
                text,
                is_figures: false,
            });
        }
    }
}

/// By line: what the goals of a file called that are asked for, as far as the trace says which did.
fn goals(
    tables: Tables,
    file: &str,
    is_asked: impl Fn(&SiteData) -> bool,
) -> BTreeMap<u32, GoalsOfLine> {
    let mut lines = BTreeMap::<u32, GoalsOfLine>::new();
    for site in tables.site_list() {
        if is_asked(&site)
            && site.file() == Some(file)
            && let Some(line) = site.line()
        {
            let of_line = lines.entry(line).or_default();
            of_line.figures.add(&site.figures);
            let goal = Goal {
                callee: site.callee,
                caller: site.caller,
                site: site.site,
            };
            of_line.goals.push((site.figures.served_ticks, goal));
        }
    }
    for of_line in lines.values_mut() {
        of_line
            .goals
            .sort_by_key(|&(ticks, _)| std::cmp::Reverse(ticks));
    }
    lines
}

/// By line where they begin: numbers and figures of clauses.
type ClausesByLine = BTreeMap<u32, Vec<(u32, ClauseFigures)>>;

/// By line where it begins: number and figures of each clause of the predicate that was entered, if the trace says so. Only those in the
/// file of its first one.
fn clauses(analysis: &AnalysisView, predicate: PredicateIndex, file: &str) -> ClausesByLine {
    let mut lines = ClausesByLine::new();
    for clause in analysis.tables().clause_list() {
        if clause.predicate == predicate
            && clause.file() == Some(file)
            && let Some(info) = clause.info()
        {
            let at = lines.entry(info.line).or_default();
            at.push((info.number, clause.figures));
        }
    }
    lines
}

/// What came of the entries of a clause.
fn entries(analysis: &AnalysisView, (number, figures): &(u32, ClauseFigures)) -> String {
    let mut text = format!(
        "clause {number}: entered {}, in vain {}",
        count(figures.entered),
        count(figures.failed)
    );
    if figures.failed > 0 {
        text += &format!(" for {}", time(analysis.ns(figures.failed_ticks)));
    }
    text += &format!(", self {}", time(analysis.ns(figures.self_ticks)));
    if figures.left > 0 {
        text += &format!(
            ", left {} choices, {} unused",
            count(figures.left),
            count(figures.left_unused())
        );
    }
    text
}
