//! The figures of a recording that keeps no more than its newest events: while it runs, closed
//! blocks are folded into the replay as far as it has come, which stands beside the trace. Then the
//! recorder may write over them.
//!
//! The figures are written before the blocks in them are marked. So nothing is lost if the process
//! that folds, or the program, is killed in between: the recorder has not written over a block
//! without a mark, and a reader goes on behind what was folded.
//!
//! Some blocks stay, marked so, until others are more important (`scenes.rs`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portmortem_tracer::format::Closing;

use super::asked_scenes::AskedScenes;
use super::bytes::{self, FOLDED};
use super::scenes::{Scenes, WantedScenes};
use super::{beside, put};
use crate::calls::Calls;
use crate::calls::so_far::CallsSoFar;
use crate::figures::profile::Profile;
use crate::replay::ReplayOptions;
use crate::replay::growing::{Growing, KeptGrowing, NewParts, Stopped};
use crate::timeline::Pyramids;
use crate::timeline::pyramid::{PyramidBytes, SlicesSoFar};
use crate::trace::{Trace, TraceError, kept};
use crate::walk::Trail;

/// Why a recording is not folded any further.
#[derive(Debug, thiserror::Error)]
pub enum FoldError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The trace or its figures cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Blocks are damaged, or events cannot be: what comes after them has to be read from the
    /// beginning.
    #[error("blocks are damaged, or have impossible events; figures end before them")]
    OutOfOrder,
}

/// So many scenes have room in a recording, if it is neither small nor large.
const SCENES: u64 = 256;

/// Folds the blocks of a recording while it is being written.
#[derive(Debug)]
pub struct Fold {
    path: PathBuf,
    /// The trace, to mark blocks in it.
    file: File,
    /// Bytes that the trace may have.
    limit: u64,
    growing: Option<Growing>,
    /// Unless there is no time for them.
    calls: Option<CallsSoFar>,
    /// The same.
    slices: Option<SlicesSoFar>,
    scenes: Scenes,
    /// Scenes of events that a user asked for.
    asked: Option<AskedScenes>,
    gave_up: bool,
}

impl Fold {
    /// Where the figures of the trace at `path` are.
    #[must_use]
    pub fn path_of(trace: &Path) -> PathBuf {
        beside(trace, ".figures")
    }

