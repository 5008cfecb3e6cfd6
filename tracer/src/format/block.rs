//! The 128 bytes at the beginning of every block.

/// Blocks begin at multiples of this, and their sizes are multiples of it.
pub const BLOCK_ALIGN: usize = 512;
/// Size of a block header; the payload follows.
pub const BLOCK_HEADER_BYTES: usize = 128;
/// The first bytes of a block, stored last.
pub const BLOCK_MAGIC: [u8; 4] = *b"PMBK";

/// Where the fields lie, from the beginning of the block.
pub(crate) mod offset {
    pub(crate) const FIRST_SIZE: usize = 4;
    pub(crate) const FILE_ID: usize = 8;
    pub(crate) const KIND: usize = 16;
    pub(crate) const STREAM: usize = 20;
    pub(crate) const SEQUENCE: usize = 24;
    pub(crate) const FIRST_EVENT: usize = 32;
    pub(crate) const BASE_TICK: usize = 40;
    pub(crate) const BASE_NS: usize = 48;
    pub(crate) const SIZE: usize = 56;
    pub(crate) const COMMITTED: usize = 64;
    pub(crate) const STATE: usize = 68;
    pub(crate) const LAST_TICK: usize = 72;
    pub(crate) const EVENTS: usize = 80;
    pub(crate) const REGRESSIONS: usize = 84;
    pub(crate) const PAYLOAD_CRC: usize = 88;
    pub(crate) const CLOSE_CRC: usize = 92;
    pub(crate) const DROPPED: usize = 96;
    pub(crate) const AFTER_END: usize = 104;
    pub(crate) const FOLDED: usize = 112;
    pub(crate) const RECORDED_SIZE: usize = 116;
    pub(crate) const PACKED_BYTES: usize = 120;
    pub(crate) const RECORDED_AT: usize = 124;
}

const STATE_CLOSED: u32 = 1;

/// Added to the kind of a block whose payload is packed.
pub(super) const PACKED: u32 = 16;

/// What a block holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Events of one stream.
    Events,
    /// Records.
    Records,
    /// The index, at the end of a trace that was closed.
    Index,
}

impl BlockKind {
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Events => 1,
            Self::Records => 2,
            Self::Index => 3,
        }
    }

    fn from_code(code: u32) -> Option<Self> {
        Some(match code {
            1 => Self::Events,
            2 => Self::Records,
            3 => Self::Index,
            _ => return None,
        })
    }
}

/// Why there is no valid block header at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BlockError {
    /// The file ends inside the header.
    #[error("the file ends inside a block header")]
    Truncated,
    /// Not the magic: nothing was written here, or it was damaged.
    #[error("no block begins here")]
    Absent,
    /// A block of another trace.
    #[error("the block belongs to another trace")]
    Foreign,
    /// The checksum of the header is wrong, or a field makes no sense.
    #[error("the block header is damaged")]
    Damaged,
}

/// How a block was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// Still being written, or the process ended without closing it. No checksum of the payload.
    Open,
    /// Complete.
    Closed(BlockClose),
    /// Marked as closed, but the summary has the wrong checksum.
    Damaged,
}

/// What a closed block says about its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockClose {
    /// Tick of the last event.
    pub last_tick: u64,
    /// How many events, or records.
    pub events: u32,
    /// How many events had a clock that went backwards, recorded with a delta of 0.
    pub regressions: u32,
    /// CRC-32 of the committed payload.
    pub payload_crc: u32,
}

/// A block header that was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHeader {
    /// Size of the whole block in bytes, a multiple of [`BLOCK_ALIGN`]. Of a packed block: the size
    /// that it has unpacked.
    pub size: u32,
    /// Bytes of the file that the block takes, a multiple of [`BLOCK_ALIGN`].
    pub stored: u32,
    /// If the payload is packed: how many bytes it has in the file.
    pub packed: Option<u32>,
    /// Where the block began when it was recorded, if its trace was packed since and says so.
    pub recorded_at: Option<u64>,
    /// What it holds.
    pub kind: BlockKind,
    /// Stream of an events block, else 0.
    pub stream: u32,
    /// Number of the block within its stream, from 0; records blocks have their own count.
    pub sequence: u64,
    /// Events of the stream before this block, recorded or not.
    pub first_event: u64,
    /// The delta of the block's first event is relative to this tick.
    pub base_tick: u64,
    /// Monotonic nanoseconds read together with the base tick.
    pub base_ns: u64,
    /// Valid bytes of the payload, unpacked; never more than the block has room for.
    pub committed: u32,
    /// How it was left.
    pub closing: Closing,
    /// Events of the stream lost after the last one of this block.
    pub dropped: u64,
    /// How many of these the stream's thread did after the end of the recording.
    pub after_end: u64,
}

