//! Random keys and mouse events, over recordings of all kinds and terminals of all sizes: no panic,
//! no loop, no wrong sum, and always a way back.
//!
//! The keys of a walk depend on its recording and number alone. `PORTMORTEM_SCREEN_EVENTS` says how
//! many events all walks have together.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod support;

use std::path::{Path, PathBuf};

use portmortem_analyzer::Filters;
use portmortem_analyzer::trace::Trace;
use portmortem_screens::app::Request;
use portmortem_screens::keys::{self, EVERYWHERE, LISTS};
use portmortem_screens::screens::{SCREENS, ScreenId};
use portmortem_screens::{App, ThemeName};
use support::{MOUSE, made, mouse, picture, sample, text, watchdog};

/// Events of all walks, unless the environment says otherwise.
const USUAL: u64 = 20_000;

const RECORDINGS: u64 = 10;

/// Events of a walk: more than there are places to go back to.
const LENGTH: u64 = 400;

/// Sizes that are met more often than others.
const SIZES: [(u16, u16); 6] = [(80, 24), (120, 36), (200, 60), (60, 15), (20, 5), (1, 1)];

/// The largest that is met.
const LARGEST: (u64, u64) = (300, 80);

/// What would be by chance, the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % most
    }

    /// Of a terminal: most are small.
    fn size(&mut self) -> (u16, u16) {
        let most = self.below(4) + 1;
        let width = 1 + self.below(LARGEST.0 * most / 4);
        let height = 1 + self.below(LARGEST.1 * most / 4);
        (width as u16, height as u16)
    }

    fn one<'o, T>(&mut self, of: &'o [T]) -> &'o T {
        &of[self.below(of.len() as u64) as usize]
    }
}

/// All keys that mean something, and some that a user may type.
fn names() -> Vec<&'static str> {
    let own = SCREENS.iter().flat_map(|entry| entry.make().bindings());
    let tables = own.chain(EVERYWHERE).chain(LISTS);
    let mut names: Vec<&str> = tables.flat_map(|binding| binding.keys).copied().collect();
    names.retain(|name| !keys::is_of_two(name) && !["q", "ctrl-c"].contains(name));
    names.extend([
        "a", "0", "1", ".", ">", "=", "(", "~", "-", "m", "enter", "esc",
    ]);
    names.extend(["g2", "g3", "g5", "g6", "g8", ":loop", ":1.2ms", ":p"]);
    names
}

/// Walks over a recording.
fn walk(path: &Path, recording: u64) {
    let events = std::env::var("PORTMORTEM_SCREEN_EVENTS").ok();
    let events = events.map_or(USUAL, |events| events.parse().expect("a number of events"));
    let names = names();
    for number in 0..events.div_ceil(RECORDINGS * LENGTH) {
        let seed = (recording << 32 | number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut chance = Chance(seed | 1);
        watchdog::begin(&format!("{} walk {number}:", path.display()));
        let trace = Trace::open(path).unwrap();
        let theme = *chance.one(&[ThemeName::Dark, ThemeName::Light, ThemeName::Plain]);
        let mut app = App::new(trace, path, theme, Filters::default()).without_sources();
        app.wait();
        // From the first picture on.
        let (mut width, mut height) = chance.size();
        text(&picture(&mut app, width, height));
        for _ in 0..LENGTH {
            match chance.below(20) {
                0 => (width, height) = *chance.one(&SIZES),
                1 => (width, height) = chance.size(),
                2..=5 => {
                    let (x, y) = (chance.below(width.into()), chance.below(height.into()));
                    mouse(&mut app, *chance.one(&MOUSE), x as u16, y as u16);
                }
                _ => {
                    let name = *chance.one(&names);
                    support::keys(&mut app, name);
                }
            }
            let shown = text(&picture(&mut app, width, height));
            // Said where a conservation law does not hold.
            assert!(!shown.contains("DEFECT"), "{}\n{shown}", watchdog::done());
            app.requests();
        }
        comes_back(&mut app);
    }
}

/// From anywhere Esc leads to where all began; the shares of what is shown there make a whole.
fn comes_back(app: &mut App) {
    support::keys(app, &"esc ".repeat(100));
    let shown = text(&picture(app, 200, 60));
    let done = watchdog::done();
    assert_eq!(app.screen(), ScreenId::Predicates, "{done}\n{shown}");
    assert!(shown.contains("nothing to undo"), "{done}\n{shown}");
    for left in ["Esc: back", "filter:", " · in: ", " · hide: ", " · time: "] {
        assert!(!shown.contains(left), "{done}\n{shown}");
    }
    app.requests();
    support::keys(app, "Y");
    let Some(Request::Copy(rows)) = app.requests().pop() else {
        panic!("{done}\n{shown}");
    };
    let (names, rows) = rows.split_once('\n').unwrap();
    let share = names.split(',').position(|name| {
        // Columns are hidden and shown by keys, too.
        name == "self_share" || name == "self_comp_share"
    });
    if let Some(at) = share {
        let share = |row: &str| {
            row.split(',')
                .nth(at)
                .unwrap()
                .parse::<f64>()
                .unwrap_or(0.0)
        };
        let sum: f64 = rows.lines().map(share).sum();
        let rounded = 0.06 * rows.lines().count() as f64;
        assert!((sum - 100.0).abs() <= rounded, "{sum}: {done}\n{shown}");
    }
}

/// A recording whose second half is gone.
fn cut() -> PathBuf {
    let whole = std::fs::read(sample("queens.pmt")).unwrap();
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("walks");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("cut.pmt");
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    path
}

/// Each recording is a test of its own, so that they run side by side.
macro_rules! walks {
    ($( $name:ident: $number:literal $path:expr; )*) => {
        $(
            #[test]
            fn $name() {
                walk(&$path, $number);
            }
        )*
    };
}

walks! {
    over_a_search: 0 sample("queens.pmt");
    over_threads: 1 sample("threads_exceptions.pmt");
    over_waiting: 2 sample("scan.pmt");
    over_a_parser: 3 sample("parser.pmt");
    over_recursion: 4 sample("metainterp.pmt");
    over_few_boxes: 5 sample("debray2.pmt");
    over_no_last_calls: 6 sample("debray4.pmt");
    over_a_shop: 7 sample("../docs/questions/shop.pmt");
    over_half_a_recording: 8 cut();
    over_a_large_program: 9 made::program();
}
