//! The logical boxes of a physical box: its caller's callee and all it departed into by last calls.
//!
//! They share the fate of the physical box, so they are kept with multiplicity: a loop of ten million
//! last calls is one pair of predicates ten million times. Everything here takes work proportional
//! to the distinct pairs, departing takes constant work.
//!
//! Example: `main` calls `p`, which departs into `q`, that into `p`, that into `q`. The physical box
//! has the pairs main→p once, p→q twice, q→p once, and the members p and q, twice each. While it
//! is active, the time is `q`'s own and is spent by `p` in `q` (the last `p` departed into a `q`).
//!
//! Boxes called along the same edge can be in different rows of the call tree: in the example the
//! first `q` opens the context `main p q`, the second is recursive there. The context changes only
//! when a predicate comes into the chain for the first time, so pairs are told apart by the *stage*,
//! how many members there were.

use rustc_hash::FxHashMap;

use super::accounts::{EdgeId, Slot};
use crate::compensation::BoxKind;
use crate::contexts::NodeId;
use crate::figures::PredicateIndex;

/// Up to this many members or pairs are searched one by one.
const FEW: usize = 8;

/// The logical boxes of a physical box, outermost first.
#[derive(Debug)]
pub(in crate::replay) enum Chain {
    /// None is visible.
    Hidden(BoxKind),
    /// A box that made no last call: nearly all are.
    One(One),
    /// More than one.
    Many(Box<Many>),
}

/// See [`Member`] and [`Pair`].
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct One {
    predicate: PredicateIndex,
    edge: EdgeId,
    row: NodeId,
    saved: Slot,
    ticks: u64,
    fresh: bool,
}

/// The boxes of one predicate in a chain.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct Member {
    pub(in crate::replay) predicate: PredicateIndex,
    /// By which edge the first of them was entered.
    pub(in crate::replay) entered: EdgeId,
    /// Where the predicate's time goes while the physical box is active: to the edge on which the
    /// last of them departed, or itself.
    pub(in crate::replay) rest: Slot,
    /// Where its time went before the physical box was entered, if it was on the chain already.
    pub(in crate::replay) saved: Slot,
    /// How many they are.
    pub(in crate::replay) multiplicity: u64,
    /// Those of them that never exited.
    pub(in crate::replay) fresh: u64,
}

/// The calls along one edge at one stage of a chain.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct Pair {
    pub(in crate::replay) edge: EdgeId,
    /// That was called.
    pub(in crate::replay) predicate: PredicateIndex,
    /// The row of the call tree of the boxes called.
    pub(in crate::replay) row: NodeId,
    pub(in crate::replay) multiplicity: u64,
    /// Their own time since the physical box was entered.
    pub(in crate::replay) ticks: u64,
    /// Which member was called.
    callee: usize,
    /// How many members there were before.
    stage: usize,
}

impl Pair {
    fn key(&self) -> (EdgeId, usize) {
        (self.edge, self.stage)
    }
}

#[derive(Debug)]
pub(in crate::replay) struct Many {
    /// In order of their first box.
    members: Vec<Member>,
    pairs: Vec<Pair>,
    last_member: usize,
    last_pair: usize,
    /// Where members and pairs are, once they are more than a few.
    member_places: FxHashMap<PredicateIndex, usize>,
    pair_places: FxHashMap<(EdgeId, usize), usize>,
}

/// What a departure did to the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::replay) enum Departure {
    /// The predicate is in the chain for the first time, as this member.
    First(usize),
    /// It was there before.
    Again,
}

impl One {
    #[inline]
    fn member(&self) -> Member {
        Member {
            predicate: self.predicate,
            entered: self.edge,
            rest: Slot::OWN,
            saved: self.saved,
            multiplicity: 1,
            fresh: u64::from(self.fresh),
        }
    }

    #[inline]
    fn pair(&self) -> Pair {
        Pair {
            edge: self.edge,
            predicate: self.predicate,
            row: self.row,
            multiplicity: 1,
            ticks: self.ticks,
            callee: 0,
            stage: 0,
        }
    }
}

impl Chain {
    /// Of a box that is none.
    pub(in crate::replay) const NONE: Self = Self::Hidden(BoxKind::Call { arity: 0 });

    pub(in crate::replay) fn one(
        predicate: PredicateIndex,
        edge: EdgeId,
        row: NodeId,
        saved: Slot,
    ) -> Self {
        Self::One(One {
            predicate,
            edge,
            row,
            saved,
            ticks: 0,
            fresh: true,
        })
    }

    /// What the box is, if it is hidden.
    #[inline]
    pub(in crate::replay) fn hidden(&self) -> Option<BoxKind> {
        match self {
            Self::Hidden(kind) => Some(*kind),
            _ => None,
        }
    }

