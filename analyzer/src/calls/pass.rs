//! One stream, event by event: which boxes are open, and since when each call runs.
//!
//! Both stacks are plain, as in [`crate::clauses`]. A frame is a physical box, which stands for a
//! chain of logical ones. It has an entry for each distinct predicate and goal of the chain, so
//! that a chain of a million last calls takes no more room than the program. Of each predicate in a
//! chain, the first call is timed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use portmortem_tracer::format::{Dialect, Event};

use super::books::{Begun, Books, RowId, Took};
use crate::figures::Caller;
use crate::scope::focus::Way;
use crate::trace::events::TimedEvent;
use crate::trace::{BoxKind, PredicateIndex, SiteIndex, StreamInfo, Trace};

/// Progress is told, and it is asked whether to stop, after so many events.
const WATCHED: u64 = 1 << 16;

/// Whom a pass tells how far it is, and who may stop it.
#[derive(Debug)]
pub(super) struct Watch<'w> {
    /// Events read.
    pub(super) progress: &'w AtomicU64,
    pub(super) cancel: &'w AtomicBool,
}

/// Books the calls of a stream; `None` if it was cancelled.
pub(super) fn one_stream(
    books: &mut Books,
    trace: &Trace,
    stream: &StreamInfo,
    watch: &Watch,
) -> Option<()> {
    let mut state = State::new(books, stream.dialect(), stream.id);
    let mut last = None;
    let mut events = trace.events(stream);
    let mut read = 0;
    while let Some(timed) = events.next() {
        last = Some(timed.tick);
        if state.books.scope.is_over(timed.tick) {
            break;
        }
        state.happen(timed, events.number());
        read += 1;
        if read == WATCHED {
            watch.progress.fetch_add(WATCHED, Ordering::Relaxed);
            read = 0;
            if watch.cancel.load(Ordering::Relaxed) {
                return None;
            }
        }
    }
    watch.progress.fetch_add(read, Ordering::Relaxed);
    if let Some(last) = last {
        state.finish(stream.end.map_or(last, |end| end.tick.max(last)));
    }
    (!watch.cancel.load(Ordering::Relaxed)).then_some(())
}

/// Logical boxes of a frame that have the predicate and the goal in common.
#[derive(Debug)]
struct Group {
    boxes: u64,
    /// The call of the first of them, if it is timed and has not ended.
    running: Option<Running>,
}

/// A call whose first activation has not ended.
#[derive(Debug)]
struct Running {
    begun: Begun,
    /// [`State::now`] and [`State::engine`] then.
    since: [u64; 2],
}

/// Predicate and goal.
type Rows = [RowId; 2];

/// A physical box.
#[derive(Debug)]
struct Frame {
    /// Its name, and that of the box around it; 0 if there is none.
    number: u64,
    around: u64,
    way: Way,
    /// The innermost visible box of it or around it.
    visible: Caller,
    /// It is work of the engine; and whether it or a box around it is.
    own_engine: bool,
    is_engine: bool,
    /// The visible ones of its logical boxes: the one that was called, with those alike, and those
    /// that it departed into.
    first: Option<(Rows, Group)>,
    more: BTreeMap<Rows, Group>,
}

impl Frame {
    fn groups(&mut self) -> impl Iterator<Item = (Rows, &mut Group)> {
        let first = self.first.as_mut().map(|(rows, group)| (*rows, group));
        let more = self.more.iter_mut().map(|(rows, group)| (*rows, group));
        first.into_iter().chain(more)
    }

