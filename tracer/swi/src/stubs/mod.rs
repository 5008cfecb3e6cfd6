//! Ports as machine code in the engine's own instructions.
//!
//! The engine's virtual machine is direct threaded: a cell of code is the address of a label in the interpreter. A *stub* is a little machine code
//! that notes what happens and goes on at the label; its address in a cell makes that a port. The program's clauses are recorded where
//! they are, so that they are what they are to everything else.
//!
//! Data flows through the modules in this order:
//!
//! 1. [`image`] finds the engine's library in memory, [`instructions`] its tables of instructions, [`offsets`] where its structures have what,
//!    [`mod@pauses`] where the engine counts what it does for itself;
//! 2. [`memory`] has room for stubs, and the table by which the engine reads cells; [`emit`] makes machine code;
//! 3. [`plan`] says what cells of code are, [`plant`] puts stubs there, [`exchange`] into code
//!    that the engine will make, and takes them out; [`predicates`] tells of which predicates,
//!    [`labels`] has places where the engine would notice;
//! 4. [`handlers`] are what stubs call; they read the engine ([`view`]) and put in more stubs ([`planting`]); [`shadow`] tells from frames and
//!    choicepoints which boxes failed, exited, were cut or entered again.

mod arguments;
mod clauses;
mod declared;
#[allow(
    clippy::useless_conversion,
    reason = "the assembler converts numbers of registers"
)]
mod emit;
mod exchange;
#[allow(
    clippy::useless_conversion,
    reason = "the assembler converts numbers of registers"
)]
mod fast;
mod handlers;
mod image;
mod instructions;
mod labels;
mod made;
mod memory;
mod meta_calls;
mod names;
mod offsets;
mod pauses;
mod plan;
mod plant;
mod planting;
mod predicates;
mod shadow;
mod sites;
mod stack;
mod terms;
mod view;

use std::ffi::{CStr, c_int};
use std::ops::Range;
use std::path::Path;
use std::ptr;
use std::sync::{Mutex, OnceLock};

use portmortem_tracer::locks;

pub(crate) use declared::{in_center, leave_out, stubs_record};
pub(crate) use pauses::{look as look_for_pauses, seconds as pauses};
pub(crate) use predicates::Memory as Standings;
pub(crate) use shadow::Shadow;

use crate::control::{integer, integers, text};
use crate::engine;
use crate::ffi::{self, FALSE, Foreign, TRUE, Term};
use crate::recording;
use image::Image;
use instructions::{Cell, ForeignKind, Instructions, Kind, Op};
use memory::StubMemory;
use offsets::{Offsets, Sample, word};
use plan::{Always, GoalKind};
use plant::{Planter, Work};
use predicates::Rules;

const WORD: usize = size_of::<usize>();

/// What is found out before the first recording.
struct Search {
    image: Image,
    instructions: Instructions,
    memory: StubMemory,
    offsets: &'static Offsets,
    /// Cells of the sample clause with stubs, and what was in them.
    sample: Vec<(usize, Cell)>,
}

static SEARCH: Mutex<Option<Search>> = Mutex::new(None);
static COUNTER: Mutex<emit::Candidates> = Mutex::new(emit::Candidates::ALL);
static RULES: Mutex<Option<Rules>> = Mutex::new(None);

/// Definitions and labels that handlers compare with.
struct Known {
    /// `call/1`, `call/2`, …
    call: Vec<usize>,
    catch: usize,
    /// Instructions with which the code of a predicate in C begins.
    foreign: Vec<(Op, ForeignKind)>,
    /// Those with which the code of a dynamic predicate begins that has been called.
    dynamic: Vec<Op>,
    /// Labels of instructions that may come before what a predicate does, and how many cells they take.
    prefixes: Vec<(Cell, usize)>,
    /// The label that calls a wrapper; then come its clause and its closure.
    call_wrapper: Cell,
}

static KNOWN: OnceLock<Known> = OnceLock::new();

fn call_definition(arity: usize) -> Option<usize> {
    KNOWN.get()?.call.get(arity.checked_sub(1)?).copied()
}

