//! The format of pprof: a gzipped `profile.proto`, for `go tool pprof` and others.
//!
//! A row of the call tree is a sample, with self times, undone time, calls and events. A location
//! is a predicate, at the line of its first clause. All rows are written: viewers fold by
//! themselves. Rows with [`MOST_DEPTH`] or more above them are one sample, as in folded stacks.
//!
//! Samples are written one by one, so that memory does not grow with the sum of all stacks.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use indexmap::IndexSet;
use prost::Message;

use super::folded::MOST_DEPTH;
use super::{FOLDED, Graph, LeftOut, Metric};
use crate::trace::PredicateIndex;
use crate::trace::names::printable;

/// The only mapping: what ran is one program.
const PROGRAM: u64 = 1;

/// Writes the call tree.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let has_net = graph.analysis.profile.net.is_some();
    let kinds = SampleKind::ALL
        .into_iter()
        .filter(|kind| *kind != SampleKind::Of(Metric::NetTime) || has_net);
    let mut writer = PprofWriter {
        graph,
        kinds: kinds.collect(),
        texts: Texts::new(),
        places: IndexSet::new(),
        stack: Vec::new(),
        folded: Vec::new(),
        left_out: LeftOut::default(),
        out: GzEncoder::new(out, Compression::default()),
    };
    writer.all()?;
    writer.out.finish()?;
    Ok(writer.left_out)
}

/// What a value of a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleKind {
    Of(Metric),
    Calls,
}

impl SampleKind {
    const ALL: [Self; 5] = [
        Self::Of(Metric::SelfTime),
        Self::Of(Metric::NetTime),
        Self::Of(Metric::Undone),
        Self::Calls,
        Self::Of(Metric::Events),
    ];

    /// Its name, without a unit.
    fn name(self) -> &'static str {
        match self {
            Self::Of(Metric::SelfTime) => "self",
            Self::Of(Metric::NetTime) => "net",
            Self::Of(Metric::Undone) => "undone",
            Self::Of(Metric::Events) => "events",
            Self::Calls => "calls",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Of(metric) if metric.is_time() => "nanoseconds",
            _ => "count",
        }
    }

    /// Its value for a row of the call tree, without the rows below.
    fn value(self, graph: &Graph, row: usize) -> i64 {
        let profile = &graph.analysis.profile;
        let value = match self {
            Self::Of(metric) => {
                let raw = metric.own(profile, row);
                match metric.is_time() {
                    true => graph.analysis.ns(raw),
                    false => raw,
                }
            }
            Self::Calls => profile.contexts.get(row).map_or(0, |of| of.ports.calls),
        };
        signed(value)
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

struct PprofWriter<'g, W: Write> {
    graph: &'g Graph<'g>,
    kinds: Vec<SampleKind>,
    texts: Texts,
    /// The number of a location, and of its function, is its place here and one. `None`: rows that
    /// are folded.
    places: IndexSet<Option<PredicateIndex>>,
    /// Locations from the outermost row to the last one.
    stack: Vec<u64>,
    /// Values of the rows so far that are folded below the last row of the stack.
    folded: Vec<i64>,
    left_out: LeftOut,
    out: GzEncoder<W>,
}