    /// How many distinct predicates it has.
    #[inline]
    pub(in crate::replay) fn members(&self) -> usize {
        match self {
            Self::Hidden(_) => 0,
            Self::One(_) => 1,
            Self::Many(many) => many.members.len(),
        }
    }

    /// The boxes of one of its predicates; 0 is that of the outermost box.
    #[inline]
    pub(in crate::replay) fn member(&self, at: usize) -> Option<Member> {
        match self {
            Self::Hidden(_) => None,
            Self::One(one) => (at == 0).then(|| one.member()),
            Self::Many(many) => many.members.get(at).copied(),
        }
    }

    /// The calls along one of its edges at one stage; 0 is that of the outermost box.
    #[inline]
    pub(in crate::replay) fn pair(&self, at: usize) -> Option<Pair> {
        match self {
            Self::Hidden(_) => None,
            Self::One(one) => (at == 0).then(|| one.pair()),
            Self::Many(many) => many.pairs.get(at).copied(),
        }
    }

    /// The row of the innermost box.
    #[inline]
    pub(in crate::replay) fn innermost_row(&self) -> Option<NodeId> {
        match self {
            Self::Hidden(_) => None,
            Self::One(one) => Some(one.row),
            Self::Many(many) => Some(many.pairs[many.last_pair].row),
        }
    }

    /// Gives its boxes the rows that they have when a box of the row `caller` calls the outermost.
    ///
    /// `row` finds the row of a predicate called from a row; it is told whether a box of the predicate
    /// comes before in the chain.
    pub(in crate::replay) fn move_below(
        &mut self,
        caller: NodeId,
        mut row: impl FnMut(NodeId, PredicateIndex, bool) -> NodeId,
    ) {
        match self {
            Self::Hidden(_) => {}
            Self::One(one) => one.row = row(caller, one.predicate, false),
            Self::Many(many) => {
                let mut above = caller;
                for pair in &mut many.pairs {
                    // The pair before is of the same stage, or began it: either way it has the context.
                    above = row(above, pair.predicate, pair.callee < pair.stage);
                    pair.row = above;
                }
            }
        }
    }

    /// Remembers where the time of a member's predicate went before the box was entered.
    #[inline]
    pub(in crate::replay) fn save(&mut self, at: usize, slot: Slot) {
        match self {
            Self::Hidden(_) => {}
            Self::One(one) => one.saved = slot,
            Self::Many(many) => many.members[at].saved = slot,
        }
    }

    /// The innermost box was active for so long.
    #[inline]
    pub(in crate::replay) fn spend(&mut self, stretch: u64) {
        match self {
            Self::Hidden(_) => {}
            Self::One(one) => one.ticks += stretch,
            Self::Many(many) => many.pairs[many.last_pair].ticks += stretch,
        }
    }

    /// All its boxes have been left. Those that are entered again will have exited.
    #[inline]
    pub(in crate::replay) fn left(&mut self) {
        match self {
            Self::Hidden(_) => {}
            Self::One(one) => (one.fresh, one.ticks) = (false, 0),
            Self::Many(many) => {
                many.members.iter_mut().for_each(|member| member.fresh = 0);
                many.pairs.iter_mut().for_each(|pair| pair.ticks = 0);
            }
        }
    }

    /// The innermost box departs into a new one of `predicate`, along `edge`, that is of this row.
    pub(in crate::replay) fn depart(
        &mut self,
        predicate: PredicateIndex,
        edge: EdgeId,
        row: NodeId,
    ) -> Departure {
        match self {
            Self::Hidden(_) => {
                *self = Self::one(predicate, edge, row, Slot::OWN);
                Departure::First(0)
            }
            Self::One(one) => {
                let mut many = Box::new(Many::new(*one));
                let departure = many.depart(predicate, edge, row);
                *self = Self::Many(many);
                departure
            }
            Self::Many(many) => many.depart(predicate, edge, row),
        }
    }
}

impl Many {
    fn new(one: One) -> Self {
        Self {
            members: vec![one.member()],
            pairs: vec![one.pair()],
            last_member: 0,
            last_pair: 0,
            member_places: FxHashMap::default(),
            pair_places: FxHashMap::default(),
        }
    }

    fn depart(&mut self, predicate: PredicateIndex, edge: EdgeId, row: NodeId) -> Departure {
        let key = (edge, self.members.len());
        let known = if self.pairs[self.last_pair].key() == key {
            Some(self.last_pair)
        } else {
            self.find_pair(key)
        };
        self.members[self.last_member].rest = Slot::edge(edge);
        let (pair, departure) = match known {
            Some(pair) => (pair, Departure::Again),
            None => self.add_pair(predicate, edge, row),
        };
        self.pairs[pair].multiplicity += 1;
        let callee = self.pairs[pair].callee;
        let member = &mut self.members[callee];
        member.multiplicity += 1;
        member.fresh += 1;
        member.rest = Slot::OWN;
        self.last_pair = pair;
        self.last_member = callee;
        departure
    }