fn catch_definition() -> usize {
    KNOWN.get().map_or(0, |known| known.catch)
}

/// What a predicate in C leaves whose code begins with this cell. `None` if it is not one.
fn begins_foreign(cell: Cell) -> Option<ForeignKind> {
    let (known, op) = KNOWN.get().zip(memory::op_of(cell))?;
    let found = known.foreign.iter().find(|&&(first, _)| first == op)?;
    Some(found.1)
}

/// Whether the code of a dynamic predicate that has been called begins with this cell.
fn begins_dynamic(cell: Cell) -> bool {
    let found = KNOWN.get().zip(memory::op_of(cell));
    found.is_some_and(|(known, op)| known.dynamic.contains(&op))
}

/// A new shadow for an engine. It is never freed, because a stub in another thread may still read it.
pub(crate) fn new_shadow() -> *mut Shadow {
    Box::into_raw(Box::new(Shadow::new()))
}

/// The recording has ended: nothing of it holds any more.
pub(crate) fn end() {
    predicates::end();
    exchange::withdraw();
}

/// Whether the calling thread has run an engine that is recorded.
pub(crate) fn thread_has_engine() -> bool {
    // SAFETY: the calling thread's own block.
    unsafe { (*emit::thread_block()).engine != 0 }
}

/// `stub_learn(+Clause, +Counters, +Modules, +Other, +Lines)`: finds the engine's tables, and where its structures have what. It is called by
/// `Clause`, the only one of its predicate, in a disjunction; its instructions are at `Counters`. `Modules` is a list of modules and their classes, in
/// turn; `Lines` says where `Clause` and `Other` begin in their files. Fails if anything is not found, or memory cannot be executed.
pub(crate) fn learn(
    clause: Term,
    counters: Term,
    modules: Term,
    other: Term,
    lines: Term,
) -> Foreign {
    Foreign::from(try_learn(clause, counters, modules, other, lines).is_some())
}

fn try_learn(
    clause: Term,
    counters_list: Term,
    modules_list: Term,
    other: Term,
    lines_list: Term,
) -> Option<()> {
    let mut search = locks::lock(&SEARCH);
    if search.is_some() || plant::planter().is_some() {
        return Some(());
    }
    let image = image::engine_image()?;
    let instructions = Instructions::find(&image)?;
    let memory = StubMemory::new(&image, &instructions)?;
    let counters: Vec<usize> = integers(counters_list)
        .iter()
        .map(|&at| at as usize)
        .collect();
    let atoms = atoms(modules_list);
    let modules: Vec<(usize, usize)> = atoms
        .chunks_exact(2)
        // SAFETY: a module that exists.
        .map(|pair| (unsafe { ffi::PL_new_module(pair[0]) } as usize, pair[1]))
        .collect();
    let clause_ref = clause_reference(clause)?;
    let lines = integers(lines_list);
    let &[line, other_line] = lines.as_slice() else {
        return None;
    };
    let sample = Sample {
        argument: (clause, atom(clause)?),
        clause_ref,
        counters: &counters,
        lines: [
            (*clause_ref.last()?, line as u32),
            (*clause_reference(other)?.last()?, other_line as u32),
        ],
        lists: [counters_list, modules_list, lines_list],
        modules: &modules,
        thread_local: image.thread_local?,
    };
    let offsets = offsets::learn(&sample, &instructions, &memory)?;
    *search = Some(Search {
        image,
        instructions,
        memory,
        offsets,
        sample: Vec::new(),
    });
    Some(())
}

/// `stub_sample(+Clause)`: puts stubs into all instructions of a clause that look at the registers.
pub(crate) fn sample(clause: Term) -> Foreign {
    Foreign::from(try_sample(clause).is_some())
}

