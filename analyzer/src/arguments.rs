//! From events to what calls were made with.
//!
//! An event on arguments is about the innermost logical box of the active one. It counts in a
//! window if it is in it itself.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use portmortem_tracer::format;
use rustc_hash::FxHashMap;

use crate::figures::arguments::{ArgumentFigures, ArgumentsOfPredicates, SizeFigures, SizeKind};
use crate::machine::{At, Note, Observer, OpenBox};
use crate::scope::Scope;
use crate::trace::{PredicateIndex, Trace};

/// So many different calls of all predicates together are told apart: more would take more than
/// some 150 MB.
pub const MOST_DISTINCT: usize = 1 << 22;

/// What was read so far, as an [`Observer`] of some streams.
#[derive(Debug)]
pub(crate) struct ArgumentLedger<'s> {
    scope: &'s Scope,
    /// The predicates whose arguments were recorded.
    with: &'s [PredicateIndex],
    predicates: BTreeMap<PredicateIndex, PredicateArguments>,
    /// So many hashes more can be told apart, of all ledgers together.
    room: &'s AtomicUsize,
}

/// What was read of one predicate.
#[derive(Debug, Default)]
struct PredicateArguments {
    figures: ArgumentFigures,
    /// How often each hash came.
    hashes: FxHashMap<u64, u64>,
}

impl<'s> ArgumentLedger<'s> {
    /// Of a trace; `None` if it has no arguments.
    pub(crate) fn of(trace: &'s Trace, scope: &'s Scope, room: &'s AtomicUsize) -> Option<Self> {
        let with = trace.with_arguments();
        (!with.is_empty()).then(|| Self::new(scope, with, room))
    }

    fn new(scope: &'s Scope, with: &'s [PredicateIndex], room: &'s AtomicUsize) -> Self {
        Self {
            scope,
            with,
            predicates: BTreeMap::new(),
            room,
        }
    }

    pub(crate) fn into_pages(self) -> ReadArguments {
        ReadArguments(self.predicates)
    }

    fn book(&mut self, predicate: PredicateIndex, arguments: format::Arguments) {
        let page = self.predicates.entry(predicate).or_default();
        let figures = &mut page.figures;
        match arguments {
            format::Arguments::Hash(hash) => {
                figures.hashed += 1;
                if let Some(times) = page.hashes.get_mut(&hash) {
                    *times += 1;
                } else if self
                    .room
                    .fetch_update(Relaxed, Relaxed, |room| room.checked_sub(1))
                    .is_ok()
                {
                    page.hashes.insert(hash, 1);
                } else {
                    figures.cut_short = true;
                }
            }
            format::Arguments::NotGround => figures.not_ground += 1,
            format::Arguments::TooLarge => figures.too_large += 1,
            format::Arguments::Integer { argument, value } => {
                figures.size((argument, SizeKind::Integer), value);
            }
            format::Arguments::List { argument, length } => {
                let length = i64::try_from(length).unwrap_or(i64::MAX);
                figures.size((argument, SizeKind::List), length);
            }
        }
    }
}

impl Observer for ArgumentLedger<'_> {
    type Kept = ();

    fn called(&mut self, _: &At, _: &OpenBox, _: Option<&()>) {}

    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut ())>) {
        let (Note::Arguments(arguments), Some((open, ()))) = (note, active) else {
            return;
        };
        if at.is_inside
            && open.is_shown(self.scope)
            && self.with.binary_search(&open.predicate).is_ok()
        {
            self.book(open.predicate, arguments);
        }
    }
}

/// What was read of some streams.
#[derive(Debug, Default)]
pub(crate) struct ReadArguments(BTreeMap<PredicateIndex, PredicateArguments>);

impl ReadArguments {
    /// With those of other streams.
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (predicate, page) in other.0 {
            self.0.entry(predicate).or_default().add(page);
        }
        self
    }

    /// There were more different calls than can be told apart. Which of them were depends on the
    /// order of reading.
    pub(crate) fn are_cut_short(&self) -> bool {
        self.0.values().any(|page| page.figures.cut_short)
    }

    pub(crate) fn close(self) -> ArgumentsOfPredicates {
        let pages = self.0.into_iter();
        pages
            .map(|(predicate, page)| {
                let most = page.hashes.values().copied().max();
                let known = page.hashes.len() as u64;
                let is_more = page.figures.cut_short;
                let figures = ArgumentFigures {
                    // Of those without room there is one at least.
                    distinct: known + u64::from(is_more),
                    most_repeated: most.unwrap_or(u64::from(is_more)),
                    ..page.figures
                };
                (predicate, figures)
            })
            .collect()
    }
}

impl PredicateArguments {
    fn add(&mut self, other: Self) {
        let (figures, others) = (&mut self.figures, other.figures);
        figures.hashed += others.hashed;
        figures.not_ground += others.not_ground;
        figures.too_large += others.too_large;
        figures.cut_short |= others.cut_short;
        for (of, sizes) in others.sizes {
            let all = figures.sizes.entry(of);
            all.and_modify(|all| all.and(&sizes)).or_insert(sizes);
        }
        for (hash, times) in other.hashes {
            *self.hashes.entry(hash).or_default() += times;
        }
    }
}

impl ArgumentFigures {
    fn size(&mut self, of: (u8, SizeKind), size: i64) {
        self.sizes
            .entry(of)
            .and_modify(|sizes| sizes.add(size))
            .or_insert(SizeFigures::of(size));
    }
}

#[cfg(test)]
mod tests;
