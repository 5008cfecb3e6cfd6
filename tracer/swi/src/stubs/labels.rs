//! Places where the engine compares a cell with a label as it is, so that a stub there would be
//! something else to it.
//!
//! - The decompiler looks for `I_EXITCLEANUP` after `I_CALLCLEANUP`. The cell always has the same
//!   stub, and so has the engine's table of labels.
//! - `'$clause_term_position'/3`, which backtraces with source positions call, looks for `C_CUT`
//!   at the end of `\+`. That cell has one of several stubs, so the predicate's supervisor calls
//!   [`term_position`], which puts the labels back for a moment. If another thread runs the same
//!   clause in that moment, a port at the end of its `\+` may be missed.
//! - From 9.3 on, the indexer looks for the `H_VOID_N` again that it has found, which a clause
//!   may begin with: the stub stands behind it ([`tried_at`]).
//! - Reloading looks for `H_FUNCTOR` at the beginning of clauses of `'$tabled'/2`: they get no
//!   stub there ([`tried_at`]).
//! - The first exception that is caught looks for `I_EXIT` at the end of `catch/3`:
//!   `portmortem_stubs.pl` catches one before there are stubs.
//!
//! These are harmless, in 9.0.4, 9.2.9 and 10.1.12:
//!
//! - `S_CALLWRAPPER`, `S_VIRGIN`, `T_TRIE_GEN2`, `T_TRIE_GEN3`, which never have stubs;
//! - `I_CUT` and `B_FIRSTVAR`, which the compiler looks for in what it has just written: they are
//!   not born with stubs, since the table may be exchanged meanwhile;
//! - what only a debugging engine compares: `C_JMP`, `I_FEXITDET`, `I_FREDO`, `I_FCALLNDETVA`.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::adopting::plant_kind;
use super::plant::{self, Planter, PlanterInUse};
use crate::ffi::{self, FALSE, Foreign, Term};
use crate::native::identity::{Identity, identity, system_definition};
use crate::native::instructions::InstructionKind;
use crate::native::offsets::{self, CLAUSE_DEFINITION};
use crate::native::place::{EXIT_CLEANUP, StubWork};
use crate::native::words::{CodeWord, WORD, word};
use crate::values::{atom_text, clause_reference};

/// A foreign predicate that gets its arguments in a row.
type Function = unsafe extern "C" fn(Term, c_int, *mut c_void) -> Foreign;

/// The engine's function for `'$clause_term_position'/3`.
static TERM_POSITION: OnceLock<Function> = OnceLock::new();

/// Makes the supervisor of `'$clause_term_position'/3` call [`term_position`]. `None` if it is
/// not what it is in known versions.
pub(super) fn wrap_term_position(planter: &Planter) -> Option<()> {
    let offsets = offsets::known()?;
    let definition = system_definition(c"$clause_term_position", 3);
    // SAFETY: every definition has a supervisor; cells are read as far as they are what they
    // should be.
    unsafe {
        let supervisor = word(definition, offsets.supervisor);
        let has = |index: usize, name| {
            let op = planter.instructions.named(name);
            op.is_some() && planter.op_at(supervisor + index * WORD) == op
        };
        // From 9.2 on it is the only instruction.
        let at = if has(0, "I_FOPEN") { 1 } else { 0 };
        if !has(at, "I_FCALLDETVA") {
            return None;
        }
        let at = supervisor + (at + 1) * WORD;
        let function = word(at, 0);
        TERM_POSITION.get_or_init(|| std::mem::transmute::<usize, Function>(function));
        let ours = term_position as *const () as usize;
        AtomicUsize::from_ptr(at as *mut usize).store(ours, Ordering::Release);
    }
    Some(())
}

/// `'$clause_term_position'(+Clause, +Counter, -Position)`
unsafe extern "C" fn term_position(arguments: Term, arity: c_int, context: *mut c_void) -> Foreign {
    let Some(function) = TERM_POSITION.get() else {
        return FALSE;
    };
    let _bare = Bare::clause(arguments);
    // SAFETY: what the engine has called us with.
    unsafe { function(arguments, arity, context) }
}

