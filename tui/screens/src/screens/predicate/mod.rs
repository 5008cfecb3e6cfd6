//! Screen 2: one predicate: its callers, itself, its callees; how long its calls took, and the slowest of them; its box with the ports; its
//! source, with the figures of its goals and clauses. Above it is the evidence of what is advised.
//! `t` moves between the parts, and each has a cursor.

mod evidence;
mod layout;
mod listing;
mod neighbours;
mod parts;
mod ports;
mod slowest;
mod source;
mod view;

use std::sync::Arc;

use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::keys::{self, Action, Binding, bind};
use crate::screen::calls::{call_event, calls_lost};
use crate::screen::{
    Clickable, Effect, EventTarget, Exportable, Navigable, Place, Pointing, Screen, Searchable,
    Spot, Tabular,
};
use crate::table::{ListSpot, TableView};
use crate::theme::Theme;
use crate::wanted_calls::{CallsAnswer, WantedCalls};
use crate::worker::{Received, poll_until};
pub(crate) use parts::edit;
use parts::{PredicatePart, PredicateView};
use source::SourceSpot;

/// The events of a longer trace are not read again unless the user asks for the times of single calls.
const MOST_UNASKED: u64 = 100_000_000;

/// The screen.
#[derive(Debug, Default)]
pub(super) struct PredicateScreen {
    view: Option<PredicateView>,
    /// Times of single calls.
    calls: WantedCalls,
    /// The user asked for them.
    is_asked: bool,
    /// What is advised is known, or never will be.
    has_advice: bool,
    /// The slowest call of what is under the cursor is to be shown as soon as it is known.
    wants_slowest: bool,
}

/// Where the user is on it.
#[derive(Debug, Clone)]
struct PartSpot {
    subject: PredicateIndex,
    part: PredicatePart,
    neighbours: ListSpot,
    slowest: Option<ListSpot>,
    source: SourceSpot,
}

const ENTER: Binding = bind(
    &["enter"],
    Action::Enter,
    "go there",
    "go to the caller, the callee, the slow call",
);

const NEXT_PART: Binding = bind(
    &["t"],
    Action::NextTable,
    "next part",
    "callers and callees; slowest calls; source",
);

const KEYS: &[Binding] = &[ENTER, NEXT_PART, keys::SLOWEST_CALL];

const SOURCE_KEYS: &[Binding] = &[
    ENTER,
    NEXT_PART,
    keys::SLOWEST_CALL,
    keys::UP,
    keys::DOWN,
    keys::PAGE_UP,
    keys::PAGE_DOWN,
    bind(&["home", "gg"], Action::Top, "", "to the first line"),
    bind(&["end", "G"], Action::Bottom, "", "to the last line"),
];

impl PredicateScreen {
    /// Whether the times of single calls are to be found.
    fn wants_calls(&self) -> bool {
        let Some(view) = &self.view else { return false };
        self.is_asked || view.analysis.events() <= MOST_UNASKED
    }

    /// Takes times of single calls, if they are wanted.
    fn take_calls(&mut self, wait: bool) -> Effect {
        let Some(view) = &mut self.view else {
            return Effect::Unused;
        };
        match self.calls.ask(&view.analysis, wait) {
            CallsAnswer::Nothing => Effect::Unused,
            CallsAnswer::Begun => Effect::Done,
            CallsAnswer::Lost => {
                self.wants_slowest = false;
                calls_lost()
            }
            CallsAnswer::Found => {
                view.list_slowest();
                if std::mem::take(&mut self.wants_slowest) {
                    view.go_to_slowest()
                } else {
                    Effect::Done
                }
            }
        }
    }

    /// Takes what is advised, which is looked for once the times of calls are there.
    fn take_advice(&mut self, wait: bool) -> Effect {
        let Some(view) = self.view.as_mut().filter(|_| !self.has_advice) else {
            return Effect::Unused;
        };
        view.analysis.start_advice();
        match view.analysis.advice(poll_until(wait)) {
            Received::NotYet => return Effect::Unused,
            Received::Ended => {}
            Received::Value(_) => view.list_advice(),
        }
        self.has_advice = true;
        Effect::Done
    }

