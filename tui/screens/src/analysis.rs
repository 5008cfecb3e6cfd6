//! The analysis that the screens show, made by a worker so that the screen never waits.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::advice::Finding;
use portmortem_analyzer::figures::counted::Counted;
use portmortem_analyzer::figures::net_times::{NetTimes, Times};
use portmortem_analyzer::figures::whole::Whole;
use portmortem_analyzer::figures::work::Work;
use portmortem_analyzer::remarks;
use portmortem_analyzer::trace::names::{file_line, qualifier};
use portmortem_analyzer::trace::{PredicateIndex, PredicateInfo, Trace};
use portmortem_analyzer::{Analysis, Filters, SoFar, Tables};
use portmortem_tracer::format::Role;

use crate::call_times::CallTimes;
use crate::findings::Findings;
use crate::format::time;
use crate::worker::{Received, Worker};

/// An analysis, and how it is shown.
#[derive(Debug, Clone)]
pub struct AnalysisView {
    of: Arc<Analysis>,
    /// Times are shown without the recorder's own, as far as they are known.
    net: bool,
    /// Source files may be read, to be shown.
    pub(crate) sources: bool,
    /// The recordings that this one is compared with, and further ones of the same program.
    pub(crate) before: Arc<[PathBuf]>,
    pub(crate) beside: Arc<[PathBuf]>,
    /// The trace is followed while it is being recorded.
    followed: bool,
    /// Times of single calls, while they are being found.
    calls: Arc<CallTimes>,
    /// What costs time and what to change, once a screen wants it.
    findings: Arc<Findings>,
    /// What is no work is shown, too, and shares are of all time.
    all: bool,
    /// By predicate: its boxes are the engine's own work.
    engine_work: Arc<[bool]>,
    /// The module of most predicates: its name may be left out.
    module: Option<Arc<str>>,
}

impl Deref for AnalysisView {
    type Target = Analysis;

    fn deref(&self) -> &Analysis {
        &self.of
    }
}

impl AnalysisView {
    /// With times as recorded. `sources`: source files may be read.
    #[must_use]
    pub fn new(of: Arc<Analysis>, sources: bool) -> Self {
        let infos = of.trace.predicates().iter();
        Self {
            module: main_module(&of).map(Arc::from),
            engine_work: infos.map(PredicateInfo::is_engine_work).collect(),
            of,
            net: false,
            all: false,
            sources,
            before: Arc::default(),
            beside: Arc::default(),
            followed: false,
            calls: Arc::default(),
            findings: Arc::default(),
        }
    }

    /// The same, of a trace that is followed while it is being recorded.
    #[must_use]
    pub fn followed(self, followed: bool) -> Self {
        Self { followed, ..self }
    }

    /// Whether the run goes on, as far as the trace says.
    pub(crate) fn is_running(&self) -> bool {
        self.followed && self.trace.end().is_none()
    }

    /// The same, to be compared with other recordings; `beside` are further ones of its own side.
    #[must_use]
    pub fn compared_with(self, before: &[PathBuf], beside: &[PathBuf]) -> Self {
        Self {
            before: before.into(),
            beside: beside.into(),
            ..self
        }
    }

    /// The same with times without the recorder's own, or as recorded.
    #[must_use]
    pub fn with_net(&self, net: bool) -> Self {
        Self {
            net,
            ..self.clone()
        }
    }

    /// The same with what is no work, or without it.
    #[must_use]
    pub fn with_all(&self, all: bool) -> Self {
        Self {
            all,
            ..self.clone()
        }
    }

    /// What inclusive times and times of calls are of.
    pub(crate) fn counted(&self) -> Counted {
        match self.all {
            false => Counted::Work,
            true => Counted::All,
        }
    }

    /// The same on the page of a predicate.
    pub(crate) fn counted_of(&self, index: PredicateIndex) -> Counted {
        self.counted().on_page_of(&self.trace, index)
    }

    /// Whether waiting, loading, collections and set-up are shown, and part of the whole.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Where the work was done, with the times that are shown.
    #[must_use]
    pub fn work(&self) -> &Work {
        self.of.work(self.net_times())
    }

