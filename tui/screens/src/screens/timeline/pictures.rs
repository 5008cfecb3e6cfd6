//! Pictures of stretches of streams: the newest ones are kept, short ones are made at once, long
//! ones by a thread
//! of their own while what is known already is shown.

use std::sync::Arc;

use portmortem_analyzer::timeline::{
    Began, Blocks, DepthCell, Ended, Reader, Segment, TimeColumn, TimeRange,
};

use crate::analysis::AnalysisView;
use crate::worker::{Received, Worker, poll_until};

/// So many events are read at once, for all pictures of a screen together: some milliseconds.
const AT_ONCE: u64 = 100_000;

/// So many more events are read beside slices of an index: what is before the ends of a picture.
const BESIDE: u64 = 1_200_000;

/// A thread reads no more of them: all of a picture's events are as fast then.
const MOST_BESIDE: u64 = 20_000_000;

/// Cells of pictures that are kept: some ten megabytes.
pub(super) const MOST_CELLS: usize = 400_000;

/// Pictures that others are put together from.
const MOST_OLD: usize = 8;

/// What a stream did in a window, as far as it is known.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) window: TimeRange,
    pub(super) columns: Vec<TimeColumn>,
    /// Every column was read.
    pub(super) whole: bool,
}

/// The pictures of a trace.
#[derive(Debug)]
pub(super) struct Pictures {
    pub(super) analysis: Arc<AnalysisView>,
    pub(super) blocks: Arc<Blocks>,
    /// The newest last.
    kept: Vec<Picture>,
    job: Option<PicturesJob>,
    slices: SlicesJob,
}

/// Slices of the trace, which long pictures are sums of, if its index does not have them yet.
#[derive(Debug)]
enum SlicesJob {
    /// No long picture was wanted so far.
    NotBegun,
    /// A worker makes them. Long pictures wait for it: it takes as long as one of them.
    Begun(Worker<()>),
    /// They are there, or cannot be made.
    Ended,
}

impl SlicesJob {
    /// Begins to make them if that was not tried. Whether they are being made.
    fn begin(&mut self, analysis: &Arc<AnalysisView>) -> bool {
        if matches!(self, Self::NotBegun) && analysis.lacks_slices() {
            let of = Arc::clone(analysis);
            *self = Self::Begun(Worker::start_apart(0, move |task| {
                of.find_slices(task.progress());
            }));
        }
        matches!(self, Self::Begun(_))
    }

    /// Looks whether they are made by now, or waits for it; `true` if that is so since this call.
    fn poll(&mut self, wait: bool) -> bool {
        let Self::Begun(worker) = self else {
            return false;
        };
        let ended = matches!(worker.next(poll_until(wait)), Received::Ended);
        if ended {
            *self = Self::Ended;
        }
        ended
    }

    /// How much is done, from 0 to 1, while they are being made.
    fn share(&self) -> Option<f64> {
        match self {
            Self::Begun(worker) => Some(worker.share()),
            Self::NotBegun | Self::Ended => None,
        }
    }
}

/// Pictures that a worker makes. It finds columns of one that follow on each other, and which the
/// first one is.
#[derive(Debug)]
struct PicturesJob {
    windows: Vec<TimeRange>,
    worker: Worker<(TimeRange, u32, Vec<TimeColumn>)>,
}

impl PicturesJob {
    fn start(analysis: &Arc<AnalysisView>, blocks: &Arc<Blocks>, windows: Vec<TimeRange>) -> Self {
        let (analysis, blocks) = (Arc::clone(analysis), Arc::clone(blocks));
        let all = windows.clone();
        let worker = Worker::start(0, move |task| {
            let reader = reader(&analysis, &blocks);
            for window in windows {
                if let Some(columns) = reader.summed(&window, MOST_BESIDE) {
                    let whole = columns.iter().all(TimeColumn::is_done);
                    task.found((window, 0, columns));
                    if whole {
                        continue;
                    }
                }
                let goes_on = reader.read(&window, task.progress(), |first, columns| {
                    task.found((window, first, columns));
                });
                if !goes_on {
                    return;
                }
            }
        });
        Self {
            windows: all,
            worker,
        }
    }
}

/// Reads the stretches of a trace.
pub(super) fn reader<'a>(analysis: &'a AnalysisView, blocks: &'a Blocks) -> Reader<'a> {
    let reader = Reader::new(&analysis.trace, blocks, analysis.trail(), &analysis.scope);
    reader.with_slices(analysis.pyramids())
}

impl Pictures {
    pub(super) fn new(analysis: &Arc<AnalysisView>) -> Self {
        Self {
            analysis: Arc::clone(analysis),
            blocks: Arc::new(Blocks::of(&analysis.trace)),
            kept: Vec::new(),
            job: None,
            slices: SlicesJob::NotBegun,
        }
    }

    pub(super) fn get(&self, window: &TimeRange) -> Option<&Picture> {
        self.kept.iter().find(|picture| picture.window == *window)
    }