    fn show_slowest(&mut self) -> Effect {
        let Some(view) = &self.view else {
            return Effect::Unused;
        };
        if self.calls.is_over() || view.analysis.known_calls().is_some() {
            return view.go_to_slowest();
        }
        (self.is_asked, self.wants_slowest) = (true, true);
        self.poll(false)
    }
}

impl Screen for PredicateScreen {
    fn bindings(&self) -> &'static [Binding] {
        match &self.view {
            Some(view) if view.part == PredicatePart::Source => SOURCE_KEYS,
            _ => KEYS,
        }
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.calls = WantedCalls::default();
        (self.is_asked, self.wants_slowest) = (false, false);
        self.has_advice = false;
        match &mut self.view {
            Some(view) => view.follow(analysis),
            None => {
                self.view = hottest(analysis).map(|index| PredicateView::new(analysis, index));
            }
        }
    }

    fn poll(&mut self, wait: bool) -> Effect {
        if !self.wants_calls() {
            return Effect::Unused;
        }
        match self.take_calls(wait) {
            Effect::Unused if self.calls.is_over() => self.take_advice(wait),
            effect => effect,
        }
    }

    fn is_ready(&self) -> bool {
        !self.wants_slowest
    }

    fn progress(&self) -> Option<f64> {
        let share = self.view.as_ref()?.analysis.calls_share();
        share.filter(|_| self.wants_calls())
    }

    fn act(&mut self, action: Action) -> Effect {
        // Only keys that leave do not wait: with them, what was asked for is not wanted any more.
        if std::mem::take(&mut self.wants_slowest) && action == Action::Back {
            return Effect::Done;
        }
        let Some(view) = &mut self.view else {
            return Effect::Unused;
        };
        match action {
            Action::Enter => view.enter(),
            Action::SlowestCall => self.show_slowest(),
            Action::Edit => view.edit(),
            Action::NextTable => {
                view.next_part();
                self.is_asked = true;
                Effect::Done
            }
            _ if view.part == PredicatePart::Source && view.source.act(action) => Effect::Done,
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        self.view.as_ref().map_or_else(String::new, |view| {
            view.analysis.predicate(view.subject).to_owned()
        })
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        if let Some(view) = &mut self.view {
            view::draw(view, area, buf, theme);
        }
    }
}

impl Tabular for PredicateScreen {
    fn table(&self) -> Option<&TableView> {
        let view = self.view.as_ref()?;
        match view.part {
            PredicatePart::Neighbours => Some(&view.table),
            PredicatePart::Slowest => view.slowest.as_ref(),
            PredicatePart::Source => None,
        }
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        let view = self.view.as_mut()?;
        match view.part {
            PredicatePart::Neighbours => Some(&mut view.table),
            PredicatePart::Slowest => view.slowest.as_mut(),
            PredicatePart::Source => None,
        }
    }
}

impl Searchable for PredicateScreen {
    fn looks_for_names(&self) -> bool {
        false
    }
}

impl Pointing for PredicateScreen {
    fn predicate(&self) -> Option<PredicateIndex> {
        self.view.as_ref().map(PredicateView::predicate)
    }

    fn event(&self) -> Option<EventTarget> {
        let view = self
            .view
            .as_ref()
            .filter(|view| view.part == PredicatePart::Slowest)?;
        match call_event(&view.analysis, view.slow_call()?) {
            Effect::Event(target) => Some(target),
            _ => None,
        }
    }
}

impl Navigable for PredicateScreen {
    fn spot(&self) -> Spot {
        let spot = Spot::default();
        let Some(view) = &self.view else { return spot };
        spot.with(PartSpot {
            subject: view.subject,
            part: view.part,
            neighbours: view.table.spot(),
            slowest: view.slowest.as_ref().map(TableView::spot),
            source: view.source.spot(),
        })
    }

