//! The figures of values: what arguments were at calls and at exits, and how they changed.

use std::collections::BTreeMap;

use bincode::{Decode, Encode};

use crate::trace::{PredicateIndex, SiteIndex};

/// What is known of the values of arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct Values {
    /// By predicate and goal, if calls name it: those of which the trace has values.
    pub goals: BTreeMap<(PredicateIndex, Option<SiteIndex>), ValueFigures>,
    /// By two predicates: how often an exit of the second gave back what went into the first, from
    /// what had come out of that. One of both is a term of more than one cell.
    pub to_and_fro: BTreeMap<(PredicateIndex, PredicateIndex), u64>,
    /// There were more different calls in some stream than can be told apart: what is said of
    /// repetitions is a lower bound.
    pub cut_short: bool,
}

/// What the arguments of a goal's calls were. Of calls without values nothing is counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct ValueFigures {
    /// Calls with values.
    pub calls: u64,
    /// Exits of these with values.
    pub exits: u64,
    /// Exits of these without: what arguments were is not known.
    pub unknown_exits: u64,
    /// First exits and failures of calls whose arguments were ground or unbound, all of them known,
    /// which came before with the same arguments.
    pub again: u64,
    /// Those that had the same result as the one before them.
    pub same: u64,
    /// The same of what came after the first result of such calls: further exits, as many as are
    /// kept, and failures behind them. They are compared with those of the same number.
    pub again_later: u64,
    /// See `again_later`.
    pub same_later: u64,
    /// First exits and failures of calls that came before with the same arguments, whatever
    /// variables were in these: the calls are variants of each other, argument by argument. Results
    /// with variables in them are left out.
    pub variants: u64,
    /// Those of them whose result is known, and that of the one before them, too. Large terms are
    /// not.
    pub variants_known: u64,
    /// Those of these that had the same result, whatever variables were in that.
    pub variants_same: u64,
    /// Exits behind another one of the same call, all arguments of both ground: its further
    /// solutions.
    pub further: u64,
    /// Those of them that were an earlier solution of the same call.
    pub repeated: u64,
    /// By argument, from the first one.
    pub arguments: Vec<ArgumentValues>,
    /// By an argument that was bound at calls, and one that became bound: both from 1.
    pub pairs: BTreeMap<(u8, u8), PairFigures>,
}

/// One argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct ArgumentValues {
    /// Calls in which it was no unbound variable.
    pub bound_in: u64,
    /// Exits at which it was none.
    pub bound_out: u64,
    /// Calls in which it was ground.
    pub ground_in: u64,
    /// Calls in which it was not known, and exits.
    pub unknown_in: u64,
    /// See `unknown_in`.
    pub unknown_out: u64,
    /// Cells of it in all calls.
    pub cells_in: u64,
    /// Cells of it at all exits.
    pub cells_out: u64,
    /// The least size in a call in which it was bound.
    pub least_in: u32,
    /// The greatest.
    pub greatest_in: u32,
    /// Different ground terms that it was in calls.
    pub distinct_in: u64,
    /// Results of calls that differ from an earlier one in nothing that is given but this argument.
    pub varied: u64,
    /// Those that had the same result as that.
    pub varied_same: u64,
}

/// Two arguments, one given and one of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub struct PairFigures {
    /// Exits at which the sizes of both are known.
    pub exits: u64,
    /// Those of them at which the given one had at least [`LARGE`] cells, and the call had made at
    /// least a quarter as many for the result.
    pub copied: u64,
    /// Cells that all calls have made for the result.
    pub made: u64,
    /// Calls of the goal that were given what came out of one of the four before.
    pub handed_on: u64,
}

/// A term of so many cells is large enough to be seen as copied.
pub const LARGE: u32 = 256;

