//! Whether one program is faster than another, from a few runs of each.

use serde_json::{Value, json};

/// What trials say of a change.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TrialVerdict {
    /// Seconds before and after, how many times faster, and the relative half of the interval.
    Confirmed(f64, f64, f64, f64),
    Undecided(f64, f64),
    NoFaster(f64, f64),
    /// Seconds before, and if a goal costs nothing.
    AtMost(f64, f64),
    /// The first line that differs.
    OtherOutput(String),
    OtherStatus(String),
    NotTried(String),
    /// No run yet.
    Open,
}

/// Less is no gain.
const LEAST: f64 = 1.02;

/// Compares the seconds of runs. With five runs each, all of one side are below all of the other by
/// chance in one of 126 trials; so the
/// interval is from the smallest ratio to the largest, and the change is confirmed if all of it is
/// a gain.
pub(super) fn compare(before: &[f64], after: &[f64]) -> TrialVerdict {
    let (old, new) = (median(before), median(after));
    let ratio = ratio(old, new);
    let least = smallest(before) / largest(after).max(f64::MIN_POSITIVE);
    let most = largest(before) / smallest(after).max(f64::MIN_POSITIVE);
    if least >= LEAST {
        TrialVerdict::Confirmed(old, new, ratio, (most - least) / 2.0 / ratio)
    } else if ratio < LEAST {
        TrialVerdict::NoFaster(old, new)
    } else {
        TrialVerdict::Undecided(old, new)
    }
}

fn ratio(before: f64, after: f64) -> f64 {
    before / after.max(f64::MIN_POSITIVE)
}

fn smallest(of: &[f64]) -> f64 {
    of.iter().copied().fold(f64::INFINITY, f64::min)
}

fn largest(of: &[f64]) -> f64 {
    of.iter().copied().fold(0.0, f64::max)
}

fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

impl TrialVerdict {
    /// The same runs, if the change is none to make.
    pub(super) fn into_bound(self) -> Self {
        match self {
            Self::Confirmed(old, new, ..)
            | Self::Undecided(old, new)
            | Self::NoFaster(old, new) => Self::AtMost(old, new),
            other => other,
        }
    }

    /// How many times faster it is, if it is confirmed.
    pub(super) fn gain(&self) -> f64 {
        match self {
            Self::Confirmed(_, _, times, _) => *times,
            _ => 1.0,
        }
    }

    /// The seconds before and after, for programs; nothing if they were not compared.
    pub(super) fn figures(&self) -> Value {
        let (old, new, spread) = match self {
            Self::Confirmed(old, new, _, spread) => (old, new, Some(spread * 100.0)),
            Self::Undecided(old, new) | Self::NoFaster(old, new) | Self::AtMost(old, new) => {
                (old, new, None)
            }
            _ => return Value::Null,
        };
        json!({
            "seconds_before": old,
            "seconds_after": new,
            "times_faster": ratio(*old, *new),
            "spread_percent": spread,
        })
    }

    /// Why it is refuted, in a few words: the program did something else, or the same in no less
    /// time.
    pub(super) fn refutation(&self) -> Option<String> {
        match self {
            Self::NoFaster(old, new) => Some(format!("no faster, {old:.3} → {new:.3} s")),
            Self::OtherOutput(_) => Some("other output".to_owned()),
            Self::OtherStatus(status) => Some(format!("other exit status: {status}")),
            _ => None,
        }
    }

    /// One word for programs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Confirmed(..) => "confirmed",
            Self::Undecided(..) => "undecided",
            Self::AtMost(..) => "at-most",
            Self::NoFaster(..) | Self::OtherOutput(_) | Self::OtherStatus(_) => "refuted",
            Self::NotTried(_) | Self::Open => "not-tried",
        }
    }
}

impl std::fmt::Display for TrialVerdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(why) = self.refutation() {
            write!(out, "refuted: {why}")?;
        }
        match self {
            Self::Confirmed(old, new, times, spread) => write!(
                out,
                "confirmed: same output, {old:.3} → {new:.3} s ({times:.1} times, ± {:.0} %)",
                spread * 100.0
            ),
            Self::Undecided(old, new) => write!(
                out,
                "undecided: same output, {old:.3} → {new:.3} s, but the runs differ by more"
            ),
            Self::AtMost(old, new) => write!(
                out,
                "at most: {old:.3} → {new:.3} s, as far as the program does the same without what it binds"
            ),
            Self::OtherOutput(line) => write!(out, ": {line}"),
            Self::NoFaster(..) | Self::OtherStatus(_) => Ok(()),
            Self::NotTried(why) => write!(out, "not tried: {why}"),
            Self::Open => write!(out, "not tried"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_confirms_nothing() {
        let name = |before: &[f64], after: &[f64]| compare(before, after).name();
        assert_eq!(name(&[2.0, 2.1, 2.2], &[1.0, 1.1, 1.2]), "confirmed");
        assert_eq!(name(&[2.0, 2.1, 2.2], &[1.0, 1.1, 2.05]), "undecided");
        assert_eq!(name(&[2.0, 2.1, 2.2], &[2.0, 2.1, 2.2]), "refuted");
        assert_eq!(name(&[1.0], &[1.01]), "refuted");
    }
}
