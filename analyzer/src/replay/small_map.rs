//! A map of few keys, in the order in which they came.

use std::hash::Hash;

use bincode::de::{BorrowDecoder, Decoder};
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{BorrowDecode, Decode, Encode};
use rustc_hash::FxHashMap;

/// Up to so many keys are compared one by one, which is faster than hashing. Few chains of last
/// calls have more.
const FEW: usize = 8;

/// Keys and values in the order of insertion. Neither is ever removed alone.
#[derive(Debug)]
pub(super) struct SmallMap<K, V> {
    /// The first ones are in use. The others are room for more, in which a new one is written where
    /// it stays: put together elsewhere and copied it waited for its own stores.
    entries: Vec<(K, V)>,
    /// How many are in use.
    used: usize,
    /// Where all keys are, once they are more than a few; else empty.
    places: FxHashMap<K, usize>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            used: 0,
            places: FxHashMap::default(),
        }
    }
}

/// Without the room that is not in use.
impl<K: Clone, V: Clone> Clone for SmallMap<K, V> {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries[..self.used].to_vec(),
            used: self.used,
            places: self.places.clone(),
        }
    }
}

impl<K: Encode, V: Encode> Encode for SmallMap<K, V> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.entries[..self.used].encode(encoder)
    }
}

impl<Context, K, V> Decode<Context> for SmallMap<K, V>
where
    K: Decode<Context> + Copy + Default + Eq + Hash + 'static,
    V: Decode<Context> + Default + 'static,
{
    fn decode<D: Decoder<Context = Context>>(decoder: &mut D) -> Result<Self, DecodeError> {
        let mut map = Self::default();
        for (key, value) in Vec::<(K, V)>::decode(decoder)? {
            *map.entry(key) = value;
        }
        Ok(map)
    }
}

impl<'de, Context, K, V> BorrowDecode<'de, Context> for SmallMap<K, V>
where
    K: Decode<Context> + Copy + Default + Eq + Hash + 'static,
    V: Decode<Context> + Default + 'static,
{
    fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}

impl<K: Copy + Default + Eq + Hash, V: Default> SmallMap<K, V> {
    /// Where a key is.
    #[inline(always)]
    pub(super) fn position(&self, key: K) -> Option<usize> {
        if self.used <= FEW {
            self.iter().rposition(|(known, _)| *known == key)
        } else {
            self.position_of_many(key)
        }
    }

    #[cold]
    fn position_of_many(&self, key: K) -> Option<usize> {
        self.places.get(&key).copied()
    }

    /// Adds a key that is new; where it is.
    #[inline(always)]
    pub(super) fn push(&mut self, key: K, value: V) -> usize {
        let at = self.used;
        if at == self.entries.len() {
            self.grow();
        }
        let entry = &mut self.entries[at];
        entry.0 = key;
        entry.1 = value;
        self.used += 1;
        if at >= FEW {
            self.find_from_now_on(at);
        }
        at
    }

    #[cold]
    fn grow(&mut self) {
        self.entries.push((K::default(), V::default()));
    }

    #[cold]
    fn find_from_now_on(&mut self, at: usize) {
        let first = if at == FEW { 0 } else { at };
        let keys = self.entries[first..=at].iter().map(|(key, _)| *key);
        self.places.extend(keys.zip(first..));
    }

    /// Where a key is, with the default value if it is new.
    pub(super) fn add(&mut self, key: K) -> usize {
        let known = self.position(key);
        known.unwrap_or_else(|| self.push(key, V::default()))
    }

    /// The value of a key, which is the default one if the key is new.
    pub(super) fn entry(&mut self, key: K) -> &mut V {
        let at = self.add(key);
        &mut self.entries[at].1
    }

    /// Sets the value of a key.
    #[inline(always)]
    pub(super) fn set(&mut self, key: K, value: V) {
        match self.position(key) {
            Some(at) => self.entries[at].1 = value,
            None => {
                self.push(key, value);
            }
        }
    }

    /// The value of a key.
    pub(super) fn find(&self, key: K) -> Option<&V> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    /// The key and value at a place.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> Option<&(K, V)> {
        self.entries.get(..self.used)?.get(at)
    }

    /// As [`SmallMap::get`].
    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut (K, V)> {
        self.entries.get_mut(..self.used)?.get_mut(at)
    }

    /// All keys and values.
    #[inline(always)]
    pub(super) fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.entries[..self.used].iter()
    }

    /// As [`SmallMap::iter`].
    #[inline(always)]
    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, (K, V)> {
        self.entries[..self.used].iter_mut()
    }

    /// Number of keys.
    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Forgets all keys, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        if !self.places.is_empty() {
            self.places.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_keys_and_many_are_found() {
        let mut map = SmallMap::<u32, u32>::default();
        for round in 1..=2 {
            for key in 0..3 * FEW as u32 {
                *map.entry(7 * key) += key;
                assert_eq!(map.find(7 * key), Some(&(round * key)));
                assert_eq!(map.position(7 * key), Some(key as usize));
                assert_eq!(map.find(7 * key + 1), None);
            }
        }
        assert_eq!(map.len(), 3 * FEW);
        map.clear();
        assert_eq!((map.len(), map.find(7)), (0, None));
        assert_eq!(map.add(7), 0);
    }
}
