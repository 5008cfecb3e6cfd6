//! What happens to a trace when something happens to the process: killed, forked, out of disk.
//!
//! Each test runs this program again as a child that records; the environment tells it how.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "common/reader.rs"]
mod reader;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memmap2::MmapRaw;
use portmortem_tracer::format::{Dialect, Event, Header, Outcome, StreamKind};
use portmortem_tracer::{Keep, NewPredicate, Options, Recorder, Stream};
use reader::Trace;

const JOB: &str = "PORTMORTEM_TEST_JOB";
const DIRECTORY: &str = "PORTMORTEM_TEST_DIRECTORY";
const THREADS: usize = 3;

/// Not a test of its own: what the children of the other tests do.
#[test]
fn child() {
    let Some(job) = std::env::var_os(JOB) else {
        return;
    };
    die_soon();
    let directory = std::env::var(DIRECTORY).unwrap();
    let directory = Path::new(&directory);
    match job.to_str().unwrap() {
        "endless" => endless(directory, Options::default()),
        "endless flight recorder" => endless(directory, flight_recorder()),
        "endless short streams" => endless_short_streams(directory),
        "until full" => until_full(directory, Keep::First),
        "until full, keep last" => until_full(directory, Keep::Last),
        "until full, never folded" => until_full(directory, LARGE),
        "file size limit" => {
            let limit = libc::rlimit {
                rlim_cur: 3_000_000,
                rlim_max: 3_000_000,
            };
            // SAFETY: a valid limit, of this process only.
            let set = unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) };
            assert_eq!(set, 0);
            until_full(directory, Keep::First);
        }
        "fork" => fork(directory),
        "closed, and a child lives on" => {
            let recorder = record(directory, &Options::default());
            leave_a_child(directory);
            recorder.close(Outcome::Exited(0)).unwrap();
        }
        "killed, and a child lives on" => {
            let _recorder = record(directory, &Options::default());
            leave_a_child(directory);
            // SAFETY: ends this process.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
        other => panic!("no job {other}"),
    }
}

/// A deadlock fails the test instead of hanging it, and no process fills the disk for ever.
fn die_soon() {
    // SAFETY: the signals end this process, which is all that is wanted.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::alarm(900);
    }
}

fn start(job: &str, directory: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture"])
        .env(JOB, job)
        .env(DIRECTORY, directory)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn run(job: &str, directory: &Path) {
    assert!(start(job, directory).wait().unwrap().success(), "{job}");
}

fn record(directory: &Path, options: &Options) -> Recorder {
    let header = Header::of_this_process("test");
    Recorder::create(directory.join("trace.pmt"), &header, options).unwrap()
}

fn thread(recorder: &Recorder) -> Stream {
    recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo)
}

fn flight_recorder() -> Options {
    Options {
        max_size: Some(300_000),
        keep: Keep::Last,
        ..Options::default()
    }
}

/// Counters in a file, one for each thread, which outlive the process.
struct Progress(MmapRaw);

impl Progress {
    fn new(directory: &Path) -> Self {
        let path = directory.join("progress");
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let file = file.unwrap();
        file.set_len(4096).unwrap();
        Self(MmapRaw::map_raw(&file).unwrap())
    }

    fn of(&self, stream: u32) -> &AtomicU64 {
        assert!(stream < 512);
        // SAFETY: aligned, in bounds, and atomic for whoever maps the file.
        unsafe { AtomicU64::from_ptr(self.0.as_mut_ptr().cast::<u64>().add(stream as usize)) }
    }
}

/// The event that is number `i` of each stream.
fn event(i: u64) -> Event {
    match i % 4 {
        0 | 1 => Event::Call {
            predicate: (i % 500) as u32,
        },
        2 => Event::ExitDet,
        _ => Event::Fail,
    }
}

fn endless(directory: &Path, options: Options) {
    let progress = Progress::new(directory);
    let recorder = record(directory, &options);
    for i in 0..500 {
        assert_eq!(recorder.predicate(NewPredicate::named("user", "p", i)), i);
    }
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let stream = thread(&recorder);
                let done = progress.of(stream.id());
                for i in 0.. {
                    record_event(&stream, i);
                    done.store(i + 1, Ordering::Release);
                }
            });
        }
    });
}

