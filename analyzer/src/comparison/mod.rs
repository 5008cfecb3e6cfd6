//! Two programs, or one before and after a change, compared: predicates, goals and tests of plunit
//! by name, figure by figure.
//!
//! Each side is one recording or several of the same program. A figure of a side is the median of
//! its recordings, and their spread is the noise. Counts come first, because they are the same on
//! every run; how often the engine works for itself ([`PredicateInfo::is_engine_work`]) is chance,
//! so only times of such rows are compared.
//!
//! Rows are in the order of what each predicate does differently itself ([`RowChange::own`]): a
//! predicate that is called more often because its caller changed comes after its caller. Tests
//! call each other seldom: the one that got worse most comes first.

pub mod limit;
mod recorded;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

#[cfg(doc)]
use crate::trace::PredicateInfo;

pub use limit::{Broken, Compared, Limit};
pub use recorded::{ComparedGoal, Recorded, Test};

/// What is compared of a predicate, goal or test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Boxes opened, last calls included; of a test those in it, and so for the other counts.
    Calls,
    /// Exits of both kinds.
    Exits,
    /// Re-entries by backtracking.
    Redos,
    /// Final failures.
    Fails,
    /// Boxes left by an exception.
    Exceptions,
    /// Exits that left a choicepoint; of a test those of its body alone.
    Left,
    /// Of a predicate or test its self time, of a goal the time that it was served, in ns, as
    /// recorded.
    Time,
    /// Of a predicate or test its net self time in ns.
    Net,
}

impl Figure {
    /// All of them, in the order of their values.
    pub const ALL: [Self; 8] = [
        Self::Calls,
        Self::Exits,
        Self::Redos,
        Self::Fails,
        Self::Exceptions,
        Self::Left,
        Self::Time,
        Self::Net,
    ];

    /// Those that are the same on every run.
    pub const COUNTS: &[Self] = Self::ALL.split_at(6).0;

    /// Its name, that of a column of the tables where there is one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Exits => "exits",
            Self::Redos => "redos",
            Self::Fails => "fails",
            Self::Exceptions => "exceptions",
            Self::Left => "left",
            Self::Time => "self_ns",
            Self::Net => "self_comp_ns",
        }
    }
}

/// All figures of a row of one recording, by [`Figure`].
type RecordingFigures = [u64; Figure::ALL.len()];

/// A figure of one side: the median of its recordings, the least and the most. Of an even number
/// the lower one of the two in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measured {
    /// The one in the middle.
    pub median: u64,
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Measured {
    /// Of the values of all recordings of a side.
    #[must_use]
    pub fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let at = |place: usize| values.get(place).copied().unwrap_or(0);
        Self {
            median: at(values.len().saturating_sub(1) / 2),
            least: at(0),
            most: at(values.len().saturating_sub(1)),
        }
    }

    /// By how much recordings of the side differ.
    #[must_use]
    pub fn noise(self) -> u64 {
        self.most - self.least
    }

    /// Whether no recording of one side has a value between those of the other.
    #[must_use]
    pub fn is_apart_from(self, other: Self) -> bool {
        self.least > other.most || self.most < other.least
    }
}

/// All figures of a row of one side, by [`Figure`].
pub type SideFigures = [Measured; Figure::ALL.len()];

/// A predicate, goal or test on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowChange<K> {
    /// What it is.
    pub key: K,
    /// Its figures before; `None` if it was not called.
    pub before: Option<SideFigures>,
    /// Its figures after; `None` if it was not called.
    pub after: Option<SideFigures>,
    /// What the predicate does differently itself: for each callee, how many more or fewer calls it
    /// makes per entry (a call or redo of it); in the same way, choicepoints of its own that it
    /// leaves; all of it times its entries, the mean of both sides. Of a predicate that is only on
    /// one side, its calls. Of a goal or test 0.
    pub own: u64,
    /// It is the engine's own work: its counts are 0 here.
    pub is_engine_work: bool,
}

impl<K> RowChange<K> {
    /// A figure before and after, 0 where it was not called.
    #[must_use]
    pub fn get(&self, figure: Figure) -> [Measured; 2] {
        [&self.before, &self.after]
            .map(|side| side.map_or_else(Measured::default, |of| of[figure as usize]))
    }

