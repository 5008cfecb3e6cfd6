//! What the recording of an event costs, from small programs that ran recorded and unrecorded.
//!
//! A *trial* is such a program: how often each port occurred, and how many ticks more it took. Costs are
//! the non-negative least-squares solution over all trials, weighted so that the error is relative to
//! the unrecorded time. Every box is entered as often as it is left, so counts alone do not say how the cost of a
//! box is shared by its `CALL` and its `EXIT`: a small ridge draws all costs towards their mean, which decides that
//! and nothing else that matters.
//!
//! How the cost of an event is shared by the box and its caller shows in the times of the events themselves: between
//! `CALL` and `EXIT` of a box that does nothing lies what the unrecorded call takes, and the inner
//! part of both events.

use std::collections::HashMap;

use crate::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, COST_UNIT, Event, PortCosts, Record,
    decode_header, read_record,
};

/// Kinds of ports, in the order of [`PortCosts`].
const KINDS: usize = 8;
const CALL: usize = 0;
const EXIT_DET: usize = 2;
const FAIL: usize = 5;
const CUT: usize = 6;

/// One recorded run of a small program, between two marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// Events by kind, in the order of [`PortCosts`]; a `CUT` counts once for each box.
    pub counts: [u64; KINDS],
    /// Arguments of all boxes entered.
    pub arguments: u64,
    /// Ticks from mark to mark.
    pub ticks: u64,
    /// Those of them between a `CALL` and a way out that follows on it.
    pub leaf_ticks: u64,
}

/// One small program, recorded and not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// A recorded run.
    pub run: Run,
    /// Ticks of an unrecorded run.
    pub untraced: u64,
}

/// The runs in a trace of one stream: whatever lies between the first and second mark, the third and fourth, and so on.
/// `None` if the trace is not whole.
#[must_use]
pub fn runs(trace: &[u8]) -> Option<Vec<Run>> {
    let (_, file_id) = decode_header(trace).ok()?;
    let arities = arities(trace, file_id)?;
    let mut runs = Vec::new();
    let mut run: Option<Run> = None;
    let mut after_call = false;
    let mut last = 0;
    for (header, payload) in blocks(trace, file_id) {
        if header.kind != BlockKind::Events {
            continue;
        }
        let mut bytes = payload?;
        let mut tick = header.base_tick;
        while !bytes.is_empty() {
            let (event, delta, length) = Event::decode(bytes).ok()?;
            bytes = &bytes[length..];
            tick = tick.checked_add(delta)?;
            let delta = tick.saturating_sub(last);
            last = tick;
            if let Some(run) = &mut run {
                run.ticks += delta;
            }
            if matches!(event, Event::Mark { .. }) {
                match run.take() {
                    Some(done) => runs.push(done),
                    None => run = Some(Run::default()),
                }
            } else if let (Some(run), Some((kind, count))) = (&mut run, kind(event)) {
                run.counts[kind] += count;
                if let Event::Call { predicate } | Event::Tail { predicate } = event {
                    run.arguments += u64::from(*arities.get(&predicate)?);
                }
                if after_call && matches!(kind, EXIT_DET | FAIL) {
                    run.leaf_ticks += delta;
                }
            }
            after_call = matches!(event, Event::Call { .. });
        }
    }
    Some(runs)
}

/// The blocks of a trace and what was written into them, as far as it is there.
fn blocks(trace: &[u8], file_id: u64) -> impl Iterator<Item = (BlockHeader, Option<&[u8]>)> {
    let mut at = crate::format::FILE_HEADER_BYTES;
    std::iter::from_fn(move || {
        let header = BlockHeader::parse(trace.get(at..)?, file_id).ok()?;
        let start = at + BLOCK_HEADER_BYTES;
        at += (header.size as usize).max(BLOCK_ALIGN);
        let payload = trace.get(start..start + header.committed as usize);
        Some((header, payload))
    })
}

/// Numbers of arguments, by predicate.
fn arities(trace: &[u8], file_id: u64) -> Option<HashMap<u32, u32>> {
    let mut arities = HashMap::new();
    for (header, payload) in blocks(trace, file_id) {
        let (payload, mut at) = (payload?, 0);
        while header.kind == BlockKind::Records && at < payload.len() {
            if let Record::Predicate(predicate) = read_record(payload, &mut at).ok()? {
                arities.insert(predicate.id, predicate.arity);
            }
        }
    }
    Some(arities)
}

