//! What one engine has collected and waited so far, and what a recording asks of that.

use std::ffi::{CStr, c_int};
use std::ptr;

use portmortem_tracer::clock::{self, BothClocks};

use crate::ffi::{self, FALSE, Foreign, TRUE};
use crate::waiting::Waiting;

/// Shorter stretches are not asked about, so that asking does not show in programs with many long
/// built-in calls.
const LONG_NS: u64 = 20_000;

/// What takes less is left to whoever ran: so that programs without collections have the same
/// events on every run, however often another process interrupts them.
pub(crate) const SHORTEST_NS: u64 = 10_000;

/// Stretches of fewer ticks hold none of either: collections are looked for no sooner
/// (`Stream::call_if_soon`).
pub(crate) const SHORT_TICKS: u64 = 1 << 12;

/// How long both clocks must have run for their ratio to say anything.
const RATIO_NS: u64 = 10_000;

/// Kinds of what the engine counts.
pub(crate) const KINDS: usize = 2;
/// Keys of `statistics/2`, in the order of [`portmortem_tracer::format::ENGINE_WORK`], whose
/// first names stand for them: processor seconds so far.
const KEYS: [&CStr; KINDS] = [c"shift_time", c"gctime"];

/// What one engine has collected and waited so far.
pub(crate) struct Collections {
    /// At the last port that asked. Unknown at first, and when recorded and unrecorded work may
    /// both have added to it.
    pub(crate) seconds: Option<[f64; KINDS]>,
    /// Both clocks when the recording of this engine began: they say how long a tick is.
    pub(crate) began: BothClocks,
    /// A stretch of so many ticks is asked about: 0 if any is, `u64::MAX` while a question is
    /// being asked.
    pub(crate) due: u64,
    pub(crate) waiting: Waiting,
    /// The predicates of its boxes, for something and for a processor, once there was one.
    pub(crate) waiting_ids: Option<(u32, Option<u32>)>,
    /// The same of set-up.
    pub(crate) set_up_id: Option<u32>,
}

/// Why a port that has asked is not to go on.
pub(crate) enum Stop {
    /// The handler of a signal threw.
    Exception,
    /// It ended the recording.
    Ended,
}

impl Stop {
    /// What the port is to answer at a call or an exit.
    pub(crate) fn answer(self) -> Foreign {
        match self {
            Self::Exception => FALSE,
            Self::Ended => TRUE,
        }
    }
}

impl Collections {
    /// `seconds` is what the engine has counted before.
    pub(crate) fn new(seconds: Option<[f64; KINDS]>) -> Self {
        Self {
            seconds,
            began: clock::pair(),
            due: 0,
            waiting: Waiting::new(),
            waiting_ids: None,
            set_up_id: None,
        }
    }

    /// The counts grow, and it cannot be asked for how much: the next port is to ask, only to
    /// know them again.
    pub(crate) fn lose_track(&mut self) {
        self.seconds = None;
        if self.due != u64::MAX {
            self.due = 0;
        }
    }

    /// From now on it is known which stretches are long.
    pub(crate) fn settle_due(&mut self, now: u64) {
        self.due = (LONG_NS as f64 * self.rate(now)) as u64;
    }

    /// Ticks per nanosecond; 1 while that is not known. `now` was read before: if the thread lost
    /// the processor since, they are too few, never too many.
    pub(crate) fn rate(&self, now: u64) -> f64 {
        let ns = clock::monotonic_ns().saturating_sub(self.began.ns);
        if ns < RATIO_NS {
            return 1.0;
        }
        now.saturating_sub(self.began.tick) as f64 / ns as f64
    }
}

/// The counts of the engine, from Prolog; `None` if they cannot be had. An exception is left to
/// the caller.
pub(crate) fn ask() -> Option<[f64; KINDS]> {
    let mut seconds = [0.0; KINDS];
    // SAFETY: terms of a frame of our own. To discard it leaves nothing on the stacks, and undoes
    // what a handler has bound, as the engine does; but it would undo an exception as well.
    unsafe {
        let statistics = ffi::PL_predicate(c"statistics".as_ptr(), 2, c"system".as_ptr());
        let frame = ffi::PL_open_foreign_frame();
        let arguments = ffi::PL_new_term_refs(2);
        let found = KEYS.iter().zip(&mut seconds).all(|(key, seconds)| {
            ffi::truth(ffi::PL_put_atom_chars(arguments, key.as_ptr()))
                && ffi::truth(ffi::PL_put_variable(arguments + 1))
                && ffi::truth(ffi::PL_call_predicate(
                    ptr::null_mut(),
                    PASS_ON,
                    statistics,
                    arguments,
                ))
                && ffi::truth(ffi::PL_get_float(arguments + 1, seconds))
        });
        if found {
            ffi::PL_discard_foreign_frame(frame);
        } else {
            ffi::PL_close_foreign_frame(frame);
        }
        found.then_some(seconds)
    }
}

/// `PL_Q_NODEBUG | PL_Q_PASS_EXCEPTION`
const PASS_ON: c_int = 0x0004 | 0x0010;
