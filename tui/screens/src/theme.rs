//! Colours. Every distinction that a colour makes is also made by a word, a sign, or bold, reverse and dim
//! letters, so that [`Theme::plain`] loses nothing.
//!
//! Text and background are the terminal's own; only the sixteen colours that every terminal has are used.

use ratatui::style::{Color, Modifier, Style};

/// Which colours to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ThemeName {
    /// For light text on dark ground.
    #[default]
    Dark,
    /// For dark text on light ground.
    Light,
    /// No colours.
    Plain,
}

/// A style for each thing that is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Ordinary text.
    pub text: Style,
    /// What matters less: guides, zeros, ancestors of what was searched.
    pub faint: Style,
    /// The line with the name of the trace.
    pub title: Style,
    /// A screen in the line of screens, and keys in the line of keys.
    pub tab: Style,
    /// The screen that is shown.
    pub tab_shown: Style,
    /// Column headings.
    pub heading: Style,
    /// The heading of the column that the table is sorted by.
    pub heading_sorted: Style,
    /// The row under the cursor.
    pub cursor: Style,
    /// What a screen is about: the predicate itself among callers and callees.
    pub subject: Style,
    /// Bars of shares.
    pub bar: Style,
    /// What was searched for.
    pub found: Style,
    /// Filters that are on.
    pub filter: Style,
    /// Keys.
    pub key: Style,
    /// Losses, damage, errors.
    pub warning: Style,
    /// The ports: call, exit, redo, fail, exception.
    pub ports: [Style; 5],
    /// Boxes of the flame graph, by turns.
    pub flames: [Style; 4],
}

impl Theme {
    /// The theme of this name.
    #[must_use]
    pub fn new(name: ThemeName) -> Self {
        match name {
            ThemeName::Dark => Self::coloured(&DARK),
            ThemeName::Light => Self::coloured(&LIGHT),
            ThemeName::Plain => Self::plain(),
        }
    }

    /// Without colours.
    #[must_use]
    pub fn plain() -> Self {
        let text = Style::new();
        let bold = text.add_modifier(Modifier::BOLD);
        let reversed = text.add_modifier(Modifier::REVERSED);
        Self {
            text,
            faint: text.add_modifier(Modifier::DIM),
            title: bold,
            tab: text,
            tab_shown: reversed,
            heading: text.add_modifier(Modifier::UNDERLINED),
            heading_sorted: bold.add_modifier(Modifier::UNDERLINED),
            cursor: reversed,
            subject: bold,
            bar: text,
            found: bold.add_modifier(Modifier::UNDERLINED),
            filter: bold,
            key: bold,
            warning: bold,
            ports: [text; 5],
            flames: [reversed, text, reversed, text],
        }
    }

    fn coloured(colours: &ThemeColours) -> Self {
        let plain = Self::plain();
        let fg = |color| Style::new().fg(color);
        let flame = |color| Style::new().fg(colours.on_flame).bg(color);
        Self {
            faint: fg(colours.faint),
            tab_shown: fg(colours.on_accent)
                .bg(colours.accent)
                .add_modifier(Modifier::BOLD),
            heading: plain.heading.fg(colours.accent),
            heading_sorted: plain.heading_sorted.fg(colours.accent),
            cursor: plain.cursor,
            subject: fg(colours.subject).add_modifier(Modifier::BOLD),
            bar: fg(colours.bar),
            found: fg(colours.found).add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            filter: fg(colours.found).add_modifier(Modifier::BOLD),
            key: fg(colours.accent).add_modifier(Modifier::BOLD),
            warning: fg(colours.bad).add_modifier(Modifier::BOLD),
            ports: colours.ports.map(fg),
            flames: colours.flames.map(flame),
            ..plain
        }
    }
}

struct ThemeColours {
    accent: Color,
    on_accent: Color,
    faint: Color,
    subject: Color,
    bar: Color,
    found: Color,
    bad: Color,
    ports: [Color; 5],
    flames: [Color; 4],
    on_flame: Color,
}

const DARK: ThemeColours = ThemeColours {
    accent: Color::LightCyan,
    on_accent: Color::Black,
    faint: Color::DarkGray,
    subject: Color::LightYellow,
    bar: Color::Yellow,
    found: Color::LightMagenta,
    bad: Color::LightRed,
    ports: [
        Color::LightCyan,
        Color::LightGreen,
        Color::LightYellow,
        Color::LightRed,
        Color::LightMagenta,
    ],
    flames: [
        Color::Yellow,
        Color::LightYellow,
        Color::LightRed,
        Color::Cyan,
    ],
    on_flame: Color::Black,
};

const LIGHT: ThemeColours = ThemeColours {
    accent: Color::Blue,
    on_accent: Color::White,
    // Zeros must be legible on white, too.
    faint: Color::DarkGray,
    subject: Color::Magenta,
    bar: Color::Blue,
    found: Color::Magenta,
    bad: Color::Red,
    ports: [
        Color::Blue,
        Color::Green,
        Color::Magenta,
        Color::Red,
        Color::Magenta,
    ],
    flames: [
        Color::LightYellow,
        Color::Yellow,
        Color::LightRed,
        Color::LightCyan,
    ],
    on_flame: Color::Black,
};
