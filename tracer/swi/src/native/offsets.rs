//! Where the engine keeps what stubs look at: found by looking at a clause, a frame and a
//! choicepoint that Prolog describes.
//!
//! `portmortem_stubs.pl` calls [`learn`] from a clause that it knows all about. Each offset is
//! the only one at which the right value lies, or is checked where it always was. If one is not
//! found, nothing is recorded with stubs.

use std::ops::Range;
use std::sync::OnceLock;

use super::instructions::{InstructionKind, Instructions};
use super::memory::StubMemory;
use super::terms;
use super::words::{CodeWord, WORD, word};
use crate::ffi;
use crate::layout;

/// Offsets in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offsets {
    /// The engine's data, from the thread pointer.
    pub(crate) engine: i32,
    /// In the engine's data: the running frame, the newest choicepoint, base and top of the local
    /// stack.
    pub(crate) environment: i32,
    pub(crate) choice: i32,
    pub(crate) base: i32,
    pub(crate) top: i32,
    /// The end of the local stack.
    pub(crate) limit: i32,
    /// In a choicepoint: the one before, its frame, and where it resumes.
    pub(crate) choice_parent: usize,
    pub(crate) choice_frame: usize,
    pub(crate) choice_value: usize,
    /// In a reference to a clause: the clause.
    pub(crate) clause: usize,
    /// In a clause: its code. The number of its cells lies in front.
    pub(crate) codes: usize,
    /// In a frame: its arguments.
    pub(crate) arguments: usize,
    /// In a clause: the line in which it begins, if that was found.
    pub(crate) line: Option<usize>,
    /// In a definition: its supervisor, and its first clause. The last clause comes next.
    pub(crate) supervisor: usize,
    pub(crate) first_clause: usize,
    /// In a module: its class.
    pub(crate) class: usize,
    /// How many bytes a choicepoint has.
    pub(crate) choice_size: usize,
}

/// In a frame: where it returns to, the frame that called it, the reference to its clause, its
/// predicate. The same in all versions, and checked.
pub(crate) const FRAME_RETURN: usize = 0;
pub(crate) const FRAME_PARENT: usize = WORD;
pub(crate) const FRAME_CLAUSE: usize = 2 * WORD;
pub(crate) const FRAME_DEFINITION: usize = 3 * WORD;
/// In a clause: its predicate. In a reference to a clause: the next one of the predicate.
pub(crate) const CLAUSE_DEFINITION: usize = 0;
pub(crate) const NEXT_CLAUSE: usize = 0;

/// In a frame of a clause that `call/1` has made: the module that its goals belong to.
pub(crate) const FRAME_CONTEXT: usize = 4 * WORD;

impl Offsets {
    /// The cells of a clause.
    pub(crate) fn code_of(&self, clause: usize) -> Range<usize> {
        let start = clause + self.codes;
        // SAFETY: the number of cells lies in front of a clause's code.
        start..start + unsafe { word(start - WORD, 0) } * WORD
    }
}

static FOUND: OnceLock<Offsets> = OnceLock::new();

/// The offsets, once they are known.
#[inline(always)]
pub(crate) fn known() -> Option<&'static Offsets> {
    FOUND.get()
}

/// What Prolog tells of the clause that calls [`learn`].
pub(crate) struct OffsetSample<'a> {
    /// The argument of the foreign call that is its reference, and the atom that this is.
    pub(crate) argument: (ffi::Term, ffi::Atom),
    /// Its reference, from the blob.
    pub(crate) clause_ref: &'a [usize],
    /// Where its instructions begin, in cells.
    pub(crate) counters: &'a [usize],
    /// Where it begins in its file, and another clause with its own line.
    pub(crate) lines: [(usize, u32); 2],
    /// Other arguments, which are lists.
    pub(crate) lists: [ffi::Term; 3],
    /// Modules with the text of their classes.
    pub(crate) modules: &'a [(usize, usize)],
    /// The thread-local variable of the engine's library.
    pub(crate) thread_local: (usize, usize),
}

