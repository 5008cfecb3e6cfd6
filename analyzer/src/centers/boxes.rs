//! One stream: the boxes that are active or can be re-entered, and what they are in.

use portmortem_tracer::format::{Dialect, Event};
use rustc_hash::FxHashMap;

use super::{Center, CenterFigures, CenterProfile};
use crate::figures::Port;
use crate::replay::ReplayOptions;
use crate::scope::Scope;
use crate::scope::focus::Way;
use crate::trace::BoxKind;
use crate::trace::PredicateIndex;
use crate::trace::{StreamInfo, Trace};

/// Events between two looks whether the pass is cancelled.
const CANCELLED_EVERY: u64 = 1 << 16;

/// A centre and the predicate of the visible box that runs in it, by number. There is no such box where nobody is active, or only
/// boxes that are not looked at.
type Pair = u32;
type Key = (Center, Option<PredicateIndex>);

/// A box of the engine: its visible logical boxes, with how many there are of each pair, and which came last.
#[derive(Debug)]
struct OpenBox {
    /// Which call it was, to tell what called what.
    called: u64,
    caller: Option<u64>,
    way: Way,
    /// What it is, if none of its logical boxes is visible.
    hidden: Option<BoxKind>,
    first: (Pair, u64),
    /// By pair; empty for most boxes.
    others: Vec<(Pair, u64)>,
    innermost: Pair,
}

impl OpenBox {
    fn depart(&mut self, pair: Pair) {
        self.innermost = pair;
        self.hidden = None;
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
    scope: &'t Scope,
    dialect: Dialect,
    numbers: FxHashMap<Key, Pair>,
    pairs: Vec<(Key, CenterFigures)>,
    active: Vec<OpenBox>,
    choices: Vec<OpenBox>,
    /// What runs while no box is active: nobody traced, or after a gap who knows.
    bottom: Pair,
    lost: bool,
    calls: u64,
    tick: u64,
    paused: bool,
}

impl<'t> StreamPass<'t> {
    pub(super) fn run(
        trace: &'t Trace,
        stream: &StreamInfo,
        options: &ReplayOptions,
        scope: &'t Scope,
    ) -> CenterProfile {
        let mut pass = Self::new(trace, scope, stream.dialect());
        let mut last = 0;
        let mut until_look = CANCELLED_EVERY;
        for event in trace.events(stream) {
            last = event.tick;
            if scope.is_over(last) {
                break;
            }
            pass.step(event.event, scope.nearest(last));
            until_look -= 1;
            if until_look == 0 {
                until_look = CANCELLED_EVERY;
                if options.is_cancelled() {
                    break;
                }
            }
        }
        let end = stream.end.map_or(last, |end| end.tick.max(last));
        pass.advance(scope.nearest(end));
        pass.leave_all();
        pass.into_profile()
    }

    fn into_profile(self) -> CenterProfile {
        let used = |(_, figures): &(_, CenterFigures)| *figures != CenterFigures::default();
        let looked_at =
            |((center, predicate), figures): (Key, _)| Some(((center, predicate?), figures));
        let pairs = self.pairs.into_iter().filter(used);
        CenterProfile {
            rows: pairs.filter_map(looked_at).collect(),
        }
    }

    fn new(trace: &'t Trace, scope: &'t Scope, dialect: Dialect) -> Self {
        Self {
            trace,
            scope,
            dialect,
            numbers: FxHashMap::from_iter([((None, None), 0)]),
            pairs: vec![((None, None), CenterFigures::default())],
            active: Vec::new(),
            choices: Vec::new(),
            bottom: 0,
            lost: false,
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
        if self.paused {
            return;
        }
        let hidden = self.active.last().and_then(|open| open.hidden);
        let pair = self.innermost();
        let figures = self.figures(pair);
        figures.self_ticks += stretch;
        if hidden == Some(BoxKind::EngineWork) {
            figures.hidden.engine_ticks += stretch;
        }
    }

    fn innermost(&self) -> Pair {
        self.active
            .last()
            .map_or(self.bottom, |open| open.innermost)
    }

    /// The pair of a box of `predicate` that what is active now calls; of a hidden one, the visible box is whose work that does.
    /// A box of which nothing is known may be in any centre.
    fn called(&mut self, predicate: PredicateIndex, visible: bool) -> Pair {
        let (around, whose) = self.pairs[self.innermost() as usize].0;
        let center = if predicate == self.trace.unknown_predicate() {
            Some(predicate)
        } else {
            self.trace.center(predicate).or(around)
        };
        self.pair((center, if visible { Some(predicate) } else { whose }))
    }

    fn pair(&mut self, key: Key) -> Pair {
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
        let pair = self.innermost();
        self.figures(pair).outside[port as usize] += count;
    }

    /// An event of a box without visible logical boxes, that runs in `inside`, called by what is active now.
    fn hidden_port(&mut self, port: Port, kind: BoxKind, inside: Pair) {
        self.figures(inside).hidden.count_inside(port, kind);
        let pair = self.innermost();
        self.figures(pair).hidden.outside[port as usize] += 1;
    }

    /// An event of a box that was called by what is active now.
    fn pass(&mut self, port: Port, open: &OpenBox) {
        match open.hidden {
            None => self.port(port, Some(open.innermost)),
            Some(kind) => self.hidden_port(port, kind, open.innermost),
        }
    }

    fn call(&mut self, predicate: PredicateIndex) {
        let from = self.active.last().map(|caller| caller.way);
        let way = self.scope.enter(from, self.lost, predicate);
        let visible = self.scope.shows(way, predicate);
        let pair = self.called(predicate, visible);
        self.calls += 1;
        let called = OpenBox {
            called: self.calls,
            caller: self.active.last().map(|caller| caller.called),
            way,
            hidden: (!visible).then(|| self.scope.kind_of(predicate)),
            first: (pair, u64::from(visible)),
            others: Vec::new(),
            innermost: pair,
        };
        self.pass(Port::Call, &called);
        self.figures(pair).calls += u64::from(visible);
        self.active.push(called);
    }

    fn tail(&mut self, predicate: PredicateIndex) {
        self.be_active();
        let from = self.active.last().map(|active| active.way);
        let way = self.scope.enter(from, self.lost, predicate);
        let visible = self.scope.shows(way, predicate);
        let pair = self.called(predicate, visible);
        if let Some(active) = self.active.last_mut() {
            active.way = way;
        }
        if !visible {
            self.hidden_port(Port::Tail, self.scope.kind_of(predicate), pair);
            if let Some(active) = self.active.last_mut() {
                active.innermost = pair;
            }
            return;
        }
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
            self.pass(port, &open);
            self.count(&open, way_out);
        }
    }

    fn exit_nondet(&mut self) {
        self.be_active();
        if let Some(open) = self.active.pop() {
            self.pass(Port::ExitNondet, &open);
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
        self.pass(Port::Redo, &choice);
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
            match choice.hidden {
                None => self.port(Port::Cut, None),
                Some(kind) => self.hidden_port(Port::Cut, kind, choice.innermost),
            }
            self.count(&choice, |figures| &mut figures.cuts);
        }
    }

    /// Boxes that were never seen to be called are of the unknown predicate, and have each the one entry
    /// that they must have had.
    fn unknown_cut(&mut self, count: u64) {
        let pair = self.called(self.trace.unknown_predicate(), true);
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
        self.bottom = self.pair((Some(unknown), Some(unknown)));
        self.lost = true;
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
