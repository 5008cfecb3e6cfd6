//! Which goal a port stands for.
//!
//! Every goal of an instrumented clause has a predicate of its own as its call port, without arguments: that is cheaper than to pass a number. All of
//! them are the same function here, which finds the goal by the predicate that the engine has called. The table only grows:
//! code that refers to a goal may run for ever.

use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// A goal of an instrumented clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Goal {
    /// The recording that its clause was instrumented for.
    pub(crate) epoch: u32,
    /// What its events carry: the id of the site, or that of the predicate called.
    pub(crate) id: u32,
    /// The id of the predicate called.
    pub(crate) predicate: u32,
}

struct Slot {
    /// What the engine passes for the port; 0 where the slot is free.
    port: AtomicUsize,
    goal: AtomicPtr<Goal>,
}

/// Open addressing; at most half of the slots are taken.
struct Table {
    slots: Box<[Slot]>,
}

impl Table {
    fn new(size: usize) -> Self {
        let free = || Slot {
            port: AtomicUsize::new(0),
            goal: AtomicPtr::new(ptr::null_mut()),
        };
        Self {
            slots: (0..size).map(|_| free()).collect(),
        }
    }

    #[inline(always)]
    fn start(&self, port: usize) -> usize {
        // Definitions are some hundred bytes apart.
        (port >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> 20 & (self.slots.len() - 1)
    }

    #[inline(always)]
    fn get(&self, port: usize) -> Option<&'static Goal> {
        let mut at = self.start(port);
        loop {
            let slot = &self.slots[at];
            let found = slot.port.load(Ordering::Acquire);
            if found == port {
                // SAFETY: stored before the port was, and never freed.
                return unsafe { slot.goal.load(Ordering::Relaxed).as_ref() };
            }
            if found == 0 {
                return None;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn put(&self, port: usize, goal: *mut Goal) {
        let mut at = self.start(port);
        while self.slots[at].port.load(Ordering::Relaxed) != 0 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        self.slots[at].goal.store(goal, Ordering::Relaxed);
        self.slots[at].port.store(port, Ordering::Release);
    }
}

static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());
/// How many goals are in it; held by whoever adds one.
static COUNT: Mutex<usize> = Mutex::new(0);

const FIRST_SIZE: usize = 1024;

/// The goal of a port.
#[inline(always)]
pub(crate) fn goal(port: usize) -> Option<&'static Goal> {
    // SAFETY: null or a table that is never freed.
    unsafe { TABLE.load(Ordering::Acquire).as_ref() }?.get(port)
}

/// Makes the goal of a port known. Every port has one goal for ever.
pub(crate) fn add(port: usize, goal: Goal) {
    let Ok(mut count) = COUNT.lock() else { return };
    let mut table = TABLE.load(Ordering::Acquire);
    // SAFETY: null or a table that is never freed.
    let size = unsafe { table.as_ref() }.map_or(0, |table| table.slots.len());
    if *count >= size / 2 {
        let larger = Table::new(if size == 0 { FIRST_SIZE } else { size * 2 });
        // SAFETY: as above. The old table stays: another thread may be looking at it.
        for slot in unsafe { table.as_ref() }.map_or(&[][..], |table| &table.slots) {
            let port = slot.port.load(Ordering::Relaxed);
            if port != 0 {
                larger.put(port, slot.goal.load(Ordering::Relaxed));
            }
        }
        table = Box::into_raw(Box::new(larger));
        TABLE.store(table, Ordering::Release);
    }
    // SAFETY: made above, or earlier.
    unsafe { &*table }.put(port, Box::into_raw(Box::new(goal)));
    *count += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_found_by_its_port() {
        let goal_of = |n: u32| Goal {
            epoch: 1,
            id: n,
            predicate: n / 2,
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
