//! What a part of a trace is made of.

use portmortem_tracer::format::{BlockHeader, FILE_HEADER_BYTES, Part};

use super::Trace;
use super::blocks::{FoundBlocks, in_order, payload};
use super::clock::Pair;

impl Trace {
    /// Which part of another trace it is, if it was cut out of one ([`crate::cutting`]). Nothing
    /// but that part is looked at.
    #[must_use]
    pub fn part(&self) -> Option<&Part> {
        self.directory.part.as_ref()
    }

    /// The header of the file.
    pub(crate) fn file_header(&self) -> [u8; FILE_HEADER_BYTES] {
        let header = self.bytes.first_chunk().copied();
        header.unwrap_or([0; FILE_HEADER_BYTES])
    }

    /// The first and the last moment that its clock is known by.
    pub(crate) fn clock_ends(&self) -> Option<(Pair, Pair)> {
        self.pairs.ends()
    }

    /// Hands out the payloads of its records blocks in their order, but for damaged ones.
    pub(crate) fn each_records<E>(
        &self,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut blocks = FoundBlocks::find(&self.bytes, self.file_id).records;
        in_order(&mut blocks, &mut Vec::new());
        for block in blocks {
            let at = block.offset as usize;
            let Ok(header) = BlockHeader::parse(&self.bytes[at..], self.file_id) else {
                continue;
            };
            let (payload, is_whole) = payload(&self.bytes, at, &header);
            if !is_whole || header.check(&payload) != Some(false) {
                take(&payload)?;
            }
        }
        Ok(())
    }
}
