//! The same columns from lists of all segments and of all events.

use std::collections::HashMap;
use std::ops::Range;

use portmortem_tracer::format::Event;

use crate::machine::{Class, WayOut};
use crate::moment::Moment;
use crate::timeline::{Began, DepthCell, Ended, Segment, TimeColumn, TimeRange};
use crate::trace::PredicateIndex;
use crate::trace::Trace;
use crate::walk::{Step, Walk};

/// All that a stream did.
#[derive(Debug, Default)]
pub(super) struct Story {
    /// With their depths, in the order in which they end.
    segments: Vec<(u64, Segment)>,
    pauses: Vec<Range<u64>>,
    gaps: Vec<Range<u64>>,
    events: Vec<Happening>,
}

/// An event, and what of boxes that are not hidden belongs to it.
#[derive(Debug)]
struct Happening {
    event: Event,
    number: u64,
    tick: u64,
    /// Depths of the boxes.
    rows: Vec<u64>,
    cuts: u64,
}

/// What is seen at a depth.
type Shown = (u64, PredicateIndex, u64, Began);

struct Teller<'t> {
    trace: &'t Trace,
    hidden: &'t [bool],
    /// By box: what it shows.
    names: HashMap<u64, Option<PredicateIndex>>,
    bottom: Option<Shown>,
    shown: Vec<Shown>,
    story: Story,
}

pub(super) fn tell(trace: &Trace, hidden: &[bool], stream: usize) -> Story {
    let stream = &trace.streams()[stream];
    let mut teller = Teller {
        trace,
        hidden,
        names: HashMap::new(),
        bottom: None,
        shown: Vec::new(),
        story: Story::default(),
    };
    let mut walk = Walk::from(trace, None, stream, 0);
    let (mut before, mut last, mut paused) = (walk.moment().clone(), 0, None);
    while let Some(step) = walk.next() {
        let until = if matches!(step.event, Event::Gap { .. }) {
            last
        } else {
            step.tick
        };
        let ends = matches!(step.event, Event::Gap { .. } | Event::Resume);
        if let (true, Some(since)) = (ends, paused) {
            teller.story.pauses.push(since..until);
            paused = None;
        }
        if step.event == Event::Pause && paused.is_none() {
            paused = Some(step.tick);
        }
        teller.tell(&step, last, &before, walk.moment());
        last = step.tick;
        before = walk.moment().clone();
    }
    let end = stream.end.map_or(last, |end| end.tick.max(last));
    teller.story.pauses.extend(paused.map(|since| since..end));
    teller.become_shown(&[], end, Ended::By(WayOut::Open));
    teller.story
}

impl Teller<'_> {
    fn visible(&self, predicate: PredicateIndex) -> Option<PredicateIndex> {
        (!self.hidden[predicate as usize]).then_some(predicate)
    }

    fn tell(&mut self, step: &Step, last: u64, before: &Moment, after: &Moment) {
        let unknown = self.trace.unknown_predicate();
        let mut happening = Happening {
            event: step.event,
            number: step.number,
            tick: step.tick,
            rows: Vec::new(),
            cuts: 0,
        };
        let way_out = match step.event {
            Event::Tail { .. } => Some(Ended::LastCall),
            event => Class::of(event).way_out().map(Ended::By),
        };
        let none_active = before.active().is_empty();
        match step.event {
            Event::Gap { .. } => {
                self.become_shown(&[], last, Ended::By(WayOut::Lost));
                self.story.gaps.push(last..step.tick);
                self.bottom = Some((step.number, unknown, step.tick, Began::Gap));
            }
            Event::Call { predicate } => {
                self.names.insert(step.number, self.visible(predicate));
            }
            Event::Tail { predicate } => {
                let of = step.of.unwrap().0.called;
                if let Some(predicate) = self.visible(predicate) {
                    self.names.insert(of, Some(predicate));
                    happening.rows.push(0);
                } else if none_active {
                    self.names.insert(of, Some(unknown));
                }
            }
            Event::Redo => {
                for open in &after.active().to_vec()[before.active().len()..] {
                    self.names.entry(open.called).or_insert(Some(unknown));
                }
            }
            Event::Cut { .. } => {
                let choices = before.choices().to_vec();
                let cut = &choices[after.choices().len()..];
                let shown = cut.iter().filter(|open| self.names[&open.called].is_some());
                happening.cuts = shown.count() as u64;
            }
            _ => {}
        }
        let depth = |story: &Self, boxes: &[crate::moment::OpenBox]| {
            let shown = boxes
                .iter()
                .filter(|open| story.names[&open.called].is_some());
            shown.count() as u64 + u64::from(story.bottom.is_some())
        };
        // A box of before a gap, or called at an unknown time.
        if let (true, Some(ended)) = (none_active, way_out) {
            let row = depth(self, &[]);
            let hidden_call =
                matches!(step.event, Event::Tail { predicate } if self.hidden[predicate as usize]);
            if !hidden_call {
                let open = (step.number, unknown, step.tick, Began::Gap);
                self.story
                    .segments
                    .push((row, segment(open, step.tick, ended)));
            }
            if ended != Ended::LastCall {
                self.names.insert(step.number, Some(unknown));
                happening.rows.push(row);
            }
        } else if let (Some(_), Some(open)) = (way_out, before.active().last()) {
            let is_port = !matches!(step.event, Event::Tail { .. });
            if is_port && self.names[&open.called].is_some() {
                happening
                    .rows
                    .push(depth(self, &before.active().to_vec()) - 1);
            }
        }
        if matches!(step.event, Event::Call { .. } | Event::Redo) {
            for at in before.active().len()..after.active().len() {
                if self.names[&after.active().to_vec()[at].called].is_some() {
                    happening
                        .rows
                        .push(depth(self, &after.active().to_vec()[..at]));
                }
            }
        }
        let began = match step.event {
            Event::Call { .. } => Began::Call,
            Event::Redo => Began::Redo,
            Event::Tail { predicate } if self.hidden[predicate as usize] => Began::Gap,
            _ => Began::LastCall,
        };
        let chain = after.active().to_vec();
        let chain = chain.iter();
        let chain = chain
            .filter_map(|open| Some((open.called, self.names[&open.called]?, step.tick, began)));
        let shown: Vec<Shown> = self.bottom.into_iter().chain(chain).collect();
        self.become_shown(
            &shown,
            step.tick,
            way_out.unwrap_or(Ended::By(WayOut::Lost)),
        );
        self.story.events.push(happening);
    }

    fn become_shown(&mut self, to: &[Shown], tick: u64, ended: Ended) {
        let same = |(a, b): &(&Shown, &Shown)| (a.0, a.1) == (b.0, b.1);
        let kept = self.shown.iter().zip(to).take_while(same).count();
        for (row, &open) in (0..).zip(&self.shown).skip(kept) {
            self.story.segments.push((row, segment(open, tick, ended)));
        }
        self.shown.truncate(kept);
        self.shown.extend(&to[kept..]);
    }
}

