//! The command lines of models: `calibrate` and `predict`.

use std::path::PathBuf;

use clap::Args;

use super::OutcomeFormat;

/// `portmortem calibrate`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem calibrate -o laptop.toml
  portmortem predict run.pmt --platform laptop.toml

It takes some seconds. Leave the machine alone meanwhile.")]
pub(crate) struct CalibrateArgs {
    /// The platform to write
    #[arg(short, long, value_name = "PLATFORM.toml")]
    pub(crate) output: PathBuf,
    /// Replace an existing platform
    #[arg(long)]
    pub(crate) force: bool,
    /// The SWI-Prolog to use
    #[arg(long, value_name = "PATH", default_value = "swipl")]
    pub(crate) swipl: PathBuf,
}

/// `portmortem predict`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  portmortem predict run.pmt --platform laptop.toml
          each predicate's time on that machine, from a recording made with `record --symbolic`
  portmortem predict n10.pmt n20.pmt n30.pmt n40.pmt n50.pmt --size n=10,20,30,40,50 --at 500
          calls as functions of n, and the times at n = 500 on the machine of the recordings
  portmortem predict a.pmt b.pmt c.pmt d.pmt e.pmt --size-of nrev/2#1 --at 500
          the same, of traces made with `record --arguments nrev/2`
  portmortem predict marked.pmt --at 500
          the same, of a program that calls pm_mark('n=10') before each run

A function of n is called exact if it agrees with more sizes than it has free parameters.
The bounds should contain the true value in 95 % of cases.")]
pub(crate) struct PredictArgs {
    /// The traces
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,
    /// The platform to predict for (default: that of the recordings)
    #[arg(long, value_name = "PLATFORM.toml")]
    pub(crate) platform: Option<PathBuf>,
    /// Sizes of the inputs, in the order of the traces (default: from their marks)
    #[arg(long, value_name = "n=SIZE,…", value_parser = parse_sizes)]
    pub(crate) size: Option<InputSizes>,
    /// Take as the size of each trace the greatest that an argument of a predicate had, its value
    /// or its length, for example nrev/2#1; of traces made with `record --arguments`
    #[arg(long, value_name = "PREDICATE#N", value_parser = parse_size_of, conflicts_with = "size")]
    pub(crate) size_of: Option<SizeOf>,
    /// The size to predict for (default: ten times the largest)
    #[arg(long, value_name = "SIZE")]
    pub(crate) at: Option<u64>,
    /// Number of predicates to show
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) top: usize,
    /// Output format
    #[arg(long, value_enum, default_value_t = OutcomeFormat::Text)]
    pub(crate) format: OutcomeFormat,
}

/// An argument whose size is that of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SizeOf {
    /// A pattern of its predicate.
    pub(crate) predicate: String,
    /// Its number, from 1.
    pub(crate) argument: u8,
}

/// Reads `nrev/2#1`.
fn parse_size_of(text: &str) -> Result<SizeOf, String> {
    let parts = text.rsplit_once('#').and_then(|(predicate, number)| {
        Some(SizeOf {
            predicate: predicate.to_owned(),
            argument: number.parse().ok().filter(|&number| number > 0)?,
        })
    });
    parts.ok_or_else(|| "not an argument; write for example nrev/2#1".to_owned())
}

/// Sizes of inputs, one for each trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputSizes(pub(crate) Vec<u64>);

/// Reads `n=10,20,30`; the name may be left out.
fn parse_sizes(text: &str) -> Result<InputSizes, String> {
    let digits = text.split_once('=').map_or(text, |(_, digits)| digits);
    let sizes: Option<Vec<u64>> = digits
        .split(',')
        .map(|size| size.trim().parse().ok())
        .collect();
    sizes
        .map(InputSizes)
        .ok_or_else(|| "not sizes; write for example n=10,20,30".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_sizes("n=10, 20,30"), Ok(InputSizes(vec![10, 20, 30])));
        assert_eq!(parse_sizes("7"), Ok(InputSizes(vec![7])));
        for text in ["", "n=", "n=x", "10;20", "n=10,"] {
            assert!(parse_sizes(text).is_err(), "{text}");
        }
    }
}
