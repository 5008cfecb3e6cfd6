//! What is drawn around a screen that can be clicked on: names of screens, the places that led
//! here, keys.

use std::ops::Range;

/// Cells of a line, and what a click on them is for.
type LineCells<T> = Vec<(Range<u16>, T)>;

/// Where they were drawn last.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// In the first line: screens, by their place.
    pub(crate) tabs: LineCells<usize>,
    /// In the third line: how many steps go back to a place.
    pub(crate) crumbs: LineCells<usize>,
    /// In the last line: keys by their names.
    pub(crate) keys: LineCells<&'static str>,
    /// Which line that is.
    pub(crate) last: u16,
}

/// What a click is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Show the screen at this place.
    Screen(usize),
    /// Go back so many steps.
    Back(usize),
    /// Press the key of this name.
    Key(&'static str),
    /// The line has nothing there.
    Nothing,
}

/// The line of places, if there is one.
pub(crate) const CRUMBS: u16 = 2;

impl Targets {
    /// What is at a place of the screen; `None` if that is not one of these lines.
    pub(super) fn at(&self, x: u16, y: u16) -> Option<Target> {
        let target = match y {
            0 => find(&self.tabs, x).map(Target::Screen),
            CRUMBS if !self.crumbs.is_empty() => find(&self.crumbs, x).map(Target::Back),
            y if y == self.last => find(&self.keys, x).map(Target::Key),
            _ => return None,
        };
        Some(target.unwrap_or(Target::Nothing))
    }
}

fn find<T: Copy>(cells: &LineCells<T>, x: u16) -> Option<T> {
    let found = cells.iter().find(|(cells, _)| cells.contains(&x));
    found.map(|(_, target)| *target)
}