    /// How much larger the figure is after than before.
    #[must_use]
    pub fn difference(&self, figure: Figure) -> i128 {
        let [before, after] = self.get(figure);
        i128::from(after.median) - i128::from(before.median)
    }

    /// Whether no recording of one side has a value between those of the other: of one recording
    /// each, whether they differ.
    #[must_use]
    pub fn is_beyond_noise(&self, figure: Figure) -> bool {
        let [before, after] = self.get(figure);
        after.is_apart_from(before)
    }

    /// Whether it was called on both sides.
    #[must_use]
    pub fn is_on_both_sides(&self) -> bool {
        self.before.is_some() && self.after.is_some()
    }

    /// Whether some count differs, or it is on one side only.
    #[must_use]
    pub fn counts_differ(&self) -> bool {
        let differs = |&figure: &Figure| self.difference(figure) != 0;
        !self.is_engine_work && (!self.is_on_both_sides() || Figure::COUNTS.iter().any(differs))
    }

    /// Whether some count differs, or the time by more than the noise.
    #[must_use]
    pub fn is_change(&self, time: Figure) -> bool {
        self.counts_differ() || self.is_beyond_noise(time)
    }

    fn size(&self, figure: Figure) -> u128 {
        self.difference(figure).unsigned_abs()
    }

    /// What changed most comes first: by itself, by calls, by all counts, by time.
    fn rank(&self, time: Figure) -> impl Ord + use<K> {
        let counts = Figure::COUNTS.iter().map(|&figure| self.size(figure));
        Reverse((
            self.own,
            self.size(Figure::Calls),
            counts.sum::<u128>(),
            self.size(time),
        ))
    }

    /// What got worse comes before what got better, and that before what is the same; in each case
    /// by how much: by calls, by all counts, by time beyond the noise. What is new comes after what
    /// is on both sides, and what is gone comes last.
    fn worst_first(&self, time: Figure) -> impl Ord + use<K> {
        let counts = Figure::COUNTS.iter().map(|&figure| self.difference(figure));
        let time = match self.is_beyond_noise(time) {
            true => self.difference(time),
            false => 0,
        };
        let change = [self.difference(Figure::Calls), counts.sum::<i128>(), time];
        let is_worse = change > [0; 3];
        Reverse((
            self.is_on_both_sides(),
            self.after.is_some(),
            is_worse,
            change.map(i128::unsigned_abs),
        ))
    }
}

/// Both sides.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// How many recordings there are of each side.
    pub recordings: [usize; 2],
    /// Which time of predicates and tests is compared: the net one if it was measured in all
    /// recordings.
    pub time: Figure,
    /// Predicates, the most changed first.
    pub predicates: Vec<RowChange<String>>,
    /// Goals, the most changed first.
    pub goals: Vec<RowChange<ComparedGoal>>,
    /// Tests of plunit: the most worsened first, then the most improved, then those that are the
    /// same, new ones, and those that are gone.
    pub tests: Vec<RowChange<Test>>,
    /// Sums over all predicates; without the engine's own work.
    pub all: RowChange<()>,
}

impl Comparison {
    /// How long a side (before 0, after 1) waited, loaded, collected or set up: a sum of medians,
    /// in ns.
    #[must_use]
    pub fn left_out(&self, side: usize) -> u64 {
        let rows = self
            .predicates
            .iter()
            .filter(|change| change.is_engine_work);
        let times = rows.map(|change| change.get(self.time)[side].median);
        times.fold(0, u64::saturating_add)
    }