    /// Whether boxes of a predicate are no work, and not shown.
    #[must_use]
    pub fn leaves_out(&self, index: PredicateIndex) -> bool {
        !self.all && self.engine_work.get(index as usize) == Some(&true)
    }

    /// In a row of the call tree, in ns: work, or time if all is shown. Shares are made of it and
    /// [`Self::total_ns`].
    #[must_use]
    pub fn inside_context(&self, row: usize) -> u64 {
        self.ns(match (self.all, self.net_times()) {
            (false, _) => self.work().contexts.get(row).copied().unwrap_or(0),
            (true, Some(net)) => net
                .contexts
                .get(row)
                .map_or(0, |times| times.inclusive_ticks),
            (true, None) => self.profile.contexts[row].inclusive_ticks,
        })
    }

    /// The same of all boxes of a predicate.
    #[must_use]
    pub fn inside_predicate(&self, index: PredicateIndex) -> u64 {
        self.ns(match self.all {
            false => self.work().of_predicate(index),
            true => self.predicate_times(index).inclusive_ticks,
        })
    }

    /// As tables; times of single calls are missing in them until a screen has had them found.
    /// Never reads the events, as [`Analysis::tables`] may.
    #[must_use]
    pub fn tables(&self) -> Tables<'_> {
        self.of.known_tables_of(self.counted())
    }

    /// Begins to find the times of single calls, unless they are known or that has begun.
    pub(crate) fn start_calls(&self) {
        self.calls.start(&self.of);
    }

    /// How much of that is done, from 0 to 1, while it goes on.
    pub(crate) fn calls_share(&self) -> Option<f64> {
        self.calls.share()
    }

    /// Waits for its end, if it has begun.
    pub(crate) fn wait_for_calls(&self) {
        self.calls.wait();
    }

    /// Gives it up if `next`, which is shown now, is another analysis.
    pub(crate) fn stop_calls_unless(&self, next: &Self) {
        if !Arc::ptr_eq(&self.of, &next.of) {
            self.calls.stop();
        }
    }

    /// Begins to look for advice, unless it is known or that has begun.
    pub(crate) fn start_advice(&self) {
        self.findings.start(&self.of);
    }

    /// The findings of advice, if they are known.
    pub(crate) fn known_advice(&self) -> Option<&Arc<Vec<Finding>>> {
        self.findings.known()
    }

    /// The same; waits for them until some moment, or as long as it
    /// takes.
    pub(crate) fn advice(&self, until: Option<Instant>) -> Received<Arc<Vec<Finding>>> {
        self.findings.next(until)
    }

    /// The module that most predicates are in, if that is not `user`: [`Self::short_name`] leaves
    /// it out.
    pub(crate) fn module(&self) -> Option<&str> {
        self.module.as_deref()
    }

    /// File and line of the first clause of a predicate; empty if they are not known.
    pub(crate) fn first_line(&self, index: PredicateIndex) -> String {
        let source = self.source(index);
        source.map_or_else(String::new, |(file, line)| file_line(file, line))
    }

    /// Name of a predicate, escaped, without the module of most; those of `user` have theirs, then.
    #[must_use]
    pub fn short_name(&self, index: PredicateIndex) -> Cow<'_, str> {
        let name = self.predicate(index);
        let info = self.trace.predicates().get(index as usize);
        let (Some(main), Some(info)) = (self.module(), info) else {
            return Cow::Borrowed(name);
        };
        match info.declared.module.as_str() {
            "user" if name.ends_with(|c: char| c.is_ascii_digit()) => {
                Cow::Owned(format!("user:{name}"))
            }
            module if module == main => {
                let short = name.strip_prefix(qualifier(module).as_str());
                Cow::Borrowed(short.unwrap_or(name).trim_start())
            }
            _ => Cow::Borrowed(name),
        }
    }

    /// Waits for the figures of a part of a trace.
    #[cfg(test)]
    pub(crate) fn part(trace: Arc<Trace>, path: &Path, filters: Filters) -> Self {
        let progress = portmortem_analyzer::Progress::default();
        let of = Analysis::explored(trace, path, filters, &progress).unwrap();
        Self::new(Arc::new(of), true)
    }

    /// What shares of time are of, in ns: work, or all that boxes ran.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.ns(self.counted_ticks(self.counted(), self.net_times()))
    }

    /// What is no work, with the times that are shown; `None` if that is nothing.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        let whole = match self.net_times() {
            Some(net) => Whole::net(&self.trace, net),
            None => self.whole(),
        };
        remarks::left_out(self, &whole)
    }

    /// What shares are of, and what is left out of it.
    #[must_use]
    pub fn whole_in_words(&self) -> String {
        let (shown, all) = (time(self.total_ns()), time(self.all_ns()));
        match self.left_out() {
            None => all,
            Some(_) if self.all => format!("{all}, not only work (w)"),
            Some(parts) => format!("work {shown} of {all} · left out (w): {parts}"),
        }
    }

    /// Nanoseconds that boxes ran.
    #[must_use]
    pub fn all_ns(&self) -> u64 {
        self.ns(self.counted_ticks(Counted::All, self.net_times()))
    }

    /// Whether times are shown without the recorder's own.
    #[must_use]
    pub fn is_net(&self) -> bool {
        self.net_times().is_some()
    }

    /// The times without the recorder's own, if they are shown.
    #[must_use]
    pub fn net_times(&self) -> Option<&NetTimes> {
        self.profile.net.as_ref().filter(|_| self.net)
    }

    /// Self and inclusive time of a predicate, in ticks.
    #[must_use]
    pub fn predicate_times(&self, index: PredicateIndex) -> Times {
        let at = index as usize;
        let times = match self.net_times() {
            Some(net) => net.predicates.get(at).copied(),
            None => self.profile.predicates.get(at).map(|figures| Times {
                self_ticks: figures.self_ticks,
                inclusive_ticks: figures.inclusive_ticks,
            }),
        };
        let times = times.unwrap_or_default();
        match self.counted_of(index) {
            Counted::All => times,
            Counted::Work => Times {
                inclusive_ticks: self.work().of_predicate(index),
                ..times
            },
        }
    }
}

