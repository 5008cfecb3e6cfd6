//! Random numbers that are the same for the same seed, on every machine and in every version: a
//! crate may change its sequence, and then a seed in a bug report would mean another trace.

/// SplitMix64 (Steele, Lea, Flood 2014): one addition and two multiplications a number.
#[derive(Debug, Clone)]
pub(super) struct Random {
    state: u64,
}

impl Random {
    /// The sequence number `which` of a seed.
    pub(super) fn new(seed: u64, which: u64) -> Self {
        let mut seeds = Self { state: seed };
        let state = seeds.next() ^ which.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Self { state }
    }

    #[inline(always)]
    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    #[inline]
    pub(super) fn below(&mut self, end: u32) -> u32 {
        scale(self.next() as u32, end)
    }

    /// True `times` times out of `of`.
    pub(super) fn chance(&mut self, times: u32, of: u32) -> bool {
        self.below(of) < times
    }
}

/// Maps a random number to one below `end`.
#[inline(always)]
fn scale(random: u32, end: u32) -> u32 {
    ((u64::from(random) * u64::from(end)) >> 32) as u32
}

/// One throw for one step of an execution: its bits decide different things.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dice(pub(super) u64);

impl Dice {
    /// Ticks since the last event: with these an event takes two bytes and its predicate.
    #[inline(always)]
    pub(super) fn ticks(self) -> u64 {
        16 + (self.0 & 0xff)
    }

    /// 0 to 65535.
    #[inline(always)]
    pub(super) fn fate(self) -> u16 {
        (self.0 >> 8) as u16
    }

    /// 0 to 65535, independent of [`Dice::fate`].
    #[inline(always)]
    pub(super) fn index(self) -> u16 {
        (self.0 >> 24) as u16
    }

    #[inline(always)]
    pub(super) fn coin(self) -> bool {
        (self.0 >> 40) & 1 == 1
    }

    /// A number below `end`; not independent of the others.
    #[inline(always)]
    pub(super) fn below(self, end: u32) -> u32 {
        scale((self.0 >> 16) as u32, end)
    }

    /// Once in 8192 throws: what rare thing happens, of 128.
    #[inline(always)]
    pub(super) fn rare(self) -> Option<u32> {
        (self.0 >> 51 == 0).then_some((self.0 >> 41) as u32 & 127)
    }
}
