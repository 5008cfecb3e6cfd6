//! The listed events around the cursor. More are looked for on both sides when it comes near an end.

use std::collections::VecDeque;
use std::time::Instant;

use portmortem_analyzer::walk::Step;

use super::reader::EventReader;
use super::search::{Direction, Leg, Search, SearchResult};

/// Events that are looked for at a time.
const PIECE: usize = 500;

/// So near to an end more are looked for.
const NEAR: usize = 100;

/// More than this are not kept.
const MOST: usize = 4000;

/// Events that follow on each other as listed.
#[derive(Debug, Default)]
pub(super) struct EventList {
    pub(super) steps: VecDeque<Step>,
    /// The event that the cursor is on.
    pub(super) at: usize,
    /// The first event that is drawn; less than nothing while those before are not there yet.
    first: isize,
    before: Side,
    after: Side,
}

/// What is known of one side.
#[derive(Debug, Default)]
struct Side {
    /// There is nothing beyond.
    ends: bool,
    search: Option<Search>,
}

impl EventList {
    /// Begins with an event, to be drawn in a row, and looks for those around it until some moment.
    pub(super) fn around(
        step: Step,
        row: usize,
        reader: &EventReader,
        until: Option<Instant>,
    ) -> Self {
        let mut list = Self {
            steps: VecDeque::from([step]),
            first: -isize::try_from(row).unwrap_or(0),
            ..Self::default()
        };
        list.look(reader);
        list.take(until);
        list
    }

    pub(super) fn step(&self) -> Option<&Step> {
        self.steps.get(self.at)
    }

    /// Looks for more where the cursor is near the end of what is known.
    fn look(&mut self, reader: &EventReader) {
        let stream = reader.stream;
        let look = |way| {
            let leg = Leg { stream, way };
            let total = leg.length(reader);
            Some(Search::for_listed(reader, [leg].into_iter(), total, PIECE))
        };
        if let Some(&last) = self.steps.back()
            && self.after.wants(self.steps.len() - 1 - self.at)
        {
            self.after.search = look(Direction::After(last));
        }
        if let Some(&first) = self.steps.front()
            && self.before.wants(self.at)
        {
            self.before.search = look(Direction::Before(first));
        }
    }

    /// Moves the cursor by some events; waits for them until some moment if they are not there yet.
    pub(super) fn shift(&mut self, rows: isize, reader: &EventReader, until: Instant) {
        if self.target(rows).is_err() {
            self.look(reader);
            self.take(Some(until));
        }
        self.at = self.target(rows).unwrap_or_else(|nearest| nearest);
        self.look(reader);
        self.trim();
    }

    /// Where so many events lead; otherwise the last one on the way.
    fn target(&self, rows: isize) -> Result<usize, usize> {
        let last = self.steps.len().saturating_sub(1);
        match self.at.checked_add_signed(rows) {
            Some(to) if to <= last => Ok(to),
            Some(_) => Err(last),
            None => Err(0),
        }
    }

    /// Takes what was found; waits for the ends of searches until some moment. Whether there was something.
    pub(super) fn take(&mut self, until: Option<Instant>) -> bool {
        let mut some = false;
        while let Some(found) = self.after.next(until) {
            some = true;
            self.steps.extend(found);
        }
        while let Some(found) = self.before.next(until) {
            some = true;
            self.at += found.len();
            self.first += found.len() as isize;
            found
                .into_iter()
                .for_each(|step| self.steps.push_front(step));
        }
        some
    }

    /// Forgets what is far from the cursor.
    fn trim(&mut self) {
        let surplus = self.steps.len().saturating_sub(MOST);
        if surplus == 0 {
            return;
        }
        if self.at > MOST / 2 {
            self.steps.drain(..surplus);
            self.at -= surplus;
            self.first -= surplus as isize;
            self.before = Side::default();
        } else {
            self.steps.truncate(MOST);
            self.after = Side::default();
        }
    }

    /// Looks for nothing any more.
    pub(super) fn stop(&mut self) {
        self.before.search = None;
        self.after.search = None;
    }

    /// How much was looked at of what is looked at now.
    pub(super) fn share(&self) -> Option<f64> {
        let sides = [&self.after, &self.before];
        let mut searches = sides.iter().filter_map(|side| side.search.as_ref());
        searches.next().map(Search::share)
    }

    /// The first event to be drawn in so many rows.
    pub(super) fn first(&mut self, rows: usize) -> usize {
        let before = usize::try_from(self.first).unwrap_or(0);
        let first = crate::table::first_row(before, self.at, rows, self.steps.len());
        if self.first >= 0 || self.before.search.is_none() {
            self.first = first as isize;
        }
        first
    }
}

impl Side {
    /// Whether to look for more, with so many events between the cursor and the end.
    fn wants(&self, left: usize) -> bool {
        !self.ends && self.search.is_none() && left < NEAR
    }

    fn next(&mut self, until: Option<Instant>) -> Option<Vec<Step>> {
        match self.search.as_ref()?.next(until)? {
            SearchResult::Steps(_, steps) => Some(steps),
            SearchResult::End(more) => {
                self.ends = !more;
                self.search = None;
                Some(Vec::new())
            }
        }
    }
}
