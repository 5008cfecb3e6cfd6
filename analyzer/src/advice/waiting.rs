//! Threads without a processor: what they wait for.

use std::collections::BTreeMap;
use std::iter;

use portmortem_tracer::format::{Role, StreamKind};

use super::evidence::{Evidence, part_of};
use super::{Cause, Certainty, Finding, awaited};
use crate::Analysis;
use crate::figures::{Caller, StreamFigures};
use crate::tables::SiteData;
use crate::text::{count, counted};
use crate::trace::{PredicateIndex, PredicateInfo};

/// What a predicate of the engine waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WaitsFor {
    Mutex,
    /// A message, or room for one, or another thread's end.
    Thread,
    Input,
    /// Until some time has passed.
    Time,
    /// For something that the trace does not say: another process, a server, a disk.
    Something,
}

impl WaitsFor {
    /// `None` if the trace does not say.
    fn of(info: &PredicateInfo) -> Option<Self> {
        let known = [
            (Role::WaitsForMutex, Self::Mutex),
            (Role::WaitsForThread, Self::Thread),
            (Role::WaitsForInput, Self::Input),
            (Role::WaitsForTime, Self::Time),
        ];
        let mut known = known.into_iter();
        known.find_map(|(role, what)| info.has(role).then_some(what))
    }
}

/// Fewer threads are no loop that makes them.
const LEAST_THREADS: usize = 100;

/// What a thread works in less time than this, in ns, is not worth a thread of its own.
const SHORT_NS: u64 = 1_000_000;

/// What is not known to wait is named if it has waited for more than so many times its work.
const MOSTLY: u64 = 4;

/// Who waited: the calls of a predicate by a goal, or those without a known one.
struct Waiter<'e> {
    predicate: PredicateIndex,
    goal: Option<&'e SiteData<'e>>,
    ticks: u64,
}

impl Waiter<'_> {
    /// " at line 4 of slow/2", if that is known.
    fn at(&self, evidence: &Evidence) -> String {
        let at = self.goal.map(|goal| format!(" {}", evidence.at(goal)));
        at.unwrap_or_default()
    }
}

/// A finding for each goal that waits; one for all that wait for threads.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut waited = BTreeMap::<(WaitsFor, PredicateIndex), u64>::new();
    let trace = &evidence.analysis.trace;
    // Otherwise a busy machine looks the same as waiting.
    let is_told_apart = trace.predicates().iter().any(PredicateInfo::is_preempted);
    for (&(caller, callee), edge) in &evidence.analysis.profile.edges {
        let is_waiting = |index: PredicateIndex| trace.predicates().get(index as usize);
        let Caller::Predicate(caller) = caller else {
            continue;
        };
        let (Some(info), Some(by)) = (is_waiting(callee), is_waiting(caller)) else {
            continue;
        };
        // A busy machine is a remark of the report, and no fault of the program.
        if !info.is_waiting() || info.is_preempted() || by.is_engine_work() {
            continue;
        }
        if let Some(what) = WaitsFor::of(by).or(is_told_apart.then_some(WaitsFor::Something)) {
            let sum = waited.entry((what, caller)).or_default();
            *sum = sum.saturating_add(edge.spent_ticks);
        }
    }
    let mut findings = Vec::new();
    let mut for_threads = Vec::new();
    for ((what, predicate), ticks) in waited {
        // A page that is not there yet, or a processor that the machine itself has lost, is no wait
        // of the program's: who works meanwhile is not named.
        let worked = evidence.figures(predicate).self_ticks;
        if what == WaitsFor::Something && ticks / MOSTLY < worked {
            continue;
        }
        let waiters = waiters(evidence, predicate, ticks);
        if what == WaitsFor::Thread {
            for_threads.extend(waiters);
        } else {
            findings.extend(waiters.iter().map(|one| finding(evidence, what, one, &[])));
        }
    }
    for_threads.sort_by_key(|waiter| std::cmp::Reverse(waiter.ticks));
    if let Some((longest, others)) = for_threads.split_first() {
        findings.push(finding(evidence, WaitsFor::Thread, longest, others));
    }
    findings
}

/// Who has called a predicate that waited: each goal has the part of that which it has of the
/// time in all its calls.
fn waiters<'e>(evidence: &'e Evidence, predicate: PredicateIndex, ticks: u64) -> Vec<Waiter<'e>> {
    let inclusive = evidence.figures(predicate).inclusive_ticks;
    let goals = evidence.sites().filter(|goal| goal.callee == predicate);
    let mut all: Vec<Waiter> = goals
        .map(|goal| Waiter {
            predicate,
            goal: Some(goal),
            ticks: part_of(ticks, goal.figures.served_ticks, inclusive),
        })
        .filter(|waiter| waiter.ticks > 0)
        .collect();
    let told = all.iter().map(|waiter| waiter.ticks);
    let left = ticks.saturating_sub(told.fold(0, u64::saturating_add));
    // Less than this is what rounding leaves.
    if left > all.len() as u64 {
        all.push(Waiter {
            predicate,
            goal: None,
            ticks: left,
        });
    }
    all
}

