//! How long activations take, as far as a piece of their stream tells.

use std::ops::Range;

use super::piece::Reading;
use super::{Bounds, Context, Listing, Pending, Wanted};
use crate::scope::Window;
use crate::tables::{Listed, SiteNames};
use crate::trace::{BoxKind, Trace};
use crate::walk::{Step, Trail};

/// Events that `asked` says yes to by their numbers.
struct Numbers<'a>(&'a (dyn Fn(u64) -> bool + Sync));

impl Wanted for Numbers<'_> {
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

/// Ticks from the call or redo to the way out, pauses left out, of those activations that lie in a
/// piece of a stream (by its place in the trace): for the events that begin or end one and that
/// `asked` says yes to, by their numbers. Of the others that is not known. A piece has at most
/// 262,144 events; what is beyond is not read.
#[must_use]
pub fn durations(
    trace: &Trace,
    trail: Option<&Trail>,
    stream: usize,
    piece: Range<u64>,
    asked: &(dyn Fn(u64) -> bool + Sync),
) -> Vec<(u64, u64)> {
    let Some(info) = trace.streams().get(stream) else {
        return Vec::new();
    };
    let sites = SiteNames::default();
    let listing = Listing::new(trace, "", trail, &sites);
    let kinds = BoxKind::by_predicate(trace);
    let wanted = Numbers(asked);
    let cx = Context {
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
    let rows = piece.rows.iter();
    rows.filter_map(|row| Some((row.step.number, row.facts.took?)))
        .collect()
}
