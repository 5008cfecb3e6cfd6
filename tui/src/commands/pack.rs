//! `portmortem pack`: a trace for keeping and sending, and the way back.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result, bail, ensure};
use portmortem_analyzer::index::Fold;
use portmortem_analyzer::text::{self, shell_word};
use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::trace::names::printable;
use portmortem_analyzer::trace::packing::{pack, unpack};
use portmortem_tracer::is_being_recorded;

use super::analysis::with_progress;
use super::export::staging::Staging;
use super::{refuse_existing, refuse_input};
use crate::cli::PackArgs;

/// Writes the packed trace, or the one that was packed, and says how large it is.
pub(crate) fn run(args: &PackArgs) -> Result<ExitCode> {
    let (path, output) = (args.trace.as_path(), args.output.as_path());
    refuse_existing(output, args.force, "file")?;
    refuse_input(output, path, "trace")?;
    let trace = Trace::open(path)?;
    refuse_done(&trace, args)?;
    ensure!(
        !is_being_recorded(path),
        "{}: it is still being recorded; pack it when the recording has ended",
        shown(path)
    );
    let parent = output.parent().filter(|parent| *parent != Path::new(""));
    let staging = Staging::new(parent.unwrap_or(Path::new(".")))?;
    let size = write(&trace, args, &staging)?;
    let figures = Fold::path_of(path);
    if trace.header().mode.keep_last && figures.exists() {
        let cannot = || format!("cannot copy {}", figures.display());
        let mut from = File::open(&figures).with_context(cannot)?;
        let mut to = staging.file(Fold::path_of(output)).with_context(cannot)?;
        io::copy(&mut from, &mut to).with_context(cannot)?;
    }
    trace.check_whole(path)?;
    staging.publish()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{}: {}; {} was {}",
        shown(output),
        text::size(size),
        shown(path),
        text::size(trace.file_size())
    )?;
    Ok(ExitCode::SUCCESS)
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// What is packed is not packed again.
fn refuse_done(trace: &Trace, args: &PackArgs) -> Result<()> {
    let name = shown(&args.trace);
    let word = shell_word(&name);
    match (trace.is_packed(), args.unpack) {
        (true, false) => bail!(
            "{name}: it is packed already; to unpack it: portmortem pack --unpack {word} -o FILE"
        ),
        (false, true) => {
            bail!("{name}: it is not packed; to pack it: portmortem pack {word} -o FILE")
        }
        _ => Ok(()),
    }
}

/// Writes the file, which gets its name later. How many bytes it has.
fn write(trace: &Trace, args: &PackArgs, staging: &Staging) -> Result<u64> {
    let cannot = || format!("cannot write {}", args.output.display());
    let file = staging.file(args.output.clone()).with_context(cannot)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let done = AtomicU64::new(0);
    let work = if args.unpack { unpack } else { pack };
    with_progress(trace.size(), &done, || work(trace, &mut out, &done))
        .with_context(|| format!("{} was not written", args.output.display()))?;
    let file = out.into_inner().context("the disk may be full")?;
    Ok(file.metadata().with_context(cannot)?.len())
}
