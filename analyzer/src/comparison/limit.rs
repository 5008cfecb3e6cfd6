//! How much worse figures may be after a change: `calls +10%`, `self +5ms`, `exits -100`; of each
//! test of plunit: `test.calls > 10 %`.
//!
//! A limit in percent is for what is called on both sides, and for the sum of all predicates; any
//! other limit for every predicate and the sum. A limit of tests is for those on both sides: a new
//! test is no change for the worse. A figure breaks a limit only if no two recordings of the sides
//! contradict. No limit is for the engine's own work.

use super::{Comparison, Figure, Measured, RowChange};
use crate::scope::duration::{decimal, parse_ns};

/// The name of the sum of all predicates among what breaks a limit.
pub const ALL: &str = "<all>";

/// What stands before the figure in a limit of tests.
const OF_TESTS: &str = "test.";

/// What kind of rows a limit is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// Each predicate, and the sum of all.
    Predicates,
    /// Each test of plunit.
    Tests,
}

/// A limit. `+` or `>` is for figures that must not grow more, `-` for figures that must not shrink
/// more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    text: String,
    compared: Compared,
    /// `None`: the time that is compared.
    count: Option<Figure>,
    shrinks: bool,
    by: By,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Thousand-millionths of a percent.
    Percent(i128),
    /// Counts or ns.
    Number(u64),
}

/// Why a text is no limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// It is not of that form.
    #[error(
        "write a figure, + (or >) or -, and how much, for example calls +10%, self +5ms, exits -100 \
         or test.calls > 10 %"
    )]
    Form,
    /// It is of another figure.
    #[error(
        "no limit can be set for {0}; there are calls, exits, redos, fails, exceptions, left, self, \
         and the same of tests, as test.calls"
    )]
    Figure(String),
    /// How much is not understood.
    #[error("{0} is no number, no time as 5ms where the figure is self, and no percentage")]
    Amount(String),
}

/// What breaks a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The limit as it was written.
    pub limit: String,
    /// What kind of row this is.
    pub compared: Compared,
    /// Name of the predicate or test, or [`ALL`].
    pub name: String,
    /// The figure.
    pub figure: Figure,
    /// Its value before and after.
    pub values: [Measured; 2],
}

/// More percent than this are refused.
const MOST_PERCENT: i128 = 1_000_000_000 * 1_000_000_000;

impl Limit {
    /// Reads a limit.
    ///
    /// # Errors
    /// [`LimitError`] if it is none.
    pub fn parse(text: &str) -> Result<Self, LimitError> {
        let at = text.find(['+', '-', '>']).ok_or(LimitError::Form)?;
        let (name, change) = (text[..at].trim(), text[at + 1..].trim());
        let (compared, figure) = match name.strip_prefix(OF_TESTS) {
            Some(figure) => (Compared::Tests, figure),
            None => (Compared::Predicates, name),
        };
        let count = match figure {
            "self" | "self_ns" => None,
            figure => {
                let mut counts = Figure::COUNTS.iter().copied();
                let found = counts.find(|count| count.name() == figure);
                Some(found.ok_or_else(|| LimitError::Figure(name.to_owned()))?)
            }
        };
        let amount = || match change.strip_suffix('%') {
            Some(percent) => {
                let percent = decimal(percent.trim_end())?;
                (percent <= MOST_PERCENT).then_some(By::Percent(percent))
            }
            None if count.is_some() => change.replace(['_', ','], "").parse().ok().map(By::Number),
            None => parse_ns(change).map(By::Number),
        };
        let by = amount().ok_or_else(|| LimitError::Amount(change.to_owned()))?;
        Ok(Self {
            text: text.trim().to_owned(),
            compared,
            count,
            shrinks: text[at..].starts_with('-'),
            by,
        })
    }

    /// What kind of rows it is for.
    #[must_use]
    pub fn compared(&self) -> Compared {
        self.compared
    }

    /// The rows that break it, in the order of the comparison; the sum of all predicates is the
    /// last.
    #[must_use]
    pub fn broken(&self, comparison: &Comparison) -> Vec<Broken> {
        let figure = self.count.unwrap_or(comparison.time);
        match self.compared {
            Compared::Predicates => {
                let all = std::slice::from_ref(&comparison.all);
                let mut broken = self.broken_by(&comparison.predicates, figure, String::clone);
                broken.extend(self.broken_by(all, figure, |()| ALL.to_owned()));
                broken
            }
            Compared::Tests => self.broken_by(&comparison.tests, figure, |test| test.name.clone()),
        }
    }

