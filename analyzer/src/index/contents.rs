//! The contents of an index, and whether they can be those of a trace.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use crate::calls::Calls;
use crate::figures::arguments::ArgumentFigures;
use crate::figures::arguments::ArgumentsOfPredicates;
use crate::figures::centers::CenterFigures;
use crate::figures::clauses::Clauses;
use crate::figures::contexts::ContextFigures;
use crate::figures::values::Values;
use crate::figures::waits::{LongWait, WaitKind, Waits};
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, PredicateFigures, SiteFigures, StreamFigures,
};
use crate::moment::OpenBox;
use crate::moment::checkpoint::Checkpoint;
use crate::trace::{Center, ClauseIndex, PredicateIndex, SiteIndex, StreamInfo, Trace};

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct IndexContents {
    pub(super) of: Fingerprint,
    pub(super) predicates: Vec<PredicateFigures>,
    pub(super) edges: BTreeMap<(Caller, PredicateIndex), EdgeFigures>,
    pub(super) sites: BTreeMap<(Caller, PredicateIndex, Option<SiteIndex>), SiteFigures>,
    pub(super) contexts: Vec<ContextFigures>,
    pub(super) backtracks: BTreeMap<(Caller, PredicateIndex), BacktrackFigures>,
    pub(super) cuts: BTreeMap<(Caller, PredicateIndex), u64>,
    pub(super) centers: BTreeMap<(Center, PredicateIndex), CenterFigures>,
    pub(super) clauses: Clauses,
    pub(super) arguments: ArgumentsOfPredicates,
    pub(super) values: Values,
    pub(super) waits: Option<Waits>,
    pub(super) streams: Vec<StreamFigures>,
    pub(super) checkpoints: Arc<[Checkpoint]>,
    /// The times of single calls, once they were found.
    pub(super) calls: Option<Arc<Calls>>,
}

/// Tells one trace from another, and from what it was before.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(super) struct Fingerprint {
    pub(super) id: u64,
    pub(super) size: u64,
    pub(super) changed_ns: i128,
}

impl Fingerprint {
    /// That of a trace, which is the file at `path`.
    pub(super) fn of(trace: &Trace, path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        Ok(Self {
            id: trace.file_id(),
            size: trace.file_size(),
            changed_ns: i128::from(file.mtime()) * 1_000_000_000 + i128::from(file.mtime_nsec()),
        })
    }
}

impl IndexContents {
    /// Every row that another speaks of is there.
    pub(super) fn is_sound(&self, trace: &Trace) -> bool {
        let predicates = trace.predicates().len() + 1;
        let known = |predicate: PredicateIndex| (predicate as usize) < predicates;
        let pair = |(caller, callee): &(Caller, PredicateIndex)| {
            known(*callee) && !matches!(caller, Caller::Predicate(caller) if !known(*caller))
        };
        // A site calls one predicate.
        let at_site = |(_, callee, site): &(Caller, PredicateIndex, Option<SiteIndex>)| {
            site.is_none_or(|site| {
                let site = trace.sites().get(site as usize);
                site.is_some_and(|site| site.callee == *callee)
            })
        };
        let in_clause = |&(predicate, clause): &(PredicateIndex, Option<ClauseIndex>)| {
            let clause = clause.map(|clause| trace.clauses().get(clause as usize));
            known(predicate)
                && clause.is_none_or(|info| info.is_some_and(|info| info.predicate == predicate))
        };
        let above = |(id, row): (u32, &ContextFigures)| {
            let parent = row.parent.map(|parent| self.contexts.get(parent as usize));
            let depth = match parent {
                None => Some(0),
                Some(above) => above.and_then(|above| above.depth.checked_add(1)),
            };
            known(row.predicate)
                && row.parent.is_none_or(|parent| parent < id)
                && depth == Some(row.depth)
        };
        let open = |open: &OpenBox| known(open.predicate) && known(open.called_as);
        self.predicates.len() == predicates
            && self.streams.len() == trace.streams().len()
            && self.streams.iter().zip(trace.streams()).all(is_stream)
            && self.edges.keys().all(pair)
            && self
                .sites
                .keys()
                .all(|key| pair(&(key.0, key.1)) && at_site(key))
            && self.backtracks.keys().all(pair)
            && self.cuts.keys().all(pair)
            && self
                .centers
                .keys()
                .all(|(center, predicate)| center.is_none_or(known) && known(*predicate))
            && self.clauses.keys().all(in_clause)
            && self.arguments.keys().all(|&predicate| known(predicate))
            && self.arguments.values().all(ArgumentFigures::is_sound)
            && self.values.is_sound(known, |callee, site| {
                let info = trace.sites().get(site as usize);
                info.is_some_and(|info| info.callee == callee)
            })
            && self
                .waits
                .as_ref()
                .is_none_or(|waits| are_waits(trace, waits))
            && self
                .calls
                .as_ref()
                .is_none_or(|calls| calls.may_be_of(trace))
            && (0..).zip(&self.contexts).all(above)
            && self.checkpoints.iter().all(|checkpoint| {
                let change = &checkpoint.change;
                is_place(trace, checkpoint)
                    && change.active.pushed.all(open)
                    && change.choices.pushed.all(open)
            })
            && ascend(&self.checkpoints)
    }
}

/// Whether waits are of what is in the trace.
fn are_waits(trace: &Trace, waits: &Waits) -> bool {
    let is_stream = |id: u32| trace.stream_place(id).is_some();
    let sites = trace.sites();
    let is_kind = |wait: &WaitKind| {
        is_stream(wait.stream)
            && wait.awaited.is_none_or(is_stream)
            && wait
                .predicate
                .is_none_or(|of| (of as usize) <= trace.predicates().len())
            && wait.site.is_none_or(|site| (site as usize) < sites.len())
            && wait
                .object
                .is_none_or(|object| trace.shared(object.id).is_some())
    };
    let is_listed = |wait: &LongWait| is_kind(&wait.kind) && wait.from <= wait.to;
    waits.sums.keys().all(is_kind) && waits.longest.iter().all(is_listed)
}

/// Whether the checkpoints of each stream are in the order of its events.
fn ascend(checkpoints: &[Checkpoint]) -> bool {
    let mut last = FxHashMap::default();
    checkpoints.iter().all(|one| {
        let before = last.insert(one.stream, one.event);
        before.is_none_or(|before| before < one.event)
    })
}

/// Whether figures are of this stream, and have its events and its time.
fn is_stream((figures, stream): (&StreamFigures, &StreamInfo)) -> bool {
    let in_time = figures.first_tick <= figures.last_tick
        && stream
            .begin_tick()
            .is_none_or(|begin| figures.first_tick <= begin)
        && stream.end.is_none_or(|end| {
            figures.last_tick >= end.tick
                && end.events == figures.events.saturating_add(figures.lost_events)
        });
    figures.stream == stream.id && in_time
}

/// Whether a checkpoint is where a block of its stream begins.
fn is_place(trace: &Trace, checkpoint: &Checkpoint) -> bool {
    let place = || {
        let stream = trace
            .streams()
            .get(usize::try_from(checkpoint.stream).ok()?)?;
        let block = usize::try_from(checkpoint.block).ok()?;
        let inside = stream.blocks.contains(&block);
        let begin = trace.block_header(block)?.first_event;
        Some(inside && begin == checkpoint.event)
    };
    place() == Some(true)
}
