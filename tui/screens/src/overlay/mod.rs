//! What lies over a screen for a while and has the keys meanwhile: questions, the palette, the
//! choice of columns, a call against the usual one.

mod against;
mod chooser;
mod glossary;
mod palette;
mod prompt;

use ratatui::crossterm::event::KeyEvent;

use crate::screen::Screen;

pub use against::Against;
pub use chooser::Chooser;
pub use glossary::{GLOSSARY, Word};
pub use palette::{Offered, Palette, PaletteChoice, PaletteLine};
pub use prompt::{Prompt, Question};

/// One of them.
#[derive(Debug)]
pub enum Overlay {
    /// A question on the line at the bottom.
    Prompt(Prompt),
    /// All that can be done and gone to.
    Palette(Palette),
    /// The columns of the table.
    Chooser(Chooser),
    /// A call against the usual one.
    Against(Against),
}

/// What came of a key.
#[derive(Debug)]
pub enum OverlayAnswer {
    /// It goes on.
    Pending,
    /// It is over.
    Closed,
    /// This was chosen in the palette.
    Chosen(PaletteChoice),
    /// The question was answered.
    Text(Question, String),
}

impl Overlay {
    /// A key; `screen` is the one below.
    pub fn key(&mut self, name: &str, event: &KeyEvent, screen: &mut dyn Screen) -> OverlayAnswer {
        match self {
            Self::Prompt(prompt) => prompt.key(name, event, screen),
            Self::Palette(palette) => palette.key(name, event),
            Self::Against(_) => Against::key(name),
            Self::Chooser(chooser) => match screen.table_mut() {
                Some(table) => chooser.key(name, table),
                None => OverlayAnswer::Closed,
            },
        }
    }
}
