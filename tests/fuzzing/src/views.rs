//! Everything that commands and screens show of a trace.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

use portmortem_analyzer::comparison::{Comparison, Recorded};
use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::graphs::{
    Graph, Metric, WriteGraph, callgrind, dot, firefox, flamegraph, folded, speedscope,
};
use portmortem_analyzer::hottest_path::hottest_path;
use portmortem_analyzer::index::Index;
use portmortem_analyzer::listing::{Explainer, Listing, thrown};
use portmortem_analyzer::net::Rates;
use portmortem_analyzer::net::baseline::{Outermost, UnrecordedRuns};
use portmortem_analyzer::tables::SiteNames;
use portmortem_analyzer::timeline::{Blocks, Program, Reader, TimeRange};
use portmortem_analyzer::walk::{Trail, Walk};
use portmortem_analyzer::{Analysis, Progress, ReplayOptions, Trace, advice, annotation, remarks};
use tempfile::TempDir;

use crate::agreement::{replay_in_all_ways, write_all_tables};

/// So many remarks of a kind are written.
const MOST_REMARKS: usize = 5;

/// Every so many events are explained.
const EXPLAINED: usize = 7;

/// Opens the trace that these bytes are, and makes of it whatever can be made, if it is one.
///
/// # Panics
/// If something is wrong.
pub(crate) fn show_all(bytes: &[u8]) {
    let path = path();
    let written = std::fs::write(&path, bytes);
    assert!(written.is_ok(), "the trace can be written");
    let Ok(trace) = Trace::open(&path) else {
        return;
    };
    let _ = trace.verify();
    let options = ReplayOptions::default();
    let profile = replay_in_all_ways(&trace, &options);
    write_all_tables(&trace, &profile);
    if let Ok(index) = Index::build(&trace, &path, &options) {
        assert_eq!(index.profile(), profile, "the index");
        let _ = index.trail();
    }
    measure(&trace, &profile);
    list(&trace);
    draw(&trace);
    let done = AtomicU64::new(0);
    let analysis = Analysis::replayed(trace, &path, &done);
    report(&analysis.expect("the trace stays as long as it is"));
}

/// Where the trace is, for one thread at a time.
fn path() -> PathBuf {
    static DIRECTORY: OnceLock<TempDir> = OnceLock::new();
    let directory = DIRECTORY.get_or_init(|| {
        let directory = tempfile::tempdir();
        directory.expect("a temporary folder can be made")
    });
    directory.path().join("fuzz.pmt")
}

/// What a second run would say.
fn measure(trace: &Trace, profile: &portmortem_analyzer::Profile) {
    let outermost = Outermost::new(trace, profile);
    if let Some(rates) = Rates::of(trace) {
        let measured = UnrecordedRuns::new(&outermost, std::slice::from_ref(&outermost));
        let fits = measured.map(|measured| measured.fits(trace, profile, &rates));
        assert!(fits.is_some_and(|fits| !fits.is_empty()));
    }
}

/// Events, and why they happened.
fn list(trace: &Trace) {
    let trail = Trail::scan(trace, Default::default(), &Progress::default());
    let trail = trail.as_ref();
    let sites = SiteNames::of(trace);
    let listing = Listing::new(trace, "fuzz", trail, &sites);
    for text in ["event >= 0", "took > 1us or exit = fail"] {
        if let Ok(condition) = ListedCondition::parse(text, trace, &sites) {
            let _ = listing.each(&condition, &mut |_, _| ControlFlow::Continue(()));
        }
    }
    let _ = thrown(trace, trail, None);
    let explainer = Explainer::new(trace, trail, &|_| true, &|| true);
    for stream in trace.streams() {
        let steps = Walk::from(trace, trail, stream, 0);
        for step in steps.step_by(EXPLAINED) {
            let _ = explainer.explain(stream, &step);
            let _ = listing.histories(step.number);
        }
    }
}

/// The screen of time.
fn draw(trace: &Trace) {
    let profile = portmortem_analyzer::replay(trace, &ReplayOptions::default());
    let program = Program::of(trace, &profile.streams);
    let scope = portmortem_analyzer::Scope::of(trace, &Default::default());
    let blocks = Blocks::of(trace);
    let reader = Reader::new(trace, &blocks, None, &scope);
    for (at, stream) in profile.streams.iter().enumerate() {
        let from = program.as_ref().map_or(stream.first_tick, |part| part.from);
        let length = stream.last_tick.saturating_sub(from);
        let stretch = TimeRange {
            stream: at,
            from,
            to: stream.last_tick,
            grain: (length / 40).max(1),
            columns: 40,
            first_row: 0,
            rows: 20,
        };
        let _ = reader.outline(&stretch);
        let _ = reader.read(&stretch, &Progress::default(), |_, _| {});
        let _ = reader.last_event(at, from);
    }
}

/// Reports and files.
fn report(analysis: &Analysis) {
    let trace = &analysis.trace;
    let whole = analysis.whole();
    let _ = (remarks::ending(trace), remarks::recorder(trace));
    let _ = (remarks::modes(trace), remarks::recording_share(analysis));
    let _ = (remarks::waiting(analysis), remarks::collections(analysis));
    let _ = (
        remarks::undone(analysis),
        remarks::left_out(analysis, &whole),
    );
    let _ = remarks::unused_choicepoints(analysis);
    let _ = remarks::losses(analysis, MOST_REMARKS);
    for net in [None, analysis.profile.net.as_ref()] {
        let _ = hottest_path(analysis, net);
    }
    let _ = (analysis.centers(Counted::Work), analysis.net_range());
    for row in 0..analysis.profile.contexts.len() {
        let _ = analysis.place(row);
    }
    let findings = advice::findings(analysis, 0.0);
    assert!(findings.iter().all(|one| !one.title.is_empty()));
    let files = annotation::files(analysis);
    for file in &files {
        let _ = annotation::file_shares(analysis, file);
        let _ = file.annotated(analysis);
    }
    let files: Vec<_> = files.iter().collect();
    let written = annotation::html::write(analysis, &files, &mut io::sink());
    assert!(written.is_ok(), "annotated files");
    let side = [Recorded::of(analysis)];
    let _ = Comparison::of(&side, &side);
    graphs(analysis);
    assert_eq!(Path::new("fuzz"), Path::new(&analysis.name));
}

fn graphs(analysis: &Analysis) {
    let trees: [WriteGraph; 4] = [
        folded::write,
        flamegraph::write,
        firefox::write,
        speedscope::write,
    ];
    let drawings: [WriteGraph; 2] = [callgrind::write, dot::write];
    let net = analysis.profile.net.as_ref().map(|_| Metric::NetTime);
    let times: Vec<Metric> = [Metric::SelfTime].into_iter().chain(net).collect();
    let of_trees = [times.as_slice(), &[Metric::Undone, Metric::Events]].concat();
    for (writers, metrics) in [(&trees[..], &of_trees[..]), (&drawings, &times)] {
        for write in writers {
            for &metric in metrics {
                let graph = Graph {
                    analysis,
                    metric,
                    counted: Counted::All,
                    min_percent: 0.1,
                };
                if let Err(error) = write(&graph, &mut io::sink()) {
                    let refused = error.to_string().starts_with("nothing to draw");
                    assert!(refused, "a graph of {metric:?}: {error}");
                }
            }
        }
    }
}