    /// Compares the recordings before with those after.
    #[must_use]
    pub fn of(before: &[Recorded], after: &[Recorded]) -> Self {
        let mut recordings = before.iter().chain(after);
        let time = match recordings.all(|recorded| recorded.net_is_measured) {
            true => Figure::Net,
            false => Figure::Time,
        };
        let both = before.iter().chain(after);
        let engine_work: BTreeSet<&String> =
            both.flat_map(|recorded| &recorded.engine_work).collect();
        let tests = [before, after].map(|side| medians(side, |of| &of.tests));
        let moved_tests = moved(&tests, |test| Some(test.name.as_str()));
        let before = &with_centers_of(after, before, &moved_tests)[..];
        let sides = [before, after];
        let mut predicates = changes(
            sides.map(|side| medians(side, |of| &of.predicates)),
            |name| engine_work.contains(name),
        );
        let behaviours = sides.map(|side| medians(side, |of| &of.edges));
        let own = own_changes(&predicates, &behaviours);
        for (change, own) in predicates.iter_mut().zip(own) {
            change.own = own;
        }
        predicates.sort_by_cached_key(|change| (change.rank(time), change.key.clone()));
        let goals = sides.map(|side| medians(side, |of| &of.goals));
        let moved_goals = moved(&goals, ComparedGoal::group);
        let is_engine_work = |goal: &ComparedGoal| engine_work.contains(&goal.callee);
        let mut goals = changes_of_moved(goals, &moved_goals, is_engine_work);
        goals.sort_by_cached_key(|change| (change.rank(Figure::Time), change.key.clone()));
        let mut tests = changes_of_moved(tests, &moved_tests, |_| false);
        tests.sort_by_cached_key(|change| (change.worst_first(time), change.key.clone()));
        let [before_all, after_all] = sides.map(|side| {
            let values: Vec<&RecordingFigures> =
                side.iter().map(|recorded| &recorded.all).collect();
            Some(figures(&values))
        });
        Self {
            recordings: sides.map(<[_]>::len),
            time,
            predicates,
            goals,
            tests,
            all: RowChange {
                key: (),
                before: before_all,
                after: after_all,
                own: 0,
                is_engine_work: false,
            },
        }
    }
}

/// Of each figure the median and the spread.
fn figures(recordings: &[&RecordingFigures]) -> SideFigures {
    std::array::from_fn(|at| Measured::of(recordings.iter().map(|values| values[at]).collect()))
}

/// The figures of a side. What is not in a recording has zeros there.
fn medians<'r, K: Ord>(
    side: &'r [Recorded],
    rows: impl Fn(&'r Recorded) -> &'r BTreeMap<K, RecordingFigures>,
) -> BTreeMap<&'r K, SideFigures> {
    const NONE: &RecordingFigures = &[0; Figure::ALL.len()];
    let keys: BTreeSet<&K> = side.iter().flat_map(|of| rows(of).keys()).collect();
    let row = |key| {
        let values: Vec<&RecordingFigures> = side
            .iter()
            .map(|of| rows(of).get(key).unwrap_or(NONE))
            .collect();
        (key, figures(&values))
    };
    keys.into_iter().map(row).collect()
}

/// The keys of after by those of before, where a key says a place that an edit of the source moves:
/// where a group has as many keys on both sides, they are the same, in their order. So a goal that
/// is written in between changes no other.
fn moved<'r, K: Ord, G: Ord>(
    [before, after]: &[BTreeMap<&'r K, SideFigures>; 2],
    group: impl Fn(&'r K) -> Option<G>,
) -> BTreeMap<&'r K, &'r K> {
    let grouped = |rows: &BTreeMap<&'r K, SideFigures>| {
        let mut groups = BTreeMap::<G, Vec<&'r K>>::new();
        for &key in rows.keys() {
            if let Some(of) = group(key) {
                groups.entry(of).or_default().push(key);
            }
        }
        groups
    };
    let (groups, groups_after) = (grouped(before), grouped(after));
    let mut moved: BTreeMap<&K, &K> = BTreeMap::new();
    for (of, keys) in groups {
        let same = groups_after.get(&of);
        if let Some(same) = same.filter(|same| same.len() == keys.len()) {
            moved.extend(keys.into_iter().zip(same.iter().copied()));
        }
    }
    moved
}

/// The recordings before, in which cost centres of tests have the names that they have after: the
/// name has the line, and a test may have moved.
fn with_centers_of<'r>(
    after: &[Recorded],
    before: &'r [Recorded],
    moved: &BTreeMap<&Test, &Test>,
) -> Cow<'r, [Recorded]> {
    let center = |side: &'_ [Recorded], test: &Test| {
        let mut centers = side.iter().filter_map(|of| of.test_centers.get(test));
        centers.next().cloned()
    };
    let names = moved.iter().filter(|(was, is)| was != is);
    let names = names.filter_map(|(was, is)| Some((center(before, was)?, center(after, is)?)));
    let names: BTreeMap<String, String> = names.collect();
    match names.is_empty() {
        true => Cow::Borrowed(before),
        false => Cow::Owned(before.iter().map(|of| of.renamed(&names)).collect()),
    }
}

