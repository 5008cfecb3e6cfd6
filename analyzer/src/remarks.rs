//! What must be known beside figures: how a run was recorded and ended, what was lost, which sums
//! do not come out.

use portmortem_tracer::format::{Outcome, Technique};

use crate::Analysis;
use crate::advice::record_hint;
use crate::figures::StreamFigures;
use crate::figures::laws::LawSubject;
use crate::figures::profile::Profile;
use crate::figures::whole::Whole;
use crate::text::{TimeUnit, count, counted, percent, time};
use crate::trace::Trace;
use crate::trace::names::printable;

/// How the recorded run ended, in a few words.
#[must_use]
pub fn ending(trace: &Trace) -> String {
    match trace.end().map(|end| &end.outcome) {
        Some(Outcome::Exited(status)) => format!("exit status {status}"),
        Some(Outcome::Stopped) => "stopped by the program".to_owned(),
        Some(Outcome::Full) => "recording stopped early".to_owned(),
        None => "the run did not end".to_owned(),
    }
}

/// How much of the time threads had no processor, by the time of all and of the main thread; `None`
/// if no waiting was recorded.
#[must_use]
pub fn waiting(analysis: &Analysis) -> Option<String> {
    let streams = &analysis.profile.streams;
    let sum = |ticks: fn(&StreamFigures) -> u64| {
        let all = streams.iter().map(ticks);
        all.fold(0_u64, u64::saturating_add)
    };
    let waited = sum(|stream| stream.waiting_ticks);
    if waited == 0 {
        return None;
    }
    let share = percent(waited, sum(|stream| stream.self_ticks));
    if streams.len() < 2 {
        return Some(format!("{share} % of the time"));
    }
    let known = analysis.trace.streams();
    let main = streams.iter().find(|stream| {
        let mut named = known.iter().filter(|info| info.name() == "main");
        named.any(|info| info.id == stream.stream)
    });
    let of_main = main.map_or_else(String::new, |main| {
        let share = percent(main.waiting_ticks, main.self_ticks);
        format!(", {share} % of that of main")
    });
    let all = counted(streams.len() as u64, "stream", "streams");
    Some(format!("{share} % of the time of {all}{of_main}"))
}

/// Time and number of garbage collections and stack shifts; `None` if there were none, or they are
/// hidden.
#[must_use]
pub fn collections(analysis: &Analysis) -> Option<String> {
    let infos = analysis.trace.predicates().iter();
    let memory = infos.zip(&analysis.profile.predicates);
    let memory = memory.filter(|(info, _)| info.is_memory_work());
    let (mut ticks, mut collected, mut shifted) = (0_u64, 0_u64, 0_u64);
    for (info, figures) in memory {
        ticks = ticks.saturating_add(figures.self_ticks);
        if info.is_collection() {
            collected = collected.saturating_add(figures.calls);
        } else {
            shifted = shifted.saturating_add(figures.calls);
        }
    }
    let time = time(analysis.ns(ticks));
    let shifts = counted(shifted, "stack shift", "stack shifts");
    match (collected, shifted) {
        (0, 0) => None,
        (_, 0) => Some(format!("{time} ({})", count(collected))),
        (0, _) => Some(format!("{time} ({shifts})")),
        _ => Some(format!("{time} ({}, and {shifts})", count(collected))),
    }
}

/// Ticks of work that backtracking threw away because something failed.
#[must_use]
pub fn undone_ticks(profile: &Profile) -> u64 {
    let pairs = profile.backtracks.values();
    pairs.fold(0, |sum, pair| sum.saturating_add(pair.undone_ticks))
}

/// The same as time and as a share of the work; `None` if nothing was undone.
#[must_use]
pub fn undone(analysis: &Analysis) -> Option<String> {
    let ticks = undone_ticks(&analysis.profile);
    let share = percent(ticks, analysis.whole().work_ticks);
    (ticks > 0).then(|| format!("{} ({share} %)", time(analysis.ns(ticks))))
}

/// Choicepoints that were cut, or there at the end, of all that were left; `None` if none was, or
/// the recording itself left them (`--byrd`).
#[must_use]
pub fn unused_choicepoints(analysis: &Analysis) -> Option<String> {
    let (mut left, mut unused) = (0_u64, 0_u64);
    for figures in &analysis.profile.predicates {
        left = left.saturating_add(figures.exits_nondet);
        unused = unused.saturating_add(figures.cuts.saturating_add(figures.pending));
    }
    let is_known = unused > 0 && !analysis.trace.header().mode.byrd;
    is_known.then(|| format!("{} of {}", count(unused), count(left)))
}

