//! What recordings say for models: the work of each predicate, by size of the input.
//!
//! The size of a recording is said by whoever asks, or by the program itself: a mark (`pm_mark('n=30')`) begins the part
//! of a stream that has this size, up to the next mark; or what runs in the cost centre called `n=30` has it.
//!
//! Garbage collections and stack shifts are left out: when the engine has any depends on how large its stacks are by then,
//! which is no function of the size.

use std::collections::{BTreeMap, BTreeSet};

use portmortem_analyzer::costs::{Costs, UNFOLDINGS};
use portmortem_analyzer::machine::{Class, Note};
use portmortem_analyzer::moment::Moment;
use portmortem_analyzer::net::centers;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::trace::{PredicateInfo, StreamInfo, Trace};
use portmortem_analyzer::{Profile, Tables};

use crate::model::{Components, FRAME};

/// The work of one predicate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PredicateWork {
    /// Calls.
    pub calls: u64,
    /// Time in the predicate itself, in ns; less the cost of recording where that is known.
    pub self_ns: u64,
    /// What it did; `None` if that was not counted.
    pub components: Option<Components>,
}

/// A run on an input of one size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SizedRecording {
    /// Size of the input, if it is known.
    pub size: Option<u64>,
    /// By predicate.
    pub work: BTreeMap<String, PredicateWork>,
    /// What its times are.
    pub times: TimesKind,
}

/// What the times of a recording are, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TimesKind {
    /// Without the recorder's own: their sum was measured.
    Measured,
    /// Without the recorder's own, as it is estimated.
    Estimated,
    /// With the recorder's own: what recording costs is not known of parts of a trace.
    #[default]
    AsRecorded,
    /// Components were counted, and that takes most of the time: it means nothing.
    OfCounting,
}

impl TimesKind {
    fn of(trace: &Trace, profile: &Profile, costs: &Costs) -> Self {
        if costs.is_symbolic() {
            Self::OfCounting
        } else if profile.net.is_none() {
            Self::AsRecorded
        } else if trace.baseline().is_none() {
            Self::Estimated
        } else {
            Self::Measured
        }
    }
}

/// Why a trace cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// A symbolic recording counts over its whole run, and its marks have several sizes.
    #[error(
        "a symbolic recording with several marks: record one trace for each size, or run each size in a cost centre called n=SIZE"
    )]
    SeveralSizes,
}

/// The recordings of a trace: one, of the size given or that of its mark, or one for each size that it has.
///
/// # Errors
/// [`RecordingError`]
pub fn recordings(
    trace: &Trace,
    profile: &Profile,
    size: Option<u64>,
) -> Result<Vec<SizedRecording>, RecordingError> {
    let costs = Costs::of(trace);
    let mut parts = Vec::new();
    if size.is_none() {
        parts = by_center(trace, profile, &costs);
        if !parts.is_empty() {
            return Ok(parts);
        }
        parts = by_mark(trace);
    }
    match parts.as_slice() {
        [] => Ok(vec![whole(trace, profile, &costs, size)]),
        [only] if costs.is_symbolic() => Ok(vec![whole(trace, profile, &costs, only.size)]),
        _ if costs.is_symbolic() => Err(RecordingError::SeveralSizes),
        _ => Ok(parts),
    }
}

/// The size in `n=30`, or `30`.
#[must_use]
pub fn size_in(text: &str) -> Option<u64> {
    let digits = match text.split_once('=') {
        Some((name, digits)) => {
            let name = name.trim();
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            Some(digits).filter(|_| is_name)?
        }
        None => text,
    };
    digits.trim().parse().ok()
}

fn whole(trace: &Trace, profile: &Profile, costs: &Costs, size: Option<u64>) -> SizedRecording {
    let rows = Tables::new("", trace, profile).predicates();
    let engine_work: BTreeSet<&str> = trace
        .predicates()
        .iter()
        .filter(|info| info.is_engine_work())
        .map(|info| info.indicator.as_str())
        .collect();
    let mut work: BTreeMap<String, PredicateWork> = rows
        .filter(|row| !engine_work.contains(row.predicate))
        .map(|row| {
            let work = PredicateWork {
                calls: row.calls,
                self_ns: row.self_comp_ns.unwrap_or(row.self_ns),
                components: None,
            };
            (row.predicate.to_owned(), work)
        })
        .collect();
    if costs.is_symbolic() && costs.is_complete() {
        for index in 0..trace.predicates().len() as PredicateIndex {
            let Some(work) = work.get_mut(trace.predicate_name(index)) else {
                continue;
            };
            if costs.counted_calls(index) == work.calls {
                let figures = &profile.predicates[index as usize];
                let frames = figures.calls.saturating_sub(figures.tail_calls);
                let components = costs.of_predicate(index).into_iter();
                let named =
                    components.map(|(component, count)| (component.name().into_owned(), count));
                work.components = Some(named.chain([(FRAME.to_owned(), frames)]).collect());
            }
        }
    }
    SizedRecording {
        size,
        work,
        times: TimesKind::of(trace, profile, costs),
    }
}

