//! The names in a trace: predicates, files, texts, streams, notes, and how the run ended.

use std::collections::BTreeMap;

use portmortem_tracer::format::{
    BLOCK_HEADER_BYTES, Baseline, BlockHeader, Clause, Cost, Fit, Part, PortCosts, Predicate,
    Record, Site, Technique, Trials, read_record,
};
use rustc_hash::FxHashMap;

use super::{End, EventsBlock};
use crate::trace::clock::Pair;
use crate::trace::damage::{Damage, DamageKind};
use crate::trace::declared::{ClauseInfo, PredicateInfo, SiteInfo, StreamEnd, StreamInfo};
use crate::trace::ids::IndexOfIds;
use crate::trace::{Callable, PredicateIndex};

/// Everything the records say.
#[derive(Debug, Default)]
pub(super) struct Directory {
    /// By [`PredicateIndex`].
    pub(super) predicates: Vec<PredicateInfo>,
    /// By [`crate::trace::SiteIndex`].
    pub(super) sites: Vec<SiteInfo>,
    /// By [`crate::trace::ClauseIndex`].
    pub(super) clauses: Vec<ClauseInfo>,
    /// Predicates of which it is said what they are called with, in their order.
    pub(super) with_arguments: Vec<PredicateIndex>,
    /// Predicates at the boundary of what is recorded, in their order.
    pub(super) boundary: Vec<PredicateIndex>,
    /// The same of values.
    pub(super) with_values: Vec<PredicateIndex>,
    /// Names of what threads share.
    pub(super) shared: FxHashMap<u32, String>,
    pub(super) ids: IndexOfIds,
    pub(super) files: FxHashMap<u32, String>,
    pub(super) texts: FxHashMap<u32, String>,
    /// By id.
    pub(super) streams: Vec<StreamInfo>,
    pub(super) notes: Vec<String>,
    pub(super) costs: Vec<Cost>,
    /// All costs were written.
    pub(super) costs_complete: bool,
    pub(super) port_costs: Option<PortCosts>,
    pub(super) technique: Option<Technique>,
    pub(super) trials: Option<Trials>,
    pub(super) baseline: Option<Baseline>,
    pub(super) fits: Vec<Fit>,
    pub(super) end: Option<(End, Pair)>,
    /// Which part of another trace it is.
    pub(super) part: Option<Part>,
    /// No record is known to be lost.
    pub(super) complete: bool,
}

impl Directory {
    /// Reads the records blocks, which are ordered by sequence.
    pub(super) fn read(
        bytes: &[u8],
        file_id: u64,
        records: &[EventsBlock],
        damage: &mut Vec<Damage>,
    ) -> Self {
        let before = damage.len();
        let mut reader = RecordCollector {
            damage,
            directory: Self::default(),
            predicates: FxHashMap::default(),
            centers: FxHashMap::default(),
            in_centers: FxHashMap::default(),
            sites: FxHashMap::default(),
            clauses: FxHashMap::default(),
            with_arguments: BTreeMap::new(),
            boundary: BTreeMap::new(),
            with_values: BTreeMap::new(),
            streams: FxHashMap::default(),
        };
        reader.blocks(bytes, file_id, records);
        let mut directory = reader.finish(before);
        directory.complete = damage.len() == before;
        directory
    }

    /// Gives every stream its blocks, which are ordered by stream, and makes up a stream for blocks
    /// whose stream was announced nowhere.
    pub(super) fn assign_blocks(&mut self, blocks: &[EventsBlock], damage: &mut Vec<Damage>) {
        let mut assigned = Vec::with_capacity(self.streams.len());
        let mut announced = std::mem::take(&mut self.streams).into_iter().peekable();
        let mut from = 0;
        for blocks in blocks.chunk_by(|a, b| a.stream == b.stream) {
            let id = blocks[0].stream;
            while let Some(empty) = announced.next_if(|stream| stream.id < id) {
                assigned.push(empty);
            }
            let mut stream = announced
                .next_if(|stream| stream.id == id)
                .unwrap_or_else(|| {
                    let offset = blocks[0].offset;
                    let what = DamageKind::UnknownStream;
                    damage.push(Damage {
                        offset,
                        what,
                        stream: Some(id),
                        events_lost: None,
                    });
                    StreamInfo::new(id)
                });
            stream.blocks = from..from + blocks.len();
            from = stream.blocks.end;
            assigned.push(stream);
        }
        assigned.extend(announced);
        self.streams = assigned;
    }

    /// Both clocks at the end of the recording.
    pub(super) fn end_pair(&self) -> Option<Pair> {
        self.end.as_ref().map(|&(_, pair)| pair)
    }
}

/// Collects records; of two with the same id the first counts.
struct RecordCollector<'d> {
    damage: &'d mut Vec<Damage>,
    directory: Directory,
    predicates: FxHashMap<u32, Predicate>,
    centers: FxHashMap<u32, RecordSaid<String>>,
    /// From predicates to centres.
    in_centers: FxHashMap<u32, RecordSaid<u32>>,
    sites: FxHashMap<u32, RecordSaid<Site>>,
    clauses: FxHashMap<u32, RecordSaid<Clause>>,
    /// With the place of the first record that says so.
    with_arguments: BTreeMap<u32, u64>,
    /// The same.
    boundary: BTreeMap<u32, u64>,
    with_values: BTreeMap<u32, u64>,
    streams: FxHashMap<u32, StreamInfo>,
}

