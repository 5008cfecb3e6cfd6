//! A trace that grows is replayed as what is new comes, and all figures are as if it was read from
//! the beginning.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use bincode::config;
use portmortem_tracer::fold::{Fate, mark_folded};
use portmortem_tracer::format::{Event, Outcome, Site, StreamKind};
use portmortem_tracer::{Keep, Options, Recorder, Stream};
use proptest::prelude::*;
use rustc_hash::FxHashMap;
use tempfile::TempDir;

use super::files::{declare_one, recorder, trace};
use super::kept::told_as_in;
use super::parallel::long;
use super::{Script, then_fails};
use crate::calls::Calls;
use crate::calls::so_far::CallsSoFar;
use crate::figures::laws;
use crate::figures::profile::Profile;
use crate::moment::{Moment, OpenBox};
use crate::replay::growing::{Growing, KeptGrowing, Stopped};
use crate::replay::{ReplayOptions, replay};
use crate::scope::Scope;
use crate::trace::Trace;
use crate::walk::{Trail, Walk};

/// A script that is being recorded, little by little.
pub(super) struct Recording<'s> {
    pub(super) script: &'s Script,
    directory: TempDir,
    recorder: Recorder,
    /// By what a script calls: what the file calls it. Names are declared when they are first
    /// called.
    ids: FxHashMap<u32, u32>,
    /// Begun when their first event comes.
    streams: Vec<Option<Stream>>,
    /// How many events of each stream are recorded.
    at: Vec<usize>,
}

impl<'s> Recording<'s> {
    fn new(script: &'s Script) -> Self {
        Self::with(script, &Options::default())
    }

    pub(super) fn with(script: &'s Script, options: &Options) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let recorder = recorder(&directory.path().join("trace.pmt"), options);
        Self {
            script,
            directory,
            recorder,
            ids: FxHashMap::default(),
            streams: script.streams.iter().map(|_| None).collect(),
            at: vec![0; script.streams.len()],
        }
    }

    fn predicate(&mut self, index: u32) -> u32 {
        let recorder = &self.recorder;
        *self
            .ids
            .entry(index)
            .or_insert_with(|| declare_one(recorder, index))
    }

    fn id(&mut self, callable: u32) -> u32 {
        let (predicate, site) = self.script.callee(callable);
        let Some(site) = site else {
            return self.predicate(predicate);
        };
        if let Some(id) = self.ids.get(&callable) {
            return *id;
        }
        let callee = self.predicate(predicate);
        let caller = self.predicate(site % 3 % self.script.hidden.len() as u32);
        let id = self.recorder.site(Site {
            callee,
            caller,
            clause: 1,
            goal: site + 1,
            line: 0,
            file: None,
            then_fails: then_fails(site),
        });
        self.ids.insert(callable, id);
        id
    }

