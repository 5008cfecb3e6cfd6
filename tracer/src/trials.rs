//! Small programs that ran recorded: what is counted of them, for the analyser to find the cost of recording.
//!
//! What they waited is no time of theirs, nor is what their set-up took; boxes of either, and of the engine's own work, are no events of theirs.

use std::collections::HashMap;

use crate::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Event, Record, Role, Roles, Trial,
    decode_header, read_record,
};

const EXIT_DET: usize = 2;
const FAIL: usize = 5;

/// A small program that ran recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Run {
    /// What was counted and timed.
    pub trial: Trial,
    /// Boxes that boundary predicates called.
    pub callbacks: u64,
}

/// The runs in the stream that has marks: whatever lies between the first and second mark, the third and fourth, and so on.
/// How long they take unrecorded is not known yet. `None` if the trace is not whole.
#[must_use]
pub fn runs(trace: &[u8]) -> Option<Vec<Run>> {
    let (_, file_id) = decode_header(trace).ok()?;
    let declared = declared(trace, file_id)?;
    let mut runs = Vec::new();
    let mut run: Option<Run> = None;
    // Ticks since the last box was called, if it has come to no other port since.
    let mut leaf: Option<u64> = None;
    let mut inside = None;
    let mut last = 0;
    let mut marked = None;
    let mut open = TrialBoxes::default();
    for (header, payload) in blocks(trace, file_id) {
        let is_other = marked.is_some_and(|marked| marked != header.stream);
        if header.kind != BlockKind::Events || is_other {
            continue;
        }
        let mut bytes = payload?;
        let mut tick = header.base_tick;
        while !bytes.is_empty() {
            let (event, delta, length) = Event::decode(bytes).ok()?;
            bytes = &bytes[length..];
            tick = tick.checked_add(delta)?;
            let delta = tick.saturating_sub(last);
            last = tick;
            let work = inside.take();
            let worked = match work {
                Some(EngineWork::Untimed) => 0,
                _ => delta,
            };
            if let Some(run) = &mut run {
                run.trial.ticks += worked;
            }
            if let Some(ticks) = &mut leaf {
                *ticks += worked;
            }
            inside = engine_work(&declared, event);
            if work.is_some() || inside.is_some() {
                continue;
            }
            let port = kind(event);
            if matches!(event, Event::Mark { .. }) {
                marked = Some(header.stream);
                match run.take() {
                    Some(done) => runs.push(done),
                    None => run = Some(Run::default()),
                }
            } else if let (Some(run), Some((kind, count))) = (&mut run, port) {
                run.trial.counts[kind] += count;
                if let Event::Call { predicate } | Event::Tail { predicate } = event {
                    let called = declared.get(&predicate)?;
                    run.trial.arguments += u64::from(called.arity);
                    let is_call = matches!(event, Event::Call { .. });
                    run.callbacks += u64::from(is_call && open.is_in_boundary());
                }
                if let Some(ticks) = leaf
                    && matches!(kind, EXIT_DET | FAIL)
                {
                    run.trial.leaf_ticks += ticks;
                }
            }
            if port.is_some() {
                open.pass(event, &declared)?;
            }
            match event {
                Event::Call { .. } => leaf = Some(0),
                Event::Clause { .. }
                | Event::Arguments(_)
                | Event::Table(_)
                | Event::Value(_)
                | Event::Sync(_) => {}
                _ => leaf = None,
            }
        }
    }
    Some(runs)
}

/// The boxes that are open, or can be entered again.
#[derive(Default)]
struct TrialBoxes {
    all: Vec<OneBox>,
    active: Option<usize>,
    /// Those that left a choicepoint, the newest last.
    choices: Vec<usize>,
}

struct OneBox {
    parent: Option<usize>,
    is_boundary: bool,
}

impl TrialBoxes {
    /// Whether a boundary predicate calls what is called next.
    fn is_in_boundary(&self) -> bool {
        self.active.is_some_and(|at| self.all[at].is_boundary)
    }

