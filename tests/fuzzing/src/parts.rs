//! A trace taken apart into its header, blocks and records, and put together again with lengths and
//! checksums that are right.

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BLOCK_MAGIC, FILE_HEADER_BYTES, crc32,
};

use crate::packed::{Modes, unpack};

/// Of a block's header: its size, at first and later, its kind, and how much of its payload counts.
const SIZES: [usize; 2] = [4, 56];
const KIND: usize = 16;
const COMMITTED: usize = 64;
const RECORDS: u32 = 2;
const INDEX: u32 = 3;

/// Where the description begins in the header of a file, and where its length and checksum are.
const DESCRIPTION: usize = 32;
const DESCRIPTION_LENGTH: usize = 12;
const DESCRIPTION_CRC: usize = 24;

/// Payloads are cut to so many bytes: longer ones make fuzzing slow and show nothing more.
const MOST_PAYLOAD: usize = 400;

/// A trace in parts. The index is left out.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    head: Vec<u8>,
    /// The description in the header of the file, encoded.
    pub(crate) description: Vec<u8>,
    pub(crate) blocks: Vec<Part>,
}

/// A block.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Its header.
    pub(crate) head: Vec<u8>,
    pub(crate) payload: Payload,
}

/// What is in a block.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    /// Encoded, without the lengths before them.
    Records(Vec<Vec<u8>>),
    Events(Vec<u8>),
}

impl Parts {
    /// Of a whole trace.
    pub(crate) fn of(file: &[u8]) -> Self {
        let length = word(file, DESCRIPTION_LENGTH) as usize;
        let places = (FILE_HEADER_BYTES..file.len()).step_by(BLOCK_ALIGN);
        let begins = places.filter(|&at| file[at..].starts_with(&BLOCK_MAGIC));
        let blocks = begins.map(|at| &file[at..]);
        let blocks = blocks.filter(|block| word(block, KIND) != INDEX);
        Self {
            head: file[..DESCRIPTION].to_vec(),
            description: file[DESCRIPTION..DESCRIPTION + length].to_vec(),
            blocks: blocks.map(Part::of).collect(),
        }
    }

    /// As a trace.
    pub(crate) fn join(&self) -> Vec<u8> {
        let mut file = self.head.clone();
        let most = FILE_HEADER_BYTES - DESCRIPTION;
        let description = &self.description[..self.description.len().min(most)];
        put(&mut file, DESCRIPTION_LENGTH, description.len() as u32);
        put(&mut file, DESCRIPTION_CRC, crc32(description));
        file.extend_from_slice(description);
        file.resize(FILE_HEADER_BYTES, 0);
        for block in &self.blocks {
            block.add_to(&mut file);
        }
        unpack(&file, Modes(Modes::MENDED))
    }
}

impl Part {
    fn of(block: &[u8]) -> Self {
        let committed = word(block, COMMITTED) as usize;
        let payload = &block[BLOCK_HEADER_BYTES..BLOCK_HEADER_BYTES + committed];
        let payload = match word(block, KIND) {
            RECORDS => Payload::Records(records(payload)),
            _ => Payload::Events(payload[..committed.min(MOST_PAYLOAD)].to_vec()),
        };
        Self {
            head: block[..BLOCK_HEADER_BYTES].to_vec(),
            payload,
        }
    }

    fn add_to(&self, file: &mut Vec<u8>) {
        let mut payload = Vec::new();
        match &self.payload {
            Payload::Events(bytes) => payload.clone_from(bytes),
            Payload::Records(records) => {
                for record in records {
                    add_length(record.len(), &mut payload);
                    payload.extend_from_slice(record);
                }
            }
        }
        let mut head = self.head.clone();
        // It is as long as it has to be.
        for size in SIZES {
            put(&mut head, size, 0);
        }
        put(&mut head, COMMITTED, payload.len() as u32);
        file.extend_from_slice(&head);
        file.extend_from_slice(&payload);
        file.resize(file.len().next_multiple_of(BLOCK_ALIGN), 0);
    }
}

/// The records of a block of a trace that is whole.
fn records(payload: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < payload.len() {
        let mut length = 0;
        let mut shift = 0;
        loop {
            let byte = payload[at];
            at += 1;
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        records.push(payload[at..at + length].to_vec());
        at += length;
    }
    records
}

fn add_length(mut length: usize, out: &mut Vec<u8>) {
    while length >= 0x80 {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let field = bytes[at..].first_chunk();
    field.map_or(0, |field| u32::from_le_bytes(*field))
}

fn put(bytes: &mut [u8], at: usize, word: u32) {
    bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
}
