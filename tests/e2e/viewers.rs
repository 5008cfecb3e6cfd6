//! `graph --format pprof` and `perfetto`: files that are not text, read by parsers that are not
//! ours, and compared with the tables and events of the program.

use std::collections::BTreeMap;
use std::fs;

use portmortem_tests::generator::{Shape, Workload, generate};
use portmortem_tests::{Sandbox, sample};
use serde_json::Value;

use super::export::python;

/// Prints what a file of Perfetto says, an object for each slice that begins or ends, and refuses
/// what the trace processor would count as an error.
const PERFETTO: &str = "
import json, sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent
trace = Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())
tracks, names, open_slices, last = {}, {}, {}, {}
for packet in trace.packet:
    sequence = packet.trusted_packet_sequence_id
    if packet.sequence_flags & 1:
        names[sequence] = ({}, {}, {})
    if packet.HasField('interned_data'):
        data = packet.interned_data
        for known, new in zip(names[sequence], (data.event_categories, data.event_names, data.debug_annotation_names)):
            for name in new:
                assert name.iid not in known
                known[name.iid] = name.name
    if packet.HasField('track_descriptor'):
        track = packet.track_descriptor
        assert track.uuid not in tracks
        if track.HasField('process'):
            tracks[track.uuid] = (None, track.process.process_name)
        elif track.HasField('thread'):
            assert tracks[track.parent_uuid][0] is None and track.thread.pid == 1
            tracks[track.uuid] = (track.thread.tid, track.thread.thread_name)
        else:
            tracks[track.uuid] = (tracks[track.parent_uuid][0], track.name)
    if not packet.HasField('track_event'):
        continue
    assert packet.sequence_flags & 2 and packet.HasField('timestamp')
    categories, events, arguments = names[sequence]
    event = packet.track_event
    stream, track = tracks[event.track_uuid]
    assert last.get(event.track_uuid, 0) <= packet.timestamp
    last[event.track_uuid] = packet.timestamp
    stack = open_slices.setdefault(event.track_uuid, [])
    told = {'stream': stream, 'track': track, 'ns': packet.timestamp, 'flows': [flow % 2**40 for flow in event.flow_ids]}
    assert all(flow >> 40 == stream for flow in event.flow_ids)
    for argument in event.debug_annotations:
        told[arguments[argument.name_iid]] = argument.string_value or argument.uint_value
    if event.type == TrackEvent.TYPE_SLICE_BEGIN:
        told['name'] = events[event.name_iid] if event.name_iid else event.name
        told['begins'] = categories[event.category_iids[0]] if event.category_iids else ''
        stack.append(told['name'])
    elif event.type == TrackEvent.TYPE_SLICE_END:
        told['name'] = stack.pop()
    else:
        told['name'] = event.name
    print(json.dumps(told))
assert not any(open_slices.values())
";

