//! How things are shown: colours and letters, which times, and with or without sources.

use crate::analysis::AnalysisView;
use crate::theme::{Theme, ThemeName};

/// What the user has set for all screens.
#[derive(Debug)]
pub(super) struct DisplaySettings {
    theme: ThemeName,
    /// Times without the recorder's own, or as recorded, if the user has said so; else those that
    /// are known better.
    net: Option<bool>,
    /// What is no work is shown, too.
    all: bool,
    sources: bool,
    /// Only letters of ASCII are drawn.
    ascii: bool,
}

impl DisplaySettings {
    pub(super) fn new(theme: ThemeName) -> Self {
        Self {
            theme,
            net: None,
            all: false,
            sources: true,
            ascii: false,
        }
    }

    /// Source files are never read.
    pub(super) fn leave_out_sources(&mut self) {
        self.sources = false;
    }

    /// Draws letters of ASCII only, or all.
    pub(super) fn draw_in_ascii(&mut self, ascii: bool) {
        self.ascii = ascii;
    }

    pub(super) fn reads_sources(&self) -> bool {
        self.sources
    }

    pub(super) fn is_ascii(&self) -> bool {
        self.ascii
    }

    pub(super) fn colours(&self) -> Theme {
        Theme::new(self.theme)
    }

    /// Takes the next colours; returns what to say.
    pub(super) fn turn_theme(&mut self) -> String {
        self.theme = match self.theme {
            ThemeName::Dark => ThemeName::Light,
            ThemeName::Light => ThemeName::Plain,
            ThemeName::Plain => ThemeName::Dark,
        };
        format!("colours: {:?}", self.theme).to_lowercase()
    }

    /// Takes the other times than those that are shown; returns what to say.
    pub(super) fn toggle_net(&mut self, shown: &AnalysisView) -> &'static str {
        let net = !shown.is_net();
        self.net = Some(net);
        if net {
            "times without the recorder's own; – where they are not known"
        } else {
            "times as recorded"
        }
    }

    /// Shows what is no work, too, or leaves it out; returns what to say.
    pub(super) fn toggle_all(&mut self, shown: &AnalysisView) -> String {
        self.all = !self.all;
        match (self.all, shown.left_out()) {
            (_, None) => "all time is work: no waiting, loading, collections or set-up".to_owned(),
            (true, Some(parts)) => format!("shown, too: {parts}; shares are of all time"),
            (false, Some(parts)) => format!("left out: {parts}; shares are of work"),
        }
    }

    /// Figures as they are to be shown.
    pub(super) fn apply(&self, analysis: &AnalysisView) -> AnalysisView {
        let net = self.net.unwrap_or_else(|| analysis.net_is_measured());
        analysis.with_net(net).with_all(self.all)
    }
}
