//! A column with what a sum of columns needs: how it is added up, and its bytes in an index.

use std::ops::Range;

use portmortem_tracer::format::{read_varint, write_varint};
use rustc_hash::FxHashMap;

use super::column::{Began, DepthCell, Ended, Segment, TimeColumn};
use crate::machine::WayOut;
use crate::trace::PredicateIndex;

/// So many predicates of a row are told apart in the bytes of a slice; the ticks of the others are
/// one sum.
const TOLD: usize = 8;

/// Slices have so many depths.
pub(super) const ROWS: u32 = 64;

/// No slice has so many rows.
const MOST_ROWS: u64 = 1 << 12;

/// No slice counts up to so many, and no sum of slices overflows.
const MOST: u64 = 1 << 48;

/// What a stream did from one tick to another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Slice {
    pub(super) column: TimeColumn,
    /// Ticks by row and predicate.
    pub(super) times: Vec<((u32, PredicateIndex), u64)>,
    /// A box in it is deeper than its rows.
    pub(super) deeper: bool,
    /// Recording is paused where it ends.
    pub(super) paused: bool,
}

impl Slice {
    /// What is in the ticks after it, up to the next event.
    pub(super) fn after(&self, ticks: &Range<u64>) -> Self {
        self.staying(ticks, |cell| {
            let last = cell.last.filter(|last| last.ended == Ended::After);
            last.map_or_else(DepthCell::default, |last| {
                DepthCell::of_one(last.called, last.predicate, ticks)
            })
        })
    }

    /// What is known of some ticks in it, if its own are these: boxes that are there all the time.
    pub(super) fn throughout(&self, own: &Range<u64>, ticks: &Range<u64>) -> Self {
        self.staying(ticks, |cell| {
            let only = cell.only();
            let only = only.filter(|only| (only.from, only.to) == (own.start, own.end));
            only.map_or_else(DepthCell::default, |only| {
                let mut cell = DepthCell::of_one(only.called, only.predicate, ticks);
                let segment = cell.first.map(|first| Segment {
                    began: if ticks.start == own.start {
                        only.began
                    } else {
                        first.began
                    },
                    ended: if ticks.end == own.end {
                        only.ended
                    } else {
                        first.ended
                    },
                    ..first
                });
                (cell.first, cell.last) = (segment, segment);
                cell
            })
        })
    }

    /// What follows for some ticks without an event from what stays of each cell.
    fn staying(&self, ticks: &Range<u64>, stays: impl Fn(&DepthCell) -> DepthCell) -> Self {
        let mut cells: Vec<DepthCell> = self.column.cells.iter().map(stays).collect();
        while cells.last() == Some(&DepthCell::default()) {
            cells.pop();
        }
        let cells_deep = cells.len() >= ROWS as usize;
        let longest = (0..).zip(&cells);
        let times = longest.filter_map(|(row, cell)| {
            let (predicate, ticks) = cell.longest?;
            Some(((row, predicate), ticks))
        });
        let paused = if self.paused {
            ticks.end - ticks.start
        } else {
            0
        };
        Self {
            times: times.collect(),
            column: TimeColumn {
                read: true,
                paused_ticks: paused,
                cells,
                ..TimeColumn::default()
            },
            // What is deeper than a row is inside a box of that row.
            deeper: self.deeper && cells_deep,
            paused: self.paused,
        }
    }

    /// Whether it is what [`Self::after`] says of the slice before.
    pub(super) fn is_like_before(&self, ticks: &Range<u64>) -> bool {
        let column = &self.column;
        let stays = |cell: &DepthCell| {
            let counts = cell.fails + cell.redos + cell.exceptions;
            let one = cell
                .only()
                .is_some_and(|only| only.began == Began::Before && only.ended == Ended::After);
            counts == 0 && (cell.segments == 0 || one)
        };
        let paused = if self.paused {
            ticks.end - ticks.start
        } else {
            0
        };
        column.counts.events == 0 && column.paused_ticks == paused && column.cells.iter().all(stays)
    }

