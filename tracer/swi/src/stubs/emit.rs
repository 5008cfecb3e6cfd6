//! The machine code of stubs, for x86-64.
//!
//! A stub is entered by a jump from the instruction before, with the engine's registers in use,
//! and goes on to the label of the instruction that it stands for. It changes no register and
//! nothing below the stack pointer but what lies beyond the red zone. The condition flags are
//! free there: no compiler keeps them across a computed jump.
//!
//! Most stubs first compare, in a few instructions, whether there is anything to do. If there is,
//! they call a *gate*: code that saves all registers which a Rust function may change, and calls
//! that function with the place and the cell.

use std::arch::global_asm;
use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use portmortem_tracer::format::StreamKind;

use crate::native::known;
use crate::native::offsets::{self, FRAME_DEFINITION, FRAME_PARENT, Offsets};
use crate::native::shadow::Shadow;
use crate::native::words::Cell;

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
}

// A thread-local variable at a fixed distance from the thread pointer, so that stubs reach it in
// one instruction.
global_asm!(
    ".pushsection .tbss.pm_thread_block, \"awT\", @nobits",
    ".balign 16",
    ".type pm_thread_block, @object",
    ".size pm_thread_block, 32",
    "pm_thread_block: .zero 32",
    ".popsection",
    ".pushsection .text.pm_thread_block_offset, \"ax\", @progbits",
    ".type pm_thread_block_offset, @function",
    "pm_thread_block_offset:",
    "mov rax, qword ptr [rip + pm_thread_block@GOTTPOFF]",
    "ret",
    ".size pm_thread_block_offset, . - pm_thread_block_offset",
    ".popsection",
);

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

/// Bytes below the stack pointer that a function may use without saying so.
const RED_ZONE: i32 = 128;

/// Where the engine keeps the place of the next cell, at every jump to a label: the same for all,
/// because a jump may lead to any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    /// In the register of that number.
    Register(u8),
    /// So many words above the stack pointer.
    Stack(u8),
}

/// General registers.
const REGISTERS: usize = 16;
/// Words above the stack pointer that are searched.
const STACK_WORDS: usize = 64;

/// What the engine's registers and its stack hold at a stub.
#[derive(Debug)]
pub(super) struct Machine<'a> {
    registers: &'a [usize; REGISTERS],
    stack: &'a [usize; STACK_WORDS],
}

/// Where the place of the next cell may be kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates {
    registers: [bool; REGISTERS],
    stack: [bool; STACK_WORDS],
    looks: usize,
}

/// So many cells must have been looked at.
const ENOUGH_LOOKS: usize = 20;

impl Candidates {
    pub(super) const ALL: Self = Self {
        registers: [true; REGISTERS],
        stack: [true; STACK_WORDS],
        looks: 0,
    };

    /// Keeps those that point behind `cell`.
    pub(super) fn look(&mut self, machine: &Machine, cell: usize) {
        let next = cell + size_of::<Cell>();
        for (right, &value) in self.registers.iter_mut().zip(machine.registers) {
            *right &= value == next;
        }
        for (right, &value) in self.stack.iter_mut().zip(machine.stack) {
            *right &= value == next;
        }
        self.looks += 1;
    }

    /// One that was right every time.
    pub(super) fn best(&self) -> Option<Counter> {
        let position = |right: &[bool]| right.iter().position(|&right| right);
        if self.looks < ENOUGH_LOOKS {
            return None;
        }
        let register = position(&self.registers).map(|at| Counter::Register(at as u8));
        register.or_else(|| position(&self.stack).map(|at| Counter::Stack(at as u8)))
    }
}

impl Machine<'_> {
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

/// From the way back to the stub to the engine's stack.
pub(super) const ABOVE_RETURN: i32 = 2 * 8 + RED_ZONE;

/// A function that is shown all registers; see [`Machine::at`].
pub(super) type Looker = extern "C" fn(place: usize, registers: *const usize);

/// From a gate's frame to the engine's stack: the frame pointer saved there, the way back to the
/// stub, a register, and the red zone.
const ABOVE_FRAME: i32 = 3 * 8 + RED_ZONE;

fn assembler(at: usize) -> VecAssembler<X64Relocation> {
    VecAssembler::new(at)
}

fn finished(ops: VecAssembler<X64Relocation>) -> Option<Vec<u8>> {
    ops.finalize().ok()
}

