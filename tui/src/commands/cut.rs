//! `portmortem cut`: a range of time of a trace as a trace of its own.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result, ensure};
use portmortem_analyzer::Window;
use portmortem_analyzer::cutting::cut;
use portmortem_analyzer::index::Beside;
use portmortem_analyzer::text;
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use portmortem_tracer::format::{Part, shorten};
use portmortem_tracer::is_being_recorded;

use super::analysis::with_progress;
use super::export::staging::Staging;
use super::scope::streams;
use super::{refuse_existing, refuse_input};
use crate::cli::CutArgs;

/// The longest name of a trace that its parts keep, in bytes.
const LONGEST_NAME: usize = 1024;

/// Writes the part, and says how large it is.
pub(crate) fn run(args: &CutArgs) -> Result<ExitCode> {
    let (path, output) = (args.trace.as_path(), args.output.as_path());
    refuse_existing(output, args.force, "file")?;
    refuse_input(output, path, "trace")?;
    let trace = Trace::open(path)?;
    let name = printable(&path.display().to_string());
    ensure!(
        !is_being_recorded(path),
        "{name}: it is still being recorded; cut a part out of it when the recording has ended"
    );
    let part = part(&trace, args)?;
    let is_folded = matches!(Beside::of(&trace, path), Beside::Figures);
    let parent = output.parent().filter(|parent| *parent != Path::new(""));
    let staging = Staging::new(parent.unwrap_or(Path::new(".")))?;
    let cannot = || format!("cannot write {}", output.display());
    let file = staging.file(output.to_owned()).with_context(cannot)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let done = AtomicU64::new(0);
    with_progress(trace.size(), &done, || {
        cut(&trace, &part, is_folded, &mut out, &done)
    })
    .with_context(|| name.clone())?;
    let file = out.into_inner().context("the disk may be full")?;
    let size = file.metadata().with_context(cannot)?.len();
    trace.check_whole(path)?;
    staging.publish()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{}: {}; {name} has {}",
        printable(&output.display().to_string()),
        text::size(size),
        text::size(trace.file_size())
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What is asked for. The part of a part is one of the trace that this was cut out of.
fn part(trace: &Trace, args: &CutArgs) -> Result<Part> {
    let Window { from, until } = Window::parse(&args.time, trace)?;
    let before = trace.part();
    let mut asked = Vec::new();
    for stream in &args.stream {
        asked.extend(streams(trace, stream)?);
    }
    asked.sort_unstable();
    asked.dedup();
    let all = before.map(|part| part.streams.clone());
    let name = || {
        let name = args.trace.file_name().unwrap_or(args.trace.as_os_str());
        let mut name = name.to_string_lossy().into_owned();
        shorten(&mut name, LONGEST_NAME);
        name
    };
    Ok(Part {
        from,
        until,
        streams: match asked[..] {
            [] => all.unwrap_or_default(),
            _ => asked,
        },
        of: before.map_or_else(name, |part| part.of.clone()),
    })
}
