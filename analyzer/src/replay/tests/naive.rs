//! The model taken at its word: every logical box is a thing of its own, and every stretch of time
//! walks the whole stack. Slow, and shares nothing with the replay but the rows of figures.

use std::collections::{BTreeMap, BTreeSet};

use portmortem_tracer::format::{Dialect, Event};

use super::chains::{Path, distinct, in_focus, outermost_goals, path};
use super::passed::Passed;
use super::{Events, Script, collects, kind, then_fails};
use crate::figures::centers::CenterFigures;
use crate::figures::clauses::{ClauseFigures, Clauses};
use crate::figures::contexts::{ContextFigures, HiddenFigures};
use crate::figures::profile::Profile;
use crate::figures::{
    BacktrackFigures, Caller, EdgeFigures, Port, PortTotals, PredicateFigures, SiteFigures,
    StreamFigures,
};
use crate::trace::{BoxKind, Center};

/// The figures of a script of events that can happen where they stand.
pub(super) fn replay(script: &Script) -> Profile {
    replay_all(script, true)
}

/// The figures of a script of any events.
pub(super) fn replay_nonsense(script: &Script) -> Profile {
    replay_all(script, false)
}

fn replay_all(script: &Script, valid: bool) -> Profile {
    let unknown = script.hidden.len() as u32;
    let mut figures = Figures {
        predicates: vec![PredicateFigures::default(); unknown as usize + 1],
        edges: BTreeMap::new(),
        sites: BTreeMap::new(),
        contexts: BTreeMap::new(),
        centers: BTreeMap::new(),
        backtracks: BTreeMap::new(),
        cuts: BTreeMap::new(),
        clauses: BTreeMap::new(),
        unknown,
        script: script.clone(),
    };
    let mut streams = Vec::new();
    for (events, id) in script.streams.iter().zip(1..) {
        let stream = Stream::new(&mut figures, script.dialect, valid);
        streams.push(StreamFigures {
            stream: id,
            ..stream.replay(events)
        });
    }
    figures
        .centers
        .retain(|_, figures| *figures != CenterFigures::default());
    figures
        .edges
        .retain(|_, figures| *figures != EdgeFigures::default());
    figures
        .sites
        .retain(|_, figures| *figures != SiteFigures::default());
    figures.clauses.retain(|&(predicate, _), figures| {
        predicate != unknown && *figures != ClauseFigures::default()
    });
    Profile {
        clauses: std::mem::take(&mut figures.clauses),
        sites: std::mem::take(&mut figures.sites),
        contexts: figures.rows(),
        centers: figures.centers,
        predicates: figures.predicates,
        edges: figures.edges,
        backtracks: figures.backtracks,
        cuts: figures.cuts,
        streams,
        ..Profile::default()
    }
}

/// Where something is booked: a row of the call tree, and a cost centre.
type Spot = (Path, Center);

struct Figures {
    predicates: Vec<PredicateFigures>,
    edges: BTreeMap<(Caller, u32), EdgeFigures>,
    sites: BTreeMap<(Caller, u32, Option<u32>), SiteFigures>,
    contexts: BTreeMap<Path, ContextFigures>,
    centers: BTreeMap<(Center, u32), CenterFigures>,
    backtracks: BTreeMap<(Caller, u32), BacktrackFigures>,
    cuts: BTreeMap<(Caller, u32), u64>,
    clauses: Clauses,
    unknown: u32,
    script: Script,
}

/// A logical box.
struct Logical {
    predicate: u32,
    site: Option<u32>,
    caller: Caller,
    path: Path,
    center: Center,
    /// The centre in which it was called.
    from: Center,
    exits: u64,
    /// Time of this activation while it was the active one.
    own: u64,
    /// Time of this activation while it was the outermost of its predicate, and the work in it.
    outermost: Passed,
    clause: InClause,
}

/// The clause that a logical box is in.
#[derive(Clone, Copy)]
struct InClause {
    number: Option<u32>,
    /// Stretches of time that came before it was entered.
    before: usize,
    /// The box has exited since.
    exited: bool,
    /// The entry is counted.
    counted: bool,
}

/// Logical boxes that share a frame, outermost first; hidden ones are not among them.
struct Frame {
    boxes: Vec<usize>,
    /// What all of its boxes run, transparent ones too.
    predicates: Vec<u32>,
    /// The cost centre of the innermost of them.
    center: Center,
    parent: Option<usize>,
    /// Slices of work that came before its last exit.
    before: usize,
    /// The last of its boxes runs what the frame does: it is not hidden.
    shown: bool,
    /// It exited, and nothing inside can be re-entered.
    left: bool,
}

