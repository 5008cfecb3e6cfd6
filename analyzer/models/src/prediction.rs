//! Times that were never measured: of a recording on another platform, and of sizes that were never run.
//!
//! Counts at the new size come from the functions that [`crate::growth`] finds. On a platform they are multiplied with its
//! constants, component by component (equation 9 of Mera et al. 2006); without one, calls are multiplied with what
//! one took in the recordings.

use std::collections::BTreeSet;

use crate::growth::{self, Estimate, Growth, Point, Sample};
use crate::model::{Components, Model};
use crate::platform::Platform;
use crate::recordings::{PredicateWork, SizedRecording, TimesKind};

/// A measurement is believed by no less than this.
const LEAST_TRUST: f64 = 0.05;

/// A measurement of less than one part of the longest in so many is not used, if there are others.
const LEAST_PART: f64 = 400.0;

/// A line through more points than this is no better, and all pairs of them are looked at.
const MOST_POINTS: usize = 200;

/// Two sizes agree with every function of two parameters.
const LEAST_SIZES: usize = 3;

/// How many times larger the largest size must be than the smallest, for a function of the size to be told from disturbances.
const SPREAD: f64 = 2.0;

/// What is predicted of one predicate.
#[derive(Debug, Clone)]
pub struct Predicted {
    /// Its name.
    pub predicate: String,
    /// How its calls grow with the size; unknown without sizes.
    pub growth: Growth,
    /// Calls.
    pub calls: Option<Estimate>,
    /// Time in the predicate itself, in ns.
    pub self_ns: Option<Estimate>,
}

/// What is predicted of a program.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// Size of the input; `None`: the recording itself, on the platform.
    pub size: Option<u64>,
    /// By time, the most first; those of unknown time at the end.
    pub rows: Vec<Predicted>,
    /// The sum of all times that are known, in ns.
    pub total_ns: Estimate,
    /// Built-ins and operators that the platform has no cost of.
    pub unpriced: BTreeSet<String>,
    /// What the times are that it was made from, the worst of them; `None` if they are a platform's.
    pub times: Option<TimesKind>,
}

/// Why nothing can be predicted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PredictionError {
    /// No recordings.
    #[error("no recordings")]
    Nothing,
    /// Some recordings have a size, and some not; or there are several, and none has.
    #[error(
        "the sizes of the inputs are not known: say them in the order of the traces, --size n=10,20,30, or run each in a cost centre: cost_center('n=10', Goal)"
    )]
    SizesUnknown,
    /// The constants of a platform are for components.
    #[error("only a recording made with `record --symbolic` has what --platform gives prices for")]
    NotSymbolic,
    /// The times of a symbolic recording are those of counting.
    #[error(
        "the times of a symbolic recording mean nothing: name a platform (--platform), or record without --symbolic"
    )]
    OnlySymbolic,
    /// One recording without a size and without a platform is what `report` shows.
    #[error(
        "nothing to predict: name a platform (--platform), or several traces and their sizes (--size n=10,20,30)"
    )]
    NoQuestion,
}

