//! The choice stack of a chunk: redos and their causes, and cuts.
//!
//! Entries of before the chunk are not known. What happens to them is remembered
//! ([`super::choices::Taken`]), and [`super::join`] finds out what it means.

use super::boxes::{ArenaBox, PhysicalBox, RootId, entries, logical};
use super::choices::{Choice, Failed, Live, Reason, RedoCause, Resumed, Who};
use super::chunk::Chunk;
use super::ledger::{CUT, NONE, REDO, add};
use crate::figures::Port;

impl Chunk<'_> {
    /// A redo meant the innermost box on the way; those around it were re-entered with it.
    #[cold]
    pub(super) fn redo_around(&mut self) {
        while let Some(choice) = self.choices.last()
            && self.is_called_by_active(choice.id)
        {
            self.redo();
        }
    }

    /// Work so far that is not undone.
    pub(super) fn live(&self) -> Live {
        let outermost = self.levels.last().map_or(NONE, |root| {
            self.roots.get(*root as usize).map_or(NONE, |root| root.id)
        });
        let idle = if outermost == NONE {
            0
        } else {
            self.boxes.get(outermost).own
        };
        let level = self.levels.len() as u32;
        self.thrown_away.live(self.clock.now().work(), idle, level)
    }

    /// The cause of a redo.
    fn failing(&mut self) -> RedoCause {
        let active = |who| RedoCause {
            who,
            reason: Reason::WasActive,
        };
        let cause = match self.last_failure.now() {
            Failed::Nothing | Failed::Held(_) => active(self.inner()),
            Failed::Driver => RedoCause {
                who: self.inner(),
                reason: Reason::Drove,
            },
            Failed::Exited(root) => RedoCause {
                who: self.inner(),
                reason: Reason::CalledRoot(root),
            },
            Failed::Left(left) => active(Who::After {
                left,
                exited: self.level_left(left),
                active: self.boxes.get(self.active).root,
            }),
            Failed::AsBefore => active(Who::Before),
            Failed::Known(cause) => cause,
        };
        self.last_failure.known(cause);
        cause
    }

    /// The last of the first `left` roots that were active when the chunk began.
    pub(super) fn level_left(&self, left: u32) -> RootId {
        let last = (left as usize).checked_sub(1);
        last.and_then(|last| self.levels.get(last))
            .copied()
            .unwrap_or(NONE)
    }

    /// Whose failure matters once the active box has exited, which no failure before does.
    #[inline(always)]
    pub(super) fn failed_after_exit(&self) -> Failed {
        match self.boxes.get(self.active) {
            PhysicalBox { root, .. } if *root != NONE => Failed::Exited(*root),
            boxed => Failed::after(boxed.then_fails),
        }
    }

    /// The predicate of the innermost visible logical box.
    fn inner(&mut self) -> Who {
        let place = self.place();
        let predicate = self.ledger.places[place as usize].predicate;
        if predicate != self.ledger.begin() {
            Who::Predicate(predicate)
        } else if self.whole {
            Who::Inner(0)
        } else {
            Who::Inner(self.boxes.get(self.active).root)
        }
    }

    pub(super) fn redo(&mut self) {
        let cause = self.failing();
        let Some(choice) = self.choices.pop() else {
            return if self.whole {
                self.redo_unknown(cause)
            } else {
                self.redo_root(cause)
            };
        };
        self.reenter(&choice, cause);
    }

    /// Whether a box was called by the active one; not by one before whose room that now has.
    #[inline(always)]
    fn is_called_by_active(&self, id: ArenaBox) -> bool {
        let boxed = self.boxes.get(id);
        let active = self.boxes.get(self.active);
        boxed.parent == self.active
            && (active.called <= boxed.called || boxed.moved && self.is_moved_below(id, active))
    }

    /// Enters a box again that exited in the chunk.
    pub(super) fn reenter(&mut self, choice: &Choice, cause: RedoCause) {
        let from = self.place();
        let caller = self.ledger.places[from as usize].predicate;
        let elsewhere = !self.is_called_by_active(choice.id);
        let moved = self.boxes.get(self.active).moved || self.boxes.get(choice.id).moved;
        if elsewhere || moved {
            self.redo_elsewhere(choice.id, elsewhere);
        }
        let boxed = self.boxes.get(choice.id);
        self.unusual |= boxed.root != NONE && caller != self.ledger.begin();
        self.active = choice.id;
        self.depth += 1;
        self.max_depth = self.max_depth.max(self.depth);
        if boxed.arc == NONE {
            return self.pass_hidden(choice.id, Port::Redo);
        }
        let live = self.live();
        let boxed = self.boxes.get_mut(choice.id);
        let id = boxed.arc;
        let resumed = match boxed.root {
            NONE => Resumed::By(id),
            root => Resumed::Root(root),
        };
        self.thrown_away.redo((cause, resumed), &live, &choice.live);
        self.on_chain.leave_by(caller, id);
        boxed.since = self.clock.now();
        let lived = self.clock.now().all - choice.pushed;
        for (entry, boxes) in entries(boxed) {
            let figures = self.ledger.figures(entry.arc);
            figures.ports.redos += boxes;
            add(&mut figures.lifetime, lived.wrapping_mul(boxes));
            let goal = self.ledger.arcs[entry.arc as usize].callable;
            self.on_chain.enter(goal, entry);
        }
        if let Some(chain) = &mut boxed.chain {
            self.ledger.figures(id).count_shared(REDO, 0, 1);
            for (at, ((entry, _), group)) in chain.groups.iter_mut().enumerate() {
                group.entered = self.clock.now().times(group.boxes);
                let covered = group.boxes - u64::from(at == chain.last);
                self.ledger
                    .figures(entry.arc)
                    .count_shared(REDO, group.boxes, covered);
            }
            for (predicate, arc) in chain.rest.iter() {
                self.on_chain.leave_by(*predicate, *arc);
            }
        }
    }

    /// Enters a box again that exited before the chunk.
    #[cold]
    fn redo_root(&mut self, cause: RedoCause) {
        // Its caller is of before the chunk, too, and did not depart since.
        let place = self.place();
        self.unusual |= self.ledger.places[place as usize].above != NONE;
        let live = self.live();
        let later = self.ledger.loose_arc();
        self.ledger.figures(later).ports.redos += 1;
        let root = self.roots.len() as RootId;
        self.active = self.new_root(PhysicalBox {
            parent: self.active,
            arc: later,
            exited: true,
            since: self.clock.now(),
            ..PhysicalBox::EMPTY
        });
        self.depth += 1;
        self.max_depth = self.max_depth.max(self.depth);
        self.choices
            .redo_before(root, self.clock.now().all, live, cause);
        // From here on live work is counted from what it was when the box exited.
        let exited = Live {
            level: live.level,
            ..Live::default()
        };
        self.thrown_away.undo(&live, &exited);
    }

    pub(super) fn cut(&mut self, count: u32) {
        // Control went on to the cut after whatever failed before it.
        self.last_failure.forget();
        let by = self.inner();
        let left = self.choices.height() - i64::from(count);
        let active = self.boxes.get(self.active);
        self.taken_below |= active.root == NONE && left < active.base;
        self.unusual |= self.taken_below && !self.whole;
        for done in 0..count {
            let Some(choice) = self.choices.pop() else {
                if self.whole {
                    self.cut_unknown(count - done, by);
                } else {
                    let now = self.clock.now().all;
                    self.choices.cut_before(count - done, now, by);
                }
                return;
            };
            let lived = self.clock.now().all - choice.pushed;
            let boxed = self.boxes.get(choice.id);
            for (at, (id, boxes)) in logical(boxed).enumerate() {
                let figures = self.ledger.figures(id);
                figures.ports.cuts += boxes;
                if at > 0 {
                    figures.count_shared(CUT, boxes, 0);
                }
                add(&mut figures.lifetime, lived.wrapping_mul(boxes));
                let arc = &self.ledger.arcs[id as usize];
                let cut = if arc.from == NONE {
                    Who::Outer(boxed.root)
                } else {
                    Who::Predicate(arc.predicate)
                };
                self.thrown_away.cut(by, cut, boxes);
            }
            if boxed.is_hidden() {
                self.pass_hidden(choice.id, Port::Cut);
            }
            // Boxes inside of it may stay until the next event: large cuts are several events.
            if self.boxes.get(choice.id).root == NONE {
                self.boxes.release(choice.id);
            }
        }
    }
}
