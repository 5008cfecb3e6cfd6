//! The processed profile format of the Firefox Profiler, <https://profiler.firefox.com>: the call
//! tree as samples.
//!
//! A sample there has an integer weight, so a row of the tree is a sample that was met as often as
//! it has microseconds of its own, or events. The order of samples is that of the call tree, not
//! that of time. Rows of less than a microsecond are rounded so that their sum is right.

use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use fxprof_processed_profile::{
    CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, Profile, SamplingInterval, StackHandle,
    Timestamp,
};

use super::{Graph, LeftOut, stacks};
use crate::export::json::Escaped;
use crate::trace::names::printable;

/// All samples together weigh no more: three weeks in microseconds. Only a trace whose times are
/// wrong has more; its units are larger.
const MOST_WEIGHT: u64 = 1000 * i32::MAX as u64;

/// Writes the call tree.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let (frames, left_out) = stacks::of(graph, usize::MAX);
    let name = printable(&graph.analysis.name);
    let zero = Timestamp::from_nanos_since_reference(0);
    let interval = SamplingInterval::from_nanos(1000);
    let mut profile = Profile::new(&name, UNIX_EPOCH.into(), interval);
    let process = profile.add_process(&name, 1, zero);
    let thread = profile.add_thread(process, 1, zero, true);
    profile.set_thread_name(thread, graph.metric.column());
    let whole = frames.iter().map(|row| row.own);
    let whole = whole.fold(0, u64::saturating_add);
    let unit = if graph.metric.is_time() { 1000 } else { 1 };
    let unit = unit.max(whole / MOST_WEIGHT);
    let mut open: Vec<Option<StackHandle>> = Vec::new();
    // Of all rows so far: their sizes, and how many samples they have.
    let (mut size, mut samples) = (0_u64, 0_u64);
    for row in &frames {
        open.truncate(row.depth);
        let label = profile.intern_string(row.name(graph));
        let info = FrameInfo {
            frame: Frame::Label(label),
            category_pair: CategoryHandle::OTHER.into(),
            flags: FrameFlags::empty(),
        };
        let frame = profile.intern_frame(thread, info);
        let above = open.last().copied().flatten();
        let stack = profile.intern_stack(thread, above, frame);
        open.push(Some(stack));
        size = size.saturating_add(row.own);
        let mut weight = (size / unit).saturating_sub(samples);
        while weight > 0 {
            // What does not fit into one sample goes into the next.
            let part = i32::try_from(weight).unwrap_or(i32::MAX);
            let at = Timestamp::from_nanos_since_reference(samples.saturating_mul(1000));
            profile.add_sample(thread, at, Some(stack), CpuDelta::ZERO, part);
            let part = u64::from(part.unsigned_abs());
            samples = samples.saturating_add(part);
            weight -= part;
        }
    }
    serde_json::to_writer(Escaped(&mut *out), &profile)?;
    out.write_all(b"\n")?;
    Ok(left_out)
}
