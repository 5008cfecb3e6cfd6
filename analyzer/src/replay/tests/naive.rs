//! The model taken at its word: every logical box is a thing of its own, and every stretch of time
//! walks the whole stack. Slow, and shares nothing with the replay but the rows of figures.

use std::collections::{BTreeMap, BTreeSet};

use portmortem_tracer::format::{Dialect, Event};

use super::{Events, Script};
use crate::figures::{Caller, EdgeFigures, PredicateFigures, StreamFigures};
use crate::profile::Profile;

/// The figures of a script.
pub(super) fn replay(script: &Script) -> Profile {
    let unknown = script.hidden.len() as u32;
    let mut figures = Figures {
        predicates: vec![PredicateFigures::default(); unknown as usize + 1],
        edges: BTreeMap::new(),
        unknown,
        hidden: script.hidden.clone(),
    };
    let mut streams = Vec::new();
    for (events, id) in script.streams.iter().zip(1..) {
        let stream = Stream::new(&mut figures, script.dialect);
        streams.push(StreamFigures {
            stream: id,
            ..stream.replay(events)
        });
    }
    figures
        .edges
        .retain(|_, figures| *figures != EdgeFigures::default());
    Profile {
        predicates: figures.predicates,
        edges: figures.edges,
        streams,
        ..Profile::default()
    }
}

struct Figures {
    predicates: Vec<PredicateFigures>,
    edges: BTreeMap<(Caller, u32), EdgeFigures>,
    unknown: u32,
    hidden: Vec<bool>,
}

/// A logical box.
struct Logical {
    predicate: u32,
    caller: Caller,
    exits: u64,
    /// Time of this activation while it was the outermost of its predicate.
    outermost: u64,
}

/// Logical boxes that share a frame, outermost first; hidden ones are not among them.
struct Frame {
    boxes: Vec<usize>,
    parent: Option<usize>,
    /// Slices of work that came before its last exit.
    before: usize,
}

struct Stream<'f> {
    figures: &'f mut Figures,
    dialect: Dialect,
    boxes: Vec<Logical>,
    frames: Vec<Frame>,
    active: Option<usize>,
    choices: Vec<usize>,
    /// Slices of work, 0 once undone.
    work: Vec<u64>,
    paused: bool,
    lost: bool,
    stream: StreamFigures,
}

impl<'f> Stream<'f> {
    fn new(figures: &'f mut Figures, dialect: Dialect) -> Self {
        Self {
            figures,
            dialect,
            boxes: Vec::new(),
            frames: Vec::new(),
            active: None,
            choices: Vec::new(),
            work: Vec::new(),
            paused: false,
            lost: false,
            stream: StreamFigures::default(),
        }
    }

    fn replay(mut self, events: &Events) -> StreamFigures {
        let first = events.first().map_or(0, |&(_, tick)| tick);
        let mut last = first;
        for &(event, tick) in events {
            match event {
                Event::Gap { .. } => self.stream.gap_ticks += tick - last,
                _ => self.pass(tick - last),
            }
            last = tick;
            self.event(event);
            self.stream.max_choices = self.stream.max_choices.max(self.choices.len() as u64);
        }
        self.abandon();
        self.stream.events = events.len() as u64;
        self.stream.first_tick = first;
        self.stream.last_tick = last;
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

    fn pass(&mut self, ticks: u64) {
        if self.paused {
            self.stream.paused_ticks += ticks;
            return;
        }
        let boxes = self.stack();
        // After a gap somebody unknown stands below everybody else.
        let below = self.lost.then_some(self.figures.unknown);
        let stack: Vec<u32> = below
            .into_iter()
            .chain(boxes.iter().map(|&b| self.boxes[b].predicate))
            .collect();
        let Some(&innermost) = stack.last() else {
            self.stream.untraced_ticks += ticks;
            return;
        };
        self.stream.self_ticks += ticks;
        self.work.push(ticks);
        self.figures.predicates[innermost as usize].self_ticks += ticks;
        self.figures.edge(Caller::Root, stack[0]).spent_ticks += ticks;
        for &predicate in &stack.iter().copied().collect::<BTreeSet<_>>() {
            self.figures.predicates[predicate as usize].inclusive_ticks += ticks;
            let outermost = stack.iter().position(|&p| p == predicate).unwrap();
            let caller = match outermost {
                0 => Caller::Root,
                at => Caller::Predicate(stack[at - 1]),
            };
            self.figures.edge(caller, predicate).served_ticks += ticks;
            let last = stack.iter().rposition(|&p| p == predicate).unwrap();
            if let Some(&child) = stack.get(last + 1) {
                self.figures
                    .edge(Caller::Predicate(predicate), child)
                    .spent_ticks += ticks;
            }
            let below = usize::from(self.lost);
            if let Some(at) = outermost.checked_sub(below) {
                self.boxes[boxes[at]].outermost += ticks;
            }
        }
    }

    fn context(&self) -> Caller {
        match self.stack().last() {
            Some(&innermost) => Caller::Predicate(self.boxes[innermost].predicate),
            None if self.lost => Caller::Predicate(self.figures.unknown),
            None => Caller::Root,
        }
    }

    fn open(&mut self, predicate: u32, tail: bool) {
        if self.figures.hidden.get(predicate as usize) == Some(&true) {
            return;
        }
        let caller = self.context();
        let figures = &mut self.figures.predicates[predicate as usize];
        figures.calls += 1;
        figures.tail_calls += u64::from(tail);
        let edge = self.figures.edge(caller, predicate);
        edge.calls += 1;
        edge.tail_calls += u64::from(tail);
        let frame = self.active.unwrap();
        self.frames[frame].boxes.push(self.boxes.len());
        self.boxes.push(Logical {
            predicate,
            caller,
            exits: 0,
            outermost: 0,
        });
    }

    fn call(&mut self, predicate: u32) {
        let parent = self.active;
        // The new frame is empty, so the caller is still the innermost box.
        self.frames.push(Frame {
            boxes: Vec::new(),
            parent,
            before: 0,
        });
        self.active = Some(self.frames.len() - 1);
        self.stream.max_depth = self.stream.max_depth.max(self.frames_active().len() as u64);
        self.open(predicate, false);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Call { predicate } => self.call(predicate),
            Event::Tail { predicate } => {
                self.somebody();
                self.open(predicate, true);
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                self.somebody();
                self.way_out(event);
            }
            Event::Redo => self.redo(),
            Event::Cut { count } => (0..count).for_each(|_| self.cut()),
            Event::Pause => self.paused = true,
            Event::Resume => self.paused = false,
            Event::Gap { lost } => {
                self.abandon();
                self.stream.lost_events += lost;
                self.paused = false;
                self.lost = true;
            }
            Event::Mark { .. } => {}
        }
    }

