//! What a user asks to look at: a stack of filters, of which the newest can be taken away.

use portmortem_tracer::format::Part;

use super::{Focus, FocusOn, Hide, Window};
use crate::text::time;
use crate::trace::names::printable;
use crate::trace::{PredicateIndex, StreamInfo, Trace};

/// A filter on all figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Filter {
    /// Predicates of a pattern are part of their callers.
    Hide(String),
    /// One predicate is.
    HideOne(PredicateIndex),
    /// Only what runs there.
    Focus(FocusOn),
    /// Only what happens then.
    Window(Window),
    /// Only the stream of this number, and others asked for so.
    Stream(u32),
    /// The trace has only this part of another one. It cannot be taken away.
    Part(Part),
}

impl Filter {
    /// What it does, in a few words, for the title.
    #[must_use]
    pub fn label(&self, trace: &Trace) -> String {
        match self {
            Self::Hide(pattern) => {
                let pattern = pattern.strip_prefix("user:").unwrap_or(pattern);
                format!("hide: {}", printable(pattern))
            }
            Self::HideOne(predicate) => format!("hide: {}", trace.predicate_name(*predicate)),
            Self::Focus(FocusOn::Predicate(predicate)) => {
                format!("in: {}", trace.predicate_name(*predicate))
            }
            Self::Focus(FocusOn::Context(path)) => {
                // What is around it can be seen in the call tree.
                let names: Vec<_> = path[path.len().saturating_sub(2)..]
                    .iter()
                    .map(|&predicate| trace.predicate_name(predicate))
                    .collect();
                let more = if path.len() > 2 { "… › " } else { "" };
                format!("in: {more}{}", names.join(" › "))
            }
            Self::Window(window) => format!("time: {}", window_text(*window, trace)),
            Self::Stream(id) => format!("stream: {}", stream_text(*id, trace)),
            Self::Part(part) => {
                let time = window_text(Window::of_part(part), trace);
                let of = printable(&part.of);
                let streams = part.streams.iter();
                let streams: Vec<String> = streams.map(|id| stream_text(*id, trace)).collect();
                let only = match streams.len() {
                    0 => String::new(),
                    1 => format!(", stream {}", streams[0]),
                    _ => format!(", streams {}", streams.join(", ")),
                };
                format!("part: {time} of {of}{only}")
            }
        }
    }
}

/// Number and name of a stream.
fn stream_text(id: u32, trace: &Trace) -> String {
    let info = trace.streams().iter().find(|info| info.id == id);
    let name = info.map_or("", StreamInfo::name);
    let text = format!("{id} {}", printable(name));
    text.trim_end().to_owned()
}

/// A window as it is shown, in times since the beginning of the trace.
#[must_use]
pub fn window_text(window: Window, trace: &Trace) -> String {
    let at = |tick, open| {
        if tick == open {
            String::new()
        } else {
            time(trace.clock().since_start_ns(tick)).replace(' ', "")
        }
    };
    format!("{}..{}", at(window.from, 0), at(window.until, u64::MAX))
}

/// The filters that are on, the newest last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    filters: Vec<Filter>,
}

impl Filters {
    /// The same of a trace: first of all, which part of another one it has.
    #[must_use]
    pub fn of(mut self, trace: &Trace) -> Self {
        let part = trace.part().map(|part| Filter::Part(part.clone()));
        let is_known = self.filters.first() == part.as_ref();
        if let Some(part) = part.filter(|_| !is_known) {
            self.filters.insert(0, part);
        }
        self
    }

    /// One filter more.
    pub fn push(&mut self, filter: Filter) {
        self.filters.push(filter);
    }

    /// Without the newest filter.
    pub fn pop(&mut self) {
        self.filters
            .pop_if(|filter| !matches!(filter, Filter::Part(_)));
    }

    /// The filters.
    #[must_use]
    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    /// Whether there is no filter.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.filters.is_empty()
    }

    fn each<'f, T>(&'f self, pick: impl Fn(&'f Filter) -> Option<T>) -> impl Iterator<Item = T> {
        self.filters.iter().filter_map(pick)
    }

    /// What is hidden.
    #[must_use]
    pub fn hide(&self) -> Hide {
        let patterns = self.each(|filter| match filter {
            Filter::Hide(pattern) => Some(pattern),
            _ => None,
        });
        let ones = self.each(|filter| match filter {
            Filter::HideOne(predicate) => Some(*predicate),
            _ => None,
        });
        ones.fold(Hide::new(patterns), Hide::and)
    }

    /// Where it looks.
    #[must_use]
    pub fn focus(&self) -> Focus {
        let places = self.each(|filter| match filter {
            Filter::Focus(place) => Some(place),
            _ => None,
        });
        places.fold(Focus::default(), Focus::within)
    }

    /// The time that all windows share.
    #[must_use]
    pub fn window(&self) -> Option<Window> {
        let windows = self.each(|filter| match filter {
            Filter::Window(window) => Some(*window),
            Filter::Part(part) => Some(Window::of_part(part)),
            _ => None,
        });
        windows.reduce(Window::and)
    }

    /// Numbers of the streams; none if all are meant.
    #[must_use]
    pub fn streams(&self) -> Vec<u32> {
        let streams = self.each(|filter| match filter {
            Filter::Stream(id) => Some(*id),
            _ => None,
        });
        let asked: Vec<u32> = streams.collect();
        let of_part = || {
            self.each(|filter| match filter {
                Filter::Part(part) => Some(part.streams.clone()),
                _ => None,
            })
        };
        match asked[..] {
            [] => of_part().flatten().collect(),
            _ => asked,
        }
    }
}
