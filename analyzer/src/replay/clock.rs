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

/// The clock of a chunk. It stands while the stream is paused.
#[derive(Debug, Default)]
pub(super) struct ChunkClock {
    /// When the last event happened.
    tick: u64,
    /// Ticks of the chunk that belong to a box.
    now: Ticks,
    is_paused: bool,
    paused_ticks: u64,
    gap_ticks: u64,
}

impl ChunkClock {
    /// It begins to run, or stands from the beginning.
    pub(super) fn starting(tick: u64, is_paused: bool) -> Self {
        Self {
            tick,
            is_paused,
            ..Self::default()
        }
    }

    /// When the last event happened.
    #[inline(always)]
    pub(super) fn tick(&self) -> u64 {
        self.tick
    }

    /// Ticks of the chunk that belong to a box.
    #[inline(always)]
    pub(super) fn now(&self) -> Ticks {
        self.now
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub(super) fn paused_ticks(&self) -> u64 {
        self.paused_ticks
    }

    /// Ticks while events were lost.
    pub(super) fn gap_ticks(&self) -> u64 {
        self.gap_ticks
    }

    /// It stands from here on, or runs again.
    #[inline(always)]
    pub(super) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    /// Goes to a tick, never back; how far that is.
    #[inline(always)]
    pub(super) fn go_to(&mut self, tick: u64) -> u64 {
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        stretch
    }

    /// Goes on by some ticks. `None` if no clock shows so many.
    #[inline(always)]
    pub(super) fn go_on(&mut self, delta: u64) -> Option<()> {
        self.tick = self.tick.checked_add(delta)?;
        Some(())
    }

    /// Goes on while events were lost. Nothing is known after that, so it runs.
    pub(super) fn skip(&mut self, stretch: u64) {
        self.tick += stretch;
        self.gap_ticks += stretch;
        self.is_paused = false;
    }

    /// A stretch of time passed; whether it belongs to a box.
    #[inline(always)]
    pub(super) fn pass(&mut self, stretch: u64) -> bool {
        match self.is_paused {
            true => self.paused_ticks += stretch,
            false => self.now.all += stretch,
        }
        !self.is_paused
    }

    /// The stretch that passed was no work. Apart, because it is seldom.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_out(&mut self, stretch: u64) {
        self.now.left_out += stretch;
    }
}

impl std::iter::Sum for Ticks {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Self::plus)
    }
}
