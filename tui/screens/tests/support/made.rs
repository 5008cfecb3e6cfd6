//! A recording of a large program that never was, the same on every machine: 300 predicates in 40
//! modules, goals on lines, failures, redos, exceptions, cuts, and streams that mostly wait.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BLOCK_MAGIC, ClockSource, Dialect, Event, Header, Mode,
    Outcome, Predicate, Record, Role, Roles, Site, StreamBegin, StreamKind, crc32, encode_header,
    encode_record,
};

pub(crate) const PREDICATES: u32 = 300;
pub(crate) const MODULES: u32 = 40;

/// The first numbers of predicates after those of the program: what the engine does.
const WAITING: u32 = PREDICATES;
const COLLECTION: u32 = PREDICATES + 1;
const LOADING: u32 = PREDICATES + 2;
/// Sites begin here: those of a predicate's goals, so many each.
const FIRST_SITE: u32 = PREDICATES + 3;
const GOALS: u32 = 3;

const FILE_ID: u64 = 27;
/// A tick is a nanosecond.
const BEGIN: u64 = 1_000_000;
const MOST_EVENTS_IN_A_BLOCK: usize = 20_000;

const PLACES: [&str; 8] = [
    "lexicon", "grammar", "drs", "npace", "reasoner", "tokens", "output", "server",
];
const PARTS: [&str; 5] = ["core", "terms_to_text", "index", "utilities", "checks"];
const VERBS: [&str; 12] = [
    "get",
    "collect",
    "rewrite",
    "normalise",
    "split",
    "resolve",
    "print",
    "check",
    "lookup",
    "combine",
    "infer",
    "close",
];
const NOUNS: [&str; 9] = [
    "pred",
    "relative_clauses",
    "conditions",
    "anaphora_of_sentence",
    "turn",
    "tokens",
    "quantifier_scope_restrictions",
    "node",
    "answers",
];

/// The recording: the same bytes on every machine.
pub(crate) fn program() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| written("large.pmt", &file(&[])))
        .clone()
}

/// Marks of [`marked`]: the stream, which of its events comes before, and the text.
pub(crate) const MARKS: [(u32, usize, &str); 4] = [
    (1, 1000, "load"),
    (1, 9000, "Solve it"),
    (3, 20, "ready"),
    (4, 30, "ready"),
];

/// The path of the same recording with marks.
pub(crate) fn marked() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| written("marked.pmt", &file(&MARKS)))
        .clone()
}

/// Writes a file for all tests; others may be about to read it.
fn written(name: &str, bytes: &[u8]) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("made");
    std::fs::create_dir_all(&directory).unwrap();
    let new = directory.join(format!("{name}.{}", std::process::id()));
    std::fs::write(&new, bytes).unwrap();
    let path = directory.join(name);
    std::fs::rename(&new, &path).unwrap();
    path
}

/// Which module a predicate is in.
fn module(predicate: u32) -> String {
    let at = (predicate % MODULES) as usize;
    format!("{}_{}", PLACES[at % PLACES.len()], PARTS[at / PLACES.len()])
}

fn name(predicate: u32) -> String {
    let at = predicate as usize;
    let verb = VERBS[at % VERBS.len()];
    let noun = NOUNS[at / VERBS.len() % NOUNS.len()];
    match at / (VERBS.len() * NOUNS.len()) {
        0 => format!("{verb}_{noun}"),
        again => format!("{verb}_{noun}_{again}"),
    }
}

/// The predicate that a goal calls: later ones, so that every call ends.
fn callee(predicate: u32, goal: u32) -> u32 {
    let last = PREDICATES - 1;
    (predicate * 2 + 1 + goal * 29 + predicate % 7).clamp(predicate + 1, last)
}

fn records() -> Vec<Record> {
    let mut records = Vec::new();
    for module in 0..MODULES {
        records.push(Record::File {
            id: module,
            path: format!("source/{}.pl", self::module(module)),
        });
    }
    for id in 0..PREDICATES {
        records.push(Record::Predicate(Predicate {
            id,
            module: module(id),
            name: name(id),
            arity: id % 8,
            file: Some(id % MODULES),
            line: 10 + id / MODULES * 40,
            roles: Roles::default(),
        }));
    }
    for (id, name, role) in [
        (WAITING, "waiting", Role::Waiting),
        (COLLECTION, "garbage_collect", Role::Collection),
        (LOADING, "autoload", Role::Loading),
    ] {
        records.push(Record::Predicate(Predicate {
            id,
            module: "system".to_owned(),
            name: name.to_owned(),
            arity: 0,
            file: None,
            line: 0,
            roles: Roles::of(&[role]),
        }));
    }
    for caller in 0..PREDICATES - 1 {
        for goal in 0..GOALS {
            records.push(Record::Site {
                id: site(caller, goal),
                site: Site {
                    callee: callee(caller, goal),
                    caller,
                    clause: 1 + goal / 2,
                    goal: 1 + goal % 2,
                    line: 11 + caller / MODULES * 40 + goal,
                    file: None,
                    then_fails: false,
                },
            });
        }
    }
    records
}

