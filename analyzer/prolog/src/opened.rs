//! An open trace: what was asked of it so far is kept.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::listing::Listing;
use portmortem_analyzer::remarks;
use portmortem_analyzer::tables::SiteNames;
use portmortem_analyzer::trace::{StreamInfo, Trace};
use portmortem_analyzer::walk::Walk;
use portmortem_analyzer::{Analysis, Filters, Progress};

use crate::error::{Culprit, Error};

/// An open trace. Opening reads no events: figures are taken from the index, or found, when they
/// are asked for.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) trace: Arc<Trace>,
    /// Whether the user knows that parts of it may be damaged.
    accepts_damage: bool,
    sites: OnceLock<SiteNames>,
    analysis: OnceLock<Option<Analysis>>,
    /// By stream: the number behind the last event.
    ends: OnceLock<Vec<u64>>,
    /// The last condition; most are asked again and again.
    condition: Mutex<Option<(String, Arc<ListedCondition>)>>,
}

impl Opened {
    pub(crate) fn open(path: PathBuf, accepts_damage: bool) -> Result<Self, Error> {
        let trace = Trace::open(&path).map_err(|error| {
            Error::Domain("portmortem_trace", culprit(&path), error.to_string())
        })?;
        Ok(Self {
            trace: Arc::new(trace),
            path,
            accepts_damage,
            sites: OnceLock::new(),
            analysis: OnceLock::new(),
            ends: OnceLock::new(),
            condition: Mutex::new(None),
        })
    }

    /// Its figures, and places from which any event is near; damaged or not.
    pub(crate) fn whatever_it_is(&self) -> Result<&Analysis, Error> {
        let explore = || {
            let (trace, filters) = (Arc::clone(&self.trace), Filters::default());
            Analysis::explored(trace, &self.path, filters, &Progress::default())
        };
        // Only one that is cancelled ends without an answer.
        self.analysis
            .get_or_init(explore)
            .as_ref()
            .ok_or(Error::Internal)
    }

    /// The same, unless there is damage that the user does not know of.
    pub(crate) fn analysis(&self) -> Result<&Analysis, Error> {
        let analysis = self.whatever_it_is()?;
        if self.accepts_damage || analysis.profile.damage.is_empty() {
            return Ok(analysis);
        }
        let losses = remarks::losses(analysis, 1).join("; ");
        let next = "open it with damaged(true) for what is left";
        Err(self.damaged(format!("{losses}; {next}")))
    }

    /// After events were read: that they were there.
    pub(crate) fn check_whole(&self) -> Result<(), Error> {
        let checked = self.trace.check_whole(&self.path);
        checked.map_err(|error| self.damaged(error.to_string()))
    }

    fn damaged(&self, message: String) -> Error {
        Error::Domain("undamaged_trace", culprit(&self.path), message)
    }

    /// What its goals are called.
    pub(crate) fn sites(&self) -> &SiteNames {
        self.sites.get_or_init(|| SiteNames::of(&self.trace))
    }

    /// A stream, and the number behind its last event.
    pub(crate) fn stream(&self, id: u32) -> Result<Option<(&StreamInfo, u64)>, Error> {
        let trail = self.analysis()?.trail();
        let ends = self.ends.get_or_init(|| {
            let streams = self.trace.streams().iter();
            let end = |info| Walk::from(&self.trace, trail, info, u64::MAX).next_number();
            streams.map(end).collect()
        });
        let mut streams = self.trace.streams().iter().zip(ends);
        let found = streams.find(|(info, _)| info.id == id);
        Ok(found.map(|(info, end)| (info, *end)))
    }

    /// A listing of events of a stream, by their numbers.
    pub(crate) fn listing(&self, stream: u32, numbers: Range<u64>) -> Result<Listing<'_>, Error> {
        let analysis = self.analysis()?;
        let mut listing = Listing::new(&self.trace, &analysis.name, analysis.trail(), self.sites());
        listing.streams = vec![stream];
        listing.numbers = numbers;
        Ok(listing)
    }

    /// A condition of `portmortem events --where`.
    pub(crate) fn condition(&self, text: &str) -> Result<Arc<ListedCondition>, Error> {
        let mut last = self
            .condition
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((known, condition)) = &*last
            && known == text
        {
            return Ok(Arc::clone(condition));
        }
        let parsed = ListedCondition::parse(text, &self.trace, self.sites()).map_err(|error| {
            let culprit = Culprit::Text(text.to_owned());
            Error::Domain("event_condition", culprit, error.to_string())
        })?;
        let condition = Arc::new(parsed);
        *last = Some((text.to_owned(), Arc::clone(&condition)));
        Ok(condition)
    }
}

fn culprit(path: &std::path::Path) -> Culprit {
    Culprit::Text(path.to_string_lossy().into_owned())
}
