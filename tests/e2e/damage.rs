//! Traces that are damaged, cut off, or no traces at all: a clear message and status 1, or what is left, a remark
//! and status 3. Never a panic, and never figures that are wrong in silence.

use std::fs;

use portmortem_tests::{Outcome, Sandbox, Status, sample};
use portmortem_tracer::format::NEWEST_VERSION;

/// The commands that read traces.
fn readers(path: &str) -> [Vec<&str>; 6] {
    [
        vec!["report", path],
        vec!["report", path, "--format", "csv"],
        vec!["report", path, "--format", "json"],
        vec!["info", path],
        vec!["verify", path],
        vec!["export", path, "--force", "--to", "tables"],
    ]
}

/// Each of them must refuse `path` with one line that has `why` in it.
fn all_refuse(sandbox: &Sandbox, path: &str, why: &str) {
    for arguments in readers(path) {
        let outcome = sandbox.portmortem(&arguments);
        if arguments[0] == "export" {
            // It says so of each trace, then that there was none.
            outcome
                .exits(1)
                .says(why)
                .says("error: none of the traces could be read");
        } else {
            outcome.refuses(why);
        }
    }
}

/// A real trace with several streams.
fn some_trace(sandbox: &Sandbox) -> Vec<u8> {
    sandbox.record_file(&sample("threads_exceptions.pl"), &[]);
    fs::read(sandbox.path("threads_exceptions.pmt")).unwrap()
}

#[test]
fn what_is_no_trace_at_all() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("directory.pmt")).unwrap();
    all_refuse(&sandbox, "missing.pmt", "No such file");
    all_refuse(&sandbox, "directory.pmt", "it is a directory");
    all_refuse(&sandbox, "/dev/null", "not a regular file");
    for (contents, why) in [
        (&b""[..], "the file is empty"),
        (PNG, "it looks like a PNG image"),
        (b":- initialization(main).\n", "it looks like text"),
        (&[0; 10_000], "zeros"),
        (&[0x55; 10_000], "not a Portmortem trace"),
        (b"\x89PMT", "not a Portmortem trace"),
        (b"\x89PMT\r\n\x1a\n", "ends inside its header"),
    ] {
        sandbox.write("x.pmt", contents);
        all_refuse(&sandbox, "x.pmt", why);
    }
}

/// One transparent dot.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\0\x01\0\0\x05\0\x01\r\n-\xb4\0\0\0\0IEND\xaeB`\x82";

#[test]
fn a_newer_format() {
    let sandbox = Sandbox::new();
    let mut bytes = some_trace(&sandbox);
    for version in [NEWEST_VERSION + 1, NEWEST_VERSION + 2, 0xffff] {
        bytes[8..10].copy_from_slice(&version.to_le_bytes());
        sandbox.write("x.pmt", &bytes);
        let why = format!(
            "written by a newer Portmortem (format {version}, this one reads up to {NEWEST_VERSION})"
        );
        all_refuse(&sandbox, "x.pmt", &why);
    }
}

#[test]
fn a_damaged_header() {
    let sandbox = Sandbox::new();
    let whole = some_trace(&sandbox);
    for place in [10, 13, 16, 23, 24, 28, 32, 40, 100] {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x40;
        sandbox.write("x.pmt", &bytes);
        all_refuse(&sandbox, "x.pmt", "header");
    }
}

#[test]
fn an_unreadable_file() {
    let sandbox = Sandbox::new();
    let bytes = some_trace(&sandbox);
    sandbox.write("x.pmt", &bytes);
    // For root every file is readable, so another user looks.
    let script = "chmod 700 . && setpriv --reuid 65534 --clear-groups \"$portmortem\" report x.pmt";
    let outcome = sandbox.sh(script);
    if outcome.err().contains("setpriv") {
        println!("not tried: only root can become another user");
    } else {
        outcome.demand(outcome.status != Status::Exit(0), "an error");
    }
}

/// The trace as it was, and what a report of it says.
struct Reference {
    bytes: Vec<u8>,
    report: String,
}

impl Reference {
    fn new(sandbox: &Sandbox) -> Self {
        let bytes = some_trace(sandbox);
        sandbox.write("x.pmt", &bytes);
        let report = sandbox.portmortem(["report", "x.pmt", "--format", "csv"]);
        Self {
            bytes,
            report: report.succeeds().out(),
        }
    }

