//! Functions that are known, and sequences that must not be taken for one.

use proptest::prelude::*;

use super::*;

fn samples(sizes: &[u64], count: impl Fn(u64) -> u64) -> Vec<Sample> {
    sizes
        .iter()
        .map(|&size| Sample {
            size,
            count: count(size),
        })
        .collect()
}

fn inferred(sizes: &[u64], count: impl Fn(u64) -> u64) -> Growth {
    Growth::infer(&samples(sizes, count))
}

/// Formula, points, parameters; the value further on is checked.
fn exactly(sizes: &[u64], count: impl Fn(u64) -> u64 + Copy) -> (String, usize, usize) {
    let growth = inferred(sizes, count);
    assert!(growth.is_exact(), "{growth:?}");
    let further = sizes[sizes.len() - 1] + 8;
    let value = growth.at(further).unwrap();
    assert_eq!(value, Estimate::certain(count(further) as f64));
    let evidence = growth.evidence().unwrap();
    (
        growth.formula().unwrap(),
        evidence.points,
        evidence.parameters,
    )
}

#[test]
fn naive_reverse_from_five_sizes() {
    let calls = |n| (n + 1) * (n + 2) / 2;
    let found = exactly(&[10, 20, 30, 40, 50], calls);
    assert_eq!(found, ("1/2 n^2 + 3/2 n + 1".to_owned(), 5, 3));
    assert_eq!(exactly(&[3, 4, 7, 19, 20], calls).0, "1/2 n^2 + 3/2 n + 1");
}

#[test]
fn hanoi_from_five_sizes() {
    let found = exactly(&[3, 4, 5, 6, 7], |n| (1 << n) - 1);
    assert_eq!(found, ("2^n - 1".to_owned(), 5, 3));
    // With the list of moves appended.
    let appends = |n: u64| (n - 2) * (1 << (n - 1)) + 1 + (1 << n);
    assert_eq!(exactly(&[3, 5, 6, 9, 10], appends).0, "1/2 n 2^n + 1");
}

