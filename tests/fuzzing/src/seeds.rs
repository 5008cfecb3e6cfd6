//! Inputs to begin with: sample traces cut down, and generated ones.

use portmortem_tracer::format::Dialect;

use crate::generated::{Shape, trace};
use crate::indexes;
use crate::mutation::Random;
use crate::packed::{Modes, pack};

macro_rules! samples {
    ($($name:literal),*) => {
        &[$(($name, include_bytes!(concat!("../../../traces/", $name, ".pmt")))),*]
    };
}

/// The recorded traces of `traces/`, by name.
pub const SAMPLES: &[(&str, &[u8])] = samples!(
    "debray1",
    "debray2",
    "debray3",
    "debray4",
    "metainterp",
    "parser",
    "queens",
    "threads_exceptions"
);

/// Longer inputs make fuzzing slow and show nothing more.
const MOST_BYTES: usize = 6000;

const MODES: [u8; 3] = [0, Modes::MENDED, Modes::MENDED | Modes::CUT];

/// Of the target `trace`.
#[must_use]
pub fn traces() -> Vec<Vec<u8>> {
    let whole = SAMPLES.iter().map(|(_, sample)| pack(sample));
    let generated = shapes().into_iter().map(|shape| pack(&trace(shape)));
    let mut seeds = Vec::new();
    for (at, mut packed) in whole.chain(generated).enumerate() {
        // What is cut off here ends inside a block.
        packed.truncate(MOST_BYTES);
        seeds.push(with_mode(MODES[at % MODES.len()], &packed));
        seeds.push(with_mode(Modes::MENDED, &packed));
    }
    seeds
}

/// Of the target `scope`.
#[must_use]
pub fn scopes() -> Vec<Vec<u8>> {
    const LINES: [&str; 14] = [
        "time 1us..2ms",
        "time ..1us",
        "time 500..",
        "hide lists:*",
        "hide p/1;hide user:q*",
        "one 1",
        "in 1",
        "path 0,1",
        "in 2;path 2,1",
        "time 100..900;in 1;one 0",
        "hide *",
        "in 0;in 0;time 0.1us..1us;time 200..",
        "stream 1",
        "stream 2;in 1;stream 3;time 100..",
    ];
    traces()
        .iter()
        .enumerate()
        .map(|(at, trace)| {
            let line = LINES[at % LINES.len()];
            let mut seed = line.as_bytes().to_vec();
            seed.push(b'\n');
            seed.extend_from_slice(trace);
            seed
        })
        .collect()
}

/// Of the target `index`.
#[must_use]
pub fn indexes() -> Vec<Vec<u8>> {
    indexes::genuine()
        .iter()
        .flat_map(|index| [with_mode(0, indexes::contents(index)), with_mode(1, index)])
        .collect()
}

/// Traces that the target `records` changes: small ones, with all kinds of records.
pub(crate) fn originals() -> Vec<Vec<u8>> {
    let shapes = shapes().into_iter().filter(|shape| shape.costs);
    let generated = shapes.take(3).map(trace);
    let samples = SAMPLES.iter().map(|(_, sample)| sample.to_vec());
    let hostile = HOSTILE.iter().map(|input| input[1..].to_vec());
    samples.chain(generated).chain(hostile).collect()
}

/// Inputs of the target `trace` that are whole traces, with records of clauses, arguments and
/// costs.
const HOSTILE: [&[u8]; 2] = [
    include_bytes!("../../../fuzz/regressions/trace/a-site-for-a-cost-centre"),
    include_bytes!("../../../fuzz/regressions/trace/a-spliced-record"),
];

/// Of the target `records`: each trace as it is, and with some changes.
#[must_use]
pub fn records() -> Vec<Vec<u8>> {
    let mut random = Random::new(1);
    let mut seeds = Vec::new();
    for first in 0..originals().len() {
        seeds.push(vec![first as u8, 0]);
        for length in [6, 20, 60] {
            let mut seed = vec![first as u8];
            seed.extend((0..length).map(|_| random.below(256) as u8));
            seeds.push(seed);
        }
    }
    seeds
}

/// Of the target `condition`.
#[must_use]
pub fn conditions() -> Vec<Vec<u8>> {
    [
        "port = fail and depth > 10",
        "predicate = attack/3 ns >= 5ms",
        "append",
        "\"quoted \\\" text\"",
        "box = 1200 and parent < box and stream != 1 or seq <= 1.3k",
        "port ~ \"^(fail|exception)$\"",
        "not (port = redo or depth =< 12) ~ a.*b",
        "text !~ x count > 0 self > 10% failed >= 1.5min",
        "((not not port == mark))",
        "calls > 1_000,000 redos < calls",
        "",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    for seed in 0..16 {
        let bit = |at: u32| seed & (1 << at) != 0;
        shapes.push(Shape {
            seed,
            dialect: if bit(0) {
                Dialect::InnermostRedo
            } else {
                Dialect::EveryRedo
            },
            streams: 1 + seed as u32 % 3,
            events: 60 + 40 * seed as usize,
            odd: bit(1) && bit(0),
            costs: bit(2),
            ended: bit(3),
        });
    }
    shapes
}

fn with_mode(mode: u8, rest: &[u8]) -> Vec<u8> {
    let mut seed = vec![mode];
    seed.extend_from_slice(rest);
    seed
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use portmortem_analyzer::trace::mapping::Mapping;
    use portmortem_analyzer::{ReplayOptions, Trace, replay};

    use super::*;
    use crate::packed::unpack;

    /// Else mutations of them would not get far.
    #[test]
    fn generated_traces_are_whole_unless_they_are_odd() {
        for shape in shapes() {
            let packed = pack(&trace(shape));
            for mode in [0, Modes::MENDED] {
                let bytes = unpack(&packed, Modes(mode));
                let trace = Trace::read(Mapping::from(bytes), Path::new("a.pmt")).unwrap();
                let profile = replay(&trace, &ReplayOptions::default());
                assert_eq!(profile.damage, [], "{shape:?}");
                assert_eq!(profile.lost_events(), 0, "{shape:?}");
                assert!(shape.odd || profile.violation_count == 0, "{shape:?}");
                assert_eq!(trace.end().is_some(), shape.ended, "{shape:?}");
                let events: u64 = profile.streams.iter().map(|stream| stream.events).sum();
                assert_eq!(events, shape.events as u64 * u64::from(shape.streams));
            }
        }
    }
}