/// One recording for each cost centre whose name is a size.
fn by_center(trace: &Trace, profile: &Profile, costs: &Costs) -> Vec<SizedRecording> {
    let is_size = |info: &PredicateInfo| info.is_center && size_in(&info.declared.name).is_some();
    if !trace.predicates().iter().any(is_size) {
        return Vec::new();
    }
    let mut all = RecordingsBySize {
        trace,
        times: TimesKind::of(trace, profile, costs),
        recordings: BTreeMap::new(),
    };
    for row in costs.rows() {
        if let Some(work) = all.work(row.center, row.predicate) {
            let name = row.component.name().into_owned();
            if name == UNFOLDINGS {
                work.calls = work.calls.saturating_add(row.count);
            }
            count(work, name, row.count);
        }
    }
    let net = centers::net(trace, profile);
    for (&(center, predicate), figures) in &profile.centers {
        if is_engine_work(trace, predicate) || trace.center(predicate).is_some() {
            continue;
        }
        let Some(work) = all.work(center, predicate) else {
            continue;
        };
        if costs.is_symbolic() {
            let frames = figures.calls.saturating_sub(figures.tail_calls);
            count(work, FRAME.to_owned(), frames);
        } else {
            work.calls = work.calls.saturating_add(figures.calls);
            let net = net.as_ref().and_then(|net| net.get(&(center, predicate)));
            let ticks = net.copied().unwrap_or(figures.self_ticks);
            let ns = trace.clock().duration_ns(ticks);
            work.self_ns = work.self_ns.saturating_add(ns);
        }
    }
    all.recordings.into_values().collect()
}

/// Recordings by size, and so by cost centre.
struct RecordingsBySize<'t> {
    trace: &'t Trace,
    times: TimesKind,
    recordings: BTreeMap<u64, SizedRecording>,
}

impl RecordingsBySize<'_> {
    /// The work of a predicate in a cost centre, if that is a size.
    fn work(
        &mut self,
        center: Option<PredicateIndex>,
        predicate: PredicateIndex,
    ) -> Option<&mut PredicateWork> {
        let center = self.trace.predicates().get(center? as usize)?;
        let size = size_in(&center.declared.name)?;
        let recording = self
            .recordings
            .entry(size)
            .or_insert_with(|| SizedRecording {
                size: Some(size),
                times: self.times,
                ..SizedRecording::default()
            });
        let predicate = self.trace.predicate_name(predicate).to_owned();
        Some(recording.work.entry(predicate).or_default())
    }
}

fn count(work: &mut PredicateWork, component: String, count: u64) {
    let components = work.components.get_or_insert_default();
    let sum = components.entry(component).or_default();
    *sum = sum.saturating_add(count);
}

/// One recording for each part of a stream that a mark with a size begins; the cost of recording is not known of parts.
fn by_mark(trace: &Trace) -> Vec<SizedRecording> {
    trace
        .streams()
        .iter()
        .flat_map(|stream| parts(trace, stream))
        .collect()
}

/// Whose box is active, if it is a predicate of the program.
fn whose_time(trace: &Trace, moment: &Moment) -> Option<PredicateIndex> {
    let newest = moment.active().last()?.predicate;
    (!is_engine_work(trace, newest)).then_some(newest)
}

fn is_engine_work(trace: &Trace, predicate: PredicateIndex) -> bool {
    let info = trace.predicates().get(predicate as usize);
    info.is_some_and(PredicateInfo::is_engine_work)
}

#[derive(Default)]
struct RecordingPart {
    size: u64,
    /// Calls and ticks.
    work: BTreeMap<PredicateIndex, (u64, u64)>,
}

fn parts(trace: &Trace, stream: &StreamInfo) -> Vec<SizedRecording> {
    let mut moment = Moment::beginning(stream.dialect(), trace.unknown_predicate());
    let mut parts: Vec<RecordingPart> = Vec::new();
    let mut part: Option<RecordingPart> = None;
    let (mut last, mut paused) = (0, false);
    for (number, timed) in (0..).zip(trace.events(stream)) {
        let class = Class::of(timed.event);
        let in_gap = matches!(class, Class::Lose(_));
        if let (Some(part), Some(active), false) =
            (&mut part, whose_time(trace, &moment), paused || in_gap)
        {
            part.work.entry(active).or_default().1 += timed.tick.saturating_sub(last);
        }
        last = timed.tick;
        match class {
            Class::Enter(predicate) | Class::Depart(predicate)
                if !is_engine_work(trace, predicate) =>
            {
                if let Some(part) = &mut part {
                    part.work.entry(predicate).or_default().0 += 1;
                }
            }
            Class::Pause(pauses) => paused = pauses,
            Class::Note(Note::Mark(text)) => {
                parts.extend(part.take());
                let size = trace.text(text).and_then(size_in);
                part = size.map(|size| RecordingPart {
                    size,
                    ..RecordingPart::default()
                });
            }
            _ => {}
        }
        moment.step(timed.event, number);
    }
    parts.extend(part);
    parts
        .into_iter()
        .map(|part| recording(trace, part))
        .collect()
}

fn recording(trace: &Trace, part: RecordingPart) -> SizedRecording {
    let work = part.work.into_iter().map(|(predicate, (calls, ticks))| {
        let self_ns = trace.clock().duration_ns(ticks);
        let work = PredicateWork {
            calls,
            self_ns,
            components: None,
        };
        (trace.predicate_name(predicate).to_owned(), work)
    });
    SizedRecording {
        size: Some(part.size),
        work: work.collect(),
        times: TimesKind::AsRecorded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(size_in("n=30"), Some(30));
        assert_eq!(size_in(" list_length = 7 "), Some(7));
        assert_eq!(size_in("12"), Some(12));
        for text in ["", "n=", "=3", "n=-1", "begin", "x y=3", "n=3 done"] {
            assert_eq!(size_in(text), None, "{text}");
        }
    }
}