fn try_sample(clause: Term) -> Option<()> {
    let mut search = locks::lock(&SEARCH);
    let search = search.as_mut()?;
    let gate = emit::looking_gate(search.memory.next(0)?, look_at_registers)?;
    let gate = search.memory.add_code(&gate);
    let clause = *clause_reference(clause)?.last()?;
    let codes = code_of(clause, search.offsets);
    let mut cell = codes.start;
    while cell < codes.end {
        // SAFETY: within a clause's code.
        let (label, length) = unsafe {
            let label = word(cell, 0);
            let op = search.memory.op(&search.instructions, label)?;
            (label, search.instructions.length(op, cell as *const Cell)?)
        };
        let op = search.memory.op(&search.instructions, label)?;
        let shape = emit::Shape {
            glance: emit::Glance::None,
            before: [None; 2],
            place: cell,
            gate,
            label,
        };
        let at = search.memory.next(emit::LONGEST)?;
        let stub = search
            .memory
            .add(&emit::stub(at, &shape, search.offsets)?, op);
        // SAFETY: a cell of a clause that does not run now.
        unsafe { (cell as *mut Cell).write(stub) };
        search.sample.push((cell, label));
        cell += length * WORD;
    }
    Some(())
}

extern "C" fn look_at_registers(cell: usize, registers: *const usize) {
    // SAFETY: called by the looking gate.
    let machine = unsafe { emit::Machine::at(registers) };
    locks::lock(&COUNTER).look(&machine, cell);
}

/// `stubs_work`: ends the search. Succeeds if everything was found.
pub(crate) fn work() -> Foreign {
    Foreign::from(try_work().is_some())
}

fn try_work() -> Option<()> {
    if plant::planter().is_some() {
        return Some(());
    }
    let mut search = locks::lock(&SEARCH).take()?;
    for &(cell, label) in &search.sample {
        // SAFETY: the cells of the sample.
        unsafe { (cell as *mut Cell).write(label) };
    }
    let counter = locks::lock(&COUNTER).best()?;
    // SAFETY: a predicate of the system in C, which has a supervisor.
    let opens = unsafe {
        let definition = system_definition(c"atom_length", 2);
        let first = word(word(definition, search.offsets.supervisor), 0);
        search.memory.op(&search.instructions, first)
    };
    search.instructions.opens_foreign(opens?);
    let instructions = &search.instructions;
    let foreign = instructions
        .ops()
        .filter_map(|op| Some((op, instructions.get(op).begins_foreign()?)))
        .collect();
    let dynamic = ["S_DYNAMIC", "S_INCR_DYNAMIC"]
        .iter()
        .filter_map(|name| instructions.named(name))
        .collect();
    let prefixes = ["S_MQUAL", "S_LMQUAL", "S_SSU_DET", "S_DET"]
        .iter()
        .filter_map(|name| {
            let op = instructions.named(name)?;
            Some((instructions.get(op).label, instructions.fixed_length(op)?))
        })
        .collect();
    let call_wrapper = instructions.get(instructions.named("S_CALLWRAPPER")?).label;
    KNOWN.get_or_init(|| Known {
        call: (1..=8)
            .map(|arity| system_definition(c"call", arity))
            .collect(),
        catch: system_definition(c"catch", 3),
        foreign,
        dynamic,
        prefixes,
        call_wrapper,
    });
    drop(search.image);
    let planter = Planter::new(
        search.instructions,
        search.memory,
        search.offsets,
        counter,
        &handlers::HANDLERS,
    )?;
    labels::wrap_term_position(&planter)?;
    plant::install(planter);
    Some(())
}

fn system_definition(name: &CStr, arity: c_int) -> usize {
    // SAFETY: a predicate of module system, which is made if it is not there. A procedure begins with its definition.
    unsafe {
        word(
            ffi::PL_predicate(name.as_ptr(), arity, c"system".as_ptr()) as usize,
            0,
        )
    }
}

