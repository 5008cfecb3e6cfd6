//! From events to what the arguments of calls were, at calls and at exits.
//!
//! Values of a call follow on its event, those at an exit come before that of the exit. Last calls
//! make several calls of one box: it has values of the last one and of the first one at its exit.
//! Each stream is followed by itself: what came before is what came before in it.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;

use portmortem_tracer::format::{ArgumentValue, ValueKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::figures::values::{LARGE, ValueFigures, Values};
use crate::machine::{At, Note, Observer, OpenBox, WayOut};
use crate::scope::Scope;
use crate::trace::{PredicateIndex, SiteIndex, Trace};

/// So many arguments have values.
const MOST: usize = 8;
/// So many calls of a box have.
const CALLS: usize = 2;
/// So many results of a goal are kept: several data may grow in turn.
const LAST: usize = 4;
/// So many solutions of a call are told apart, and so many results after the first one are kept to
/// be compared with those of a later call.
const SOLUTIONS: usize = 256;
const LATER: u32 = 64;
/// So many different terms, calls and results of one stream are told apart.
const MOST_DISTINCT: usize = 1 << 20;
/// At an exit [`ArgumentValue::when`] says which call it is about, from 1.
const LAST_CALL: u8 = 1;

/// A goal, or a predicate that was called without one.
type Of = (PredicateIndex, Option<SiteIndex>);

/// What is known of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ArgumentFacts {
    kind: ValueKind,
    size: u32,
    hash: u64,
    /// Cells that are newer than the call.
    newer: u32,
}

impl ArgumentFacts {
    const UNKNOWN: Self = Self {
        kind: ValueKind::Unknown,
        size: 0,
        hash: 0,
        newer: 0,
    };

    fn is_bound(self) -> bool {
        matches!(self.kind, ValueKind::Ground | ValueKind::NotGround)
    }

    fn is_known(self) -> bool {
        matches!(self.kind, ValueKind::Ground | ValueKind::Unbound)
    }

    /// Whether it is a term of more than a cell, which is not met again by chance.
    fn is_term(self) -> bool {
        self.is_bound() && self.size > 1
    }
}

/// Arguments, from the first one.
#[derive(Debug, Clone, Default)]
struct FirstArguments {
    values: [Option<ArgumentFacts>; MOST],
}

impl FirstArguments {
    fn set(&mut self, argument: u8, value: ArgumentFacts) {
        let at = usize::from(argument).checked_sub(1);
        let Some(place) = at.and_then(|at| self.values.get_mut(at)) else {
            return;
        };
        match value.kind {
            ValueKind::Fresh => {
                if let Some(before) = place {
                    before.newer = value.size;
                }
            }
            _ => *place = Some(value),
        }
    }

    fn get(&self, at: usize) -> ArgumentFacts {
        self.values[at].unwrap_or(ArgumentFacts::UNKNOWN)
    }

    /// At an exit: what was ground in the call still is.
    fn with(&self, given: &Self) -> Self {
        let mut all = self.clone();
        for (result, given) in all.values.iter_mut().zip(given.values) {
            if let Some(given) = given.filter(|given| given.kind == ValueKind::Ground) {
                *result = Some(given);
            }
        }
        all
    }

    fn len(&self) -> usize {
        let last = self.values.iter().rposition(Option::is_some);
        last.map_or(0, |last| last + 1)
    }

    /// A hash of all but one of them; `None` if another one is not known, or not ground.
    fn without(&self, left_out: Option<usize>) -> Option<u64> {
        let all = (0..self.len()).filter(|&at| Some(at) != left_out);
        self.hash_of(all, ArgumentFacts::is_known)
    }

    /// A hash of all of them, whatever variables are in them; `None` if one is not known.
    fn variant(&self) -> Option<u64> {
        let is_enough = |value: ArgumentFacts| value.kind != ValueKind::Unknown;
        self.hash_of(0..self.len(), is_enough)
    }

    /// A hash of some of them; `None` if not enough is known of one.
    fn hash_of(
        &self,
        some: impl Iterator<Item = usize>,
        is_enough: impl Fn(ArgumentFacts) -> bool,
    ) -> Option<u64> {
        let mut hash = DefaultHasher::new();
        for at in some {
            let value = self.get(at);
            if !is_enough(value) {
                return None;
            }
            (at, value.kind as u8, value.hash).hash(&mut hash);
        }
        Some(hash.finish())
    }
}

/// A call with values, while its box is there.
#[derive(Debug)]
struct NotedCall {
    of: Of,
    given: FirstArguments,
    exits: u32,
    /// Hashes of its solutions, as far as they are known.
    solutions: FxHashSet<u64>,
}