/// [`Stream::failed`] and [`Stream::drives`] before so many boxes, each inside the one before.
#[derive(Clone, Copy)]
struct Held {
    failed: Option<(Caller, Why)>,
    drives: bool,
    inside: usize,
}

/// How something failed.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    /// A recorded box did.
    Recorded,
    /// Something in the active box.
    Unrecorded,
    /// The active box wanted to: a driver loop.
    OnPurpose,
}

struct Stream<'f> {
    figures: &'f mut Figures,
    dialect: Dialect,
    /// Every event can happen where it stands.
    valid: bool,
    boxes: Vec<Logical>,
    frames: Vec<Frame>,
    active: Option<usize>,
    choices: Vec<usize>,
    /// Slices of time of boxes: the work in each, 0 once undone.
    work: Vec<u64>,
    paused: bool,
    lost: bool,
    /// The window has not begun.
    early: bool,
    /// The work in all stretches of time.
    passed: Vec<u64>,
    /// Those of them that came to nothing, by clause.
    vain: BTreeMap<(u32, Option<u32>), BTreeSet<usize>>,
    /// The failure that is still being backtracked from.
    failed: Option<(Caller, Why)>,
    /// The last port was the exit of a call after which the caller's clause fails.
    drives: bool,
    /// These two before the last ports, if those were calls of so many boxes of what happens between two ports.
    held: Option<Held>,
    stream: StreamFigures,
}

impl<'f> Stream<'f> {
    fn new(figures: &'f mut Figures, dialect: Dialect, valid: bool) -> Self {
        Self {
            figures,
            dialect,
            valid,
            boxes: Vec::new(),
            frames: Vec::new(),
            active: None,
            choices: Vec::new(),
            work: Vec::new(),
            paused: false,
            lost: false,
            early: false,
            passed: Vec::new(),
            vain: BTreeMap::new(),
            failed: None,
            drives: false,
            held: None,
            stream: StreamFigures::default(),
        }
    }

    fn window_begins(&mut self) {
        self.early = false;
        self.stream.max_depth = self.frames_active().len() as u64;
        self.stream.max_choices = self.choices.len() as u64;
    }

    fn replay(mut self, events: &Events) -> StreamFigures {
        let window = self.figures.script.window;
        self.early = window.is_some();
        let nearest = |tick| window.map_or(tick, |window| window.nearest(tick));
        let inside = self.figures.script.until_over(events).len();
        let first = nearest(events.first().map_or(0, |&(_, tick)| tick));
        let mut last = first;
        for &(event, tick) in &events[..inside] {
            if self.early && window.is_some_and(|window| tick >= window.from) {
                self.window_begins();
            }
            let tick = nearest(tick);
            match event {
                Event::Gap { .. } => self.stream.gap_ticks += tick - last,
                _ => self.pass(tick - last),
            }
            last = tick;
            self.event(event);
        }
        if self.early {
            self.window_begins();
        }
        let end = nearest(events.last().map_or(0, |&(_, tick)| tick));
        self.pass(end - last);
        self.abandon();
        self.stream.events = inside as u64;
        self.stream.first_tick = first;
        self.stream.last_tick = end;
        self.stream
    }

    fn frames_active(&self) -> Vec<usize> {
        let mut frames = Vec::new();
        let mut at = self.active;
        while let Some(frame) = at {
            frames.push(frame);
            at = self.frames[frame].parent;
        }
        frames.reverse();
        frames
    }

    fn stack(&self) -> Vec<usize> {
        self.frames_active()
            .into_iter()
            .flat_map(|f| self.frames[f].boxes.clone())
            .collect()
    }

    /// The predicates on the active chain, outermost first. After a gap an unknown box stands below
    /// all others.
    fn predicates_active(&self) -> Vec<u32> {
        let boxes = self.stack();
        let below = self.lost.then_some(self.figures.unknown);
        below
            .into_iter()
            .chain(boxes.iter().map(|&b| self.boxes[b].predicate))
            .collect()
    }

