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

/// Chunks for each thread. Each finds its arcs anew, and joining takes work in proportion to those.
/// More chunks cost a trace of many contexts more than it gains from threads that end together.
const CHUNKS: u64 = 8;

/// Cuts a trace into works of about the same size.
pub(super) fn plan(trace: &Trace, options: &ReplayOptions, scope: &Scope) -> Vec<ReplayWork> {
    let size = options.chunk_bytes.unwrap_or_else(|| {
        let threads = rayon::current_num_threads() as u64;
        if threads == 1 {
            u64::MAX
        } else {
            (trace.size() / (threads * CHUNKS)).clamp(1 << 20, 16 << 20)
        }
    });
    // Work of a transparent box is its caller's, and an innermost redo re-enters callers. In the middle of a
    // stream neither is known. Where a window begins heights begin anew.
    let whole = scope.has_transparent() || scope.window.is_some();
    let mut works = Vec::new();
    let mut together = 0..0;
    let mut bytes = 0;
    for (at, stream) in trace.streams().iter().enumerate() {
        let splits =
            !whole && stream.dialect() == Dialect::EveryRedo && scope.has_stream(stream.id);
        let parts = parts(trace, stream.blocks.clone(), size);
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
        if bytes >= size.min(1 << 24) {
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
pub(super) fn parts(trace: &Trace, blocks: Range<usize>, size: u64) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut from, mut bytes) = (blocks.start, 0);
    for block in blocks.clone() {
        bytes += trace.bytes_of(block..block + 1);
        if bytes >= size {
            parts.push(from..block + 1);
            (from, bytes) = (block + 1, 0);
        }
    }
    if from < blocks.end || parts.is_empty() {
        parts.push(from..blocks.end);
    }
    parts
}
