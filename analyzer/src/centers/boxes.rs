//! One stream: the boxes that are active or can be re-entered, and what they are in.

use portmortem_tracer::format::{Dialect, Event};
use rustc_hash::FxHashMap;

use super::{Center, CenterFigures, CenterProfile};
use crate::figures::{Port, PredicateIndex};
use crate::trace::{StreamInfo, Trace};

/// A centre and what runs in it, by number.
type Pair = u32;

/// A box of the engine: its logical boxes, with how many there are of each pair, and which came last.
#[derive(Debug)]
struct OpenBox {
    /// Which call it was, to tell what called what.
    called: u64,
    caller: Option<u64>,
    first: (Pair, u64),
    /// By pair; empty for most boxes.
    others: Vec<(Pair, u64)>,
    innermost: Pair,
}

impl OpenBox {
    fn depart(&mut self, pair: Pair) {
        self.innermost = pair;
        if self.first.0 == pair {
            self.first.1 += 1;
            return;
        }
        match self.others.binary_search_by_key(&pair, |&(other, _)| other) {
            Ok(at) => self.others[at].1 += 1,
            Err(at) => self.others.insert(at, (pair, 1)),
        }
    }

    fn members(&self) -> impl Iterator<Item = (Pair, u64)> {
        [self.first].into_iter().chain(self.others.iter().copied())
    }
}

/// The pass over one stream.
pub(super) struct StreamPass<'t> {
    trace: &'t Trace,
    dialect: Dialect,
    numbers: FxHashMap<(Center, PredicateIndex), Pair>,
    pairs: Vec<((Center, PredicateIndex), CenterFigures)>,
    active: Vec<OpenBox>,
    choices: Vec<OpenBox>,
    /// What runs while no box is active: nobody traced, or after a gap who knows.
    bottom: Option<Pair>,
    calls: u64,
    tick: u64,
    paused: bool,
}

impl<'t> StreamPass<'t> {
    pub(super) fn run(trace: &'t Trace, stream: &StreamInfo) -> CenterProfile {
        let mut pass = Self::new(trace, stream.dialect());
        let mut events = trace.events(stream);
        for event in events.by_ref() {
            pass.step(event.event, event.tick);
        }
        let end = stream.end.map_or(pass.tick, |end| end.tick.max(pass.tick));
        pass.advance(end);
        pass.leave_all();
        let used = |(_, figures): &(_, CenterFigures)| *figures != CenterFigures::default();
        CenterProfile {
            rows: pass.pairs.into_iter().filter(used).collect(),
        }
    }

    fn new(trace: &'t Trace, dialect: Dialect) -> Self {
        Self {
            trace,
            dialect,
            numbers: FxHashMap::default(),
            pairs: Vec::new(),
            active: Vec::new(),
            choices: Vec::new(),
            bottom: None,
            calls: 0,
            tick: 0,
            paused: false,
        }
    }

    fn step(&mut self, event: Event, tick: u64) {
        if let Event::Gap { .. } = event {
            self.tick = self.tick.max(tick);
            self.paused = false;
            return self.lose_track();
        }
        self.advance(tick);
        match event {
            Event::Call { predicate } => self.call(predicate),
            Event::Tail { predicate } => self.tail(predicate),
            Event::ExitDet => self.leave(Port::ExitDet, |figures| &mut figures.exits_det),
            Event::ExitNondet => self.exit_nondet(),
            Event::Redo => self.redo(),
            Event::Fail => self.leave(Port::Fail, |figures| &mut figures.fails),
            Event::Exception => self.leave(Port::Exception, |figures| &mut figures.exceptions),
            Event::Cut { count } => self.cut(count),
            Event::Pause => self.paused = true,
            Event::Resume => self.paused = false,
            Event::Gap { .. } | Event::Mark { .. } => {}
        }
    }

    /// Time passes, and belongs to whoever was active until now. Before the first event nobody is.
    fn advance(&mut self, tick: u64) {
        let stretch = tick.saturating_sub(self.tick);
        self.tick += stretch;
        if let Some(pair) = self.innermost()
            && !self.paused
        {
            self.pairs[pair as usize].1.self_ticks += stretch;
        }
    }

    fn innermost(&self) -> Option<Pair> {
        self.active
            .last()
            .map_or(self.bottom, |open| Some(open.innermost))
    }

    /// The pair of a box of `predicate` that what is active now calls. A box of which nothing is known may be
    /// in any centre.
    fn called(&mut self, predicate: PredicateIndex) -> Pair {
        if predicate == self.trace.unknown_predicate() {
            return self.pair(Some(predicate), predicate);
        }
        let around = self.innermost();
        let around = around.and_then(|pair| self.pairs[pair as usize].0.0);
        self.pair(self.trace.center(predicate).or(around), predicate)
    }