/// Predicts the times of a program at a size, or, of a single recording without size, on a platform.
///
/// # Errors
/// [`PredictionError`]
pub fn predict(
    recordings: &[SizedRecording],
    platform: Option<(&Platform, &Model)>,
    size: Option<u64>,
) -> Result<Prediction, PredictionError> {
    let symbolic = recordings
        .iter()
        .filter(|recording| recording.times == TimesKind::OfCounting)
        .count();
    match platform {
        Some(_) if symbolic < recordings.len() => return Err(PredictionError::NotSymbolic),
        None if symbolic > 0 => return Err(PredictionError::OnlySymbolic),
        _ => {}
    }
    let sized: Option<Vec<(u64, &SizedRecording)>> = recordings
        .iter()
        .map(|recording| Some((recording.size?, recording)))
        .collect();
    let size = size.or_else(|| default_size(recordings));
    let mut unpriced = BTreeSet::new();
    let mut rows = match (recordings, sized, size) {
        ([], _, _) => return Err(PredictionError::Nothing),
        ([only], _, None) => {
            let platform = platform.ok_or(PredictionError::NoQuestion)?;
            let rows = only
                .work
                .iter()
                .map(|(name, work)| of_recording(name, work, platform, &mut unpriced));
            rows.collect()
        }
        (_, Some(sized), Some(size)) => at_size(&sized, platform, size, &mut unpriced),
        _ => return Err(PredictionError::SizesUnknown),
    };
    let known = |row: &Predicted| row.self_ns.map_or(-1.0, |estimate| estimate.value);
    rows.sort_by(|a, b| {
        known(b)
            .total_cmp(&known(a))
            .then_with(|| a.predicate.cmp(&b.predicate))
    });
    let zero = Estimate::certain(0.0);
    let total_ns = rows
        .iter()
        .filter_map(|row| row.self_ns)
        .fold(zero, Estimate::plus);
    Ok(Prediction {
        size,
        rows,
        total_ns,
        unpriced,
        times: match platform {
            Some(_) => None,
            None => recordings.iter().map(|recording| recording.times).max(),
        },
    })
}

/// Ten times the largest size, of several sizes.
fn default_size(recordings: &[SizedRecording]) -> Option<u64> {
    let sizes: BTreeSet<u64> = recordings
        .iter()
        .filter_map(|recording| recording.size)
        .collect();
    sizes
        .last()
        .filter(|_| sizes.len() > 1)
        .map(|largest| largest.saturating_mul(10))
}

fn of_recording(
    name: &str,
    work: &PredicateWork,
    (platform, model): (&Platform, &Model),
    unpriced: &mut BTreeSet<String>,
) -> Predicted {
    let priced = work
        .components
        .as_ref()
        .map(|components| platform.price(model, components));
    Predicted {
        predicate: name.to_owned(),
        growth: Growth::Unknown { sizes: 0 },
        calls: Some(Estimate::certain(work.calls as f64)),
        self_ns: priced.map(|priced| {
            unpriced.extend(priced.unknown);
            priced.ns
        }),
    }
}

fn at_size(
    recordings: &[(u64, &SizedRecording)],
    platform: Option<(&Platform, &Model)>,
    size: u64,
    unpriced: &mut BTreeSet<String>,
) -> Vec<Predicted> {
    let names: BTreeSet<&String> = recordings
        .iter()
        .flat_map(|(_, recording)| recording.work.keys())
        .collect();
    let nothing = PredicateWork {
        components: Some(Components::new()),
        ..PredicateWork::default()
    };
    names
        .into_iter()
        .map(|name| {
            let work = |(size, recording): &(u64, &SizedRecording)| {
                (*size, recording.work.get(name).unwrap_or(&nothing).clone())
            };
            let work: Vec<(u64, PredicateWork)> = recordings.iter().map(work).collect();
            if let Some(sizes) = occasional(&work) {
                return Predicted {
                    predicate: name.clone(),
                    growth: Growth::Unknown { sizes },
                    calls: None,
                    self_ns: None,
                };
            }
            let growth = growth_of(&work, |work| work.calls);
            let calls = growth.at(size);
            let self_ns = match platform {
                Some(platform) => on_platform(&work, platform, size, unpriced),
                None => calls.and_then(|calls| time_of(calls, &work, size)),
            };
            Predicted {
                predicate: name.clone(),
                growth,
                calls,
                self_ns,
            }
        })
        .collect()
}

/// At how many sizes a predicate was called, if those are not all, and too few to tell a function of the size by: what
/// ran before the first mark or after the last, for example.
fn occasional(work: &[(u64, PredicateWork)]) -> Option<usize> {
    let all: BTreeSet<u64> = work.iter().map(|(size, _)| *size).collect();
    let called: BTreeSet<u64> = work
        .iter()
        .filter(|(_, work)| work.calls > 0)
        .map(|(size, _)| *size)
        .collect();
    let too_few = !called.is_empty() && called.len() < all.len().min(LEAST_SIZES);
    too_few.then_some(called.len())
}

