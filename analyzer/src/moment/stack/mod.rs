//! A stack of boxes that is cheap to keep, however high.
//!
//! Moments of a stream share what they have in common: boxes that were there when a stack was
//! [frozen](Stack::freeze) are kept once, in a few bytes each ([`packed`]). They lie in segments,
//! each on top of a part of another, as in a cactus stack. Only the newest boxes are at hand as
//! they are; when they are gone, the next ones are unpacked.

mod packed;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use bincode::{Decode, Encode};

use crate::machine::{OpenBox, Pile};
pub(crate) use packed::Packed;

/// Boxes, the newest on top.
///
/// Invariant: if there are boxes, the newest one is in `own`.
#[derive(Debug, Clone, Default)]
pub struct Stack {
    frozen: Frozen,
    own: Vec<OpenBox>,
    /// How many of the oldest boxes are as they were at the last [`Stack::change`].
    same: u64,
    /// How many there were then.
    before: u64,
    /// Nothing is kept with its boxes.
    nothing: (),
}

/// A stack that does not change; copies of it share its boxes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frozen {
    segment: Option<Arc<StackSegment>>,
    /// How many boxes there are. What is above that in the segment belongs to other stacks.
    len: u64,
}

#[derive(Debug)]
struct StackSegment {
    /// Where the boxes below are.
    below: Option<Arc<StackSegment>>,
    /// How many those are.
    base: u64,
    boxes: Arc<Packed>,
}

/// One after the other: there may be as many segments as there are checkpoints in a trace.
impl Drop for StackSegment {
    fn drop(&mut self) {
        let mut below = self.below.take();
        while let Some(mut segment) = below.and_then(Arc::into_inner) {
            below = segment.below.take();
        }
    }
}

impl Stack {
    /// How many boxes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.height()).unwrap_or(usize::MAX)
    }

    fn height(&self) -> u64 {
        self.frozen.len + self.own.len() as u64
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// The newest box.
    #[must_use]
    pub fn last(&self) -> Option<&OpenBox> {
        self.own.last()
    }

    /// All boxes, the newest first.
    pub fn newest(&self) -> impl Iterator<Item = OpenBox> {
        let mut frozen = self.frozen.clone();
        let pieces = std::iter::from_fn(move || {
            let boxes = frozen.pull();
            (!boxes.is_empty()).then_some(boxes)
        });
        let older = pieces.flat_map(|boxes| boxes.into_iter().rev());
        self.own.iter().rev().copied().chain(older)
    }

    /// All boxes, the oldest first, however many that are.
    #[must_use]
    pub fn to_vec(&self) -> Vec<OpenBox> {
        let mut boxes: Vec<OpenBox> = self.newest().collect();
        boxes.reverse();
        boxes
    }

    /// Makes copies cheap: from now on they share its boxes.
    pub(crate) fn freeze(&mut self) {
        let boxes = Packed::new(std::mem::take(&mut self.own));
        self.frozen.push(&Arc::new(boxes));
        self.own = self.frozen.pull();
    }

    #[inline]
    fn push(&mut self, boxed: OpenBox) {
        self.own.push(boxed);
    }

    #[inline]
    fn pop(&mut self) -> Option<OpenBox> {
        let newest = self.own.pop();
        if self.own.is_empty() {
            self.own = self.frozen.pull();
        }
        self.same = self.same.min(self.height());
        newest
    }

    /// Only the oldest `len` boxes stay.
    #[inline]
    fn truncate(&mut self, len: usize) {
        let len = len as u64;
        let own = len.saturating_sub(self.frozen.len);
        self.own
            .truncate(usize::try_from(own).unwrap_or(usize::MAX));
        if own == 0 {
            self.frozen.truncate(len);
            self.own = self.frozen.pull();
        }
        self.same = self.same.min(self.height());
    }

    /// How it changed since this was last asked, or since it was empty.
    pub(crate) fn change(&mut self) -> StackChange {
        let len = self.height();
        let new = usize::try_from(len - self.same).unwrap_or(usize::MAX);
        let mut pushed: Vec<OpenBox> = self.newest().take(new).collect();
        pushed.reverse();
        let popped = self.before - self.same;
        (self.same, self.before) = (len, len);
        StackChange {
            popped,
            pushed: Arc::new(Packed::new(pushed)),
        }
    }
}

