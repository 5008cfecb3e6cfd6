//! Small programs that ran recorded: what is counted of them, for the analyser to find the cost of recording.

use std::collections::HashMap;

use crate::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Event, Record, Trial, decode_header,
    read_record,
};

const EXIT_DET: usize = 2;
const FAIL: usize = 5;

/// The runs in a trace of one stream: whatever lies between the first and second mark, the third and fourth, and so on.
/// How long they take unrecorded is not known yet. `None` if the trace is not whole.
#[must_use]
pub fn runs(trace: &[u8]) -> Option<Vec<Trial>> {
    let (_, file_id) = decode_header(trace).ok()?;
    let arities = arities(trace, file_id)?;
    let mut runs = Vec::new();
    let mut run: Option<Trial> = None;
    // When the last box was called, if it has come to no other port since.
    let mut called = None;
    let mut last = 0;
    for (header, payload) in blocks(trace, file_id) {
        if header.kind != BlockKind::Events {
            continue;
        }
        let mut bytes = payload?;
        let mut tick = header.base_tick;
        while !bytes.is_empty() {
            let (event, delta, length) = Event::decode(bytes).ok()?;
            bytes = &bytes[length..];
            tick = tick.checked_add(delta)?;
            let delta = tick.saturating_sub(last);
            last = tick;
            if let Some(run) = &mut run {
                run.ticks += delta;
            }
            if matches!(event, Event::Mark { .. }) {
                match run.take() {
                    Some(done) => runs.push(done),
                    None => run = Some(Trial::default()),
                }
            } else if let (Some(run), Some((kind, count))) = (&mut run, kind(event)) {
                run.counts[kind] += count;
                if let Event::Call { predicate } | Event::Tail { predicate } = event {
                    run.arguments += u64::from(*arities.get(&predicate)?);
                }
                if let Some(called) = called
                    && matches!(kind, EXIT_DET | FAIL)
                {
                    run.leaf_ticks += tick - called;
                }
            }
            match event {
                Event::Call { .. } => called = Some(tick),
                Event::Clause { .. } => {}
                _ => called = None,
            }
        }
    }
    Some(runs)
}

/// The blocks of a trace and what was written into them, as far as it is there.
fn blocks(trace: &[u8], file_id: u64) -> impl Iterator<Item = (BlockHeader, Option<&[u8]>)> {
    let mut at = crate::format::FILE_HEADER_BYTES;
    std::iter::from_fn(move || {
        let header = BlockHeader::parse(trace.get(at..)?, file_id).ok()?;
        let start = at + BLOCK_HEADER_BYTES;
        at += (header.size as usize).max(BLOCK_ALIGN);
        let payload = trace.get(start..start + header.committed as usize);
        Some((header, payload))
    })
}

/// Numbers of arguments, by predicate.
fn arities(trace: &[u8], file_id: u64) -> Option<HashMap<u32, u32>> {
    let mut arities = HashMap::new();
    for (header, payload) in blocks(trace, file_id) {
        let (payload, mut at) = (payload?, 0);
        while header.kind == BlockKind::Records && at < payload.len() {
            match read_record(payload, &mut at).ok()? {
                Record::Predicate(predicate) => {
                    arities.insert(predicate.id, predicate.arity);
                }
                Record::Site { id, site } => {
                    arities.insert(id, *arities.get(&site.callee)?);
                }
                _ => {}
            }
        }
    }
    Some(arities)
}

fn kind(event: Event) -> Option<(usize, u64)> {
    let kind = match event {
        Event::Call { .. } => 0,
        Event::Tail { .. } => 1,
        Event::ExitDet => EXIT_DET,
        Event::ExitNondet => 3,
        Event::Redo => 4,
        Event::Fail => FAIL,
        Event::Cut { count } => return Some((6, count.into())),
        Event::Exception => 7,
        Event::Pause
        | Event::Resume
        | Event::Gap { .. }
        | Event::Mark { .. }
        | Event::Clause { .. } => return None,
    };
    Some((kind, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(runs(b"no trace"), None);
    }
}
