//! The terminal screens of `portmortem tui`.
//!
//! | step | module |
//! |---|---|
//! | trace → figures of what is looked at, in the background | [`analysis`] |
//! | trace → times of single calls, when they are asked for | `call_times`, `wanted_calls` |
//! | figures → findings of advice, in the background, for all screens | `findings` |
//! | keys and clicks → state | [`keys`], [`app`], [`overlay`] |
//! | the one list widget | [`table`] |
//! | what a screen is, and what one leads to | [`screen`] |
//! | the screens, each a state and a drawing | [`screens`] |
//! | state → cells | [`view`], [`theme`], [`mod@format`] |
//! | cells → terminal; clipboard, editor, files | `terminal` |
//!
//! State is apart from drawing: everything but `terminal` works without one, and tests drive an
//! [`app::App`] with keys and draw it into a buffer. All figures are the analyser's.
//!
//! # To add a screen
//!
//! 1. Write `screens/NAME.rs` (or a folder, if it has parts) with a type that implements
//!    [`screen::Screen`] and the traits that it asks for, empty where it has nothing of its own:
//!    `follow` takes the figures (called before the first `draw` and whenever what is looked at
//!    changed), `act` does what a key asks for and returns a [`screen::Effect`], `draw` draws into
//!    a rectangle of at least 80×21 cells. If it has a list, make that a [`table::TableView`] over
//!    a [`table::Source`] and return it from `table` and `table_mut` of [`screen::Tabular`]:
//!    filter, sort, columns, marks, mouse, copy and export then work by themselves.
//! 2. Give it keys: a `&[Binding]` returned from `bindings`; if they do something new, a variant of
//!    [`keys::Action`]. Help and the line of keys follow.
//! 3. Add a variant of [`screens::ScreenId`] and an entry in [`screens::SCREENS`], in the order of
//!    digits. The snapshot tests (`tests/snapshots.rs`) draw every entry of that list; `cargo insta
//!    review`.
//!
//! Ways between screens: [`screen::Pointing`] says what the cursor is on, [`screen::Navigable`]
//! goes there. Digits and Tab use them.
//!
//! What Esc should undo: return [`screen::Effect::Step`] from `act`; `spot` says where the user is,
//! and `recall` goes back there. To go elsewhere: [`screen::Effect::Open`] or `Event`. A screen
//! that reads the trace again (as `screens/events`) does so in bounded pieces, or by a `Worker`
//! (`worker.rs`); no key may take more than 50 ms. What its worker found it takes in `poll`, and
//! how far that is it says by `progress` (`screens/timeline`).

pub mod analysis;
pub mod app;
mod call_times;
mod findings;
pub mod keys;
mod names;
pub mod overlay;
pub mod screen;
pub mod screens;
pub mod table;
mod terminal;
pub mod theme;
pub mod view;
mod wanted_calls;
mod worker;

use std::io;
use std::path::{Path, PathBuf};

use portmortem_analyzer::trace::{Trace, TraceError};

pub use app::App;
use portmortem_analyzer::Filters;
use portmortem_analyzer::text as format;

pub use theme::ThemeName;

/// What the command line says.
#[derive(Debug, Clone, Default)]
pub struct ScreenOptions {
    /// Colours.
    pub theme: ThemeName,
    /// Draw letters of ASCII only.
    pub ascii: bool,
    /// Take the mouse; its own selection of text then needs Shift.
    pub mouse: bool,
    /// What to look at.
    pub filters: Filters,
    /// A filter to begin with, on the first screen.
    pub filter: Option<String>,
    /// Recordings to compare with, of one program.
    pub before: Vec<PathBuf>,
    /// Further recordings of what is shown, which are only compared.
    pub beside: Vec<PathBuf>,
    /// Read the trace again and again while it is being recorded.
    pub follow: bool,
}

/// Why the screens ended without the user's will. The terminal is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The terminal failed.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
    /// The trace is no longer what it was.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// Shows the screens of a trace until the user quits; returns the signal that ended them, if one
/// did.
///
/// # Errors
/// [`RunError`].
pub fn run(trace: Trace, path: &Path, options: ScreenOptions) -> Result<Option<i32>, RunError> {
    let mut app = App::new(trace, path, options.theme, options.filters)
        .compared_with(options.before)
        .beside(options.beside)
        .in_ascii(options.ascii)
        .following(options.follow);
    if let Some(filter) = options.filter {
        app.begin_with_filter(filter);
    }
    terminal::run(&mut app, options.mouse)
}
