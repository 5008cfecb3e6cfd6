//! From events to slices: which box opens one, and when it closes.

use std::io;

use super::messages::{DebugAnnotation, TrackEvent, Type};
use super::tracks::{Argument, Beginning, StreamTracks, Track};
use crate::Analysis;
use crate::listing::LastPort;
use crate::machine::{Class, Note, OpenBox, WayOut};
use crate::scope::Window;
use crate::tables::PredicateMoment;
use crate::trace::names::printable;
use crate::trace::{BoxKind, PredicateIndex};
use crate::walk::Step;

/// The slices of a stream.
pub(super) struct Slices<'a, 'p, 'o> {
    analysis: &'a Analysis,
    kinds: Vec<BoxKind>,
    tracks: StreamTracks<'a, 'p, 'o>,
    /// One for each active box that is known.
    open: Vec<OpenSlice>,
    /// What a redo is blamed on. `None`: it was before the window.
    last_port: Option<LastPort>,
    is_paused: bool,
    /// The time of the last event, in ns.
    now: u64,
    /// Slices that were begun.
    count: u64,
}

/// An active box.
#[derive(Debug, Clone, Copy)]
struct OpenSlice {
    depth: u64,
    /// Where its slice is; `None` if it is not looked at.
    track: Option<Track>,
}

impl<'a, 'p, 'o> Slices<'a, 'p, 'o> {
    pub(super) fn new(
        analysis: &'a Analysis,
        window: Window,
        tracks: StreamTracks<'a, 'p, 'o>,
    ) -> Self {
        Self {
            analysis,
            kinds: BoxKind::by_predicate(&analysis.trace),
            tracks,
            open: Vec::new(),
            last_port: None,
            is_paused: false,
            now: analysis.trace.clock().since_start_ns(window.from),
            count: 0,
        }
    }

    /// These boxes are active when the window begins, the outermost first.
    pub(super) fn begin_with(&mut self, boxes: &[OpenBox]) -> io::Result<()> {
        for (of, depth) in boxes.iter().zip(0..) {
            self.begin(of, depth, Beginning::Before, Vec::new())?;
        }
        Ok(())
    }

    /// An event in the window.
    pub(super) fn step(&mut self, step: &Step) -> io::Result<()> {
        let before = self.now;
        let clock = self.analysis.trace.clock();
        self.now = clock.since_start_ns(step.tick).max(before);
        match (step.class(), &step.of) {
            (Class::Enter(_), Some((of, depth))) => {
                self.close(*depth, WayOut::Lost.name(), &[])?;
                self.begin(of, *depth, Beginning::Call, Vec::new())?;
            }
            (Class::Depart(_), Some((of, depth))) => {
                self.close(*depth, "last_call", &[])?;
                self.begin(of, *depth, Beginning::LastCall, Vec::new())?;
            }
            (Class::ReEnter, Some((of, depth))) => {
                self.close(*depth, WayOut::Lost.name(), &[])?;
                let flows = self.blamed().map(|event| self.tracks.flow(event));
                self.begin(of, *depth, Beginning::Redo, flows.into_iter().collect())?;
            }
            (Class::Leave(way_out), Some((_, depth))) => {
                let flows = match way_out {
                    WayOut::Fail => vec![self.tracks.flow(step.number)],
                    _ => Vec::new(),
                };
                self.close(*depth, way_out.name(), &flows)?;
            }
            (Class::Lose(_), _) => {
                let now = std::mem::replace(&mut self.now, before);
                self.close(0, WayOut::Lost.name(), &[])?;
                self.not_recorded(Type::Begin, "events were lost")?;
                self.now = now;
                self.not_recorded(Type::End, "")?;
            }
            (Class::Pause(pauses), _) if pauses != self.is_paused => {
                self.is_paused = pauses;
                let kind = if pauses { Type::Begin } else { Type::End };
                self.not_recorded(kind, "paused")?;
            }
            (Class::Note(Note::Mark(text)), _) => {
                let event = TrackEvent {
                    r#type: Some(Type::Instant.into()),
                    name: self.analysis.trace.text(text).map(printable),
                    ..TrackEvent::default()
                };
                self.tracks.write(self.now, Track::Thread, None, event)?;
            }
            _ => {}
        }
        self.remember(step);
        Ok(())
    }

    /// The window has ended at a tick, or else the stream by its last event; how many slices there
    /// are.
    pub(super) fn end(mut self, until: Option<u64>) -> io::Result<u64> {
        if let Some(until) = until {
            self.now = self.analysis.trace.clock().since_start_ns(until);
        }
        self.close(0, WayOut::Open.name(), &[])?;
        if self.is_paused {
            self.not_recorded(Type::End, "paused")?;
        }
        Ok(self.count)
    }

    /// The failure that a redo is blamed on.
    fn blamed(&self) -> Option<u64> {
        match self.last_port {
            Some(LastPort::Failure(place)) => place.event,
            _ => None,
        }
    }

    /// What an event says of the causes of later ones.
    fn remember(&mut self, step: &Step) {
        let here = step.of.map(|(of, _)| PredicateMoment {
            predicate: of.predicate,
            event: Some(step.number),
        });
        let is_between = here.is_some_and(|here| self.kind(here.predicate).is_between_ports());
        if !is_between && let Some(last) = LastPort::of(step.class(), here) {
            self.last_port = Some(last);
        }
    }

    fn kind(&self, predicate: PredicateIndex) -> BoxKind {
        BoxKind::of(&self.kinds, predicate)
    }

    fn begin(
        &mut self,
        of: &OpenBox,
        depth: u64,
        beginning: Beginning,
        flow_ids: Vec<u64>,
    ) -> io::Result<()> {
        let kind = self.kind(of.predicate);
        let is_shown = of.is_shown(&self.analysis.scope);
        let track = is_shown.then(|| Track::of(kind));
        self.open.push(OpenSlice { depth, track });
        let Some(track) = track else {
            return Ok(());
        };
        self.count += 1;
        let event = TrackEvent {
            r#type: Some(Type::Begin.into()),
            category_iids: vec![beginning as u64],
            debug_annotations: vec![DebugAnnotation {
                name_iid: Some(Argument::Box as u64),
                uint_value: Some(of.called),
                string_value: None,
            }],
            flow_ids,
            ..TrackEvent::default()
        };
        self.tracks
            .write(self.now, track, Some(of.predicate), event)
    }

    /// Closes the box with so many around it, and before it what is inside, of which nothing is
    /// known.
    fn close(&mut self, depth: u64, outcome: &str, flow_ids: &[u64]) -> io::Result<()> {
        while let Some(&OpenSlice { depth: at, track }) = self.open.last()
            && at >= depth
        {
            self.open.pop();
            let Some(track) = track else {
                continue;
            };
            let is_it = at == depth;
            let event = TrackEvent {
                r#type: Some(Type::End.into()),
                debug_annotations: vec![DebugAnnotation {
                    name_iid: Some(Argument::Outcome as u64),
                    uint_value: None,
                    string_value: Some(outcome.to_owned()),
                }],
                flow_ids: if is_it { flow_ids.to_vec() } else { Vec::new() },
                ..TrackEvent::default()
            };
            self.tracks.write(self.now, track, None, event)?;
        }
        Ok(())
    }

    /// Begins or ends a time that was not recorded.
    fn not_recorded(&mut self, kind: Type, name: &str) -> io::Result<()> {
        let event = TrackEvent {
            r#type: Some(kind.into()),
            name: (kind == Type::Begin).then(|| name.to_owned()),
            ..TrackEvent::default()
        };
        self.tracks.write(self.now, Track::NotRecorded, None, event)
    }
}
