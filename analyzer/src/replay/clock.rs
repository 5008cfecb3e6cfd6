//! The clocks of a stream: all time of boxes, and the part of it that is no work.

use bincode::{Decode, Encode};

/// What the clocks show, or how long something took by them, in ticks. Counted modulo 2⁶⁴.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct Ticks {
    pub(super) all: u64,
    /// Those of them while the active box was no work ([`crate::trace::BoxKind::is_work`]).
    pub(super) left_out: u64,
}

impl Ticks {
    /// Some ticks, all of work or none of them.
    #[inline(always)]
    pub(super) fn new(all: u64, is_left_out: bool) -> Self {
        Self {
            all,
            left_out: u64::from(is_left_out).wrapping_neg() & all,
        }
    }

    /// Those of work.
    #[inline]
    pub(super) fn work(self) -> u64 {
        self.all.wrapping_sub(self.left_out)
    }

    #[inline]
    pub(super) fn plus(self, more: Self) -> Self {
        Self {
            all: self.all.wrapping_add(more.all),
            left_out: self.left_out.wrapping_add(more.left_out),
        }
    }

    #[inline]
    pub(super) fn minus(self, less: Self) -> Self {
        Self {
            all: self.all.wrapping_sub(less.all),
            left_out: self.left_out.wrapping_sub(less.left_out),
        }
    }

    #[inline]
    pub(super) fn times(self, count: u64) -> Self {
        Self {
            all: self.all.wrapping_mul(count),
            left_out: self.left_out.wrapping_mul(count),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, more: Self) {
        self.all = self.all.wrapping_add(more.all);
        self.left_out = self.left_out.wrapping_add(more.left_out);
    }
}

impl std::iter::Sum for Ticks {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::plus)
    }
}