fn segment((called, predicate, from, began): Shown, to: u64, ended: Ended) -> Segment {
    Segment {
        called,
        predicate,
        from,
        to,
        began,
        ended,
    }
}

impl Story {
    /// From the first event to the last.
    pub(super) fn ticks(&self) -> Range<u64> {
        let tick = |happening: Option<&Happening>| happening.map_or(0, |happening| happening.tick);
        tick(self.events.first())..tick(self.events.last())
    }

    pub(super) fn columns(&self, window: &TimeRange) -> Vec<TimeColumn> {
        let ticks = |at| window.start_of(at)..window.start_of(at + 1);
        (0..window.columns)
            .map(|at| self.column(window, &ticks(at)))
            .collect()
    }

    fn column(&self, window: &TimeRange, ticks: &Range<u64>) -> TimeColumn {
        let overlap = |spans: &[Range<u64>]| {
            let part = |span: &Range<u64>| {
                span.end
                    .min(ticks.end)
                    .saturating_sub(span.start.max(ticks.start))
            };
            spans.iter().map(part).sum()
        };
        let mut column = TimeColumn {
            read: true,
            paused_ticks: overlap(&self.pauses),
            gap_ticks: overlap(&self.gaps),
            cells: (0..window.rows)
                .map(|row| self.cell(u64::from(window.first_row + row), ticks))
                .collect(),
            ..TimeColumn::default()
        };
        for happening in &self.events {
            if ticks.contains(&happening.tick) {
                count(happening, &mut column, window);
            }
        }
        while column.cells.last() == Some(&DepthCell::default()) {
            column.cells.pop();
        }
        column
    }

    fn cell(&self, row: u64, ticks: &Range<u64>) -> DepthCell {
        let mut cell = DepthCell::default();
        let mut times: HashMap<PredicateIndex, u64> = HashMap::new();
        for (_, segment) in self.segments.iter().filter(|(at, _)| *at == row) {
            let inside = ticks.contains(&segment.from)
                || (segment.from < ticks.start && segment.to > ticks.start);
            if !inside || ticks.is_empty() {
                continue;
            }
            let mut seen = *segment;
            if seen.from < ticks.start {
                (seen.from, seen.began) = (ticks.start, Began::Before);
            }
            if seen.to > ticks.end {
                (seen.to, seen.ended) = (ticks.end, Ended::After);
            }
            cell.segments += 1;
            cell.ticks += seen.to - seen.from;
            cell.first.get_or_insert(seen);
            cell.last = Some(seen);
            *times.entry(seen.predicate).or_default() += seen.to - seen.from;
        }
        let longest = times.into_iter().filter(|(_, ticks)| *ticks > 0);
        cell.longest = longest.max_by_key(|&(predicate, ticks)| (ticks, u32::MAX - predicate));
        cell
    }
}

fn count(happening: &Happening, column: &mut TimeColumn, window: &TimeRange) {
    column.first_event.get_or_insert(happening.number);
    let counts = &mut column.counts;
    counts.events += 1;
    counts.cuts += happening.cuts;
    let boxes = happening.rows.len() as u64;
    for row in &happening.rows {
        let row = row.checked_sub(window.first_row.into());
        let cell = row.and_then(|row| column.cells.get_mut(row as usize));
        let Some(cell) = cell else { continue };
        match happening.event {
            Event::Fail => cell.fails += 1,
            Event::Exception => cell.exceptions += 1,
            Event::Redo => cell.redos += 1,
            _ => {}
        }
    }
    match happening.event {
        Event::Call { .. } => counts.calls += boxes,
        Event::Tail { .. } => counts.last_calls += boxes,
        Event::ExitDet | Event::ExitNondet => counts.exits += boxes,
        Event::Redo => counts.redos += boxes,
        Event::Fail => counts.fails += boxes,
        Event::Exception => counts.exceptions += boxes,
        Event::Mark { .. } => counts.marks += 1,
        Event::Gap { lost } => {
            counts.gaps += 1;
            counts.lost += lost;
        }
        _ => {}
    }
}
