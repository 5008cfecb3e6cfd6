//! What the recording of an event costs, from small programs that ran recorded and unrecorded.
//!
//! A [`Trial`] is such a program: how often each port occurred, and how many ticks more it took. Costs are
//! the non-negative least-squares solution over all trials, weighted so that the error is relative to
//! the unrecorded time. Every box is entered as often as it is left, so counts alone do not say how the cost of a
//! box is shared by its `CALL` and its `EXIT`: a small ridge draws all costs towards their mean, which decides that
//! and nothing else that matters.
//!
//! How the cost of an event is shared by the box and its caller shows in the times of the events themselves: between
//! `CALL` and `EXIT` of a box that does nothing lies what the unrecorded call takes, and the inner
//! part of both events.

use portmortem_tracer::format::{COST_UNIT, PortCosts, Trial, Trials};

use super::costs::RecordingCosts;

/// Kinds of ports, in the order of [`PortCosts`].
const KINDS: usize = 8;
const CALL: usize = 0;
const EXIT_DET: usize = 2;
const FAIL: usize = 5;
const CUT: usize = 6;

/// Costs from trials; `None` if there is too little to go by.
pub(crate) fn costs(found: &Trials) -> Option<RecordingCosts> {
    let Trials { empty, trials, .. } = found;
    let [exits, fails, ..] = trials.as_slice() else {
        return None;
    };
    let TrialFit {
        total,
        argument,
        slowdown,
        callback,
        reach,
    } = fit(found)?;
    // The inner parts of CALL and EXIT, and of CALL and FAIL.
    let inner = |trial: &Trial| {
        let called = trial.counts[CALL].max(1) as f64;
        let itself = trial.untraced.saturating_sub(*empty) as f64;
        (trial.leaf_ticks as f64 - itself) / called
    };
    let share = (inner(exits) / (total[CALL] + total[EXIT_DET]).max(1.0)).clamp(0.0, 1.0);
    let mut inside = total.map(|cost| cost * share);
    inside[FAIL] = (inner(fails) - inside[CALL]).clamp(0.0, total[FAIL]);
    inside[CUT] = 0.0;
    let unit = |cost: f64| (cost * COST_UNIT as f64).round() as u32;
    let mut ports = PortCosts {
        argument: unit(argument),
        slowdown: unit(slowdown),
        reach: reach as u32,
        ..PortCosts::default()
    };
    for kind in 0..KINDS {
        ports.inside[kind] = unit(inside[kind]);
        ports.outside[kind] = unit(total[kind] - inside[kind]);
    }
    Some(RecordingCosts {
        ports,
        callback: unit(callback),
    })
}

/// The least and the largest factor, in parts of [`COST_UNIT`], that the costs must have to explain what recording one of the trials cost.
pub(crate) fn spread(found: &Trials, costs: &RecordingCosts) -> Option<(u32, u32)> {
    let RecordingCosts { ports, callback } = costs;
    let factors = with_callbacks(found).filter_map(|(trial, callbacks)| {
        let each = |kind| u128::from(ports.inside[kind]) + u128::from(ports.outside[kind]);
        // Products of 64 and at most 33 bits: their sum is far from 128.
        let of_ports: u128 = (0..KINDS)
            .map(|kind| u128::from(trial.counts[kind]) * each(kind))
            .sum();
        let work = unknowns(trial, callbacks, f64::from(ports.reach))[WORK] as u64;
        let explained = of_ports
            + u128::from(trial.arguments) * u128::from(ports.argument)
            + u128::from(work) * u128::from(ports.slowdown)
            + u128::from(callbacks) * u128::from(*callback);
        let more = trial.ticks.saturating_sub(trial.untraced);
        let factor =
            u128::from(more) * u128::from(COST_UNIT) * u128::from(COST_UNIT) / explained.max(1);
        (explained > 0).then(|| u32::try_from(factor).unwrap_or(u32::MAX))
    });
    let factors: Vec<u32> = factors.collect();
    Some((*factors.iter().min()?, *factors.iter().max()?))
}

