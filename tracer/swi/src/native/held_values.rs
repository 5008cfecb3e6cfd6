//! The arguments of open calls whose values are recorded (`--values`), so that they can be looked
//! at when the box exits.
//!
//! What is kept is a copy of the cells of the arguments, as they were at the call. A last call uses
//! the frame of the arguments again, so they are not to be found there. A cell refers to what is
//! older than the box, and that stays where it is while the box is open: until garbage is
//! collected, which changes [`HeldArguments::collections`]. What a cell says is not known after
//! that.

use rustc_hash::FxHashMap;

use super::open_box::{StubBox, mark};
use super::stack::ElementStack;
use crate::credit::ValueCredit;

/// The values of so many arguments are recorded.
pub(crate) const MOST: usize = 8;

/// Of so many calls in one box values are recorded when it exits: of the last one and the first.
pub(crate) const MOST_CALLS: usize = 2;

/// So many cells of an argument are looked at.
const MOST_CELLS: usize = 1 << 16;

/// So many boxes have held arguments. Of the calls of others there are no values at their exits.
const MOST_BOXES: usize = 1 << 14;

/// Of which predicates values are recorded, and how many calls there were of them.
#[derive(Debug)]
pub(crate) struct KeptValues {
    /// They are of some.
    pub(crate) is_wanted: bool,
    /// By definition, and by number in the trace: whether they are of that predicate.
    pub(crate) predicates: FxHashMap<(usize, u32), bool>,
    /// By goal, or predicate where that is not known.
    goals: FxHashMap<u32, LookedAt>,
    /// What may be spent on looking at all of them.
    all: ValueCredit,
}

/// What was looked at of a goal.
#[derive(Debug)]
struct LookedAt {
    calls: u64,
    credit: ValueCredit,
}

/// The first calls of a goal are looked at, and of each [`PERIOD`] after that so many that follow
/// one another.
const FIRST: u64 = 1 << 11;
const TOGETHER: u64 = 1 << 6;
const PERIOD: u64 = 1 << 12;

impl KeptValues {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self {
            is_wanted,
            predicates: FxHashMap::default(),
            goals: FxHashMap::default(),
            all: ValueCredit::OF_ALL,
        }
    }

    fn of_goal(&mut self, goal: u32) -> &mut LookedAt {
        self.goals.entry(goal).or_insert(LookedAt {
            calls: 0,
            credit: ValueCredit::OF_GOAL,
        })
    }

    /// One more call of a goal: whether it is looked at.
    pub(crate) fn looks_at(&mut self, goal: u32) -> bool {
        let of_goal = self.of_goal(goal);
        let before = of_goal.calls;
        of_goal.calls += 1;
        before < FIRST || before % PERIOD < TOGETHER
    }

    /// Looks at a value of a goal, at no more cells than it is told: how many these were comes back
    /// with the result.
    pub(crate) fn look<T>(&mut self, goal: u32, look: impl FnOnce(usize) -> (T, usize)) -> T {
        let all = self.all;
        let credit = &mut self.of_goal(goal).credit;
        let (value, cells) = look(credit.cells(all, MOST_CELLS));
        credit.spend(cells);
        self.all.spend(cells);
        value
    }
}

/// What was seen of the arguments of a call, as bits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SeenArguments {
    /// Those that are ground: they are the same at the exit.
    pub(crate) settled: u8,
    /// Those that are a name around a variable: what that becomes is looked at.
    pub(crate) places: u8,
}

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldArguments {
    pub(crate) cells: [usize; MOST],
    /// How many there are.
    pub(crate) arity: usize,
    /// What the event of the call names.
    pub(crate) goal: u32,
    /// What was seen of them at the call.
    pub(crate) seen: SeenArguments,
    /// What tells whether the cells still mean the same.
    pub(crate) collections: u64,
    pub(crate) stacks: usize,
    /// Where the global stack ended: what lies above is newer than the call.
    pub(crate) top: usize,
}

/// Those of all boxes, by number: of its last call, then of its first one if there are several.
#[derive(Debug, Default)]
pub(crate) struct HeldValues(FxHashMap<u32, [Option<HeldArguments>; MOST_CALLS]>);

impl HeldValues {
    /// A call in the box of this number, which is a last call if the box is marked already. False
    /// if there is no room for it.
    pub(crate) fn hold(
        &mut self,
        number: u32,
        held: HeldArguments,
        boxes: &ElementStack<StubBox>,
    ) -> bool {
        let is_marked = |number: u32| {
            let open = (number as usize) < boxes.len();
            open && boxes[number as usize].marks & mark::VALUES != 0
        };
        if self.0.len() >= MOST_BOXES && !self.0.contains_key(&number) {
            // Boxes that failed are still there.
            self.0.retain(|&number, _| is_marked(number));
            if self.0.len() >= MOST_BOXES {
                return false;
            }
        }
        let calls = self.0.entry(number).or_default();
        if is_marked(number) {
            if calls[1].is_none() {
                calls[1] = calls[0];
            }
            calls[0] = Some(held);
        } else {
            *calls = [Some(held), None];
        }
        true
    }

    /// What was seen of the arguments of the last call in the box of this number.
    pub(crate) fn saw(&mut self, number: u32, seen: SeenArguments) {
        if let Some([Some(held), _]) = self.0.get_mut(&number) {
            held.seen = seen;
        }
    }

    /// Those of the box of this number.
    pub(crate) fn of(&self, number: u32) -> [Option<HeldArguments>; MOST_CALLS] {
        self.0.get(&number).copied().unwrap_or_default()
    }

    /// The box of this number is left for good.
    pub(crate) fn forget(&mut self, number: u32) {
        self.0.remove(&number);
    }
}
