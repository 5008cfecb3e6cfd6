//! The calls along which most of the work is done, down the call tree.

use crate::Analysis;
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::figures::work::Work;
use crate::trace::PredicateIndex;

/// Of a chain of calls what has less of the work, in percent, is not on a hottest path.
const LEAST_ON_PATH: u64 = 10;
/// A second path is one that has so much of the work, in percent, beside the first.
const LEAST_BESIDE: u64 = 20;

/// From the hottest root of the call tree always to the hottest callee, as far as a tenth of the
/// work is done there: predicates and the work in them, in ticks, net if `net` is given.
#[must_use]
pub fn hottest_path(analysis: &Analysis, net: Option<&NetTimes>) -> Vec<(PredicateIndex, u64)> {
    let mut paths = hottest_paths(&analysis.profile, analysis.work(net)).into_iter();
    paths.next().unwrap_or_default()
}

/// That path, and another one if it leaves the first for a fifth of the work or more: the one with
/// the most work, from where they part. None if nothing worked.
#[must_use]
pub fn hottest_paths(profile: &Profile, work: &Work) -> Vec<Vec<(PredicateIndex, u64)>> {
    let rows = &profile.contexts;
    let ticks = |row: usize| work.contexts[row];
    // Nothing hangs below a recursive row.
    let is_whole = |row: &usize| !rows[*row].recursive;
    let above = |row: usize| rows[row].parent.map_or(rows.len(), |above| above as usize);
    // By row: the hottest one below; the last one is the hottest root. Of equals the first.
    let mut hottest: Vec<Option<usize>> = vec![None; rows.len() + 1];
    for row in (0..rows.len()).filter(is_whole) {
        let best = &mut hottest[above(row)];
        if best.is_none_or(|before| ticks(before) < ticks(row)) {
            *best = Some(row);
        }
    }
    let has = |row: usize, percent: u64| ticks(row) > 0 && ticks(row) >= work.ticks / 100 * percent;
    // Rows come after those above them, so each way down ends.
    let down = |from: Option<usize>| -> Vec<usize> {
        let is_hot = |row: &usize| has(*row, LEAST_ON_PATH);
        let next = |at: usize| hottest[at].filter(|&row| row > at).filter(is_hot);
        std::iter::successors(from.filter(is_hot), |&row| next(row)).collect()
    };
    let first = down(hottest[rows.len()]);
    let parts = |row: &usize| {
        !first.contains(row) && {
            let above = above(*row);
            above == rows.len() || first.contains(&above)
        }
    };
    let beside = (0..rows.len()).filter(|&row| has(row, LEAST_BESIDE));
    let beside = beside.filter(is_whole).filter(parts);
    let second = down(beside.max_by_key(|&row| (ticks(row), std::cmp::Reverse(row))));
    let paths = [first, second].into_iter().filter(|path| !path.is_empty());
    let steps = |path: Vec<usize>| {
        let steps = path.into_iter();
        steps.map(|row| (rows[row].predicate, ticks(row))).collect()
    };
    paths.map(steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_path_leads_to_where_most_time_is() {
        let analysis = Analysis::of_sample("queens.pmt");
        for net in [None, analysis.profile.net.as_ref()] {
            let path = hottest_path(&analysis, net);
            let names: Vec<&str> = path
                .iter()
                .map(|&(index, _)| analysis.predicate(index))
                .collect();
            assert_eq!(
                names,
                ["main/0", "queens/2", "permute/3", "attack/2", "attack/3"]
            );
            assert!(path.is_sorted_by(|above, below| above.1 >= below.1));
            let whole = analysis.work(net).ticks;
            assert!(
                path.iter()
                    .all(|&(_, ticks)| ticks <= whole && ticks >= whole / 10)
            );
        }
    }
}
