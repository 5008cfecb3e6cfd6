//! From events to who waited for whom.
//!
//! A box of `system:waiting/0` is a wait; the box around it says in what call. Of some calls the
//! trace says what they do with a mutex, a queue or a thread ([`SyncCall`]). What other streams did
//! with the same one at that time says who was awaited:
//!
//! - of a mutex, each stream that held it, for as long as it did;
//! - of a queue, the stream of the last call that sent to it and overlaps with the wait; of a full
//!   queue, that of the last call that took a message;
//! - of a thread, its stream.
//!
//! A wait has its length, and lies at the beginning of the stretch between two ports in which it
//! happened. Here it is taken to be at its end: who is waited for lets go before the other goes on.
//!
//! A mutex is held at the latest from the first call below `with_mutex/2` on, and from the exit of
//! `mutex_lock/1`. Whatever lies outside of that has no awaited stream.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use portmortem_tracer::format::{SyncCall, SyncRole};
use rustc_hash::FxHashMap;

use crate::figures::waits::{
    LongWait, MOST_LISTED, SharedKind, SharedObject, WaitFigures, WaitKind, Waits,
};
use crate::machine::{At, Note, Observer, OpenBox, WayOut};
use crate::scope::Scope;
use crate::trace::{BoxKind, PredicateIndex, PredicateInfo, SiteIndex, StreamInfo, Trace};

/// So many waits, and so many stretches in which something was held, sent or received, are kept of
/// a stream. What is awaited beyond that is unknown.
const MOST: usize = 1 << 20;

/// What was read so far, as an [`Observer`] of some streams.
#[derive(Debug)]
pub(crate) struct WaitLedger<'s> {
    scope: &'s Scope,
    known: &'s KnownOfAll,
    read: ReadWaits,
    stream: u32,
    /// The stream is looked at: its waits count.
    counts: bool,
    /// Waits and stretches of the stream that are kept.
    kept: usize,
    /// What the stream has locked: since when, and how many times.
    locked: FxHashMap<u32, (u64, u32)>,
    /// When the last wait is recorded to be over, until its stretch is.
    recorded_end: Option<u64>,
    /// The last tick that was told of.
    tick: u64,
    /// Events were lost so far.
    lost: bool,
}

/// What was read of some streams.
#[derive(Debug, Default)]
pub(crate) struct ReadWaits {
    waits: Vec<Wait>,
    /// What streams did with what is shared, in the order of streams.
    stretches: FxHashMap<(Deed, u32), Vec<StreamStretch>>,
    /// Waits for which there was no room.
    rest: BTreeMap<WaitKind, WaitFigures>,
}

/// What others may wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Deed {
    Hold,
    Send,
    Receive,
}

/// When a stream did something.
#[derive(Debug, Clone, Copy)]
struct StreamStretch {
    stream: u32,
    from: u64,
    to: u64,
}

/// A stream waited; nothing is known yet of the awaited one.
#[derive(Debug, Clone, Copy)]
struct Wait {
    kind: WaitKind,
    from: u64,
    to: u64,
    event: u64,
    /// How much later it was than it is recorded.
    later: u64,
}

/// What is kept with a box.
#[derive(Debug)]
pub(crate) struct KeptForWaits {
    predicate: PredicateIndex,
    site: Option<SiteIndex>,
    /// When it was called: the tick, and how much of what is looked at was over.
    from: u64,
    from_now: u64,
    sync: Option<SyncCall>,
    /// Since when it holds its mutex, if it does.
    holds: Cell<Option<u64>>,
    /// It stands for what the engine did between two ports.
    is_between: bool,
    /// If it is a wait: of what kind, and the number of its event.
    wait: Option<(WaitKind, u64)>,
}

/// What boxes of a predicate are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitBoxKind {
    Wait,
    /// What else happens between two ports.
    Between,
    Call,
}

/// What all streams share: found once.
#[derive(Debug)]
pub(crate) struct KnownOfAll {
    /// By predicate.
    kinds: Vec<WaitBoxKind>,
    /// By id of what is shared: the first id of the same name.
    same: FxHashMap<u32, u32>,
    /// The id of the empty name: all that a thread has locked.
    all: Option<u32>,
}

