//! Keys as data: what is dispatched and what help lists come from the same tables.
//!
//! A [`Binding`] has all names of its keys, the action, and two texts: `label` for the line of keys at the
//! bottom (empty: not shown there) and `about` for help. A name is that of one key (`j`, `G`, `ctrl-c`,
//! `pgdn`, see [`name`]), of a letter pressed twice (`gg`), or of `g` and a digit (`g3`).

mod tables;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use tables::{DOWN, EVENTS, EVERYWHERE, LISTS, PAGE_DOWN, PAGE_UP, SLOWEST_CALL, UP};

/// Everything that a key can do. Which screen does what with it, the screens say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// End the program.
    Quit,
    /// Undo one step.
    Back,
    /// Show everything that can be done and gone to.
    Palette,
    /// Show the screen with this digit, as it was left.
    Show(char),
    /// Show it at the predicate or the moment under the cursor.
    TakeTo(char),
    /// Show the next screen.
    NextScreen,
    /// Show the one before.
    PreviousScreen,
    /// Ask for a filter.
    Filter,
    /// Write the view as a file.
    Export,
    /// Copy the row, or what the cursor is on.
    Copy,
    /// Copy the whole view.
    CopyAll,
    /// Hide the predicate under the cursor.
    Hide,
    /// Ask for a pattern of predicates to hide.
    HidePattern,
    /// Look only at what runs in the boxes under the cursor.
    Focus,
    /// Ask for a range of time to look at.
    Window,
    /// Times without the recorder's own, or as recorded.
    Net,
    /// With what is no work, or without it.
    Whole,
    /// Open the source of the predicate under the cursor in an editor.
    Edit,
    /// Other colours.
    Theme,
    /// Draw everything again.
    Redraw,
    /// Read the trace again.
    Reload,
    /// Stop until the shell continues the program.
    Suspend,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One screenful up.
    PageUp,
    /// One screenful down.
    PageDown,
    /// To the first row.
    Top,
    /// To the last row.
    Bottom,
    /// To the left: scroll, fold, or the neighbour.
    Left,
    /// To the right: scroll, unfold, or the neighbour.
    Right,
    /// Scroll the columns of a tree to the left.
    ScrollLeft,
    /// Scroll the columns of a tree to the right.
    ScrollRight,
    /// Go into what the cursor is on.
    Enter,
    /// Choose the column to sort by and the columns shown.
    Columns,
    /// Turn the order round.
    Reverse,
    /// Sort by the column to the left.
    SortLeft,
    /// Sort by the column to the right.
    SortRight,
    /// To the next row that the filter found.
    NextMatch,
    /// To the one before.
    PreviousMatch,
    /// Mark the row, or take its mark away.
    Mark,
    /// To the next row with a mark, or what is marked on its own.
    NextMark,
    /// To the one before.
    PreviousMark,
    /// Figures of the predicates alone, or with what they call.
    Cumulative,
    /// Unfold or fold the row.
    Toggle,
    /// Unfold everything below.
    OpenAll,
    /// Fold everything.
    CloseAll,
    /// Unfold the hottest path from here.
    HottestPath,
    /// Show only what is below here.
    Zoom,
    /// Show the next table of the screen.
    NextTable,
    /// Measure by something else.
    Measure,
    /// From callees to callers, or the other way.
    Invert,
    /// Show the first event of the predicate.
    FirstEvent,
    /// Show its slowest call.
    SlowestCall,
    /// Show the exceptions.
    Exceptions,
    /// Compare the call with the usual one of its predicate.
    Compare,
    /// To the next event of the same predicate.
    NextOfPredicate,
    /// To the one before.
    PreviousOfPredicate,
    /// To the next event at the same port.
    NextPort,
    /// To the one before.
    PreviousPort,
    /// To the other end of the box.
    BoxEnd,
    /// To where the box was called.
    BoxCall,
    /// To what caused the event.
    Cause,
    /// Show the next stream.
    NextStream,
    /// Show the stream before.
    PreviousStream,
    /// Show half as much time.
    ZoomIn,
    /// Show twice as much time.
    ZoomOut,
    /// One cell to the left.
    CellLeft,
    /// One cell to the right.
    CellRight,
    /// A range of time begins here.
    RangeBegin,
    /// A range of time ends here.
    RangeEnd,
}

/// Keys and what they do.
#[derive(Debug, Clone, Copy)]
pub struct Binding {
    /// Names of keys.
    pub keys: &'static [&'static str],
    /// What they do.
    pub action: Action,
    /// For the line of keys; empty if it is not shown there.
    pub label: &'static str,
    /// For help.
    pub about: &'static str,
}

/// A row of a table of bindings.
pub const fn bind(
    keys: &'static [&'static str],
    action: Action,
    label: &'static str,
    about: &'static str,
) -> Binding {
    Binding {
        keys,
        action,
        label,
        about,
    }
}

