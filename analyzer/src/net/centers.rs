//! What ran in each cost centre: sums over its rows, with net times.

use std::collections::BTreeMap;

use super::{Rates, share};
use crate::figures::centers::CenterFigures;
use crate::figures::contexts::ContextFigures;
use crate::figures::counted::Counted;
use crate::figures::profile::Profile;
use crate::trace::{Center, PredicateIndex, PredicateInfo, Trace};

/// What ran in a cost centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CenterSum {
    /// How often it was entered.
    pub entered: u64,
    /// Sums over what ran in it.
    pub figures: CenterFigures,
    /// Ticks without the recorder's own; `None` if that is not known.
    pub net_ticks: Option<u64>,
}

/// The figures of each centre: sums over those of its rows whose time counts, and how often it was
/// entered. The boxes of the
/// centre itself, garbage collections and stack shifts are no calls of the program's: of them only the time is counted.
#[must_use]
pub fn by_center(
    trace: &Trace,
    profile: &Profile,
    counted: Counted,
) -> BTreeMap<Center, CenterSum> {
    let net = net(trace, profile);
    let mut sums = BTreeMap::<Center, CenterSum>::new();
    let rows = profile.centers.iter();
    let rows = rows.filter(|((_, predicate), _)| counted.has(trace, *predicate));
    for (key, figures) in rows {
        let sum = sums.entry(key.0).or_default();
        let info = trace.predicates().get(key.1 as usize);
        if info.is_some_and(|info| info.center.is_some()) {
            sum.entered = sum.entered.saturating_add(figures.calls);
        }
        if info.is_none_or(PredicateInfo::is_called_by_program) {
            sum.figures.add(figures);
        } else {
            let ticks = &mut sum.figures.self_ticks;
            *ticks = ticks.saturating_add(figures.self_ticks);
        }
        if let Some(net) = &net {
            let ticks = net.get(key).copied().unwrap_or(0);
            sum.net_ticks = Some(sum.net_ticks.unwrap_or(0).saturating_add(ticks));
        }
    }
    sums
}

/// The net time of each predicate, shared by its rows: by what is left of each when its own events are paid for. So
/// that of all centres is that of the trace. `None` if the profile has no such times.
#[must_use]
pub fn net(trace: &Trace, profile: &Profile) -> Option<BTreeMap<(Center, PredicateIndex), u64>> {
    let times = profile.net.as_ref()?;
    let rates = Rates::of(trace)?;
    let mut rows_of: BTreeMap<PredicateIndex, Vec<(Center, &CenterFigures)>> = BTreeMap::new();
    for (&(center, of), figures) in &profile.centers {
        rows_of.entry(of).or_default().push((center, figures));
    }
    let mut net = BTreeMap::new();
    for (of, rows) in rows_of {
        let recorded = rows
            .iter()
            .fold(0_u64, |sum, (_, row)| sum.saturating_add(row.self_ticks));
        if recorded != profile.predicates.get(of as usize)?.self_ticks {
            return None;
        }
        let left = |figures: &CenterFigures| {
            let row = ContextFigures {
                predicate: of,
                self_ticks: figures.self_ticks,
                inside: figures.inside,
                outside: figures.outside,
                hidden: figures.hidden,
                ..ContextFigures::default()
            };
            rates.left(&row, &rates.other, 0).0
        };
        let weights: Vec<_> = rows
            .iter()
            .map(|(center, figures)| ((*center, of), left(figures)))
            .collect();
        let ticks = times.predicates.get(of as usize)?.self_ticks;
        net.extend(share(ticks, &weights));
    }
    Some(net)
}
