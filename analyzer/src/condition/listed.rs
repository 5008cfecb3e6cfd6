//! Conditions on what `portmortem events` lists.

use crate::listing::{Bounds, Pending, Wanted};
use crate::machine::{EventKind, WayOut};
use crate::tables::{Cell, Listed, ListedRow, Row, SiteNames};
use crate::trace::Trace;
use crate::walk::Step;
use portmortem_tracer::pattern::{PredicatePattern, wildcard};

use super::{Condition, ConditionError, Field, FieldKind};

/// Other names of columns of [`ListedRow`].
const ALIASES: [(&str, &str); 3] = [("event", "seq"), ("time", "ns"), ("number", "seq")];

/// Columns of it that are no part of conditions: what they say may be found out long after the
/// event.
const NOT_ASKED: [&str; 4] = ["trace", "cause", "cause_event", "caught"];

/// A condition on events of a trace: `port = fail and predicate = lists:* and took > 1ms`.
#[derive(Debug, Clone)]
pub struct ListedCondition {
    condition: Condition,
    /// The column of [`ListedRow`] for each that the condition can name, and what it tells.
    columns: Vec<(usize, Tells)>,
    /// By predicate, the unknown one included and then none, and kind of event: what follows from
    /// those alone.
    quick: Vec<Option<bool>>,
    needs_end: bool,
    bounds: Bounds,
}

/// What a column depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tells {
    Port,
    Predicate,
    Site,
    /// Of the goal, but not which one.
    OfSite,
    Outcome,
    Took,
    Else,
}

impl Tells {
    fn of(column: usize) -> Self {
        match name(column) {
            "port" => Self::Port,
            "predicate" => Self::Predicate,
            "site" => Self::Site,
            "goal" | "file" | "line" => Self::OfSite,
            "outcome" => Self::Outcome,
            "took_ns" => Self::Took,
            _ => Self::Else,
        }
    }
}

impl ListedCondition {
    /// The columns that it can name, as a user may write them.
    #[must_use]
    pub fn names() -> Vec<String> {
        let (fields, _) = fields();
        let names = Condition::names(&fields);
        names
            .into_iter()
            .filter(|name| name != "seq" && name != "ns")
            .collect()
    }

    /// Reads a condition on the events of a trace.
    ///
    /// # Errors
    /// As [`Condition::parse`], and if it names a port, an outcome, a predicate or a goal that is
    /// not there.
    pub fn parse(text: &str, trace: &Trace, sites: &SiteNames) -> Result<Self, ConditionError> {
        let (fields, columns) = fields();
        let condition = Condition::parse(text, &fields)?;
        Self::new(condition, columns, trace, sites, false)
    }