    fn pass(&mut self, ticks: u64) {
        if self.paused {
            self.stream.paused_ticks += ticks;
            return;
        }
        for frame in &self.choices {
            for &at in &self.frames[*frame].boxes {
                let predicate = self.boxes[at].predicate as usize;
                self.figures.predicates[predicate].lifetime_ticks += ticks;
            }
        }
        self.pass_in_clauses(ticks);
        let stack = self.predicates_active();
        let Some(&innermost) = stack.last() else {
            self.stream.untraced_ticks += ticks;
            return;
        };
        self.stream.self_ticks += ticks;
        if let Some(frame) = self.active
            && let Some(spot) = self.spot()
        {
            let kind = self.hidden_kind(frame);
            let add = |hidden: &mut HiddenFigures| match kind {
                Some(BoxKind::EngineWork) => hidden.engine_ticks += ticks,
                Some(BoxKind::Waiting) => hidden.waiting_ticks += ticks,
                Some(BoxKind::SetUp) => hidden.set_up_ticks += ticks,
                _ => {}
            };
            add(&mut self.figures.context(&spot.0).hidden);
            add(&mut self.figures.center_of(&spot).hidden);
        }
        let kind = self.figures.kind(innermost);
        self.stream.waiting_ticks += ticks * u64::from(kind == BoxKind::Waiting);
        self.stream.work_ticks += ticks * u64::from(kind.is_work());
        let passed = Passed {
            ticks,
            work: if kind.is_work() { ticks } else { 0 },
        };
        self.work.push(passed.work);
        self.passed.push(passed.work);
        let center = self.center();
        self.figures.center(center, innermost).self_ticks += ticks;
        self.figures.predicates[innermost as usize].self_ticks += ticks;
        let context = distinct(&stack);
        for depth in 1..=context.len() {
            self.figures.context(&context[..depth]).inclusive_ticks += ticks;
        }
        match self.stack().last() {
            Some(&innermost) => {
                let one = &mut self.boxes[innermost];
                one.own += ticks;
                let site = self.figures.site(one.caller, one.predicate, one.site);
                site.self_ticks += ticks;
                let row = self.figures.context(&one.path);
                row.self_ticks += ticks;
                if one.path != context {
                    row.inclusive_ticks += ticks;
                }
            }
            None => {
                self.figures.context(&context).self_ticks += ticks;
                self.figures.site(Caller::Root, innermost, None).self_ticks += ticks;
                self.figures.predicates[innermost as usize].self_open_ticks += ticks;
            }
        }
        self.pass_on_chain(&stack, passed);
    }

    fn pass_in_clauses(&mut self, ticks: u64) {
        let stack = self.stack();
        if let Some(&innermost) = stack.last() {
            self.in_clause(innermost).self_ticks += ticks;
        }
        let rows: BTreeSet<_> = stack.iter().map(|&at| self.clause_of(at)).collect();
        for row in rows {
            self.figures.clauses.entry(row).or_default().inclusive_ticks += ticks;
        }
    }

    fn clause_of(&self, at: usize) -> (u32, Option<u32>) {
        (self.boxes[at].predicate, self.boxes[at].clause.number)
    }

    fn in_clause(&mut self, at: usize) -> &mut ClauseFigures {
        let row = self.clause_of(at);
        self.figures.clauses.entry(row).or_default()
    }

    /// A box comes to a port: the clause that it is in counts as entered.
    fn count_entry(&mut self, at: usize) {
        if !std::mem::replace(&mut self.boxes[at].clause.counted, true) {
            self.in_clause(at).entered += 1;
        }
    }

    /// The innermost box of the active frame enters a clause.
    fn enter_clause(&mut self, clause: u32) {
        let Some(frame) = self.active.filter(|&frame| self.frames[frame].shown) else {
            return;
        };
        let (Some(&at), Some(&runs)) = (
            self.frames[frame].boxes.last(),
            self.frames[frame].predicates.last(),
        ) else {
            return;
        };
        let of = self.figures.script.clauses().get(clause as usize).copied();
        if of.is_some_and(|of| of != runs) {
            return;
        }
        if self.boxes[at].clause.counted {
            self.end_clause(at);
        }
        self.boxes[at].clause = InClause {
            number: of.map(|_| clause),
            before: self.passed.len(),
            exited: false,
            counted: false,
        };
        self.count_entry(at);
    }

    /// A box leaves its clause for the next one, or fails.
    fn end_clause(&mut self, at: usize) {
        if self.boxes[at].clause.exited {
            self.in_clause(at).exhausted += 1;
            return;
        }
        let vain = self.vain.entry(self.clause_of(at)).or_default();
        let slices = self.boxes[at].clause.before..self.passed.len();
        let ticks: u64 = slices
            .filter(|&slice| vain.insert(slice))
            .map(|slice| self.passed[slice])
            .sum();
        let figures = self.in_clause(at);
        figures.failed += 1;
        figures.failed_ticks += ticks;
    }

