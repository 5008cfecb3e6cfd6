//! Target `trace`: any bytes given as a trace are analysed or refused.

use std::path::Path;

use portmortem_analyzer::trace::mapping::Mapping;
use portmortem_analyzer::{Damage, ReplayOptions, Trace};

use crate::agreement::{replay_in_all_ways, write_all_tables};
use crate::packed::{Modes, unpack};

/// Opens the trace that the input is.
pub(crate) fn open(input: &[u8]) -> Option<Trace> {
    let (&modes, packed) = input.split_first()?;
    let bytes = unpack(packed, Modes(modes));
    Trace::read(Mapping::from(bytes), Path::new("fuzz.pmt")).ok()
}

/// Every replay finds the same, the laws hold, every table can be written, and damage that the replay
/// met is that of `verify`.
///
/// # Panics
/// If it is otherwise.
pub fn check(input: &[u8]) {
    let Some(trace) = open(input) else { return };
    let profile = replay_in_all_ways(&trace, &ReplayOptions::default());
    assert_eq!(sorted(&trace.verify()), sorted(&profile.damage));
    write_all_tables(&trace, &profile);
}

/// Damages at the same offset have no order.
fn sorted(damage: &[Damage]) -> Vec<String> {
    let mut lines: Vec<String> = damage.iter().map(|one| format!("{one:?}")).collect();
    lines.sort();
    lines
}
