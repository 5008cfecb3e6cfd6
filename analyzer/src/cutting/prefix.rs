//! What of the events before a part of a stream the part needs: the smallest list of them that
//! rebuilds the boxes there.
//!
//! Each event of a box that is active or can be re-entered is kept; of its exits and the redos that
//! follow on them the last pair is enough, unless what is kept lies in between. Events of a box
//! that is gone go with it, but for those that say why the next redo happens: of the last port, of
//! the last failure, and of where an exception that is on its way was raised.
//!
//! The engine's own work between two ports is called and exits determinately. If it does anything
//! else, all events are kept.
//!
//! Invariant: the list, as events of a stream, leads to the boxes that are there, and all of its
//! prefixes do so, too. It is in the order of their numbers.

use portmortem_tracer::format::{Dialect, Event};

use crate::machine::{Class, Note, WayOut};
use crate::trace::events::TimedEvent;
use crate::trace::{BoxKind, PredicateIndex, Trace};

/// Place of an event in the list.
type NodeIndex = u32;
/// Place of a box.
type BoxIndex = u32;

const NONE: u32 = u32::MAX;

/// An event that a part begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PrefixEvent {
    /// As it was recorded.
    pub(super) event: Event,
    /// Its number in the stream; of a loss between blocks, that of the event after it.
    pub(super) number: u64,
    pub(super) tick: u64,
    /// Events were lost between blocks.
    pub(super) is_between_blocks: bool,
}

/// Pauses before an event, after the one before it in the list.
#[derive(Debug, Clone, Copy, Default)]
struct Pauses {
    /// Number and tick of the first one, and the number of the event that ended it.
    first: Option<(u64, u64, u64)>,
    /// How long all of them lasted.
    ticks: u64,
}

impl Pauses {
    fn and(self, later: Self) -> Self {
        Self {
            first: self.first.or(later.first),
            ticks: self.ticks.saturating_add(later.ticks),
        }
    }
}

#[derive(Debug)]
struct PrefixNode {
    kept: PrefixEvent,
    pauses: Pauses,
    previous: NodeIndex,
    next: NodeIndex,
}

/// A box, and the events of it that are in the list.
#[derive(Debug)]
struct Boxed {
    /// The number of its first event; no two boxes have the same.
    birth: u64,
    /// The box that called it, and the birth of that.
    caller: Option<(BoxIndex, u64)>,
    /// What its innermost logical box runs.
    predicate: PredicateIndex,
    is_between: bool,
    /// Boxes that could be re-entered when it was called.
    base: usize,
    /// Its call, last calls, and the clauses of logical boxes that departed.
    path: Vec<NodeIndex>,
    /// The last clause of its innermost logical box, or what that does with what threads share.
    clause: Option<NodeIndex>,
    /// Exits, each with the redo that followed.
    pairs: Vec<(NodeIndex, NodeIndex)>,
    /// The exit after which it has not been re-entered.
    exit: Option<NodeIndex>,
    /// The event by which it is gone.
    end: Option<NodeIndex>,
    is_gone: bool,
    /// For so many reasons its events are kept although it is gone.
    holds: u8,
}

/// The list, and the boxes of a stream.
#[derive(Debug)]
pub(super) struct Prefix<'t> {
    trace: &'t Trace,
    kinds: &'t [BoxKind],
    nodes: Vec<PrefixNode>,
    free_nodes: Vec<NodeIndex>,
    first: NodeIndex,
    last: NodeIndex,
    boxes: Vec<Boxed>,
    free_boxes: Vec<BoxIndex>,
    active: Vec<BoxIndex>,
    choices: Vec<BoxIndex>,
    /// Boxes that are gone, of the last port.
    at_last_port: Vec<BoxIndex>,
    last_port: u64,
    failed: Option<BoxIndex>,
    raised: Option<BoxIndex>,
    /// Number and tick of the pause that goes on.
    paused: Option<(u64, u64)>,
    /// Pauses since the last event of the list.
    pauses: Pauses,
    /// There was a gap.
    lost: bool,
    /// Something happened after which the list may lead elsewhere: all events are needed.
    is_unusual: bool,
}

/// What a part begins with.
#[derive(Debug)]
pub(super) struct PartBeginning {
    pub(super) events: Vec<PrefixEvent>,
    /// Nothing is active, re-enterable, paused or lost there.
    pub(super) is_idle: bool,
}

