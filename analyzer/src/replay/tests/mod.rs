//! Tests of the replay on lists of events, without files.

mod blame;
mod calls;
mod causes;
mod centers;
mod chains;
mod contexts;
mod cutting;
mod damaged;
mod files;
mod growing;
mod indexes;
mod kept;
mod lossy;
mod naive;
mod net;
mod packing;
mod parallel;
mod parts;
mod passed;
mod ports;
mod properties;
pub(crate) mod random;
mod samples;
mod scale;

use portmortem_tracer::format::{Dialect, Event};

use crate::clauses::ClauseLedger;
use crate::figures::Caller;
use crate::figures::clauses::Clauses;
use crate::figures::profile::{Profile, ViolationKind};
use crate::machine::Observer;
use crate::machine::pass::Pass;
use crate::scope::focus::{Focus, FocusOn};
use crate::scope::window::Window;
use crate::scope::{Scope, called};
use crate::trace::events::TimedEvent;
use crate::trace::{BoxKind, Center};

pub(crate) use files::record as long_trace;
pub(crate) use parallel::long as long_script;

/// Events of a stream with their ticks.
type Events = Vec<(Event, u64)>;

/// A trace without a file.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    dialect: Dialect,
    /// By predicate. Each has two sites: `p` those of the numbers `p` and `p` + number of predicates.
    hidden: Vec<bool>,
    /// By predicate: the cost centre that its boxes enter.
    centers: Vec<Center>,
    /// Of the focus.
    places: Vec<FocusOn>,
    window: Option<Window>,
    streams: Vec<Events>,
}

impl Script {
    fn new(predicates: usize, events: Events) -> Self {
        let dialect = Dialect::EveryRedo;
        Self {
            dialect,
            hidden: vec![false; predicates],
            centers: Vec::new(),
            places: Vec::new(),
            window: None,
            streams: vec![events],
        }
    }

    fn scope(&self) -> Scope {
        let mut hidden = self.hidden.clone();
        hidden.push(false);
        let kinds: Vec<BoxKind> = (0..).map(kind).take(self.hidden.len()).collect();
        Scope {
            centers: (0..hidden.len() as u32).map(|of| self.center(of)).collect(),
            called: called::all(
                &kinds,
                (0..)
                    .zip(self.callees())
                    .map(|(site, callee)| (callee, then_fails(site))),
            ),
            kinds,
            collectors: (0..self.hidden.len() as u32).map(collects).collect(),
            hidden,
            focus: self.places.iter().fold(Focus::default(), Focus::within),
            window: self.window,
            streams: Vec::new(),
        }
    }

    /// By site: the predicate that it calls.
    fn callees(&self) -> Vec<u32> {
        let predicates = self.hidden.len() as u32;
        (0..2 * predicates).map(|site| site % predicates).collect()
    }

    /// The predicate that a call is one of, and its site.
    fn callee(&self, callable: u32) -> (u32, Option<u32>) {
        match callable.checked_sub(self.hidden.len() as u32 + 1) {
            None => (callable, None),
            Some(site) => (self.callees()[site as usize], Some(site)),
        }
    }

    /// By clause: the predicate that it is of. Events may name others, of which nothing is known.
    fn clauses(&self) -> Vec<u32> {
        self.callees()
    }

    /// The figures by clause.
    fn by_clause(&self, scope: &Scope) -> Clauses {
        let mut ledger = ClauseLedger::new(scope, self.clauses(), self.hidden.len() as u32);
        for (stream, _) in (1..).zip(&self.streams) {
            self.tell(&mut ledger, scope, stream);
        }
        ledger.counted().since()
    }

    /// Tells an observer of a stream, which is counted from 1.
    fn tell(&self, observer: &mut impl Observer, scope: &Scope, stream: u32) {
        let events = &self.streams[stream as usize - 1];
        observer.begins(stream);
        let mut pass = Pass::new(scope, self.dialect, self.hidden.len() as u32);
        for (&(mut event, tick), number) in self.until_over(events).iter().zip(0..) {
            let mut site = None;
            if let Event::Call { predicate } | Event::Tail { predicate } = &mut event {
                (*predicate, site) = self.callee(*predicate);
            }
            pass.happen(TimedEvent { event, site, tick }, number, observer);
        }
        pass.finish(events.last().map_or(0, |&(_, tick)| tick), observer);
    }

    /// The cost centre that boxes of a predicate enter. That of the unknown predicate is itself.
    fn center(&self, predicate: u32) -> Center {
        let unknown = (predicate as usize == self.hidden.len()).then_some(predicate);
        self.centers
            .get(predicate as usize)
            .copied()
            .flatten()
            .or(unknown)
    }

    /// Events before the end of the window.
    fn until_over<'e>(&self, events: &'e Events) -> &'e [(Event, u64)] {
        let until = self.window.map_or(u64::MAX, |window| window.until);
        &events[..events.partition_point(|&(_, tick)| tick < until)]
    }

    /// The profile, and what cannot happen. Each stream begins with its first event and ends with its last.
    fn replay(&self) -> (Profile, Vec<ViolationKind>) {
        let mut violations = Vec::new();
        let profile = parallel::replay_in(self, usize::MAX, &mut violations).unwrap();
        (profile, violations)
    }
}

/// Whether boxes of a predicate of a script collect solutions.
fn collects(predicate: u32) -> bool {
    predicate == 2
}

/// Whether the clause fails after a site of a script: of some predicates, after none, one or both of their sites.
fn then_fails(site: u32) -> bool {
    site % 2 == 1
}

/// What boxes of a predicate of a script are.
fn kind(predicate: u32) -> BoxKind {
    match predicate {
        3 => BoxKind::EngineWork,
        4 => BoxKind::Waiting,
        6 => BoxKind::SetUp,
        arity => BoxKind::Call { arity },
    }
}

/// The caller of that index.
fn by(predicate: u32) -> Caller {
    Caller::Predicate(predicate)
}
