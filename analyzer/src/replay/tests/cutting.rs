//! A part of a trace has the figures, tables and events of that range in the trace, to the tick.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use portmortem_tracer::format::Part;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::damaged::open;
use super::{files, parallel};
use crate::calls::CallsOnRequest;
use crate::condition::ListedCondition;
use crate::cutting::{CutError, cut};
use crate::export::{self, Exporter, Table};
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::listing::Listing;
use crate::replay::{ReplayOptions, replay};
use crate::scope::{Filter, Filters, Scope, Window};
use crate::tables::{SiteNames, Tables};
use crate::trace::Trace;
use crate::trace::packing::{pack, unpack};

fn part(trace: &Trace, window: Window, streams: &[u32]) -> Result<Vec<u8>, CutError> {
    let part = Part {
        from: window.from,
        until: window.until,
        streams: streams.to_vec(),
        of: "whole.pmt".to_owned(),
    };
    let mut out = Vec::new();
    cut(trace, &part, false, &mut out, &AtomicU64::new(0))?;
    Ok(out)
}

/// What is known of a range.
#[derive(Debug, PartialEq)]
struct Known {
    profile: Profile,
    tables: Vec<String>,
    events: Vec<String>,
}

/// What is found in a trace with these filters. Where something is in the file does not matter, nor
/// what was before in a stream that is not in the range.
fn known(trace: &Trace, filters: &Filters) -> Known {
    let mut profile = replay(trace, &ReplayOptions::of(filters));
    (profile.damage, profile.violations) = (Vec::new(), Vec::new());
    profile.violation_count = 0;
    for stream in &mut profile.streams {
        if stream.events + stream.lost_events == 0 {
            stream.events_before = 0;
        }
    }
    let scope = Arc::new(Scope::of(trace, filters));
    let calls = CallsOnRequest::new(scope);
    let tables = Tables::new("a", trace, &profile).with_calls(&calls);
    let all = Table::ALL.iter().filter(|table| table.name() != "events");
    let csv = |table: &Table| {
        let mut out = Vec::new();
        export::Csv.write(&tables, *table, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let tables: Vec<String> = all.map(csv).collect();
    let mut tables = tables;
    tables.push(format!("{:?}", calls.get(trace).behaviour));
    Known {
        tables,
        events: listed(trace, filters),
        profile,
    }
}

/// All events of the range, with all that is said of each.
fn listed(trace: &Trace, filters: &Filters) -> Vec<String> {
    let sites = SiteNames::of(trace);
    let mut listing = Listing::new(trace, "a", None, &sites);
    if let Some(window) = filters.window() {
        listing.window = window;
    }
    listing.streams = filters.streams();
    let condition = ListedCondition::parse("event >= 0", trace, &sites).unwrap();
    let mut events = Vec::new();
    let _ = listing.each(&condition, &mut |listed, _| {
        let step = listed.at.step;
        events.push(format!("{} {step:?} {:?}", listed.at.stream, listed.facts));
        ControlFlow::Continue(())
    });
    events
}

fn filters(window: Window, streams: &[u32]) -> Filters {
    let mut filters = Filters::default();
    filters.push(Filter::Window(window));
    for &stream in streams {
        filters.push(Filter::Stream(stream));
    }
    filters
}

/// Cuts a range out of a trace and compares; the part.
fn check(trace: &Trace, window: Window, streams: &[u32]) -> Vec<u8> {
    let cut = part(trace, window, streams).unwrap();
    let found = open(&cut).unwrap();
    assert_eq!(found.verify(), []);
    let wanted = known(trace, &filters(window, streams));
    let known = known(&found, &Filters::default());
    for (known, wanted) in known.events.iter().zip(&wanted.events) {
        assert_eq!(known, wanted, "{window:?}");
    }
    assert_eq!(known.events.len(), wanted.events.len(), "{window:?}");
    for (known, wanted) in known.tables.iter().zip(&wanted.tables) {
        assert_eq!(known, wanted, "{window:?}");
    }
    assert_eq!(known.profile, wanted.profile, "{window:?}");
    assert_eq!(laws::check(&known.profile), []);
    cut
}

/// The first and the last tick of the events of a trace.
fn ends(trace: &Trace) -> (u64, u64) {
    let streams = trace.streams().iter();
    let ticks = streams.flat_map(|stream| trace.events(stream).map(|timed| timed.tick));
    let ticks: Vec<u64> = ticks.collect();
    let least = ticks.iter().min().copied().unwrap_or(0);
    (least, ticks.iter().max().copied().unwrap_or(0))
}

/// Of a trace of these ends, a range from one thousandth on, so many long.
fn range((first, last): (u64, u64), from: u64, length: u64) -> Window {
    let at = |thousandths: u64| first + (last - first) / 1000 * thousandths + thousandths % 7;
    Window {
        from: at(from),
        until: at(from + length).max(at(from)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Short streams with gaps, of both dialects.
    #[test]
    fn parts_of_short_traces(
        script in files::script(), from in 0..1100u64, length in 0..1100u64, stream in any::<bool>(),
    ) {
        let trace = files::trace(files::record(&script));
        let streams: &[u32] = if stream { &[1] } else { &[] };
        check(&trace, range(ends(&trace), from, length), streams);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Streams of many blocks.
    #[test]
    fn parts_of_long_traces(script in parallel::long(), from in 0..1000u64, length in 0..300u64) {
        let trace = files::trace(files::record(&script));
        let window = range(ends(&trace), from, length);
        let first = check(&trace, window, &[]);
        // A part of a part, and a part that was packed.
        let cut = open(&first).unwrap();
        let half = Window { until: window.from + (window.until - window.from) / 2, ..window };
        let second = check(&cut, half, &[]);
        prop_assert_eq!(
            known(&open(&second).unwrap(), &Filters::default()),
            known(&trace, &filters(half, &[]))
        );
        let (mut packed, mut back) = (Vec::new(), Vec::new());
        pack(&cut, &mut packed, &AtomicU64::new(0)).unwrap();
        let packed = open(&packed).unwrap();
        prop_assert_eq!(known(&packed, &Filters::default()), known(&cut, &Filters::default()));
        unpack(&packed, &mut back, &AtomicU64::new(0)).unwrap();
        prop_assert!(back == first);
    }

    /// Whatever is wrong with a trace: its parts are those of the trace, or there are none.
    #[test]
    fn parts_of_damaged_traces(
        script in files::script(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..4),
        left in prop::option::of(any::<prop::sample::Index>()),
        (from, length) in (0..1000u64, 0..1000u64),
    ) {
        let mut bytes = files::record(&script);
        for (place, bits) in flips {
            let place = 4096 + place.index(bytes.len() - 4096);
            bytes[place] ^= bits;
        }
        if let Some(left) = left {
            bytes.truncate(4096 + left.index(bytes.len() - 4096));
        }
        let trace = open(&bytes).unwrap();
        let window = range(ends(&trace), from, length);
        match part(&trace, window, &[]) {
            Ok(cut) => {
                let profile = replay(&open(&cut).unwrap(), &ReplayOptions::default());
                prop_assert_eq!(laws::check(&profile), []);
            }
            Err(CutError::Damaged { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// A part that was damaged is analysed or refused.
    #[test]
    fn damaged_parts(
        script in files::script(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..6),
    ) {
        let trace = files::trace(files::record(&script));
        let mut bytes = part(&trace, range(ends(&trace), 300, 300), &[]).unwrap();
        for (place, bits) in flips {
            let place = 4096 + place.index(bytes.len() - 4096);
            bytes[place] ^= bits;
        }
        if let Ok(trace) = open(&bytes) {
            let _ = trace.verify();
            let profile = replay(&trace, &ReplayOptions::default());
            prop_assert_eq!(laws::check(&profile), []);
        }
    }
}

fn samples() -> Vec<Trace> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let files = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|name| name == "pmt"));
    paths.sort();
    paths
        .iter()
        .map(|path| Trace::open(path).unwrap())
        .collect()
}

/// 200 ranges of recorded programs, some of one stream; from the beginning, up to the end, empty.
#[test]
fn parts_of_recorded_programs() {
    let samples = samples();
    let mut runner = TestRunner::deterministic();
    let rng = runner.rng();
    let (mut all, mut sizes) = (0, 0);
    for at in 0..200 {
        let trace = &samples[at % samples.len()];
        let ends = ends(trace);
        let (from, length) = match at / samples.len() {
            0 => (0, 100),
            1 => (900, 200),
            2 => (500, 0),
            _ => (rng.random_range(0..1000), rng.random_range(0..200)),
        };
        let last = trace.streams().last().map(|stream| stream.id);
        let streams = if at % 3 == 0 { last } else { None };
        let cut = check(trace, range(ends, from, length), streams.as_slice());
        (all, sizes) = (all + trace.size(), sizes + cut.len() as u64);
    }
    assert!(sizes < all / 2, "{sizes} of {all}");
}

/// What was before a part takes no room: a loop has as many events as it went round.
#[test]
fn a_part_is_small() {
    let trace = files::trace(files::record(&files::long()));
    let ends = ends(&trace);
    let cut = check(&trace, range(ends, 900, 1), &[]);
    assert!(
        trace.size() > 400_000 && cut.len() < 10_000,
        "{}",
        cut.len()
    );
    // All of it is a part, too.
    let all = Window {
        from: 0,
        until: u64::MAX,
    };
    check(&trace, all, &[]);
}

/// Asking for what a part does not have is an error that says what it has.
#[test]
fn ranges_of_a_part() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/queens.pmt");
    let trace = Trace::open(&path).unwrap();
    let window = Window::parse("1ms..2ms", &trace).unwrap();
    let cut = open(&part(&trace, window, &[]).unwrap()).unwrap();
    let parse = |text: &str| Window::parse(text, &cut);
    assert_eq!(parse("1ms..2ms"), Ok(window));
    assert_eq!(parse("..2ms"), Ok(window));
    assert_eq!(parse(&window.text(&cut)), Ok(window));
    assert_eq!(parse("1.5ms..").unwrap().until, window.until);
    for outside in ["0.5ms..1.5ms", "1.5ms..3ms", "2.5ms..", "..0.5ms"] {
        let error = parse(outside).unwrap_err().to_string();
        assert!(error.ends_with("ask for some of 1ms..2ms"), "{error}");
    }
}
