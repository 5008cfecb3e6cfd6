//! Drawing of everything around a screen: the line of screens, the title, the line of keys, what lies over it.

mod ascii;
mod frame;
mod overlays;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::App;
use crate::screen::Screen;
use crate::theme::Theme;

/// The smallest terminal that anything is drawn on. The screens are laid out for 80×24; below, they show what fits.
pub const SMALLEST: (u16, u16) = (20, 5);

/// With so many rows there is a line that says which places led here.
const CRUMBS: u16 = 24;

/// Draws a screen; of one that needs more room what is at the top and on the left.
fn draw_screen(screen: &mut dyn Screen, area: Rect, buf: &mut Buffer, theme: &Theme) {
    let (width, height) = screen.smallest();
    if area.width >= width && area.height >= height {
        return screen.draw(area, buf, theme);
    }
    let whole = Rect {
        width: area.width.max(width),
        height: area.height.max(height),
        ..area
    };
    let mut larger = Buffer::empty(whole);
    screen.draw(whole, &mut larger, theme);
    for position in area.positions() {
        buf[position] = larger[position].clone();
    }
}

/// Draws the whole program.
pub fn draw(app: &mut App, area: Rect, buf: &mut Buffer) {
    draw_all(app, area, buf);
    if app.is_ascii() {
        ascii::replace(buf);
    }
}

fn draw_all(app: &mut App, area: Rect, buf: &mut Buffer) {
    let theme = app.colours();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!(
            "portmortem needs {}×{}, this is {}×{}",
            SMALLEST.0, SMALLEST.1, area.width, area.height
        );
        buf.set_stringn(area.x, area.y, text, area.width.into(), theme.warning);
        return;
    }
    let line = |y| Rect {
        y,
        height: 1,
        ..area
    };
    // Small terminals have no line to spare for where the user came from.
    let above = if area.height < CRUMBS { 2 } else { 3 };
    let body = Rect {
        y: area.y + above,
        height: area.height - above - 1,
        ..area
    };
    frame::tabs(app, line(area.y), buf, &theme);
    frame::title(app, line(area.y + 1), buf, &theme);
    if app.analysis().is_some() {
        draw_screen(app.shown_mut(), body, buf, &theme);
    } else {
        frame::waiting(app, body, buf, &theme);
    }
    // Drawing may be what puts the cursor somewhere.
    let crumbs = match above {
        3 => frame::crumbs(app, line(area.y + 2), buf, &theme),
        _ => Vec::new(),
    };
    app.targets.set_crumbs(crumbs);
    let last = area.bottom() - 1;
    let keys = frame::foot(app, line(last), buf, &theme);
    app.targets.set_keys(last, keys);
    overlays::draw(app, body, buf, &theme);
}