    /// The same of a trace that is being recorded: a predicate or a goal that is not there yet is
    /// none of those that are.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn parse_so_far(
        text: &str,
        trace: &Trace,
        sites: &SiteNames,
    ) -> Result<Self, ConditionError> {
        let (fields, columns) = fields();
        let condition = Condition::parse(text, &fields)?;
        Self::new(condition, columns, trace, sites, true)
    }

    /// Whether a condition can be read, of a trace that is not there yet.
    ///
    /// # Errors
    /// As [`Condition::parse`], and if it names a port or an outcome that is not there.
    pub fn check(text: &str) -> Result<(), ConditionError> {
        let (fields, columns) = fields();
        let mut condition = Condition::parse(text, &fields)?;
        resolve_ports(&mut condition, &columns)
    }

    fn new(
        mut condition: Condition,
        columns: Vec<usize>,
        trace: &Trace,
        sites: &SiteNames,
        may_come: bool,
    ) -> Result<Self, ConditionError> {
        let at = |name: &str| columns_called(&columns, name);
        let or_none = |found: Result<Box<[bool]>, ConditionError>, all: usize| match found {
            Err(ConditionError::UnknownName { .. }) if may_come => Ok(vec![false; all].into()),
            found => found,
        };
        resolve_ports(&mut condition, &columns)?;
        let all = trace.predicates().len() + 1;
        for column in at("predicate") {
            condition.resolve(column, &|text: &str| {
                or_none(find_predicate(trace, text), all)
            })?;
        }
        let all = trace.sites().len();
        for column in at("site") {
            condition.resolve(column, &|text: &str| {
                or_none(find_site(trace, sites, text), all)
            })?;
        }
        let names = |name: &str| at(name).any(|column| condition.names_column(column));
        let needs_end = names("outcome") || names("took_ns");
        // Each of its names says something of the same numbers.
        let range = |name: &str| {
            let ranges = at(name).map(|column| condition.range(column));
            ranges.fold(0..=u64::MAX, |all, one| {
                *all.start().max(one.start())..=*all.end().min(one.end())
            })
        };
        let bounds = Bounds {
            streams: range("stream"),
            numbers: range("seq"),
            ns: range("ns"),
        };
        let columns = columns.into_iter().map(|at| (at, Tells::of(at)));
        let mut this = Self {
            condition,
            columns: columns.collect(),
            quick: Vec::new(),
            needs_end,
            bounds,
        };
        this.quick = this.by_predicate_and_kind(trace);
        Ok(this)
    }

    /// What follows from the predicate and the kind of an event.
    fn by_predicate_and_kind(&self, trace: &Trace) -> Vec<Option<bool>> {
        let predicates = (0..=trace.unknown_predicate()).map(Some).chain([None]);
        let all = predicates.flat_map(|of| EventKind::ALL.map(|kind| (of, kind)));
        let quick = all.map(|(of, kind)| {
            let tells = |at: usize| self.columns.get(at).map(|&(_, tells)| tells);
            let cell = |at: usize| match tells(at)? {
                Tells::Port => Some(Cell::Text(kind.name())),
                Tells::Predicate => {
                    Some(of.map_or(Cell::Missing, |of| Cell::Text(trace.predicate_name(of))))
                }
                _ => None,
            };
            let id = |at: usize| match tells(at)? {
                Tells::Port => Some(kind as usize),
                Tells::Predicate => of.map(|of| of as usize),
                _ => None,
            };
            self.condition.decide(cell, id)
        });
        quick.collect()
    }

    fn ask(&self, listed: &Listed, known: impl Fn(Tells) -> bool) -> Option<bool> {
        let cell = |at: usize| {
            let &(column, tells) = self.columns.get(at)?;
            known(tells).then(|| ListedRow::cell(listed, column))
        };
        let id = |at: usize| {
            let step = &listed.at.step;
            match self.columns.get(at)?.1 {
                Tells::Port => Some(step.kind() as usize),
                Tells::Predicate => step.of.map(|(of, _)| of.predicate as usize),
                Tells::Site => listed.facts.site.map(|site| site as usize),
                Tells::Outcome => listed.facts.outcome.map(outcome_id),
                Tells::OfSite | Tells::Took | Tells::Else => None,
            }
        };
        self.condition.decide(cell, id)
    }
}

/// What a condition says about ports and outcomes.
fn resolve_ports(condition: &mut Condition, columns: &[usize]) -> Result<(), ConditionError> {
    for column in columns_called(columns, "port") {
        condition.resolve(column, &find_port)?;
    }
    for column in columns_called(columns, "outcome") {
        condition.resolve(column, &find_outcome)?;
    }
    Ok(())
}

impl Wanted for ListedCondition {
    fn quick(&self, step: &Step) -> Option<bool> {
        let predicates = self.quick.len() / EventKind::ALL.len();
        let predicate = step
            .of
            .map_or(predicates - 1, |(of, _)| of.predicate as usize);
        *self
            .quick
            .get(predicate * EventKind::ALL.len() + step.kind() as usize)?
    }

    fn decide(&self, event: &Listed, pending: Pending) -> Option<bool> {
        if let Some(known) = self.quick(&event.at.step) {
            return Some(known);
        }
        self.ask(event, |tells| !match tells {
            Tells::Site | Tells::OfSite => pending.site,
            Tells::Outcome => pending.end,
            Tells::Took => pending.took,
            Tells::Port | Tells::Predicate | Tells::Else => false,
        })
    }

    fn needs_end(&self) -> bool {
        self.needs_end
    }

    fn bounds(&self) -> Bounds {
        self.bounds.clone()
    }
}

