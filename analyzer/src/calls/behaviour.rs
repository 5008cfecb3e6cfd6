//! What goals did, exactly: which failed, and which was re-entered then; which choicepoints they
//! left, and what became of those; how they called themselves; and when they were called.
//!
//! A backtrack edge ([`crate::figures::BacktrackFigures`]) is of predicates. A library predicate
//! that several goals call is one of them, so an edge does not say which goal rejected what.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use crate::trace::{PredicateIndex, SiteIndex, Trace};

/// Choicepoints of boxes' own: a nondeterminate exit left them, and no box that was called inside
/// could be re-entered. Last calls share a box: such a choicepoint is of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct OwnChoicepoints {
    /// Left by exits.
    pub left: u64,
    /// Those of them that nothing went back to: cut, or there at the end.
    pub unused: u64,
}

/// How a predicate calls itself, directly or through others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
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

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

/// What a call names: a predicate, and its goal if that is known.
type CalledGoal = (PredicateIndex, Option<SiteIndex>);

/// Behaviour of the streams that are looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Behaviour {
    /// How often a goal failed without a solution, and the very next port was the redo of another
    /// goal: the first one rejected what the second one gave.
    pub rejections: BTreeMap<(SiteIndex, SiteIndex), u64>,
    /// How often a goal was re-entered from the clause that called it, when no call had failed: a
    /// test that is no call rejected what it gave, or has passed, and the clause fails on purpose.
    /// By that goal and the one that had exited last; a clause that fails directly after is none.
    pub tests: BTreeMap<(SiteIndex, Option<SiteIndex>), u64>,
    /// By what left them.
    pub choicepoints: BTreeMap<CalledGoal, OwnChoicepoints>,
    /// When calls were made.
    pub spans: BTreeMap<CalledGoal, Span>,
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

    /// Whether all that it names is in a trace.
    pub(super) fn may_be_of(&self, trace: &Trace) -> bool {
        let is_site = |site: SiteIndex| (site as usize) < trace.sites().len();
        let is_predicate = |of: PredicateIndex| of <= trace.unknown_predicate();
        let is_called = |&(of, site): &CalledGoal| is_predicate(of) && site.is_none_or(is_site);
        let mut rejections = self.rejections.keys();
        let mut tests = self.tests.keys();
        rejections.all(|&(by, of)| is_site(by) && is_site(of))
            && tests.all(|&(of, last)| is_site(of) && last.is_none_or(is_site))
            && self.choicepoints.keys().all(is_called)
            && self.spans.keys().all(is_called)
            && self.recursions.keys().all(|&of| is_predicate(of))
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    use portmortem_tracer::format::{Dialect, Event, Header, Outcome, Site, StreamKind};
    use portmortem_tracer::{NewPredicate, Options, Recorder};

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
        let predicate = |name| recorder.predicate(NewPredicate::named("user", name, 0));
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
