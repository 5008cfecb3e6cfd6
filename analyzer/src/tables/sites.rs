//! The table `sites`: the goals of clauses that made calls.

use std::collections::BTreeMap;

use super::Tables;
use super::row::{Row, rows};
use crate::figures::{Caller, SiteFigures};
use crate::trace::{PredicateIndex, SiteIndex, SiteInfo};

rows! {
    /// A row of the table `sites`: one for every goal that made a call, and one for the calls of
    /// each caller and callee that do not say which goal made them.
    pub struct SiteRow<'t> of s: SiteData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = s.tables.name;
        /// Indicator of the predicate whose clause has the goal; of calls without a site, the
        /// predicate of the box that called, or `<root>`.
        "caller" None caller: &'t str = s.tables.caller(s.caller);
        /// Number of the clause in its predicate, from 1. Empty: a call without a site, as by
        /// `call/1` or from an unrecorded predicate.
        "clause" None clause: Option<u32> = s.info().map(|site| site.clause);
        /// Number of the goal in the clause, from 1, in the order in which goals are written.
        "goal" None goal: Option<u32> = s.info().map(|site| site.goal);
        /// Source file of the clause.
        "file" None file: Option<&'t str> = s.file();
        /// Line of the goal.
        "line" None line: Option<u32> = s.line();
        /// Indicator of the callee.
        "callee" None callee: &'t str = s.tables.trace.predicate_name(s.callee);
        /// Calls of the callee there.
        "calls" Count calls: u64 = s.figures.calls;
        /// Those of the calls that were last calls.
        "last calls" Count tail_calls: u64 = s.figures.tail_calls;
        /// Exits of boxes called there.
        "exits" Count exits: u64 = s.figures.exits();
        /// Re-entries of them.
        "redos" Count redos: u64 = s.figures.redos;
        /// Final failures of them.
        "fails" Count fails: u64 = s.figures.fails;
        /// Those of them left by an exception.
        "exc." Count exceptions: u64 = s.figures.exceptions;
        /// Re-enterable ones discarded.
        "cut" Count cuts: u64 = s.figures.cuts;
        /// Time while a box called there was active or around the active one, in ns: of a goal that
        /// comes again inside itself, each moment once.
        "served" Time served_ns: u64 = s.tables.ns(s.figures.served_ticks);
        /// Time of work thrown away by redos into boxes called there because something failed,
        /// in ns.
        "undone" Time undone_ns: u64 = s.tables.ns(s.figures.undone_ticks);
    }
}

impl<'t> Tables<'t> {
    /// By caller, [`crate::tables::ROOT`] first, then by clause and goal; calls without a site come
    /// after those with one.
    pub fn sites(self) -> impl Iterator<Item = SiteRow<'t>> {
        self.site_list().into_iter().map(|site| SiteRow::new(&site))
    }

    /// The same, as what rows are made of.
    #[must_use]
    pub fn site_list(self) -> Vec<SiteData<'t>> {
        let mut sums: BTreeMap<_, SiteData<'t>> = BTreeMap::new();
        for (&(by, callee, site), figures) in &self.profile.sites {
            let info = site.and_then(|site| self.trace.sites().get(site as usize));
            let caller = info.map_or(by, |info| Caller::Predicate(info.caller));
            let place = info.map_or((true, 0, 0), |info| (false, info.clause, info.goal));
            let row = sums
                .entry((caller, place, callee, site))
                .or_insert(SiteData {
                    tables: self,
                    caller,
                    callee,
                    site,
                    figures: SiteFigures::default(),
                });
            row.figures.add(&self.counted().site(figures));
        }
        sums.into_values().collect()
    }
}

/// What a row of the table is made of.
#[derive(Debug, Clone, Copy)]
pub struct SiteData<'t> {
    tables: Tables<'t>,
    /// The predicate whose clause has the goal; of calls without a site, what called.
    pub caller: Caller,
    /// What is called.
    pub callee: PredicateIndex,
    /// The goal, if calls name it.
    pub site: Option<SiteIndex>,
    /// What was counted and timed there.
    pub figures: SiteFigures,
}

impl<'t> SiteData<'t> {
    /// What the trace says of it; `None` of calls without a site.
    #[must_use]
    pub fn info(&self) -> Option<&'t SiteInfo> {
        self.tables.trace.sites().get(self.site? as usize)
    }

    /// Whether its callee has arguments.
    #[must_use]
    pub fn has_arguments(&self) -> bool {
        let callee = self.tables.trace.predicates().get(self.callee as usize);
        callee.is_some_and(|callee| callee.declared.arity > 0)
    }

    /// Path of the source file of the clause.
    #[must_use]
    pub fn file(&self) -> Option<&'t str> {
        self.tables.trace.file(self.info()?.file?)
    }

    /// Line of the goal.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.info().map(|site| site.line).filter(|&line| line != 0)
    }
}
