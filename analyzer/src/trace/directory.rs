//! The names in a trace: predicates, files, texts, streams, notes, and how the run ended.

use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use portmortem_tracer::format::{
    BLOCK_HEADER_BYTES, Baseline, BlockHeader, Clause, Cost, Dialect, Fit, PortCosts, Predicate,
    Record, Site, StreamBegin, StreamKind, Technique, Trials, read_record,
};
use rustc_hash::FxHashMap;

use super::{Block, End};
use crate::trace::clock::Pair;
use crate::trace::damage::{Damage, DamageKind};
use crate::trace::names;
use crate::trace::{Callable, PredicateIndex};

/// The module that stands in [`PredicateInfo::declared`] of a cost centre, so that patterns can mean it.
pub const CENTER_MODULE: &str = "cost_center";

/// Predicates that collect solutions, and the modules that an engine may have them in.
const COLLECTORS: [(&str, RangeInclusive<u32>); 8] = [
    ("findall", 3..=4),
    ("findnsols", 4..=5),
    ("forall", 2..=2),
    ("foreach", 2..=2),
    ("bagof", 3..=3),
    ("setof", 3..=3),
    ("aggregate_all", 3..=4),
    ("aggregate", 3..=4),
];
const COLLECTOR_MODULES: [&str; 3] = ["system", "$bags", "aggregate"];

/// A predicate of a trace, or a cost centre: what a box can be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredicateInfo {
    /// What the recorder wrote. A cost centre has its name, arity 0 and the module [`CENTER_MODULE`].
    pub declared: Predicate,
    /// Its indicator as Prolog would write it ([`names::indicator`]); of a cost centre, the goal
    /// `cost_center(name)`.
    pub indicator: String,
    /// The cost centre that its boxes enter: what `cost_center/2` runs in, the centre itself; what was
    /// declared to be in one, that one.
    pub center: Option<PredicateIndex>,
    /// Whether this is a cost centre, and no predicate.
    pub is_center: bool,
}

/// A goal in a clause that calls a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteInfo {
    /// The predicate whose clause it is in.
    pub caller: PredicateIndex,
    /// The predicate that it calls.
    pub callee: PredicateIndex,
    /// Number of the clause in its predicate, from 1.
    pub clause: u32,
    /// Number of the goal in the clause, from 1, in the order in which goals are written.
    pub goal: u32,
    /// File id of the clause.
    pub file: Option<u32>,
    /// Line of the goal, 0 if unknown.
    pub line: u32,
    /// The clause fails once the goal has succeeded, and nothing in between can fail by itself.
    pub then_fails: bool,
}

/// A clause that boxes enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClauseInfo {
    /// What events call it.
    pub id: u32,
    /// The predicate that it is of.
    pub predicate: PredicateIndex,
    /// Its number in the predicate, from 1.
    pub number: u32,
    /// File id.
    pub file: Option<u32>,
    /// Line where it begins, 0 if unknown.
    pub line: u32,
}

/// A stream of a trace: the events of one Prolog thread or engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamInfo {
    /// Stream id, from 1.
    pub id: u32,
    /// Its announcement; `None` if that was lost.
    pub begin: Option<StreamBegin>,
    /// Its end; `None` if it was never ended (or that was lost).
    pub end: Option<StreamEnd>,
    /// Its blocks, as a range of the trace's.
    pub(crate) blocks: Range<usize>,
}

impl StreamInfo {
    /// When it began; `None` if the announcement was lost.
    pub(crate) fn begin_tick(&self) -> Option<u64> {
        self.begin.as_ref().map(|begin| begin.tick)
    }

    /// Thread or engine; a thread if the announcement was lost.
    #[must_use]
    pub fn kind(&self) -> StreamKind {
        self.begin
            .as_ref()
            .map_or(StreamKind::Thread, |begin| begin.kind)
    }

    /// Its name in the engine, empty if the announcement was lost.
    #[must_use]
    pub fn name(&self) -> &str {
        self.begin.as_ref().map_or("", |begin| &begin.name)
    }

    /// What texts call it: its number and its name in the engine, escaped; of one that has only a number what it is, too:
    /// `stream 1 (main)`, `stream 2 (thread 5)`, `stream 3 (engine 1)`.
    #[must_use]
    pub fn title(&self) -> String {
        let kind = match self.kind() {
            StreamKind::Thread => "thread",
            StreamKind::Engine => "engine",
        };
        let name = names::printable(self.name());
        let is_number = name.chars().all(|c| c.is_ascii_digit());
        match (self.kind(), is_number) {
            (StreamKind::Thread, false) => format!("stream {} ({name})", self.id),
            _ => format!(
                "stream {} ({})",
                self.id,
                format!("{kind} {name}").trim_end()
            ),
        }
    }

