//! Pages of events, and what is known of one: its stack, its cause, its box.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use portmortem_analyzer::listing::{Explainer, Explanation};
use portmortem_analyzer::tables::{
    Cell, EventAt, EventFacts, EventRow, Listed, ListedRow, PredicateMoment, Row,
};
use portmortem_analyzer::walk::{Step, Walk};

use crate::error::{Culprit, Error, Holds, done};
use crate::ffi::{Atom, PL_put_term, Term};
use crate::handle;
use crate::opened::Opened;
use crate::terms::{TermList, Terms, new_refs, number, put_number, text, unify};

/// Rows of a page.
const MOST_ROWS: usize = 1 << 14;

/// The next page is of more events if this one had fewer rows.
const FEW_ROWS: usize = MOST_ROWS / 8;

/// Events that are looked at for a page: some seconds. Between pages the engine handles signals.
const MOST_EVENTS: u64 = 1 << 26;

/// The condition that holds for all events.
const ALL: &str = "event >= 0";

/// Which way pages go, and what their rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventPages {
    /// Events, as they happened.
    Forward,
    /// Events, the last one first.
    Backward,
    /// Rows of the table `events`, as they happened.
    Rows,
}

impl EventPages {
    fn of(term: Term) -> Result<Self, Error> {
        match text(term)?.as_str() {
            "forward" => Ok(Self::Forward),
            "backward" => Ok(Self::Backward),
            "rows" => Ok(Self::Rows),
            other => Err(Error::Domain(
                "pages",
                Culprit::Text(other.to_owned()),
                "expected forward, backward or rows".to_owned(),
            )),
        }
    }
}

/// `page(+Trace, +Condition, +Stream, +Pages, +From, +Size, -Rows, -Next, -NextSize)`: of the
/// `Size` events of a stream from `From` on, or before it, those that a condition holds for. The
/// next page begins at `Next`, which is `end` if there is none.
pub(crate) fn page(arguments: [Term; 9]) -> Holds {
    let [
        trace,
        condition,
        stream,
        pages,
        from,
        size,
        rows,
        next,
        next_size,
    ] = arguments;
    let opened = handle::get(trace)?;
    let (pages, from, size) = (EventPages::of(pages)?, number(from)?, number(size)?.max(1));
    let condition = text(condition)?;
    let Some((id, end)) = stream_of(&opened, stream)? else {
        return Ok(false);
    };
    let numbers = match pages {
        EventPages::Backward => from.saturating_sub(size)..from,
        EventPages::Forward | EventPages::Rows => from..from.saturating_add(size),
    };
    let mut found = found(&opened, &condition, id, numbers.clone(), pages)?;
    opened.check_whole()?;
    let is_cut = found.len() >= MOST_ROWS;
    let (goes_on, is_over) = if pages == EventPages::Backward {
        let oldest = found.front().filter(|_| is_cut);
        let goes_on = oldest.map_or(numbers.start, |(step, _)| step.number);
        found.make_contiguous().reverse();
        (goes_on, goes_on == 0)
    } else {
        let newest = found.back().filter(|_| is_cut);
        let goes_on = newest.map_or(numbers.end, |(step, _)| step.number + 1);
        (goes_on, goes_on >= end)
    };
    let grows = found.len() < FEW_ROWS;
    let mut terms = Terms::new();
    put_rows(&opened, &mut terms, id, &found, pages, [trace, rows])?;
    let told = new_refs(2);
    if is_over {
        terms.put_atom(told, "end")?;
    } else {
        put_number(told, goes_on)?;
    }
    let size = if grows {
        size.saturating_mul(4).min(MOST_EVENTS)
    } else {
        size
    };
    put_number(told + 1, size)?;
    Ok(unify(next, told) && unify(next_size, told + 1))
}

/// The stream of this number, and the number behind its last event.
fn stream_of(opened: &Opened, stream: Term) -> Result<Option<(u32, u64)>, Error> {
    let Ok(id) = u32::try_from(number(stream)?) else {
        return Ok(None);
    };
    Ok(opened.stream(id)?.map(|(_, end)| (id, end)))
}

/// The events that a condition holds for, as they happened: the first ones, or the last ones if
/// pages go backward.
fn found(
    opened: &Opened,
    condition: &str,
    stream: u32,
    numbers: Range<u64>,
    pages: EventPages,
) -> Result<VecDeque<(Step, EventFacts)>, Error> {
    let condition = opened.condition(if condition.is_empty() { ALL } else { condition })?;
    let listing = opened.listing(stream, numbers)?;
    let mut found = VecDeque::new();
    let _ = listing.each(&*condition, &mut |event, _| {
        found.push_back((event.at.step, event.facts));
        if found.len() <= MOST_ROWS {
            return ControlFlow::Continue(());
        }
        if pages == EventPages::Backward {
            found.pop_front();
            return ControlFlow::Continue(());
        }
        found.pop_back();
        ControlFlow::Break(())
    });
    Ok(found)
}

