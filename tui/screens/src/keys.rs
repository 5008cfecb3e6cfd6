//! Keys as data: what is dispatched and what help lists come from the same tables.
//!
//! A [`Binding`] has all names of its keys, the action, and two texts: `label` for the line of keys at the
//! bottom (empty: not shown there) and `about` for help. A name is that of one key (`j`, `G`, `ctrl-c`,
//! `pgdn`, see [`name`]) or of a letter pressed twice (`gg`).

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// Everything that a key can do. Which screen does what with it, the screens say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// End the program.
    Quit,
    /// Undo one step.
    Back,
    /// Show everything that can be done and gone to.
    Palette,
    /// Show the screen with this digit.
    Show(char),
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

/// From a predicate to its slowest call.
pub const SLOWEST_CALL: Binding = bind(
    &["v"],
    Action::SlowestCall,
    "slowest call",
    "show the slowest call of the predicate among the events",
);
/// One line up.
pub const UP: Binding = bind(&["up", "k"], Action::Up, "", "up");
/// One line down.
pub const DOWN: Binding = bind(&["down", "j"], Action::Down, "", "down");
/// As many lines up as are seen.
pub const PAGE_UP: Binding = bind(&["pgup", "ctrl-b"], Action::PageUp, "", "a screenful up");
/// As many lines down as are seen.
pub const PAGE_DOWN: Binding = bind(
    &["pgdn", "ctrl-f", "space"],
    Action::PageDown,
    "",
    "a screenful down",
);

/// Keys that do the same on every screen.
pub const EVERYWHERE: &[Binding] = &[
    bind(
        &["?", ":", "f1"],
        Action::Palette,
        "help",
        "all keys; type what to do, a name, an event's number",
    ),
    bind(&["q", "ctrl-c"], Action::Quit, "quit", "end the program"),
    bind(
        &["esc", "backspace"],
        Action::Back,
        "",
        "undo one step: a filter, a way in, a zoom",
    ),
    bind(&["1"], Action::Show('1'), "", "all predicates"),
    bind(
        &["2"],
        Action::Show('2'),
        "",
        "the predicate under the cursor",
    ),
    bind(&["3"], Action::Show('3'), "", "the call tree"),
    bind(&["4"], Action::Show('4'), "", "backtracking"),
    bind(
        &["5"],
        Action::Show('5'),
        "",
        "the timeline, at this moment",
    ),
    bind(&["6"], Action::Show('6'), "", "the events, at this moment"),
    bind(&["7"], Action::Show('7'), "", "advice"),
    bind(&["8"], Action::Show('8'), "", "the flame graph"),
    bind(&["9"], Action::Show('9'), "", "the trace and its streams"),
    bind(
        &["0"],
        Action::Show('0'),
        "",
        "what changed since another recording",
    ),
    bind(&["tab"], Action::NextScreen, "", "next screen"),
    bind(&["backtab"], Action::PreviousScreen, "", "screen before"),
    bind(
        &["v"],
        Action::SlowestCall,
        "event",
        "show the event here, a box's call, or the slowest call",
    ),
    bind(
        &["V"],
        Action::FirstEvent,
        "",
        "show the first event of the predicate",
    ),
    bind(
        &["d", "del"],
        Action::Hide,
        "hide",
        "hide the predicate: its time goes to its callers",
    ),
    bind(
        &["D"],
        Action::HidePattern,
        "",
        "hide predicates by a pattern: lists:*, call/*",
    ),
    bind(
        &["C"],
        Action::Net,
        "",
        "times without the recorder's own (net), or as recorded",
    ),
    bind(
        &["W"],
        Action::Window,
        "",
        "look only at a range of time: 1.5ms..2s",
    ),
    bind(
        &["o"],
        Action::Edit,
        "",
        "open the source in $VISUAL or $EDITOR, at the line",
    ),
    bind(
        &["y"],
        Action::Copy,
        "",
        "copy the row (through the terminal, also over ssh)",
    ),
    bind(&["Y"], Action::CopyAll, "", "copy the whole view"),
    bind(&["e"], Action::Export, "export", "write the view as a file"),
    bind(
        &["F"],
        Action::Focus,
        "focus",
        "look only at what runs in this predicate or context",
    ),
    bind(&["T"], Action::Theme, "", "colours: dark, light, none"),
    bind(&["R"], Action::Reload, "", "read the trace again"),
    bind(&["ctrl-l"], Action::Redraw, "", "draw everything again"),
    bind(
        &["ctrl-z"],
        Action::Suspend,
        "",
        "stop; the shell's fg goes on",
    ),
];

