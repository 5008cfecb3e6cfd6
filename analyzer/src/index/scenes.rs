//! Which events of a folded recording stay: those around what is looked at later.
//!
//! A scene is the blocks of a stream from a place where the boxes are known to the next such place.
//! Scenes that stay have a quarter of the room. First come those that were asked for (by
//! `pm_keep`, by a condition, or where an exception ended a thread), then those with other marks,
//! then those in which the slowest calls of predicates begin. Of the first two kinds the newest
//! stay, and of the last the slowest.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::ops::Range;

use portmortem_tracer::fold::{Fate, mark_folded};
use portmortem_tracer::format::Closing;

use crate::calls::figures::SlowCall;
use crate::machine::{Class, Note, WayOut};
use crate::replay::growing::{Growing, NewParts};
use crate::trace::events::Events;
use crate::trace::{StreamInfo, Trace};

/// Scenes have one part in so many of the room.
const PART: u64 = 4;

/// A stream by its number, and the number of an event in it.
pub(super) type EventOf = (u32, u64);

/// Blocks of a stream that stay together.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Scene {
    events: Range<u64>,
    /// Sequences of the blocks.
    blocks: Range<u64>,
    bytes: u64,
    /// The tick of the last event.
    last: u64,
}

/// Why a scene stays: those that come first in this order go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SceneReason {
    is_asked: bool,
    /// The tick of its last event.
    last: u64,
}

/// The scenes that stay, each by its stream and its first event.
#[derive(Debug)]
pub(super) struct Scenes {
    /// Bytes that they may take.
    room: u64,
    stay: BTreeMap<EventOf, Scene>,
    /// Those that stay for an event in them.
    happened: BTreeMap<EventOf, SceneReason>,
}

/// What is looked at later.
#[derive(Debug)]
pub(super) struct WantedScenes {
    /// The slowest call of each predicate, the slowest first, as far as they are known. `None`:
    /// they are not looked for any more.
    pub(super) slowest: Option<Vec<SlowCall>>,
    /// Events of which a user asked for the scenes.
    pub(super) asked: Vec<EventOf>,
}

/// Where the boxes of streams are known, in order.
type ScenePlaces = BTreeMap<u32, Vec<ScenePlace>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ScenePlace {
    /// Number of the event that comes next.
    event: u64,
    /// Sequence of the block that it is in.
    block: u64,
}

impl ScenePlace {
    /// Behind the last event of a stream that has ended.
    fn behind(trace: &Trace, stream: u32) -> Option<Self> {
        let stream = &trace.streams()[trace.stream_place(stream)?];
        let last = stream
            .blocks
            .clone()
            .next_back()
            .filter(|_| stream.end.is_some())?;
        Some(Self {
            event: trace.number_after(last)?,
            block: trace.block(last).sequence + 1,
        })
    }
}

impl Scenes {
    /// None yet, of a trace that may have `limit` bytes.
    pub(super) fn new(limit: u64) -> Self {
        Self {
            room: limit / PART,
            stay: BTreeMap::new(),
            happened: BTreeMap::new(),
        }
    }