/// What time is left out where the whole is work: `waiting 239.8 ms, loading 12.0 ms`; `None` if
/// that is nothing.
#[must_use]
pub fn left_out(analysis: &Analysis, whole: &Whole) -> Option<String> {
    let parts = whole.left_out();
    let parts = parts.map(|(name, ticks)| format!("{name} {}", time(analysis.ns(ticks))));
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What recorded it, and how that made ports.
#[must_use]
pub fn recorder(trace: &Trace) -> String {
    printable(&trace.header().recorder) + technique(trace)
}

/// In which modes it was recorded, and how ports were made.
#[must_use]
pub fn modes_and_technique(trace: &Trace) -> String {
    modes(trace) + technique(trace)
}

fn technique(trace: &Trace) -> &'static str {
    match trace.technique() {
        None => "",
        Some(Technique::Ports) => ", with ports",
        Some(Technique::Stubs) => ", with stubs",
    }
}

/// In which modes it was recorded.
#[must_use]
pub fn modes(trace: &Trace) -> String {
    let mode = trace.header().mode;
    let all = [
        (mode.byrd, "every exit re-enterable", " (--byrd)"),
        (mode.no_tail, "a box for every last call", " (--no-tail)"),
        (
            mode.keep_last,
            "flight recorder",
            " (--keep last) or folded (--keep figures)",
        ),
    ];
    let on: Vec<String> = all
        .iter()
        .filter(|mode| mode.0)
        .map(|mode| format!("{}{}", mode.1, record_hint(trace, mode.2)))
        .collect();
    if on.is_empty() {
        "default".to_owned()
    } else {
        on.join(", ")
    }
}

/// If the range of net times is no more than this part of the work, the middle is right within half
/// of that part.
const KNOWN_WITHIN: u64 = 10;

/// Waiting is named where it is more than one in so many parts of the time.
const WORTH_SAYING: u64 = 100;

/// How much of the time recording took, and what is left: measured, estimated, or a range. Waiting
/// is neither.
#[must_use]
pub fn recording_share(analysis: &Analysis) -> String {
    let Some(net) = &analysis.profile.net else {
        return "it is not known how much of the time recording took".to_owned();
    };
    let recorded = (net.recorded_ticks).saturating_sub(net.recorded_waiting_ticks);
    let without_waiting = |ticks: u64| {
        let worked = ticks.saturating_sub(net.net_waiting_ticks);
        worked.min(recorded)
    };
    let left = without_waiting(net.net_ticks);
    let of_time = match net.recorded_waiting_ticks > net.recorded_ticks / WORTH_SAYING {
        true => "of the time without waiting",
        false => "of the time",
    };
    let time = |ticks| {
        let ns = analysis.ns(ticks);
        TimeUnit::for_longest(ns).with_unit(ns)
    };
    if let Some(baseline) = analysis.trace.baseline() {
        let runs = counted(baseline.runs.into(), "unrecorded run", "unrecorded runs");
        let own = percent(recorded - left, recorded);
        let left = time(left);
        return format!("net {left}: recording took {own} % {of_time}, by {runs}");
    }
    let range = analysis.net_range();
    let range = range.unwrap_or(net.net_ticks..=net.net_ticks);
    let [least, most] = [range.start(), range.end()].map(|ticks| without_waiting(*ticks));
    let is_known = most - least <= left / KNOWN_WITHIN;
    let whole = |ticks: u64| {
        let (ticks, recorded) = (u128::from(ticks), u128::from(recorded));
        (ticks * 100 + recorded / 2) / recorded.max(1)
    };
    let took = match (whole(recorded - most), whole(recorded - least)) {
        (0, 0) => "less than 1 %".to_owned(),
        _ if is_known => format!("about {} %", whole(recorded - left)),
        (least, most) if least == most => format!("about {most} %"),
        (least, most) => format!("{least} to {most} %"),
    };
    let left = if is_known {
        format!(", net {}", time(left))
    } else {
        String::new()
    };
    let hint = record_hint(&analysis.trace, "; see record --baseline");
    format!("recording took {took} {of_time}{left} (estimated{hint})")
}

/// What was lost: one line each. More than `most` of a kind are only counted.
#[must_use]
pub fn losses(analysis: &Analysis, most: usize) -> Vec<String> {
    let (trace, profile) = (&analysis.trace, &analysis.profile);
    let mut lines = Vec::new();
    if trace.end().is_none() {
        lines.push(
            "the run did not end in order, or is still going on: the figures are those up to the last event written"
                .to_owned(),
        );
    }
    let mut after_end = 0;
    for stream in trace.streams() {
        let events = trace.events_after_end(stream);
        after_end = events.saturating_add(after_end);
        if events > 0 {
            lines.push(format!(
                "{} ran on after the end of the recording: its figures are a lower bound, {} missing",
                stream.title(),
                counted(events, "event is", "events are")
            ));
        }
    }
    let lost = profile.lost_events().saturating_sub(after_end);
    if lost > 0 {
        // A recording that keeps its beginning ends at the first event that it cannot keep.
        let least = if trace.header().mode.keep_last {
            ""
        } else {
            "at least "
        };
        lines.push(format!(
            "{least}{} lost; figures of what ran meanwhile are missing, boxes of before are shown as <unknown>",
            counted(lost, "event was", "events were")
        ));
    }
    lines.extend(profile.damage.iter().take(most).map(|damage| {
        let stream = damage
            .stream
            .map_or_else(String::new, |id| format!(", stream {id}"));
        format!("damaged at byte {}{stream}: {}", damage.offset, damage.what)
    }));
    let more = |all: u64, what| {
        let more = all.saturating_sub(most as u64);
        (more > 0).then(|| format!("… and {} more {what}", count(more)))
    };
    lines.extend(more(profile.damage.len() as u64, "damaged places"));
    lines.extend(profile.violations.iter().take(most).map(|violation| {
        format!(
            "impossible event {} of stream {} at byte {}: {}",
            count(violation.event),
            violation.stream,
            violation.offset,
            violation.what
        )
    }));
    lines.extend(more(profile.violation_count, "impossible events"));
    lines
}

