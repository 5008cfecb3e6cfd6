//! Adding to a trace that was closed: what is found out about a run only after its end.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::clock::BothClocks;
use crate::ending::index_and_footer;
use crate::format::{
    BLOCK_HEADER_BYTES, BlockClose, BlockHeader, BlockIndex, BlockKind, BlockStart, Closing,
    FILE_HEADER_BYTES, FOOTER_BYTES, FORMAT_VERSION, Footer, HeaderError, IndexEntry, Record,
    WireError, crc32, decode_header, decode_index, encode_record, header_version, packed_from,
};

/// Why a trace could not be added to. It is as it was, but for [`AmendError::Io`]: then it may have lost its index, and no more.
#[derive(Debug, thiserror::Error)]
pub enum AmendError {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no trace that this program can add to.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// An older version of the format does not know such records.
    #[error("the trace was written by an older Portmortem")]
    Older,
    /// It is packed.
    #[error("the trace is packed")]
    Packed,
    /// It was not closed in order, still grows, or is damaged.
    #[error("the trace does not end in order")]
    NotClosed,
    /// The record is too long.
    #[error(transparent)]
    Record(#[from] WireError),
}

/// Adds records to the trace at `path`, in a block of their own where the index was; a new index follows it.
///
/// # Errors
/// [`AmendError`].
pub fn amend(path: &Path, records: &[Record]) -> Result<(), AmendError> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let (tail, from) = tail_with(&file, records)?;
    // A reader that finds no index walks the file, and stops where no block begins.
    file.write_all_at(&tail, from)?;
    file.set_len(from + tail.len() as u64)?;
    Ok(())
}

/// The bytes that replace the index of the trace, and where they begin.
fn tail_with(file: &File, records: &[Record]) -> Result<(Vec<u8>, u64), AmendError> {
    let mut header = Vec::new();
    file.take(FILE_HEADER_BYTES as u64)
        .read_to_end(&mut header)?;
    let (_, file_id) = decode_header(&header)?;
    if packed_from(&header).is_some() {
        return Err(AmendError::Packed);
    }
    if header_version(&header) != Some(FORMAT_VERSION) {
        return Err(AmendError::Older);
    }
    let (from, mut index) = read_index(file, file_id).ok_or(AmendError::NotClosed)?;
    let last = last_records(file, &index, file_id).ok_or(AmendError::NotClosed)?;
    let mut payload = Vec::new();
    for record in records {
        encode_record(record, &mut payload)?;
    }
    let mut tail = records_block(&payload, records.len() as u32, &last, file_id);
    index.blocks.push(IndexEntry {
        offset: from,
        stream: 0,
        sequence: last.sequence + 1,
    });
    let end = from + tail.len() as u64;
    let pair = BothClocks {
        tick: last.base_tick,
        ns: last.base_ns,
    };
    tail.extend(index_and_footer(&index, end, pair, file_id));
    Ok((tail, from))
}

/// Where the index block begins, and what it says.
fn read_index(file: &File, file_id: u64) -> Option<(u64, BlockIndex)> {
    let size = file.metadata().ok()?.len();
    let mut footer = [0; FOOTER_BYTES];
    file.read_exact_at(&mut footer, size.checked_sub(FOOTER_BYTES as u64)?)
        .ok()?;
    let footer = Footer::decode(&footer).filter(|footer| footer.file_id == file_id)?;
    let from = footer.index_offset;
    let (header, payload) = read_block(file, from, file_id)?;
    let is_index = header.kind == BlockKind::Index && from >= FILE_HEADER_BYTES as u64;
    is_index.then_some((from, decode_index(&payload).ok()?))
}

/// The last records block.
fn last_records(file: &File, index: &BlockIndex, file_id: u64) -> Option<BlockHeader> {
    let records = index.blocks.iter().filter(|entry| entry.stream == 0);
    let last = records.max_by_key(|entry| entry.sequence)?;
    let (header, _) = read_block(file, last.offset, file_id)?;
    (header.kind == BlockKind::Records).then_some(header)
}

