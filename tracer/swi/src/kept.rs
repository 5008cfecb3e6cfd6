//! Trials that are kept from one process to the next, in a file of the user's cache.
//!
//! A file is for one machine, one build of the engine and of this library, and one way of
//! recording; all that is its name. Its contents are notes that say so and how fast the engine
//! was, and the trials, as records of a trace. Nothing that goes wrong here is an error: there
//! are new trials then.

use std::ffi::{CStr, OsStr, c_void};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portmortem_tracer::format::{Header, Record, Trial, Trials, crc32, encode_record, read_record};

use crate::ffi;

/// A machine may get other neighbours, or another clock.
const LONGEST_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// Files are shorter.
const LARGEST: u64 = 64 << 10;

/// What was kept of these trials, if it is of use: `pace` are the ticks that a loop takes now.
pub(crate) fn read(way: &str, pace: u32) -> Option<Trials> {
    read_in(&cache()?, way, pace)
}

fn read_in(cache: &Path, way: &str, pace: u32) -> Option<Trials> {
    let key = key(way)?;
    let path = path(cache, &key);
    let about = fs::metadata(&path).ok()?;
    let age = about.modified().ok()?.elapsed().ok()?;
    if !about.is_file() || about.len() > LARGEST || age > LONGEST_LIFE {
        return None;
    }
    let (then, trials) = decode(&fs::read(path).ok()?, &key)?;
    (holds(then, pace) && is_plausible(&trials)).then_some(trials)
}

/// Keeps trials, if that is possible, instead of others that were of no use. Whether they are of
/// use is for [`read`] to say: so whether there is a file does not depend on the machine.
pub(crate) fn write(way: &str, pace: u32, trials: &Trials) {
    if let Some(cache) = cache() {
        write_in(&cache, way, pace, trials);
    }
}

fn write_in(cache: &Path, way: &str, pace: u32, trials: &Trials) {
    let Some(key) = key(way) else { return };
    let path = path(cache, &key);
    // Where this cannot be done there are new trials each time.
    let _ = match encode(&key, pace, trials) {
        Some(bytes) => replace(&path, &bytes),
        None => fs::remove_file(&path),
    };
}

/// A reader sees the old file or the new one, whole.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)?;
    let new = path.with_extension(std::process::id().to_string());
    let mut options = fs::OpenOptions::new();
    let written = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .and_then(|mut file| file.write_all(bytes))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// As the XDG base directory specification says: a relative path counts as none.
fn cache() -> Option<PathBuf> {
    let directory = |name| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    directory("XDG_CACHE_HOME").or_else(|| directory("HOME").map(|home| home.join(".cache")))
}

fn path(cache: &Path, key: &str) -> PathBuf {
    let name = format!("trials-{:08x}", crc32(key.as_bytes()));
    cache.join("portmortem").join(name)
}

/// What trials hold for.
fn key(way: &str) -> Option<String> {
    let Header {
        recorder,
        machine,
        clock,
        ticks_per_second,
        ..
    } = Header::of_this_process("");
    let engine = object_of(ffi::PL_thread_self as *const c_void)?;
    let library = object_of(key as *const c_void)?;
    Some(format!(
        "{machine}; {clock:?} {ticks_per_second}; {engine}; {recorder} {library}; {way}"
    ))
}

/// The file that was loaded with this function, and what tells it from a later one of that name.
fn object_of(function: *const c_void) -> Option<String> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: a place for the answer; the loader's text stays as long as the object is loaded.
    let name = unsafe {
        if libc::dladdr(function, info.as_mut_ptr()) == 0 || (*info.as_ptr()).dli_fname.is_null() {
            return None;
        }
        CStr::from_ptr((*info.as_ptr()).dli_fname)
    };
    let path = fs::canonicalize(OsStr::from_bytes(name.to_bytes())).ok()?;
    let about = fs::metadata(&path).ok()?;
    Some(format!(
        "{} {} {}.{:09}",
        path.display(),
        about.size(),
        about.mtime(),
        about.mtime_nsec()
    ))
}