    /// Whether a frame that can be re-entered lies inside this one.
    fn has_choices(&self, frame: usize) -> bool {
        let is_inside = |&choice: &usize| {
            let mut at = self.frames[choice].parent;
            while let Some(around) = at {
                if around == frame {
                    return true;
                }
                at = self.frames[around].parent;
            }
            false
        };
        self.choices.iter().any(is_inside)
    }

    /// The clause in which a frame left a choicepoint, if it did.
    fn left_in(&mut self, frame: usize) -> Option<&mut ClauseFigures> {
        let at = *self.frames[frame].boxes.last()?;
        self.frames[frame].left.then(|| self.in_clause(at))
    }

    fn pass_on_chain(&mut self, stack: &[u32], passed: Passed) {
        let boxes = self.stack();
        let below = usize::from(self.lost);
        self.spend(Caller::Root, stack[0], passed);
        let unknown = self.lost.then_some((Caller::Root, stack[0], None));
        let known = boxes.iter().map(|&at| &self.boxes[at]);
        let known = known.map(|one| (one.caller, one.predicate, one.site));
        for (caller, predicate, site) in outermost_goals(unknown.into_iter().chain(known)) {
            let site = self.figures.site(caller, predicate, site);
            passed.add_to(&mut site.served_ticks, &mut site.served_work_ticks);
        }
        for &predicate in &stack.iter().copied().collect::<BTreeSet<_>>() {
            let figures = &mut self.figures.predicates[predicate as usize];
            figures.inclusive_ticks += passed.ticks;
            figures.inclusive_work_ticks += passed.work;
            let outermost = stack.iter().position(|&p| p == predicate).unwrap();
            let caller = match outermost.checked_sub(below) {
                Some(at) => {
                    let outermost = &mut self.boxes[boxes[at]];
                    outermost.outermost.ticks += passed.ticks;
                    outermost.outermost.work += passed.work;
                    outermost.caller
                }
                None => {
                    figures.open_ticks += passed.ticks;
                    figures.open_work_ticks += passed.work;
                    Caller::Root
                }
            };
            let edge = self.figures.edge(caller, predicate);
            passed.add_to(&mut edge.served_ticks, &mut edge.served_work_ticks);
            let last = stack.iter().rposition(|&p| p == predicate).unwrap();
            if let Some(&child) = stack.get(last + 1) {
                self.spend(Caller::Predicate(predicate), child, passed);
            }
        }
    }

    fn spend(&mut self, caller: Caller, callee: u32, passed: Passed) {
        let edge = self.figures.edge(caller, callee);
        passed.add_to(&mut edge.spent_ticks, &mut edge.spent_work_ticks);
    }

    fn context(&self) -> Caller {
        match self.predicates_active().last() {
            Some(&innermost) => Caller::Predicate(innermost),
            None => Caller::Root,
        }
    }

    fn open(&mut self, callable: u32, tail: bool) {
        let (predicate, site) = self.figures.script.callee(callable);
        let frame = self.active.unwrap();
        if let (true, Some(&before)) = (self.frames[frame].shown, self.frames[frame].boxes.last()) {
            self.count_entry(before);
        }
        self.frames[frame].predicates.push(predicate);
        self.frames[frame].shown = false;
        let (from, called_in) = (self.spot(), self.center());
        let declared = self.figures.script.center(predicate);
        let center = declared.or(self.frames[frame].center);
        self.frames[frame].center = center;
        let hidden =
            |predicate: u32| self.figures.script.hidden.get(predicate as usize) == Some(&true);
        let chain: Vec<u32> = self
            .frames_active()
            .into_iter()
            .flat_map(|frame| self.frames[frame].predicates.clone())
            .collect();
        if hidden(predicate) || !in_focus(&chain, &self.figures.script.places, hidden) {
            let port = if tail { Port::Tail } else { Port::Call };
            let inside = self.spot();
            let kind = self.figures.kind(predicate);
            return self.count_hidden(port, kind, inside, from);
        }
        let caller = self.context();
        let path = path(&self.predicates_active(), predicate);
        let port = if tail { Port::Tail } else { Port::Call };
        self.count_port(port, Some(&(path.clone(), center)), from.as_ref());
        let at = self.boxes.len();
        self.frames[frame].boxes.push(at);
        self.frames[frame].shown = true;
        self.boxes.push(Logical {
            predicate,
            site,
            caller,
            path,
            center,
            from: called_in,
            exits: 0,
            own: 0,
            outermost: Passed::default(),
            clause: InClause {
                number: None,
                before: self.passed.len(),
                exited: false,
                counted: false,
            },
        });
        self.count(at, |ports| {
            ports.calls += 1;
            ports.tail_calls += u64::from(tail);
        });
    }