fn timeline(sandbox: &Sandbox, trace: &str, options: &[&str]) -> Vec<Value> {
    let file = ["-o", "out.pftrace", "--force"];
    let arguments = ["graph", trace, "--format", "perfetto"];
    let outcome = sandbox.portmortem([&arguments[..], &file, options].concat());
    outcome.exits(0).prints("");
    let told = python(sandbox, PERFETTO, &["out.pftrace"]);
    let lines = told.exits(0).out();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

type Row = BTreeMap<String, String>;

/// What a command writes as CSV.
fn rows(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Row> {
    let outcome = sandbox.portmortem([arguments, &["--format", "csv"]].concat());
    let text = outcome.exits(0).out();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Stream, time, how it begins, predicate, box, and the failure that caused it.
fn beginnings(slices: &[Value]) -> Vec<[String; 6]> {
    let begun = slices.iter().filter(|slice| slice["box"].is_u64());
    let mut begun: Vec<_> = begun
        .filter(|slice| slice["begins"] != "began before")
        .map(|slice| {
            let cause = slice["flows"].as_array().unwrap().first();
            [
                text(&slice["stream"]),
                text(&slice["ns"]),
                text(&slice["begins"]),
                text(&slice["name"]),
                text(&slice["box"]),
                cause.map(text).unwrap_or_default(),
            ]
        })
        .collect();
    begun.sort();
    begun
}

/// Stream, time, how it ends, predicate, and the number of a failure.
fn ends(slices: &[Value]) -> Vec<[String; 5]> {
    let ended = slices.iter().filter(|slice| slice["outcome"].is_string());
    let mut ended: Vec<_> = ended
        .filter(|slice| !["last_call", "open"].contains(&text(&slice["outcome"]).as_str()))
        .map(|slice| {
            let number = slice["flows"].as_array().unwrap().first();
            [
                text(&slice["stream"]),
                text(&slice["ns"]),
                text(&slice["outcome"]),
                text(&slice["name"]),
                number.map(text).unwrap_or_default(),
            ]
        })
        .collect();
    ended.sort();
    ended
}

/// The same of the events that the program lists.
fn of_events(events: &[Row]) -> (Vec<[String; 6]>, Vec<[String; 5]>) {
    let (mut begun, mut ended) = (Vec::new(), Vec::new());
    for event in events {
        let of = |column: &str| event[column].clone();
        let begins = match event["port"].as_str() {
            "call" => "call",
            "tail" => "last call",
            "redo" => "redo",
            "exit_det" | "exit_nondet" | "fail" | "exception" => {
                let number = match event["port"].as_str() {
                    "fail" => of("seq"),
                    _ => String::new(),
                };
                ended.push([of("stream"), of("ns"), of("port"), of("predicate"), number]);
                continue;
            }
            _ => continue,
        };
        let cause = match begins {
            "redo" => of("cause_event"),
            _ => String::new(),
        };
        let named = [of("predicate"), of("box"), cause];
        let [predicate, called, cause] = named;
        begun.push([
            of("stream"),
            of("ns"),
            begins.to_owned(),
            predicate,
            called,
            cause,
        ]);
    }
    begun.sort();
    ended.sort();
    (begun, ended)
}

/// Each call, last call and redo begins a slice, each way out ends one, at their times; redos are
/// linked to the failures that `events` names as their causes.
#[test]
fn slices_are_those_of_events() {
    let mut linked = 0;
    for name in ["queens.pmt", "threads_exceptions.pmt", "scan.pmt"] {
        let sandbox = Sandbox::new();
        fs::copy(sample(name), sandbox.path(name)).unwrap();
        let slices = timeline(&sandbox, name, &[]);
        let events = rows(&sandbox, &["events", name, "--where", "event >= 0"]);
        let (begun, ended) = of_events(&events);
        assert!(begun.len() > 100, "{name}");
        assert_eq!(beginnings(&slices), begun, "{name}");
        assert_eq!(ends(&slices), ended, "{name}");
        linked += begun.iter().filter(|begun| !begun[5].is_empty()).count();
        for slice in &slices {
            let track = match slice["name"].as_str().unwrap() {
                "system:waiting/0" | "system:preempted/0" => "waiting",
                "system:garbage_collect/0" | "system:stack_shift/0" => "collections",
                "portmortem:instrument/0" => "set-up",
                _ => continue,
            };
            assert_eq!(slice["track"], track, "{slice}");
        }
    }
    assert!(linked > 1000, "{linked}");
}

/// In a range of time: its events, and what was active at its ends.
#[test]
fn a_range_of_a_timeline() {
    let sandbox = Sandbox::new();
    fs::copy(sample("queens.pmt"), sandbox.path("queens.pmt")).unwrap();
    let (from, until) = (5_000_000, 6_000_000);
    let time = ["--time", "5ms..6ms"];
    let slices = timeline(&sandbox, "queens.pmt", &time);
    let everything = ["events", "queens.pmt", "--where", "event >= 0", "--stack"];
    let events = rows(&sandbox, &[&everything[..], &time].concat());
    let (begun, ended) = of_events(&events);
    // Failures of before are no slices that a flow can begin at.
    let known = |mut begun: [String; 6]| {
        let number: Option<u64> = begun[5].parse().ok();
        let first: u64 = events[0]["seq"].parse().unwrap();
        if number.is_some_and(|number| number < first) {
            begun[5].clear();
        }
        begun
    };
    assert_eq!(
        beginnings(&slices),
        begun.into_iter().map(known).collect::<Vec<_>>()
    );
    assert_eq!(ends(&slices), ended);
    let times = slices.iter().map(|slice| slice["ns"].as_u64().unwrap());
    assert!(times.clone().all(|ns| (from..=until).contains(&ns)));
    let before = slices
        .iter()
        .take_while(|slice| slice["begins"] == "began before");
    let before: Vec<String> = before
        .map(|slice| format!("{} {}", text(&slice["box"]), text(&slice["name"])))
        .collect();
    // The stack is that after the event, the innermost box first.
    let stack = events[0]["stack"].split("; ").collect::<Vec<_>>();
    let outermost = stack.iter().rev().take(3).copied();
    assert_eq!(before[..3], outermost.collect::<Vec<_>>());
    let open = slices.iter().filter(|slice| slice["outcome"] == "open");
    assert!(open.count() > 2);
}

/// What is hidden or out of focus has no slices.
#[test]
fn a_part_of_a_timeline() {
    let sandbox = Sandbox::new();
    fs::copy(sample("queens.pmt"), sandbox.path("queens.pmt")).unwrap();
    for options in [
        ["--focus", "attack/2"],
        ["--hide", "permute/3"],
        ["--stream", "1"],
    ] {
        let slices = timeline(&sandbox, "queens.pmt", &options);
        let mut calls: BTreeMap<String, u64> = BTreeMap::new();
        for begun in beginnings(&slices) {
            *calls.entry(begun[3].clone()).or_default() += u64::from(begun[2] != "redo");
        }
        let report = rows(
            &sandbox,
            &[&["report", "queens.pmt"][..], &options].concat(),
        );
        let expected: BTreeMap<String, u64> = report
            .iter()
            .map(|row| (row["predicate"].clone(), row["calls"].parse().unwrap()))
            .filter(|&(_, calls)| calls > 0)
            .collect();
        assert_eq!(calls, expected, "{options:?}");
    }
}

/// Too much for a viewer is refused, and written if that is wanted, in bounded memory.
#[test]
fn long_timelines() {
    let sandbox = Sandbox::new();
    let shape = Shape::new(Workload::Backtrack, 2_000_100, 2);
    generate(&sandbox.path("long.pmt"), &shape).unwrap();
    let graph = ["graph", "long.pmt", "--format", "perfetto"];
    let outcome = sandbox.portmortem(graph);
    outcome
        .refuses("a timeline of 2,000,")
        .says("choose a range of time with about 2,000,000 of them, such as --time 1s..1.1s; --time .. writes all");
    let script =
        "ulimit -d 400000; \"$portmortem\" graph long.pmt --format perfetto --time .. | wc -c";
    let size: u64 = sandbox.sh(script).exits(0).out().trim().parse().unwrap();
    assert!(size > 40_000_000, "{size}");
    fs::copy(sample("queens.pmt"), sandbox.path("long.pmt")).unwrap();
    sandbox
        .portmortem([&graph[..], &["--metric", "self"]].concat())
        .refuses("leave --min-percent and --metric out");
}

/// Times that were not recorded are shown as such, and nothing is open in them.
#[test]
fn gaps_in_a_timeline() {
    let sandbox = Sandbox::new();
    let mut bytes = fs::read(sample("queens.pmt")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    sandbox.write("damaged.pmt", bytes);
    let arguments = ["graph", "damaged.pmt", "--format", "perfetto", "-o", "out"];
    sandbox.portmortem(arguments).exits(3).says("warning: ");
    let told = python(&sandbox, PERFETTO, &["out"]).exits(0).out();
    assert!(told.contains("\"name\": \"events were lost\""), "{told}");
    assert!(told.contains("\"outcome\": \"lost\""));
}

/// Prints the samples of a `profile.proto`, of which it knows nothing but numbers of fields.
const PPROF: &str = "
import gzip, json, sys
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
MESSAGES = {
    'ValueType': [('type', 1, 'int64'), ('unit', 2, 'int64')],
    'Sample': [('location_id', 1, '*uint64'), ('value', 2, '*int64')],
    'Line': [('function_id', 1, 'uint64'), ('line', 2, 'int64')],
    'Location': [('id', 1, 'uint64'), ('mapping_id', 2, 'uint64'), ('line', 4, '*Line')],
    'Function': [('id', 1, 'uint64'), ('name', 2, 'int64'), ('filename', 4, 'int64'), ('start_line', 5, 'int64')],
    'Profile': [('sample_type', 1, '*ValueType'), ('sample', 2, '*Sample'), ('location', 4, '*Location'),
                ('function', 5, '*Function'), ('string_table', 6, '*string'), ('default_sample_type', 14, 'int64')],
}
kinds = {'int64': 3, 'uint64': 4, 'string': 9}
file = descriptor_pb2.FileDescriptorProto(name='profile.proto', package='p', syntax='proto3')
for name, fields in MESSAGES.items():
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
        label, kind = (3, kind[1:]) if kind[0] == '*' else (1, kind)
        added = message.field.add(name=field, number=number, label=label, type=kinds.get(kind, 11))
        if kind not in kinds:
            added.type_name = f'.p.{kind}'
pool = descriptor_pool.DescriptorPool()
pool.Add(file)
profile = message_factory.GetMessageClass(pool.FindMessageTypeByName('p.Profile'))()
profile.ParseFromString(gzip.open(sys.argv[1]).read())
text = profile.string_table
assert text[0] == '' and len(set(text)) == len(text)
functions = {of.id: [text[of.name], text[of.filename], of.start_line] for of in profile.function}
places = {of.id: functions[of.line[0].function_id] for of in profile.location}
assert all(of.line[0].line == functions[of.line[0].function_id][2] for of in profile.location)
print(json.dumps({
    'types': [[text[of.type], text[of.unit]] for of in profile.sample_type],
    'first': text[profile.default_sample_type],
    'functions': list(functions.values()),
    'samples': [[[places[at][0] for at in reversed(of.location_id)], list(of.value)] for of in profile.sample],
}))
";

fn pprof(sandbox: &Sandbox, trace: &str, options: &[&str]) -> Value {
    let graph = ["graph", trace, "--format", "pprof", "-o", "out.pb.gz"];
    let arguments = [&graph[..], &["--force"], options].concat();
    sandbox.portmortem(arguments).exits(0).prints("");
    let told = python(sandbox, PPROF, &["out.pb.gz"]);
    serde_json::from_str(&told.exits(0).out()).unwrap()
}

type Samples = BTreeMap<Vec<String>, Vec<u64>>;

/// Values by stack, of a file.
fn of_file(profile: &Value) -> Samples {
    let samples = profile["samples"].as_array().unwrap();
    let sample = |sample: &Value| -> (Vec<String>, Vec<u64>) {
        serde_json::from_value(sample.clone()).unwrap()
    };
    let found: Samples = samples.iter().map(sample).collect();
    assert_eq!(found.len(), samples.len());
    found
}

/// The same of the table `contexts`.
fn of_table(sandbox: &Sandbox, trace: &str, columns: &[&str], all: bool) -> Samples {
    let export = ["export", trace, "--to", "to", "--force", "--tables"];
    let export = [&export[..], &["contexts,predicates"]].concat();
    sandbox.portmortem(export).exits(0);
    let mut stacks: Vec<Vec<String>> = Vec::new();
    let mut found = Samples::new();
    let mut reader = csv::Reader::from_path(sandbox.path("to/contexts.csv")).unwrap();
    for row in reader.deserialize() {
        let row: Row = row.unwrap();
        let above: Option<usize> = row["parent"].parse().ok();
        let mut stack = above.map_or_else(Vec::new, |above| stacks[above].clone());
        stack.push(row["predicate"].clone());
        stacks.push(stack.clone());
        let no_work = [
            "waiting",
            "preempted",
            "autoload",
            "garbage_collect",
            "stack_shift",
        ];
        let is_work = !no_work
            .iter()
            .any(|of| row["predicate"] == format!("system:{of}/0"))
            && row["predicate"] != "portmortem:instrument/0";
        let values = columns.iter().map(|column| row[*column].parse().unwrap());
        let values: Vec<u64> = values.collect();
        if (is_work || all) && values.iter().any(|&value| value > 0) {
            found.insert(stack, values);
        }
    }
    found
}

/// Values of each row of the call tree, and so their sums, are those of the table.
#[test]
fn profiles_of_pprof() {
    for name in ["queens.pmt", "threads_exceptions.pmt", "scan.pmt"] {
        let sandbox = Sandbox::new();
        fs::copy(sample(name), sandbox.path(name)).unwrap();
        let profile = pprof(&sandbox, name, &["--metric", "self"]);
        assert_eq!(profile["first"], "self");
        let types: Vec<(String, String)> =
            serde_json::from_value(profile["types"].clone()).unwrap();
        let column = |(kind, unit): &(String, String)| match (kind.as_str(), unit.as_str()) {
            ("self", "nanoseconds") => "self_ns",
            ("net", "nanoseconds") => "self_comp_ns",
            ("undone", "nanoseconds") => "undone_ns",
            ("calls", "count") => "calls",
            ("events", "count") => "events",
            other => panic!("{other:?}"),
        };
        let columns: Vec<&str> = types.iter().map(column).collect();
        assert!(columns.len() >= 4, "{columns:?}");
        let found = of_file(&profile);
        assert!(found.len() > 3);
        assert_eq!(found, of_table(&sandbox, name, &columns, false), "{name}");
        let all = of_file(&pprof(&sandbox, name, &["--all"]));
        assert_eq!(all, of_table(&sandbox, name, &columns, true), "{name}");
        // Places are those of the first clauses.
        let mut reader = csv::Reader::from_path(sandbox.path("to/predicates.csv")).unwrap();
        let predicates = reader.deserialize().map(|row| -> Row { row.unwrap() });
        let places: BTreeMap<String, (String, String)> = predicates
            .map(|row| {
                let line = row["line"].clone();
                let line = if line.is_empty() {
                    "0".to_owned()
                } else {
                    line
                };
                (row["predicate"].clone(), (row["file"].clone(), line))
            })
            .collect();
        for function in profile["functions"].as_array().unwrap() {
            let (file, line) = &places[function[0].as_str().unwrap()];
            assert_eq!(
                (&function[1], &text(&function[2])),
                (&file.as_str().into(), line)
            );
        }
    }
}

/// Rows with very many above them are folded, and their values stay.
#[test]
fn deep_profiles_of_pprof() {
    const DEPTH: u32 = 5_000;
    let sandbox = Sandbox::new();
    let shape = Shape {
        predicates: DEPTH,
        depth: DEPTH,
        ..Shape::new(Workload::Deep, 4 * u64::from(DEPTH), 1)
    };
    generate(&sandbox.path("deep.pmt"), &shape).unwrap();
    let graph = ["graph", "deep.pmt", "--format", "pprof", "-o", "out.pb.gz"];
    sandbox
        .portmortem(graph)
        .exits(0)
        .says(" with 1,000 or more above them are folded");
    let told = python(&sandbox, PPROF, &["out.pb.gz"]).exits(0).out();
    let profile: Value = serde_json::from_str(&told).unwrap();
    let found = of_file(&profile);
    let table = of_table(&sandbox, "deep.pmt", &["events"], true);
    let events = profile["types"].as_array().unwrap();
    let events = events.iter().position(|of| of[0] == "events").unwrap();
    let sum: u64 = found.values().map(|values| values[events]).sum();
    assert_eq!(sum, table.values().map(|values| values[0]).sum::<u64>());
    assert_eq!(found.keys().map(Vec::len).max(), Some(1001));
    sandbox
        .portmortem([&graph[..4], &["--min-percent", "1"]].concat())
        .refuses("pprof has all rows");
}