/// The module that more than half of the program's predicates are in; `None` if there is none, or
/// it is `user`.
fn main_module(analysis: &Analysis) -> Option<&str> {
    let infos = analysis.trace.predicates();
    let used = analysis.tables().used_predicates();
    let used = used.filter_map(|index| infos.get(index as usize));
    let mut modules = BTreeMap::<&str, usize>::new();
    for info in used.filter(|info| !info.has(Role::BuiltIn)) {
        *modules.entry(&info.declared.module).or_default() += 1;
    }
    let all: usize = modules.values().sum();
    let (module, _) = modules.into_iter().find(|&(_, rows)| 2 * rows > all)?;
    (module != "user").then_some(module)
}

/// Starts to replay a trace in the background, from where it has come `so_far`. Nothing is found if
/// that was cancelled.
pub(crate) fn analyse(
    trace: Arc<Trace>,
    path: &Path,
    filters: Filters,
    so_far: &Arc<SoFar>,
) -> Worker<Analysis> {
    let (path, so_far) = (path.to_owned(), Arc::clone(so_far));
    Worker::start(work(&trace, &filters), move |task| {
        let found = Analysis::followed(trace, &path, filters, &so_far, task.progress());
        if let Some(analysis) = found {
            task.found(analysis);
        }
    })
}

/// Bytes that are read: the begin of a window is replayed twice, and what has no index, or a focus,
/// is gone through once more.
fn work(trace: &Trace, filters: &Filters) -> u64 {
    let mut times = 1;
    times += u64::from(filters.window().is_some());
    let goes_on = trace.end().is_none() && filters.is_everything();
    times += u64::from(!goes_on && (trace.end().is_none() || !filters.focus().is_everything()));
    trace.size().saturating_mul(times)
}
