//! The logical boxes of a physical box: its caller's callee and all it departed into by last calls.
//!
//! They share the fate of the physical box, so they are kept with multiplicity: a loop of ten million
//! last calls is one pair of predicates ten million times. Everything here takes work proportional
//! to the distinct pairs, departing takes constant work.
//!
//! Example: `main` calls `p`, which departs into `q`, that into `p`, that into `q`. The physical box
//! has the pairs main→p once, p→q twice, q→p once, and the members p and q, twice each. While it
//! is active, the time is `q`'s own and is spent by `p` in `q` (the last `p` departed into a `q`).

use rustc_hash::FxHashMap;

use super::accounts::{EdgeId, Slot};
use crate::figures::PredicateIndex;

/// Up to this many members or pairs are searched one by one.
const FEW: usize = 8;

/// The logical boxes of a physical box, outermost first.
#[derive(Debug)]
pub(in crate::replay) enum Chain {
    /// None is visible.
    Hidden,
    /// A box that made no last call: nearly all are.
    One {
        predicate: PredicateIndex,
        edge: EdgeId,
        saved: Slot,
        fresh: bool,
    },
    /// More than one.
    Many(Box<Many>),
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

/// The calls along one edge in a chain.
#[derive(Debug, Clone, Copy)]
pub(in crate::replay) struct Pair {
    pub(in crate::replay) edge: EdgeId,
    pub(in crate::replay) multiplicity: u64,
    callee: usize,
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
    pair_places: FxHashMap<EdgeId, usize>,
}

/// What a departure did to the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::replay) enum Departure {
    /// The predicate is in the chain for the first time, as this member.
    First(usize),
    /// It was there before.
    Again,
}

impl Chain {
    pub(in crate::replay) fn one(predicate: PredicateIndex, edge: EdgeId, saved: Slot) -> Self {
        Self::One {
            predicate,
            edge,
            saved,
            fresh: true,
        }
    }

    /// How many distinct predicates it has.
    #[inline]
    pub(in crate::replay) fn members(&self) -> usize {
        match self {
            Self::Hidden => 0,
            Self::One { .. } => 1,
            Self::Many(many) => many.members.len(),
        }
    }

    /// The boxes of one of its predicates; 0 is that of the outermost box.
    #[inline]
    pub(in crate::replay) fn member(&self, at: usize) -> Option<Member> {
        match self {
            Self::Hidden => None,
            &Self::One {
                predicate,
                edge,
                saved,
                fresh,
            } => (at == 0).then_some(Member {
                predicate,
                entered: edge,
                rest: Slot::OWN,
                saved,
                multiplicity: 1,
                fresh: u64::from(fresh),
            }),
            Self::Many(many) => many.members.get(at).copied(),
        }
    }

    /// The calls along one of its edges.
    #[inline]
    pub(in crate::replay) fn pair(&self, at: usize) -> Option<(EdgeId, u64)> {
        match self {
            Self::Hidden => None,
            &Self::One { edge, .. } => (at == 0).then_some((edge, 1)),
            Self::Many(many) => many
                .pairs
                .get(at)
                .map(|pair| (pair.edge, pair.multiplicity)),
        }
    }

    /// Remembers where the time of a member's predicate went before the box was entered.
    #[inline]
    pub(in crate::replay) fn save(&mut self, at: usize, slot: Slot) {
        match self {
            Self::Hidden => {}
            Self::One { saved, .. } => *saved = slot,
            Self::Many(many) => many.members[at].saved = slot,
        }
    }

    /// All its boxes have exited.
    #[inline]
    pub(in crate::replay) fn exited(&mut self) {
        match self {
            Self::Hidden => {}
            Self::One { fresh, .. } => *fresh = false,
            Self::Many(many) => many.members.iter_mut().for_each(|member| member.fresh = 0),
        }
    }

    /// The innermost box departs into a new one of `predicate`, along `edge`.
    pub(in crate::replay) fn depart(
        &mut self,
        predicate: PredicateIndex,
        edge: EdgeId,
    ) -> Departure {
        match self {
            Self::Hidden => {
                *self = Self::one(predicate, edge, Slot::OWN);
                Departure::First(0)
            }
            &mut Self::One {
                predicate: first,
                edge: entered,
                saved,
                fresh,
            } => {
                let mut many = Box::new(Many::new(first, entered, saved, fresh));
                let departure = many.depart(predicate, edge);
                *self = Self::Many(many);
                departure
            }
            Self::Many(many) => many.depart(predicate, edge),
        }
    }
}

impl Many {
    fn new(predicate: PredicateIndex, entered: EdgeId, saved: Slot, fresh: bool) -> Self {
        let fresh = u64::from(fresh);
        let rest = Slot::OWN;
        Self {
            members: vec![Member {
                predicate,
                entered,
                rest,
                saved,
                multiplicity: 1,
                fresh,
            }],
            pairs: vec![Pair {
                edge: entered,
                multiplicity: 1,
                callee: 0,
            }],
            last_member: 0,
            last_pair: 0,
            member_places: FxHashMap::default(),
            pair_places: FxHashMap::default(),
        }
    }

    fn depart(&mut self, predicate: PredicateIndex, edge: EdgeId) -> Departure {
        let known = if self.pairs[self.last_pair].edge == edge {
            Some(self.last_pair)
        } else {
            self.find_pair(edge)
        };
        self.members[self.last_member].rest = Slot::edge(edge);
        let (pair, departure) = match known {
            Some(pair) => (pair, Departure::Again),
            None => self.add_pair(predicate, edge),
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
    fn add_pair(&mut self, predicate: PredicateIndex, edge: EdgeId) -> (usize, Departure) {
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
            multiplicity: 0,
            callee,
        };
        let place = push(&mut self.pairs, pair, &mut self.pair_places, |pair| {
            pair.edge
        });
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

    fn find_pair(&self, edge: EdgeId) -> Option<usize> {
        if self.pairs.len() <= FEW {
            self.pairs.iter().position(|pair| pair.edge == edge)
        } else {
            self.pair_places.get(&edge).copied()
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
        let mut chain = Chain::one(0, EdgeId(0), Slot::OWN);
        assert_eq!(chain.depart(1, EdgeId(1)), Departure::First(1));
        assert_eq!(chain.depart(0, EdgeId(2)), Departure::Again);
        assert_eq!(chain.depart(1, EdgeId(1)), Departure::Again);
        assert_eq!(multiplicities(&chain), [(0, 2), (1, 2)]);
        let pairs: Vec<_> = (0..).map_while(|at| chain.pair(at)).collect();
        assert_eq!(pairs, [(EdgeId(0), 1), (EdgeId(1), 2), (EdgeId(2), 1)]);
        assert_eq!(chain.member(0).unwrap().rest, Slot::edge(EdgeId(1)));
        assert_eq!(chain.member(1).unwrap().rest, Slot::OWN);
    }

    #[test]
    fn many_members_are_found_again() {
        let mut chain = Chain::Hidden;
        for round in 0..3 {
            for predicate in 0..100 {
                let departure = chain.depart(predicate, EdgeId(predicate));
                assert_eq!(departure == Departure::Again, round > 0);
            }
        }
        assert_eq!(
            multiplicities(&chain),
            (0..100).map(|p| (p, 3)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_box_without_last_calls_is_small() {
        assert_eq!(size_of::<Chain>(), 16);
    }
}
