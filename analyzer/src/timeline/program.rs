//! Where in a trace its program runs: what a first look is at.
//!
//! Loading is mostly paused, or no recorded box is open; what the engine does meanwhile
//! (collections, loading of libraries) is no goal of the program. So the program runs where an
//! outermost box of its own is open. Where nothing is recorded for long, the time is divided, and
//! the part with the most recorded time counts.

use std::ops::Range;

use crate::figures::StreamFigures;
use crate::machine::Class;
use crate::trace::{BoxKind, PredicateIndex, StreamInfo, Trace};
use crate::walk::Walk;

/// Events that are read at most, of all streams together: a few milliseconds. What comes after them
/// counts as program.
const MOST_EVENTS: u64 = 100_000;

/// Streams that are read at all; of the others all counts.
const MOST_STREAMS: usize = 100;

/// Time without a recorded goal is long if it is such a part of all.
const LONG: u64 = 8;

/// Goals at either end count as loading if they are so much shorter than the program, and shorter
/// than the time to the next one.
const SHORT: u64 = 100;

/// The part of a trace in which its program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The tick at which its first goal begins.
    pub from: u64,
    /// The first tick after its last one.
    pub until: u64,
    /// By stream, as in [`Trace::streams`]: the number of the first event of a goal in it; `None`
    /// if there is none.
    pub first_events: Vec<Option<u64>>,
}

/// Time in which a goal of the program is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct GoalPiece {
    from: u64,
    until: u64,
    /// Ticks of it that were recorded.
    recorded: u64,
}

impl GoalPiece {
    fn and(self, next: Self) -> Self {
        Self {
            from: self.from,
            until: self.until.max(next.until),
            recorded: self.recorded.saturating_add(next.recorded),
        }
    }

    /// Ticks between it and a later one.
    fn to(self, next: &Self) -> u64 {
        next.from.saturating_sub(self.until)
    }
}

impl Program {
    /// Finds it; `figures` are those of the streams, of the whole time. `None` if no goal was
    /// recorded. A bounded number of events is read.
    #[must_use]
    pub fn of(trace: &Trace, figures: &[StreamFigures]) -> Option<Self> {
        let kinds = BoxKind::by_predicate(trace);
        let first = figures.iter().map(|stream| stream.first_tick).min()?;
        let last = figures.iter().map(|stream| stream.last_tick).max()?;
        let long = (last.saturating_sub(first) / LONG).max(1);
        let each = MOST_EVENTS / (figures.len().clamp(1, MOST_STREAMS) as u64);
        let mut pieces = Vec::new();
        let mut begins = Vec::new();
        for (at, (stream, figures)) in trace.streams().iter().zip(figures).enumerate() {
            let most = if at < MOST_STREAMS { each } else { 0 };
            let own = GoalReader::new(&kinds, long).read(trace, stream, figures, most);
            begins.push(
                own.iter()
                    .map(|(piece, event)| (piece.until, *event))
                    .collect(),
            );
            pieces.extend(own.into_iter().map(|(piece, _)| piece));
        }
        let part = longest(&together(pieces), long)?;
        let first_event = |own: &Vec<(u64, u64)>| {
            let mut inside = own.iter().filter(|(until, _)| *until > part.from);
            inside.next().map(|(_, event)| *event)
        };
        Some(Self {
            from: part.from,
            until: part.until,
            first_events: begins.iter().map(first_event).collect(),
        })
    }

    /// The part of a range of ticks that it runs in; `None` if that is empty.
    #[must_use]
    pub fn within(&self, range: &Range<u64>) -> Option<Range<u64>> {
        let inside = self.from.max(range.start)..self.until.min(range.end);
        (!inside.is_empty()).then_some(inside)
    }
}

/// The pieces of all streams as pieces of time.
fn together(mut pieces: Vec<GoalPiece>) -> Vec<GoalPiece> {
    pieces.sort_by_key(|piece| piece.from);
    let mut all: Vec<GoalPiece> = Vec::new();
    for piece in pieces {
        match all.last_mut() {
            Some(last) if last.until >= piece.from => *last = last.and(piece),
            _ => all.push(piece),
        }
    }
    all
}

/// The part with the most recorded time, between times in which nothing is for long; without what
/// is short and far at its ends.
fn longest(pieces: &[GoalPiece], long: u64) -> Option<GoalPiece> {
    let parts = pieces.chunk_by(|piece, next| piece.to(next) < long);
    let recorded = |part: &&[GoalPiece]| {
        let pieces = part.iter().map(|piece| piece.recorded);
        pieces.fold(0, u64::saturating_add)
    };
    let mut part = parts.max_by_key(recorded)?;
    let short = recorded(&part) / SHORT;
    let is_short = |piece: &GoalPiece, gap: u64| piece.recorded < short && piece.recorded < gap;
    while let [first, next, ..] = part
        && is_short(first, first.to(next))
    {
        part = &part[1..];
    }
    while let [.., before, last] = part
        && is_short(last, before.to(last))
    {
        part = &part[..part.len() - 1];
    }
    part.iter().copied().reduce(GoalPiece::and)
}

