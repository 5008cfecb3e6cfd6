//! Everything in a trace that is not an event: the description in the header and the records.

use bincode::{Decode, Encode};

use super::roles::Roles;

/// What a trace says about itself before the first block.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Header {
    /// What wrote the trace, e.g. `portmortem 0.1.0`.
    pub recorder: String,
    /// The traced engine and its version, e.g. `SWI-Prolog 9.0.4`.
    pub engine: String,
    /// The traced command line, program first.
    pub command: Vec<String>,
    /// The program's directory, which source files are relative to: in a trace as seen from the trace's own directory.
    pub directory: String,
    /// Machine name and processor, for people.
    pub machine: String,
    /// Process id of the traced process.
    pub process: u32,
    /// Seconds since 1970, UTC, when the recording began.
    pub started_unix: u64,
    /// Where ticks come from.
    pub clock: ClockSource,
    /// Nominal ticks per second if the machine states it, else 0. Blocks carry (tick, ns) pairs that say it exactly.
    pub ticks_per_second: u64,
    /// How the recording was made.
    pub mode: Mode,
}

/// Where ticks come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum ClockSource {
    /// The x86 time stamp counter.
    Rdtsc,
    /// The ARM virtual counter.
    CntvctEl0,
    /// The monotonic clock in nanoseconds.
    Monotonic,
}

/// How a recording was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct Mode {
    /// Every exit is re-enterable (Debray's figures).
    pub byrd: bool,
    /// Last calls have boxes of their own; there are no `TAIL` events.
    pub no_tail: bool,
    /// Only the most recent part is kept (flight recorder).
    pub keep_last: bool,
}

/// One record of a records block.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Record {
    /// A source file.
    File {
        /// File id, from 0.
        id: u32,
        /// Its path, if relative then to [`Header::directory`]; see [`super::ENGINE_HOME`].
        path: String,
    },
    /// A predicate.
    Predicate(Predicate),
    /// A stream begins.
    StreamBegin(StreamBegin),
    /// A stream ended: nothing more will be added to it.
    StreamEnd {
        /// Stream id.
        stream: u32,
        /// Tick of its end.
        tick: u64,
        /// Events it had, lost ones included.
        events: u64,
    },
    /// A text: of a mark, or any other string an event refers to.
    Text {
        /// Text id, from 0.
        id: u32,
        /// The text.
        text: String,
    },
    /// Something the reader of a report should know: a predicate left out, a distortion.
    Note {
        /// One line of text.
        text: String,
    },
    /// The recording ended in order.
    End {
        /// Tick of the end.
        tick: u64,
        /// Monotonic nanoseconds read together with it.
        ns: u64,
        /// How the run ended.
        outcome: Outcome,
    },
    /// A cost centre: a symbol that events call like a predicate (since format version 2).
    CostCenter {
        /// Its id, one of the numbers that predicates have, too.
        id: u32,
        /// Its name.
        name: String,
    },
    /// Every box of a predicate is in a cost centre, wherever it is called (since format version 2).
    InCostCenter {
        /// Predicate id.
        predicate: u32,
        /// Id of the cost centre.
        center: u32,
    },
    /// Symbolic costs, to be added to those of earlier records (since format version 2).
    Costs {
        /// At most [`MAX_COSTS`].
        costs: Vec<Cost>,
        /// Everything up to the end of the recording has been counted and written.
        last: bool,
    },
    /// What recording costs on the machine of the recording (format versions 2 and 3; later recorders leave
    /// [`Record::Trials`]).
    PortCosts(PortCosts),
    /// What the run takes when it is not recorded (since format version 3).
    Baseline(Baseline),
    /// How costs are fitted to that (since format version 3).
    Fit(Fit),
    /// A goal in a clause: events that call it name it instead of the predicate (since format version 4).
    Site {
        /// Its id, one of the numbers that predicates have, too.
        id: u32,
        /// Which goal.
        site: Site,
    },
    /// What the recorder ran on the machine of the recording, to find out what recording costs (since format version 4).
    Trials(Trials),
    /// A clause that boxes enter (since format version 4).
    Clause {
        /// Clause id, from 0.
        id: u32,
        /// Which clause.
        clause: Clause,
    },
    /// Each call of a predicate is followed by what its arguments were ([`crate::format::Arguments`]; since format version 4).
    Arguments {
        /// Predicate id.
        predicate: u32,
    },
    /// How the recorder for SWI-Prolog makes ports (since format version 6).
    Technique(Technique),
    /// A predicate has boxes where goals of recorded clauses call it, and the goals of its own
    /// clauses have none (since format version 7).
    Boundary {
        /// Predicate id.
        predicate: u32,
    },
    /// Of a predicate there are values of arguments, at calls and exits
    /// ([`crate::format::ArgumentValue`]; since format version 7).
    Values {
        /// Predicate id.
        predicate: u32,
    },
    /// Something that threads share: a mutex, a message queue, a thread
    /// ([`crate::format::SyncCall`]; since format version 9).
    Shared {
        /// Its id, from 0.
        id: u32,
        /// Its name.
        name: String,
    },
    /// The trace is a part of another one (since format version 11).
    Part(Part),
}

