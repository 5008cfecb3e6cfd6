//! Things that threads use one after the other, in an order that is fixed before.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A thing that is used by turns, which are numbered from 0.
///
/// Every turn must pass, used or not, or those after it wait forever.
pub(super) struct InOrder<T> {
    current: Mutex<Turn<T>>,
    passed: Condvar,
}

struct Turn<T> {
    turn: usize,
    thing: T,
}

impl<T> InOrder<T> {
    pub(super) fn new(thing: T) -> Self {
        Self {
            current: Mutex::new(Turn { turn: 0, thing }),
            passed: Condvar::new(),
        }
    }

    /// Waits for a turn and uses the thing.
    pub(super) fn at_turn<R>(&self, turn: usize, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.wait_for(turn).thing)
    }

    /// Ends a turn, after waiting for it; nothing if it has passed already.
    pub(super) fn pass(&self, turn: usize) {
        let mut current = self.wait_for(turn);
        if current.turn == turn {
            current.turn += 1;
            self.passed.notify_all();
        }
    }

    pub(super) fn into_inner(self) -> T {
        let current = self.current.into_inner();
        current.unwrap_or_else(PoisonError::into_inner).thing
    }

    // A thread that panics ends the program with an error when it is joined; until then the others
    // must not be left waiting, so poison is of no interest.
    fn wait_for(&self, turn: usize) -> MutexGuard<'_, Turn<T>> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        self.passed
            .wait_while(current, |current| current.turn < turn)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn turns_are_in_order_whoever_comes_first() {
        let list = InOrder::new(Vec::new());
        thread::scope(|scope| {
            for turn in (0..20).rev() {
                let list = &list;
                scope.spawn(move || {
                    thread::sleep(Duration::from_micros(turn % 3 * 100));
                    if turn % 5 != 0 {
                        list.at_turn(turn as usize, |list| list.push(turn));
                    }
                    list.pass(turn as usize);
                    list.pass(turn as usize);
                });
            }
        });
        let expected: Vec<u64> = (0..20).filter(|turn| turn % 5 != 0).collect();
        assert_eq!(list.into_inner(), expected);
    }
}