    fn group(&mut self, rows: Rows) -> Option<&mut Group> {
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

/// The boxes of a stream.
#[derive(Debug)]
pub(crate) struct State<'b, 's> {
    books: &'b mut Books<'s>,
    dialect: Dialect,
    stream: u32,
    /// Callers are not known after a gap.
    lost: bool,
    paused: bool,
    began: bool,
    tick: u64,
    /// Ticks so far that are no pause and no gap.
    now: u64,
    /// Those of them that passed in work of the engine, or waiting.
    engine: u64,
    /// Ports are in the window.
    is_inside: bool,
    boxes: u64,
    active: Vec<Frame>,
    choices: Vec<Frame>,
    /// By predicate: its visible boxes on the active chain.
    on_chain: Vec<u64>,
}

impl<'b, 's> State<'b, 's> {
    pub(crate) fn new(books: &'b mut Books<'s>, dialect: Dialect, stream: u32) -> Self {
        books.begin_stream();
        let on_chain = vec![0; books.unknown() as usize + 1];
        Self {
            books,
            dialect,
            stream,
            lost: false,
            paused: false,
            began: false,
            tick: 0,
            now: 0,
            engine: 0,
            is_inside: false,
            boxes: 0,
            active: Vec::new(),
            choices: Vec::new(),
            on_chain,
        }
    }

    /// The next event, with its number in the stream.
    pub(crate) fn happen(&mut self, timed: TimedEvent, number: u64) {
        let TimedEvent { event, site, tick } = timed;
        if !self.began {
            self.began = true;
            self.tick = self.books.scope.nearest(tick);
        }
        self.pass(tick, matches!(event, Event::Gap { .. }));
        let window = self.books.scope.window;
        self.is_inside = window.is_none_or(|window| tick >= window.from);
        match event {
            Event::Call { predicate } => {
                self.push(predicate);
                self.open((predicate, site), number, tick);
            }
            Event::Tail { predicate } => {
                self.be_active();
                self.depart(predicate);
                self.open((predicate, site), number, tick);
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                let frame = self.leave(|books, rows, running, took| {
                    books.end(rows, &running.begun, took);
                });
                if event == Event::ExitNondet {
                    self.choices.extend(frame);
                }
            }
            Event::Redo => self.redo(),
            Event::Cut { count } => {
                let left = self.choices.len().saturating_sub(count as usize);
                self.choices.truncate(left);
            }
            Event::Gap { .. } => {
                self.abandon();
                (self.lost, self.paused) = (true, false);
            }
            Event::Pause | Event::Resume => self.paused = event == Event::Pause,
            Event::Mark { .. } | Event::Clause { .. } | Event::Arguments(_) => {}
        }
    }

    /// Nothing comes after `tick`.
    pub(crate) fn finish(mut self, tick: u64) {
        self.pass(tick, false);
        self.abandon();
    }

    fn pass(&mut self, tick: u64, lost: bool) {
        let tick = self.books.scope.nearest(tick);
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        if self.paused || lost {
            return;
        }
        self.now += stretch;
        if self.active.last().is_some_and(|frame| frame.is_engine) {
            self.engine += stretch;
        }
    }

    /// The innermost visible box on the active chain.
    fn visible(&self) -> Caller {
        match self.active.last() {
            Some(frame) => frame.visible,
            None if self.lost => Caller::Predicate(self.books.unknown()),
            None => Caller::Root,
        }
    }

    /// A new frame, without its box.
    fn push(&mut self, predicate: PredicateIndex) {
        let around = self.active.last();
        let from = around.map(|around| around.way);
        self.boxes += 1;
        let in_engine = around.is_some_and(|around| around.is_engine);
        let own_engine = self.is_engine(predicate);
        self.active.push(Frame {
            number: self.boxes,
            around: around.map_or(0, |around| around.number),
            way: self.books.scope.enter(from, self.lost, predicate),
            visible: self.visible(),
            own_engine,
            is_engine: in_engine || own_engine,
            first: None,
            more: BTreeMap::new(),
        });
    }

    fn is_engine(&self, predicate: PredicateIndex) -> bool {
        !matches!(self.books.scope.kind_of(predicate), BoxKind::Call { .. })
    }

    /// The active frame departs into a box of `predicate`.
    fn depart(&mut self, predicate: PredicateIndex) {
        let is_engine = self.is_engine(predicate);
        if let Some(frame) = self.active.last_mut() {
            frame.way = self.books.scope.enter(Some(frame.way), false, predicate);
            frame.own_engine |= is_engine;
            frame.is_engine |= is_engine;
        }
    }

    /// The active frame has a new logical box.
    fn open(&mut self, of: (PredicateIndex, Option<SiteIndex>), event: u64, tick: u64) {
        let (predicate, site) = of;
        // What the engine does for itself is no work of the program that could grow.
        let is_engine = self.is_engine(predicate);
        let Some(frame) = self.active.last_mut() else {
            return;
        };
        if !self.books.scope.shows(frame.way, predicate) {
            return;
        }
        let caller = std::mem::replace(&mut frame.visible, Caller::Predicate(predicate));
        let rows = [predicate, self.books.goal(predicate, site, caller)];
        let on_chain = &mut self.on_chain[predicate as usize];
        let is_outermost = *on_chain == 0 && !is_engine;
        *on_chain += 1;
        let is_timed = self.is_inside && !frame.has(predicate);
        if self.is_inside {
            self.books.count(rows, |figures| {
                figures.calls += 1;
                figures.departed += u64::from(!is_timed);
            });
        }
        if let Some(group) = frame.group(rows) {
            group.boxes += 1;
            return;
        }
        let books = &mut *self.books;
        let running = is_timed.then(|| Running {
            begun: Begun {
                event,
                tick,
                caller,
                ordinals: is_outermost.then(|| books.next_ordinals(rows)),
            },
            since: [self.now, self.engine],
        });
        let group = Group { boxes: 1, running };
        match frame.first {
            None => frame.first = Some((rows, group)),
            Some(_) => {
                frame.more.insert(rows, group);
            }
        }
    }

    /// A port of the active box may be that of one that nothing is known of.
    fn be_active(&mut self) {
        if self.active.is_empty() {
            self.push(self.books.unknown());
        }
    }

    /// Takes the active frame off the chain. `end` is told of the calls whose first activation that
    /// ends.
    fn leave(&mut self, end: impl Fn(&mut Books, Rows, &Running, Took)) -> Option<Frame> {
        self.be_active();
        let mut frame = self.active.pop()?;
        for (rows, group) in frame.groups() {
            self.on_chain[rows[0] as usize] -= group.boxes;
            let Some(running) = group.running.take() else {
                continue;
            };
            let [since, engine] = running.since;
            let ticks = self.now - since;
            let took = Took {
                stream: self.stream,
                ticks,
                own: ticks - (self.engine - engine),
            };
            end(self.books, rows, &running, took);
        }
        Some(frame)
    }

    fn redo(&mut self) {
        let Some(mut entered) = self.choices.pop() else {
            // Called before a gap.
            self.push(self.books.unknown());
            return;
        };
        loop {
            let number = entered.number;
            self.enter(entered);
            // In this dialect those around it were re-entered with it.
            let around = |choice: &mut Frame| {
                self.dialect == Dialect::InnermostRedo && choice.around == number
            };
            let Some(next) = self.choices.pop_if(around) else {
                return;
            };
            entered = next;
        }
    }

    fn enter(&mut self, mut frame: Frame) {
        let around = self.active.last();
        frame.around = around.map_or(0, |around| around.number);
        frame.is_engine = frame.own_engine || around.is_some_and(|around| around.is_engine);
        if frame.first.is_none() {
            frame.visible = self.visible();
        }
        for (rows, group) in frame.groups() {
            self.on_chain[rows[0] as usize] += group.boxes;
            if self.is_inside {
                self.books
                    .count(rows, |figures| figures.redos += group.boxes);
            }
        }
        self.active.push(frame);
    }

    /// Nothing is known of any box from here on.
    fn abandon(&mut self) {
        while !self.active.is_empty() {
            self.leave(|books, rows, _, _| books.count(rows, |figures| figures.open += 1));
        }
        self.choices.clear();
    }
}
