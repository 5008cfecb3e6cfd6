//! Packets one by one, and the tracks and names of a stream, which are declared before they are
//! used.

use std::io::{self, Write};

use prost::Message;

use super::messages::{
    BEGINS, EventName, GOES_ON, InternedData, PACKET, Packet, Process, Thread, TrackDescriptor,
    TrackEvent,
};
use crate::Analysis;
use crate::trace::names::printable;
use crate::trace::{BoxKind, PredicateIndex, StreamInfo};

/// The process and its track. The first stream is its main thread.
const PROCESS: i32 = 1;

/// Writes packets.
pub(super) struct Packets<'o> {
    out: &'o mut dyn Write,
    bytes: Vec<u8>,
}

impl<'o> Packets<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        Self {
            out,
            bytes: Vec::new(),
        }
    }

    fn write(&mut self, packet: &Packet) -> io::Result<()> {
        self.bytes.clear();
        self.bytes.push(PACKET);
        packet.encode_length_delimited(&mut self.bytes)?;
        self.out.write_all(&self.bytes)
    }

    /// The track of the process.
    pub(super) fn process(&mut self, analysis: &Analysis) -> io::Result<()> {
        let command = analysis.trace.header().command.iter();
        let process = Process {
            pid: Some(PROCESS),
            cmdline: command.map(|word| printable(word)).collect(),
            process_name: Some(printable(&analysis.name)),
        };
        self.write(&Packet {
            trusted_packet_sequence_id: Some(u32::MAX),
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(PROCESS.unsigned_abs().into()),
                process: Some(process),
                ..TrackDescriptor::default()
            }),
            ..Packet::default()
        })
    }
}

/// A track of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Track {
    /// Calls of the program.
    Thread = 0,
    Waiting,
    Collections,
    SetUp,
    /// Pauses, and times in which events were lost.
    NotRecorded,
}

impl Track {
    /// Where boxes of a kind are.
    pub(super) fn of(kind: BoxKind) -> Self {
        match kind {
            BoxKind::Call { .. } | BoxKind::Autoload => Self::Thread,
            BoxKind::Waiting => Self::Waiting,
            BoxKind::EngineWork => Self::Collections,
            BoxKind::SetUp => Self::SetUp,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Thread => "calls",
            Self::Waiting => "waiting",
            Self::Collections => "collections",
            Self::SetUp => "set-up",
            Self::NotRecorded => "not recorded",
        }
    }
}

/// How an activation begins: the category of its slice. The number is that in the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beginning {
    Call = 1,
    LastCall,
    Redo,
    /// Before the range of time.
    Before,
}

impl Beginning {
    const ALL: [(Self, &str); 4] = [
        (Self::Call, "call"),
        (Self::LastCall, "last call"),
        (Self::Redo, "redo"),
        (Self::Before, "began before"),
    ];
}

/// Arguments of slices. The number is that in the sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    /// How it ended.
    Outcome = 1,
    /// The number of the event that called the box.
    Box,
}

impl Argument {
    const ALL: [(Self, &str); 2] = [(Self::Outcome, "outcome"), (Self::Box, "box")];
}

/// The tracks of a stream, and the names that are used there.
pub(super) struct StreamTracks<'a, 'p, 'o> {
    analysis: &'a Analysis,
    packets: &'p mut Packets<'o>,
    stream: u32,
    /// By predicate: whether its name was declared.
    named: Vec<bool>,
    /// By track: whether it was declared.
    declared: [bool; 5],
}

impl<'a, 'p, 'o> StreamTracks<'a, 'p, 'o> {
    /// Declares the track of the thread.
    pub(super) fn new(
        analysis: &'a Analysis,
        stream: &StreamInfo,
        packets: &'p mut Packets<'o>,
    ) -> io::Result<Self> {
        let name = |iid: u64, name: &str| EventName {
            iid: Some(iid),
            name: Some(name.to_owned()),
        };
        let categories = Beginning::ALL.iter();
        let arguments = Argument::ALL.iter();
        let packet = Packet {
            trusted_packet_sequence_id: Some(stream.id),
            sequence_flags: Some(BEGINS),
            interned_data: Some(InternedData {
                event_categories: categories
                    .map(|&(of, text)| name(of as u64, text))
                    .collect(),
                debug_annotation_names: arguments
                    .map(|&(of, text)| name(of as u64, text))
                    .collect(),
                event_names: Vec::new(),
            }),
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(uuid(stream.id, Track::Thread)),
                parent_uuid: Some(PROCESS.unsigned_abs().into()),
                thread: Some(Thread {
                    pid: Some(PROCESS),
                    tid: Some(stream.id.into()),
                    thread_name: Some(stream.title()),
                }),
                ..TrackDescriptor::default()
            }),
            ..Packet::default()
        };
        packets.write(&packet)?;
        Ok(Self {
            analysis,
            packets,
            stream: stream.id,
            named: vec![false; analysis.trace.predicates().len() + 1],
            declared: [true, false, false, false, false],
        })
    }

    /// Names a flow; an event of the stream begins it.
    pub(super) fn flow(&self, event: u64) -> u64 {
        // More events than that no stream has.
        u64::from(self.stream) << 40 | event & ((1 << 40) - 1)
    }

    /// Writes an event; the name is that of a predicate unless it has one.
    pub(super) fn write(
        &mut self,
        ns: u64,
        track: Track,
        of: Option<PredicateIndex>,
        event: TrackEvent,
    ) -> io::Result<()> {
        self.declare(track)?;
        let mut interned_data = None;
        if let Some(of) = of
            && let Some(named) = self.named.get_mut(of as usize)
            && !std::mem::replace(named, true)
        {
            let name = EventName {
                iid: Some(number(of)),
                name: Some(printable(self.analysis.predicate(of))),
            };
            interned_data = Some(InternedData {
                event_names: vec![name],
                ..InternedData::default()
            });
        }
        self.packets.write(&Packet {
            timestamp: Some(ns),
            trusted_packet_sequence_id: Some(self.stream),
            sequence_flags: Some(GOES_ON),
            interned_data,
            track_event: Some(TrackEvent {
                track_uuid: Some(uuid(self.stream, track)),
                name_iid: of.map(number),
                ..event
            }),
            track_descriptor: None,
        })
    }

    fn declare(&mut self, track: Track) -> io::Result<()> {
        let declared = &mut self.declared[track as usize];
        if std::mem::replace(declared, true) {
            return Ok(());
        }
        self.packets.write(&Packet {
            trusted_packet_sequence_id: Some(self.stream),
            track_descriptor: Some(TrackDescriptor {
                uuid: Some(uuid(self.stream, track)),
                parent_uuid: Some(uuid(self.stream, Track::Thread)),
                name: Some(track.name().to_owned()),
                ..TrackDescriptor::default()
            }),
            ..Packet::default()
        })
    }
}

/// The number of the name of a predicate in a sequence; 0 is none.
fn number(predicate: PredicateIndex) -> u64 {
    u64::from(predicate) + 1
}

/// No stream has the number 0, so the process has another one.
fn uuid(stream: u32, track: Track) -> u64 {
    u64::from(stream) << 4 | track as u64
}
