//! What calls of a predicate are to a recording: told from its definition, because a stub can ask
//! Prolog nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use portmortem_tracer::NewPredicate;
use portmortem_tracer::format::{AUTOLOAD, FILL_TABLE};
use portmortem_tracer::locks;
use rustc_hash::{FxHashMap, FxHashSet};

use super::identity::{Identity, identity, module_name};
use super::known::begins_dynamic;
use super::made::Made;
use super::names::GoalNames;
use super::offsets::{self, Offsets};
use super::plan::Always;
use super::rules::Rules;
use super::sites;
use super::standing::Standing;
use super::words::word;
use crate::ffi;
use crate::recording;
use crate::values::{atom_text, name_text};

#[derive(Default)]
struct KnownPredicate {
    rules: Rules,
    /// Numbers in the trace by module, name and arity: a predicate may be called before the
    /// library is loaded that defines it.
    ids: FxHashMap<(ffi::Atom, ffi::Atom, usize), u32>,
    /// The number of [`FILL_TABLE`] in the trace.
    filling: Option<u32>,
    by_definition: FxHashMap<usize, (Identity, Standing)>,
}

static KNOWN: Mutex<Option<KnownPredicate>> = Mutex::new(None);
/// Changes whenever an answer may have become another one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// A recording with stubs is in progress.
static RECORDS: AtomicBool = AtomicBool::new(false);

/// Whether stubs record.
#[inline]
pub(crate) fn is_recording() -> bool {
    RECORDS.load(Ordering::Acquire) && recording::epoch().is_some()
}

/// A recording begins.
pub(crate) fn begin(rules: Rules) {
    RECORDS.store(true, Ordering::Release);
    *locks::lock(&KNOWN) = Some(KnownPredicate {
        rules,
        ..KnownPredicate::default()
    });
    GENERATION.fetch_add(1, Ordering::Release);
}

/// The recording has ended.
pub(crate) fn end() {
    RECORDS.store(false, Ordering::Release);
    *locks::lock(&KNOWN) = None;
    GENERATION.fetch_add(1, Ordering::Release);
}

/// A file of the program is about to define a predicate. True if that was left out until now,
/// because only the system had defined it.
pub(crate) fn take_in(predicate: Identity) -> bool {
    let mut known = locks::lock(&KNOWN);
    let Some(known) = known.as_mut() else {
        return false;
    };
    let was_left_out = known.rules.left_out.remove(&predicate);
    if was_left_out {
        known.by_definition.clear();
        GENERATION.fetch_add(1, Ordering::Release);
    }
    was_left_out
}

/// No call of a predicate is recorded from now on, but from goals that are known already.
pub(crate) fn leave_out(predicate: Identity) {
    if let Some(known) = locks::lock(&KNOWN).as_mut() {
        known.rules.not_wanted.insert(predicate);
        known.by_definition.clear();
        GENERATION.fetch_add(1, Ordering::Release);
    }
}

/// A goal of the program calls a predicate, and gets no box.
pub(crate) fn tell_internal(definition: usize) {
    if let Some(known) = locks::lock(&KNOWN).as_mut() {
        known.rules.internal.tell(identity(definition));
    }
}

/// All boxes of a predicate are in a cost centre.
pub(crate) fn in_center(predicate: Identity, center: String) {
    let mut known = locks::lock(&KNOWN);
    let Some(known) = known.as_mut() else { return };
    // SAFETY: a module of the engine's.
    let module = unsafe { ffi::PL_module_name(predicate.module as ffi::Module) };
    if let Some(&id) = known.ids.get(&(module, predicate.name, predicate.arity)) {
        recording::with(|current| {
            let recorder = &current.recorder;
            recorder.in_cost_center(id, recorder.cost_center(&center));
        });
    }
    known.rules.centers.insert(predicate, center);
}

