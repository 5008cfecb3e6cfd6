//! Which time counts where a figure is of boxes and of all that they call: work, or all of it.

use super::{EdgeFigures, PredicateFigures, SiteFigures};
use crate::trace::{PredicateIndex, PredicateInfo, Trace};

/// What inclusive times and times of calls are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Work: waiting, loading, collections, stack shifts and set-up are left out.
    Work,
    /// All time of boxes.
    All,
}

impl Counted {
    /// Whether self time of boxes of a predicate is part of it.
    #[must_use]
    pub fn has(self, trace: &Trace, index: PredicateIndex) -> bool {
        let info = trace.predicates().get(index as usize);
        self == Self::All || !info.is_some_and(PredicateInfo::is_engine_work)
    }

    /// What counts on the page of a predicate: of what is no work all time.
    #[must_use]
    pub fn on_page_of(self, trace: &Trace, index: PredicateIndex) -> Self {
        match self.has(trace, index) {
            true => self,
            false => Self::All,
        }
    }

    /// Whether a row of boxes of a predicate is shown in which so many ticks count. Loading is no
    /// work, but may call what is.
    #[must_use]
    pub fn shows(self, trace: &Trace, index: PredicateIndex, ticks: u64) -> bool {
        self.has(trace, index) || ticks > 0
    }

    /// The figures of a predicate; `inclusive_ticks` and its parts are of what counts.
    #[must_use]
    pub fn predicate(self, figures: &PredicateFigures) -> PredicateFigures {
        match self {
            Self::All => *figures,
            Self::Work => PredicateFigures {
                inclusive_ticks: figures.inclusive_work_ticks,
                failed_ticks: figures.failed_work_ticks,
                raised_ticks: figures.raised_work_ticks,
                open_ticks: figures.open_work_ticks,
                ..*figures
            },
        }
    }

    /// The figures of an edge; `served_ticks` and `spent_ticks` are of what counts.
    #[must_use]
    pub fn edge(self, figures: &EdgeFigures) -> EdgeFigures {
        match self {
            Self::All => *figures,
            Self::Work => EdgeFigures {
                served_ticks: figures.served_work_ticks,
                spent_ticks: figures.spent_work_ticks,
                ..*figures
            },
        }
    }

    /// The figures of a site; `served_ticks` is of what counts.
    #[must_use]
    pub fn site(self, figures: &SiteFigures) -> SiteFigures {
        match self {
            Self::All => *figures,
            Self::Work => SiteFigures {
                served_ticks: figures.served_work_ticks,
                ..*figures
            },
        }
    }
}
