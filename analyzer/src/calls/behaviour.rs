//! What goals did, exactly: which failed, and which was re-entered then; which choicepoints they
//! left, and what became of those; how they called themselves; and when they were called.
//!
//! A backtrack edge ([`crate::figures::BacktrackFigures`]) is of predicates. A library predicate
//! that several goals call is one of them, so an edge does not say which goal rejected what.

use std::collections::BTreeMap;

use portmortem_tracer::format::Event;

use crate::machine::{At, Observer, OpenBox, WayOut};
use crate::scope::Scope;
use crate::trace::{Callable, PredicateIndex, SiteIndex};

/// Choicepoints of boxes' own: a nondeterminate exit left them, and no box that was called inside
/// could be re-entered. Last calls share a box: such a choicepoint is of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnChoicepoints {
    /// Left by exits.
    pub left: u64,
    /// Those of them that nothing went back to: cut, or there at the end.
    pub unused: u64,
}

/// How a predicate calls itself, directly or through others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recursion {
    /// Calls of it while a box of it was on the active chain.
    pub calls: u64,
    /// Boxes that were the innermost one of it at one of these calls or more.
    pub callers: u64,
}

impl Recursion {
    /// Whether its boxes call it more than once, most of those that do: as a list is gone along,
    /// each box makes one call.
    #[must_use]
    pub fn is_a_tree(&self) -> bool {
        self.callers > 0 && self.calls.saturating_mul(4) >= self.callers.saturating_mul(5)
    }
}

/// Ticks of the first call and of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Of the first one.
    pub first: u64,
    /// Of the last one.
    pub last: u64,
}

impl Span {
    /// Whether calls of both were made at some time.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    fn and(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

/// What a call names: a predicate, and its goal if that is known.
type Called = (PredicateIndex, Option<SiteIndex>);

/// Behaviour of the streams that are looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Behaviour {
    /// How often a goal failed without a solution, and the very next port was the redo of another
    /// goal: the first one rejected what the second one gave.
    pub rejections: BTreeMap<(SiteIndex, SiteIndex), u64>,
    /// How often a goal was re-entered from the clause that called it, when no call had failed: a
    /// test that is no call rejected what it gave, or has passed, and the clause fails on purpose.
    /// By that goal and the one that had exited last; a clause that fails directly after is none.
    pub tests: BTreeMap<(SiteIndex, Option<SiteIndex>), u64>,
    /// By what left them.
    pub choicepoints: BTreeMap<Called, OwnChoicepoints>,
    /// When calls were made.
    pub spans: BTreeMap<Called, Span>,
    /// By predicate: those that called themselves.
    pub recursions: BTreeMap<PredicateIndex, Recursion>,
}

impl Behaviour {
    /// With that of other streams.
    pub(super) fn and(mut self, other: Self) -> Self {
        for (goals, count) in other.rejections {
            *self.rejections.entry(goals).or_default() += count;
        }
        for (goals, count) in other.tests {
            *self.tests.entry(goals).or_default() += count;
        }
        for (of, part) in other.choicepoints {
            let sum = self.choicepoints.entry(of).or_default();
            sum.left += part.left;
            sum.unused += part.unused;
        }
        for (of, part) in other.spans {
            let span = self.spans.entry(of).or_insert(part);
            *span = span.and(part);
        }
        for (of, part) in other.recursions {
            let sum = self.recursions.entry(of).or_default();
            sum.calls += part.calls;
            sum.callers += part.callers;
        }
        self
    }

    /// How often a test that is no call rejected what a goal gave, by the goal that exited last.
    pub fn tests_of(
        &self,
        goal: SiteIndex,
    ) -> impl Iterator<Item = (Option<SiteIndex>, u64)> + use<'_> {
        let all = (goal, None)..=(goal, Some(SiteIndex::MAX));
        self.tests
            .range(all)
            .map(|(&(_, last), &count)| (last, count))
    }

    /// How a predicate called itself.
    #[must_use]
    pub fn recursion_of(&self, predicate: PredicateIndex) -> Recursion {
        self.recursions.get(&predicate).copied().unwrap_or_default()
    }

    /// What a predicate left, whatever goals called it.
    #[must_use]
    pub fn left_by(&self, predicate: PredicateIndex) -> OwnChoicepoints {
        let goals = self
            .choicepoints
            .range((predicate, None)..=(predicate, Some(SiteIndex::MAX)));
        goals.fold(OwnChoicepoints::default(), |sum, (_, part)| {
            OwnChoicepoints {
                left: sum.left + part.left,
                unused: sum.unused + part.unused,
            }
        })
    }

    /// When a predicate was called; `None` if it was not.
    #[must_use]
    pub fn span_of(&self, predicate: PredicateIndex) -> Option<Span> {
        let goals = self
            .spans
            .range((predicate, None)..=(predicate, Some(SiteIndex::MAX)));
        goals.map(|(_, span)| *span).reduce(Span::and)
    }
}