    /// Which redos it has; all of them if the announcement was lost.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.begin
            .as_ref()
            .map_or(Dialect::EveryRedo, |begin| begin.dialect)
    }
}

/// The end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamEnd {
    /// Tick of its end.
    pub tick: u64,
    /// Events it had, lost ones included.
    pub events: u64,
}

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
    pub(super) ids: Ids,
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
    /// No record is known to be lost.
    pub(super) complete: bool,
}

impl Directory {
    /// Reads the records blocks, which are ordered by sequence.
    pub(super) fn read(
        bytes: &[u8],
        file_id: u64,
        records: &[Block],
        damage: &mut Vec<Damage>,
    ) -> Self {
        let before = damage.len();
        let mut reader = Reader {
            damage,
            directory: Self::default(),
            predicates: FxHashMap::default(),
            centers: FxHashMap::default(),
            in_centers: FxHashMap::default(),
            sites: FxHashMap::default(),
            clauses: FxHashMap::default(),
            with_arguments: BTreeSet::new(),
            streams: FxHashMap::default(),
        };
        reader.blocks(bytes, file_id, records);
        let mut directory = reader.finish();
        directory.complete = damage.len() == before;
        directory
    }

    /// Gives every stream its blocks, which are ordered by stream, and makes up a stream for blocks
    /// whose stream was announced nowhere.
    pub(super) fn assign_blocks(&mut self, blocks: &[Block], damage: &mut Vec<Damage>) {
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

/// From ids of predicates and sites, which a damaged or hostile file may choose freely, to indices.
#[derive(Debug)]
pub(super) enum Ids {
    /// Recorders count from 0, so this is what there is in practice.
    Dense(Vec<Callable>),
    Sparse(FxHashMap<u32, Callable>),
}

const ABSENT: Callable = Callable::MAX;

impl Default for Ids {
    fn default() -> Self {
        Self::Dense(Vec::new())
    }
}

impl Ids {
    /// From pairs of an id and its index.
    fn new(pairs: &[(u32, Callable)]) -> Self {
        let last = pairs.iter().map(|&(id, _)| id).max();
        let size = last.map_or(0, |last| last as usize + 1);
        let pairs = pairs.iter().copied();
        if size > 2 * pairs.len() + 1024 {
            return Self::Sparse(pairs.collect());
        }
        let mut dense = vec![ABSENT; size];
        for (id, index) in pairs {
            dense[id as usize] = index;
        }
        Self::Dense(dense)
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<Callable> {
        match self {
            Self::Dense(dense) => dense
                .get(id as usize)
                .copied()
                .filter(|&index| index != ABSENT),
            Self::Sparse(sparse) => sparse.get(&id).copied(),
        }
    }
}

/// Collects records; of two with the same id the first counts.
struct Reader<'d> {
    damage: &'d mut Vec<Damage>,
    directory: Directory,
    predicates: FxHashMap<u32, Predicate>,
    centers: FxHashMap<u32, String>,
    /// From predicates to centres.
    in_centers: FxHashMap<u32, u32>,
    sites: FxHashMap<u32, Site>,
    clauses: FxHashMap<u32, Clause>,
    with_arguments: BTreeSet<u32>,
    streams: FxHashMap<u32, StreamInfo>,
}

impl Reader<'_> {
    fn blocks(&mut self, bytes: &[u8], file_id: u64, records: &[Block]) {
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
            if whole && block.check(payload) == Some(false) {
                self.report(place.offset, DamageKind::Checksum);
            } else {
                self.payload(place.offset, payload);
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
        let conflict = match record {
            Record::File { id, path } => conflict(&mut self.directory.files, "file", id, path),
            Record::Text { id, text } => conflict(&mut self.directory.texts, "text", id, text),
            Record::Predicate(predicate) => {
                conflict(&mut self.predicates, "predicate", predicate.id, predicate)
            }
            Record::CostCenter { id, name } => conflict(&mut self.centers, "cost centre", id, name),
            Record::InCostCenter { predicate, center } => conflict(
                &mut self.in_centers,
                "cost centre of predicate",
                predicate,
                center,
            ),
            Record::Site { id, site } => conflict(&mut self.sites, "site", id, site),
            Record::Clause { id, clause } => conflict(&mut self.clauses, "clause", id, clause),
            Record::Arguments { predicate } => {
                self.with_arguments.insert(predicate);
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
            Record::End { tick, ns, outcome } => {
                self.directory.end = Some((End { tick, outcome }, Pair { tick, ns }));
                None
            }
        };
        if let Some((what, id)) = conflict {
            self.report(offset, DamageKind::Conflict { what, id });
        }
    }

    fn finish(self) -> Directory {
        let Self {
            mut directory,
            predicates,
            centers,
            in_centers,
            sites,
            clauses,
            with_arguments,
            streams,
            ..
        } = self;
        let centers = centers.into_iter();
        let mut infos: Vec<PredicateInfo> = centers
            .filter(|(id, _)| !predicates.contains_key(id))
            .map(|(id, name)| PredicateInfo::of_center(id, name))
            .collect();
        infos.extend(predicates.into_values().map(PredicateInfo::new));
        infos.sort_unstable_by_key(|info| info.declared.id);
        let mut pairs: Vec<_> = infos.iter().map(|info| info.declared.id).zip(0..).collect();
        let ids = Ids::new(&pairs);
        let mut sites: Vec<(u32, Site)> = sites.into_iter().collect();
        sites.sort_unstable_by_key(|&(id, _)| id);
        for (id, site) in sites {
            if let (None, Some(info)) = (ids.get(id), SiteInfo::new(&site, &ids, &infos)) {
                // After the predicates and the unknown one.
                let callable = infos.len() + 1 + directory.sites.len();
                pairs.push((id, callable as Callable));
                directory.sites.push(info);
            }
        }
        directory.clauses = clauses
            .iter()
            .filter_map(|(&id, clause)| ClauseInfo::new(id, clause, &ids, &infos))
            .collect();
        directory.clauses.sort_unstable_by_key(|info| info.id);
        // Both are in the order of ids.
        directory.with_arguments = with_arguments
            .iter()
            .filter_map(|&id| ids.get(id))
            .collect();
        directory.ids = Ids::new(&pairs);
        for at in 0..infos.len() {
            let id = infos[at].declared.id;
            let center = if infos[at].is_center {
                Some(&id)
            } else {
                in_centers.get(&id)
            };
            let center = center.and_then(|&center| directory.ids.get(center));
            infos[at].center = center.filter(|&center| infos[center as usize].is_center);
        }
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
        self.damage.push(Damage {
            offset,
            what,
            stream: None,
            events_lost: None,
        });
    }
}

impl PredicateInfo {
    /// Whether it asks a goal for one solution after the other, and keeps what it needs of each: then going back into the goal
    /// throws away nothing that is missed.
    #[must_use]
    pub fn is_collector(&self) -> bool {
        let Predicate {
            module,
            name,
            arity,
            ..
        } = &self.declared;
        COLLECTOR_MODULES.contains(&module.as_str())
            && (COLLECTORS.iter()).any(|(known, arities)| known == name && arities.contains(arity))
    }

    fn new(declared: Predicate) -> Self {
        let indicator = names::indicator(&declared.module, &declared.name, declared.arity);
        Self {
            declared,
            indicator,
            center: None,
            is_center: false,
        }
    }

    /// Its centre is not set yet.
    fn of_center(id: u32, name: String) -> Self {
        Self {
            indicator: names::center(&name),
            declared: Predicate {
                id,
                module: CENTER_MODULE.to_owned(),
                name,
                arity: 0,
                file: None,
                line: 0,
            },
            center: None,
            is_center: true,
        }
    }
}

impl ClauseInfo {
    /// `None` if its predicate is not a known one.
    fn new(id: u32, clause: &Clause, ids: &Ids, predicates: &[PredicateInfo]) -> Option<Self> {
        let predicate = ids.get(clause.predicate)?;
        let info = &predicates[predicate as usize];
        (!info.is_center).then_some(Self {
            id,
            predicate,
            number: clause.number,
            file: clause.file.or(info.declared.file),
            line: clause.line,
        })
    }
}

impl SiteInfo {
    /// `None` if its caller or callee is not a known predicate.
    fn new(site: &Site, ids: &Ids, predicates: &[PredicateInfo]) -> Option<Self> {
        let predicate = |id| {
            let index = ids.get(id)?;
            let info = &predicates[index as usize];
            (!info.is_center).then_some((index, &info.declared))
        };
        let ((caller, declared), (callee, _)) = (predicate(site.caller)?, predicate(site.callee)?);
        Some(Self {
            caller,
            callee,
            clause: site.clause,
            goal: site.goal,
            file: site.file.or(declared.file),
            line: site.line,
            then_fails: site.then_fails,
        })
    }
}

impl StreamInfo {
    fn new(id: u32) -> Self {
        Self {
            id,
            begin: None,
            end: None,
            blocks: 0..0,
        }
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

#[cfg(test)]
mod tests;
