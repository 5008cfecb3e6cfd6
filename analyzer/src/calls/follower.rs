//! From events to what goals did ([`Behaviour`]), as an [`Observer`] of some streams.

use std::collections::BTreeMap;

use super::behaviour::{Behaviour, OwnChoicepoints, Recursion, Span};
use crate::machine::{At, Note, Observer, OpenBox, WayOut};
use crate::scope::Scope;
use crate::trace::{Callable, PredicateIndex, SiteIndex};

/// What is kept with a physical box.
#[derive(Debug)]
pub(crate) struct FollowedFrame {
    /// The goal that called it.
    site: Option<SiteIndex>,
    /// The clause of that fails on purpose after it.
    drives: bool,
    /// What its last logical box was called as, and what that runs.
    last: Callable,
    predicate: PredicateIndex,
    /// It is work of the engine between two ports.
    is_between: bool,
    has_exited: bool,
    /// Boxes that could be re-entered when it was called.
    height: usize,
    /// Its last exit left a choicepoint of its own.
    has_own: bool,
    /// The predicates of its logical boxes: the first, and more that it departed into.
    first: PredicateOnChain,
    more: Vec<PredicateOnChain>,
}

/// A predicate that a box runs, while that is on the active chain.
#[derive(Debug, Clone, Copy)]
struct PredicateOnChain {
    predicate: PredicateIndex,
    /// What [`Follower::inner`] was for the next box of it outside of this one.
    outside: Option<u64>,
}

/// The last port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// Control went on; the goal that has exited, if that was the last port and calls name it.
    Went(Option<SiteIndex>),
    /// A box failed that this goal had called, and that had had no solution.
    Rejected(SiteIndex),
    /// A box failed otherwise, or was re-entered: what is re-entered next is re-entered with it.
    Back,
    /// After an exit the clause fails on purpose.
    Drives,
}

/// Follows the boxes of streams.
#[derive(Debug)]
pub(crate) struct Follower<'s> {
    scope: &'s Scope,
    /// By site: the predicate whose clause it is in.
    callers: &'s [PredicateIndex],
    last: Last,
    rejections: BTreeMap<(SiteIndex, SiteIndex), u64>,
    tests: BTreeMap<(SiteIndex, Option<SiteIndex>), u64>,
    /// By what a call names: predicates, the unknown one included, then sites.
    rows: Vec<CalledCounts>,
    unknown: PredicateIndex,
    /// By predicate: how often the innermost box of it on the active chain has led to a call of
    /// it; `None` if there is no such box.
    inner: Vec<Option<u64>>,
    /// By predicate.
    recursions: Vec<Recursion>,
}

/// What a follower knows between two parts of a stream. Rows of predicates and of sites are apart.
#[derive(Debug)]
pub(crate) struct FollowerAtRest {
    last: Last,
    rejections: BTreeMap<(SiteIndex, SiteIndex), u64>,
    tests: BTreeMap<(SiteIndex, Option<SiteIndex>), u64>,
    predicates: Vec<CalledCounts>,
    sites: Vec<CalledCounts>,
    inner: Vec<Option<u64>>,
    recursions: Vec<Recursion>,
}

impl FollowerAtRest {
    /// Before the first event of a stream.
    pub(crate) fn new() -> Self {
        Self {
            last: Last::Went(None),
            rejections: BTreeMap::new(),
            tests: BTreeMap::new(),
            predicates: Vec::new(),
            sites: Vec::new(),
            inner: Vec::new(),
            recursions: Vec::new(),
        }
    }

    /// Goes on as a new follower, which has room for what was declared since. No row is of the
    /// unknown predicate.
    pub(super) fn go_on<'s>(self, new: Follower<'s>) -> Follower<'s> {
        fn put<T: Copy>(into: &mut [T], from: &[T]) {
            into[..from.len()].copy_from_slice(from);
        }
        let mut follower = new;
        put(&mut follower.rows, &self.predicates);
        let first_site = follower.unknown as usize + 1;
        put(&mut follower.rows[first_site..], &self.sites);
        put(&mut follower.inner, &self.inner);
        put(&mut follower.recursions, &self.recursions);
        Follower {
            last: self.last,
            rejections: self.rejections,
            tests: self.tests,
            ..follower
        }
    }
}