fn site(caller: u32, goal: u32) -> u32 {
    FIRST_SITE + caller * GOALS + goal
}

/// How a box was left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Exited,
    /// With a choicepoint.
    Open,
    Failed,
    Raised,
}

/// A stream that is being made.
struct Engine {
    tick: u64,
    /// Where the program would be at chance.
    random: u64,
    events: Vec<(Event, u64)>,
    /// No more calls are made when there are so many.
    most: usize,
}

impl Engine {
    fn new(seed: u64, most: usize) -> Self {
        Self {
            tick: BEGIN + seed * 10_000,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            events: Vec::new(),
            most,
        }
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 20).is_multiple_of(one_in)
    }

    fn record(&mut self, event: Event, after: u64) {
        self.tick += after;
        self.events.push((event, self.tick));
    }

    /// Something that the engine does.
    fn aside(&mut self, predicate: u32, takes: u64) {
        self.record(Event::Call { predicate }, 40);
        self.record(Event::ExitDet, takes);
    }

    fn call(&mut self, predicate: u32, by: u32, depth: u32) -> Left {
        self.record(Event::Call { predicate: by }, 90);
        let work = 200 + u64::from(predicate % 11) * 130;
        if self.chance(97) {
            self.aside(COLLECTION, 30_000);
        }
        let has_goals = predicate < PREDICATES - 1 && depth < 14;
        let mut open = 0;
        for goal in 0..GOALS {
            if !has_goals || self.events.len() > self.most || self.chance(3) {
                continue;
            }
            let left = self.call(callee(predicate, goal), site(predicate, goal), depth + 1);
            match left {
                Left::Exited => {}
                Left::Open => open += 1,
                Left::Raised if predicate.is_multiple_of(9) => {}
                Left::Raised => {
                    self.record(Event::Exception, 150);
                    return Left::Raised;
                }
                // The newest choice is tried; it gives one more solution, or none.
                Left::Failed if open > 0 => {
                    self.record(Event::Redo, 60);
                    open -= 1;
                    if self.chance(2) {
                        self.record(Event::ExitDet, 120);
                    } else {
                        self.record(Event::Fail, 110);
                        return self.leave_failing(open);
                    }
                }
                Left::Failed => return self.leave_failing(open),
            }
        }
        if open > 0 {
            self.record(Event::Cut { count: open }, 20);
        }
        if !has_goals && self.chance(150) {
            self.record(Event::Exception, work);
            return Left::Raised;
        }
        if self.chance(6) {
            self.record(Event::Fail, work);
            return Left::Failed;
        }
        if open == 0 && predicate % 5 == 2 {
            self.record(Event::ExitNondet, work);
            return Left::Open;
        }
        self.record(Event::ExitDet, work);
        Left::Exited
    }

    /// Choices that are left are tried in vain.
    fn leave_failing(&mut self, open: u32) -> Left {
        for _ in 0..open {
            self.record(Event::Redo, 50);
            self.record(Event::Fail, 100);
        }
        self.record(Event::Fail, 80);
        Left::Failed
    }
}

/// The events of a stream: the first one works, the others wait for most of the time.
fn stream(number: u32) -> Vec<(Event, u64)> {
    if number == 1 {
        let mut engine = Engine::new(1, 24_000);
        engine.record(Event::Call { predicate: 0 }, 10);
        engine.aside(LOADING, 2_000_000);
        while engine.events.len() < engine.most {
            let goal = engine.events.len() as u32 % GOALS;
            let left = engine.call(callee(0, goal), site(0, goal), 1);
            if left == Left::Open {
                engine.record(Event::Cut { count: 1 }, 20);
            }
        }
        engine.record(Event::ExitDet, 100);
        return engine.events;
    }
    let mut engine = Engine::new(number.into(), 60 + 25 * number as usize);
    let worker = 7 + number;
    engine.record(Event::Call { predicate: worker }, 10);
    let mut goal = 0;
    while engine.events.len() < engine.most {
        engine.aside(WAITING, 1_500_000);
        let left = engine.call(callee(worker, goal), site(worker, goal), 9);
        if left == Left::Open {
            engine.record(Event::Cut { count: 1 }, 20);
        }
        goal = (goal + 1) % GOALS;
    }
    engine.record(Event::ExitDet, 100);
    engine.events
}

pub(crate) const STREAMS: u32 = 24;