impl ValueFigures {
    /// Whether it can be said of calls.
    #[must_use]
    pub(crate) fn is_sound(&self) -> bool {
        let is_argument = |one: &ArgumentValues| {
            one.bound_in <= self.calls
                && one.bound_out <= self.exits
                && one.ground_in <= one.bound_in
                && one.distinct_in <= one.ground_in
                && one.varied_same <= one.varied
                && one.least_in <= one.greatest_in
        };
        let is_pair = |one: &PairFigures| one.copied <= one.exits && one.handed_on <= self.calls;
        self.same <= self.again
            && self.same_later <= self.again_later
            && self.variants_known <= self.variants
            && self.variants_same <= self.variants_known
            && self.repeated <= self.further
            && self.arguments.iter().all(is_argument)
            && self.pairs.values().all(is_pair)
    }

    /// With those of other calls.
    pub(crate) fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.exits += other.exits;
        self.unknown_exits += other.unknown_exits;
        self.again += other.again;
        self.same += other.same;
        self.again_later += other.again_later;
        self.same_later += other.same_later;
        self.variants += other.variants;
        self.variants_known += other.variants_known;
        self.variants_same += other.variants_same;
        self.further += other.further;
        self.repeated += other.repeated;
        for (at, more) in other.arguments.iter().enumerate() {
            self.argument(at).add(more);
        }
        for (&pair, more) in &other.pairs {
            let all = self.pairs.entry(pair).or_default();
            all.exits += more.exits;
            all.copied += more.copied;
            all.made = all.made.saturating_add(more.made);
            all.handed_on += more.handed_on;
        }
    }

    /// That of an argument, from 0.
    pub(crate) fn argument(&mut self, at: usize) -> &mut ArgumentValues {
        if self.arguments.len() <= at {
            self.arguments.resize(at + 1, ArgumentValues::default());
        }
        &mut self.arguments[at]
    }
}

impl ArgumentValues {
    /// Cells of it in the calls in which it was bound, in the mean.
    #[must_use]
    pub fn mean_in(&self) -> u64 {
        self.cells_in / self.bound_in.max(1)
    }

    fn add(&mut self, more: &Self) {
        if more.bound_in > 0 {
            self.least_in = match self.bound_in {
                0 => more.least_in,
                _ => self.least_in.min(more.least_in),
            };
        }
        self.greatest_in = self.greatest_in.max(more.greatest_in);
        self.bound_in += more.bound_in;
        self.bound_out += more.bound_out;
        self.ground_in += more.ground_in;
        self.unknown_in += more.unknown_in;
        self.unknown_out += more.unknown_out;
        self.cells_in = self.cells_in.saturating_add(more.cells_in);
        self.cells_out = self.cells_out.saturating_add(more.cells_out);
        self.distinct_in += more.distinct_in;
        self.varied += more.varied;
        self.varied_same += more.varied_same;
    }

    /// It was bound in a call, with so many cells.
    pub(crate) fn given(&mut self, size: u32) {
        self.add(&Self {
            bound_in: 1,
            cells_in: size.into(),
            least_in: size,
            greatest_in: size,
            ..Self::default()
        });
    }
}

impl Values {
    /// Those of a predicate, all its goals together.
    #[must_use]
    pub fn of(&self, predicate: PredicateIndex) -> Option<ValueFigures> {
        let mut of = self.goals.range((predicate, None)..).peekable();
        of.peek().filter(|((of, _), _)| *of == predicate)?;
        let mut sum = ValueFigures::default();
        for (_, figures) in of.take_while(|((of, _), _)| *of == predicate) {
            sum.add(figures);
        }
        Some(sum)
    }

    /// Whether the rows can be those of some trace.
    pub(crate) fn is_sound(
        &self,
        known: impl Fn(PredicateIndex) -> bool,
        at_site: impl Fn(PredicateIndex, SiteIndex) -> bool,
    ) -> bool {
        let is_row =
            |(&(of, site), figures): (&(PredicateIndex, Option<SiteIndex>), &ValueFigures)| {
                known(of) && site.is_none_or(|site| at_site(of, site)) && figures.is_sound()
            };
        self.goals.iter().all(is_row)
            && self
                .to_and_fro
                .keys()
                .all(|&(one, other)| known(one) && known(other))
    }
}