/// A clause without stubs in its `C_CUT`, while this lives. No other thread plants anything
/// meanwhile.
struct Bare {
    label: CodeWord,
    /// Cells and their stubs.
    taken: Vec<(usize, CodeWord)>,
    _planter: PlanterInUse,
}

impl Bare {
    fn clause(reference: Term) -> Option<Self> {
        let clause = *clause_reference(reference)?.last()?;
        let planter = plant::planter()?;
        let cut = planter.instructions.named("C_CUT")?;
        let label = planter.instructions.get(cut).label;
        // An operand that happens to look like a stub is put back, too.
        let is_stub = |&(_, content): &(usize, CodeWord)| {
            content != label && planter.memory.op(&planter.instructions, content) == Some(cut)
        };
        // SAFETY: the code of a clause that the reference keeps.
        let cells = offsets::known()?
            .code_of(clause)
            .step_by(WORD)
            .map(|cell| (cell, unsafe { word(cell, 0) }));
        let taken: Vec<_> = cells.filter(is_stub).collect();
        for &(cell, stub) in &taken {
            exchange(cell, stub, label);
        }
        Some(Self {
            label,
            taken,
            _planter: planter,
        })
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        for &(cell, stub) in &self.taken {
            exchange(cell, self.label, stub);
        }
    }
}

/// Puts `new` into a cell if it has `old`, and no breakpoint meanwhile.
fn exchange(cell: usize, old: CodeWord, new: CodeWord) {
    // SAFETY: an aligned word in the code of a clause that exists.
    let cell = unsafe { AtomicUsize::from_ptr(cell as *mut usize) };
    let _ = cell.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed);
}

/// The first version in which the indexer compares.
const COMPARES_VOIDS: c_int = 90_300;

/// `PL_VERSION_SYSTEM`
const VERSION: c_int = 1;

/// The cell that gets a stub where a clause is tried after another one: its first, or the next
/// one if the engine looks for the instruction there. `None` if there can be none.
///
/// # Safety
/// Where the code of a clause begins.
pub(super) unsafe fn tried_at(planter: &Planter, start: usize) -> Option<usize> {
    let clause = start - planter.offsets.codes;
    // SAFETY: the caller's promise.
    let (op, definition) = unsafe { (planter.op_at(start)?, word(clause, CLAUSE_DEFINITION)) };
    let instruction = planter.instructions.get(op);
    match instruction.name.as_str() {
        "H_FUNCTOR" if is_of_tabling(definition) => None,
        // SAFETY: a plain call.
        "H_VOID_N" if unsafe { ffi::PL_version_info(VERSION) } >= COMPARES_VOIDS => {
            Some(start + planter.instructions.fixed_length(op)? * WORD)
        }
        _ => Some(start),
    }
}

fn is_of_tabling(definition: usize) -> bool {
    let Identity { name, arity, .. } = identity(definition);
    arity == 2 && atom_text(name) == "$tabled"
}

/// Puts the stub at `I_EXITCLEANUP` into the clauses that have the instruction: up to 9.0 the
/// other two call `setup_call_catcher_cleanup/4`.
pub(super) fn plant_exit_cleanup(planter: &mut Planter) {
    let Some(offsets) = offsets::known() else {
        return;
    };
    for (name, arity) in [
        (c"call_cleanup", 2),
        (c"setup_call_cleanup", 3),
        (c"setup_call_catcher_cleanup", 4),
    ] {
        let definition = system_definition(name, arity);
        // SAFETY: a predicate with one clause, or none.
        unsafe {
            let reference = word(definition, offsets.first_clause);
            if reference != 0 {
                let codes = offsets.code_of(word(reference, offsets.clause));
                plant_kind(
                    planter,
                    codes,
                    InstructionKind::ExitCleanup,
                    EXIT_CLEANUP,
                    StubWork::Look,
                );
            }
        }
    }
}