/// What is kept with a box.
#[derive(Debug, Default)]
pub(crate) struct KeptForValues {
    /// The goal that called last.
    site: Option<SiteIndex>,
    /// The last call, and the first one if there are several.
    noted: Option<Box<[Option<NotedCall>; CALLS]>>,
    /// What is said of the exit that comes.
    results: Option<Box<[Option<FirstArguments>; CALLS]>>,
}

/// What was read so far, as an [`Observer`] of some streams.
#[derive(Debug)]
pub(crate) struct ValueLedger<'s> {
    scope: &'s Scope,
    /// The predicates of which there are values.
    with: &'s [PredicateIndex],
    values: Values,
    stream: SeenBefore,
}

/// What came before in a stream.
#[derive(Debug, Default)]
struct SeenBefore {
    /// Ground terms, by goal and argument.
    terms: FxHashSet<(Of, usize, u64)>,
    /// Results by predicate and arguments, and how many results of that call came before it.
    results: FxHashMap<(PredicateIndex, u64, u32), u64>,
    /// Results by predicate and arguments, whatever variables are in both. `None` of one that is
    /// not known.
    variants: FxHashMap<(PredicateIndex, u64), Option<u64>>,
    /// The same by all arguments but one: that one, and the result.
    varied: FxHashMap<(PredicateIndex, usize, u64), (u64, u64)>,
    /// Which predicate made one term of another, and which argument that was.
    made: FxHashMap<(u64, u64), (PredicateIndex, usize)>,
    /// The last results of each goal, the newest first.
    last: FxHashMap<Of, VecDeque<FirstArguments>>,
}

impl SeenBefore {
    fn has_room(&self) -> bool {
        let of_calls = self.results.len() + self.variants.len() + self.varied.len();
        self.terms.len() + of_calls + self.made.len() < MOST_DISTINCT
    }
}

impl<'s> ValueLedger<'s> {
    /// Of a trace; `None` if it has no values.
    pub(crate) fn of(trace: &'s Trace, scope: &'s Scope) -> Option<Self> {
        let with = trace.with_values();
        (!with.is_empty()).then(|| Self {
            scope,
            with,
            values: Values::default(),
            stream: SeenBefore::default(),
        })
    }

    pub(crate) fn into_values(self) -> Values {
        self.values
    }

    fn figures(&mut self, of: Of) -> &mut ValueFigures {
        self.values.goals.entry(of).or_default()
    }

    /// An argument of a call.
    fn given(
        &mut self,
        open: &OpenBox,
        kept: &mut KeptForValues,
        argument: u8,
        value: ArgumentFacts,
    ) {
        let of = (open.predicate, kept.site);
        let calls = kept.noted.get_or_insert_default();
        if argument == 1 {
            if calls[1].is_none() {
                calls[1] = calls[0].take();
            }
            calls[0] = Some(NotedCall {
                of,
                given: FirstArguments::default(),
                exits: 0,
                solutions: FxHashSet::default(),
            });
            self.figures(of).calls += 1;
        }
        let Some(noted) = calls[0].as_mut().filter(|noted| noted.of == of) else {
            return;
        };
        let at = usize::from(argument).wrapping_sub(1);
        if at >= MOST || noted.given.values[at].is_some() || value.kind == ValueKind::Fresh {
            return;
        }
        noted.given.set(argument, value);
        let known = self.values.goals.entry(of).or_default();
        let figures = known.argument(at);
        match value.kind {
            ValueKind::Unknown => figures.unknown_in += 1,
            ValueKind::Unbound | ValueKind::Fresh => {}
            ValueKind::Ground | ValueKind::NotGround => figures.given(value.size),
        }
        if value.kind == ValueKind::Ground {
            figures.ground_in += 1;
            let has_room = self.stream.has_room();
            self.values.cut_short |= !has_room;
            if has_room && self.stream.terms.insert((of, at, value.hash)) {
                figures.distinct_in += 1;
            }
        }
        if let Some(last) = self.stream.last.get(&of).filter(|_| value.is_term()) {
            let is_it = |given: ArgumentFacts| given.is_term() && given.hash == value.hash;
            for from in (0..MOST).filter(|&from| from != at) {
                if last.iter().any(|row| is_it(row.get(from))) {
                    let pair = (argument, from as u8 + 1);
                    known.pairs.entry(pair).or_default().handed_on += 1;
                }
            }
        }
    }

