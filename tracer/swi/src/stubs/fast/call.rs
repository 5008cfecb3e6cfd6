//! The code of calls and last calls.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::fields::*;
use super::parts::*;
use super::{Callee, Departs, Setting};
use crate::native::known;
use crate::native::offsets::{DEBUGGER, FRAME_DEFINITION, FRAME_PARENT, FRAME_RETURN, Offsets};

/// Code of a call.
pub(in super::super) fn call(
    setting: &Setting,
    callee: Callee,
    departs: Departs,
) -> Option<Vec<u8>> {
    let mut ops = begin(setting);
    let offsets = setting.offsets;
    let &Offsets {
        environment,
        choice,
        base,
        top,
        limit,
        ..
    } = offsets;
    // rax: the engine; rcx: the shadow; rdi: the place; rsi: the next cell; r8: the frame.
    load_counter(&mut ops, setting.counter);
    match callee {
        Callee::Operand(number) => {
            let operand = 8 * (i32::from(number) - 1);
            dynasm!(ops
                ; .arch x64
                ; mov rdx, [rsi + operand]
                ; mov rdx, [rdx]
                ; cmp rdx, [rdi + CALLEE]
                ; jne >slow
            );
        }
        // The stub may be of an earlier recording.
        Callee::Fixed => dynasm!(ops; .arch x64; cmp QWORD [rdi + CALLEE], 0; je >slow),
    }
    dynasm!(ops
        ; .arch x64
        ; mov r8, [rax + environment]
        ; mov r9, [rax + choice]
        ; cmp DWORD [r9], DEBUGGER as i32
        ; je >slow
    );
    match departs {
        Departs::Never => {}
        Departs::IfDet => dynasm!(ops; .arch x64; cmp r9, r8; jbe >tail),
        Departs::Always => dynasm!(ops; .arch x64; jmp >tail),
    }
    if departs != Departs::Always {
        dynasm!(ops
            ; .arch x64
            // What is older was seen to when the box opened that runs here.
            ; cmp r9, r8
            ; jb >watched
        );
        watched(&mut ops, setting);
        dynasm!(ops
            ; .arch x64
            ; mov r9, [rax + choice]
            ; watched:
            // A clause on the local stack moves, so its boxes return nowhere. If it has opened
            // the active box, that is for the handler to mark.
            ; mov r10, [rax + base]
            ; cmp rsi, r10
            ; jb >fixed
            ; cmp rsi, [rax + limit]
            ; jae >fixed
            ; mov edx, [rcx + ACTIVE]
            ; imul rdx, rdx, BOX
            ; add rdx, [rcx + BOXES]
            ; mov r11, r8
            ; sub r11, r10
            ; cmp [rdx + BOX_CALLER], r11
            ; je >slow
            ; xor esi, esi
            ; fixed:
            ; mov r11, [rax + top]
            ; sub r11, r10
            ; sub r9, r10
            ; sub r8, r10
            ; mov r10d, [rcx + TOP]
            ; cmp r10d, [rcx + ROOM]
            ; jae >slow
        );
        event(&mut ops, |ops| {
            dynasm!(ops; .arch x64; mov rax, [rdi + CALL_WORD]);
        });
        dynasm!(ops
            ; .arch x64
            ; mov rax, [rdi + INSTRUCTION_LENGTH]
            ; lea rax, [rsi + rax - 8]
            ; test rsi, rsi
            ; cmovz rax, rsi
        );
        open_box(&mut ops);
        match callee {
            // The goal that `call/N` calls gets the same frame.
            Callee::Fixed => dynasm!(ops; .arch x64; mov [rcx + EXPECTED], r11),
            Callee::Operand(_) => dynasm!(ops; .arch x64; mov QWORD [rcx + EXPECTED], -1),
        }
        dynasm!(ops
            ; .arch x64
            // The predicate is told of it, if all its calls are recorded.
            ; or r11, [rdi + SILENCE]
            ; mov [rcx + ANNOUNCED], r11
            ; jmp >done
        );
    }
    if departs != Departs::Never {
        dynasm!(ops
            ; .arch x64
            ; tail:
            ; mov r10, [rax + base]
            ; cmp rsi, r10
            ; jb >stays
            ; cmp rsi, [rax + limit]
            ; jb >made
            ; stays:
            ; sub r8, r10
            ; mov r10d, [rcx + ACTIVE]
            ; imul r10, r10, BOX
            ; add r10, [rcx + BOXES]
            ; cmp [r10 + BOX_FRAME], r8
            ; jne >made
            ; test DWORD [r10 + BOX_MARKS], SILENT
            ; jne >slow
            // Whatever exited inside was cut, or this were no last call.
            ; mov edx, [rcx + EXITED]
            ; cmp edx, [r10 + BOX_EXITED]
            ; jne >slow
        );
        event(&mut ops, |ops| {
            dynasm!(ops; .arch x64; mov rax, [rdi + TAIL_WORD]);
        });
        dynasm!(ops
            ; .arch x64
            ; mov eax, [rdi + BOUNDARY]
            ; mov [r10 + BOX_BOUNDARY], eax
            ; cmp QWORD [rdi + KEEPS], 0
            ; jne >kept
            ; mov rax, [rdi + GIVEN]
            ; mov [r10 + BOX_GIVEN], rax
            ; kept:
            ; mov QWORD [rcx + EXPECTED], -1
            ; or r8, [rdi + SILENCE]
            ; mov [rcx + ANNOUNCED], r8
            ; jmp >done
            ; made:
        );
        enter(&mut ops, setting);
    }
    end(ops, setting)
}

