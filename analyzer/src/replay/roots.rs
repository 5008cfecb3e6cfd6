//! Books what boxes of before a chunk did in it, once it is known which boxes they are.

use super::boxes::{PhysicalBox, entries};
use super::clock::Ticks;
use super::ledger::{Figures, Ledger, OUTCOMES, WayOut, add};

/// Books that the logical boxes of a box are left; `own` ticks of it were in the chunk, where it
/// may have departed into others.
pub(super) fn leave(
    ledger: &mut Ledger,
    boxed: &mut PhysicalBox,
    way_out: WayOut,
    now: Ticks,
    (own, departed): (u64, bool),
) {
    let mut own = std::mem::take(&mut boxed.own) + own;
    let mut covered = u64::from(departed);
    if let Some(chain) = &mut boxed.chain {
        if let Some((_, group)) = chain.groups.get_mut(chain.last) {
            group.own += own;
        }
        own = std::mem::take(&mut chain.base_own);
        covered = covered.max(u64::from(chain.groups.len() > 0));
        for (at, ((entry, _), group)) in chain.groups.iter_mut().enumerate() {
            let entry = *entry;
            let innermost = at == chain.last && !departed;
            let lasted = now.times(group.boxes).minus(group.entered);
            let fresh = std::mem::take(&mut group.fresh);
            let figures = ledger.figures(entry.arc);
            figures.count_way_out(way_out, group.boxes, fresh);
            let covered = group.boxes - u64::from(innermost);
            figures.count_shared_way_out(way_out, group.boxes, covered);
            add(
                &mut figures.self_by[way_out.outcome()],
                std::mem::take(&mut group.own),
            );
            ledger.book_stretch(entry, way_out.outcome(), lasted);
        }
    }
    let fresh = u64::from(!std::mem::replace(&mut boxed.exited, true));
    let figures = ledger.figures(boxed.arc);
    figures.count_way_out(way_out, 1, fresh);
    figures.count_shared_way_out(way_out, 0, covered);
    add(&mut figures.self_by[way_out.outcome()], own);
    let lasted = now.minus(boxed.since);
    ledger.book_stretch(boxed.entry(), way_out.outcome(), lasted);
}

/// Books what a box did in activations that began in the chunk.
pub(super) fn book_later(
    ledger: &mut Ledger,
    boxed: &PhysicalBox,
    later: &Figures,
    height: Option<i64>,
) {
    let innermost = boxed.chain.as_ref().map_or(0, |chain| chain.last + 1);
    for (at, (entry, boxes)) in entries(boxed).enumerate() {
        let arc = entry.arc;
        let here = &mut ledger.arcs[arc as usize];
        if let Some(height) = height {
            here.height = here.height.max(height);
        }
        let figures = ledger.figures(arc);
        figures.add_counts(later, boxes);
        for (port, passed) in later.shared_ports().into_iter().enumerate() {
            // All boxes but one are not the innermost, and that one is if the chain ends here.
            let covered = if at == innermost {
                passed * (boxes - 1) + later.covered[port]
            } else {
                passed * boxes
            };
            let followed = if at == 0 { 0 } else { passed * boxes };
            figures.count_shared(port, followed, covered);
        }
        for outcome in 0..OUTCOMES {
            if at == innermost {
                add(
                    &mut ledger.figures(arc).self_by[outcome],
                    later.self_by[outcome],
                );
            }
            let lasted = later.outer_by[outcome].times(boxes);
            ledger.book_stretch(entry, outcome, lasted);
        }
    }
}