    /// Its bytes, if it begins at this tick.
    pub(super) fn encode(&self, begin: u64) -> Vec<u8> {
        let mut times: FxHashMap<u32, Vec<(PredicateIndex, u64)>> = FxHashMap::default();
        for ((row, predicate), ticks) in &self.times {
            if *ticks > 0 {
                times.entry(*row).or_default().push((*predicate, *ticks));
            }
        }
        let mut out = Vec::with_capacity(64);
        out.push(u8::from(self.deeper) << 1 | u8::from(self.paused) << 2);
        let column = &self.column;
        let counts = &column.counts;
        let number = column.first_event.unwrap_or(0);
        let head = [
            counts.events,
            counts.calls,
            counts.last_calls,
            counts.exits,
            counts.fails,
            counts.redos,
            counts.exceptions,
            counts.cuts,
            counts.marks,
            column.first_event.map_or(0, |first| first + 1),
            column.paused_ticks,
            column.cells.len() as u64,
        ];
        for value in head {
            write_varint(value, &mut out);
        }
        let mut put = |value| write_varint(value, &mut out);
        for (row, cell) in (0..).zip(&column.cells) {
            put(cell.segments);
            put(cell.fails);
            put(cell.redos);
            put(cell.exceptions);
            let several = if cell.segments > 1 { cell.last } else { None };
            for segment in cell.first.into_iter().chain(several) {
                put(zigzag(segment.called.wrapping_sub(number) as i64));
                put(segment.predicate.into());
                put(segment.from - begin);
                put(segment.to - segment.from);
                put(began_number(segment.began) | ended_number(segment.ended) << 3);
            }
            if cell.segments < 2 {
                continue;
            }
            put(cell.ticks);
            let mut told = times.remove(&row).unwrap_or_default();
            told.sort_unstable_by_key(|&(predicate, ticks)| (u64::MAX - ticks, predicate));
            let untold = told.iter().skip(TOLD).map(|(_, ticks)| ticks).sum::<u64>();
            told.truncate(TOLD);
            put(cell.untold + untold);
            put(told.len() as u64);
            for (predicate, ticks) in told {
                put(predicate.into());
                put(ticks);
            }
        }
        out
    }

    /// What bytes say of these ticks; `None` if they are none of a slice. The first byte may have
    /// other bits of its owner's.
    pub(super) fn decode(bytes: &[u8], ticks: &Range<u64>) -> Option<Self> {
        let flags = *bytes.first()?;
        let mut at = 1;
        let mut take = || read_varint(bytes, &mut at).ok();
        let mut slice = Self {
            deeper: flags & 2 != 0,
            paused: flags & 4 != 0,
            ..Self::default()
        };
        let column = &mut slice.column;
        column.read = true;
        let counts = &mut column.counts;
        for count in [
            &mut counts.events,
            &mut counts.calls,
            &mut counts.last_calls,
            &mut counts.exits,
            &mut counts.fails,
            &mut counts.redos,
            &mut counts.exceptions,
            &mut counts.cuts,
            &mut counts.marks,
        ] {
            *count = take().filter(|count| *count < MOST)?;
        }
        column.first_event = take()?.checked_sub(1);
        let number = column.first_event.unwrap_or(0);
        let length = ticks.end.checked_sub(ticks.start)?;
        column.paused_ticks = take().filter(|paused| *paused <= length)?;
        let rows = take().filter(|rows| *rows < MOST_ROWS)?;
        for row in 0..rows as u32 {
            let mut count = || take().filter(|count| *count < MOST);
            let mut cell = DepthCell {
                segments: count()?,
                fails: count()?,
                redos: count()?,
                exceptions: count()?,
                ..DepthCell::default()
            };
            let mut segment = || {
                let called = number.wrapping_add(unzigzag(take()?) as u64);
                let predicate = PredicateIndex::try_from(take()?).ok()?;
                let from = ticks.start.checked_add(take()?)?;
                let to = from.checked_add(take()?).filter(|to| *to <= ticks.end)?;
                let ends = take()?;
                Some(Segment {
                    called,
                    predicate,
                    from,
                    to,
                    began: *BEGAN.get((ends & 7) as usize)?,
                    ended: *ENDED.get((ends >> 3) as usize)?,
                })
            };
            if cell.segments > 0 {
                cell.first = Some(segment()?);
                cell.last = cell.first;
            }
            if let (1, Some(only)) = (cell.segments, cell.first) {
                cell.ticks = only.to - only.from;
                slice.times.push(((row, only.predicate), cell.ticks));
            }
            if cell.segments > 1 {
                cell.last = Some(segment()?);
                cell.ticks = take().filter(|all| *all <= length)?;
                cell.untold = take().filter(|untold| *untold <= length)?;
                for _ in 0..take().filter(|told| *told <= TOLD as u64)? {
                    let predicate = PredicateIndex::try_from(take()?).ok()?;
                    let told = take().filter(|told| *told <= length)?;
                    slice.times.push(((row, predicate), told));
                }
            }
            column.cells.push(cell);
        }
        (at == bytes.len()).then_some(slice)
    }
}

