//! From events to what calls were made with, in one walk through each stream.
//!
//! An event on arguments is about the innermost logical box of the active one. It counts in a
//! window if it is in it itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use portmortem_tracer::format::{self, Event};
use rustc_hash::FxHashMap;

use crate::figures::arguments::{ArgumentFigures, Arguments, SizeFigures, SizeKind};
use crate::scope::Scope;
use crate::trace::{PredicateIndex, Trace};
use crate::walk::Walk;

/// So many different calls of all predicates together are told apart: more would take more than
/// some 150 MB.
pub const MOST_DISTINCT: usize = 1 << 22;

/// Events between two looks at whether it was cancelled.
const LOOK_EVERY: u64 = 1 << 16;

/// The figures of what is looked at; nothing if the trace has no arguments, or if it was cancelled.
pub(crate) fn figures(trace: &Trace, scope: &Scope, cancel: Option<&AtomicBool>) -> Arguments {
    if trace.with_arguments().is_empty() {
        return Arguments::new();
    }
    let follow = Arc::new(scope.clone());
    let mut books = Books::new(MOST_DISTINCT);
    for stream in trace.streams() {
        if !scope.has_stream(stream.id) {
            continue;
        }
        let walk = Walk::from(trace, None, stream, 0).following(Arc::clone(&follow));
        for (read, step) in (1..).zip(walk) {
            if u64::is_multiple_of(read, LOOK_EVERY)
                && cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed))
            {
                return Arguments::new();
            }
            if scope.is_over(step.tick) {
                break;
            }
            let (Event::Arguments(arguments), Some((of, _))) = (step.event, step.of) else {
                continue;
            };
            if scope.has_begun(step.tick)
                && scope.shows(of.way, of.predicate)
                && trace.with_arguments().binary_search(&of.predicate).is_ok()
            {
                books.book(of.predicate, arguments);
            }
        }
    }
    books.close()
}

/// What was read so far.
#[derive(Debug)]
struct Books {
    predicates: BTreeMap<PredicateIndex, Page>,
    /// So many hashes more can be told apart.
    room: usize,
}

/// What was read of one predicate.
#[derive(Debug, Default)]
struct Page {
    figures: ArgumentFigures,
    /// How often each hash came.
    hashes: FxHashMap<u64, u64>,
}

impl Books {
    fn new(room: usize) -> Self {
        Self {
            predicates: BTreeMap::new(),
            room,
        }
    }

    fn book(&mut self, predicate: PredicateIndex, arguments: format::Arguments) {
        let page = self.predicates.entry(predicate).or_default();
        let figures = &mut page.figures;
        match arguments {
            format::Arguments::Hash(hash) => {
                figures.hashed += 1;
                if let Some(times) = page.hashes.get_mut(&hash) {
                    *times += 1;
                } else if self.room > 0 {
                    self.room -= 1;
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

    fn close(self) -> Arguments {
        let pages = self.predicates.into_iter();
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