fn record_event(stream: &Stream, i: u64) {
    match event(i) {
        Event::Call { predicate } => stream.call(predicate),
        Event::ExitDet => stream.exit_det(),
        _ => stream.fail(),
    }
}

/// How many events a short stream has.
fn length_of(stream: u32) -> u64 {
    u64::from(stream) * 7919 % 3000
}

/// Each thread says which stream it has and how many events are in it.
fn endless_short_streams(directory: &Path) {
    let progress = Progress::new(directory);
    let recorder = record(directory, &Options::default());
    let work = |done: &AtomicU64| {
        loop {
            let stream = thread(&recorder);
            let id = u64::from(stream.id());
            for i in 0..length_of(stream.id()) {
                record_event(&stream, i);
                done.store(id << 32 | (i + 1), Ordering::Release);
            }
        }
    };
    std::thread::scope(|scope| {
        for number in 0..THREADS as u32 {
            let done = progress.of(number);
            scope.spawn(move || work(done));
        }
    });
}

/// A moment of the next kill; the seed is printed for the report of a failure, which
/// `PORTMORTEM_SEED` takes again.
struct Moments(u64);

impl Moments {
    fn new() -> Self {
        let seed = std::env::var("PORTMORTEM_SEED").map(|text| text.parse().unwrap());
        let seed = seed.unwrap_or_else(|_| u64::from(std::process::id()));
        println!("PORTMORTEM_SEED={seed}");
        Self(seed)
    }

    fn nap(&mut self) {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1);
        std::thread::sleep(Duration::from_micros(2000 + (self.0 >> 33) % 60_000));
    }
}

/// Lets `check` see what each kill has left: the trace and the directory. How long it takes until
/// something is recorded is the machine's affair: half of the kills wait for it, and are sure to
/// leave events. The others may come before the recording begins: then a new one can.
fn kill_at_random_moments(job: &str, times: u64, check: impl Fn(&Trace, &Path)) {
    let mut moments = Moments::new();
    for time in 0..times {
        let directory = tempfile::tempdir().unwrap();
        let progress = Progress::new(directory.path());
        let mut child = start(job, directory.path());
        let is_told = || (0..=THREADS as u32).any(|at| progress.of(at).load(Ordering::Acquire) > 0);
        while time % 2 == 0 && !is_told() {
            assert_eq!(child.try_wait().unwrap(), None, "it ended");
            std::thread::sleep(Duration::from_micros(100));
        }
        moments.nap();
        child.kill().unwrap();
        child.wait().unwrap();
        let path = directory.path().join("trace.pmt");
        if fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
            let trace = Trace::read(&path);
            assert_eq!(trace.outcome(), None);
            check(&trace, directory.path());
        } else {
            assert!(!is_told(), "events were told, and there is no trace");
            let overwrite = Options {
                overwrite: true,
                ..Options::default()
            };
            record(directory.path(), &overwrite);
        }
    }
}

fn assert_right(id: u32, stream: &reader::Stream) {
    let right = |(i, &(_, read))| event(stream.lost + i as u64) == read;
    assert!(
        stream.events.iter().enumerate().all(right),
        "a wrong event in stream {id}"
    );
}

fn check_long_streams(trace: &Trace, directory: &Path) {
    let progress = Progress::new(directory);
    for id in trace.stream_ids() {
        let told = progress.of(id).load(Ordering::Acquire);
        let stream = trace.stream(id);
        let recorded = stream.lost + stream.events.len() as u64;
        assert!(
            recorded == told || recorded == told + 1,
            "stream {id}: {recorded} events recorded, {told} told"
        );
        assert_right(id, &stream);
    }
}

#[test]
fn killed_at_random_moments() {
    kill_at_random_moments("endless", 30, check_long_streams);
}

#[test]
fn killed_at_random_moments_with_a_flight_recorder() {
    kill_at_random_moments("endless flight recorder", 20, check_long_streams);
}