/// What a record says, and where it is in the file.
#[derive(Clone, Copy)]
struct RecordSaid<T> {
    offset: u64,
    value: T,
}

/// The same may be said twice.
impl<T: PartialEq> PartialEq for RecordSaid<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl RecordCollector<'_> {
    fn blocks(&mut self, bytes: &[u8], file_id: u64, records: &[EventsBlock]) {
        let mut expected = 0;
        for place in records {
            if place.sequence != expected {
                self.report(place.offset, DamageKind::LostRecords);
            }
            expected = place.sequence.wrapping_add(1);
            let at = place.offset as usize;
            let Ok(block) = BlockHeader::parse(&bytes[at..], file_id) else {
                continue;
            };
            let (payload, whole) = super::blocks::payload(bytes, at, &block);
            if whole && block.check(&payload) == Some(false) {
                self.report(place.offset, DamageKind::Checksum);
            } else {
                self.payload(place.offset, &payload);
            }
        }
    }

    fn payload(&mut self, offset: u64, payload: &[u8]) {
        let mut at = 0;
        while at < payload.len() {
            let start = at;
            let offset = offset + (BLOCK_HEADER_BYTES + start) as u64;
            match read_record(payload, &mut at) {
                Ok(record) => self.record(offset, record),
                Err(error) => {
                    self.report(offset, DamageKind::Record(error));
                    if at == start {
                        return;
                    }
                }
            }
        }
    }

    fn record(&mut self, offset: u64, record: Record) {
        fn said<T>(offset: u64, value: T) -> RecordSaid<T> {
            RecordSaid { offset, value }
        }
        let conflict = match record {
            Record::File { id, path } => conflict(&mut self.directory.files, "file", id, path),
            Record::Text { id, text } => conflict(&mut self.directory.texts, "text", id, text),
            Record::Shared { id, name } => {
                conflict(&mut self.directory.shared, "shared object", id, name)
            }
            Record::Predicate(predicate) => {
                conflict(&mut self.predicates, "predicate", predicate.id, predicate)
            }
            Record::CostCenter { id, name } => {
                conflict(&mut self.centers, "cost centre", id, said(offset, name))
            }
            Record::InCostCenter { predicate, center } => conflict(
                &mut self.in_centers,
                "cost centre of predicate",
                predicate,
                said(offset, center),
            ),
            Record::Site { id, site } => conflict(&mut self.sites, "site", id, said(offset, site)),
            Record::Clause { id, clause } => {
                conflict(&mut self.clauses, "clause", id, said(offset, clause))
            }
            Record::Arguments { predicate } => {
                self.with_arguments.entry(predicate).or_insert(offset);
                None
            }
            Record::Boundary { predicate } => {
                self.boundary.entry(predicate).or_insert(offset);
                None
            }
            Record::Values { predicate } => {
                self.with_values.entry(predicate).or_insert(offset);
                None
            }
            Record::Costs { costs, last } => {
                self.directory.costs.extend(costs);
                self.directory.costs_complete |= last;
                None
            }
            Record::StreamBegin(begin) => {
                let id = begin.stream;
                let stream = self
                    .streams
                    .entry(id)
                    .or_insert_with(|| StreamInfo::new(id));
                let other = stream.begin.get_or_insert_with(|| begin.clone());
                (*other != begin).then_some(("stream", id))
            }
            Record::StreamEnd {
                stream: id,
                tick,
                events,
            } => {
                let stream = self
                    .streams
                    .entry(id)
                    .or_insert_with(|| StreamInfo::new(id));
                let end = StreamEnd { tick, events };
                (*stream.end.get_or_insert(end) != end).then_some(("end of stream", id))
            }
            Record::Note { text } => {
                self.directory.notes.push(text);
                None
            }
            Record::PortCosts(costs) => {
                self.directory.port_costs = Some(costs);
                None
            }
            Record::Technique(technique) => {
                self.directory.technique = Some(technique);
                None
            }
            Record::Trials(trials) => {
                self.directory.trials = Some(trials);
                None
            }
            Record::Baseline(baseline) => {
                self.directory.baseline = Some(baseline);
                None
            }
            Record::Fit(fit) => {
                self.directory.fits.push(fit);
                None
            }
            Record::Part(part) => {
                self.directory.part.get_or_insert(part);
                None
            }
            Record::End { tick, ns, outcome } => {
                self.directory.end = Some((End { tick, outcome }, Pair { tick, ns }));
                None
            }
        };
        if let Some((what, id)) = conflict {
            self.report(offset, DamageKind::Conflict { what, id });
        }
    }

    /// What was read means. There were `before` damages before it was read.
    fn finish(self, before: usize) -> Directory {
        let Self {
            damage,
            mut directory,
            predicates,
            centers,
            in_centers,
            sites,
            clauses,
            with_arguments,
            boundary,
            with_values,
            streams,
        } = self;
        let mut broken = BrokenReferences {
            names_are_lost: damage.len() > before,
            damage,
        };
        let mut infos = Vec::with_capacity(predicates.len() + centers.len());
        for (id, RecordSaid { offset, value }) in centers {
            if predicates.contains_key(&id) {
                let what = "cost centre";
                broken.report(offset, DamageKind::Conflict { what, id });
            } else {
                infos.push(PredicateInfo::of_center(id, value));
            }
        }
        infos.extend(predicates.into_values().map(PredicateInfo::new));
        infos.sort_unstable_by_key(|info| info.declared.id);
        let mut pairs: Vec<_> = infos.iter().map(|info| info.declared.id).zip(0..).collect();
        // Of predicates and cost centres alone: nothing else is what a record may refer to.
        let ids = IndexOfIds::new(&pairs);
        let mut sites: Vec<(u32, RecordSaid<Site>)> = sites.into_iter().collect();
        sites.sort_unstable_by_key(|&(id, _)| id);
        for (id, RecordSaid { offset, value }) in sites {
            match (ids.get(id), SiteInfo::new(&value, &ids, &infos)) {
                (None, Some(info)) => {
                    // After the predicates and the unknown one.
                    let callable = infos.len() + 1 + directory.sites.len();
                    pairs.push((id, callable as Callable));
                    directory.sites.push(info);
                }
                (Some(_), _) => broken.report(offset, DamageKind::Conflict { what: "site", id }),
                (None, None) => broken.undeclared(offset, "the caller or callee of site", id),
            }
        }
        for (id, RecordSaid { offset, value }) in clauses {
            match ClauseInfo::new(id, &value, &ids, &infos) {
                Some(info) => directory.clauses.push(info),
                None => broken.undeclared(offset, "the predicate of clause", id),
            }
        }
        directory.clauses.sort_unstable_by_key(|info| info.id);
        // Both are in the order of ids.
        for (id, offset) in with_arguments {
            match ids.get(id) {
                Some(index) => directory.with_arguments.push(index),
                None => broken.undeclared(offset, "a predicate with arguments, number", id),
            }
        }
        for (id, offset) in boundary {
            match ids.get(id) {
                Some(index) => directory.boundary.push(index),
                None => broken.undeclared(offset, "a boundary predicate, number", id),
            }
        }
        for (id, offset) in with_values {
            match ids.get(id) {
                Some(index) => directory.with_values.push(index),
                None => broken.undeclared(offset, "a predicate with values, number", id),
            }
        }
        let center_of = |id: u32| {
            let center = ids.get(id)?;
            infos[center as usize].is_center.then_some(center)
        };
        let mut centers: Vec<Option<PredicateIndex>> = infos
            .iter()
            .map(|info| {
                info.is_center
                    .then_some(info.declared.id)
                    .and_then(center_of)
            })
            .collect();
        for (id, RecordSaid { offset, value }) in in_centers {
            match (ids.get(id), center_of(value)) {
                (Some(index), Some(center)) => {
                    centers[index as usize].get_or_insert(center);
                }
                _ => broken.undeclared(offset, "the cost centre of predicate", id),
            }
        }
        for (info, center) in infos.iter_mut().zip(centers) {
            info.center = center;
        }
        directory.ids = IndexOfIds::new(&pairs);
        directory.predicates = infos;
        // A stream without an announcement matters only if it has blocks; those make one up.
        directory.streams = streams
            .into_values()
            .filter(|stream| stream.id != 0)
            .collect();
        directory.streams.sort_unstable_by_key(|stream| stream.id);
        directory
    }

    fn report(&mut self, offset: u64, what: DamageKind) {
        self.damage.push(Damage::of_records(offset, what));
    }
}

/// Reports records that refer to what no record declares.
struct BrokenReferences<'d> {
    damage: &'d mut Vec<Damage>,
    /// Then it was declared, and that is reported already.
    names_are_lost: bool,
}

impl BrokenReferences<'_> {
    fn undeclared(&mut self, offset: u64, what: &'static str, id: u32) {
        if !self.names_are_lost {
            self.report(offset, DamageKind::Undeclared { what, id });
        }
    }

    fn report(&mut self, offset: u64, what: DamageKind) {
        self.damage.push(Damage::of_records(offset, what));
    }
}

fn conflict<T: PartialEq>(
    known: &mut FxHashMap<u32, T>,
    what: &'static str,
    id: u32,
    value: T,
) -> Option<(&'static str, u32)> {
    match known.get(&id) {
        Some(other) => (*other != value).then_some((what, id)),
        None => {
            known.insert(id, value);
            None
        }
    }
}

/// Texts with their ids, in the order of these.
pub(super) fn in_order(texts: &FxHashMap<u32, String>) -> Vec<(u32, &str)> {
    let all = texts.iter().map(|(id, text)| (*id, text.as_str()));
    let mut all: Vec<(u32, &str)> = all.collect();
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests;
