//! A recording whose events are folded goes on where the recorder lost some: figures are those of
//! the model, to which nothing is known of the boxes that are open where events were lost, and
//! where a part that was folded after that ends.

use std::fs::File;
use std::ops::Range;

use portmortem_tracer::Options;
use portmortem_tracer::fold::{Fate, mark_folded};
use portmortem_tracer::format::Event;
use proptest::prelude::*;

use super::files::comparable;
use super::growing::{FOLDING, Recording, nested, read_again, written};
use super::parallel::scripted;
use super::{Events, Script, naive, random};
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::replay::ReplayOptions;
use crate::replay::growing::Growing;
use crate::trace::{StreamInfo, Trace, events};

/// What was read of a stream, as events of a script.
#[derive(Default)]
struct Kept {
    events: Events,
    /// How many were read.
    read: u64,
    /// The number that comes next.
    next: u64,
    /// It lost events.
    has_lost: bool,
}

impl Kept {
    fn tick(&self) -> u64 {
        self.events.last().map_or(0, |&(_, tick)| tick)
    }

    /// Blocks that come next are read at once.
    fn read(&mut self, trace: &Trace, stream: &StreamInfo, blocks: Range<usize>, predicates: u32) {
        if self.events.is_empty() {
            let begin = stream.begin_tick().unwrap();
            self.events.push((Event::Mark { text: 0 }, begin));
        }
        if self.has_lost {
            self.events.push((Event::Gap { lost: 0 }, self.tick()));
        }
        let behind = (self.next, self.tick());
        let mut events = events::Events::behind(trace, stream, blocks, behind, false);
        for timed in events.by_ref() {
            match timed.event {
                Event::Gap { .. } => {
                    self.events.push((timed.event, timed.tick));
                    self.has_lost = true;
                }
                event => {
                    self.events
                        .push((callable(event, timed.site, predicates), timed.tick));
                    self.read += 1;
                }
            }
        }
        self.next = events.next_number();
    }
}

/// The event of a script.
fn callable(event: Event, site: Option<u32>, predicates: u32) -> Event {
    let number = |predicate| site.map_or(predicate, |site| predicates + 1 + site);
    match event {
        Event::Call { predicate } => Event::Call {
            predicate: number(predicate),
        },
        Event::Tail { predicate } => Event::Tail {
            predicate: number(predicate),
        },
        other => other,
    }
}

/// A recording, what was folded of it, and what was read for that.
struct Folding<'s> {
    recording: Recording<'s>,
    growing: Growing,
    kept: Vec<Kept>,
}

impl<'s> Folding<'s> {
    /// The trace has so much room, in KiB.
    fn new(script: &'s Script, room: u64, stride: u64) -> Self {
        let options = Options {
            max_size: Some(room << 10),
            ..FOLDING
        };
        let mut recording = Recording::with(script, &options);
        recording.announce();
        Self {
            growing: Growing::new(&recording.now(), stride).surviving_loss(),
            recording,
            kept: script.streams.iter().map(|_| Kept::default()).collect(),
        }
    }

    fn fold(&mut self) {
        let now = self.recording.now();
        self.growing = read_again(&written(&self.growing), &now, true).unwrap();
        let new = self.growing.fold(&now, 0).unwrap();
        let file = File::options()
            .write(true)
            .open(self.recording.path())
            .unwrap();
        for (at, blocks) in new.parts {
            let predicates = self.recording.script.hidden.len() as u32;
            self.kept[at].read(&now, &now.streams()[at], blocks.clone(), predicates);
            for block in now.blocks(blocks) {
                mark_folded(&file, block.offset, Fate::Free).unwrap();
            }
        }
    }

    /// Compares all with the model; how many events were lost.
    fn close(mut self, is_over: bool) -> Result<u64, TestCaseError> {
        let script = self.recording.script;
        if is_over {
            self.fold();
        }
        let rest = self.recording.close();
        let mut growing = read_again(&written(&self.growing), &rest, true).unwrap();
        let options = ReplayOptions::default();
        let grown = growing.go_on_alone(&rest, &options).unwrap();
        prop_assert_eq!(laws::check(&grown.profile), []);
        let streams = rest.streams().iter().zip(&mut self.kept);
        for (stream, kept) in streams {
            let blocks = stream.blocks.clone();
            let is_new = |block: &usize| {
                let header = rest.block_header(*block).unwrap();
                header.first_event >= kept.next
            };
            let from = blocks.clone().find(is_new).unwrap_or(blocks.end);
            if from < blocks.end || kept.events.is_empty() {
                kept.read(&rest, stream, from..blocks.end, script.hidden.len() as u32);
            }
            let (end, all) = rest.end_of(stream);
            if all > kept.next {
                let lost = all - kept.next;
                let end = end.max(kept.tick());
                kept.events.push((Event::Gap { lost }, end));
            }
        }
        let model = naive::replay_nonsense(&Script {
            streams: self.kept.iter().map(|kept| kept.events.clone()).collect(),
            ..script.clone()
        });
        let counted = |mut profile: Profile| {
            for (stream, kept) in profile.streams.iter_mut().zip(&self.kept) {
                stream.events = kept.read;
            }
            profile.clauses.clear();
            comparable(profile)
        };
        let read: u64 = self.kept.iter().map(|kept| kept.read).sum();
        let found: u64 = grown.profile.streams.iter().map(|one| one.events).sum();
        prop_assert_eq!(found, read);
        let lost = grown.profile.lost_events();
        prop_assert_eq!(counted(grown.profile), counted(model));
        Ok(lost)
    }
}

/// Streams that have more events than the least room.
fn random_script() -> impl Strategy<Value = Script> {
    let streams = prop::collection::vec(random::choices(30_000), 1..4);
    (1..9u32, streams).prop_map(|(predicates, streams)| scripted(predicates, &streams))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn folding_goes_on_where_events_were_lost(
        script in random_script(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), 1..9000usize, any::<bool>()), 1..24),
        room in 64..96_u64,
        stride in prop_oneof![Just(1), Just(3000)],
        is_over: bool,
    ) {
        let mut folding = Folding::new(&script, room, stride);
        for (stream, events, folds) in steps {
            folding.recording.go_on(stream.index(script.streams.len()), events);
            if folds {
                folding.fold();
            }
        }
        let mut stream = 0;
        while !folding.recording.is_over() {
            folding.recording.go_on(stream % script.streams.len(), 6000);
            stream += 1;
        }
        folding.close(is_over)?;
    }
}

/// A stream that loses events twice, and is folded between and after that.
#[test]
fn events_are_lost_twice() {
    let script = Script::new(2, nested(400_000));
    let mut folding = Folding::new(&script, 128, 1 << 14);
    for _ in 0..2 {
        folding.recording.go_on(0, 3_000);
        folding.fold();
        folding.recording.go_on(0, 150_000);
        folding.fold();
    }
    for _ in 0..6 {
        folding.recording.go_on(0, 12_000);
        folding.fold();
    }
    folding.recording.go_on(0, 400_000);
    let lost = folding.close(false).unwrap();
    assert!((100_000..300_000).contains(&lost), "{lost}");
}
