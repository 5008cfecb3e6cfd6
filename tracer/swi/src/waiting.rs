//! Waiting: time in which the thread had no processor, because of a mutex, a queue, input, a
//! sleep, or the scheduler.
//!
//! It is elapsed time less processor time of the thread. After a stretch that is long enough both
//! clocks are read; what they differ by since they were read last is a box of `system:waiting/0`
//! in that stretch. Shorter stretches hold no wait of a length that is recorded. Garbage
//! collections and stack shifts ([`crate::collections`]) are processor time, so nothing is in
//! both.
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

/// How long one engine has waited, from one reading of the clocks to the next.
pub(crate) struct Waiting {
    last: Reading,
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
struct Reading {
    /// Which thread's: engines move between threads.
    thread: usize,
    elapsed_ns: u64,
    processor_ns: u64,
}

impl Waiting {
    pub(crate) fn new() -> Self {
        Self {
            last: Reading::now(),
        }
    }

    /// How long the thread has waited since it was asked last, in ns; 0 if that is too little to
    /// be recorded, or was another thread.
    pub(crate) fn since_last(&mut self) -> u64 {
        let now = Reading::now();
        let last = std::mem::replace(&mut self.last, now);
        if now.thread != last.thread {
            return 0;
        }
        // The place of a thread that has ended may be that of a new one, which has run for less.
        let Some(worked) = now.processor_ns.checked_sub(last.processor_ns) else {
            return 0;
        };
        let elapsed = now.elapsed_ns.saturating_sub(last.elapsed_ns);
        let waited = elapsed.saturating_sub(worked);
        if waited < SHORTEST_NS { 0 } else { waited }
    }
}

impl Reading {
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
        let waited = waiting.since_last();
        let elapsed = clock::monotonic_ns() - begin;
        let worked = clock::thread_cpu_ns() - worked_before;
        let least = (nap.as_nanos() as u64).saturating_sub(worked);
        assert!(
            (least..=elapsed).contains(&waited),
            "{waited} of {elapsed}, worked {worked}"
        );
    }

    #[test]
    fn work_is_none() {
        let begin = clock::monotonic_ns();
        let mut waiting = Waiting::new();
        let worked = clock::thread_cpu_ns();
        while clock::thread_cpu_ns() < worked + 5_000_000 {}
        let waited = waiting.since_last();
        let elapsed = clock::monotonic_ns() - begin;
        assert!(waited + 5_000_000 <= elapsed, "{waited} of {elapsed}");
    }

    #[test]
    fn nothing_is_known_of_another_thread() {
        let mut waiting = Waiting::new();
        thread::sleep(Duration::from_millis(5));
        let waited = thread::scope(|scope| scope.spawn(|| waiting.since_last()).join().unwrap());
        assert_eq!(waited, 0);
    }
}
