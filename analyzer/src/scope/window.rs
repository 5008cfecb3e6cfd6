//! Which part of the time is looked at.
//!
//! Times outside have no length, so every time that the replay finds is the part inside, exactly, whatever it is a time of.
//! What happens outside is not counted: the counts are those up to the end of the window less those up to its begin.
//! Boxes that were open or re-enterable when it began are ways in of their own
//! ([`PredicateFigures::open_before`], [`PredicateFigures::pending_before`]).

use crate::scope::duration::parse_ns;
use crate::trace::clock::Clock;

/// From one tick on, until before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first tick inside.
    pub from: u64,
    /// The first tick after it; not before `from`.
    pub until: u64,
}

/// What is no window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// It has not the form `FROM..UNTIL`.
    #[error("`{0}` is no range of time; write for example 1.5ms..2s, ..2s or 1.5ms..")]
    Form(String),
    /// It ends before it begins.
    #[error("the range of time `{0}` ends before it begins")]
    Backwards(String),
}

impl Window {
    /// Reads `FROM..UNTIL`, times since the beginning of the trace ([`crate::scope::duration`]); either may be left out.
    ///
    /// # Errors
    /// [`WindowError`] if it is anything else.
    pub fn parse(text: &str, clock: &Clock) -> Result<Self, WindowError> {
        let form = || WindowError::Form(text.to_owned());
        let (from, until) = text.split_once("..").ok_or_else(form)?;
        let tick = |text: &str, open: u64| match text.trim() {
            "" => Ok(open),
            text => {
                let ns = parse_ns(text).ok_or_else(form)?;
                Ok(clock.tick_at_ns(ns))
            }
        };
        let window = Self {
            from: tick(from, 0)?,
            until: tick(until, u64::MAX)?,
        };
        if window.from > window.until {
            return Err(WindowError::Backwards(text.to_owned()));
        }
        Ok(window)
    }

    /// The moment nearest to `tick` that is inside, or the end.
    #[must_use]
    pub fn nearest(&self, tick: u64) -> u64 {
        tick.max(self.from).min(self.until)
    }

    /// The time that is in both; at their borders none if they do not meet.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let from = self.from.max(other.from);
        Self {
            from,
            until: self.until.min(other.until).max(from),
        }
    }

    /// Everything until the window begins; no tick of it is inside.
    pub(crate) fn before(&self) -> Self {
        Self {
            from: self.from,
            until: self.from,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::clock::Pairs;

    #[test]
    fn a_window_is_written_in_times() {
        let clock = Clock::new(&Pairs::default(), 2_000_000_000);
        let parse = |text| Window::parse(text, &clock).map(|window| (window.from, window.until));
        assert_eq!(parse("1us..2ms"), Ok((2_000, 4_000_000)));
        assert_eq!(parse(".."), Ok((0, u64::MAX)));
        assert_eq!(parse(" 5 .. "), Ok((10, u64::MAX)));
        assert!(matches!(parse("1s"), Err(WindowError::Form(_))));
        assert!(matches!(parse("a..b"), Err(WindowError::Form(_))));
        assert!(matches!(parse("2s..1s"), Err(WindowError::Backwards(_))));
    }
}
