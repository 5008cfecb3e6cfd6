//! What the tests share: an app over a sample trace, keys by name, pictures with their styles.

#![allow(dead_code, clippy::unwrap_used, reason = "every test uses some of it")]

pub(crate) mod made;
pub(crate) mod watchdog;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::{App, ThemeName, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::style::Style;

/// A trace of `traces/`.
pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../traces")
        .join(name)
}

/// The screens of a sample trace, analysed.
pub(crate) fn app(trace: &str, theme: ThemeName) -> App {
    let path = sample(trace);
    watchdog::begin(trace);
    let mut app = App::new(
        Trace::open(&path).unwrap(),
        &path,
        theme,
        Filters::default(),
    )
    .without_sources();
    app.wait();
    app
}

/// Types keys: names as in bindings, separated by spaces; `:text` types a text.
pub(crate) fn keys(app: &mut App, names: &str) {
    for name in names.split(' ').filter(|name| !name.is_empty()) {
        watchdog::watching(name, || {
            press(app, name);
            app.wait();
        });
    }
}

fn press(app: &mut App, name: &str) {
    match name.strip_prefix(':').filter(|text| !text.is_empty()) {
        Some(text) => text.chars().for_each(|c| {
            let c = if c == '_' { ' ' } else { c };
            app.key(&KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        }),
        None if portmortem_screens::keys::is_of_two(name) => {
            name.split("")
                .filter(|letter| !letter.is_empty())
                .for_each(|letter| app.key(&key(letter)));
        }
        None => app.key(&key(name)),
    }
}

/// Does something with the mouse.
pub(crate) fn mouse(app: &mut App, kind: MouseEventKind, column: u16, row: u16) {
    watchdog::watching(&format!("{kind:?} {column},{row}"), || {
        app.mouse(&MouseEvent {
            kind,
            column,
            row,
            modifiers: KeyModifiers::NONE,
        });
        app.wait();
    });
}

/// What mice can do here.
pub(crate) const MOUSE: [MouseEventKind; 6] = [
    MouseEventKind::Down(MouseButton::Left),
    MouseEventKind::Drag(MouseButton::Left),
    MouseEventKind::ScrollUp,
    MouseEventKind::ScrollDown,
    MouseEventKind::ScrollLeft,
    MouseEventKind::ScrollRight,
];

/// A key by its name.
pub(crate) fn key(name: &str) -> KeyEvent {
    portmortem_screens::keys::key(name).unwrap_or_else(|| panic!("{name} is no key"))
}

/// The screen.
pub(crate) fn picture(app: &mut App, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    watchdog::watching(&format!("{width}x{height}"), || {
        terminal
            .draw(|frame| view::draw(app, frame.area(), frame.buffer_mut()))
            .unwrap();
    });
    terminal.backend().buffer().clone()
}

/// The letters of a picture.
pub(crate) fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let row: String = (0..buffer.area.width)
            .map(|x| buffer[(x, y)].symbol())
            .collect();
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// The letters of a picture that was drawn in several themes, then which style is where: runs of cells by line, and a list of
/// the styles, in each theme.
pub(crate) fn styled(pictures: &[Buffer]) -> String {
    let letters: Vec<String> = pictures.iter().map(text).collect();
    assert!(letters.iter().all(|other| *other == letters[0]));
    let area = pictures[0].area;
    let mut styles: Vec<Vec<Style>> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for y in 0..area.height {
        let mut line: Vec<(usize, u16)> = Vec::new();
        for x in 0..area.width {
            let style: Vec<Style> = pictures.iter().map(|each| each[(x, y)].style()).collect();
            let at = styles.iter().position(|other| *other == style);
            let at = at.unwrap_or_else(|| {
                styles.push(style);
                styles.len() - 1
            });
            match line.last_mut() {
                Some((last, length)) if *last == at => *length += 1,
                _ => line.push((at, 1)),
            }
        }
        let runs = line.iter().map(|(at, length)| format!("{at}x{length}"));
        lines.push(runs.collect::<Vec<_>>().join(" "));
    }
    let mut out = format!("{}\n", letters[0]);
    for same in lines.chunk_by(|a, b| a == b) {
        let times = match same.len() {
            1 => String::new(),
            times => format!(" ({times} lines)"),
        };
        let _ = writeln!(out, "{}{times}", same[0]);
    }
    out.push('\n');
    for (at, style) in styles.iter().enumerate() {
        let named = style.iter().map(|style| {
            let (fg, bg) = (style.fg.unwrap_or_default(), style.bg.unwrap_or_default());
            format!("{fg:?} on {bg:?} {:?}", style.add_modifier)
        });
        let _ = writeln!(out, "{at}: {}", named.collect::<Vec<_>>().join("; "));
    }
    out
}
