//! What a screen is: state that can be tested without a terminal, and a `draw` over it.
//!
//! A [`Screen`] says by one trait each what can be done with it: [`Tabular`] (its list),
//! [`Searchable`], [`Pointing`] (what its cursor is on), [`Navigable`] (how to get there),
//! [`Exportable`] and [`Clickable`]. Nothing here knows which screens there are.

pub(crate) mod calls;
pub(crate) mod effect;
pub(crate) mod parts;
pub(crate) mod range;
pub(crate) mod spot;

use std::fmt::Debug;
use std::sync::Arc;

use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::{FocusOn, Window};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding};
use crate::table::TableView;
use crate::theme::Theme;
pub use effect::{Effect, EventTarget, Place};
pub use spot::Spot;

/// The least columns and rows of a screen that is a list.
const SMALLEST_LIST: (u16, u16) = (20, 2);

/// A screen: figures and keys go in, cells come out. Only [`Screen::draw`] knows of terminals.
pub trait Screen: Debug + Pointing + Navigable + Exportable + Clickable {
    /// Keys of its own, beside [`crate::keys::EVERYWHERE`] and, if it has a table,
    /// [`crate::keys::LISTS`].
    fn bindings(&self) -> &'static [Binding];

    /// Shows another analysis: the first one, or one of another part of the trace.
    fn follow(&mut self, analysis: &Arc<AnalysisView>);

    /// Does what a key asks for. What it has no use for goes to its table, then to the program.
    fn act(&mut self, action: Action) -> Effect;

    /// Takes what its threads found, if it has some; waits for it if told to. [`Effect::Unused`] if
    /// there was nothing.
    fn poll(&mut self, _wait: bool) -> Effect {
        Effect::Unused
    }

    /// Whether it has something that keys can act on. Until its threads have made that, keys wait.
    fn is_ready(&self) -> bool {
        true
    }

    /// How much is done of what its threads do, from 0 to 1, if that takes long.
    fn progress(&self) -> Option<f64> {
        None
    }

    /// What is shown, in a few words, for the right of the title.
    fn status(&self) -> String {
        String::new()
    }

    /// The least columns and rows that it can be drawn in.
    fn smallest(&self) -> (u16, u16) {
        SMALLEST_LIST
    }

    /// Draws it, in an area that is not smaller.
    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme);
}

/// The list of a screen, if it has one.
pub trait Tabular {
    /// The list that the cursor is in.
    fn table(&self) -> Option<&TableView> {
        None
    }

    /// The same, to change it.
    fn table_mut(&mut self) -> Option<&mut TableView> {
        None
    }
}

/// How a screen is filtered or searched.
pub trait Searchable: Tabular {
    /// What the view is filtered or searched by, empty if by nothing; `None` if that makes no sense
    /// here.
    fn filter(&self) -> Option<&str> {
        self.table().map(TableView::filter)
    }

    /// Filters or searches by something else.
    fn set_filter(&mut self, text: &str) {
        if let Some(table) = self.table_mut() {
            table.set_filter(text);
        }
    }

    /// Why the filter is no condition: it cannot be confirmed then.
    fn filter_error(&self) -> Option<&str> {
        self.table()?.filter_error()
    }

    /// What a filter may be.
    fn filter_hint(&self) -> &'static str {
        "a word, ~regex, or: fails > 1k and self > 1ms"
    }

    /// The filter was confirmed: a screen on which that is a search goes to what it finds.
    fn search(&mut self) -> Effect {
        Effect::Done
    }

    /// Whether a name that is looked for on other screens is looked for here, too. Not where that
    /// would hide what a user came for.
    fn looks_for_names(&self) -> bool {
        true
    }
}

/// What the cursor of a screen is on.
pub trait Pointing: Tabular {
    /// The predicate that the cursor is on.
    fn predicate(&self) -> Option<PredicateIndex> {
        self.table()?.predicate()
    }

    /// Whether rows can be predicates: keys that act on one are not offered elsewhere.
    fn has_predicates(&self) -> bool {
        true
    }

