//! The screens in a real terminal (tmux), through the real program: a session as a user has one, and the terminal
//! as it was before, however the program ends.

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portmortem_tests::patience::{TIME_LIMIT, ask_until};
use portmortem_tests::{Sandbox, built, sample};

/// A tmux server of its own with a shell in it; gone at the end.
struct Tmux {
    socket: String,
    sandbox: Sandbox,
}

impl Tmux {
    fn start(width: u32, height: u32) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let tmux = Self {
            socket: format!("pm-test-{}-{number}", std::process::id()),
            sandbox: Sandbox::new(),
        };
        fs::copy(sample("queens.pmt"), tmux.sandbox.path("queens.pmt")).unwrap();
        let shell = format!(
            "cd '{}' && exec env PS1='ready> ' TRACE=queens.pmt portmortem='{}' EDITOR=./editor sh",
            tmux.sandbox.directory().display(),
            built::portmortem().display()
        );
        let (width, height) = (width.to_string(), height.to_string());
        let new = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &width,
            "-y",
            &height,
            &shell,
        ];
        tmux.command(&new);
        tmux.waits_for("ready>");
        tmux
    }

    fn command(&self, arguments: &[&str]) -> String {
        let output = Command::new("tmux")
            .args(["-L", &self.socket])
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .output()
            .unwrap();
        assert!(output.status.success(), "tmux {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Types keys, by tmux's names.
    fn keys(&self, keys: &[&str]) {
        self.command(&[&["send-keys"], keys].concat());
    }

    /// Types a line and Enter.
    fn line(&self, text: &str) {
        self.command(&["send-keys", "-l", text]);
        self.keys(&["Enter"]);
    }

    /// The shell clears the screen. What is typed meanwhile would be cleared, too.
    fn clears(&self) {
        self.line("clear");
        self.waits_until("a clear screen", |screen| screen.trim() == "ready>");
    }

    fn screen(&self) -> String {
        self.command(&["capture-pane", "-p"])
    }

    fn waits_until(&self, what: &str, is: impl Fn(&str) -> bool) {
        ask_until(|| {
            let screen = self.screen();
            if is(&screen) {
                return Ok(());
            }
            Err(format!("{what:?} never came:\n{screen}"))
        });
    }

    fn waits_for(&self, text: &str) {
        self.waits_until(text, |screen| screen.contains(text));
    }

    /// The shell has the terminal again, as it was: no alternate screen, the cursor visible, no mouse, lines
    /// edited and echoed; and this was the status.
    fn is_back(&self, status: &str) {
        // What is typed before the shell reads may be lost.
        self.waits_until("the prompt", |screen| {
            screen.trim_end().ends_with("\nready>")
        });
        // Not the word itself: what is typed is on the screen, too.
        self.line("echo status=$?; stty -a|tr ' ;' '\\n'|grep -xe icanon -e echo; echo th\"\"en");
        self.waits_until("then", |screen| screen.lines().any(|line| line == "then"));
        let screen = self.screen();
        let lines = screen.lines().map(str::trim_end);
        let from_status = lines.skip_while(|line| !line.starts_with("status="));
        let said: Vec<&str> = from_status.take(4).collect();
        let status = format!("status={status}");
        assert_eq!(said, [&status, "icanon", "echo", "then"], "{screen}");
        let state = self.command(&[
            "display",
            "-p",
            "#{alternate_on} #{cursor_flag} #{mouse_any_flag}",
        ]);
        assert_eq!(state.trim(), "0 1 0", "{screen}");
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("tmux")
            .args(["-L", &self.socket, "kill-server"])
            .output();
    }
}

#[test]
fn a_session() {
    let tmux = Tmux::start(100, 30);
    tmux.sandbox
        .write("editor", "#!/bin/sh\necho \"$@\" > edited\n");
    tmux.sandbox.sh("chmod +x editor").exits(0);
    tmux.line("\"$portmortem\" tui $TRACE");
    tmux.waits_for("7 predicates");
    // Sort.
    tmux.keys(&[">", ">"]);
    tmux.waits_for("calls▼");
    // Filter.
    tmux.keys(&["/"]);
    tmux.line("fails > 1k and self > 0.1ms");
    tmux.waits_for("filter: fails > 1k and self > 0.1ms");
    tmux.waits_for("4 of 7 predicates");
    // Drill.
    tmux.keys(&["Enter"]);
    tmux.waits_for("exit 8,312");
    tmux.keys(&["k", "k", "Enter"]);
    tmux.waits_for("call 5,508");
    tmux.keys(&["Escape"]);
    tmux.waits_for("exit 8,312");
    // Zoom.
    tmux.keys(&["3", "G", "z"]);
    tmux.waits_for(" below ");
    tmux.keys(&["Escape"]);
    tmux.waits_until("zoomed out", |screen| !screen.contains(" below "));
    // Hide.
    tmux.keys(&["1", "d"]);
    tmux.waits_for("hide: attack/");
    tmux.waits_for("of 6 predicates");
    // One by one: two that come at once are one key to a terminal.
    tmux.keys(&["Escape"]);
    tmux.waits_until("shown again", |screen| !screen.contains("hide: "));
    // Back the way it came: the calls, the neighbours, the filter, all.
    for is_there in ["[3 Tree]", "exit 8,312", "4 of 7 predicates"] {
        tmux.keys(&["Escape"]);
        tmux.waits_for(is_there);
    }
    tmux.keys(&["Escape"]);
    tmux.waits_until("no filter", |screen| !screen.contains("of 7 predicates"));
    // Look only at a part.
    tmux.keys(&["1", "F"]);
    tmux.waits_for(" · in: ");
    tmux.keys(&["Escape"]);
    tmux.waits_until("all again", |screen| !screen.contains(" · in: "));
    tmux.keys(&["W"]);
    tmux.line("5ms..7ms");
    tmux.waits_for("time: 5.000ms..7.000ms");
    // Step.
    tmux.keys(&["6"]);
    tmux.waits_for("event 14,590 of ");
    tmux.keys(&["n"]);
    tmux.waits_for("event 14,591 of ");
    tmux.keys(&["5"]);
    tmux.waits_for("redos↶");
    // The moment of the event is kept.
    tmux.waits_until("the moment", |screen| {
        screen.contains("s of 2.000 ms") && !screen.contains("all 2.000 ms")
    });
    let cell = |screen: &str| {
        let told = screen.split_once(" · cell ")?.1;
        Some(told.split_once(" · ")?.0.to_owned())
    };
    let wide = cell(&tmux.screen());
    assert!(wide.is_some());
    tmux.keys(&["+"]);
    tmux.waits_until("closer", |screen| {
        cell(screen).is_some_and(|closer| Some(closer) != wide)
    });
    tmux.keys(&["Escape"]);
    tmux.waits_until("as wide as before", |screen| cell(screen) == wide);
    for is_there in [
        "event 14,591 of ",
        "event 14,590 of ",
        "time: 5.000ms..7.000ms",
    ] {
        tmux.keys(&["Escape"]);
        tmux.waits_for(is_there);
    }
    tmux.waits_for("[1 Preds]");
    tmux.keys(&["Escape"]);
    tmux.waits_until("all the time", |screen| !screen.contains("time: "));
    // With the recorder's own time, which was measured.
    tmux.keys(&["C"]);
    tmux.waits_for("times as recorded");
    tmux.keys(&["C"]);
    tmux.waits_for("net times");
    // Resize.
    tmux.command(&["resize-window", "-x", "60", "-y", "20"]);
    tmux.waits_until("the small screen", |screen| !screen.contains("9 Trace"));
    tmux.command(&["resize-window", "-x", "120", "-y", "40"]);
    tmux.waits_for("7 predicates");
    // Export, once and not twice.
    for said in ["queens-predicates.csv written", "is there already"] {
        tmux.keys(&["e", "Enter"]);
        tmux.waits_for(said);
    }
    let rows = fs::read_to_string(tmux.sandbox.path("queens-predicates.csv")).unwrap();
    assert_eq!(rows.lines().count(), 8);
    tmux.keys(&["q"]);
    tmux.is_back("0");
}

/// A terminal that cannot show screens gets none of their colours, and no mouse.
#[test]
fn a_terminal_that_is_too_simple_is_told_so() {
    let tmux = Tmux::start(100, 30);
    tmux.line("TERM=dumb \"$portmortem\" tui $TRACE");
    tmux.waits_for("cannot show screens; use `portmortem report`, or set TERM");
    tmux.is_back("2");
}

/// Where the locale has no other letters, none are drawn: on all screens, and over them.
#[test]
fn a_locale_of_ascii_gets_ascii() {
    let tmux = Tmux::start(120, 36);
    tmux.line("LC_ALL=C \"$portmortem\" tui $TRACE");
    tmux.waits_for("7 predicates");
    for (key, there) in [
        ("2", "[2 Predicate]"),
        ("3", "[3 Call tree]"),
        ("4", "[4 Backtracking]"),
        ("5", "[5 Timeline]"),
        ("6", "[6 Events]"),
        ("7", "[7 Advice]"),
        ("8", "[8 Flame graph]"),
        ("9", "[9 Trace]"),
        ("0", "[0 Changes]"),
        ("?", " Help "),
    ] {
        tmux.keys(&[key]);
        tmux.waits_for(there);
        let screen = tmux.screen();
        assert!(screen.is_ascii(), "{key}: {screen}");
    }
    tmux.keys(&["Escape"]);
    tmux.waits_until("no help", |screen| !screen.contains(" Help "));
    tmux.keys(&["q"]);
    tmux.is_back("0");
}

/// Whatever the editor does, the screen is there again, and says what went wrong.
#[test]
fn the_source_is_opened_in_an_editor() {
    let tmux = Tmux::start(100, 30);
    fs::copy(sample("queens.pl"), tmux.sandbox.path("queens.pl")).unwrap();
    for name in ["code", "editor"] {
        let script = format!("#!/bin/sh\necho {name} \"$@\" > edited\n");
        tmux.sandbox.write(name, &script);
    }
    tmux.sandbox.sh("chmod +x code editor").exits(0);
    for (editor, said, given) in [
        ("./editor", "", "editor +"),
        ("./code -w", "", "code -w --goto "),
        // It takes the line for the name of a file.
        ("cat", "cat ended with exit status: 1", ""),
        ("no-such-editor -w", "cannot run no-such-editor: ", ""),
        ("", "set VISUAL or EDITOR to open sources", ""),
    ] {
        let _ = fs::remove_file(tmux.sandbox.path("edited"));
        tmux.line(&format!(
            "VISUAL= EDITOR='{editor}' \"$portmortem\" tui $TRACE"
        ));
        tmux.waits_for("7 predicates");
        tmux.keys(&["o"]);
        if said.is_empty() {
            ask_until(|| {
                let edited = fs::read_to_string(tmux.sandbox.path("edited"));
                let edited = edited.unwrap_or_default();
                let is_given = edited.starts_with(given) && edited.contains("queens.pl");
                is_given.then_some(()).ok_or(edited)
            });
        }
        tmux.waits_until(said, |screen| {
            screen.contains(said) && screen.contains("7 predicates")
        });
        // It reads keys again.
        tmux.keys(&["9"]);
        tmux.waits_for("[9 Trace]");
        tmux.keys(&["q"]);
        tmux.is_back("0");
        tmux.clears();
    }
}

#[test]
fn the_terminal_is_given_back_after_a_signal() {
    let tmux = Tmux::start(80, 24);
    for (signal, status) in [
        ("-TERM", "143"),
        ("-HUP", "129"),
        ("-INT", "130"),
        ("-QUIT", "131"),
    ] {
        tmux.line("sh -c 'echo $$ > pid; exec \"$portmortem\" tui $TRACE'");
        tmux.waits_for("7 predicates");
        let process = fs::read_to_string(tmux.sandbox.path("pid")).unwrap();
        let killed = Command::new("kill").args([signal, process.trim()]).status();
        assert!(killed.unwrap().success());
        tmux.waits_until("shell", |screen| !screen.contains("7 predicates"));
        tmux.is_back(status);
        tmux.clears();
    }
}

#[test]
fn it_is_stopped_and_goes_on() {
    let tmux = Tmux::start(80, 24);
    tmux.line("sh -c 'echo $$ > pid; exec \"$portmortem\" tui $TRACE'");
    tmux.waits_for("7 predicates");
    let process = fs::read_to_string(tmux.sandbox.path("pid")).unwrap();
    let stopped = || {
        tmux.waits_until("the prompt", |screen| {
            screen.trim_end().ends_with("\nready>") && !screen.contains("7 predicates")
        });
        let state = tmux.command(&["display", "-p", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(state.trim(), "0 1");
        tmux.line("fg");
        tmux.waits_for("7 predicates");
    };
    tmux.keys(&["C-z"]);
    stopped();
    // It reads keys again, also after a signal from elsewhere.
    tmux.keys(&[">", ">"]);
    tmux.waits_for("calls▼");
    let signal = Command::new("kill")
        .args(["-TSTP", process.trim()])
        .status();
    assert!(signal.unwrap().success());
    stopped();
    tmux.keys(&["q"]);
    tmux.is_back("0");
}

/// Works until it is told to end.
const LIVE: &str = ":- initialization(main).
main :- repeat, numlist(1, 200, List), nrev(List, _), exists_file(go), !, halt.
nrev([], []).
nrev([X|Xs], Zs) :- nrev(Xs, Ys), append(Ys, [X], Zs).
";

#[test]
fn a_recording_is_followed() {
    let tmux = Tmux::start(120, 30);
    tmux.sandbox.write("live.pl", LIVE);
    tmux.line("\"$portmortem\" record live.pl &");
    tmux.line("until test -s live.pmt; do sleep 0.1; done; \"$portmortem\" tui live.pmt --follow");
    tmux.waits_for("nrev/2");
    tmux.waits_for("events/s");
    tmux.sandbox.write("go", "");
    tmux.waits_for("the recording ended: exit status 0");
    tmux.keys(&["q"]);
    tmux.is_back("0");
}

#[test]
fn two_recordings_are_compared() {
    let tmux = Tmux::start(100, 30);
    for name in ["debray1.pmt", "debray2.pmt"] {
        fs::copy(sample(name), tmux.sandbox.path(name)).unwrap();
    }
    tmux.line("\"$portmortem\" tui debray2.pmt --before debray1.pmt");
    tmux.waits_for("[1 Preds]");
    tmux.keys(&["0"]);
    tmux.waits_for("[predicates]  goals");
    tmux.waits_for("teacher/2");
    tmux.waits_for("changed predicates");
    tmux.keys(&["q"]);
    tmux.is_back("0");
}

/// A terminal of which nothing is known but its size; it says whether the program ran until it was ended.
const SILENT: &str = r#"
import fcntl, os, pty, select, signal, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm-256color"
    os.execv(sys.argv[1], ["portmortem", "tui", sys.argv[2]])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
drawn = b""
def read_until(text):
    global drawn
    while text not in drawn:
        drawn += os.read(terminal, 65536)
read_until(b"permute/3")
assert b"\x1b[6n" not in drawn and b"\x1b[c" not in drawn, drawn
drawn = b""
os.write(terminal, b"\x0c")
read_until(b"permute/3")
os.write(terminal, b"q")
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn a_terminal_that_answers_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("silent.py", SILENT);
    let command = format!(
        "python3 silent.py '{}' '{}'",
        built::portmortem().display(),
        sample("queens.pmt").display()
    );
    sandbox.sh(&command).exits(0).prints("0\n");
}

/// A terminal that takes nothing any more, so that the thread that draws waits for it and reads no
/// keys. Says how the program ended, whether the settings are those of before, and whether the main
/// screen is back.
const STUCK: &str = r#"
import fcntl, os, pty, select, struct, sys, termios, time
program, trace, signal = sys.argv[1], sys.argv[2], int(sys.argv[3])
terminal, theirs = pty.openpty()
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
before = termios.tcgetattr(theirs)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
    for stream in range(3):
        os.dup2(theirs, stream)
    os.environ["TERM"] = "xterm-256color"
    os.execv(program, ["portmortem", "tui", trace])
drawn = b""
while b"permute/3" not in drawn:
    drawn += os.read(terminal, 65536)
def unread():
    return struct.unpack("i", fcntl.ioctl(theirs, termios.FIONREAD, bytes(4)))[0]
def sleeps(task):
    try:
        with open(f"/proc/{pid}/task/{task}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "S"
    except (FileNotFoundError, ProcessLookupError):
        return False  # It has just ended.
def all_sleep():
    return all(sleeps(task) for task in os.listdir(f"/proc/{pid}/task"))
def is_stuck():
    # A thread that reads keys would not sleep beside one; the system tells it a moment later.
    for _ in range(5):
        full = select.select([], [theirs], [], 0)[1] == []
        if not (full and unread() > 0 and all_sleep()):
            return False
        time.sleep(0.01)
    return True
REDRAW = b"\x0c"
while not is_stuck():
    if unread() == 0:
        os.write(terminal, REDRAW)
    time.sleep(0.01)
if signal == 0:
    os.write(terminal, b"\x03")
else:
    os.kill(pid, signal)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
os.set_blocking(terminal, False)
rest = b""
try:
    while True:
        rest += os.read(terminal, 65536)
except BlockingIOError:
    pass
print(status, termios.tcgetattr(theirs) == before, b"\x1b[?1049l" in rest)
"#;

/// Typed or sent, a signal ends the program also while it cannot look for one.
#[test]
fn a_signal_ends_it_while_it_is_busy() {
    let sandbox = Sandbox::new();
    sandbox.write("stuck.py", STUCK);
    for (signal, status) in [(0, -2), (2, -2), (15, -15), (1, -1), (3, -3)] {
        let command = format!(
            "ulimit -c 0; python3 stuck.py '{}' '{}' {signal}",
            built::portmortem().display(),
            sample("queens.pmt").display()
        );
        let said = format!("{status} True True\n");
        sandbox.sh(&command).exits(0).prints(&said);
    }
}

#[test]
fn the_terminal_is_given_back_after_a_panic() {
    let tmux = Tmux::start(80, 24);
    tmux.line("PORTMORTEM_TEST_PANIC=1 \"$portmortem\" tui $TRACE");
    tmux.waits_for("7 predicates");
    tmux.keys(&["F12"]);
    tmux.waits_for("PORTMORTEM_TEST_PANIC was set");
    tmux.is_back("101");
}

#[test]
fn a_row_is_copied_through_the_terminal() {
    let tmux = Tmux::start(80, 24);
    tmux.command(&["set-option", "-s", "set-clipboard", "on"]);
    tmux.line("\"$portmortem\" tui $TRACE");
    tmux.waits_for("7 predicates");
    tmux.keys(&["y"]);
    ask_until(|| match tmux.command(&["list-buffers"]).as_str() {
        "" => Err("nothing was copied".to_owned()),
        _ => Ok(()),
    });
    let copied = tmux.command(&["show-buffer"]);
    assert!(copied.contains("attack/3"), "{copied:?}");
}

/// Whether it is there and not only waits to be buried.
fn runs(process: &str) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

#[test]
fn it_ends_when_the_terminal_is_gone() {
    // Ignored, the signal does not help.
    for ignored in ["", "trap \"\" HUP; "] {
        let tmux = Tmux::start(80, 24);
        tmux.line(&format!(
            "sh -c '{ignored}echo $$ > pid; exec \"$portmortem\" tui $TRACE'"
        ));
        tmux.waits_for("7 predicates");
        let process = fs::read_to_string(tmux.sandbox.path("pid")).unwrap();
        let process = process.trim();
        assert!(runs(process));
        tmux.command(&["kill-server"]);
        let begin = Instant::now();
        while runs(process) {
            if begin.elapsed() > TIME_LIMIT {
                let _ = Command::new("kill").args(["-KILL", process]).status();
                panic!("it runs on without a terminal ({ignored:?})");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn what_cannot_be_shown_is_said_before() {
    let sandbox = Sandbox::with("text.pmt", "no trace");
    let trace = sample("queens.pmt");
    let outcome = sandbox.portmortem(["tui".as_ref(), trace.as_os_str()]);
    outcome.exits(2).says("error: the screens need a terminal");
    let tmux = Tmux::start(80, 24);
    tmux.line("\"$portmortem\" tui editor.pmt");
    tmux.waits_for("error: cannot read editor.pmt");
    tmux.is_back("1");
}

/// What is missing of the trace would be shown as zeros, or end the program with SIGBUS.
#[test]
fn a_trace_that_is_cut_while_it_is_shown() {
    let tmux = Tmux::start(100, 30);
    tmux.line("\"$portmortem\" tui $TRACE");
    tmux.waits_for("7 predicates");
    let trace = fs::File::options()
        .write(true)
        .open(tmux.sandbox.path("queens.pmt"));
    trace.unwrap().set_len(4096).unwrap();
    tmux.waits_for("was cut short while it was read");
    tmux.is_back("1");
}
