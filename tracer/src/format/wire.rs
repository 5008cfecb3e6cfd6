//! Values as bincode bytes. The only module that knows bincode: if it has to go, only this changes.

use bincode::config::{self, Configuration, Limit, LittleEndian, Varint};
use bincode::{Decode, Encode};

use super::record::{Header, IndexEntry, Record};
use super::swi_prolog::swi_prolog_roles;
use super::varint;

/// The longest record, in bytes of its encoding without the length before it.
pub const MAX_RECORD_BYTES: usize = 64 << 10;

/// An encoded index entry takes at least a byte for each of its three fields.
const MIN_ENTRY_BYTES: usize = 3;

/// Bounds what a length inside a value can make the decoder allocate.
type Bounded<const BYTES: usize> = Configuration<LittleEndian, Varint, Limit<BYTES>>;

/// Why bytes are not a value, or a value cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The bytes end inside the value.
    #[error("the value is cut off")]
    Truncated,
    /// The value takes more bytes than the format allows.
    #[error("the value is longer than the {limit} bytes allowed")]
    TooLong {
        /// The most that is allowed.
        limit: usize,
    },
    /// Bytes are left over behind the value.
    #[error("{0} bytes are left over behind the value")]
    Trailing(usize),
    /// Not the encoding of a value of this type.
    #[error("the value does not decode: {0}")]
    Malformed(String),
}

fn bounded<const BYTES: usize>() -> Bounded<BYTES> {
    config::standard().with_limit::<BYTES>()
}

fn encode<T: Encode>(value: &T) -> Vec<u8> {
    // Encoding into a vector fails only for types whose length is unknown, and there are none here.
    bincode::encode_to_vec(value, config::standard()).unwrap_or_default()
}

/// One value at the beginning of `bytes` and how many bytes it took.
fn decode<T: Decode<()>, const BYTES: usize>(bytes: &[u8]) -> Result<(T, usize), WireError> {
    use bincode::error::DecodeError;
    bincode::decode_from_slice(bytes, bounded::<BYTES>()).map_err(|error| match error {
        DecodeError::UnexpectedEnd { .. } => WireError::Truncated,
        DecodeError::LimitExceeded => WireError::TooLong { limit: BYTES },
        other => WireError::Malformed(other.to_string()),
    })
}

fn decode_whole<T: Decode<()>, const BYTES: usize>(bytes: &[u8]) -> Result<T, WireError> {
    let (value, used) = decode::<T, BYTES>(bytes)?;
    match bytes.len() - used {
        0 => Ok(value),
        rest => Err(WireError::Trailing(rest)),
    }
}

/// Appends the record, its length first, as it stands in a records block.
///
/// # Errors
/// [`WireError::TooLong`] above [`MAX_RECORD_BYTES`]; `out` is then unchanged.
pub fn encode_record(record: &Record, out: &mut Vec<u8>) -> Result<(), WireError> {
    let bytes = encode(record);
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(WireError::TooLong {
            limit: MAX_RECORD_BYTES,
        });
    }
    varint::write(bytes.len() as u64, out);
    out.extend_from_slice(&bytes);
    Ok(())
}

/// The record that these bytes are, without the length before it.
///
/// # Errors
/// [`WireError`] if they are not exactly one record of this format version or an older one.
pub fn decode_record(bytes: &[u8]) -> Result<Record, WireError> {
    if bytes.len() > MAX_RECORD_BYTES {
        return Err(WireError::TooLong {
            limit: MAX_RECORD_BYTES,
        });
    }
    match decode_whole::<Record, MAX_RECORD_BYTES>(bytes) {
        Err(WireError::Truncated) => decode_older(bytes).ok_or(WireError::Truncated),
        decoded => decoded,
    }
}

/// A record without its last field: format version 4 had none in sites, versions up to 6 none in
/// trials, and versions up to 11 none in predicates, whose names said what they are.
fn decode_older(bytes: &[u8]) -> Option<Record> {
    /// False, nothing in a list, or no role.
    const NONE: u8 = 0;
    let with_field = [bytes, &[NONE]].concat();
    let mut record = decode_whole::<Record, MAX_RECORD_BYTES>(&with_field).ok()?;
    match &mut record {
        Record::Predicate(of) => of.roles = swi_prolog_roles(&of.module, &of.name, of.arity),
        Record::Site { .. } | Record::Trials(_) => {}
        _ => return None,
    }
    Some(record)
}

/// Reads the record, its length first, at `*at` of a records block's payload and moves `*at` behind
/// it, also if the record itself does not decode: the next one may.
///
/// # Errors
/// [`WireError`]; `*at` has not moved if not even the length makes sense.
pub fn read_record(payload: &[u8], at: &mut usize) -> Result<Record, WireError> {
    let mut start = *at;
    let length = varint::read(payload, &mut start).map_err(|_| WireError::Truncated)?;
    if length > MAX_RECORD_BYTES as u64 {
        return Err(WireError::TooLong {
            limit: MAX_RECORD_BYTES,
        });
    }
    let end = start + length as usize;
    let bytes = payload.get(start..end).ok_or(WireError::Truncated)?;
    *at = end;
    decode_record(bytes)
}

pub(super) fn encode_description(header: &Header) -> Vec<u8> {
    encode(header)
}

pub(super) fn decode_description(bytes: &[u8]) -> Result<Header, WireError> {
    // A vector of strings is claimed at 24 bytes an element, so this is more than the bytes are.
    decode_whole::<Header, { 256 << 10 }>(bytes)
}

pub(super) fn encode_entries(entries: &[IndexEntry], out: &mut Vec<u8>) {
    out.extend(encode(&(entries.len() as u64)));
    for entry in entries {
        out.extend(encode(entry));
    }
}

/// Entry by entry, so that the announced number of entries allocates nothing it has no bytes for.
pub(super) fn decode_entries(bytes: &[u8]) -> Result<Vec<IndexEntry>, WireError> {
    let (count, mut at) = decode::<u64, 16>(bytes)?;
    if count > (bytes.len() / MIN_ENTRY_BYTES) as u64 {
        return Err(WireError::Truncated);
    }
    let mut entries = Vec::with_capacity(count as usize);
    for _ in 0..count {
        let (entry, used) = decode::<IndexEntry, 64>(&bytes[at..])?;
        entries.push(entry);
        at += used;
    }
    match bytes.len() - at {
        0 => Ok(entries),
        rest => Err(WireError::Trailing(rest)),
    }
}