    /// Marks what was folded: what becomes of it, and of scenes of before.
    pub(super) fn settle(
        &mut self,
        trace: &Trace,
        file: &File,
        growing: &Growing,
        new: &NewParts,
        wanted: &WantedScenes,
    ) -> io::Result<()> {
        let places = places(growing);
        let find = |scenes: &Self, of: EventOf| scenes.find(trace, &places, of);
        let asked = wanted.asked.iter().map(|&of| (of, true));
        let thrown = thrown(trace, new).into_iter().map(|of| (of, true));
        for (of, is_asked) in marks(trace, new).into_iter().chain(thrown).chain(asked) {
            let Some((key, scene)) = find(self, of) else {
                continue;
            };
            let last = scene.last;
            let reason = SceneReason { is_asked, last };
            let known = self.happened.entry(key).or_insert(reason);
            known.is_asked |= is_asked;
        }
        let mut chosen = Chosen {
            room: self.room,
            scenes: BTreeMap::new(),
        };
        let known = self.happened.iter().map(|(&of, &why)| (of, why));
        let mut known: Vec<(EventOf, SceneReason)> = known.collect();
        known.sort_unstable_by_key(|&(of, reason)| (Reverse(reason), of));
        let least_for_calls = self.room / 4;
        for (of, _) in known {
            let has_room = chosen.room > least_for_calls;
            let found = find(self, of).filter(|(_, scene)| has_room && chosen.add(of, scene));
            if found.is_none() {
                self.happened.remove(&of);
            }
        }
        let Some(slowest) = &wanted.slowest else {
            // Those of before are still slow.
            for (key, scene) in &self.stay {
                chosen.add(*key, scene);
            }
            return self.mark(trace, file, new, chosen.scenes);
        };
        for call in slowest {
            let Some((key, scene)) = find(self, (call.stream, call.event)) else {
                continue;
            };
            chosen.add(key, &scene);
            // What is long is seen where it begins.
            if call.tick.saturating_add(call.ticks) > scene.last
                && let Some((key, next)) = find(self, (call.stream, scene.events.end))
            {
                chosen.add(key, &next);
            }
        }
        self.mark(trace, file, new, chosen.scenes)
    }

    /// The scene that an event is in, if all of it is in the trace.
    fn find(
        &self,
        trace: &Trace,
        places: &ScenePlaces,
        (stream, event): EventOf,
    ) -> Option<(EventOf, Scene)> {
        let mut before = self.stay.range((stream, 0)..=(stream, event));
        if let Some((key, scene)) = before.next_back()
            && scene.events.contains(&event)
        {
            return Some((*key, scene.clone()));
        }
        let places = places.get(&stream).map_or(&[][..], Vec::as_slice);
        let next = places.partition_point(|place| place.event <= event);
        let beginning = ScenePlace { event: 0, block: 0 };
        let from = next.checked_sub(1).map_or(beginning, |at| places[at]);
        // All of a stream was folded that ends without such a place.
        let until = places.get(next).copied();
        let until = until.or_else(|| ScenePlace::behind(trace, stream))?;
        let scene = Scene::between(trace, stream, from, until)?;
        Some(((stream, from.event), scene))
    }

    /// Marks what changes, and what is new.
    fn mark(
        &mut self,
        trace: &Trace,
        file: &File,
        new: &NewParts,
        chosen: BTreeMap<EventOf, Scene>,
    ) -> io::Result<()> {
        let mut stay = BTreeSet::new();
        for (&(stream, first), scene) in &chosen {
            let blocks = scene.blocks_in(trace, stream);
            if !self.stay.contains_key(&(stream, first)) {
                for block in trace.blocks(blocks.clone()) {
                    mark_folded(file, block.offset, Fate::Stays)?;
                }
            }
            stay.extend(blocks);
        }
        for ((stream, first), scene) in &self.stay {
            if !chosen.contains_key(&(*stream, *first)) {
                for block in trace.blocks(scene.blocks_in(trace, *stream)) {
                    mark_folded(file, block.offset, Fate::Free)?;
                }
            }
        }
        let others = new.parts.iter().flat_map(|(_, blocks)| blocks.clone());
        for at in others.filter(|at| !stay.contains(at)) {
            for block in trace.blocks(at..at + 1) {
                mark_folded(file, block.offset, Fate::Free)?;
            }
        }
        self.stay.clear();
        for (key, scene) in chosen {
            let there = scene.blocks_there(trace, key.0);
            if there.len() as u64 == scene.blocks.end - scene.blocks.start {
                self.stay.insert(key, scene);
                continue;
            }
            // The recorder has taken room of one that was free until now.
            for offset in there {
                mark_folded(file, offset, Fate::Free)?;
            }
        }
        Ok(())
    }
}

/// Scenes that will stay, and the room for others.
struct Chosen {
    room: u64,
    scenes: BTreeMap<EventOf, Scene>,
}

impl Chosen {
    /// Whether there is room for a scene, or it is one already.
    fn add(&mut self, key: EventOf, scene: &Scene) -> bool {
        if self.scenes.contains_key(&key) {
            return true;
        }
        let Some(left) = self.room.checked_sub(scene.bytes) else {
            return false;
        };
        self.room = left;
        self.scenes.insert(key, scene.clone());
        true
    }
}

