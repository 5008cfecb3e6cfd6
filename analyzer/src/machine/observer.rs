//! What is told to those who want to know what happens to boxes.

use portmortem_tracer::format::Event;

use super::{Class, Note, OpenBox, WayOut};
use crate::trace::SiteIndex;

/// An event, where it stands, and what was before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub(crate) event: Event,
    /// Its number in the stream.
    pub(crate) number: u64,
    pub(crate) tick: u64,
    /// The goal that made the call, if it is one and says so.
    pub(crate) site: Option<SiteIndex>,
    /// Ticks so far in the window that are no pause and no gap.
    pub(crate) now: u64,
    /// The window has begun.
    pub(crate) is_inside: bool,
    /// Events were lost: callers are not known.
    pub(crate) lost: bool,
    /// Boxes that can be re-entered.
    pub(crate) choices: usize,
}

impl At {
    /// An event of which nothing else matters.
    pub(crate) fn new(event: Event, number: u64) -> Self {
        Self {
            event,
            number,
            tick: 0,
            site: None,
            now: 0,
            is_inside: true,
            lost: false,
            choices: 0,
        }
    }

    /// What the event does to boxes.
    #[inline]
    pub(crate) fn class(&self) -> Class {
        Class::of(self.event)
    }
}

/// Is told what happens to the boxes of a stream, or of one stream after another.
pub(crate) trait Observer {
    /// What it keeps with a box while that is on either stack.
    type Kept;

    /// The stream of this number begins; all boxes of the one before are gone.
    fn begins(&mut self, _stream: u32) {}

    /// The next event is the first one of the stream in the window.
    fn window_begins(&mut self) {}

    /// So many ticks passed since the last event, in which this box was active.
    fn passed(&mut self, _ticks: u64, _active: Option<&Self::Kept>) {}

    /// A box is called by the one around it.
    fn called(&mut self, at: &At, open: &OpenBox, around: Option<&Self::Kept>) -> Self::Kept;

    /// A port belongs to a box from before a gap, of which nothing is known. It becomes active.
    fn found(&mut self, at: &At, open: &OpenBox, around: Option<&Self::Kept>) -> Self::Kept {
        self.called(at, open, around)
    }

    /// The active box departed.
    fn departed(&mut self, _at: &At, _open: &OpenBox, _kept: &mut Self::Kept) {}

    /// The active box is left. Those that are open at a gap or at the end of the stream are, too.
    fn left(&mut self, _at: &At, _kept: &mut Self::Kept, _way_out: WayOut) {}

    /// A box is re-entered below the one around it.
    fn re_entered(&mut self, _at: &At, _kept: &mut Self::Kept, _around: Option<&Self::Kept>) {}

    /// A box can no longer be re-entered.
    fn cut(&mut self, _at: &At, _kept: Self::Kept) {}

    /// A box could still be re-entered at a gap or at the end of the stream.
    fn lost(&mut self, _at: &At, _kept: Self::Kept) {}

    /// An event that moves no box; the active one, if there is one.
    fn noted(&mut self, _at: &At, _note: Note, _active: Option<(&OpenBox, &mut Self::Kept)>) {}
}

/// Nothing is kept.
impl Observer for () {
    type Kept = ();

    fn called(&mut self, _: &At, _: &OpenBox, _: Option<&()>) {}
}

/// Both are told everything.
impl<A: Observer, B: Observer> Observer for (A, B) {
    type Kept = (A::Kept, B::Kept);

    fn begins(&mut self, stream: u32) {
        self.0.begins(stream);
        self.1.begins(stream);
    }

    fn window_begins(&mut self) {
        self.0.window_begins();
        self.1.window_begins();
    }

    #[inline]
    fn passed(&mut self, ticks: u64, active: Option<&Self::Kept>) {
        self.0.passed(ticks, active.map(|kept| &kept.0));
        self.1.passed(ticks, active.map(|kept| &kept.1));
    }

    #[inline]
    fn called(&mut self, at: &At, open: &OpenBox, around: Option<&Self::Kept>) -> Self::Kept {
        let first = self.0.called(at, open, around.map(|kept| &kept.0));
        (first, self.1.called(at, open, around.map(|kept| &kept.1)))
    }