/// A last call in a frame that is not the one of the active box, as in a body that `call/1` has
/// made: a box opens in the same frame.
fn enter(ops: &mut FastCode, setting: &Setting) {
    let &Offsets {
        environment,
        choice,
        base,
        limit,
        ..
    } = setting.offsets;
    let (parent, returns_to) = (FRAME_PARENT as i32, FRAME_RETURN as i32);
    let definition = FRAME_DEFINITION as i32;
    let catch = known::catch_definition() as i64;
    let first_stub = setting.first_stub as i64;
    watched(ops, setting);
    dynasm!(ops
        ; .arch x64
        ; mov r8, [rax + environment]
        ; mov r10, [rax + base]
        ; cmp [rax + choice], r8
        ; ja >slow
        // Not called by C.
        ; mov rsi, [r8 + parent]
        ; test rsi, rsi
        ; jz >slow
        ; cmp QWORD [rsi + parent], 0
        ; je >slow
        // The active box is older, or that of a call/1 that has made the body.
        ; mov edx, [rcx + ACTIVE]
        ; imul rdx, rdx, BOX
        ; add rdx, [rcx + BOXES]
        ; mov r9, [rdx + BOX_CALLER]
        ; mov rdx, [rdx + BOX_FRAME]
        ; add rdx, r10
        ; cmp rdx, r8
        ; jl >older
        ; jg >slow
        ; add r9, r10
        ; cmp r9, rsi
        ; jne >slow
        ; mov r9, QWORD catch
        ; cmp [rsi + definition], r9
        ; je >slow
        ; older:
        // Wherever control returns to in between there is a stub.
        ; mov r11, QWORD first_stub
        ; mov rsi, r8
        ; again:
        ; mov r9, [rsi + returns_to]
        ; test r9, r9
        ; jz >covered
        ; mov rsi, [rsi + parent]
        ; test rsi, rsi
        ; jz >covered
        ; cmp [r9], r11
        ; jb >slow
        ; cmp rsi, rdx
        ; jg <again
        ; covered:
        ; mov r11, r8
        ; mov rsi, [r11 + returns_to]
        ; cmp rsi, r10
        ; jb >fixed
        ; cmp rsi, [rax + limit]
        ; jae >fixed
        ; xor esi, esi
        ; fixed:
        ; mov r8, [r11 + parent]
        ; mov r9, [rax + choice]
        ; sub r8, r10
        ; sub r9, r10
        ; sub r11, r10
        // The handler cuts boxes.
        ; mov edx, [rcx + ACTIVE]
        ; imul rdx, rdx, BOX
        ; add rdx, [rcx + BOXES]
        ; mov r10d, [rcx + EXITED]
        ; cmp r10d, [rdx + BOX_EXITED]
        ; je >whole
        ; imul r10, r10, EXITED_BOX
        ; add r10, [rcx + EXITED_BOXES_FIRST]
        ; cmp [r10 + EXITED_CHOICE - EXITED_BOX], r9
        ; jg >slow
        ; whole:
        ; mov r10d, [rcx + TOP]
        ; cmp r10d, [rcx + ROOM]
        ; jae >slow
    );
    event(ops, |ops| {
        dynasm!(ops; .arch x64; mov rax, [rdi + CALL_WORD]);
    });
    dynasm!(ops; .arch x64; mov rax, rsi);
    open_box(ops);
    dynasm!(ops
        ; .arch x64
        ; mov eax, [rdx + BOX_PARENT]
        ; imul rax, rax, BOX
        ; add rax, [rcx + BOXES]
        ; cmp [rax + BOX_CALLER], r8
        ; jne >alone
        ; cmp [rax + BOX_RETURN], rsi
        ; jne >alone
        ; or DWORD [rdx + BOX_MARKS], STACKED
        ; alone:
        ; mov QWORD [rcx + EXPECTED], -1
        ; or r11, [rdi + SILENCE]
        ; mov [rcx + ANNOUNCED], r11
    );
}

/// A box opens for the place in `rdi`: its number is `r10d`, its frame `r11`, the caller's `r8`,
/// the newest choicepoint `r9`, and it returns to `rax`. Changes `rax`, `rdx`, `r10`.
fn open_box(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; imul rdx, r10, BOX
        ; add rdx, [rcx + BOXES]
        ; mov [rdx + BOX_FRAME], r11
        ; mov [rdx + BOX_CALLER], r8
        ; mov [rdx + BOX_CHOICE], r9
        ; mov [rdx + BOX_RETURN], rax
        ; mov eax, [rcx + ACTIVE]
        ; mov [rdx + BOX_PARENT], eax
        ; mov eax, [rcx + EXITED]
        ; mov [rdx + BOX_EXITED], eax
        ; mov rax, [rdi + MARKS]
        ; mov [rdx + BOX_MARKS], rax
        ; mov rax, [rdi + GIVEN]
        ; mov [rdx + BOX_GIVEN], rax
        ; mov [rcx + ACTIVE], r10d
        ; inc r10d
        ; mov [rcx + TOP], r10d
        ; mov [rcx + QUIET], r11
    );
}
