//! What a thread waits has a row of its own, and is in the self time of no other. No bound here
//! depends on how busy the machine is: a
//! program waits for at least as long as it sleeps, and works for at least as long as it uses the
//! processor.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_analyzer::figures::Caller;
use portmortem_analyzer::figures::laws;
use portmortem_analyzer::{Profile, ReplayOptions, replay};
use support::{program, record};

/// Of the 50 ms that everything in the program takes; the rest is what falling asleep and waking up
/// cost.
const MOST_NS: u64 = 40_000_000;

#[test]
fn who_waits_is_the_caller_of_the_row_with_ports() {
    let profile = has_the_row("boundary(false),ports(true)");
    // Threads whose goals are not recorded have no stream.
    assert_eq!(profile.streams.len(), 1);
}

#[test]
fn who_waits_is_the_caller_of_the_row() {
    let profile = has_the_row("boundary(false)");
    // Such threads may have one, without events.
    let events = profile.streams.iter().map(|stream| stream.events);
    assert_eq!(events.filter(|&events| events > 0).count(), 1);
}

fn has_the_row(options: &str) -> Profile {
    let (output, trace) = record(options, &program("collections/waits.pl"), &[]);
    assert!(output.status.success(), "{output:?}");
    let profile = replay(&trace, &ReplayOptions::default());
    assert!(profile.violations.is_empty(), "{:?}", profile.violations);
    assert!(laws::check(&profile).is_empty());
    let index = |indicator: &str| {
        let mut known = trace.predicates().iter();
        let place = known.position(|info| info.indicator == indicator);
        place.unwrap_or_else(|| panic!("no {indicator}")) as u32
    };
    let ns = |ticks| trace.clock().duration_ns(ticks);
    let waiting = index("system:waiting/0");
    for (caller, times) in [
        ("nap/0", 1),
        ("message/0", 1),
        ("joined/0", 1),
        ("piped/0", 1),
        ("cut_late/0", 1),
        ("thrown/0", 1),
        ("failing/0", 1),
        ("redone/0", 2),
    ] {
        let index = index(caller);
        let edge = profile.edges[&(Caller::Predicate(index), waiting)];
        let waited = ns(edge.served_ticks);
        assert!(waited >= times * MOST_NS, "{caller} waited {waited} ns");
        assert!(edge.calls >= times, "{caller}: {edge:?}");
    }
    let busy = profile.predicates[index("busy/1") as usize];
    assert!(ns(busy.self_ticks) >= MOST_NS, "{busy:?}");

    let row = profile.predicates[waiting as usize];
    assert_eq!(row.self_ticks, row.inclusive_ticks);
    assert_eq!(row.calls, row.exits_det);
    let infos = trace.predicates().iter().zip(&profile.predicates);
    let rows = infos.filter(|(info, _)| info.is_waiting());
    let by_row: u64 = rows.map(|(_, figures)| figures.self_ticks).sum();
    let by_stream: u64 = profile.streams.iter().map(|s| s.waiting_ticks).sum();
    assert_eq!(by_stream, by_row);
    profile
}
