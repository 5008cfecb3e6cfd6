//! Waiting: time in which the thread had no processor, because of a mutex, a queue, input, a
//! sleep, or the scheduler.
//!
//! It is elapsed time less processor time of the thread. After a stretch that is long enough both
//! clocks are read; what they differ by since they were read last is a box of `system:waiting/0`
//! in that stretch. Shorter stretches hold no wait of a length that is recorded. Garbage
//! collections and stack shifts ([`crate::collections`]) are processor time, so nothing is in
//! both.
//!
//! The system counts for how long a thread could have run and had no processor. That part is a box
//! of `system:preempted/0`.
//!
//! The clocks are the system's, and Prolog is not asked: so they are read also where it may not
//! be called.

use portmortem_tracer::clock;

/// What is shorter stays with whoever ran. To wait for another thread or process takes longer:
/// some 50 µs if a mutex is handed on, some 100 µs and more if the scheduler takes the processor
/// away.
const SHORTEST_NS: u64 = 20_000;

/// Both clocks are read again if that took longer: the thread lost the processor in between.
const TOGETHER_NS: u64 = 5_000;

/// So often all is read again if the thread loses the processor meanwhile.
const ATTEMPTS: u32 = 4;

/// How long one engine has waited, from one reading of the clocks to the next.
pub(crate) struct Waiting {
    last: ClockReading,
    /// For how long the thread could have run without a processor, in ns, when that was read
    /// last. `None` if the system does not say.
    ready_ns: Option<u64>,
    /// What it has waited since then and was too little to be recorded, for whatever reason.
    unrecorded_ns: u64,
}

/// Time without a processor, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waited {
    /// The thread waited for something; for a processor, too, if it is not known for how long.
    pub(crate) blocked_ns: u64,
    /// It could have run. `None` if that is not known.
    pub(crate) preempted_ns: Option<u64>,
}

impl Waited {
    pub(crate) fn all_ns(self) -> u64 {
        self.blocked_ns + self.preempted_ns.unwrap_or(0)
    }
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct ClockReading {
    /// Which thread's: engines move between threads.
    thread: usize,
    elapsed_ns: u64,
    processor_ns: u64,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        let (last, ready_ns) = ClockReading::with_ready();
        Self {
            last,
            ready_ns,
            unrecorded_ns: 0,
        }
    }

    /// How long the thread has waited since it was asked last; `None` if that is too little to be
    /// recorded, or was another thread.
    pub(crate) fn since_last(&mut self) -> Option<Waited> {
        let now = ClockReading::now();
        let waited = now.waited_since(&self.last);
        if let Some(waited) = waited.filter(|&waited| waited < SHORTEST_NS) {
            self.last = now;
            self.unrecorded_ns += waited;
            return None;
        }
        let (now, ready_ns) = ClockReading::with_ready();
        let last = std::mem::replace(&mut self.last, now);
        let before = std::mem::replace(&mut self.ready_ns, ready_ns);
        let unrecorded = std::mem::take(&mut self.unrecorded_ns);
        let waited = now.waited_since(&last)?;
        let ready = before.zip(ready_ns);
        let preempted = ready.map(|(before, now)| {
            let grown = now.saturating_sub(before);
            grown.saturating_sub(unrecorded).min(waited)
        });
        Some(Waited {
            blocked_ns: waited - preempted.unwrap_or(0),
            preempted_ns: preempted,
        })
    }
}

/// For how long the calling thread could have run and had no processor, in ns. Signal-safe.
/// `None` if the system does not say.
fn ready_ns() -> Option<u64> {
    let mut text = [0_u8; 64];
    // SAFETY: a path that ends with a zero, and room for so many bytes; the descriptor is closed.
    let length = unsafe {
        let file = libc::open(
            c"/proc/thread-self/schedstat".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        if file < 0 {
            return None;
        }
        let length = libc::read(file, text.as_mut_ptr().cast(), text.len());
        libc::close(file);
        usize::try_from(length).ok()?
    };
    // Time on a processor, time ready for one, and how often it had one.
    let mut numbers = text[..length].split(|&byte| byte == b' ');
    let ran: u64 = number(numbers.next()?)?;
    let ready = number(numbers.next()?)?;
    // A kernel that does not count says zero.
    (ran > 0).then_some(ready)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

impl ClockReading {
    /// For how long the thread had no processor since an earlier reading, in ns. `None` if that
    /// was another thread's.
    fn waited_since(&self, earlier: &Self) -> Option<u64> {
        // The place of a thread that has ended may be that of a new one, which has run for less.
        let worked = self.processor_ns.checked_sub(earlier.processor_ns)?;
        let elapsed = self.elapsed_ns.saturating_sub(earlier.elapsed_ns);
        (self.thread == earlier.thread).then(|| elapsed.saturating_sub(worked))
    }

    /// Both clocks, and for how long the thread was ready at that moment: it is read before and
    /// after, and again if the thread lost the processor in between.
    fn with_ready() -> (Self, Option<u64>) {
        let mut ready = ready_ns();
        for _ in 0..ATTEMPTS {
            let (now, before) = (Self::now(), ready);
            ready = ready_ns();
            if ready == before {
                return (now, ready);
            }
        }
        (Self::now(), ready)
    }

    fn now() -> Self {
        let mut reading = Self::once();
        for _ in 0..2 {
            if clock::monotonic_ns().saturating_sub(reading.elapsed_ns) <= TOGETHER_NS {
                break;
            }
            reading = Self::once();
        }
        reading
    }

    fn once() -> Self {
        thread_local! {
            static HERE: u8 = const { 0 };
        }
        Self {
            thread: HERE.with(|here| std::ptr::from_ref(here) as usize),
            elapsed_ns: clock::monotonic_ns(),
            processor_ns: clock::thread_cpu_ns(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// What the test reads encloses what is asked: so these bounds hold however long the thread
    /// loses the processor in between.
    #[test]
    fn a_sleep_is_waiting() {
        let nap = Duration::from_millis(30);
        let (begin, worked_before) = (clock::monotonic_ns(), clock::thread_cpu_ns());
        let mut waiting = Waiting::new();
        thread::sleep(nap);
        let waited = waiting.since_last().unwrap();
        let elapsed = clock::monotonic_ns() - begin;
        let worked = clock::thread_cpu_ns() - worked_before;
        let least = (nap.as_nanos() as u64).saturating_sub(worked);
        assert!(
            (least..=elapsed).contains(&waited.all_ns()),
            "{waited:?} of {elapsed}, worked {worked}"
        );
    }

    #[test]
    fn work_is_none() {
        let begin = clock::monotonic_ns();
        let mut waiting = Waiting::new();
        let worked = clock::thread_cpu_ns();
        while clock::thread_cpu_ns() < worked + 5_000_000 {}
        let waited = waiting.since_last();
        let waited = waited.map_or(0, Waited::all_ns);
        let elapsed = clock::monotonic_ns() - begin;
        assert!(waited + 5_000_000 <= elapsed, "{waited} of {elapsed}");
    }

    #[test]
    fn nothing_is_known_of_another_thread() {
        let mut waiting = Waiting::new();
        thread::sleep(Duration::from_millis(5));
        let waited = thread::scope(|scope| scope.spawn(|| waiting.since_last()).join().unwrap());
        assert_eq!(waited, None);
    }
}
