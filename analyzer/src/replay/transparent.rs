//! Transparent boxes, hidden or out of focus: their work is that of the visible box around them.

use super::boxes::ArenaBox;
use super::chunk::Chunk;
use super::ledger::{NONE, PlaceId, add};
use crate::figures::Port;
use crate::trace::{BoxKind, Callable, PredicateIndex};

impl Chunk<'_> {
    pub(super) fn note_engine_work(&mut self, stretch: u64) {
        let boxed = self.boxes.get(self.active);
        if !boxed.is_hidden() {
            return;
        }
        match boxed.kind {
            BoxKind::Call { .. } => {}
            BoxKind::EngineWork | BoxKind::Autoload => {
                add(&mut self.ledger.hidden(boxed.place).engine_ticks, stretch);
            }
            BoxKind::Waiting => {
                add(&mut self.ledger.hidden(boxed.place).waiting_ticks, stretch);
            }
            BoxKind::SetUp => {
                add(&mut self.ledger.hidden(boxed.place).set_up_ticks, stretch);
            }
        }
    }

    /// Notes time of a visible box that is spent in another centre, by hidden ones.
    pub(super) fn note_center(&mut self, visible: ArenaBox, stretch: u64) {
        let place = self.boxes.get(self.active).place;
        let boxed = self.boxes.get(visible);
        let innermost = boxed.chain.as_ref().and_then(|chain| {
            let ((entry, _), _) = chain.groups.get(chain.last)?;
            Some(entry.arc)
        });
        let arc = innermost.unwrap_or(boxed.arc);
        if arc == NONE || place == NONE {
            return;
        }
        let own = self.ledger.arcs[arc as usize].place;
        if own != place {
            let spent = self.ledger.elsewhere.entry((own, place)).or_default();
            add(spent, stretch);
        }
    }

    /// The box itself, or the visible one whose work it does.
    pub(super) fn visible(&self, id: ArenaBox) -> ArenaBox {
        let boxed = self.boxes.get(id);
        if boxed.is_hidden() { boxed.waits } else { id }
    }

    /// Whether the box `id`, called by another or departed into by itself, is transparent.
    pub(super) fn is_transparent(
        &mut self,
        caller: ArenaBox,
        id: ArenaBox,
        callable: Callable,
    ) -> bool {
        let predicate = self.ledger.callee(callable);
        self.sight.call(caller, id, predicate)
    }

    /// Counts the call of a hidden box, and says what it is. Its caller and the box itself are at these places.
    #[cold]
    pub(super) fn call_hidden(
        &mut self,
        places: (PlaceId, PlaceId),
        predicate: PredicateIndex,
    ) -> BoxKind {
        let kind = self.scope.kind_of(predicate);
        self.count_hidden(Port::Call, kind, places);
        kind
    }

    /// Counts a port of a hidden box at one place for it and at the other for its caller.
    pub(super) fn count_hidden(
        &mut self,
        port: Port,
        kind: BoxKind,
        (caller, place): (PlaceId, PlaceId),
    ) {
        self.ledger.hidden(place).count_inside(port, kind);
        self.ledger.hidden(caller).outside[port as usize] += 1;
    }

    /// Counts a port of a hidden box other than its call.
    #[cold]
    pub(super) fn pass_hidden(&mut self, id: ArenaBox, port: Port) {
        let boxed = self.boxes.get(id);
        let (kind, place) = (boxed.kind, boxed.place);
        // The caller of a box that is cut may be gone.
        let caller = match port {
            Port::Cut => place,
            _ => self.boxes.get(boxed.parent).place,
        };
        self.count_hidden(port, kind, (caller, place));
    }

    /// The active box departs into a hidden one, whose work is that of the visible box before.
    #[cold]
    pub(super) fn tail_hidden(&mut self, predicate: PredicateIndex) {
        let from = self.place();
        let place = self.ledger.place_of_hidden(from, predicate);
        let kind = self.scope.kind_of(predicate);
        self.count_hidden(Port::Tail, kind, (from, place));
        if place != from {
            self.settle(self.active);
            let active = self.boxes.get_mut(self.active);
            active.place = place;
            if let Some(chain) = &mut active.chain {
                chain.again = NONE;
            }
        }
    }
}
