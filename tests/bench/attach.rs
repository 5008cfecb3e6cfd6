//! A server of HTTP is attached to: what it answers before, meanwhile and afterwards, and what is
//! left of a thousand recordings.
//!
//! Two loads: 1,000 requests a second, evenly; and as many as the server answers, over two
//! connections that ask again as soon as they have an answer. `bench-attach [CYCLES]`.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use portmortem_tests::{built, repository};

const CONNECTIONS: u32 = 2;
const RATE: u32 = 1000;
const ATTACHED_S: u64 = 10;
/// Load before and after is looked at for so long, and so often in turn with the other one.
const LOOK: Duration = Duration::from_secs(5);

/// At full speed it is looked at in so many short parts.
const SHORT_LOOK: Duration = Duration::from_secs(2);
const LOOKS: u32 = 8;

/// What a load was answered.
struct Answered {
    per_second: f64,
    median: Duration,
    late: Duration,
    /// Of the server, for one request.
    processor: Duration,
}

impl Answered {
    fn print(&self, when: &str) {
        println!(
            "{when:<34} {:7.1} a second, {:6.1} µs of processor each, answered in {:5.0} µs, 99 % within {:6.0} µs",
            self.per_second,
            self.processor.as_secs_f64() * 1e6,
            self.median.as_secs_f64() * 1e6,
            self.late.as_secs_f64() * 1e6
        );
    }

    fn compare(&self, before: &Self, name: &str) {
        let requests = self.per_second / before.per_second;
        let processor = self.processor.as_secs_f64() / before.processor.as_secs_f64();
        let percent = |ratio: f64| 100.0 * (ratio - 1.0);
        println!(
            "{name}: after over before {:+.1} % requests a second, {:+.1} % processor each",
            percent(requests),
            percent(processor)
        );
    }
}

/// The server, killed at the end.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(directory: &Path) -> Result<Self> {
        let recorder = built::engine_library();
        let foreign = recorder.parent().context("no directory")?;
        let library = repository("tracer/swi/prolog");
        let mut child = Command::new("swipl")
            .args(["-p", &format!("foreign={}", foreign.display())])
            .args(["-p", &format!("library={}", library.display())])
            .arg(repository("tests/bench/attach.pl"))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().unwrap_or_default();
        let port = port.parse().with_context(|| format!("no port: {line}"))?;
        Ok(Self { child, port })
    }

    /// A connection, by turns one of all.
    fn connect(&self) -> Result<Connection> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        Ok(Connection(BufReader::new(stream)))
    }

    /// Asks until it is told to stop; `rate` requests a second over all connections, or as many as
    /// are answered.
    fn load(&self, rate: Option<u32>, stop: &Arc<AtomicBool>) -> Result<Answered> {
        let begin = Instant::now();
        let each = |index: u32| -> Result<Vec<Duration>> {
            let mut connection = self.connect()?;
            let mut took = Vec::new();
            let step = rate.map(|rate| Duration::from_secs(1) * CONNECTIONS / rate);
            let mut due = begin + step.unwrap_or_default() * index / CONNECTIONS;
            while !stop.load(Ordering::Relaxed) {
                if let Some(step) = step {
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    connection.ask()?;
                    took.push(due.elapsed());
                    due += step;
                } else {
                    let asked = Instant::now();
                    connection.ask()?;
                    took.push(asked.elapsed());
                }
            }
            Ok(took)
        };
        let mut took = Vec::new();
        let before = self.processor()?;
        thread::scope(|scope| -> Result<()> {
            let threads: Vec<_> = (0..CONNECTIONS)
                .map(|index| scope.spawn(move || each(index)))
                .collect();
            for thread in threads {
                took.extend(thread.join().ok().context("a thread panicked")??);
            }
            Ok(())
        })?;
        let processor = (self.processor()? - before) / u32::try_from(took.len().max(1))?;
        let per_second = took.len() as f64 / begin.elapsed().as_secs_f64();
        took.sort();
        Ok(Answered {
            per_second,
            median: took[took.len() / 2],
            late: took[took.len() * 99 / 100],
            processor,
        })
    }

    fn load_for(&self, rate: Option<u32>, time: Duration) -> Result<Answered> {
        let stop = Arc::new(AtomicBool::new(false));
        let clock = Arc::clone(&stop);
        thread::spawn(move || {
            thread::sleep(time);
            clock.store(true, Ordering::Relaxed);
        });
        self.load(rate, &stop)
    }

    /// The best of several short looks at full speed: others that use the machine make some worse,
    /// and none better.
    fn best(&self) -> Result<Answered> {
        let mut best: Option<Answered> = None;
        for _ in 0..LOOKS {
            let look = self.load_for(None, SHORT_LOOK)?;
            if best
                .as_ref()
                .is_none_or(|best| look.processor < best.processor)
            {
                best = Some(look);
            }
        }
        best.context("no look")
    }

    fn attach(&self, directory: &Path, time: &str) -> Result<Child> {
        let child = Command::new(built::portmortem())
            .args(["attach", &self.child.id().to_string()])
            .args(["--for", time, "-o", "attached.pmt"])
            .current_dir(directory)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Ok(child?)
    }

    /// The load while the server is attached to for so long, and what the command says.
    fn load_attached(&self, rate: Option<u32>, directory: &Path) -> Result<(Answered, String)> {
        let stop = Arc::new(AtomicBool::new(false));
        let (done, child) = (
            Arc::clone(&stop),
            self.attach(directory, &format!("{ATTACHED_S}s"))?,
        );
        let waits = thread::spawn(move || {
            let output = child.wait_with_output();
            done.store(true, Ordering::Relaxed);
            output
        });
        let answered = self.load(rate, &stop)?;
        let output = waits.join().ok().context("a thread panicked")??;
        ensure!(output.status.success(), "attach: {output:?}");
        Ok((
            answered,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ))
    }

    /// How long the server has worked so far.
    fn processor(&self) -> Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // Behind the name, which may have spaces.
        let (_, words) = stat.rsplit_once(')').context("no name")?;
        let mut words = words.split_whitespace().skip(11);
        let mut ticks = || -> Result<u64> { Ok(words.next().context("no time")?.parse()?) };
        let ticks = ticks()? + ticks()?;
        Ok(Duration::from_millis(10) * u32::try_from(ticks)?)
    }

    /// Resident memory in kB, threads, open files.
    fn size(&self) -> Result<(u64, u64, usize)> {
        let process = format!("/proc/{}", self.child.id());
        let status = fs::read_to_string(format!("{process}/status"))?;
        let number = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            let word = line.and_then(|line| line.split_whitespace().nth(1));
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        let files = fs::read_dir(format!("{process}/fd"))?.count();
        Ok((number("VmRSS:"), number("Threads:"), files))
    }
}