    /// Makes pictures of these windows, or begins to.
    pub(super) fn show(&mut self, windows: &[TimeRange]) {
        let mut missing = Vec::new();
        for (place, window) in windows.iter().enumerate() {
            let at_once = AT_ONCE / windows.len() as u64;
            if let Some(at) = self.kept.iter().position(|kept| kept.window == *window) {
                let picture = self.kept.remove(at);
                let known = picture.whole || self.is_made(window);
                self.kept.push(picture);
                if known {
                    continue;
                }
            } else {
                let picture = self.make(window, at_once, place == 0);
                let whole = picture.whole;
                self.kept.push(picture);
                if whole {
                    continue;
                }
            }
            missing.push(*window);
        }
        if !missing.is_empty() && self.slices.begin(&self.analysis) {
            self.job = None;
        } else if !missing.is_empty() {
            // What is still being made for this screen is made again by the new thread.
            missing = windows
                .iter()
                .filter(|window| !self.is_whole(window))
                .copied()
                .collect();
            self.job = Some(PicturesJob::start(&self.analysis, &self.blocks, missing));
        } else if self
            .job
            .as_ref()
            .is_some_and(|job| !job.windows.iter().any(|made| windows.contains(made)))
        {
            self.job = None;
        }
        self.forget(windows.len());
    }

    fn is_made(&self, window: &TimeRange) -> bool {
        let job = self.job.as_ref();
        job.is_some_and(|job| job.windows.contains(window))
    }

    fn is_whole(&self, window: &TimeRange) -> bool {
        self.get(window).is_some_and(|picture| picture.whole)
    }

    /// The picture, or if it takes too long what is known of it. That of the selected stream may
    /// take a little longer.
    fn make(&self, window: &TimeRange, at_once: u64, selected: bool) -> Picture {
        let reader = reader(&self.analysis, &self.blocks);
        let beside = if selected { BESIDE } else { 0 };
        let read = reader.read_at_most(window, at_once);
        if let Some(columns) = read.or_else(|| reader.summed(window, beside)) {
            return Picture {
                window: *window,
                whole: columns.iter().all(TimeColumn::is_done),
                columns,
            };
        }
        let mut picture = Picture {
            window: *window,
            columns: reader.outline(window),
            whole: false,
        };
        for old in self.kept.iter().rev().take(MOST_OLD) {
            picture.learn(old);
        }
        picture
    }

    /// Keeps the newest pictures, at least so many.
    fn forget(&mut self, least: usize) {
        while self.kept.len() > least && self.size() > MOST_CELLS {
            self.kept.remove(0);
        }
    }

    /// Cells of all pictures.
    pub(super) fn size(&self) -> usize {
        self.kept.iter().map(Picture::size).sum()
    }

    /// Looks whether slices are made by now, or waits for it; `true` if that is so since this call.
    /// Then pictures with other columns are wanted.
    pub(super) fn poll_slices(&mut self, wait: bool) -> bool {
        self.slices.poll(wait)
    }

    /// Takes what the worker found, or waits until nothing is missing; `true` if there was
    /// anything.
    pub(super) fn poll(&mut self, wait: bool) -> bool {
        let mut changed = false;
        while let Some(job) = &self.job {
            match job.worker.next(poll_until(wait)) {
                Received::Value(found) => self.take(found),
                Received::NotYet => break,
                Received::Ended => self.job = None,
            }
            changed = true;
        }
        changed
    }

    pub(super) fn progress(&self) -> Option<f64> {
        let job = || self.job.as_ref().map(|job| job.worker.share());
        self.slices.share().or_else(job)
    }

    fn take(&mut self, (window, first, columns): (TimeRange, u32, Vec<TimeColumn>)) {
        let Some(picture) = self.kept.iter_mut().find(|kept| kept.window == window) else {
            return;
        };
        for (at, column) in (first as usize..).zip(columns) {
            if let Some(place) = picture.columns.get_mut(at) {
                *place = column;
            }
        }
        picture.whole = picture.columns.iter().all(TimeColumn::is_done);
    }
}

impl Picture {
    fn size(&self) -> usize {
        let cells = self.columns.iter().map(|column| column.cells.len() + 1);
        cells.sum()
    }

    /// Takes over what another picture says for certain: boxes that are there all the time.
    fn learn(&mut self, old: &Picture) {
        let same = (self.window.stream, self.window.first_row, self.window.rows)
            == (old.window.stream, old.window.first_row, old.window.rows);
        if !same || old.columns.is_empty() {
            return;
        }
        for (at, column) in (0..).zip(&mut self.columns) {
            let ticks = self.window.start_of(at)..self.window.start_of(at + 1);
            let Some(last) = ticks.end.checked_sub(1).filter(|last| *last >= ticks.start) else {
                continue;
            };
            let (Some(first), Some(last)) = (
                old.window.column_of(ticks.start),
                old.window.column_of(last),
            ) else {
                continue;
            };
            let from = &old.columns[first as usize..=last as usize];
            for row in 0..from[0].cells.len() {
                let Some(segment) = same_box(from, row) else {
                    continue;
                };
                if column.cells.len() <= row {
                    column.cells.resize(row + 1, DepthCell::default());
                }
                column.cells[row] = DepthCell::of_one(segment.called, segment.predicate, &ticks);
            }
        }
    }
}

/// The box that fills a row of all these columns.
fn same_box(columns: &[TimeColumn], row: usize) -> Option<Segment> {
    let mut found: Option<Segment> = None;
    for column in columns {
        let segment = column.cell(row)?.only()?;
        let stays = segment.began == Began::Before && segment.ended == Ended::After;
        let same = found.is_none_or(|found| {
            (found.called, found.predicate) == (segment.called, segment.predicate)
        });
        if !stays || !same {
            return None;
        }
        found = Some(segment);
    }
    found
}
