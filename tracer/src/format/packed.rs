//! Headers of packed traces: those of the trace that was packed, and what leads back to it.

use super::block::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, PACKED, offset, put, u16_at, u32_at, with_crc,
};
use super::header::{
    FILE_HEADER_BYTES, PACKED_FROM_AT, PACKED_VERSION, header_version, put_versions,
};

/// A payload that is larger is not packed, so no reader needs more memory for one.
pub const MAX_UNPACKED_BYTES: u32 = 16 << 20;

/// The format version that a trace had before it was packed, from the header of the file; `None` if
/// it is not packed.
#[must_use]
pub fn packed_from(header: &[u8]) -> Option<u16> {
    let version = header.get(PACKED_FROM_AT..PACKED_FROM_AT + 2)?;
    Some(u16_at(version, 0)).filter(|&version| version > 0)
}

/// Makes the header of a file that of a packed trace.
pub fn pack_file_header(header: &mut [u8; FILE_HEADER_BYTES]) {
    let version = header_version(header).unwrap_or(0);
    put_versions(header, version.max(PACKED_VERSION), version);
}

/// Undoes [`pack_file_header`].
pub fn unpack_file_header(header: &mut [u8; FILE_HEADER_BYTES]) {
    if let Some(version) = packed_from(header) {
        put_versions(header, version, 0);
    }
}

/// Makes a valid block header that of a block of a packed trace, which was recorded at an offset.
/// If its payload is packed, this is how many bytes it has then.
pub fn pack_block_header(header: &mut [u8; BLOCK_HEADER_BYTES], at: u64, packed: Option<u32>) {
    let blocks_before = u32::try_from(at / BLOCK_ALIGN as u64).unwrap_or(0);
    put(header, offset::RECORDED_AT, &blocks_before.to_le_bytes());
    let Some(bytes) = packed else { return };
    let size = u32_at(header, offset::SIZE);
    put(header, offset::RECORDED_SIZE, &size.to_le_bytes());
    put(header, offset::PACKED_BYTES, &bytes.to_le_bytes());
    let kind = u32_at(header, offset::KIND) | PACKED;
    put(header, offset::KIND, &kind.to_le_bytes());
    let stored = (BLOCK_HEADER_BYTES as u32 + bytes).next_multiple_of(BLOCK_ALIGN as u32);
    let size_and_crc = with_crc(header, stored);
    put(header, offset::SIZE, &size_and_crc.to_le_bytes());
}

/// Undoes [`pack_block_header`].
pub fn unpack_block_header(header: &mut [u8; BLOCK_HEADER_BYTES]) {
    let kind = u32_at(header, offset::KIND);
    if kind & PACKED != 0 {
        put(header, offset::KIND, &(kind & !PACKED).to_le_bytes());
        let size = u32_at(header, offset::RECORDED_SIZE);
        let size_and_crc = with_crc(header, size);
        put(header, offset::SIZE, &size_and_crc.to_le_bytes());
    }
    header[offset::RECORDED_SIZE..].fill(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::block::{BlockClose, BlockStart, crc32};
    use crate::format::{BlockError, BlockHeader, BlockKind, Closing, Header, decode_header};
    use crate::format::{HeaderError, encode_header};

    fn block(payload: &[u8]) -> Vec<u8> {
        let start = BlockStart {
            kind: BlockKind::Events,
            stream: 3,
            sequence: 2,
            first_event: 100,
            base_tick: 7,
            base_ns: 9,
        };
        let close = BlockClose {
            last_tick: 8,
            events: 1,
            regressions: 0,
            payload_crc: crc32(payload),
        };
        start.encode_whole(&close, payload, 77)
    }

    #[test]
    fn a_file_header_comes_back() {
        let header = Header::of_this_process("an engine");
        let recorded = encode_header(&header, 5);
        assert_eq!(packed_from(&recorded), None);
        let mut packed = recorded;
        pack_file_header(&mut packed);
        assert_eq!(packed_from(&packed), Some(crate::format::FORMAT_VERSION));
        assert_eq!(decode_header(&packed), Ok((header, 5)));
        // The field is under the checksum.
        let mut damaged = packed;
        damaged[PACKED_FROM_AT] += 1;
        assert!(matches!(
            decode_header(&damaged),
            Err(HeaderError::Damaged(_))
        ));
        unpack_file_header(&mut packed);
        assert_eq!(packed, recorded);
    }

    #[test]
    fn a_block_header_comes_back() {
        for resized in [0, 1024, 4096] {
            let mut recorded: [u8; BLOCK_HEADER_BYTES] = *block(&[5; 600]).first_chunk().unwrap();
            let size_and_crc = with_crc(&recorded, resized);
            put(&mut recorded, offset::SIZE, &size_and_crc.to_le_bytes());
            let before = BlockHeader::parse(&recorded, 77).unwrap();
            for packed in [None, Some(0), Some(1), Some(384), Some(385)] {
                let mut header = recorded;
                pack_block_header(&mut header, 9 * 512, packed);
                let after = BlockHeader::parse(&header, 77).unwrap();
                let stored =
                    packed.map_or(before.stored, |bytes| if bytes > 384 { 1024 } else { 512 });
                let expected = BlockHeader {
                    stored,
                    packed,
                    recorded_at: Some(9 * 512),
                    ..before
                };
                assert_eq!(after, expected);
                unpack_block_header(&mut header);
                assert_eq!(header, recorded);
            }
        }
    }

    #[test]
    fn what_a_packed_block_cannot_be() {
        let mut header: [u8; BLOCK_HEADER_BYTES] = *block(&[5; 600]).first_chunk().unwrap();
        pack_block_header(&mut header, 0, Some(40));
        let parse = |header: &[u8]| BlockHeader::parse(header, 77);
        assert_eq!(parse(&header).unwrap().recorded_at, None);
        // More bytes than the block has, and sizes that no block has.
        for (at, value) in [
            (offset::PACKED_BYTES, 385_u32),
            (offset::RECORDED_SIZE, 513),
        ] {
            let mut damaged = header;
            put(&mut damaged, at, &value.to_le_bytes());
            assert_eq!(parse(&damaged), Err(BlockError::Damaged));
        }
        // An open block is not packed.
        let mut open = header;
        put(&mut open, offset::STATE, &0_u32.to_le_bytes());
        assert_eq!(parse(&open).unwrap().closing, Closing::Damaged);
    }
}
