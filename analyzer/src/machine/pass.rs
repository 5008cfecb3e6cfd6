//! One pass over the events of streams, for all observers that are asked for.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portmortem_tracer::format::{Dialect, Event};
use rayon::prelude::*;

use super::{At, Class, Observer, OpenBox, Stacks, WayOut};
use crate::scope::Scope;
use crate::trace::events::{Events, TimedEvent};
use crate::trace::{ClauseIndex, PredicateIndex, StreamInfo, Trace};

/// Progress is told, and it is asked whether to stop, after so many events.
const WATCHED: u64 = 1 << 16;

/// How far a pass is, and whether it is still wanted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PassWatch<'w> {
    /// Counts up events read.
    pub(crate) progress: Option<&'w AtomicU64>,
    pub(crate) cancel: Option<&'w AtomicBool>,
}

impl PassWatch<'_> {
    fn read(&self, events: u64) {
        if let Some(progress) = self.progress {
            progress.fetch_add(events, Ordering::Relaxed);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.cancel
            .is_some_and(|cancel| cancel.load(Ordering::Relaxed))
    }
}

/// Tells an observer of all streams that are looked at, in parallel: each thread has a new one for
/// streams that follow on each other. `sums` makes of it what can be added up by `and`, in the
/// order of the streams. `None` if it was cancelled.
pub(crate) fn over_streams<O: Observer + Send, T: Send + Default>(
    trace: &Trace,
    scope: &Scope,
    watch: PassWatch,
    new: impl Fn() -> O + Sync + Send,
    sums: impl Fn(O) -> T + Sync + Send,
    and: impl Fn(T, T) -> T + Sync + Send,
) -> Option<T> {
    let streams = trace.streams().par_iter();
    let observers = streams
        .filter(|stream| scope.has_stream(stream.id))
        .try_fold(new, |mut observer, stream| {
            one_stream(trace, stream, scope, watch, &mut observer).then_some(observer)
        });
    observers
        .map(|observer| observer.map(&sums))
        .try_reduce(T::default, |sum, part| Some(and(sum, part)))
}

/// Whether it was not cancelled.
pub(crate) fn one_stream<O: Observer>(
    trace: &Trace,
    stream: &StreamInfo,
    scope: &Scope,
    watch: PassWatch,
    observer: &mut O,
) -> bool {
    observer.begins(stream.id);
    let mut pass = Pass::new(scope, stream.dialect(), trace.unknown_predicate());
    let mut last = None;
    let mut events = trace.events(stream);
    let mut read = 0;
    while let Some(timed) = events.next() {
        last = Some(timed.tick);
        if scope.is_over(timed.tick) {
            break;
        }
        pass.happen(numbered(trace, timed), events.number(), observer);
        read += 1;
        if read == WATCHED {
            watch.read(WATCHED);
            read = 0;
            if watch.is_cancelled() {
                return false;
            }
        }
    }
    watch.read(read);
    if let Some(last) = last {
        pass.finish(stream.end.map_or(last, |end| end.tick.max(last)), observer);
    }
    !watch.is_cancelled()
}

/// An event whose clause and predicate are those of the trace, not ids of the file.
#[inline]
fn numbered(trace: &Trace, mut timed: TimedEvent) -> TimedEvent {
    if let Event::Clause { clause } = &mut timed.event {
        *clause = trace.clause_index(*clause).unwrap_or(ClauseIndex::MAX);
    }
    if let Event::Table(table) = &mut timed.event {
        let of = trace.predicate_index(table.predicate);
        table.predicate = of.unwrap_or(trace.unknown_predicate());
    }
    timed
}

/// What a pass knows between two parts of a stream.
#[derive(Debug)]
pub(crate) struct PassAtRest<K> {
    stacks: Stacks<Vec<(OpenBox, K)>>,
    /// The last event.
    at: Option<At>,
    /// Its tick, as far as it is looked at.
    tick: u64,
    now: u64,
}