/// Reads the goals of a stream.
struct GoalReader<'k> {
    kinds: &'k [BoxKind],
    long: u64,
    /// With the numbers of the events that begin them.
    found: Vec<(GoalPiece, u64)>,
    /// The one that is open.
    open: Option<(GoalPiece, u64)>,
    /// Ticks of pauses in it.
    paused: u64,
    paused_since: Option<u64>,
}

impl<'k> GoalReader<'k> {
    fn new(kinds: &'k [BoxKind], long: u64) -> Self {
        Self {
            kinds,
            long,
            found: Vec::new(),
            open: None,
            paused: 0,
            paused_since: None,
        }
    }

    fn read(
        mut self,
        trace: &Trace,
        stream: &StreamInfo,
        figures: &StreamFigures,
        most: u64,
    ) -> Vec<(GoalPiece, u64)> {
        let mut next = (figures.first_tick, 0);
        let first = stream.blocks.clone().next();
        let first = first.and_then(|first| trace.block_header(first));
        if first.is_none_or(|first| first.first_event > 0) {
            // Its first events are gone.
            self.begin(next.0, next.1);
            self.end(figures.last_tick);
            return self.found;
        }
        let mut walk = Walk::from(trace, None, stream, 0);
        for _ in 0..most {
            let Some(step) = walk.next() else {
                self.end(figures.last_tick);
                return self.found;
            };
            next = (step.tick, step.number.saturating_add(1));
            let outermost = step.of.filter(|(_, depth)| *depth == 0);
            match step.class() {
                Class::Pause(true) => self.paused_since = self.paused_since.or(Some(step.tick)),
                Class::Pause(false) => self.resume(step.tick, step.number),
                // Nothing is known of what is open, but something may be.
                Class::Lose(_) => self.begin(step.tick, step.number),
                _ => match outermost {
                    Some(_) if walk.moment().active().is_empty() => self.end(step.tick),
                    Some((of, _)) if self.is_goal(of.predicate) => {
                        self.begin(step.tick, step.number);
                    }
                    _ => {}
                },
            }
        }
        // What was not read counts as program.
        if self.open.is_none() && next.0 < figures.last_tick {
            self.begin(next.0, next.1);
        }
        self.end(figures.last_tick);
        self.found
    }

    fn is_goal(&self, predicate: PredicateIndex) -> bool {
        matches!(BoxKind::of(self.kinds, predicate), BoxKind::Call { .. })
    }

    fn begin(&mut self, tick: u64, number: u64) {
        let piece = GoalPiece {
            from: tick,
            until: tick,
            recorded: 0,
        };
        self.open.get_or_insert((piece, number));
    }

    /// A long pause divides a goal.
    fn resume(&mut self, tick: u64, number: u64) {
        let Some(since) = self.paused_since.take() else {
            return;
        };
        let pause = tick.saturating_sub(since);
        if self.open.is_none() {
            return;
        }
        if pause < self.long {
            self.paused += pause;
        } else {
            self.end(since);
            self.begin(tick, number);
        }
    }

    fn end(&mut self, tick: u64) {
        let tick = self.paused_since.map_or(tick, |since| since.min(tick));
        let Some((mut piece, number)) = self.open.take() else {
            return;
        };
        piece.until = tick.max(piece.from).saturating_add(1);
        let paused = std::mem::take(&mut self.paused);
        piece.recorded = (piece.until - piece.from).saturating_sub(paused);
        self.found.push((piece, number));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn piece(from: u64, until: u64) -> GoalPiece {
        GoalPiece {
            from,
            until,
            recorded: until - from,
        }
    }

    #[test]
    fn long_times_without_a_goal_divide() {
        let part = |pieces: &[(u64, u64)]| {
            let pieces = pieces.iter().map(|&(from, until)| piece(from, until));
            longest(&together(pieces.collect()), 100).map(|part| (part.from, part.until))
        };
        assert_eq!(part(&[]), None);
        assert_eq!(part(&[(5, 10)]), Some((5, 10)));
        // Three queries, and one long after.
        assert_eq!(
            part(&[(0, 40), (50, 90), (99, 140), (400, 500)]),
            Some((0, 140))
        );
        // A directive, and something at the end.
        assert_eq!(part(&[(0, 1), (50, 550), (600, 602)]), Some((50, 550)));
        // Threads at the same time.
        assert_eq!(part(&[(0, 40), (20, 90), (200, 230)]), Some((0, 90)));
    }

    #[test]
    fn the_program_begins_after_loading() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/threads_exceptions.pmt");
        let trace = Trace::open(&path).unwrap();
        let replayed = crate::replay(&trace, &crate::ReplayOptions::default());
        let figures = &replayed.streams;
        let program = Program::of(&trace, figures).unwrap();
        let first = figures
            .iter()
            .map(|stream| stream.first_tick)
            .min()
            .unwrap();
        assert!(program.from > first && program.from < program.until);
        let of_main = trace.events(&trace.streams()[0]);
        let ticks: Vec<u64> = of_main.map(|timed| timed.tick).collect();
        let first_event = program.first_events[0].unwrap();
        assert_eq!(ticks[usize::try_from(first_event).unwrap()], program.from);
    }
}
