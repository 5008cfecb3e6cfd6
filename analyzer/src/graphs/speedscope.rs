//! The file format of <https://www.speedscope.app>: the call tree as one profile of frames that
//! open and close.
//!
//! The order of frames is that of the call tree, not that of time: a row's own time comes first,
//! then the rows below.

use std::io::{self, Write};

use indexmap::IndexMap;
use serde::Serialize;

use super::{Graph, LeftOut, stacks};
use crate::export::json::Escaped;
use crate::trace::PredicateIndex;
use crate::trace::names::printable;

#[derive(Serialize)]
struct File<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    exporter: &'static str,
    shared: SharedFrames<'a>,
    profiles: [SpeedscopeProfile; 1],
}

#[derive(Serialize)]
struct SharedFrames<'a> {
    frames: Vec<NamedFrame<'a>>,
}

#[derive(Serialize)]
struct NamedFrame<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpeedscopeProfile {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'static str,
    unit: &'static str,
    start_value: u64,
    end_value: u64,
    events: Vec<FrameEvent>,
}

/// A frame opens (`O`) or closes (`C`).
#[derive(Serialize)]
struct FrameEvent {
    #[serde(rename = "type")]
    kind: &'static str,
    frame: usize,
    at: u64,
}

/// Writes the call tree.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let (rows, left_out) = stacks::of(graph, usize::MAX);
    let mut frames: IndexMap<Option<PredicateIndex>, NamedFrame> = IndexMap::new();
    let mut events = Vec::with_capacity(2 * rows.len());
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0_u64;
    for row in &rows {
        close(&mut open, row.depth, at, &mut events);
        let entry = frames.entry(row.predicate);
        let frame = entry.index();
        entry.or_insert_with(|| {
            let source = row.predicate.and_then(|of| graph.analysis.source(of));
            NamedFrame {
                name: row.name(graph),
                file: source.map(|(file, _)| printable(file)),
                line: source.map(|(_, line)| line).filter(|&line| line > 0),
            }
        });
        open.push(frame);
        events.push(FrameEvent {
            kind: "O",
            frame,
            at,
        });
        at = at.saturating_add(row.own);
    }
    close(&mut open, 0, at, &mut events);
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        name: printable(&graph.analysis.name),
        exporter: concat!("portmortem ", env!("CARGO_PKG_VERSION")),
        shared: SharedFrames {
            frames: frames.into_values().collect(),
        },
        profiles: [SpeedscopeProfile {
            kind: "evented",
            name: graph.metric.column(),
            unit: if graph.metric.is_time() {
                "nanoseconds"
            } else {
                "none"
            },
            start_value: 0,
            end_value: at,
            events,
        }],
    };
    serde_json::to_writer(Escaped(&mut *out), &file)?;
    out.write_all(b"\n")?;
    Ok(left_out)
}

/// Closes all frames but the outermost `kept`.
fn close(open: &mut Vec<usize>, kept: usize, at: u64, events: &mut Vec<FrameEvent>) {
    while open.len() > kept
        && let Some(frame) = open.pop()
    {
        events.push(FrameEvent {
            kind: "C",
            frame,
            at,
        });
    }
}
