//! The times of single calls of a recording, as far as its blocks were folded.
//!
//! What is known of a stream lies at rest between two foldings, and goes on with the blocks that
//! were closed since. Predicates and sites that were declared meanwhile get rows.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::complete::ByPredicate;
use super::figures::SlowCall;
use super::follower::{FollowedFrame as Followed, FollowerAtRest};
use super::pass::{PassFrame as Timed, TimerAtRest};
use super::{Calls, Observed, Timing};
use crate::machine::pass::PassAtRest;
use crate::scope::Scope;
use crate::trace::{Callable, PredicateIndex, StreamInfo, Trace};

/// What is kept with a box: for the times, for what goals did, and for tables.
type KeptForCalls = (Timed, (Followed, ()));

/// The calls of streams that have not ended, and of those that have.
#[derive(Debug, Default)]
pub(crate) struct CallsSoFar {
    open: FxHashMap<u32, StreamCalls>,
    ended: Calls,
}

/// A stream between two foldings.
#[derive(Debug)]
struct StreamCalls {
    /// The predicate that stands for none, which numbers of goals follow on.
    unknown: PredicateIndex,
    /// How many sites there were.
    sites: u32,
    pass: PassAtRest<KeptForCalls>,
    timer: TimerAtRest,
    follower: FollowerAtRest,
    tables: ByPredicate,
}

impl CallsSoFar {
    /// The next blocks of streams happen, and then some of these have ended. Streams by their
    /// place.
    pub(crate) fn go_on(
        &mut self,
        trace: &Trace,
        parts: &[(usize, Range<usize>)],
        ended: &[usize],
    ) {
        let scope = Scope::of(trace, &Default::default());
        let timing = Timing::of(trace);
        for (at, blocks) in parts {
            let stream = &trace.streams()[*at];
            let of = self.open.remove(&stream.id);
            let of = of.unwrap_or_else(|| StreamCalls::new(trace, stream));
            let (pass, mut observed) = of.wake(&scope, &timing);
            let pass = pass.go_on(trace, stream, blocks.clone(), &scope, &mut observed);
            let rest = StreamCalls::rest(pass, observed, &timing);
            self.open.insert(stream.id, rest);
        }
        for at in ended {
            self.end(trace, &trace.streams()[*at], &scope, &timing);
        }
    }

    /// A stream has ended.
    fn end(&mut self, trace: &Trace, stream: &StreamInfo, scope: &Scope, timing: &Timing) {
        let Some(of) = self.open.remove(&stream.id) else {
            return;
        };
        let (pass, mut observed) = of.wake(scope, timing);
        let (end, _) = trace.end_of(stream);
        pass.finish(end, scope, &mut observed);
        let mut before = std::mem::take(&mut self.ended);
        // Predicates may have been declared since other streams ended.
        before.make_room(timing.unknown as usize + 1);
        self.ended = before.and(Calls::observed(observed));
    }

    /// The slowest call of each predicate so far, the slowest first.
    pub(crate) fn slowest(&self) -> Vec<SlowCall> {
        let open = self.open.values().flat_map(|of| of.timer.slowest());
        let ended = self.ended.predicates();
        let ended = ended.filter_map(|(of, figures)| Some((of, *figures.slowest.first()?)));
        let mut calls: Vec<(PredicateIndex, SlowCall)> = open.chain(ended).collect();
        calls.sort_unstable_by_key(|(of, call)| (*of, call.order()));
        calls.dedup_by_key(|(of, _)| *of);
        let mut calls: Vec<SlowCall> = calls.into_iter().map(|(_, call)| call).collect();
        calls.sort_unstable_by_key(SlowCall::order);
        calls
    }

    /// The calls of all streams of a trace, if all have ended.
    pub(crate) fn all(&self, trace: &Trace) -> Option<Calls> {
        self.open.is_empty().then(|| {
            let mut calls = self.ended.clone();
            calls.make_room(trace.unknown_predicate() as usize + 1);
            calls
        })
    }
}

impl StreamCalls {
    fn new(trace: &Trace, stream: &StreamInfo) -> Self {
        let unknown = trace.unknown_predicate();
        Self {
            unknown,
            sites: trace.sites().len() as u32,
            pass: PassAtRest::new(stream.dialect(), unknown),
            timer: TimerAtRest::new(stream.id),
            follower: FollowerAtRest::new(),
            tables: ByPredicate::new(),
        }
    }

    fn rest(
        pass: PassAtRest<KeptForCalls>,
        (timer, (follower, counter)): Observed<'_>,
        timing: &Timing,
    ) -> Self {
        Self {
            unknown: timing.unknown,
            sites: timing.callers.len() as u32,
            pass,
            timer: timer.at_rest(),
            follower: follower.at_rest(),
            tables: counter.into_found(),
        }
    }

    /// Observers that go on in the trace as it is now.
    fn wake<'s>(
        mut self,
        scope: &'s Scope,
        timing: &'s Timing,
    ) -> (PassAtRest<KeptForCalls>, Observed<'s>) {
        let (unknown, sites) = (self.unknown, self.sites);
        let more = timing.unknown - unknown;
        let more_sites = timing.callers.len() as u32 - sites;
        // Predicates, then one that stands for none, then sites, then rows of others.
        let renumber = |of: Callable| match of {
            of if of <= unknown => of,
            of if of - unknown <= sites => of + more,
            of => of + more + more_sites,
        };
        self.pass.set_unknown(timing.unknown);
        if more + more_sites > 0 {
            self.pass.each(|(timed, (followed, ()))| {
                timed.renumber(renumber);
                followed.renumber(renumber);
            });
        }
        let (timer, (follower, counter)) = timing.observer(scope);
        let timer = self.timer.go_on(timer.into_books());
        let follower = self.follower.go_on(follower);
        (
            self.pass,
            (timer, (follower, counter.going_on(self.tables))),
        )
    }
}
