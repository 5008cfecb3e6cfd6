//! Where calls lead, by the place that they come from: a call looks here before it looks into all
//! arcs.
//!
//! A place has one line of memory, which is fetched when a box gets there. Traces of real programs
//! have far more arcs than fit the cache, and a table of all of them waited for memory at most
//! calls.

use super::arc_table::{ArcId, NONE, PlaceId, hash, key};
use crate::trace::{Callable, PredicateIndex};

/// Calls that a place can have in its line. Goals of a clause have consecutive numbers, so few of
/// those that take turns meet.
const WAYS: u32 = 5;

/// Calls of places that make more are two to the power of this, 64 KiB.
const SHARED_BITS: u32 = 12;

/// The parts of an arc that a call needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route {
    callable: Callable,
    pub(super) arc: ArcId,
    /// Where it leads.
    pub(super) place: PlaceId,
}

/// The line of a place.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line {
    /// The predicate of the place.
    caller: PredicateIndex,
    ways: [Route; WAYS as usize],
}

/// The calls made lately.
#[derive(Debug)]
pub(super) struct Routes {
    /// By place.
    lines: Vec<Line>,
    /// Of all places, by a hash of place and call: those whose room in the line was taken when they
    /// were made.
    shared: Vec<(PlaceId, Route)>,
}

const NOWHERE: Route = Route {
    callable: NONE,
    arc: NONE,
    place: NONE,
};

impl Default for Routes {
    fn default() -> Self {
        Self {
            lines: Vec::new(),
            shared: vec![(NONE, NOWHERE); 1 << SHARED_BITS],
        }
    }
}

impl Routes {
    /// The next place, of boxes of `predicate`.
    pub(super) fn add_place(&mut self, predicate: PredicateIndex) {
        self.lines.push(Line {
            caller: predicate,
            ways: [NOWHERE; WAYS as usize],
        });
    }

    /// The predicate of a place, and where a call from there leads, if that is known here.
    #[inline(always)]
    pub(super) fn get(&self, from: PlaceId, callable: Callable) -> (PredicateIndex, Option<Route>) {
        let line = &self.lines[from as usize];
        let route = line.ways[(callable % WAYS) as usize];
        (line.caller, (route.callable == callable).then_some(route))
    }

    /// Where a call leads that [`Routes::get`] does not know.
    #[inline(always)]
    pub(super) fn get_shared(&self, from: PlaceId, callable: Callable) -> Option<Route> {
        let (place, route) = self.shared[hash(key(from, callable), SHARED_BITS)];
        ((place, route.callable) == (from, callable)).then_some(route)
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
        let route = Route {
            callable,
            arc,
            place,
        };
        let room = &mut self.lines[from as usize].ways[(callable % WAYS) as usize];
        let before = std::mem::replace(room, route);
        if before.arc != NONE {
            self.shared[hash(key(from, before.callable), SHARED_BITS)] = (from, before);
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
        for callable in 0..2 * WAYS {
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
        assert!((0..WAYS).all(|callable| routes.get(1, callable).1.is_none()));
        let shared = (0..WAYS).filter_map(|callable| routes.get_shared(1, callable));
        assert_eq!(shared.map(|route| route.arc).max(), Some(99 + WAYS));
        assert!((0..WAYS).all(|callable| routes.get_shared(2, callable).is_none()));
        assert!((WAYS..2 * WAYS).all(|callable| routes.get(1, callable).1.is_some()));
    }
}