#[test]
fn killed_while_streams_end_and_others_take_their_room() {
    kill_at_random_moments("endless short streams", 30, |trace, directory| {
        let progress = Progress::new(directory);
        let told = (0..THREADS as u32).map(|number| progress.of(number).load(Ordering::Acquire));
        let told: HashMap<_, _> = told
            .map(|told| ((told >> 32) as u32, told & u64::from(u32::MAX)))
            .collect();
        for id in trace.stream_ids() {
            let stream = trace.stream(id);
            let recorded = stream.events.len() as u64;
            let whole = match told.get(&id) {
                Some(&told) => recorded == told || recorded == told + 1,
                // Over, or not yet told of.
                None => recorded == length_of(id) || recorded <= 1,
            };
            assert!(whole, "stream {id}: {recorded} events recorded, {told:?}");
            assert_eq!(stream.lost, 0);
            assert_right(id, &stream);
        }
    });
}

/// All, and from this size on what was folded makes room: nothing is.
const LARGE: Keep = Keep::FiguresBeyond(1 << 20);

fn until_full(directory: &Path, keep: Keep) {
    let recorder = record(
        directory,
        &Options {
            keep,
            ..Options::default()
        },
    );
    let streams = [thread(&recorder), thread(&recorder)];
    for i in 0..2_000_000 {
        for stream in &streams {
            stream.call(i & 0xff);
        }
    }
    assert!(recorder.is_full());
    drop(streams);
    recorder.close(Outcome::Stopped).unwrap();
}

fn check_full(path: &Path, keep: Keep) {
    let trace = Trace::read(path);
    let (outcome, note) = match keep {
        Keep::First | Keep::FiguresBeyond(_) => (Outcome::Full, "recording stopped: "),
        Keep::Last | Keep::Figures => (Outcome::Full, "only the most recent events were kept: "),
    };
    assert_eq!(trace.outcome(), Some(&outcome));
    assert!(trace.notes()[0].starts_with(note), "{:?}", trace.notes());
    for id in [1, 2] {
        let stream = trace.stream(id);
        assert!(
            stream.events.len() > 100_000 && stream.lost > 0,
            "{}",
            stream.events.len()
        );
        assert_eq!(stream.events.len() as u64 + stream.lost, 2_000_000);
        let first = match keep {
            Keep::First | Keep::FiguresBeyond(_) => 0,
            Keep::Last | Keep::Figures => stream.lost,
        };
        assert!(stream.events.iter().enumerate().all(|(i, &(_, event))| {
            event
                == Event::Call {
                    predicate: (first + i as u64) as u32 & 0xff,
                }
        }));
    }
}

#[test]
fn the_system_limits_the_size_of_files() {
    let directory = tempfile::tempdir().unwrap();
    run("file size limit", directory.path());
    let path = directory.path().join("trace.pmt");
    check_full(&path, Keep::First);
    assert!(fs::metadata(&path).unwrap().len() <= 3_000_000);
}

#[test]
fn the_disk_is_full() {
    let directory = tempfile::tempdir().unwrap();
    let mount = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4m", "portmortem-test"])
        .arg(directory.path())
        .stderr(Stdio::null())
        .status();
    if !mount.is_ok_and(|status| status.success()) {
        eprintln!("not tested: this user may not mount a small disk");
        return;
    }
    let tested = std::panic::catch_unwind(|| {
        for (job, keep) in [
            ("until full", Keep::First),
            ("until full, keep last", Keep::Last),
            ("until full, never folded", LARGE),
        ] {
            run(job, directory.path());
            let path = directory.path().join("trace.pmt");
            check_full(&path, keep);
            fs::remove_file(path).unwrap();
        }
        // No room at all: an error, and no file.
        fs::write(directory.path().join("ballast"), vec![1; (4 << 20) - 8192]).unwrap();
        let path = directory.path().join("none.pmt");
        let header = Header::of_this_process("test");
        let error = Recorder::create(&path, &header, &Options::default()).unwrap_err();
        assert!(error.to_string().contains("No space left"), "{error}");
        assert!(!path.exists());
    });
    let unmounted = Command::new("umount")
        .arg(directory.path())
        .status()
        .unwrap();
    assert!(unmounted.success());
    tested.unwrap();
}