    /// Counts a box at a port: for its predicate, with its caller, and in its context.
    fn count(&mut self, at: usize, count: impl Fn(&mut PortTotals)) {
        let Logical {
            predicate,
            site,
            caller,
            path,
            center,
            ..
        } = &self.boxes[at];
        count(&mut self.figures.predicates[*predicate as usize].ports);
        let edge = self.figures.edges.entry((*caller, *predicate));
        count(&mut edge.or_default().ports);
        count(&mut self.figures.site(*caller, *predicate, *site).ports);
        let row = self.figures.contexts.entry(path.clone());
        count(&mut row.or_default().ports);
        count(&mut self.figures.center(*center, *predicate).ports);
    }

    fn call(&mut self, callable: u32) {
        let parent = self.active;
        // The new frame is empty, so the caller is still the innermost box.
        self.frames.push(Frame {
            boxes: Vec::new(),
            predicates: Vec::new(),
            center: self.center(),
            parent,
            before: 0,
            shown: false,
            left: false,
        });
        self.active = Some(self.frames.len() - 1);
        self.note_depth();
        self.open(callable, false);
    }

    fn note_depth(&mut self) {
        self.stream.max_depth = self.stream.max_depth.max(self.frames_active().len() as u64);
    }

    /// The newest entry of the choice stack has just got there.
    fn note_height(&mut self) {
        let height = self.choices.len() as u64;
        self.stream.max_choices = self.stream.max_choices.max(height);
        if self.early {
            return;
        }
        for &at in &self.frames[*self.choices.last().unwrap()].boxes {
            let figures = &mut self.figures.predicates[self.boxes[at].predicate as usize];
            figures.max_height = figures.max_height.max(height);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Call { predicate } => self.call(predicate),
            Event::Tail { predicate } => {
                self.expect_active();
                self.open(predicate, true);
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                self.expect_active();
                let outermost = self.frames[self.active.unwrap()].boxes.first().copied();
                self.way_out(event);
                self.failed = outermost
                    .filter(|_| event == Event::Fail)
                    .map(|at| (Caller::Predicate(self.boxes[at].predicate), Why::Recorded));
                self.drives = matches!(event, Event::ExitDet | Event::ExitNondet)
                    && outermost.is_some_and(|at| self.drives_after(at));
                match self.held.take() {
                    Some(held) if event == Event::ExitDet && held.inside == 1 => {
                        (self.failed, self.drives) = (held.failed, held.drives);
                    }
                    Some(held) if event == Event::ExitDet => {
                        self.drives = false;
                        let inside = held.inside - 1;
                        self.held = Some(Held { inside, ..held });
                    }
                    _ => {}
                }
            }
            Event::Redo => {
                self.held = None;
                self.redo();
            }
            Event::Cut { count } => (0..count).for_each(|_| self.cut()),
            Event::Pause => self.paused = true,
            Event::Resume => self.paused = false,
            Event::Gap { lost } => {
                self.abandon();
                self.stream.lost_events += lost;
                (self.paused, self.lost) = (false, true);
                (self.failed, self.drives, self.held) = (None, false, None);
            }
            Event::Mark { .. } | Event::Arguments(_) | Event::Table(_) => {}
            Event::Value(_) | Event::Sync(_) => {}
            Event::Clause { clause } => self.enter_clause(clause),
        }
        match event {
            Event::Call { predicate } if self.is_between_ports(predicate) => {
                let before = Held {
                    failed: self.failed.take(),
                    drives: std::mem::take(&mut self.drives),
                    inside: 0,
                };
                let held = self.held.unwrap_or(before);
                let inside = held.inside + 1;
                self.held = Some(Held { inside, ..held });
            }
            Event::Call { .. } | Event::Tail { .. } | Event::Cut { .. } => {
                (self.failed, self.drives, self.held) = (None, false, None);
            }
            _ => {}
        }
    }

