//! Ids of a file as indices into what it declares.

use rustc_hash::FxHashMap;

use crate::trace::Callable;

/// From ids of predicates and sites, which a damaged or hostile file may choose freely, to indices.
#[derive(Debug)]
pub(super) enum IndexOfIds {
    /// Recorders count from 0, so this is what there is in practice.
    Dense(Vec<Callable>),
    Sparse(FxHashMap<u32, Callable>),
}

const ABSENT: Callable = Callable::MAX;

impl Default for IndexOfIds {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl IndexOfIds {
    /// From pairs of an id and its index.
    pub(super) fn new(pairs: &[(u32, Callable)]) -> Self {
        let last = pairs.iter().map(|&(id, _)| id).max();
        let size = last.map_or(0, |last| last as usize + 1);
        let pairs = pairs.iter().copied();
        if size > 2 * pairs.len() + 1024 {
            return Self::Sparse(pairs.collect());
        }
        let mut dense = vec![ABSENT; size];
        for (id, index) in pairs {
            dense[id as usize] = index;
        }
        Self::Dense(dense)
    }

    #[inline(always)]
    pub(super) fn get(&self, id: u32) -> Option<Callable> {
        match self {
            Self::Dense(dense) => match dense.get(id as usize) {
                Some(&index) if index != ABSENT => Some(index),
                _ => None,
            },
            Self::Sparse(sparse) => Self::get_sparse(sparse, id),
        }
    }

    #[cold]
    fn get_sparse(sparse: &FxHashMap<u32, Callable>, id: u32) -> Option<Callable> {
        sparse.get(&id).copied()
    }
}
