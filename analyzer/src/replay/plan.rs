//! Cuts a trace into works, which are replayed at a time: some streams, or a part of one.

use std::ops::Range;

use portmortem_tracer::format::Dialect;

use super::ReplayOptions;
use crate::scope::Scope;
use crate::trace::Trace;

/// A piece of a trace that is replayed at a time.
#[derive(Debug, Clone)]
pub(super) enum ReplayWork {
    /// Streams from beginning to end.
    Streams(Range<usize>),
    /// Blocks of a stream.
    Part {
        stream: usize,
        blocks: Range<usize>,
        /// The stream ends with them.
        is_last: bool,
    },
    /// Blocks of a stream that has lost events, before them or before others of this kind: nothing
    /// is known of the boxes that are open where they begin.
    AfterLoss {
        stream: usize,
        blocks: Range<usize>,
        /// The number that comes next in the stream, and the tick of the last event before that.
        behind: (u64, u64),
        /// The stream ends with them.
        is_last: bool,
    },
}

/// The bytes of events of the largest chunk: several wait to be joined, with their figures.
const MOST: u64 = 16 << 20;

/// The bytes of the smallest one, below which joining takes as long as is won.
const LEAST: u64 = 1 << 20;

/// Each thread replays so many of the smallest chunks of a trace, if they are not smaller than that.
const PARTS_PER_THREAD: u64 = 8;

/// How many bytes of events the chunks of a stream have.
///
/// Each chunk finds its arcs anew, and joining takes work in proportion to those: so chunks are
/// large. The last ones are small, so that all threads end together. So is the first: behind it a
/// large stream may be found to be one that had better be replayed in one piece.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkSizes {
    least: u64,
    most: u64,
    threads: u64,
}

impl ChunkSizes {
    fn of(trace: &Trace, options: &ReplayOptions) -> Self {
        let threads = rayon::current_num_threads() as u64;
        match options.chunk_bytes {
            Some(size) => Self::alike(size),
            None if threads == 1 => Self::alike(u64::MAX),
            None => Self {
                least: (trace.size() / (threads * PARTS_PER_THREAD)).clamp(LEAST, MOST),
                most: MOST,
                threads,
            },
        }
    }

    /// All have this size.
    pub(super) fn alike(size: u64) -> Self {
        Self {
            least: size,
            most: size,
            threads: 1,
        }
    }

    /// The size of a chunk, if so many bytes of the stream are left.
    fn next(self, left: u64) -> u64 {
        (left / (2 * self.threads)).clamp(self.least, self.most)
    }
}

/// Cuts a trace into works.
pub(super) fn plan(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Vec<ReplayWork> {
    let sizes = ChunkSizes::of(trace, options);
    // Work of a transparent box is its caller's, and an innermost redo re-enters callers. In the
    // middle of a stream neither is known. Where a window begins heights begin anew.
    let whole = scope.has_transparent() || scope.window.is_some();
    let mut works = Vec::new();
    let mut together = 0..0;
    let mut bytes = 0;
    for (at, stream) in trace.streams().iter().enumerate() {
        let splits =
            !whole && stream.dialect() == Dialect::EveryRedo && scope.has_stream(stream.id);
        let parts = parts(trace, stream.blocks.clone(), sizes);
        if splits && parts.len() > 1 {
            if !together.is_empty() {
                works.push(ReplayWork::Streams(together));
            }
            together = at + 1..at + 1;
            bytes = 0;
            works.extend(parts.into_iter().map(|blocks| ReplayWork::Part {
                stream: at,
                is_last: blocks.end == stream.blocks.end,
                blocks,
            }));
            continue;
        }
        together.end = at + 1;
        bytes += trace.bytes_of(stream.blocks.clone());
        if bytes >= sizes.least.min(MOST) {
            works.push(ReplayWork::Streams(together));
            together = at + 1..at + 1;
            bytes = 0;
        }
    }
    if !together.is_empty() {
        works.push(ReplayWork::Streams(together));
    }
    works
}

/// Ranges of these blocks of a stream that are about as large as asked for.
pub(super) fn parts(trace: &Trace, blocks: Range<usize>, sizes: ChunkSizes) -> Vec<Range<usize>> {
    let mut left = trace.bytes_of(blocks.clone());
    let mut size = sizes.least;
    let mut parts = Vec::new();
    let (mut from, mut bytes) = (blocks.start, 0);
    for block in blocks.clone() {
        bytes += trace.bytes_of(block..block + 1);
        if bytes >= size {
            parts.push(from..block + 1);
            left -= bytes;
            (from, bytes) = (block + 1, 0);
            size = sizes.next(left);
        }
    }
    if from < blocks.end || parts.is_empty() {
        parts.push(from..blocks.end);
    }
    parts
}