fn growth_of(work: &[(u64, PredicateWork)], count: impl Fn(&PredicateWork) -> u64) -> Growth {
    let sample = |(size, work): &(u64, PredicateWork)| Sample {
        size: *size,
        count: count(work),
    };
    Growth::infer(&work.iter().map(sample).collect::<Vec<_>>())
}

/// Each component at the new size, at the prices of the platform. The bounds are those of the counts and of the model
/// together.
fn on_platform(
    work: &[(u64, PredicateWork)],
    (platform, model): (&Platform, &Model),
    size: u64,
    unpriced: &mut BTreeSet<String>,
) -> Option<Estimate> {
    let mut names = BTreeSet::new();
    for (_, work) in work {
        names.extend(work.components.as_ref()?.keys());
    }
    let mut sum = Estimate::certain(0.0);
    for name in names {
        let Some(ns) = platform.cost_of(model, name) else {
            if Platform::is_builtin(name) {
                unpriced.insert(name.clone());
            }
            continue;
        };
        let count = |work: &PredicateWork| {
            work.components
                .as_ref()
                .and_then(|components| components.get(name))
                .copied()
                .unwrap_or(0)
        };
        let counts = growth_of(work, count).at(size)?;
        let (low, high) = if ns < 0.0 {
            (counts.high, counts.low)
        } else {
            (counts.low, counts.high)
        };
        sum = sum.plus(Estimate {
            value: ns * counts.value,
            low: ns * low,
            high: ns * high,
        });
    }
    Some(Estimate {
        value: sum.value.max(0.0),
        low: model.with_bounds(sum.low).low,
        high: model.with_bounds(sum.high).high,
    })
}

/// What so many calls take at a size, in ns: what a call took in the recordings, and as it grew there, if it did; and what the
/// predicate took once. `None` if nothing was left of that in most recordings.
fn time_of(calls: Estimate, work: &[(u64, PredicateWork)], size: u64) -> Option<Estimate> {
    let ran: Vec<(u64, f64, f64)> = work
        .iter()
        .filter(|(_, work)| work.calls > 0)
        .map(|(size, work)| (*size, work.calls as f64, work.self_ns as f64))
        .collect();
    // It took less than recording it costs: then nothing is left to tell its time by.
    let lost = ran.iter().filter(|&&(.., ns)| ns == 0.0).count();
    if 2 * lost > ran.len() {
        return None;
    }
    let once = warming_up(ran.iter().map(|&(_, calls, ns)| (calls, ns)).collect());
    let longest = ran.iter().map(|&(.., ns)| ns).fold(0.0, f64::max);
    // Mostly what it took once, or less than can be measured.
    let says_little = |ns: f64| once > ns / 2.0 || ns * LEAST_PART < longest;
    let telling = ran.iter().filter(|&&(.., ns)| !says_little(ns));
    let sizes: BTreeSet<u64> = telling.map(|&(size, ..)| size).collect();
    let (once, all) = match sizes.len() {
        LEAST_SIZES.. => (once, false),
        _ => (0.0, true),
    };
    let points: Vec<Point> = ran
        .iter()
        .filter(|&&(.., ns)| all || !says_little(ns))
        .map(|&(size, calls, ns)| Point {
            size: size as f64,
            value: (ns - once) / calls,
            // What disturbs a measurement disturbs long ones less.
            trust: (ns / longest.max(1.0)).sqrt().max(LEAST_TRUST),
        })
        .collect();
    let each = each_call(&points, size)?;
    Some(calls.times(each).plus(Estimate::certain(once)))
}

