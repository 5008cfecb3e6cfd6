//! Pictures for terminals whose locale has no other letters than those of ASCII.

use ratatui::buffer::Buffer;

/// Puts letters of ASCII in place of all others.
pub(super) fn replace(buf: &mut Buffer) {
    for cell in &mut buf.content {
        if !cell.symbol().is_ascii() {
            let letter = cell.symbol().chars().next().map_or(' ', plain);
            cell.set_char(letter);
        }
    }
}

/// What stands for a letter.
fn plain(letter: char) -> char {
    match letter {
        '─' | '━' | '–' | '−' | '╌' => '-',
        '│' | '┃' => '|',
        '╭' | '╮' | '╰' | '╯' | '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' => {
            '+'
        }
        '…' | '·' => '.',
        '▼' | '▾' => 'v',
        '✗' => 'X',
        '↶' => 'r',
        '◇' => 'o',
        '»' => '&',
        '‖' => '=',
        '┆' | '┄' => ':',
        '░' => '%',
        '▏' => '[',
        '≥' => '>',
        '↻' => '@',
        '“' | '”' => '"',
        '’' => '\'',
        '▲' => '^',
        '▶' | '▸' | '›' | '→' | '►' => '>',
        '‹' | '←' | '◄' => '<',
        '×' => 'x',
        'µ' => 'u',
        'Δ' => 'd',
        '±' => '~',
        '▁'..='▟' => '#',
        _ => '?',
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Cell;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    /// What a cell of the timeline shows is told from all others.
    #[test]
    fn signs_of_cells_stay_apart() {
        let signs = [
            '✗', '↶', '×', '!', '◇', '»', '‹', '›', '‖', '?', '┆', '░', '▏', '·', '~',
        ];
        let mut letters = signs.map(|sign| if sign.is_ascii() { sign } else { plain(sign) });
        letters.sort_unstable();
        let mut apart = letters.to_vec();
        apart.dedup();
        assert_eq!(apart, letters);
    }

    #[test]
    fn nothing_but_ascii_is_left() {
        let mut buf = Buffer::empty(Rect::new(0, 0, 30, 1));
        buf.set_string(0, 0, "│ 1.5 µs ███▌ › Δ – 漢 é", Style::new());
        replace(&mut buf);
        let letters: String = buf.content.iter().map(Cell::symbol).collect();
        assert_eq!(letters.trim_end(), "| 1.5 us #### > d - ?  ?");
    }
}