/// Which part of a trace was cut out of it. Events before it are those that its boxes need.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Part {
    /// Its first tick.
    pub from: u64,
    /// The first tick after it; not before `from`.
    pub until: u64,
    /// Numbers of its streams; all if there are none.
    pub streams: Vec<u32>,
    /// The name of the file that it was cut out of.
    pub of: String,
}

/// How the recorder for SWI-Prolog makes ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum Technique {
    /// Foreign predicates are called, by wrappers and by copies of clauses.
    Ports,
    /// They are machine code in the engine's own instructions.
    Stubs,
}

/// How many costs a record has at most: what decodes them is bounded like any record.
pub const MAX_COSTS: usize = 1000;

/// So many times more did something happen that costs something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Cost {
    /// Id of the innermost cost centre around it.
    pub center: Option<u32>,
    /// Predicate id.
    pub predicate: u32,
    /// Number of the clause in its predicate, from 1; 0 for what is of the call and no clause.
    pub clause: u32,
    /// Id of the text that names what happened.
    pub symbol: u32,
    /// How many times more.
    pub count: u64,
}

/// What the recording of one event costs, by kind of port: `CALL`, `TAIL`, `EXIT` det, `EXIT` nondet,
/// `REDO`, `FAIL`, `CUT` (of one box), `EXCEPTION`. In 1/1024 ticks.
///
/// The event's time is taken in the middle of what it costs. One part falls into the stretch of the box
/// that is entered or left, the other into that of its caller. (`TAIL`: of the box that departs.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct PortCosts {
    /// The part in the box's own stretch.
    pub inside: [u32; 8],
    /// The part in the caller's.
    pub outside: [u32; 8],
    /// What each argument of the predicate adds to `CALL` and `TAIL`, in the box's own stretch.
    pub argument: u32,
    /// How much longer the program's own work takes, because recording uses the same caches and branch predictors: in 1/1024.
    pub slowdown: u32,
    /// Ticks of own work after an event that are slowed down.
    pub reach: u32,
}

/// Small programs that ran before the recording. Without them, nothing is known of what recording costs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Trials {
    /// Ticks of the loop around the first two.
    pub empty: u64,
    /// The first calls a predicate that does nothing, the second one that fails at once; the others have all ports.
    pub trials: Vec<Trial>,
    /// Callbacks of each trial: boxes that a predicate called which [`Record::Boundary`] names
    /// (since format version 7; empty in older traces, and where they cost no more than others).
    pub callbacks: Vec<u64>,
}

/// One small program, recorded and not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct Trial {
    /// Events by kind of port, in the order of [`PortCosts`]; a `CUT` counts once for each box.
    pub counts: [u64; 8],
    /// Arguments of all boxes entered.
    pub arguments: u64,
    /// Ticks of a recorded run.
    pub ticks: u64,
    /// Those of them between a `CALL` and a way out that follows on it.
    pub leaf_ticks: u64,
    /// Ticks of an unrecorded run.
    pub untraced: u64,
}

