//! One call against the usual one: what it did more than the median call of its predicate.
//!
//! The streams are read for the times of all calls of the predicate, and then once more where the
//! two calls are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::machine::Class;
use crate::trace::{PredicateIndex, Trace};
use crate::walk::{Step, Trail, Walk};

/// Events between two looks at whether anybody still wants to know.
const STRIDE: u64 = 1 << 14;

/// Of more calls than these every second one is forgotten, as often as need be.
const MOST_CALLS: usize = if cfg!(test) { 16 } else { 1 << 20 };

/// A call, and the call of the same predicate that is in the middle by time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgainstUsual {
    /// What was called.
    pub predicate: PredicateIndex,
    /// Calls of it whose time is known.
    pub calls: u64,
    /// What this call did, up to its first way out.
    pub this: Doing,
    /// What the median call did; of two in the middle the faster one.
    pub usual: Doing,
}

/// What a call did, up to its first way out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Doing {
    /// How long it took, in ticks without pauses.
    pub ticks: u64,
    /// By predicate. The call itself is not counted, but calls that it made of its own predicate.
    pub by_predicate: BTreeMap<PredicateIndex, Did>,
}

/// What a predicate did in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Did {
    /// Calls, last calls included.
    pub calls: u64,
    /// Re-entries.
    pub redos: u64,
    /// Its own time, in ticks.
    pub ticks: u64,
}

/// What a predicate did in the two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PredicateInBoth {
    /// Which.
    pub predicate: PredicateIndex,
    /// In this call.
    pub this: Did,
    /// In the usual one.
    pub usual: Did,
}

impl AgainstUsual {
    /// Compares the call that an event made, or a last call. `stream` is a place in
    /// [`Trace::streams`]. `None` if the event is no call, if no time of a call is known, or if
    /// `goes_on` says no, which is asked now and then.
    #[must_use]
    pub fn of(
        trace: &Trace,
        trail: Option<&Trail>,
        stream: usize,
        number: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let search = UsualSearch {
            trace,
            trail,
            goes_on,
        };
        let (predicate, this) = search.doing(stream, number)?;
        let mut calls = search.calls_of(predicate)?;
        let middle = calls.kept.len().checked_sub(1)? / 2;
        let (_, median, _) = calls.kept.select_nth_unstable(middle);
        let (_, usual) = search.doing(median.stream, median.number)?;
        Some(Self {
            predicate,
            calls: calls.seen,
            this,
            usual,
        })
    }

    /// Both side by side, where they differ: those first whose own time differs most.
    #[must_use]
    pub fn differences(&self) -> Vec<PredicateInBoth> {
        let [this, usual] = [&self.this, &self.usual].map(|doing| &doing.by_predicate);
        let mut predicates: Vec<PredicateIndex> =
            this.keys().chain(usual.keys()).copied().collect();
        predicates.sort_unstable();
        predicates.dedup();
        let did = |doing: &BTreeMap<PredicateIndex, Did>, predicate| {
            doing.get(&predicate).copied().unwrap_or_default()
        };
        let rows = predicates.into_iter().map(|predicate| PredicateInBoth {
            predicate,
            this: did(this, predicate),
            usual: did(usual, predicate),
        });
        let mut rows: Vec<PredicateInBoth> = rows.filter(|row| row.this != row.usual).collect();
        rows.sort_by_key(|row| Reverse(row.this.ticks.abs_diff(row.usual.ticks)));
        rows
    }
}

/// Calls by their time.
#[derive(Debug, Default)]
struct CallsByTime {
    kept: Vec<TimedCall>,
    seen: u64,
    /// One of so many is kept.
    every: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct TimedCall {
    ticks: u64,
    stream: usize,
    number: u64,
}

impl CallsByTime {
    fn add(&mut self, call: TimedCall) {
        self.every = self.every.max(1);
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(call);
        }
        self.seen += 1;
        if self.kept.len() == MOST_CALLS {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.every *= 2;
        }
    }
}

/// A clock that stands still while recording is paused.
#[derive(Debug, Default)]
struct UnpausedClock {
    last: Option<u64>,
    paused: bool,
    ticks: u64,
}

impl UnpausedClock {
    /// How long it is since the event before.
    fn step(&mut self, step: &Step) -> u64 {
        let since = match self.last.replace(step.tick) {
            Some(last) if !self.paused => step.tick.saturating_sub(last),
            _ => 0,
        };
        if let Class::Pause(paused) = step.class() {
            self.paused = paused;
        }
        self.ticks += since;
        since
    }
}

struct UsualSearch<'t, 'g> {
    trace: &'t Trace,
    trail: Option<&'t Trail>,
    goes_on: &'g dyn Fn() -> bool,
}

