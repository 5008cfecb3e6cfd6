//! The machine code of stubs, for 64-bit ARM. A jump reaches 128 MiB, so stubs lie close to the
//! engine's library.

use std::arch::global_asm;
use std::mem::offset_of;

use dynasmrt::aarch64::Aarch64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::{
    Counter, Glance, HANDLER_STACK, Handler, Looker, OWN_STACK, Shape, ThreadBlock,
    thread_block_offset,
};
use crate::native::known;
use crate::native::offsets::{FRAME_DEFINITION, FRAME_PARENT, Offsets};
use crate::native::shadow::Shadow;
use crate::native::words::Cell;

// A thread-local variable at a fixed distance from the thread pointer, so that stubs reach it in
// one instruction.
global_asm!(
    ".pushsection .tbss.pm_thread_block, \"awT\", %nobits",
    ".balign 16",
    ".type pm_thread_block, %object",
    ".size pm_thread_block, 32",
    "pm_thread_block: .zero 32",
    ".popsection",
    ".pushsection .text.pm_thread_block_offset, \"ax\", %progbits",
    ".balign 4",
    ".type pm_thread_block_offset, %function",
    ".globl pm_thread_block_offset",
    ".hidden pm_thread_block_offset",
    "pm_thread_block_offset:",
    "adrp x0, :gottprel:pm_thread_block",
    "ldr x0, [x0, :gottprel_lo12:pm_thread_block]",
    "ret",
    ".size pm_thread_block_offset, . - pm_thread_block_offset",
    ".popsection",
);

type Code = VecAssembler<Aarch64Relocation>;

/// General registers, and the stack pointer.
pub(super) const REGISTERS: usize = 32;

/// From a gate's frame to the engine's stack: two registers that the gate has saved, and two that
/// the stub has saved.
pub(super) const ABOVE_FRAME: i32 = 4 * 8;

/// The longest stub.
pub(in super::super) const LONGEST: usize = 256;

/// Registers from this on belong to the caller, so that a Rust function leaves them as they are.
const FIRST_OF_CALLER: u8 = 19;

/// Bytes for what a gate saves: 18 general registers and the vector registers.
const SAVED: u32 = GENERAL + VECTORS;
const GENERAL: u32 = 18 * 8;
const VECTORS: u32 = 32 * 16;

/// The largest offset that a load has room for is eight times this.
const LARGEST_OFFSET: u32 = 4095;

/// A gate to a function that is shown all registers, by number; that of the stack pointer is 0.
pub(in super::super) fn looking_gate(at: usize, looker: Looker) -> Option<Vec<u8>> {
    let mut ops = Code::new(at);
    dynasm!(ops
        ; .arch aarch64
        ; stp x29, x30, [sp, -16]!
        ; mov x29, sp
        ; sub sp, sp, 32 * 8
    );
    for number in (0..30u8).step_by(2) {
        let at = i32::from(number) * 8;
        dynasm!(ops; .arch aarch64; stp X(number), X(number + 1), [sp, at]);
    }
    dynasm!(ops
        ; .arch aarch64
        // These two the stub has saved, and the gate has used one.
        ; ldr x1, [x29, 16]
        ; str x1, [sp]
        ; ldr x1, [x29]
        ; str x1, [sp, 29 * 8]
        ; ldr x1, [x29, 24]
        ; str x1, [sp, 30 * 8]
        ; str xzr, [sp, 31 * 8]
        ; mov x1, sp
        ; sub sp, sp, VECTORS
    );
    save_vectors(&mut ops, 0);
    call(&mut ops, looker as *const () as usize);
    restore_vectors(&mut ops, 0);
    dynasm!(ops; .arch aarch64; add sp, sp, VECTORS);
    for number in (2..FIRST_OF_CALLER).step_by(2) {
        let at = i32::from(number) * 8;
        dynasm!(ops; .arch aarch64; ldp X(number), X(number + 1), [sp, at]);
    }
    dynasm!(ops
        ; .arch aarch64
        ; ldr x1, [sp, 8]
        ; mov sp, x29
        ; ldp x29, x30, [sp], 16
        ; ret
    );
    ops.finalize().ok()
}