    /// Begins with the trace at `path`, which may have `limit` bytes and of which nothing is folded
    /// yet. Figures of an older trace that was there are removed.
    ///
    /// # Errors
    /// If the trace cannot be opened.
    pub fn begin(path: &Path, limit: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Self::forget(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            limit,
            growing: None,
            calls: Some(CallsSoFar::default()),
            slices: Some(SlicesSoFar::new(slices_of(limit))),
            scenes: Scenes::new(limit),
            asked: None,
            gave_up: false,
        })
    }

    /// The same. Scenes of events stay that a condition holds for ([`ListedCondition`]).
    ///
    /// [`ListedCondition`]: crate::condition::ListedCondition
    #[must_use]
    pub fn keeping_when(self, condition: Option<&str>) -> Self {
        Self {
            asked: condition.map(AskedScenes::new),
            ..self
        }
    }

    /// Folds all blocks that are closed by now, if they have `least` bytes or more. How many bytes
    /// were folded. Works on rayon's current threads.
    ///
    /// # Errors
    /// [`FoldError`]; what was folded before stays. If the trace could not be read, it can be tried
    /// again; else nothing more can be folded.
    pub fn go_on(&mut self, least: u64) -> Result<u64, FoldError> {
        let trace = Trace::open(&self.path)?;
        let new = self.fold(&trace, least.max(1))?;
        if new.bytes > self.limit / 4 {
            // They take longer than events are written, and what they delay would be lost.
            (self.calls, self.slices) = (None, None);
            self.gave_up |= self.asked.take().is_some();
        }
        if new.bytes > 0 {
            self.keep(&trace, &new, false)?;
        }
        Ok(new.bytes)
    }

    /// Folds what is left, when nothing more is written.
    ///
    /// # Errors
    /// As [`Self::go_on`].
    pub fn finish(&mut self) -> Result<(), FoldError> {
        let trace = Trace::open(&self.path)?;
        let new = self.fold(&trace, 0)?;
        self.keep(&trace, &new, true)
    }

    /// Whether it was not looked any more for events that a condition holds for: that took longer
    /// than events were written.
    #[must_use]
    pub fn gave_up_condition(&self) -> bool {
        self.gave_up
    }

    /// Gives up: no block was written over, so all events are in the trace, and no figures are
    /// needed beside it.
    ///
    /// # Errors
    /// If the figures cannot be removed.
    pub fn leave(self) -> io::Result<()> {
        Self::forget(&self.path)
    }

    /// Removes the figures beside the trace at `path`, if there are any.
    ///
    /// # Errors
    /// If they cannot be removed.
    pub fn forget(path: &Path) -> io::Result<()> {
        match fs::remove_file(Self::path_of(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn fold(&mut self, trace: &Trace, least: u64) -> Result<NewParts, FoldError> {
        let stride = (self.limit / SCENES).clamp(1 << 16, 1 << 20);
        let growing = &mut self.growing;
        let growing = growing.get_or_insert_with(|| Growing::new(trace, stride).surviving_loss());
        let new = growing.fold(trace, least);
        new.map_err(|_| FoldError::OutOfOrder)
    }

    /// Writes what is known of blocks that were folded, and marks them.
    fn keep(&mut self, trace: &Trace, new: &NewParts, are_last: bool) -> Result<(), FoldError> {
        if self.growing.as_ref().is_some_and(Growing::has_lost) {
            // Of calls that were open when events were lost no time is known.
            (self.calls, self.slices) = (None, None);
        }
        if let Some(calls) = &mut self.calls {
            calls.go_on(trace, &new.parts, &new.ended);
        }
        if let Some(slices) = &mut self.slices {
            slices.go_on(trace, &new.parts, &new.ended);
        }
        // A recording that ends gives back room that it has not used, so the file may be shorter by
        // now. Other readers would be told that it was cut short.
        let slices = self.slices.take_if(|_| are_last);
        self.write(trace, slices.and_then(|slices| slices.all(trace)))?;
        let Some(growing) = &self.growing else {
            return Ok(());
        };
        let slowest = self.calls.as_ref().map(CallsSoFar::slowest);
        let asked = self
            .asked
            .as_mut()
            .map(|asked| asked.find(trace, growing, new));
        let wanted = WantedScenes {
            slowest,
            asked: asked.unwrap_or_default(),
        };
        self.scenes
            .settle(trace, &self.file, growing, new, &wanted)?;
        Ok(())
    }

    /// Writes what is known, complete or not at all.
    fn write(&self, trace: &Trace, slices: Option<Arc<[PyramidBytes]>>) -> io::Result<()> {
        let is_over = trace.end().is_some();
        let calls = self.calls.as_ref().filter(|_| is_over);
        let calls = calls.and_then(|calls| calls.all(trace));
        let Some(growing) = &self.growing else {
            return Ok(());
        };
        let bytes = bytes::encode(FOLDED, &(growing, calls, slices));
        // It is read by other processes, so the system need not have written it to the disk.
        put(&Self::path_of(&self.path), |new| fs::write(new, bytes))
    }
}

/// What stands beside a trace of which only the newest events were kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// No figures, or those of no more events than the trace has.
    Nothing,
    /// Figures of all events.
    Figures,
    /// Figures of another version or of another trace, or damaged ones.
    Useless,
}

impl Beside {
    /// What stands beside a trace, the file at `path`.
    #[must_use]
    pub fn of(trace: &Trace, path: &Path) -> Self {
        let is_there = trace.header().mode.keep_last && Fold::path_of(path).exists();
        match is_there.then(|| load(trace, path)) {
            Some(None) => Self::Useless,
            Some(Some(_)) if kept::is_incomplete(trace) => Self::Figures,
            None | Some(Some(_)) => Self::Nothing,
        }
    }
}

/// The same as it is read from a file.
type KeptFolded = (KeptGrowing, Option<Calls>, Option<Arc<[PyramidBytes]>>);

/// What stands beside a trace: the replay as far as it has come, times of single calls and slices.
type Loaded = (Growing, Option<Calls>, Option<Pyramids>);

fn load(trace: &Trace, path: &Path) -> Option<Loaded> {
    if !trace.header().mode.keep_last {
        return None;
    }
    let bytes = bytes::read(&Fold::path_of(path)).ok()?;
    let (kept, calls, slices): KeptFolded = bytes::decode(FOLDED, &bytes).ok()?;
    let slices = slices.map_or(Some(None), |slices| {
        Pyramids::of_index(slices, trace).map(Some)
    });
    let is_of = calls.as_ref().is_none_or(|calls| calls.may_be_of(trace));
    is_of.then_some((kept.open(trace, true)?, calls, slices?))
}

/// What is known of a trace of which blocks were folded.
#[derive(Debug)]
pub struct Folded {
    /// Figures of all events, but not those by clause, of arguments and of values.
    pub profile: Profile,
    /// Places in what is left of the trace from which any event is near.
    pub trail: Trail,
    /// Times of single calls, if they are known.
    pub calls: Option<Calls>,
    /// Slices of its streams, if they are known.
    pub slices: Option<Pyramids>,
}

/// What is known of a trace, the file at `path`, of which blocks were folded; `None` if none were.
#[must_use]
pub fn folded(trace: &Trace, path: &Path, options: &ReplayOptions) -> Option<Folded> {
    let (mut growing, calls, slices) = load(trace, path)?;
    let options = ReplayOptions {
        calls: None,
        cancel: None,
        ..options.clone()
    };
    let (profile, checkpoints) = match growing.go_on_alone(trace, &options) {
        Ok(grown) => (grown.profile, grown.checkpoints),
        // It has come as far as it could, so what was folded is read again.
        Err(Stopped::Cancelled | Stopped::InOnePiece) => {
            let (folded, ..) = load(trace, path)?;
            (folded.ending_here(trace)?, Vec::new())
        }
    };
    Some(Folded {
        profile: Profile {
            kept_events: kept::is_incomplete(trace).then(|| kept_events(trace)),
            ..profile
        },
        trail: Trail::new(trace, &checkpoints),
        calls,
        slices,
    })
}

/// Bytes that slices of a trace with a limit may take.
fn slices_of(limit: u64) -> usize {
    (limit / 32).clamp(1 << 18, 8 << 20) as usize
}

/// How many events a trace has.
fn kept_events(trace: &Trace) -> u64 {
    let streams = trace.streams().iter();
    let blocks = streams.flat_map(|stream| stream.blocks.clone());
    let headers = blocks.filter_map(|block| trace.block_header(block));
    headers.fold(0, |sum, header| match header.closing {
        Closing::Closed(close) => sum.saturating_add(close.events.into()),
        Closing::Open | Closing::Damaged => sum,
    })
}
