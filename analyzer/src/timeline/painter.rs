//! From events to columns: the boxes of the active chain, each at its depth, from when to when.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::column::{Began, DepthCell, Ended, Segment, TimeColumn};
use super::edges::Edges;
use super::slice::Slice;
use crate::machine::{At, Class, Note, Observer, OpenBox, WayOut};
use crate::moment::Stack;
use crate::observed_walk::ObservedWalk;
use crate::scope::Scope;
use crate::trace::{PredicateIndex, StreamInfo};
use crate::walk::Walk;

/// What is kept with a box on the active chain or on the choice stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptForPicture {
    called: u64,
    /// What it shows: the last predicate of its chain of last calls that is not hidden.
    shows: Option<PredicateIndex>,
    /// Rows taken by the boxes around it.
    around: u64,
    /// Since when it is where it is, and shows what it shows.
    since: u64,
    began: Began,
}

impl KeptForPicture {
    /// Of a box from before.
    fn of(open: &OpenBox, scope: &Scope) -> Self {
        Self {
            called: open.called,
            shows: predicate_shown(scope, open).unwrap_or(Some(open.called_as)),
            around: 0,
            since: 0,
            began: Began::Before,
        }
    }

    /// Rows taken by it and the boxes around it.
    fn depth(&self) -> u64 {
        self.around + u64::from(self.shows.is_some())
    }
}

/// Boxes with what is kept with them.
pub(super) type PaintedBoxes = Vec<(OpenBox, KeptForPicture)>;

/// A column that was painted.
#[derive(Debug)]
pub(super) struct Painted {
    pub(super) ticks: Range<u64>,
    pub(super) column: TimeColumn,
    /// What sums of columns need beside the column, if it is painted for slices.
    slice: Option<Slice>,
}

impl Painted {
    /// With what sums of columns need.
    pub(super) fn into_slice(self) -> Slice {
        Slice {
            column: self.column,
            ..self.slice.unwrap_or_default()
        }
    }
}

/// Paints some columns.
#[derive(Debug)]
pub(super) struct Painter<'w> {
    edges: Edges,
    rows: DepthRange,
    scope: &'w Scope,
    unknown: PredicateIndex,
    /// Stands for all that is not known since there was a gap.
    bottom: Option<KeptForPicture>,
    /// Tick of the last event.
    tick: u64,
    paused_since: Option<u64>,
    gap_since: Option<u64>,
    /// The column that is being painted, and its ticks. Before the first one, up to where it
    /// begins.
    at: u64,
    begin: u64,
    end: u64,
    inside: bool,
    /// Where the last column ends.
    limit: u64,
    /// Something is drawn of which not all is known.
    unclear: bool,
    column: TimeColumn,
    /// Ticks in the column, by row and predicate.
    times: FxHashMap<(u32, PredicateIndex), u64>,
    /// A box in it is deeper than the rows that are painted.
    deeper: bool,
    done: Vec<Painted>,
    /// What sums of columns need is kept, too.
    for_slices: bool,
}

/// Which depths are painted.
#[derive(Debug, Clone, Copy)]
pub(super) struct DepthRange {
    /// The least one.
    pub(super) first: u32,
    /// How many.
    pub(super) many: u32,
}

impl<'w> Painter<'w> {
    /// Paints columns between these edges.
    pub(super) fn new(edges: Edges, rows: DepthRange, scope: &'w Scope) -> Self {
        let first = edges.first();
        Self {
            end: edges.begin(first),
            at: first,
            limit: edges.begin(edges.end()),
            edges,
            rows,
            unknown: scope.hidden.len().saturating_sub(1) as PredicateIndex,
            scope,
            bottom: None,
            tick: 0,
            paused_since: None,
            gap_since: None,
            begin: 0,
            inside: false,
            unclear: false,
            column: TimeColumn::default(),
            times: FxHashMap::default(),
            deeper: false,
            done: Vec::new(),
            for_slices: false,
        }
    }

    /// The same, for [`Painted::into_slice`].
    pub(super) fn for_slices(self) -> Self {
        Self {
            for_slices: true,
            ..self
        }
    }

