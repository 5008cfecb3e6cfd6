//! From events to the times of single calls, as an [`Observer`] of some streams.
//!
//! With a physical box, which stands for a chain of logical ones, it keeps an entry for each
//! distinct predicate and goal of the chain, so that a chain of a million last calls takes no more
//! room than the program. Of each predicate in a chain, the first call is timed.

use std::collections::BTreeMap;

use super::figures::SlowCall;
use super::ledger::{Begun, BooksAtRest, CallLedger, CallTime, RowId};
use crate::figures::Caller;
use crate::machine::{At, Observer, OpenBox, WayOut};
use crate::trace::{BoxKind, PredicateIndex};

/// Logical boxes of a frame that have the predicate and the goal in common.
#[derive(Debug)]
struct BoxGroup {
    boxes: u64,
    /// The call of the first of them, if it is timed and has not ended.
    running: Option<Running>,
}

/// A call whose first activation has not ended.
#[derive(Debug)]
struct Running {
    begun: Begun,
    /// [`At::now`] and [`Timer::engine`] then.
    since: [u64; 2],
}

/// Predicate and goal.
type PredicateAndGoal = [RowId; 2];

/// What is kept with a physical box.
#[derive(Debug)]
pub(crate) struct PassFrame {
    /// The innermost visible box of it or around it.
    visible: Caller,
    /// It is work of the engine; and whether it or a box around it is.
    own_engine: bool,
    is_engine: bool,
    /// The visible ones of its logical boxes: the one that was called, with those alike, and those
    /// that it departed into.
    first: Option<(PredicateAndGoal, BoxGroup)>,
    more: BTreeMap<PredicateAndGoal, BoxGroup>,
}

impl PassFrame {
    fn groups(&mut self) -> impl Iterator<Item = (PredicateAndGoal, &mut BoxGroup)> {
        let first = self.first.as_mut().map(|(rows, group)| (*rows, group));
        let more = self.more.iter_mut().map(|(rows, group)| (*rows, group));
        first.into_iter().chain(more)
    }

    fn group(&mut self, rows: PredicateAndGoal) -> Option<&mut BoxGroup> {
        match &mut self.first {
            Some((first, group)) if *first == rows => Some(group),
            _ => self.more.get_mut(&rows),
        }
    }

    /// Whether one of its boxes runs a predicate.
    fn has(&self, predicate: PredicateIndex) -> bool {
        let first = self.first.as_ref();
        let mut more = self.more.range([predicate, 0]..=[predicate, RowId::MAX]);
        first.is_some_and(|([of, _], _)| *of == predicate) || more.next().is_some()
    }
}

/// What a timer knows between two parts of a stream.
#[derive(Debug)]
pub(crate) struct TimerAtRest {
    rows: BooksAtRest,
    stream: u32,
    engine: u64,
    on_chain: Vec<u64>,
}

impl TimerAtRest {
    /// Before the first event of a stream.
    pub(crate) fn new(stream: u32) -> Self {
        Self {
            rows: BooksAtRest::default(),
            stream,
            engine: 0,
            on_chain: Vec::new(),
        }
    }

    /// The slowest call of each predicate so far.
    pub(crate) fn slowest(&self) -> impl Iterator<Item = (PredicateIndex, SlowCall)> {
        self.rows.slowest()
    }

    /// Goes on with a ledger that has room for what was declared since.
    pub(crate) fn go_on(self, ledger: CallLedger<'_>) -> Timer<'_> {
        let mut timer = Timer::new(ledger.of_before(self.rows));
        timer.on_chain[..self.on_chain.len()].copy_from_slice(&self.on_chain);
        (timer.stream, timer.engine) = (self.stream, self.engine);
        timer
    }
}

impl PassFrame {
    /// Rows have other numbers since more was declared.
    pub(crate) fn renumber(&mut self, row: impl Fn(RowId) -> RowId) {
        let renumbered = |[predicate, goal]: PredicateAndGoal| [predicate, row(goal)];
        if let Some((rows, _)) = &mut self.first {
            *rows = renumbered(*rows);
        }
        let more = std::mem::take(&mut self.more).into_iter();
        self.more = more.map(|(rows, of)| (renumbered(rows), of)).collect();
    }
}

/// Times the calls of streams.
#[derive(Debug)]
pub(crate) struct Timer<'s> {
    ledger: CallLedger<'s>,
    stream: u32,
    /// Ticks that passed in work of the engine, or waiting.
    engine: u64,
    /// By predicate: its visible boxes on the active chain.
    on_chain: Vec<u64>,
}

impl<'s> Timer<'s> {
    pub(crate) fn new(ledger: CallLedger<'s>) -> Self {
        Self {
            stream: 0,
            engine: 0,
            on_chain: vec![0; ledger.unknown() as usize + 1],
            ledger,
        }
    }