/// A closed block and its payload.
fn read_block(file: &File, at: u64, file_id: u64) -> Option<(BlockHeader, Vec<u8>)> {
    let mut header = [0; BLOCK_HEADER_BYTES];
    file.read_exact_at(&mut header, at).ok()?;
    let header = BlockHeader::parse(&header, file_id).ok()?;
    let Closing::Closed(close) = header.closing else {
        return None;
    };
    let from = at + BLOCK_HEADER_BYTES as u64;
    let end = from.checked_add(header.committed.into())?;
    if end > file.metadata().ok()?.len() {
        return None;
    }
    let mut payload = vec![0; header.committed as usize];
    file.read_exact_at(&mut payload, from).ok()?;
    (close.payload_crc == crc32(&payload)).then_some((header, payload))
}

/// A block with `count` records, to follow `last`. It has the times of that one: the clock of now may be another.
fn records_block(payload: &[u8], count: u32, last: &BlockHeader, file_id: u64) -> Vec<u8> {
    let before = match last.closing {
        Closing::Closed(close) => u64::from(close.events),
        Closing::Open | Closing::Damaged => 0,
    };
    let start = BlockStart {
        kind: BlockKind::Records,
        stream: 0,
        sequence: last.sequence + 1,
        first_event: last.first_event + before,
        base_tick: last.base_tick,
        base_ns: last.base_ns,
    };
    let close = BlockClose {
        last_tick: last.base_tick,
        events: count,
        regressions: 0,
        payload_crc: crc32(payload),
    };
    start.encode_whole(&close, payload, file_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Dialect, Header, Outcome, StreamKind, read_record};
    use crate::{NewPredicate, Options, Recorder};

    fn trace(directory: &Path) -> std::path::PathBuf {
        let path = directory.join("run.pmt");
        let header = Header::of_this_process("some engine");
        let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
        let main = recorder.predicate(NewPredicate::named("user", "main", 0));
        let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
        stream.call(main);
        stream.exit_det();
        stream.end();
        recorder.close(Outcome::Exited(0)).unwrap();
        path
    }

    fn records(path: &Path) -> Vec<Record> {
        let bytes = std::fs::read(path).unwrap();
        let (_, file_id) = decode_header(&bytes).unwrap();
        let file = File::open(path).unwrap();
        let (from, index) = read_index(&file, file_id).unwrap();
        assert_eq!(
            index.blocks.last().map(|last| last.offset < from),
            Some(true)
        );
        let mut found = Vec::new();
        for (sequence, entry) in index.blocks.iter().filter(|e| e.stream == 0).enumerate() {
            assert_eq!(entry.sequence, sequence as u64);
            let (_, payload) = read_block(&file, entry.offset, file_id).unwrap();
            let mut at = 0;
            while at < payload.len() {
                found.push(read_record(&payload, &mut at).unwrap());
            }
        }
        found
    }

    fn note(text: String) -> Record {
        Record::Note { text }
    }

    #[test]
    fn records_are_added_behind_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = trace(directory.path());
        let mut expected = records(&path);
        for number in 0..20 {
            let long = note(format!("{number}").repeat(number * 100 + 1));
            let added = vec![long; number % 3];
            amend(&path, &added).unwrap();
            expected.extend(added);
            assert_eq!(records(&path), expected);
        }
    }

    #[test]
    fn what_is_no_closed_trace_stays_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = trace(directory.path());
        let whole = std::fs::read(&path).unwrap();
        for length in [0, 10, 4096, whole.len() - 32, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            amend(&path, &[note("late".to_owned())]).unwrap_err();
            assert_eq!(std::fs::read(&path).unwrap(), &whole[..length]);
        }
        let mut older = whole.clone();
        older[8] = 1;
        let crc = crc32(&older[..28]);
        older[28..32].copy_from_slice(&crc.to_le_bytes());
        std::fs::write(&path, &older).unwrap();
        let error = amend(&path, &[note("late".to_owned())]).unwrap_err();
        assert!(matches!(error, AmendError::Older), "{error}");
        std::fs::write(&path, &whole).unwrap();
        amend(&path, &[note("x".repeat(70_000))]).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
}
