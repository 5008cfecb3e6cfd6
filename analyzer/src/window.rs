//! Which part of the time is looked at.
//!
//! Times outside have no length, so every time that the replay finds is the part inside, exactly, whatever it is a time of.
//! What happens outside is not counted: the counts are those up to the end of the window less those up to its begin.
//! Boxes that were open or re-enterable when it began are ways in of their own
//! ([`PredicateFigures::open_before`], [`PredicateFigures::pending_before`]).

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::clock::Clock;
use crate::contexts::{ContextFigures, ContextTree};
use crate::duration::parse_ns;
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, PredicateFigures, PredicateIndex, StreamFigures,
};
use crate::profile::Profile;

/// From one tick on, until before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first tick inside.
    pub from: u64,
    /// The first tick after it; not before `from`.
    pub until: u64,
}

/// What is no window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// It has not the form `FROM..UNTIL`.
    #[error("`{0}` is no range of time; write for example 1.5ms..2s, ..2s or 1.5ms..")]
    Form(String),
    /// It ends before it begins.
    #[error("the range of time `{0}` ends before it begins")]
    Backwards(String),
}

impl Window {
    /// Reads `FROM..UNTIL`, times since the beginning of the trace ([`crate::duration`]); either may be left out.
    ///
    /// # Errors
    /// [`WindowError`] if it is anything else.
    pub fn parse(text: &str, clock: &Clock) -> Result<Self, WindowError> {
        let form = || WindowError::Form(text.to_owned());
        let (from, until) = text.split_once("..").ok_or_else(form)?;
        let tick = |text: &str, open: u64| match text.trim() {
            "" => Ok(open),
            text => {
                let ns = parse_ns(text).ok_or_else(form)?;
                Ok(clock.tick_at_ns(ns))
            }
        };
        let window = Self {
            from: tick(from, 0)?,
            until: tick(until, u64::MAX)?,
        };
        if window.from > window.until {
            return Err(WindowError::Backwards(text.to_owned()));
        }
        Ok(window)
    }

    /// The moment nearest to `tick` that is inside, or the end.
    #[must_use]
    pub fn nearest(&self, tick: u64) -> u64 {
        tick.max(self.from).min(self.until)
    }

    /// The time that is in both; at their borders none if they do not meet.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let from = self.from.max(other.from);
        Self {
            from,
            until: self.until.min(other.until).max(from),
        }
    }

    /// Everything until the window begins; no tick of it is inside.
    pub(crate) fn before(&self) -> Self {
        Self {
            from: self.from,
            until: self.from,
        }
    }
}

type Pairs<T> = BTreeMap<(Caller, PredicateIndex), T>;

impl Profile {
    /// Takes away what was counted until the window began. `before` has no times.
    pub(crate) fn since(mut self, before: &Self) -> Self {
        for (figures, before) in self.predicates.iter_mut().zip(&before.predicates) {
            since_predicate(figures, before);
        }
        less(&mut self.edges, &before.edges, since_edge);
        self.edges.retain(|_, left| *left != EdgeFigures::default());
        less(&mut self.backtracks, &before.backtracks, since_backtrack);
        self.backtracks
            .retain(|_, left| *left != BacktrackFigures::default());
        less(&mut self.cuts, &before.cuts, |cuts, before| {
            *cuts = cuts.saturating_sub(*before);
        });
        self.cuts.retain(|_, left| *left != 0);
        self.contexts = since_contexts(&self.contexts, &before.contexts);
        let streams: FxHashMap<u32, &StreamFigures> = before
            .streams
            .iter()
            .map(|stream| (stream.stream, stream))
            .collect();
        for stream in &mut self.streams {
            if let Some(before) = streams.get(&stream.stream) {
                take(&mut stream.events, before.events);
                take(&mut stream.lost_events, before.lost_events);
                stream.events_before = before.numbers().end;
            }
        }
        self
    }
}

fn take(count: &mut u64, before: u64) {
    *count = count.saturating_sub(before);
}

fn less<T>(pairs: &mut Pairs<T>, before: &Pairs<T>, since: impl Fn(&mut T, &T)) {
    for (pair, before) in before {
        if let Some(figures) = pairs.get_mut(pair) {
            since(figures, before);
        }
    }
}

fn since_predicate(figures: &mut PredicateFigures, before: &PredicateFigures) {
    for (count, before) in [
        (&mut figures.calls, before.calls),
        (&mut figures.tail_calls, before.tail_calls),
        (&mut figures.exits_det, before.exits_det),
        (&mut figures.exits_nondet, before.exits_nondet),
        (&mut figures.exits_again, before.exits_again),
        (&mut figures.redos, before.redos),
        (&mut figures.fails, before.fails),
        (&mut figures.fails_dry, before.fails_dry),
        (&mut figures.exceptions, before.exceptions),
        (&mut figures.cuts, before.cuts),
    ] {
        take(count, before);
    }
    figures.open_before = before.open;
    figures.pending_before = before.pending;
}

fn since_edge(figures: &mut EdgeFigures, before: &EdgeFigures) {
    for (count, before) in [
        (&mut figures.calls, before.calls),
        (&mut figures.tail_calls, before.tail_calls),
        (&mut figures.exits, before.exits),
        (&mut figures.redos, before.redos),
        (&mut figures.fails, before.fails),
    ] {
        take(count, before);
    }
}

fn since_backtrack(figures: &mut BacktrackFigures, before: &BacktrackFigures) {
    take(&mut figures.count, before.count);
}

fn since_contexts(rows: &[ContextFigures], before: &[ContextFigures]) -> Vec<ContextFigures> {
    let mut tree = ContextTree::default();
    tree.merge(rows);
    tree.take(before);
    tree.into_rows()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Pairs;

    #[test]
    fn a_window_is_written_in_times() {
        let clock = Clock::new(&Pairs::default(), 2_000_000_000);
        let parse = |text| Window::parse(text, &clock).map(|window| (window.from, window.until));
        assert_eq!(parse("1us..2ms"), Ok((2_000, 4_000_000)));
        assert_eq!(parse(".."), Ok((0, u64::MAX)));
        assert_eq!(parse(" 5 .. "), Ok((10, u64::MAX)));
        assert!(matches!(parse("1s"), Err(WindowError::Form(_))));
        assert!(matches!(parse("a..b"), Err(WindowError::Form(_))));
        assert!(matches!(parse("2s..1s"), Err(WindowError::Backwards(_))));
    }
}
