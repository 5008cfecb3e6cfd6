//! Which goal a port stands for.
//!
//! Every goal of an instrumented clause has a predicate of its own as its call port, without
//! arguments: that is cheaper than to pass a number. All of them are the same function here,
//! which finds the goal by the predicate that the engine has called. The table only grows: code
//! that refers to a goal may run for ever.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use portmortem_tracer::Ready;

/// A goal of an instrumented clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InstrumentedGoal {
    /// The recording that its clause was instrumented for.
    pub(crate) epoch: u32,
    /// What its events carry: the id of the site, or that of the predicate called.
    pub(crate) id: u32,
    /// The id of the predicate called.
    pub(crate) predicate: u32,
    /// Its call or last call, whichever the port records, if the fast path can record it.
    pub(crate) ready: Option<Ready>,
}

struct GoalSlot {
    /// What the engine passes for the port; 0 where the slot is free.
    port: AtomicUsize,
    /// Stored before the port is, and never again.
    goal: UnsafeCell<MaybeUninit<InstrumentedGoal>>,
}

/// Open addressing; at most a quarter of the slots are taken.
struct GoalTable {
    slots: Box<[GoalSlot]>,
    /// What is left of a hash behind so many bits is a slot.
    shift: u32,
}

// SAFETY: a goal is stored by whoever holds `COUNT`, before its port is, which tells others of it.
unsafe impl Sync for GoalTable {}

impl GoalTable {
    fn new(size: usize) -> Self {
        let free = || GoalSlot {
            port: AtomicUsize::new(0),
            goal: UnsafeCell::new(MaybeUninit::uninit()),
        };
        Self {
            slots: (0..size).map(|_| free()).collect(),
            shift: u64::BITS - size.ilog2(),
        }
    }

    #[inline(always)]
    fn start(&self, port: usize) -> usize {
        // By the golden ratio: definitions are some hundred bytes apart.
        ((port as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    #[inline(always)]
    fn get(&self, port: usize) -> Option<&InstrumentedGoal> {
        let mut at = self.start(port);
        loop {
            // SAFETY: there are 2^(64 - shift) slots.
            let slot = unsafe { self.slots.get_unchecked(at) };
            let found = slot.port.load(Ordering::Acquire);
            if found == port {
                // SAFETY: stored before the port was.
                return Some(unsafe { (*slot.goal.get()).assume_init_ref() });
            }
            if found == 0 {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// # Safety
    /// The caller holds [`COUNT`], and the port is not in the table.
    unsafe fn put(&self, port: usize, goal: InstrumentedGoal) {
        let mut at = self.start(port);
        while self.slots[at].port.load(Ordering::Relaxed) != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        // SAFETY: no thread reads it before the port is stored, and no other one stores.
        unsafe { (*self.slots[at].goal.get()).write(goal) };
        self.slots[at].port.store(port, Ordering::Release);
    }
}

static TABLE: AtomicPtr<GoalTable> = AtomicPtr::new(ptr::null_mut());
/// How many goals are in it; held by whoever adds one.
static COUNT: Mutex<usize> = Mutex::new(0);

const FIRST_SIZE: usize = 1024;

/// The goal of a port.
#[inline(always)]
pub(crate) fn goal(port: usize) -> Option<&'static InstrumentedGoal> {
    // SAFETY: null or a table that is never freed.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }?.get(port)
}

/// Makes the goal of a port known. Every port has one goal for ever.
pub(crate) fn add(port: usize, goal: InstrumentedGoal) {
    let Ok(mut count) = COUNT.lock() else { return };
    // SAFETY: null or a table that is never freed.
    let mut table = unsafe { TABLE.load(Ordering::Acquire).as_ref() };
    let size = table.map_or(0, |table| table.slots.len());
    if *count >= size / 4 {
        let larger = GoalTable::new((size * 2).max(FIRST_SIZE));
        // The old table stays: another thread may be looking at it.
        for slot in table.map_or(&[][..], |table| &table.slots) {
            let port = slot.port.load(Ordering::Relaxed);
            if port != 0 {
                // SAFETY: `COUNT` is ours; the goal was stored before its port was.
                unsafe { larger.put(port, (*slot.goal.get()).assume_init_read()) };
            }
        }
        let larger = Box::into_raw(Box::new(larger));
        TABLE.store(larger, Ordering::Release);
        // SAFETY: just made, and never freed.
        table = unsafe { larger.as_ref() };
    }
    if let Some(table) = table {
        // SAFETY: `COUNT` is ours.
        unsafe { table.put(port, goal) };
        *count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_found_by_its_port() {
        let goal_of = |n: u32| InstrumentedGoal {
            epoch: 1,
            id: n,
            predicate: n / 2,
            ready: Ready::call(n),
        };
        let port_of = |n: u32| 0x7f00_0000_1000 + n as usize * 176;
        for n in 0..5000 {
            assert_eq!(goal(port_of(n)), None);
            add(port_of(n), goal_of(n));
            assert_eq!(goal(port_of(n)), Some(&goal_of(n)));
        }
        for n in 0..5000 {
            assert_eq!(goal(port_of(n)), Some(&goal_of(n)));
        }
    }
}
