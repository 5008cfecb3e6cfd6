//! The program's state: which screen is shown, which filters are on, what is asked for at the moment.
//!
//! Pure: keys and results of analyses go in, [`Request`]s come out; nothing here touches a terminal.

mod comparing;
mod dispatch;
mod history;
mod moments;
mod reload;
mod targets;

use ratatui::crossterm::event::KeyEvent;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::trace::{PredicateIndex, Trace, TraceError};

use crate::analysis::{AnalysisView, analyse};
use crate::keys::{self, Action, Binding};
use crate::overlay::Overlay;
use crate::screen::{Effect, Place as ScreenPlace, Screen, Spot};
use crate::screens::{SCREENS, ScreenEntry, ScreenId};
use crate::theme::{Theme, ThemeName};
use crate::worker::{Received, Worker};
use comparing::Comparing;
use history::{History, HistoryPlace};
use moments::SlowestOf;
use portmortem_analyzer::{Analysis, Filters, SoFar};
use reload::Follow;
pub(crate) use targets::Targets;

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
    path: PathBuf,
    trace: Arc<Trace>,
    analysis: Option<Arc<AnalysisView>>,
    job: Option<Worker<Analysis>>,
    /// How far a trace is replayed that is still being recorded.
    so_far: Arc<SoFar>,
    /// What is looked at.
    filters: Filters,
    screens: Vec<ScreenSlot>,
    shown: usize,
    history: History,
    /// Where a filter was asked for.
    asked: Option<HistoryPlace>,
    /// Where to go back to when its figures are there.
    returns: Option<(usize, Spot)>,
    /// What is looked for on all screens that have no filter of their own.
    name: String,
    overlay: Option<Overlay>,
    /// Keys for what the screen is still making.
    ahead: Vec<KeyEvent>,
    /// The first of two keys.
    begun: String,
    message: Option<String>,
    requests: Vec<Request>,
    theme_name: ThemeName,
    /// Times without the recorder's own, or as recorded, if the user has said so; else what is known better.
    net: Option<bool>,
    /// What is no work is shown, too.
    all: bool,
    sources: bool,
    /// Only letters of ASCII are drawn.
    ascii: bool,
    /// The recordings to compare with, and further ones of what is shown.
    before: Vec<PathBuf>,
    beside: Vec<PathBuf>,
    /// The trace is still being recorded.
    follow: Option<Follow>,
    slowest_of: Option<SlowestOf>,
    /// A call that is compared with the usual one.
    comparing: Option<Comparing>,
    /// The newest step led to an event that is still looked for.
    arriving: bool,
    /// The filter to begin with.
    first_filter: Option<String>,
    /// The column where the mouse was pressed last, below the names of screens.
    pressed: Option<u16>,
    /// What was drawn that can be clicked on, beside the screen.
    pub(crate) targets: Targets,
}

#[derive(Debug)]
struct ScreenSlot {
    screen: Box<dyn Screen>,
    /// It has not seen the analysis yet.
    stale: bool,
    /// It was shown with figures.
    seen: bool,
    /// The name that it was told to look for.
    name: String,
}

impl App {
    /// Begins to analyse a trace.
    #[must_use]
    pub fn new(trace: Trace, path: &Path, theme: ThemeName, filters: Filters) -> Self {
        let make = |entry: &ScreenEntry| ScreenSlot {
            screen: entry.make(),
            stale: true,
            seen: false,
            name: String::new(),
        };
        let filters = filters.of(&trace);
        let mut app = Self {
            path: path.to_owned(),
            trace: Arc::new(trace),
            analysis: None,
            job: None,
            so_far: Arc::default(),
            filters,
            screens: SCREENS.iter().map(make).collect(),
            shown: 0,
            history: History::default(),
            asked: None,
            returns: None,
            name: String::new(),
            overlay: None,
            ahead: Vec::new(),
            begun: String::new(),
            message: None,
            requests: Vec::new(),
            theme_name: theme,
            net: None,
            all: false,
            sources: true,
            ascii: false,
            before: Vec::new(),
            beside: Vec::new(),
            follow: None,
            slowest_of: None,
            comparing: None,
            arriving: false,
            first_filter: None,
            pressed: None,
            targets: Targets::default(),
        };
        app.analyse();
        app
    }

    /// The same, never reading source files: for pictures that must not depend on them.
    #[must_use]
    pub fn without_sources(mut self) -> Self {
        self.sources = false;
        self
    }

