//! `portmortem annotate`: source files with figures beside their lines.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use portmortem_analyzer::Analysis;
use portmortem_analyzer::advice::record_hint;
use portmortem_analyzer::annotation::{SourceFile, files, html, json};
use portmortem_analyzer::text::counted;
use portmortem_analyzer::trace::names::printable;

use super::analysis::{analyse, exit_code, warn_of_losses};
use super::scope;
use crate::cli::{AnnotateArgs, AnnotateFormat};
use crate::report::{chosen_width, listing, remarks};

/// Prints the files; status 3 if parts of the trace are missing.
pub(crate) fn run(args: &AnnotateArgs) -> Result<ExitCode> {
    let analysis = analyse(&args.trace, |trace| scope::filters(&args.scope, trace))?;
    let mut all = files(&analysis);
    for file in &mut all {
        file.is_withheld &= !args.outside && !is_named_here(&analysis, file, args.file.as_deref());
    }
    if analysis.trace.sites().is_empty() {
        bail!(
            "{}: the trace does not say which goals made calls{}",
            args.trace.display(),
            record_hint(
                &analysis.trace,
                "; record the program again, not with --byrd"
            )
        );
    }
    let chosen = match &args.file {
        Some(file) => vec![find(&analysis, &all, file)?],
        None => all.iter().filter(|file| !file.goals.is_empty()).collect(),
    };
    if chosen.is_empty() {
        writeln!(
            io::stderr(),
            "note: no goal of a known file called anything in what is looked at"
        )?;
    }
    let withheld = chosen.iter().filter(|file| file.is_withheld).count() as u64;
    // Editors have the text.
    if withheld > 0 && args.format != AnnotateFormat::Json {
        writeln!(
            io::stderr(),
            "note: the text of {} outside of the program's directory and the engine's libraries is left out; --outside shows it",
            counted(withheld, "file", "files")
        )?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match args.format {
        AnnotateFormat::Text => {
            let width = chosen_width().unwrap_or(usize::MAX);
            for (at, file) in chosen.iter().enumerate() {
                let gap = if at > 0 { "\n" } else { "" };
                write!(out, "{gap}{}", listing(&analysis, file, width))?;
            }
        }
        AnnotateFormat::Html => html::write(&analysis, &chosen, &mut out)?,
        AnnotateFormat::Json => {
            let (remarks, incomplete) = remarks(&analysis);
            json::write(&analysis, &chosen, (&remarks, incomplete), &mut out)?;
        }
    }
    out.flush()?;
    warn_of_losses(&analysis);
    Ok(exit_code(&analysis))
}

/// Whether a user named this very file of this machine.
fn is_named_here(analysis: &Analysis, file: &SourceFile, asked: Option<&Path>) -> bool {
    let here = asked.and_then(|asked| fs::canonicalize(asked).ok());
    here.is_some() && fs::canonicalize(analysis.locate(file.file)).ok() == here
}

/// The file that a user means: as the trace names it, the same file on this machine, or the end of its path.
fn find<'f, 'a>(
    analysis: &Analysis,
    files: &'f [SourceFile<'a>],
    asked: &Path,
) -> Result<&'f SourceFile<'a>> {
    let is_named = |file: &&SourceFile| {
        Path::new(file.file) == asked || is_named_here(analysis, file, Some(asked))
    };
    let ends_so = |file: &&SourceFile| Path::new(file.file).ends_with(asked);
    if let Some(file) = files.iter().find(is_named) {
        return Ok(file);
    }
    let names = |files: &[&SourceFile]| {
        let names: Vec<String> = files.iter().map(|file| printable(file.file)).collect();
        names.join(", ")
    };
    let found: Vec<_> = files.iter().filter(ends_so).collect();
    match found[..] {
        [file] => Ok(file),
        [] => bail!(
            "the trace has no figures of {}; it has {}",
            asked.display(),
            names(&files.iter().collect::<Vec<_>>())
        ),
        _ => bail!("{} may be {}", asked.display(), names(&found)),
    }
}
