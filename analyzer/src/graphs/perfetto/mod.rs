//! Perfetto's trace format, for <https://ui.perfetto.dev> and `trace_processor`: a timeline.
//!
//! Each stream is the track of a thread. An activation of a box is a slice there: from a call or
//! redo to the way out. A last call ends a slice and begins one at the same depth. What is no call
//! of the program has tracks of its own below that one: waiting, collections, set-up, and times
//! that were not recorded. A flow leads from a failure to the boxes re-entered because of it.
//!
//! The binary format is written, and not Chrome's JSON: that has no tracks below a thread, and
//! repeats all names. Packets are written while the events are read; only open boxes are kept.

mod messages;
mod slices;
mod tracks;

use std::io::{self, Write};
use std::sync::Arc;

use super::{Graph, LeftOut};
use crate::Analysis;
use crate::scope::Window;
use crate::timeline::Blocks;
use crate::trace::StreamInfo;
use crate::walk::Walk;
use slices::Slices;
use tracks::{Packets, StreamTracks};

/// More events than this are only written if a range of time is given: for each the viewers take
/// some hundred bytes of memory.
pub const MOST_EVENTS: u64 = 2_000_000;

/// Writes the timeline of what is looked at.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let analysis = graph.analysis;
    let mut packets = Packets::new(out);
    packets.process(analysis)?;
    let blocks = Blocks::of(&analysis.trace);
    let mut left_out = LeftOut::default();
    for (at, stream) in analysis.trace.streams().iter().enumerate() {
        if analysis.scope.has_stream(stream.id) {
            left_out.of += one(analysis, &blocks, (at, stream), &mut packets)?;
        }
    }
    Ok(left_out)
}

/// Writes a stream, given with its place in the trace; how many slices that were.
fn one(
    analysis: &Analysis,
    blocks: &Blocks,
    (at, stream): (usize, &StreamInfo),
    packets: &mut Packets,
) -> io::Result<u64> {
    let window = analysis.scope.window.unwrap_or(Window::ALL);
    let Some(first) = blocks.first_event_since(&analysis.trace, at, window.from) else {
        return Ok(0);
    };
    let walk = walk_from(analysis, stream, first);
    let tracks = StreamTracks::new(analysis, stream, packets)?;
    let mut slices = Slices::new(analysis, window, tracks);
    slices.begin_with(&walk.moment().active().to_vec())?;
    for step in walk {
        if step.tick >= window.until {
            return slices.end(Some(window.until));
        }
        slices.step(&step)?;
    }
    slices.end(None)
}

/// A walk from an event on that follows what is looked at.
fn walk_from<'t>(analysis: &'t Analysis, stream: &StreamInfo, number: u64) -> Walk<'t> {
    let trace = &*analysis.trace;
    if !analysis.scope.is_focused() {
        return Walk::from(trace, analysis.trail(), stream, number);
    }
    // Checkpoints do not know where boxes are in the focus.
    let walk = Walk::from(trace, None, stream, 0);
    let mut walk = walk.following(Arc::clone(&analysis.scope));
    while walk.next_number() < number {
        if walk.next().is_none() {
            break;
        }
    }
    walk
}
