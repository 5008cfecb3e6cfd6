//! The program's state: which screen is shown, which filters are on, what is asked for at the moment.
//!
//! Pure: keys and results of analyses go in, [`Request`]s come out; nothing here touches a terminal.

mod comparing;
mod dispatch;
mod follow;
mod history;
mod moments;
mod recording;
mod reload;
mod settings;
mod slots;
mod steps;
mod targets;
mod typed;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::trace::{PredicateIndex, Trace, TraceError};
use portmortem_analyzer::{Analysis, Filters};

use crate::analysis::AnalysisView;
use crate::keys::{self, Action, Binding};
use crate::overlay::Overlay;
use crate::screen::{Effect, Place as ScreenPlace, Screen};
use crate::screens::{SCREENS, ScreenId};
use crate::theme::{Theme, ThemeName};
use crate::worker::{Received, Worker};
use comparing::Comparing;
use history::{History, HistoryPlace};
use moments::SlowestOf;
use recording::OpenRecording;
use settings::DisplaySettings;
use slots::ScreenSlots;
pub(crate) use targets::{LineCells, Targets};
use typed::TypedKeys;

/// What only the terminal can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// End the program.
    Quit,
    /// Put a text on the clipboard.
    Copy(String),
    /// Write a new file.
    Write(PathBuf, String),
    /// Open an editor at a line.
    Edit(PathBuf, u32),
    /// Draw everything again.
    Redraw,
    /// Stop until the shell continues the program.
    Suspend,
}

/// The state.
#[derive(Debug)]
pub struct App {
    recording: OpenRecording,
    analysis: Option<Arc<AnalysisView>>,
    job: Option<Worker<Analysis>>,
    /// What is looked at.
    filters: Filters,
    screens: ScreenSlots,
    history: History,
    overlay: Option<Overlay>,
    typed: TypedKeys,
    message: Option<String>,
    requests: Vec<Request>,
    settings: DisplaySettings,
    slowest_of: Option<SlowestOf>,
    /// A call that is compared with the usual one.
    comparing: Option<Comparing>,
    /// The filter to begin with.
    first_filter: Option<String>,
    /// What was drawn that can be clicked on, beside the screen.
    pub(crate) targets: Targets,
}

impl App {
    /// Begins to analyse a trace.
    #[must_use]
    pub fn new(trace: Trace, path: &Path, theme: ThemeName, filters: Filters) -> Self {
        let filters = filters.of(&trace);
        let mut app = Self {
            recording: OpenRecording::new(trace, path),
            analysis: None,
            job: None,
            filters,
            screens: ScreenSlots::new(),
            history: History::default(),
            overlay: None,
            typed: TypedKeys::default(),
            message: None,
            requests: Vec::new(),
            settings: DisplaySettings::new(theme),
            slowest_of: None,
            comparing: None,
            first_filter: None,
            targets: Targets::default(),
        };
        app.analyse();
        app
    }

    /// The same, never reading source files: for pictures that must not depend on them.
    #[must_use]
    pub fn without_sources(mut self) -> Self {
        self.settings.leave_out_sources();
        self
    }

    /// Draws letters of ASCII only.
    #[must_use]
    pub fn in_ascii(mut self, ascii: bool) -> Self {
        self.settings.draw_in_ascii(ascii);
        self
    }

    pub(crate) fn is_ascii(&self) -> bool {
        self.settings.is_ascii()
    }

    /// Compares with another recording, or with several of one program.
    #[must_use]
    pub fn compared_with(mut self, before: impl IntoIterator<Item = PathBuf>) -> Self {
        self.recording.compare_with(before);
        self
    }

    /// The same with further recordings of what is shown.
    #[must_use]
    pub fn beside(mut self, others: impl IntoIterator<Item = PathBuf>) -> Self {
        self.recording.show_beside(others);
        self
    }

    /// Filters the first screen as soon as it has something to show.
    pub fn begin_with_filter(&mut self, filter: String) {
        self.first_filter = Some(filter);
    }

    /// Whether the trace still has all that it had. A recording that ends gives back the room that
    /// it did not need: one that is followed is read again then.
    pub(crate) fn check_trace(&mut self) -> Result<(), TraceError> {
        let whole = self.recording.check_whole();
        if whole.is_err() && self.recording.is_followed() && self.reload() {
            return Ok(());
        }
        whole
    }

