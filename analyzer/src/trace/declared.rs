//! What a trace declares: predicates and cost centres, goals, clauses, streams.

use std::ops::Range;

use portmortem_tracer::format::{Clause, Dialect, Predicate, Roles, Site, StreamBegin, StreamKind};

use crate::trace::ids::IndexOfIds;
use crate::trace::{PredicateIndex, names};

/// The module that stands in [`PredicateInfo::declared`] of a cost centre, so that patterns can
/// mean it.
pub const CENTER_MODULE: &str = "cost_center";

/// A predicate of a trace, or a cost centre: what a box can be of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredicateInfo {
    /// What the recorder wrote. A cost centre has its name, arity 0 and the module
    /// [`CENTER_MODULE`].
    pub declared: Predicate,
    /// Its indicator as Prolog would write it ([`names::indicator`]); of a cost centre, the goal
    /// `cost_center(name)`.
    pub indicator: String,
    /// The cost centre that its boxes enter: what `cost_center/2` runs in, the centre itself; what
    /// was
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

    /// What it is, in a word.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self.kind() {
            StreamKind::Thread => "thread",
            StreamKind::Engine => "engine",
        }
    }

    /// Its name in the engine, empty if the announcement was lost.
    #[must_use]
    pub fn name(&self) -> &str {
        self.begin.as_ref().map_or("", |begin| &begin.name)
    }

    /// What texts call it: its number and its name in the engine, escaped; of one that has only a
    /// number what it is, too:
    /// `stream 1 (main)`, `stream 2 (thread 5)`, `stream 3 (engine 1)`.
    #[must_use]
    pub fn title(&self) -> String {
        let kind = self.kind_name();
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

impl PredicateInfo {
    pub(super) fn new(declared: Predicate) -> Self {
        let indicator = names::indicator(&declared.module, &declared.name, declared.arity);
        Self {
            declared,
            indicator,
            center: None,
            is_center: false,
        }
    }

    /// Its centre is not set yet.
    pub(super) fn of_center(id: u32, name: String) -> Self {
        Self {
            indicator: names::center(&name),
            declared: Predicate {
                id,
                module: CENTER_MODULE.to_owned(),
                name,
                arity: 0,
                file: None,
                line: 0,
                roles: Roles::default(),
            },
            center: None,
            is_center: true,
        }
    }
}

impl ClauseInfo {
    /// `None` if its predicate is not a known one.
    pub(super) fn new(
        id: u32,
        clause: &Clause,
        ids: &IndexOfIds,
        predicates: &[PredicateInfo],
    ) -> Option<Self> {
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
    pub(super) fn new(site: &Site, ids: &IndexOfIds, predicates: &[PredicateInfo]) -> Option<Self> {
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
    pub(super) fn new(id: u32) -> Self {
        Self {
            id,
            begin: None,
            end: None,
            blocks: 0..0,
        }
    }
}
