//! The terminal: entering and leaving the screen, events, clipboard, editor, files.
//!
//! Whatever happens (an error, a panic, a signal), the terminal is given back as it was. If it is
//! gone there is nothing to give back, and the program ends at once ([`end_with_the_terminal`]).
//!
//! The terminal is never asked anything: some never answer. So [`Terminal::clear`], which asks where the cursor is, is not used.

mod signals;

use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use signal_hook::consts::SIGHUP;
use signal_hook::low_level::emulate_default_handler;

use crate::RunError;
use crate::app::{App, Request};
use crate::view;
use signals::{Signals, has_job_control};

/// How often signals are looked for when nothing happens.
const IDLE: Duration = Duration::from_millis(100);

/// How often the gauge is drawn while an analysis is made.
const BUSY: Duration = Duration::from_millis(30);

/// Tells terminals that arrange text written from right to left not to: columns must stay where they are
/// (BDSM, explicit mode), and that they may again.
const BIDI_OFF: &str = "\x1b[8l";
const BIDI_ON: &str = "\x1b[8h";

/// Shows the program until it ends; returns the signal that ended it, if one did.
pub(crate) fn run(app: &mut App, mouse: bool) -> Result<Option<i32>, RunError> {
    let signals = Signals::listen()?;
    give_back_on_panic();
    thread::spawn(end_with_the_terminal);
    enter(mouse)?;
    let result = show(app, mouse, &signals);
    leave();
    say_what_was_kept();
    result
}

/// Waits until the terminal is gone, then ends the program as SIGHUP does.
///
/// In a thread of its own: crossterm takes the end of input for a reason to read again, for ever, and the
/// thread that draws never comes back from there to look whether there was a signal.
fn end_with_the_terminal() {
    let input = io::stdin();
    loop {
        // Asked for nothing, it tells only of hangups and errors.
        let mut watched = [PollFd::new(&input, PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(_) if !watched[0].revents().is_empty() => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
    let _ = emulate_default_handler(SIGHUP);
}

/// The terminal is not as it was.
static ENTERED: AtomicBool = AtomicBool::new(false);

fn enter(mouse: bool) -> io::Result<()> {
    ENTERED.store(true, Ordering::Relaxed);
    enable_raw_mode()?;
    let_signals_be_typed()?;
    let mut out = io::stdout();
    execute!(out, EnterAlternateScreen)?;
    if mouse {
        execute!(out, EnableMouseCapture)?;
    }
    out.write_all(BIDI_OFF.as_bytes())?;
    out.flush()
}

/// ^C and ^\ are signals, which come also while no keys are read. ^Z stays a key.
fn let_signals_be_typed() -> io::Result<()> {
    /// No character.
    const NONE: u8 = 0;
    let mut modes = tcgetattr(io::stdin())?;
    modes.local_modes.insert(LocalModes::ISIG);
    modes.special_codes[SpecialCodeIndex::VSUSP] = NONE;
    Ok(tcsetattr(io::stdin(), OptionalActions::Now, &modes)?)
}

/// Gives the terminal back, unless it is. Nothing can be done about errors here.
fn leave() {
    if is_left() {
        return;
    }
    // First what never waits.
    let _ = disable_raw_mode();
    let mut out = io::stdout();
    let _ = out.write_all(BIDI_ON.as_bytes());
    let _ = execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show);
    ENTERED.store(false, Ordering::Relaxed);
}

/// Whether the terminal was given back.
fn is_left() -> bool {
    !ENTERED.load(Ordering::Relaxed)
}

/// What panics of other threads said: it would spoil the screen, and is said when that is left.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A panic of the thread that draws ends the program; that of another is the end of an analysis only.
fn give_back_on_panic() {
    let before = std::panic::take_hook();
    let drawing = thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        if thread::current().id() == drawing {
            leave();
            before(info);
        } else if let Ok(mut said) = SAID.lock() {
            said.push(info.to_string());
        }
    }));
}

/// Says what was kept back.
fn say_what_was_kept() {
    if let Ok(mut said) = SAID.lock() {
        for text in said.drain(..) {
            let _ = writeln!(io::stderr(), "{text}");
        }
    }
}

/// Debug builds can be made to panic with F12, which tests need.
fn panic_if_asked(key: &event::KeyEvent) {
    let asked = cfg!(debug_assertions)
        && key.code == event::KeyCode::F(12)
        && env::var_os("PORTMORTEM_TEST_PANIC").is_some();
    assert!(!asked, "PORTMORTEM_TEST_PANIC was set, and F12 pressed");
}

type TerminalScreen = Terminal<CrosstermBackend<io::Stdout>>;