/// How much the mean of all costs draws on each, relative to the data.
const RIDGE: f64 = 1e-3;

/// How far a slowdown reaches, as a multiple of what an event costs: nothing of a long stretch within a built-in predicate is
/// slower for being recorded.
const REACH: f64 = 3.0;

/// What is fitted: costs by kind, of an argument, of a tick of own work, of a callback.
const UNKNOWNS: usize = KINDS + 3;
const ARGUMENT: usize = KINDS;
const WORK: usize = KINDS + 1;
const CALLBACK: usize = KINDS + 2;

struct TrialFit {
    /// Ticks of each kind of event, none negative.
    total: [f64; KINDS],
    argument: f64,
    slowdown: f64,
    callback: f64,
    reach: f64,
}

/// The trials with their callbacks, of which older traces know none.
fn with_callbacks(found: &Trials) -> impl Iterator<Item = (&Trial, u64)> {
    let callbacks = found.callbacks.iter().copied();
    found
        .trials
        .iter()
        .zip(callbacks.chain(std::iter::repeat(0)))
}

/// Weights make errors relative to the unrecorded time.
fn fit(found: &Trials) -> Option<TrialFit> {
    let trials = || with_callbacks(found).filter(|(trial, _)| trial.untraced > 0);
    let (mut all, mut extra) = (0.0, 0.0);
    for (trial, _) in trials() {
        let weight = 1.0 / trial.untraced as f64;
        let events = trial.counts.iter().map(|count| *count as f64).sum::<f64>() * weight;
        all += events * events;
        extra += events * trial.ticks.saturating_sub(trial.untraced) as f64 * weight;
    }
    if all <= 0.0 || extra <= 0.0 {
        return None;
    }
    let mean = extra / all;
    let reach = REACH * mean;
    let mut normal = [[0.0; UNKNOWNS]; UNKNOWNS];
    let mut right = [0.0; UNKNOWNS];
    for (trial, callbacks) in trials() {
        let weight = 1.0 / trial.untraced as f64;
        let row = unknowns(trial, callbacks, reach).map(|amount| amount * weight);
        let more = trial.ticks.saturating_sub(trial.untraced) as f64 * weight;
        for (at, x) in row.iter().enumerate() {
            right[at] += x * more;
            for (sum, y) in normal[at].iter_mut().zip(row) {
                *sum += x * y;
            }
        }
    }
    let ridge = RIDGE * all / KINDS as f64;
    let mut start = [mean; UNKNOWNS];
    for at in [ARGUMENT, WORK, CALLBACK] {
        start[at] = 0.0;
    }
    for at in 0..KINDS {
        normal[at][at] += ridge;
        right[at] += ridge * mean;
    }
    for at in [ARGUMENT, WORK, CALLBACK] {
        // Only to have one solution if no trial says anything of it.
        normal[at][at] = normal[at][at].max(f64::MIN_POSITIVE) * (1.0 + RIDGE);
    }
    let found = solve_nonnegative(&normal, &right, start);
    let mut total = [0.0; KINDS];
    total.copy_from_slice(&found[..KINDS]);
    Some(TrialFit {
        total,
        argument: found[ARGUMENT],
        slowdown: found[WORK],
        callback: found[CALLBACK],
        reach,
    })
}