fn fibonacci(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

#[test]
fn fibonacci_from_five_sizes() {
    let found = exactly(&[6, 8, 10, 12, 14], |n| 2 * fibonacci(n + 1) - 1);
    assert_eq!(found, ("2 F(n+1) - 1".to_owned(), 5, 4));
    let growth = inferred(&[6, 8, 10, 12, 14], |n| 2 * fibonacci(n + 1) - 1);
    let Some(GrowthKind::Exponential { base }) = growth.kind() else {
        panic!("{growth:?}");
    };
    assert!((base - f64::midpoint(1.0, 5f64.sqrt())).abs() < 1e-12);
}

#[test]
fn other_functions() {
    assert_eq!(exactly(&[4, 8, 15, 16], |_| 1).0, "1");
    assert_eq!(exactly(&[4, 8, 15, 16], |_| 0).0, "0");
    assert_eq!(exactly(&[0, 1, 2, 3], |n| n + 1).0, "n + 1");
    assert_eq!(exactly(&[2, 4, 6, 8, 10], |n| n / 2).0, "1/2 n");
    assert_eq!(exactly(&[10, 20, 30, 40, 50, 60], |n| n * n * n).0, "n^3");
    assert_eq!(
        exactly(&[5, 6, 8, 11, 20, 40], |n| 7 * n.ilog2() as u64 + 2).0,
        "7 floor(log2 n) + 2"
    );
    assert_eq!(
        exactly(&[3, 4, 5, 6, 7, 8], |n| 3u64.pow(n as u32) + n).0,
        "3^n + n"
    );
    let permutations = |n: u64| (0..n).fold(1, |a, i| a * (i + 1) + 1);
    assert_eq!(
        exactly(&[3, 4, 5, 6, 7], permutations).0,
        "sum(n!/k!, k=0..n)"
    );
}

#[test]
fn merge_sort_at_any_size() {
    fn calls(n: u64) -> u64 {
        if n < 2 {
            1
        } else {
            n + calls(n / 2) + calls(n - n / 2)
        }
    }
    let growth = inferred(&[5, 12, 16, 33, 50, 64], calls);
    assert_eq!(growth.kind(), Some(GrowthKind::Linearithmic));
    assert!(growth.is_exact());
    assert_eq!(growth.at(1000), Some(Estimate::certain(calls(1000) as f64)));
}

#[test]
fn a_fit_with_no_point_to_spare_is_no_evidence() {
    assert!(!inferred(&[10, 20, 30], |n| n * n).is_exact());
    assert!(matches!(
        inferred(&[10, 20], |n| n),
        Growth::Unknown { sizes: 2 }
    ));
    assert!(matches!(
        inferred(&[10], |n| n),
        Growth::Unknown { sizes: 1 }
    ));
    assert!(matches!(Growth::infer(&[]), Growth::Unknown { sizes: 0 }));
    // 2^n - 1 through three points: as many as there are parameters.
    assert!(!inferred(&[3, 4, 5], |n| (1 << n) - 1).is_exact());
}

#[test]
fn few_values_agree_with_a_polynomial_by_chance() {
    // A cubic goes through the first four, and the fifth is on it: of three possible values that is no wonder.
    let counts = [3, 4, 4, 3, 1];
    assert!(!inferred(&[1, 2, 3, 4, 5], |n| counts[n as usize - 1]).is_exact());
}

#[test]
fn nearly_is_not_exactly() {
    let off_by_one = |n: u64| n * n + u64::from(n == 30);
    let growth = inferred(&[10, 20, 30, 40, 50, 60], off_by_one);
    assert!(!growth.is_exact());
    assert_eq!(growth.kind(), Some(GrowthKind::Polynomial { degree: 2 }));
    let estimate = growth.at(600).unwrap();
    assert!(estimate.low <= 360_000.0 && estimate.high >= 360_000.0);
    assert!((estimate.value - 360_000.0).abs() < 3_600.0);
}

#[test]
fn two_counts_at_one_size_are_no_function() {
    let mut all = samples(&[10, 20, 30, 40, 50], |n| n * n);
    all.push(Sample {
        size: 50,
        count: 2600,
    });
    assert!(!Growth::infer(&all).is_exact());
    all.pop();
    all.push(Sample {
        size: 50,
        count: 2500,
    });
    assert!(Growth::infer(&all).is_exact());
}

#[test]
fn what_would_become_negative_is_no_count() {
    assert!(!inferred(&[1, 2, 3, 4, 5, 6], |n| 1000 - n * n * 7).is_exact());
}

#[test]
fn an_exponential_far_away_is_unknown_not_endless() {
    let growth = inferred(&[3, 4, 5, 6, 7], |n| (1 << n) - 1);
    assert!(growth.at(1000).is_some());
    assert_eq!(growth.at(u64::MAX), None);
}

/// Comparisons of quicksort on a random list, by the recurrence of a random pivot.
fn quicksort(n: u64, random: &mut u64) -> u64 {
    if n < 2 {
        return 0;
    }
    *random = random
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let left = (*random >> 33) % n;
    n - 1 + quicksort(left, random) + quicksort(n - 1 - left, random)
}

#[test]
fn quicksort_is_n_log_n_about() {
    let mut random = 1;
    let mut all = Vec::new();
    for size in [100, 200, 400, 600, 800, 1000] {
        for _ in 0..3 {
            all.push(Sample {
                size,
                count: quicksort(size, &mut random),
            });
        }
    }
    let growth = Growth::infer(&all);
    assert!(!growth.is_exact());
    assert_eq!(growth.kind(), Some(GrowthKind::Linearithmic));
    let expected = 2.0 * 10_000.0 * 10_000f64.ln() - 2.846 * 10_000.0;
    let estimate = growth.at(10_000).unwrap();
    assert!(
        (estimate.value / expected - 1.0).abs() < 0.15,
        "{estimate:?}"
    );
    assert!(
        estimate.low < expected && expected < estimate.high,
        "{estimate:?}"
    );
}

proptest! {
    #[test]
    fn noise_is_never_called_exact(counts in prop::collection::vec(0u64..1 << 40, 5..9)) {
        let sizes: Vec<u64> = (1..=counts.len() as u64).collect();
        prop_assert!(!inferred(&sizes, |n| counts[n as usize - 1]).is_exact());
    }

    #[test]
    fn nothing_panics_and_bounds_hold_the_value(
        all in prop::collection::vec((any::<u64>(), any::<u64>()), 0..8),
        at in any::<u64>(),
    ) {
        let all: Vec<Sample> = all.into_iter().map(|(size, count)| Sample { size, count }).collect();
        let growth = Growth::infer(&all);
        if let Some(estimate) = growth.at(at) {
            prop_assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
        }
        let _ = (growth.formula(), growth.kind().map(|kind| kind.to_string()));
    }

    #[test]
    fn polynomials_are_found(a in 0u64..50, b in 0u64..50, c in 0u64..50, step in 1u64..20) {
        let sizes: Vec<u64> = (1..=6).map(|i| i * step).collect();
        let growth = inferred(&sizes, |n| a * n * n + b * n + c);
        prop_assume!(a + b > 0);
        prop_assert!(growth.is_exact());
        prop_assert_eq!(growth.at(1000), Some(Estimate::certain((a * 1_000_000 + b * 1000 + c) as f64)));
    }
}
