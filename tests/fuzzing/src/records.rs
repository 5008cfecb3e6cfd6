//! Target `records`: traces whose checksums are right, and whose contents were changed.
//!
//! The first two bytes of an input choose two traces. What follows is a list of changes to the
//! first: the
//! number of a change, then the bytes that it needs. Records, descriptions and events change, are
//! left
//! out, are repeated, and come from the other trace. Lengths and checksums are mended.

use std::sync::OnceLock;

use crate::parts::{Part, Parts, Payload};
use crate::views;

/// More changes than this take time and show nothing new.
const MOST_CHANGES: usize = 24;

/// Traces have no more blocks.
const MOST_BLOCKS: usize = 24;

/// Numbers as records have them: ends of ranges, and one that is no number of anything.
const TELLING: [&[u8]; 8] = [
    &[0],
    &[1],
    &[250],
    &[251, 0xff, 0xff],
    &[252, 0xff, 0xff, 0xff, 0xff],
    &[252, 0xfe, 0xff, 0xff, 0x7f],
    &[253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    &[253, 0, 0, 0, 0, 0, 0, 0, 0x80],
];

/// Fields of a block's header that nothing mends: the stream, the first tick and the time then, the
/// last
/// tick, events after the end.
const FIELDS: [usize; 5] = [20, 40, 48, 72, 104];

/// Whatever a trace says, it is refused, or everything can be shown of it.
///
/// # Panics
/// If it is otherwise.
pub fn check(input: &[u8]) {
    if let Some(trace) = trace_of(input) {
        views::show_all(&trace);
    }
}

/// The trace that an input makes.
#[must_use]
pub fn trace_of(input: &[u8]) -> Option<Vec<u8>> {
    let originals = originals();
    let mut script = Script(input);
    let (first, other) = (script.byte()?, script.byte()?);
    let mut parts = originals[first % originals.len()].clone();
    let other = &originals[other % originals.len()];
    for _ in 0..MOST_CHANGES {
        if script.change(&mut parts, other).is_none() {
            break;
        }
    }
    Some(parts.join())
}

/// The traces that are changed.
fn originals() -> &'static [Parts] {
    static ORIGINALS: OnceLock<Vec<Parts>> = OnceLock::new();
    ORIGINALS.get_or_init(|| {
        let originals = crate::seeds::originals();
        originals.iter().map(|file| Parts::of(file)).collect()
    })
}

/// What is left of an input.
struct Script<'i>(&'i [u8]);

impl Script<'_> {
    fn byte(&mut self) -> Option<usize> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first.into())
    }

    /// A number of something of which there are so many.
    fn of(&mut self, many: usize) -> Option<usize> {
        let number = if many > 256 {
            self.byte()? << 8 | self.byte()?
        } else {
            self.byte()?
        };
        (many > 0).then(|| number % many)
    }

    /// A record of a block, by their numbers; the last of all if the block has none.
    fn record(&mut self, parts: &Parts) -> Option<(usize, usize)> {
        let is_records = |part: &Part| matches!(part.payload, Payload::Records(_));
        let all = parts.blocks.iter().enumerate();
        let blocks: Vec<usize> = all
            .filter(|(_, part)| is_records(part))
            .map(|(at, _)| at)
            .collect();
        let block = blocks[self.of(blocks.len())?];
        let Payload::Records(records) = &parts.blocks[block].payload else {
            return None;
        };
        Some((block, self.of(records.len())?))
    }

    /// Makes one change; `None` at the end of the input.
    fn change(&mut self, parts: &mut Parts, other: &Parts) -> Option<()> {
        match self.byte()? % 12 {
            0 => self.in_record(parts, |script, record| {
                let at = script.of(record.len())?;
                record[at] = script.byte()? as u8;
                Some(())
            }),
            1 => self.in_record(parts, |script, record| {
                let at = script.of(record.len())?;
                let telling = TELLING[script.of(TELLING.len())?];
                record.splice(at..=at, telling.iter().copied());
                Some(())
            }),
            2 => self.in_record(parts, |script, record| {
                record.truncate(script.of(record.len())?);
                Some(())
            }),
            3 => self.leave_out(parts),
            4 => {
                let from = parts.clone();
                self.copy_record(&from, parts)
            }
            5 => self.copy_record(other, parts),
            6 => {
                let at = self.of(parts.description.len())?;
                let telling = TELLING[self.of(TELLING.len())?];
                let byte = [self.byte()? as u8];
                let change = if byte[0] & 1 == 0 { telling } else { &byte };
                parts.description.splice(at..=at, change.iter().copied());
                Some(())
            }
            7 => self.field(parts),
            8 => self.in_events(parts, |script, events| {
                let at = script.of(events.len())?;
                events[at] = script.byte()? as u8;
                Some(())
            }),
            9 => {
                let from = other.blocks.get(self.of(other.blocks.len())?)?.clone();
                self.in_events(parts, |script, events| {
                    let Payload::Events(others) = &from.payload else {
                        return Some(());
                    };
                    let at = script.of(events.len() + 1)?;
                    let begin = script.of(others.len() + 1)?;
                    let end = (begin + script.byte()?).min(others.len());
                    events.splice(at..at, others[begin..end].iter().copied());
                    Some(())
                })
            }
            10 => {
                let at = self.of(parts.blocks.len())?;
                parts.blocks.remove(at);
                Some(())
            }
            _ => {
                let block = other.blocks.get(self.of(other.blocks.len())?)?.clone();
                let at = self.of(parts.blocks.len() + 1)?;
                if parts.blocks.len() < MOST_BLOCKS {
                    parts.blocks.insert(at, block);
                }
                Some(())
            }
        }
    }

    fn in_record(
        &mut self,
        parts: &mut Parts,
        change: impl FnOnce(&mut Self, &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        let (block, at) = self.record(parts)?;
        let Payload::Records(records) = &mut parts.blocks[block].payload else {
            return None;
        };
        change(self, &mut records[at])
    }

    fn in_events(
        &mut self,
        parts: &mut Parts,
        change: impl FnOnce(&mut Self, &mut Vec<u8>) -> Option<()>,
    ) -> Option<()> {
        let at = self.of(parts.blocks.len())?;
        match &mut parts.blocks[at].payload {
            Payload::Events(events) => change(self, events),
            Payload::Records(_) => Some(()),
        }
    }

    fn leave_out(&mut self, parts: &mut Parts) -> Option<()> {
        let (block, at) = self.record(parts)?;
        if let Payload::Records(records) = &mut parts.blocks[block].payload {
            records.remove(at);
        }
        Some(())
    }

    fn copy_record(&mut self, from: &Parts, parts: &mut Parts) -> Option<()> {
        let (block, at) = self.record(from)?;
        let Payload::Records(records) = &from.blocks[block].payload else {
            return None;
        };
        let record = records[at].clone();
        let (block, at) = self.record(parts)?;
        if let Payload::Records(records) = &mut parts.blocks[block].payload {
            records.insert(at, record);
        }
        Some(())
    }

    /// Changes the header of a block.
    fn field(&mut self, parts: &mut Parts) -> Option<()> {
        let at = self.of(parts.blocks.len())?;
        let field = FIELDS[self.of(FIELDS.len())?];
        let value = match self.byte()? {
            255 => u64::MAX,
            254 => i64::MAX as u64,
            253 => u64::from(u32::MAX),
            small => small as u64,
        };
        let length = if field == FIELDS[0] { 4 } else { 8 };
        let head = &mut parts.blocks[at].head;
        head[field..field + length].copy_from_slice(&value.to_le_bytes()[..length]);
        Some(())
    }
}
