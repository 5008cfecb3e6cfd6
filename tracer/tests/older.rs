//! Records of older traces, which end before their last field.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

use portmortem_tracer::format::{
    Predicate, Record, Role, Roles, Site, Trial, Trials, WireError, decode_record, encode_record,
};

/// A site of format version 4 ends before its last field.
#[test]
fn sites_of_older_traces() {
    let site = Site {
        callee: 1,
        caller: 0,
        clause: 2,
        goal: 3,
        line: 300,
        file: Some(7),
        then_fails: false,
    };
    let record = Record::Site { id: 9, site };
    let mut bytes = Vec::new();
    encode_record(&record, &mut bytes).unwrap();
    let bytes = &bytes[1..];
    let (last, older) = bytes.split_last().unwrap();
    assert_eq!(*last, 0);
    assert_eq!(decode_record(older), Ok(record));
    assert_eq!(
        decode_record(&older[..older.len() - 1]),
        Err(WireError::Truncated)
    );
}

/// Predicates of format versions up to 11 end before their roles, which their names say.
#[test]
fn predicates_of_older_traces() {
    let read = |module: &str, name: &str, arity| {
        let predicate = Predicate {
            id: 7,
            module: module.to_owned(),
            name: name.to_owned(),
            arity,
            file: Some(1),
            line: 300,
            ..Predicate::default()
        };
        let mut bytes = Vec::new();
        encode_record(&Record::Predicate(predicate.clone()), &mut bytes).unwrap();
        let (last, older) = bytes[1..].split_last().unwrap();
        assert_eq!(*last, 0);
        let Ok(Record::Predicate(read)) = decode_record(older) else {
            panic!("{predicate:?} is not read");
        };
        let roles = read.roles;
        let without = Predicate {
            roles: Roles::default(),
            ..read
        };
        assert_eq!(without, predicate);
        // A later trace says them, whatever the name is.
        let later = decode_record(&bytes[1..]);
        assert_eq!(later, Ok(Record::Predicate(predicate)));
        roles
    };
    use Role::*;
    for (module, name, arity, roles) in [
        ("system", "garbage_collect", 0, &[Collection, BuiltIn][..]),
        ("system", "stack_shift", 0, &[StackShift, BuiltIn]),
        ("system", "waiting", 0, &[Waiting, BuiltIn]),
        ("system", "preempted", 0, &[Preempted, BuiltIn]),
        ("system", "autoload", 0, &[Loading, BuiltIn]),
        ("portmortem", "instrument", 0, &[SetUp]),
        ("system", "fill_table", 0, &[TableFilling, BuiltIn]),
        ("$bags", "findall", 4, &[Collector, BuiltIn]),
        ("aggregate", "foreach", 2, &[Collector]),
        ("system", "with_mutex", 2, &[WaitsForMutex, BuiltIn]),
        ("thread", "concurrent_maplist", 3, &[WaitsForThread]),
        ("$syspreds", "thread_join", 1, &[WaitsForThread, BuiltIn]),
        ("system", "read_term", 2, &[WaitsForInput, BuiltIn]),
        ("system", "flush_output", 1, &[Flushes, BuiltIn]),
        ("system", "write", 1, &[Writes, BuiltIn]),
        ("system", "term_to_atom", 2, &[ReadsText, BuiltIn]),
        ("system", "sleep", 1, &[WaitsForTime, BuiltIn]),
        ("system", "garbage_collect", 1, &[BuiltIn]),
        ("system", "instrument", 0, &[BuiltIn]),
        ("system", "findall", 2, &[BuiltIn]),
        ("sort", "predsort", 3, &[Sorts, SortsByGoal]),
        ("lists", "max_list", 2, &[Walks]),
        ("csv", "csv_read_file", 2, &[ReadsFile]),
        ("user", "garbage_collect", 0, &[]),
        ("user", "findall", 3, &[]),
        ("lists", "sleep", 1, &[]),
    ] {
        assert_eq!(read(module, name, arity), Roles::of(roles), "{name}");
    }
}

/// Trials of format versions 4 to 6 end before their last field.
#[test]
fn trials_of_older_traces() {
    let trials = Trials {
        empty: 700,
        trials: vec![Trial::default(); 3],
        callbacks: Vec::new(),
    };
    let record = Record::Trials(trials);
    let mut bytes = Vec::new();
    encode_record(&record, &mut bytes).unwrap();
    let (last, older) = bytes[1..].split_last().unwrap();
    assert_eq!(*last, 0);
    assert_eq!(decode_record(older), Ok(record));
}