/// What a call takes at a size, in ns. Where sizes hardly differ, as where calls grow exponentially with them, a function of the size
/// cannot be told from what disturbs measurements: it is what it was in the longest recording.
fn each_call(points: &[Point], size: u64) -> Option<Estimate> {
    let sizes = || points.iter().map(|point| point.size);
    let differ = sizes().fold(0.0, f64::max) >= SPREAD * sizes().fold(f64::INFINITY, f64::min);
    if differ && let Some(fitted) = growth::fit_time(points) {
        return Some(fitted.at(size as f64)).filter(|estimate| estimate.high.is_finite());
    }
    let longest = points.iter().max_by(|a, b| a.trust.total_cmp(&b.trust));
    let value = longest.map_or(0.0, |point| point.value);
    let off = points.iter().map(|point| (point.value - value).abs());
    let width = off.fold(0.0, f64::max);
    Some(Estimate {
        value,
        low: (value - width).max(0.0),
        high: value + width,
    })
}

/// What a predicate took once, however often it was called: caches and tables of branches were cold. Calls and ns of each
/// recording; 0 if numbers of calls differ too little to tell, or if longer runs took more for each call.
///
/// The line is that of Theil and Sen, because single runs are disturbed: the slope is the median of those of all pairs of
/// points, here each as heavy as its points are far apart.
fn warming_up(mut points: Vec<(f64, f64)>) -> f64 {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let points: Vec<(f64, f64)> = points.into_iter().step_by(every).collect();
    let fewest = points
        .iter()
        .map(|point| point.0)
        .fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|point| point.0).fold(0.0, f64::max);
    if points.len() < LEAST_SIZES || most < 4.0 * fewest {
        return 0.0;
    }
    let slopes = points.iter().enumerate().flat_map(|(index, a)| {
        let others = points[..index].iter().filter(|b| a.0 != b.0);
        others.map(|b| ((a.1 - b.1) / (a.0 - b.0), (a.0 - b.0).abs()))
    });
    let slope = weighted_median(slopes.collect());
    let left = points.iter().map(|point| (point.1 - slope * point.0, 1.0));
    weighted_median(left.collect()).max(0.0)
}

