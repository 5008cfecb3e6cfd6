//! Counts and time by cost centre.
//!
//! A box is in one cost centre, for good: if it is of a centre, or its predicate is declared to be in one, in
//! that one; else in that of the box that called it; else outside of all. So the innermost centre wins, all that
//! runs inside counts, what is in a nested centre does not count for the outer one (Brassel et al. 2004, section
//! 3), and a redo goes on in the centre of the box that it re-enters. Each stream begins outside of all.
//!
//! The pass over the events needs only the boxes that are active or can be re-entered, as in [`crate::moment`]. It knows
//! last calls as [`crate::replay`] does: a box of the engine is a chain of logical boxes, each with a centre of its own.
//! Law: the rows of a predicate, of all centres, sum to its row in [`crate::Profile::predicates`].
//!
//! It can look at a part of a trace, like that ([`ReplayOptions`]). A hidden box goes on to be in its centre: its time is booked
//! there, on the row of the visible box whose work it does. So hiding moves no time from one centre to another.

mod boxes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::figures::contexts::{ContextFigures, HiddenFigures};
use crate::figures::profile::Profile;
use crate::figures::{PortCounts, add_ports, take_ports};
use crate::net::{Rates, share};
use crate::replay::ReplayOptions;
use crate::scope::Scope;
use crate::trace::PredicateIndex;
use crate::trace::{PredicateInfo, Trace};
use boxes::StreamPass;

/// A cost centre, by its row in [`Trace::predicates`]; `None` is outside of all, and
/// [`Trace::unknown_predicate`] is what nothing is known of: before a gap.
pub type Center = Option<PredicateIndex>;

/// Counts of the port events of boxes, and the time they ran. All as in [`crate::figures::PredicateFigures`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CenterFigures {
    /// Boxes opened, `tail_calls` included.
    pub calls: u64,
    /// Those of `calls` that were last calls into a departed box.
    pub tail_calls: u64,
    /// Exits that left no choicepoint.
    pub exits_det: u64,
    /// Exits that left a choicepoint.
    pub exits_nondet: u64,
    /// Re-entries by backtracking.
    pub redos: u64,
    /// Final failures.
    pub fails: u64,
    /// Boxes left by an exception.
    pub exceptions: u64,
    /// Re-enterable boxes discarded.
    pub cuts: u64,
    /// Boxes still active at the end.
    pub open: u64,
    /// Boxes still re-enterable at the end.
    pub pending: u64,
    /// Ticks while one of the boxes was the active one.
    pub self_ticks: u64,
    /// Events of boxes of the engine that are theirs, as in [`crate::figures::contexts::ContextFigures::inside`].
    pub inside: PortCounts,
    /// Events of boxes that they called; of cuts, those that happened while one of them was active.
    pub outside: PortCounts,
    /// What hidden boxes did whose work is theirs, as in [`crate::figures::contexts::ContextFigures::hidden`].
    pub hidden: HiddenFigures,
}

impl CenterFigures {
    /// Adds other boxes.
    pub fn add(&mut self, other: &Self) {
        let Self {
            calls,
            tail_calls,
            exits_det,
            exits_nondet,
            redos,
            fails,
            exceptions,
            cuts,
            open,
            pending,
            self_ticks,
            inside,
            outside,
            hidden,
        } = other;
        for (sum, part) in [
            (&mut self.calls, calls),
            (&mut self.tail_calls, tail_calls),
            (&mut self.exits_det, exits_det),
            (&mut self.exits_nondet, exits_nondet),
            (&mut self.redos, redos),
            (&mut self.fails, fails),
            (&mut self.exceptions, exceptions),
            (&mut self.cuts, cuts),
            (&mut self.open, open),
            (&mut self.pending, pending),
            (&mut self.self_ticks, self_ticks),
        ] {
            *sum = sum.saturating_add(*part);
        }
        add_ports(&mut self.inside, inside);
        add_ports(&mut self.outside, outside);
        self.hidden.add(hidden);
    }

    /// Takes away the counts of a part of the run.
    fn take(&mut self, other: &Self) {
        for (count, part) in [
            (&mut self.calls, other.calls),
            (&mut self.tail_calls, other.tail_calls),
            (&mut self.exits_det, other.exits_det),
            (&mut self.exits_nondet, other.exits_nondet),
            (&mut self.redos, other.redos),
            (&mut self.fails, other.fails),
            (&mut self.exceptions, other.exceptions),
            (&mut self.cuts, other.cuts),
        ] {
            *count = count.saturating_sub(part);
        }
        take_ports(&mut self.inside, &other.inside);
        take_ports(&mut self.outside, &other.outside);
        self.hidden.take(&other.hidden);
    }
}

/// What ran in a cost centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CenterSum {
    /// How often it was entered.
    pub entered: u64,
    /// Sums over what ran in it.
    pub figures: CenterFigures,
    /// Ticks without the recorder's own; `None` if that is not known.
    pub net_ticks: Option<u64>,
}

/// What ran in which cost centre.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CenterProfile {
    /// Boxes by the centre they are in and what they are of. Where that is a centre itself, or a predicate
    /// declared to be in one, `calls` is how often the centre was entered.
    pub rows: BTreeMap<(Center, PredicateIndex), CenterFigures>,
}

