//! A trace file, opened: its header checked, its blocks found, its names read.
//!
//! Opening touches block headers and records, not events; those are read by [`Trace::events`] and
//! checked as they are read. Invariant: the blocks of a stream are ordered by sequence number, no
//! two have the same, and all lie inside the file.

mod blocks;
pub mod clock;
pub mod damage;
mod declared;
mod directory;
mod ends;
mod error;
pub mod events;
mod for_parts;
mod foreign;
mod ids;
pub mod kept;
mod kind;
pub mod mapping;
pub mod names;
mod packed;
pub mod packing;

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use portmortem_tracer::format::{
    Baseline, BlockHeader, Cost, FILE_HEADER_BYTES, Fit, Header, Outcome, PortCosts, Technique,
    Trials, decode_header, is_part, packed_from,
};
use rayon::prelude::*;

pub(crate) use blocks::payload;
use blocks::{FoundBlocks, SettledBlocks, in_order};
use clock::{Clock, Pairs};
use damage::Damage;
use directory::Directory;
use events::Events;
use mapping::Mapping;

pub use declared::{CENTER_MODULE, ClauseInfo, PredicateInfo, SiteInfo, StreamEnd, StreamInfo};
pub use error::TraceError;
pub use kind::BoxKind;

/// Index into [`Trace::predicates`] and [`crate::Profile::predicates`].
pub type PredicateIndex = u32;

/// Index into [`Trace::sites`].
pub type SiteIndex = u32;

/// Index into [`Trace::clauses`].
pub type ClauseIndex = u32;

/// What a call names: a predicate by its [`PredicateIndex`], the unknown one included, or after
/// those a site.
pub(crate) type Callable = u32;

/// A cost centre, by its row in [`Trace::predicates`]; `None` is outside of all, and
/// [`Trace::unknown_predicate`] is the centre of boxes of before a gap.
pub type Center = Option<PredicateIndex>;

/// A trace, ready to be replayed.
#[derive(Debug)]
pub struct Trace {
    bytes: Mapping,
    file_id: u64,
    header: Header,
    /// Bytes that the file has, or had before it was packed.
    size: u64,
    clock: Clock,
    /// What the clock was found by.
    pairs: Pairs,
    /// Event blocks, by stream and sequence.
    blocks: Vec<EventsBlock>,
    directory: Directory,
    damage: Vec<Damage>,
    /// It was not being recorded any more when it was opened.
    is_settled: bool,
    /// How many times the events of a stream were begun to be read.
    #[cfg(test)]
    pub(crate) readings: std::sync::atomic::AtomicU64,
}

/// Where an events block lies. What else its header says is read again with its events.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventsBlock {
    pub(crate) offset: u64,
    pub(crate) stream: u32,
    pub(crate) sequence: u64,
    /// Its bytes, header included; of a packed block, those that it has unpacked.
    pub(crate) size: u32,
    /// Where it was when it was recorded: somewhere else if the trace was packed since.
    pub(crate) recorded_at: u64,
    /// It was not being written any more when names began to be read, so there are those of all its
    /// events.
    pub(crate) is_settled: bool,
}

/// The end of a recording that ended in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Tick of the end.
    pub tick: u64,
    /// How the run ended.
    pub outcome: Outcome,
}

