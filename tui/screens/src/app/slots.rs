//! The screens, which of them is shown, and the name that all of them look for.

use std::sync::Arc;

use portmortem_analyzer::condition::Condition;

use crate::analysis::AnalysisView;
use crate::screen::Screen;
use crate::screens::{SCREENS, ScreenEntry, ScreenId};

/// All screens, in the order of [`SCREENS`].
#[derive(Debug)]
pub(super) struct ScreenSlots {
    slots: Vec<ScreenSlot>,
    shown: usize,
    /// What is looked for on all screens that have no filter of their own.
    name: String,
}

#[derive(Debug)]
struct ScreenSlot {
    screen: Box<dyn Screen>,
    /// It has not seen the analysis yet.
    stale: bool,
    /// It was shown with figures.
    seen: bool,
    /// The name that it was told to look for.
    name: String,
}

/// The name that a screen was told to look for, and the one that all are.
#[derive(Debug, Clone)]
pub(super) struct NameSought {
    here: String,
    everywhere: String,
}

impl ScreenSlots {
    /// With nothing to show yet.
    pub(super) fn new() -> Self {
        let make = |entry: &ScreenEntry| ScreenSlot {
            screen: entry.make(),
            stale: true,
            seen: false,
            name: String::new(),
        };
        Self {
            slots: SCREENS.iter().map(make).collect(),
            shown: 0,
            name: String::new(),
        }
    }

    /// The place of the screen that is shown.
    pub(super) fn place(&self) -> usize {
        self.shown
    }

    /// What that screen is called.
    pub(super) fn entry(&self) -> ScreenEntry {
        SCREENS[self.shown]
    }

    pub(super) fn shown(&self) -> &dyn Screen {
        &*self.slots[self.shown].screen
    }

    pub(super) fn shown_mut(&mut self) -> &mut dyn Screen {
        &mut *self.slots[self.shown].screen
    }

    /// The screens that are not shown, with their places.
    pub(super) fn others(&self) -> impl Iterator<Item = (usize, &dyn Screen)> {
        let slots = self.slots.iter().enumerate();
        let others = slots.filter(|(at, _)| *at != self.shown);
        others.map(|(at, slot)| (at, &*slot.screen))
    }

    pub(super) fn get(&self, id: ScreenId) -> Option<&dyn Screen> {
        let mut slots = self.slots.iter().zip(SCREENS);
        let slot = slots.find(|(_, entry)| entry.id == id);
        slot.map(|(slot, _)| &*slot.screen)
    }

    /// Whether the screen at a place was shown with figures.
    pub(super) fn was_seen(&self, at: usize) -> bool {
        self.slots[at].seen
    }

    /// Shows the screen at a place, with the figures that there are.
    pub(super) fn show(&mut self, at: usize, analysis: Option<&Arc<AnalysisView>>) {
        self.shown = at;
        let slot = &mut self.slots[at];
        if let (true, Some(analysis)) = (slot.stale, analysis) {
            slot.screen.follow(analysis);
            slot.stale = false;
        }
        slot.seen |= analysis.is_some();
        self.look_for_name();
    }

    /// There are other figures: the screen shown has them at once, the others when they are shown.
    pub(super) fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        self.slots.iter_mut().for_each(|slot| slot.stale = true);
        self.show(self.shown, Some(analysis));
    }

    /// Looks for the name on the screen shown, unless that has a filter of its own.
    pub(super) fn look_for_name(&mut self) {
        let slot = &mut self.slots[self.shown];
        let has_own = |filter: &str| filter != slot.name;
        let looks = slot.screen.looks_for_names();
        if slot.name == self.name || !looks || slot.screen.filter().is_none_or(has_own) {
            return;
        }
        slot.screen.set_filter(&self.name);
        slot.name.clone_from(&self.name);
    }

    /// The filter of the screen shown was set. If it is a name, and the one before was the name
    /// that all screens look for, they look for the new one.
    pub(super) fn filter_was_set(&mut self, before: &str, now: String) {
        let slot = &mut self.slots[self.shown];
        let is_name = now.is_empty() || Condition::is_of_names(&now);
        if is_name && before == slot.name && slot.screen.looks_for_names() {
            self.name.clone_from(&now);
            slot.name = now;
        }
    }

    /// What is looked for here.
    pub(super) fn sought(&self) -> NameSought {
        NameSought {
            here: self.slots[self.shown].name.clone(),
            everywhere: self.name.clone(),
        }
    }

    /// Goes back to a screen and what was looked for on it, before it has the figures of then.
    pub(super) fn go_back(&mut self, at: usize, sought: NameSought) {
        self.shown = at;
        self.name = sought.everywhere;
        self.slots[at].name = sought.here;
    }
}
