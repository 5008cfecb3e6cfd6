//! How long activations take, as far as a piece of their stream tells.

use std::ops::Range;

use super::piece::{PieceRow, Reading, since};
use super::{Bounds, Listing, Pending, ReadingContext, Wanted};
use crate::machine::WayOut;
use crate::scope::Window;
use crate::tables::{Listed, SiteNames};
use crate::trace::{BoxKind, PredicateIndex, SiteIndex, Trace};
use crate::walk::{Step, Trail, Walk};

/// Events between two looks at whether anybody still wants to know.
const STRIDE: u64 = 1 << 14;

/// More boxes of a stack are not looked at.
const MOST_OPEN: usize = 1 << 20;

/// Events that `asked` says yes to by their numbers.
struct EventNumbers<'a>(&'a (dyn Fn(u64) -> bool + Sync));

impl Wanted for EventNumbers<'_> {
    fn quick(&self, step: &Step) -> Option<bool> {
        Some((self.0)(step.number))
    }

    fn decide(&self, _: &Listed, _: Pending) -> Option<bool> {
        Some(true)
    }

    fn needs_end(&self) -> bool {
        true
    }

    fn bounds(&self) -> Bounds {
        Bounds::default()
    }
}

/// How long an activation took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lasted {
    /// Number of the event that begins or ends it.
    pub number: u64,
    /// Ticks from its call or redo to its way out, pauses left out; so far if it is open.
    pub ticks: u64,
    /// Its way out; [`WayOut::Open`] if there was none before the end of the stream.
    pub outcome: WayOut,
    /// The goal that called its box, if that is known.
    pub site: Option<SiteIndex>,
}

/// How long those activations took that lie in a piece of a stream (by its place in the trace), or
/// in which the stream ends: for the events that begin or end one and that `asked` says yes to, by
/// their numbers. Of the others that is not known. A piece has at most 262,144 events; what is
/// beyond is not read.
#[must_use]
pub fn durations(
    trace: &Trace,
    trail: Option<&Trail>,
    stream: usize,
    piece: Range<u64>,
    asked: &(dyn Fn(u64) -> bool + Sync),
) -> Vec<Lasted> {
    let Some(info) = trace.streams().get(stream) else {
        return Vec::new();
    };
    let sites = SiteNames::default();
    let listing = Listing::new(trace, "", trail, &sites);
    let kinds = BoxKind::by_predicate(trace);
    let wanted = EventNumbers(asked);
    let cx = ReadingContext {
        trace,
        name: "",
        trail,
        sites: &sites,
        stream: info.id,
        wanted: Some(&wanted),
        future: true,
        boxes: 0,
        kinds: &kinds,
        window: Window {
            from: 0,
            until: u64::MAX,
        },
        lost: &listing.lost,
    };
    let mut reading = Reading::new(&cx, info, piece);
    let piece = reading.read(&cx, &(0..u64::MAX));
    let end = reading.end_of_stream();
    let lasted = |row: &PieceRow| {
        let (ticks, outcome) = match (row.facts.took, row.facts.outcome, end) {
            (Some(ticks), Some(outcome), _) => (ticks, outcome),
            (None, None, end @ Some(_)) if row.awaits.end => {
                (since(row.running, end)?, WayOut::Open)
            }
            _ => return None,
        };
        Some(Lasted {
            number: row.step.number,
            ticks,
            outcome,
            site: row.facts.site,
        })
    };
    piece.rows.iter().filter_map(lasted).collect()
}

/// Those of the calls that `asked` says yes to by their numbers, and whose boxes are active where
/// their stream ends: how long so far, pauses included. `may_be_redone` says of which predicates
/// boxes were entered again; of those it is not known whether a call's own activation goes on.
/// `is_wanted`: whether to go on looking.
#[must_use]
pub fn still_open(
    trace: &Trace,
    trail: Option<&Trail>,
    stream: usize,
    asked: impl Fn(u64) -> bool,
    may_be_redone: impl Fn(PredicateIndex) -> bool,
    is_wanted: impl Fn() -> bool,
) -> Vec<Lasted> {
    let Some(info) = trace.streams().get(stream) else {
        return Vec::new();
    };
    // From the last place on where a walk can begin.
    let last = trail.and_then(|trail| trail.places(stream).last());
    let mut walk = Walk::from(trace, trail, info, last.map_or(0, |(event, _)| event));
    let (mut read, mut end) = (0_u64, 0);
    for step in walk.by_ref() {
        end = step.tick;
        read += 1;
        if read.is_multiple_of(STRIDE) && !is_wanted() {
            return Vec::new();
        }
    }
    let boxes = walk.moment().active().newest().take(MOST_OPEN);
    let mut found = Vec::new();
    for open in boxes {
        let is_asked = asked(open.called) && !may_be_redone(open.called_as);
        let call = is_asked.then(|| Walk::from(trace, trail, info, open.called).next());
        if let Some(step) = call.flatten().filter(|step| step.number == open.called) {
            found.push(Lasted {
                number: step.number,
                ticks: end.saturating_sub(step.tick),
                outcome: WayOut::Open,
                site: step.site,
            });
        }
    }
    found
}
