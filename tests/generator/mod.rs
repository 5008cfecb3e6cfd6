//! Makes traces of any size whose figures are known without analysing them.
//!
//! A made-up Prolog program (`program`, `workloads`) is run by a small engine (`engine`) that does
//! what the model says an engine does: clauses and goals in order, the newest choice first on failure,
//! cuts, exceptions, last calls. What is random is which clause is selected, what fails and how long
//! recursions are. The engine records through the real recorder and keeps its own totals at each port
//! (`boxes`, `figures`); it shares no code with the analyser.
//!
//! The same [`Shape`] makes the same events and the same figures. Only the ticks begin elsewhere:
//! a bit after now, so that the end of each stream is its last event and not the moment at
//! which it was made.

mod boxes;
mod engine;
pub mod figures;
mod program;
mod random;
mod workloads;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use portmortem_tracer::format::{Dialect, Header, Outcome, Site, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder};

use engine::{Engine, Settings};
pub use figures::Figures;
use figures::Totals;
use program::Program;
use random::Random;

/// Counts up when the same [`Shape`] makes other events than before.
pub const EDITION: u32 = 2;

/// So many streams are written at the same time, as threads would.
const AT_ONCE: u64 = 8;

/// One of them makes at most so many events before it is another one's turn.
const MOST_EVENTS_IN_A_TURN: u32 = 4096;

/// Ticks begin so far in the future, and a bit for each event.
const LEAD: u64 = 1 << 34;

/// Deeper than this needs a wish: a box takes some 56 bytes of the generator's memory.
const DEEP: u64 = 10_000_000;

/// What a trace is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Workload {
    /// Like a program as people write them
    Mixed,
    /// As deep as there are events for, then all boxes exit; again and again
    Deep,
    /// Mixed, in many streams of ten events
    Wide,
    /// Long loops by last calls
    Tails,
    /// Redo, failure and cut most of the time
    Backtrack,
    /// A calling context for every few calls
    Contexts,
}

impl Workload {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Mixed,
        Self::Deep,
        Self::Wide,
        Self::Tails,
        Self::Backtrack,
        Self::Contexts,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Deep => "deep",
            Self::Wide => "wide",
            Self::Tails => "tails",
            Self::Backtrack => "backtrack",
            Self::Contexts => "contexts",
        }
    }
}

/// What to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What it is like.
    pub workload: Workload,
    /// Exactly so many events, in all streams together.
    pub events: u64,
    /// How many streams; events are divided evenly.
    pub streams: u64,
    /// About so many predicates.
    pub predicates: u32,
    /// `deep`: greatest depth. `tails`: longest loop.
    pub depth: u32,
    /// Another seed makes another trace.
    pub seed: u64,
    /// A redo stands for all boxes on the way to the innermost one re-entered.
    pub innermost_redo: bool,
}

impl Shape {
    /// The usual trace of a workload.
    #[must_use]
    pub fn new(workload: Workload, events: u64, seed: u64) -> Self {
        let (predicates, depth) = match workload {
            Workload::Mixed | Workload::Wide => (200, 0),
            Workload::Deep => (4, (events / 2).clamp(2, DEEP) as u32),
            Workload::Tails => (33, (events / 20).clamp(10, 100_000) as u32),
            Workload::Backtrack => (41, 0),
            Workload::Contexts => (39, 0),
        };
        Self {
            workload,
            events,
            streams: if workload == Workload::Wide {
                events.div_ceil(10)
            } else {
                1
            },
            predicates,
            depth,
            seed,
            innermost_redo: false,
        }
    }

    fn program(&self) -> Program {
        // No stream has this number.
        let mut random = Random::new(self.seed, 0);
        match self.workload {
            Workload::Mixed | Workload::Wide => workloads::mixed(self.predicates, &mut random),
            Workload::Deep => workloads::deep(self.predicates, self.depth),
            Workload::Tails => workloads::tails(self.predicates, self.depth),
            Workload::Backtrack => workloads::backtrack(self.predicates, &mut random),
            Workload::Contexts => workloads::contexts(self.predicates),
        }
    }