    /// Writes `bytes` as a trace and gives it to the readers; the first one alone unless `all`.
    fn look_at(&self, sandbox: &Sandbox, bytes: &[u8], all: bool, what: &str) -> Status {
        sandbox.write("x.pmt", bytes);
        let report = sandbox.portmortem(["report", "x.pmt", "--format", "csv"]);
        self.check(&report, what);
        if all {
            for arguments in readers("x.pmt") {
                let outcome = sandbox.portmortem(&arguments);
                assert_eq!(outcome.status, report.status, "{what}\n{outcome}");
                if outcome.status == Status::Exit(1) && arguments[0] != "export" {
                    outcome.refuses("x.pmt");
                }
                if outcome.status == Status::Exit(3) && ["verify", "info"].contains(&arguments[0]) {
                    outcome.shows("\n- ");
                }
            }
        }
        report.status
    }

    /// Refused, or reported as incomplete, or nothing of it was read.
    fn check(&self, report: &Outcome, what: &str) {
        match report.status {
            Status::Exit(0) => same_figures(&report.out(), &self.report, what),
            Status::Exit(1) => {
                report.refuses("x.pmt");
            }
            Status::Exit(3) => {
                report.shows("trace,predicate");
            }
            _ => panic!("{what}\n{report}"),
        }
    }
}

/// Equal, but for times that are off by a hundred-thousandth, or one: the last block has a reading
/// of two clocks, and without it their ratio is a little less exact. So rows may be in another
/// order, which is that of times.
fn same_figures(report: &str, reference: &str, what: &str) {
    assert_eq!(report.lines().count(), reference.lines().count(), "{what}");
    let columns: Vec<&str> = reference.lines().next().unwrap().split(',').collect();
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    for (line, wanted) in sorted(report).iter().zip(&sorted(reference)) {
        let cells = line.split(',').zip(wanted.split(','));
        for ((cell, wanted_cell), column) in cells.zip(&columns) {
            let close = match (cell.parse::<f64>(), wanted_cell.parse::<f64>()) {
                (Ok(a), Ok(b)) if column.ends_with("_ns") => (a - b).abs() <= b * 1e-5 + 1.0,
                _ => cell == wanted_cell,
            };
            assert!(close, "{what}: wrong in silence:\n{line}\n{wanted}");
        }
    }
}

#[test]
fn cut_off_at_many_places() {
    let sandbox = Sandbox::new();
    let whole = Reference::new(&sandbox);
    let length = whole.bytes.len();
    let blocks = (0..length)
        .step_by(512)
        .flat_map(|at| [at, at + 1, at + 128, at + 511]);
    let places = blocks
        .chain((0..length).step_by(211))
        .filter(|&at| at < length);
    let mut noticed = 0;
    for (round, length) in places.enumerate() {
        let what = format!("cut off after {length} bytes");
        let status = whole.look_at(&sandbox, &whole.bytes[..length], round % 16 == 0, &what);
        noticed += usize::from(status != Status::Exit(0));
    }
    assert!(noticed > 100);
}

#[test]
fn cut_off_inside_the_events() {
    let sandbox = Sandbox::new();
    let whole = Reference::new(&sandbox);
    for length in [4096, 5000, 8192, whole.bytes.len() / 2] {
        sandbox.write("x.pmt", &whole.bytes[..length]);
        for arguments in readers("x.pmt") {
            sandbox.portmortem(&arguments).exits(3);
        }
        let report = sandbox.portmortem(["report", "x.pmt"]);
        let said = [" lost; figures", "the run did not end"];
        let said = said.iter().any(|text| report.out().contains(text));
        report.demand(said, "a remark on what is missing");
    }
}

#[test]
fn single_bits_flipped_at_many_places() {
    let sandbox = Sandbox::new();
    let whole = Reference::new(&sandbox);
    let mut noticed = 0;
    let places: Vec<usize> = (0..whole.bytes.len()).step_by(37).collect();
    for (round, &place) in places.iter().enumerate() {
        let mut bytes = whole.bytes.clone();
        let bit = (place / 37 * 5) % 8;
        bytes[place] ^= 1 << bit;
        let what = format!("bit {bit} of byte {place}");
        let status = whole.look_at(&sandbox, &bytes, round % 16 == 0, &what);
        noticed += usize::from(status != Status::Exit(0));
    }
    println!("{noticed} of {} flips were noticed", places.len());
    assert!(noticed > places.len() / 10);
}