    /// A pair, and a member if need be, with multiplicities still to be counted up.
    fn add_pair(
        &mut self,
        predicate: PredicateIndex,
        edge: EdgeId,
        row: NodeId,
    ) -> (usize, Departure) {
        let stage = self.members.len();
        let (callee, departure) = match self.find_member(predicate) {
            Some(callee) => (callee, Departure::Again),
            None => {
                let member = Member {
                    predicate,
                    entered: edge,
                    rest: Slot::OWN,
                    saved: Slot::OWN,
                    multiplicity: 0,
                    fresh: 0,
                };
                let place = push(&mut self.members, member, &mut self.member_places, |m| {
                    m.predicate
                });
                (place, Departure::First(place))
            }
        };
        let pair = Pair {
            edge,
            predicate,
            row,
            multiplicity: 0,
            ticks: 0,
            callee,
            stage,
        };
        let place = push(&mut self.pairs, pair, &mut self.pair_places, Pair::key);
        (place, departure)
    }

    fn find_member(&self, predicate: PredicateIndex) -> Option<usize> {
        if self.members.len() <= FEW {
            self.members
                .iter()
                .position(|member| member.predicate == predicate)
        } else {
            self.member_places.get(&predicate).copied()
        }
    }

    fn find_pair(&self, key: (EdgeId, usize)) -> Option<usize> {
        if self.pairs.len() <= FEW {
            self.pairs.iter().position(|pair| pair.key() == key)
        } else {
            self.pair_places.get(&key).copied()
        }
    }
}

/// Appends an item, and keeps places by key as soon as there are more than a few.
fn push<T, K: Eq + std::hash::Hash>(
    items: &mut Vec<T>,
    item: T,
    places: &mut FxHashMap<K, usize>,
    key: impl Fn(&T) -> K,
) -> usize {
    let place = items.len();
    items.push(item);
    match items.len() {
        ..=FEW => {}
        n if n == FEW + 1 => places.extend(items.iter().map(key).zip(0..)),
        _ => {
            places.insert(key(&items[place]), place);
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    fn multiplicities(chain: &Chain) -> Vec<(u32, u64)> {
        (0..)
            .map_while(|at| chain.member(at))
            .map(|m| (m.predicate, m.multiplicity))
            .collect()
    }

    #[test]
    fn departures_count_up() {
        let row = NodeId::ROOT;
        let mut chain = Chain::one(0, EdgeId(0), row, Slot::OWN);
        assert_eq!(chain.depart(1, EdgeId(1), row), Departure::First(1));
        assert_eq!(chain.depart(0, EdgeId(2), row), Departure::Again);
        assert_eq!(chain.depart(1, EdgeId(1), row), Departure::Again);
        assert_eq!(chain.depart(0, EdgeId(2), row), Departure::Again);
        assert_eq!(multiplicities(&chain), [(0, 3), (1, 2)]);
        let pairs: Vec<_> = (0..)
            .map_while(|at| chain.pair(at))
            .map(|pair| (pair.edge, pair.stage, pair.multiplicity))
            .collect();
        // The first and the second 1 are in different contexts.
        assert_eq!(
            pairs,
            [
                (EdgeId(0), 0, 1),
                (EdgeId(1), 1, 1),
                (EdgeId(2), 2, 2),
                (EdgeId(1), 2, 1)
            ]
        );
        assert_eq!(chain.member(0).unwrap().rest, Slot::OWN);
        assert_eq!(chain.member(1).unwrap().rest, Slot::edge(EdgeId(2)));
    }

    #[test]
    fn time_is_the_innermost_boxs_until_all_are_left() {
        let row = NodeId::ROOT;
        let mut chain = Chain::one(0, EdgeId(0), row, Slot::OWN);
        chain.spend(1);
        chain.depart(1, EdgeId(1), row);
        chain.spend(2);
        chain.depart(0, EdgeId(2), row);
        chain.spend(4);
        let ticks = |chain: &Chain| [0, 1, 2].map(|at| chain.pair(at).unwrap().ticks);
        assert_eq!(ticks(&chain), [1, 2, 4]);
        chain.left();
        assert_eq!(ticks(&chain), [0, 0, 0]);
    }

    #[test]
    fn many_members_are_found_again() {
        let mut chain = Chain::NONE;
        for round in 0..3 {
            for predicate in 0..100 {
                let departure = chain.depart(predicate, EdgeId(predicate), NodeId::ROOT);
                assert_eq!(departure == Departure::Again, round > 0);
            }
        }
        assert_eq!(
            multiplicities(&chain),
            (0..100).map(|p| (p, 3)).collect::<Vec<_>>()
        );
        assert!(chain.pair(200).is_none());
    }

    #[test]
    fn a_box_without_last_calls_is_small() {
        assert_eq!(size_of::<Chain>(), 32);
    }
}
