//! What signs and colours mean, in a line; or which range is marked.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::view::{BOTH, EXCEPTION, FAIL, REDO};
use super::{TimelineScreen, format};
use crate::theme::Theme;

impl TimelineScreen {
    /// One line: as many of the signs as there is room for, the ports first.
    pub(super) fn legend(&self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        let marked = self
            .analysis()
            .and_then(|analysis| self.range.line(analysis));
        let room = usize::from(area.width);
        if let Some(text) = marked {
            let text = format::shorten(&format!(" {text}"), room);
            buf.set_stringn(area.x, area.y, text, room, theme.key);
            return;
        }
        let [call, exit, redo, fail, exception] = theme.ports;
        let filled = |style: Style| style.add_modifier(Modifier::REVERSED);
        let signs = match self.bands.is_in_lines() {
            true => vec![
                (theme.bar, "█work ▂in part".to_owned()),
                (theme.faint, "·waits, loads or collects".to_owned()),
                (theme.warning, "‖paused ?lost".to_owned()),
                (theme.text, "space: this stream in full".to_owned()),
            ],
            false => vec![
                (filled(call), "▏called ›goes on".to_owned()),
                (filled(exit), "exits ◇again".to_owned()),
                (redo, format!("{REDO}redone")),
                (filled(fail), format!("{FAIL}fails")),
                (filled(exception), format!("{EXCEPTION}exception")),
                (theme.faint, "░several".to_owned()),
                (theme.text, "~longest".to_owned()),
                (fail, format!("{BOTH}{REDO}{FAIL}")),
                (theme.text, "»by last call".to_owned()),
                (theme.text, "‹from before".to_owned()),
                (theme.warning, "‖paused ?lost".to_owned()),
                (theme.faint, "┆new block".to_owned()),
            ],
        };
        let mut x = area.x + 1;
        for (style, text) in signs {
            if usize::from(area.right().saturating_sub(x)) < format::width(&text) {
                break;
            }
            (x, _) = buf.set_stringn(x, area.y, text, room, style);
            x += 1;
        }
    }
}