fn show(app: &mut App, mouse: bool, signals: &Signals) -> Result<Option<i32>, RunError> {
    let mut terminal = empty()?;
    loop {
        if let Some(signal) = signals.end() {
            signals.end_here();
            return Ok(Some(signal));
        }
        terminal.draw(|frame| view::draw(app, frame.area(), frame.buffer_mut()))?;
        loop {
            if let Some(signal) = signals.end() {
                signals.end_here();
                return Ok(Some(signal));
            }
            if signals.stop_and_go_on() {
                enter(mouse)?;
                terminal = empty()?;
                break;
            }
            // From here on zeros would be shown as if they were events.
            app.check_trace()?;
            let busy = app.progress().is_some();
            let happened = event::poll(if busy { BUSY } else { IDLE })?;
            if app.poll() || happened || busy {
                break;
            }
        }
        // All that has been typed is done before it is drawn: a key held down never lags behind.
        while signals.end().is_none() && event::poll(Duration::ZERO)? {
            match event::read()? {
                Event::Key(key) => {
                    panic_if_asked(&key);
                    app.key(&key);
                }
                Event::Mouse(mouse) => app.mouse(&mouse),
                _ => {}
            }
            for request in app.requests() {
                if request == Request::Quit {
                    return Ok(None);
                }
                serve(app, request, mouse, signals, &mut terminal)?;
            }
        }
    }
}

/// The cleared screen, of which nothing is known to be drawn.
fn empty() -> io::Result<TerminalScreen> {
    execute!(io::stdout(), Clear(ClearType::All))?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

fn serve(
    app: &mut App,
    request: Request,
    mouse: bool,
    signals: &Signals,
    terminal: &mut TerminalScreen,
) -> io::Result<()> {
    match request {
        Request::Quit => {}
        Request::Redraw => *terminal = empty()?,
        // The signal comes back to this process, too.
        Request::Suspend if has_job_control() => kill_current_process_group(Signal::TSTP)?,
        Request::Suspend => app.say("no shell is there that could continue this; q quits"),
        Request::Copy(text) => execute!(
            io::stdout(),
            CopyToClipboard::to_clipboard_from(text.as_bytes())
        )?,
        Request::Write(path, text) => {
            let written = write_new(&path, &text);
            let shown = path.display();
            app.say(match written {
                Ok(()) => format!("{shown} written"),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    format!("{shown} is there already; nothing was written")
                }
                Err(error) => format!("cannot write {shown}: {error}"),
            });
        }
        Request::Edit(path, line) => {
            leave();
            let edited = signals.lend(|| edit(&path, line));
            enter(mouse)?;
            *terminal = empty()?;
            if let Err(problem) = edited {
                app.say(problem);
            }
        }
    }
    Ok(())
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text.as_bytes())
}

fn edit(path: &Path, line: u32) -> Result<(), String> {
    if !path.is_file() {
        return Err(format!("{} is not there", path.display()));
    }
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.trim().is_empty())
        .ok_or("set VISUAL or EDITOR to open sources")?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .args(at_line(program, &no_option(path), line))
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("cannot run {program}: {error}")),
    }
}

/// The arguments with which an editor opens a file at a line: those of vi, unless it is known to have others.
fn at_line(program: &str, path: &Path, line: u32) -> Vec<OsString> {
    let mut place = path.as_os_str().to_owned();
    place.push(format!(":{line}"));
    let name = Path::new(program).file_stem().unwrap_or_default();
    match name.to_str().unwrap_or_default() {
        "code" | "code-insiders" | "codium" | "vscodium" | "cursor" => {
            vec!["--goto".into(), place]
        }
        "hx" | "helix" | "subl" | "zed" => vec![place],
        _ => vec![format!("+{line}").into(), path.into()],
    }
}

/// The same path, which no editor takes for an option (`-…`) or a command (`+…`): the trace says what it is.
fn no_option(path: &Path) -> PathBuf {
    if path.is_relative() {
        Path::new(".").join(path)
    } else {
        path.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_option() {
        for (path, given) in [
            ("/a/b.pl", "/a/b.pl"),
            ("-c:!sh", "./-c:!sh"),
            ("+quit", "./+quit"),
            ("a/b.pl", "./a/b.pl"),
        ] {
            assert_eq!(no_option(Path::new(path)).to_str(), Some(given));
        }
    }

    #[test]
    fn editors_are_told_the_line() {
        for (program, given) in [
            ("vi", &["+7", "/a/b.pl"][..]),
            ("/opt/own-editor", &["+7", "/a/b.pl"]),
            ("/usr/bin/code", &["--goto", "/a/b.pl:7"]),
            ("hx", &["/a/b.pl:7"]),
        ] {
            assert_eq!(
                at_line(program, Path::new("/a/b.pl"), 7),
                given,
                "{program}"
            );
        }
    }
}
