//! From where to where a box is active, however far its ends lie from what is seen of it.

use crate::machine::Class;
use crate::trace::{StreamInfo, Trace};
use crate::walk::{Step, Trail, Walk};

/// Events between two looks at whether anybody still wants to know.
const STRIDE: u64 = 1 << 12;

impl SeenOfBox {
    fn begin(&mut self, here: (u64, u64), depth: usize) {
        self.began = Some(here);
        self.depth = Some(depth);
        self.is_active = true;
    }
}

/// One activation of a box: from a call or redo to the way out. Last calls go on in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation {
    /// Its first event: number and tick. `None` if that was lost.
    pub began: Option<(u64, u64)>,
    /// Its last one; `None` if it is open at the end of the stream or events were lost.
    pub ended: Option<(u64, u64)>,
}

/// Goes from checkpoint to checkpoint: only those parts of a stream are read in which the box may
/// begin or end.
struct ActivationSearch<'t, 'g> {
    trace: &'t Trace,
    trail: Option<&'t Trail>,
    stream: &'t StreamInfo,
    /// The place of the stream in the trace.
    place: usize,
    called: u64,
    goes_on: &'g dyn Fn() -> bool,
}

/// What a part of a stream says of a box.
#[derive(Debug, Clone, Copy, Default)]
struct SeenOfBox {
    /// The last time that it began.
    began: Option<(u64, u64)>,
    /// The first time after `from` that it ended; a gap ends it without a last event.
    ended: Option<Option<(u64, u64)>>,
    /// It is active after the last event.
    is_active: bool,
    /// How many boxes are or were around it.
    depth: Option<usize>,
}

impl Activation {
    /// The activation that is active right after an event, or that ends by it, of the box that
    /// another event called. `stream` is a place in [`Trace::streams`]. `None` if there is none, or
    /// if `goes_on` says no, which is asked now and then.
    ///
    /// Without a trail the stream is read from its beginning.
    #[must_use]
    pub fn at(
        trace: &Trace,
        trail: Option<&Trail>,
        stream: usize,
        called: u64,
        number: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let search = ActivationSearch {
            trace,
            trail,
            stream: trace.streams().get(stream)?,
            place: stream,
            called,
            goes_on,
        };
        search.around(number)
    }
}

impl ActivationSearch<'_, '_> {
    /// Numbers of the events after which places follow.
    fn places(&self) -> Vec<u64> {
        let starts = self.trail.map_or(&[][..], |trail| trail.starts(self.place));
        starts.iter().map(|start| start.event).collect()
    }

    /// Whether the box with so many around it is untouched between the place before this one and
    /// it.
    fn stays(&self, place: usize, depth: usize) -> bool {
        let starts = self.trail.map_or(&[][..], |trail| trail.starts(self.place));
        let (Some(start), Some(before)) = (
            starts.get(place),
            place.checked_sub(1).and_then(|before| starts.get(before)),
        ) else {
            return false;
        };
        before.height().saturating_sub(start.active.popped) > depth as u64
    }

    fn around(&self, number: u64) -> Option<Activation> {
        let places = self.places();
        // The first place after the event.
        let after = places.partition_point(|place| *place <= number);
        let from = after.checked_sub(1).map_or(0, |before| places[before]);
        let mut here = self.read(from, number.saturating_add(1), number)?;
        if !here.is_active && here.ended.is_none() {
            return None;
        }
        let mut began = here.began;
        let depth = here.depth;
        let mut before = after;
        // Back to where it began; it was active at the place before all the way from there.
        while began.is_none() && before > 0 {
            before -= 1;
            if depth.is_some_and(|depth| self.stays(before, depth)) {
                continue;
            }
            let from = before.checked_sub(1).map_or(0, |before| places[before]);
            began = self.read(from, places[before], u64::MAX)?.began;
        }
        // On to where it ends.
        let mut next = after;
        let mut from = number.saturating_add(1);
        while here.ended.is_none() {
            let until = places.get(next).copied().unwrap_or(u64::MAX);
            let untouched = from
                == places
                    .get(next.wrapping_sub(1))
                    .copied()
                    .unwrap_or(u64::MAX)
                && depth.is_some_and(|depth| self.stays(next, depth));
            if !untouched {
                here = self.read(from, until, from)?;
            }
            if next >= places.len() {
                break;
            }
            from = until;
            next += 1;
        }
        Some(Activation {
            began,
            ended: here.ended.flatten(),
        })
    }

