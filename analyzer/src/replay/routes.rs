//! Where calls lead, by the place that they come from: a call looks here before it looks into all
//! arcs.
//!
//! A place has one line of memory, which is fetched when a box gets there. Traces of real programs
//! have far more arcs than fit the cache, and a table of all of them waited for memory at most
//! calls.

use super::arc_table::{ArcId, NONE, PlaceId, hash, key};
use crate::trace::{Callable, PredicateIndex};

/// Calls that a place can have in its line.
const WAYS: usize = 5;

/// Calls of places that make more are two to the power of this, 64 KiB.
const SHARED_BITS: u32 = 12;

/// The parts of an arc that a call needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    pub(super) arc: ArcId,
    /// Where it leads.
    pub(super) place: PlaceId,
}

/// The line of a place.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct RouteLine {
    /// The predicate of the place.
    caller: PredicateIndex,
    callables: [Callable; WAYS],
    ways: [Route; WAYS],
}

impl RouteLine {
    /// Where a call is. All are compared without a branch, which would be guessed wrongly as often
    /// as calls take turns.
    #[inline(always)]
    fn find(&self, callable: Callable) -> Option<usize> {
        let at = (0..WAYS).rev().fold(WAYS, |found, at| {
            if self.callables[at] == callable {
                at
            } else {
                found
            }
        });
        (at < WAYS).then_some(at)
    }
}

/// The calls made lately.
#[derive(Debug, Clone)]
pub(super) struct Routes {
    /// By place.
    lines: Vec<RouteLine>,
    /// Of all places, by a hash of place and call: those whose room in the line was taken when they
    /// were made.
    shared: Vec<(PlaceId, Callable, Route)>,
}

const NOWHERE: Route = Route {
    arc: NONE,
    place: NONE,
};

impl Default for Routes {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            shared: vec![(NONE, NONE, NOWHERE); 1 << SHARED_BITS],
        }
    }
}

impl Routes {
    /// The next place, of boxes of `predicate`.
    pub(super) fn add_place(&mut self, predicate: PredicateIndex) {
        self.lines.push(RouteLine {
            caller: predicate,
            callables: [NONE; WAYS],
            ways: [NOWHERE; WAYS],
        });
    }

    /// The predicate of a place, and where a call from there leads, if that is known here.
    #[inline(always)]
    pub(super) fn get(&self, from: PlaceId, callable: Callable) -> (PredicateIndex, Option<Route>) {
        let line = &self.lines[from as usize];
        (line.caller, line.find(callable).map(|at| line.ways[at]))
    }

    /// Where a call leads that [`Routes::get`] does not know.
    #[inline(always)]
    pub(super) fn get_shared(&self, from: PlaceId, callable: Callable) -> Option<Route> {
        let (place, known, route) = self.shared[hash(key(from, callable), SHARED_BITS)];
        ((place, known) == (from, callable)).then_some(route)
    }

    /// From now on a call from a place leads there. The one whose room in the line it takes is
    /// known for a while yet.
    pub(super) fn set(
        &mut self,
        from: PlaceId,
        callable: Callable,
        arc: ArcId,
        place: PlaceId,
    ) -> Route {
        let route = Route { arc, place };
        let line = &mut self.lines[from as usize];
        let room = line.find(NONE).unwrap_or(callable as usize % WAYS);
        let before = std::mem::replace(&mut line.ways[room], route);
        let known = std::mem::replace(&mut line.callables[room], callable);
        if known != NONE {
            self.shared[hash(key(from, known), SHARED_BITS)] = (from, known, before);
        }
        route
    }

    /// A box gets to a place, from which it will call.
    #[inline(always)]
    pub(super) fn fetch(&self, place: PlaceId) {
        #[cfg(target_arch = "x86_64")]
        if let Some(line) = self.lines.get(place as usize) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: every x86-64 has the instruction, which only asks for memory that is there.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(line).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = place;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_place_are_found_until_others_take_their_room() {
        let mut routes = Routes::default();
        for predicate in 0..3 {
            routes.add_place(10 + predicate);
        }
        assert!(routes.get(1, 7).1.is_none());
        for callable in (0..4 * WAYS as u32).step_by(2) {
            routes.set(1, callable, 100 + callable, 200 + callable);
            let (caller, route) = routes.get(1, callable);
            let route = route.unwrap();
            assert_eq!(
                (caller, route.arc, route.place),
                (11, 100 + callable, 200 + callable)
            );
            assert!(routes.get(2, callable).1.is_none());
            routes.fetch(2);
        }
        let calls = (0..4 * WAYS as u32).step_by(2);
        let known = |callable: &Callable| routes.get(1, *callable).1.is_some();
        assert_eq!(calls.clone().filter(known).count(), WAYS);
        // Two that were there before can have the same room among those of all places.
        let shared = calls.filter_map(|callable| routes.get_shared(1, callable));
        assert!(shared.count() >= WAYS - 1);
        assert!((0..4 * WAYS as u32).all(|callable| routes.get_shared(2, callable).is_none()));
    }

    #[test]
    fn a_place_remembers_any_few_calls() {
        let mut routes = Routes::default();
        routes.add_place(3);
        let calls = (0..WAYS as u32).map(|at| 7 + at * WAYS as u32);
        for callable in calls.clone() {
            routes.set(0, callable, callable, callable);
        }
        for callable in calls {
            let route = routes.get(0, callable).1.unwrap();
            assert_eq!((route.arc, route.place), (callable, callable));
        }
    }
}
