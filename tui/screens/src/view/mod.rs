//! Drawing of everything around a screen: the line of screens, the title, the line of keys, what lies over it.

mod frame;
mod overlays;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::app::App;

/// The smallest terminal that the screens are laid out for.
pub const SMALLEST: (u16, u16) = (80, 24);

/// Draws the whole program.
pub fn draw(app: &mut App, area: Rect, buf: &mut Buffer) {
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
    let body = Rect {
        y: area.y + 2,
        height: area.height - 3,
        ..area
    };
    frame::tabs(app, line(area.y), buf, &theme);
    frame::title(app, line(area.y + 1), buf, &theme);
    if app.analysis().is_some() {
        app.shown_mut().draw(body, buf, &theme);
    } else {
        frame::waiting(app, body, buf, &theme);
    }
    frame::foot(app, line(area.bottom() - 1), buf, &theme);
    overlays::draw(app, body, buf, &theme);
}
