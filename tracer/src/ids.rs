//! Ids that stay the same from one recording of a process to the next.
//!
//! An engine that has put an id into machine code, or into a table of its own, need not do so
//! again for each recording: what is named again gets the id that it had. Each recording still says
//! of each id what it means, before the first event that uses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::format::{Clause, Site};
use crate::locks::{self, Locked};

/// The ids of one process, for [`crate::Recorder::create_with`]. Clones are handles of the same.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    known: Arc<Mutex<KnownIds>>,
}

/// What has an id. The numbers of callables, files and clauses count from 0 each.
#[derive(Debug, Default)]
pub(crate) struct KnownIds {
    predicates: HashMap<(String, String, u32), u32>,
    centers: HashMap<String, u32>,
    sites: HashMap<Site, u32>,
    /// The next id of a predicate, a cost centre or a site.
    next_callable: u32,
    files: HashMap<String, u32>,
    clauses: HashMap<Clause, u32>,
}

impl Ids {
    pub(crate) fn lock(&self) -> Locked<'_, KnownIds> {
        locks::lock(&self.known)
    }
}

impl KnownIds {
    pub(crate) fn predicate(&mut self, module: &str, name: &str, arity: u32) -> u32 {
        let key = (module.to_owned(), name.to_owned(), arity);
        let next = &mut self.next_callable;
        *self.predicates.entry(key).or_insert_with(|| take(next))
    }

    /// An id for a predicate that has one already in the same recording.
    pub(crate) fn another_predicate(&mut self) -> u32 {
        take(&mut self.next_callable)
    }

    pub(crate) fn center(&mut self, name: &str) -> u32 {
        let next = &mut self.next_callable;
        let known = self.centers.entry(name.to_owned());
        *known.or_insert_with(|| take(next))
    }

    pub(crate) fn site(&mut self, site: Site) -> u32 {
        let next = &mut self.next_callable;
        *self.sites.entry(site).or_insert_with(|| take(next))
    }

    pub(crate) fn file(&mut self, path: &str) -> u32 {
        let next = self.files.len() as u32;
        *self.files.entry(path.to_owned()).or_insert(next)
    }

    pub(crate) fn clause(&mut self, clause: Clause) -> u32 {
        let next = self.clauses.len() as u32;
        *self.clauses.entry(clause).or_insert(next)
    }
}

fn take(next: &mut u32) -> u32 {
    let id = *next;
    *next += 1;
    id
}