impl FollowedFrame {
    /// What calls name has other numbers since more was declared.
    pub(crate) fn renumber(&mut self, callable: impl Fn(Callable) -> Callable) {
        self.last = callable(self.last);
    }
}

/// What is counted of what a call names.
#[derive(Debug, Clone, Copy, Default)]
struct CalledCounts {
    span: Option<Span>,
    own: OwnChoicepoints,
}

impl<'s> Follower<'s> {
    /// `unknown` comes after all predicates.
    pub(super) fn new(
        scope: &'s Scope,
        callers: &'s [PredicateIndex],
        unknown: PredicateIndex,
    ) -> Self {
        Self {
            scope,
            callers,
            last: Last::Went(None),
            rejections: BTreeMap::new(),
            tests: BTreeMap::new(),
            rows: vec![CalledCounts::default(); unknown as usize + 1 + callers.len()],
            unknown,
            inner: vec![None; unknown as usize + 1],
            recursions: vec![Recursion::default(); unknown as usize + 1],
        }
    }

    /// What it knows, to go on later.
    pub(super) fn at_rest(self) -> FollowerAtRest {
        let unknown = self.unknown as usize;
        let (predicates, sites) = self.rows.split_at(unknown + 1);
        FollowerAtRest {
            last: self.last,
            rejections: self.rejections,
            tests: self.tests,
            predicates: predicates[..unknown].to_vec(),
            sites: sites.to_vec(),
            inner: self.inner[..unknown].to_vec(),
            recursions: self.recursions[..unknown].to_vec(),
        }
    }

    pub(super) fn into_behaviour(self) -> Behaviour {
        let recursions = (0..).zip(self.recursions);
        let mut found = Behaviour {
            rejections: self.rejections,
            tests: self.tests,
            recursions: recursions.filter(|(_, of)| of.calls > 0).collect(),
            ..Behaviour::default()
        };
        for (row, figures) in (0..).zip(self.rows) {
            let site = (row as Callable).checked_sub(self.unknown + 1);
            let called = (self.scope.called[row as usize].predicate, site);
            if let Some(span) = figures.span {
                found.spans.insert(called, span);
            }
            if figures.own.left > 0 {
                found.choicepoints.insert(called, figures.own);
            }
        }
        found
    }

    /// What a call names.
    fn callable(&self, at: &At, open: &OpenBox) -> Callable {
        at.site
            .map_or(open.predicate, |site| self.unknown + 1 + site)
    }

    fn count(&mut self, at: &At, row: Callable, count: impl Fn(&mut CalledCounts)) {
        if let Some(row) = self.rows.get_mut(row as usize).filter(|_| at.is_inside) {
            count(row);
        }
    }

    /// A call is made.
    fn calls(&mut self, at: &At, row: Callable) {
        let now = Span {
            first: at.tick,
            last: at.tick,
        };
        self.count(at, row, |row| {
            row.span = Some(row.span.map_or(now, |span| span.and(now)));
        });
    }

    /// The innermost box of a predicate, if there is one, leads to a call of it. What it has led to
    /// before the window does not matter.
    fn recurs(&mut self, at: &At, predicate: PredicateIndex) {
        if !at.is_inside {
            return;
        }
        let Some(Some(calls)) = self.inner.get_mut(predicate as usize) else {
            return;
        };
        *calls += 1;
        let is_first = *calls == 1;
        if let Some(recursion) = self.recursions.get_mut(predicate as usize) {
            recursion.calls += 1;
            recursion.callers += u64::from(is_first);
        }
    }

    /// A box of a predicate comes onto the active chain: the innermost one of it.
    fn comes(&mut self, predicate: PredicateIndex) -> PredicateOnChain {
        let inner = self.inner.get_mut(predicate as usize);
        PredicateOnChain {
            predicate,
            outside: inner.and_then(|inner| inner.replace(0)),
        }
    }

    /// A physical box leaves the active chain.
    fn goes(&mut self, frame: &FollowedFrame) {
        for of in frame.more.iter().rev().chain([&frame.first]) {
            if let Some(inner) = self.inner.get_mut(of.predicate as usize) {
                *inner = of.outside;
            }
        }
    }