    /// Reads from one event to before another; ends count from `ends_from` on. `None` if it is
    /// no longer wanted.
    fn read(&self, from: u64, until: u64, ends_from: u64) -> Option<SeenOfBox> {
        let mut walk = Walk::from(self.trace, self.trail, self.stream, from);
        let depth = self.position(&walk);
        let mut seen = SeenOfBox {
            is_active: depth.is_some(),
            depth,
            ..SeenOfBox::default()
        };
        let mut height = walk.moment().active().len();
        let mut read = 0_u64;
        while walk.next_number() < until {
            let Some(step) = walk.next() else { break };
            read += 1;
            if read.is_multiple_of(STRIDE) && !(self.goes_on)() {
                return None;
            }
            if step.number >= until {
                break;
            }
            self.see(&step, &walk, height, ends_from, &mut seen);
            if seen.ended.is_some() {
                break;
            }
            height = walk.moment().active().len();
        }
        Some(seen)
    }

    fn see(&self, step: &Step, walk: &Walk, height: usize, ends_from: u64, seen: &mut SeenOfBox) {
        let here = (step.number, step.tick);
        let own = step.of.filter(|(of, _)| of.called == self.called);
        match (step.class(), own) {
            (Class::Leave(_), Some(_)) => {
                if step.number >= ends_from {
                    seen.ended = Some(Some(here));
                } else {
                    seen.began = None;
                }
                seen.is_active = false;
            }
            (Class::Lose(_), _) => {
                if step.number >= ends_from {
                    seen.ended = Some(None);
                }
                (seen.began, seen.is_active) = (None, false);
            }
            _ if seen.is_active => {}
            // A redo may enter several boxes, one inside the other.
            (Class::ReEnter, _) => {
                let active = walk.moment().active();
                let entered = active.newest().take(active.len().saturating_sub(height));
                let depths = (0..active.len()).rev();
                let found = depths.zip(entered).find(|(_, of)| of.called == self.called);
                if let Some((depth, _)) = found {
                    seen.begin(here, depth);
                }
            }
            (_, Some((_, depth))) => seen.begin(here, depth as usize),
            _ => {}
        }
    }

    fn position(&self, walk: &Walk) -> Option<usize> {
        let active = walk.moment().active();
        let depths = (0..active.len()).rev();
        let mut found = depths.zip(active.newest());
        found
            .find(|(_, of)| of.called == self.called)
            .map(|(depth, _)| depth)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use portmortem_tracer::format::Event;
    use proptest::prelude::*;

    use super::*;
    use crate::replay::tests::{long_script, long_trace};
    use crate::trace::mapping::Mapping;
    use crate::walk::Scan;

    /// By a plain reading: the last begin up to an event, and the first end since.
    fn plain(steps: &[(Step, Vec<u64>)], at: usize, called: u64) -> Option<Activation> {
        let is_active = |at: usize| steps[at].1.contains(&called);
        let leaves = |at: usize| {
            let (step, _) = &steps[at];
            let own = step.of.is_some_and(|(of, _)| of.called == called);
            own && matches!(
                step.event,
                Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception
            )
        };
        let key = |at: usize| (steps[at].0.number, steps[at].0.tick);
        if !is_active(at) && !leaves(at) {
            return None;
        }
        let last = if is_active(at) {
            at
        } else {
            at.checked_sub(1)?
        };
        let began = (0..=last).rev().take_while(|at| is_active(*at)).last();
        let ended = (at..steps.len()).find(|at| leaves(*at) || !is_active(*at));
        Some(Activation {
            began: began.map(key),
            ended: ended.filter(|at| leaves(*at)).map(key),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn whatever_is_skipped(script in long_script(), picks in prop::collection::vec(any::<prop::sample::Index>(), 40)) {
            let bytes = long_trace(&script);
            let trace = Trace::read(Mapping::from(bytes), Path::new("a.pmt")).unwrap();
            let scan = Scan { every: 500, trace: &trace, follow: Arc::default(), progress: None, cancel: None };
            let trail = scan.all();
            for (place, stream) in trace.streams().iter().enumerate().take(2) {
                let mut walk = Walk::from(&trace, None, stream, 0);
                let mut steps = Vec::new();
                while let Some(step) = walk.next() {
                    steps.push((step, walk.moment().active().newest().map(|of| of.called).collect::<Vec<_>>()));
                }
                for pick in &picks {
                    let Some(last) = steps.len().checked_sub(1) else { continue };
                    let at = pick.index(last + 1);
                    let (step, active) = &steps[at];
                    let own = step.of.map(|(of, _)| of.called);
                    for called in active.iter().copied().chain(own).take(6) {
                        let expected = plain(&steps, at, called);
                        for trail in [None, Some(&trail)] {
                            let found = Activation::at(&trace, trail, place, called, step.number, &|| true);
                            prop_assert_eq!(found, expected, "box {} at {}", called, step.number);
                        }
                    }
                }
            }
        }
    }
}
