//! Tests of the replay on lists of events, without files.

mod blame;
mod contexts;
mod damaged;
mod files;
mod naive;
mod parallel;
mod ports;
mod properties;
pub(crate) mod random;
mod scale;

use portmortem_tracer::format::{Dialect, Event};

use super::oracle::accounts::Accounts;
use super::oracle::state::State;
use super::oracle::stream::StreamReplay;
use crate::figures::{Caller, EdgeFigures};
use crate::profile::{Profile, ViolationKind};

pub(crate) use files::record as long_trace;
pub(crate) use parallel::long as long_script;

/// Events of a stream with their ticks.
type Events = Vec<(Event, u64)>;

/// A trace without a file.
#[derive(Debug)]
pub(crate) struct Script {
    dialect: Dialect,
    /// By predicate.
    hidden: Vec<bool>,
    streams: Vec<Events>,
}

impl Script {
    fn new(predicates: usize, events: Events) -> Self {
        let dialect = Dialect::EveryRedo;
        Self {
            dialect,
            hidden: vec![false; predicates],
            streams: vec![events],
        }
    }

    /// Each stream begins with its first event and ends with its last.
    fn replay(&self) -> (Profile, Vec<ViolationKind>) {
        let mut hidden = self.hidden.clone();
        hidden.push(false);
        let mut accounts = Accounts::new(self.hidden.len());
        let mut state = State::new();
        let mut violations = Vec::new();
        let mut streams = Vec::new();
        for (events, id) in self.streams.iter().zip(1..) {
            let begin = events.first().map_or(0, |&(_, tick)| tick);
            let end = events.last().map_or(0, |&(_, tick)| tick);
            let mut replay =
                StreamReplay::new(&mut accounts, &mut state, &hidden, self.dialect, begin);
            for &(event, tick) in events {
                replay.step(event, tick);
                violations.extend(replay.violations());
            }
            let mut figures = replay.finish(end);
            figures.stream = id;
            figures.events = events.len() as u64;
            streams.push(figures);
        }
        let mut profile = accounts.into_profile();
        profile.streams = streams;
        profile
            .edges
            .retain(|_, figures| *figures != EdgeFigures::default());
        (profile, violations)
    }
}

/// The caller of that index.
fn by(predicate: u32) -> Caller {
    Caller::Predicate(predicate)
}