    /// Whether the caller's clause fails after the call of a box.
    fn drives_after(&self, at: usize) -> bool {
        let Logical {
            site, predicate, ..
        } = self.boxes[at];
        site.is_some_and(then_fails) && !self.figures.kind(predicate).is_between_ports()
    }

    /// The cost centre of what is active.
    fn center(&self) -> Center {
        let bottom = self.lost.then_some(self.figures.unknown);
        self.active
            .map_or(bottom, |frame| self.frames[frame].center)
    }

    /// Where the events of a box are booked for its caller, which is active now.
    fn caller_spot(&self, frame: usize) -> Option<Spot> {
        let (path, _) = self.spot()?;
        let outermost = self.frames[frame].boxes.first();
        Some((path, self.boxes[*outermost?].from))
    }

    /// Where the work is booked of what is active: on the row of the innermost visible box, if there is one.
    fn spot(&self) -> Option<Spot> {
        let unknown = self.lost.then(|| vec![self.figures.unknown]);
        let innermost = self.stack().last().copied();
        let path = innermost.map_or(unknown, |at| Some(self.boxes[at].path.clone()));
        Some((path?, self.center()))
    }

    /// The same of the active box itself: hidden boxes that it departed into since do not matter, unless it is one.
    fn own_spot(&self) -> Option<Spot> {
        let own = self.frames[self.active?].boxes.last();
        own.map_or_else(
            || self.spot(),
            |&at| Some((self.boxes[at].path.clone(), self.boxes[at].center)),
        )
    }

    fn count_port(&mut self, port: Port, inside: Option<&Spot>, outside: Option<&Spot>) {
        if let Some(spot) = inside {
            self.figures.context(&spot.0).inside[port as usize] += 1;
            self.figures.center_of(spot).inside[port as usize] += 1;
        }
        if let Some(spot) = outside {
            self.figures.context(&spot.0).outside[port as usize] += 1;
            self.figures.center_of(spot).outside[port as usize] += 1;
        }
    }

    /// A port of a hidden box, which was called from `caller`, and whose own work is booked at `inside`.
    fn count_hidden(
        &mut self,
        port: Port,
        kind: BoxKind,
        inside: Option<Spot>,
        caller: Option<Spot>,
    ) {
        if let Some(spot) = caller {
            self.figures.context(&spot.0).hidden.outside[port as usize] += 1;
            self.figures.center_of(&spot).hidden.outside[port as usize] += 1;
        }
        let Some(spot) = inside else {
            return;
        };
        if let BoxKind::Call { arity } = kind
            && port != Port::Cut
        {
            for hidden in [
                &mut self
                    .figures
                    .contexts
                    .entry(spot.0.clone())
                    .or_default()
                    .hidden,
                &mut self
                    .figures
                    .centers
                    .entry((spot.1, *spot.0.last().unwrap()))
                    .or_default()
                    .hidden,
            ] {
                hidden.inside[port as usize] += 1;
                if port == Port::Call || port == Port::Tail {
                    hidden.arguments += u64::from(arity);
                }
            }
        }
    }

    fn is_between_ports(&self, callable: u32) -> bool {
        let (predicate, _) = self.figures.script.callee(callable);
        self.figures.kind(predicate).is_between_ports()
    }

    /// What the box of a frame is, if it is hidden.
    fn hidden_kind(&self, frame: usize) -> Option<BoxKind> {
        let frame = &self.frames[frame];
        (frame.boxes.is_empty()).then(|| self.figures.kind(frame.predicates[0]))
    }

    fn expect_active(&mut self) {
        if self.active.is_none() {
            self.call(self.figures.unknown);
        }
    }

