//! Which part of the time is looked at.
//!
//! Times outside have no length, so every time that the replay finds is the part inside, exactly,
//! whatever it is a time of. What happens outside is not counted: the counts are those up to the
//! end of the window less those up to its begin. Boxes that were open or re-enterable when it began
//! are ways in of their own ([`open_before`](crate::figures::PredicateFigures::open_before),
//! [`pending_before`](crate::figures::PredicateFigures::pending_before)).

use std::cell::OnceCell;

use portmortem_tracer::format::Part;
use rayon::prelude::*;

use super::duration::parse_ns;
use super::marks::{Mark, marks};
use crate::text::time;
use crate::trace::Trace;
use crate::trace::names::printable;

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
    #[error("`{0}` is no range of time; write for example 1.5ms..2s, ..2s, 1.5ms.. or mark..mark")]
    Form(String),
    /// An end is neither a time nor a mark.
    #[error("`{text}` is neither a time, as 1.5ms, nor a mark: {marks}")]
    Mark {
        /// What was written.
        text: String,
        /// Which marks there are.
        marks: String,
    },
    /// A number has no unit.
    #[error("`{0}` has no unit: write {0}s, {0}ms, {0}us or {0}ns")]
    Unit(String),
    /// It ends before it begins.
    #[error("the range of time `{0}` ends before it begins")]
    Backwards(String),
    /// Some of it is not in the part of a trace that this one is.
    #[error("of the range of time `{text}` this trace has a part: ask for some of {part}")]
    Outside {
        /// What was written.
        text: String,
        /// What the trace has.
        part: String,
    },
    /// It begins when the trace has ended.
    #[error("the range of time `{text}` begins after the trace ends; it is {length} long")]
    Past {
        /// What was written.
        text: String,
        /// From the beginning of the trace to its end, with the unit.
        length: String,
    },
}

/// More marks than these are only counted.
const MOST_LISTED: usize = 8;

impl Window {
    /// All the time that there is.
    pub(crate) const ALL: Self = Self {
        from: 0,
        until: u64::MAX,
    };

    /// Reads `FROM..UNTIL`; either may be left out. Each is a time since the beginning of the trace
    /// ([`crate::scope::duration`], with a unit), or the text of a mark: the first such mark, for
    /// `UNTIL` the first one since `FROM`. All events are read only if there is
    /// something that is no time, or if the trace does not say when it ended.
    ///
    /// # Errors
    /// [`WindowError`] if it is anything else.
    pub fn parse(text: &str, trace: &Trace) -> Result<Self, WindowError> {
        let (from, until) = text
            .split_once("..")
            .ok_or_else(|| WindowError::Form(text.to_owned()))?;
        let (from, until) = (from.trim(), until.trim());
        let known = OnceCell::new();
        let tick = |text: &str, since: u64| {
            let at_mark = || mark(known.get_or_init(|| marks(trace)), text, since);
            match parse_ns(text) {
                Some(ns) if ns == 0 || text.ends_with(char::is_alphabetic) => {
                    Ok(trace.clock().tick_at_ns(ns))
                }
                // Marks may be numbers, too.
                Some(_) => at_mark().map_err(|_| WindowError::Unit(text.to_owned())),
                None => at_mark(),
            }
        };
        let from = if from.is_empty() { 0 } else { tick(from, 0)? };
        let until = match until {
            "" => u64::MAX,
            until => tick(until, from)?,
        };
        if from > until {
            return Err(WindowError::Backwards(text.to_owned()));
        }
        let window = Self { from, until };
        if let Some(part) = trace.part().map(Self::of_part) {
            let has = part.in_ns(trace);
            // An end that is left out is that of the part.
            if (from > 0 && from < has.from)
                || from > has.until
                || until < has.from
                || (until < u64::MAX && until > has.until)
            {
                return Err(WindowError::Outside {
                    text: text.to_owned(),
                    part: part.text(trace),
                });
            }
            return Ok(part.and(window));
        }
        if let Some(length) = length_if_past(trace, from) {
            return Err(WindowError::Past {
                text: text.to_owned(),
                length: time(length),
            });
        }
        Ok(window)
    }

    /// The range of a part of a trace.
    #[must_use]
    pub fn of_part(part: &Part) -> Self {
        Self {
            from: part.from,
            until: part.until.max(part.from),
        }
    }

    /// The least window that [`Window::parse`] can be told of in whole nanoseconds and that has
    /// this one in it.
    #[must_use]
    pub fn in_ns(self, trace: &Trace) -> Self {
        let (from, until) = self.ns(trace);
        let clock = trace.clock();
        Self {
            from: clock.tick_at_ns(from),
            until: match self.until {
                u64::MAX => u64::MAX,
                _ => clock.tick_at_ns(until),
            },
        }
    }

    /// A window as [`Window::parse`] reads it: `18.243455ms..1.2s`, to the nanosecond.
    #[must_use]
    pub fn text(self, trace: &Trace) -> String {
        let (from, until) = self.ns(trace);
        let until = match self.until {
            u64::MAX => String::new(),
            _ => exact_ns(until),
        };
        format!("{}..{until}", exact_ns(from))
    }