/// `stub_rule(+Kind, +A, +B, +C)`: what the next recording records: `scope(Class)`, `boundary(Class)`, `no_box(Name, Arity)`, any arity if it is
/// negative, `elsewhere(Name, Arity, Module)`, `own(Module)`, `succeeds(Module, Name, Arity)`,
/// `fails(Module, Name, Arity)`, `left_out(Module, Name, Arity)`, `loader(Module, Name, Arity)`,
/// `center(Module, Name, Arity)`, `trial(Module, Name, Arity)`. What is not needed is 0.
pub(crate) fn rule(kind: Term, a: Term, b: Term, c: Term) -> Foreign {
    let mut rules = locks::lock(&RULES);
    let rules = rules.get_or_insert_default();
    match text(kind).as_str() {
        "scope" => rules.scope.extend(kept_atom(a)),
        "boundary" => rules.boundary.extend(kept_atom(a)),
        "own" => rules.own.extend(kept_atom(a)),
        "no_box" => {
            let arity = integers_of(b).and_then(|arity| usize::try_from(arity).ok());
            rules.no_box.extend(kept_atom(a).map(|name| (name, arity)));
        }
        "elsewhere" => {
            let key =
                kept_atom(a).zip(integers_of(b).and_then(|arity| usize::try_from(arity).ok()));
            rules.elsewhere.extend(key.zip(kept_atom(c)));
        }
        "succeeds" | "fails" => {
            let always = if text(kind) == "fails" {
                Always::Fails
            } else {
                Always::Succeeds
            };
            let of = definition(a, b, c).map(predicates::identity);
            rules.always.extend(of.map(|of| (of, always)));
        }
        "left_out" => rules
            .left_out
            .extend(definition(a, b, c).map(predicates::identity)),
        "center" => rules.center = definition(a, b, c).map(predicates::identity),
        "trial" => rules
            .trials
            .extend(definition(a, b, c).map(predicates::identity)),
        "loader" => rules.loader = definition(a, b, c).map(predicates::identity),
        _ => return FALSE,
    }
    TRUE
}

/// `stub_note(+Module, +Name, +Arity, +File, +Line, +Goals)`: a clause of a file is about to be stored. `Goals` has six elements for each goal:
/// name, arity, the characters of the file before it, its number, the number of the goal in whose argument it stands, and which argument that is.
pub(crate) fn note(
    module: Term,
    name: Term,
    arity: Term,
    file: Term,
    line: Term,
    goals: Term,
) -> Foreign {
    let Some((of, called)) = atom(module).zip(atom(name)) else {
        return TRUE;
    };
    if recording::is_left_to_parent() {
        return TRUE;
    }
    let predicate = predicates::Identity {
        name: called,
        arity: integer(arity) as usize,
        // SAFETY: the module that the clause is loaded into.
        module: unsafe { ffi::PL_new_module(of) } as usize,
    };
    let file = text(file);
    if !is_of_engine(&file) && predicates::take_in(predicate) {
        adopt(module, name, arity);
    }
    sites::note(predicate, &file, integer(line), noted_goals(goals));
    TRUE
}

fn is_of_engine(file: &str) -> bool {
    recording::with(|current| Path::new(file).starts_with(&current.home)).unwrap_or(true)
}

fn noted_goals(list: Term) -> Vec<sites::NotedGoal> {
    let mut goals = Vec::new();
    // SAFETY: term references of this foreign call.
    unsafe {
        let (head, tail) = (ffi::PL_new_term_ref(), ffi::PL_copy_term_ref(list));
        let next = || ffi::truth(ffi::PL_get_list(tail, head, tail));
        while next() {
            let name = kept_atom(head);
            let number = || if next() { integers_of(head) } else { None };
            let numbers: [Option<i64>; 5] = std::array::from_fn(|_| number());
            if let (
                Some(name),
                [
                    Some(arity),
                    Some(start),
                    Some(ordinal),
                    Some(parent),
                    Some(argument),
                ],
            ) = (name, numbers)
            {
                goals.push(sites::NotedGoal {
                    name,
                    arity,
                    start,
                    number: ordinal as u32,
                    parent: parent as u32,
                    argument: argument as u32,
                });
            }
        }
    }
    goals
}

/// `stub_forget(+File)`: the file is about to be read again.
pub(crate) fn forget(file: Term) -> Foreign {
    if recording::is_left_to_parent() {
        return TRUE;
    }
    sites::forget(&text(file));
    TRUE
}