    /// What a port does to them. `None` if no program does this.
    fn pass(&mut self, event: Event, declared: &HashMap<u32, Declared>) -> Option<()> {
        let parent = self.active.and_then(|at| self.all[at].parent);
        match event {
            Event::Call { predicate } => self.open(self.active, predicate, declared)?,
            // The box departs: its caller is that of the next one.
            Event::Tail { predicate } => self.open(parent, predicate, declared)?,
            Event::ExitDet | Event::Fail | Event::Exception => self.active = parent,
            Event::ExitNondet => {
                self.choices.push(self.active?);
                self.active = parent;
            }
            Event::Redo => {
                let at = self.choices.pop()?;
                self.all[at].parent = self.active;
                self.active = Some(at);
            }
            Event::Cut { count } => {
                let left = self.choices.len().checked_sub(count as usize)?;
                self.choices.truncate(left);
            }
            // No port: see [`kind`].
            _ => {}
        }
        Some(())
    }

    fn open(
        &mut self,
        parent: Option<usize>,
        predicate: u32,
        declared: &HashMap<u32, Declared>,
    ) -> Option<()> {
        self.active = Some(self.all.len());
        self.all.push(OneBox {
            parent,
            is_boundary: declared.get(&predicate)?.is_boundary,
        });
        Some(())
    }
}

/// The blocks of a trace and what was written into them, as far as it is there.
fn blocks(trace: &[u8], file_id: u64) -> impl Iterator<Item = (BlockHeader, Option<&[u8]>)> {
    let mut at = crate::format::FILE_HEADER_BYTES;
    std::iter::from_fn(move || {
        let header = BlockHeader::parse(trace.get(at..)?, file_id).ok()?;
        let start = at + BLOCK_HEADER_BYTES;
        at += (header.size as usize).max(BLOCK_ALIGN);
        let payload = trace.get(start..start + header.committed as usize);
        Some((header, payload))
    })
}

/// A predicate, or a site of it.
#[derive(Clone, Copy)]
struct Declared {
    arity: u32,
    work: Option<EngineWork>,
    is_boundary: bool,
}

/// Of which kind a box is that stands for no call ([`Roles::is_engine_work`]).
#[derive(Clone, Copy, PartialEq, Eq)]
enum EngineWork {
    /// Its time is none of the program's.
    Untimed,
    Other,
}

impl EngineWork {
    fn of(roles: Roles) -> Option<Self> {
        let is_untimed = roles.has_any(&[Role::Waiting, Role::Preempted, Role::SetUp]);
        let work = if is_untimed {
            Self::Untimed
        } else {
            Self::Other
        };
        roles.is_engine_work().then_some(work)
    }
}

/// What begins with this event.
fn engine_work(declared: &HashMap<u32, Declared>, event: Event) -> Option<EngineWork> {
    let Event::Call { predicate } = event else {
        return None;
    };
    declared.get(&predicate)?.work
}

/// What events call, by id.
fn declared(trace: &[u8], file_id: u64) -> Option<HashMap<u32, Declared>> {
    let mut all = HashMap::new();
    for (header, payload) in blocks(trace, file_id) {
        let (payload, mut at) = (payload?, 0);
        while header.kind == BlockKind::Records && at < payload.len() {
            match read_record(payload, &mut at).ok()? {
                Record::Predicate(predicate) => {
                    let declared = Declared {
                        arity: predicate.arity,
                        work: EngineWork::of(predicate.roles),
                        is_boundary: false,
                    };
                    all.insert(predicate.id, declared);
                }
                Record::Site { id, site } => {
                    all.insert(id, *all.get(&site.callee)?);
                }
                Record::Boundary { predicate } => {
                    all.get_mut(&predicate)?.is_boundary = true;
                }
                _ => {}
            }
        }
    }
    Some(all)
}