/// A gate to a function that is shown all registers, by number; that of the stack pointer is 0.
pub(super) fn looking_gate(at: usize, looker: Looker) -> Option<Vec<u8>> {
    let mut ops = assembler(at);
    let function = looker as *const () as usize as i64;
    dynasm!(ops
        ; .arch x64
        ; push rbp
        ; mov rbp, rsp
        ; push r15; push r14; push r13; push r12; push r11; push r10; push r9; push r8
        ; push QWORD [rbp + 16]
        ; push rsi
        ; push QWORD [rbp]
        ; push 0
        ; push rbx; push rdx; push rcx; push rax
        ; mov rsi, rsp
        ; lea rsp, [rsp - 256]
        ; and rsp, -16
    );
    save_vectors(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; mov rax, QWORD function
        ; call rax
    );
    restore_vectors(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; lea rsp, [rbp - 128]
        ; pop rax; pop rcx; pop rdx; pop rbx
        ; lea rsp, [rsp + 16]
        ; pop rsi
        ; pop rdi
        ; pop r8; pop r9; pop r10; pop r11; pop r12; pop r13; pop r14; pop r15
        ; pop rbp
        ; ret
    );
    finished(ops)
}

/// A gate to a handler.
pub(super) fn gate(at: usize, counter: Counter, handler: Handler) -> Option<Vec<u8>> {
    let mut ops = assembler(at);
    let function = handler as *const () as usize as i64;
    dynasm!(ops
        ; .arch x64
        ; push rbp
        ; mov rbp, rsp
        ; push rax; push rcx; push rdx; push rsi; push r8; push r9; push r10; push r11
    );
    match counter {
        // The stub and this gate have saved these two; all other registers are as they were.
        Counter::Register(5) => dynasm!(ops; .arch x64; mov rsi, [rbp]),
        Counter::Register(7) => dynasm!(ops; .arch x64; mov rsi, [rbp + 16]),
        Counter::Register(number) => dynasm!(ops; .arch x64; mov rsi, Rq(number)),
        Counter::Stack(words) => {
            let at = ABOVE_FRAME + 8 * i32::from(words);
            dynasm!(ops; .arch x64; mov rsi, [rbp + at]);
        }
    }
    dynasm!(ops
        ; .arch x64
        ; lea rsi, [rsi - 8]
        ; lea rsp, [rsp - 256]
        ; and rsp, -16
    );
    save_vectors(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; mov rax, QWORD function
        ; call rax
    );
    restore_vectors(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; lea rsp, [rbp - 64]
        ; pop r11; pop r10; pop r9; pop r8; pop rsi; pop rdx; pop rcx; pop rax
        ; pop rbp
        ; ret
    );
    finished(ops)
}

fn save_vectors(ops: &mut VecAssembler<X64Relocation>) {
    for number in 0..16u8 {
        let at = i32::from(number) * 16;
        dynasm!(ops; .arch x64; movups [rsp + at], Rx(number));
    }
}

fn restore_vectors(ops: &mut VecAssembler<X64Relocation>) {
    for number in 0..16u8 {
        let at = i32::from(number) * 16;
        dynasm!(ops; .arch x64; movups Rx(number), [rsp + at]);
    }
}

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
pub(super) struct Shape {
    pub(super) glance: Glance,
    /// Addresses of places and the gates that get them, which are to be done before, in this order.
    pub(super) before: [Option<(usize, usize)>; 2],
    /// Address of the place that the handler gets.
    pub(super) place: usize,
    /// Address of the gate.
    pub(super) gate: usize,
    /// Where control goes on.
    pub(super) label: Cell,
}

/// The longest stub.
pub(super) const LONGEST: usize = 256;

/// Where control may come to by a jump whose target is not fixed.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// A stub that is executed at `at`.
pub(super) fn stub(at: usize, shape: &Shape, offsets: &Offsets) -> Option<Vec<u8>> {
    let mut ops = assembler(at);
    let (label, gate, place) = (shape.label, shape.gate, shape.place as i64);
    dynasm!(ops; .arch x64; .bytes ENDBR64);
    match shape.glance {
        Glance::None => {}
        Glance::Expected => glance_at_caller(&mut ops, label, offsets),
        Glance::Quiet => glance_at_quiet(&mut ops, label, offsets),
        Glance::Announced => glance_at_announced(&mut ops, label, offsets),
    }
    dynasm!(ops
        ; .arch x64
        ; lea rsp, [rsp - RED_ZONE]
        ; push rdi
    );
    for (place, gate) in shape.before.into_iter().flatten() {
        let place = place as i64;
        dynasm!(ops; .arch x64; mov rdi, QWORD place; call extern gate);
    }
    dynasm!(ops
        ; .arch x64
        ; mov rdi, QWORD place
        ; call extern gate
        ; pop rdi
        ; lea rsp, [rsp + RED_ZONE]
    );
    dynasm!(ops; .arch x64; jmp extern label);
    finished(ops)
}