fn encode(key: &str, pace: u32, trials: &Trials) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for text in [key.to_owned(), pace.to_string()] {
        encode_record(&Record::Note { text }, &mut bytes).ok()?;
    }
    encode_record(&Record::Trials(trials.clone()), &mut bytes).ok()?;
    let checksum = crc32(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

fn decode(bytes: &[u8], key: &str) -> Option<(u32, Trials)> {
    let (records, checksum) = bytes.split_last_chunk::<4>()?;
    if crc32(records) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let mut at = 0;
    let mut next = || read_record(records, &mut at).ok();
    match (next()?, next()?, next()?) {
        (Record::Note { text }, Record::Note { text: pace }, Record::Trials(trials))
            if text == key =>
        {
            Some((pace.parse().ok()?, trials))
        }
        _ => None,
    }
}

/// Recorded programs have events, and take longer in all. One by one they may not, if others use
/// the machine.
fn is_plausible(trials: &Trials) -> bool {
    let sum = |ticks: fn(&Trial) -> u64| {
        let all = trials.trials.iter().map(ticks);
        all.fold(0, u64::saturating_add)
    };
    let has_events = |trial: &Trial| trial.counts.iter().any(|&count| count > 0);
    trials.trials.len() > 2
        && trials.trials.iter().all(has_events)
        && sum(|trial| trial.ticks) > sum(|trial| trial.untraced)
}

/// Whether trials hold that were made when the loop took `then` ticks. A virtual machine with
/// neighbours is up to twice as slow for some
/// milliseconds: trials that were made in such a moment are made again in a better one, and
/// others stay.
fn holds(then: u32, now: u32) -> bool {
    let quicker = then - then / 8;
    (quicker..then.saturating_mul(2)).contains(&now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(ticks: u64, untraced: u64) -> Trials {
        let trial = Trial {
            counts: [1, 0, 1, 0, 0, 0, 0, 0],
            ticks,
            untraced,
            ..Trial::default()
        };
        Trials {
            empty: 7,
            trials: vec![trial; 3],
            callbacks: vec![0, 5, 0],
        }
    }

    /// The only file that is kept.
    fn file(cache: &Path) -> PathBuf {
        let mut files = fs::read_dir(cache.join("portmortem")).unwrap();
        let file = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none());
        file
    }

    #[test]
    fn what_was_kept_is_read() {
        let cache = tempfile::tempdir().unwrap();
        let [first, second] = [trials(200, 100), trials(300, 100)];
        assert_eq!(read_in(cache.path(), "way", 1000), None);
        for trials in [first, second] {
            write_in(cache.path(), "way", 1000, &trials);
            assert_eq!(read_in(cache.path(), "way", 1000), Some(trials));
        }
        file(cache.path());
        assert_eq!(read_in(cache.path(), "another way", 1000), None);
    }

    /// They are kept all the same, and replaced by the next ones.
    #[test]
    fn trials_that_cost_nothing_are_of_no_use() {
        let cache = tempfile::tempdir().unwrap();
        write_in(cache.path(), "way", 1000, &trials(100, 100));
        assert!(file(cache.path()).is_file());
        assert_eq!(read_in(cache.path(), "way", 1000), None);
        write_in(cache.path(), "way", 1000, &trials(101, 100));
        assert!(read_in(cache.path(), "way", 1000).is_some());
    }

    #[test]
    fn trials_without_events_are_of_no_use() {
        let whole = trials(200, 100);
        assert!(is_plausible(&whole));
        let mut two = whole.clone();
        two.trials.pop();
        assert!(!is_plausible(&two));
        let mut empty = whole;
        empty.trials[1].counts = [0; 8];
        assert!(!is_plausible(&empty));
    }

    #[test]
    fn they_hold_while_the_machine_is_about_as_fast() {
        let cache = tempfile::tempdir().unwrap();
        write_in(cache.path(), "way", 1000, &trials(200, 100));
        for (now, of_use) in [(874, false), (875, true), (1999, true), (2000, false)] {
            let read = read_in(cache.path(), "way", now);
            assert_eq!(read.is_some(), of_use, "{now}");
        }
        assert!(holds(u32::MAX, u32::MAX - 1));
    }

    #[test]
    fn damaged_and_old_files_are_of_no_use() {
        let cache = tempfile::tempdir().unwrap();
        write_in(cache.path(), "way", 1000, &trials(200, 100));
        let path = file(cache.path());
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for damaged in [&whole[..whole.len() - 1], &flipped, b"", &[0xff; 100_000]] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(read_in(cache.path(), "way", 1000), None);
        }
        fs::write(&path, &whole).unwrap();
        assert!(read_in(cache.path(), "way", 1000).is_some());
        let long_ago = std::time::SystemTime::now() - LONGEST_LIFE - Duration::from_secs(60);
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(long_ago).unwrap();
        assert_eq!(read_in(cache.path(), "way", 1000), None);
    }
}