    /// Declares all names, and begins all streams, so that they have the numbers of the script.
    pub(super) fn announce(&mut self) {
        let predicates = self.script.hidden.len() as u32;
        (0..predicates).for_each(|of| _ = self.predicate(of));
        (1..=2 * predicates).for_each(|site| _ = self.id(predicates + site));
        let dialect = self.script.dialect;
        for stream in &mut self.streams {
            let begun = self
                .recorder
                .stream(StreamKind::Thread, "a thread", dialect);
            *stream = Some(begun);
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.recorder.path()
    }

    /// Some events more of a stream, which ends with its last one.
    pub(super) fn go_on(&mut self, stream: usize, events: usize) {
        let script = self.script;
        let all = &script.streams[stream];
        let until = all.len().min(self.at[stream] + events);
        for &(event, tick) in &all[self.at[stream]..until] {
            let event = match event {
                Event::Call { predicate } => Event::Call {
                    predicate: self.id(predicate),
                },
                Event::Tail { predicate } => Event::Tail {
                    predicate: self.id(predicate),
                },
                other => other,
            };
            let (recorder, dialect) = (&self.recorder, script.dialect);
            let stream = self.streams[stream]
                .get_or_insert_with(|| recorder.stream(StreamKind::Thread, "a thread", dialect));
            stream.record_at(event, tick);
        }
        self.at[stream] = until;
        if until == all.len() {
            self.streams[stream] = None;
        }
    }

    pub(super) fn is_over(&self) -> bool {
        let lengths = self.script.streams.iter().map(Vec::len);
        self.at.iter().copied().eq(lengths)
    }

    /// The file as it is now.
    pub(super) fn now(&self) -> Trace {
        trace(self.bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.directory.path().join("trace.pmt")).unwrap()
    }

    pub(super) fn close(self) -> Trace {
        trace(self.closed_bytes())
    }

    fn closed_bytes(mut self) -> Vec<u8> {
        self.streams.clear();
        self.recorder.close(Outcome::Exited(0)).unwrap();
        fs::read(self.directory.path().join("trace.pmt")).unwrap()
    }
}

/// Nothing is written over as long as there is no limit.
pub(super) const FOLDING: Options = Options {
    max_size: None,
    keep: Keep::Figures,
    overwrite: false,
};

/// Where the blocks lie that are folded, and their sizes.
fn blocks_folded(
    growing: &mut Growing,
    trace: &Trace,
    calls: Option<&mut CallsSoFar>,
) -> Vec<(usize, usize)> {
    let new = growing.fold(trace, 0).unwrap();
    if let Some(calls) = calls {
        calls.go_on(trace, &new.parts, &new.ended);
    }
    let blocks = new
        .parts
        .into_iter()
        .flat_map(|(_, blocks)| trace.blocks(blocks));
    blocks
        .map(|block| (block.offset as usize, block.size as usize))
        .collect()
}

/// As a file has it.
pub(super) fn written(growing: &Growing) -> Vec<u8> {
    bincode::encode_to_vec(growing, config::standard()).unwrap()
}

pub(super) fn read_again(bytes: &[u8], trace: &Trace, survives_loss: bool) -> Option<Growing> {
    let config = config::standard().with_limit::<0x100_0000>();
    let (kept, _) = bincode::decode_from_slice::<KeptGrowing, _>(bytes, config).ok()?;
    kept.open(trace, survives_loss)
}

/// The active chain, and the choice stack without callers: those of boxes are not kept that are
/// about to be cut, where a part ends between the events of one cut.
fn boxes(moment: &Moment) -> (Vec<OpenBox>, Vec<OpenBox>) {
    let choices = moment.choices().to_vec().into_iter();
    let choices = choices.map(|choice| OpenBox {
        caller: None,
        ..choice
    });
    (moment.active().to_vec(), choices.collect())
}

/// Goes on, and compares all with a reading from the beginning. Bytes that were read.
fn check(growing: &mut Growing, trace: &Trace) -> Result<u64, TestCaseError> {
    let options = ReplayOptions::default();
    let grown = growing.go_on(trace, &options).unwrap();
    prop_assert_eq!(&grown.profile, &replay(trace, &options));
    let trail = Trail::new(trace, &grown.checkpoints);
    for (at, stream) in trace.streams().iter().enumerate() {
        for (number, _) in trail.places(at) {
            let near = Walk::from(trace, Some(&trail), stream, number);
            let far = Walk::from(trace, None, stream, number);
            prop_assert_eq!(boxes(near.moment()), boxes(far.moment()));
        }
    }
    Ok(grown.read)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_trace_that_grows_is_as_if_read_from_its_beginning(
        script in long(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), 1..900usize), 1..12),
        stride in prop_oneof![Just(1), Just(3000), Just(u64::MAX)],
        is_kept: bool,
    ) {
        let mut recording = Recording::new(&script);
        let mut growing = Growing::new(&recording.now(), stride);
        check(&mut growing, &recording.now())?;
        for (stream, events) in steps {
            recording.go_on(stream.index(script.streams.len()), events);
            if is_kept {
                growing = read_again(&written(&growing), &recording.now(), false).unwrap();
            }
            check(&mut growing, &recording.now())?;
        }
        let mut stream = 0;
        while !recording.is_over() {
            recording.go_on(stream % script.streams.len(), 1500);
            stream += 1;
            check(&mut growing, &recording.now())?;
        }
        check(&mut growing, &recording.close())?;
    }

    /// Blocks that were folded are gone, all, the oldest or any, and the figures are those of all
    /// events. What is told of the other events is what the whole trace tells, as far as anything
    /// is.
    #[test]
    fn blocks_that_were_folded_are_not_missed(
        script in long(),
        steps in prop::collection::vec((any::<prop::sample::Index>(), 1..900usize), 1..12),
        gone in prop_oneof![Just(1.0), 0.0..1.0],
        stay in prop_oneof![Just(vec![false]), prop::collection::vec(any::<bool>(), 1..9)],
        stride in prop_oneof![Just(1), Just(3000)],
        is_over: bool,
    ) {
        let mut recording = Recording::with(&script, &FOLDING);
        let mut growing = Growing::new(&recording.now(), stride);
        let mut folded = Vec::new();
        let mut calls = CallsSoFar::default();
        for (stream, events) in steps {
            recording.go_on(stream.index(script.streams.len()), events);
            let now = recording.now();
            growing = read_again(&written(&growing), &now, false).unwrap();
            folded.extend(blocks_folded(&mut growing, &now, Some(&mut calls)));
        }
        let mut stream = 0;
        while !recording.is_over() {
            recording.go_on(stream % script.streams.len(), 1500);
            stream += 1;
        }
        let mut bytes = recording.closed_bytes();
        let whole = trace(bytes.clone());
        if is_over {
            folded.extend(blocks_folded(&mut growing, &whole, Some(&mut calls)));
            let scope = Scope::of(&whole, &Default::default());
            prop_assert_eq!(&calls.all(&whole).unwrap().without_bins(), &Calls::of(&whole, &scope).without_bins());
        }
        let gone = (folded.len() as f64 * gone) as usize;
        let stay = stay.iter().cycle();
        for ((offset, size), _) in folded[..gone].iter().zip(stay).filter(|(_, stay)| !**stay) {
            bytes[*offset..offset + size].fill(0);
        }
        let rest = trace(bytes);
        let mut growing = read_again(&written(&growing), &rest, false).unwrap();
        let grown = growing.go_on_alone(&rest, &ReplayOptions::default()).unwrap();
        let found = Profile { damage: Vec::new(), ..grown.profile };
        prop_assert_eq!(found, replay(&whole, &ReplayOptions::default()));
        let trail = Trail::new(&rest, &grown.checkpoints);
        for (at, stream) in rest.streams().iter().enumerate() {
            for (number, _) in trail.places(at) {
                let near = Walk::from(&rest, Some(&trail), stream, number);
                let far = Walk::from(&whole, None, &whole.streams()[at], number);
                prop_assert_eq!(boxes(near.moment()), boxes(far.moment()));
            }
        }
        told_as_in(&whole, &rest, &trail)?;
    }

    /// Events were lost after what was folded: its figures stay, and the rest is said to be lost.
    #[test]
    fn what_cannot_be_folded_is_lost(script in long(), lost in 1..4_usize) {
        let mut recording = Recording::with(&script, &FOLDING);
        recording.go_on(0, 1200);
        let mut growing = Growing::new(&recording.now(), 3000);
        growing.fold(&recording.now(), 0).unwrap();
        let before = growing.clone().ending_here(&recording.now()).unwrap();
        while !recording.is_over() {
            (0..script.streams.len()).for_each(|stream| recording.go_on(stream, 1500));
        }
        let all = recording.now();
        let events: u64 = script.streams.iter().map(|events| events.len() as u64).sum();
        let next = blocks_folded(&mut growing.clone(), &all, None);
        let mut bytes = recording.closed_bytes();
        for (offset, size) in next.into_iter().take(lost) {
            bytes[offset..offset + size].fill(0);
        }
        let rest = trace(bytes);
        let found = growing.clone().ending_here(&rest).unwrap();
        prop_assert_eq!(laws::check(&found), []);
        prop_assert_eq!(&found.edges.keys().collect::<Vec<_>>(), &before.edges.keys().collect::<Vec<_>>());
        let read: u64 = found.streams.iter().map(|stream| stream.events).sum();
        prop_assert_eq!(read + found.lost_events(), events);
    }

    /// Whatever the file says, nothing panics, and sums come out or nothing goes on from it.
    #[test]
    fn a_file_that_lies_is_survived(
        script in long(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..8),
    ) {
        let mut recording = Recording::new(&script);
        recording.go_on(0, 1500);
        let mut growing = Growing::new(&recording.now(), 3000);
        check(&mut growing, &recording.now())?;
        let mut bytes = written(&growing);
        for (at, bits) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        recording.go_on(0, 1500);
        let trace = recording.now();
        if let Some(mut growing) = read_again(&bytes, &trace, false)
            && let Ok(grown) = growing.go_on(&trace, &ReplayOptions::default())
        {
            prop_assert_eq!(laws::check(&grown.profile), []);
        }
    }

    /// Another recording has the place of the one that it began with.
    #[test]
    fn another_trace_is_read_from_its_beginning(script in long(), other in long()) {
        let mut recording = Recording::new(&script);
        recording.go_on(0, 500);
        let mut growing = Growing::new(&recording.now(), 1);
        check(&mut growing, &recording.now())?;
        let mut recording = Recording::new(&other);
        recording.go_on(0, 2000);
        check(&mut growing, &recording.now())?;
    }
}

