//! Boxes in a few bytes each: they differ little from the one before.
//!
//! A box is the number of its predicate with four flags, the difference of its name from that of
//! the box before, and, where a flag says so, its caller (as a difference), what it was called as,
//! its last calls, and where it is in a focus; all as LEB128. A [`PIECE`] of boxes can be read
//! without those before.

use bincode::{Decode, Encode};

use crate::machine::OpenBox;

/// Boxes that are read together.
const PIECE: u64 = 64;

/// The caller is the box before.
const CALLED_BY_LAST: u64 = 1;
/// It is another one, which follows.
const CALLED_BY_OTHER: u64 = 2;
/// It was called as something else, which follows.
const CALLED_AS_OTHER: u64 = 4;
/// It made last calls; how many follows.
const LAST_CALLS: u64 = 8;
/// Which two flags speak of the caller. Both of them: it is on the way into a focus; where follows,
/// with what they would have been.
const CALLED_BY: u64 = 3;
const CALLED_BY_BITS: u32 = 2;
const FLAG_BITS: u32 = 4;

/// Boxes, the newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct Packed {
    len: u64,
    /// Where each piece begins.
    pieces: Vec<u64>,
    bytes: Vec<u8>,
}

impl Packed {
    pub(crate) fn new(boxes: impl IntoIterator<Item = OpenBox>) -> Self {
        let mut packed = Self::default();
        let mut last = 0;
        for boxed in boxes {
            if packed.len.is_multiple_of(PIECE) {
                packed.pieces.push(packed.bytes.len() as u64);
                last = 0;
            }
            packed.put(&boxed, last);
            last = boxed.called;
            packed.len += 1;
        }
        packed.pieces.shrink_to_fit();
        packed.bytes.shrink_to_fit();
        packed
    }

    /// How many boxes there are.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes that they take.
    pub(crate) fn size(&self) -> usize {
        self.bytes.len() + self.pieces.len() * size_of::<u64>()
    }

    /// Some boxes, of which the last one is the newest of the oldest `len`.
    pub(crate) fn newest(&self, len: u64) -> Vec<OpenBox> {
        let last = len.min(self.len).saturating_sub(1);
        self.piece(last / PIECE, last % PIECE + 1)
            .unwrap_or_default()
    }

    /// The first boxes, so many of them.
    pub(crate) fn oldest(&self, count: usize) -> Vec<OpenBox> {
        let count = self.len.min(count as u64);
        let pieces = 0..count.div_ceil(PIECE);
        pieces
            .flat_map(|piece| self.piece(piece, PIECE.min(count - piece * PIECE)))
            .flatten()
            .collect()
    }

    /// Whether all of it can be read, and every box `is` as it should be.
    pub(crate) fn all(&self, is: impl Fn(&OpenBox) -> bool) -> bool {
        self.pieces.len() as u64 == self.len.div_ceil(PIECE)
            && (0..self.len.div_ceil(PIECE)).all(|piece| {
                let boxes = self.piece(piece, PIECE.min(self.len - piece * PIECE));
                boxes.is_some_and(|boxes| boxes.iter().all(&is))
            })
    }

    fn put(&mut self, boxed: &OpenBox, last: u64) {
        let by = match boxed.caller {
            None => 0,
            Some(caller) if caller == last => CALLED_BY_LAST,
            Some(_) => CALLED_BY_OTHER,
        };
        let as_other = boxed.called_as != boxed.predicate;
        let flags = if boxed.way > 0 { CALLED_BY } else { by }
            | if as_other { CALLED_AS_OTHER } else { 0 }
            | if boxed.last_calls > 0 { LAST_CALLS } else { 0 };
        self.number(u64::from(boxed.predicate) << FLAG_BITS | flags);
        if boxed.way > 0 {
            self.number(u64::from(boxed.way) << CALLED_BY_BITS | by);
        }
        self.number(zigzag(boxed.called.wrapping_sub(last)));
        if let (CALLED_BY_OTHER, Some(caller)) = (by, boxed.caller) {
            self.number(zigzag(boxed.called.wrapping_sub(caller)));
        }
        if as_other {
            self.number(boxed.called_as.into());
        }
        if boxed.last_calls > 0 {
            self.number(boxed.last_calls);
        }
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn piece(&self, piece: u64, count: u64) -> Option<Vec<OpenBox>> {
        let start = *self.pieces.get(usize::try_from(piece).ok()?)?;
        let mut bytes = self.bytes.get(usize::try_from(start).ok()?..)?;
        let mut boxes = Vec::with_capacity(PIECE as usize);
        let mut last = 0;
        for _ in 0..count {
            let boxed = get(&mut bytes, last)?;
            last = boxed.called;
            boxes.push(boxed);
        }
        Some(boxes)
    }
}

fn get(bytes: &mut &[u8], last: u64) -> Option<OpenBox> {
    let head = number(bytes)?;
    let has = |flag| head & flag != 0;
    let predicate = u32::try_from(head >> FLAG_BITS).ok()?;
    let (way, by) = match head & CALLED_BY {
        CALLED_BY => {
            let way = number(bytes)?;
            (u32::try_from(way >> CALLED_BY_BITS).ok()?, way & CALLED_BY)
        }
        by => (0, by),
    };
    let called = last.wrapping_add(unzigzag(number(bytes)?));
    let caller = match by {
        CALLED_BY_LAST => Some(last),
        CALLED_BY_OTHER => Some(called.wrapping_sub(unzigzag(number(bytes)?))),
        _ => None,
    };
    let called_as = if has(CALLED_AS_OTHER) {
        u32::try_from(number(bytes)?).ok()?
    } else {
        predicate
    };
    let last_calls = if has(LAST_CALLS) { number(bytes)? } else { 0 };
    Some(OpenBox {
        called,
        caller,
        predicate,
        called_as,
        last_calls,
        way,
    })
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Small differences in both directions are small numbers.
fn zigzag(difference: u64) -> u64 {
    let sign = (difference as i64) >> 63;
    difference << 1 ^ sign as u64
}

fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}