/// What one thread remembers of that.
#[derive(Debug, Default)]
pub(crate) struct ThreadMemory {
    generation: u32,
    /// Of predicates that have been there.
    standings: Remembered,
    /// Of predicates that have not been there, as long as they are not.
    absent: Remembered,
    /// Of predicates that ran without being there: they are dynamic, and have no clause.
    empty: Remembered,
    /// Predicates that are at the boundary, of which no box has been opened yet, perhaps.
    boundary: FxHashSet<(usize, Identity)>,
    /// By the names of modules: whether they are the program's.
    modules: FxHashMap<ffi::Atom, bool>,
    /// Whether predicates are the recorder's own.
    own: FxHashMap<(usize, Identity), bool>,
    names: GoalNames,
    made: Made,
    /// By definition of a wrapper: the predicate that it is around.
    wrapped: FxHashMap<(usize, Identity), Option<usize>>,
}

/// Standings by definition. A definition may lie where another one was freed, so they have what
/// they are of.
#[derive(Debug, Default)]
struct Remembered(FxHashMap<usize, (Identity, Standing)>);

impl Remembered {
    fn get(&self, definition: usize, identity: Identity) -> Option<Standing> {
        let &(same, standing) = self.0.get(&definition)?;
        same.is_still(identity).then_some(standing)
    }

    fn insert(&mut self, definition: usize, identity: Identity, standing: Standing) {
        self.0.insert(definition, (identity, standing));
    }
}

impl ThreadMemory {
    /// Whether goals of a module are goals of the program.
    pub(crate) fn is_in_scope(&mut self, module: ffi::Atom) -> bool {
        self.refresh();
        *self.modules.entry(module).or_insert_with(|| {
            // SAFETY: the name of a module, which the engine makes next if it is not there.
            is_in_scope(unsafe { ffi::PL_new_module(module) } as usize)
        })
    }

    /// The same of a module that is there.
    pub(crate) fn is_context_in_scope(&mut self, module: usize) -> bool {
        module_name(module).is_some_and(|name| self.is_in_scope(name))
    }

    /// Names of goals in arguments.
    pub(crate) fn names(&mut self) -> &mut GoalNames {
        self.refresh();
        &mut self.names
    }

    /// Bodies that `call/1` has made.
    pub(crate) fn made(&mut self) -> &mut Made {
        self.refresh();
        &mut self.made
    }

    /// Whether calls of a predicate that runs get boxes only from recorded clauses. The predicate
    /// does not become known in the trace.
    pub(crate) fn is_at_boundary(&mut self, definition: usize) -> bool {
        self.refresh();
        let identity = identity(definition);
        if let Some(known) = self.standings.get(definition, identity) {
            return matches!(known, Standing::Boundary(_));
        }
        if self.boundary.contains(&(definition, identity)) {
            return true;
        }
        let is_one = locks::lock(&KNOWN)
            .as_ref()
            .zip(offsets::known())
            .is_some_and(|(known, offsets)| {
                known.classify(identity, offsets) == StandingClass::Boundary
            });
        if is_one {
            self.boundary.insert((definition, identity));
        }
        is_one
    }

    /// Whether the predicate is the recorder's own, so that what its clauses call is no call of
    /// the program's. Those that programs call, in the module `portmortem`, call goals of
    /// programs in turn.
    pub(crate) fn is_own(&mut self, definition: usize) -> bool {
        self.refresh();
        let key = (definition, identity(definition));
        *self.own.entry(key).or_insert_with(|| {
            let known = locks::lock(&KNOWN);
            module_name(key.1.module).is_some_and(|module| {
                let is_own = |known: &KnownPredicate| known.rules.own.contains(&module);
                known.as_ref().is_some_and(is_own) && atom_text(module) != "portmortem"
            })
        })
    }

    /// The predicate that a wrapper is around, as `find` has said once.
    pub(crate) fn wrapped_by(
        &mut self,
        definition: usize,
        find: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        let key = (definition, identity(definition));
        *self.wrapped.entry(key).or_insert_with(find)
    }

    /// Forgets what was said before answers may have changed.
    fn refresh(&mut self) {
        let generation = GENERATION.load(Ordering::Acquire);
        if generation != self.generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
    }