    /// Events of the stream with this number, from 0.
    fn events_of(&self, stream: u64) -> u64 {
        self.events / self.streams + u64::from(stream < self.events % self.streams)
    }
}

/// Writes the trace to `path`, replacing what is there, and says what an analysis must find.
///
/// # Errors
/// If it cannot be written, or making it took so long that the figures would be wrong.
pub fn generate(path: &Path, shape: &Shape) -> Result<Figures> {
    ensure!(shape.streams > 0, "a trace needs a stream");
    ensure!(
        shape.streams < u64::from(u32::MAX),
        "{} streams are too many",
        shape.streams
    );
    let header = Header::of_this_process("generate-trace");
    let options = Options {
        overwrite: true,
        ..Options::default()
    };
    let recorder = Recorder::create(path, &header, &options)?;
    let program = shape.program();
    name_predicates(&recorder, &program, shape.workload);
    name_sites(&recorder, &program);
    let settings = Settings {
        program: &program,
        seed: shape.seed,
        innermost_redo: shape.innermost_redo,
        marks: ["elsewhere", "remark"].map(|text| recorder.text(text)),
        lead: LEAD + shape.events.saturating_mul(1 << 8),
    };
    let mut totals = Totals::new(program.edges.len(), program.predicates.len());
    let mut first = 0;
    while first < shape.streams {
        let end = shape.streams.min(first + AT_ONCE);
        together(first..end, shape, &settings, &recorder, &mut totals)?;
        first = end;
    }
    ensure!(
        !recorder.is_full(),
        "there is no room for {}",
        path.display()
    );
    let close = recorder.close(Outcome::Exited(0));
    close.with_context(|| format!("cannot finish {}", path.display()))?;
    Ok(totals.into_figures(&program.edges))
}

/// Makes some streams in turns.
fn together(
    streams: std::ops::Range<u64>,
    shape: &Shape,
    settings: &Settings,
    recorder: &Recorder,
    totals: &mut Totals,
) -> Result<()> {
    let dialect = if shape.innermost_redo {
        Dialect::InnermostRedo
    } else {
        Dialect::EveryRedo
    };
    let mut turns = Random::new(!shape.seed, streams.start);
    let mut engines: Vec<Engine> = streams
        .map(|stream| {
            let name = if stream == 0 { "main" } else { "worker" };
            let events = shape.events_of(stream);
            let stream = recorder.stream(StreamKind::Thread, name, dialect);
            Engine::new(settings, stream, events)
        })
        .collect();
    while !engines.is_empty() {
        let which = turns.below(engines.len() as u32) as usize;
        let turn = 1 + turns.below(MOST_EVENTS_IN_A_TURN);
        if !engines[which].run(turn.into(), totals) {
            let in_time = engines.swap_remove(which).end(totals);
            ensure!(
                in_time,
                "making the trace took longer than what is in it; try again"
            );
        }
    }
    Ok(())
}

fn name_predicates(recorder: &Recorder, program: &Program, workload: Workload) {
    let file = format!("/generated/{}.pl", workload.name());
    for (predicate, line) in program.predicates.iter().zip(1..) {
        let id = line - 1;
        let name = match (id, predicate.fate.length) {
            (0, _) => "main".to_owned(),
            (_, 0) => format!("p{id}"),
            _ => format!("loop{id}"),
        };
        let module = if predicate.fate.catches {
            "safe"
        } else {
            "user"
        };
        // Ids are in the order of definition, from 0, as those of the program.
        let _ = recorder.predicate(NewPredicate::named(module, &name, id % 5).at(&file, line));
    }
}

fn name_sites(recorder: &Recorder, program: &Program) {
    for way in &program.edges {
        if let (Some(caller), Some((clause, goal))) = (way.caller, way.site) {
            // Ids go on after those of predicates, in the order of edges.
            let _ = recorder.site(Site {
                callee: way.callee,
                caller,
                clause,
                goal,
                line: 1000 * (caller + 1) + 10 * clause + goal,
                file: None,
                then_fails: false,
            });
        }
    }
}
