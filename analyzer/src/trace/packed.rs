//! Payloads of blocks, packed or not.
//!
//! A packed payload is one frame of Zstandard (RFC 8878). It is unpacked when a stream comes to its
//! block, and forgotten with it, so a packed trace takes no more memory than another one.

use std::io;
use std::ops::Deref;
use std::sync::Arc;

use portmortem_tracer::format::MAX_UNPACKED_BYTES;

/// More takes three times as long and saves a twentieth.
const LEVEL: i32 = 3;

/// The payload of a block.
#[derive(Debug, Clone)]
pub(crate) enum PayloadBytes<'b> {
    /// As it is in the file.
    Mapped(&'b [u8]),
    /// As it was before it was packed.
    Unpacked(Arc<Vec<u8>>),
}

impl Default for PayloadBytes<'_> {
    fn default() -> Self {
        Self::Mapped(&[])
    }
}

impl Deref for PayloadBytes<'_> {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(bytes) => bytes,
            Self::Unpacked(bytes) => bytes,
        }
    }
}

/// A payload of so many bytes; `None` if it is damaged. No more memory is taken than the format
/// allows, whatever the bytes are.
pub(super) fn unpacked(packed: &[u8], length: u32) -> Option<PayloadBytes<'static>> {
    if length > MAX_UNPACKED_BYTES {
        return None;
    }
    let bytes = zstd::bulk::decompress(packed, length as usize).ok()?;
    (bytes.len() == length as usize).then(|| PayloadBytes::Unpacked(Arc::new(bytes)))
}

/// Packs a payload.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn packed(payload: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(payload, LEVEL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back() {
        for payload in [&b""[..], b"a", &[7; 100_000]] {
            let packed = packed(payload).unwrap();
            let found = unpacked(&packed, payload.len() as u32).unwrap();
            assert_eq!(&*found, payload);
            // Of another length it is none.
            assert!(unpacked(&packed, payload.len() as u32 + 1).is_none());
            if let Some(less) = payload.len().checked_sub(1) {
                assert!(unpacked(&packed, less as u32).is_none());
            }
        }
    }

    #[test]
    fn what_claims_too_much_is_not_unpacked() {
        let most = MAX_UNPACKED_BYTES as usize;
        let large = packed(&vec![0; most + 1]).unwrap();
        assert!(unpacked(&large, MAX_UNPACKED_BYTES + 1).is_none());
        assert!(unpacked(&large, u32::MAX).is_none());
        let allowed = packed(&vec![0; most]).unwrap();
        assert!(unpacked(&allowed, MAX_UNPACKED_BYTES).is_some());
    }
}