impl BlockHeader {
    /// Reads and checks the header at the beginning of `bytes`, of a trace with this file id.
    ///
    /// Whether the file is long enough for the whole block is not looked at.
    ///
    /// # Errors
    /// [`BlockError`] if there is no valid header.
    pub fn parse(bytes: &[u8], file_id: u64) -> Result<Self, BlockError> {
        let bytes = bytes
            .get(..BLOCK_HEADER_BYTES)
            .ok_or(BlockError::Truncated)?;
        if bytes[..4] != BLOCK_MAGIC {
            return Err(BlockError::Absent);
        }
        // One load, for a recorder at work stores both at once.
        let size_and_crc = u64_at(bytes, offset::SIZE);
        let size = size_and_crc as u32;
        if size_and_crc != with_crc(bytes, size) {
            return Err(BlockError::Damaged);
        }
        if u64_at(bytes, offset::FILE_ID) != file_id {
            return Err(BlockError::Foreign);
        }
        let now = |size| match size {
            0 => u32_at(bytes, offset::FIRST_SIZE),
            changed => changed,
        };
        let code = u32_at(bytes, offset::KIND);
        let kind = BlockKind::from_code(code & !PACKED).ok_or(BlockError::Damaged)?;
        let stored = now(size);
        let (size, packed) = match code & PACKED {
            0 => (stored, None),
            _ => (
                now(u32_at(bytes, offset::RECORDED_SIZE)),
                Some(u32_at(bytes, offset::PACKED_BYTES)),
            ),
        };
        let is_size = |size: u32| size != 0 && size.is_multiple_of(BLOCK_ALIGN as u32);
        if !is_size(stored) || !is_size(size) {
            return Err(BlockError::Damaged);
        }
        if packed.is_some_and(|bytes| bytes > stored - BLOCK_HEADER_BYTES as u32) {
            return Err(BlockError::Damaged);
        }
        let room = size - BLOCK_HEADER_BYTES as u32;
        let recorded_at = u64::from(u32_at(bytes, offset::RECORDED_AT)) * BLOCK_ALIGN as u64;
        let closing = match (closing(bytes, room), packed) {
            // Only what is complete is packed.
            (Closing::Open, Some(_)) => Closing::Damaged,
            (closing, _) => closing,
        };
        Ok(Self {
            size,
            stored,
            packed,
            recorded_at: (recorded_at > 0).then_some(recorded_at),
            kind,
            stream: u32_at(bytes, offset::STREAM),
            sequence: u64_at(bytes, offset::SEQUENCE),
            first_event: u64_at(bytes, offset::FIRST_EVENT),
            base_tick: u64_at(bytes, offset::BASE_TICK),
            base_ns: u64_at(bytes, offset::BASE_NS),
            committed: u32_at(bytes, offset::COMMITTED).min(room),
            closing,
            dropped: u64_at(bytes, offset::DROPPED),
            after_end: u64_at(bytes, offset::AFTER_END),
        })
    }

    /// Whether `payload`, the committed bytes, agrees with the checksum; `None` if there is none.
    #[must_use]
    pub fn check(&self, payload: &[u8]) -> Option<bool> {
        match self.closing {
            Closing::Open => None,
            Closing::Closed(close) => Some(crc32(payload) == close.payload_crc),
            Closing::Damaged => Some(false),
        }
    }
}

fn closing(bytes: &[u8], room: u32) -> Closing {
    match u32_at(bytes, offset::STATE) {
        0 => Closing::Open,
        STATE_CLOSED
            if crc32(&bytes[offset::COMMITTED..offset::CLOSE_CRC])
                == u32_at(bytes, offset::CLOSE_CRC)
                && u32_at(bytes, offset::COMMITTED) <= room =>
        {
            Closing::Closed(BlockClose {
                last_tick: u64_at(bytes, offset::LAST_TICK),
                events: u32_at(bytes, offset::EVENTS),
                regressions: u32_at(bytes, offset::REGRESSIONS),
                payload_crc: u32_at(bytes, offset::PAYLOAD_CRC),
            })
        }
        _ => Closing::Damaged,
    }
}