    fn pair(&mut self, center: Center, predicate: PredicateIndex) -> Pair {
        let key = (center, predicate);
        *self.numbers.entry(key).or_insert_with(|| {
            self.pairs.push((key, CenterFigures::default()));
            self.pairs.len() as Pair - 1
        })
    }

    fn figures(&mut self, pair: Pair) -> &mut CenterFigures {
        &mut self.pairs[pair as usize].1
    }

    /// An event of a box that runs in `inside`, if it is the box's, called by what is active now.
    fn port(&mut self, port: Port, inside: Option<Pair>) {
        self.ports(port, inside, 1);
    }

    fn ports(&mut self, port: Port, inside: Option<Pair>, count: u64) {
        if let Some(pair) = inside {
            self.figures(pair).inside[port as usize] += count;
        }
        if let Some(pair) = self.innermost() {
            self.figures(pair).outside[port as usize] += count;
        }
    }

    fn call(&mut self, predicate: PredicateIndex) {
        let pair = self.called(predicate);
        self.port(Port::Call, Some(pair));
        self.figures(pair).calls += 1;
        self.calls += 1;
        self.active.push(OpenBox {
            called: self.calls,
            caller: self.active.last().map(|caller| caller.called),
            first: (pair, 1),
            others: Vec::new(),
            innermost: pair,
        });
    }

    fn tail(&mut self, predicate: PredicateIndex) {
        self.be_active();
        let pair = self.called(predicate);
        self.port(Port::Tail, Some(pair));
        let figures = self.figures(pair);
        figures.calls += 1;
        figures.tail_calls += 1;
        if let Some(active) = self.active.last_mut() {
            active.depart(pair);
        }
    }

    fn count(&mut self, open: &OpenBox, count: impl Fn(&mut CenterFigures) -> &mut u64) {
        for (pair, boxes) in open.members() {
            *count(self.figures(pair)) += boxes;
        }
    }

    fn leave(&mut self, port: Port, way_out: impl Fn(&mut CenterFigures) -> &mut u64) {
        self.be_active();
        if let Some(open) = self.active.pop() {
            self.port(port, Some(open.innermost));
            self.count(&open, way_out);
        }
    }

    fn exit_nondet(&mut self) {
        self.be_active();
        if let Some(open) = self.active.pop() {
            self.port(Port::ExitNondet, Some(open.innermost));
            self.count(&open, |figures| &mut figures.exits_nondet);
            self.choices.push(open);
        }
    }

    fn redo(&mut self) {
        if self.choices.is_empty() {
            self.call(self.trace.unknown_predicate());
            self.exit_nondet();
        }
        let mut entered = self.reenter();
        // In this dialect the event means the innermost box on the way; those around it were re-entered with it.
        while self.dialect == Dialect::InnermostRedo
            && entered.is_some()
            && self
                .choices
                .last()
                .is_some_and(|choice| choice.caller == entered)
        {
            entered = self.reenter();
        }
    }

    fn reenter(&mut self) -> Option<u64> {
        let mut choice = self.choices.pop()?;
        choice.caller = self.active.last().map(|caller| caller.called);
        self.port(Port::Redo, Some(choice.innermost));
        self.count(&choice, |figures| &mut figures.redos);
        let called = choice.called;
        self.active.push(choice);
        Some(called)
    }

    fn cut(&mut self, count: u32) {
        for cut in 0..count {
            let Some(choice) = self.choices.pop() else {
                return self.unknown_cut(u64::from(count - cut));
            };
            self.port(Port::Cut, None);
            self.count(&choice, |figures| &mut figures.cuts);
        }
    }

    /// Boxes that were never seen to be called are of the unknown predicate, and have each the one entry
    /// that they must have had.
    fn unknown_cut(&mut self, count: u64) {
        let pair = self.called(self.trace.unknown_predicate());
        self.ports(Port::Call, Some(pair), count);
        self.ports(Port::ExitNondet, Some(pair), count);
        self.ports(Port::Cut, None, count);
        let figures = self.figures(pair);
        figures.calls += count;
        figures.exits_nondet += count;
        figures.cuts += count;
    }

    fn be_active(&mut self) {
        if self.active.is_empty() {
            self.call(self.trace.unknown_predicate());
        }
    }

    fn lose_track(&mut self) {
        self.leave_all();
        let unknown = self.trace.unknown_predicate();
        self.bottom = Some(self.pair(Some(unknown), unknown));
    }

    fn leave_all(&mut self) {
        while let Some(open) = self.active.pop() {
            self.count(&open, |figures| &mut figures.open);
        }
        while let Some(choice) = self.choices.pop() {
            self.count(&choice, |figures| &mut figures.pending);
        }
    }
}