impl KnownOfAll {
    /// Of a trace; `None` if it does not say what calls do among threads.
    pub(crate) fn of(trace: &Trace) -> Option<Self> {
        let shared = trace.all_shared();
        if shared.is_empty() {
            return None;
        }
        let kind = |(info, kind): (&PredicateInfo, BoxKind)| match kind {
            BoxKind::Waiting if !info.is_preempted() => WaitBoxKind::Wait,
            kind if kind.is_between_ports() => WaitBoxKind::Between,
            _ => WaitBoxKind::Call,
        };
        let predicates = trace.predicates().iter();
        let kinds = predicates.zip(BoxKind::by_predicate(trace)).map(kind);
        let mut first = FxHashMap::default();
        let names = shared.into_iter();
        let same = names.map(|(id, name)| (id, *first.entry(name).or_insert(id)));
        let same = same.collect();
        Some(Self {
            kinds: kinds.collect(),
            same,
            all: first.get("").copied(),
        })
    }
}

impl<'s> WaitLedger<'s> {
    pub(crate) fn new(known: &'s KnownOfAll, scope: &'s Scope) -> Self {
        Self {
            scope,
            known,
            read: ReadWaits::default(),
            stream: 0,
            counts: false,
            kept: 0,
            locked: FxHashMap::default(),
            recorded_end: None,
            tick: 0,
            lost: false,
        }
    }

    pub(crate) fn into_read(mut self) -> ReadWaits {
        self.end();
        self.read
    }

    /// The stream is over: what it has locked it held until then.
    fn end(&mut self) {
        self.tick = self.end_of(self.tick);
        self.wait_is_over();
        self.unlock_all();
    }

    /// The stretch of the last wait ends now, if it had not ended.
    fn wait_is_over(&mut self) {
        if let Some(recorded) = self.recorded_end.take()
            && let Some(wait) = self.read.waits.last_mut()
        {
            wait.later = self.tick.saturating_sub(recorded);
        }
    }

    /// When what is looked at of a stream is over whose last event had this tick.
    fn end_of(&self, tick: u64) -> u64 {
        let window = self.scope.window;
        window.map_or(tick, |window| window.until.max(tick))
    }

    /// Something happens in the stream.
    /// `is_between` tells that it only stands for what was before it.
    fn happens(&mut self, at: &At, is_between: bool) {
        if at.lost && !self.lost {
            self.locked.clear();
        }
        (self.tick, self.lost) = (at.tick, at.lost);
        if !is_between {
            self.wait_is_over();
        }
    }

    fn did(&mut self, deed: Deed, shared: u32, when: Range<u64>) {
        if self.kept < MOST && !when.is_empty() {
            self.kept += 1;
            let all = self.read.stretches.entry((deed, shared)).or_default();
            all.push(StreamStretch {
                stream: self.stream,
                from: when.start,
                to: when.end,
            });
        }
    }

    /// A logical box is left: what it did with what threads share is done.
    fn leaves(&mut self, kept: &mut KeptForWaits, way_out: Option<WayOut>) {
        let Some(SyncCall { role, shared }) = kept.sync.take() else {
            return;
        };
        // Nothing is known of the time in which events were lost.
        if way_out == Some(WayOut::Lost) {
            return;
        }
        let now = self.tick;
        let exits = matches!(way_out, Some(WayOut::ExitDet | WayOut::ExitNondet));
        match role {
            SyncRole::Holds => {
                if let Some(since) = kept.holds.take() {
                    self.did(Deed::Hold, shared, since..now);
                }
            }
            SyncRole::Locks if exits => {
                self.locked.entry(shared).or_insert((now, 0)).1 += 1;
            }
            SyncRole::Sends => self.did(Deed::Send, shared, kept.from..now),
            SyncRole::Receives if exits => self.did(Deed::Receive, shared, kept.from..now),
            SyncRole::Locks | SyncRole::Unlocks | SyncRole::Receives | SyncRole::Joins => {}
        }
    }

    fn unlock_all(&mut self) {
        for (shared, (since, _)) in mem::take(&mut self.locked) {
            self.did(Deed::Hold, shared, since..self.tick);
        }
    }

    fn unlock(&mut self, shared: u32) {
        if self.known.all == Some(shared) {
            return self.unlock_all();
        }

        let Some((since, times)) = self.locked.get_mut(&shared) else {
            return;
        };
        *times -= 1;
        if *times == 0 {
            let since = *since;
            self.locked.remove(&shared);
            self.did(Deed::Hold, shared, since..self.tick);
        }
    }