    /// Takes the results of the background threads, if there are any; `true` if something changed.
    pub fn poll(&mut self) -> bool {
        let before = self.here();
        let effect = self.shown_mut().poll(false);
        let changed = effect != Effect::Unused;
        self.found(effect, before);
        self.find_slowest(false);
        let compared = self.take_comparison(false);
        // What its thread made may be what is looked for the name in.
        self.screens.look_for_name();
        self.keys_ahead();
        self.follow_trace();
        self.take(Some(Instant::now())) || changed || compared
    }

    /// Waits for the background thread, and for those of the screen.
    pub fn wait(&mut self) {
        self.take(None);
        self.find_slowest(true);
        self.take_comparison(true);
        loop {
            let before = self.here();
            match self.shown_mut().poll(true) {
                Effect::Unused => {
                    self.screens.look_for_name();
                    return self.keys_ahead();
                }
                effect => self.found(effect, before),
            }
        }
    }

    /// Takes the analysis, for which it waits until some moment, or as long as it takes; `true` if
    /// something changed.
    fn take(&mut self, until: Option<Instant>) -> bool {
        let Some(job) = &self.job else { return false };
        match job.next(until) {
            Received::NotYet => return false,
            Received::Value(analysis) => {
                self.job = None;
                let sources = self.settings.reads_sources();
                let view = self.recording.view(analysis, sources);
                self.set_analysis(&view);
                self.return_to();
                if let Some(ending) = self.recording.figures_came(&view) {
                    self.say(ending);
                }
            }
            Received::Ended => {
                self.job = None;
                self.message = Some("the analysis broke off: a defect of Portmortem".to_owned());
            }
        }
        true
    }

    /// What is to be done outside, once.
    pub fn requests(&mut self) -> Vec<Request> {
        std::mem::take(&mut self.requests)
    }

    /// Shows a message until the next key.
    pub fn say(&mut self, message: impl Into<String>) {
        self.message = Some(message.into());
    }

    /// The screen shown.
    #[must_use]
    pub fn screen(&self) -> ScreenId {
        self.screens.entry().id
    }

    /// Shows a screen.
    pub fn show(&mut self, id: ScreenId) {
        if let Some(at) = SCREENS.iter().position(|entry| entry.id == id) {
            self.show_at(at);
        }
    }

    /// The tables of bindings that hold now, the first one first.
    #[must_use]
    pub fn bindings(&self) -> Vec<(&'static str, &'static [Binding])> {
        let screen = self.shown();
        let mut tables = vec![(self.screens.entry().name, screen.bindings())];
        if screen.table().is_some() {
            tables.push(("Lists", keys::LISTS));
        }
        tables.push(("Everywhere", keys::EVERYWHERE));
        tables
    }

    /// The same without those that nothing here can be done with: for the line of keys and the palette.
    #[must_use]
    pub fn offered(&self) -> Vec<(&'static str, Vec<Binding>)> {
        let offered = |binding: &&Binding| self.offers(binding.action);
        let tables = self.bindings().into_iter();
        tables
            .map(|(name, table)| (name, table.iter().filter(offered).copied().collect()))
            .collect()
    }

    /// What can be done on other screens: the place of the screen, what the keys are for, and the keys.
    pub(crate) fn offered_elsewhere(&self) -> Vec<(usize, String, Vec<Binding>)> {
        let sections = self.screens.others().map(|(at, screen)| {
            let own = screen.bindings();
            // The first screen is a list; all lists share their keys.
            let lists = match at == 0 && self.shown().table().is_none() {
                true => keys::LISTS,
                false => &[],
            };
            let means = |binding: &&Binding| {
                let meaning = keys::meaning(binding.keys[0], &[own, lists]);
                meaning == keys::KeyMeaning::Action(binding.action)
            };
            let table = own.iter().chain(lists).filter(means).copied().collect();
            let entry = SCREENS[at];
            (at, format!("On {} {}", entry.digit, entry.name), table)
        });
        sections.collect()
    }

    fn offers(&self, action: Action) -> bool {
        let shown = self.shown();
        match action {
            Action::Export | Action::Copy | Action::CopyAll => !shown.is_empty(),
            Action::SlowestCall | Action::Compare => {
                shown.has_predicates() || shown.event().is_some()
            }
            Action::FirstEvent | Action::Hide | Action::Focus | Action::Edit => {
                shown.has_predicates()
            }
            _ => true,
        }
    }

