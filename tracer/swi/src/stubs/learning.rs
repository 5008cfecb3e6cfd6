//! What is found out of the engine before the first recording.

use std::sync::Mutex;

use portmortem_tracer::locks;

use super::plant::{self, Planter};
use super::{callbacks, emit, exchange, handlers, labels};
use crate::ffi::{self, Foreign, Term};
use crate::native::identity::system_definition;
use crate::native::image::{self, Image};
use crate::native::instructions::Instructions;
use crate::native::known::{KNOWN, KnownLabels};
use crate::native::memory::StubMemory;
use crate::native::offsets::{self, OffsetSample, Offsets};
use crate::native::words::{CodeWord, WORD, word};
use crate::values::{atom, atoms, clause_reference, integers};

/// What is found out before the first recording.
struct LearningSearch {
    image: Image,
    instructions: Instructions,
    memory: StubMemory,
    offsets: &'static Offsets,
    /// Cells of the sample clause with stubs, and what was in them.
    sample: Vec<(usize, CodeWord)>,
}

static SEARCH: Mutex<Option<LearningSearch>> = Mutex::new(None);

static COUNTER: Mutex<emit::CellCandidates> = Mutex::new(emit::CellCandidates::ALL);

/// `stub_learn(+Clause, +Counters, +Modules, +Other, +Lines)`: finds the engine's tables, and
/// where its structures have what. It is called by `Clause`, the only one of its predicate, in a
/// disjunction; its instructions are at `Counters`. `Modules` is a list of modules and their
/// classes, in turn; `Lines` says where `Clause` and `Other` begin in their files. Fails if
/// anything is not found, or memory cannot be executed.
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
    let sample = OffsetSample {
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
    *search = Some(LearningSearch {
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
    let codes = search.offsets.code_of(clause);
    let mut cell = codes.start;
    while cell < codes.end {
        // SAFETY: within a clause's code.
        let (label, length) = unsafe {
            let label = word(cell, 0);
            let op = search.memory.op(&search.instructions, label)?;
            (
                label,
                search.instructions.length(op, cell as *const CodeWord)?,
            )
        };
        let op = search.memory.op(&search.instructions, label)?;
        let shape = emit::StubShape {
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
        unsafe { (cell as *mut CodeWord).write(stub) };
        search.sample.push((cell, label));
        cell += length * WORD;
    }
    Some(())
}

extern "C" fn look_at_registers(cell: usize, registers: *const usize) {
    // SAFETY: called by the looking gate.
    let machine = unsafe { emit::StubRegisters::at(registers) };
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
        unsafe { (cell as *mut CodeWord).write(label) };
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
    KNOWN.get_or_init(|| KnownLabels {
        call: (1..=8)
            .map(|arity| system_definition(c"call", arity))
            .collect(),
        catch: system_definition(c"catch", 3),
        reset: system_definition(c"reset", 3),
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
    callbacks::see_queries()?;
    exchange::watch_forks();
    plant::install(planter);
    Some(())
}