    /// Paints them, from where `walk` is in its stream on. `None` if `goes_on` says so, which is
    /// asked at every event.
    pub(super) fn paint(
        mut self,
        walk: Walk,
        stream: &StreamInfo,
        goes_on: &mut impl FnMut() -> bool,
    ) -> Option<Self> {
        let (scope, mut around) = (self.scope, 0);
        let mut stacked = |boxed: OpenBox| {
            let open = KeptForPicture {
                around,
                ..KeptForPicture::of(&boxed, scope)
            };
            around = open.depth();
            (boxed, open)
        };
        let alone = |boxed: OpenBox| (boxed, KeptForPicture::of(&boxed, scope));
        let mut walk = ObservedWalk::of(
            walk,
            |boxes: Stack| -> PaintedBoxes {
                boxes.to_vec().into_iter().map(&mut stacked).collect()
            },
            |boxes: Stack| -> PaintedBoxes { boxes.to_vec().into_iter().map(alone).collect() },
        );
        self.paused_since = walk.is_paused().then_some(0);
        loop {
            let Some(at) = walk.read() else {
                // Of a stream that did not end nothing is known after its last event.
                let end = stream.end.map_or(self.tick, |end| end.tick.max(self.tick));
                self.go_to(end, walk.active());
                self.leave_all(walk.active(), Ended::By(WayOut::Open), end);
                self.go_to(self.limit, &[]);
                break;
            };
            let is_gap = matches!(at.class(), Class::Lose(_));
            if at.tick > self.limit {
                let mut active = walk.active().as_slice();
                if is_gap {
                    self.leave_all(active, Ended::By(WayOut::Lost), self.tick);
                    self.gap_since = Some(self.tick);
                    active = &[];
                }
                self.go_to(self.limit, active);
                break;
            }
            self.happen(&mut walk, &at);
            if !goes_on() {
                return None;
            }
        }
        Some(self)
    }

    /// Paints what the events to come tell, and leaves the last column open.
    pub(super) fn go_on(&mut self, walk: &mut ObservedWalk<PaintedBoxes>) {
        while let Some(at) = walk.read() {
            self.happen(walk, &at);
        }
    }

    /// Nothing comes after `tick`. The last column goes on to where it would end.
    pub(super) fn finish(&mut self, active: &[(OpenBox, KeptForPicture)], tick: u64) {
        self.go_to(tick, active);
        self.leave_all(active, Ended::By(WayOut::Open), tick);
        self.go_to(self.end, &[]);
    }

    /// An event that was read happens.
    fn happen(&mut self, walk: &mut ObservedWalk<PaintedBoxes>, at: &At) {
        if !matches!(at.class(), Class::Lose(_)) {
            self.go_to(at.tick, walk.active());
            self.count(at);
        }
        walk.step(at, self);
        self.pass(at);
    }

    /// The columns to come are each eight times as long; the one that is being painted is made
    /// longer.
    pub(super) fn coarsen(&mut self) {
        self.at = self.edges.coarsen(self.at);
        self.end = self.edges.begin(self.at + 1);
    }

    /// Something was painted of which not all is known, because events are missing.
    pub(super) fn is_unclear(&self) -> bool {
        self.unclear
    }

    /// The columns that were painted, of which none is given again. How the last one ends may not
    /// be known yet: it stays, unless nothing more comes.
    pub(super) fn take(&mut self, all: bool) -> impl Iterator<Item = Painted> {
        let stay = usize::from(!all).min(self.done.len());
        let taken = self.done.len() - stay;
        self.done.drain(..taken)
    }

    /// An event has happened that tells nothing of a single box.
    fn pass(&mut self, at: &At) {
        match at.class() {
            Class::Lose(lost) => self.gap(at, lost),
            Class::Pause(true) => _ = self.paused_since.get_or_insert(at.tick),
            Class::Pause(false) => self.resume(at.tick),
            Class::Enter(_)
            | Class::Depart(_)
            | Class::Leave(_)
            | Class::ReEnter
            | Class::Cut(_)
            | Class::Note(_) => {}
        }
        self.tick = at.tick;
    }

    /// The columns that were painted.
    pub(super) fn columns(self) -> Vec<TimeColumn> {
        self.done.into_iter().map(|done| done.column).collect()
    }

    /// The same, with what sums of columns need.
    pub(super) fn slices(self) -> Vec<Slice> {
        self.done.into_iter().map(Painted::into_slice).collect()
    }

    /// Time passes; these boxes are active meanwhile.
    fn go_to(&mut self, tick: u64, active: &[(OpenBox, KeptForPicture)]) {
        while tick >= self.end && self.at < self.edges.end() {
            if self.inside {
                self.end_column(active);
                self.at = self.edges.after(self.at, tick);
            }
            self.inside = self.at < self.edges.end();
            self.begin = self.edges.begin(self.at);
            self.end = self.edges.begin(self.at + 1);
        }
    }