    fn is_gone(&mut self, at: &At, frame: &FollowedFrame) {
        if frame.has_own {
            self.count(at, frame.last, |row| row.own.unused += 1);
        }
    }

    fn is_between(&self, predicate: PredicateIndex) -> bool {
        self.scope.kind_of(predicate).is_between_ports()
    }
}

impl Observer for Follower<'_> {
    type Kept = FollowedFrame;

    fn begins(&mut self, _: u32) {
        self.last = Last::Went(None);
    }

    fn called(&mut self, at: &At, open: &OpenBox, _: Option<&FollowedFrame>) -> FollowedFrame {
        let is_between = self.is_between(open.predicate);
        if !is_between {
            self.last = Last::Went(None);
        }
        let last = self.callable(at, open);
        self.calls(at, last);
        self.recurs(at, open.predicate);
        FollowedFrame {
            site: at.site,
            drives: self.scope.fails_after(last),
            last,
            predicate: open.predicate,
            is_between,
            has_exited: false,
            height: at.choices,
            has_own: false,
            first: self.comes(open.predicate),
            more: Vec::new(),
        }
    }

    fn departed(&mut self, at: &At, open: &OpenBox, frame: &mut FollowedFrame) {
        self.last = Last::Went(None);
        frame.last = self.callable(at, open);
        frame.predicate = open.predicate;
        self.calls(at, frame.last);
        self.recurs(at, open.predicate);
        let mut own = std::iter::once(&frame.first).chain(&frame.more);
        if own.any(|of| of.predicate == open.predicate) {
            // The one before is not on the engine's stack any more: this is the innermost one.
            if let Some(inner) = self.inner.get_mut(open.predicate as usize) {
                *inner = Some(0);
            }
        } else {
            let of = self.comes(open.predicate);
            frame.more.push(of);
        }
    }

    fn left(&mut self, at: &At, frame: &mut FollowedFrame, way_out: WayOut) {
        self.goes(frame);
        if frame.is_between {
            return;
        }
        self.last = match way_out {
            WayOut::Fail => match frame.site.filter(|_| !frame.has_exited) {
                Some(site) => Last::Rejected(site),
                None => Last::Back,
            },
            WayOut::ExitDet | WayOut::ExitNondet if frame.drives => Last::Drives,
            WayOut::ExitDet | WayOut::ExitNondet => Last::Went(frame.site),
            _ => Last::Went(None),
        };
        frame.has_exited |= matches!(way_out, WayOut::ExitDet | WayOut::ExitNondet);
        frame.has_own = way_out == WayOut::ExitNondet && at.choices == frame.height && at.is_inside;
        if frame.has_own {
            self.count(at, frame.last, |row| row.own.left += 1);
        }
    }

    fn re_entered(&mut self, at: &At, frame: &mut FollowedFrame, around: Option<&FollowedFrame>) {
        frame.has_own = false;
        frame.first = self.comes(frame.first.predicate);
        for of in &mut frame.more {
            *of = self.comes(of.predicate);
        }
        let last = std::mem::replace(&mut self.last, Last::Back);
        let Some(site) = frame.site.filter(|_| at.is_inside) else {
            return;
        };
        let of_clause = self.callers.get(site as usize).copied();
        let is_in_clause = around.map(|around| around.predicate) == of_clause;
        match last {
            Last::Rejected(by) => *self.rejections.entry((by, site)).or_default() += 1,
            Last::Went(after) if is_in_clause => *self.tests.entry((site, after)).or_default() += 1,
            Last::Went(_) | Last::Back | Last::Drives => {}
        }
    }

    fn cut(&mut self, at: &At, frame: FollowedFrame) {
        if !matches!(self.last, Last::Went(_)) {
            self.last = Last::Went(None);
        }
        self.is_gone(at, &frame);
    }

    fn lost(&mut self, at: &At, frame: FollowedFrame) {
        self.is_gone(at, &frame);
    }

    fn noted(&mut self, _: &At, note: Note, _: Option<(&OpenBox, &mut FollowedFrame)>) {
        if matches!(note, Note::Clause(_)) {
            self.last = Last::Went(None);
        }
    }
}