    fn way_out(&mut self, event: Event) {
        let frame = self.active.unwrap();
        for at in self.frames[frame].boxes.clone() {
            self.count_entry(at);
            match event {
                Event::ExitDet | Event::ExitNondet => {
                    self.boxes[at].clause.exited = true;
                    self.in_clause(at).exits += 1;
                }
                Event::Exception => self.in_clause(at).exceptions += 1,
                _ => self.end_clause(at),
            }
            let b = &mut self.boxes[at];
            let figures = &mut self.figures.predicates[b.predicate as usize];
            let own = std::mem::take(&mut b.own);
            let outermost = std::mem::take(&mut b.outermost);
            let again = u64::from(b.exits > 0);
            match event {
                Event::ExitDet | Event::ExitNondet => b.exits += 1,
                Event::Exception => {
                    figures.raised_ticks += outermost.ticks;
                    figures.raised_work_ticks += outermost.work;
                    figures.self_raised_ticks += own;
                }
                _ => {
                    figures.failed_ticks += outermost.ticks;
                    figures.failed_work_ticks += outermost.work;
                    figures.self_failed_ticks += own;
                }
            }
            self.count(at, |ports| match event {
                Event::ExitDet => {
                    ports.exits_det += 1;
                    ports.exits_again += again;
                }
                Event::ExitNondet => {
                    ports.exits_nondet += 1;
                    ports.exits_again += again;
                }
                Event::Exception => ports.exceptions += 1,
                _ => {
                    ports.fails += 1;
                    ports.fails_dry += 1 - again;
                }
            });
        }
        if event == Event::ExitNondet {
            self.frames[frame].left = self.frames[frame].shown && !self.has_choices(frame);
            if let Some(figures) = self.left_in(frame) {
                figures.left += 1;
            }
            self.frames[frame].before = self.work.len();
            self.choices.push(frame);
            self.note_height();
        }
        let inside = self.own_spot();
        self.active = self.frames[frame].parent;
        let port = match event {
            Event::ExitDet => Port::ExitDet,
            Event::ExitNondet => Port::ExitNondet,
            Event::Exception => Port::Exception,
            _ => Port::Fail,
        };
        match self.hidden_kind(frame) {
            Some(kind) => self.count_hidden(port, kind, inside, self.spot()),
            None => self.count_port(port, inside.as_ref(), self.caller_spot(frame).as_ref()),
        }
    }

    fn redo(&mut self) {
        let why = match self.drives {
            true => Why::OnPurpose,
            false => Why::Unrecorded,
        };
        let failed = self.failed.unwrap_or((self.context(), why));
        if self.choices.is_empty() {
            self.call(self.figures.unknown);
            self.way_out(Event::ExitNondet);
        }
        self.enter(failed);
        if self.dialect == Dialect::InnermostRedo {
            while let Some(&top) = self.choices.last()
                && self.frames[top].parent == self.active
            {
                self.enter(failed);
            }
        }
        (self.failed, self.drives) = (Some(failed), false);
    }

    fn enter(&mut self, failed: (Caller, Why)) {
        let frame = self.choices.pop().unwrap();
        let boxes = self.frames[frame].boxes.clone();
        let context = self.context();
        let hidden_caller = self.spot();
        if let (false, Some(&outermost)) = (self.valid, boxes.first()) {
            self.boxes[outermost].from = self.center();
        }
        let caller = self.caller_spot(frame);
        let mut stack = self.predicates_active();
        if self.frames[frame].parent != self.active {
            assert!(!self.valid, "not a valid run");
        }
        let mut center = self.center();
        for &at in &boxes {
            let predicate = self.boxes[at].predicate;
            let path = path(&stack, predicate);
            assert!(!self.valid || self.boxes[at].path == path);
            self.boxes[at].path = path;
            stack.push(predicate);
            center = self.figures.script.center(predicate).or(center);
            if !self.valid {
                self.boxes[at].center = center;
                self.frames[frame].center = center;
            }
        }
        if let Some(&outermost) = boxes.first() {
            // Only after an event that cannot happen it was another one.
            let called_by = std::mem::replace(&mut self.boxes[outermost].caller, context);
            assert!(!self.valid || called_by == context);
        }
        self.frames[frame].parent = self.active;
        self.active = Some(frame);
        self.note_depth();
        if let Some(figures) = self.left_in(frame) {
            figures.left_redos += 1;
        }
        self.frames[frame].left = false;
        for &at in &boxes {
            self.in_clause(at).redos += 1;
            self.count(at, |ports| ports.redos += 1);
        }
        if let Some(kind) = self.hidden_kind(frame) {
            self.count_hidden(Port::Redo, kind, self.spot(), hidden_caller);
        }
        if let Some(&outermost) = boxes.first() {
            self.count_port(Port::Redo, self.own_spot().as_ref(), caller.as_ref());
            self.undo(frame, outermost, failed);
        }
    }