impl<'t> Prefix<'t> {
    /// Before the first event of a stream. `kinds` are those of predicates.
    pub(super) fn new(trace: &'t Trace, kinds: &'t [BoxKind], dialect: Dialect) -> Self {
        Self {
            trace,
            kinds,
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            first: NONE,
            last: NONE,
            boxes: Vec::new(),
            free_boxes: Vec::new(),
            active: Vec::new(),
            choices: Vec::new(),
            at_last_port: Vec::new(),
            last_port: 0,
            failed: None,
            raised: None,
            paused: None,
            pauses: Pauses::default(),
            lost: false,
            // One event re-enters several boxes: which is not followed here.
            is_unusual: dialect != Dialect::EveryRedo,
        }
    }

    /// The next event: what it means, and how it was recorded; `None` of what is no event of a
    /// block.
    pub(super) fn step(&mut self, timed: &TimedEvent, kept: PrefixEvent) {
        let class = Class::of(timed.event);
        let is_port = !matches!(class, Class::Pause(_) | Class::Note(_) | Class::Lose(_));
        if self.paused.is_some() && is_port {
            self.is_unusual = true;
        }
        match class {
            Class::Enter(predicate) => self.call(predicate, kept),
            Class::Depart(predicate) => self.depart(predicate, kept),
            Class::Leave(WayOut::ExitNondet) => self.exit(kept),
            Class::Leave(way_out) => self.leave(way_out, kept),
            Class::ReEnter => self.redo(kept),
            Class::Cut(count) => self.cut(count as usize, kept),
            Class::Lose(_) => self.lose(kept),
            Class::Pause(true) => {
                self.paused.get_or_insert((kept.number, kept.tick));
            }
            Class::Pause(false) => self.resume(kept),
            Class::Note(note) => match note {
                Note::Clause(clause) => self.clause(clause, kept),
                Note::Sync(_) => self.sync(kept),
                Note::Mark(_) | Note::Arguments(_) | Note::Table(_) | Note::Value(_) => {}
            },
        }
    }

    /// The list. `None` if all events are needed.
    pub(super) fn finish(self) -> Option<PartBeginning> {
        let is_known = |id: &BoxIndex| {
            self.boxes[*id as usize].caller.is_none_or(|(id, birth)| {
                let caller = &self.boxes[id as usize];
                caller.birth == birth && !caller.is_gone
            })
        };
        // A large cut is several events: between them a box may be left whose caller is gone.
        if self.is_unusual || !self.choices.iter().all(is_known) {
            return None;
        }
        let mut events = Vec::new();
        let mut at = self.first;
        while at != NONE {
            let node = &self.nodes[at as usize];
            // What was before the first event makes no difference.
            if !events.is_empty() {
                put_pauses(node.pauses, &mut events);
            }
            events.push(node.kept);
            at = node.next;
        }
        if !events.is_empty() {
            put_pauses(self.pauses, &mut events);
        }
        if let Some((number, tick)) = self.paused {
            events.push(PrefixEvent {
                event: Event::Pause,
                number,
                tick,
                is_between_blocks: false,
            });
        }
        let has_boxes = !self.active.is_empty() || !self.choices.is_empty();
        Some(PartBeginning {
            is_idle: !has_boxes && !self.lost && self.paused.is_none(),
            events,
        })
    }

    fn call(&mut self, predicate: PredicateIndex, kept: PrefixEvent) {
        let is_between = BoxKind::of(self.kinds, predicate).is_between_ports();
        if !is_between {
            self.port(kept.number);
            self.land();
        }
        let node = self.add(kept);
        let id = self.new_box(kept.number);
        let boxed = self.boxed(id);
        (boxed.predicate, boxed.is_between) = (predicate, is_between);
        boxed.path.push(node);
        self.active.push(id);
    }

    fn depart(&mut self, predicate: PredicateIndex, kept: PrefixEvent) {
        self.port(kept.number);
        self.land();
        let node = self.add(kept);
        let id = self.active.last().copied().unwrap_or_else(|| {
            let id = self.found(kept.number);
            self.active.push(id);
            id
        });
        let choices = self.choices.len();
        let is_between = BoxKind::of(self.kinds, predicate).is_between_ports();
        let boxed = self.boxed(id);
        boxed.predicate = predicate;
        boxed.path.extend(boxed.clause.take());
        boxed.path.push(node);
        let is_work_of_engine = is_between || boxed.is_between;
        let base = boxed.base;
        self.is_unusual |= choices > base || is_work_of_engine;
    }

    fn exit(&mut self, kept: PrefixEvent) {
        self.port(kept.number);
        self.land();
        let node = self.add(kept);
        match self.active.pop() {
            Some(id) => {
                self.is_unusual |= self.boxed(id).is_between;
                self.boxed(id).exit = Some(node);
                self.choices.push(id);
            }
            None => {
                let id = self.found(kept.number);
                self.boxed(id).path.push(node);
                self.choices.push(id);
            }
        }
    }