    fn end_column(&mut self, active: &[(OpenBox, KeptForPicture)]) {
        let first = u64::from(self.rows.first);
        let from = active.partition_point(|(_, open)| open.depth() <= first);
        for (_, open) in &active[from..] {
            if open.around >= first + u64::from(self.rows.many) {
                self.deeper = true;
                break;
            }
            self.draw(open, self.end, Ended::After);
        }
        if let Some(bottom) = self.bottom {
            self.draw(&bottom, self.end, Ended::After);
        }
        let stretch =
            |since: Option<u64>| since.map_or(0, |since| self.end - since.max(self.begin));
        self.column.paused_ticks += stretch(self.paused_since);
        self.column.gap_ticks += stretch(self.gap_since);
        let slice = self.for_slices.then(|| {
            let times = self.times.iter();
            Slice {
                column: TimeColumn::default(),
                times: times.map(|(key, ticks)| (*key, *ticks)).collect(),
                deeper: self.deeper,
                paused: self.paused_since.is_some(),
            }
        });
        self.deeper = false;
        for ((row, predicate), ticks) in self.times.drain() {
            let longest = &mut self.column.cells[row as usize].longest;
            if longest
                .is_none_or(|(other, most)| ticks > most || (ticks == most && predicate < other))
                && ticks > 0
            {
                *longest = Some((predicate, ticks));
            }
        }
        self.column.read = true;
        self.done.push(Painted {
            ticks: self.begin..self.end,
            column: std::mem::take(&mut self.column),
            slice,
        });
    }

    /// The cell of a row, if it is in the window.
    fn cell(&mut self, row: u64) -> Option<(u32, &mut DepthCell)> {
        let row = row.checked_sub(self.rows.first.into())?;
        if !self.inside || row >= u64::from(self.rows.many) {
            self.deeper |= self.inside;
            return None;
        }
        let cells = &mut self.column.cells;
        if cells.len() <= row as usize {
            cells.resize(row as usize + 1, DepthCell::default());
        }
        Some((row as u32, &mut cells[row as usize]))
    }

    /// What a box showed until `to` in this column.
    fn draw(&mut self, open: &KeptForPicture, to: u64, ended: Ended) {
        let Some(predicate) = open.shows else { return };
        let began = if open.since < self.begin {
            Began::Before
        } else {
            open.began
        };
        let from = open.since.max(self.begin);
        if began == Began::Before && to <= self.begin {
            return self.ended_before(open, predicate, ended);
        }
        let Some((row, cell)) = self.cell(open.around) else {
            return;
        };
        let segment = Segment {
            called: open.called,
            predicate,
            from,
            to,
            began,
            ended,
        };
        cell.segments += 1;
        cell.ticks += to - from;
        cell.first.get_or_insert(segment);
        cell.last = Some(segment);
        *self.times.entry((row, predicate)).or_default() += to - from;
    }

    /// A box ends where the column before does.
    fn ended_before(&mut self, open: &KeptForPicture, predicate: PredicateIndex, ended: Ended) {
        // A column without a tick has no boxes.
        let done = self.done.iter_mut().rev();
        let mut done = done.skip_while(|done| done.ticks.start == self.begin);
        let row = open.around.checked_sub(self.rows.first.into());
        if let (Some(done), Some(row)) = (done.next(), row)
            && let Some(cell) = done.column.cells.get_mut(row as usize)
            && let Some(last) = &mut cell.last
            && (last.called, last.predicate) == (open.called, predicate)
        {
            last.ended = ended;
            if cell.segments == 1 {
                cell.first = cell.last;
            }
        }
    }

    fn count(&mut self, at: &At) {
        if !self.inside {
            return;
        }
        let column = &mut self.column;
        column.first_event.get_or_insert(at.number);
        column.counts.events += 1;
        column.counts.marks += u64::from(matches!(at.class(), Class::Note(Note::Mark(_))));
    }

    /// Rows taken by a box and those around it, or by what is not known there.
    fn depth(&self, innermost: Option<&KeptForPicture>) -> u64 {
        innermost
            .or(self.bottom.as_ref())
            .map_or(0, KeptForPicture::depth)
    }

    fn unknown_box(&mut self, at: &At, around: Option<&KeptForPicture>) -> KeptForPicture {
        self.unclear = true;
        KeptForPicture {
            called: at.number,
            shows: Some(self.unknown),
            around: self.depth(around),
            since: at.tick,
            began: Began::Gap,
        }
    }

    /// What a box shows that was called as this, or makes this of itself.
    fn visible(&self, open: &OpenBox) -> Option<PredicateIndex> {
        let is_inside = self.scope.contains(open.way);
        (is_inside && !self.scope.hides(open.predicate)).then_some(open.predicate)
    }

    /// A box becomes active once more.
    fn enter_again(&mut self, open: &KeptForPicture) {
        if open.shows.is_some() && self.inside {
            self.column.counts.redos += 1;
            if let Some((_, cell)) = self.cell(open.around) {
                cell.redos += 1;
            }
        }
    }

