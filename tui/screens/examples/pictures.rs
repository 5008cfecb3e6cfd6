//! Pictures of the screens for the documents: `cargo run -p portmortem-screens --example pictures -- TRACE AFTER DIRECTORY`
//! writes `DIRECTORY/NAME.svg` for each screen of a trace, as a terminal of 120×36 cells shows it. Of the screen of changes it is what
//! changed from `TRACE` to `AFTER`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::{Trace, TraceError};
use portmortem_screens::screens::{SCREENS, ScreenId};
use portmortem_screens::{App, ThemeName, keys, view};
use ratatui::buffer::{Buffer, Cell};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

/// Cells of the picture.
const SIZE: (u16, u16) = (120, 36);
/// Pixels of a cell.
const CELL: (u32, u32) = (8, 17);
const GROUND: &str = "#1c1f26";
const TEXT: &str = "#d7dae0";

/// What is typed on each screen before its picture is taken: letters, or names of keys in `<>`.
const TYPED: &[(char, &str)] = &[('3', "p"), ('5', "+++"), ('6', "<pgdn><pgdn>")];

/// The screens of a trace, with its figures, perhaps compared with another recording.
fn open(trace: &Path, before: Option<&Path>) -> Result<App, TraceError> {
    let app = App::new(
        Trace::open(trace)?,
        trace,
        ThemeName::Dark,
        Filters::default(),
    );
    let mut app = app.compared_with(before.map(Path::to_owned));
    app.wait();
    Ok(app)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let [Some(trace), Some(after), Some(directory)] = [(); 3].map(|()| arguments.next()) else {
        return Err("usage: pictures TRACE AFTER DIRECTORY".into());
    };
    std::fs::create_dir_all(&directory)?;
    let mut of_trace = open(&trace, None)?;
    let mut of_changes = open(&after, Some(&trace))?;
    for entry in SCREENS {
        let app = match entry.id {
            ScreenId::Changes => &mut of_changes,
            _ => &mut of_trace,
        };
        app.show(entry.id);
        app.wait();
        draw(app);
        let typed = TYPED.iter().find(|(digit, _)| *digit == entry.digit);
        type_keys(app, typed.map_or("", |(_, typed)| typed));
        let name = entry.name.to_lowercase().replace(' ', "-");
        let path = directory.join(name).with_extension("svg");
        write(&path, &draw(app))?;
    }
    Ok(())
}

fn write(path: &Path, picture: &Buffer) -> std::io::Result<()> {
    std::fs::write(path, svg(picture))
}

fn draw(app: &mut App) -> Buffer {
    let area = Rect::new(0, 0, SIZE.0, SIZE.1);
    let mut buffer = Buffer::empty(area);
    view::draw(app, area, &mut buffer);
    buffer
}

fn type_keys(app: &mut App, mut typed: &str) {
    while let Some(letter) = typed.chars().next() {
        let (code, length) = match typed.strip_prefix("<pgdn>") {
            Some(_) => (KeyCode::PageDown, "<pgdn>".len()),
            None => (KeyCode::Char(letter), letter.len_utf8()),
        };
        let key = KeyEvent::new(code, KeyModifiers::NONE);
        debug_assert!(keys::name(&key).is_some());
        app.key(&key);
        app.wait();
        draw(app);
        typed = &typed[length..];
    }
}

fn svg(picture: &Buffer) -> String {
    let (width, height) = (u32::from(SIZE.0) * CELL.0, u32::from(SIZE.1) * CELL.1);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"monospace\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"{GROUND}\"/>\n"
    );
    for y in 0..SIZE.1 {
        let mut x = 0;
        while x < SIZE.0 {
            let end = (x..SIZE.0)
                .find(|&at| !same(&picture[(at, y)], &picture[(x, y)]))
                .unwrap_or(SIZE.0);
            run(&mut text, picture, x..end, y);
            x = end;
        }
    }
    text + "</svg>\n"
}

fn same(a: &Cell, b: &Cell) -> bool {
    (a.fg, a.bg, a.modifier) == (b.fg, b.bg, b.modifier)
}

/// Cells of one style.
fn run(text: &mut String, picture: &Buffer, cells: std::ops::Range<u16>, y: u16) {
    let style = &picture[(cells.start, y)];
    let mut colours = (hex(style.fg, TEXT), hex(style.bg, GROUND));
    if style.modifier.contains(Modifier::REVERSED) {
        colours = (colours.1, colours.0);
    }
    let (left, top) = (u32::from(cells.start) * CELL.0, u32::from(y) * CELL.1);
    let width = u32::from(cells.end - cells.start) * CELL.0;
    if colours.1 != GROUND {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{}\" fill=\"{}\"/>",
            CELL.1, colours.1
        );
    }
    let mut look = format!("fill=\"{}\"", colours.0);
    if style.modifier.contains(Modifier::BOLD) {
        look += " font-weight=\"bold\"";
    }
    if style.modifier.contains(Modifier::UNDERLINED) {
        let y = top + CELL.1 - 1;
        let _ = writeln!(
            text,
            "<path d=\"M{left} {y}h{width}\" stroke=\"{}\"/>",
            colours.0
        );
    }
    let mut x = cells.start;
    while x < cells.end {
        let is_blank = |at: &u16| picture[(*at, y)].symbol().trim().is_empty();
        let word = (x..cells.end).take_while(|at| !is_blank(at));
        let symbols: String = word.clone().map(|at| picture[(at, y)].symbol()).collect();
        let length = word.count() as u16;
        if length > 0 {
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{}\" textLength=\"{}\" {look}>{}</text>",
                u32::from(x) * CELL.0,
                top + 13,
                u32::from(length) * CELL.0,
                escaped(&symbols)
            );
        }
        x += length.max(1);
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// The sixteen colours as terminals show them.
fn hex(color: Color, own: &'static str) -> &'static str {
    match color {
        Color::Black => "#1c1f26",
        Color::Red => "#c8515b",
        Color::Green => "#6da95a",
        Color::Yellow => "#c79a4b",
        Color::Blue => "#4f8fd6",
        Color::Magenta => "#a66bbe",
        Color::Cyan => "#4ba3ad",
        Color::Gray => "#b4b9c2",
        Color::DarkGray => "#757c88",
        Color::LightRed => "#e8717b",
        Color::LightGreen => "#95d17f",
        Color::LightYellow => "#ead07e",
        Color::LightBlue => "#74b2f5",
        Color::LightMagenta => "#cf8fe6",
        Color::LightCyan => "#74cdd6",
        Color::White => "#ffffff",
        _ => own,
    }
}
