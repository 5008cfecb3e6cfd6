//! What the trace is, what its time was, and what must be known beside figures.

use jiff::Timestamp;
use portmortem_analyzer::figures::whole::Whole;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::{Analysis, remarks};
use serde::Serialize;

use crate::report;

/// What stands above all else.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    /// What the trace is called.
    pub(super) title: String,
    command: String,
    engine: String,
    ending: String,
    began: String,
    machine: String,
    program: String,
    events: u64,
    streams: usize,
    total_ns: u64,
    /// What shares are of.
    work_ns: u64,
    /// What is left out of the work.
    left_out: Vec<(&'static str, u64)>,
    /// Times are net where they can be.
    is_net: bool,
    recording: String,
    waiting: Option<String>,
    collections: Option<String>,
    undone: Option<String>,
    unused_choicepoints: Option<String>,
    /// Which part of the trace is looked at.
    filters: Vec<String>,
    /// What was lost.
    losses: Vec<String>,
    remarks: Vec<String>,
}

impl Head {
    pub(super) fn of(analysis: &Analysis) -> Self {
        let trace = &analysis.trace;
        let header = trace.header();
        let net = analysis.profile.net.as_ref();
        let whole = match net.filter(|_| analysis.net_is_measured()) {
            Some(net) => Whole::net(trace, net),
            None => analysis.whole(),
        };
        let ns = |ticks| analysis.ns(ticks);
        let left_out = whole.left_out().map(|(what, ticks)| (what, ns(ticks)));
        let losses = report::losses(analysis);
        let (mut remarks, _) = report::remarks(analysis);
        remarks.retain(|remark| !losses.contains(remark));
        let filters = analysis.filters.filters().iter();
        Self {
            title: printable(&analysis.name),
            command: printable(&header.command.join(" ")),
            engine: printable(&header.engine),
            ending: remarks::ending(trace),
            began: began(header.started_unix),
            machine: printable(&header.machine),
            program: format!("portmortem {}", env!("CARGO_PKG_VERSION")),
            events: analysis.events(),
            streams: analysis.profile.streams.len(),
            total_ns: ns(analysis.profile.total_ticks()),
            work_ns: ns(whole.work_ticks),
            left_out: left_out.collect(),
            is_net: analysis.net_is_measured(),
            recording: remarks::recording_share(analysis),
            waiting: remarks::waiting(analysis),
            collections: remarks::collections(analysis),
            undone: remarks::undone(analysis),
            unused_choicepoints: remarks::unused_choicepoints(analysis),
            filters: filters.map(|filter| filter.label(trace)).collect(),
            losses,
            remarks,
        }
    }
}

/// `2026-11-21 02:14 UTC`; empty if that is not known.
fn began(unix: u64) -> String {
    let time = i64::try_from(unix).ok().filter(|&second| second > 0);
    let time = time.and_then(|second| Timestamp::from_second(second).ok());
    time.map_or_else(String::new, |time| {
        time.strftime("%Y-%m-%d %H:%M UTC").to_string()
    })
}