    fn recall(&mut self, spot: &Spot) {
        let (Some(view), Some(spot)) = (&mut self.view, spot.own::<PartSpot>()) else {
            return;
        };
        if view.subject != spot.subject {
            let analysis = Arc::clone(&view.analysis);
            *view = PredicateView::new(&analysis, spot.subject);
        }
        view.table.recall(&spot.neighbours);
        view.source.recall(&spot.source);
        view.part = spot.part;
        match (&mut view.slowest, &spot.slowest) {
            (Some(table), Some(slowest)) => table.recall(slowest),
            (None, _) if view.part == PredicatePart::Slowest => {
                view.part = PredicatePart::Neighbours
            }
            _ => {}
        }
    }

    /// Whose page it is, wherever the cursor is.
    fn crumb(&self) -> Option<String> {
        let view = self.view.as_ref()?;
        Some(view.analysis.short_name(view.subject).into_owned())
    }

    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        let Some(view) = &mut self.view else {
            return Effect::Done;
        };
        if view.subject == predicate {
            return Effect::Done;
        }
        let analysis = Arc::clone(&view.analysis);
        *view = PredicateView::new(&analysis, predicate);
        Effect::Step
    }

    fn show_place(&mut self, place: Place) -> Effect {
        let Some(view) = &mut self.view else {
            return Effect::Done;
        };
        if view.subject != place.predicate {
            let analysis = Arc::clone(&view.analysis);
            *view = PredicateView::new(&analysis, place.predicate);
        }
        view.go_to(place);
        Effect::Step
    }
}

impl Exportable for PredicateScreen {
    fn file_name(&self) -> &'static str {
        match self.view.as_ref().map(|view| view.part) {
            Some(PredicatePart::Slowest) => "slowest",
            Some(PredicatePart::Source) => "source.txt",
            _ => "neighbours",
        }
    }

    fn export(&self) -> Option<String> {
        let view = self.view.as_ref()?;
        match view.part {
            PredicatePart::Source => Some(view.source.text(&view.analysis)),
            _ => Some(self.table()?.csv(None)),
        }
    }

    fn copy(&self) -> Option<String> {
        let view = self.view.as_ref()?;
        if view.part == PredicatePart::Source {
            return view.source.text_here();
        }
        let table = self.table()?;
        Some(table.csv(Some(table.row()?)))
    }

    fn rows(&self) -> usize {
        match &self.view {
            Some(view) if view.part == PredicatePart::Source => view.source.rows(),
            _ => self.table().map_or(0, TableView::rows),
        }
    }
}

impl Clickable for PredicateScreen {
    fn click(&mut self, x: u16, y: u16) -> bool {
        let Some(view) = &mut self.view else {
            return false;
        };
        if let Some(again) = view.source.click(x, y) {
            return std::mem::replace(&mut view.part, PredicatePart::Source)
                == PredicatePart::Source
                && again;
        }
        let part = match &view.slowest {
            Some(table) if table.is_at(x, y) => PredicatePart::Slowest,
            _ if view.table.is_at(x, y) => PredicatePart::Neighbours,
            _ => return false,
        };
        let was_there = std::mem::replace(&mut view.part, part) == part;
        self.table_mut().is_some_and(|table| table.click(x, y)) && was_there
    }
}

/// The predicate with the most self time; work of the engine, as collections and waiting, only if there is no other.
fn hottest(analysis: &AnalysisView) -> Option<PredicateIndex> {
    let infos = analysis.trace.predicates();
    let is_program = |index: PredicateIndex| {
        let info = infos.get(index as usize);
        info.is_some_and(|info| !info.is_engine_work())
    };
    let predicates = 0..analysis.profile.predicates.len() as PredicateIndex;
    predicates.rev().max_by_key(|&index| {
        let ticks = analysis.predicate_times(index).self_ticks;
        (is_program(index) && ticks > 0, ticks)
    })
}