fn fork(directory: &Path) {
    let recorder = record(directory, &Options::default());
    let mut ours = Some(thread(&recorder));
    let enough = AtomicU64::new(0);
    std::thread::scope(|scope| {
        // A thread that is always in the middle of something.
        scope.spawn(|| {
            while enough.load(Ordering::Relaxed) == 0 {
                let busy = thread(&recorder);
                let id = recorder.predicate(NewPredicate::named("user", "busy", 0));
                (0..300).for_each(|_| busy.call(id));
                std::thread::sleep(Duration::from_micros(20));
            }
        });
        for round in 0..200 {
            let stream = ours.as_ref().unwrap();
            stream.call(round);
            // SAFETY: the child does what a careless program does; that it survives is the test.
            let child = unsafe { libc::fork() };
            if child == 0 {
                die_soon();
                for _ in 0..100 {
                    stream.exception();
                    stream.cut();
                }
                stream.mark("child");
                let _ = recorder.predicate(NewPredicate::named("user", "child", 0));
                thread(&recorder).call(0);
                recorder.note("child");
                let closed = recorder.close(Outcome::Exited(9)).is_ok();
                drop(ours.take());
                // SAFETY: nothing of the parent's is run at the end of the child.
                unsafe { libc::_exit(i32::from(!closed)) };
            }
            let mut status = 0;
            // SAFETY: waits for our own child.
            let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
            assert_eq!(waited, child);
            assert_eq!(status, 0);
            stream.exit_det();
        }
        enough.store(1, Ordering::Relaxed);
    });
    drop(ours);
    recorder.close(Outcome::Exited(0)).unwrap();
}

#[test]
fn the_child_of_a_fork_leaves_the_trace_alone() {
    let directory = tempfile::tempdir().unwrap();
    run("fork", directory.path());
    let trace = Trace::read(directory.path().join("trace.pmt"));
    assert_eq!(trace.outcome(), Some(&Outcome::Exited(0)));
    assert!(trace.notes().is_empty());
    let events = trace.stream(1).kinds();
    assert_eq!(events.len(), 400);
    for (round, pair) in events.chunks(2).enumerate() {
        assert_eq!(
            pair,
            [
                Event::Call {
                    predicate: round as u32
                },
                Event::ExitDet
            ]
        );
    }
}

/// Forks a child that lives until the file `go` is there, and then leaves the file `gone`. It has begun when this returns.
fn leave_a_child(directory: &Path) {
    // SAFETY: the child only looks for files; it may allocate, as this thread did not hold the allocator's lock.
    if unsafe { libc::fork() } == 0 {
        // SAFETY: ends this process if the test does not.
        unsafe { libc::alarm(900) };
        fs::write(directory.join("begun"), "").unwrap();
        wait_for(&directory.join("go"));
        fs::write(directory.join("gone"), "").unwrap();
        // SAFETY: nothing of the parent's is run at the end of the child.
        unsafe { libc::_exit(0) };
    }
    wait_for(&directory.join("begun"));
}

fn wait_for(file: &Path) {
    while !file.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_child_that_lives_on_does_not_hinder_the_next_recording() {
    for job in [
        "closed, and a child lives on",
        "killed, and a child lives on",
    ] {
        let directory = tempfile::tempdir().unwrap();
        start(job, directory.path()).wait().unwrap();
        let overwrite = Options {
            overwrite: true,
            ..Options::default()
        };
        let next = record(directory.path(), &overwrite);
        assert!(!directory.path().join("gone").exists());
        fs::write(directory.path().join("go"), "").unwrap();
        wait_for(&directory.path().join("gone"));
        next.close(Outcome::Exited(0)).unwrap();
        Trace::read(directory.path().join("trace.pmt"));
    }
}

#[test]
fn a_path_that_cannot_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file/trace.pmt");
    fs::write(directory.path().join("file"), "").unwrap();
    let refused = Recorder::create(path, &Header::of_this_process("test"), &Options::default());
    assert!(refused.unwrap_err().to_string().contains("Not a directory"));
}
