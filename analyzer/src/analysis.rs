//! A trace, what of it is looked at, and all that is known of that. Commands and screens begin with
//! it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::calls::{Calls, CallsOnRequest};
use crate::figures::Caller;
use crate::figures::arguments::ArgumentsOfPredicates;
use crate::figures::contexts::way_up;
use crate::figures::counted::Counted;
use crate::figures::laws::{self, Imbalance};
use crate::figures::net_times::NetTimes;
use crate::figures::profile::Profile;
use crate::figures::values::Values;
use crate::figures::whole::Whole;
use crate::figures::work::Work;
use crate::index::{self, Folded, Index, IndexError, Known, so_far};
use crate::net::Rates;
use crate::net::centers::{CenterSum, by_center};
use crate::progress::Progress;
use crate::replay::growing::{Growing, Grown, Stopped};
use crate::replay::{self, ReplayOptions};
use crate::scope::{Filters, FocusOn, Scope};
use crate::sources;
use crate::tables::{OUTSIDE, ROOT, Tables};
use crate::timeline::Pyramids;
use crate::trace::{Center, PredicateIndex, Trace, TraceError};
use crate::walk::Trail;

/// Traces of more bytes get an index in memory if there is none beside them, so that every event is
/// near.
const LARGE: u64 = 4 << 20;

/// The replay of a trace that is still being recorded, as far as it has come: it goes on from there
/// when the trace has grown. Nothing is replayed yet by default.
#[derive(Debug, Default)]
pub struct SoFar(Mutex<Option<Growing>>);

impl SoFar {
    fn go_on(&self, trace: &Trace, path: &Path, options: &ReplayOptions) -> Result<Grown, Stopped> {
        let mut so_far = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let growing = so_far.get_or_insert_with(|| so_far::load(trace, path));
        let grown = growing.go_on(trace, options)?;
        so_far::keep_if_worth(growing, grown.read, trace, path);
        Ok(grown)
    }
}

/// A trace and the figures of what is looked at. It never changes.
#[derive(Debug)]
pub struct Analysis {
    /// What the tables call the trace: its file name without extension, unless that is ambiguous.
    pub name: String,
    /// Where the trace is.
    pub path: PathBuf,
    /// The trace.
    pub trace: Arc<Trace>,
    /// What was asked for.
    pub filters: Filters,
    /// The same in terms of the trace: which boxes are looked at.
    pub scope: Arc<Scope>,
    /// Figures of that.
    pub profile: Profile,
    /// Sums that do not come out.
    pub imbalances: Vec<Imbalance>,
    /// Its index, if it has a good one and moments of the trace were asked for.
    index: Option<Index>,
    /// Places from which any event is near, if it has no index, or to follow the focus.
    scanned: Option<Trail>,
    /// Of a trace of which blocks were folded.
    slices: Option<Pyramids>,
    calls: CallsOnRequest,
    /// Where the work was done, as recorded.
    work: OnceLock<Work>,
}

impl Analysis {
    /// The figures of the trace at `path`, from its index if that is possible. `progress` counts
    /// bytes up to [`Trace::size`].
    ///
    /// # Errors
    /// If the trace became shorter meanwhile. A later reader of its events must ask again
    /// ([`Trace::check_whole`]).
    pub fn of(
        trace: Trace,
        path: &Path,
        filters: Filters,
        progress: &AtomicU64,
    ) -> Result<Self, TraceError> {
        Self::read(trace, path, filters, progress, false)
    }

