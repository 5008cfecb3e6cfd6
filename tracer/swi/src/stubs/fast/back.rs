//! The code of what comes after a call: an exit, a failure, a redo, a cut; and of the entry of a
//! clause.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use portmortem_tracer::machine_code::{
    FIELDS, MOST_JOINED, cut, exit_det, exit_nondet, fail, redo,
};

use super::Setting;
use super::fields::*;
use super::parts::*;
use crate::native::offsets::{DEBUGGER, Offsets};
use crate::native::place::StubPlace;

/// Code of a cell at which a clause has been entered.
pub(in super::super) fn entered(setting: &Setting) -> Option<Vec<u8>> {
    let mut ops = begin(setting);
    let callee = StubPlace::CALLEE as i32;
    let &Offsets {
        environment, base, ..
    } = setting.offsets;
    dynasm!(ops
        ; .arch x64
        ; cmp QWORD [rdi + callee], 0
        ; je >slow
        ; mov r8, [rax + environment]
        ; sub r8, [rax + base]
        ; mov r10d, [rcx + ACTIVE]
        ; imul r10, r10, BOX
        ; add r10, [rcx + BOXES]
        ; cmp [r10 + BOX_FRAME], r8
        ; jne >slow
        ; test DWORD [r10 + BOX_MARKS], SILENT
        ; jne >slow
    );
    event(&mut ops, |ops| {
        dynasm!(ops; .arch x64; mov rax, [rdi + CALL_WORD]);
    });
    end(ops, setting)
}

/// Code of the cell behind a call: an exit, after cuts, if the active box was called there;
/// nothing, if no box was.
pub(in super::super) fn returned(setting: &Setting) -> Option<Vec<u8>> {
    let mut ops = begin(setting);
    let &Offsets {
        environment,
        choice,
        base,
        limit,
        engine,
        ..
    } = setting.offsets;
    load_counter(&mut ops, setting.counter);
    dynasm!(ops
        ; .arch x64
        ; mov r8, [rax + environment]
        ; mov r9, [rax + choice]
        ; cmp DWORD [r9], DEBUGGER as i32
        ; je >slow
        ; mov r10, [rax + base]
        ; sub r8, r10
        ; sub r9, r10
        ; lea rsi, [rsi - 8]
        // A clause on the local stack moves.
        ; cmp rsi, r10
        ; jb >fixed
        ; cmp rsi, [rax + limit]
        ; jae >fixed
        ; xor esi, esi
        ; fixed:
    );
    active_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; cmp [r11 + BOX_CALLER], r8
        ; jne >other
        ; cmp [r11 + BOX_RETURN], rsi
        ; jne >other
        ; exits:
        ; test DWORD [r11 + BOX_MARKS], SILENT_OR_VALUES
        ; jne >slow
        ; again:
        ; cmp edx, [r11 + BOX_EXITED]
        ; je >cut
    );
    exited_box(&mut ops);
    dynasm!(ops; .arch x64; cmp [rsi + EXITED_CHOICE], r9; jle >cut);
    cut_newest(&mut ops);
    active_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; jmp <again
        ; cut:
        ; cmp r9, [r11 + BOX_CHOICE]
        ; jg >nondet
        ; mov edx, [rcx + EXITED]
        ; cmp edx, [r11 + BOX_EXITED]
        ; jne >slow
    );
    let exit = exit_det();
    fixed_event(&mut ops, exit.word(), exit.length());
    leave(&mut ops);
    dynasm!(ops
        ; .arch x64
        // The box that called it may return to the same place.
        ; left:
        ; test DWORD [r11 + BOX_MARKS], STACKED
        ; jz >nothing
        ; mov rsi, [r11 + BOX_RETURN]
        ; fs mov rax, [engine]
    );
    active_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; cmp [r11 + BOX_CALLER], r8
        ; jne >nothing
        ; cmp [r11 + BOX_RETURN], rsi
        ; je <exits
        ; jmp >nothing
        // No box was called there if the active one is older than this frame, and so are those
        // that exited and were not called there.
        ; other:
        ; cmp [r11 + BOX_FRAME], r8
        ; jg >slow
        ; test rsi, rsi
        ; jz >nothing
        ; imul rdx, rdx, EXITED_BOX
        ; add rdx, [rcx + EXITED_BOXES_FIRST]
        ; older:
        ; cmp rdx, [rcx + EXITED_BOXES_FIRST]
        ; je >nothing
        ; sub rdx, EXITED_BOX
        ; mov eax, [rdx + EXITED_OPEN]
        ; imul rax, rax, BOX
        ; add rax, [rcx + BOXES]
        ; cmp [rax + BOX_CALLER], r8
        ; jne >elsewhere
        ; cmp [rax + BOX_RETURN], rsi
        ; je >slow
        ; elsewhere:
        ; cmp [rax + BOX_FRAME], r8
        ; jge <older
        ; nothing:
    );
    settle(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; jmp >done
        ; nondet:
        ; mov edx, [rcx + EXITED]
        ; cmp edx, [rcx + EXITED_ROOM]
        ; jae >slow
        ; mov rsi, r9
    );
    watched(&mut ops, setting);
    let exit = exit_nondet();
    fixed_event(&mut ops, exit.word(), exit.length());
    dynasm!(ops
        ; .arch x64
        ; mov r9, rsi
        ; mov edx, [rcx + EXITED]
        ; inc edx
        ; mov [rcx + EXITED], edx
    );
    exited_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; mov [rsi + EXITED_OPEN], r10d
        ; mov eax, [rcx + TOP]
        ; mov [rsi + EXITED_BOXES], eax
        ; mov [rsi + EXITED_CHOICE], r9
        ; mov eax, [r11 + BOX_PARENT]
        ; mov [rcx + ACTIVE], eax
        ; jmp <left
    );
    end(ops, setting)
}

