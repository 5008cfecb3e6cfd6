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
#[derive(Debug, Clone)]
pub(super) struct SmallMap<K, V> {
    entries: Vec<(K, V)>,
    /// Where all keys are, once they are more than a few; else empty.
    places: FxHashMap<K, usize>,
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            places: FxHashMap::default(),
        }
    }
}

impl<K: Encode, V: Encode> Encode for SmallMap<K, V> {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> Result<(), EncodeError> {
        self.entries.encode(encoder)
    }
}

impl<Context, K, V> Decode<Context> for SmallMap<K, V>
where
    K: Decode<Context> + Copy + Eq + Hash + 'static,
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
    K: Decode<Context> + Copy + Eq + Hash + 'static,
    V: Decode<Context> + Default + 'static,
{
    fn borrow_decode<D: BorrowDecoder<'de, Context = Context>>(
        decoder: &mut D,
    ) -> Result<Self, DecodeError> {
        Self::decode(decoder)
    }
}

impl<K: Copy + Eq + Hash, V: Default> SmallMap<K, V> {
    /// Where a key is.
    #[inline]
    pub(super) fn position(&self, key: &K) -> Option<usize> {
        if self.entries.len() <= FEW {
            self.entries.iter().rposition(|(known, _)| known == key)
        } else {
            self.places.get(key).copied()
        }
    }

    /// Where a key is, with the default value if it is new.
    #[inline]
    pub(super) fn add(&mut self, key: K) -> usize {
        self.position(&key).unwrap_or_else(|| self.push(key))
    }

    fn push(&mut self, key: K) -> usize {
        let at = self.entries.len();
        self.entries.push((key, V::default()));
        if at == FEW {
            let known = self.entries.iter().enumerate();
            self.places = known.map(|(at, (key, _))| (*key, at)).collect();
        } else if at > FEW {
            self.places.insert(key, at);
        }
        at
    }

    /// The value of a key, which is the default one if the key is new.
    #[inline]
    pub(super) fn entry(&mut self, key: K) -> &mut V {
        let at = self.add(key);
        &mut self.entries[at].1
    }

    /// The value of a key.
    pub(super) fn find(&self, key: &K) -> Option<&V> {
        self.position(key).map(|at| &self.entries[at].1)
    }

    /// The key and value at a place.
    #[inline]
    pub(super) fn get(&self, at: usize) -> Option<&(K, V)> {
        self.entries.get(at)
    }

    /// As [`SmallMap::get`].
    #[inline]
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut (K, V)> {
        self.entries.get_mut(at)
    }

    /// All keys and values.
    #[inline]
    pub(super) fn iter(&self) -> std::slice::Iter<'_, (K, V)> {
        self.entries.iter()
    }

    /// As [`SmallMap::iter`].
    #[inline]
    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, (K, V)> {
        self.entries.iter_mut()
    }

    /// Number of keys.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Forgets all keys, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
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
                assert_eq!(map.find(&(7 * key)), Some(&(round * key)));
                assert_eq!(map.position(&(7 * key)), Some(key as usize));
                assert_eq!(map.find(&(7 * key + 1)), None);
            }
        }
        assert_eq!(map.len(), 3 * FEW);
        map.clear();
        assert_eq!((map.len(), map.find(&7)), (0, None));
        assert_eq!(map.add(7), 0);
    }
}
