//! The machine code of stubs.
//!
//! A stub is entered by a jump from the instruction before, with the engine's registers in use,
//! and goes on to the label of the instruction that it stands for. It changes no register and
//! nothing that the engine has on the stack. The condition flags are free there: no compiler keeps
//! them across a computed jump.
//!
//! Most stubs first compare, in a few instructions, whether there is anything to do. If there is,
//! they call a *gate*: code that saves all registers which a Rust function may change, and calls
//! that function with the place and the cell.

#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
mod processor;

use portmortem_tracer::format::StreamKind;

#[cfg(target_arch = "x86_64")]
pub(super) use self::processor::ABOVE_RETURN;
use self::processor::{ABOVE_FRAME, REGISTERS};
pub(super) use self::processor::{LONGEST, gate, looking_gate, stub};
use crate::native::offsets;
use crate::native::shadow::Shadow;
use crate::native::words::CodeWord;

/// What stubs need of the thread that they run in.
#[repr(C)]
#[derive(Debug)]
pub(super) struct ThreadBlock {
    /// The engine that `shadow` belongs to.
    pub(super) engine: usize,
    /// Its boxes. Null if there are none yet.
    pub(super) shadow: *mut Shadow,
    /// The thread puts stubs into code.
    pub(super) plants: bool,
    /// A handler runs, and with it nothing that records: a signal may interrupt it.
    pub(super) handles: bool,
    /// Where the stack begins on which handlers run, or [`OWN_STACK`]. 0 if that is not known yet.
    pub(super) stack: usize,
}

/// Handlers run on the thread's own stack.
pub(super) const OWN_STACK: usize = 1;
/// How large a stack is that is only for handlers.
pub(super) const HANDLER_STACK: usize = 512 << 10;

unsafe extern "C" {
    safe fn pm_thread_block_offset() -> isize;
}

/// Where the calling thread's block lies, from the thread pointer: the same in all threads.
pub(super) fn thread_block_offset() -> i32 {
    pm_thread_block_offset() as i32
}

/// The calling thread's block.
pub(super) fn thread_block() -> *mut ThreadBlock {
    offsets::thread_pointer().wrapping_add_signed(pm_thread_block_offset()) as *mut ThreadBlock
}

/// A function that a gate calls.
pub(super) type Handler = extern "C" fn(place: usize, cell: usize);

/// Where the engine keeps the place of the next cell, at every jump to a label: the same for all,
/// because a jump may lead to any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellCounter {
    /// In the register of that number.
    Register(u8),
    /// So many words above the stack pointer.
    Stack(u8),
}

/// Words above the stack pointer that are searched.
const STACK_WORDS: usize = 64;

/// What the engine's registers and its stack hold at a stub.
#[derive(Debug)]
pub(super) struct StubRegisters<'a> {
    registers: &'a [usize; REGISTERS],
    stack: &'a [usize; STACK_WORDS],
}

/// Where the place of the next cell may be kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellCandidates {
    registers: [bool; REGISTERS],
    stack: [bool; STACK_WORDS],
    looks: usize,
}

/// So many cells must have been looked at.
const ENOUGH_LOOKS: usize = 20;

impl CellCandidates {
    pub(super) const ALL: Self = Self {
        registers: [true; REGISTERS],
        stack: [true; STACK_WORDS],
        looks: 0,
    };

    /// Keeps those that point behind `cell`.
    pub(super) fn look(&mut self, machine: &StubRegisters, cell: usize) {
        let next = cell + size_of::<CodeWord>();
        for (right, &value) in self.registers.iter_mut().zip(machine.registers) {
            *right &= value == next;
        }
        for (right, &value) in self.stack.iter_mut().zip(machine.stack) {
            *right &= value == next;
        }
        self.looks += 1;
    }

    /// One that was right every time.
    pub(super) fn best(&self) -> Option<CellCounter> {
        let position = |right: &[bool]| right.iter().position(|&right| right);
        if self.looks < ENOUGH_LOOKS {
            return None;
        }
        let register = position(&self.registers).map(|at| CellCounter::Register(at as u8));
        register.or_else(|| position(&self.stack).map(|at| CellCounter::Stack(at as u8)))
    }
}

impl StubRegisters<'_> {
    /// # Safety
    /// `registers` is what the looking gate passes: the stub's part of the stack lies above, and
    /// the engine's above that.
    pub(super) unsafe fn at(registers: *const usize) -> Self {
        let stack = registers as usize + REGISTERS * 8 + ABOVE_FRAME as usize;
        // SAFETY: the caller's promise; the interpreter's frame is larger than what is searched.
        unsafe {
            Self {
                registers: &*registers.cast(),
                stack: &*(stack as *const [usize; STACK_WORDS]),
            }
        }
    }
}

/// A function that is shown all registers; see [`StubRegisters::at`].
pub(super) type Looker = extern "C" fn(place: usize, registers: *const usize);

/// What a stub compares before it calls its gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Glance {
    /// Nothing: the gate is always called.
    None,
    /// Nothing has happened if control is in [`Shadow::quiet`] or in a newer frame.
    Quiet,
    /// The call of the running frame has been recorded if it is [`Shadow::announced`], which then
    /// is forgotten.
    Announced,
    /// The call of the running frame is a goal of the program's if it is [`Shadow::expected`], or
    /// if `catch/3` or C has called. Otherwise there is nothing to do.
    Expected,
}

/// What a stub is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct StubShape {
    pub(super) glance: Glance,
    /// Addresses of places and the gates that get them, which are to be done before, in this order.
    pub(super) before: [Option<(usize, usize)>; 2],
    /// Address of the place that the handler gets.
    pub(super) place: usize,
    /// Address of the gate.
    pub(super) gate: usize,
    /// Where control goes on.
    pub(super) label: CodeWord,
}

/// What the engine is that has come to a stub: the first one that a thread runs is its own.
pub(super) fn kind_of_engine() -> StreamKind {
    // SAFETY: the calling thread's own block.
    if unsafe { (*thread_block()).engine } == 0 {
        StreamKind::Thread
    } else {
        StreamKind::Engine
    }
}
