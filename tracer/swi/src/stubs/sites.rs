//! Where goals stand in the source: noted while a file is read, and looked up when a clause gets its stubs.
//!
//! The loader says of each clause in which file and line it begins, and after how many characters each of its goals begins. The
//! engine keeps the line of a clause, so that the note is found again from the clause alone.

use std::sync::{Arc, Mutex};

use portmortem_tracer::format::Site;
use portmortem_tracer::locks;
use rustc_hash::FxHashMap;

use super::predicates::Identity;
use crate::{ffi, lines, recording};

/// A goal of a clause, as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct NotedGoal {
    pub(super) name: ffi::Atom,
    pub(super) arity: usize,
    /// How many characters of the file come before it.
    pub(super) start: i64,
    /// Its number in the clause, from 1; goals in arguments of goals are counted, too.
    pub(super) number: u32,
}

/// What is known of a clause from its source.
#[derive(Debug)]
pub(super) struct Noted {
    file: Arc<str>,
    goals: Vec<NotedGoal>,
    number: Option<u32>,
}

impl Noted {
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Its number among the clauses of its predicate that were loaded, from 1. `None` if others begin in the same line.
    pub(super) fn number(&self) -> Option<u32> {
        self.number
    }
}

#[derive(Default)]
struct Notes {
    /// By the predicate and the line in which the clause begins.
    clauses: FxHashMap<(Identity, u32), Arc<Noted>>,
    /// By the predicate: where its first clause begins.
    predicates: FxHashMap<Identity, (Arc<str>, u32)>,
    /// By the predicate: how many clauses were loaded.
    counts: FxHashMap<Identity, u32>,
    files: FxHashMap<String, Arc<str>>,
}

static NOTES: Mutex<Option<Notes>> = Mutex::new(None);

/// A clause is about to be stored.
pub(super) fn note(predicate: Identity, file: &str, line: u32, goals: Vec<NotedGoal>) {
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
    let key = (predicate, line);
    let number = Some(*count).filter(|_| !notes.clauses.contains_key(&key));
    let noted = Noted {
        file,
        goals,
        number,
    };
    notes.clauses.insert(key, Arc::new(noted));
}

/// A file is about to be read again, or to be unloaded.
pub(super) fn forget(file: &str) {
    if let Some(notes) = locks::lock(&NOTES).as_mut() {
        let counts = &mut notes.counts;
        notes.clauses.retain(|(predicate, _), noted| {
            let stays = &*noted.file != file;
            if !stays {
                counts.remove(predicate);
            }
            stays
        });
        notes.predicates.retain(|_, (of, _)| &**of != file);
    }
}

/// The file and line of a predicate's first clause. The file is empty, and the line 0, if they are not known.
pub(super) fn place_of(predicate: Identity) -> (String, u32) {
    let notes = locks::lock(&NOTES);
    let place = notes
        .as_ref()
        .and_then(|notes| notes.predicates.get(&predicate));
    place.map_or_else(Default::default, |(file, line)| (file.to_string(), *line))
}

/// What is known of the clause of a predicate that begins in a line.
pub(super) fn of_clause(predicate: Identity, line: u32) -> Option<Arc<Noted>> {
    locks::lock(&NOTES)
        .as_ref()?
        .clauses
        .get(&(predicate, line))
        .cloned()
}

/// Names the goals of one clause in the trace, in the order in which they are compiled.
pub(super) struct Sites {
    caller: u32,
    clause: u32,
    noted: Arc<Noted>,
    lines: Vec<i64>,
    next: usize,
}

impl Sites {
    pub(super) fn new(caller: u32, clause: u32, noted: Arc<Noted>) -> Self {
        let starts: Vec<i64> = noted.goals.iter().map(|goal| goal.start).collect();
        Self {
            caller,
            clause,
            lines: lines::of_goals(&noted.file, &starts),
            noted,
            next: 0,
        }
    }

    /// The number of the next goal that calls this predicate. That of the predicate itself if the source has no such goal.
    pub(super) fn site(
        &mut self,
        name: ffi::Atom,
        arity: usize,
        callee: u32,
        then_fails: bool,
    ) -> u32 {
        let rest = &self.noted.goals[self.next..];
        let Some(skipped) = rest
            .iter()
            .position(|goal| (goal.name, goal.arity) == (name, arity))
        else {
            return callee;
        };
        let index = self.next + skipped;
        self.next = index + 1;
        let site = recording::with(|current| {
            current.recorder.site(Site {
                callee,
                caller: self.caller,
                clause: self.clause,
                goal: self.noted.goals[index].number,
                line: u32::try_from(self.lines[index]).unwrap_or(0),
                file: Some(current.recorder.file(&current.file_name(&self.noted.file))),
                then_fails,
            })
        });
        site.unwrap_or(callee)
    }
}