    fn found(&mut self, at: &At, open: &OpenBox, around: Option<&Self::Kept>) -> Self::Kept {
        let first = self.0.found(at, open, around.map(|kept| &kept.0));
        (first, self.1.found(at, open, around.map(|kept| &kept.1)))
    }

    #[inline]
    fn departed(&mut self, at: &At, open: &OpenBox, kept: &mut Self::Kept) {
        self.0.departed(at, open, &mut kept.0);
        self.1.departed(at, open, &mut kept.1);
    }

    #[inline]
    fn left(&mut self, at: &At, kept: &mut Self::Kept, way_out: WayOut) {
        self.0.left(at, &mut kept.0, way_out);
        self.1.left(at, &mut kept.1, way_out);
    }

    #[inline]
    fn re_entered(&mut self, at: &At, kept: &mut Self::Kept, around: Option<&Self::Kept>) {
        self.0
            .re_entered(at, &mut kept.0, around.map(|kept| &kept.0));
        self.1
            .re_entered(at, &mut kept.1, around.map(|kept| &kept.1));
    }

    #[inline]
    fn cut(&mut self, at: &At, kept: Self::Kept) {
        self.0.cut(at, kept.0);
        self.1.cut(at, kept.1);
    }

    fn lost(&mut self, at: &At, kept: Self::Kept) {
        self.0.lost(at, kept.0);
        self.1.lost(at, kept.1);
    }

    #[inline]
    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut Self::Kept)>) {
        match active {
            Some((open, kept)) => {
                self.0.noted(at, note, Some((open, &mut kept.0)));
                self.1.noted(at, note, Some((open, &mut kept.1)));
            }
            None => {
                self.0.noted(at, note, None);
                self.1.noted(at, note, None);
            }
        }
    }
}

/// It is told everything, if there is one.
impl<O: Observer> Observer for Option<O> {
    type Kept = Option<O::Kept>;

    fn begins(&mut self, stream: u32) {
        if let Some(observer) = self {
            observer.begins(stream);
        }
    }

    fn window_begins(&mut self) {
        if let Some(observer) = self {
            observer.window_begins();
        }
    }

    #[inline]
    fn passed(&mut self, ticks: u64, active: Option<&Self::Kept>) {
        if let Some(observer) = self {
            observer.passed(ticks, active.and_then(Option::as_ref));
        }
    }

    #[inline]
    fn called(&mut self, at: &At, open: &OpenBox, around: Option<&Self::Kept>) -> Self::Kept {
        let around = around.and_then(Option::as_ref);
        Some(self.as_mut()?.called(at, open, around))
    }

    fn found(&mut self, at: &At, open: &OpenBox, around: Option<&Self::Kept>) -> Self::Kept {
        let around = around.and_then(Option::as_ref);
        Some(self.as_mut()?.found(at, open, around))
    }

    #[inline]
    fn departed(&mut self, at: &At, open: &OpenBox, kept: &mut Self::Kept) {
        if let (Some(observer), Some(kept)) = (self, kept) {
            observer.departed(at, open, kept);
        }
    }

    #[inline]
    fn left(&mut self, at: &At, kept: &mut Self::Kept, way_out: WayOut) {
        if let (Some(observer), Some(kept)) = (self, kept) {
            observer.left(at, kept, way_out);
        }
    }

    #[inline]
    fn re_entered(&mut self, at: &At, kept: &mut Self::Kept, around: Option<&Self::Kept>) {
        if let (Some(observer), Some(kept)) = (self, kept) {
            observer.re_entered(at, kept, around.and_then(Option::as_ref));
        }
    }

    #[inline]
    fn cut(&mut self, at: &At, kept: Self::Kept) {
        if let (Some(observer), Some(kept)) = (self, kept) {
            observer.cut(at, kept);
        }
    }

    fn lost(&mut self, at: &At, kept: Self::Kept) {
        if let (Some(observer), Some(kept)) = (self, kept) {
            observer.lost(at, kept);
        }
    }

    #[inline]
    fn noted(&mut self, at: &At, note: Note, active: Option<(&OpenBox, &mut Self::Kept)>) {
        if let Some(observer) = self {
            let active = active.and_then(|(open, kept)| Some((open, kept.as_mut()?)));
            observer.noted(at, note, active);
        }
    }
}
