//! One box, from its call to where it is gone.

use portmortem_tracer::format::Event;

use super::Listing;
use crate::machine::WayOut;
use crate::trace::StreamInfo;
use crate::walk::{Step, Walk};

/// What became of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// The stream that it is in.
    pub stream: u32,
    /// Its call.
    pub called: Step,
    /// The number of the last event that concerns it.
    pub last: u64,
    /// How its last activation ended.
    pub outcome: WayOut,
    /// A cut took its last choicepoint.
    pub was_cut: bool,
    /// It can still be re-entered at the end of the stream.
    pub is_pending: bool,
    /// Redos into it.
    pub redos: u64,
    /// Boxes that it called.
    pub calls: u64,
    /// Ticks of its activations that ended, pauses left out.
    pub ticks: u64,
}

impl Listing<'_> {
    /// The boxes that the event of this number called, at most one in each stream that is listed.
    /// The stream is read until the box is gone.
    #[must_use]
    pub fn lives(&self, boxed: u64) -> Vec<Life> {
        let streams = self.trace.streams().iter();
        let listed = streams.filter(|stream| self.has_stream(stream.id));
        listed
            .filter_map(|stream| self.life(stream, boxed))
            .collect()
    }

    fn life(&self, stream: &StreamInfo, boxed: u64) -> Option<Life> {
        let mut walk = Walk::from(self.trace, self.trail, stream, boxed);
        let called = walk
            .next()
            .filter(|step| step.number == boxed && matches!(step.event, Event::Call { .. }))?;
        let mut life = Life {
            stream: stream.id,
            called,
            last: boxed,
            outcome: WayOut::Open,
            was_cut: false,
            is_pending: false,
            redos: 0,
            calls: 0,
            ticks: 0,
        };
        let (mut last_tick, mut paused) = (called.tick, 0);
        let mut began = called.tick;
        // How many boxes could be re-entered when it had become the newest of them.
        let mut lies = None;
        loop {
            let pauses = walk.moment().is_paused();
            let Some(step) = walk.next() else {
                life.is_pending = lies.is_some();
                return Some(life);
            };
            if pauses {
                paused += step.tick.saturating_sub(last_tick);
            }
            last_tick = step.tick;
            let running = step.tick.saturating_sub(paused);
            let of = step.of.map(|(of, _)| of);
            let calls = matches!(step.event, Event::Call { .. });
            if calls && of.is_some_and(|of| of.caller == Some(boxed)) {
                life.calls += 1;
            }
            if of.is_some_and(|of| of.called == boxed || of.caller == Some(boxed)) {
                life.last = step.number;
            }
            if matches!(step.event, Event::Gap { .. }) {
                life.outcome = WayOut::Lost;
                life.last = step.number;
                return Some(life);
            }
            let choices = walk.moment().choices().len();
            if lies.is_some_and(|height| choices < height) {
                life.last = step.number;
                lies = None;
                if step.event != Event::Redo {
                    life.was_cut = true;
                    return Some(life);
                }
                life.redos += 1;
                life.outcome = WayOut::Open;
                began = running;
                continue;
            }
            if of.is_none_or(|of| of.called != boxed) {
                continue;
            }
            life.outcome = match step.event {
                Event::ExitDet => WayOut::ExitDet,
                Event::ExitNondet => WayOut::ExitNondet,
                Event::Fail => WayOut::Fail,
                Event::Exception => WayOut::Exception,
                _ => continue,
            };
            life.ticks += running.saturating_sub(began);
            if life.outcome != WayOut::ExitNondet {
                return Some(life);
            }
            lies = Some(choices);
        }
    }
}