const BEGAN: [Began; 5] = [
    Began::Before,
    Began::Call,
    Began::LastCall,
    Began::Redo,
    Began::Gap,
];

const ENDED: [Ended; 8] = [
    Ended::After,
    Ended::By(WayOut::ExitDet),
    Ended::By(WayOut::ExitNondet),
    Ended::By(WayOut::Fail),
    Ended::By(WayOut::Exception),
    Ended::LastCall,
    Ended::By(WayOut::Lost),
    Ended::By(WayOut::Open),
];

fn began_number(began: Began) -> u64 {
    BEGAN.iter().position(|one| *one == began).unwrap_or(0) as u64
}

fn ended_number(ended: Ended) -> u64 {
    ENDED.iter().position(|one| *one == ended).unwrap_or(0) as u64
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Slices that follow one another, as one.
#[derive(Debug, Default)]
pub(super) struct Sum {
    column: TimeColumn,
    times: FxHashMap<(u32, PredicateIndex), u64>,
    deeper: bool,
    paused: bool,
}

impl Sum {
    /// Adds the slice that begins where the last one ends.
    pub(super) fn add(&mut self, slice: &Slice) {
        let (sum, next) = (&mut self.column, &slice.column);
        let (counts, more) = (&mut sum.counts, &next.counts);
        counts.events += more.events;
        counts.calls += more.calls;
        counts.last_calls += more.last_calls;
        counts.exits += more.exits;
        counts.fails += more.fails;
        counts.redos += more.redos;
        counts.exceptions += more.exceptions;
        counts.cuts += more.cuts;
        counts.marks += more.marks;
        sum.first_event = sum.first_event.or(next.first_event);
        sum.paused_ticks += next.paused_ticks;
        if sum.cells.len() < next.cells.len() {
            sum.cells.resize(next.cells.len(), DepthCell::default());
        }
        for (cell, more) in sum.cells.iter_mut().zip(&next.cells) {
            cell.add(more);
        }
        for (key, ticks) in &slice.times {
            *self.times.entry(*key).or_default() += ticks;
        }
        self.deeper |= slice.deeper;
        self.paused = slice.paused;
    }

    /// As a slice.
    pub(super) fn slice(self) -> Slice {
        Slice {
            column: self.column,
            times: self.times.into_iter().collect(),
            deeper: self.deeper,
            paused: self.paused,
        }
    }

    /// As a column with so many rows from one on. It does not count as read if slices do not have
    /// all of them.
    pub(super) fn column(self, first: u32, many: u32) -> TimeColumn {
        let mut column = self.column;
        for ((row, predicate), ticks) in self.times {
            let Some(cell) = column.cells.get_mut(row as usize) else {
                continue;
            };
            let more = |&(other, most): &(PredicateIndex, u64)| (ticks, other) > (most, predicate);
            if ticks > 0 && cell.longest.is_none_or(|longest| more(&longest)) {
                cell.longest = Some((predicate, ticks));
            }
        }
        column.cells.drain(..column.cells.len().min(first as usize));
        column.cells.truncate(many as usize);
        // A box below the last row may have been there for no time, and those around it not at all.
        while column.cells.last() == Some(&DepthCell::default()) {
            column.cells.pop();
        }
        column.read = !self.deeper || first.saturating_add(many) <= ROWS;
        column
    }
}

impl DepthCell {
    /// Adds what comes right after.
    fn add(&mut self, next: &Self) {
        let is_same = |last: &Segment| last.ended == Ended::After;
        let last = self.last.filter(is_same);
        let goes_on = next.first.filter(|first| first.began == Began::Before);
        let both = last.zip(goes_on).map(|(last, first)| Segment {
            from: last.from,
            began: last.began,
            ..first
        });
        let (before, after) = (self.segments, next.segments);
        self.segments += after - u64::from(both.is_some());
        (self.first, self.last) = match both {
            Some(both) => (
                if before == 1 { Some(both) } else { self.first },
                if after == 1 { Some(both) } else { next.last },
            ),
            None => (self.first.or(next.first), next.last.or(self.last)),
        };
        self.ticks += next.ticks;
        self.untold += next.untold;
        self.longest = None;
        self.fails += next.fails;
        self.redos += next.redos;
        self.exceptions += next.exceptions;
    }
}