/// Reading takes work in proportion to what is new.
#[test]
fn what_is_known_is_not_read_again() {
    let script = Script::new(2, nested(400_000));
    let mut recording = Recording::new(&script);
    recording.go_on(0, 300_000);
    let before = recording.now();
    let mut growing = Growing::new(&before, 1 << 16);
    let all = check(&mut growing, &before).unwrap();
    assert!(all > 500_000, "{all}");
    recording.go_on(0, 3_000);
    let read = check(&mut growing, &recording.now()).unwrap();
    // The last block of the stream is not closed, so it is read each time.
    let most = 256 << 10;
    assert!(read <= most, "{read}");
    recording.go_on(0, 97_000);
    assert!(check(&mut growing, &recording.close()).unwrap() < all / 2);
}

/// The recorder begins to write over blocks while a reader opens the file: that has read the header
/// by then, and has not looked for blocks yet.
#[test]
fn blocks_may_be_gone_that_were_there_before_it_was_opened() {
    const LIMIT: u64 = 1 << 20;
    let beyond = Options {
        keep: Keep::FiguresBeyond(LIMIT),
        ..FOLDING
    };
    let script = Script::new(2, nested(2_000_000));
    let mut recording = Recording::with(&script, &beyond);
    recording.go_on(0, 100_000);
    let now = recording.now();
    let mut growing = Growing::new(&now, 1 << 16);
    let file = OpenOptions::new().write(true).open(recording.path());
    for (offset, _) in blocks_folded(&mut growing, &now, None) {
        mark_folded(file.as_ref().unwrap(), offset as u64, Fate::Free).unwrap();
    }
    let path = recording.path().to_owned();
    let opened = Trace::open_while(&path, || recording.go_on(0, 1_900_000)).unwrap();
    assert!(opened.header().mode.keep_last);
    growing.fold(&opened, 0).unwrap();
    assert!(growing.is_in_order());
}