    fn broken_by<K>(
        &self,
        changes: &[RowChange<K>],
        figure: Figure,
        name: impl Fn(&K) -> String,
    ) -> Vec<Broken> {
        let rows = changes.iter();
        let rows =
            rows.filter(|change| self.concerns(change) && self.is_broken(change.get(figure)));
        rows.map(|change| Broken {
            limit: self.text.clone(),
            compared: self.compared,
            name: name(&change.key),
            figure,
            values: change.get(figure),
        })
        .collect()
    }

    fn concerns<K>(&self, change: &RowChange<K>) -> bool {
        let is_of_one_side = matches!(
            (self.compared, self.by),
            (Compared::Predicates, By::Number(_))
        );
        !change.is_engine_work && (change.is_on_both_sides() || is_of_one_side)
    }

    fn is_broken(&self, [before, after]: [Measured; 2]) -> bool {
        const HUNDRED: i128 = 100 * 1_000_000_000;
        let (from, to) = (i128::from(before.median), i128::from(after.median));
        let (change, noisy) = match self.shrinks {
            true => (from - to, after.most >= before.least),
            false => (to - from, after.least <= before.most),
        };
        let too_much = match self.by {
            By::Percent(percent) => change * HUNDRED > from.saturating_mul(percent),
            By::Number(number) => change > i128::from(number),
        };
        too_much && !noisy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(values: &[u64]) -> Measured {
        Measured::of(values.to_vec())
    }

    #[test]
    fn limits_are_read() {
        for text in [
            "calls +10%",
            "self +5ms",
            "exits -100",
            "fails+0",
            " redos + 1_000 ",
            "left +0.5 %",
        ] {
            let limit = Limit::parse(text).unwrap();
            assert_eq!(limit.compared(), Compared::Predicates, "{text}");
        }
        let error = |text| Limit::parse(text).unwrap_err();
        assert_eq!(error("calls"), LimitError::Form);
        assert_eq!(error(""), LimitError::Form);
        for name in [
            "cals",
            "test",
            "test.",
            "test.cals",
            "test.test.calls",
            "Test.calls",
        ] {
            let refused = Limit::parse(&format!("{name} +1")).unwrap_err();
            assert_eq!(refused, LimitError::Figure(name.to_owned()));
        }
        for text in [
            "calls +",
            "calls +x",
            "calls +5ms",
            "self +5m",
            "calls +1e9%",
            "calls +-1",
            "calls +99999999999%",
            "calls >= 10%",
            "calls >+10%",
            "test.self > 20 parsecs",
            "test.calls > 5ms",
        ] {
            assert!(matches!(error(text), LimitError::Amount(_)), "{text}");
        }
    }

    /// `>` is another way to write `+`; `test.` before the figure means each test.
    #[test]
    fn limits_of_tests_are_read() {
        let read = |text: &str| Limit {
            text: String::new(),
            ..Limit::parse(text).unwrap()
        };
        let of_tests = |limit: Limit| Limit {
            compared: Compared::Tests,
            ..limit
        };
        for (text, same) in [
            ("test.self > 20 %", "self +20%"),
            ("test.self>20%", "self +20%"),
            (" test.self_ns + 5ms ", "self +5ms"),
            ("test.calls > 10 %", "calls +10%"),
            ("test.left -3", "left -3"),
        ] {
            assert_eq!(read(text), of_tests(read(same)), "{text}");
        }
        assert_eq!(read("calls > 1_000"), read("calls +1000"));
    }

    #[test]
    fn limits_are_exact() {
        let breaks = |text, before: &[u64], after: &[u64]| {
            Limit::parse(text)
                .unwrap()
                .is_broken([measured(before), measured(after)])
        };
        assert!(!breaks("calls +10%", &[1000], &[1100]));
        assert!(breaks("calls +10%", &[1000], &[1101]));
        assert!(breaks("calls +10%", &[0], &[1]));
        assert!(!breaks("calls +0", &[7], &[7]));
        assert!(breaks("calls +0", &[7], &[8]));
        assert!(!breaks("calls +0", &[7], &[0]));
        assert!(breaks("exits -10%", &[1000], &[899]));
        assert!(!breaks("exits -10%", &[1000], &[900]));
        assert!(breaks("calls +1000000000%", &[1], &[u64::MAX]));
        assert!(!breaks("calls +1000000000%", &[u64::MAX], &[u64::MAX]));
        // The median is ten times as much, but one recording contradicts.
        assert!(!breaks("self +10%", &[10, 11, 100], &[100, 110, 120]));
        assert!(breaks("self +10%", &[10, 11, 99], &[100, 110, 120]));
    }
}