/// Which port it is, in the order of [`Trial::counts`], and how often; `None` if it is none.
fn kind(event: Event) -> Option<(usize, u64)> {
    let kind = match event {
        Event::Call { .. } => 0,
        Event::Tail { .. } => 1,
        Event::ExitDet => EXIT_DET,
        Event::ExitNondet => 3,
        Event::Redo => 4,
        Event::Fail => FAIL,
        Event::Cut { count } => return Some((6, count.into())),
        Event::Exception => 7,
        Event::Pause
        | Event::Resume
        | Event::Gap { .. }
        | Event::Mark { .. }
        | Event::Clause { .. }
        | Event::Arguments(_)
        | Event::Table(_)
        | Event::Value(_)
        | Event::Sync(_) => return None,
    };
    Some((kind, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Dialect, Header, Outcome, StreamKind};
    use crate::{NewPredicate, Options, Recorder};

    /// A run in which a leaf is called: it works for 100 ticks, and so does its caller before and after. Between its ports the
    /// thread waits first for so many ticks.
    fn run_with_a_wait_of(ticks: u64) -> Vec<Run> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        let leaf = recorder.predicate(NewPredicate::named("user", "leaf", 2));
        let roles = Roles::of(&[Role::Waiting]);
        let waiting =
            recorder.predicate(NewPredicate::named("engine", "idle", 0).with_roles(roles));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let mut tick = crate::clock::ticks();
        let mut after = |ticks, event| {
            tick += ticks;
            stream.record_at(event, tick);
        };
        after(0, Event::Mark { text: 0 });
        after(100, Event::Call { predicate: leaf });
        if ticks > 0 {
            after(0, Event::Call { predicate: waiting });
            after(ticks, Event::ExitDet);
        }
        after(100, Event::ExitDet);
        after(100, Event::Mark { text: 0 });
        stream.end();
        recorder.close(Outcome::Stopped).unwrap();
        runs(&std::fs::read(&path).unwrap()).unwrap()
    }

    #[test]
    fn waiting_is_not_counted() {
        let trial = Trial {
            counts: [1, 0, 1, 0, 0, 0, 0, 0],
            arguments: 2,
            ticks: 300,
            leaf_ticks: 100,
            untraced: 0,
        };
        let run = Run {
            trial,
            callbacks: 0,
        };
        assert_eq!(run_with_a_wait_of(0), [run]);
        assert_eq!(run_with_a_wait_of(1_000_000), [run]);
    }

    /// Other threads may have streams, too, though nothing that they run is recorded.
    #[test]
    fn other_streams_are_not_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        let leaf = recorder.predicate(NewPredicate::named("user", "leaf", 2));
        let main = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let other = recorder.stream(StreamKind::Thread, "other", Dialect::EveryRedo);
        let begin = crate::clock::ticks();
        main.record_at(Event::Mark { text: 0 }, begin);
        other.record_at(Event::Call { predicate: leaf }, begin + 10);
        other.record_at(Event::ExitDet, begin + 1000);
        main.record_at(Event::Mark { text: 0 }, begin + 100);
        main.end();
        other.end();
        recorder.close(Outcome::Stopped).unwrap();
        let run = Run {
            trial: Trial {
                ticks: 100,
                ..Trial::default()
            },
            ..Run::default()
        };
        assert_eq!(runs(&std::fs::read(&path).unwrap()), Some(vec![run]));
    }

    /// `all` at the boundary calls `each`, which leaves a choicepoint that is entered again; `each`
    /// departs into `all`; and the program calls `each` itself.
    #[test]
    fn callbacks_are_what_the_boundary_calls() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        let all = recorder.predicate(NewPredicate::named("system", "all", 1));
        recorder.at_boundary(all);
        let each = recorder.predicate(NewPredicate::named("user", "each", 0));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        let called = |predicate| Event::Call { predicate };
        for event in [
            Event::Mark { text: 0 },
            called(each),
            Event::ExitDet,
            called(all),
            called(each),
            Event::ExitNondet,
            Event::Redo,
            called(each),
            Event::Fail,
            Event::ExitNondet,
            called(each),
            Event::Tail { predicate: all },
            called(each),
            Event::ExitDet,
            Event::Exception,
            Event::Cut { count: 1 },
            Event::ExitDet,
            Event::Mark { text: 0 },
        ] {
            stream.record_at(event, crate::clock::ticks());
        }
        stream.end();
        recorder.close(Outcome::Stopped).unwrap();
        let runs = runs(&std::fs::read(&path).unwrap()).unwrap();
        let callbacks: Vec<u64> = runs.iter().map(|run| run.callbacks).collect();
        assert_eq!(callbacks, [3]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(runs(b"no trace"), None);
    }
}