impl<K> PassAtRest<K> {
    /// Before the first event of a stream.
    pub(crate) fn new(dialect: Dialect, unknown: PredicateIndex) -> Self {
        Self {
            stacks: Stacks::new(dialect, unknown),
            at: None,
            tick: 0,
            now: 0,
        }
    }

    /// Predicates were declared, so another number stands for none.
    pub(crate) fn set_unknown(&mut self, unknown: PredicateIndex) {
        self.stacks.unknown = unknown;
    }

    /// Something changes in what is kept with each box.
    pub(crate) fn each(&mut self, change: impl FnMut(&mut K)) {
        let Stacks {
            active, choices, ..
        } = &mut self.stacks;
        let kept = active.iter_mut().chain(choices);
        kept.map(|(_, kept)| kept).for_each(change);
    }

    /// The next blocks of a stream, of which none is missing. Nothing is left out.
    pub(crate) fn go_on<O>(
        self,
        trace: &Trace,
        stream: &StreamInfo,
        blocks: Range<usize>,
        scope: &Scope,
        observer: &mut O,
    ) -> Self
    where
        O: Observer<Kept = K>,
    {
        let mut pass = Pass { scope, rest: self };
        let mut events = Events::part(trace, stream, blocks);
        while let Some(timed) = events.next() {
            pass.happen(numbered(trace, timed), events.number(), observer);
        }
        pass.rest
    }

    /// Nothing comes after `tick`.
    pub(crate) fn finish<O>(self, tick: u64, scope: &Scope, observer: &mut O)
    where
        O: Observer<Kept = K>,
    {
        Pass { scope, rest: self }.finish(tick, observer);
    }
}

/// The boxes of a stream, and the time.
#[derive(Debug)]
pub(crate) struct Pass<'s, K> {
    scope: &'s Scope,
    rest: PassAtRest<K>,
}

impl<'s, K> Pass<'s, K> {
    pub(crate) fn new(scope: &'s Scope, dialect: Dialect, unknown: PredicateIndex) -> Self {
        Self {
            scope,
            rest: PassAtRest::new(dialect, unknown),
        }
    }

    /// The next event, with its number in the stream. A clause is a [`ClauseIndex`], or greater
    /// than any if it is not known.
    #[inline]
    pub(crate) fn happen<O>(&mut self, timed: TimedEvent, number: u64, observer: &mut O)
    where
        O: Observer<Kept = K>,
    {
        let TimedEvent { event, site, tick } = timed;
        if self.rest.at.is_none() {
            self.rest.tick = self.scope.nearest(tick);
        }
        self.pass(tick, matches!(Class::of(event), Class::Lose(_)), observer);
        let is_inside = self.scope.has_begun(tick);
        if is_inside && self.rest.at.is_none_or(|last| !last.is_inside) {
            observer.window_begins();
        }
        let at = At {
            event,
            number,
            tick,
            site,
            now: self.rest.now,
            is_inside,
            lost: self.rest.stacks.lost,
            choices: self.rest.stacks.choices.len(),
        };
        self.rest.stacks.step(self.scope, &at, observer);
        self.rest.at = Some(at);
    }

    /// Nothing comes after `tick`.
    pub(crate) fn finish<O>(mut self, tick: u64, observer: &mut O)
    where
        O: Observer<Kept = K>,
    {
        self.pass(tick, false, observer);
        if let Some(last) = self.rest.at {
            let at = At {
                now: self.rest.now,
                ..last
            };
            self.rest.stacks.abandon(&at, WayOut::Open, observer);
        }
    }

    #[inline]
    fn pass<O>(&mut self, tick: u64, lost: bool, observer: &mut O)
    where
        O: Observer<Kept = K>,
    {
        let tick = self.scope.nearest(tick);
        let rest = &mut self.rest;
        let stretch = tick.saturating_sub(rest.tick);
        rest.tick += stretch;
        if rest.stacks.paused || lost {
            return;
        }
        rest.now += stretch;
        let active = rest.stacks.active.last();
        observer.passed(stretch, active.map(|(_, kept)| kept));
    }
}