/// How many threads there are and how long each of them works, if they are many, and work for so
/// short a time that to make them takes as long.
fn short_threads(evidence: &Evidence) -> Option<(u64, u64)> {
    let Analysis { trace, profile, .. } = evidence.analysis;
    let of_thread = |stream: &&StreamFigures| {
        let place = trace.stream_place(stream.stream);
        place.is_some_and(|at| trace.streams()[at].kind() == StreamKind::Thread)
    };
    let mut work: Vec<u64> = profile
        .streams
        .iter()
        .filter(of_thread)
        .map(|stream| stream.work_ticks)
        .collect();
    work.sort_unstable();
    let median = *work.get(work.len() / 2)?;
    let is_short = work.len() >= LEAST_THREADS && evidence.analysis.ns(median) < SHORT_NS;
    is_short.then_some((work.len() as u64, median))
}

/// `longest` waited for at least as long as each of the others.
fn finding(evidence: &Evidence, what: WaitsFor, longest: &Waiter, others: &[Waiter]) -> Finding {
    let name = evidence.name(longest.predicate);
    let all = || iter::once(longest).chain(others);
    let cost_ticks = all().fold(0_u64, |sum, waiter| sum.saturating_add(waiter.ticks));
    let place = match longest.goal {
        Some(goal) => evidence.place_of(goal),
        None => evidence.place(longest.predicate),
    };
    let at = longest.at(evidence);
    let calls = match longest.goal {
        Some(goal) => goal.figures.calls,
        None => evidence.figures(longest.predicate).calls,
    };
    let calls = counted(calls, "time", "times");
    let waited = evidence.time(cost_ticks);
    let remedies = evidence.libraries.remedies;
    let (title, remedy) = match what {
        WaitsFor::Mutex => (
            format!("threads wait for the mutex of {name}{at}"),
            "hold the mutex for less: compute outside, and lock only while what is shared is changed; or let each thread \
             keep figures of its own and add them up at the end."
                .to_owned(),
        ),
        WaitsFor::Thread => match short_threads(evidence) {
            Some((threads, work)) => (
                format!(
                    "{} threads work {} each, and others wait for them",
                    count(threads),
                    evidence.time(work)
                ),
                remedies.short_threads.to_owned(),
            ),
            None => (
                "threads wait for one another".to_owned(),
                "look at what the threads wait for: if the one that should answer waits itself, its cause comes first. Fewer \
                 threads, larger jobs or a longer queue help where many are idle."
                    .to_owned(),
            ),
        },
        WaitsFor::Input => (
            format!("{name}{at} waits for input"),
            "read more at once, or let another thread read ahead; no change of the program makes the input come sooner."
                .to_owned(),
        ),
        WaitsFor::Something => (
            format!("{name}{at} waits"),
            "call it less often, or ask for more at once; or let another thread wait, and work meanwhile."
                .to_owned(),
        ),
        WaitsFor::Time => (
            format!("{name}{at} waits for time to pass"),
            remedies.passing_time.to_owned(),
        ),
    };
    let by: Vec<_> = all()
        .map(|waiter| (waiter.predicate, waiter.goal.and_then(|goal| goal.site)))
        .collect();
    let awaited = awaited::sentence(evidence, &by);
    let evidence_text = match what {
        WaitsFor::Thread => {
            let most = all().take(4).map(|waiter| {
                let name = evidence.name(waiter.predicate);
                format!(
                    "{} in {name}{}",
                    evidence.time(waiter.ticks),
                    waiter.at(evidence)
                )
            });
            let most: Vec<String> = most.collect();
            format!(
                "Threads waited {waited} in all: {}.{awaited}",
                most.join("; ")
            )
        }
        WaitsFor::Mutex => format!(
            "{name} was called {calls} there and waited {waited} in all; what it then did is not in that.{awaited}"
        ),
        WaitsFor::Input | WaitsFor::Time | WaitsFor::Something => {
            format!("{name} was called {calls} there and waited {waited} in all.")
        }
    };
    let mut predicates: Vec<PredicateIndex> = Vec::new();
    for waiter in all() {
        if !predicates.contains(&waiter.predicate) && predicates.len() < 4 {
            predicates.push(waiter.predicate);
        }
    }
    Finding {
        cause: Cause::Waiting,
        place,
        cost_ticks,
        certainty: match what {
            WaitsFor::Mutex | WaitsFor::Time => Certainty::Counted,
            WaitsFor::Thread | WaitsFor::Input | WaitsFor::Something => Certainty::ToCheck,
        },
        title,
        evidence: evidence_text,
        remedy,
        predicates,
        needs: Vec::new(),
    }
}