/// A row for each key of one side or both. Those that were moved have the places of after.
fn changes_of_moved<'r, K: Ord + Clone>(
    [before, after]: [BTreeMap<&'r K, SideFigures>; 2],
    moved: &BTreeMap<&'r K, &'r K>,
    is_engine_work: impl Fn(&K) -> bool,
) -> Vec<RowChange<K>> {
    let before = before.into_iter();
    let before = before.map(|(key, figures)| (moved.get(key).copied().unwrap_or(key), figures));
    changes([before.collect(), after], is_engine_work)
}

/// A row for each key of one side or both.
fn changes<K: Ord + Clone>(
    [before, after]: [BTreeMap<&K, SideFigures>; 2],
    is_engine_work: impl Fn(&K) -> bool,
) -> Vec<RowChange<K>> {
    let keys: BTreeSet<&K> = before.keys().chain(after.keys()).copied().collect();
    let row = |key: &K| {
        let is_engine_work = is_engine_work(key);
        let side = |rows: &BTreeMap<&K, SideFigures>| {
            let mut figures = *rows.get(key)?;
            if is_engine_work {
                for &count in Figure::COUNTS {
                    figures[count as usize] = Measured::default();
                }
            }
            Some(figures)
        };
        RowChange {
            key: key.clone(),
            before: side(&before),
            after: side(&after),
            own: 0,
            is_engine_work,
        }
    };
    keys.into_iter().map(row).collect()
}

/// Figures of a side by caller and callee.
type SideEdges<'r> = BTreeMap<&'r (String, String), SideFigures>;

/// [`RowChange::own`] of each predicate. The predicates are in the order of their names.
fn own_changes(predicates: &[RowChange<String>], edges: &[SideEdges; 2]) -> Vec<u64> {
    let place = |name: &String| predicates.binary_search_by(|change| change.key.cmp(name));
    let mut sums = vec![0.0; predicates.len()];
    // What the exits of callees left is not the caller's own.
    let mut left: Vec<[u64; 2]> = predicates
        .iter()
        .map(|change| change.get(Figure::Left).map(|left| left.median))
        .collect();
    let pairs: BTreeSet<&(String, String)> =
        edges.iter().flat_map(SideEdges::keys).copied().collect();
    for pair @ (caller, callee) in pairs {
        let (Ok(caller), Ok(callee)) = (place(caller), place(callee)) else {
            continue;
        };
        if predicates[callee].is_engine_work {
            continue;
        }
        let of = |figure: Figure| {
            edges.each_ref().map(|edges| {
                let figures = edges.get(pair);
                figures.map_or(0, |figures| figures[figure as usize].median)
            })
        };
        sums[caller] += more_per_entry(&predicates[caller], of(Figure::Calls));
        for (left, by_callee) in left[caller].iter_mut().zip(of(Figure::Left)) {
            *left = left.saturating_sub(by_callee);
        }
    }
    let all = predicates.iter().zip(sums).zip(left);
    all.map(|((change, calls), left)| {
        if change.is_engine_work {
            0
        } else if change.before.is_some() != change.after.is_some() {
            u64::try_from(change.size(Figure::Calls)).unwrap_or(u64::MAX)
        } else {
            (calls + more_per_entry(change, left)).round() as u64
        }
    })
    .collect()
}

/// How much more or less of something there is per entry of a predicate, times the mean of its
/// entries.
fn more_per_entry(change: &RowChange<String>, [before, after]: [u64; 2]) -> f64 {
    let [calls, redos] = [Figure::Calls, Figure::Redos].map(|figure| change.get(figure));
    let entries = |side: usize| calls[side].median.saturating_add(redos[side].median) as f64;
    let rate = |count: u64, entries: f64| match entries {
        0.0 => 0.0,
        entries => count as f64 / entries,
    };
    let more = rate(after, entries(1)) - rate(before, entries(0));
    more.abs() * (entries(0) + entries(1)) / 2.0
}

#[cfg(test)]
mod tests;
