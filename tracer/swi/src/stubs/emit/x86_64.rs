//! The machine code of stubs, for x86-64. Below the stack pointer a function may use
//! [`RED_ZONE`] bytes, which a stub must leave alone.

use std::arch::global_asm;
use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};

use super::{
    CellCounter, Glance, HANDLER_STACK, Handler, Looker, OWN_STACK, StubShape, ThreadBlock,
    thread_block_offset,
};
use crate::native::known;
use crate::native::offsets::{FRAME_DEFINITION, FRAME_PARENT, Offsets};
use crate::native::shadow::Shadow;
use crate::native::words::CodeWord;

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
    ".globl pm_thread_block_offset",
    ".hidden pm_thread_block_offset",
    "pm_thread_block_offset:",
    "mov rax, qword ptr [rip + pm_thread_block@GOTTPOFF]",
    "ret",
    ".size pm_thread_block_offset, . - pm_thread_block_offset",
    ".popsection",
);

/// General registers.
pub(super) const REGISTERS: usize = 16;

/// Bytes below the stack pointer that a function may use without saying so.
const RED_ZONE: i32 = 128;

/// From the way back to the stub to the engine's stack.
pub(in super::super) const ABOVE_RETURN: i32 = 2 * 8 + RED_ZONE;

/// From a gate's frame to the engine's stack: the frame pointer saved there, the way back to the
/// stub, a register, and the red zone.
pub(super) const ABOVE_FRAME: i32 = 3 * 8 + RED_ZONE;

/// The longest stub.
pub(in super::super) const LONGEST: usize = 256;

fn assembler(at: usize) -> VecAssembler<X64Relocation> {
    VecAssembler::new(at)
}

fn finished(ops: VecAssembler<X64Relocation>) -> Option<Vec<u8>> {
    ops.finalize().ok()
}

/// A gate to a function that is shown all registers, by number; that of the stack pointer is 0.
pub(in super::super) fn looking_gate(at: usize, looker: Looker) -> Option<Vec<u8>> {
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

/// A gate to a handler. `ask` finds out where the thread's handlers run.
pub(in super::super) fn gate(
    at: usize,
    counter: CellCounter,
    handler: Handler,
    ask: extern "C" fn(),
) -> Option<Vec<u8>> {
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
        CellCounter::Register(5) => dynasm!(ops; .arch x64; mov rsi, [rbp]),
        CellCounter::Register(7) => dynasm!(ops; .arch x64; mov rsi, [rbp + 16]),
        CellCounter::Register(number) => dynasm!(ops; .arch x64; mov rsi, Rq(number)),
        CellCounter::Stack(words) => {
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
    call_with_room(&mut ops, function, ask);
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

/// Calls a function on the stack on which this thread's handlers run; on the one that control is
/// on if that is the same, where a signal has interrupted a handler.
fn call_with_room(ops: &mut VecAssembler<X64Relocation>, function: i64, ask: extern "C" fn()) {
    let stack = thread_block_offset() + offset_of!(ThreadBlock, stack) as i32;
    let ask = ask as *const () as usize as i64;
    let (own, size) = (OWN_STACK as i32, HANDLER_STACK as i32);
    dynasm!(ops
        ; .arch x64
        ; again:
        ; fs mov rax, [stack]
        ; cmp rax, own
        ; ja >other
        ; je >here
        ; push rdi; push rsi
        ; mov rax, QWORD ask
        ; call rax
        ; pop rsi; pop rdi
        ; jmp <again
        ; other:
        ; mov r11, rax
        ; sub r11, rsp
        ; cmp r11, size
        ; jb >here
        ; mov r11, rsp
        ; mov rsp, rax
        ; push r11; push r11
        ; mov rax, QWORD function
        ; call rax
        ; pop rsp
        ; jmp >done
        ; here:
        ; mov rax, QWORD function
        ; call rax
        ; done:
    );
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

/// Where control may come to by a jump whose target is not fixed.
const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// A stub that is executed at `at`.
pub(in super::super) fn stub(at: usize, shape: &StubShape, offsets: &Offsets) -> Option<Vec<u8>> {
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
fn glance_at_quiet(ops: &mut VecAssembler<X64Relocation>, label: CodeWord, offsets: &Offsets) {
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
fn glance_at_announced(ops: &mut VecAssembler<X64Relocation>, label: CodeWord, offsets: &Offsets) {
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
fn glance_at_caller(ops: &mut VecAssembler<X64Relocation>, label: CodeWord, offsets: &Offsets) {
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