/// Makes a list of dicts in place of `rows`.
fn put_rows(
    opened: &Opened,
    terms: &mut Terms,
    stream: u32,
    found: &VecDeque<(Step, EventFacts)>,
    pages: EventPages,
    [trace, rows]: [Term; 2],
) -> Result<(), Error> {
    let analysis = opened.analysis()?;
    let (tag, columns) = match pages {
        EventPages::Rows => ("events", EventRow::COLUMNS),
        EventPages::Forward | EventPages::Backward => ("event", ListedRow::COLUMNS),
    };
    let keys = terms.keys(columns.iter().map(|column| column.name));
    let mut dicts = Dicts::new(tag, keys, rows);
    for (step, facts) in found {
        let at = EventAt {
            trace: &opened.trace,
            name: &analysis.name,
            stream,
            step: *step,
        };
        if pages == EventPages::Rows {
            let row = EventRow::of(at.trace, at.name, stream, *step);
            row.with_cells(|cells| dicts.push(terms, None, cells))?;
        } else {
            let (facts, sites) = (*facts, opened.sites());
            let row = ListedRow::new(&Listed { at, sites, facts });
            row.with_cells(|cells| dicts.push(terms, Some(trace), cells))?;
        }
    }
    dicts.list.end()
}

/// A list of dicts that have the same keys, the first of which is `trace`.
pub(crate) struct Dicts {
    tag: &'static str,
    keys: Vec<Atom>,
    values: Term,
    dict: Term,
    pub(crate) list: TermList,
}

impl Dicts {
    pub(crate) fn new(tag: &'static str, keys: Vec<Atom>, list: Term) -> Self {
        let (values, dict) = (new_refs(keys.len()), new_refs(1));
        let list = TermList::in_place_of(list);
        Self {
            tag,
            keys,
            values,
            dict,
            list,
        }
    }

    /// Adds a dict of as many cells as there are keys; its trace is an open one, if that is given.
    pub(crate) fn push(
        &mut self,
        terms: &mut Terms,
        trace: Option<Term>,
        cells: &[Cell],
    ) -> Result<(), Error> {
        for (value, cell) in (self.values..).zip(cells) {
            terms.put_cell(value, *cell)?;
        }
        if let Some(trace) = trace {
            // SAFETY: an argument of the predicate that is running, and a reference of this call.
            done(unsafe { PL_put_term(self.values, trace) })?;
        }
        terms.put_dict(self.dict, self.tag, &self.keys, self.values)?;
        self.list.push(self.dict)
    }
}

/// `box_history(+Trace, +Stream, +Box, -Dict)`: what became of the box that an event called.
pub(crate) fn box_history([trace, stream, boxed, dict]: [Term; 4]) -> Holds {
    let opened = handle::get(trace)?;
    let boxed = number(boxed)?;
    let Some((id, _)) = stream_of(&opened, stream)? else {
        return Ok(false);
    };
    let histories = opened.listing(id, 0..u64::MAX)?.histories(boxed);
    opened.check_whole()?;
    let Some(history) = histories.first() else {
        return Ok(false);
    };
    let clock = opened.trace.clock();
    let of = history.called.of;
    let integer = |number: u64| Cell::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let known = |number: Option<u64>| number.map_or(Cell::Missing, integer);
    let cells = [
        ("trace", Cell::Missing),
        ("stream", Cell::Integer(id.into())),
        ("box", integer(boxed)),
        ("parent", known(of.and_then(|(of, _)| of.caller))),
        ("depth", known(of.map(|(_, depth)| depth))),
        (
            "predicate",
            of.map_or(Cell::Missing, |(of, _)| {
                Cell::Text(opened.trace.predicate_name(of.predicate))
            }),
        ),
        ("ns", integer(clock.since_start_ns(history.called.tick))),
        ("last", integer(history.last)),
        ("outcome", Cell::Text(history.outcome.name())),
        ("was_cut", Cell::Bool(history.was_cut)),
        ("is_pending", Cell::Bool(history.is_pending)),
        ("redos", integer(history.redos)),
        ("calls", integer(history.calls)),
        ("took_ns", integer(clock.duration_ns(history.ticks))),
    ];
    let mut terms = Terms::new();
    let keys = terms.keys(cells.map(|(name, _)| name));
    let values = new_refs(cells.len());
    for (value, (_, cell)) in (values..).zip(cells) {
        terms.put_cell(value, cell)?;
    }
    // SAFETY: an argument of the predicate that is running, and a reference of this call.
    done(unsafe { PL_put_term(values, trace) })?;
    let made = new_refs(1);
    terms.put_dict(made, "box", &keys, values)?;
    Ok(unify(dict, made))
}

