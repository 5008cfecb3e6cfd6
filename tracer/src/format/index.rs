//! The index and the footer that points to it: the end of a trace that was closed.

use super::block::{crc32, u32_at, u64_at};
use super::record::BlockIndex;
use super::wire::{self, WireError};

/// Size of the footer, the last bytes of the file.
pub const FOOTER_BYTES: usize = 32;
/// The first bytes of the footer.
pub const FOOTER_MAGIC: [u8; 8] = *b"PMTRACE.";

/// The last bytes of a trace that was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    /// Where the index block begins.
    pub index_offset: u64,
    /// The file id in the header.
    pub file_id: u64,
}

impl Footer {
    /// The bytes of the footer.
    #[must_use]
    pub fn encode(&self) -> [u8; FOOTER_BYTES] {
        let mut bytes = [0; FOOTER_BYTES];
        bytes[..8].copy_from_slice(&FOOTER_MAGIC);
        bytes[8..16].copy_from_slice(&self.index_offset.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.file_id.to_le_bytes());
        let crc = crc32(&bytes[..24]);
        bytes[24..28].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The footer at the end of `file`, if it has a valid one.
    #[must_use]
    pub fn decode(file: &[u8]) -> Option<Self> {
        let bytes = file.last_chunk::<FOOTER_BYTES>()?;
        let valid = bytes[..8] == FOOTER_MAGIC && crc32(&bytes[..24]) == u32_at(bytes, 24);
        valid.then(|| Self {
            index_offset: u64_at(bytes, 8),
            file_id: u64_at(bytes, 16),
        })
    }
}

/// The payload of an index block.
#[must_use]
pub fn encode_index(index: &BlockIndex) -> Vec<u8> {
    let mut bytes = Vec::new();
    wire::encode_entries(&index.blocks, &mut bytes);
    bytes
}

/// The index in the payload of an index block.
///
/// # Errors
/// [`WireError`] if the bytes are not exactly one index.
pub fn decode_index(payload: &[u8]) -> Result<BlockIndex, WireError> {
    Ok(BlockIndex {
        blocks: wire::decode_entries(payload)?,
    })
}