impl Pile for Stack {
    type Kept = ();

    #[inline]
    fn height(&self) -> usize {
        self.len()
    }

    #[inline]
    fn newest(&self) -> Option<(&OpenBox, &())> {
        Some((self.own.last()?, &()))
    }

    #[inline]
    fn newest_kept(&mut self) -> Option<(&OpenBox, &mut ())> {
        Some((self.own.last()?, &mut self.nothing))
    }

    #[inline]
    fn newest_mut(&mut self) -> Option<(&mut OpenBox, &mut ())> {
        self.same = self.same.min(Stack::height(self).saturating_sub(1));
        Some((self.own.last_mut()?, &mut self.nothing))
    }

    #[inline]
    fn put(&mut self, open: OpenBox, (): ()) {
        self.push(open);
    }

    #[inline]
    fn take(&mut self) -> Option<(OpenBox, ())> {
        Some((self.pop()?, ()))
    }

    #[inline]
    fn shrink(&mut self, height: usize, mut gone: impl FnMut(())) {
        (height..self.len()).for_each(|_| gone(()));
        self.truncate(height);
    }
}

/// How a stack differs from what it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct StackChange {
    /// So many boxes are gone, or are others.
    pub(crate) popped: u64,
    /// What is there instead, the newest last.
    pub(crate) pushed: Arc<Packed>,
}

impl StackChange {
    /// This change, and then another one.
    pub(crate) fn and(&self, next: &Self) -> Self {
        let pushed = self.pushed.len();
        if next.popped >= pushed {
            return Self {
                popped: self.popped.saturating_add(next.popped - pushed),
                pushed: Arc::clone(&next.pushed),
            };
        }
        let stay = usize::try_from(pushed - next.popped).unwrap_or(usize::MAX);
        let boxes = self.pushed.oldest(stay).into_iter();
        let boxes = boxes.chain(next.pushed.oldest(usize::MAX));
        Self {
            popped: self.popped,
            pushed: Arc::new(Packed::new(boxes)),
        }
    }
}

impl From<Frozen> for Stack {
    fn from(mut frozen: Frozen) -> Self {
        let len = frozen.len;
        let own = frozen.pull();
        Self {
            frozen,
            own,
            same: len,
            before: len,
            nothing: (),
        }
    }
}

impl PartialEq for Stack {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.newest().eq(other.newest())
    }
}

impl Eq for Stack {}

impl Frozen {
    /// How many boxes there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Puts boxes on top, the newest last.
    fn push(&mut self, boxes: &Arc<Packed>) {
        if boxes.len() == 0 {
            return;
        }
        let base = self.len;
        self.len += boxes.len();
        self.segment = Some(Arc::new(StackSegment {
            below: self.segment.take(),
            base,
            boxes: Arc::clone(boxes),
        }));
    }

    /// Becomes what the stack was after a change.
    pub(crate) fn change(&mut self, change: &StackChange) {
        self.truncate(self.len.saturating_sub(change.popped));
        self.push(&change.pushed);
    }

    /// Only the oldest `len` boxes stay.
    fn truncate(&mut self, len: u64) {
        self.len = self.len.min(len);
        while let Some(segment) = self.segment.take() {
            if segment.base < self.len {
                self.segment = Some(segment);
                return;
            }
            self.segment = segment.below.clone();
        }
    }

    /// Takes some of the newest boxes off; none only if there are none.
    #[cold]
    fn pull(&mut self) -> Vec<OpenBox> {
        let Some(segment) = &self.segment else {
            return Vec::new();
        };
        let boxes = segment.boxes.newest(self.len - segment.base);
        let left = self.len.saturating_sub(boxes.len() as u64);
        self.truncate(left);
        boxes
    }
}