    pub(crate) fn colours(&self) -> Theme {
        self.settings.colours()
    }

    pub(crate) fn name(&self) -> String {
        self.recording.name()
    }

    pub(crate) fn analysis(&self) -> Option<&Arc<AnalysisView>> {
        self.analysis.as_ref()
    }

    pub(crate) fn progress(&self) -> Option<f64> {
        let job = self.job.as_ref().map(Worker::share);
        job.or_else(|| self.slowest_share())
            .or_else(|| self.shown().progress())
    }

    /// The filters that are on, in words.
    pub(crate) fn filters(&self) -> Vec<String> {
        let (filters, trace) = (self.filters.filters().iter(), self.recording.trace());
        let mut labels: Vec<String> = filters.map(|filter| filter.label(trace)).collect();
        if self.analysis.as_ref().is_some_and(|of| of.is_net()) {
            labels.push("net times".to_owned());
        }
        labels
    }

    pub(crate) fn shown(&self) -> &dyn Screen {
        self.screens.shown()
    }

    pub(crate) fn shown_mut(&mut self) -> &mut dyn Screen {
        self.screens.shown_mut()
    }

    pub(crate) fn overlay(&self) -> Option<&Overlay> {
        self.overlay.as_ref()
    }

    pub(crate) fn overlay_mut(&mut self) -> Option<&mut Overlay> {
        self.overlay.as_mut()
    }

    pub(crate) fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    fn show_at(&mut self, at: usize) {
        self.screens.show(at, self.analysis.as_ref());
    }

    /// Shows the other times.
    fn toggle_net(&mut self) {
        let Some(analysis) = self.analysis.clone() else {
            return;
        };
        if analysis.profile.net.is_none() {
            return self.say("the trace does not say what recording it cost");
        }
        let text = self.settings.toggle_net(&analysis);
        self.say(text);
        self.set_analysis(&analysis);
    }

    /// Shows what is no work, too, or leaves it out: on all screens.
    fn toggle_all(&mut self) {
        let Some(analysis) = self.analysis.clone() else {
            return;
        };
        let text = self.settings.toggle_all(&analysis);
        self.say(text);
        self.set_analysis(&analysis);
    }

    fn set_analysis(&mut self, analysis: &AnalysisView) {
        if let Some(before) = &self.analysis {
            before.stop_calls_unless(analysis);
        }
        let analysis = Arc::new(self.settings.apply(analysis));
        self.screens.follow(&analysis);
        self.analysis = Some(analysis);
        if let Some(filter) = self.first_filter.take() {
            self.commit_filter(&filter, "");
        }
    }

    /// Replays what is looked at now; what was under way is cancelled.
    fn analyse(&mut self) {
        self.job = Some(self.recording.analyse(self.filters.clone()));
    }

    /// Does what a screen asked for; `before`: where the user was when it was asked.
    fn effect(&mut self, effect: Effect, before: HistoryPlace) {
        match effect {
            Effect::Done | Effect::Unused => {}
            Effect::Step => self.step_from(before),
            Effect::StepSaying(text) => {
                self.step_from(before);
                self.say(text);
            }
            Effect::Say(text) => self.say(text),
            Effect::Open(predicate) => self.open(predicate),
            Effect::Place(place) => self.open_at(place),
            Effect::Event(target) => self.go_to_event(target),
            Effect::Copy(text) => self.copy(text),
            Effect::Edit(path, line) => self.requests.push(Request::Edit(path, line)),
        }
    }

    /// Shows a predicate; Esc comes back.
    fn open(&mut self, predicate: PredicateIndex) {
        let (from, before) = (self.screens.place(), self.here());
        self.show(ScreenId::Predicate);
        let moved = self.shown_mut().select(predicate) == Effect::Step;
        if self.screens.place() != from || moved {
            self.step_from(before);
        }
    }

    /// Shows a place in a predicate; Esc comes back.
    fn open_at(&mut self, place: ScreenPlace) {
        let (from, before) = (self.screens.place(), self.here());
        self.show(ScreenId::Predicate);
        let moved = self.shown_mut().show_place(place) == Effect::Step;
        if self.screens.place() != from || moved {
            self.step_from(before);
        }
    }

    fn copy(&mut self, text: String) {
        let lines = text.lines().count() as u64;
        self.say(format!(
            "{} copied",
            crate::format::counted(lines, "line", "lines")
        ));
        self.requests.push(Request::Copy(text));
    }
}