    /// Draws letters of ASCII only.
    #[must_use]
    pub fn in_ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }

    pub(crate) fn is_ascii(&self) -> bool {
        self.ascii
    }

    /// Compares with another recording, or with several of one program.
    #[must_use]
    pub fn compared_with(mut self, before: impl IntoIterator<Item = PathBuf>) -> Self {
        self.before = before.into_iter().collect();
        self
    }

    /// The same with further recordings of what is shown.
    #[must_use]
    pub fn beside(mut self, others: impl IntoIterator<Item = PathBuf>) -> Self {
        self.beside = others.into_iter().collect();
        self
    }

    /// Filters the first screen as soon as it has something to show.
    pub fn begin_with_filter(&mut self, filter: String) {
        self.first_filter = Some(filter);
    }

    /// Whether the trace still has all that it had. A recording that ends gives back the room that it did not need: one that is
    /// followed is read again then.
    pub(crate) fn check_trace(&mut self) -> Result<(), TraceError> {
        let whole = self.trace.check_whole(&self.path);
        if whole.is_err() && self.follow.is_some() && self.reload() {
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
        self.look_for_name();
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
                    self.look_for_name();
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
                let view = AnalysisView::new(Arc::new(analysis), self.sources)
                    .compared_with(&self.before, &self.beside)
                    .followed(self.follow.is_some());
                self.set_analysis(&view);
                self.return_to();
                self.followed(&view);
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
        SCREENS[self.shown].id
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
        let screen = &self.screens[self.shown].screen;
        let own = screen.bindings();
        let mut tables = vec![(SCREENS[self.shown].name, own)];
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
        let others = (0..self.screens.len()).filter(|at| *at != self.shown);
        let sections = others.map(|at| {
            let own = self.screens[at].screen.bindings();
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
        Theme::new(self.theme_name)
    }

    pub(crate) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        portmortem_analyzer::trace::names::printable(&name.to_string_lossy())
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
        let filters = self.filters.filters().iter();
        let mut labels: Vec<String> = filters.map(|filter| filter.label(&self.trace)).collect();
        if self.analysis.as_ref().is_some_and(|of| of.is_net()) {
            labels.push("net times".to_owned());
        }
        labels
    }

    pub(crate) fn shown(&self) -> &dyn Screen {
        &*self.screens[self.shown].screen
    }

    pub(crate) fn shown_mut(&mut self) -> &mut dyn Screen {
        &mut *self.screens[self.shown].screen
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
        self.shown = at;
        if let (true, Some(analysis)) = (self.screens[at].stale, &self.analysis) {
            self.screens[at].screen.follow(analysis);
            self.screens[at].stale = false;
        }
        self.screens[at].seen |= self.analysis.is_some();
        self.look_for_name();
    }

    /// Shows the other times.
    fn toggle_net(&mut self) {
        let Some(analysis) = self.analysis.clone() else {
            return;
        };
        if analysis.profile.net.is_none() {
            return self.say("the trace does not say what recording it cost");
        }
        let net = !analysis.is_net();
        self.net = Some(net);
        self.say(if net {
            "times without the recorder's own; – where they are not known"
        } else {
            "times as recorded"
        });
        self.set_analysis(&analysis);
    }

    /// Shows what is no work, too, or leaves it out: on all screens.
    fn toggle_all(&mut self) {
        let Some(analysis) = self.analysis.clone() else {
            return;
        };
        let left_out = analysis.left_out();
        self.all = !self.all;
        self.say(match (self.all, left_out) {
            (_, None) => "all time is work: no waiting, loading, collections or set-up".to_owned(),
            (true, Some(parts)) => format!("shown, too: {parts}; shares are of all time"),
            (false, Some(parts)) => format!("left out: {parts}; shares are of work"),
        });
        self.set_analysis(&analysis);
    }

    fn set_analysis(&mut self, analysis: &AnalysisView) {
        if let Some(before) = &self.analysis {
            before.stop_calls_unless(analysis);
        }
        let net = self.net.unwrap_or_else(|| analysis.net_is_measured());
        self.analysis = Some(Arc::new(analysis.with_net(net).with_all(self.all)));
        self.screens.iter_mut().for_each(|slot| slot.stale = true);
        self.show_at(self.shown);
        if let Some(filter) = self.first_filter.take() {
            self.commit_filter(&filter, "");
        }
    }

    /// Replays what is looked at now; what was under way is cancelled.
    fn analyse(&mut self) {
        let trace = Arc::clone(&self.trace);
        self.job = Some(analyse(
            trace,
            &self.path,
            self.filters.clone(),
            &self.so_far,
        ));
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
        let (from, before) = (self.shown, self.here());
        self.show(ScreenId::Predicate);
        let moved = self.shown_mut().select(predicate) == Effect::Step;
        if self.shown != from || moved {
            self.step_from(before);
        }
    }

    /// Shows a place in a predicate; Esc comes back.
    fn open_at(&mut self, place: ScreenPlace) {
        let (from, before) = (self.shown, self.here());
        self.show(ScreenId::Predicate);
        let moved = self.shown_mut().show_place(place) == Effect::Step;
        if self.shown != from || moved {
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