impl Scene {
    /// The blocks between two places, if all are in the trace and closed.
    fn between(trace: &Trace, stream: u32, from: ScenePlace, until: ScenePlace) -> Option<Self> {
        let mut scene = Self {
            events: from.event..until.event,
            blocks: from.block..until.block,
            bytes: 0,
            last: 0,
        };
        let blocks = scene.blocks_in(trace, stream);
        if blocks.is_empty() || blocks.len() as u64 != until.block.checked_sub(from.block)? {
            return None;
        }
        let header = trace.block_header(blocks.end - 1)?;
        let Closing::Closed(close) = header.closing else {
            return None;
        };
        scene.last = close.last_tick;
        scene.bytes = trace.bytes_of(blocks);
        Some(scene)
    }

    /// Where its blocks begin that are there now: fewer, perhaps, than when the trace was opened.
    fn blocks_there(&self, trace: &Trace, stream: u32) -> Vec<u64> {
        let blocks = self.blocks_in(trace, stream);
        let is_there = |at: &usize| {
            let header = trace.block_header(*at);
            header.is_some_and(|now| now.stream == stream && self.blocks.contains(&now.sequence))
        };
        let there = blocks.filter(is_there);
        there
            .flat_map(|at| trace.blocks(at..at + 1))
            .map(|block| block.offset)
            .collect()
    }

    /// Places of its blocks, as far as they are there.
    fn blocks_in(&self, trace: &Trace, stream: u32) -> Range<usize> {
        let Some(at) = trace.stream_place(stream) else {
            return 0..0;
        };
        let stream = &trace.streams()[at];
        let place = |sequence| trace.block_from(stream, sequence);
        place(self.blocks.start)..place(self.blocks.end)
    }
}

fn places(growing: &Growing) -> ScenePlaces {
    let mut places = ScenePlaces::new();
    for (stream, event, block) in growing.places() {
        places
            .entry(stream)
            .or_default()
            .push(ScenePlace { event, block });
    }
    places
}

/// Where the program has set marks in what is new, and whether it asked for the scene. All events
/// are read for it, if it ever sets any.
fn marks(trace: &Trace, new: &NewParts) -> Vec<(EventOf, bool)> {
    let mut found = Vec::new();
    if trace.marks().is_empty() {
        return found;
    }
    for (at, blocks) in &new.parts {
        let stream = &trace.streams()[*at];
        for block in blocks.clone() {
            // Of a block the last one of each kind.
            let mut last = [None; 2];
            let mut events = Events::part_ending(trace, stream, block..block + 1, false);
            while let Some(timed) = events.next() {
                if let Class::Note(Note::Mark(text)) = Class::of(timed.event) {
                    let is_asked = trace.text(text).is_some_and(asks_to_keep);
                    last[usize::from(is_asked)] = Some((stream.id, events.number()));
                }
            }
            let last = last.into_iter().zip([false, true]);
            found.extend(last.filter_map(|(event, is_asked)| Some((event?, is_asked))));
        }
    }
    found
}

/// Whether a mark is one of `pm_keep`.
fn asks_to_keep(text: &str) -> bool {
    text == "keep" || text.starts_with("keep: ")
}

/// The last events of streams that an exception has ended.
fn thrown(trace: &Trace, new: &NewParts) -> Vec<EventOf> {
    let ended = new.ended.iter().map(|at| &trace.streams()[*at]);
    ended
        .filter_map(|stream| last_exception(trace, stream))
        .collect()
}

fn last_exception(trace: &Trace, stream: &StreamInfo) -> Option<EventOf> {
    let last = stream.blocks.clone().next_back()?;
    let mut events = Events::part_ending(trace, stream, last..last + 1, false);
    let mut thrown = None;
    while let Some(timed) = events.next() {
        match Class::of(timed.event) {
            Class::Leave(WayOut::Exception) => thrown = Some(events.number()),
            Class::Cut(_) | Class::Pause(_) | Class::Note(_) => {}
            _ => thrown = None,
        }
    }
    Some((stream.id, thrown?))
}
