//! Trials of what recording costs, before the first recording of a process.
//!
//! `portmortem_calibrate.pl` runs small programs of its own, unrecorded and then recorded into a
//! file that has no name, so that nothing of it stays, however the process ends. What was counted
//! and timed goes into the trace; the analyser makes costs of it. It holds for one way of
//! recording, and is kept for later recordings of that kind, in this process and in others
//! ([`kept`]).

use std::fs::{self, File};
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portmortem_tracer::format::{Header, Technique, Trial, Trials};
use portmortem_tracer::trials::{Run, runs};
use portmortem_tracer::{Options, Recorder, clock};

use crate::ending;
use crate::ffi::{self, FALSE, Foreign, TRUE, Term};
use crate::kept;
use crate::recording::{self, Recording, Selection};
use crate::values::{integer, integers, strings, text};
use crate::waiting::{Waited, Waiting};

/// How a recording is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordingMode {
    pub(crate) technique: Technique,
    byrd: bool,
    no_tail: bool,
    /// Clauses have a port, too.
    clauses: bool,
    /// No ports at goals.
    wrappers_only: bool,
    /// Its wrappers cost what they cost; nothing is known of that.
    symbolic: bool,
}

impl RecordingMode {
    /// `Technique` is `ports` or `stubs`; `Settings` are those of `open/2`.
    pub(crate) fn of(technique: Term, settings: Term) -> Self {
        let settings = strings(settings);
        let has = |setting: &str| settings.iter().any(|one| one == setting);
        Self {
            technique: match text(technique).as_str() {
                "stubs" => Technique::Stubs,
                _ => Technique::Ports,
            },
            byrd: has("byrd=true"),
            no_tail: has("tail=false"),
            clauses: has("clauses=true"),
            wrappers_only: has("goal_ports=false"),
            symbolic: has("symbolic=true"),
        }
    }

    fn text(&self) -> String {
        format!("{self:?}")
    }
}

struct KnownTimes {
    way: RecordingMode,
    trials: Trials,
}

static KNOWN: Mutex<Option<KnownTimes>> = Mutex::new(None);
/// The calibration that is going on, and where it is recorded.
static OPEN: Mutex<Option<(File, RecordingMode)>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Trials of recording in this way, if there were any.
pub(crate) fn trials(way: &RecordingMode) -> Option<Trials> {
    let known = lock(&KNOWN);
    known
        .as_ref()
        .filter(|known| known.way == *way)
        .map(|known| known.trials.clone())
}

/// What is being timed unrecorded.
struct TimedStretch {
    begin: u64,
    begin_ns: u64,
    waiting: Waiting,
}

static TIMED: Mutex<Option<TimedStretch>> = Mutex::new(None);

/// `stretch_begins`: what follows is timed.
pub(crate) fn stretch_begins() -> Foreign {
    let waiting = Waiting::new();
    *lock(&TIMED) = Some(TimedStretch {
        begin_ns: clock::monotonic_ns(),
        begin: clock::ticks(),
        waiting,
    });
    TRUE
}

/// `stretch_ends(-Ticks)`: so many ticks of events has it taken, without what the thread waited.
pub(crate) fn stretch_ends(term: Term) -> Foreign {
    let (end, end_ns) = (clock::ticks(), clock::monotonic_ns());
    let Some(mut stretch) = lock(&TIMED).take() else {
        return FALSE;
    };
    let ticks = end.saturating_sub(stretch.begin);
    let waited_ns = stretch.waiting.since_last().map_or(0, Waited::all_ns);
    let waited = u128::from(waited_ns) * u128::from(ticks)
        / u128::from(end_ns.saturating_sub(stretch.begin_ns).max(1));
    let worked = ticks.saturating_sub(waited as u64);
    // SAFETY: a term of our own argument list.
    Foreign::from(ffi::truth(unsafe {
        ffi::PL_unify_int64(term, worked as i64)
    }))
}

/// `calibrated(+Technique, +Settings)`: there were trials of such a recording. `Settings` are
/// those of `open/2`.
pub(crate) fn is_calibrated(technique: Term, settings: Term) -> Foreign {
    Foreign::from(trials(&RecordingMode::of(technique, settings)).is_some())
}

