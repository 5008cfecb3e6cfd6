//! What was joined as bytes, from which a replay can go on.

use std::collections::BTreeMap;

use bincode::enc::Encoder;
use bincode::error::EncodeError;
use bincode::{Decode, Encode};
use rustc_hash::FxHashMap;

use super::{Checkpoints, Joined, Reached};
use crate::figures::{BacktrackFigures, Caller, StreamFigures};
use crate::moment::OpenBox;
use crate::moment::checkpoint::Checkpoint;
use crate::replay::join::Join;
use crate::replay::ledger::KeptBooks;
use crate::replay::reader::StreamFaults;
use crate::replay::state::{MOST, State};
use crate::scope::Scope;
use crate::trace::PredicateIndex;

impl Encode for Joined {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.join.ledger.encode(encoder)?;
        self.join.backtracks.encode(encoder)?;
        self.join.cuts.encode(encoder)?;
        self.streams.encode(encoder)?;
        self.open.encode(encoder)?;
        self.lost.encode(encoder)?;
        self.lasted.encode(encoder)?;
        let checkpoints = self.checkpoints.as_ref().map(|taken| &taken.all);
        checkpoints.encode(encoder)
    }
}

/// What was joined, as it is read.
#[derive(Debug, Decode)]
pub(in crate::replay) struct KeptJoined {
    ledger: KeptBooks,
    backtracks: BTreeMap<(Caller, PredicateIndex), BacktrackFigures>,
    cuts: BTreeMap<(Caller, PredicateIndex), u64>,
    streams: Vec<StreamFigures>,
    open: FxHashMap<u32, (State, Reached)>,
    lost: FxHashMap<u32, (StreamFigures, Reached)>,
    lasted: u64,
    checkpoints: Option<Vec<(u32, Checkpoint)>>,
}

impl Reached {
    fn is_sound(&self) -> bool {
        let counted = [self.events, self.number, self.moved, self.sequence];
        counted.into_iter().all(|count| count < MOST)
    }
}

impl KeptJoined {
    /// The same, ready to be [renumbered](Joined::renumber): of so many predicates and `sites`,
    /// which `scope` has, too. `None` if one part speaks of another that is not there.
    pub(in crate::replay) fn open(
        self,
        scope: &Scope,
        predicates: u32,
        sites: u32,
    ) -> Option<Joined> {
        let ledger = self.ledger.open(scope, predicates, sites)?;
        let mut pairs = self.backtracks.keys().chain(self.cuts.keys());
        // The unknown predicate is numbered after the others.
        let known = |&(caller, callee): &(Caller, PredicateIndex)| {
            callee <= predicates && caller.predicate().is_none_or(|caller| caller <= predicates)
        };
        let is_in_order = |figures: &StreamFigures| figures.first_tick <= figures.last_tick;
        let mut open = self.open.values();
        let mut lost = self.lost.values();
        let all = self.checkpoints.as_deref().unwrap_or_default();
        let is_box = |open: &OpenBox| open.predicate < predicates && open.called_as < predicates;
        let is_sound = pairs.all(known)
            && self.streams.iter().all(is_in_order)
            && open.all(|(state, reached)| reached.is_sound() && state.is_sound(&ledger))
            && lost.all(|(figures, reached)| reached.is_sound() && is_in_order(figures))
            && all.iter().all(|(_, one)| {
                one.change.active.pushed.all(is_box) && one.change.choices.pushed.all(is_box)
            });
        let mut join = Join::new(scope);
        (join.ledger, join.backtracks, join.cuts) = (ledger, self.backtracks, self.cuts);
        let bytes = all.iter().map(|(_, one)| one.change.size()).sum();
        let checkpoints = self.checkpoints.map(|all| Checkpoints { all, bytes });
        is_sound.then(|| Joined {
            join,
            streams: self.streams,
            found: StreamFaults::default(),
            current: None,
            open: self.open,
            lost: self.lost,
            lasted: self.lasted,
            checkpoints,
        })
    }
}
