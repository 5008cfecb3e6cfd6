//! Small graphs of known figures in every format, and those of the samples: sums are those of the
//! tables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::*;
use crate::figures::contexts::ContextFigures;
use crate::figures::{EdgeFigures, PortTotals, PredicateFigures, SiteFigures, StreamFigures};
use crate::trace::Trace;
use crate::{Filters, Profile};

const TREES: [WriteGraph; 2] = [folded::write, speedscope::write];

fn sample(name: &str) -> Analysis {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../traces");
    let path = path.join(name);
    let trace = Trace::open(&path).unwrap();
    Analysis::of(trace, &path, Filters::default(), &AtomicU64::new(0)).unwrap()
}

/// These figures, with the names of a sample.
fn with(profile: Profile) -> Analysis {
    let mut analysis = sample("queens.pmt");
    analysis.profile = profile;
    analysis
}

/// `0` calls `1`, whose four calls are small, and `2`, which calls itself and `1`. Sizes are calls.
fn small() -> Analysis {
    let context = |parent, depth, predicate, calls| ContextFigures {
        parent,
        depth,
        predicate,
        recursive: predicate == 2 && depth == 2,
        ports: PortTotals {
            calls,
            ..PortTotals::default()
        },
        ..ContextFigures::default()
    };
    with(Profile {
        contexts: vec![
            context(None, 0, 0, 1),
            context(Some(0), 1, 1, 4),
            context(Some(0), 1, 2, 20),
            context(Some(2), 2, 1, 0),
            context(Some(2), 2, 2, 70),
            context(None, 0, 3, 5),
        ],
        ..Profile::default()
    })
}

fn written(
    write: WriteGraph,
    analysis: &Analysis,
    metric: Metric,
    percent: f64,
) -> (String, LeftOut) {
    let graph = Graph {
        analysis,
        metric,
        counted: Counted::All,
        min_percent: percent,
    };
    let mut out = Vec::new();
    let left_out = write(&graph, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), left_out)
}

/// Stacks of a speedscope file, folded. Frames must nest, and time must not go back.
fn stacks_of(speedscope: &str) -> BTreeMap<String, u64> {
    let file: serde_json::Value = serde_json::from_str(speedscope).unwrap();
    let names = file["shared"]["frames"].as_array().unwrap();
    let profile = &file["profiles"][0];
    let mut stacks = BTreeMap::new();
    let (mut open, mut last) = (Vec::new(), profile["startValue"].as_u64().unwrap());
    for event in profile["events"].as_array().unwrap() {
        let at = event["at"].as_u64().unwrap();
        let frame = event["frame"].as_u64().unwrap() as usize;
        if at > last {
            *stacks.entry(open.join(";")).or_default() += at - last;
        }
        last = at;
        let name = names[frame]["name"].as_str().unwrap();
        match event["type"].as_str().unwrap() {
            "O" => open.push(name),
            _ => assert_eq!(open.pop(), Some(name)),
        }
    }
    assert_eq!(open, [""; 0]);
    assert_eq!(profile["endValue"], last);
    stacks
}

fn stacks_of_folded(text: &str) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for line in text.lines() {
        let (stack, size) = line.rsplit_once(' ').unwrap();
        let (_, stack) = stack.split_once(';').unwrap();
        *stacks.entry(stack.to_owned()).or_default() += size.parse::<u64>().unwrap();
    }
    stacks
}

#[test]
fn a_tree_as_stacks() {
    let analysis = small();
    let [a, b, c, d] = [0, 1, 2, 3].map(|at| analysis.predicate(at).to_owned());
    let (text, left_out) = written(folded::write, &analysis, Metric::Events, 0.0);
    assert_eq!(
        text,
        format!(
            "events;{a} 1\nevents;{a};{b} 4\nevents;{a};{c} 20\nevents;{a};{c};{c} 70\nevents;{d} 5\n"
        )
    );
    assert_eq!(
        left_out,
        LeftOut {
            rows: 0,
            deep: 0,
            of: 5
        }
    );
    let (json, same) = written(speedscope::write, &analysis, Metric::Events, 0.0);
    assert_eq!(stacks_of(&json), stacks_of_folded(&text));
    assert_eq!(same, left_out);
    assert!(json.contains("\"unit\":\"none\"") && json.contains("\"file\":\"queens.pl\""));
}

