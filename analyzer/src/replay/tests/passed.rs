//! Time that passed, by both clocks.

/// Some time, and the work in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Passed {
    pub(super) ticks: u64,
    pub(super) work: u64,
}

impl Passed {
    /// Adds it to sums of both.
    pub(super) fn add_to(self, ticks: &mut u64, work: &mut u64) {
        *ticks += self.ticks;
        *work += self.work;
    }
}