/// Goes on to `label` if the running frame is [`Shadow::quiet`] or newer. No frame is newer than
/// a negative distance from the base of the local stack.
fn glance_at_quiet(ops: &mut VecAssembler<X64Relocation>, label: Cell, offsets: &Offsets) {
    let field = offset_of!(Shadow, quiet) as i32;
    frame_and_shadow(ops, offsets);
    dynasm!(ops
        ; .arch x64
        ; cmp rcx, [rax + field]
        ; jb >other
    );
    restore(ops);
    dynasm!(ops; .arch x64; jmp extern label; other:);
    restore(ops);
}

/// Goes on to `label` if the running frame is [`Shadow::announced`], which it is no more.
fn glance_at_announced(ops: &mut VecAssembler<X64Relocation>, label: Cell, offsets: &Offsets) {
    let field = offset_of!(Shadow, announced) as i32;
    frame_and_shadow(ops, offsets);
    dynasm!(ops
        ; .arch x64
        ; cmp rcx, [rax + field]
        ; jne >other
        ; mov QWORD [rax + field], -1
        ; other:
    );
    restore(ops);
    dynasm!(ops; .arch x64; je extern label);
}

/// Gives back what [`frame_and_shadow`] has saved, and changes no flag.
fn restore(ops: &mut VecAssembler<X64Relocation>) {
    dynasm!(ops
        ; .arch x64
        ; pop rcx
        ; pop rax
        ; lea rsp, [rsp + RED_ZONE]
    );
}

/// The running frame is `rcx`, as a distance from the base of the local stack, and the engine's
/// shadow `rax`; both registers are saved. Goes on to
/// `other`, with the flag for equality cleared, if the thread's shadow is that of another engine.
fn frame_and_shadow(ops: &mut VecAssembler<X64Relocation>, offsets: &Offsets) {
    let block = thread_block_offset();
    let engine_of_block = block + offset_of!(ThreadBlock, engine) as i32;
    let shadow_of_block = block + offset_of!(ThreadBlock, shadow) as i32;
    let &Offsets {
        engine,
        environment,
        base,
        ..
    } = offsets;
    dynasm!(ops
        ; .arch x64
        ; lea rsp, [rsp - RED_ZONE]
        ; push rax
        ; push rcx
        ; fs mov rax, [engine]
        ; fs cmp rax, [engine_of_block]
        ; jne >other
        ; mov rcx, [rax + environment]
        ; sub rcx, [rax + base]
        ; fs mov rax, [shadow_of_block]
    );
}

/// Goes on to `label` unless the running frame is [`Shadow::expected`], or was called by C or
/// from a frame of `catch/3`.
fn glance_at_caller(ops: &mut VecAssembler<X64Relocation>, label: Cell, offsets: &Offsets) {
    let block = thread_block_offset();
    let engine_of_block = block + offset_of!(ThreadBlock, engine) as i32;
    let shadow_of_block = block + offset_of!(ThreadBlock, shadow) as i32;
    let expected = offset_of!(Shadow, expected) as i32;
    let (parent, definition) = (FRAME_PARENT as i32, FRAME_DEFINITION as i32);
    let catch = known::catch_definition() as i64;
    let &Offsets {
        engine,
        environment,
        base,
        ..
    } = offsets;
    dynasm!(ops
        ; .arch x64
        ; lea rsp, [rsp - RED_ZONE]
        ; push rax
        ; push rcx
        ; push rdx
        ; fs mov rax, [engine]
        ; fs cmp rax, [engine_of_block]
        ; jne >look
        ; mov rcx, [rax + environment]
        ; mov rdx, [rcx + parent]
        ; test rdx, rdx
        ; jz >look
        ; cmp QWORD [rdx + parent], 0
        ; je >look
        ; sub rcx, [rax + base]
        ; mov rax, QWORD catch
        ; cmp [rdx + definition], rax
        ; je >look
        ; fs mov rax, [shadow_of_block]
        ; cmp rcx, [rax + expected]
        ; je >look
        ; pop rdx
        ; pop rcx
        ; pop rax
        ; lea rsp, [rsp + RED_ZONE]
        ; jmp extern label
        ; look:
        ; pop rdx
        ; pop rcx
        ; pop rax
        ; lea rsp, [rsp + RED_ZONE]
    );
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