/// Code of a cell at which control resumes after backtracking: failures, and boxes that are
/// entered again. What was cut is left to the handler.
pub(in super::super) fn resumed(setting: &Setting) -> Option<Vec<u8>> {
    let mut ops = begin(setting);
    let &Offsets {
        environment, base, ..
    } = setting.offsets;
    // What resumes next has a stub already, or is looked for by the handler.
    watched(&mut ops, setting);
    dynasm!(ops
        ; .arch x64
        ; mov r8, [rax + environment]
        ; sub r8, [rax + base]
        ; again:
    );
    active_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; cmp edx, [r11 + BOX_EXITED]
        ; jne >inside
        ; cmp [r11 + BOX_FRAME], r8
        ; jle >settled
        ; test DWORD [r11 + BOX_MARKS], SILENT
        ; jne >slow
    );
    let fail = fail();
    fixed_event(&mut ops, fail.word(), fail.length());
    leave(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; jmp <again
        ; inside:
    );
    exited_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; cmp r8, [rsi + EXITED_CHOICE]
        ; jge >slow
        ; mov r10d, [rsi + EXITED_OPEN]
        ; imul r11, r10, BOX
        ; add r11, [rcx + BOXES]
        ; cmp [r11 + BOX_FRAME], r8
        ; jg >slow
        ; test DWORD [r11 + BOX_MARKS], SILENT
        ; jne >slow
    );
    let redo = redo();
    fixed_event(&mut ops, redo.word(), redo.length());
    dynasm!(ops
        ; .arch x64
        ; dec DWORD [rcx + EXITED]
        ; mov [rcx + ACTIVE], r10d
        ; mov eax, [rsi + EXITED_BOXES]
        ; mov [rcx + TOP], eax
        ; jmp <again
        ; settled:
    );
    settle(&mut ops);
    end(ops, setting)
}

/// Code of a cell behind a cut: boxes that exited in the active one are cut if their choicepoints
/// are gone.
pub(in super::super) fn cut_behind(setting: &Setting) -> Option<Vec<u8>> {
    let mut ops = begin(setting);
    let &Offsets { choice, base, .. } = setting.offsets;
    active_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; cmp edx, [r11 + BOX_EXITED]
        ; je >settled
        ; mov r9, [rax + choice]
        ; cmp DWORD [r9], DEBUGGER as i32
        ; je >slow
        ; sub r9, [rax + base]
        ; again:
    );
    exited_box(&mut ops);
    dynasm!(ops; .arch x64; cmp [rsi + EXITED_CHOICE], r9; jle >settled);
    cut_newest(&mut ops);
    active_box(&mut ops);
    dynasm!(ops
        ; .arch x64
        ; cmp edx, [r11 + BOX_EXITED]
        ; jne <again
        ; settled:
    );
    settle(&mut ops);
    end(ops, setting)
}

/// The newest exited box, which is `rsi`, is cut. Goes to `slow` before anything has changed.
/// Changes `rax`, `rdx`.
fn cut_newest(ops: &mut FastCode) {
    dynasm!(ops
        ; .arch x64
        ; mov eax, [rsi + EXITED_OPEN]
        ; imul rax, rax, BOX
        ; add rax, [rcx + BOXES]
        ; test DWORD [rax + BOX_MARKS], SILENT
        ; jne >slow
        ; mov rax, [rcx + STREAM]
        ; test rax, rax
        ; jz >slow
        // A cut right after another joins its event.
        ; mov rdx, [rax + FIELDS.cursor]
        ; cmp rdx, [rax + FIELDS.limit]
        ; jae >slow
        ; cmp rdx, [rax + FIELDS.cut_end]
        ; jne >first
        ; cmp BYTE [rdx - 1], MOST_JOINED
        ; jae >first
        ; inc BYTE [rdx - 1]
        ; jmp >counted
        ; first:
    );
    let event = cut();
    fixed_event(ops, event.word(), event.length());
    dynasm!(ops
        ; .arch x64
        ; mov rax, [rcx + STREAM]
        ; mov rdx, [rax + FIELDS.cursor]
        ; mov [rax + FIELDS.cut_end], rdx
        ; counted:
        ; dec DWORD [rcx + EXITED]
    );
}