impl Trace {
    /// Opens the trace at `path`.
    ///
    /// # Errors
    /// [`TraceError`] if the file cannot be read or its header is not that of a trace of a format
    /// version known here. Everything else that is wrong is [`Trace::damage`].
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        Self::open_while(path, || ())
    }

    /// The same. `recorded` happens after the header was read the first time.
    pub(crate) fn open_while(path: &Path, recorded: impl FnOnce()) -> Result<Self, TraceError> {
        let map = || {
            Mapping::open(path).map_err(|source| TraceError::Read {
                path: path.to_owned(),
                source,
            })
        };
        let bytes = map()?;
        let settled = SettledBlocks::of(&bytes);
        let bytes = match settled {
            SettledBlocks::All => bytes,
            // Their names may stand behind what was mapped.
            SettledBlocks::Closed(_) => map()?,
        };
        Self::read_settled(bytes, path, &settled, recorded)
    }

    /// The trace in `bytes`, which `path` names in errors.
    ///
    /// # Errors
    /// As for [`Trace::open`].
    pub fn read(bytes: Mapping, path: &Path) -> Result<Self, TraceError> {
        Self::read_settled(bytes, path, &SettledBlocks::All, || ())
    }

    fn read_settled(
        bytes: Mapping,
        path: &Path,
        settled: &SettledBlocks,
        recorded: impl FnOnce(),
    ) -> Result<Self, TraceError> {
        let (before, file_id) =
            decode_header(&bytes).map_err(|error| TraceError::of_header(&bytes, path, error))?;
        recorded();
        let FoundBlocks {
            mut events,
            mut records,
            mut pairs,
            mut damage,
        } = FoundBlocks::find(&bytes, file_id);
        settled.mark(&mut events);
        // The recorder writes the header again before it writes over a block. So this one says why
        // blocks were not found. One that is half written is of before that.
        let header = decode_header(&bytes).map_or(before, |(header, _)| header);
        in_order(&mut records, &mut damage);
        in_order(&mut events, &mut damage);
        let size = match packed_from(&bytes) {
            None => bytes.len() as u64,
            Some(_) => {
                let blocks = events.iter().chain(&records);
                let sizes = blocks.map(|block| u64::from(block.size));
                sizes.fold(FILE_HEADER_BYTES as u64, u64::saturating_add)
            }
        };
        let mut directory = Directory::read(&bytes, file_id, &records, &mut damage);
        if is_part(&bytes) && directory.part.is_none() {
            return Err(TraceError::NoPart {
                path: path.to_owned(),
            });
        }
        directory.assign_blocks(&events, &mut damage);
        if let Some(end) = directory.end_pair() {
            pairs.add(end);
        }
        // The first stream may begin a moment before the block that says so.
        let begins = directory.streams.iter().filter_map(StreamInfo::begin_tick);
        let clock = Clock::new(&pairs, header.ticks_per_second).beginning_at(begins.min());
        Ok(Self {
            bytes,
            file_id,
            header,
            size,
            clock,
            pairs,
            blocks: events,
            directory,
            damage,
            is_settled: matches!(settled, SettledBlocks::All),
            #[cfg(test)]
            readings: Default::default(),
        })
    }

    /// Whether the file still has all that it had when it was opened. If it has not, what was found
    /// in it since is of no use, and is not to be shown. `path` names it in the error.
    ///
    /// # Errors
    /// [`TraceError::Truncated`].
    pub fn check_whole(&self, path: &Path) -> Result<(), TraceError> {
        if self.bytes.is_truncated() {
            return Err(TraceError::Truncated {
                path: path.to_owned(),
            });
        }
        Ok(())
    }

    /// What the trace says about itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Size of the trace in bytes, as it was recorded: of a packed one, that of what it unpacks to,
    /// nearly. Progress counts up to it where all events are read.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Size of the file in bytes.
    #[must_use]
    pub fn file_size(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether its blocks are packed.
    #[must_use]
    pub fn is_packed(&self) -> bool {
        packed_from(&self.bytes).is_some()
    }

    /// Ticks to nanoseconds.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The predicates, by [`PredicateIndex`]: in the order of their ids, without holes.
    #[must_use]
    pub fn predicates(&self) -> &[PredicateInfo] {
        &self.directory.predicates
    }

    /// The index that stands for boxes whose predicate is unknown: one after the last predicate.
    #[must_use]
    pub fn unknown_predicate(&self) -> PredicateIndex {
        self.directory.predicates.len() as PredicateIndex
    }

    /// The goals in clauses that calls name, by [`SiteIndex`]: in the order of their ids, without
    /// holes.
    #[must_use]
    pub fn sites(&self) -> &[SiteInfo] {
        &self.directory.sites
    }

    /// The clauses that boxes enter, by [`ClauseIndex`]: in the order of their ids, without holes.
    /// None if entries were not recorded.
    #[must_use]
    pub fn clauses(&self) -> &[ClauseInfo] {
        &self.directory.clauses
    }

    /// The predicates of which the trace says what they are called with, in their order.
    #[must_use]
    pub fn with_arguments(&self) -> &[PredicateIndex] {
        &self.directory.with_arguments
    }

    /// Predicates that have boxes where goals of recorded clauses call them, and whose own goals
    /// have none, in their order. None before format version 7, nor of recordings with ports.
    #[must_use]
    pub fn boundary(&self) -> &[PredicateIndex] {
        &self.directory.boundary
    }

    /// The predicates of which the trace has values of arguments, at calls and exits, in their
    /// order.
    #[must_use]
    pub fn with_values(&self) -> &[PredicateIndex] {
        &self.directory.with_values
    }

    /// Where the clause with this id stands in [`Trace::clauses`].
    #[must_use]
    pub fn clause_index(&self, id: u32) -> Option<ClauseIndex> {
        let clauses = self.clauses();
        // Nearly always nothing is missing before it.
        let index = match clauses.get(id as usize) {
            Some(info) if info.id == id => id as usize,
            _ => clauses.binary_search_by_key(&id, |info| info.id).ok()?,
        };
        ClauseIndex::try_from(index).ok()
    }

    /// Where the predicate with this id stands in [`Trace::predicates`].
    #[must_use]
    pub fn predicate_index(&self, id: u32) -> Option<PredicateIndex> {
        let index = self.directory.ids.get(id)?;
        (index < self.unknown_predicate()).then_some(index)
    }

    /// What a call of this id names.
    #[inline(always)]
    pub(crate) fn callable(&self, id: u32) -> Option<Callable> {
        self.directory.ids.get(id)
    }

    /// The predicate that a call of this is one of, and from which site.
    pub(crate) fn callee(&self, callable: Callable) -> (PredicateIndex, Option<SiteIndex>) {
        match callable.checked_sub(self.first_site()) {
            None => (callable, None),
            Some(site) => (self.sites()[site as usize].callee, Some(site)),
        }
    }

    /// What a call of a predicate names, if it says its site.
    pub(crate) fn callable_at(
        &self,
        predicate: PredicateIndex,
        site: Option<SiteIndex>,
    ) -> Callable {
        site.map_or(predicate, |site| self.first_site() + site)
    }

    fn first_site(&self) -> Callable {
        self.unknown_predicate() + 1
    }

    /// Name of the predicate as Prolog would write it, `<unknown>` if it is not known.
    #[must_use]
    pub fn predicate_name(&self, index: PredicateIndex) -> &str {
        self.predicates()
            .get(index as usize)
            .map_or("<unknown>", |info| &info.indicator)
    }

    /// The same without its module.
    #[must_use]
    pub fn local_name(&self, index: PredicateIndex) -> Cow<'_, str> {
        match self.predicates().get(index as usize) {
            Some(PredicateInfo { declared, .. }) => {
                Cow::Owned(names::indicator("user", &declared.name, declared.arity))
            }
            None => Cow::Borrowed(self.predicate_name(index)),
        }
    }

    /// The cost centre that a box of this enters, if any. It is a row of [`Trace::predicates`],
    /// too.
    #[must_use]
    pub fn center(&self, index: PredicateIndex) -> Center {
        self.predicates().get(index as usize)?.center
    }

    /// By predicate, the unknown one last: the cost centre that its boxes enter.
    pub(crate) fn centers(&self) -> impl Iterator<Item = Center> {
        let unknown = self.unknown_predicate();
        let declared = self.predicates().iter().map(|info| info.center);
        declared.chain([Some(unknown)])
    }

    /// Whether the program has cost centres.
    #[must_use]
    pub fn has_centers(&self) -> bool {
        self.predicates().iter().any(|info| info.is_center)
    }

    /// Symbolic costs as recorded ([`crate::costs`] sums them up), and whether all are there.
    pub(crate) fn costs(&self) -> (&[Cost], bool) {
        (&self.directory.costs, self.directory.costs_complete)
    }

    /// Path of a source file.
    #[must_use]
    pub fn file(&self, id: u32) -> Option<&str> {
        self.directory.files.get(&id).map(String::as_str)
    }

    /// A text that an event refers to.
    #[must_use]
    pub fn text(&self, id: u32) -> Option<&str> {
        self.directory.texts.get(&id).map(String::as_str)
    }

    /// The texts of marks with their ids, in the order of these.
    #[must_use]
    pub fn marks(&self) -> Vec<(u32, &str)> {
        directory::in_order(&self.directory.texts)
    }

    /// All texts that events refer to, in any order.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.directory.texts.values().map(String::as_str)
    }

    /// The name of a mutex, a queue or a thread that events refer to.
    #[must_use]
    pub fn shared(&self, id: u32) -> Option<&str> {
        self.directory.shared.get(&id).map(String::as_str)
    }

    /// All of them with their ids, in the order of these.
    #[must_use]
    pub fn all_shared(&self) -> Vec<(u32, &str)> {
        directory::in_order(&self.directory.shared)
    }

    /// The streams, by id.
    #[must_use]
    pub fn streams(&self) -> &[StreamInfo] {
        &self.directory.streams
    }

    /// Where the stream with this id stands in [`Trace::streams`].
    #[must_use]
    pub fn stream_place(&self, id: u32) -> Option<usize> {
        let place = self.streams().binary_search_by_key(&id, |stream| stream.id);
        place.ok()
    }

    /// What the recorder wants the reader of a report to know, a line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.directory.notes
    }

    /// What recording cost on that machine; `None` if the trace does not say, or has
    /// [trials](Self::trials) instead.
    #[must_use]
    pub fn port_costs(&self) -> Option<&PortCosts> {
        self.directory.port_costs.as_ref()
    }

    /// How the recorder made ports; `None` if the trace does not say.
    #[must_use]
    pub fn technique(&self) -> Option<Technique> {
        self.directory.technique
    }

    /// What the recorder ran to find out what recording costs.
    #[must_use]
    pub fn trials(&self) -> Option<&Trials> {
        self.directory.trials.as_ref()
    }

    /// How long the program runs unrecorded, if that was measured.
    #[must_use]
    pub fn baseline(&self) -> Option<&Baseline> {
        self.directory.baseline.as_ref()
    }

    /// How costs are fitted to the baseline; the last one for each predicate counts.
    #[must_use]
    pub fn fits(&self) -> &[Fit] {
        &self.directory.fits
    }

    /// How the run ended; `None` if the recording was cut short (killed, crashed) or still runs.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.directory.end.as_ref().map(|(end, _)| end)
    }

    /// The damage that was seen without reading the events, by offset. What their blocks hide comes
    /// with the replay ([`crate::Profile::damage`]) or from [`Trace::verify`].
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// The events of a stream, in order.
    #[must_use]
    pub fn events(&self, stream: &StreamInfo) -> Events<'_> {
        #[cfg(test)]
        self.readings
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Events::new(self, stream)
    }

    /// Reads and checks everything; streams in parallel on rayon's current threads. All damage, by
    /// offset.
    #[must_use]
    pub fn verify(&self) -> Vec<Damage> {
        let in_events = self.streams().par_iter().flat_map_iter(|stream| {
            let mut events = self.events(stream);
            events.by_ref().for_each(drop);
            events.into_damage()
        });
        let mut damage = self.damage.clone();
        damage.extend(in_events.collect::<Vec<_>>());
        damage.sort_by_key(|damage| damage.offset);
        damage
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes that these blocks take, unpacked.
    pub(crate) fn bytes_of(&self, blocks: Range<usize>) -> u64 {
        self.blocks[blocks]
            .iter()
            .map(|block| u64::from(block.size))
            .sum()
    }

    /// A block at this offset, of this size, need not stay in memory. Small ones share pages with
    /// others, and it would take more time than memory.
    pub(crate) fn let_go(&self, (offset, size): (u64, u64)) {
        const WORTH_IT: u64 = 64 << 10;
        if size >= WORTH_IT {
            self.bytes.let_go(offset, size);
        }
    }

    pub(crate) fn file_id(&self) -> u64 {
        self.file_id
    }

    /// Where in the file the blocks of events begin, by stream and sequence.
    pub(crate) fn block_offsets(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().map(|block| block.offset)
    }

    /// The header of the block at this place in the order of blocks.
    pub(crate) fn block_header(&self, block: usize) -> Option<BlockHeader> {
        let block = self.blocks.get(block)?;
        let bytes = self.bytes.get(usize::try_from(block.offset).ok()?..)?;
        BlockHeader::parse(bytes, self.file_id).ok()
    }

    pub(crate) fn blocks(&self, range: Range<usize>) -> &[EventsBlock] {
        &self.blocks[range]
    }

    pub(crate) fn block(&self, at: usize) -> &EventsBlock {
        &self.blocks[at]
    }

    /// The first block of a stream that has this sequence or a later one: its place in the order of
    /// blocks. The end of the stream's blocks if there is none.
    pub(crate) fn block_from(&self, stream: &StreamInfo, sequence: u64) -> usize {
        let blocks = self.blocks(stream.blocks.clone());
        stream.blocks.start + blocks.partition_point(|block| block.sequence < sequence)
    }

    /// Whether all of it was there when it was opened. Else streams may have ended, and blocks
    /// begun, between the readings of blocks and of names.
    pub(crate) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// Whether every record that was written could be read, as far as can be seen.
    pub(crate) fn names_complete(&self) -> bool {
        self.directory.complete
    }
}