    /// What calls of a predicate are that runs, so that it is there.
    ///
    /// # Safety
    /// As for [`ThreadMemory::standing`].
    pub(crate) unsafe fn standing_of_running(&mut self, definition: usize) -> Standing {
        // SAFETY: the caller's promise.
        match unsafe { self.standing(definition) } {
            Standing::Undefined => {
                let identity = identity(definition);
                self.empty.get(definition, identity).unwrap_or_else(|| {
                    let decided = decide(definition);
                    self.empty.insert(definition, identity, decided);
                    decided
                })
            }
            known => known,
        }
    }

    /// What calls of the predicate are.
    ///
    /// # Safety
    /// `definition` is one of the engine's.
    pub(crate) unsafe fn standing(&mut self, definition: usize) -> Standing {
        self.refresh();
        let identity = identity(definition);
        if let Some(known) = self.standings.get(definition, identity) {
            return known;
        }
        // SAFETY: the caller's promise.
        let is_there = unsafe { is_there(definition) };
        if !is_there && let Some(known) = self.absent.get(definition, identity) {
            return known;
        }
        // SAFETY: the caller's promise.
        let standing = unsafe { standing(definition) };
        // A predicate that is not there yet may be another one later.
        if !is_there {
            self.absent.insert(definition, identity, standing);
        } else if standing != Standing::Undefined {
            self.standings.insert(definition, identity, standing);
        }
        standing
    }
}

/// Whether a predicate has clauses, or a function, or is dynamic and has been called: then calls
/// find it, and fail.
///
/// # Safety
/// `definition` is one of the engine's.
pub(crate) unsafe fn is_there(definition: usize) -> bool {
    // SAFETY: the caller's promise; every definition has a supervisor.
    offsets::known().is_some_and(|offsets| unsafe {
        word(definition, offsets.first_clause) != 0 || is_empty_and_dynamic(definition, offsets)
    })
}

/// Whether calls of a predicate without clauses fail. A hook of a library is none of the
/// program's until it has some.
///
/// # Safety
/// `definition` is one of the engine's.
unsafe fn is_empty_and_dynamic(definition: usize, offsets: &Offsets) -> bool {
    // SAFETY: the caller's promise; every definition has a supervisor.
    begins_dynamic(unsafe { word(word(definition, offsets.supervisor), 0) }) && !is_hook(definition)
}

fn is_hook(definition: usize) -> bool {
    module_name(identity(definition).module).is_some_and(|name| atom_text(name) == "prolog")
}

/// # Safety
/// `definition` is one of the engine's.
pub(crate) unsafe fn standing(definition: usize) -> Standing {
    let mut known = locks::lock(&KNOWN);
    let (Some(known), Some(offsets)) = (known.as_mut(), offsets::known()) else {
        return Standing::Unrecorded;
    };
    let identity = identity(definition);
    if let Some((same, standing)) = known.by_definition.get(&definition)
        && *same == identity
    {
        return *standing;
    }
    // SAFETY: the caller's promise.
    if !unsafe { is_there(definition) } {
        return known.elsewhere(identity);
    }
    let decided = known.decide(identity, offsets);
    known.by_definition.insert(definition, (identity, decided));
    decided
}

/// What calls of a predicate are that runs and has no clauses.
fn decide(definition: usize) -> Standing {
    if is_hook(definition) {
        return Standing::Undefined;
    }
    let mut known = locks::lock(&KNOWN);
    match (known.as_mut(), offsets::known()) {
        (Some(known), Some(offsets)) => known.decide(identity(definition), offsets),
        _ => Standing::Unrecorded,
    }
}