impl CenterProfile {
    /// The figures of each centre: sums over its rows, and how often it was entered. The boxes of the
    /// centre itself, garbage collections and stack shifts are no calls of the program's: of them only the time is counted.
    #[must_use]
    pub fn by_center(&self, trace: &Trace, profile: &Profile) -> BTreeMap<Center, CenterSum> {
        let net = self.net(trace, profile);
        let mut sums = BTreeMap::<Center, CenterSum>::new();
        for (key, figures) in &self.rows {
            let sum = sums.entry(key.0).or_default();
            let info = trace.predicates().get(key.1 as usize);
            if info.is_some_and(|info| info.center.is_some()) {
                sum.entered = sum.entered.saturating_add(figures.calls);
            }
            if info.is_none_or(PredicateInfo::is_called_by_program) {
                sum.figures.add(figures);
            } else {
                let ticks = &mut sum.figures.self_ticks;
                *ticks = ticks.saturating_add(figures.self_ticks);
            }
            if let Some(net) = &net {
                let ticks = net.get(key).copied().unwrap_or(0);
                sum.net_ticks = Some(sum.net_ticks.unwrap_or(0).saturating_add(ticks));
            }
        }
        sums
    }

    /// The compensated time of each predicate, shared by its rows: by what is left of each when its own events are paid for. So
    /// that of all centres is that of the trace. `None` if the profile is of another part of the trace, or has no such times.
    #[must_use]
    pub fn net(
        &self,
        trace: &Trace,
        profile: &Profile,
    ) -> Option<BTreeMap<(Center, PredicateIndex), u64>> {
        let compensation = profile.net.as_ref()?;
        let rates = Rates::of(trace)?;
        let mut rows_of: BTreeMap<PredicateIndex, Vec<(Center, &CenterFigures)>> = BTreeMap::new();
        for (&(center, of), figures) in &self.rows {
            rows_of.entry(of).or_default().push((center, figures));
        }
        let mut net = BTreeMap::new();
        for (of, rows) in rows_of {
            let recorded = rows
                .iter()
                .fold(0_u64, |sum, (_, row)| sum.saturating_add(row.self_ticks));
            if recorded != profile.predicates.get(of as usize)?.self_ticks {
                return None;
            }
            let left = |figures: &CenterFigures| {
                let row = ContextFigures {
                    predicate: of,
                    self_ticks: figures.self_ticks,
                    inside: figures.inside,
                    outside: figures.outside,
                    hidden: figures.hidden,
                    ..ContextFigures::default()
                };
                rates.left(&row, &rates.other, 0).0
            };
            let weights: Vec<_> = rows
                .iter()
                .map(|(center, figures)| ((*center, of), left(figures)))
                .collect();
            let ticks = compensation.predicates.get(of as usize)?.self_ticks;
            net.extend(share(ticks, &weights));
        }
        Some(net)
    }

    /// Of a trace that has no cost centres: everything was outside of all.
    #[must_use]
    pub fn without_centers(profile: &Profile) -> Self {
        let rows = (0..).zip(&profile.predicates).map(|(predicate, figures)| {
            let figures = CenterFigures {
                calls: figures.calls,
                tail_calls: figures.tail_calls,
                exits_det: figures.exits_det,
                exits_nondet: figures.exits_nondet,
                redos: figures.redos,
                fails: figures.fails,
                exceptions: figures.exceptions,
                cuts: figures.cuts,
                open: figures.open,
                pending: figures.pending,
                self_ticks: figures.self_ticks,
                ..CenterFigures::default()
            };
            ((None, predicate), figures)
        });
        let mut rows: BTreeMap<_, _> = rows.collect();
        for context in &profile.contexts {
            let figures: &mut CenterFigures = rows.entry((None, context.predicate)).or_default();
            figures.add(&CenterFigures {
                inside: context.inside,
                outside: context.outside,
                hidden: context.hidden,
                ..CenterFigures::default()
            });
        }
        rows.retain(|_, figures| *figures != CenterFigures::default());
        Self { rows }
    }

    fn add(&mut self, other: Self) {
        for (key, figures) in other.rows {
            self.rows.entry(key).or_default().add(&figures);
        }
    }

    /// Takes away what was counted until the window began. `before` has no times.
    fn since(mut self, before: &Self) -> Self {
        for (key, before) in &before.rows {
            if let Some(figures) = self.rows.get_mut(key) {
                figures.take(before);
            }
        }
        self.rows
            .retain(|_, figures| *figures != CenterFigures::default());
        self
    }
}

/// Goes through the events of all streams, in parallel on rayon's current threads. What is found is of no use if it is cancelled.
#[must_use]
pub fn replay(trace: &Trace, options: &ReplayOptions) -> CenterProfile {
    let scope = options.scope(trace);
    let found = replay_scope(trace, options, &scope);
    match scope.window {
        None => found,
        Some(window) => found.since(&replay_scope(trace, options, &scope.before(window))),
    }
}

fn replay_scope(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> CenterProfile {
    trace
        .streams()
        .par_iter()
        .filter(|stream| scope.has_stream(stream.id))
        .map(|stream| StreamPass::run(trace, stream, options, scope))
        .reduce(CenterProfile::default, |mut all, part| {
            all.add(part);
            all
        })
}