fn kind(event: Event) -> Option<(usize, u64)> {
    let kind = match event {
        Event::Call { .. } => CALL,
        Event::Tail { .. } => 1,
        Event::ExitDet => EXIT_DET,
        Event::ExitNondet => 3,
        Event::Redo => 4,
        Event::Fail => FAIL,
        Event::Cut { count } => return Some((CUT, count.into())),
        Event::Exception => 7,
        Event::Pause | Event::Resume | Event::Gap { .. } | Event::Mark { .. } => return None,
    };
    Some((kind, 1))
}

/// Costs from trials. The first calls a predicate that does nothing, the second one that fails at once;
/// `empty` ticks of either are the loop around it. `None` if there is too little to go by.
#[must_use]
pub fn costs(trials: &[Trial], empty: u64) -> Option<PortCosts> {
    let [exits, fails, ..] = trials else {
        return None;
    };
    let Fit {
        total,
        argument,
        slowdown,
        reach,
    } = fit(trials)?;
    // The inner parts of CALL and EXIT, and of CALL and FAIL.
    let inner = |trial: &Trial| {
        let called = trial.run.counts[CALL].max(1) as f64;
        let itself = trial.untraced.saturating_sub(empty) as f64;
        (trial.run.leaf_ticks as f64 - itself) / called
    };
    let share = (inner(exits) / (total[CALL] + total[EXIT_DET]).max(1.0)).clamp(0.0, 1.0);
    let mut inside = total.map(|cost| cost * share);
    inside[FAIL] = (inner(fails) - inside[CALL]).clamp(0.0, total[FAIL]);
    inside[CUT] = 0.0;
    let unit = |cost: f64| (cost * COST_UNIT as f64).round() as u32;
    let mut costs = PortCosts {
        argument: unit(argument),
        slowdown: unit(slowdown),
        reach: reach as u32,
        ..PortCosts::default()
    };
    for kind in 0..KINDS {
        costs.inside[kind] = unit(inside[kind]);
        costs.outside[kind] = unit(total[kind] - inside[kind]);
    }
    Some(costs)
}

/// How much the mean of all costs draws on each, relative to the data.
const RIDGE: f64 = 1e-3;

/// How far a slowdown reaches, as a multiple of what an event costs: nothing of a long stretch within a built-in predicate is
/// slower for being recorded.
const REACH: f64 = 3.0;

/// What is fitted: costs by kind, of an argument, of a tick of own work.
const UNKNOWNS: usize = KINDS + 2;
const ARGUMENT: usize = KINDS;
const WORK: usize = KINDS + 1;

struct Fit {
    /// Ticks of each kind of event, none negative.
    total: [f64; KINDS],
    argument: f64,
    slowdown: f64,
    reach: f64,
}

/// Weights make errors relative to the unrecorded time.
fn fit(trials: &[Trial]) -> Option<Fit> {
    let (mut all, mut extra) = (0.0, 0.0);
    for trial in trials.iter().filter(|trial| trial.untraced > 0) {
        let weight = 1.0 / trial.untraced as f64;
        let events = trial.run.counts.iter().sum::<u64>() as f64 * weight;
        all += events * events;
        extra += events * trial.run.ticks.saturating_sub(trial.untraced) as f64 * weight;
    }
    if all <= 0.0 || extra <= 0.0 {
        return None;
    }
    let mean = extra / all;
    let reach = REACH * mean;
    let mut normal = [[0.0; UNKNOWNS]; UNKNOWNS];
    let mut right = [0.0; UNKNOWNS];
    for trial in trials.iter().filter(|trial| trial.untraced > 0) {
        let weight = 1.0 / trial.untraced as f64;
        let row = unknowns(trial, reach).map(|amount| amount * weight);
        let more = trial.run.ticks.saturating_sub(trial.untraced) as f64 * weight;
        for (at, x) in row.iter().enumerate() {
            right[at] += x * more;
            for (sum, y) in normal[at].iter_mut().zip(row) {
                *sum += x * y;
            }
        }
    }
    let ridge = RIDGE * all / KINDS as f64;
    let mut start = [mean; UNKNOWNS];
    start[ARGUMENT] = 0.0;
    start[WORK] = 0.0;
    for at in 0..KINDS {
        normal[at][at] += ridge;
        right[at] += ridge * mean;
    }
    for at in [ARGUMENT, WORK] {
        // Only to have one solution if no trial says anything of it.
        normal[at][at] = normal[at][at].max(f64::MIN_POSITIVE) * (1.0 + RIDGE);
    }
    let found = solve_nonnegative(&normal, &right, start);
    let mut total = [0.0; KINDS];
    total.copy_from_slice(&found[..KINDS]);
    Some(Fit {
        total,
        argument: found[ARGUMENT],
        slowdown: found[WORK],
        reach,
    })
}