    /// Where in the call tree the cursor is.
    fn place(&self) -> Option<FocusOn> {
        self.predicate().map(FocusOn::Predicate)
    }

    /// The event that the cursor is at, where a row is one moment of the execution.
    fn event(&self) -> Option<EventTarget> {
        None
    }

    /// The event of what the cursor is on: of a box its call, wherever that is.
    fn event_of_box(&self) -> Option<EventTarget> {
        self.event()
    }

    /// The event that called the box here, where that is another one than [`Self::event_of_box`].
    fn call_here(&self) -> Option<u64> {
        None
    }

    /// The range of time that is shown or marked.
    fn window(&self) -> Option<Window> {
        None
    }
}

/// Where the user is on a screen, and how they get elsewhere on it.
pub trait Navigable: Searchable {
    /// Where the user is on it.
    fn spot(&self) -> Spot {
        self.spot_of_list()
    }

    /// Goes back to where the user was.
    fn recall(&mut self, spot: &Spot) {
        self.recall_list(spot);
    }

    /// The part of [`Navigable::spot`] that every screen has.
    fn spot_of_list(&self) -> Spot {
        Spot {
            filter: self.filter().unwrap_or_default().to_owned(),
            list: self.table().map(TableView::spot),
            ..Spot::default()
        }
    }

    /// The part of [`Navigable::recall`] that every screen has.
    fn recall_list(&mut self, spot: &Spot) {
        if self.filter().is_some_and(|filter| filter != spot.filter) {
            self.set_filter(&spot.filter);
        }
        if let (Some(table), Some(list)) = (self.table_mut(), &spot.list) {
            table.recall(list);
        }
    }

    /// Forgets the last [`Effect::Step`] if it keeps them; `false` if there is none.
    fn undo(&mut self) -> bool {
        false
    }

    /// Where the cursor is, in a word, if that is no predicate.
    fn crumb(&self) -> Option<String> {
        None
    }

    /// Goes to a predicate.
    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        if let Some(table) = self.table_mut() {
            table.select_predicate(predicate);
        }
        Effect::Done
    }

    /// Goes to a place in a predicate.
    fn show_place(&mut self, place: Place) -> Effect {
        self.select(place.predicate)
    }

    /// Goes to an event.
    fn show_event(&mut self, _target: EventTarget) -> Effect {
        Effect::Unused
    }

    /// Goes to a tick.
    fn show_time(&mut self, _tick: u64) -> Effect {
        Effect::Unused
    }
}

/// What can be taken out of a screen, as a text.
pub trait Exportable: Tabular {
    /// What the file that the view is exported to is called, without extension.
    fn file_name(&self) -> &'static str;

    /// The view as a text.
    fn export(&self) -> Option<String> {
        Some(self.table()?.csv(None))
    }

    /// What [`Action::Export`] writes, where that is not the text that is copied.
    fn file(&self) -> Option<String> {
        self.export()
    }

    /// How many rows [`Exportable::export`] has at most.
    fn rows(&self) -> usize {
        self.table().map_or(0, TableView::rows)
    }

    /// The row that the cursor is on, to be copied.
    fn copy(&self) -> Option<String> {
        let table = self.table()?;
        Some(table.csv(Some(table.row()?)))
    }

    /// Whether there is nothing that could be copied or exported.
    fn is_empty(&self) -> bool {
        self.table().is_some_and(|table| table.rows() == 0)
    }
}

/// What the mouse does on a screen.
pub trait Clickable: Tabular {
    /// A click; `true` if that is as good as Enter.
    fn click(&mut self, x: u16, y: u16) -> bool {
        self.table_mut().is_some_and(|table| table.click(x, y))
    }

    /// What a second click on the same thing does.
    fn enter(&self) -> Action {
        Action::Enter
    }

    /// The wheel was turned at a column. [`Effect::Unused`]: as the arrows.
    fn scroll(&mut self, _x: u16, _up: bool) -> Effect {
        Effect::Unused
    }

    /// The mouse was dragged from a column to another one.
    fn drag(&mut self, _from: u16, _to: u16) {}
}
