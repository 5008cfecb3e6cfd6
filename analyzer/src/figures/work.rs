//! How much of the work of a run was done in which boxes: by recorded times, or by net ones.

use super::contexts::ContextFigures;
use crate::trace::{BoxKind, PredicateIndex, Trace};

/// Work in boxes, in ticks: self times of calls ([`BoxKind::Call`]), and of nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Work {
    /// All of it: what shares are of.
    pub ticks: u64,
    /// As [`contexts`](super::profile::Profile::contexts): what was done there and below.
    pub contexts: Vec<u64>,
    /// By [`PredicateIndex`]: what was done while a box of it was on the active chain.
    pub predicates: Vec<u64>,
}

impl Work {
    /// As recorded, by the rows of a profile with so many predicates.
    #[must_use]
    pub fn of(trace: &Trace, rows: &[ContextFigures], predicates: usize) -> Self {
        let kinds = BoxKind::by_predicate(trace);
        Self::sum(rows, predicates, |row| {
            let figures = &rows[row];
            match BoxKind::of(&kinds, figures.predicate).is_work() {
                true => figures.self_ticks,
                false => 0,
            }
        })
    }

    /// `own` says how much work was done in a row itself.
    pub(crate) fn sum(
        rows: &[ContextFigures],
        predicates: usize,
        own: impl Fn(usize) -> u64,
    ) -> Self {
        let mut work = Self {
            ticks: 0,
            contexts: (0..rows.len()).map(own).collect(),
            predicates: vec![0; predicates],
        };
        // Those below come later.
        for (row, figures) in rows.iter().enumerate().rev() {
            let ticks = work.contexts[row];
            let above = figures.parent.map(|above| above as usize);
            let sum = match above.filter(|&above| above < row) {
                Some(above) => &mut work.contexts[above],
                None => &mut work.ticks,
            };
            *sum = sum.saturating_add(ticks);
            let of = work.predicates.get_mut(figures.predicate as usize);
            if let Some(sum) = of.filter(|_| !figures.recursive) {
                *sum = sum.saturating_add(ticks);
            }
        }
        work
    }

    /// Of a predicate.
    #[must_use]
    pub fn of_predicate(&self, index: PredicateIndex) -> u64 {
        self.predicates.get(index as usize).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analysis;

    const SAMPLES: [&str; 5] = [
        "queens.pmt",
        "scan.pmt",
        "parser.pmt",
        "metainterp.pmt",
        "threads_exceptions.pmt",
    ];

    /// If all were work, it would be the inclusive times; so it is they without what is no work.
    #[test]
    fn work_and_what_is_none_are_the_inclusive_times() {
        for name in SAMPLES {
            let analysis = Analysis::of_sample(name);
            let profile = &analysis.profile;
            let (rows, predicates) = (&profile.contexts[..], profile.predicates.len());
            let all = Work::sum(rows, predicates, |row| rows[row].self_ticks);
            assert_eq!(all.ticks, profile.total_ticks(), "{name}");
            for (row, figures) in profile.contexts.iter().enumerate() {
                assert_eq!(
                    all.contexts[row], figures.inclusive_ticks,
                    "{name}: row {row}"
                );
            }
            for (index, figures) in profile.predicates.iter().enumerate() {
                assert_eq!(all.predicates[index], figures.inclusive_ticks, "{name}");
            }
            let work = Work::of(&analysis.trace, rows, predicates);
            assert_eq!(work.ticks, analysis.whole().work_ticks, "{name}");
            let streams = profile.streams.iter().map(|stream| stream.work_ticks);
            assert_eq!(work.ticks, streams.sum::<u64>(), "{name}");
            for (index, figures) in profile.predicates.iter().enumerate() {
                assert_eq!(
                    work.predicates[index], figures.inclusive_work_ticks,
                    "{name}"
                );
            }
            let pairs = work.contexts.iter().zip(&all.contexts);
            assert!(pairs.into_iter().all(|(work, all)| work <= all), "{name}");
            if let Some(net) = &profile.net {
                let all = Work::sum(rows, predicates, |row| net.contexts[row].self_ticks);
                assert_eq!(all.ticks, net.net_ticks, "{name}");
                assert!(net.work.ticks <= net.net_ticks, "{name}");
            }
        }
    }

    #[test]
    fn waiting_is_no_work_of_whoever_waits() {
        let analysis = Analysis::of_sample("scan.pmt");
        let work = analysis.work(None);
        let infos = analysis.trace.predicates().iter();
        let waiting = infos
            .zip(&work.predicates)
            .filter(|(info, _)| info.is_waiting());
        assert_eq!(waiting.map(|(_, &ticks)| ticks).collect::<Vec<_>>(), [0]);
        assert!(work.ticks < analysis.profile.total_ticks());
    }
}
