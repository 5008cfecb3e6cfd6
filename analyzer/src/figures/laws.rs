//! The conservation laws of the model, and the sums of the call graph and of the call tree, checked
//! on a profile.
//!
//! They hold for every trace whatever, damaged ones included, to the last unit and the last tick:
//! an imbalance is a defect of the replay (or a sum beyond 64 bits), never of the traced program.
//! What the program's engine does wrong is a [`crate::figures::profile::Violation`].

use std::collections::BTreeMap;

use crate::figures::centers::CenterFigures;
use crate::figures::clauses::ClauseFigures;
use crate::figures::contexts::ContextFigures;
use crate::figures::profile::Profile;
use crate::figures::{Caller, EdgeFigures, PortTotals, PredicateFigures, SiteFigures};
use crate::trace::{PredicateIndex, SiteIndex};

/// Which sum does not come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Law {
    /// Every way into a box has its way out. (Boxes open before the window began are one, too.)
    #[error("calls + redos = exits + fails + exceptions + open")]
    Ports,
    /// Every choicepoint left has its end.
    #[error("nondeterminate exits = redos + cuts + pending")]
    Choicepoints,
    /// Every tick of a stream belongs to one box or to none.
    #[error("self + untraced + paused + gap = last tick - first tick")]
    Time,
    /// The active boxes of all streams are those of all predicates.
    #[error("self time of all predicates = self time of all streams = time spent by <root>")]
    Total,
    /// What a predicate serves its callers is its inclusive time.
    #[error("served time over all callers = inclusive time")]
    Served,
    /// A predicate's inclusive time is its own or spent in its callees.
    #[error("self time + time spent in all callees = inclusive time")]
    Spent,
    /// The same of work.
    #[error("served work over all callers = inclusive work")]
    ServedWork,
    /// The same of work: the time of a box itself is work, or none of it is.
    #[error("self time, if it is work, + work spent in all callees = inclusive work")]
    SpentWork,
    /// Work is some of the time.
    #[error("inclusive work <= inclusive time")]
    Work,
    /// Ports are counted alike for predicates and for their callers.
    #[error("{0} over all callers = {0}")]
    Edges(&'static str),
    /// Every call is from one site, or from none that is known.
    #[error("{0} over all sites = {0}")]
    Sites(&'static str),
    /// Time served for a caller is served at one of its sites.
    #[error("{0} served for a caller <= {0} served at its sites")]
    SiteTimes(&'static str),
    /// A box of a goal is one of the predicate that it calls.
    #[error("{0} served at a goal <= inclusive {0}")]
    Goals(&'static str),
    /// Every box is in one clause, or in none that is known.
    #[error("{0} over all clauses = {0}")]
    Clauses(&'static str),
    /// Every entry of a clause has its end.
    #[error("entered + redos = exits + failed + exhausted + exceptions + open")]
    Entries,
    /// Every choicepoint that a clause left has its end.
    #[error("left = redone + cut + pending")]
    Left,
    /// Every box is in one context.
    #[error("{0} over all contexts = {0}")]
    Contexts(&'static str),
    /// Every box is in one cost centre, or outside of all.
    #[error("{0} over all cost centres = {0}")]
    Centers(&'static str),
    /// Time in a context is its own or that of a context below.
    #[error("self time + inclusive time of all contexts below = inclusive time")]
    Tree,
    /// What redos throw away is some failure's fault.
    #[error("undone time over all that failed = undone time")]
    Backtracks,
    /// A box is cut by the active one, or by the root.
    #[error("cuts over all that cut = cuts")]
    Cuts,
    /// An activation ends in one way.
    #[error("{0} by failure, exception and none at all <= {0}")]
    Outcomes(&'static str),
}

/// What a sum is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LawSubject {
    /// A predicate.
    Predicate(PredicateIndex),
    /// A stream, by its id.
    Stream(u32),
    /// A row of [`Profile::contexts`].
    Context(u32),
    /// The whole trace.
    Trace,
}

/// A sum that does not come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imbalance {
    /// Which.
    pub law: Law,
    /// Of what.
    pub subject: LawSubject,
    /// The left side, boxes or ticks.
    pub left: u64,
    /// The right side.
    pub right: u64,
}

/// Every sum that does not come out; none in a correct profile.
#[must_use]
pub fn check(profile: &Profile) -> Vec<Imbalance> {
    let mut balance = Balance {
        subject: LawSubject::Trace,
        found: Vec::new(),
    };
    let (by_callee, by_caller) = sums(&profile.edges);
    let contexts = by_predicate(&profile.contexts, profile.predicates.len());
    let backtracks = by_second(&profile.backtracks, |edge| edge.undone_ticks);
    let cuts = by_second(&profile.cuts, |boxes| *boxes);
    let mut centers = BTreeMap::<PredicateIndex, CenterFigures>::new();
    for ((_, predicate), figures) in &profile.centers {
        centers.entry(*predicate).or_default().add(figures);
    }
    for ((figures, predicate), contexts) in profile.predicates.iter().zip(0..).zip(&contexts) {
        balance.subject = LawSubject::Predicate(predicate);
        let served = by_callee.get(&predicate).copied().unwrap_or_default();
        let spent = by_caller
            .get(&Caller::Predicate(predicate))
            .copied()
            .unwrap_or_default();
        of_predicate(&mut balance, figures);
        of_edges(&mut balance, figures, &served, &spent);
        of_contexts(&mut balance, figures, contexts);
        let in_centers = centers.get(&predicate).copied().unwrap_or_default();
        of_ports(
            &mut balance,
            Law::Centers,
            &in_centers.ports,
            &figures.ports,
        );
        let ticks = in_centers.self_ticks;
        balance.equal(Law::Centers("self time"), ticks, figures.self_ticks);
        let undone = backtracks.get(&predicate).copied().unwrap_or_default();
        balance.equal(Law::Backtracks, undone, figures.undone_ticks);
        let cut = cuts.get(&predicate).copied().unwrap_or_default();
        balance.equal(Law::Cuts, cut, figures.cuts);
    }
    of_sites(&mut balance, profile);
    of_clauses(&mut balance, profile);
    of_tree(&mut balance, &profile.contexts);
    for s in &profile.streams {
        balance.subject = LawSubject::Stream(s.stream);
        let left = sum([s.self_ticks, s.untraced_ticks, s.paused_ticks, s.gap_ticks]);
        let right = s.last_tick.saturating_sub(s.first_tick);
        balance.equal(Law::Time, left, right);
    }
    balance.subject = LawSubject::Trace;
    let of_predicates = sum(profile.predicates.iter().map(|figures| figures.self_ticks));
    let by_root = by_caller
        .get(&Caller::Root)
        .map_or(0, |edges| edges.spent_ticks);
    balance.equal(Law::Total, of_predicates, profile.total_ticks());
    balance.equal(Law::Total, by_root, profile.total_ticks());
    balance.found
}

/// What does not come out so far.
struct Balance {
    /// What the next sums are about.
    subject: LawSubject,
    found: Vec<Imbalance>,
}

impl Balance {
    fn equal(&mut self, law: Law, left: u64, right: u64) {
        if left != right {
            self.found.push(Imbalance {
                law,
                subject: self.subject,
                left,
                right,
            });
        }
    }

    fn at_most(&mut self, law: Law, left: u64, right: u64) {
        self.equal(law, left.max(right), right);
    }
}

fn of_predicate(balance: &mut Balance, p: &PredicateFigures) {
    let left = sum([p.exits_det, p.exits_nondet, p.fails, p.exceptions, p.open]);
    balance.equal(Law::Ports, sum([p.calls, p.redos, p.open_before]), left);
    let left = sum([p.redos, p.cuts, p.pending]);
    balance.equal(
        Law::Choicepoints,
        sum([p.exits_nondet, p.pending_before]),
        left,
    );
    let parts = sum([p.failed_ticks, p.raised_ticks, p.open_ticks]);
    balance.at_most(Law::Outcomes("inclusive time"), parts, p.inclusive_ticks);
    let parts = sum([p.failed_work_ticks, p.raised_work_ticks, p.open_work_ticks]);
    balance.at_most(
        Law::Outcomes("inclusive work"),
        parts,
        p.inclusive_work_ticks,
    );
    balance.at_most(Law::Work, p.inclusive_work_ticks, p.inclusive_ticks);
    let parts = sum([p.self_failed_ticks, p.self_raised_ticks, p.self_open_ticks]);
    balance.at_most(Law::Outcomes("self time"), parts, p.self_ticks);
}

fn of_edges(
    balance: &mut Balance,
    p: &PredicateFigures,
    served: &EdgeFigures,
    spent: &EdgeFigures,
) {
    balance.equal(Law::Served, served.served_ticks, p.inclusive_ticks);
    let left = sum([p.self_ticks, spent.spent_ticks]);
    balance.equal(Law::Spent, left, p.inclusive_ticks);
    let work = p.inclusive_work_ticks;
    balance.equal(Law::ServedWork, served.served_work_ticks, work);
    // Time of waiting itself is no work.
    if spent.spent_work_ticks != work {
        let left = sum([p.self_ticks, spent.spent_work_ticks]);
        balance.equal(Law::SpentWork, left, work);
    }
    of_ports(balance, Law::Edges, &served.ports, &p.ports);
}

/// Sites of each caller and callee sum to its edge, those of each callee to its self time and to
/// what redos into it threw away. Time served for a caller is served at one of its sites at least,
/// and time served at a site is time of the callee.
fn of_sites(balance: &mut Balance, profile: &Profile) {
    let mut pairs: BTreeMap<(Caller, PredicateIndex), SiteFigures> = BTreeMap::new();
    let mut callees: BTreeMap<PredicateIndex, SiteFigures> = BTreeMap::new();
    let mut goals: BTreeMap<(PredicateIndex, Option<SiteIndex>), SiteFigures> = BTreeMap::new();
    for (&(caller, callee, site), figures) in &profile.sites {
        pairs.entry((caller, callee)).or_default().add(figures);
        goals.entry((callee, site)).or_default().add(figures);
        callees.entry(callee).or_default().add(figures);
    }
    for pair in profile.edges.keys() {
        pairs.entry(*pair).or_default();
    }
    for (pair, sites) in &pairs {
        balance.subject = LawSubject::Predicate(pair.1);
        let edge = profile.edges.get(pair).copied().unwrap_or_default();
        of_ports(balance, Law::Sites, &sites.ports, &edge.ports);
        let served = (edge.served_ticks, sites.served_ticks);
        balance.at_most(Law::SiteTimes("time"), served.0, served.1);
        let served = (edge.served_work_ticks, sites.served_work_ticks);
        balance.at_most(Law::SiteTimes("work"), served.0, served.1);
    }
    for (goal, served) in goals {
        balance.subject = LawSubject::Predicate(goal.0);
        let of = &profile.predicates[goal.0 as usize];
        balance.at_most(Law::Goals("time"), served.served_ticks, of.inclusive_ticks);
        let work = (served.served_work_ticks, of.inclusive_work_ticks);
        balance.at_most(Law::Goals("work"), work.0, work.1);
    }
    for (figures, predicate) in profile.predicates.iter().zip(0..) {
        balance.subject = LawSubject::Predicate(predicate);
        let sites = callees.get(&predicate).copied().unwrap_or_default();
        for (name, sites, all) in [
            ("self time", sites.self_ticks, figures.self_ticks),
            ("undone time", sites.undone_ticks, figures.undone_ticks),
        ] {
            balance.equal(Law::Sites(name), sites, all);
        }
    }
}

/// Clauses of each predicate that has some sum to it. What was entered or left before a window
/// began shows only at its end.
fn of_clauses(balance: &mut Balance, profile: &Profile) {
    let mut sums: BTreeMap<PredicateIndex, ClauseFigures> = BTreeMap::new();
    for (&(predicate, _), c) in &profile.clauses {
        sums.entry(predicate).or_default().add(c);
        balance.subject = LawSubject::Predicate(predicate);
        balance.at_most(
            Law::Outcomes("inclusive time of a clause"),
            c.failed_ticks,
            c.inclusive_ticks,
        );
        if profile.predicates[predicate as usize].has_no_past() {
            let ends = sum([c.exits, c.failed, c.exhausted, c.exceptions, c.open]);
            balance.equal(Law::Entries, sum([c.entered, c.redos]), ends);
            let ends = sum([c.left_redos, c.left_cuts, c.left_pending]);
            balance.equal(Law::Left, c.left, ends);
        }
    }
    for (predicate, clauses) in sums {
        balance.subject = LawSubject::Predicate(predicate);
        let of = &profile.predicates[predicate as usize];
        for (name, left, right) in [
            ("exits", clauses.exits, sum([of.exits_det, of.exits_nondet])),
            ("redos", clauses.redos, of.redos),
            ("exceptions", clauses.exceptions, of.exceptions),
            ("open", clauses.open, of.open),
            ("self time", clauses.self_ticks, of.self_ticks),
        ] {
            balance.equal(Law::Clauses(name), left, right);
        }
    }
}

/// Sums over rows are the counts of the predicate.
fn of_ports(
    balance: &mut Balance,
    law: fn(&'static str) -> Law,
    sums: &PortTotals,
    of: &PortTotals,
) {
    for ((name, left), (_, right)) in sums.each().into_iter().zip(of.each()) {
        balance.equal(law(name), left, right);
    }
}

fn of_contexts(balance: &mut Balance, p: &PredicateFigures, contexts: &ContextFigures) {
    of_ports(balance, Law::Contexts, &contexts.ports, &p.ports);
    for (name, left, right) in [
        ("self time", contexts.self_ticks, p.self_ticks),
        (
            "inclusive time",
            contexts.inclusive_ticks,
            p.inclusive_ticks,
        ),
        ("undone time", contexts.undone_ticks, p.undone_ticks),
    ] {
        balance.equal(Law::Contexts(name), left, right);
    }
}

/// Inclusive times of the rows of the call tree, each after the one above.
fn of_tree(balance: &mut Balance, rows: &[ContextFigures]) {
    let mut sums: Vec<u64> = rows.iter().map(|row| row.self_ticks).collect();
    for (at, row) in rows.iter().enumerate().rev() {
        balance.subject = LawSubject::Context(at as u32);
        balance.equal(Law::Tree, sums[at], row.inclusive_ticks);
        if let Some(sum) = row.parent.and_then(|parent| sums.get_mut(parent as usize)) {
            *sum = sum.saturating_add(row.inclusive_ticks);
        }
    }
}

/// All contexts of each predicate; of inclusive times, those of rows that are not recursive.
fn by_predicate(rows: &[ContextFigures], predicates: usize) -> Vec<ContextFigures> {
    let mut sums = vec![ContextFigures::default(); predicates];
    for row in rows {
        let Some(sum) = sums.get_mut(row.predicate as usize) else {
            continue;
        };
        sum.add(row);
        if !row.recursive {
            sum.inclusive_ticks = sum.inclusive_ticks.saturating_add(row.inclusive_ticks);
        }
    }
    sums
}

/// Sums by the second of each pair.
fn by_second<T>(
    pairs: &BTreeMap<(Caller, PredicateIndex), T>,
    part: impl Fn(&T) -> u64,
) -> BTreeMap<PredicateIndex, u64> {
    let mut sums: BTreeMap<PredicateIndex, u64> = BTreeMap::new();
    for (&(_, second), figures) in pairs {
        let sum = sums.entry(second).or_default();
        *sum = sum.saturating_add(part(figures));
    }
    sums
}

/// All edges of each callee, and of each caller.
#[allow(clippy::type_complexity, reason = "two maps, used once")]
fn sums(
    edges: &BTreeMap<(Caller, PredicateIndex), EdgeFigures>,
) -> (
    BTreeMap<PredicateIndex, EdgeFigures>,
    BTreeMap<Caller, EdgeFigures>,
) {
    let mut by_callee: BTreeMap<PredicateIndex, EdgeFigures> = BTreeMap::new();
    let mut by_caller: BTreeMap<Caller, EdgeFigures> = BTreeMap::new();
    for (&(caller, callee), figures) in edges {
        by_callee.entry(callee).or_default().add(figures);
        by_caller.entry(caller).or_default().add(figures);
    }
    (by_callee, by_caller)
}

fn sum(parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A predicate that was called twice and exited once, so that one box is missing.
    fn unbalanced() -> Profile {
        let ports = PortTotals {
            calls: 2,
            exits_det: 1,
            ..Default::default()
        };
        let mut profile = Profile::default();
        profile.predicates.push(PredicateFigures {
            ports,
            ..Default::default()
        });
        let edge = EdgeFigures {
            ports,
            ..Default::default()
        };
        profile.edges.insert((Caller::Root, 0), edge);
        let site = SiteFigures {
            ports,
            ..Default::default()
        };
        profile.sites.insert((Caller::Root, 0, Some(3)), site);
        profile.contexts.push(ContextFigures {
            ports,
            ..Default::default()
        });
        let center = CenterFigures {
            ports,
            ..Default::default()
        };
        profile.centers.insert((None, 0), center);
        profile
    }

    #[test]
    fn an_imbalance_has_its_numbers() {
        let subject = LawSubject::Predicate(0);
        assert_eq!(
            check(&unbalanced()),
            [Imbalance {
                law: Law::Ports,
                subject,
                left: 2,
                right: 1
            }]
        );
    }

    #[test]
    fn each_sum_of_the_call_tree_is_checked() {
        let mut profile = unbalanced();
        profile.predicates[0].exits_det = 2;
        profile.predicates[0].self_failed_ticks = 3;
        profile.contexts[0].inclusive_ticks = 5;
        let sites = profile.sites.values_mut();
        sites.for_each(|figures| figures.served_ticks = 1);
        profile.cuts.insert((Caller::Root, 0), 7);
        let laws: Vec<Law> = check(&profile).iter().map(|found| found.law).collect();
        assert_eq!(
            laws,
            [
                Law::Outcomes("self time"),
                Law::Edges("exits_det"),
                Law::Contexts("exits_det"),
                Law::Contexts("inclusive time"),
                Law::Centers("exits_det"),
                Law::Cuts,
                Law::Goals("time"),
                Law::Tree,
            ]
        );
        profile.edges.insert(
            (Caller::Root, 0),
            EdgeFigures {
                served_ticks: 2,
                ..Default::default()
            },
        );
        let law = Law::SiteTimes("time");
        assert!(check(&profile).iter().any(|found| found.law == law));
    }
}
