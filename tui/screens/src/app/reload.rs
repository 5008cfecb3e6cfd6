//! Reading the trace again: when the user asks for it, and again and again while it is still being recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portmortem_analyzer::Filters;
use portmortem_analyzer::remarks;
use portmortem_analyzer::trace::Trace;

use super::App;
use crate::analysis::AnalysisView;
use crate::format::{count, size, time};

/// The trace is not read again sooner than after so long, nor than so many times what reading it took.
const REST: Duration = Duration::from_secs(1);
const REST_TIMES: u32 = 4;

/// A trace that is still being recorded.
#[derive(Debug)]
pub(super) struct Follow {
    /// When the analysis that is being made, or was made last, began.
    began: Instant,
    /// When the trace is read again.
    next: Instant,
    /// When how many events were there, the last two times.
    seen: [Option<(Instant, u64)>; 2],
    /// When the trace was read whose figures are shown.
    shown: Instant,
}

impl Follow {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            began: now,
            next: now + REST,
            seen: [None; 2],
            shown: now,
        }
    }

    /// Events that came in a second, between the last two times; `None` before the second time.
    pub(super) fn pace(&self) -> Option<u64> {
        let [(before, less), (now, more)] = [self.seen[0]?, self.seen[1]?];
        let millis = now.duration_since(before).as_millis().max(1);
        let events = u128::from(more.saturating_sub(less)) * 1000 / millis;
        u64::try_from(events).ok()
    }

    /// How old the figures are that are shown.
    fn behind_ns(&self) -> u64 {
        u64::try_from(self.shown.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl App {
    /// Reads the trace again whenever it may have grown, until it ends.
    #[must_use]
    pub fn following(mut self, follow: bool) -> Self {
        self.follow = follow.then(Follow::new);
        self
    }

    /// What is said of a trace that is still being recorded: events a second, how old the figures
    /// are, its size.
    pub(crate) fn recording(&self) -> Option<String> {
        let follow = self.follow.as_ref()?;
        let pace = follow
            .pace()
            .map(|pace| format!("{} events/s", count(pace)));
        let behind = format!("{} behind", time(follow.behind_ns()));
        let parts = [
            Some("recording".to_owned()),
            pace,
            Some(behind),
            Some(size(self.trace.size())),
        ];
        Some(parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    /// Reads the trace again, as it is now; `false` if it cannot be.
    pub(super) fn reload(&mut self) -> bool {
        let trace = match Trace::open(&self.path) {
            Ok(trace) => trace,
            Err(error) => {
                self.say(error.to_string());
                return false;
            }
        };
        let (old, new) = (self.trace.predicates(), trace.predicates());
        let same = old
            .iter()
            .zip(new)
            .all(|(old, new)| old.declared == new.declared);
        if !same || new.len() < old.len() {
            // Filters name predicates by their places.
            self.filters = Filters::default().of(&trace);
            self.history.clear();
        }
        self.history.forget_figures();
        (self.asked, self.returns) = (None, None);
        self.trace = Arc::new(trace);
        self.analyse();
        true
    }

    /// Reads the trace again if it is time to.
    pub(super) fn follow_trace(&mut self) {
        let now = Instant::now();
        let free = self.job.is_none() && self.overlay.is_none() && self.shown().is_ready();
        if let Some(follow) = self
            .follow
            .as_mut()
            .filter(|follow| free && follow.next <= now)
        {
            follow.began = now;
            self.reload();
            if let Some(follow) = &mut self.follow {
                follow.next = now + REST;
            }
        }
    }

    /// Other figures are there.
    pub(super) fn followed(&mut self, analysis: &AnalysisView) {
        let now = Instant::now();
        let Some(follow) = &mut self.follow else {
            return;
        };
        follow.shown = follow.began;
        follow.seen = [follow.seen[1], Some((now, analysis.events()))];
        follow.next = now + REST.max(now.duration_since(follow.began) * REST_TIMES);
        if analysis.trace.end().is_some() {
            self.follow = None;
            let ending = remarks::ending(&analysis.trace);
            self.say(format!("the recording ended: {ending}"));
        }
    }
}