/// In the events of a closed block no flip can go unnoticed: there is a checksum.
#[test]
fn no_flip_in_the_events_goes_unnoticed() {
    let sandbox = Sandbox::new();
    let whole = Reference::new(&sandbox);
    let (start, length) = largest_block_of_events(&whole.bytes);
    for place in (start..start + length).step_by(length / 40 + 1) {
        let mut bytes = whole.bytes.clone();
        bytes[place] ^= 1 << (place % 8);
        let status = whole.look_at(&sandbox, &bytes, false, &format!("byte {place}"));
        assert_eq!(status, Status::Exit(3), "byte {place}");
    }
}

/// Where its committed events are, by the description of the format.
fn largest_block_of_events(bytes: &[u8]) -> (usize, usize) {
    let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let mut at = 4096;
    let mut largest = (0, 0);
    while at + 128 <= bytes.len() {
        if &bytes[at..at + 4] != b"PMBK" {
            at += 512;
            continue;
        }
        let (size, kind, committed) = (number(at + 4), number(at + 16), number(at + 64));
        if kind == 1 && committed > largest.1 {
            largest = (at + 128, committed);
        }
        at += size;
    }
    assert!(largest.1 > 1000, "no block of events");
    largest
}

#[test]
fn pieces_that_do_not_belong_together() {
    let sandbox = Sandbox::new();
    let whole = Reference::new(&sandbox);
    let other = {
        let sandbox = Sandbox::new();
        sandbox.record_file(&sample("queens.pl"), &[]);
        fs::read(sandbox.path("queens.pmt")).unwrap()
    };
    let glued = [&whole.bytes[..4096], &other[4096..]].concat();
    whole.look_at(
        &sandbox,
        &glued,
        true,
        "the header of one trace, the blocks of another",
    );
    let doubled = [&whole.bytes[..], &whole.bytes[4096..]].concat();
    whole.look_at(&sandbox, &doubled, true, "all blocks twice");
    let mut swapped = whole.bytes.clone();
    swapped[4096..].rotate_left(512);
    whole.look_at(&sandbox, &swapped, true, "rotated");
    let mut holed = whole.bytes.clone();
    let middle = holed.len() / 2;
    holed[middle..middle + 4096].fill(0);
    let status = whole.look_at(&sandbox, &holed, true, "a page of zeros");
    assert_eq!(status, Status::Exit(3));
}

#[test]
fn one_bad_trace_among_good_ones_does_not_stop_an_export() {
    let sandbox = Sandbox::new();
    let bytes = some_trace(&sandbox);
    sandbox.write("good.pmt", &bytes);
    sandbox.write("bad.pmt", PNG);
    let outcome = sandbox.portmortem(["export", "bad.pmt", "good.pmt", "--to", "tables"]);
    outcome
        .exits(3)
        .says("error: bad.pmt: not a Portmortem trace");
    let written = fs::read_to_string(sandbox.path("tables/predicates.csv")).unwrap();
    assert!(
        written
            .lines()
            .skip(1)
            .all(|line| line.starts_with("good,"))
    );
    assert!(written.lines().count() > 5);
}

/// The last block of such a file claims more than there is; what lies behind the file in memory is not ours.
#[test]
fn cut_off_inside_large_blocks() {
    let sandbox = Sandbox::new();
    let whole = fs::read(sample("queens.pmt")).unwrap();
    let (start, length) = largest_block_of_events(&whole);
    assert!(length > 64 << 10, "large enough to be let go: {length}");
    let inside = (start..start + length).step_by(16 << 10);
    for length in inside.chain([99_244, start + length - 1]) {
        sandbox.write("x.pmt", &whole[..length]);
        for arguments in readers("x.pmt") {
            sandbox.portmortem(&arguments).exits(3);
        }
    }
}

/// An index that would be waited for, or that is another user's.
#[test]
fn an_index_that_is_no_file() {
    let sandbox = Sandbox::new();
    sandbox.write("x.pmt", fs::read(sample("debray1.pmt")).unwrap());
    let reference = sandbox.portmortem(["report", "x.pmt"]).succeeds().out();
    for make in [
        "mkfifo x.pmt.index",
        "mkdir x.pmt.index",
        "ln -s elsewhere x.pmt.index",
    ] {
        sandbox.sh(make).exits(0);
        let report = sandbox.portmortem(["report", "x.pmt"]).succeeds().out();
        assert_eq!(report, reference, "{make}");
        let index = sandbox.portmortem(["index", "x.pmt"]);
        index.refuses("not a regular file");
        sandbox.sh("rm -r x.pmt.index").exits(0);
        assert!(!sandbox.path("elsewhere").exists());
    }
}