#[test]
fn small_rows_are_folded() {
    let analysis = small();
    let [a, c] = [0, 2].map(|at| analysis.predicate(at).to_owned());
    let (text, left_out) = written(folded::write, &analysis, Metric::Events, 6.0);
    assert_eq!(
        text,
        format!(
            "events;{a} 1\nevents;{a};{c} 20\nevents;{a};{c};{c} 70\nevents;{a};{FOLDED} 4\nevents;{FOLDED} 5\n"
        )
    );
    assert_eq!(
        left_out,
        LeftOut {
            rows: 2,
            deep: 0,
            of: 5
        }
    );
    // A row that is folded takes those below along, and they count once.
    let (text, left_out) = written(folded::write, &analysis, Metric::Events, 96.0);
    assert_eq!(text, format!("events;{FOLDED} 100\n"));
    assert_eq!(
        left_out,
        LeftOut {
            rows: 5,
            deep: 0,
            of: 5
        }
    );
    for percent in [0.0, 3.0, 6.0, 50.0, 80.0, 100.0] {
        let sums = TREES.map(|write| {
            let (text, _) = written(write, &analysis, Metric::Events, percent);
            let stacks = if text.starts_with('{') {
                stacks_of(&text)
            } else {
                stacks_of_folded(&text)
            };
            stacks.values().sum::<u64>()
        });
        assert_eq!(sums, [100, 100]);
    }
}

#[test]
fn nothing_is_a_graph() {
    let analysis = with(Profile::default());
    for write in TREES
        .into_iter()
        .chain([callgrind::write as WriteGraph, dot::write])
    {
        let (_, left_out) = written(write, &analysis, Metric::NetTime, 1.0);
        assert_eq!(left_out, LeftOut::default());
    }
    let (json, _) = written(speedscope::write, &analysis, Metric::SelfTime, 1.0);
    assert!(stacks_of(&json).is_empty());
}

#[test]
fn names_cannot_break_a_stack() {
    assert_eq!(
        folded::line("self_ns", ["a", "(;)/2", "b c"], 7),
        "self_ns;a;(；)/2;b c 7\n"
    );
}

/// Sums over all rows are those of the tables, in every sample and by every figure.
#[test]
fn trees_of_the_samples_add_up() {
    for name in [
        "queens.pmt",
        "metainterp.pmt",
        "threads_exceptions.pmt",
        "debray1.pmt",
    ] {
        let analysis = sample(name);
        for metric in [
            Metric::SelfTime,
            Metric::NetTime,
            Metric::Undone,
            Metric::Events,
        ] {
            let rows = 0..analysis.profile.contexts.len();
            let sizes = rows.map(|row| metric.own(&analysis.profile, row));
            let size = |raw| {
                if metric.is_time() {
                    analysis.ns(raw)
                } else {
                    raw
                }
            };
            let sum: u64 = sizes.map(size).sum();
            let (text, _) = written(folded::write, &analysis, metric, 0.0);
            let stacks = stacks_of_folded(&text);
            assert_eq!(stacks.values().sum::<u64>(), sum, "{name} {metric:?}");
            let (json, _) = written(speedscope::write, &analysis, metric, 0.0);
            assert_eq!(stacks_of(&json), stacks, "{name} {metric:?}");
        }
    }
}

/// What a reader of Callgrind's format makes of it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Callgrind {
    /// By function: self.
    own: BTreeMap<String, u64>,
    /// By caller and callee: calls and inclusive cost, by line.
    calls: BTreeMap<(String, String), BTreeMap<u64, (u64, u64)>>,
    total: u64,
}

impl Callgrind {
    fn read(text: &str) -> Self {
        let mut read = Self::default();
        let mut names: [BTreeMap<String, String>; 2] = Default::default();
        let mut name = |kind: usize, text: &str| {
            let (number, rest) = text.split_once(')').unwrap();
            if let Some(new) = rest.strip_prefix(' ') {
                let known = names[kind].insert(number.to_owned(), new.to_owned());
                assert_eq!(known, None, "{text}");
            }
            names[kind][number].clone()
        };
        let (mut function, mut callee, mut calls) = (String::new(), String::new(), None);
        for line in text.lines().filter(|line| !line.is_empty()) {
            if let Some((number, cost)) = line.split_once(' ')
                && let (Ok(number), Ok(cost)) = (number.parse::<u64>(), cost.parse::<u64>())
            {
                match calls.take() {
                    None => *read.own.entry(function.clone()).or_default() += cost,
                    Some(calls) => {
                        let edge = (function.clone(), callee.clone());
                        let lines = read.calls.entry(edge).or_default();
                        let sum = lines.entry(number).or_default();
                        *sum = (sum.0 + calls, sum.1 + cost);
                    }
                }
                continue;
            }
            let Some((key, value)) = line.split_once(['=', ':']) else {
                assert!(line.starts_with('#'), "{line}");
                continue;
            };
            match key {
                "fl" | "cfi" => drop(name(0, value)),
                "fn" => function = name(1, value),
                "cfn" => callee = name(1, value),
                "calls" => calls = Some(value.split_once(' ').unwrap().0.parse::<u64>().unwrap()),
                "totals" => read.total = value.trim().parse().unwrap(),
                _ => {}
            }
        }
        read
    }