    fn leave(&mut self, way_out: WayOut, kept: PrefixEvent) {
        let id = self.active.pop();
        let id = id.unwrap_or_else(|| self.found(kept.number));
        let choices = self.choices.len();
        let boxed = self.boxed(id);
        boxed.is_gone = true;
        let (birth, is_between, base) = (boxed.birth, boxed.is_between, boxed.base);
        self.is_unusual |= choices > base;
        if is_between {
            self.is_unusual |= way_out != WayOut::ExitDet;
            // It is no step of the program, unless steps were in it.
            if self.last_port < birth {
                return self.forget(id);
            }
            let node = self.add(kept);
            self.boxed(id).end = Some(node);
            self.hold(id);
            return self.at_last_port.push(id);
        }
        self.port(kept.number);
        let node = self.add(kept);
        self.boxed(id).end = Some(node);
        self.hold(id);
        self.at_last_port.push(id);
        if way_out == WayOut::Fail {
            self.hold(id);
            let before = self.failed.replace(id);
            self.let_go(before);
        }
        match way_out {
            WayOut::Exception if self.raised.is_none() => {
                self.hold(id);
                self.raised = Some(id);
            }
            WayOut::Exception => {}
            _ => self.land(),
        }
    }

    fn redo(&mut self, kept: PrefixEvent) {
        self.land();
        let node = self.add(kept);
        let Some(id) = self.choices.pop() else {
            let id = self.found(kept.number);
            self.boxed(id).path.push(node);
            return self.active.push(id);
        };
        let caller = self.caller();
        let boxed = self.boxed(id);
        let is_elsewhere = boxed.caller != caller;
        let exit = boxed.exit.take();
        self.is_unusual |= is_elsewhere;
        match exit {
            Some(exit) => {
                // The new pair says all that the one before did.
                while let Some(&(exit, redo)) = self.boxed(id).pairs.last()
                    && self.nodes[exit as usize].next == redo
                {
                    self.boxed(id).pairs.pop();
                    self.remove(exit);
                    self.remove(redo);
                }
                self.boxed(id).pairs.push((exit, node));
            }
            None => self.boxed(id).path.push(node),
        }
        self.active.push(id);
    }

    fn cut(&mut self, count: usize, kept: PrefixEvent) {
        self.port(kept.number);
        self.is_unusual |= count == 0 || count > self.choices.len() && !self.lost;
        let left = self.choices.len().saturating_sub(count);
        let active = self.active.last();
        let base = active.map(|&id| self.boxes[id as usize].base);
        self.is_unusual |= base.is_some_and(|base| left < base);
        let mut gone = self.choices.split_off(left);
        // One cut box is enough to show that control went on.
        let (newest, event) = match gone.pop() {
            Some(id) => (id, Event::Cut { count: 1 }),
            None => (self.found(kept.number), kept.event),
        };
        let node = self.add(PrefixEvent { event, ..kept });
        self.boxed(newest).end = Some(node);
        for id in gone {
            self.boxed(id).is_gone = true;
            self.forget(id);
        }
        self.boxed(newest).is_gone = true;
        self.hold(newest);
        self.at_last_port.push(newest);
    }

    /// The boxes that are lost count as open from here on to the end of the stream: what they had
    /// in the list stays.
    fn lose(&mut self, kept: PrefixEvent) {
        self.port(kept.number);
        self.land();
        let failed = self.failed.take();
        self.let_go(failed);
        self.add(kept);
        self.active.clear();
        self.choices.clear();
        self.paused = None;
        self.lost = true;
    }

    fn resume(&mut self, kept: PrefixEvent) {
        if let Some((number, tick)) = self.paused.take() {
            self.pauses = self.pauses.and(Pauses {
                first: Some((number, tick, kept.number)),
                ticks: kept.tick.saturating_sub(tick),
            });
        }
    }

    fn clause(&mut self, clause: u32, kept: PrefixEvent) {
        let of = self.trace.clause_index(clause);
        let of = of.map(|clause| self.trace.clauses()[clause as usize].predicate);
        let Some(&id) = self.active.last() else {
            self.is_unusual = true;
            return;
        };
        let is_of_another = of.is_some_and(|of| of != self.boxed(id).predicate);
        self.is_unusual |= is_of_another || self.paused.is_some();
        self.note(id, kept);
    }