/// A block is closed after the names of the trace were read, and has events of a predicate that was
/// declared since, in room that the file did not have by then.
#[test]
fn what_was_closed_since_names_were_read_is_folded_later() {
    let mut events = nested(600_000);
    for (at, (event, _)) in events.iter_mut().enumerate().skip(100_000) {
        if let Event::Call { predicate } = event {
            *predicate = 2 + at as u32 / 50;
        }
    }
    let script = Script::new(13_000, events);
    let mut recording = Recording::with(&script, &FOLDING);
    recording.go_on(0, 100_000);
    let path = recording.path().to_owned();
    let mut growing = Growing::new(&recording.now(), 1 << 16);
    while recording.at[0] < 590_000 {
        let opened = Trace::open_while(&path, || recording.go_on(0, 30_000)).unwrap();
        recording.go_on(0, 700);
        growing.fold(&opened, 0).unwrap();
        assert!(growing.is_in_order());
    }
    check(&mut growing, &recording.close()).unwrap();
}

/// Calls ten deep, again and again.
pub(super) fn nested(events: usize) -> Vec<(Event, u64)> {
    let base = portmortem_tracer::clock::ticks() + (1 << 40);
    let event = |at: usize| match at % 20 {
        0..10 => Event::Call {
            predicate: (at % 2) as u32,
        },
        _ => Event::ExitDet,
    };
    (0..events)
        .map(|at| (event(at), base + 7 * at as u64))
        .collect()
}

/// What was replayed until it was cancelled is known, and it goes on from there.
#[test]
fn it_goes_on_after_it_was_cancelled() {
    let script = Script::new(2, nested(100_000));
    let mut recording = Recording::new(&script);
    recording.go_on(0, 60_000);
    let mut growing = Growing::new(&recording.now(), 1 << 14);
    let cancel = AtomicBool::new(true);
    let cancelled = ReplayOptions {
        cancel: Some(&cancel),
        ..ReplayOptions::default()
    };
    let stopped = growing.go_on(&recording.now(), &cancelled);
    assert_eq!(stopped.unwrap_err(), Stopped::Cancelled);
    check(&mut growing, &recording.now()).unwrap();
    recording.go_on(0, 40_000);
    growing.go_on(&recording.now(), &cancelled).unwrap_err();
    check(&mut growing, &recording.close()).unwrap();
}

/// A stream that must be read in one piece has the figures of the replay; nothing goes on from it.
#[test]
fn streams_in_one_piece_are_refused() {
    let mut events = nested(3_000);
    events[1_500].0 = Event::Redo;
    let script = Script::new(2, events);
    let mut recording = Recording::new(&script);
    recording.go_on(0, 3_000);
    let trace = recording.now();
    let mut growing = Growing::new(&trace, 1);
    for _ in 0..2 {
        let stopped = growing.go_on(&trace, &ReplayOptions::default());
        assert_eq!(stopped.unwrap_err(), Stopped::InOnePiece);
    }
}