    fn undo(&mut self, frame: usize, outermost: usize, (failed, why): (Caller, Why)) {
        let slices = &mut self.work[self.frames[frame].before..];
        let undone: u64 = slices.iter().sum();
        slices.fill(0);
        let Logical {
            predicate,
            site,
            caller,
            path,
            ..
        } = &self.boxes[outermost];
        let backtrack = self.figures.backtracks.entry((failed, *predicate));
        let backtrack = backtrack.or_default();
        backtrack.count += 1;
        let collects = match failed {
            Caller::Predicate(who) => collects(who) && who != self.figures.unknown,
            Caller::Root => false,
        };
        if why == Why::OnPurpose || why == Why::Unrecorded && collects {
            backtrack.collected_ticks += undone;
        } else {
            backtrack.undone_ticks += undone;
            self.figures.predicates[*predicate as usize].undone_ticks += undone;
            let at_site = self.figures.site(*caller, *predicate, *site);
            at_site.undone_ticks += undone;
            self.figures.context(path).undone_ticks += undone;
        }
    }

    fn cut(&mut self) {
        if self.choices.is_empty() {
            // It was there before the gap, not now.
            let depth = self.stream.max_depth;
            self.call(self.figures.unknown);
            self.way_out(Event::ExitNondet);
            self.stream.max_depth = depth;
        }
        let frame = self.choices.pop().unwrap();
        if let Some(figures) = self.left_in(frame) {
            figures.left_cuts += 1;
        }
        let context = self.context();
        let active = std::mem::replace(&mut self.active, self.frames[frame].parent);
        let mut caller = self.spot();
        match self.hidden_kind(frame) {
            Some(kind) => {
                // Its caller may be gone, so that it pays itself.
                if let Some((_, center)) = &mut caller {
                    *center = self.frames[frame].center;
                }
                self.count_hidden(Port::Cut, kind, None, caller);
            }
            None => self.count_port(Port::Cut, None, self.caller_spot(frame).as_ref()),
        }
        self.active = active;
        for at in self.frames[frame].boxes.clone() {
            self.count(at, |ports| ports.cuts += 1);
            let cut = (context, self.boxes[at].predicate);
            *self.figures.cuts.entry(cut).or_default() += 1;
        }
    }

    fn abandon(&mut self) {
        for at in self.stack() {
            let Logical {
                predicate,
                own,
                outermost,
                ..
            } = self.boxes[at];
            let figures = &mut self.figures.predicates[predicate as usize];
            figures.open_ticks += outermost.ticks;
            figures.open_work_ticks += outermost.work;
            figures.self_open_ticks += own;
            self.count_entry(at);
            self.in_clause(at).open += 1;
            self.count(at, |ports| ports.open += 1);
        }
        self.active = None;
        for frame in std::mem::take(&mut self.choices) {
            if let Some(figures) = self.left_in(frame) {
                figures.left_pending += 1;
            }
            for at in self.frames[frame].boxes.clone() {
                self.count(at, |ports| ports.pending += 1);
            }
        }
    }
}

impl Figures {
    /// What boxes of a predicate are; nothing is known of the unknown one.
    fn kind(&self, predicate: u32) -> BoxKind {
        if predicate == self.unknown {
            return BoxKind::Call { arity: 0 };
        }
        kind(predicate)
    }

    fn edge(&mut self, caller: Caller, callee: u32) -> &mut EdgeFigures {
        self.edges.entry((caller, callee)).or_default()
    }

    fn site(&mut self, caller: Caller, callee: u32, site: Option<u32>) -> &mut SiteFigures {
        self.sites.entry((caller, callee, site)).or_default()
    }

    fn context(&mut self, path: &[u32]) -> &mut ContextFigures {
        self.contexts.entry(path.to_vec()).or_default()
    }

    fn center(&mut self, center: Center, predicate: u32) -> &mut CenterFigures {
        self.centers.entry((center, predicate)).or_default()
    }

    fn center_of(&mut self, (path, center): &Spot) -> &mut CenterFigures {
        self.center(*center, *path.last().unwrap())
    }

    /// The rows with figures, and all above them.
    fn rows(&self) -> Vec<ContextFigures> {
        let used = self
            .contexts
            .iter()
            .filter(|(_, row)| **row != ContextFigures::default());
        let paths: BTreeSet<&[u32]> = used
            .flat_map(|(path, _)| (1..=path.len()).map(|depth| &path[..depth]))
            .collect();
        let paths: Vec<&[u32]> = paths.into_iter().collect();
        let row = |path: &&[u32]| {
            let (&predicate, above) = path.split_last().unwrap();
            ContextFigures {
                parent: paths.iter().position(|p| p == &above).map(|at| at as u32),
                predicate,
                depth: above.len() as u32,
                recursive: above.contains(&predicate),
                ..self.contexts.get(*path).copied().unwrap_or_default()
            }
        };
        paths.iter().map(row).collect()
    }
}
