//! How many random programs a test makes, and which: as the environment says.

/// How many times as many as by default: `PORTMORTEM_ROUNDS`, or 1.
///
/// # Panics
/// If that is no number.
#[must_use]
pub fn rounds() -> u64 {
    number("PORTMORTEM_ROUNDS", 1)
}

/// The number of the first program: `PORTMORTEM_SEED`, or the test's own.
///
/// # Panics
/// If that is no number.
#[must_use]
pub fn first_program(of_test: u64) -> u64 {
    number("PORTMORTEM_SEED", of_test)
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}