/// What the figures are of that the trace has no more; `None` if it has all.
#[must_use]
pub fn folded(analysis: &Analysis) -> Option<String> {
    let kept = analysis.profile.kept_events?;
    let mut calls = analysis.known_calls().into_iter();
    let not_known = match calls.any(|calls| calls.predicates().next().is_some()) {
        true => "",
        false => "; times of single calls are not known",
    };
    let kept = count(kept);
    Some(format!(
        "events were folded into the figures, and the trace has kept {kept}{not_known}"
    ))
}

/// Laws that do not hold, `most` at most: one line each.
#[must_use]
pub fn defects(analysis: &Analysis, most: usize) -> Vec<String> {
    let broken = analysis.imbalances.iter().take(most);
    broken
        .map(|imbalance| {
            let place = match imbalance.subject {
                LawSubject::Predicate(index) => analysis.predicate(index).to_owned(),
                LawSubject::Stream(id) => format!("stream {id}"),
                LawSubject::Context(row) => format!("context {row}"),
                LawSubject::Trace => "the trace".to_owned(),
            };
            format!(
                "a defect of Portmortem, please report it: of {place}, {} does not hold ({} and {})",
                imbalance.law,
                count(imbalance.left),
                count(imbalance.right)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use portmortem_tracer::format::{
        COST_UNIT, Dialect, Event, Header, Outcome, PortCosts, Record, Role, Roles, StreamKind,
    };
    use portmortem_tracer::{NewPredicate, Options, Recorder};

    use super::*;

    /// A quarter of what is no waiting, however long the program waits.
    #[test]
    fn waiting_is_no_part_of_what_recording_took() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("w.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        recorder.recording_costs(&Record::PortCosts(PortCosts {
            inside: [1_000_000 * COST_UNIT as u32; 8],
            ..PortCosts::default()
        }));
        let main = recorder.predicate(NewPredicate::named("user", "main", 0));
        let roles = Roles::of(&[Role::Waiting]);
        let waiting =
            recorder.predicate(NewPredicate::named("engine", "idle", 0).with_roles(roles));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let begin = portmortem_tracer::clock::ticks();
        for (event, at) in [
            (Event::Call { predicate: main }, 0),
            (Event::Call { predicate: waiting }, 4_000_000),
            (Event::ExitDet, 900_000_000),
            (Event::ExitDet, 904_000_000),
        ] {
            stream.record_at(event, begin + at);
        }
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        let trace = Trace::open(&path).unwrap();
        let done = std::sync::atomic::AtomicU64::new(0);
        let analysis = Analysis::replayed(trace, &path, &done).unwrap();
        let share = recording_share(&analysis);
        assert!(share.starts_with("recording took about 25 % of the time without waiting, net "));
        // Its engine is recorded by another command.
        assert!(share.ends_with(" (estimated)"), "{share}");
    }

    /// Sums of the tables.
    #[test]
    fn what_happened_is_what_the_tables_add_up_to() {
        for name in ["queens.pmt", "scan.pmt", "parser.pmt", "metainterp.pmt"] {
            let analysis = Analysis::of_sample(name);
            let tables = analysis.tables();
            let left: u64 = tables.choicepoints().map(|row| row.left).sum();
            let unused: u64 = tables.choicepoints().map(|row| row.never_used).sum();
            let expected = (unused > 0).then(|| format!("{} of {}", count(unused), count(left)));
            assert_eq!(unused_choicepoints(&analysis), expected, "{name}");
            let undone_ns: u64 = tables.backtracks().map(|row| row.undone_ns).sum();
            let ticks = analysis.ns(undone_ticks(&analysis.profile));
            assert!(ticks.abs_diff(undone_ns) <= tables.backtracks().count() as u64);
            let memory = tables.predicates().filter(|row| {
                ["system:garbage_collect/0", "system:stack_shift/0"].contains(&row.predicate)
            });
            let calls: u64 = memory.map(|row| row.calls).sum();
            assert_eq!(collections(&analysis).is_some(), calls > 0, "{name}");
        }
        assert!(collections(&Analysis::of_sample("scan.pmt")).is_some());
    }
}