/// Finds all offsets. The caller's clause is in a disjunction, so the newest choicepoint leads
/// into it.
pub(crate) fn learn(
    sample: &OffsetSample,
    instructions: &Instructions,
    memory: &StubMemory,
) -> Option<&'static Offsets> {
    if let Some(known) = FOUND.get() {
        return Some(known);
    }
    let layout = layout::places()?;
    let mut context = ffi::FrameContext::EMPTY;
    if !context.fill() {
        return None;
    }
    let (engine, own) = (context.engine as usize, context.frame as usize);
    if !context.step() {
        return None;
    }
    let caller = context.frame as usize;
    let (variable, size) = sample.thread_local;
    // SAFETY: the engine's thread-local variable, if it is one word, and its own data.
    let (is_engine, environment, top, limit) = unsafe {
        (
            size == WORD && word(variable, 0) == engine,
            word(engine, layout.environment),
            word(engine, layout.base + WORD),
            word(engine, layout.base + 2 * WORD),
        )
    };
    if !is_engine || environment != own || top <= own || !is_limit(top, limit) {
        return None;
    }
    let clause_at = sample.clause_ref.len().checked_sub(1)?;
    let clause = sample.clause_ref[clause_at];
    // SAFETY: frames and clauses of the engine, which are longer than what is read.
    unsafe {
        let reference = word(caller, FRAME_CLAUSE);
        let definition = word(caller, FRAME_DEFINITION);
        let clause_offset = (1..4)
            .map(|at| at * WORD)
            .find(|&at| word(reference, at) == clause)?;
        let codes = (2..20)
            .map(|at| at * WORD)
            .find(|&at| is_code(clause + at, sample.counters, instructions, memory))?;
        let code = clause + codes..clause + codes + word(clause, codes - WORD) * WORD;
        let is_caller = word(own, FRAME_PARENT) == caller
            && code.contains(&word(own, FRAME_RETURN))
            && word(clause, CLAUSE_DEFINITION) == definition;
        if !is_caller {
            return None;
        }
        let newest = word(engine, layout.choice);
        let jumps = newest_is_jump(newest);
        let value = (2..14)
            .map(|at| at * WORD)
            .find(|&at| at != layout.choice_frame && code.contains(&word(newest, at)))?;
        let supervisor = (1..6)
            .map(|at| at * WORD)
            .find(|&at| is_supervisor(word(definition, at), reference, instructions, memory))?;
        let first_clause = (1..12).map(|at| at * WORD).find(|&at| {
            word(definition, at) == reference && word(definition, at + WORD) == reference
        })?;
        let class = (1..8).map(|at| at * WORD).find(|&at| {
            sample
                .modules
                .iter()
                .all(|&(module, class)| word(module, at) == class)
        })?;
        let offsets = Offsets {
            engine: i32::try_from(variable as isize - thread_pointer() as isize).ok()?,
            environment: i32::try_from(layout.environment).ok()?,
            choice: i32::try_from(layout.choice).ok()?,
            base: i32::try_from(layout.base).ok()?,
            top: i32::try_from(layout.base + WORD).ok()?,
            limit: i32::try_from(layout.base + 2 * WORD).ok()?,
            choice_parent: layout.choice_parent,
            choice_frame: layout.choice_frame,
            choice_value: value,
            arguments: first_argument(engine + layout.base, own, sample.argument)?,
            clause: clause_offset,
            codes,
            line: line_offset(&sample.lines, codes),
            supervisor,
            first_clause,
            class,
            choice_size: own.checked_sub(newest)?,
        };
        if !(5..20).contains(&(offsets.choice_size / WORD)) {
            return None;
        }
        learn_terms(engine, layout.base, &sample.lists);
        (jumps && !sample.modules.is_empty()).then(|| FOUND.get_or_init(|| offsets))
    }
}

/// Looks how the cells of lists tell where they lie.
///
/// # Safety
/// Arguments of this foreign call; `local` is where the engine keeps the base of the local stack.
unsafe fn learn_terms(engine: usize, local: usize, lists: &[ffi::Term]) {
    let mut functor = 0;
    // SAFETY: the caller's promise. A term is the number of a word of the local stack.
    unsafe {
        let base = word(engine, local);
        let cells: Vec<usize> = lists.iter().map(|list| word(base, list * WORD)).collect();
        if ffi::truth(ffi::PL_get_functor(lists[0], &raw mut functor)) {
            terms::learn(engine, local, &cells, functor);
        }
    }
}

