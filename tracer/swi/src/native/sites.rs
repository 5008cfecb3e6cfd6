//! Where goals stand in the source: noted while a file is read, and looked up when a clause gets
//! its stubs.
//!
//! The loader says of each clause in which file and line it begins, and after how many characters
//! each of its goals begins. The engine keeps the line of a clause, so that the note is found
//! again from the clause alone.
//!
//! Goals in arguments of other goals are called by whatever gets the argument: `maplist/3`,
//! `catch/3`, a meta-predicate of the program. A box remembers the [`ArgumentGoals`] of the goal
//! that called it, and a call that comes out of it is looked for among them.

use std::hash::{Hash, Hasher};
use std::ptr;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use portmortem_tracer::format::Site;
use portmortem_tracer::locks;
use rustc_hash::FxHashMap;

use super::identity::Identity;
use crate::{ffi, lines, recording};

/// A goal of a clause, as it is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NotedGoal {
    pub(crate) name: ffi::Atom,
    /// That of the predicate, with arguments that a meta-predicate adds. Negative for an argument
    /// that is a goal which the source does not tell.
    pub(crate) arity: i64,
    /// How many characters of the file come before it. If only the line is known, that line, less
    /// than 0.
    pub(crate) start: i64,
    /// How many come before its end.
    pub(crate) end: i64,
    /// Its number in the clause, from 1; goals in arguments of goals are counted, too.
    pub(crate) number: u32,
    /// The number of the goal in whose argument it stands, and which argument that is, from 1.
    /// Both are 0 for a goal of the clause itself.
    pub(crate) parent: u32,
    pub(crate) argument: u32,
}

impl NotedGoal {
    pub(crate) fn is_unknown(&self) -> bool {
        self.arity < 0
    }

    /// Whether both call the same predicate.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        !self.is_unknown() && (self.name, self.arity) == (other.name, other.arity)
    }

    fn calls(&self, name: ffi::Atom, arity: usize) -> bool {
        self.name == name && self.arity == arity as i64
    }
}

/// What is known of a clause from its source.
#[derive(Debug)]
pub(crate) struct NotedClause {
    file: Arc<str>,
    goals: Vec<NotedGoal>,
    lines: OnceLock<Vec<i64>>,
    /// Its number among the clauses of its predicate that were loaded, from 1.
    number: u32,
}

