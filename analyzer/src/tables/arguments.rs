//! The tables `arguments` and `sizes`: what calls were made with.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::arguments::{ArgumentFigures, SizeFigures, SizeKind};
use crate::trace::PredicateIndex;

rows! {
    /// A row of the table `arguments`: one for every predicate that was called and whose arguments
    /// were recorded.
    pub struct ArgumentRow<'t> of a: CalledWith<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = a.tables.name;
        /// Indicator of the predicate.
        "predicate" None predicate: &'t str = a.tables.trace.predicate_name(a.predicate);
        /// Calls of the predicate.
        "calls" Count calls: u64 = a.calls();
        /// Calls whose arguments were ground or unbound, so that they can be compared.
        "hashed" Count hashed: u64 = a.figures.hashed;
        /// Calls with a variable inside of an argument, or one with attributes.
        "not ground" Count not_ground: u64 = a.figures.not_ground;
        /// Calls with more than 4,096 cells of arguments, or deeper or cyclic ones.
        "too large" Count too_large: u64 = a.figures.too_large;
        /// Different ones among those of `hashed`. Two calls are the same if the hashes of 64 bits
        /// of their arguments are.
        "distinct" Count distinct: u64 = a.figures.distinct;
        /// Calls that had come before: `hashed` less `distinct`.
        "repeated" Count repeated: u64 = a.figures.repeated();
        /// How often the call came that came most often.
        "most" Count most_repeated: u64 = a.figures.most_repeated;
        /// Whether there were more than 4,194,304 different calls of all predicates: then
        /// `distinct` and `most_repeated` are lower bounds, and `repeated` is an upper one.
        "cut short" None cut_short: bool = a.figures.cut_short;
    }
}

rows! {
    /// A row of the table `sizes`: one for each of the first four arguments of a predicate whose
    /// arguments were recorded, and each kind of size that it had.
    pub struct SizeRow<'t> of s: Size<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = s.tables.name;
        /// Indicator of the predicate.
        "predicate" None predicate: &'t str = s.tables.trace.predicate_name(s.predicate);
        /// Number of the argument, from 1.
        "argument" None argument: u32 = s.argument.into();
        /// What its size is: `integer`, its value, or `list`, its length as a proper list.
        "kind" None kind: &'t str = s.kind.name();
        /// Calls in which it had such a size. Integers of more than 64 bits are left out, and lists
        /// that are too long to be measured.
        "calls" Count calls: u64 = s.figures.calls;
        /// The least size.
        "least" None least: i64 = s.figures.least;
        /// The greatest size.
        "greatest" None greatest: i64 = s.figures.greatest;
    }
}

impl<'t> Tables<'t> {
    /// In the order of predicates.
    pub fn arguments(self) -> impl Iterator<Item = ArgumentRow<'t>> {
        self.called_with().map(|one| ArgumentRow::new(&one))
    }

    /// By predicate and argument.
    pub fn sizes(self) -> impl Iterator<Item = SizeRow<'t>> {
        self.called_with().flat_map(move |one| {
            let sizes = one.figures.sizes.iter();
            sizes.map(move |(&(argument, kind), &figures)| {
                SizeRow::new(&Size {
                    tables: self,
                    predicate: one.predicate,
                    argument,
                    kind,
                    figures,
                })
            })
        })
    }

    fn called_with(self) -> impl Iterator<Item = CalledWith<'t>> {
        let rows = self.profile.arguments.iter();
        rows.map(move |(&predicate, figures)| CalledWith {
            tables: self,
            predicate,
            figures,
        })
    }
}

/// What a row of `arguments` is made of.
#[derive(Debug, Clone, Copy)]
pub struct CalledWith<'t> {
    tables: Tables<'t>,
    predicate: PredicateIndex,
    figures: &'t ArgumentFigures,
}

impl CalledWith<'_> {
    fn calls(&self) -> u64 {
        let of = self.tables.profile.predicates.get(self.predicate as usize);
        of.map_or(0, |figures| figures.calls)
    }
}

/// What a row of `sizes` is made of.
#[derive(Debug, Clone, Copy)]
pub struct Size<'t> {
    tables: Tables<'t>,
    predicate: PredicateIndex,
    argument: u8,
    kind: SizeKind,
    figures: SizeFigures,
}
