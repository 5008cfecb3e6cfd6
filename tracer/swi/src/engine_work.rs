//! Garbage collections and stack shifts as predicates of their own.
//!
//! The engine does both between two ports and calls no predicate for them, but it counts the
//! processor time that they take, by thread. After a stretch that is long enough for one,
//! [`crate::asking`] asks for both counts (`statistics/2`: the foreign interface has no other way);
//! by what they have grown there was a box of `system:garbage_collect/0` or `system:stack_shift/0`,
//! at the beginning of the stretch. When in the stretch it was is unknown, but every tick of it
//! is out of the row of whoever ran. Several collections in one stretch are one box. What the
//! thread waited ([`crate::waiting`]) is such a box, too, after the others: they never add up to
//! more than the stretch. So is what the recorder took to instrument the program
//! ([`Engine::note_set_up`]), when that is over; what was collected meanwhile lies before it.
//!
//! Stubs read the counts where the engine keeps them ([`mod@crate::native::pauses`]), without a
//! question, and before every event that comes late enough for a collection: see
//! [`Engine::note_pauses`].
//!
//! It is asked at all ports but the pruning of a guard, where Prolog may not be called. What a
//! stretch that ends there had of collections and shifts stays with whoever ran; the next port
//! asks then, so that it is not taken from another box. Of waiting it is asked there, too.

use std::ops::Range;

use portmortem_tracer::clock;
use portmortem_tracer::format::{ENGINE_WORK, Event, INSTRUMENT, PREEMPTED, WAITING};

use crate::collections::{KINDS, SHORT_TICKS, SHORTEST_NS};
use crate::engine::Engine;
use crate::{native, recording};

impl Engine {
    /// Whether something may have been collected since the last event.
    pub(crate) fn is_long(&self, now: u64) -> bool {
        now.saturating_sub(self.stream.last_tick()) >= self.collections.due && !self.quiet
    }

    /// A port that cannot ask was recorded, the one before it at `before`.
    #[inline]
    pub(crate) fn passed_unasked(&mut self, before: u64) {
        if self.stream.last_tick().saturating_sub(before) >= self.collections.due {
            self.collections.lose_track();
        }
    }

    /// Until the answer comes, no other question is asked: None while one is. The recording that
    /// it is for.
    pub(crate) fn begin_question(&mut self) -> Option<u32> {
        let due = std::mem::replace(&mut self.collections.due, u64::MAX);
        (due != u64::MAX).then_some(self.epoch())
    }

    /// Records what was collected and waited since the last event: at a stub, before an event
    /// that does not come soon after that. `active` tells whether a box was active meanwhile.
    #[cold]
    pub(crate) fn note_pauses(&mut self, active: bool) {
        self.note_pauses_since(0, active);
    }

    /// [`Engine::note_pauses`], of what has come since a tick.
    fn note_pauses_since(&mut self, begin: u64, active: bool) {
        let now = clock::ticks();
        let found = native::pauses();
        let before = std::mem::replace(&mut self.collections.seconds, found);
        // What came before the first event is in no stretch between two.
        if before != found && self.stream.last_tick() > 0 {
            self.note_growth(before, found, begin..now);
        }
        if self.is_long(now) {
            self.collections.settle_due(now);
            self.note_waiting_since(begin, active);
        }
    }

    /// The recorder begins to do something to the program while a box is active, which that does
    /// not do itself. The tick.
    pub(crate) fn begin_set_up(&mut self) -> u64 {
        let now = clock::ticks();
        if self.may_hold_pauses(self.stream.last_tick(), now) {
            self.note_pauses(true);
        }
        clock::ticks()
    }

    /// Records what the recorder has done to the program since [`Engine::begin_set_up`], as a box
    /// of its own.
    pub(crate) fn note_set_up(&mut self, began: u64) {
        if self.quiet {
            return;
        }
        if self.collections.set_up_id.is_none() {
            self.collections.set_up_id = recording::with(|current| current.pseudo(INSTRUMENT));
        }
        let Some(predicate) = self.collections.set_up_id else {
            return;
        };
        let now = clock::ticks();
        if self.may_hold_pauses(began, now) {
            self.note_pauses_since(began, true);
        }
        let begin = began.max(self.stream.last_tick());
        self.stream.record_at(Event::Call { predicate }, begin);
        self.stream.record_at(Event::ExitDet, clock::ticks());
    }