/// `stub_begin`: from now on stubs record, by the rules that were said. Fails if nothing is being recorded.
pub(crate) fn begin() -> Foreign {
    let rules = locks::lock(&RULES).take().unwrap_or_default();
    if recording::epoch().is_none() {
        return FALSE;
    }
    predicates::begin(rules);
    let facts = recording::with(|current| current.clauses).unwrap_or(false);
    let exchanged = plant::planter().is_some_and(|mut planter| {
        labels::plant_exit_cleanup(&mut planter);
        planter.withdraw();
        planter.exchange(facts).is_some()
    });
    // SAFETY: called by Prolog, and the reference is not kept.
    let attached = unsafe { engine::current() }.is_some();
    Foreign::from(exchanged && attached)
}

/// `stub_recovery(+Module, +Name, +Arity)`: the predicate, which has been called, may be the recovery of `catch/3`, and fails.
pub(crate) fn recovery(module: Term, name: Term, arity: Term) -> Foreign {
    if let (Some(definition), Some(offsets)) = (definition(module, name, arity), offsets::known())
        && let Some(mut planter) = plant::planter()
    {
        // SAFETY: a predicate has a supervisor, which is its own if a length lies in front.
        unsafe {
            let cell = word(definition, offsets.supervisor);
            if word(cell - WORD, 0) != 0
                && let Some(op) = planter.op_at(cell)
            {
                planter.plant(cell, op, 0, Work::Recovery);
            }
        }
    }
    TRUE
}

/// `stub_adopt(+Module, +Name, +Arity)`: a predicate that was there before gets the stubs that it would have if it were loaded now.
pub(crate) fn adopt(module: Term, name: Term, arity: Term) -> Foreign {
    if let (Some(definition), Some(offsets)) = (definition(module, name, arity), offsets::known())
        && let Some(mut planter) = plant::planter()
    {
        let facts = recording::with(|current| current.clauses).unwrap_or(false);
        // SAFETY: a definition with clauses.
        unsafe { adopt_definition(&mut planter, definition, offsets, facts) };
    }
    TRUE
}

/// # Safety
/// A definition with clauses, of which none is being freed.
unsafe fn adopt_definition(
    planter: &mut Planter,
    definition: usize,
    offsets: &Offsets,
    facts: bool,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let supervisor = word(definition, offsets.supervisor);
        let size = word(supervisor - WORD, 0);
        planter.recall(definition);
        plant_kind(
            planter,
            supervisor..supervisor + size * WORD,
            Kind::Select,
            0,
            Work::Select,
        );
        let mut reference = word(definition, offsets.first_clause);
        while reference != 0 {
            let codes = code_of(word(reference, offsets.clause), offsets);
            if facts {
                plant_kind(planter, codes.clone(), Kind::ExitFact, 0, Work::NewBody);
            }
            plant_kind(planter, codes, Kind::Enter, 0, Work::NewBody);
            reference = word(reference, offsets::NEXT_CLAUSE);
        }
    }
}

/// `stub_observe(+Module, +Name, +Arity, +Goal, +Foreign)`: a predicate of the system or a library that was there before gets the stubs by which the
/// program's goals are seen: where it begins, if it may be one (`Goal` is 1) or be recorded (2), and where its clauses call goals, if it has clauses.
pub(crate) fn observe(module: Term, name: Term, arity: Term, goal: Term, foreign: Term) -> Foreign {
    if let (Some(definition), Some(offsets)) = (definition(module, name, arity), offsets::known())
        && let Some(mut planter) = plant::planter()
    {
        let work = match integer(goal) {
            0 => None,
            1 => Some(Work::Boundary),
            _ => Some(Work::Select),
        };
        // SAFETY: a definition with clauses, or of a predicate in C, has a supervisor.
        unsafe {
            if let Some(work) = work {
                let supervisor = word(definition, offsets.supervisor);
                let codes = supervisor..supervisor + word(supervisor - WORD, 0) * WORD;
                for kind in [Kind::ForeignOpen, Kind::Select] {
                    plant_kind(&mut planter, codes.clone(), kind, 0, work);
                }
            }
            if integer(foreign) == 0 {
                observe_clauses(&mut planter, definition, offsets);
            }
        }
    }
    TRUE
}

