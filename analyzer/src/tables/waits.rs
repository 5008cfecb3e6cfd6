//! The table `waits`: which thread waited where, for what, and for whom.

use super::Tables;
use super::row::{Row, rows};
use crate::figures::waits::{WaitFigures, WaitKind};
use crate::trace::SiteInfo;

rows! {
    /// A row of the table `waits`: one for each stream, goal, mutex, queue or thread, and stream
    /// that was awaited. Time in which a thread could have run is in none of them.
    pub struct WaitRow<'t> of w: WaitData<'t> {
        /// Name of the trace.
        "trace" None trace: &'t str = w.tables.name;
        /// Number of the stream that waited.
        "stream" None stream: u32 = w.kind.stream;
        /// Its name in the engine.
        "who" None name: &'t str = w.stream_name(w.kind.stream);
        /// Indicator of the predicate that waited, such as `with_mutex/2`; `<root>` if none was
        /// active.
        "in" None predicate: &'t str = w.predicate();
        /// Indicator of the predicate whose clause called it. Empty: a call without a site.
        "caller" None caller: Option<&'t str> = w.caller();
        /// Source file of that clause.
        "file" None file: Option<&'t str> = w.file();
        /// Line of the goal.
        "line" None line: Option<u32> = w.line();
        /// What it waited for: `mutex`, `queue` or `thread`. Empty: something else,
        /// such as time or input.
        "for" None kind: Option<&'t str> = w.kind.object.map(|object| object.kind.name());
        /// The name of that: an alias, the number of a thread, or an address.
        "name" None object: Option<&'t str> = w.object();
        /// Number of the stream that held the mutex meanwhile, that sent the message (or, of a
        /// sender, took one out), or that was to end. Empty: not known.
        "awaited" None awaited: Option<u32> = w.kind.awaited;
        /// Its name in the engine.
        "whom" None awaited_name: Option<&'t str> = w.kind.awaited.map(|id| w.stream_name(id));
        /// Waits of which some time is in this row: while one lasts, a mutex may pass from one
        /// thread to another.
        "waits" Count waits: u64 = w.figures.waits;
        /// That time, in ns.
        "waited" Clock waited_ns: u64 = w.tables.ns(w.figures.ticks);
        /// The most of one wait, in ns.
        "longest" Clock longest_ns: u64 = w.tables.ns(w.figures.longest_ticks);
        /// Number of the event in the stream with which that wait begins: `seq` of the table
        /// `events`.
        "event" None longest_event: u64 = w.figures.longest_event;
    }
}

/// What a row of the table `waits` is made of.
#[derive(Debug, Clone, Copy)]
pub struct WaitData<'t> {
    tables: Tables<'t>,
    /// What the times in it have in common.
    pub kind: WaitKind,
    /// How long they are.
    pub figures: WaitFigures,
}

impl<'t> Tables<'t> {
    /// The longest time first; none if it is not known.
    pub fn waits(self) -> impl Iterator<Item = WaitRow<'t>> {
        self.wait_list().into_iter().map(|wait| WaitRow::new(&wait))
    }

    /// The same, as what rows are made of.
    #[must_use]
    pub fn wait_list(self) -> Vec<WaitData<'t>> {
        let waits = self.profile.waits.iter();
        let sums = waits.flat_map(|waits| &waits.sums);
        let waits = sums.map(|(&kind, &figures)| WaitData {
            tables: self,
            kind,
            figures,
        });
        let mut all: Vec<_> = waits.collect();
        all.sort_by_key(|wait| std::cmp::Reverse(wait.figures.ticks));
        all
    }
}

impl<'t> Tables<'t> {
    /// The wait of a kind, if there is one.
    #[must_use]
    pub fn wait(self, kind: &WaitKind) -> Option<WaitData<'t>> {
        let figures = *self.profile.waits.as_ref()?.sums.get(kind)?;
        Some(WaitData {
            tables: self,
            kind: *kind,
            figures,
        })
    }
}

impl<'t> WaitData<'t> {
    fn stream_name(&self, id: u32) -> &'t str {
        let trace = self.tables.trace;
        let place = trace.stream_place(id);
        place.map_or("", |at| trace.streams()[at].name())
    }

    fn predicate(&self) -> &'t str {
        let of = self.kind.predicate;
        of.map_or(super::ROOT, |of| self.tables.trace.predicate_name(of))
    }

    fn site(&self) -> Option<&'t SiteInfo> {
        self.tables.trace.sites().get(self.kind.site? as usize)
    }

    fn caller(&self) -> Option<&'t str> {
        Some(self.tables.trace.predicate_name(self.site()?.caller))
    }

    fn file(&self) -> Option<&'t str> {
        self.tables.trace.file(self.site()?.file?)
    }

    fn line(&self) -> Option<u32> {
        self.site().map(|site| site.line).filter(|&line| line != 0)
    }

    /// The name of what it waited for.
    #[must_use]
    pub fn object(&self) -> Option<&'t str> {
        self.tables.trace.shared(self.kind.object?.id)
    }
}