impl KnownPredicate {
    /// What calls of a predicate are that is not there, if the engine finds it elsewhere.
    fn elsewhere(&mut self, identity: Identity) -> Standing {
        let Identity { name, arity, .. } = identity;
        let rules = &self.rules;
        let Some(&module) = rules.elsewhere.get(&(name, arity)) else {
            return Standing::Undefined;
        };
        let (text, module_text) = (name_text(name), atom_text(module));
        let number = u32::try_from(arity).unwrap_or(u32::MAX);
        // Its module is there only once the library is loaded.
        let class = if module_text == "system" {
            "system"
        } else {
            "library"
        };
        let by_default = rules.scope.iter().any(|&atom| atom_text(atom) == class);
        let is_recorded = recording::with(|current| {
            let selection = &current.selection;
            selection.selects(by_default, &module_text, &text, number)
        }) == Some(true);
        let no_boundary = rules.boundary.is_empty() || rules.has_no_box(name, arity);
        if no_boundary && !is_recorded {
            return Standing::Undefined;
        }
        let ids = &mut self.ids;
        let id = recording::with(|current| {
            let excluded = current.selection.excludes(&module_text, &text, number);
            let declare = || {
                let recorder = &current.recorder;
                let id = current.predicate(NewPredicate::named(&module_text, &text, number));
                if !is_recorded {
                    recorder.at_boundary(id);
                }
                id
            };
            (!excluded).then(|| *ids.entry((module, name, arity)).or_insert_with(declare))
        });
        let standing = if is_recorded {
            Standing::Recorded
        } else {
            Standing::Boundary
        };
        id.flatten().map_or(Standing::Undefined, standing)
    }

    /// What calls of a predicate are. The predicate becomes known in the trace if they get boxes.
    fn decide(&mut self, identity: Identity, offsets: &Offsets) -> Standing {
        let class = self.classify(identity, offsets);
        match class {
            StandingClass::Search => return Standing::Search,
            StandingClass::Unrecorded => return Standing::Unrecorded,
            StandingClass::Untouched => return Standing::Untouched,
            StandingClass::Center => return Standing::Center,
            StandingClass::CompletesTables => return Standing::CompletesTables,
            StandingClass::Recorded
            | StandingClass::Tests
            | StandingClass::Loader
            | StandingClass::FillsTable
            | StandingClass::Boundary => {}
        }
        let Identity {
            name,
            arity,
            module,
        } = identity;
        let Some(module) = module_name(module) else {
            return Standing::Unrecorded;
        };
        let (text, module_text) = (name_text(name), atom_text(module));
        let (ids, centers) = (&mut self.ids, &self.rules.centers);
        let filling = &mut self.filling;
        let id = recording::with(|current| {
            if class == StandingClass::Loader {
                return current.pseudo(AUTOLOAD);
            }
            if class == StandingClass::FillsTable {
                let declare = || current.predicate(NewPredicate::named("system", FILL_TABLE, 0));
                return *filling.get_or_insert_with(declare);
            }
            let declare = || {
                let (file, line) = sites::place_of(identity);
                let file = (!file.is_empty()).then(|| current.file_name(&file));
                let number = u32::try_from(arity).unwrap_or(u32::MAX);
                let recorder = &current.recorder;
                let id = current.predicate(NewPredicate {
                    file: file.as_deref(),
                    line,
                    ..NewPredicate::named(&module_text, &text, number)
                });
                if class == StandingClass::Boundary {
                    recorder.at_boundary(id);
                }
                if let Some(center) = centers.get(&identity) {
                    recorder.in_cost_center(id, recorder.cost_center(center));
                }
                id
            };
            *ids.entry((module, name, arity)).or_insert_with(declare)
        });
        // What is kept of arguments is said once in the trace.
        let keeps_arguments = |id| {
            let number = u32::try_from(arity).unwrap_or(u32::MAX);
            let keeps = recording::with(|current| {
                let keeps = current
                    .selection
                    .keeps_arguments(&module_text, &text, number);
                if keeps {
                    current.recorder.keeps_arguments(id);
                }
                keeps
            });
            keeps == Some(true)
        };
        match (class, id) {
            (StandingClass::Recorded, Some(id)) if keeps_arguments(id) => {
                Standing::WithArguments(id)
            }
            (StandingClass::Recorded, Some(id)) => Standing::Recorded(id),
            (StandingClass::Tests, Some(id)) => Standing::Tests(id),
            (StandingClass::Loader, Some(id)) => Standing::Loader(id),
            (StandingClass::FillsTable, Some(id)) => Standing::FillsTable(id),
            (StandingClass::Boundary, Some(id)) => Standing::Boundary(id),
            _ => Standing::Unrecorded,
        }
    }