/// The kind of a choicepoint that resumes at a cell.
pub(crate) const JUMP: u32 = 0;
/// That of one that tries another clause.
pub(crate) const CLAUSE: u32 = 1;
/// That of `catch/3`.
pub(crate) const CATCH: u32 = 3;
/// That of the debugger, at which nothing can be redone.
pub(crate) const DEBUGGER: u32 = 4;

/// Where a frame has its arguments: a reference to one is its distance from the base of the local
/// stack, in words.
///
/// # Safety
/// Where the engine keeps that base; the running frame, and its first argument.
unsafe fn first_argument(
    base: usize,
    frame: usize,
    (argument, atom): (ffi::Term, ffi::Atom),
) -> Option<usize> {
    const LARGEST: usize = 16 * WORD;
    // SAFETY: the caller's promise.
    let at = unsafe { word(base, 0) } + argument * WORD;
    let offset = at.checked_sub(frame).filter(|&offset| offset <= LARGEST)?;
    // SAFETY: within the frame.
    (unsafe { word(at, 0) } == atom).then_some(offset)
}

/// The only offset at which all these clauses have their lines.
///
/// # Safety
/// Clauses, and where their code begins.
unsafe fn line_offset(lines: &[(usize, u32)], codes: usize) -> Option<usize> {
    let has_lines = |at: &usize| {
        // SAFETY: the caller's promise.
        let has = |&(clause, line): &(usize, u32)| unsafe {
            ((clause + at) as *const u32).read() == line
        };
        lines.iter().all(has)
    };
    let mut found = (WORD..codes - WORD).step_by(4).filter(has_lines);
    found.next().filter(|_| found.next().is_none())
}

/// Whether a stack with that top may end at `limit`.
fn is_limit(top: usize, limit: usize) -> bool {
    const LARGEST: usize = 1 << 44;
    limit > top && limit - top < LARGEST
}

/// # Safety
/// A choicepoint.
unsafe fn newest_is_jump(choice: usize) -> bool {
    // SAFETY: it begins with its kind.
    unsafe { (choice as *const u32).read() == JUMP }
}

/// Whether code begins at `at`: its length lies in front, and it decodes at all counters and
/// nowhere ends before.
///
/// # Safety
/// A part of a clause, or close to one.
unsafe fn is_code(
    at: usize,
    counters: &[usize],
    instructions: &Instructions,
    memory: &StubMemory,
) -> bool {
    let Some(&last) = counters.last() else {
        return false;
    };
    // SAFETY: the caller's promise.
    unsafe {
        if word(at - WORD, 0) != last + 1 {
            return false;
        }
        let mut next = 0;
        counters.iter().all(|&counter| {
            let cell = (at + counter * WORD) as *const CodeWord;
            let op = memory.op(instructions, cell.read());
            let length = op.and_then(|op| instructions.length(op, cell));
            let right = counter == next && length.is_some();
            next += length.unwrap_or_default();
            right
        })
    }
}

/// Whether it selects the only clause of a predicate.
///
/// # Safety
/// A word of a definition.
unsafe fn is_supervisor(
    codes: usize,
    clause: usize,
    instructions: &Instructions,
    memory: &StubMemory,
) -> bool {
    if codes < 1 << 16 || !codes.is_multiple_of(WORD) {
        return false;
    }
    // SAFETY: pointers of a definition lead to memory of the engine; what is small is none.
    unsafe {
        memory
            .op(instructions, word(codes, 0))
            .is_some_and(|op| instructions.get(op).kind == InstructionKind::Select)
            && word(codes, WORD) == clause
    }
}

/// The address that thread-local variables are found from.
#[cfg(target_arch = "x86_64")]
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: the first word of a thread's block is its own address.
    unsafe {
        std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    pointer
}

/// The address that thread-local variables are found from.
#[cfg(target_arch = "aarch64")]
pub(crate) fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: reads a register.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags));
    }
    pointer
}

/// There are no stubs on other processors.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn thread_pointer() -> usize {
    0
}

/// The engine that runs in this thread.
pub(crate) fn running_engine(offsets: &Offsets) -> usize {
    // SAFETY: a thread-local variable of the engine's library.
    unsafe {
        word(
            thread_pointer().wrapping_add_signed(offsets.engine as isize),
            0,
        )
    }
}