/// One that stays open.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn ask(&mut self) -> Result<()> {
        let request = "GET /price HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n";
        self.0.get_mut().write_all(request.as_bytes())?;
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            ensure!(self.0.read_line(&mut line)? > 0, "the server has hung up");
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        std::io::Read::read_exact(&mut self.0, &mut body)?;
        ensure!(body.trim_ascii() == b"465", "a wrong answer: {body:?}");
        Ok(())
    }
}

fn main() -> Result<ExitCode> {
    let cycles: u32 = match std::env::args().nth(1) {
        Some(text) => text.parse().context("how many recordings?")?,
        None => 1000,
    };
    let directory = tempfile::tempdir()?;
    let directory = directory.path();
    let server = Server::start(directory)?;
    server.load_for(None, LOOK)?;
    rows(&server, directory)?;
    show(directory)?;
    repeat(&server, directory, cycles)?;
    Ok(ExitCode::SUCCESS)
}

fn rows(server: &Server, directory: &Path) -> Result<()> {
    for (rate, name) in [(Some(RATE), "1,000 a second"), (None, "at full speed")] {
        let look = || match rate {
            Some(_) => server.load_for(rate, 2 * LOOK),
            None => server.best(),
        };
        let before = look()?;
        let (meanwhile, said) = server.load_attached(rate, directory)?;
        let after = look()?;
        before.print(&format!("{name}: before"));
        meanwhile.print(&format!("{name}: attached, {ATTACHED_S} s"));
        after.print(&format!("{name}: after"));
        after.compare(&before, name);
        print!("{said}");
    }
    Ok(())
}

/// Figures of the seconds that were recorded.
fn show(directory: &Path) -> Result<()> {
    for words in [&["verify"][..], &["report", "--sites", "--top", "8"]] {
        let mut words = words.to_vec();
        words.insert(1, "attached.pmt");
        Command::new(built::portmortem())
            .args(words)
            .current_dir(directory)
            .status()?;
    }
    Ok(())
}

/// On and off, again and again, under load.
fn repeat(server: &Server, directory: &Path, cycles: u32) -> Result<()> {
    let before = server.best()?;
    let stop = Arc::new(AtomicBool::new(false));
    thread::scope(|scope| -> Result<()> {
        let load = scope.spawn(|| server.load(Some(100), &stop));
        let done = (|| {
            for cycle in 0..=cycles {
                if cycle % (cycles / 10).max(1) == 0 {
                    let (kb, threads, files) = server.size()?;
                    println!(
                        "after {cycle:5} recordings: {kb} kB resident, {threads} threads, {files} files"
                    );
                }
                let output = server.attach(directory, "1ms")?.wait_with_output()?;
                ensure!(output.status.success(), "attach: {output:?}");
            }
            Ok(())
        })();
        stop.store(true, Ordering::Relaxed);
        load.join().ok().context("a thread panicked")??;
        done
    })?;
    let after = server.best()?;
    before.print("at full speed: before all");
    after.print("at full speed: after all");
    after.compare(&before, "at full speed");
    Ok(())
}