    /// As [`KnownPredicate::decide`]: what does not depend on the trace.
    fn classify(&self, identity: Identity, offsets: &Offsets) -> StandingClass {
        let Identity {
            name,
            arity,
            module,
        } = identity;
        let Some(module_name) = module_name(module) else {
            return StandingClass::Unrecorded;
        };
        // SAFETY: a module of the engine's, whose class is one of its words.
        let class = unsafe { word(module, offsets.class) };
        let rules = &self.rules;
        if rules.search == Some(identity) {
            return StandingClass::Search;
        }
        if rules.loader == Some(identity) {
            return StandingClass::Loader;
        }
        if rules.fills.contains(&identity) && rules.trials.is_empty() {
            return StandingClass::FillsTable;
        }
        if rules.completes == Some(identity) && rules.trials.is_empty() {
            return StandingClass::CompletesTables;
        }
        if rules.center == Some(identity) {
            return StandingClass::Center;
        }
        if rules.left_out.contains(&identity)
            || rules.not_wanted.contains(&identity)
            || rules.own.contains(&module_name)
        {
            return StandingClass::Unrecorded;
        }
        let (text, module_text) = (name_text(name), atom_text(module_name));
        if rules.internal.has(name, &text, arity, class) {
            return StandingClass::Unrecorded;
        }
        let of_trials = !rules.trials.is_empty();
        if rules.tests
            && !of_trials
            && (text.as_str(), arity) == TEST_BODY
            && module_text.starts_with(UNIT)
        {
            return StandingClass::Tests;
        }
        let by_default = if of_trials {
            rules.trials.contains(&identity)
        } else {
            rules.scope.contains(&class)
        };
        let chosen = recording::with(|current| {
            let selection = &current.selection;
            let number = u32::try_from(arity).unwrap_or(u32::MAX);
            if selection.selects(by_default, &module_text, &text, number) {
                StandingClass::Recorded
            } else if rules.boundary.contains(&class)
                && !rules.has_no_box(name, arity)
                && !selection.excludes(&module_text, &text, number)
            {
                StandingClass::Boundary
            } else if of_trials {
                StandingClass::Untouched
            } else {
                StandingClass::Unrecorded
            }
        });
        chosen.unwrap_or(StandingClass::Unrecorded)
    }
}

/// How the modules begin in which plunit keeps units of tests.
pub(crate) const UNIT: &str = "plunit_";

/// The predicate there whose clauses are the bodies of the tests.
const TEST_BODY: (&str, usize) = ("unit body", 2);

/// A [`Standing`] without the number of the predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StandingClass {
    Recorded,
    Search,
    Loader,
    FillsTable,
    CompletesTables,
    Center,
    Tests,
    Untouched,
    Boundary,
    Unrecorded,
}

/// What a predicate always does, if it is a built-in of which that is known.
pub(crate) fn always(definition: usize) -> Option<Always> {
    let known = locks::lock(&KNOWN);
    known
        .as_ref()?
        .rules
        .always
        .get(&identity(definition))
        .copied()
}

/// Whether a module has goals that call built-in predicates with boxes.
fn is_in_scope(module: usize) -> bool {
    let known = locks::lock(&KNOWN);
    let (Some(known), Some(offsets)) = (known.as_ref(), offsets::known()) else {
        return false;
    };
    // SAFETY: a module of the engine's.
    let (class, name) = unsafe {
        (
            word(module, offsets.class),
            ffi::PL_module_name(module as ffi::Module),
        )
    };
    known.rules.scope.contains(&class) && !known.rules.own.contains(&name)
}