/// How much of each unknown there is in a trial.
fn unknowns(trial: &Trial, reach: f64) -> [f64; UNKNOWNS] {
    let mut amounts = [0.0; UNKNOWNS];
    for (amount, count) in amounts.iter_mut().zip(trial.run.counts) {
        *amount = count as f64;
    }
    let events: f64 = amounts.iter().sum();
    amounts[ARGUMENT] = trial.run.arguments as f64;
    amounts[WORK] = (trial.untraced as f64).min(events * reach);
    amounts
}

/// Least squares with no value below zero, by coordinate descent (Franc, Hlaváč, Navara 2005, sequential coordinate-wise
/// algorithm): every step is exact in one coordinate, and the matrix is positive definite.
fn solve_nonnegative(
    normal: &[[f64; UNKNOWNS]; UNKNOWNS],
    right: &[f64; UNKNOWNS],
    start: [f64; UNKNOWNS],
) -> [f64; UNKNOWNS] {
    let mut values = start;
    for _ in 0..10_000 {
        let mut moved: f64 = 0.0;
        for at in 0..UNKNOWNS {
            let rest: f64 = (0..UNKNOWNS)
                .filter(|other| *other != at)
                .map(|other| normal[at][other] * values[other])
                .sum();
            let value = ((right[at] - rest) / normal[at][at]).max(0.0);
            moved = moved.max((value - values[at]).abs());
            values[at] = value;
        }
        if moved < 1e-6 {
            break;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRUE_COSTS: [u64; KINDS] = [170, 115, 160, 140, 100, 60, 110, 120];

    fn trial(counts: [u64; KINDS], untraced: u64) -> Trial {
        let cost: u64 = counts.iter().zip(TRUE_COSTS).map(|(n, c)| n * c).sum();
        let run = Run {
            counts,
            ticks: untraced + cost,
            ..Run::default()
        };
        Trial { run, untraced }
    }

    #[test]
    fn what_trials_took_more_is_explained() {
        let mut trials = vec![
            trial([1000, 0, 1000, 0, 0, 0, 0, 0], 90_000),
            trial([1000, 0, 0, 0, 0, 1000, 0, 0], 90_000),
            trial([10, 2000, 10, 0, 0, 0, 0, 0], 80_000),
            trial([500, 0, 0, 900, 900, 500, 0, 0], 70_000),
            trial([500, 0, 0, 500, 0, 0, 500, 0], 50_000),
            trial([300, 900, 100, 0, 0, 0, 0, 200], 60_000),
        ];
        trials[0].run.leaf_ticks = 1000 * (30 + 150);
        trials[1].run.leaf_ticks = 1000 * (30 + 100);
        let costs = costs(&trials, 60_000).unwrap();
        for trial in &trials {
            let explained: u64 = (0..KINDS)
                .map(|k| trial.run.counts[k] * u64::from(costs.inside[k] + costs.outside[k]))
                .sum::<u64>();
            let events: u64 = trial.run.counts.iter().sum();
            let work = trial.untraced.min(events * u64::from(costs.reach));
            let explained = (explained + work * u64::from(costs.slowdown)) / COST_UNIT;
            let more = trial.run.ticks - trial.untraced;
            assert!(
                explained.abs_diff(more) * 50 < more,
                "{explained} for {more}: {costs:?}"
            );
        }
        let inner = u64::from(costs.inside[CALL] + costs.inside[EXIT_DET]);
        assert!(inner.abs_diff(150 * COST_UNIT) < 3 * COST_UNIT, "{inner}");
        assert_eq!(costs.inside[CUT], 0);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(costs(&[], 0), None);
        assert_eq!(costs(&[trial([0; KINDS], 10); 2], 5), None);
        assert_eq!(runs(b"no trace"), None);
    }
}