    /// The same, with the times of single calls, which then need no reading of their own.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn with_calls(
        trace: Trace,
        path: &Path,
        filters: Filters,
        progress: &AtomicU64,
    ) -> Result<Self, TraceError> {
        Self::read(trace, path, filters, progress, true)
    }

    fn read(
        trace: Trace,
        path: &Path,
        filters: Filters,
        progress: &AtomicU64,
        with_calls: bool,
    ) -> Result<Self, TraceError> {
        let filters = filters.of(&trace);
        let trace = Arc::new(trace);
        if let Some(folded) = Self::folded(&trace, path, &filters, progress) {
            trace.check_whole(path)?;
            return Ok(folded);
        }
        let scope = Arc::new(Scope::of(&trace, &filters));
        let calls = CallsOnRequest::new(Arc::clone(&scope));
        let options = ReplayOptions {
            progress: Some(progress),
            calls: with_calls.then_some(&calls),
            ..ReplayOptions::of(&filters)
        };
        let Known {
            profile,
            calls: known,
        } = index::known(&trace, path, &options);
        trace.check_whole(path)?;
        if let Some(known) = known {
            calls.keep(known);
        }
        Ok(Self {
            calls,
            ..Self::with_scope(trace, path, filters, scope, profile)
        })
    }

    /// The figures of a trace of `traces/`.
    #[cfg(test)]
    pub(crate) fn of_sample(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../traces")
            .join(name);
        let trace = Trace::open(&path).unwrap();
        Self::of(trace, &path, Filters::default(), &AtomicU64::new(0)).unwrap()
    }

    /// The figures of the whole trace at `path`: every event is read, whether or not it has an
    /// index. If figures of events that it has no more stand beside it, and what is there is in
    /// order, they are of all.
    ///
    /// # Errors
    /// If the trace became shorter meanwhile.
    pub fn replayed(trace: Trace, path: &Path, progress: &AtomicU64) -> Result<Self, TraceError> {
        let options = ReplayOptions {
            progress: Some(progress),
            ..ReplayOptions::default()
        };
        let profile = replay::replay(&trace, &options);
        trace.check_whole(path)?;
        let filters = Filters::default().of(&trace);
        let trace = Arc::new(trace);
        let is_in_order = profile.damage.is_empty() && profile.violation_count == 0;
        let folded = is_in_order.then(|| Self::folded(&trace, path, &filters, progress));
        let folded = folded.flatten();
        Ok(folded.unwrap_or_else(|| Self::new(trace, path, filters, profile)))
    }

    /// As [`Self::explored`]. Of a trace that is still being recorded only what is new is read,
    /// unless filters are set.
    #[must_use]
    pub fn followed(
        trace: Arc<Trace>,
        path: &Path,
        filters: Filters,
        so_far: &SoFar,
        progress: &Progress,
    ) -> Option<Self> {
        let filters = filters.of(&trace);
        if let Some(folded) = Self::folded(&trace, path, &filters, progress.counter()) {
            return Some(folded);
        }
        if trace.end().is_some() || !filters.is_everything() {
            return Self::explored(trace, path, filters, progress);
        }
        let options = ReplayOptions {
            progress: Some(progress.counter()),
            cancel: Some(progress.stop_flag()),
            ..ReplayOptions::default()
        };
        match so_far.go_on(&trace, path, &options) {
            Ok(grown) => {
                let trail = Trail::new(&trace, &grown.checkpoints);
                Some(Self {
                    scanned: Some(trail),
                    ..Self::new(trace, path, filters, grown.profile)
                })
            }
            Err(Stopped::Cancelled) => None,
            Err(Stopped::InOnePiece) => Self::explored(trace, path, filters, progress),
        }
    }

    /// All that screens show, moments, too. `None` if it was cancelled.
    #[must_use]
    pub fn explored(
        trace: Arc<Trace>,
        path: &Path,
        filters: Filters,
        progress: &Progress,
    ) -> Option<Self> {
        let filters = filters.of(&trace);
        if let Some(folded) = Self::folded(&trace, path, &filters, progress.counter()) {
            return Some(folded);
        }
        let mut found = Index::load(&trace, path);
        let is_missing = |found: &Result<Index, IndexError>| {
            matches!(found, Err(IndexError::Missing)) && trace.size() > LARGE
        };
        let mut lock = None;
        if is_missing(&found) {
            let options = ReplayOptions {
                cancel: Some(progress.stop_flag()),
                ..ReplayOptions::default()
            };
            (found, lock) = Index::load_when_made(&trace, path, &options);
        }
        let missing = is_missing(&found);
        let found = match found {
            Err(_) if missing && filters.is_everything() => {
                let options = ReplayOptions {
                    progress: Some(progress.counter()),
                    ..ReplayOptions::default()
                };
                let built = Index::build(&trace, path, &options);
                built.inspect(|index| index.keep_if_worth(&trace, path))
            }
            found => found,
        };
        drop(lock);
        let options = ReplayOptions {
            progress: Some(progress.counter()),
            cancel: Some(progress.stop_flag()),
            ..ReplayOptions::of(&filters)
        };
        let figures = || match &found {
            Ok(index) if filters.is_everything() => Some(index.profile()),
            // One that is stale is made again. Without an end there is none.
            Err(_) if filters.is_everything() && trace.end().is_some() => {
                Some(index::known(&trace, path, &options).profile)
            }
            _ => replay::try_replay(&trace, &options),
        };
        let scope = Arc::new(Scope::of(&trace, &filters));
        let scans = found.is_err() || scope.is_focused();
        let scan = || scans.then(|| Trail::scan(&trace, Arc::clone(&scope), progress));
        let (profile, scanned) = rayon::join(figures, scan);
        let (profile, scanned) = (profile?, scanned.flatten());
        let of_all = found.as_ref().ok().filter(|_| filters.is_everything());
        let calls = of_all.and_then(Index::calls).cloned();
        let analysis = Self::with_scope(trace, path, filters, scope, profile);
        if let Some(calls) = calls {
            analysis.calls.keep(calls);
        }
        Some(Self {
            index: found.ok(),
            scanned,
            ..analysis
        })
    }

    /// All that is known of a trace of which blocks were folded; `None` if it is none, or filters
    /// leave something out.
    fn folded(
        trace: &Arc<Trace>,
        path: &Path,
        filters: &Filters,
        progress: &AtomicU64,
    ) -> Option<Self> {
        if !filters.is_everything() {
            return None;
        }
        let options = ReplayOptions {
            progress: Some(progress),
            ..ReplayOptions::default()
        };
        let Folded {
            profile,
            trail,
            calls,
            slices,
        } = index::folded(trace, path, &options)?;
        let analysis = Self::new(Arc::clone(trace), path, filters.clone(), profile);
        // Those of the events that are left are other calls.
        analysis.calls.keep(Arc::new(calls.unwrap_or_default()));
        Some(Self {
            scanned: Some(trail),
            slices,
            ..analysis
        })
    }

    fn new(trace: Arc<Trace>, path: &Path, filters: Filters, profile: Profile) -> Self {
        let scope = Arc::new(Scope::of(&trace, &filters));
        Self::with_scope(trace, path, filters, scope, profile)
    }

    /// `scope` is what the filters mean in the trace.
    fn with_scope(
        trace: Arc<Trace>,
        path: &Path,
        filters: Filters,
        scope: Arc<Scope>,
        profile: Profile,
    ) -> Self {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        let calls = CallsOnRequest::new(Arc::clone(&scope));
        Self {
            name: name.to_string_lossy().into_owned(),
            path: path.to_owned(),
            calls,
            scope,
            trace,
            filters,
            imbalances: laws::check(&profile),
            profile,
            index: None,
            slices: None,
            scanned: None,
            work: OnceLock::new(),
        }
    }

    /// Whether the sum of the net times was measured, by unrecorded runs. If it was not, they are a
    /// rough estimate.
    #[must_use]
    pub fn net_is_measured(&self) -> bool {
        self.profile.net.is_some() && self.trace.baseline().is_some()
    }

    /// Where net times are estimated: the least and the most that all time comes to without the
    /// recorder's own, in ticks.
    #[must_use]
    pub fn net_range(&self) -> Option<RangeInclusive<u64>> {
        self.profile.net.as_ref()?;
        let [most, least] = Rates::bounds(&self.trace)?
            .map(|rates| NetTimes::ticks_left(&self.profile.contexts, 0, &rates));
        Some(least..=most)
    }

    /// The same, called otherwise in tables.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Places from which any event is near, if they are known.
    #[must_use]
    pub fn trail(&self) -> Option<&Trail> {
        let index = self.index.as_ref().map(Index::trail);
        self.scanned.as_ref().or(index)
    }

    /// Slices of its long streams, if they were made. They are of all boxes.
    #[must_use]
    pub fn pyramids(&self) -> Option<&Pyramids> {
        let of_index = || self.index.as_ref().and_then(Index::pyramids);
        self.slices.as_ref().or_else(of_index)
    }

    /// Whether slices can be made, would be of use, and were not made.
    #[must_use]
    pub fn lacks_slices(&self) -> bool {
        self.index.is_some() && self.pyramids().is_none() && !self.scope.has_transparent()
    }

    /// Makes slices of its long streams, if they can be made; the index keeps them. Works on
    /// rayon's current threads; `progress` counts events.
    pub fn find_slices(&self, progress: &Progress) {
        if let Some(index) = &self.index
            && self.lacks_slices()
        {
            index.find_slices(&self.trace, progress);
            index.keep_slices(&self.trace, &self.path);
        }
    }

    /// What ran in each cost centre, as far as it counts; nothing if the trace has none.
    #[must_use]
    pub fn centers(&self, counted: Counted) -> BTreeMap<Center, CenterSum> {
        if self.trace.has_centers() {
            by_center(&self.trace, &self.profile, counted)
        } else {
            BTreeMap::new()
        }
    }

    /// The times of single calls. The first time, the events are read for them: ask
    /// [`Trace::check_whole`] before they are shown.
    #[must_use]
    pub fn calls(&self) -> &Calls {
        self.calls.get(&self.trace)
    }

    /// The same if they were found already: reads nothing.
    #[must_use]
    pub fn known_calls(&self) -> Option<&Calls> {
        self.calls.known().map(Arc::as_ref)
    }

    /// Finds the times of single calls, unless that was done. `progress` counts up events to
    /// [`Self::events`]. Whether they are known then: not if it was cancelled. If they are of all
    /// of a trace that has an index, it keeps them.
    pub fn find_calls(&self, progress: &Progress) -> bool {
        let were_known = self.calls.known().is_some();
        let are_known = self.calls.find(&self.trace, progress);
        let is_all = self.index.is_some() && self.filters.is_everything();
        if let Some(calls) = self.calls.known().filter(|_| is_all && !were_known) {
            index::keep_calls(&self.trace, &self.path, calls);
        }
        are_known
    }

    /// What arguments were at calls and exits.
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.profile.values
    }

    /// What calls were made with, by predicate: those with [`Trace::with_arguments`] that were
    /// called.
    #[must_use]
    pub fn arguments(&self) -> &ArgumentsOfPredicates {
        &self.profile.arguments
    }

    /// As tables.
    #[must_use]
    pub fn tables(&self) -> Tables<'_> {
        Tables::new(&self.name, &self.trace, &self.profile).with_calls(&self.calls)
    }

    /// The same; inclusive times and times of calls are of what counts.
    #[must_use]
    pub fn tables_of(&self, counted: Counted) -> Tables<'_> {
        self.count(self.tables(), counted)
    }

    /// The same, as tables that never read the events: times of single calls are missing until they
    /// are [known](Self::known_calls).
    #[must_use]
    pub fn known_tables_of(&self, counted: Counted) -> Tables<'_> {
        let tables = Tables::new(&self.name, &self.trace, &self.profile);
        let tables = self.count(tables, counted);
        match self.known_calls() {
            Some(_) => tables.with_calls(&self.calls),
            None => tables,
        }
    }

    fn count<'t>(&'t self, tables: Tables<'t>, counted: Counted) -> Tables<'t> {
        match counted {
            Counted::All => tables,
            Counted::Work => tables.of_work(self.work(None)),
        }
    }

    /// What the time was: work, and what stands beside it.
    #[must_use]
    pub fn whole(&self) -> Whole {
        Whole::of(&self.trace, &self.profile)
    }

    /// Where the work was done: as recorded, or `net`.
    #[must_use]
    pub fn work<'a>(&'a self, net: Option<&'a NetTimes>) -> &'a Work {
        let profile = &self.profile;
        let recorded = || Work::of(&self.trace, &profile.contexts, profile.predicates.len());
        net.map_or_else(|| self.work.get_or_init(recorded), |net| &net.work)
    }

    /// All time that counts, in ticks: as recorded, or `net`.
    #[must_use]
    pub fn counted_ticks(&self, counted: Counted, net: Option<&NetTimes>) -> u64 {
        match (counted, net) {
            (Counted::Work, net) => self.work(net).ticks,
            (Counted::All, Some(net)) => net.net_ticks,
            (Counted::All, None) => self.profile.total_ticks(),
        }
    }

    /// Nanoseconds of a number of ticks.
    #[must_use]
    pub fn ns(&self, ticks: u64) -> u64 {
        self.trace.clock().duration_ns(ticks)
    }

    /// Name of a predicate, escaped.
    #[must_use]
    pub fn predicate(&self, index: PredicateIndex) -> &str {
        self.trace.predicate_name(index)
    }

    /// Name of a caller, escaped.
    #[must_use]
    pub fn caller(&self, caller: Caller) -> &str {
        match caller {
            Caller::Root => ROOT,
            Caller::Predicate(index) => self.predicate(index),
        }
    }

    /// Name of a cost centre, escaped.
    #[must_use]
    pub fn center(&self, center: Center) -> &str {
        center.map_or(OUTSIDE, |index| self.predicate(index))
    }

    /// Events read, in all streams.
    #[must_use]
    pub fn events(&self) -> u64 {
        let streams = self.profile.streams.iter();
        streams.fold(0, |sum, stream| sum.saturating_add(stream.events))
    }

    /// File, as the trace names it, and line of the first clause of a predicate.
    #[must_use]
    pub fn source(&self, index: PredicateIndex) -> Option<(&str, u32)> {
        let declared = &self.trace.predicates().get(index as usize)?.declared;
        Some((self.trace.file(declared.file?)?, declared.line))
    }

    /// The predicate of that name and arity whose first clause is in a file, as the trace names it.
    pub(crate) fn predicate_in(
        &self,
        file: &str,
        name: &str,
        arity: u32,
    ) -> Option<PredicateIndex> {
        let mut infos = (0..).zip(self.trace.predicates());
        let found = infos.find(|(_, info)| {
            let declared = &info.declared;
            declared.name == name
                && declared.arity == arity
                && declared.file.and_then(|file| self.trace.file(file)) == Some(file)
        });
        found.map(|(index, _)| index)
    }

    /// Where a source file of the trace is on this machine, if it is there.
    #[must_use]
    pub fn locate(&self, file: &str) -> PathBuf {
        sources::locate(&self.path, &self.trace.header().directory, file)
    }

    /// Whether a source file of the trace belongs to the program or to the engine
    /// ([`sources::is_of_program`]).
    #[must_use]
    pub fn is_of_program(&self, file: &str) -> bool {
        let directory = &self.trace.header().directory;
        sources::is_of_program(&self.path, directory, &self.locate(file))
    }

    /// The place of a row of the call tree, to look only there. A recursive call is where its
    /// context is.
    #[must_use]
    pub fn place(&self, context: usize) -> Option<FocusOn> {
        let rows = &self.profile.contexts;
        let parent = |at: usize| rows.get(at)?.parent.map(|parent| parent as usize);
        let way = way_up(Some(context), parent).filter_map(|at| rows.get(at));
        let way = way.filter(|row| !row.recursive);
        let mut path: Vec<_> = way.map(|row| row.predicate).collect();
        path.reverse();
        (!path.is_empty()).then_some(FocusOn::Context(path))
    }
}