    fn somebody(&mut self) {
        if self.active.is_none() {
            self.call(self.figures.unknown);
        }
    }

    fn way_out(&mut self, event: Event) {
        let frame = self.active.unwrap();
        for at in self.frames[frame].boxes.clone() {
            let b = &mut self.boxes[at];
            let figures = &mut self.figures.predicates[b.predicate as usize];
            let edge = self
                .figures
                .edges
                .entry((b.caller, b.predicate))
                .or_default();
            let outermost = std::mem::take(&mut b.outermost);
            match event {
                Event::ExitDet => figures.exits_det += 1,
                Event::ExitNondet => figures.exits_nondet += 1,
                Event::Exception => figures.exceptions += 1,
                _ => {
                    figures.fails += 1;
                    figures.failed_ticks += outermost;
                    figures.fails_dry += u64::from(b.exits == 0);
                    edge.fails += 1;
                }
            }
            if matches!(event, Event::ExitDet | Event::ExitNondet) {
                edge.exits += 1;
                figures.exits_again += u64::from(b.exits > 0);
                b.exits += 1;
            }
        }
        if event == Event::ExitNondet {
            self.frames[frame].before = self.work.len();
            self.choices.push(frame);
        }
        self.active = self.frames[frame].parent;
    }

    fn redo(&mut self) {
        if self.choices.is_empty() {
            self.call(self.figures.unknown);
            self.way_out(Event::ExitNondet);
            self.stream.max_choices = self.stream.max_choices.max(1);
        }
        self.enter();
        if self.dialect == Dialect::InnermostRedo {
            while let Some(&top) = self.choices.last()
                && self.frames[top].parent == self.active
            {
                self.enter();
            }
        }
    }

    fn enter(&mut self) {
        let frame = self.choices.pop().unwrap();
        assert_eq!(self.frames[frame].parent, self.active, "not a valid run");
        self.active = Some(frame);
        for &at in &self.frames[frame].boxes {
            let b = &self.boxes[at];
            self.figures.predicates[b.predicate as usize].redos += 1;
            self.figures
                .edges
                .entry((b.caller, b.predicate))
                .or_default()
                .redos += 1;
            let slices = &mut self.work[self.frames[frame].before..];
            let undone: u64 = slices.iter().sum();
            self.figures.predicates[b.predicate as usize].undone_ticks += undone;
            slices.fill(0);
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
        for &at in &self.frames[frame].boxes {
            self.figures.predicates[self.boxes[at].predicate as usize].cuts += 1;
        }
    }

    fn abandon(&mut self) {
        for at in self.stack() {
            self.figures.predicates[self.boxes[at].predicate as usize].open += 1;
        }
        self.active = None;
        for frame in std::mem::take(&mut self.choices) {
            for &at in &self.frames[frame].boxes {
                self.figures.predicates[self.boxes[at].predicate as usize].pending += 1;
            }
        }
    }
}

impl Figures {
    fn edge(&mut self, caller: Caller, callee: u32) -> &mut EdgeFigures {
        self.edges.entry((caller, callee)).or_default()
    }
}
