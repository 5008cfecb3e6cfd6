//! The 4 KiB at the beginning of a trace: written once, never rewritten.

use super::block::{crc32, put, u16_at, u32_at, u64_at};
use super::record::Header;
use super::wire::{self, WireError};

/// Size of the file header; the first block begins here.
pub const FILE_HEADER_BYTES: usize = 4096;
/// The first bytes of every trace. Like those of PNG, a copy in text mode damages them.
pub const FILE_MAGIC: [u8; 8] = *b"\x89PMT\r\n\x1a\n";
/// The version that a recorder writes. Each version has more kinds of records than the one before,
/// or more in one of them.
pub const FORMAT_VERSION: u16 = 12;
/// The version that packed traces of smaller versions have.
pub(crate) const PACKED_VERSION: u16 = 10;
/// The version of parts that were cut out of traces before [`FORMAT_VERSION`] was 12.
const OLDER_PART_VERSION: u16 = 11;
/// The newest version that this crate reads: that of parts that were cut out of traces.
pub const NEWEST_VERSION: u16 = 13;

const VERSION_AT: usize = 8;
pub(super) const PACKED_FROM_AT: usize = 10;
const CHECKED_BYTES: usize = 28;
const DESCRIPTION_AT: usize = 32;
const MAX_DESCRIPTION_BYTES: usize = FILE_HEADER_BYTES - DESCRIPTION_AT;

/// Why bytes are not the header of a trace that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The bytes do not begin like a trace.
    #[error("not a Portmortem trace")]
    NotATrace,
    /// The bytes begin like a trace and end before its header does.
    #[error("the file ends inside its header, after {0} bytes")]
    Truncated(usize),
    /// A newer Portmortem wrote the trace.
    #[error(
        "the trace has format version {found}; this program reads versions up to {NEWEST_VERSION}"
    )]
    NewerVersion {
        /// Version of the trace.
        found: u16,
    },
    /// The header does not agree with its checksums.
    #[error("the file header is damaged: {0}")]
    Damaged(&'static str),
    /// The description has the right checksum and still makes no sense.
    #[error("the description in the file header is damaged: {0}")]
    Description(#[from] WireError),
}

/// The header of a trace with this description. `file_id` is random and not 0.
///
/// A description that is too long loses arguments of the command line, then the rest of long
/// strings: the header has room for 4064 bytes.
#[must_use]
pub fn encode_header(header: &Header, file_id: u64) -> [u8; FILE_HEADER_BYTES] {
    let description = encode_fitting(header);
    let mut bytes = [0; FILE_HEADER_BYTES];
    bytes[..8].copy_from_slice(&FILE_MAGIC);
    bytes[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(&(description.len() as u32).to_le_bytes());
    bytes[16..24].copy_from_slice(&file_id.to_le_bytes());
    bytes[24..28].copy_from_slice(&crc32(&description).to_le_bytes());
    let crc = crc32(&bytes[..28]);
    bytes[28..32].copy_from_slice(&crc.to_le_bytes());
    bytes[DESCRIPTION_AT..DESCRIPTION_AT + description.len()].copy_from_slice(&description);
    bytes
}

/// The description and the file id in the first bytes of a file.
///
/// # Errors
/// [`HeaderError`] if they are not the header of a trace of this format version or an older one.
pub fn decode_header(bytes: &[u8]) -> Result<(Header, u64), HeaderError> {
    if bytes.get(..8) != Some(&FILE_MAGIC) {
        return Err(HeaderError::NotATrace);
    }
    // The version before everything else: a later one may have moved all that follows.
    let found = header_version(bytes).ok_or(HeaderError::Truncated(bytes.len()))?;
    if found > NEWEST_VERSION {
        return Err(HeaderError::NewerVersion { found });
    }
    let bytes = bytes
        .get(..FILE_HEADER_BYTES)
        .ok_or(HeaderError::Truncated(bytes.len()))?;
    if crc32(&bytes[..28]) != u32_at(bytes, 28) {
        return Err(HeaderError::Damaged("wrong checksum"));
    }
    let length = u32_at(bytes, 12) as usize;
    let file_id = u64_at(bytes, 16);
    if found == 0 || file_id == 0 || length > MAX_DESCRIPTION_BYTES {
        return Err(HeaderError::Damaged("a field is out of range"));
    }
    let description = &bytes[DESCRIPTION_AT..DESCRIPTION_AT + length];
    if crc32(description) != u32_at(bytes, 24) {
        return Err(HeaderError::Damaged("wrong checksum of the description"));
    }
    Ok((wire::decode_description(description)?, file_id))
}

/// Makes the header of a file that of a part which was cut out of the trace.
pub fn cut_file_header(header: &mut [u8; FILE_HEADER_BYTES]) {
    put_versions(header, NEWEST_VERSION, 0);
}

/// Whether a file is a part of a trace, packed or not, by its header.
#[must_use]
pub fn is_part(header: &[u8]) -> bool {
    matches!(
        header_version(header),
        Some(OLDER_PART_VERSION | NEWEST_VERSION)
    )
}

/// Puts another version into the header of a file, and the one that it had before it was packed.
pub(crate) fn put_versions(header: &mut [u8; FILE_HEADER_BYTES], version: u16, packed_from: u16) {
    put(header, VERSION_AT, &version.to_le_bytes());
    put(header, PACKED_FROM_AT, &packed_from.to_le_bytes());
    let crc = crc32(&header[..CHECKED_BYTES]);
    put(header, CHECKED_BYTES, &crc.to_le_bytes());
}

/// The format version of a trace, from the first bytes of the file.
pub(crate) fn header_version(bytes: &[u8]) -> Option<u16> {
    Some(u16_at(bytes.get(8..10)?, 0))
}

fn encode_fitting(header: &Header) -> Vec<u8> {
    let whole = wire::encode_description(header);
    if whole.len() <= MAX_DESCRIPTION_BYTES {
        return whole;
    }
    let mut header = header.clone();
    for text in [
        &mut header.recorder,
        &mut header.engine,
        &mut header.directory,
        &mut header.machine,
    ] {
        shorten(text, 512);
    }
    for argument in &mut header.command {
        shorten(argument, 512);
    }
    loop {
        let bytes = wire::encode_description(&header);
        if bytes.len() <= MAX_DESCRIPTION_BYTES {
            return bytes;
        }
        // Four strings of 512 bytes fit, so this ends with the command line at the latest.
        header.command.truncate(header.command.len() * 3 / 4);
        if let Some(last) = header.command.last_mut() {
            "…".clone_into(last);
        }
    }
}

/// Cuts `text` to at most `most` bytes, at a character, and shows that it was cut.
pub fn shorten(text: &mut String, most: usize) {
    const ELLIPSIS: &str = "…";
    if text.len() > most {
        let mut end = most.saturating_sub(ELLIPSIS.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str(ELLIPSIS);
    }
}