/// What is known of a block when it is opened. Fields as in [`BlockHeader`].
#[derive(Debug, Clone, Copy)]
pub struct BlockStart {
    /// What it holds.
    pub kind: BlockKind,
    /// Stream of an events block, else 0.
    pub stream: u32,
    /// Number of the block within its stream.
    pub sequence: u64,
    /// Events of the stream, or records, before this block.
    pub first_event: u64,
    /// The delta of the block's first event is relative to this tick.
    pub base_tick: u64,
    /// Monotonic nanoseconds at the base tick.
    pub base_ns: u64,
}

impl BlockStart {
    /// The header of the open, empty block, magic included.
    pub(crate) fn encode(&self, size: u32, file_id: u64) -> [u8; BLOCK_HEADER_BYTES] {
        let mut bytes = [0; BLOCK_HEADER_BYTES];
        bytes[..4].copy_from_slice(&BLOCK_MAGIC);
        put(&mut bytes, offset::FIRST_SIZE, &size.to_le_bytes());
        put(&mut bytes, offset::FILE_ID, &file_id.to_le_bytes());
        put(&mut bytes, offset::KIND, &self.kind.code().to_le_bytes());
        put(&mut bytes, offset::STREAM, &self.stream.to_le_bytes());
        put(&mut bytes, offset::SEQUENCE, &self.sequence.to_le_bytes());
        put(
            &mut bytes,
            offset::FIRST_EVENT,
            &self.first_event.to_le_bytes(),
        );
        put(&mut bytes, offset::BASE_TICK, &self.base_tick.to_le_bytes());
        put(&mut bytes, offset::BASE_NS, &self.base_ns.to_le_bytes());
        let size_and_crc = with_crc(&bytes, 0);
        put(&mut bytes, offset::SIZE, &size_and_crc.to_le_bytes());
        bytes
    }

    /// A closed block with this payload, no larger than it has to be.
    #[must_use]
    pub fn encode_whole(&self, close: &BlockClose, payload: &[u8], file_id: u64) -> Vec<u8> {
        let size = (BLOCK_HEADER_BYTES + payload.len()).next_multiple_of(BLOCK_ALIGN);
        let mut bytes = vec![0; size];
        put(&mut bytes, 0, &self.encode(size as u32, file_id));
        let close = encode_close(payload.len() as u32, close);
        put(&mut bytes, offset::COMMITTED, &close);
        put(&mut bytes, BLOCK_HEADER_BYTES, payload);
        bytes
    }
}

/// The word at [`offset::SIZE`] that changes the size of the block with this header, or 0 for the
/// size it was opened with: below the size, above the checksum that goes with it.
pub(crate) fn with_crc(header: &[u8], size: u32) -> u64 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header[offset::FIRST_SIZE..offset::SIZE]);
    crc.update(&size.to_le_bytes());
    u64::from(crc.finalize()) << 32 | u64::from(size)
}

/// Bytes 64..96 of a closed block with `committed` bytes of payload.
pub(crate) fn encode_close(committed: u32, close: &BlockClose) -> [u8; 32] {
    const FROM: usize = offset::COMMITTED;
    let mut bytes = [0; 32];
    put(&mut bytes, 0, &committed.to_le_bytes());
    put(
        &mut bytes,
        offset::STATE - FROM,
        &STATE_CLOSED.to_le_bytes(),
    );
    put(
        &mut bytes,
        offset::LAST_TICK - FROM,
        &close.last_tick.to_le_bytes(),
    );
    put(
        &mut bytes,
        offset::EVENTS - FROM,
        &close.events.to_le_bytes(),
    );
    put(
        &mut bytes,
        offset::REGRESSIONS - FROM,
        &close.regressions.to_le_bytes(),
    );
    put(
        &mut bytes,
        offset::PAYLOAD_CRC - FROM,
        &close.payload_crc.to_le_bytes(),
    );
    let crc = crc32(&bytes[..offset::CLOSE_CRC - FROM]);
    put(&mut bytes, offset::CLOSE_CRC - FROM, &crc.to_le_bytes());
    bytes
}

/// CRC-32 (IEEE) of `bytes`, the checksum of everything in a trace.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

pub(super) fn put(bytes: &mut [u8], at: usize, field: &[u8]) {
    bytes[at..at + field.len()].copy_from_slice(field);
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