/// What is kept with a physical box.
#[derive(Debug)]
pub(crate) struct Frame {
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
    first: OnChain,
    more: Vec<OnChain>,
}

/// A predicate that a box runs, while that is on the active chain.
#[derive(Debug, Clone, Copy)]
struct OnChain {
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
    rows: Vec<Row>,
    unknown: PredicateIndex,
    /// By predicate: how often the innermost box of it on the active chain has led to a call of
    /// it; `None` if there is no such box.
    inner: Vec<Option<u64>>,
    /// By predicate.
    recursions: Vec<Recursion>,
}

/// What is counted of what a call names.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
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
            rows: vec![Row::default(); unknown as usize + 1 + callers.len()],
            unknown,
            inner: vec![None; unknown as usize + 1],
            recursions: vec![Recursion::default(); unknown as usize + 1],
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

    fn count(&mut self, at: &At, row: Callable, count: impl Fn(&mut Row)) {
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

    /// The innermost box of a predicate, if there is one, leads to a call of it.
    fn recurs(&mut self, at: &At, predicate: PredicateIndex) {
        let Some(Some(calls)) = self.inner.get_mut(predicate as usize) else {
            return;
        };
        *calls += 1;
        let is_first = *calls == 1;
        if let Some(recursion) = self.recursions.get_mut(predicate as usize)
            && at.is_inside
        {
            recursion.calls += 1;
            recursion.callers += u64::from(is_first);
        }
    }

    /// A box of a predicate comes onto the active chain: the innermost one of it.
    fn comes(&mut self, predicate: PredicateIndex) -> OnChain {
        let inner = self.inner.get_mut(predicate as usize);
        OnChain {
            predicate,
            outside: inner.and_then(|inner| inner.replace(0)),
        }
    }

    /// A physical box leaves the active chain.
    fn goes(&mut self, frame: &Frame) {
        for of in frame.more.iter().rev().chain([&frame.first]) {
            if let Some(inner) = self.inner.get_mut(of.predicate as usize) {
                *inner = of.outside;
            }
        }
    }

    fn is_gone(&mut self, at: &At, frame: &Frame) {
        if frame.has_own {
            self.count(at, frame.last, |row| row.own.unused += 1);
        }
    }

    fn is_between(&self, predicate: PredicateIndex) -> bool {
        self.scope.kind_of(predicate).is_between_ports()
    }
}