/// Of values and their weights; 0 of none.
fn weighted_median(mut values: Vec<(f64, f64)>) -> f64 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
    let mut below = 0.0;
    let median = values.iter().find(|(_, weight)| {
        below += weight;
        below >= half
    });
    median.map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{Isolated, Machine};

    fn platform() -> Platform {
        let machine = Machine {
            processor: String::new(),
            processors: 1,
            memory_bytes: 0,
            system: String::new(),
            engine: String::new(),
            calibrated_unix: 0,
            repetitions: 0,
        };
        let model = Model {
            standard_error_us: 1.0,
            relative_error: 0.05,
            nanoseconds: [("step".to_owned(), 10.0), ("nargs".to_owned(), -1.0)].into(),
        };
        let isolated = Isolated {
            builtins: [("is/2".to_owned(), 30.0)].into(),
            ..Isolated::default()
        };
        Platform::new(machine, Vec::new(), model, isolated)
    }

    /// Naive reverse at a size: 20 ns a call, or its components.
    fn nrev(size: u64, symbolic: bool) -> SizedRecording {
        let calls = [
            ("nrev/2", size + 1),
            ("app/3", size * (size + 1) / 2),
            ("main/0", 1),
        ];
        let work = calls.map(|(name, calls)| {
            let components = [
                ("step".to_owned(), calls),
                ("nargs".to_owned(), 2 * calls),
                ("builtin:is/2".to_owned(), u64::from(name == "main/0")),
                ("builtin:foo/1".to_owned(), u64::from(name == "main/0")),
            ];
            let work = PredicateWork {
                calls,
                self_ns: 20 * calls,
                components: symbolic.then(|| components.into()),
            };
            (name.to_owned(), work)
        });
        SizedRecording {
            size: Some(size),
            work: work.into(),
            times: if symbolic {
                TimesKind::OfCounting
            } else {
                TimesKind::Measured
            },
        }
    }

    fn row<'p>(prediction: &'p Prediction, name: &str) -> &'p Predicted {
        prediction
            .rows
            .iter()
            .find(|row| row.predicate == name)
            .unwrap()
    }

    #[test]
    fn ten_times_the_largest_size_from_what_calls_took() {
        let recordings: Vec<_> = [10, 20, 30, 40, 50].map(|size| nrev(size, false)).into();
        let prediction = predict(&recordings, None, None).unwrap();
        assert_eq!(prediction.size, Some(500));
        let append = row(&prediction, "app/3");
        assert_eq!(append.growth.formula().unwrap(), "1/2 n^2 + 1/2 n");
        assert_eq!(append.calls, Some(Estimate::certain(125_250.0)));
        assert!((append.self_ns.unwrap().value - 2_505_000.0).abs() < 1.0);
        assert_eq!(prediction.rows[0].predicate, "app/3");
        assert_eq!(prediction.times, Some(TimesKind::Measured));
        let total = prediction.total_ns;
        assert!((total.value - 20.0 * (125_250.0 + 501.0 + 1.0)).abs() < 1.0);
        assert!(total.low <= total.value && total.value <= total.high);
    }

    #[test]
    fn a_size_on_a_platform() {
        let platform = platform();
        let priced = Some((&platform, &platform.refined));
        let recordings: Vec<_> = [10, 20, 30, 40, 50].map(|size| nrev(size, true)).into();
        let prediction = predict(&recordings, priced, Some(100)).unwrap();
        let append = row(&prediction, "app/3").self_ns.unwrap();
        assert!((append.value - 8.0 * 5050.0).abs() < 1e-6);
        assert!((append.high / append.value - 1.098).abs() < 1e-6);
        assert!((row(&prediction, "main/0").self_ns.unwrap().value - 38.0).abs() < 1e-6);
        assert_eq!(prediction.unpriced, ["builtin:foo/1".to_owned()].into());
        assert_eq!(prediction.times, None);
    }

    #[test]
    fn a_recording_on_a_platform() {
        let platform = platform();
        let priced = Some((&platform, &platform.refined));
        let mut recording = nrev(10, true);
        recording.size = None;
        recording.work.insert(
            "dynamic/0".to_owned(),
            PredicateWork {
                calls: 3,
                ..PredicateWork::default()
            },
        );
        let prediction = predict(&[recording], priced, None).unwrap();
        assert_eq!(prediction.size, None);
        assert!((row(&prediction, "app/3").self_ns.unwrap().value - 440.0).abs() < 1e-6);
        assert_eq!(row(&prediction, "dynamic/0").self_ns, None);
    }

    #[test]
    fn what_runs_outside_of_the_marks_has_no_function() {
        let platform = platform();
        let priced = Some((&platform, &platform.refined));
        for symbolic in [false, true] {
            let mut recordings: Vec<SizedRecording> =
                [10, 20, 30, 40, 50].map(|size| nrev(size, symbolic)).into();
            let once = recordings[0].work["main/0"].clone();
            recordings[4].work.insert("finish/0".to_owned(), once);
            let platform = if symbolic { priced } else { None };
            let prediction = predict(&recordings, platform, Some(500)).unwrap();
            let finish = row(&prediction, "finish/0");
            assert!(matches!(finish.growth, Growth::Unknown { sizes: 1 }));
            assert_eq!((finish.calls, finish.self_ns), (None, None));
            assert_eq!(
                row(&prediction, "main/0").calls,
                Some(Estimate::certain(1.0))
            );
        }
    }

    #[test]
    fn a_call_that_takes_longer_with_the_size() {
        let recordings: Vec<_> = [10, 20, 30, 40, 50]
            .map(|size| {
                let work = PredicateWork {
                    calls: 2,
                    self_ns: 2 * 100 * size,
                    components: None,
                };
                SizedRecording {
                    size: Some(size),
                    work: [("sort/1".to_owned(), work)].into(),
                    times: TimesKind::AsRecorded,
                }
            })
            .into();
        let prediction = predict(&recordings, None, Some(1000)).unwrap();
        assert!((prediction.total_ns.value / 200_000.0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn warming_up_is_no_part_of_a_call() {
        let recordings: Vec<_> = [10, 20, 30, 40, 50]
            .map(|size| {
                let mut recording = nrev(size, false);
                for work in recording.work.values_mut() {
                    work.self_ns += 5_000;
                }
                // Disturbed once.
                if size == 30 {
                    for work in recording.work.values_mut() {
                        work.self_ns += 900;
                    }
                }
                recording
            })
            .into();
        let prediction = predict(&recordings, None, None).unwrap();
        // Too few of its calls to tell what it took once.
        assert!(row(&prediction, "nrev/2").self_ns.is_some());
        let append = row(&prediction, "app/3").self_ns.unwrap();
        assert!(
            (append.value / 2_505_000.0 - 1.0).abs() < 0.05,
            "{append:?}"
        );
    }

    #[test]
    fn what_a_call_takes_grows_only_if_sizes_differ() {
        let point = |(size, value): (f64, f64)| Point {
            size,
            value,
            trust: 1.0,
        };
        let hanoi = [
            (13.0, 20.0),
            (14.0, 21.6),
            (15.0, 23.1),
            (16.0, 24.6),
            (17.0, 26.1),
        ];
        let found = each_call(&hanoi.map(point), 24).unwrap();
        assert_eq!((found.value, found.low), (26.1, 20.0));
        assert!((found.high - 32.2).abs() < 1e-9);
        let hash = [(100.0, 20.0), (200.0, 22.3), (400.0, 24.6), (800.0, 26.9)];
        let found = each_call(&hash.map(point), 8000).unwrap();
        assert!((found.value / 34.5 - 1.0).abs() < 0.1, "{found:?}");
    }

    #[test]
    fn what_took_less_than_recording_it_is_unknown() {
        let recordings: Vec<_> = [10, 20, 30, 40, 50]
            .map(|size| {
                let mut recording = nrev(size, false);
                if size > 20 {
                    recording.work.get_mut("app/3").unwrap().self_ns = 0;
                }
                recording
            })
            .into();
        let prediction = predict(&recordings, None, None).unwrap();
        assert_eq!(row(&prediction, "app/3").self_ns, None);
        assert!(row(&prediction, "nrev/2").self_ns.is_some());
    }

    #[test]
    fn a_line_through_disturbed_points() {
        assert_eq!(warming_up(vec![]), 0.0);
        // Too little is known.
        assert_eq!(warming_up(vec![(1.0, 9.0), (100.0, 10.0)]), 0.0);
        assert_eq!(warming_up(vec![(3.0, 9.0), (4.0, 10.0), (5.0, 11.0)]), 0.0);
        assert_eq!(
            warming_up(vec![(1.0, 12.0), (2.0, 14.0), (9.0, 28.0), (5.0, 99.0)]),
            10.0
        );
        // Calls take longer in longer runs.
        assert_eq!(
            warming_up(vec![(1.0, 1.0), (2.0, 4.0), (4.0, 16.0), (8.0, 64.0)]),
            0.0
        );
    }

    #[test]
    fn what_cannot_be_predicted_is_said() {
        let sized = |symbolic| [10, 20, 30].map(|size| nrev(size, symbolic)).to_vec();
        let platform = platform();
        let priced = Some((&platform, &platform.refined));
        let error = |recordings: &[SizedRecording], platform, size| {
            predict(recordings, platform, size).unwrap_err()
        };
        assert_eq!(error(&[], None, None), PredictionError::Nothing);
        assert_eq!(
            error(&sized(false), priced, None),
            PredictionError::NotSymbolic
        );
        assert_eq!(
            error(&sized(true), None, None),
            PredictionError::OnlySymbolic
        );
        assert_eq!(
            error(&sized(false)[..1], None, None),
            PredictionError::NoQuestion
        );
        let mut some = sized(false);
        some[1].size = None;
        assert_eq!(error(&some, None, Some(100)), PredictionError::SizesUnknown);
    }
}