impl<W: Write> PprofWriter<'_, W> {
    fn all(&mut self) -> io::Result<()> {
        let graph = self.graph;
        self.head()?;
        for (row, context) in graph.analysis.profile.contexts.iter().enumerate() {
            let counts = graph.counted.has(&graph.analysis.trace, context.predicate);
            let values: Vec<i64> = match counts {
                true => self
                    .kinds
                    .iter()
                    .map(|kind| kind.value(graph, row))
                    .collect(),
                false => vec![0; self.kinds.len()],
            };
            let is_empty = values.iter().all(|&value| value == 0);
            self.left_out.of += u64::from(!is_empty);
            let depth = context.depth as usize;
            if depth >= MOST_DEPTH {
                self.fold(&values);
                self.left_out.deep += u64::from(!is_empty);
                continue;
            }
            self.end_folded()?;
            self.stack.truncate(depth);
            let place = self.place(Some(context.predicate));
            self.stack.push(place);
            if !is_empty {
                self.sample(values)?;
            }
        }
        self.end_folded()?;
        self.tail()
    }

    fn fold(&mut self, values: &[i64]) {
        self.folded.resize(values.len(), 0);
        for (sum, value) in self.folded.iter_mut().zip(values) {
            *sum = sum.saturating_add(*value);
        }
    }

    fn end_folded(&mut self) -> io::Result<()> {
        let values = std::mem::take(&mut self.folded);
        if values.iter().all(|&value| value == 0) {
            return Ok(());
        }
        let place = self.place(None);
        self.stack.push(place);
        self.sample(values)?;
        self.stack.pop();
        Ok(())
    }

    fn place(&mut self, of: Option<PredicateIndex>) -> u64 {
        self.places.insert_full(of).0 as u64 + 1
    }

    fn sample(&mut self, value: Vec<i64>) -> io::Result<()> {
        let location_id = self.stack.iter().rev().copied().collect();
        self.part(&PprofProfile {
            sample: vec![PprofSample { location_id, value }],
            ..PprofProfile::default()
        })
    }

    /// What the values are, and what ran.
    fn head(&mut self) -> io::Result<()> {
        let analysis = self.graph.analysis;
        let kinds = self.kinds.clone();
        let sample_type = kinds.iter().map(|kind| ValueType {
            r#type: self.texts.number(kind.name()),
            unit: self.texts.number(kind.unit()),
        });
        let sample_type = sample_type.collect();
        let first = self.texts.number(SampleKind::Of(self.graph.metric).name());
        let command = printable(&analysis.trace.header().command.join(" "));
        let streams = &analysis.profile.streams;
        let begin = streams.iter().map(|stream| stream.first_tick).min();
        let end = streams.iter().map(|stream| stream.last_tick).max();
        let ticks = end.unwrap_or(0).saturating_sub(begin.unwrap_or(0));
        let started = analysis.trace.header().started_unix;
        let head = PprofProfile {
            sample_type,
            mapping: vec![PprofMapping {
                id: PROGRAM,
                filename: self.texts.number(&printable(&analysis.name)),
                has_functions: true,
                has_filenames: true,
                has_line_numbers: true,
            }],
            time_nanos: signed(started.saturating_mul(1_000_000_000)),
            duration_nanos: signed(analysis.ns(ticks)),
            comment: vec![self.texts.number(&command)],
            default_sample_type: first,
            ..PprofProfile::default()
        };
        self.part(&head)
    }

    /// What samples refer to.
    fn tail(&mut self) -> io::Result<()> {
        let analysis = self.graph.analysis;
        let mut tail = PprofProfile::default();
        for (at, of) in self.places.iter().enumerate() {
            let id = at as u64 + 1;
            let name = of.map_or(FOLDED, |of| analysis.predicate(of));
            let name = self.texts.number(name);
            let (file, line) = of.and_then(|of| analysis.source(of)).unwrap_or(("", 0));
            tail.function.push(PprofFunction {
                id,
                name,
                system_name: name,
                filename: self.texts.number(file),
                start_line: line.into(),
            });
            tail.location.push(Location {
                id,
                mapping_id: PROGRAM,
                line: vec![Line {
                    function_id: id,
                    line: line.into(),
                }],
            });
        }
        tail.string_table = self.texts.0.drain(..).collect();
        self.part(&tail)
    }

    /// Parts of a message one behind the other are the message.
    fn part(&mut self, part: &PprofProfile) -> io::Result<()> {
        self.out.write_all(&part.encode_to_vec())
    }
}

/// Texts are written once, and by their numbers elsewhere. The first one is empty.
struct Texts(IndexSet<String>);

impl Texts {
    fn new() -> Self {
        Self(IndexSet::from([String::new()]))
    }

    fn number(&mut self, text: &str) -> i64 {
        let number = match self.0.get_index_of(text) {
            Some(number) => number,
            None => self.0.insert_full(text.to_owned()).0,
        };
        signed(number as u64)
    }
}

/// Of `profile.proto`, what is written here. Texts are numbers in the table of strings.
#[derive(Clone, PartialEq, Message)]
struct PprofProfile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<PprofSample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<PprofMapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<PprofFunction>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct PprofSample {
    /// The innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct PprofMapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    mapping_id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct PprofFunction {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}