impl Observer for Follower<'_> {
    type Kept = Frame;

    fn begins(&mut self, _: u32) {
        self.last = Last::Went(None);
    }

    fn called(&mut self, at: &At, open: &OpenBox, _: Option<&Frame>) -> Frame {
        let is_between = self.is_between(open.predicate);
        if !is_between {
            self.last = Last::Went(None);
        }
        let last = self.callable(at, open);
        self.calls(at, last);
        self.recurs(at, open.predicate);
        Frame {
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

    fn departed(&mut self, at: &At, open: &OpenBox, frame: &mut Frame) {
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

    fn left(&mut self, at: &At, frame: &mut Frame, way_out: WayOut) {
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

    fn re_entered(&mut self, at: &At, frame: &mut Frame, around: Option<&Frame>) {
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

    fn cut(&mut self, at: &At, frame: Frame) {
        if !matches!(self.last, Last::Went(_)) {
            self.last = Last::Went(None);
        }
        self.is_gone(at, &frame);
    }

    fn lost(&mut self, at: &At, frame: Frame) {
        self.is_gone(at, &frame);
    }

    fn noted(&mut self, at: &At, _: Option<(&OpenBox, &mut Frame)>) {
        if matches!(at.event, Event::Clause { .. }) {
            self.last = Last::Went(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    use portmortem_tracer::format::{Dialect, Event, Header, Outcome, Site, StreamKind};
    use portmortem_tracer::{Options, Recorder};

    use super::*;
    use crate::Analysis;
    use crate::trace::Trace;

    /// Of events, each a word: the clause of `p/0` has the goals `gen/0`, `test/0` and
    /// `drive/0`, after the last of which its clause fails.
    fn of(events: &str) -> Behaviour {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("b.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        let predicate = |name| recorder.predicate("user", name, 0, None, 0);
        let caller = predicate("p");
        let sites: Vec<u32> = (1..)
            .zip(["gen", "test", "drive"])
            .map(|(goal, name)| {
                recorder.site(Site {
                    callee: predicate(name),
                    caller,
                    clause: 1,
                    goal,
                    line: goal,
                    file: None,
                    then_fails: goal == 3,
                })
            })
            .collect();
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        for (event, at) in events.split(' ').zip(0..) {
            let event = match event {
                "p" => Event::Call { predicate: caller },
                "gen" => Event::Call {
                    predicate: sites[0],
                },
                "test" => Event::Call {
                    predicate: sites[1],
                },
                "drive" => Event::Call {
                    predicate: sites[2],
                },
                "again" => Event::Tail { predicate: caller },
                "last" => Event::Tail {
                    predicate: sites[0],
                },
                "exit" => Event::ExitDet,
                "leave" => Event::ExitNondet,
                "redo" => Event::Redo,
                "fail" => Event::Fail,
                "cut" => Event::Cut { count: 1 },
                other => panic!("{other}"),
            };
            stream.record_at(event, portmortem_tracer::clock::ticks() + at);
        }
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let analysis = Analysis::replayed(trace, Path::new(&path), &AtomicU64::new(0)).unwrap();
        assert!(analysis.profile.is_in_order());
        analysis.calls().behaviour.clone()
    }

    const GEN: SiteIndex = 0;
    const TEST: SiteIndex = 1;

    fn own_of(found: &Behaviour, site: SiteIndex) -> [u64; 2] {
        let mut goals = found.choicepoints.iter();
        let own = goals.find(|((_, of), _)| *of == Some(site));
        own.map_or([0; 2], |(_, own)| [own.left, own.unused])
    }

    #[test]
    fn a_goal_that_fails_at_once_rejects() {
        let found = of("p gen leave test fail redo exit test exit exit");
        assert_eq!(found.rejections, BTreeMap::from([((TEST, GEN), 1)]));
        assert!(found.tests.is_empty());
        assert_eq!(own_of(&found, GEN), [1, 0]);
    }

    /// Something after `test/0` that is no call fails, and then `test/0` has no more solutions.
    #[test]
    fn a_goal_that_runs_out_of_solutions_rejects_nothing() {
        let found = of("p gen leave test leave redo fail redo exit exit");
        assert!(found.rejections.is_empty());
        assert_eq!(found.tests, BTreeMap::from([((TEST, Some(TEST)), 1)]));
    }

    #[test]
    fn a_loop_by_failure_rejects_nothing() {
        let found = of("p gen leave drive exit redo exit drive exit exit");
        assert!(found.rejections.is_empty() && found.tests.is_empty());
        assert_eq!(own_of(&found, GEN), [1, 0]);
    }

    #[test]
    fn a_choicepoint_is_of_the_innermost_box() {
        // What is inside of `p/0` may be what it left; that of the last call is its own.
        for events in [
            "p gen leave leave cut",
            "p last leave cut",
            "p gen leave leave",
        ] {
            let found = of(events);
            assert_eq!(own_of(&found, GEN), [1, 1], "{events}");
            assert_eq!(found.choicepoints.len(), 1, "{events}");
        }
    }

    #[test]
    fn a_list_is_no_tree() {
        let recursion = |events| {
            let found = of(events);
            found.recursions.values().copied().collect::<Vec<_>>()
        };
        let list = Recursion {
            calls: 3,
            callers: 3,
        };
        let tree = Recursion {
            calls: 4,
            callers: 2,
        };
        assert!(tree.is_a_tree() && !list.is_a_tree());
        assert!(!Recursion::default().is_a_tree());
        assert_eq!(recursion("p p p p exit exit exit exit"), [list]);
        assert_eq!(recursion("p p again again exit exit"), [list]);
        assert_eq!(recursion("p p p exit p exit exit p exit exit"), [tree]);
        // The second call of each box is its last.
        assert_eq!(recursion("p p p exit again exit again exit"), [tree]);
        // Through another predicate.
        let through = Recursion {
            calls: 2,
            callers: 1,
        };
        assert_eq!(
            recursion("p gen p exit exit gen p exit exit exit"),
            [through]
        );
        assert!(recursion("p exit p exit").is_empty());
    }

    #[test]
    fn spans_are_of_first_and_last_calls() {
        let found = of("p gen exit test exit gen exit exit");
        let span = |site| {
            *found
                .spans
                .iter()
                .find(|((_, of), _)| *of == site)
                .unwrap()
                .1
        };
        assert!(span(Some(GEN)).overlaps(&span(Some(TEST))));
        assert!(!span(Some(TEST)).overlaps(&span(None)));
        assert!(span(Some(GEN)).first < span(Some(GEN)).last);
    }
}