    /// What other functions are charged for this one.
    fn inclusive(&self, function: &str) -> u64 {
        let of = self
            .calls
            .iter()
            .filter(|((_, callee), _)| callee == function);
        of.flat_map(|(_, lines)| lines.values())
            .map(|(_, cost)| cost)
            .sum()
    }
}

/// Nanoseconds are rounded for each call.
fn is_near(a: u64, b: u64) -> bool {
    a.abs_diff(b) <= 20
}

#[test]
fn callgrind_has_all_predicates_and_calls() {
    for name in [
        "queens.pmt",
        "metainterp.pmt",
        "threads_exceptions.pmt",
        "debray1.pmt",
    ] {
        let analysis = sample(name);
        let (text, _) = written(callgrind::write, &analysis, Metric::SelfTime, 0.0);
        let read = Callgrind::read(&text);
        assert_eq!(read.total, analysis.ns(analysis.profile.total_ticks()));
        let mut predicates = 0;
        for row in analysis.tables().predicates() {
            assert_eq!(read.own[row.predicate], row.self_ns);
            assert!(
                is_near(read.inclusive(row.predicate), row.inclusive_ns),
                "{name} {row:?}"
            );
            predicates += 1;
        }
        // And the caller of all.
        assert_eq!(read.own.len(), predicates + 1);
        for row in analysis.tables().edges() {
            let lines = &read.calls[&(row.caller.to_owned(), row.callee.to_owned())];
            let calls: u64 = lines.values().map(|(calls, _)| calls).sum();
            assert_eq!(calls, row.calls, "{name} {row:?}");
        }
    }
}

/// `main` calls `p` by two goals and without a site.
#[test]
fn callgrind_has_the_lines_of_goals() {
    use portmortem_tracer::format::{Dialect, Header, Outcome, Site, StreamKind};
    use portmortem_tracer::{NewPredicate, Options, Recorder};

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.pmt");
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let main = recorder.predicate(NewPredicate::named("user", "main", 0).at("a.pl", 1));
    let p = recorder.predicate(NewPredicate::named("user", "p", 1).at("b.pl", 7));
    let site = |goal, line, file: &str| {
        let file = Some(recorder.file(file));
        recorder.site(Site {
            callee: p,
            caller: main,
            clause: 1,
            goal,
            line,
            file,
            then_fails: false,
        })
    };
    let sites = [site(1, 2, "a.pl"), site(2, 3, "a.pl"), site(3, 4, "c.pl")];
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    stream.call(main);
    for callee in [sites[0], sites[1], sites[1], sites[2], p] {
        stream.call(callee);
        stream.exit_det();
    }
    stream.exit_det();
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();

    let trace = Trace::open(&path).unwrap();
    let analysis = Analysis::of(trace, &path, Filters::default(), &AtomicU64::new(0)).unwrap();
    let (text, _) = written(callgrind::write, &analysis, Metric::SelfTime, 0.0);
    let read = Callgrind::read(&text);
    let lines = &read.calls[&("main/0".to_owned(), "p/1".to_owned())];
    let calls: Vec<_> = lines
        .iter()
        .map(|(line, (calls, _))| (*line, *calls))
        .collect();
    // A goal of another file, and a call without a goal, are at the first clause.
    assert_eq!(calls, [(1, 2), (2, 1), (3, 2)]);
    let whole: u64 = lines.values().map(|(_, cost)| cost).sum();
    // Goals have no net times: all calls are at the first clause.
    let (net, _) = written(callgrind::write, &analysis, Metric::NetTime, 0.0);
    let net = Callgrind::read(&net);
    let lines = &net.calls[&("main/0".to_owned(), "p/1".to_owned())];
    let (calls, cost) = lines[&1];
    assert_eq!((lines.len(), calls), (1, 5));
    assert!(is_near(cost, whole), "{cost} {whole}");
    assert!(text.contains("\nfl=(2)\nfn=(2)\n1 "), "{text}");
    assert!(
        text.contains("\ncfi=(3) b.pl\ncfn=(3) p/1\ncalls=1 7\n"),
        "{text}"
    );
}