/// How long a program runs without being recorded: found out after the recording, by running it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Baseline {
    /// Time in all outermost boxes of all streams, in ns: that of the quickest run.
    pub ns: u64,
    /// How many runs.
    pub runs: u32,
    /// How much of the recorded time of the engine's own work ([`Roles::is_engine_work`]) was in that run, in 1/1024: recorded
    /// boxes take room on the stacks.
    pub engine_work: u32,
}

/// What has to be taken off recorded times so that they add up to what a baseline says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Fit {
    /// Id of an outermost predicate: it holds for its boxes without a recorded caller, and all called below. `None`: for
    /// everything else.
    pub predicate: Option<u32>,
    /// How much larger the [`PortCosts`] were here, in 1/1024.
    pub costs: u32,
    /// How much is left of what is left without them, in 1/1024: less than all where costs are no explanation, as of the time in
    /// which a thread waits for a recorded one.
    pub left: u32,
}

/// Parts of a tick that costs are given in.
pub const COST_UNIT: u64 = 1024;

/// A predicate, known from here on by its id.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Predicate {
    /// Predicate id, from 0.
    pub id: u32,
    /// Module.
    pub module: String,
    /// Name, unquoted.
    pub name: String,
    /// Number of arguments.
    pub arity: u32,
    /// File id of its first clause.
    pub file: Option<u32>,
    /// Line of its first clause, 0 if unknown.
    pub line: u32,
    /// What it is to the engine (since format version 12; before, its name says it).
    pub roles: Roles,
}

/// A goal in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Site {
    /// Id of the predicate that the goal calls.
    pub callee: u32,
    /// Id of the predicate whose clause it is in.
    pub caller: u32,
    /// Number of the clause in its predicate, from 1.
    pub clause: u32,
    /// Number of the goal in the clause, from 1, in the order in which goals are written.
    pub goal: u32,
    /// Line of the goal, 0 if unknown.
    pub line: u32,
    /// File id, if the clause is in another file than the caller's first one.
    pub file: Option<u32>,
    /// Once the goal has succeeded, its clause fails with nothing in between that could fail by itself: a driver loop
    /// (since format version 5; false in older traces).
    pub then_fails: bool,
}

/// A clause of a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
pub struct Clause {
    /// Id of the predicate.
    pub predicate: u32,
    /// Its number in the predicate, from 1.
    pub number: u32,
    /// Line where it begins, 0 if unknown.
    pub line: u32,
    /// File id, if it is known and is not that of the predicate's first clause.
    pub file: Option<u32>,
}

/// The beginning of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct StreamBegin {
    /// Stream id, from 1.
    pub stream: u32,
    /// Thread or engine.
    pub kind: StreamKind,
    /// Its name or number in the engine.
    pub name: String,
    /// Which redos the engine reports.
    pub dialect: Dialect,
    /// Tick of its beginning.
    pub tick: u64,
}

/// What runs in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum StreamKind {
    /// An operating system thread of Prolog.
    Thread,
    /// A coroutining engine.
    Engine,
}

/// Which boxes report a redo when backtracking enters a box deep inside exited ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub enum Dialect {
    /// Every re-entered box, outermost first.
    EveryRedo,
    /// The innermost one only.
    InnermostRedo,
}

/// How the recorded run ended.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Outcome {
    /// The process exited with this status.
    Exited(i32),
    /// Recording was switched off and the program went on.
    Stopped,
    /// The size limit was reached or the disk was full, and the program went on unrecorded.
    Full,
}

/// Where every block is, for a reader that does not want to walk.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct BlockIndex {
    /// All blocks before the index, by offset.
    pub blocks: Vec<IndexEntry>,
}

/// One block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct IndexEntry {
    /// Offset in the file.
    pub offset: u64,
    /// Stream, 0 for records.
    pub stream: u32,
    /// Sequence number within the stream.
    pub sequence: u64,
}
