//! One box, from its call to where it is gone.

use super::Listing;
use crate::machine::{At, Class, Observer, OpenBox, WayOut};
use crate::observed_walk::ObservedWalk;
use crate::trace::StreamInfo;
use crate::walk::{Step, Walk};

/// What became of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoxHistory {
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

/// Follows the box that an event calls. It keeps with each box whether it is that one.
#[derive(Debug, Default)]
struct HistoryKeeper {
    /// The event.
    boxed: u64,
    last: u64,
    /// When its activation began.
    began: u64,
    /// How its last activation ended; `None` while it is active.
    outcome: Option<WayOut>,
    was_cut: bool,
    redos: u64,
    calls: u64,
    ticks: u64,
    /// It will not be active again.
    is_gone: bool,
}

impl Observer for HistoryKeeper {
    type Kept = bool;

    fn called(&mut self, at: &At, open: &OpenBox, _: Option<&bool>) -> bool {
        self.calls += u64::from(open.caller == Some(self.boxed));
        if at.number == self.boxed {
            self.began = at.now;
        }
        at.number == self.boxed
    }

    fn left(&mut self, at: &At, is_it: &mut bool, way_out: WayOut) {
        if !*is_it {
            return;
        }
        if way_out != WayOut::Lost {
            self.ticks += at.now.saturating_sub(self.began);
        }
        (self.outcome, self.last) = (Some(way_out), at.number);
        self.is_gone = way_out != WayOut::ExitNondet;
    }

    fn re_entered(&mut self, at: &At, is_it: &mut bool, _: Option<&bool>) {
        if *is_it {
            self.redos += 1;
            (self.outcome, self.began, self.last) = (None, at.now, at.number);
        }
    }

    fn cut(&mut self, at: &At, is_it: bool) {
        if is_it {
            (self.was_cut, self.is_gone, self.last) = (true, true, at.number);
        }
    }

    fn lost(&mut self, at: &At, is_it: bool) {
        if is_it {
            (self.outcome, self.is_gone) = (Some(WayOut::Lost), true);
            self.last = at.number;
        }
    }
}

impl Listing<'_> {
    /// The boxes that the event of this number called, at most one in each stream that is listed.
    /// The stream is read until the box is gone.
    #[must_use]
    pub fn histories(&self, boxed: u64) -> Vec<BoxHistory> {
        let streams = self.trace.streams().iter();
        let listed = streams.filter(|stream| self.has_stream(stream.id));
        listed
            .filter_map(|stream| self.history(stream, boxed))
            .collect()
    }

    fn history(&self, stream: &StreamInfo, boxed: u64) -> Option<BoxHistory> {
        let walk = Walk::from(self.trace, self.trail, stream, boxed);
        let mut walk = ObservedWalk::seeded(walk, |_| false, |_| false);
        let mut keeper = HistoryKeeper {
            boxed,
            last: boxed,
            ..HistoryKeeper::default()
        };
        let called = walk
            .next(&mut keeper)
            .filter(|step| step.number == boxed && matches!(step.class(), Class::Enter(_)))?;
        while !keeper.is_gone
            && let Some(step) = walk.next(&mut keeper)
        {
            let concerns = |of: OpenBox| of.called == boxed || of.caller == Some(boxed);
            if step.of.is_some_and(|(of, _)| concerns(of)) {
                keeper.last = step.number;
            }
        }
        Some(BoxHistory {
            stream: stream.id,
            called,
            last: keeper.last,
            outcome: keeper.outcome.unwrap_or(WayOut::Open),
            was_cut: keeper.was_cut,
            is_pending: !keeper.is_gone && keeper.outcome == Some(WayOut::ExitNondet),
            redos: keeper.redos,
            calls: keeper.calls,
            ticks: keeper.ticks,
        })
    }
}
