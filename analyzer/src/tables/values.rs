//! The tables `argument_values` and `value_pairs`: what arguments were at calls and at exits.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::Caller;
use crate::figures::values::{ArgumentValues, PairFigures, ValueFigures};
use crate::trace::{PredicateIndex, SiteIndex, SiteInfo};

rows! {
    /// A row of the table `argument_values`: one for each of the first eight arguments of each goal
    /// whose values were recorded.
    pub struct ValueRow<'t> of v: OfArgument<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = v.goal.tables.name;
        /// Indicator of the predicate that is called.
        "predicate" None predicate: &'t str = v.goal.predicate();
        /// Indicator of the predicate whose clause has the goal. Empty: a call without a site.
        "caller" None caller: Option<&'t str> = v.goal.caller();
        /// Line of the goal.
        "line" None line: Option<u32> = v.goal.line();
        /// Number of the argument, from 1.
        "argument" None argument: u32 = v.number;
        /// Calls with values.
        "calls" Count calls: u64 = v.goal.figures.calls;
        /// Exits of these with values.
        "exits" Count exits: u64 = v.goal.figures.exits;
        /// Exits of these without values: garbage was collected meanwhile, or a last call was
        /// followed by another one.
        "unknown" Count unknown_exits: u64 = v.goal.figures.unknown_exits;
        /// Calls in which the argument was no unbound variable.
        "bound in" Count bound_in: u64 = v.of.bound_in;
        /// Exits at which it was none.
        "bound out" Count bound_out: u64 = v.of.bound_out;
        /// Calls in which it was not known: it was too large.
        "unknown in" Count unknown_in: u64 = v.of.unknown_in;
        /// Exits at which it was not known: too large, or no variable of the caller.
        "unknown out" Count unknown_out: u64 = v.of.unknown_out;
        /// Cells of it in all calls.
        "cells in" Count cells_in: u64 = v.of.cells_in;
        /// Cells of it at all exits.
        "cells out" Count cells_out: u64 = v.of.cells_out;
        /// The fewest cells in a call in which it was bound.
        "least in" Count least_in: u64 = v.of.least_in.into();
        /// The most.
        "most in" Count greatest_in: u64 = v.of.greatest_in.into();
        /// Different ground terms that it was in calls, in each thread.
        "distinct" Count distinct_in: u64 = v.of.distinct_in;
        /// First results of calls with the same arguments as an earlier one: the first exit, or
        /// failure.
        "again" Count again: u64 = v.goal.figures.again;
        /// Those that had the same result as the one before them.
        "same" Count same: u64 = v.goal.figures.same;
        /// Exits behind another one of the same call, all arguments of both ground.
        "further" Count further: u64 = v.goal.figures.further;
        /// Those of them that gave an earlier solution of the same call once more.
        "repeated" Count repeated: u64 = v.goal.figures.repeated;
        /// First results of calls that differ from an earlier one in this argument alone.
        "varied" Count varied: u64 = v.of.varied;
        /// Those that had the same result as that.
        "no matter" Count varied_same: u64 = v.of.varied_same;
    }
}

rows! {
    /// A row of the table `value_pairs`: one for each argument that was given and each that was a
    /// result, of each goal whose values were recorded.
    pub struct ValuePairRow<'t> of p: OfPair<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = p.goal.tables.name;
        /// Indicator of the predicate that is called.
        "predicate" None predicate: &'t str = p.goal.predicate();
        /// Indicator of the predicate whose clause has the goal. Empty: a call without a site.
        "caller" None caller: Option<&'t str> = p.goal.caller();
        /// Line of the goal.
        "line" None line: Option<u32> = p.goal.line();
        /// Number of the argument that was bound at the call, from 1.
        "given" None given: u32 = p.given.into();
        /// Number of the argument that was unbound at the call and bound at the exit.
        "result" None result: u32 = p.result.into();
        /// Exits at which it was so.
        "exits" Count exits: u64 = p.of.exits;
        /// Those of them at which the given one had at least 256 cells, and the call had made at
        /// least a quarter as many for the result.
        "copied" Count copied: u64 = p.of.copied;
        /// Cells that all these calls have made for the result.
        "made" Count made: u64 = p.of.made;
        /// Calls of the goal that were given, as this argument, the result of one of the four
        /// before.
        "handed on" Count handed_on: u64 = p.of.handed_on;
    }
}

impl<'t> Tables<'t> {
    /// By predicate, goal and argument.
    pub fn values(self) -> impl Iterator<Item = ValueRow<'t>> {
        self.goals_with_values().flat_map(|goal| {
            let arguments = (1..).zip(&goal.figures.arguments);
            arguments.map(move |(number, &of)| ValueRow::new(&OfArgument { goal, number, of }))
        })
    }

    /// By predicate, goal and both arguments.
    pub fn value_pairs(self) -> impl Iterator<Item = ValuePairRow<'t>> {
        self.goals_with_values().flat_map(|goal| {
            let pairs = goal.figures.pairs.iter();
            pairs.map(move |(&(given, result), &of)| {
                ValuePairRow::new(&OfPair {
                    goal,
                    given,
                    result,
                    of,
                })
            })
        })
    }

    fn goals_with_values(self) -> impl Iterator<Item = GoalValues<'t>> {
        let goals = self.profile.values.goals.iter();
        goals.map(move |(&(predicate, site), figures)| GoalValues {
            tables: self,
            predicate,
            site,
            figures,
        })
    }
}

/// A goal, and what its arguments were.
#[derive(Debug, Clone, Copy)]
struct GoalValues<'t> {
    tables: Tables<'t>,
    predicate: PredicateIndex,
    site: Option<SiteIndex>,
    figures: &'t ValueFigures,
}

impl<'t> GoalValues<'t> {
    fn info(&self) -> Option<&'t SiteInfo> {
        self.tables.trace.sites().get(self.site? as usize)
    }

    fn predicate(&self) -> &'t str {
        self.tables.trace.predicate_name(self.predicate)
    }

    fn caller(&self) -> Option<&'t str> {
        let caller = Caller::Predicate(self.info()?.caller);
        Some(self.tables.caller(caller))
    }

    fn line(&self) -> Option<u32> {
        self.info().map(|site| site.line).filter(|&line| line != 0)
    }
}

/// What a row of `argument_values` is made of.
#[derive(Debug, Clone, Copy)]
pub struct OfArgument<'t> {
    goal: GoalValues<'t>,
    number: u32,
    of: ArgumentValues,
}

/// What a row of `value_pairs` is made of.
#[derive(Debug, Clone, Copy)]
pub struct OfPair<'t> {
    goal: GoalValues<'t>,
    given: u8,
    result: u8,
    of: PairFigures,
}