fn figures(calls: u64, self_ticks: u64, inclusive_ticks: u64) -> PredicateFigures {
    PredicateFigures {
        ports: PortTotals {
            calls,
            ..PortTotals::default()
        },
        self_ticks,
        inclusive_ticks,
        ..PredicateFigures::default()
    }
}

#[test]
fn a_drawing_leaves_small_boxes_out() {
    let edge = |calls, served_ticks| EdgeFigures {
        ports: PortTotals {
            calls,
            ..PortTotals::default()
        },
        served_ticks,
        ..EdgeFigures::default()
    };
    let site = |calls| SiteFigures {
        ports: PortTotals {
            calls,
            ..PortTotals::default()
        },
        ..SiteFigures::default()
    };
    let analysis = with(Profile {
        predicates: vec![
            figures(1, 100_000, 1_000_000),
            figures(1234, 895_000, 895_000),
            figures(9, 5_000, 5_000),
        ],
        edges: [
            ((Caller::Root, 0), edge(1, 1_000_000)),
            ((Caller::Predicate(0), 1), edge(4, 895_000)),
            ((Caller::Predicate(0), 2), edge(9, 5_000)),
            ((Caller::Predicate(1), 1), edge(1230, 0)),
        ]
        .into(),
        sites: [((Caller::Root, 0, None), site(1))].into(),
        streams: vec![StreamFigures {
            self_ticks: 1_000_000,
            ..StreamFigures::default()
        }],
        ..Profile::default()
    });
    let (text, left_out) = written(dot::write, &analysis, Metric::SelfTime, 1.0);
    assert_eq!(
        left_out,
        LeftOut {
            rows: 2,
            deep: 0,
            of: 7
        }
    );
    let [a, b, c] = [0, 1, 2].map(|at| analysis.predicate(at));
    assert!(
        text.contains(&format!("  n0 [label=\"{a}\\nself ")),
        "{text}"
    );
    assert!(
        text.contains(&format!("  n1 [label=\"{b}\\nself ")),
        "{text}"
    );
    assert!(text.contains(" (89.5 %)\\n1,234 calls\", fillcolor=\"0.060 0.895 1.000\"];\n"));
    assert!(!text.contains(c), "{text}");
    assert!(
        text.contains("  n1 -> n1 [label=\"1,230\", penwidth=1.00];\n"),
        "{text}"
    );
    assert!(text.contains("  root -> n0 [label=\"1\\n") && text.contains("penwidth=4.00];\n"));
    let (text, left_out) = written(dot::write, &analysis, Metric::SelfTime, 0.0);
    assert!(left_out.rows == 0 && text.contains(c));
}

#[test]
fn paths_are_those_of_the_trace() {
    let analysis = sample("queens.pmt");
    assert!(
        analysis
            .locate("queens.pl")
            .ends_with(Path::new("traces/queens.pl"))
    );
}

/// What is no work has no size, so that a tree of work has the sum that reports have.
#[test]
fn trees_of_work_have_the_sum_of_the_work() {
    let mut left_out = 0;
    for name in ["queens.pmt", "scan.pmt", "threads_exceptions.pmt"] {
        let analysis = Analysis::of_sample(name);
        let sum = |counted| {
            let graph = Graph {
                analysis: &analysis,
                metric: Metric::SelfTime,
                counted,
                min_percent: 0.0,
            };
            let (frames, _) = frames(&graph, usize::MAX);
            let own = frames.iter().map(|frame| frame.own);
            (own.sum::<u64>(), frames.len() as u64)
        };
        let whole = analysis.whole();
        for (counted, ticks) in [
            (Counted::Work, whole.work_ticks),
            (Counted::All, whole.all_ticks()),
        ] {
            let (sum, frames) = sum(counted);
            assert!(sum.abs_diff(analysis.ns(ticks)) <= frames, "{name}: {sum}");
        }
        left_out += whole.left_out_ticks();
    }
    assert!(left_out > 0);
}