    /// What a call waits for now.
    fn object(around: &KeptForWaits) -> Option<SharedObject> {
        let SyncCall { role, shared } = around.sync?;
        let kind = match role {
            SyncRole::Holds if around.holds.get().is_some() => return None,
            SyncRole::Holds | SyncRole::Locks => SharedKind::Mutex,
            SyncRole::Receives => SharedKind::Queue,
            SyncRole::Sends => SharedKind::FullQueue,
            SyncRole::Joins => SharedKind::Thread,
            SyncRole::Unlocks => return None,
        };
        Some(SharedObject { kind, id: shared })
    }
}

impl Observer for WaitLedger<'_> {
    type Kept = KeptForWaits;

    fn begins(&mut self, stream: u32) {
        self.end();
        self.stream = stream;
        self.counts = self.scope.has_stream(stream);
        (self.kept, self.lost) = (0, false);
    }

    fn called(&mut self, at: &At, open: &OpenBox, around: Option<&KeptForWaits>) -> KeptForWaits {
        let kind = self.known.kinds.get(open.predicate as usize).copied();
        let is_wait = kind == Some(WaitBoxKind::Wait);
        let is_between = is_wait || kind == Some(WaitBoxKind::Between);
        self.happens(at, is_between);
        if let Some(around) = around.filter(|_| !is_between)
            && matches!(
                around.sync,
                Some(SyncCall {
                    role: SyncRole::Holds,
                    ..
                })
            )
            && around.holds.get().is_none()
        {
            around.holds.set(Some(at.tick));
        }
        let wait = (is_wait && self.counts && open.is_shown(self.scope)).then(|| {
            let kind = WaitKind {
                stream: self.stream,
                predicate: around.map(|around| around.predicate),
                site: around.and_then(|around| around.site),
                object: around.and_then(Self::object),
                awaited: None,
            };
            (kind, at.number)
        });
        KeptForWaits {
            predicate: open.predicate,
            site: at.site,
            from: at.tick,
            from_now: at.now,
            sync: None,
            holds: Cell::new(None),
            is_between,
            wait,
        }
    }

    fn departed(&mut self, at: &At, open: &OpenBox, kept: &mut KeptForWaits) {
        self.happens(at, false);
        self.leaves(kept, None);
        (kept.predicate, kept.site, kept.from) = (open.predicate, at.site, at.tick);
    }

    fn left(&mut self, at: &At, kept: &mut KeptForWaits, way_out: WayOut) {
        self.happens(at, kept.is_between);
        if way_out == WayOut::Open {
            self.tick = self.end_of(at.tick);
        }
        self.leaves(kept, Some(way_out));
        let Some((kind, event)) = kept.wait.take() else {
            return;
        };
        let from = self.scope.nearest(kept.from);
        let to = from + at.now.saturating_sub(kept.from_now);
        if from >= to {
            return;
        }
        if self.kept < MOST {
            self.kept += 1;
            self.read.waits.push(Wait {
                kind,
                from,
                to,
                event,
                later: 0,
            });
            self.recorded_end = Some(self.tick);
        } else {
            self.read
                .rest
                .entry(kind)
                .or_default()
                .add(to - from, event);
        }
    }

    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut KeptForWaits)>) {
        let (Note::Sync(call), Some((_, kept))) = (note, active) else {
            return;
        };
        self.happens(at, false);
        let Some(&shared) = self.known.same.get(&call.shared) else {
            return;
        };
        if call.role == SyncRole::Unlocks {
            self.unlock(shared);
        }
        kept.sync = Some(SyncCall { shared, ..call });
    }
}

impl ReadWaits {
    /// With what was read of other streams.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.waits.extend(other.waits);
        for (of, stretches) in other.stretches {
            self.stretches.entry(of).or_default().extend(stretches);
        }
        self.rest.extend(other.rest);
        self
    }

    /// Who waited for whom.
    pub(crate) fn close(self, trace: &Trace) -> Waits {
        let stretches = self.stretches.into_iter();
        let stretches: FxHashMap<_, _> = stretches
            .map(|(of, all)| (of, StretchesInOrder::new(all)))
            .collect();
        let mut sums = self.rest;
        let mut longest = Vec::with_capacity(self.waits.len());
        for wait in self.waits {
            let awaited = wait.when_it_was().awaited(trace, &stretches);
            for &(awaited, ticks) in &awaited {
                let kind = WaitKind {
                    awaited,
                    ..wait.kind
                };
                sums.entry(kind).or_default().add(ticks, wait.event);
            }
            // Of equal ones the first.
            let most = awaited.iter().rev().max_by_key(|(_, ticks)| ticks);
            longest.push(LongWait {
                kind: WaitKind {
                    awaited: most.and_then(|&(awaited, _)| awaited),
                    ..wait.kind
                },
                from: wait.from,
                to: wait.to,
                event: wait.event,
            });
        }
        longest.sort_by_key(|wait| (Reverse(wait.to - wait.from), wait.kind.stream, wait.from));
        longest.truncate(MOST_LISTED);
        longest.sort_by_key(|wait| (wait.kind.stream, wait.from));
        Waits { sums, longest }
    }
}