    /// A call exits with these arguments.
    fn exits(&mut self, noted: &NotedCall, results: &FirstArguments) {
        let NotedCall { of, given, .. } = noted;
        let (predicate, count) = (of.0, given.len());
        let figures = self.figures(*of);
        figures.exits += 1;
        for at in 0..count {
            let (result, argument) = (results.get(at), figures.argument(at));
            argument.unknown_out += u64::from(result.kind == ValueKind::Unknown);
            argument.bound_out += u64::from(result.is_bound());
            argument.cells_out = argument.cells_out.saturating_add(result.size.into());
        }
        let is_result =
            |&at: &usize| given.get(at).kind == ValueKind::Unbound && results.get(at).is_bound();
        let mut made = FirstArguments::default();
        for to in (0..count).filter(is_result) {
            let result = results.get(to);
            made.set(to as u8 + 1, result);
            for from in (0..count).filter(|&from| given.get(from).is_bound()) {
                let from_value = given.get(from);
                let pair = (from as u8 + 1, to as u8 + 1);
                let figures = self.figures(*of).pairs.entry(pair).or_default();
                figures.exits += 1;
                figures.made = figures.made.saturating_add(result.newer.into());
                if from_value.size >= LARGE && result.newer >= from_value.size / 4 {
                    figures.copied += 1;
                }
                // One of them is not met again by chance, so neither is the other beside it.
                let is_told = from_value.is_term() || result.is_term();
                if is_told && from_value.hash != result.hash {
                    self.makes((predicate, from), from_value.hash, result.hash);
                }
            }
        }
        let last = self.stream.last.entry(*of).or_default();
        last.truncate(LAST - 1);
        last.push_front(made);
    }

    /// A predicate made one term of another.
    fn makes(&mut self, of: (PredicateIndex, usize), from: u64, to: u64) {
        if let Some(&other) = self.stream.made.get(&(to, from))
            && other != of
        {
            let times = self.values.to_and_fro.entry((other.0, of.0));
            *times.or_default() += 1;
        }
        if self.stream.has_room() {
            self.stream.made.insert((from, to), of);
        }
    }

    /// The first result of a call: its arguments at its exit, or none if it failed.
    fn first_result(&mut self, noted: &NotedCall, results: Option<&FirstArguments>) {
        let NotedCall { of, given, .. } = noted;
        let predicate = of.0;
        self.variant(noted, results);
        let result = match results {
            Some(results) => match results.without(None) {
                Some(result) => result,
                None => return,
            },
            None => 0,
        };
        // The result without what was given: an argument that matters to nothing is in it, too.
        let made = |left_out: usize| {
            let mut made = results.cloned().unwrap_or_default();
            if given.get(left_out).kind == ValueKind::Ground {
                made.values[left_out] = Some(given.get(left_out));
            }
            results.map_or(Some(0), |_| made.without(Some(left_out)))
        };
        let has_room = self.stream.has_room();
        self.values.cut_short |= !has_room;
        let figures = self.values.goals.entry(*of).or_default();
        let Some(all) = given.without(None) else {
            return;
        };
        let results = &mut self.stream.results;
        if let Some(is_same) = again(results, (predicate, all, 0), result, has_room) {
            figures.again += 1;
            figures.same += u64::from(is_same);
        }
        for at in 0..given.len() {
            if given.get(at).kind != ValueKind::Ground {
                continue;
            }
            let (Some(others), Some(result)) = (given.without(Some(at)), made(at)) else {
                continue;
            };
            let value = given.get(at).hash;
            match self.stream.varied.get_mut(&(predicate, at, others)) {
                Some((before, _)) if *before == value => {}
                Some((before, last)) => {
                    let argument = figures.argument(at);
                    argument.varied += 1;
                    argument.varied_same += u64::from(*last == result);
                    (*before, *last) = (value, result);
                }
                None if has_room => {
                    let one = (value, result);
                    self.stream.varied.insert((predicate, at, others), one);
                }
                None => {}
            }
        }
    }

    /// The first result of a call, compared with that of one with the same arguments, whatever
    /// variables are in them. A result with variables in it is made for each call: they are bound
    /// in other ways.
    fn variant(&mut self, noted: &NotedCall, results: Option<&FirstArguments>) {
        let makes_variables = |results: &FirstArguments| {
            (0..noted.given.len()).any(|at| {
                let (given, result) = (noted.given.get(at).kind, results.get(at).kind);
                given == ValueKind::Unbound && result == ValueKind::NotGround
            })
        };
        let Some(given) = noted.given.variant() else {
            return;
        };
        if results.is_some_and(makes_variables) {
            return;
        }
        let result = results.map_or(Some(0), FirstArguments::variant);
        let has_room = self.stream.has_room();
        self.values.cut_short |= !has_room;
        let of = (noted.of.0, given);
        match self.stream.variants.get_mut(&of) {
            Some(before) => {
                let both = mem::replace(before, result).zip(result);
                let figures = self.figures(noted.of);
                figures.variants += 1;
                figures.variants_known += u64::from(both.is_some());
                figures.variants_same += u64::from(both.is_some_and(|(one, other)| one == other));
            }
            None if has_room => {
                self.stream.variants.insert(of, result);
            }
            None => {}
        }
    }

