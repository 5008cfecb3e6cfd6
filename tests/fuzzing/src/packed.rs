//! Traces without padding, and the repair of what a mutation breaks by accident.
//!
//! A trace is mostly zeros: its header has 4096 bytes, and blocks begin at multiples of 512. A packed
//! trace is cut before each block and before the footer, and each piece has lost its zeros at the end.
//! Unpacking pads the pieces again, so a mutation may insert bytes anywhere and what follows still begins
//! where blocks begin. A whole trace is a packed one, too.
//!
//! Offsets are written here from `tracer/FORMAT.md`, not taken from the code that is tested.

use std::collections::HashMap;

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BLOCK_MAGIC, Event, FILE_HEADER_BYTES, FILE_MAGIC,
    FOOTER_BYTES, FOOTER_MAGIC, FORMAT_VERSION, crc32,
};

/// Unpacked traces are no longer than this.
const MOST_BYTES: usize = 1 << 20;

/// What is repaired in an unpacked trace: the first byte of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes(pub u8);

impl Modes {
    /// Checksums are left as they are.
    pub const BROKEN: u8 = 1;
    /// Sizes, counts and numbers of blocks are set to what is there, and a block ends before what is no
    /// event, so that the replay meets mutated events and no damage.
    pub const MENDED: u8 = 2;
    /// The last piece is not padded, so that the file ends inside a block.
    pub const CUT: u8 = 4;

    fn has(self, mode: u8) -> bool {
        self.0 & mode != 0
    }
}

/// The pieces of a trace without the zeros at their ends.
#[must_use]
pub fn pack(file: &[u8]) -> Vec<u8> {
    let pieces = pieces(file);
    let mut packed = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        let length = piece.iter().rposition(|&byte| byte != 0);
        let stripped = &piece[..length.map_or(0, |last| last + 1)];
        // A hole between two blocks is kept.
        let fills = padded(stripped, at == 0, at + 1 == pieces.len()) == piece.len();
        packed.extend_from_slice(if fills { stripped } else { piece });
    }
    packed
}

/// A trace from its pieces, padded and repaired.
#[must_use]
pub fn unpack(packed: &[u8], modes: Modes) -> Vec<u8> {
    let mut file = Vec::new();
    let pieces = pieces(packed);
    for (at, piece) in pieces.iter().enumerate() {
        let is_last = at + 1 == pieces.len();
        let end = file.len() + padded(piece, at == 0, is_last);
        file.extend_from_slice(piece);
        if file.len() > MOST_BYTES || is_last && modes.has(Modes::CUT) {
            break;
        }
        file.resize(end, 0);
    }
    if modes.has(Modes::MENDED) {
        mend(&mut file);
    }
    if !modes.has(Modes::BROKEN) {
        repair(&mut file);
    }
    file
}

/// Cut before each block and each footer.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let begins = |at: usize| {
        let rest = &bytes[at..];
        rest.starts_with(&BLOCK_MAGIC) || rest.starts_with(&FOOTER_MAGIC)
    };
    let mut from = 0;
    let mut pieces = Vec::new();
    for at in (1..bytes.len()).filter(|&at| begins(at)) {
        pieces.push(&bytes[from..at]);
        from = at;
    }
    pieces.push(&bytes[from..]);
    pieces
}

/// How long a piece is when it is unpacked.
fn padded(piece: &[u8], is_first: bool, is_last: bool) -> usize {
    if is_last && piece.starts_with(&FOOTER_MAGIC) {
        return piece.len().max(FOOTER_BYTES);
    }
    let least = if is_first {
        FILE_HEADER_BYTES
    } else {
        size(piece)
    };
    piece.len().max(least).next_multiple_of(BLOCK_ALIGN)
}

/// The size that a block says it has, if that is not absurd.
fn size(block: &[u8]) -> usize {
    const MOST: usize = 64 << 10;
    let field = |at: usize| {
        let bytes = block.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
    };
    let size = if field(56) > 0 { field(56) } else { field(4) };
    if size > MOST { 0 } else { size }
}

/// Where blocks may be: each place with the magic, and the bytes up to the next.
fn blocks(file: &[u8]) -> Vec<(usize, usize)> {
    let places = (FILE_HEADER_BYTES..file.len())
        .step_by(BLOCK_ALIGN)
        .filter(|&at| file.len() - at >= BLOCK_HEADER_BYTES && file[at..].starts_with(&BLOCK_MAGIC))
        .collect::<Vec<_>>();
    let ends = places.iter().skip(1).copied();
    let last = file.len() - footer_bytes(file);
    let ends = ends.chain([last]).collect::<Vec<_>>();
    places
        .into_iter()
        .zip(ends)
        .map(|(at, end)| (at, end.saturating_sub(at)))
        .collect()
}

