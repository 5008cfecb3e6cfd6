//! Sums of slices against lists of everything.

use super::*;
use crate::timeline::pyramid::SliceSizes;

/// Small slices, of all streams, however many bytes they take.
const SMALL: SliceSizes = SliceSizes {
    most_events: 30,
    least_events: 0,
    share: 0,
};

/// But for what is longest in a cell, which is as near as the cell says.
pub(super) fn assert_sum(columns: &[TimeColumn], expected: &[TimeColumn]) -> u64 {
    let mut untold = 0;
    let mut told = Vec::new();
    for (column, expected) in columns.iter().zip(expected) {
        let mut column = column.clone();
        for (cell, expected) in column.cells.iter_mut().zip(&expected.cells) {
            let (at_least, most) = (cell.longest, expected.longest);
            if cell.untold > 0 {
                let ticks = |longest: Option<(u32, u64)>| longest.map_or(0, |(_, ticks)| ticks);
                assert!(ticks(at_least) <= ticks(most));
                assert!(ticks(most) <= ticks(at_least) + cell.untold);
                untold += cell.untold;
                (cell.longest, cell.untold) = (most, 0);
            }
        }
        told.push(column);
    }
    assert_same(&told, expected);
    untold
}

/// What the sums of some windows are, and how many columns and ticks untold there were.
fn check(predicates: u32, sizes: SliceSizes, rounds: usize) -> (usize, u64) {
    let mut runner = TestRunner::deterministic();
    let (mut checked, mut untold) = (0, 0);
    for _ in 0..rounds {
        let events = by_chance(&mut runner, predicates);
        let (trace, index) = indexed_with(&events, predicates, sizes);
        let blocks = Blocks::of(&trace);
        let scope = hiding(&vec![false; predicates as usize + 1]);
        let pyramids = index.pyramids().unwrap();
        let reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
        let reader = reader.with_slices(Some(pyramids));
        let story = brute::tell(&trace, &reader.scope.hidden, 0);
        for _ in 0..12 {
            let cut = cut().new_tree(&mut runner).unwrap().current();
            let window = cut.window(&story.ticks(), 0);
            let column = (window.to - window.from) / u64::from(window.columns);
            let grain = pyramids.grain(0, column);
            assert!(grain == 1 || grain * 8 <= column);
            let window = TimeRange { grain, ..window };
            let expected = story.columns(&window);
            assert_same(&read_all(&reader, &window), &expected);
            if let Some(summed) = reader.summed(&window, u64::MAX) {
                // Deeper boxes are not in slices.
                let all = summed.iter().all(|column| column.read);
                if all {
                    untold += assert_sum(&summed, &expected);
                    checked += summed.len();
                }
            }
        }
    }
    (checked, untold)
}

#[test]
fn sums_of_slices_are_what_all_events_say() {
    let (checked, untold) = check(4, SMALL, 6);
    assert!(checked > 200, "{checked}");
    assert_eq!(untold, 0);
}

#[test]
fn what_is_not_told_apart_is_bounded() {
    let (checked, untold) = check(40, SMALL, 4);
    assert!(checked > 100 && untold > 0, "{checked} {untold}");
}

/// The smallest slices are left out until the rest is small enough.
#[test]
fn slices_that_take_too_much_are_larger() {
    let share = SliceSizes { share: 4, ..SMALL };
    let (few, _) = check(4, share, 2);
    let (all, _) = check(4, SMALL, 2);
    assert!(few < all && few > 0, "{few} of {all}");
}

/// Few events for long between many in a short time: both are cut as is fit.
#[test]
fn bursts_and_boxes_deeper_than_slices() {
    let mut events = Vec::new();
    let mut tick = 0;
    for _ in 0..5 {
        for depth in 0..100 {
            events.push((
                Event::Call {
                    predicate: depth % 3,
                },
                tick,
            ));
            tick += 3;
        }
        for _ in 0..2000 {
            events.push((Event::Call { predicate: 1 }, tick));
            events.push((Event::Fail, tick + 3));
            tick += 6;
        }
        for _ in 0..100 {
            events.push((Event::ExitDet, tick));
            tick += 3;
        }
        tick += 1_000_000;
    }
    let (trace, index) = indexed_with(&events, 3, SMALL);
    let blocks = Blocks::of(&trace);
    let scope = hiding(&[false; 4]);
    let reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
    let reader = reader.with_slices(index.pyramids());
    let story = brute::tell(&trace, &reader.scope.hidden, 0);
    let ticks = story.ticks();
    let whole = ticks.end - ticks.start;
    for (from, length, columns) in [(0, whole, 60), (300, 12_000, 9), (1_012_600, 12_300, 7)] {
        let from = ticks.start + from;
        let grain = index
            .pyramids()
            .unwrap()
            .grain(0, length / u64::from(columns));
        let window = TimeRange {
            from,
            to: from + length,
            columns,
            grain,
            ..window(&ticks, 1)
        };
        assert!(grain > 1);
        let expected = story.columns(&window);
        let summed = reader.summed(&window, u64::MAX).unwrap();
        assert_sum(&summed, &expected);
        let deep = TimeRange {
            rows: 120,
            ..window
        };
        let summed = reader.summed(&deep, u64::MAX).unwrap();
        let expected = story.columns(&deep);
        assert!(summed.iter().zip(&expected).any(|(column, _)| !column.read));
        for (column, expected) in summed.iter().zip(&expected) {
            assert!(column.read || expected.cells.len() > 64);
            for (row, cell) in column.cells.iter().enumerate().take(64) {
                assert_eq!(Some(*cell), expected.cell(row));
            }
        }
    }
}

/// An index that says nonsense is refused, or what it says is not believed; nothing panics.
#[test]
fn damaged_slices_are_no_picture() {
    let events: Vec<(Event, u64)> = (0..5000)
        .flat_map(|at| {
            [
                (Event::Call { predicate: 1 }, 20 * at),
                (Event::Fail, 20 * at + 7),
            ]
        })
        .collect();
    let (trace, index) = indexed_with(&events, 3, SMALL);
    let blocks = Blocks::of(&trace);
    let scope = hiding(&[false; 4]);
    let good = index.pyramids().unwrap().bytes();
    let mut different = 0;
    for seed in 0..400_usize {
        let mut lie = good.to_vec();
        pyramid::spoil(&mut lie, seed);
        let Some(pyramids) = Pyramids::of_index(lie.into(), &trace) else {
            different += 1;
            continue;
        };
        let reader = Reader::new(&trace, &blocks, Some(index.trail()), &scope);
        let reader = reader.with_slices(Some(&pyramids));
        let window = TimeRange {
            grain: 512,
            ..window(&(trace_ticks(&trace)), 9)
        };
        match reader.summed(&window, u64::MAX) {
            Some(columns) => assert_eq!(columns.len(), 9),
            None => different += 1,
        }
    }
    assert!(different > 40, "{different}");
}

fn trace_ticks(trace: &Trace) -> Range<u64> {
    let ticks: Vec<u64> = trace
        .events(&trace.streams()[0])
        .map(|event| event.tick)
        .collect();
    ticks[0]..ticks[ticks.len() - 1]
}
