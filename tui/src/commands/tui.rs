//! `portmortem tui`: the screens of a trace.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Result, bail};
use portmortem_analyzer::trace::Trace;
use portmortem_screens::{ScreenOptions, ThemeName};

use super::scope;
use crate::cli::{Colours, TuiArgs};

/// As for a command line that cannot be understood: the command cannot be meant like that.
const USAGE: u8 = 2;

/// Shows the screens until the user quits. A trace that cannot be opened is told before.
pub(crate) fn run(args: &TuiArgs) -> Result<ExitCode> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        writeln!(
            io::stderr(),
            "error: the screens need a terminal; without one use `portmortem report` or `portmortem export`"
        )?;
        return Ok(ExitCode::from(USAGE));
    }
    if env::var("TERM").is_ok_and(|terminal| terminal == "dumb") {
        writeln!(
            io::stderr(),
            "error: a terminal of the type dumb (TERM) cannot show screens; use `portmortem report`, or set TERM"
        )?;
        return Ok(ExitCode::from(USAGE));
    }
    let Some((path, beside)) = args.trace.0.split_first() else {
        bail!("no trace is named");
    };
    let trace = Trace::open(path)?;
    let before = args.before.as_ref().map_or(&[][..], |before| &before.0);
    for other in beside.iter().chain(before) {
        Trace::open(other)?;
    }
    let options = ScreenOptions {
        theme: theme(args.colours, |name| env::var(name).ok()),
        ascii: is_ascii(|name| env::var(name).ok()),
        mouse: !args.no_mouse,
        filters: scope::filters(&args.scope, &trace)?,
        filter: args.filter.clone(),
        before: before.to_vec(),
        beside: beside.to_vec(),
        follow: args.follow,
    };
    let signal = portmortem_screens::run(trace, path, options)?;
    if let Some(signal) = signal {
        // The terminal is as it was: end as if the signal had never been caught.
        signal_hook::low_level::emulate_default_handler(signal)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the locale says that the terminal has letters of ASCII only: it is `C` or `POSIX`. The
/// first of the variables that is set counts.
fn is_ascii(variable: impl Fn(&str) -> Option<String>) -> bool {
    let mut set = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable);
    let locale = set.find(|value| !value.is_empty());
    locale.is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// Colours as asked for; else none where the environment wants none (<https://no-color.org>), else those
/// that suit the ground that the terminal says it has.
fn theme(asked: Colours, variable: impl Fn(&str) -> Option<String>) -> ThemeName {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    match asked {
        Colours::Dark => ThemeName::Dark,
        Colours::Light => ThemeName::Light,
        Colours::None => ThemeName::Plain,
        Colours::Auto if set("NO_COLOR").is_some() => ThemeName::Plain,
        Colours::Auto => match set("COLORFGBG")
            .as_deref()
            .and_then(|set| set.rsplit(';').next())
        {
            Some("7" | "15") => ThemeName::Light,
            _ => ThemeName::Dark,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_says_which_letters_there_are() {
        let with = |set: &'static [(&str, &str)]| {
            is_ascii(|asked| {
                let mut set = set.iter();
                let found = set.find(|(name, _)| *name == asked);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(with(&[("LC_ALL", "C")]));
        assert!(with(&[("LC_ALL", ""), ("LC_CTYPE", "POSIX")]));
        assert!(!with(&[("LC_ALL", "C.UTF-8"), ("LANG", "C")]));
        assert!(!with(&[("LC_CTYPE", "de_DE.UTF-8"), ("LANG", "C")]));
        // Terminals of today have all letters unless one says otherwise.
        assert!(!with(&[]));
    }

    #[test]
    fn colours_suit_the_terminal() {
        let with = |asked, name, value: &str| {
            theme(asked, |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with(Colours::Auto, "TERM", "xterm"), ThemeName::Dark);
        assert_eq!(with(Colours::Auto, "COLORFGBG", "0;15"), ThemeName::Light);
        assert_eq!(
            with(Colours::Auto, "COLORFGBG", "15;default;0"),
            ThemeName::Dark
        );
        assert_eq!(with(Colours::Auto, "NO_COLOR", "1"), ThemeName::Plain);
        assert_eq!(with(Colours::Auto, "NO_COLOR", ""), ThemeName::Dark);
        assert_eq!(with(Colours::Light, "NO_COLOR", "1"), ThemeName::Light);
    }
}