fn file(marks: &[(u32, usize, &str)]) -> Vec<u8> {
    let header = Header {
        recorder: "portmortem".to_owned(),
        engine: "SWI-Prolog made up".to_owned(),
        command: vec!["swipl".to_owned(), "large.pl".to_owned()],
        directory: "/nowhere".to_owned(),
        machine: "none".to_owned(),
        process: 1,
        started_unix: 0,
        clock: ClockSource::Monotonic,
        ticks_per_second: 1_000_000_000,
        mode: Mode::default(),
    };
    let mut file = encode_header(&header, FILE_ID).to_vec();
    let mut begin = records();
    let mut streams: Vec<(u32, Vec<(Event, u64)>)> = (1..=STREAMS)
        .map(|number| (number, stream(number)))
        .collect();
    // The last ones first: those before them stay where they are.
    for (text, &(stream, at, words)) in marks.iter().enumerate().rev() {
        let text = text as u32;
        let events = &mut streams[stream as usize - 1].1;
        let tick = events[at - 1].1;
        events.insert(at, (Event::Mark { text }, tick));
        begin.push(Record::Text {
            id: text,
            text: words.to_owned(),
        });
    }
    for (number, events) in &streams {
        begin.push(Record::StreamBegin(StreamBegin {
            stream: *number,
            kind: StreamKind::Thread,
            name: match number {
                1 => "main".to_owned(),
                number => format!("worker{}", number - 1),
            },
            dialect: Dialect::EveryRedo,
            tick: events[0].1,
        }));
    }
    for (at, records) in begin.chunks(200).enumerate() {
        let block = Block {
            kind: RECORDS,
            sequence: at as u64,
            base: BEGIN,
            ..Block::default()
        };
        block.put(records, &mut file);
    }
    let mut end = Vec::new();
    let mut last = 0;
    for (number, events) in &streams {
        let (mut first, mut base) = (0, events[0].1);
        for (sequence, events) in events.chunks(MOST_EVENTS_IN_A_BLOCK).enumerate() {
            let block = Block {
                kind: EVENTS,
                stream: *number,
                sequence: sequence as u64,
                first,
                base,
            };
            base = block.put_events(events, &mut file);
            first += events.len() as u64;
        }
        last = last.max(base);
        end.push(Record::StreamEnd {
            stream: *number,
            tick: base,
            events: first,
        });
    }
    end.push(Record::End {
        tick: last,
        ns: last,
        outcome: Outcome::Exited(0),
    });
    let block = Block {
        kind: RECORDS,
        sequence: begin.chunks(200).len() as u64,
        base: last,
        ..Block::default()
    };
    block.put(&end, &mut file);
    file
}

const EVENTS: u32 = 1;
const RECORDS: u32 = 2;

/// What is known of a block before it is written.
#[derive(Default)]
struct Block {
    kind: u32,
    stream: u32,
    sequence: u64,
    /// Events of the stream before it.
    first: u64,
    base: u64,
}

impl Block {
    fn put(&self, records: &[Record], file: &mut Vec<u8>) {
        let mut payload = Vec::new();
        for record in records {
            encode_record(record, &mut payload).unwrap();
        }
        self.write(&payload, records.len(), self.base, file);
    }

    /// The tick of the last event.
    fn put_events(&self, events: &[(Event, u64)], file: &mut Vec<u8>) -> u64 {
        let (mut payload, mut before) = (Vec::new(), self.base);
        for &(event, tick) in events {
            event.encode(tick - before, &mut payload);
            before = tick;
        }
        self.write(&payload, events.len(), before, file);
        before
    }

    /// The fields are where `tracer/FORMAT.md` says.
    fn write(&self, payload: &[u8], count: usize, last: u64, file: &mut Vec<u8>) {
        let size = (BLOCK_HEADER_BYTES + payload.len()).next_multiple_of(BLOCK_ALIGN);
        let mut block = vec![0; size];
        let mut set = |at: usize, field: &[u8]| block[at..at + field.len()].copy_from_slice(field);
        set(0, &BLOCK_MAGIC);
        set(4, &(size as u32).to_le_bytes());
        set(8, &FILE_ID.to_le_bytes());
        set(16, &self.kind.to_le_bytes());
        set(20, &self.stream.to_le_bytes());
        set(24, &self.sequence.to_le_bytes());
        set(32, &self.first.to_le_bytes());
        set(40, &self.base.to_le_bytes());
        // Ticks are nanoseconds.
        set(48, &self.base.to_le_bytes());
        set(64, &(payload.len() as u32).to_le_bytes());
        set(68, &1_u32.to_le_bytes());
        set(72, &last.to_le_bytes());
        set(80, &(count as u32).to_le_bytes());
        set(88, &crc32(payload).to_le_bytes());
        set(BLOCK_HEADER_BYTES, payload);
        let mut checked = block[4..56].to_vec();
        checked.extend([0; 4]);
        let crc = crc32(&checked);
        block[60..64].copy_from_slice(&crc.to_le_bytes());
        let crc = crc32(&block[64..92]);
        block[92..96].copy_from_slice(&crc.to_le_bytes());
        file.extend(block);
    }
}
