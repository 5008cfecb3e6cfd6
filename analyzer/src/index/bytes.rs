//! The bytes of an index: magic, version, checksum and length of the rest, all little-endian, then
//! [`IndexContents`](super::contents::IndexContents) by bincode. The same of what is kept of a
//! trace whose recording did not end ([`so_far`](super::so_far)), or was folded
//! ([`folded`](mod@super::folded)).

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use bincode::error::DecodeError;
use bincode::{Decode, Encode};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::error::IndexError;
use crate::figures::PortTotals;
use crate::figures::clauses::ClauseFigures;

/// What a file has.
pub(super) type Magic = [u8; 8];

/// The contents of an index.
pub(super) const INDEX: Magic = *b"PMTINDEX";
/// The replay of a trace whose recording did not end.
pub(super) const SO_FAR: Magic = *b"PMTSOFAR";
/// The replay of the part of a recording that was folded.
pub(super) const FOLDED: Magic = *b"PMTFOLDS";

/// Version of the contents, and how many counters they have; an index of any other is made again.
const VERSION: u32 = (37 << 8) + (PortTotals::COUNTERS + ClauseFigures::COUNTERS) as u32;

pub(super) const HEAD_BYTES: usize = 24;

/// The largest index that is read, in bytes.
const MOST_BYTES: u64 = 1 << 32;

/// No value takes more bytes in memory than this for each byte of an index: a number of 128 bits
/// may take one.
const MOST_EXPANSION: usize = 16;

/// The bytes of an index.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, IndexError> {
    // Opening a pipe would wait for its other end.
    let options = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, options, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Err(IndexError::Missing),
        Err(error) => return Err(IndexError::Io(error.into())),
    };
    if !file.metadata()?.is_file() {
        return Err(IndexError::NotAFile);
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn encode(magic: Magic, contents: &impl Encode) -> Vec<u8> {
    // Encoding to memory fails for no value of these types.
    let body = bincode::encode_to_vec(contents, bincode::config::standard()).unwrap_or_default();
    sealed(magic, &body)
}

pub(super) fn sealed(magic: Magic, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.extend_from_slice(&magic);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

pub(super) fn decode<T: Decode<()>>(magic: Magic, bytes: &[u8]) -> Result<T, IndexError> {
    let (head, body) = bytes
        .split_first_chunk::<HEAD_BYTES>()
        .ok_or(IndexError::Damaged)?;
    if !head.starts_with(&magic) {
        let is_other = [INDEX, SO_FAR, FOLDED]
            .iter()
            .any(|magic| head.starts_with(magic));
        return Err(match is_other {
            true => IndexError::Stale,
            false => IndexError::Damaged,
        });
    }
    if head[8..12] != VERSION.to_le_bytes() {
        return Err(IndexError::Stale);
    }
    if head[12..16] != crc32fast::hash(body).to_le_bytes()
        || head[16..] != (body.len() as u64).to_le_bytes()
    {
        return Err(IndexError::Damaged);
    }
    match decode_body(body) {
        Ok((contents, read)) if read == body.len() => Ok(contents),
        _ => Err(IndexError::Damaged),
    }
}

/// The contents, and how many bytes they take.
pub(super) fn decode_body<T: Decode<()>>(body: &[u8]) -> Result<(T, usize), DecodeError> {
    // Lists are given room for as many items as they claim to have. The compiler must know the
    // limit.
    const MOST: usize = MOST_EXPANSION * MOST_BYTES as usize;
    match body.len().max(1).saturating_mul(MOST_EXPANSION).ilog2() {
        0..20 => decode_within::<0x10_0000, T>(body),
        20..24 => decode_within::<0x100_0000, T>(body),
        24..28 => decode_within::<0x1000_0000, T>(body),
        28..32 => decode_within::<0x1_0000_0000, T>(body),
        _ => decode_within::<MOST, T>(body),
    }
}

/// Decodes with at most so many bytes of memory.
fn decode_within<const BYTES: usize, T: Decode<()>>(
    body: &[u8],
) -> Result<(T, usize), DecodeError> {
    let config = bincode::config::standard().with_limit::<BYTES>();
    bincode::decode_from_slice(body, config)
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(bytes)?;
    file.into_inner().map_err(io::Error::from)?.sync_all()
}
