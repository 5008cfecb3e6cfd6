//! Signals: a flag for the thread that draws, and a thread that ends the program if that one is
//! busy.
//!
//! The thread that draws looks at the flag whenever it looks for keys, and ends the program in
//! order. Where it does not within [`PATIENCE`], it computes or waits for the terminal: then the
//! other thread gives the terminal back, and the signal ends the program. One of the two does so,
//! and the other one does nothing any more ([`Signals::claim`]).
//!
//! ^C and ^\ are signals too, not keys: a key is only read when nothing else is done.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpgrp, getpid, getsid, kill_process};
use rustix::termios::{QueueSelector, tcflush};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::iterator::Signals as Arrivals;
use signal_hook::low_level::emulate_default_handler;

use super::{is_left, leave};

/// Signals that end the program.
const ENDING: [i32; 4] = [SIGTERM, SIGHUP, SIGINT, SIGQUIT];

/// How long the thread that draws may take to end the program.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long it may take after that to finish a frame; what computes for longer is not waited for.
const FRAME: Duration = Duration::from_secs(1);

/// How long it may take to give the terminal back. Mostly it takes no time.
const MOST_SECONDS: u64 = 30;

/// How often something is looked for that another thread or program does.
const OFTEN: Duration = Duration::from_millis(30);

/// What signals asked for and is not done yet.
#[derive(Debug, Clone)]
pub(super) struct Signals {
    /// The signal that asked for the end; 0 if none did.
    end: Arc<AtomicUsize>,
    /// To stop until the shell's `fg`.
    stop: Arc<AtomicBool>,
    /// To go on after that.
    go_on: Arc<AtomicBool>,
    /// Another program has the terminal.
    lent: Arc<AtomicBool>,
    /// A thread is ending the program.
    claimed: Arc<AtomicBool>,
    /// The thread that draws does nothing any more.
    stopped: Arc<AtomicBool>,
}

impl Signals {
    /// Takes the signals from now on.
    pub(super) fn listen() -> io::Result<Self> {
        let signals = Self {
            end: Arc::default(),
            stop: Arc::default(),
            go_on: Arc::default(),
            lent: Arc::default(),
            claimed: Arc::default(),
            stopped: Arc::default(),
        };
        for signal in ENDING {
            flag::register_usize(signal, Arc::clone(&signals.end), signal as usize)?;
        }
        flag::register(SIGTSTP, Arc::clone(&signals.stop))?;
        flag::register(SIGCONT, Arc::clone(&signals.go_on))?;
        let (arrivals, watched) = (Arrivals::new(ENDING)?, signals.clone());
        thread::Builder::new().spawn(move || watched.end_if_busy(arrivals))?;
        Ok(signals)
    }

    /// The signal that asked for the end.
    pub(super) fn end(&self) -> Option<i32> {
        let signal = self.end.load(Ordering::Relaxed);
        i32::try_from(signal).ok().filter(|&signal| signal > 0)
    }

    /// Ends the program by a signal unless the thread that draws has done so in a moment.
    fn end_if_busy(&self, mut arrivals: Arrivals) {
        for signal in arrivals.forever() {
            while self.lent.load(Ordering::Relaxed) {
                thread::sleep(OFTEN);
            }
            thread::sleep(PATIENCE);
            if self.end().is_none() {
                // It was meant for the program that had the terminal.
                continue;
            }
            if self.claim() {
                self.stop_drawing();
                give_back();
            } else {
                // Nothing is left to be done then but to give memory back, which may take long.
                comes_true(is_left, Duration::from_secs(MOST_SECONDS));
                thread::sleep(PATIENCE);
            }
            let _ = emulate_default_handler(signal);
        }
    }

    /// Whether no other thread is ending the program; from now on this one is.
    fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::Relaxed)
    }

    /// Called by the thread that draws before it ends the program by a signal: it does not come
    /// back from here if another one does that.
    pub(super) fn end_here(&self) {
        if !self.claim() {
            self.stopped.store(true, Ordering::Relaxed);
            loop {
                thread::park();
            }
        }
    }

    /// Waits until the thread that draws has finished its frame. It may wait for a terminal that
    /// takes nothing.
    fn stop_drawing(&self) {
        let begin = Instant::now();
        while !self.stopped.load(Ordering::Relaxed) && begin.elapsed() < FRAME {
            make_room();
            thread::sleep(OFTEN);
        }
    }

    /// Lets another program have the terminal. ^C and ^\ are its own meanwhile; other signals end
    /// this program afterwards.
    pub(super) fn lend<T>(&self, run: impl FnOnce() -> T) -> T {
        self.lent.store(true, Ordering::Relaxed);
        let done = run();
        if let Some(SIGINT | SIGQUIT) = self.end() {
            self.end.store(0, Ordering::Relaxed);
        }
        self.lent.store(false, Ordering::Relaxed);
        done
    }

    /// Stops the process if that was asked for; whether the terminal must be entered again.
    pub(super) fn stop_and_go_on(&self) -> bool {
        if self.stop.swap(false, Ordering::Relaxed) && has_job_control() {
            leave();
            self.go_on.store(false, Ordering::Relaxed);
            let stopped = kill_process(getpid(), Signal::STOP).is_ok();
            // Another thread may be the first to see the signal.
            while stopped && !self.go_on.load(Ordering::Relaxed) && self.end().is_none() {
                thread::sleep(OFTEN);
            }
            self.go_on.store(true, Ordering::Relaxed);
        }
        self.go_on.swap(false, Ordering::Relaxed)
    }
}

/// Gives the terminal back. That waits as long as the terminal takes nothing.
fn give_back() {
    let leaving = thread::spawn(leave);
    for _ in 0..MOST_SECONDS {
        if comes_true(|| leaving.is_finished(), Duration::from_secs(1)) {
            return;
        }
        make_room();
    }
}

/// Drops what was drawn and not taken.
fn make_room() {
    let _ = tcflush(io::stdout(), QueueSelector::OFlush);
    // A writer that sleeps is not told of the room: any signal that is caught makes it look again.
    let _ = kill_process(getpid(), Signal::CONT);
}

/// Waits until something is so, at most so long; whether it is.
fn comes_true(is_so: impl Fn() -> bool, within: Duration) -> bool {
    let begin = Instant::now();
    loop {
        if is_so() {
            return true;
        }
        if begin.elapsed() >= within {
            return false;
        }
        thread::sleep(OFTEN);
    }
}

/// Whether there is a shell that can continue what was stopped: it puts each job in a process group
/// of its own.
pub(super) fn has_job_control() -> bool {
    getsid(None).is_ok_and(|session| session != getpgrp())
}
