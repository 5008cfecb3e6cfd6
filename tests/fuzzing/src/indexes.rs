//! Target `index`: an index file beside a trace is used only if it says what the trace says.
//!
//! The first byte of an input says how it is written beside the trace of `indexed`. 0: what
//! follows is the contents, and a head with the right checksum and length is put before it. 1: what
//! follows is the whole file.

use std::fs::File;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use portmortem_analyzer::figures::laws;
use portmortem_analyzer::index::Index;
use portmortem_analyzer::walk::Walk;
use portmortem_analyzer::{Profile, ReplayOptions, Trace, replay};
use portmortem_tracer::format::{Dialect, crc32};
use tempfile::TempDir;

use crate::agreement::write_all_tables;
use crate::generated::{Shape, trace};

/// Magic, version, checksum and length of the contents.
const HEAD_BYTES: usize = 24;

/// Events between two moments that are compared.
const STRIDE: u64 = 37;

/// Of the trace that inputs are indexes of.
const SHAPE: Shape = Shape {
    seed: 4,
    dialect: Dialect::EveryRedo,
    streams: 2,
    events: 400,
    odd: false,
    costs: true,
    ended: true,
};

/// The trace that inputs are indexes of, and what is true of it.
pub(crate) struct Indexed {
    /// Kept for as long as the trace is.
    _directory: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) trace: Trace,
    profile: Profile,
    /// Magic and version.
    head: [u8; 12],
}

/// An index is refused, or its figures keep the laws and walks from its checkpoints end. One that the analyser
/// makes says what the replay says. No other need: a checksum is no signature, and a fuzzer that sees comparisons
/// finds the right one.
///
/// # Panics
/// If it is otherwise.
pub fn check(input: &[u8]) {
    let Some((&mode, rest)) = input.split_first() else {
        return;
    };
    let indexed = indexed();
    // Before the input is written: it is made in the same place.
    let genuine = genuine();
    let contents = match mode {
        0 => with_head(indexed.head, rest),
        _ => rest.to_vec(),
    };
    let written = std::fs::write(Index::path_of(&indexed.path), contents);
    assert!(written.is_ok(), "the index can be written");
    let Ok(index) = Index::load(&indexed.trace, &indexed.path) else {
        return;
    };
    let profile = index.profile();
    assert_eq!(laws::check(&profile), []);
    write_all_tables(&indexed.trace, &profile);
    let is_genuine = mode != 0 && genuine.iter().any(|index| index == rest);
    if is_genuine {
        assert_eq!(profile, indexed.profile);
    }
    walk(&indexed.trace, &index, is_genuine);
}

/// The indexes that the analyser makes, with checkpoints far apart and near.
pub(crate) fn genuine() -> &'static [Vec<u8>] {
    static GENUINE: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    GENUINE.get_or_init(|| [1, 1500, u64::MAX].map(index_every).to_vec())
}

/// What has been found out once.
pub(crate) fn indexed() -> &'static Indexed {
    static INDEXED: OnceLock<Indexed> = OnceLock::new();
    INDEXED.get_or_init(|| make().expect("a trace can be written to a temporary folder"))
}

fn make() -> Result<Indexed, Box<dyn std::error::Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("fuzz.pmt");
    std::fs::write(&path, trace(SHAPE))?;
    // An index says when its trace was changed: inputs must be of the same trace on every machine.
    let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options()
        .write(true)
        .open(&path)?
        .set_modified(changed)?;
    let trace = Trace::open(&path)?;
    let profile = replay::replay(&trace, &ReplayOptions::default());
    let to = Index::build(&trace, &path, &ReplayOptions::default())?.save(&path)?;
    let mut head = [0; 12];
    head.copy_from_slice(&std::fs::read(to)?[..12]);
    Ok(Indexed {
        _directory: directory,
        path,
        trace,
        profile,
        head,
    })
}

/// The index that the analyser makes, with a checkpoint every so many bytes of events.
fn index_every(bytes: u64) -> Vec<u8> {
    let indexed = indexed();
    let index = Index::build_every(
        bytes,
        &indexed.trace,
        &indexed.path,
        &ReplayOptions::default(),
    );
    let index = index.expect("the trace is whole");
    let to = index.save(&indexed.path).expect("the index can be written");
    std::fs::read(to).expect("the index can be read")
}

/// The contents of an index file.
pub(crate) fn contents(index: &[u8]) -> &[u8] {
    &index[HEAD_BYTES..]
}

fn with_head(head: [u8; 12], contents: &[u8]) -> Vec<u8> {
    let mut bytes = head.to_vec();
    bytes.extend_from_slice(&crc32(contents).to_le_bytes());
    bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
    bytes.extend_from_slice(contents);
    bytes
}

/// Walks from the checkpoints of the index; if it is `genuine`, every moment is that of the way from the
/// beginning.
fn walk(trace: &Trace, index: &Index, genuine: bool) {
    for stream in trace.streams() {
        let mut plain = Walk::from(trace, None, stream, 0);
        let mut number = 0;
        loop {
            if number % STRIDE == 0 {
                let mut jumped = Walk::from(trace, Some(index.trail()), stream, number);
                let moment = jumped.moment().clone();
                let next = jumped.next();
                if genuine {
                    assert_eq!(moment, *plain.moment(), "event {number}");
                    let wanted = Walk::from(trace, None, stream, number).next();
                    assert_eq!(next, wanted, "event {number}");
                }
            }
            number += 1;
            if plain.next().is_none() {
                break;
            }
        }
    }
}
