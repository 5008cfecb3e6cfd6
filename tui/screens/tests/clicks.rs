//! What is drawn around a screen does what it says when it is clicked on: places that led here, the
//! way back, and keys.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use portmortem_screens::app::Request;
use portmortem_screens::screens::ScreenId;
use portmortem_screens::{App, ThemeName};
use ratatui::crossterm::event::{MouseButton, MouseEventKind};
use support::{app, keys, mouse, picture, text};

const SIZE: (u16, u16) = (120, 30);

fn shown(app: &mut App) -> String {
    text(&picture(app, SIZE.0, SIZE.1))
}

/// Clicks on a text in a line.
fn click(app: &mut App, line: u16, words: &str) {
    click_behind(app, line, words, 0);
}

/// The same, so many cells further right.
fn click_behind(app: &mut App, line: u16, words: &str, cells_behind: u16) {
    let shown = shown(app);
    let cells = shown.lines().nth(line.into()).unwrap();
    let byte = cells
        .find(words)
        .unwrap_or_else(|| panic!("no {words} in {cells}"));
    let x = cells[..byte].chars().count() as u16 + cells_behind;
    mouse(app, MouseEventKind::Down(MouseButton::Left), x, line);
}

#[test]
fn a_click_on_a_place_leads_back_there() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    shown(&mut app);
    let first = shown(&mut app);
    keys(&mut app, "down enter 3 5 6");
    let places = shown(&mut app);
    let places = places.lines().nth(2).unwrap();
    assert!(places.contains("> 3 "), "{places}");
    click_behind(&mut app, 2, "> 3 ", 2);
    assert_eq!(app.screen(), ScreenId::CallTree);
    click(&mut app, 2, "Esc: back");
    assert_eq!(app.screen(), ScreenId::Predicate);
    // Where the user is there is nothing to go to, nor between places.
    click(&mut app, 2, "[2 ");
    click(&mut app, 2, "> [");
    assert_eq!(app.screen(), ScreenId::Predicate);
    click(&mut app, 2, "1 ");
    assert_eq!(app.screen(), ScreenId::Predicates);
    keys(&mut app, "up ctrl-l");
    assert_eq!(shown(&mut app), first);
}

#[test]
fn a_click_on_a_key_is_that_key() {
    let mut app = app("queens.pmt", ThemeName::Dark);
    let last = SIZE.1 - 1;
    click(&mut app, last, "cumulative");
    assert!(shown(&mut app).contains("incl %"));
    click(&mut app, last, "/ filter");
    assert!(shown(&mut app).contains("filter: "));
    keys(&mut app, "esc");
    click(&mut app, last, "? help");
    assert!(shown(&mut app).contains(" Help "));
    // The first click closes it.
    click(&mut app, last, "quit");
    assert_eq!(app.requests(), [Request::Quit]);
    // Beside a message, too.
    keys(&mut app, "C");
    click(&mut app, last, "quit");
    assert_eq!(app.requests(), [Request::Quit]);
    // Rows of the screen are no places: the third line is one where there is no room for these.
    let mut app = support::app("queens.pmt", ThemeName::Dark);
    keys(&mut app, "3 1");
    picture(&mut app, 60, 15);
    mouse(&mut app, MouseEventKind::Down(MouseButton::Left), 2, 2);
    assert_eq!(app.screen(), ScreenId::Predicates);
}