fn footer_bytes(file: &[u8]) -> usize {
    let footer = file.last_chunk::<FOOTER_BYTES>();
    footer.map_or(0, |footer| {
        if footer.starts_with(&FOOTER_MAGIC) {
            FOOTER_BYTES
        } else {
            0
        }
    })
}

/// Sets every checksum to that of what is there.
fn repair(file: &mut [u8]) {
    if file.len() >= FILE_HEADER_BYTES {
        let length = (u32_at(file, 12) as usize).min(FILE_HEADER_BYTES - 32);
        put_crc(file, 24, 32..32 + length);
        put_crc(file, 28, 0..28);
    }
    for (at, _) in blocks(file) {
        put_crc(file, at + 60, at + 4..at + 60);
        if u32_at(file, at + 68) != 0 {
            let payload = at + BLOCK_HEADER_BYTES;
            let end = payload.saturating_add(u32_at(file, at + 64) as usize);
            put_crc(file, at + 88, payload..end.min(file.len()));
            put_crc(file, at + 92, at + 64..at + 92);
        }
    }
    let footer = footer_bytes(file);
    if footer > 0 {
        let at = file.len() - footer;
        put_crc(file, at + 24, at..at + 24);
    }
}

/// Sets what the format wants to agree with what is there. Ticks and the order of blocks stay.
fn mend(file: &mut [u8]) {
    const EVENTS: u32 = 1;
    const RECORDS: u32 = 2;
    if file.len() < FILE_HEADER_BYTES {
        return;
    }
    put(file, 0, &FILE_MAGIC);
    let version = u16::from_le_bytes([file[8], file[9]]).clamp(1, FORMAT_VERSION);
    put(file, 8, &version.to_le_bytes());
    let file_id = file[16..24].to_vec();
    // By kind and stream: how many blocks and events there were.
    let mut before: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    for (at, room) in blocks(file) {
        let kind = u32_at(file, at + 16);
        let key = (kind, u32_at(file, at + 20));
        let (sequence, first) = before.entry(key).or_default();
        let room = room & !(BLOCK_ALIGN - 1);
        put(file, at + 4, &(room as u32).to_le_bytes());
        put(file, at + 8, &file_id);
        put(file, at + 56, &[0; 4]);
        put(file, at + 24, &sequence.to_le_bytes());
        *sequence += 1;
        let most = room.saturating_sub(BLOCK_HEADER_BYTES);
        let mut committed = (u32_at(file, at + 64) as usize).min(most);
        if kind == EVENTS {
            let payload = at + BLOCK_HEADER_BYTES;
            let (events, bytes) = count(&file[payload..payload + committed]);
            committed = bytes;
            put(file, at + 32, &first.to_le_bytes());
            put(file, at + 80, &(events as u32).to_le_bytes());
            put(file, at + 96, &[0; 8]);
            *first += events;
        }
        put(file, at + 64, &(committed as u32).to_le_bytes());
        if kind == EVENTS || kind == RECORDS {
            let state = u32_at(file, at + 68) & 1;
            put(file, at + 68, &state.to_le_bytes());
        }
    }
    let footer = footer_bytes(file);
    if footer > 0 {
        let at = file.len() - footer;
        put(file, at + 16, &file_id);
    }
}

/// How many events there are, and how many bytes they take.
fn count(payload: &[u8]) -> (u64, usize) {
    let (mut events, mut at) = (0, 0);
    while let Some(rest) = payload.get(at..).filter(|rest| !rest.is_empty())
        && let Ok((_, _, length)) = Event::decode(rest)
    {
        events += 1;
        at += length;
    }
    (events, at)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut field = [0; 4];
    field.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(field)
}

fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

fn put_crc(bytes: &mut [u8], at: usize, of: std::ops::Range<usize>) {
    let crc = crc32(&bytes[of]);
    put(bytes, at, &crc.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::SAMPLES;

    #[test]
    fn samples_are_the_same_when_packed_and_unpacked() {
        for (name, sample) in SAMPLES {
            let packed = pack(sample);
            assert!(packed.len() < sample.len(), "{name}");
            for (packed, modes) in [(&packed[..], 0), (sample, Modes::BROKEN)] {
                let file = unpack(packed, Modes(modes));
                let differs = file.iter().zip(*sample).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{name}");
                assert_eq!(file.len(), sample.len(), "{name}");
            }
        }
    }
}