/// Ticks that a loop takes in this process.
static PACE: AtomicU32 = AtomicU32::new(0);

/// `kept_trials(+Technique, +Settings, +Pace)`: another process had trials of such a recording,
/// and they are of use. `Pace` are the ticks that a loop takes in this one.
pub(crate) fn kept_trials(technique: Term, settings: Term, pace: Term) -> Foreign {
    let way = RecordingMode::of(technique, settings);
    let pace = integer(pace);
    PACE.store(pace, Ordering::Relaxed);
    let Some(trials) = kept::read(&way.text(), pace) else {
        return FALSE;
    };
    *lock(&KNOWN) = Some(KnownTimes { way, trials });
    TRUE
}

/// `open_calibration(+Technique, +Settings)`: begins to record into a file of our own. Fails if
/// that is not possible.
pub(crate) fn open(technique: Term, settings: Term) -> Foreign {
    let way = RecordingMode::of(technique, settings);
    let path = std::env::temp_dir().join(format!(
        "portmortem-calibration-{}-{:x}.pmt",
        std::process::id(),
        clock::ticks()
    ));
    let options = Options::default();
    let recorder = Recorder::create(&path, &Header::of_this_process(""), &options);
    let file = File::open(&path);
    // If it stays, it is one file too many in the directory for such files.
    let _ = fs::remove_file(path);
    let (Ok(recorder), Ok(file)) = (recorder, file) else {
        return FALSE;
    };
    let started = recording::start(Recording {
        recorder,
        selection: Selection::default(),
        of_trials: true,
        symbolic: false,
        tails: !way.byrd && !way.no_tail,
        clauses: way.clauses,
        stack_limit: usize::MAX,
        home: PathBuf::new(),
        pseudo: Default::default(),
    });
    if started {
        *lock(&OPEN) = Some((file, way));
    }
    Foreign::from(started)
}

/// `calibrating`: whether that goes on.
pub(crate) fn is_open() -> Foreign {
    Foreign::from(lock(&OPEN).is_some())
}

/// `close_calibration(+Empty, +Untraced)`: ends it. `Untraced` has, for each program, the first
/// quartile of the ticks that it took unrecorded; `Empty` those of the loop around the first two.
/// Fails if nothing comes of it.
pub(crate) fn close(empty: Term, untraced: Term) -> Foreign {
    let Some((mut file, way)) = lock(&OPEN).take() else {
        return FALSE;
    };
    ending::stop();
    let mut trace = Vec::new();
    if file.read_to_end(&mut trace).is_err() {
        return FALSE;
    }
    let untraced: Vec<u64> = integers(untraced)
        .iter()
        .map(|&ticks| ticks.unsigned_abs())
        .collect();
    let Some(runs) = runs(&trace).filter(|_| !untraced.is_empty()) else {
        return FALSE;
    };
    let runs = quartiles(&runs, &untraced);
    let trials = Trials {
        empty: integer(empty).into(),
        callbacks: match way.technique {
            Technique::Stubs => runs.iter().map(|run| run.callbacks).collect(),
            // Ports are called at all boxes alike.
            Technique::Ports => Vec::new(),
        },
        trials: runs.into_iter().map(|run| run.trial).collect(),
    };
    kept::write(&way.text(), PACE.load(Ordering::Relaxed), &trials);
    *lock(&KNOWN) = Some(KnownTimes { way, trials });
    TRUE
}

/// Runs of all programs follow on each other, round after round: of each the one at the first
/// quartile of time. Others that use the machine make some rounds longer, and none shorter.
fn quartiles(runs: &[Run], untraced: &[u64]) -> Vec<Run> {
    let number = untraced.len().max(1);
    let programs = untraced.iter().enumerate();
    programs
        .filter_map(|(program, untraced)| {
            let mut rounds: Vec<&Run> = runs.iter().skip(program).step_by(number).collect();
            rounds.sort_by_key(|run| run.trial.ticks);
            let run = rounds.get(rounds.len() / 4)?;
            let trial = Trial {
                untraced: *untraced,
                ..run.trial
            };
            Some(Run { trial, ..**run })
        })
        .collect()
}
