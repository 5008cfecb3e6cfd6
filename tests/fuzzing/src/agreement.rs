//! Every way to replay a trace finds the same, and the conservation laws hold.

use std::io;
use std::sync::{Arc, OnceLock};

use portmortem_analyzer::calls::CallsOnRequest;
use portmortem_analyzer::export::{Csv, Exporter, Json};
use portmortem_analyzer::figures::EdgeFigures;
use portmortem_analyzer::figures::laws;
use portmortem_analyzer::tables::Table;
use portmortem_analyzer::{Filters, Profile, ReplayOptions, Scope, Tables, Trace, replay};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Numbers of threads, and bytes of events in a chunk.
const WAYS: [(usize, Option<u64>); 4] = [
    (1, Some(1)),
    (2, Some(1)),
    (3, Some(1100)),
    (2, Some(u64::MAX)),
];

/// Replays a trace in every way; returns what one thread finds, with streams as a whole.
pub(crate) fn replay_in_all_ways(trace: &Trace, options: &ReplayOptions) -> Profile {
    let whole = with_threads(1, || replay::replay(trace, options));
    let bounded = is_bounded(&whole);
    if bounded {
        assert_eq!(laws::check(&whole), [], "streams as a whole");
    }
    for (threads, chunk_bytes) in WAYS {
        let options = ReplayOptions {
            chunk_bytes,
            ..options.clone()
        };
        let found = with_threads(threads, || replay::replay(trace, &options));
        if bounded {
            let way = format!("{threads} threads, {chunk_bytes:?} bytes in a chunk");
            assert_eq!(laws::check(&found), [], "{way}");
            assert_same(&found, &whole, &way);
        }
    }
    whole
}

/// Writes every table in both formats of text.
pub(crate) fn write_all_tables(trace: &Trace, profile: &Profile) {
    let calls = CallsOnRequest::new(Arc::new(Scope::of(trace, &Filters::default())));
    let tables = Tables::new("fuzz", trace, profile).with_calls(&calls);
    for &table in Table::ALL {
        for format in [&Csv as &dyn Exporter, &Json] {
            let written = format.write(&tables, table, &mut io::sink());
            assert!(written.is_ok(), "{} as {}", table.name(), format.name());
        }
    }
}

/// Runs `work` with so many threads.
pub(crate) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    let pools = POOLS.get_or_init(|| {
        let pool = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads can be started")
        };
        (1..=3).map(pool).collect()
    });
    pools[threads - 1].install(work)
}

/// Whether no sum of times can exceed 64 bits: then it saturates, and sums of sums differ.
fn is_bounded(profile: &Profile) -> bool {
    let (mut ticks, mut events) = (0_u128, 1_u128);
    for stream in &profile.streams {
        ticks += u128::from(stream.last_tick.saturating_sub(stream.first_tick));
        events += u128::from(stream.events);
    }
    ticks * events < 1 << 63
}

/// Compares part by part, for a message that can be read.
fn assert_same(found: &Profile, wanted: &Profile, way: &str) {
    assert_eq!(found.streams, wanted.streams, "streams, {way}");
    assert_eq!(found.predicates, wanted.predicates, "predicates, {way}");
    assert_eq!(edges(found), edges(wanted), "edges, {way}");
    assert_eq!(found.sites, wanted.sites, "sites, {way}");
    assert_eq!(found.contexts, wanted.contexts, "contexts, {way}");
    assert_eq!(found.backtracks, wanted.backtracks, "backtracks, {way}");
    assert_eq!(found.cuts, wanted.cuts, "cuts, {way}");
    assert_eq!(found.violations, wanted.violations, "violations, {way}");
    assert_eq!(found.damage, wanted.damage, "damage, {way}");
    assert_eq!(found.net, wanted.net, "net times, {way}");
}

/// Without those that only stood for a moment: the ways differ in whether they have a row.
fn edges(profile: &Profile) -> Vec<(&Pair, &EdgeFigures)> {
    let edges = profile.edges.iter();
    edges
        .filter(|(_, figures)| **figures != EdgeFigures::default())
        .collect()
}

type Pair = (
    portmortem_analyzer::figures::Caller,
    portmortem_analyzer::trace::PredicateIndex,
);
