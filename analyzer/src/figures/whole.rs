//! What the time of a run was: work, and beside it what is no work of the program's goals.

use super::net_times::NetTimes;
use super::profile::Profile;
use crate::trace::{BoxKind, PredicateIndex, Trace};

/// Self times by what the boxes are, in ticks. Shares of processor time are of `work_ticks`; the
/// others stand beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whole {
    /// Of calls: what the program and the predicates that it called did.
    pub work_ticks: u64,
    /// Threads that had no processor, or waited.
    pub waiting_ticks: u64,
    /// Libraries loaded on demand.
    pub loading_ticks: u64,
    /// Garbage collections and stack shifts.
    pub memory_ticks: u64,
    /// What the recorder did to the program while that ran.
    pub set_up_ticks: u64,
}

impl Whole {
    /// Of all predicates. The time of hidden boxes is that of their callers, here, too.
    #[must_use]
    pub fn of(trace: &Trace, profile: &Profile) -> Self {
        let predicates = profile.predicates.iter();
        Self::sum(trace, predicates.map(|figures| figures.self_ticks))
    }

    /// The same of net times.
    #[must_use]
    pub fn net(trace: &Trace, net: &NetTimes) -> Self {
        Self::sum(trace, net.predicates.iter().map(|times| times.self_ticks))
    }

    fn sum(trace: &Trace, self_ticks: impl Iterator<Item = u64>) -> Self {
        let kinds = BoxKind::by_predicate(trace);
        let mut whole = Self::default();
        for (index, ticks) in (0..).zip(self_ticks) {
            let sum = whole.part(BoxKind::of(&kinds, index as PredicateIndex));
            *sum = sum.saturating_add(ticks);
        }
        whole
    }

    /// All of it: [`Profile::total_ticks`].
    #[must_use]
    pub fn all_ticks(&self) -> u64 {
        let beside = [
            self.waiting_ticks,
            self.loading_ticks,
            self.memory_ticks,
            self.set_up_ticks,
        ];
        let beside = beside.into_iter();
        beside.fold(self.work_ticks, u64::saturating_add)
    }

    /// Time that is no work.
    #[must_use]
    pub fn left_out_ticks(&self) -> u64 {
        self.all_ticks() - self.work_ticks
    }

    /// What it is, in ticks: only what took time.
    pub fn left_out(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let parts = [
            ("waiting", self.waiting_ticks),
            ("loading", self.loading_ticks),
            ("collections and stack shifts", self.memory_ticks),
            ("the recorder's set-up", self.set_up_ticks),
        ];
        parts.into_iter().filter(|&(_, ticks)| ticks > 0)
    }

    fn part(&mut self, kind: BoxKind) -> &mut u64 {
        match kind {
            BoxKind::Call { .. } => &mut self.work_ticks,
            BoxKind::EngineWork => &mut self.memory_ticks,
            BoxKind::Autoload => &mut self.loading_ticks,
            BoxKind::Waiting => &mut self.waiting_ticks,
            BoxKind::SetUp => &mut self.set_up_ticks,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Whole;
    use crate::Analysis;

    #[test]
    fn its_parts_are_all_time_and_collections_are_no_work() {
        for name in ["queens.pmt", "scan.pmt", "parser.pmt", "metainterp.pmt"] {
            let analysis = Analysis::of_sample(name);
            let whole = analysis.whole();
            assert_eq!(whole.all_ticks(), analysis.profile.total_ticks(), "{name}");
            if let Some(net) = &analysis.profile.net {
                let whole = Whole::net(&analysis.trace, net);
                assert_eq!(whole.all_ticks(), net.net_ticks, "{name}");
                assert_eq!(whole.work_ticks, analysis.work(Some(net)).ticks, "{name}");
            }
            let infos = analysis.trace.predicates().iter();
            let memory = infos.zip(&analysis.profile.predicates);
            let memory = memory.filter(|(info, _)| info.is_memory_work());
            let ticks: u64 = memory.map(|(_, figures)| figures.self_ticks).sum();
            assert_eq!(whole.memory_ticks, ticks, "{name}");
        }
        assert!(Analysis::of_sample("scan.pmt").whole().memory_ticks > 0);
    }
}