    /// A result of a call after its first one: another exit, or none if it failed then.
    fn later_result(&mut self, noted: &NotedCall, results: Option<&FirstArguments>) {
        let result = results.map_or(Some(0), |results| results.without(None));
        let (Some(result), Some(all)) = (result, noted.given.without(None)) else {
            return;
        };
        if noted.exits > LATER {
            return;
        }
        let has_room = self.stream.has_room();
        self.values.cut_short |= !has_room;
        let of = (noted.of.0, all, noted.exits);
        if let Some(is_same) = again(&mut self.stream.results, of, result, has_room) {
            let figures = self.figures(noted.of);
            figures.again_later += 1;
            figures.same_later += u64::from(is_same);
        }
    }

    /// A solution of a call. Variables that are left may be constrained in other ways in each.
    fn solution(&mut self, noted: &mut NotedCall, results: &FirstArguments) {
        let is_ground = |at| results.get(at).kind == ValueKind::Ground;
        let all_ground = (0..noted.given.len()).all(is_ground);
        let Some(solution) = results.without(None).filter(|_| all_ground) else {
            return;
        };
        let is_new = !noted.solutions.contains(&solution);
        if !noted.solutions.is_empty() {
            let figures = self.figures(noted.of);
            figures.further += 1;
            figures.repeated += u64::from(!is_new);
        }
        if is_new && noted.solutions.len() < SOLUTIONS {
            noted.solutions.insert(solution);
        }
    }
}

/// Whether a result is that of an earlier call with the same arguments; `None` if there is none.
fn again(
    results: &mut FxHashMap<(PredicateIndex, u64, u32), u64>,
    of: (PredicateIndex, u64, u32),
    result: u64,
    has_room: bool,
) -> Option<bool> {
    match results.get_mut(&of) {
        Some(before) => Some(mem::replace(before, result) == result),
        None => {
            if has_room {
                results.insert(of, result);
            }
            None
        }
    }
}

impl Observer for ValueLedger<'_> {
    type Kept = KeptForValues;

    fn begins(&mut self, _: u32) {
        self.stream = SeenBefore::default();
    }

    fn called(&mut self, at: &At, _: &OpenBox, _: Option<&KeptForValues>) -> KeptForValues {
        KeptForValues {
            site: at.site,
            ..KeptForValues::default()
        }
    }

    fn departed(&mut self, at: &At, _: &OpenBox, kept: &mut KeptForValues) {
        kept.site = at.site;
    }

    fn left(&mut self, at: &At, kept: &mut KeptForValues, way_out: WayOut) {
        let results = kept.results.take();
        let Some(calls) = kept.noted.as_mut().filter(|_| at.is_inside) else {
            return;
        };
        for (number, noted) in calls.iter_mut().enumerate() {
            let Some(noted) = noted else { continue };
            match way_out {
                WayOut::ExitDet | WayOut::ExitNondet => {
                    let results = results.as_ref().and_then(|all| all[number].as_ref());
                    match results {
                        Some(results) => {
                            let results = &results.with(&noted.given);
                            self.exits(noted, results);
                            match noted.exits {
                                0 => self.first_result(noted, Some(results)),
                                _ => self.later_result(noted, Some(results)),
                            }
                            self.solution(noted, results);
                        }
                        None => self.figures(noted.of).unknown_exits += 1,
                    }
                    noted.exits += 1;
                }
                WayOut::Fail if noted.exits == 0 => self.first_result(noted, None),
                WayOut::Fail => self.later_result(noted, None),
                _ => {}
            }
        }
    }

    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut KeptForValues)>) {
        let Some((open, kept)) = active.filter(|_| at.is_inside) else {
            return;
        };
        let Note::Value(ArgumentValue {
            when,
            argument,
            kind,
            size,
            hash,
        }) = note
        else {
            return;
        };
        let value = ArgumentFacts {
            kind,
            size,
            hash,
            newer: 0,
        };
        if when >= LAST_CALL {
            if let Some(row) = kept
                .results
                .get_or_insert_default()
                .get_mut(usize::from(when - LAST_CALL))
            {
                row.get_or_insert_default().set(argument, value);
            }
        } else if open.is_shown(self.scope) && self.with.binary_search(&open.predicate).is_ok() {
            self.given(open, kept, argument, value);
        }
    }
}

/// Those of some streams with those of others.
pub(crate) fn and(mut one: Values, other: Values) -> Values {
    for (of, figures) in &other.goals {
        one.goals.entry(*of).or_default().add(figures);
    }
    for (pair, times) in other.to_and_fro {
        *one.to_and_fro.entry(pair).or_default() += times;
    }
    one.cut_short |= other.cut_short;
    one
}

#[cfg(test)]
mod tests;
