//! Keys that were pressed and have not had their effect yet.

use ratatui::crossterm::event::KeyEvent;

use crate::keys::{self, Action, Binding, KeyMeaning};

/// What was typed so far.
#[derive(Debug, Default)]
pub(super) struct TypedKeys {
    /// Keys for what the screen is still making.
    ahead: Vec<KeyEvent>,
    /// The first of two keys.
    begun: String,
}

impl TypedKeys {
    /// A key has to wait for the screen.
    pub(super) fn hold(&mut self, event: KeyEvent) {
        self.ahead.push(event);
    }

    /// Whether any key waits.
    pub(super) fn holds_any(&self) -> bool {
        !self.ahead.is_empty()
    }

    /// The keys that waited, the first one first. They wait no longer.
    pub(super) fn release(&mut self) -> Vec<KeyEvent> {
        std::mem::take(&mut self.ahead)
    }

    /// What a key means after the one before it; `None` if nothing, or nothing yet.
    pub(super) fn action(&mut self, name: &str, tables: &[&[Binding]]) -> Option<Action> {
        let pressed = std::mem::take(&mut self.begun) + name;
        match keys::meaning(&pressed, tables) {
            KeyMeaning::Action(action) => Some(action),
            KeyMeaning::Begun => {
                self.begun = pressed;
                None
            }
            // What does not go on as begun begins anew.
            KeyMeaning::Nothing if pressed != name => self.action(name, tables),
            KeyMeaning::Nothing => None,
        }
    }
}