    /// What it knows, to go on later.
    pub(crate) fn at_rest(self) -> TimerAtRest {
        TimerAtRest {
            rows: self.ledger.at_rest(),
            stream: self.stream,
            engine: self.engine,
            on_chain: self.on_chain,
        }
    }

    pub(crate) fn into_books(self) -> CallLedger<'s> {
        self.ledger
    }

    fn is_engine(&self, predicate: PredicateIndex) -> bool {
        !matches!(self.ledger.scope.kind_of(predicate), BoxKind::Call { .. })
    }

    /// The innermost visible box of one and those around it.
    fn visible(&self, at: &At, around: Option<&PassFrame>) -> Caller {
        match around {
            Some(frame) => frame.visible,
            None if at.lost => Caller::Predicate(self.ledger.unknown()),
            None => Caller::Root,
        }
    }

    /// The box has a new logical box.
    fn open(&mut self, at: &At, open: &OpenBox, frame: &mut PassFrame) {
        let predicate = open.predicate;
        if !open.is_shown(self.ledger.scope) {
            return;
        }
        // What the engine does for itself is no work of the program that could grow.
        let is_engine = self.is_engine(predicate);
        let caller = std::mem::replace(&mut frame.visible, Caller::Predicate(predicate));
        let rows = [predicate, self.ledger.goal(predicate, at.site, caller)];
        let on_chain = &mut self.on_chain[predicate as usize];
        let is_outermost = *on_chain == 0 && !is_engine;
        *on_chain += 1;
        let is_timed = at.is_inside && !frame.has(predicate);
        if at.is_inside {
            self.ledger.count(rows, |figures| {
                figures.calls += 1;
                figures.departed += u64::from(!is_timed);
            });
        }
        if let Some(group) = frame.group(rows) {
            group.boxes += 1;
            return;
        }
        let ledger = &mut self.ledger;
        let running = is_timed.then(|| Running {
            begun: Begun {
                event: at.number,
                tick: at.tick,
                caller,
                ordinals: is_outermost.then(|| ledger.next_ordinals(rows)),
            },
            since: [at.now, self.engine],
        });
        let group = BoxGroup { boxes: 1, running };
        match frame.first {
            None => frame.first = Some((rows, group)),
            Some(_) => {
                frame.more.insert(rows, group);
            }
        }
    }

    /// The call whose first activation this was has ended.
    fn end(&mut self, at: &At, rows: PredicateAndGoal, running: &Running) {
        let [since, engine] = running.since;
        let ticks = at.now - since;
        let took = CallTime {
            stream: self.stream,
            ticks,
            own: ticks - (self.engine - engine),
        };
        self.ledger.end(rows, &running.begun, took);
    }
}

impl Observer for Timer<'_> {
    type Kept = PassFrame;

    fn begins(&mut self, stream: u32) {
        self.stream = stream;
        self.ledger.begin_stream();
    }

    fn passed(&mut self, ticks: u64, active: Option<&PassFrame>) {
        if active.is_some_and(|frame| frame.is_engine) {
            self.engine += ticks;
        }
    }

    fn called(&mut self, at: &At, open: &OpenBox, around: Option<&PassFrame>) -> PassFrame {
        let mut frame = self.found(at, open, around);
        self.open(at, open, &mut frame);
        frame
    }

    fn found(&mut self, at: &At, open: &OpenBox, around: Option<&PassFrame>) -> PassFrame {
        let own_engine = self.is_engine(open.predicate);
        PassFrame {
            visible: self.visible(at, around),
            own_engine,
            is_engine: own_engine || around.is_some_and(|around| around.is_engine),
            first: None,
            more: BTreeMap::new(),
        }
    }

    fn departed(&mut self, at: &At, open: &OpenBox, frame: &mut PassFrame) {
        let is_engine = self.is_engine(open.predicate);
        frame.own_engine |= is_engine;
        frame.is_engine |= is_engine;
        self.open(at, open, frame);
    }

    fn left(&mut self, at: &At, frame: &mut PassFrame, way_out: WayOut) {
        for (rows, group) in frame.groups() {
            self.on_chain[rows[0] as usize] -= group.boxes;
            match (group.running.take(), way_out) {
                (None, _) => {}
                (Some(_), WayOut::Open | WayOut::Lost) => {
                    self.ledger.count(rows, |figures| figures.open += 1);
                }
                (Some(running), _) => self.end(at, rows, &running),
            }
        }
    }

    fn re_entered(&mut self, at: &At, frame: &mut PassFrame, around: Option<&PassFrame>) {
        frame.is_engine = frame.own_engine || around.is_some_and(|around| around.is_engine);
        if frame.first.is_none() {
            frame.visible = self.visible(at, around);
        }
        for (rows, group) in frame.groups() {
            self.on_chain[rows[0] as usize] += group.boxes;
            if at.is_inside {
                self.ledger
                    .count(rows, |figures| figures.redos += group.boxes);
            }
        }
    }
}