/// What conditions can name, and which column of [`ListedRow`] each is.
fn fields() -> (Vec<Field<'static>>, Vec<usize>) {
    let all = ListedRow::COLUMNS;
    let place = |name: &str| all.iter().position(|column| column.name == name);
    let aliases = ALIASES
        .iter()
        .filter_map(|&(alias, name)| Some((alias, place(name)?)));
    let asked = (0..all.len()).filter(|&at| !NOT_ASKED.contains(&all[at].name));
    let named = aliases.chain(asked.map(|at| (all[at].name, at)));
    named
        .map(|(name, at)| {
            let kind = match name {
                "site" | "goal" | "file" | "outcome" => FieldKind::Label,
                _ => Field::of(&all[at], None).kind,
            };
            (Field { name, kind }, at)
        })
        .unzip()
}

fn name(column: usize) -> &'static str {
    ListedRow::COLUMNS
        .get(column)
        .map_or("", |column| column.name)
}

fn columns_called<'c>(columns: &'c [usize], called: &str) -> impl Iterator<Item = usize> + use<'c> {
    let column = ListedRow::COLUMNS
        .iter()
        .position(|column| column.name == called);
    (0..columns.len()).filter(move |&at| Some(columns[at]) == column)
}

fn outcome_id(outcome: WayOut) -> usize {
    WayOut::ALL
        .iter()
        .position(|&other| other == outcome)
        .unwrap_or(usize::MAX)
}

/// Those that have the name, or of a group of them: all exits are `exit`, and last calls are calls.
pub(super) fn find_port(text: &str) -> Result<Box<[bool]>, ConditionError> {
    let wanted = text.to_lowercase();
    let names = EventKind::ALL.map(EventKind::name);
    let is = |name: &&str| {
        **name == wanted
            || wanted == "exit" && name.starts_with("exit_")
            || wanted == "call" && **name == *"tail"
    };
    found("port", text, names.iter().map(is).collect(), || {
        let others = names.iter().map(|name| (*name).to_owned());
        ["exit".to_owned()].into_iter().chain(others).collect()
    })
}

fn find_outcome(text: &str) -> Result<Box<[bool]>, ConditionError> {
    let wanted = text.to_lowercase();
    let names = WayOut::ALL.map(WayOut::name);
    let is = |name: &&str| **name == wanted || wanted == "exit" && name.starts_with("exit_");
    found("outcome", text, names.iter().map(is).collect(), || {
        let others = names.iter().map(|name| (*name).to_owned());
        ["exit".to_owned()].into_iter().chain(others).collect()
    })
}

/// Those of this indicator, or that a pattern matches; the unknown one comes last.
fn find_predicate(trace: &Trace, text: &str) -> Result<Box<[bool]>, ConditionError> {
    let pattern = PredicatePattern::new(text);
    let known = trace.predicates().iter();
    let is = known.clone().map(|info| {
        let declared = &info.declared;
        info.indicator == text || pattern.matches(&declared.module, &declared.name, declared.arity)
    });
    let unknown = text == trace.predicate_name(trace.unknown_predicate());
    found("predicate", text, is.chain([unknown]).collect(), || {
        known.map(|info| info.indicator.clone()).collect()
    })
}

/// Those on this line, in this file, at this place, or with this goal.
fn find_site(trace: &Trace, sites: &SiteNames, text: &str) -> Result<Box<[bool]>, ConditionError> {
    let line: Option<u32> = text.parse().ok();
    let is = sites
        .names()
        .zip(trace.sites())
        .map(|((place, goal), site)| {
            let whole = site.file.and_then(|file| trace.file(file));
            let whole = whole.map(|file| format!("{file}:{}", site.line));
            let file = place.rsplit_once(':').map_or(place, |(file, _)| file);
            line.is_some_and(|line| line == site.line && line != 0)
                || [place, goal, file].iter().any(|name| wildcard(text, name))
                || whole.is_some_and(|whole| whole == text || whole.ends_with(&format!("/{text}")))
        });
    found("site", text, is.collect(), || {
        let mut places: Vec<String> = sites.names().map(|(place, _)| place.to_owned()).collect();
        places.sort_unstable();
        places.dedup();
        places
    })
}

fn found(
    column: &'static str,
    name: &str,
    is: Vec<bool>,
    names: impl FnOnce() -> Vec<String>,
) -> Result<Box<[bool]>, ConditionError> {
    if !is.contains(&true) {
        return Err(ConditionError::UnknownName {
            column,
            name: name.to_owned(),
            names: names(),
        });
    }
    Ok(is.into())
}