/// `event_stack(+Trace, +Stream, +Event, -Boxes)`: the active boxes at an event, the innermost
/// first.
pub(crate) fn event_stack([trace, stream, event, boxes]: [Term; 4]) -> Holds {
    let opened = handle::get(trace)?;
    let event = number(event)?;
    let Some((id, _)) = stream_of(&opened, stream)? else {
        return Ok(false);
    };
    let condition = opened.condition(ALL)?;
    let mut listing = opened.listing(id, event..event.saturating_add(1))?;
    listing.boxes = usize::MAX;
    let mut stack = None;
    let _ = listing.each(&*condition, &mut |_, boxes| {
        stack = Some(boxes.to_vec());
        ControlFlow::Break(())
    });
    opened.check_whole()?;
    let Some(stack) = stack else {
        return Ok(false);
    };
    let mut terms = Terms::new();
    let (arguments, made) = (new_refs(3), new_refs(1));
    let mut list = TermList::in_place_of(boxes);
    for (depth, of) in stack {
        put_number(arguments, of.called)?;
        put_number(arguments + 1, depth)?;
        terms.put_atom(arguments + 2, opened.trace.predicate_name(of.predicate))?;
        terms.put_compound(made, "box", 3, arguments)?;
        list.push(made)?;
    }
    list.end()?;
    Ok(true)
}

/// `event_cause(+Trace, +Stream, +Event, -Cause)`: why an event happened.
pub(crate) fn event_cause([trace, stream, event, cause]: [Term; 4]) -> Holds {
    let opened = handle::get(trace)?;
    let event = number(event)?;
    let Some((id, _)) = stream_of(&opened, stream)? else {
        return Ok(false);
    };
    let Some((info, _)) = opened.stream(id)? else {
        return Ok(false);
    };
    let trail = opened.analysis()?.trail();
    let step = Walk::from(&opened.trace, trail, info, event).next();
    let Some(step) = step.filter(|step| step.number == event) else {
        return Ok(false);
    };
    let explainer = Explainer::new(&opened.trace, trail, &|_| true, &|| true);
    let explanation = explainer.explain(info, &step);
    opened.check_whole()?;
    let mut causes = Causes {
        opened: &opened,
        terms: Terms::new(),
        made: new_refs(1),
    };
    match explanation {
        None | Some(Explanation::None) => return Ok(false),
        Some(explanation) => causes.put(explanation)?,
    }
    Ok(unify(cause, causes.made))
}

/// Makes a term of an explanation.
struct Causes<'o> {
    opened: &'o Opened,
    terms: Terms,
    made: Term,
}

impl Causes<'_> {
    fn put(&mut self, explanation: Explanation) -> Result<(), Error> {
        let made = self.made;
        match explanation {
            Explanation::Failure(Some(place)) | Explanation::Redo(place) => {
                self.put_place(made, "failed", place)
            }
            Explanation::Failure(None) => self.terms.put_atom(made, "own_clauses"),
            Explanation::Asked(Some(place)) => self.put_place(made, "asked", place),
            Explanation::Asked(None) => self.terms.put_atom(made, "asked"),
            Explanation::Cut(by, boxes) => {
                let (arguments, of) = (new_refs(2), new_refs(1));
                self.put_place(arguments, "box", by)?;
                let mut list = TermList::in_place_of(arguments + 1);
                for place in boxes {
                    self.put_place(of, "box", place)?;
                    list.push(of)?;
                }
                list.end()?;
                self.terms.put_compound(made, "cut", 2, arguments)
            }
            Explanation::Exception(raised, caught) => {
                let arguments = new_refs(2);
                self.put_place(arguments, "raised", raised)?;
                match caught {
                    Some(place) => self.put_place(arguments + 1, "box", place)?,
                    None => self.terms.put_atom(arguments + 1, "null")?,
                }
                self.terms.put_compound(made, "exception", 2, arguments)
            }
            Explanation::Lost | Explanation::None => self.terms.put_atom(made, "lost"),
        }
    }

    /// `Name(Predicate, Event)`
    fn put_place(&mut self, term: Term, name: &str, place: PredicateMoment) -> Result<(), Error> {
        let arguments = new_refs(2);
        let predicate = self.opened.trace.predicate_name(place.predicate);
        self.terms.put_atom(arguments, predicate)?;
        match place.event {
            Some(event) => put_number(arguments + 1, event)?,
            None => self.terms.put_atom(arguments + 1, "null")?,
        }
        self.terms.put_compound(term, name, 2, arguments)
    }
}