    /// The active box does something with what threads share; it enters no clause then.
    fn sync(&mut self, kept: PrefixEvent) {
        if let Some(&id) = self.active.last() {
            self.is_unusual |= self.paused.is_some();
            self.note(id, kept);
        }
    }

    /// Of the notes on a logical box the last one is enough.
    fn note(&mut self, id: BoxIndex, kept: PrefixEvent) {
        let node = self.add(kept);
        if let Some(before) = self.boxed(id).clause.replace(node) {
            self.remove(before);
        }
    }

    /// A step of the program: what happened before is no longer the last port.
    fn port(&mut self, number: u64) {
        self.last_port = number;
        for id in std::mem::take(&mut self.at_last_port) {
            self.let_go(Some(id));
        }
    }

    /// An exception that was on its way is caught.
    fn land(&mut self) {
        let raised = self.raised.take();
        self.let_go(raised);
    }

    /// A box of before a gap. Without a gap there can be none.
    fn found(&mut self, number: u64) -> BoxIndex {
        self.is_unusual |= !self.lost;
        self.new_box(number)
    }

    fn caller(&self) -> Option<(BoxIndex, u64)> {
        let id = *self.active.last()?;
        Some((id, self.boxes[id as usize].birth))
    }

    /// A box that the active one calls.
    fn new_box(&mut self, birth: u64) -> BoxIndex {
        let made = Boxed {
            birth,
            caller: self.caller(),
            predicate: self.trace.unknown_predicate(),
            is_between: false,
            base: self.choices.len(),
            path: Vec::new(),
            clause: None,
            pairs: Vec::new(),
            exit: None,
            end: None,
            is_gone: false,
            holds: 0,
        };
        if let Some(id) = self.free_boxes.pop() {
            self.boxes[id as usize] = made;
            return id;
        }
        self.boxes.push(made);
        self.boxes.len() as BoxIndex - 1
    }

    fn boxed(&mut self, id: BoxIndex) -> &mut Boxed {
        &mut self.boxes[id as usize]
    }

    fn hold(&mut self, id: BoxIndex) {
        self.boxed(id).holds += 1;
    }

    fn let_go(&mut self, id: Option<BoxIndex>) {
        if let Some(id) = id {
            self.boxed(id).holds -= 1;
            self.forget(id);
        }
    }

    /// The events of a box that is gone are not needed, unless there is another reason.
    fn forget(&mut self, id: BoxIndex) {
        let boxed = self.boxed(id);
        if boxed.holds > 0 {
            return;
        }
        let path = std::mem::take(&mut boxed.path);
        let pairs = std::mem::take(&mut boxed.pairs);
        let others = [boxed.clause.take(), boxed.exit.take(), boxed.end.take()];
        let pairs = pairs.into_iter().flat_map(|(exit, redo)| [exit, redo]);
        for node in path
            .into_iter()
            .chain(pairs)
            .chain(others.into_iter().flatten())
        {
            self.remove(node);
        }
        self.free_boxes.push(id);
    }

    /// Puts an event at the end of the list.
    fn add(&mut self, kept: PrefixEvent) -> NodeIndex {
        let node = PrefixNode {
            kept,
            pauses: std::mem::take(&mut self.pauses),
            previous: self.last,
            next: NONE,
        };
        let id = match self.free_nodes.pop() {
            Some(id) => {
                self.nodes[id as usize] = node;
                id
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as NodeIndex - 1
            }
        };
        match self.last {
            NONE => self.first = id,
            last => self.nodes[last as usize].next = id,
        }
        self.last = id;
        id
    }

    fn remove(&mut self, id: NodeIndex) {
        let PrefixNode {
            pauses,
            previous,
            next,
            ..
        } = self.nodes[id as usize];
        match previous {
            NONE => self.first = next,
            previous => self.nodes[previous as usize].next = next,
        }
        match next {
            NONE => {
                self.last = previous;
                self.pauses = pauses.and(self.pauses);
            }
            next => {
                let next = &mut self.nodes[next as usize];
                next.previous = previous;
                next.pauses = pauses.and(next.pauses);
            }
        }
        self.free_nodes.push(id);
    }
}

/// One pause as long as all of them.
fn put_pauses(pauses: Pauses, events: &mut Vec<PrefixEvent>) {
    let Some((number, tick, ended)) = pauses.first else {
        return;
    };
    let until = tick.saturating_add(pauses.ticks);
    for (event, number, tick) in [(Event::Pause, number, tick), (Event::Resume, ended, until)] {
        events.push(PrefixEvent {
            event,
            number,
            tick,
            is_between_blocks: false,
        });
    }
}