/// Keys of all lists.
pub const LISTS: &[Binding] = &[
    bind(
        &["/"],
        Action::Filter,
        "filter",
        "filter: a word, ~regex, or fails > 1k and self > 1ms",
    ),
    bind(
        &["s"],
        Action::Columns,
        "sort",
        "choose the column to sort by, and which are shown",
    ),
    bind(&["r"], Action::Reverse, "reverse", "turn the order round"),
    bind(
        &["<", ","],
        Action::SortLeft,
        "",
        "sort by the column to the left",
    ),
    bind(
        &[">", "."],
        Action::SortRight,
        "",
        "sort by the column to the right",
    ),
    UP,
    DOWN,
    PAGE_UP,
    PAGE_DOWN,
    bind(&["home", "gg"], Action::Top, "", "to the first row"),
    bind(&["end", "G"], Action::Bottom, "", "to the last row"),
    bind(
        &["left", "h"],
        Action::Left,
        "",
        "columns to the left; in trees: fold, or go up",
    ),
    bind(
        &["right", "l"],
        Action::Right,
        "",
        "columns to the right; in trees: unfold",
    ),
    bind(
        &["shift-left", "H"],
        Action::ScrollLeft,
        "",
        "columns to the left, in trees too",
    ),
    bind(
        &["shift-right", "L"],
        Action::ScrollRight,
        "",
        "columns to the right, in trees too",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "",
        "go into the predicate of the row",
    ),
    bind(
        &["n"],
        Action::NextMatch,
        "",
        "next row that the filter found",
    ),
    bind(&["N"], Action::PreviousMatch, "", "the one before"),
    bind(
        &["m"],
        Action::Mark,
        "",
        "mark the row, or take the mark away",
    ),
    bind(&["'"], Action::NextMark, "", "to the next mark"),
];

/// Keys of the event stream.
pub const EVENTS: &[Binding] = &[
    bind(
        &["%"],
        Action::BoxEnd,
        "other end",
        "from the call of the box to where it ends, and back",
    ),
    bind(
        &["v"],
        Action::BoxCall,
        "its call",
        "to the call of this box, then of the one around it",
    ),
    bind(
        &["x"],
        Action::Cause,
        "why",
        "why: who failed last, cut, raised it, caught it",
    ),
    bind(
        &["/"],
        Action::Filter,
        "filter",
        "list only some: port = fail and depth > 10, or a word",
    ),
    bind(
        &["n"],
        Action::NextMatch,
        "",
        "next event that the filter finds; without one, as *",
    ),
    bind(&["N"], Action::PreviousMatch, "", "the one before"),
    bind(
        &["*"],
        Action::NextOfPredicate,
        "same predicate",
        "next event of the same predicate",
    ),
    bind(
        &["#"],
        Action::PreviousOfPredicate,
        "",
        "event before of the same predicate",
    ),
    bind(
        &[".", ">"],
        Action::NextPort,
        "same port",
        "next event at the same port",
    ),
    bind(
        &[",", "<"],
        Action::PreviousPort,
        "",
        "event before at the same port",
    ),
    bind(
        &["enter"],
        Action::Enter,
        "predicate",
        "go into the predicate of the event, or of the box",
    ),
    bind(
        &["t"],
        Action::NextTable,
        "",
        "to the boxes beside the list; arrows scroll",
    ),
    bind(
        &["["],
        Action::RangeBegin,
        "",
        "a range of time begins at the event",
    ),
    bind(
        &["]"],
        Action::RangeEnd,
        "",
        "a range of time ends after the event",
    ),
    bind(&["}"], Action::NextStream, "", "next stream"),
    bind(&["{"], Action::PreviousStream, "", "stream before"),
    bind(&["up", "k"], Action::Up, "", "one event back"),
    bind(&["down", "j"], Action::Down, "", "one event on"),
    bind(&["pgup", "ctrl-b"], Action::PageUp, "", "a screenful back"),
    bind(
        &["pgdn", "ctrl-f", "space"],
        Action::PageDown,
        "",
        "a screenful on",
    ),
    bind(&["home", "gg"], Action::Top, "", "to the first event"),
    bind(&["end", "G"], Action::Bottom, "", "to the last event"),
];

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

/// What keys pressed one after the other mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// This.
    Action(Action),
    /// Perhaps something with the next key.
    Begun,
    /// Nothing.
    Nothing,
}

/// Looks `pressed` up in tables, the first one that has it first.
#[must_use]
pub fn meaning(pressed: &str, tables: &[&[Binding]]) -> Meaning {
    let bindings = || tables.iter().flat_map(|table| table.iter());
    let has = |binding: &&Binding| binding.keys.contains(&pressed);
    if let Some(found) = bindings().find(has) {
        return Meaning::Action(found.action);
    }
    // The only names of two keys are doubled letters.
    let doubled = pressed.repeat(2);
    let begins = |binding: &Binding| binding.keys.contains(&doubled.as_str());
    if pressed.len() == 1 && bindings().any(begins) {
        Meaning::Begun
    } else {
        Meaning::Nothing
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
        assert_eq!(meaning("g", &tables), Meaning::Begun);
        assert_eq!(meaning("gg", &tables), Meaning::Action(Action::Top));
        assert_eq!(meaning("gx", &tables), Meaning::Nothing);
        assert_eq!(meaning("f", &tables), Meaning::Nothing);
        assert_eq!(meaning("q", &tables), Meaning::Action(Action::Quit));
    }
}