/// A gate to a handler. `ask` finds out where the thread's handlers run.
pub(in super::super) fn gate(
    at: usize,
    counter: Counter,
    handler: Handler,
    ask: extern "C" fn(),
) -> Option<Vec<u8>> {
    let mut ops = Code::new(at);
    dynasm!(ops
        ; .arch aarch64
        ; stp x29, x30, [sp, -16]!
        ; mov x29, sp
        ; sub sp, sp, SAVED
    );
    save_vectors(&mut ops, GENERAL);
    for number in (1..FIRST_OF_CALLER).step_by(2) {
        let at = i32::from(number - 1) * 8;
        dynasm!(ops; .arch aarch64; stp X(number), X(number + 1), [sp, at]);
    }
    match counter {
        // The stub has saved the first and the last of these, the gate that in the middle; all
        // other registers are as they were.
        Counter::Register(0) => dynasm!(ops; .arch aarch64; ldr x1, [x29, 16]),
        Counter::Register(29) => dynasm!(ops; .arch aarch64; ldr x1, [x29]),
        Counter::Register(30) => dynasm!(ops; .arch aarch64; ldr x1, [x29, 24]),
        Counter::Register(number) => dynasm!(ops; .arch aarch64; mov x1, X(number)),
        Counter::Stack(words) => {
            let at = ABOVE_FRAME as u32 + 8 * u32::from(words);
            dynasm!(ops; .arch aarch64; ldr x1, [x29, at]);
        }
    }
    dynasm!(ops; .arch aarch64; sub x1, x1, 8);
    call_with_room(&mut ops, handler, ask);
    restore_vectors(&mut ops, GENERAL);
    for number in (1..FIRST_OF_CALLER).step_by(2) {
        let at = i32::from(number - 1) * 8;
        dynasm!(ops; .arch aarch64; ldp X(number), X(number + 1), [sp, at]);
    }
    dynasm!(ops
        ; .arch aarch64
        ; mov sp, x29
        ; ldp x29, x30, [sp], 16
        ; ret
    );
    ops.finalize().ok()
}

/// Calls a function, by a register that it may change.
fn call(ops: &mut Code, function: usize) {
    constant(ops, 16, function as u64);
    dynasm!(ops; .arch aarch64; blr x16);
}

/// Calls a handler on the stack on which those of this thread run; on the one that control is on if
/// that is the same, where a signal has interrupted a handler.
fn call_with_room(ops: &mut Code, handler: Handler, ask: extern "C" fn()) {
    let stack = i64::from(thread_block_offset()) + offset_of!(ThreadBlock, stack) as i64;
    let handler = handler as *const () as usize;
    dynasm!(ops; .arch aarch64; again:);
    thread_pointer(ops, 9);
    load(ops, 10, 9, stack);
    dynasm!(ops
        ; .arch aarch64
        ; cmp x10, OWN_STACK as u32
        ; b.hi >other
        ; b.eq >here
        ; stp x0, x1, [sp, -16]!
    );
    call(ops, ask as *const () as usize);
    dynasm!(ops
        ; .arch aarch64
        ; ldp x0, x1, [sp], 16
        ; b <again
        ; other:
        ; mov x11, sp
        ; sub x11, x10, x11
    );
    constant(ops, 12, HANDLER_STACK as u64);
    dynasm!(ops
        ; .arch aarch64
        ; cmp x11, x12
        ; b.lo >here
        ; mov x11, sp
        ; mov sp, x10
        ; stp x11, x11, [sp, -16]!
    );
    call(ops, handler);
    dynasm!(ops
        ; .arch aarch64
        ; ldr x11, [sp]
        ; mov sp, x11
        ; b >done
        ; here:
    );
    call(ops, handler);
    dynasm!(ops; .arch aarch64; done:);
}

fn save_vectors(ops: &mut Code, first: u32) {
    for number in (0..32u8).step_by(2) {
        let at = first as i32 + i32::from(number) * 16;
        dynasm!(ops; .arch aarch64; stp Q(number), Q(number + 1), [sp, at]);
    }
}

fn restore_vectors(ops: &mut Code, first: u32) {
    for number in (0..32u8).step_by(2) {
        let at = first as i32 + i32::from(number) * 16;
        dynasm!(ops; .arch aarch64; ldp Q(number), Q(number + 1), [sp, at]);
    }
}

/// Puts a number into a register.
fn constant(ops: &mut Code, register: u8, value: u64) {
    let part = |number: u32| (value >> (16 * number)) as u32 & 0xffff;
    dynasm!(ops
        ; .arch aarch64
        ; movz X(register), part(0)
        ; movk X(register), part(1), lsl 16
        ; movk X(register), part(2), lsl 32
        ; movk X(register), part(3), lsl 48
    );
}

/// Puts the thread pointer into a register: `mrs register, tpidr_el0`.
fn thread_pointer(ops: &mut Code, register: u8) {
    let instruction = 0xd53b_d040 | u32::from(register);
    dynasm!(ops; .arch aarch64; .u32 instruction);
}

/// Loads the word that lies `offset` bytes from where another register points.
fn load(ops: &mut Code, to: u8, from: u8, offset: i64) {
    let near = u32::try_from(offset).ok();
    match near.filter(|offset| offset % 8 == 0 && offset / 8 <= LARGEST_OFFSET) {
        Some(offset) => dynasm!(ops; .arch aarch64; ldr X(to), [X(from), offset]),
        None => {
            constant(ops, to, offset as u64);
            dynasm!(ops; .arch aarch64; ldr X(to), [X(from), X(to)]);
        }
    }
}

