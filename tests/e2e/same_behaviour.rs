//! A recorded program must do what it does unrecorded: same output, same errors, same exit status; and its
//! trace must be whole.

use std::path::Path;

use portmortem_tests::catalogue::{self, Program};
use portmortem_tests::sandbox::Run;
use portmortem_tests::{Outcome, Profiled, Sandbox, Status, built, masks};

/// Runs everything, then says all that went wrong.
fn check_all(programs: &[Program]) {
    assert!(programs.len() > 20, "the list is short");
    let complaints: Vec<String> = programs
        .iter()
        .filter_map(|program| check(program).err())
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn traps() {
    check_all(&catalogue::traps());
}

#[test]
fn classic_programs() {
    let sandbox = Sandbox::new();
    check_all(&catalogue::corpus(sandbox.directory()));
}

fn check(program: &Program) -> Result<(), String> {
    let sandbox = Sandbox::new();
    let directory = program.file.parent().unwrap();
    let plain = in_place(sandbox.command(Path::new("swipl")), directory, program)
        .args(program.arguments_of_swipl())
        .wait();
    let trace = sandbox.path("run.pmt");
    let recorded = in_place(sandbox.command(built::portmortem()), directory, program)
        .args(["record", "-o"])
        .args([&trace])
        .args(program.arguments_of_record())
        .wait();
    let name = &program.name;
    as_promised(program, &plain).map_err(|why| format!("{name} unrecorded: {why}\n{plain}"))?;
    the_same(program, &plain, &recorded)
        .map_err(|why| format!("{name}: {why}\n{plain}\n{recorded}"))?;
    let verified = sandbox.run(built::portmortem(), ["verify".as_ref(), trace.as_os_str()]);
    if verified.status != Status::Exit(0) {
        return Err(format!("{name}: the trace is not whole\n{verified}"));
    }
    // Panics if the replay depends on the number of threads, or a law does not hold.
    let profiled = Profiled::of(&trace);
    let ran = !["syntax_error_fatal"].contains(&name.as_str());
    if ran && profiled.events() == 0 {
        return Err(format!("{name}: the trace is empty"));
    }
    Ok(())
}

fn in_place(mut run: Run, directory: &Path, program: &Program) -> Run {
    run.command.current_dir(directory);
    run.stdin(program.stdin.as_deref().unwrap_or_default())
}

/// What the list says of the program, so that a list that is wrong is noticed too.
fn as_promised(program: &Program, plain: &Outcome) -> Result<(), String> {
    if plain.status != Status::Exit(program.status) {
        return Err(format!("not status {}", program.status));
    }
    let promised = |promise: &Option<String>, what: &[u8]| {
        promise.as_ref().is_none_or(|text| text.as_bytes() == what)
    };
    if !promised(&program.stdout, &plain.stdout) {
        return Err(format!("other output than {:?}", program.stdout));
    }
    if !promised(&program.stderr, &plain.stderr) {
        return Err(format!("other standard error than {:?}", program.stderr));
    }
    Ok(())
}

/// To the byte, but for names of variables on standard error ([`masks::variables`] says why).
fn the_same(program: &Program, plain: &Outcome, recorded: &Outcome) -> Result<(), String> {
    if plain.status != recorded.status {
        return Err("another exit status when recorded".to_owned());
    }
    if plain.stdout != recorded.stdout {
        return Err("other output when recorded".to_owned());
    }
    if masks::variables(&plain.stderr) != masks::variables(&recorded.stderr) {
        return Err("other standard error when recorded".to_owned());
    }
    Ok(())
}
