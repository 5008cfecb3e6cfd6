//! The counts of all engines since they were last written into the trace.

use std::cell::Cell;
use std::collections::HashMap;
use std::mem;
use std::sync::{Mutex, PoisonError};

use portmortem_tracer::Recorder;
use portmortem_tracer::format::{Cost, MAX_COSTS};

use crate::recording;

/// So many counts are written together; a process that is killed loses fewer.
const WRITE_EVERY: u32 = 1 << 18;

/// What is counted, by its place in [`CostTotals::names`].
pub(super) type Symbol = u32;

pub(super) const CALLS: Symbol = 0;
pub(super) const CHOICES: Symbol = 1;
pub(super) const TRIED: Symbol = 2;
pub(super) const BOUND: Symbol = 3;
pub(super) const CELLS: Symbol = 4;
pub(super) const UPDATES: Symbol = 5;
pub(super) const STEP: Symbol = 6;
pub(super) const NARGS: Symbol = 7;
pub(super) const GIUNIF: Symbol = 8;
pub(super) const GOUNIF: Symbol = 9;
pub(super) const VIUNIF: Symbol = 10;
pub(super) const VOUNIF: Symbol = 11;
pub(super) const EXPRESSION: Symbol = 12;

/// The names of the symbols above, in their order.
const NAMES: [&str; 13] = [
    "F",
    "N",
    "C",
    "B",
    "H",
    "U",
    "step",
    "nargs",
    "giunif",
    "gounif",
    "viunif",
    "vounif",
    "expression",
];

/// Where something is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CostSite {
    /// The cost centre, by its id.
    pub(super) center: Option<u32>,
    /// The predicate, by its id.
    pub(super) predicate: u32,
    /// The clause, from 1, or 0.
    pub(super) clause: u32,
}

/// The counts of one recording.
#[derive(Default)]
pub(super) struct CostTotals {
    counts: HashMap<(CostSite, Symbol), u64>,
    names: Vec<String>,
    numbers: HashMap<String, Symbol>,
    /// Counts since the last writing.
    since: u32,
    /// The cost centre that a box enters, by the id of what it is of.
    marks: HashMap<u32, u32>,
}

static TOTALS: Mutex<Option<CostTotals>> = Mutex::new(None);

thread_local! {
    /// This thread has the lock, or waits for it. Counting is too frequent to hold back signals
    /// meanwhile, as [`portmortem_tracer::locks`] does.
    static LOCKING: Cell<bool> = const { Cell::new(false) };
}

fn locked<T>(action: impl FnOnce(&mut Option<CostTotals>) -> T) -> T {
    LOCKING.set(true);
    let done = action(&mut TOTALS.lock().unwrap_or_else(PoisonError::into_inner));
    LOCKING.set(false);
    done
}

/// A symbolic recording begins.
pub(crate) fn begin() {
    let mut totals = CostTotals::default();
    for name in NAMES {
        totals.symbol(name);
    }
    locked(|current| *current = Some(totals));
}

/// The recording ends: what is left is written. If a signal interrupted this thread while it was
/// counting, it stays unwritten, and the trace says that counts are missing.
pub(crate) fn finish(recorder: &Recorder) {
    if LOCKING.get() {
        return;
    }
    if let Some(mut totals) = locked(Option::take) {
        totals.write(recorder, true);
    }
}

/// Boxes of this predicate, or of the centre itself, enter a cost centre.
pub(crate) fn mark(id: u32, center: u32) {
    locked(|current| {
        if let Some(totals) = current {
            totals.marks.insert(id, center);
        }
    });
}

/// Does something with the totals of the recording in progress.
pub(super) fn with<T>(action: impl FnOnce(&mut CostTotals) -> T) -> Option<T> {
    locked(|current| {
        let totals = current.as_mut()?;
        let done = action(totals);
        if totals.since >= WRITE_EVERY {
            recording::with(|current| totals.write(&current.recorder, false));
        }
        Some(done)
    })
}

impl CostTotals {
    /// The symbol of this name.
    pub(super) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(name) {
            return symbol;
        }
        let symbol = self.names.len() as Symbol;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), symbol);
        symbol
    }

    pub(super) fn add(&mut self, site: CostSite, symbol: Symbol, count: u64) {
        if count > 0 {
            *self.counts.entry((site, symbol)).or_default() += count;
            self.since += 1;
        }
    }

    /// The cost centre that a box enters, if any.
    pub(super) fn center(&self, id: u32) -> Option<u32> {
        self.marks.get(&id).copied()
    }

    /// Writes the counts. What has no room is kept, to be tried again.
    fn write(&mut self, recorder: &Recorder, last: bool) {
        self.since = 0;
        let counts: Vec<_> = mem::take(&mut self.counts).into_iter().collect();
        let mut written = true;
        for part in counts.chunks(MAX_COSTS) {
            let costs: Vec<Cost> = part
                .iter()
                .map(|&((site, symbol), count)| Cost {
                    center: site.center,
                    predicate: site.predicate,
                    clause: site.clause,
                    symbol: recorder.text(&self.names[symbol as usize]),
                    count,
                })
                .collect();
            if !recorder.costs(&costs, false) {
                written = false;
                self.counts.extend(part.iter().copied());
            }
        }
        if last && written {
            recorder.costs(&[], true);
        }
    }
}