/// How much of each unknown there is in a trial.
fn unknowns(trial: &Trial, callbacks: u64, reach: f64) -> [f64; UNKNOWNS] {
    let mut amounts = [0.0; UNKNOWNS];
    for (amount, count) in amounts.iter_mut().zip(trial.counts) {
        *amount = count as f64;
    }
    let events: f64 = amounts.iter().sum();
    amounts[ARGUMENT] = trial.arguments as f64;
    amounts[WORK] = (trial.untraced as f64).min(events * reach);
    amounts[CALLBACK] = callbacks as f64;
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
        Trial {
            counts,
            ticks: untraced + cost,
            untraced,
            ..Trial::default()
        }
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
        trials[0].leaf_ticks = 1000 * (30 + 150);
        trials[1].leaf_ticks = 1000 * (30 + 100);
        let found = Trials {
            empty: 60_000,
            trials,
            ..Trials::default()
        };
        let costs = costs(&found).unwrap().ports;
        for trial in &found.trials {
            let explained: u64 = (0..KINDS)
                .map(|k| trial.counts[k] * u64::from(costs.inside[k] + costs.outside[k]))
                .sum::<u64>();
            let events: u64 = trial.counts.iter().sum();
            let work = trial.untraced.min(events * u64::from(costs.reach));
            let explained = (explained + work * u64::from(costs.slowdown)) / COST_UNIT;
            let more = trial.ticks - trial.untraced;
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
    fn callbacks_have_a_cost_of_their_own() {
        let mut trials = vec![
            trial([1000, 0, 1000, 0, 0, 0, 0, 0], 90_000),
            trial([1000, 0, 0, 0, 0, 1000, 0, 0], 90_000),
            trial([500, 500, 500, 0, 0, 0, 0, 0], 80_000),
            trial([500, 100, 400, 0, 0, 100, 0, 0], 70_000),
        ];
        let mut callbacks = vec![0, 0, 250, 400];
        for (trial, callbacks) in trials.iter_mut().zip(&callbacks) {
            trial.ticks += 300 * callbacks;
        }
        // What is not said is none.
        trials.push(trial([1000, 0, 500, 0, 0, 500, 0, 0], 70_000));
        let found = |callbacks| Trials {
            empty: 0,
            trials: trials.clone(),
            callbacks,
        };
        let cost = costs(&found(callbacks.clone())).unwrap().callback;
        assert!(u64::from(cost).abs_diff(300 * COST_UNIT) < 10 * COST_UNIT);
        callbacks.fill(0);
        assert_eq!(costs(&found(callbacks)).unwrap().callback, 0);
    }

    /// Recorders of format versions 2 and 3 fitted costs themselves: the same ones.
    #[test]
    fn costs_are_those_of_earlier_recorders() {
        let trial = |counts, arguments, ticks, leaf_ticks, untraced| Trial {
            counts,
            arguments,
            ticks,
            leaf_ticks,
            untraced,
        };
        let mut found = Trials {
            empty: 61_000,
            trials: vec![
                trial([500, 0, 500, 0, 0, 0, 0, 0], 0, 262_000, 91_000, 91_500),
                trial([500, 0, 0, 0, 0, 500, 0, 0], 0, 214_000, 70_500, 88_000),
                trial([20, 1500, 20, 0, 0, 0, 0, 0], 4560, 285_000, 9_000, 76_000),
                trial(
                    [300, 0, 0, 700, 400, 0, 300, 0],
                    1200,
                    243_000,
                    12_000,
                    64_000,
                ),
                trial(
                    [200, 100, 100, 250, 250, 100, 0, 0],
                    2000,
                    171_000,
                    20_000,
                    410_000,
                ),
                trial([150, 30, 20, 0, 0, 10, 0, 120], 500, 99_000, 7_000, 38_000),
            ],
            ..Trials::default()
        };
        let ports_alone = |ports| {
            Some(RecordingCosts {
                ports,
                ..RecordingCosts::default()
            })
        };
        let all = PortCosts {
            inside: [86701, 49126, 37203, 3001, 0, 2387, 0, 57915],
            outside: [156710, 88795, 67245, 5424, 0, 11496, 346122, 104680],
            argument: 0,
            slowdown: 0,
            reach: 374,
        };
        assert_eq!(costs(&found), ports_alone(all));
        found.trials.truncate(3);
        let few = PortCosts {
            inside: [54396, 49292, 69508, 51855, 51855, 34692, 0, 51855],
            outside: [96112, 87094, 122813, 91622, 91622, 66973, 143477, 91622],
            argument: 0,
            slowdown: 34,
            reach: 420,
        };
        assert_eq!(costs(&found), ports_alone(few));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(costs(&Trials::default()), None);
        let trials = vec![trial([0; KINDS], 10); 2];
        let empty = 5;
        let found = Trials {
            empty,
            trials,
            ..Trials::default()
        };
        assert_eq!(costs(&found), None);
    }
}
