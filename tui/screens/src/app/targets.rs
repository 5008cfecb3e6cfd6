//! The mouse: what is drawn around a screen that can be clicked on (names of screens, the places
//! that led here, keys), and where the button was pressed.

use std::ops::Range;

/// Cells of a line, and what a click on them is for.
pub(crate) type LineCells<T> = Vec<(Range<u16>, T)>;

/// Where they were drawn last.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// In the first line: screens, by their place.
    tabs: LineCells<usize>,
    /// In the third line: how many steps go back to a place.
    crumbs: LineCells<usize>,
    /// In the last line: keys by their names.
    keys: LineCells<&'static str>,
    /// Which line that is.
    last: u16,
    /// The column where the mouse was pressed last, below the names of screens.
    pressed: Option<u16>,
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
const CRUMBS: u16 = 2;

impl Targets {
    /// The names of screens were drawn, which are clicked on to show the screen at a place.
    pub(crate) fn set_tabs(&mut self, tabs: LineCells<usize>) {
        self.tabs = tabs;
    }

    /// Places were drawn, which are clicked on to go back so many steps; none if there is no line
    /// for them.
    pub(crate) fn set_crumbs(&mut self, crumbs: LineCells<usize>) {
        self.crumbs = crumbs;
    }

    /// Keys were drawn in a line.
    pub(crate) fn set_keys(&mut self, line: u16, keys: LineCells<&'static str>) {
        (self.last, self.keys) = (line, keys);
    }

    /// The mouse was pressed.
    pub(super) fn press(&mut self, x: u16, y: u16) {
        self.pressed = (y > 0).then_some(x);
    }

    /// The column that the mouse is dragged from; `None` if that is no part of a screen.
    pub(super) fn dragged_from(&self) -> Option<u16> {
        self.pressed
    }

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