impl NotedClause {
    /// The line of a goal, 0 if it is not known.
    fn line(&self, index: usize) -> u32 {
        let start = self.goals[index].start;
        if start < 0 {
            return u32::try_from(-start).unwrap_or(0);
        }
        let lines = self.lines.get_or_init(|| {
            let starts: Vec<i64> = self.goals.iter().map(|goal| goal.start).collect();
            lines::of_goals(&self.file, &starts)
        });
        u32::try_from(lines[index]).unwrap_or(0)
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The first goal of these from a position on that calls a predicate.
    fn following(
        &self,
        goals: &[usize],
        from: usize,
        name: ffi::Atom,
        arity: usize,
    ) -> Option<usize> {
        let calls = |&index: &usize| self.goals[index].calls(name, arity);
        Some(from + goals[from..].iter().position(calls)?)
    }

    /// Its number among the clauses of its predicate that were loaded, from 1.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Whether these goals call these predicates, in this order.
    fn has(&self, goals: &[usize], called: &[Identity]) -> bool {
        let mut next = 0;
        called.iter().all(|goal| {
            let position = self.following(goals, next, goal.name, goal.arity);
            next = position.map_or(next, |position| position + 1);
            position.is_some()
        })
    }

    /// The goals of the clause itself.
    fn own(&self) -> Vec<usize> {
        let is_own = |&index: &usize| self.goals[index].parent == 0;
        (0..self.goals.len()).filter(is_own).collect()
    }
}

/// What is known of the clauses of a predicate that begin in one line: expansion may make several
/// from one term.
pub(crate) struct InLine(Vec<Arc<NotedClause>>);

impl InLine {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The clause that has this number and calls these predicates: the only one that may be it.
    pub(crate) fn clause(
        &self,
        number: Option<u32>,
        called: impl FnOnce() -> Vec<Identity>,
    ) -> Option<Arc<NotedClause>> {
        if let [only] = &self.0[..] {
            return Some(Arc::clone(only));
        }
        let called = called();
        let mut fits = self
            .0
            .iter()
            .filter(|noted| noted.has(&noted.own(), &called));
        let first = fits.next()?;
        let Some(second) = fits.next() else {
            return Some(Arc::clone(first));
        };
        let mut all = [first, second].into_iter().chain(fits);
        all.find(|noted| Some(noted.number) == number).cloned()
    }
}

#[derive(Default)]
struct Notes {
    /// By the predicate and the line in which the clause begins.
    clauses: FxHashMap<(Identity, u32), Vec<Arc<NotedClause>>>,
    /// By the predicate: where its first clause begins.
    predicates: FxHashMap<Identity, (Arc<str>, u32)>,
    /// By the predicate: how many clauses were loaded.
    counts: FxHashMap<Identity, u32>,
    files: FxHashMap<String, Arc<str>>,
    /// By the clause in the trace, its note, and the number of the goal.
    arguments: FxHashMap<(u32, u32, usize, u32), &'static ArgumentGoals>,
}

static NOTES: Mutex<Option<Notes>> = Mutex::new(None);

/// A clause is about to be stored.
pub(crate) fn note(predicate: Identity, file: &str, line: u32, goals: Vec<NotedGoal>) {
    let mut notes = locks::lock(&NOTES);
    let notes = notes.get_or_insert_default();
    let file = match notes.files.get(file) {
        Some(known) => Arc::clone(known),
        None => {
            let new: Arc<str> = Arc::from(file);
            notes.files.insert(file.to_owned(), Arc::clone(&new));
            new
        }
    };
    let first = || (Arc::clone(&file), line);
    notes.predicates.entry(predicate).or_insert_with(first);
    let count = notes.counts.entry(predicate).or_default();
    *count += 1;
    let noted = NotedClause {
        file,
        goals,
        lines: OnceLock::new(),
        number: *count,
    };
    let in_line = notes.clauses.entry((predicate, line)).or_default();
    in_line.push(Arc::new(noted));
}

/// A file is about to be read again, or to be unloaded.
pub(crate) fn forget(file: &str) {
    if let Some(notes) = locks::lock(&NOTES).as_mut() {
        let counts = &mut notes.counts;
        notes.clauses.retain(|(predicate, _), in_line| {
            let before = in_line.len();
            in_line.retain(|noted| &*noted.file != file);
            if in_line.len() < before {
                counts.remove(predicate);
            }
            !in_line.is_empty()
        });
        notes.predicates.retain(|_, (of, _)| &**of != file);
    }
}

/// The file and line of a predicate's first clause. The file is empty, and the line 0, if they
/// are not known.
pub(crate) fn place_of(predicate: Identity) -> (String, u32) {
    let notes = locks::lock(&NOTES);
    let place = notes
        .as_ref()
        .and_then(|notes| notes.predicates.get(&predicate));
    place.map_or_else(Default::default, |(file, line)| (file.to_string(), *line))
}

/// What is known of the clauses of a predicate that begin in a line.
pub(crate) fn of_line(predicate: Identity, line: u32) -> InLine {
    let notes = locks::lock(&NOTES);
    let in_line = notes
        .as_ref()
        .and_then(|notes| notes.clauses.get(&(predicate, line)));
    InLine(in_line.cloned().unwrap_or_default())
}

/// A clause whose goals are named in the trace.
#[derive(Debug, Clone)]
struct Origin {
    /// Of its predicate.
    caller: u32,
    clause: u32,
    noted: Arc<NotedClause>,
}

impl Origin {
    /// The number in the trace of a goal that calls a predicate.
    fn site(&self, index: usize, callee: u32, then_fails: bool) -> u32 {
        let site = recording::with(|current| {
            current.recorder.site(Site {
                callee,
                caller: self.caller,
                clause: self.clause,
                goal: self.noted.goals[index].number,
                line: self.noted.line(index),
                file: Some(current.recorder.file(&current.file_name(&self.noted.file))),
                then_fails,
            })
        });
        site.unwrap_or(callee)
    }

    /// The goals in arguments of a goal.
    fn given(&self, index: usize) -> Given {
        let number = self.noted.goals[index].number;
        if !self.noted.goals.iter().any(|goal| goal.parent == number) {
            return Given(Some(&NO_GOALS));
        }
        let note = Arc::as_ptr(&self.noted) as usize;
        let mut notes = locks::lock(&NOTES);
        let known = &mut notes.get_or_insert_default().arguments;
        let key = (self.caller, self.clause, note, number);
        Given(Some(known.entry(key).or_insert_with(|| {
            // It has its note, whose address is no other note's as long as it is there.
            Box::leak(Box::new(ArgumentGoals::new(self.clone(), number)))
        })))
    }
}

/// What a trace says of goals in arguments.
#[derive(Debug, Default)]
struct NamedGoals {
    /// The number of its recording.
    epoch: u32,
    /// Index, callee, number in the trace, its own arguments.
    goals: Vec<(usize, u32, u32, Given)>,
}

/// The goals in arguments of a goal. They are never freed, because boxes have their addresses.
#[derive(Debug)]
pub(crate) struct ArgumentGoals {
    origin: Origin,
    /// Indices of the goals.
    goals: Vec<usize>,
    /// An argument is a goal that the source does not tell: the clause was called with it, perhaps.
    passes: bool,
    named: Mutex<NamedGoals>,
}

impl ArgumentGoals {
    fn new(origin: Origin, number: u32) -> Self {
        let of_goal = |index: &usize| origin.noted.goals[*index].parent == number;
        let (unknown, goals): (Vec<usize>, Vec<usize>) = (0..origin.noted.goals.len())
            .filter(of_goal)
            .partition(|&index| origin.noted.goals[index].is_unknown());
        Self {
            origin,
            goals,
            passes: !unknown.is_empty(),
            named: Mutex::default(),
        }
    }