    /// Events were lost between the last one and this.
    fn gap(&mut self, at: &At, lost: u64) {
        self.leave_all(&[], Ended::By(WayOut::Lost), self.tick);
        let since = self.tick;
        self.gap_since = Some(since);
        self.go_to(at.tick, &[]);
        self.gap_since = None;
        self.count(at);
        if self.inside {
            self.column.gap_ticks += at.tick.saturating_sub(since.max(self.begin));
            self.column.counts.gaps += 1;
            self.column.counts.lost = self.column.counts.lost.saturating_add(lost);
        }
        self.bottom = Some(self.unknown_box(at, None));
    }

    /// These boxes are all gone, and what is not known with them.
    fn leave_all(&mut self, active: &[(OpenBox, KeptForPicture)], ended: Ended, tick: u64) {
        self.resume(tick);
        for (_, open) in active.iter().rev() {
            self.draw(open, tick, ended);
        }
        if let Some(bottom) = self.bottom.take() {
            self.draw(&bottom, tick, ended);
        }
    }

    fn resume(&mut self, tick: u64) {
        if let Some(since) = self.paused_since.take()
            && self.inside
        {
            self.column.paused_ticks += tick.saturating_sub(since.max(self.begin));
        }
    }
}

impl Observer for Painter<'_> {
    type Kept = KeptForPicture;

    fn called(
        &mut self,
        at: &At,
        open: &OpenBox,
        around: Option<&KeptForPicture>,
    ) -> KeptForPicture {
        let shows = self.visible(open);
        if self.inside && shows.is_some() {
            self.column.counts.calls += 1;
        }
        KeptForPicture {
            called: open.called,
            shows,
            around: self.depth(around),
            since: at.tick,
            began: Began::Call,
        }
    }

    fn found(&mut self, at: &At, _: &OpenBox, around: Option<&KeptForPicture>) -> KeptForPicture {
        let mut open = self.unknown_box(at, around);
        if at.class() == Class::ReEnter {
            open.began = Began::Redo;
            self.enter_again(&open);
        }
        open
    }

    fn departed(&mut self, at: &At, open: &OpenBox, kept: &mut KeptForPicture) {
        let Some(predicate) = self.visible(open) else {
            return;
        };
        if self.inside {
            self.column.counts.last_calls += 1;
        }
        if kept.shows == Some(predicate) {
            return;
        }
        let before = *kept;
        kept.shows = Some(predicate);
        kept.since = at.tick;
        kept.began = Began::LastCall;
        self.draw(&before, at.tick, Ended::LastCall);
    }

    fn left(&mut self, at: &At, kept: &mut KeptForPicture, way_out: WayOut) {
        // The recorder lost the event by which the box was left. The segment ends at the last event
        // before the gap.
        let tick = if way_out == WayOut::Lost {
            self.tick
        } else {
            at.tick
        };
        self.draw(kept, tick, Ended::By(way_out));
        if way_out == WayOut::Lost || kept.shows.is_none() || !self.inside {
            return;
        }
        let counts = &mut self.column.counts;
        match way_out {
            WayOut::Fail => counts.fails += 1,
            WayOut::Exception => counts.exceptions += 1,
            _ => counts.exits += 1,
        }
        if !matches!(way_out, WayOut::Fail | WayOut::Exception) {
            return;
        }
        if let Some((_, cell)) = self.cell(kept.around) {
            cell.fails += u64::from(way_out == WayOut::Fail);
            cell.exceptions += u64::from(way_out == WayOut::Exception);
        }
    }

    fn re_entered(&mut self, at: &At, kept: &mut KeptForPicture, around: Option<&KeptForPicture>) {
        *kept = KeptForPicture {
            around: self.depth(around),
            since: at.tick,
            began: Began::Redo,
            ..*kept
        };
        self.enter_again(kept);
    }

    fn cut(&mut self, _: &At, kept: KeptForPicture) {
        self.column.counts.cuts += u64::from(self.inside && kept.shows.is_some());
    }
}

/// What a box shows, from what is known at a moment; `None` if that cannot be told: all that it is
/// known to have run in the end is hidden, and it made last calls before, or came into the focus by
/// one.
pub(super) fn predicate_shown(scope: &Scope, open: &OpenBox) -> Option<Option<PredicateIndex>> {
    if !scope.contains(open.way) {
        return Some(None);
    }
    if open.is_shown(scope) {
        return Some(Some(open.predicate));
    }
    let first = (!scope.hides(open.called_as)).then_some(open.called_as);
    match open.last_calls {
        0 => Some(None),
        1 if !scope.is_focused() => Some(first),
        _ => None,
    }
}
