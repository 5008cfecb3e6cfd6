//! Threads without a processor: what they wait for.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding};
use crate::figures::Caller;
use crate::text::counted;
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
}

impl WaitsFor {
    /// `None`: the processor was busy with something else, or the system with the thread's output.
    fn of(info: &PredicateInfo) -> Option<Self> {
        let module = info.declared.module.as_str();
        let name = info.declared.name.as_str();
        // The library waits for the threads that it made.
        if module == "thread" && (name.starts_with("concurrent") || name.starts_with("first_sol")) {
            return Some(Self::Thread);
        }
        if module != "system" && !module.starts_with('$') {
            return None;
        }
        Some(match info.declared.name.as_str() {
            "with_mutex" | "mutex_lock" => Self::Mutex,
            "thread_get_message"
            | "thread_send_message"
            | "thread_join"
            | "thread_peek_message"
            | "thread_wait"
            | "thread_idle" => Self::Thread,
            "sleep" => Self::Time,
            "process_wait" | "wait_for_input" => Self::Input,
            name if name.starts_with("read")
                || name.starts_with("get_")
                || name.starts_with("peek_") =>
            {
                Self::Input
            }
            _ => return None,
        })
    }
}

/// A finding for each predicate that waits for a mutex, input or time; one for all that wait for threads.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let mut waiting =
        BTreeMap::<(WaitsFor, Option<PredicateIndex>), Vec<(PredicateIndex, u64)>>::new();
    let trace = &evidence.analysis.trace;
    for (&(caller, callee), edge) in &evidence.analysis.profile.edges {
        let is_waiting = |index: PredicateIndex| trace.predicates().get(index as usize);
        let Caller::Predicate(caller) = caller else {
            continue;
        };
        let (Some(info), Some(by)) = (is_waiting(callee), is_waiting(caller)) else {
            continue;
        };
        // A busy machine is a remark of the report, and no fault of the program.
        if let (true, Some(what)) = (info.is_waiting(), WaitsFor::of(by)) {
            let alone = what != WaitsFor::Thread;
            let group = waiting.entry((what, alone.then_some(caller))).or_default();
            group.push((caller, edge.spent_ticks));
        }
    }
    waiting
        .into_iter()
        .map(|((what, _), mut by)| {
            by.sort_by_key(|&(index, ticks)| (std::cmp::Reverse(ticks), index));
            finding(evidence, what, &by)
        })
        .collect()
}

/// `by` is not empty, the predicate that waited longest first.
fn finding(evidence: &Evidence, what: WaitsFor, by: &[(PredicateIndex, u64)]) -> Finding {
    let (longest, _) = by[0];
    let name = evidence.name(longest);
    let cost_ticks = by
        .iter()
        .fold(0_u64, |sum, (_, ticks)| sum.saturating_add(*ticks));
    let goal = evidence.dearest_goal(longest);
    let place = goal.map_or_else(|| evidence.place(longest), |goal| evidence.place_of(goal));
    let at = goal.map_or_else(String::new, |goal| format!(" {}", evidence.at(goal)));
    let calls = counted(evidence.figures(longest).calls, "time", "times");
    let waited = evidence.time(cost_ticks);
    let (title, remedy) = match what {
        WaitsFor::Mutex => (
            format!("threads wait for the mutex of {name}{at}"),
            "hold the mutex for less: compute outside, and lock only while what is shared is changed; or let each thread \
             keep figures of its own and add them up at the end."
                .to_owned(),
        ),
        WaitsFor::Thread => (
            "threads wait for one another".to_owned(),
            "look at what the threads wait for: if the one that should answer waits itself, its cause comes first. Fewer \
             threads, larger jobs or a longer queue help where many are idle."
                .to_owned(),
        ),
        WaitsFor::Input => (
            format!("{name}{at} waits for input"),
            "read more at once, or let another thread read ahead; no change of the program makes the input come sooner."
                .to_owned(),
        ),
        WaitsFor::Time => (
            format!("{name}{at} waits for time to pass"),
            "wait for the event itself (thread_get_message/3 with a timeout, thread_wait/2) instead of asking again and again."
                .to_owned(),
        ),
    };
    let evidence_text = match what {
        WaitsFor::Thread => {
            let most = by.iter().take(4).map(|&(index, ticks)| {
                let at = evidence.dearest_goal(index);
                let at = at.map_or_else(String::new, |goal| format!(" {}", evidence.at(goal)));
                format!("{} in {}{at}", evidence.time(ticks), evidence.name(index))
            });
            let most: Vec<String> = most.collect();
            format!("Threads waited {waited} in all: {}.", most.join("; "))
        }
        WaitsFor::Mutex => format!(
            "{name} was called {calls} and waited {waited} in all; what it then did is not in that."
        ),
        WaitsFor::Input | WaitsFor::Time => {
            format!("{name} was called {calls} and waited {waited} in all.")
        }
    };
    Finding {
        cause: Cause::Waiting,
        place,
        cost_ticks,
        certainty: match what {
            WaitsFor::Mutex | WaitsFor::Time => Certainty::Counted,
            WaitsFor::Thread | WaitsFor::Input => Certainty::ToCheck,
        },
        title,
        evidence: evidence_text,
        remedy,
        predicates: by.iter().take(4).map(|&(index, _)| index).collect(),
        needs: Vec::new(),
    }
}