    /// Whether so long a stretch may hold a collection or a wait that is recorded.
    fn may_hold_pauses(&self, begin: u64, now: u64) -> bool {
        now.saturating_sub(begin) >= SHORT_TICKS && !self.quiet
    }

    /// [`Engine::note_waiting`], at a port where no more can be asked for.
    pub(crate) fn note_waiting_if_long(&mut self) {
        if self.is_long(clock::ticks()) {
            self.note_waiting(self.has_active_box());
        }
    }

    /// Whether a box is active, of ports or of stubs; not within the handler of a stub.
    pub(crate) fn has_active_box(&self) -> bool {
        // SAFETY: a shadow is never freed, and only handlers change it.
        self.boxes.any_active() || unsafe { (*self.shadow).is_active() }
    }

    /// Records what the thread waited in the stretch that ends now: the last thing before the
    /// event that ends it. A thread that waits for the processor mostly does so where it has just
    /// called the system, and so between the two, had the system still to be called.
    pub(crate) fn note_waiting(&mut self, active: bool) {
        self.note_waiting_since(0, active);
    }

    /// [`Engine::note_waiting`], of what has come since a tick.
    fn note_waiting_since(&mut self, begin: u64, active: bool) {
        let Some(waited) = self.collections.waiting.since_last() else {
            return;
        };
        // Time while no box is open, or before the first event, is in no box.
        if self.quiet || !active || self.stream.last_tick() == 0 {
            return;
        }
        let ids = self.collections.waiting_ids.or_else(|| {
            let told = waited.preempted_ns.is_some();
            recording::with(|current| {
                let preempted = told.then(|| current.pseudo(PREEMPTED));
                (current.pseudo(WAITING), preempted)
            })
        });
        self.collections.waiting_ids = ids;
        let Some((blocked, preempted)) = ids else {
            return;
        };
        let now = clock::ticks();
        let rate = self.collections.rate(now);
        let ticks = |ns: u64| (ns as f64 * rate) as u64;
        match (preempted, waited.preempted_ns) {
            (Some(preempted), Some(ns)) => {
                self.note_work(blocked, ticks(waited.blocked_ns), begin..now);
                self.note_work(preempted, ticks(ns), begin..now);
            }
            _ => self.note_work(blocked, ticks(waited.all_ns()), begin..now),
        }
    }

    /// Records that so many ticks of a stretch were what a predicate stands for; not more than
    /// the rest of the stretch, which begins behind the last event.
    fn note_work(&self, predicate: u32, ticks: u64, stretch: Range<u64>) {
        let begin = stretch.start.max(self.stream.last_tick());
        let ticks = ticks.min(stretch.end.saturating_sub(begin));
        if ticks > 0 && !self.quiet {
            self.stream.record_at(Event::Call { predicate }, begin);
            self.stream.record_at(Event::ExitDet, begin + ticks);
        }
    }

    /// Records what was collected in the stretch that ends at `now`.
    pub(crate) fn note_collections(&mut self, found: Option<[f64; KINDS]>, now: u64) {
        self.collections.settle_due(now);
        let before = std::mem::replace(&mut self.collections.seconds, found);
        self.note_growth(before, found, 0..now);
    }

    /// Records by how much the counts have grown in a stretch.
    fn note_growth(
        &self,
        before: Option<[f64; KINDS]>,
        found: Option<[f64; KINDS]>,
        stretch: Range<u64>,
    ) {
        let (Some(before), Some(seconds)) = (before, found) else {
            return;
        };
        let rate = self.collections.rate(stretch.end);
        for kind in 0..KINDS {
            let ns = (seconds[kind] - before[kind]) * 1e9;
            if ns < SHORTEST_NS as f64 || self.quiet {
                continue;
            }
            let id = recording::with(|current| current.pseudo(ENGINE_WORK[kind]));
            if let Some(id) = id {
                self.note_work(id, (ns * rate) as u64, stretch.clone());
            }
        }
    }
}
