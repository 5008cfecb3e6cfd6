//! A stack of which the oldest boxes were there before anything was kept with boxes.

use super::{OpenBox, Pile};

/// Boxes of another stack, each with what is kept with it. Of a box from before that is made of how
/// many were below it when keeping began.
#[derive(Debug, Clone)]
pub(crate) struct Seeded<P, K> {
    boxes: P,
    /// With the newest boxes.
    kept: Vec<K>,
    seed: fn(usize) -> K,
    /// With the newest box from before, if there is one.
    before: K,
}

/// What became of a stack since keeping began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Since<K> {
    /// So many boxes are still as they were.
    pub(crate) left: usize,
    /// What is kept with those on top of them, the newest last.
    pub(crate) kept: Vec<K>,
}

impl<K> Default for Since<K> {
    fn default() -> Self {
        Self {
            left: 0,
            kept: Vec::new(),
        }
    }
}

impl<P: Pile<Kept = ()>, K> Seeded<P, K> {
    /// All boxes are from before.
    pub(crate) fn new(boxes: P, seed: fn(usize) -> K) -> Self {
        let before = seed(boxes.height().saturating_sub(1));
        Self {
            boxes,
            kept: Vec::new(),
            seed,
            before,
        }
    }

    /// The boxes alone.
    pub(crate) fn boxes(&self) -> &P {
        &self.boxes
    }

    /// Keeping begins again: all boxes are from before.
    pub(crate) fn forget(&mut self) {
        self.kept.clear();
        self.find_seed();
    }

    /// What became of it.
    pub(crate) fn since(&self) -> Since<K>
    where
        K: Clone,
    {
        Since {
            left: self.left(),
            kept: self.kept.clone(),
        }
    }

    /// How many boxes from before are left.
    fn left(&self) -> usize {
        self.boxes.height() - self.kept.len()
    }

    fn find_seed(&mut self) {
        if self.kept.is_empty() {
            self.before = (self.seed)(self.boxes.height().saturating_sub(1));
        }
    }

    /// What is kept with the newest box may change: it is no longer as it was.
    fn touch(&mut self) {
        if let (true, Some(below)) = (self.kept.is_empty(), self.boxes.height().checked_sub(1)) {
            self.kept.push((self.seed)(below));
        }
    }
}

impl<P: Pile<Kept = ()>, K> Pile for Seeded<P, K> {
    type Kept = K;

    #[inline]
    fn height(&self) -> usize {
        self.boxes.height()
    }

    #[inline]
    fn newest(&self) -> Option<(&OpenBox, &K)> {
        let (open, ()) = self.boxes.newest()?;
        Some((open, self.kept.last().unwrap_or(&self.before)))
    }

    #[inline]
    fn newest_kept(&mut self) -> Option<(&OpenBox, &mut K)> {
        self.touch();
        let (open, ()) = self.boxes.newest()?;
        Some((open, self.kept.last_mut()?))
    }

    #[inline]
    fn newest_mut(&mut self) -> Option<(&mut OpenBox, &mut K)> {
        self.touch();
        let (open, ()) = self.boxes.newest_mut()?;
        Some((open, self.kept.last_mut()?))
    }

    #[inline]
    fn put(&mut self, open: OpenBox, kept: K) {
        self.boxes.put(open, ());
        self.kept.push(kept);
    }

    #[inline]
    fn take(&mut self) -> Option<(OpenBox, K)> {
        let (open, ()) = self.boxes.take()?;
        let own = self.kept.pop();
        let kept = own.unwrap_or_else(|| (self.seed)(self.boxes.height()));
        self.find_seed();
        Some((open, kept))
    }

    #[inline]
    fn shrink(&mut self, height: usize, mut gone: impl FnMut(K)) {
        let left = self.left();
        while self.kept.len() > height.saturating_sub(left)
            && let Some(kept) = self.kept.pop()
        {
            gone(kept);
        }
        let from_before = (height.min(left)..left).rev();
        from_before.for_each(|below| gone((self.seed)(below)));
        self.boxes.shrink(height, |()| {});
        self.find_seed();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn open(called: u64) -> OpenBox {
        OpenBox {
            called,
            caller: None,
            predicate: 0,
            called_as: 0,
            last_calls: 0,
            way: 0,
        }
    }

    /// What a plain stack has of which every box was given its value at once.
    fn check(before: u64, steps: &[(u8, u64)]) {
        let plain: Vec<(OpenBox, ())> = (0..before).map(|called| (open(called), ())).collect();
        let mut seeded = Seeded::new(plain, |below| below as u64);
        let mut all: Vec<(OpenBox, u64)> =
            (0..before).map(|called| (open(called), called)).collect();
        let mut fresh = 1000;
        for &(what, many) in steps {
            fresh += 1;
            match what {
                0 => {
                    seeded.put(open(fresh), fresh);
                    all.put(open(fresh), fresh);
                }
                1 => assert_eq!(seeded.take(), all.take()),
                2 => {
                    let (mut gone, mut expected) = (Vec::new(), Vec::new());
                    let height = Pile::height(&all).min(many as usize);
                    seeded.shrink(height, |kept| gone.push(kept));
                    all.shrink(height, |kept| expected.push(kept));
                    assert_eq!(gone, expected);
                }
                3 => {
                    let change = |(open, kept): (&mut OpenBox, &mut u64)| {
                        (open.last_calls, *kept) = (many, fresh);
                    };
                    if let Some(newest) = seeded.newest_mut() {
                        change(newest);
                    }
                    if let Some(newest) = all.newest_mut() {
                        change(newest);
                    }
                }
                _ => {
                    seeded.forget();
                    for (below, (_, kept)) in all.iter_mut().enumerate() {
                        *kept = below as u64;
                    }
                }
            }
            assert_eq!(seeded.newest(), Pile::newest(&all));
            let Since { left, kept } = seeded.since();
            let values: Vec<u64> = (0..left as u64).chain(kept).collect();
            assert!(values.iter().eq(all.iter().map(|(_, kept)| kept)));
        }
    }

    proptest! {
        #[test]
        fn values_are_those_of_a_plain_stack(before in 0..6_u64, steps in prop::collection::vec((0..5_u8, 0..8_u64), 0..40)) {
            check(before, &steps);
        }
    }
}
