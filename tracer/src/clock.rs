//! Time as the recorder reads it: raw ticks for every event, nanoseconds now and then.
//!
//! Reading the clock is most of what an event costs, so events carry the counter of the processor
//! as it is. Blocks carry pairs of both clocks, and the reader turns ticks into nanoseconds.

use crate::format::ClockSource;

/// The clock of events. It may go backwards when a thread changes processors; the writer clamps that.
#[inline(always)]
#[must_use]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86_64 processor has the instruction, and Linux and macOS let programs use it.
    unsafe {
        core::arch::x86_64::_rdtsc()
    }
    #[cfg(target_arch = "aarch64")]
    {
        let ticks: u64;
        // SAFETY: reads a register that the system makes readable for programs; no memory, no stack.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    monotonic_ns()
}

/// The monotonic clock in nanoseconds.
#[must_use]
pub fn monotonic_ns() -> u64 {
    nanoseconds(libc::CLOCK_MONOTONIC)
}

/// Processor time of the calling thread so far, in nanoseconds. It asks the system, which takes 0.2 µs.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn nanoseconds(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for the answer; the call cannot fail for these clocks.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    (time.tv_sec as u64)
        .wrapping_mul(1_000_000_000)
        .wrapping_add(time.tv_nsec as u64)
}

/// Where [`ticks`] come from on this machine.
#[must_use]
pub fn source() -> ClockSource {
    if cfg!(target_arch = "x86_64") {
        ClockSource::Rdtsc
    } else if cfg!(target_arch = "aarch64") {
        ClockSource::CntvctEl0
    } else {
        ClockSource::Monotonic
    }
}

/// Ticks per second as the machine states them, 0 if it does not.
#[must_use]
pub fn ticks_per_second() -> u64 {
    #[cfg(target_arch = "x86_64")]
    return stated_by_cpuid();
    #[cfg(target_arch = "aarch64")]
    {
        let frequency: u64;
        // SAFETY: as for the counter itself.
        unsafe {
            core::arch::asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack));
        }
        frequency
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    1_000_000_000
}

/// Leaf 15h gives the counter as a ratio of a crystal; hypervisors give it in kHz in 40000010h.
#[cfg(target_arch = "x86_64")]
#[allow(
    unused_unsafe,
    reason = "the intrinsics became safe after our oldest toolchain"
)]
fn stated_by_cpuid() -> u64 {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    const HYPERVISOR_PRESENT: u32 = 1 << 31;
    const HYPERVISOR: u32 = 0x4000_0000;
    // SAFETY: every x86_64 processor has the instruction, and each leaf is asked for only after
    // its existence was.
    unsafe {
        if __cpuid(0).eax >= 0x15 {
            let ratio = __cpuid_count(0x15, 0);
            if ratio.eax != 0 && ratio.ebx != 0 && ratio.ecx != 0 {
                return u64::from(ratio.ecx) * u64::from(ratio.ebx) / u64::from(ratio.eax);
            }
        }
        let virtual_machine = __cpuid(1).ecx & HYPERVISOR_PRESENT != 0;
        if virtual_machine
            && (HYPERVISOR + 0x10..HYPERVISOR + 0x100).contains(&__cpuid(HYPERVISOR).eax)
        {
            return u64::from(__cpuid(HYPERVISOR + 0x10).eax) * 1000;
        }
    }
    0
}

/// Both clocks at one moment.
#[derive(Debug, Clone, Copy)]
pub struct BothClocks {
    /// Of the clock of events.
    pub tick: u64,
    /// Of the monotonic clock, in nanoseconds.
    pub ns: u64,
}

/// Reads both clocks close together: the best of three tries, for a thread may lose the processor
/// between the two.
#[must_use]
pub fn pair() -> BothClocks {
    let mut best = BothClocks { tick: 0, ns: 0 };
    let mut best_width = u64::MAX;
    for _ in 0..3 {
        let before = ticks();
        let ns = monotonic_ns();
        let width = ticks().wrapping_sub(before);
        if width < best_width {
            best = BothClocks {
                tick: before + width / 2,
                ns,
            };
            best_width = width;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_advance_at_the_stated_rate() {
        let measured = || {
            let first = pair();
            std::thread::sleep(std::time::Duration::from_millis(20));
            let second = pair();
            let (ticks, ns) = (second.tick - first.tick, second.ns - first.ns);
            assert!(ns >= 20_000_000);
            ticks as f64 * 1e9 / ns as f64
        };
        let stated = ticks_per_second() as f64;
        // A thread that loses the processor between two clocks is measured wrong; a wrong rate never agrees.
        let agrees = (0..100).any(|_| (measured() / stated - 1.0).abs() < 0.1);
        assert!(stated == 0.0 || agrees, "{} for {stated}", measured());
    }
}
