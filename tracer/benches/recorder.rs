//! `cargo bench -p portmortem-tracer`: what an event costs, recorded from C.

#[path = "../tests/common/c.rs"]
mod c;

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = c::compile("bench", directory.path(), &[]);
    let trace = directory.path().join("bench.pmt");
    let status = std::process::Command::new(program).arg(trace).status();
    assert!(
        status.is_ok_and(|status| status.success()),
        "the benchmark failed"
    );
}