    /// The only goal that calls a predicate.
    fn only(&self, name: ffi::Atom, arity: usize) -> Option<usize> {
        let calls = |&&index: &&usize| self.origin.noted.goals[index].calls(name, arity);
        let mut found = self.goals.iter().filter(calls);
        found.next().filter(|_| found.next().is_none()).copied()
    }

    fn name(&self, index: usize, callee: u32) -> (u32, Given) {
        let mut named = locks::lock(&self.named);
        let epoch = recording::last_epoch();
        if named.epoch != epoch {
            named.epoch = epoch;
            named.goals.clear();
        }
        if let Some(&(.., site, given)) = named
            .goals
            .iter()
            .find(|known| (known.0, known.1) == (index, callee))
        {
            return (site, given);
        }
        let (site, given) = (
            self.origin.site(index, callee, false),
            self.origin.given(index),
        );
        named.goals.push((index, callee, site, given));
        (site, given)
    }
}

/// What a box was given: the goals in arguments of the goal that called it. Machine code copies it.
#[repr(transparent)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given(Option<&'static ArgumentGoals>);

/// The arguments of a goal that are no goals.
static NO_GOALS: LazyLock<ArgumentGoals> = LazyLock::new(|| {
    let noted = Arc::new(NotedClause {
        file: Arc::from(""),
        goals: Vec::new(),
        lines: OnceLock::new(),
        number: 0,
    });
    let nowhere = Origin {
        caller: 0,
        clause: 0,
        noted,
    };
    ArgumentGoals::new(nowhere, 0)
});

impl Given {
    /// It is not known what.
    pub(crate) const UNKNOWN: Self = Self(None);

    /// Where what it was given is described, if that is known. Descriptions stay.
    pub(crate) fn address(self) -> Option<usize> {
        self.0.map(|arguments| ptr::from_ref(arguments) as usize)
    }

    /// Whether it was given no goals for certain.
    pub(crate) fn has_no_goals(self) -> bool {
        self.0
            .is_some_and(|arguments| arguments.goals.is_empty() && !arguments.passes)
    }

    /// The site of a goal that is called, and what it is given. `None` unless it is the only one
    /// that calls the predicate.
    pub(crate) fn site(self, called: Identity, callee: u32) -> Option<(u32, Given)> {
        let arguments = self.0?;
        let index = arguments.only(called.name, called.arity)?;
        Some(arguments.name(index, callee))
    }

    /// Whether a goal calls this predicate.
    pub(crate) fn calls(self, called: Identity) -> bool {
        self.0.is_some_and(|ArgumentGoals { origin, goals, .. }| {
            let mut goals = goals.iter().map(|&index| &origin.noted.goals[index]);
            goals.any(|goal| goal.calls(called.name, called.arity))
        })
    }

    /// Whether goals were passed on that the calling clause has from its own caller.
    pub(crate) fn passes(self) -> bool {
        self.0.is_some_and(|arguments| arguments.passes)
    }

    /// Whether nothing is given but goals that the calling clause has from its own caller: after
    /// a last call, it still has those.
    pub(crate) fn only_passes(self) -> bool {
        self.0
            .is_some_and(|arguments| arguments.passes && arguments.goals.is_empty())
    }

    /// The only argument with goals that call these predicates in this order.
    pub(crate) fn body(self, called: &[Identity]) -> Option<Sites> {
        let ArgumentGoals { origin, goals, .. } = self.0?;
        let argument = |index: usize| origin.noted.goals[index].argument;
        let mut found = goals
            .chunk_by(|&one, &other| argument(one) == argument(other))
            .map(|goals| Sites {
                origin: origin.clone(),
                goals: goals.to_vec(),
                next: 0,
            })
            .filter(|body| body.origin.noted.has(&body.goals, called));
        let body = found.next()?;
        found.next().is_none().then_some(body)
    }
}

impl PartialEq for Given {
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (Some(one), Some(other)) => ptr::eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Given {}

impl Hash for Given {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.map(ptr::from_ref).hash(state);
    }
}

/// Names the goals of one body in the trace, in the order in which they are compiled.
pub(crate) struct Sites {
    origin: Origin,
    /// Indices of goals that belong to it.
    goals: Vec<usize>,
    next: usize,
}

impl Sites {
    /// The goals of a clause itself.
    pub(crate) fn new(caller: u32, clause: u32, noted: Arc<NotedClause>) -> Self {
        let goals = noted.own();
        Self {
            origin: Origin {
                caller,
                clause,
                noted,
            },
            goals,
            next: 0,
        }
    }

    /// The number of the next goal that calls this predicate, and what it is given. That of the
    /// predicate itself if the source has no such goal.
    pub(crate) fn site(
        &mut self,
        name: ffi::Atom,
        arity: usize,
        callee: u32,
        then_fails: bool,
    ) -> (u32, Given) {
        let noted = &self.origin.noted;
        let Some(position) = noted.following(&self.goals, self.next, name, arity) else {
            return (callee, Given::UNKNOWN);
        };
        self.next = position + 1;
        let index = self.goals[position];
        let site = self.origin.site(index, callee, then_fails);
        (site, self.origin.given(index))
    }
}