impl UsualSearch<'_, '_> {
    fn is_over(&self, read: &mut u64) -> bool {
        *read += 1;
        read.is_multiple_of(STRIDE) && !(self.goes_on)()
    }

    /// The calls of a predicate whose time is known: of last calls in one box the first.
    fn calls_of(&self, predicate: PredicateIndex) -> Option<CallsByTime> {
        let mut calls = CallsByTime::default();
        let mut read = 0;
        for (stream, info) in self.trace.streams().iter().enumerate() {
            // How many boxes are around it, the number of its event, when.
            let mut open: Vec<(u64, u64, u64)> = Vec::new();
            let mut clock = UnpausedClock::default();
            for step in Walk::from(self.trace, None, info, 0) {
                if self.is_over(&mut read) {
                    return None;
                }
                clock.step(&step);
                let newest = open.last().map(|&(depth, ..)| depth);
                match (step.class(), step.of) {
                    (Class::Lose(_), _) => open.clear(),
                    (Class::Enter(_), Some((of, depth))) if of.predicate == predicate => {
                        open.push((depth, step.number, clock.ticks));
                    }
                    (Class::Depart(_), Some((of, depth)))
                        if of.predicate == predicate && newest != Some(depth) =>
                    {
                        open.push((depth, step.number, clock.ticks));
                    }
                    (Class::Leave(_), Some((_, depth))) => {
                        while let Some(&(around, number, began)) = open.last()
                            && around >= depth
                        {
                            open.pop();
                            if around == depth {
                                let ticks = clock.ticks - began;
                                calls.add(TimedCall {
                                    ticks,
                                    stream,
                                    number,
                                });
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        Some(calls)
    }

    /// What the call of an event did, and what was called.
    fn doing(&self, stream: usize, number: u64) -> Option<(PredicateIndex, Doing)> {
        let info = self.trace.streams().get(stream)?;
        let mut walk = Walk::from(self.trace, self.trail, info, number);
        let first = walk.next().filter(|step| step.number == number)?;
        let (predicate, around) = match (first.class(), first.of) {
            (Class::Enter(_) | Class::Depart(_), Some((of, depth))) => (of.predicate, depth),
            _ => return None,
        };
        let mut clock = UnpausedClock::default();
        clock.step(&first);
        let mut doing = Doing::default();
        let (mut active, mut read) = (predicate, 0);
        while let Some(step) = walk.next() {
            if self.is_over(&mut read) {
                return None;
            }
            let since = clock.step(&step);
            doing.by_predicate.entry(active).or_default().ticks += since;
            match (step.class(), step.of) {
                (Class::Lose(_), _) => break,
                (Class::Enter(_) | Class::Depart(_), Some((of, _))) => {
                    doing.by_predicate.entry(of.predicate).or_default().calls += 1;
                }
                (Class::ReEnter, Some((of, _))) => {
                    doing.by_predicate.entry(of.predicate).or_default().redos += 1;
                }
                (Class::Leave(_), Some((_, depth))) if depth <= around => break,
                _ => {}
            }
            let newest = walk.moment().active().newest().next();
            active = newest.map_or(active, |newest| newest.predicate);
        }
        doing.ticks = clock.ticks;
        Some((predicate, doing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;
    use crate::machine::WayOut;

    fn against(analysis: &Analysis, stream: usize, number: u64) -> Option<AgainstUsual> {
        AgainstUsual::of(&analysis.trace, analysis.trail(), stream, number, &|| true)
    }

    #[test]
    fn what_is_no_call_has_no_usual_one() {
        let analysis = Analysis::of_sample("queens.pmt");
        let mut walk = Walk::from(&analysis.trace, None, &analysis.trace.streams()[0], 0);
        let exit = walk
            .find(|step| step.class() == Class::Leave(WayOut::ExitDet))
            .unwrap();
        assert_eq!(against(&analysis, 0, exit.number), None);
        assert_eq!(against(&analysis, 0, u64::MAX), None);
        assert_eq!(against(&analysis, 99, 0), None);
        assert_eq!(
            AgainstUsual::of(&analysis.trace, None, 0, 0, &|| false),
            None
        );
    }

    #[test]
    fn of_very_many_calls_some_are_kept_evenly() {
        let mut calls = CallsByTime::default();
        for number in 0..1000 {
            calls.add(TimedCall {
                ticks: number,
                stream: 0,
                number,
            });
        }
        assert_eq!(calls.seen, 1000);
        assert!(calls.kept.len() < MOST_CALLS && calls.kept.len() >= MOST_CALLS / 2 - 1);
        let gaps = calls
            .kept
            .windows(2)
            .map(|two| two[1].number - two[0].number);
        assert!(gaps.clone().all(|gap| gap == calls.every), "{calls:?}");
    }
}