    /// Its ends in nanoseconds since the beginning of the trace, outward to whole ones.
    fn ns(self, trace: &Trace) -> (u64, u64) {
        let clock = trace.clock();
        let mut from = clock.since_start_ns(self.from);
        while from > 0 && clock.tick_at_ns(from) > self.from {
            from -= 1;
        }
        let mut until = clock.since_start_ns(self.until);
        while until < u64::MAX && clock.tick_at_ns(until) < self.until {
            until += 1;
        }
        (from, until)
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

/// A time of so many nanoseconds, exactly: `18.243455ms`.
fn exact_ns(ns: u64) -> String {
    let (unit, name) = match ns {
        ..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "us"),
        1_000_000..1_000_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let (whole, rest) = (ns / unit, ns % unit);
    let digits = unit.ilog10() as usize;
    let decimals = format!("{rest:0digits$}");
    match decimals.trim_end_matches('0') {
        "" => format!("{whole}{name}"),
        decimals => format!("{whole}.{decimals}{name}"),
    }
}

/// How long the trace is, in nanoseconds, if it ends before a tick.
fn length_if_past(trace: &Trace, tick: u64) -> Option<u64> {
    let ends = trace.streams().iter().map(|stream| stream.end.as_ref());
    let ends = ends.flatten().map(|end| end.tick);
    let known = ends.chain(trace.end().map(|end| end.tick)).max();
    let mut last = known.max(Some(trace.clock().tick_at_ns(0)))?;
    if tick > last {
        // Of streams that did not end, only their events say it.
        let streams = trace.streams().par_iter();
        let open = streams.filter(|stream| stream.end.is_none());
        let ticks = open.filter_map(|stream| trace.events(stream).last());
        last = last.max(ticks.map(|timed| timed.tick).max().unwrap_or(0));
    }
    (tick > last).then(|| trace.clock().since_start_ns(last))
}

/// When the first mark of this text was set since a tick; if there is none since, when the first
/// was.
fn mark(marks: &[Mark], text: &str, since: u64) -> Result<u64, WindowError> {
    let mut called = marks.iter().filter(|mark| mark.text == text);
    let first = called.clone().next();
    let found = called.find(|mark| mark.tick >= since).or(first);
    found.map(|mark| mark.tick).ok_or_else(|| {
        let mut texts: Vec<&str> = Vec::new();
        for mark in marks {
            if !texts.contains(&mark.text) && texts.len() <= MOST_LISTED {
                texts.push(mark.text);
            }
        }
        let listed = texts.iter().take(MOST_LISTED).map(|text| printable(text));
        let mut listed = listed.collect::<Vec<_>>().join(", ");
        if texts.len() > MOST_LISTED {
            listed.push_str(", …");
        }
        WindowError::Mark {
            text: text.to_owned(),
            marks: match texts.len() {
                0 => "the trace has none".to_owned(),
                _ => format!("the trace has {listed}"),
            },
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_window_is_written_in_times() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/queens.pmt");
        let trace = Trace::open(&path).unwrap();
        let at = |ns| trace.clock().tick_at_ns(ns);
        let parse = |text| Window::parse(text, &trace).map(|window| (window.from, window.until));
        assert_eq!(parse("1us..2ms"), Ok((at(1_000), at(2_000_000))));
        assert_eq!(parse(".."), Ok((0, u64::MAX)));
        assert_eq!(parse(" 5 ns.. "), Ok((at(5), u64::MAX)));
        assert_eq!(parse("0..1us"), Ok((at(0), at(1_000))));
        assert!(matches!(parse("1..2"), Err(WindowError::Unit(_))));
        assert!(matches!(parse("1s"), Err(WindowError::Form(_))));
        assert!(matches!(parse("a..b"), Err(WindowError::Mark { .. })));
        assert!(matches!(parse("2s..1s"), Err(WindowError::Backwards(_))));
        assert!(matches!(parse("2s.."), Err(WindowError::Past { .. })));
        let length = trace.clock().since_start_ns(trace.end().unwrap().tick);
        let past = format!("{}ns..", length + 2);
        let past = Window::parse(&past, &trace).unwrap_err().to_string();
        assert!(past.ends_with(&format!("it is {} long", time(length))));
        assert!(Window::parse(&format!("{}ns..", length - 2), &trace).is_ok());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../traces/queens.pmt");
        let trace = Trace::open(&path).unwrap();
        let ticks: Vec<u64> = trace
            .events(&trace.streams()[0])
            .map(|timed| timed.tick)
            .collect();
        for pair in ticks.windows(40).step_by(997) {
            let window = Window {
                from: pair[0],
                until: pair[39],
            };
            let read = Window::parse(&window.text(&trace), &trace).unwrap();
            assert_eq!(read, window.in_ns(&trace));
            assert!(read.from <= window.from && read.until >= window.until);
            // At most a nanosecond more at either end.
            let ns = |ticks| trace.clock().duration_ns(ticks);
            assert!(ns(window.from - read.from) <= 1 && ns(read.until - window.until) <= 1);
        }
        assert_eq!(exact_ns(0), "0ns");
        assert_eq!(exact_ns(999), "999ns");
        assert_eq!(exact_ns(18_243_455), "18.243455ms");
        assert_eq!(exact_ns(2_500_000_000), "2.5s");
    }

    #[test]
    fn marks_are_found_by_their_text() {
        let marks =
            [(3, "load"), (5, "solve"), (9, "load")].map(|(tick, text)| Mark { tick, text });
        assert_eq!(mark(&marks, "load", 0), Ok(3));
        assert_eq!(mark(&marks, "load", 4), Ok(9));
        assert_eq!(mark(&marks, "solve", 6), Ok(5));
        let error = mark(&marks, "lode", 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "`lode` is neither a time, as 1.5ms, nor a mark: the trace has load, solve"
        );
        assert!(
            mark(&[], "load", 0)
                .unwrap_err()
                .to_string()
                .ends_with("the trace has none")
        );
    }
}