/// The name of a key, as bindings write it; `None` for what cannot be bound.
#[must_use]
pub fn name(event: &KeyEvent) -> Option<String> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let plain = match event.code {
        KeyCode::Char(' ') => "space".to_owned(),
        KeyCode::Char(c) => c.to_string(),
        KeyCode::Up => "up".to_owned(),
        KeyCode::Down => "down".to_owned(),
        KeyCode::Left => "left".to_owned(),
        KeyCode::Right => "right".to_owned(),
        KeyCode::PageUp => "pgup".to_owned(),
        KeyCode::PageDown => "pgdn".to_owned(),
        KeyCode::Home => "home".to_owned(),
        KeyCode::End => "end".to_owned(),
        KeyCode::Enter => "enter".to_owned(),
        KeyCode::Esc => "esc".to_owned(),
        KeyCode::Tab => "tab".to_owned(),
        KeyCode::BackTab => return Some("backtab".to_owned()),
        KeyCode::Backspace => "backspace".to_owned(),
        KeyCode::Delete => "del".to_owned(),
        KeyCode::F(number) => format!("f{number}"),
        _ => return None,
    };
    let mut name = String::new();
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        name.push_str("ctrl-");
    }
    if event.modifiers.contains(KeyModifiers::ALT) {
        name.push_str("alt-");
    }
    // A letter says itself whether it is a capital.
    if event.modifiers.contains(KeyModifiers::SHIFT) && !matches!(event.code, KeyCode::Char(_)) {
        name.push_str("shift-");
    }
    Some(name + &plain)
}

/// The key of a name; the inverse of [`name`]. `None` if no single key has it.
#[must_use]
pub fn key(name: &str) -> Option<KeyEvent> {
    let (modifiers, plain) = match name.split_once('-') {
        Some(("ctrl", plain)) => (KeyModifiers::CONTROL, plain),
        Some(("alt", plain)) => (KeyModifiers::ALT, plain),
        Some(("shift", plain)) => (KeyModifiers::SHIFT, plain),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match plain {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "backtab" => KeyCode::BackTab,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pgup" => KeyCode::PageUp,
        "pgdn" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "space" => KeyCode::Char(' '),
        "backspace" => KeyCode::Backspace,
        "del" => KeyCode::Delete,
        "f1" => KeyCode::F(1),
        letter => {
            let mut letters = letter.chars();
            let first = letters.next()?;
            if letters.next().is_some() {
                return None;
            }
            KeyCode::Char(first)
        }
    };
    Some(KeyEvent::new(code, modifiers))
}

/// Whether a name is of two keys, pressed one after the other.
#[must_use]
pub fn is_of_two(name: &str) -> bool {
    let mut letters = name.chars();
    match (letters.next(), letters.next(), letters.next()) {
        (Some(first), Some(second), None) => {
            first == second || first == 'g' && second.is_ascii_digit()
        }
        _ => false,
    }
}

/// What keys pressed one after the other mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyMeaning {
    /// This.
    Action(Action),
    /// Perhaps something with the next key.
    Begun,
    /// Nothing.
    Nothing,
}

/// Looks `pressed` up in tables, the first one that has it first.
#[must_use]
pub fn meaning(pressed: &str, tables: &[&[Binding]]) -> KeyMeaning {
    let bindings = || tables.iter().flat_map(|table| table.iter());
    let has = |binding: &&Binding| binding.keys.contains(&pressed);
    if let Some(found) = bindings().find(has) {
        return KeyMeaning::Action(found.action);
    }
    let begins = |binding: &Binding| {
        let mut keys = binding.keys.iter();
        keys.any(|name| is_of_two(name) && name.starts_with(pressed))
    };
    if pressed.len() == 1 && bindings().any(begins) {
        KeyMeaning::Begun
    } else {
        KeyMeaning::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names() {
        let key = |code, modifiers| name(&KeyEvent::new(code, modifiers)).unwrap();
        assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT), "G");
        assert_eq!(key(KeyCode::Char('c'), KeyModifiers::CONTROL), "ctrl-c");
        assert_eq!(key(KeyCode::Left, KeyModifiers::SHIFT), "shift-left");
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), "backtab");
        assert_eq!(key(KeyCode::F(1), KeyModifiers::NONE), "f1");
    }

    #[test]
    fn two_keys_can_be_one_binding() {
        let tables = [LISTS, EVERYWHERE];
        assert_eq!(meaning("g", &tables), KeyMeaning::Begun);
        assert_eq!(meaning("gg", &tables), KeyMeaning::Action(Action::Top));
        assert_eq!(meaning("gx", &tables), KeyMeaning::Nothing);
        assert_eq!(meaning("f", &tables), KeyMeaning::Nothing);
        assert_eq!(meaning("q", &tables), KeyMeaning::Action(Action::Quit));
    }
}
