//! Moments for a test to act at, which differ from run to run.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SEED: &str = "PORTMORTEM_SEED";

/// Numbers that look random (splitmix64).
#[derive(Debug)]
pub struct Random(Cell<u64>);

impl Default for Random {
    fn default() -> Self {
        Self::new()
    }
}

impl Random {
    /// With another seed on every run: the clock's, or `PORTMORTEM_SEED`. It is printed, so that
    /// the report of a failure has it.
    ///
    /// # Panics
    /// If `PORTMORTEM_SEED` is no number.
    #[must_use]
    pub fn new() -> Self {
        let seed = match std::env::var(SEED) {
            Ok(text) => text.parse().unwrap(),
            Err(_) => clock(),
        };
        println!("{SEED}={seed}");
        Self::of(seed)
    }

    /// The same numbers every time.
    #[must_use]
    pub fn of(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// The next number, less than `limit`.
    ///
    /// # Panics
    /// If `limit` is 0.
    pub fn below(&self, limit: u64) -> u64 {
        let mut value = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(value);
        value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (value ^ value >> 31) % limit
    }

    /// Sleeps for a random time, less than `limit`.
    pub fn nap(&self, limit: Duration) {
        let micros = self.below(limit.as_micros() as u64);
        std::thread::sleep(Duration::from_micros(micros));
    }
}

/// Nanoseconds since 1970, as far as they fit.
fn clock() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos() as u64
}
