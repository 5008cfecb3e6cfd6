//! From a place and what is called there to the arc.
//!
//! Traces of real programs have hundreds of thousands of arcs, and a look-up that leaves the
//! cache costs as much as the rest of an event. Here it is one line of memory: open addressing
//! with linear probing (Knuth, The Art of Computer Programming, volume 3, section 6.4,
//! algorithm L).

use crate::trace::Callable;

/// No box, no arc, no place, no chain, no root.
pub(super) const NONE: u32 = u32::MAX;

/// A place, in one [`Ledger`](super::ledger::Ledger).
pub(super) type PlaceId = u32;
/// An arc, in one [`Ledger`](super::ledger::Ledger).
pub(super) type ArcId = u32;

/// 2⁶⁴ over the golden ratio (Knuth, as above).
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

const FIRST_BITS: u32 = 6;

/// An entry: an arc, by where it comes from and what it calls. No place: free.
#[derive(Debug, Clone, Copy)]
struct ArcEntry {
    from: PlaceId,
    callable: Callable,
    arc: ArcId,
}

const FREE: ArcEntry = ArcEntry {
    from: NONE,
    callable: NONE,
    arc: NONE,
};

/// All arcs from places. At most three quarters of the entries are in use.
#[derive(Debug, Clone, Default)]
pub(super) struct ArcTable {
    entries: Vec<ArcEntry>,
    used: usize,
}

impl ArcTable {
    /// The arc, if there is one.
    #[inline]
    pub(super) fn get(&self, from: PlaceId, callable: Callable) -> Option<ArcId> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = &self.entries[self.find(from, callable)];
        (entry.from != NONE).then_some(entry.arc)
    }

    /// Adds an arc that is not there.
    pub(super) fn insert(&mut self, from: PlaceId, callable: Callable, arc: ArcId) {
        if 4 * (self.used + 1) > 3 * self.entries.len() {
            self.grow();
        }
        let at = self.find(from, callable);
        self.entries[at] = ArcEntry {
            from,
            callable,
            arc,
        };
        self.used += 1;
    }

    fn grow(&mut self) {
        let size = (2 * self.entries.len()).max(1 << FIRST_BITS);
        let old = std::mem::replace(&mut self.entries, vec![FREE; size]);
        for entry in old.into_iter().filter(|entry| entry.from != NONE) {
            let at = self.find(entry.from, entry.callable);
            self.entries[at] = entry;
        }
    }

    /// Where the arc is, or the free entry where it would be.
    #[inline]
    fn find(&self, from: PlaceId, callable: Callable) -> usize {
        let last = self.entries.len() - 1;
        let hash = key(from, callable).wrapping_mul(SPREAD);
        let mut at = (hash >> (64 - self.entries.len().ilog2())) as usize;
        loop {
            let entry = &self.entries[at];
            if (entry.from, entry.callable) == (from, callable) || entry.from == NONE {
                return at;
            }
            at = (at + 1) & last;
        }
    }
}

/// Names a predicate, or a site, seen from a place; no place is [`NONE`], so none has the key
/// `u64::MAX`.
#[inline(always)]
pub(super) fn key(place: PlaceId, callable: Callable) -> u64 {
    u64::from(place) << 32 | u64::from(callable)
}

/// A hash of `bits` bits of such a key.
#[inline(always)]
pub(super) fn hash(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(SPREAD) >> (64 - bits)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_are_found_and_no_others() {
        let mut table = ArcTable::default();
        assert_eq!(table.get(0, 0), None);
        for arc in 0..1000 {
            assert_eq!(table.get(arc / 7, arc % 7), None);
            table.insert(arc / 7, arc % 7, arc);
        }
        for arc in 0..1000 {
            assert_eq!(table.get(arc / 7, arc % 7), Some(arc));
            assert_eq!(table.get(arc / 7, 7 + arc % 7), None);
        }
        assert!(4 * table.used <= 3 * table.entries.len());
    }
}
