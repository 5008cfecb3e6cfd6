//! Traces made up event by event, in small blocks, the same on every machine.

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BLOCK_MAGIC, Baseline, BlockIndex, Cost, Dialect, Event, Fit,
    Footer, Header, IndexEntry, Mode, Outcome, PortCosts, Predicate, Record, Role, Roles, Site,
    StreamBegin, StreamKind, Trial, Trials, encode_header, encode_index, encode_record,
};

use crate::mutation::Random;
use crate::packed::{Modes, unpack};

const FILE_ID: u64 = 7;
const EVENTS: u32 = 1;
const RECORDS: u32 = 2;
const INDEX: u32 = 3;

/// What a trace is like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) seed: u64,
    pub(crate) dialect: Dialect,
    pub(crate) streams: u32,
    /// Of each stream.
    pub(crate) events: usize,
    /// There are pauses, and events that cannot happen.
    pub(crate) odd: bool,
    /// Symbolic costs, cost centres, what recording cost, a baseline.
    pub(crate) costs: bool,
    /// The recording ended in order, with an index.
    pub(crate) ended: bool,
}

/// A trace of this shape, not packed.
pub(crate) fn trace(shape: Shape) -> Vec<u8> {
    let mut random = Random::new(shape.seed);
    let mut blocks = Vec::new();
    let mut ends = Vec::new();
    for stream in 1..=shape.streams {
        let mut engine = Engine::new(&shape, stream);
        let events = engine.run(&mut random, shape.events);
        ends.push((stream, engine.tick, events.len() as u64));
        blocks.extend(event_blocks(stream, &events));
    }
    let mut file = encode_header(&header(), FILE_ID).to_vec();
    let begin = records(&shape);
    add_block(&mut file, RECORDS, 0, 0, &begin);
    for (stream, tick, payload) in &blocks {
        add_block(&mut file, EVENTS, *stream, *tick, payload);
    }
    if shape.ended {
        add_block(&mut file, RECORDS, 0, 0, &end(&ends));
    }
    let file = unpack(&file, Modes(Modes::MENDED));
    if shape.ended { with_index(file) } else { file }
}

fn header() -> Header {
    Header {
        recorder: "portmortem".to_owned(),
        engine: "made up".to_owned(),
        command: vec!["fuzz".to_owned()],
        directory: "/".to_owned(),
        machine: "none".to_owned(),
        process: 1,
        started_unix: 0,
        clock: portmortem_tracer::format::ClockSource::Monotonic,
        ticks_per_second: 1_000_000_000,
        mode: Mode::default(),
    }
}

fn records(shape: &Shape) -> Vec<u8> {
    let mut records = vec![Record::File {
        id: 0,
        path: "p.pl".to_owned(),
    }];
    let names = ["main", "p", "q", "garbage_collect", "append"];
    for (id, name) in (0..).zip(names) {
        let module = if id == 3 { "system" } else { "user" };
        records.push(Record::Predicate(Predicate {
            id,
            module: module.to_owned(),
            name: name.to_owned(),
            arity: if id == 3 { 0 } else { id },
            file: Some(0),
            line: id + 1,
            roles: match id {
                3 => Roles::of(&[Role::Collection]),
                _ => Roles::default(),
            },
        }));
    }
    let goals = SITES.zip([(0, 1), (1, 2), (1, 1)]);
    records.extend(goals.map(|(id, (caller, callee))| Record::Site {
        id,
        site: Site {
            callee,
            caller,
            clause: 1,
            goal: id,
            line: id,
            file: None,
            then_fails: id == SITES.start,
        },
    }));
    let text = "unify".to_owned();
    records.push(Record::Text { id: 0, text });
    for stream in 1..=shape.streams {
        records.push(Record::StreamBegin(StreamBegin {
            stream,
            kind: StreamKind::Thread,
            name: format!("s{stream}"),
            dialect: shape.dialect,
            tick: 1000,
        }));
    }
    if shape.costs {
        records.extend(costs());
    }
    encode(&records)
}

/// Ids of sites.
const SITES: std::ops::Range<u32> = 6..9;

fn costs() -> [Record; 8] {
    let cost = |predicate, count| Cost {
        center: Some(5),
        predicate,
        clause: 1,
        symbol: 0,
        count,
    };
    [
        Record::CostCenter {
            id: 5,
            name: "middle".to_owned(),
        },
        Record::InCostCenter {
            predicate: 2,
            center: 5,
        },
        Record::Costs {
            costs: vec![cost(0, 2), cost(1, 300)],
            last: true,
        },
        Record::PortCosts(PortCosts {
            inside: [1024; 8],
            outside: [700; 8],
            argument: 100,
            slowdown: 50,
            reach: 8,
        }),
        Record::Trials(Trials {
            empty: 30,
            trials: vec![Trial {
                counts: [100; 8],
                arguments: 300,
                ticks: 2000,
                leaf_ticks: 700,
                untraced: 900,
            }],
            callbacks: vec![40],
        }),
        Record::Boundary { predicate: 1 },
        Record::Baseline(Baseline {
            ns: 900,
            runs: 3,
            engine_work: 512,
        }),
        Record::Fit(Fit {
            predicate: Some(0),
            costs: 900,
            left: 1000,
        }),
    ]
}

fn end(streams: &[(u32, u64, u64)]) -> Vec<u8> {
    let mut records: Vec<Record> = streams
        .iter()
        .map(|&(stream, tick, events)| Record::StreamEnd {
            stream,
            tick,
            events,
        })
        .collect();
    let tick = streams.iter().map(|&(_, tick, _)| tick).max();
    let tick = tick.unwrap_or_default() + 10;
    let outcome = Outcome::Exited(0);
    records.push(Record::End {
        tick,
        ns: tick,
        outcome,
    });
    encode(&records)
}