impl Wait {
    /// At the end of its stretch.
    fn when_it_was(&self) -> Self {
        Self {
            from: self.from.saturating_add(self.later),
            to: self.to.saturating_add(self.later),
            ..*self
        }
    }

    /// Whom it waited for, and for how many ticks each: all of its ticks in sum.
    fn awaited(
        &self,
        trace: &Trace,
        stretches: &FxHashMap<(Deed, u32), StretchesInOrder>,
    ) -> Vec<(Option<u32>, u64)> {
        let all = self.to - self.from;
        let Some(object) = self.kind.object else {
            return vec![(None, all)];
        };
        let of = |deed| stretches.get(&(deed, object.id));
        let last = |deed| of(deed).and_then(|all| all.last(self));
        match object.kind {
            SharedKind::Mutex => {
                let holders = of(Deed::Hold).map_or_else(Vec::new, |holds| holds.holders(self));
                let held: u64 = holders.iter().map(|(_, ticks)| ticks).sum();
                let rest = (all > held).then_some((None, all - held));
                let holders = holders.into_iter().map(|(of, ticks)| (Some(of), ticks));
                holders.chain(rest).collect()
            }
            SharedKind::Queue => vec![(last(Deed::Send), all)],
            SharedKind::FullQueue => vec![(last(Deed::Receive), all)],
            SharedKind::Thread => vec![(thread(trace, object.id, self), all)],
        }
    }
}

/// The stream of a thread that ran during a wait; of several the one that ended last.
fn thread(trace: &Trace, shared: u32, wait: &Wait) -> Option<u32> {
    let name = trace.shared(shared)?;
    let streams = trace.streams().iter().filter(|stream| {
        stream.name() == name
            && stream.id != wait.kind.stream
            && stream.begin_tick().is_some_and(|begin| begin < wait.to)
    });
    let end = |stream: &&StreamInfo| stream.end.map_or(u64::MAX, |end| end.tick);
    let last = streams.max_by_key(|stream| end(stream))?;
    (end(&last) > wait.from).then_some(last.id)
}

/// Stretches by their beginning.
#[derive(Debug)]
struct StretchesInOrder {
    stretches: Vec<StreamStretch>,
    /// The latest end of each and all before it.
    latest: Vec<u64>,
}

impl StretchesInOrder {
    fn new(mut stretches: Vec<StreamStretch>) -> Self {
        stretches.sort_by_key(|stretch| (stretch.from, stretch.to, stretch.stream));
        let mut latest = 0;
        let latest = stretches.iter().map(|stretch| {
            latest = stretch.to.max(latest);
            latest
        });
        let latest = latest.collect();
        Self { stretches, latest }
    }

    /// Those of other streams that overlap with a wait, the last one first.
    fn around<'w>(&'w self, wait: &'w Wait) -> impl Iterator<Item = &'w StreamStretch> {
        let after = self.stretches.partition_point(|one| one.from < wait.to);
        let before = (0..after).rev();
        before
            .take_while(|&at| self.latest[at] > wait.from)
            .map(|at| &self.stretches[at])
            .filter(|one| one.to > wait.from && one.stream != wait.kind.stream)
    }

    /// The stream of the last one.
    fn last(&self, wait: &Wait) -> Option<u32> {
        Some(self.around(wait).next()?.stream)
    }

    /// The streams that held something during a wait, and for how long. What two claim, because a
    /// trace is damaged, is of the later one.
    fn holders(&self, wait: &Wait) -> Vec<(u32, u64)> {
        let mut until = wait.to;
        let mut holders: Vec<(u32, u64)> = Vec::new();
        for held in self.around(wait) {
            let from = held.from.max(wait.from);
            let ticks = held.to.min(until).saturating_sub(from);
            until = until.min(from);
            match holders
                .iter_mut()
                .find(|(holder, _)| *holder == held.stream)
            {
                Some((_, all)) => *all += ticks,
                None => holders.push((held.stream, ticks)),
            }
        }
        holders.retain(|&(_, ticks)| ticks > 0);
        holders
    }
}

#[cfg(test)]
mod tests;
