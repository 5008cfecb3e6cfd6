//! How long keys take: every screen of some traces is driven with its keys and drawn.
//!
//! ```text
//! make bench-screens TRACES='a.pmt b.pmt'
//! ```
//!
//! For each trace: the time from the start to the first screen, and on each screen the slowest key until what it does is
//! drawn, as a share of the limit. Searches that go on in the background are stopped before the next key; a slow key is
//! measured [`TIMES`] times, and its best time counts, so that what others do on the machine does not. No key hides predicates: that
//! replays the trace in the background.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use portmortem_analyzer::trace::Trace;
use portmortem_screens::keys::{self, Action};
use portmortem_screens::screens::SCREENS;
use portmortem_screens::{App, ThemeName, view};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyEvent;

/// A key may take so long until its effect is seen.
const LIMIT: Duration = Duration::from_millis(50);

/// A whole picture of the timeline may take so long.
const PICTURE_LIMIT: Duration = Duration::from_millis(200);

/// So often each key is pressed.
const TIMES: usize = 3;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err("which traces?".into());
    }
    for path in paths {
        measure(&path)?;
    }
    Ok(())
}

/// A terminal of the larger size.
struct Shown {
    app: App,
    terminal: Terminal<TestBackend>,
}

impl Shown {
    fn draw(&mut self) -> Result<()> {
        let app = &mut self.app;
        self.terminal
            .draw(|frame| view::draw(app, frame.area(), frame.buffer_mut()))?;
        Ok(())
    }

    /// Does what each of some keys does, and draws it: how long the slowest took.
    fn press(&mut self, keys: &[KeyEvent]) -> Result<Duration> {
        let mut slowest = Duration::ZERO;
        for key in keys {
            let begin = Instant::now();
            self.app.key(key);
            self.draw()?;
            slowest = slowest.max(begin.elapsed());
        }
        // Files and clipboards are no business of this.
        self.app.requests();
        Ok(slowest)
    }
}

fn measure(path: &Path) -> Result<()> {
    let begin = Instant::now();
    let trace = Trace::open(path)?;
    let opened = begin.elapsed();
    let mut shown = Shown {
        app: App::new(trace, path, ThemeName::Dark, Default::default()),
        terminal: Terminal::new(TestBackend::new(160, 50))?,
    };
    shown.draw()?;
    let drawn = begin.elapsed();
    shown.app.wait();
    shown.draw()?;
    println!(
        "{}: opened in {}, drawn at {}, figures at {}",
        path.display(),
        ms(opened),
        ms(drawn),
        ms(begin.elapsed())
    );
    pictures(path)?;
    for entry in SCREENS {
        let (first, slowest, count) = screen(&mut shown, entry.digit)?;
        let Some((name, worst)) = slowest else {
            continue;
        };
        println!(
            "  {:<12} shown in {:>9}, slowest of {count} keys: {:>9} ({:>5.2} of the limit) {name}",
            entry.name,
            ms(first),
            ms(worst),
            worst.as_secs_f64() / LIMIT.as_secs_f64(),
        );
    }
    Ok(())
}

/// How long whole pictures of the timeline take, its first one and each closer one: not what is
/// drawn at once, but all.
fn pictures(path: &Path) -> Result<()> {
    let mut shown = Shown {
        app: App::new(
            Trace::open(path)?,
            path,
            ThemeName::Dark,
            Default::default(),
        ),
        terminal: Terminal::new(TestBackend::new(160, 50))?,
    };
    shown.draw()?;
    shown.app.wait();
    let mut times = Vec::new();
    for key in std::iter::once("5").chain(std::iter::repeat_n("+", 24)) {
        let begin = Instant::now();
        shown.press(&typed(key))?;
        shown.app.wait();
        shown.draw()?;
        times.push(begin.elapsed());
    }
    let slowest = times.iter().max().copied().unwrap_or_default();
    println!(
        "  timeline     first picture {:>9}, slowest of {} zooms {:>9} ({:>5.2} of the limit)",
        ms(times[0]),
        times.len() - 1,
        ms(slowest),
        slowest.as_secs_f64() / PICTURE_LIMIT.as_secs_f64(),
    );
    Ok(())
}

type Slowest = Option<(String, Duration)>;

/// Shows a screen, and presses all its keys in two places: how long the first picture took, the slowest key, and how
/// many there were.
fn screen(shown: &mut Shown, digit: char) -> Result<(Duration, Slowest, usize)> {
    let first = shown.press(&typed(&digit.to_string()))?;
    let mut times: BTreeMap<String, Duration> = BTreeMap::new();
    for place in ["home", "end", "pgup"] {
        for name in names(&shown.app) {
            let mut best = Duration::MAX;
            for _ in 0..TIMES {
                come_back(shown, digit, place)?;
                best = best.min(shown.press(&typed(&name))?);
                if best < LIMIT / 5 {
                    break;
                }
            }
            let worst = times.entry(name).or_default();
            *worst = best.max(*worst);
        }
    }
    come_back(shown, digit, "home")?;
    for (name, time) in times.iter().filter(|(_, time)| **time > LIMIT) {
        println!("    over the limit: {:>9} {name}", ms(*time));
    }
    let count = times.len();
    let slowest = times.into_iter().max_by_key(|(_, time)| *time);
    Ok((first, slowest, count))
}

/// Whatever keys did before, and whatever still goes on: to this screen, without filters, and there to this place.
fn come_back(shown: &mut Shown, digit: char, place: &str) -> Result<()> {
    for name in ["esc", "esc", "esc", &digit.to_string(), place] {
        shown.press(&typed(name))?;
    }
    shown.app.wait();
    shown.draw()
}

/// What is pressed: the names of keys that do something here, and some texts typed after one.
fn names(app: &App) -> Vec<String> {
    let tables = app.bindings();
    let bindings = tables.iter().flat_map(|(_, table)| table.iter());
    let mut names = Vec::new();
    for binding in bindings {
        let name = binding.keys[0].to_owned();
        match binding.action {
            Action::Quit | Action::Hide | Action::HidePattern | Action::Edit | Action::Export => {}
            Action::Filter => names.extend([
                format!("{name} a enter"),
                format!("{name} ~ [ x y ] enter"),
                format!("{name} e v e n t s > 1 k enter"),
                format!("{name} p r e d i c a t e space ~ space / 2 enter"),
            ]),
            Action::Palette => names.extend([
                name.clone(),
                format!("{name} 7 7 7 7 7 7 7 enter"),
                format!("{name} a / enter"),
            ]),
            Action::Suspend => {}
            _ => names.push(name),
        }
    }
    names
}

fn typed(names: &str) -> Vec<KeyEvent> {
    names.split(' ').filter_map(keys::key).collect()
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