fn encode(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        encode_record(record, &mut bytes).expect("the records are short");
    }
    bytes
}

/// Blocks of one 512th: the stream, the tick it begins at, the events.
fn event_blocks(stream: u32, events: &[(Event, u64)]) -> Vec<(u32, u64, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut last = events.first().map_or(0, |&(_, tick)| tick);
    for part in events.chunks(90) {
        let begin = last;
        let mut payload = Vec::new();
        for &(event, tick) in part {
            event.encode(tick - last, &mut payload);
            last = tick;
        }
        blocks.push((stream, begin, payload));
    }
    blocks
}

/// Appends a closed block; mending fills in the rest.
fn add_block(file: &mut Vec<u8>, kind: u32, stream: u32, tick: u64, payload: &[u8]) {
    let mut block = vec![0; (BLOCK_HEADER_BYTES + payload.len()).next_multiple_of(BLOCK_ALIGN)];
    let mut put = |at: usize, field: &[u8]| block[at..at + field.len()].copy_from_slice(field);
    put(0, &BLOCK_MAGIC);
    put(16, &kind.to_le_bytes());
    put(20, &stream.to_le_bytes());
    put(40, &tick.to_le_bytes());
    put(48, &tick.to_le_bytes());
    put(64, &(payload.len() as u32).to_le_bytes());
    put(68, &1_u32.to_le_bytes());
    put(BLOCK_HEADER_BYTES, payload);
    file.extend_from_slice(&block);
}

/// Appends the index of all blocks, and the footer.
fn with_index(mut file: Vec<u8>) -> Vec<u8> {
    let word = |at: usize| {
        file[at..]
            .first_chunk()
            .map_or(0, |word| u32::from_le_bytes(*word))
    };
    let long = |at: usize| {
        file[at..]
            .first_chunk()
            .map_or(0, |long| u64::from_le_bytes(*long))
    };
    let mut blocks = Vec::new();
    let mut at = portmortem_tracer::format::FILE_HEADER_BYTES;
    while at < file.len() {
        blocks.push(IndexEntry {
            offset: at as u64,
            stream: word(at + 20),
            sequence: long(at + 24),
        });
        at += word(at + 4) as usize;
    }
    let footer = Footer {
        index_offset: file.len() as u64,
        file_id: FILE_ID,
    };
    let index = encode_index(&BlockIndex { blocks });
    add_block(&mut file, INDEX, 0, 0, &index);
    file.extend_from_slice(&footer.encode());
    unpack(&file, Modes(Modes::MENDED))
}

/// A box: what called it, and how many choices there were then.
struct Frame {
    parent: Option<usize>,
    base: usize,
}

/// Makes events that can happen, most of the time.
struct Engine {
    dialect: Dialect,
    odd: bool,
    /// Predicates, cost centres and sites.
    callables: Vec<u32>,
    frames: Vec<Frame>,
    active: Option<usize>,
    choices: Vec<usize>,
    tick: u64,
}

impl Engine {
    fn new(shape: &Shape, stream: u32) -> Self {
        Self {
            dialect: shape.dialect,
            odd: shape.odd,
            callables: (0..if shape.costs { 6 } else { 5 }).chain(SITES).collect(),
            frames: Vec::new(),
            active: None,
            choices: Vec::new(),
            tick: 1000 * u64::from(stream),
        }
    }

    fn run(&mut self, random: &mut Random, events: usize) -> Vec<(Event, u64)> {
        let mut made = Vec::new();
        while made.len() < events {
            self.tick += random.below(40) as u64;
            let tick = self.tick;
            made.extend(self.step(random).map(|event| (event, tick)));
        }
        made
    }

    fn step(&mut self, random: &mut Random) -> Option<Event> {
        let predicate = self.callables[random.below(self.callables.len())];
        let base = self.active.map_or(0, |active| self.frames[active].base);
        let is_det = self.choices.len() == base;
        if self.odd && random.below(30) == 0 {
            return Some([Event::Pause, Event::Resume, Event::Redo][random.below(3)]);
        }
        let active = self.active;
        match (random.below(12), active) {
            (0..4, _) | (_, None) if is_det || active.is_some() => {
                self.frames.push(Frame {
                    parent: active,
                    base: self.choices.len(),
                });
                self.active = Some(self.frames.len() - 1);
                Some(Event::Call { predicate })
            }
            (4, Some(_)) if is_det => Some(Event::Tail { predicate }),
            (5, Some(_)) if is_det => self.leave(Event::ExitDet),
            (6, Some(_)) if is_det => self.leave(Event::Fail),
            (7, Some(_)) if is_det => self.leave(Event::Exception),
            (5..9, Some(active)) => {
                self.choices.push(active);
                self.leave(Event::ExitNondet)
            }
            (9, _) if !is_det => {
                let count = (self.choices.len() - base) as u32;
                self.choices.truncate(base);
                Some(Event::Cut { count })
            }
            (10, _) => Some(Event::Mark { text: 0 }),
            _ if is_det => None,
            _ => Some(self.redo()),
        }
    }

    fn leave(&mut self, event: Event) -> Option<Event> {
        self.active = self.active.and_then(|active| self.frames[active].parent);
        Some(event)
    }

    fn redo(&mut self) -> Event {
        self.active = self.choices.pop();
        if self.dialect == Dialect::InnermostRedo {
            while let Some(&top) = self.choices.last()
                && self.frames[top].parent == self.active
            {
                self.active = self.choices.pop();
            }
        }
        Event::Redo
    }
}