/// A stub that is executed at `at`.
pub(in super::super) fn stub(at: usize, shape: &Shape, offsets: &Offsets) -> Option<Vec<u8>> {
    let mut ops = Code::new(at);
    let (label, gate) = (shape.label, shape.gate);
    match shape.glance {
        Glance::None => {}
        Glance::Expected => glance_at_caller(&mut ops, label, offsets),
        Glance::Quiet => glance_at_quiet(&mut ops, label, offsets),
        Glance::Announced => glance_at_announced(&mut ops, label, offsets),
    }
    dynasm!(ops; .arch aarch64; stp x0, x30, [sp, -16]!);
    for (place, gate) in shape.before.into_iter().flatten() {
        constant(&mut ops, 0, place as u64);
        dynasm!(ops; .arch aarch64; bl extern gate);
    }
    constant(&mut ops, 0, shape.place as u64);
    dynasm!(ops
        ; .arch aarch64
        ; bl extern gate
        ; ldp x0, x30, [sp], 16
        ; b extern label
    );
    ops.finalize().ok()
}

/// Goes on to `label` if the running frame is [`Shadow::quiet`] or newer. No frame is newer than
/// a negative distance from the base of the local stack.
fn glance_at_quiet(ops: &mut Code, label: Cell, offsets: &Offsets) {
    frame_and_shadow(ops, offsets);
    load(ops, 3, 0, offset_of!(Shadow, quiet) as i64);
    dynasm!(ops
        ; .arch aarch64
        ; cmp x1, x3
        ; b.lo >other
    );
    restore(ops);
    dynasm!(ops; .arch aarch64; b extern label; other:);
    restore(ops);
}

/// Goes on to `label` if the running frame is [`Shadow::announced`], which it is no more.
fn glance_at_announced(ops: &mut Code, label: Cell, offsets: &Offsets) {
    let field = offset_of!(Shadow, announced);
    frame_and_shadow(ops, offsets);
    constant(ops, 2, field as u64);
    dynasm!(ops
        ; .arch aarch64
        ; ldr x3, [x0, x2]
        ; cmp x1, x3
        ; b.ne >other
        ; movn x3, 0
        ; str x3, [x0, x2]
    );
    restore(ops);
    dynasm!(ops; .arch aarch64; b extern label; other:);
    restore(ops);
}

/// Saves what glances use.
fn save(ops: &mut Code) {
    dynasm!(ops
        ; .arch aarch64
        ; stp x0, x1, [sp, -32]!
        ; stp x2, x3, [sp, 16]
    );
}

/// Gives back what [`save`] has saved.
fn restore(ops: &mut Code) {
    dynasm!(ops
        ; .arch aarch64
        ; ldp x2, x3, [sp, 16]
        ; ldp x0, x1, [sp], 32
    );
}

/// The running engine is `x0` and the thread's block is found from `x2`. Changes `x3`. Goes on to
/// `other` if the thread's shadow is that of another engine.
fn engine(ops: &mut Code, offsets: &Offsets) {
    let block = i64::from(thread_block_offset());
    thread_pointer(ops, 2);
    load(ops, 0, 2, offsets.engine.into());
    load(ops, 3, 2, block + offset_of!(ThreadBlock, engine) as i64);
    dynasm!(ops
        ; .arch aarch64
        ; cmp x0, x3
        ; b.ne >other
    );
}

/// The running frame is `x1`, as a distance from the base of the local stack, and the engine's
/// shadow `x0`; see [`save`]. Goes on to `other` if the thread's shadow is that of another engine.
fn frame_and_shadow(ops: &mut Code, offsets: &Offsets) {
    let block = i64::from(thread_block_offset());
    save(ops);
    engine(ops, offsets);
    load(ops, 1, 0, offsets.environment.into());
    load(ops, 3, 0, offsets.base.into());
    dynasm!(ops; .arch aarch64; sub x1, x1, x3);
    load(ops, 0, 2, block + offset_of!(ThreadBlock, shadow) as i64);
}

/// Goes on to `label` unless the running frame is [`Shadow::expected`], or was called by C or
/// from a frame of `catch/3`.
fn glance_at_caller(ops: &mut Code, label: Cell, offsets: &Offsets) {
    let block = i64::from(thread_block_offset());
    save(ops);
    engine(ops, offsets);
    load(ops, 1, 0, offsets.environment.into());
    load(ops, 3, 0, offsets.base.into());
    load(ops, 0, 1, FRAME_PARENT as i64);
    dynasm!(ops
        ; .arch aarch64
        ; cbz x0, >other
        ; sub x1, x1, x3
    );
    load(ops, 3, 0, FRAME_PARENT as i64);
    dynasm!(ops; .arch aarch64; cbz x3, >other);
    load(ops, 0, 0, FRAME_DEFINITION as i64);
    constant(ops, 3, known::catch_definition() as u64);
    dynasm!(ops
        ; .arch aarch64
        ; cmp x0, x3
        ; b.eq >other
    );
    load(ops, 0, 2, block + offset_of!(ThreadBlock, shadow) as i64);
    load(ops, 3, 0, offset_of!(Shadow, expected) as i64);
    dynasm!(ops
        ; .arch aarch64
        ; cmp x1, x3
        ; b.eq >other
    );
    restore(ops);
    dynasm!(ops; .arch aarch64; b extern label; other:);
    restore(ops);
}