/// # Safety
/// A definition with clauses, of which none is being freed.
unsafe fn observe_clauses(planter: &mut Planter, definition: usize, offsets: &Offsets) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut reference = word(definition, offsets.first_clause);
        while reference != 0 {
            let codes = code_of(word(reference, offsets.clause), offsets);
            if let Some(plan) = planter.plan(&codes, |_, _| GoalKind::Unrecorded) {
                planter.observe(&codes, &plan);
            }
            reference = word(reference, offsets::NEXT_CLAUSE);
        }
    }
}

/// Puts stubs into the first instruction of a kind.
///
/// # Safety
/// Code, all of it.
unsafe fn plant_kind(
    planter: &mut Planter,
    codes: Range<usize>,
    kind: Kind,
    roles: u8,
    work: Work,
) {
    let mut cell = codes.start;
    while cell < codes.end {
        // SAFETY: the caller's promise.
        let Some(op) = (unsafe { planter.op_at(cell) }) else {
            return;
        };
        if planter.instructions.get(op).kind == kind {
            // SAFETY: the cell has this instruction.
            return unsafe { planter.plant(cell, op, roles, work) };
        }
        // SAFETY: as above.
        let Some(length) = (unsafe { planter.instructions.length(op, cell as *const Cell) }) else {
            return;
        };
        cell += length * WORD;
    }
}

fn code_of(clause: usize, offsets: &Offsets) -> Range<usize> {
    let start = clause + offsets.codes;
    // SAFETY: the number of cells lies in front of a clause's code.
    start..start + unsafe { word(start - WORD, 0) } * WORD
}

/// The definition of a predicate, which is made if it is not there.
fn definition(module: Term, name: Term, arity: Term) -> Option<usize> {
    let (module, name) = (atom(module)?, atom(name)?);
    // SAFETY: atoms that the terms keep; a procedure begins with its definition.
    unsafe {
        let functor = ffi::PL_new_functor(name, integer(arity) as usize);
        let procedure = ffi::PL_pred(functor, ffi::PL_new_module(module));
        (!procedure.is_null()).then(|| word(procedure as usize, 0))
    }
}

/// The words of a reference to a clause. The last one is the clause.
fn clause_reference(clause: Term) -> Option<&'static [usize]> {
    let reference = atom(clause)?;
    let mut length = 0;
    let mut kind: *const ffi::BlobType = ptr::null();
    // SAFETY: the data of a blob that the term keeps, and with it its clause.
    unsafe {
        let data = ffi::PL_blob_data(reference, &raw mut length, &raw mut kind);
        let is_reference = !data.is_null()
            && !kind.is_null()
            && CStr::from_ptr((*kind).name) == c"clause"
            && (2 * WORD..=4 * WORD).contains(&length);
        is_reference.then(|| std::slice::from_raw_parts(data.cast(), length / WORD))
    }
}

fn atom(term: Term) -> Option<ffi::Atom> {
    let mut atom = 0;
    // SAFETY: a term of our own argument list.
    ffi::truth(unsafe { ffi::PL_get_atom(term, &raw mut atom) }).then_some(atom)
}

/// An atom that is never freed.
fn kept_atom(term: Term) -> Option<ffi::Atom> {
    let atom = atom(term)?;
    // SAFETY: an atom.
    unsafe { ffi::PL_register_atom(atom) };
    Some(atom)
}

fn integers_of(term: Term) -> Option<i64> {
    let mut value = 0;
    // SAFETY: a term of our own argument list.
    ffi::truth(unsafe { ffi::PL_get_int64(term, &raw mut value) }).then_some(value)
}

fn atoms(list: Term) -> Vec<ffi::Atom> {
    let mut atoms = Vec::new();
    // SAFETY: term references of this foreign call.
    unsafe {
        let (head, tail) = (ffi::PL_new_term_ref(), ffi::PL_copy_term_ref(list));
        while ffi::truth(ffi::PL_get_list(tail, head, tail)) {
            atoms.extend(atom(head));
        }
    }
    atoms
}
