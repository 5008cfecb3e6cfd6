//! A reader of traces that believes nothing it has not checked: the recorder's tests stand on it.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::path::Path;

use portmortem_tracer::format::{
    BLOCK_ALIGN, BLOCK_HEADER_BYTES, BlockHeader, BlockKind, Closing, Event, FILE_HEADER_BYTES,
    FOOTER_BYTES, Footer, Header, Outcome, Record, decode_header, decode_index, read_record,
};

pub(crate) struct Block {
    pub(crate) offset: usize,
    pub(crate) header: BlockHeader,
    pub(crate) payload: Vec<u8>,
}

pub(crate) struct Trace {
    pub(crate) header: Header,
    pub(crate) file_id: u64,
    pub(crate) length: u64,
    pub(crate) blocks: Vec<Block>,
    pub(crate) records: Vec<Record>,
    pub(crate) has_footer: bool,
}

/// What the blocks of one stream say.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    pub(crate) events: Vec<(u64, Event)>,
    /// Events that are known to be missing, at the beginning, between blocks and at the end.
    pub(crate) lost: u64,
    pub(crate) regressions: u64,
    pub(crate) blocks: usize,
    pub(crate) open_blocks: usize,
}

impl Trace {
    /// Reads a trace in which everything must be right.
    pub(crate) fn read(path: impl AsRef<Path>) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let (header, file_id) = decode_header(&bytes).unwrap();
        let footer = Footer::decode(&bytes);
        let mut blocks = walk(&bytes, file_id);
        if let Some(footer) = footer {
            assert_eq!(footer.file_id, file_id);
            let index = blocks.pop().unwrap();
            assert_eq!(
                (index.header.kind, index.offset as u64),
                (BlockKind::Index, footer.index_offset)
            );
            let end = index.offset + index.header.size as usize + FOOTER_BYTES;
            assert_eq!(end, bytes.len());
            let listed = decode_index(&index.payload).unwrap().blocks;
            let listed: Vec<_> = listed
                .iter()
                .map(|entry| (entry.offset, entry.stream, entry.sequence))
                .collect();
            let walked: Vec<_> = blocks
                .iter()
                .map(|block| {
                    (
                        block.offset as u64,
                        block.header.stream,
                        block.header.sequence,
                    )
                })
                .collect();
            assert_eq!(listed, walked);
        }
        let records = records(&blocks);
        let length = bytes.len() as u64;
        Self {
            header,
            file_id,
            length,
            blocks,
            records,
            has_footer: footer.is_some(),
        }
    }

    pub(crate) fn stream(&self, id: u32) -> Stream {
        let mut blocks: Vec<_> = self
            .blocks
            .iter()
            .filter(|block| block.header.stream == id)
            .collect();
        blocks.sort_by_key(|block| block.header.sequence);
        let mut stream = Stream {
            blocks: blocks.len(),
            ..Stream::default()
        };
        let mut next_event = 0;
        for block in blocks {
            assert_eq!(block.header.kind, BlockKind::Events);
            assert!(block.header.first_event >= next_event);
            stream.lost += block.header.first_event - next_event;
            let before = stream.events.len();
            decode_events(block, &mut stream.events);
            let count = stream.events.len() - before;
            match block.header.closing {
                Closing::Open => stream.open_blocks += 1,
                Closing::Damaged => panic!("damaged block"),
                Closing::Closed(close) => {
                    assert_eq!(close.events as usize, count);
                    assert_eq!(
                        Some(close.last_tick),
                        stream.events.last().map(|event| event.0)
                    );
                    stream.regressions += u64::from(close.regressions);
                }
            }
            stream.lost += block.header.dropped;
            next_event = block.header.first_event + count as u64 + block.header.dropped;
        }
        if let Some(total) = self.stream_end(id) {
            assert!(total >= next_event);
            stream.lost += total - next_event;
            assert_eq!(total, stream.events.len() as u64 + stream.lost);
        }
        stream
    }

    /// How many events the stream had by its own account.
    pub(crate) fn stream_end(&self, id: u32) -> Option<u64> {
        self.records.iter().find_map(|record| match record {
            Record::StreamEnd { stream, events, .. } if *stream == id => Some(*events),
            _ => None,
        })
    }

    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.records.iter().find_map(|record| match record {
            Record::End { outcome, .. } => Some(outcome),
            _ => None,
        })
    }

    pub(crate) fn notes(&self) -> Vec<&str> {
        let mut notes = Vec::new();
        for record in &self.records {
            if let Record::Note { text } = record {
                notes.push(text.as_str());
            }
        }
        notes
    }

    pub(crate) fn stream_ids(&self) -> Vec<u32> {
        let begin = |record: &Record| match record {
            Record::StreamBegin(begin) => Some(begin.stream),
            _ => None,
        };
        self.records.iter().filter_map(begin).collect()
    }
}

impl Stream {
    pub(crate) fn kinds(&self) -> Vec<Event> {
        self.events.iter().map(|event| event.1).collect()
    }
}

fn walk(bytes: &[u8], file_id: u64) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = FILE_HEADER_BYTES;
    while at < bytes.len() {
        let Ok(header) = BlockHeader::parse(&bytes[at..], file_id) else {
            at += BLOCK_ALIGN;
            continue;
        };
        assert!(
            at + header.size as usize <= bytes.len(),
            "a block beyond the end of the file"
        );
        let payload = at + BLOCK_HEADER_BYTES;
        let payload = bytes[payload..payload + header.committed as usize].to_vec();
        assert_ne!(
            header.check(&payload),
            Some(false),
            "checksum of the block at {at}"
        );
        blocks.push(Block {
            offset: at,
            header,
            payload,
        });
        at += header.size as usize;
    }
    blocks
}

fn records(blocks: &[Block]) -> Vec<Record> {
    let mut blocks: Vec<_> = blocks
        .iter()
        .filter(|block| block.header.kind == BlockKind::Records)
        .collect();
    blocks.sort_by_key(|block| block.header.sequence);
    let mut records = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        assert_eq!(block.header.sequence, number as u64);
        assert_eq!(block.header.first_event, records.len() as u64);
        let mut at = 0;
        while at < block.payload.len() {
            records.push(read_record(&block.payload, &mut at).unwrap());
        }
    }
    records
}

fn decode_events(block: &Block, events: &mut Vec<(u64, Event)>) {
    let mut tick = block.header.base_tick;
    let mut at = 0;
    while at < block.payload.len() {
        let (event, delta, used) = Event::decode(&block.payload[at..]).unwrap();
        tick += delta;
        events.push((tick, event));
        at += used;
    }
}
