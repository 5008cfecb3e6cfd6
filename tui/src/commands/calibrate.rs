//! `portmortem calibrate`: what operations cost on this machine, written as a platform.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use portmortem_models::calibration;
use portmortem_models::measure::Tools;
use portmortem_models::model::{Model, OF_THE_PAPER};
use portmortem_models::platform::Platform;

use super::refuse_existing;
use crate::cli::CalibrateArgs;
use crate::text_table::{TextColumn, render};

/// Calibrates, writes the platform, prints its models.
pub(crate) fn run(args: &CalibrateArgs) -> Result<ExitCode> {
    refuse_existing(&args.output, args.force, "file")?;
    let tools = Tools {
        swipl: args.swipl.clone(),
        portmortem: env::current_exe().context("cannot tell where this program is")?,
    };
    let bar = ProgressBar::new(calibration::measurements()).with_style(style());
    let platform = calibration::calibrate(&tools, &mut || bar.inc(1));
    bar.finish_and_clear();
    let platform = platform?;
    platform.write(&args.output)?;
    write!(io::stdout(), "{}", models(&platform))?;
    Ok(ExitCode::SUCCESS)
}

/// On standard error, if that is a terminal.
fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:40} {percent:>3} %  {pos} of {len} measurements, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// The models of the paper's table 2, by standard error, and the one that predictions are made with.
fn models(platform: &Platform) -> String {
    let of_the_paper = |model: &&Model| OF_THE_PAPER.iter().any(|components| model.is(components));
    let paper = platform.models.iter().filter(of_the_paper);
    let shown: Vec<&Model> = paper.chain([&platform.refined]).collect();
    let column = |heading: &str, cell: &dyn Fn(&Model) -> String| {
        TextColumn::right(heading, shown.iter().map(|model| cell(model)).collect())
    };
    let constants = |model: &Model| {
        let of = |name: &str| format!("{name} {:.2}", model.nanoseconds.get(name).unwrap_or(&0.0));
        model
            .components()
            .into_iter()
            .map(of)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let columns = [
        column("S µs", &|model| format!("{:.4}", model.standard_error_us)),
        column("error %", &|model| {
            format!("{:.1}", 100.0 * model.relative_error)
        }),
        TextColumn::left("K ns", shown.iter().map(|model| constants(model)).collect()),
    ];
    // Constants are not shortened.
    render(&columns, usize::MAX)
}
