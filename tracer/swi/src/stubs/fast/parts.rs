//! What the code of several events has in common.

use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use portmortem_tracer::machine_code::{COMMITTED, FIELDS, TICKS, TICKS_SHIFT};

use super::Setting;
use super::fields::*;
use crate::native::offsets::CLAUSE;
use crate::native::shadow::NOT_QUIET;
use crate::stubs::emit::{self, CellCounter, ThreadBlock};

pub(super) type FastCode = VecAssembler<X64Relocation>;

/// The active box is `r11`, and its number `r10d`; `edx` is the number of exited boxes.
pub(super) fn active_box(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; mov r10d, [rcx + ACTIVE]
        ; imul r11, r10, BOX
        ; add r11, [rcx + BOXES]
        ; mov edx, [rcx + EXITED]
    );
}

/// The newest of `edx` exited boxes is `rsi`. Changes `rdx`.
pub(super) fn exited_box(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; imul rsi, rdx, EXITED_BOX
        ; add rsi, [rcx + EXITED_BOXES_FIRST]
        ; sub rsi, EXITED_BOX
    );
}

/// Goes to `slow` unless the newest choicepoint resumes at a stub.
pub(super) fn watched(ops: &mut FastCode, setting: &Setting) {
    let offsets = setting.offsets;
    let choice = offsets.choice;
    let (value, clause, codes) = (
        offsets.choice_value as i32,
        offsets.clause as i32,
        offsets.codes as i32,
    );
    let first_stub = setting.first_stub as i64;
    dynasm!(ops
        ; .arch x64
        ; mov r9, [rax + choice]
        ; cmp DWORD [r9], CLAUSE as i32
        ; ja >slow
        ; mov rdx, [r9 + value]
        ; jb >jump
        ; mov rdx, [rdx + clause]
        ; lea rdx, [rdx + codes]
        ; jump:
        ; mov r9, QWORD first_stub
        ; cmp [rdx], r9
        ; jb >slow
    );
}

/// Saves registers, and goes to `slow` unless the engine that runs is the one of the shadow, and
/// is recorded.
pub(super) fn begin(setting: &Setting) -> FastCode {
    let mut ops = FastCode::new(setting.at);
    let block = emit::thread_block_offset();
    let engine_of_block = block + offset_of!(ThreadBlock, engine) as i32;
    let shadow_of_block = block + offset_of!(ThreadBlock, shadow) as i32;
    let engine = setting.offsets.engine;
    dynasm!(ops
        ; .arch x64
        ; push rax; push rcx; push rdx; push rsi; push r8; push r9; push r10; push r11
        ; fs mov rax, [engine]
        ; fs cmp rax, [engine_of_block]
        ; jne >slow
        ; fs mov rcx, [shadow_of_block]
    );
    ops
}

/// The place of the next cell is in `rsi`. Nothing but saved registers has changed.
pub(super) fn load_counter(ops: &mut FastCode, counter: CellCounter) {
    match counter {
        CellCounter::Register(7) => dynasm!(ops; .arch x64; mov rsi, [rsp + SAVED + 8]),
        CellCounter::Register(0) => dynasm!(ops; .arch x64; mov rsi, [rsp + 56]),
        CellCounter::Register(1) => dynasm!(ops; .arch x64; mov rsi, [rsp + 48]),
        CellCounter::Register(4) => {}
        CellCounter::Register(number) => dynasm!(ops; .arch x64; mov rsi, Rq(number)),
        CellCounter::Stack(words) => {
            let at = SAVED + emit::ABOVE_RETURN + 8 * i32::from(words);
            dynasm!(ops; .arch x64; mov rsi, [rsp + at]);
        }
    }
}

/// Writes the event whose word `load` puts into `rax`; its length is that of the place. Goes to
/// `slow` before anything has changed. Changes `rax`, `rdx`.
pub(super) fn event(ops: &mut FastCode, load: impl FnOnce(&mut FastCode)) {
    clock(ops);
    load(ops);
    dynasm!(ops; .arch x64; or rdx, rax; mov rax, [rdi + EVENT_LENGTH]);
    store(ops);
}

pub(super) fn fixed_event(ops: &mut FastCode, word: u64, length: usize) {
    clock(ops);
    let (word, length) = (word as i32, length as i32);
    dynasm!(ops; .arch x64; or rdx, word; mov eax, length);
    store(ops);
}

/// Leaves the shifted ticks since the last event in `rdx`, the tick on the stack, and the
/// stream's address below it.
pub(super) fn clock(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; rdtsc
        ; shl rdx, 32
        ; or rax, rdx
        ; push rbx
        ; mov rbx, [rcx + STREAM]
        ; test rbx, rbx
        ; jz >stop
        ; mov rdx, rax
        ; sub rdx, [rbx + FIELDS.last_tick]
        ; cmp rdx, TICKS
        ; jae >stop
        ; push rbp
        ; mov rbp, [rbx + FIELDS.cursor]
        ; cmp rbp, [rbx + FIELDS.limit]
        ; jb >room
        ; pop rbp
        ; stop:
        ; pop rbx
        ; jmp >slow
        ; room:
        ; push rax
        ; shl rdx, TICKS_SHIFT
    );
}

/// Stores the event in `rdx`, of which `rax` bytes count.
pub(super) fn store(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; mov [rbp], rdx
        ; add rbp, rax
        ; mov [rbx + FIELDS.cursor], rbp
        ; pop rax
        ; mov [rbx + FIELDS.last_tick], rax
        ; inc QWORD [rbx + FIELDS.events]
        ; mov rax, [rbx + FIELDS.payload]
        ; sub rbp, rax
        ; mov [rax - COMMITTED], ebp
        ; pop rbp
        ; pop rbx
    );
}

/// The active box, `r11` with the number `r10d`, is left for good. Changes `rax`.
pub(super) fn leave(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; mov [rcx + TOP], r10d
        ; mov eax, [r11 + BOX_PARENT]
        ; mov [rcx + ACTIVE], eax
    );
}

/// What stubs compare is set again: [`settle`](crate::native::Shadow::settle). Changes `rax`,
/// `rdx`.
pub(super) fn settle(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; mov eax, [rcx + ACTIVE]
        ; imul rax, rax, BOX
        ; add rax, [rcx + BOXES]
        ; mov edx, [rcx + EXITED]
        ; cmp edx, [rax + BOX_EXITED]
        ; mov rax, [rax + BOX_FRAME]
        ; je >calm
        ; mov rax, NOT_QUIET as i32
        ; calm:
        ; mov [rcx + QUIET], rax
        ; mov QWORD [rcx + ANNOUNCED], -1
    );
}

pub(super) fn end(mut ops: FastCode, setting: &Setting) -> Option<Vec<u8>> {
    let slow = setting.slow;
    dynasm!(ops
        ; .arch x64
        ; done:
        ; pop r11; pop r10; pop r9; pop r8; pop rsi; pop rdx; pop rcx; pop rax
        ; ret
        ; slow:
        ; pop r11; pop r10; pop r9; pop r8; pop rsi; pop rdx; pop rcx; pop rax
        ; jmp extern slow
    );
    ops.finalize().ok()
}
