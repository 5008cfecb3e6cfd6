//! Machine code for the commonest events: a call, a last call, an exit, a failure, a redo, a cut.
//!
//! It does what the handlers do where nothing is unusual, in the same order, and with a few registers only. Wherever anything is
//! unusual it leaves everything as it was, and goes on to the gate of the handler.

use std::mem::offset_of;

use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use portmortem_tracer::machine_code::{
    COMMITTED, FIELDS, MOST_JOINED, TICKS, TICKS_SHIFT, cut, exit_det, exit_nondet, fail, redo,
};

use super::emit::{self, Counter, ThreadBlock};
use super::instructions::Cell;
use super::offsets::{CLAUSE, DEBUGGER, FRAME_DEFINITION, FRAME_PARENT, FRAME_RETURN, Offsets};
use super::plant::Place;
use super::shadow::{NOT_QUIET, OpenBox, Shadow, exited, mark};
use super::stack::Stack;

type Code = VecAssembler<X64Relocation>;

/// Registers that this code saves, in bytes.
const SAVED: i32 = 8 * 8;

const QUIET: i32 = offset_of!(Shadow, quiet) as i32;
const ANNOUNCED: i32 = offset_of!(Shadow, announced) as i32;
const EXPECTED: i32 = offset_of!(Shadow, expected) as i32;
const STREAM: i32 = offset_of!(Shadow, stream) as i32;
const ACTIVE: i32 = offset_of!(Shadow, active) as i32;
const EXITED: i32 = (exited::STACK + offset_of!(Stack<OpenBox>, length)) as i32;
const EXITED_ROOM: i32 = (exited::STACK + offset_of!(Stack<OpenBox>, capacity)) as i32;
const EXITED_BOXES_FIRST: i32 = (exited::STACK + offset_of!(Stack<OpenBox>, first)) as i32;
const EXITED_BOX: i32 = exited::SIZE as i32;
const EXITED_OPEN: i32 = exited::OPEN as i32;
const EXITED_BOXES: i32 = exited::BOXES as i32;
const EXITED_CHOICE: i32 = exited::CHOICE as i32;
const BOXES: i32 = offset_of!(Shadow, boxes) as i32 + offset_of!(Stack<OpenBox>, first) as i32;
const TOP: i32 = offset_of!(Shadow, boxes) as i32 + offset_of!(Stack<OpenBox>, length) as i32;
const ROOM: i32 = offset_of!(Shadow, boxes) as i32 + offset_of!(Stack<OpenBox>, capacity) as i32;

const BOX: i32 = size_of::<OpenBox>() as i32;
const BOX_FRAME: i32 = offset_of!(OpenBox, frame) as i32;
const BOX_CALLER: i32 = offset_of!(OpenBox, caller) as i32;
const BOX_CHOICE: i32 = offset_of!(OpenBox, choice) as i32;
const BOX_RETURN: i32 = offset_of!(OpenBox, returns_to) as i32;
const BOX_PARENT: i32 = offset_of!(OpenBox, parent) as i32;
const BOX_EXITED: i32 = offset_of!(OpenBox, exited) as i32;
const BOX_MARKS: i32 = offset_of!(OpenBox, marks) as i32;
const SILENT: i32 = mark::SILENT as i32;
const STACKED: i32 = mark::STACKED as i32;
const BOX_BOUNDARY: i32 = offset_of!(OpenBox, boundary) as i32;
const BOX_GIVEN: i32 = offset_of!(OpenBox, given) as i32;

const CALLEE: i32 = Place::CALLEE as i32;
const CALL_WORD: i32 = offset_of!(Place, call_word) as i32;
const TAIL_WORD: i32 = offset_of!(Place, tail_word) as i32;
const EVENT_LENGTH: i32 = offset_of!(Place, event_length) as i32;
const INSTRUCTION_LENGTH: i32 = offset_of!(Place, length) as i32;
const SILENCE: i32 = offset_of!(Place, silence) as i32;
const MARKS: i32 = offset_of!(Place, marks) as i32;
const BOUNDARY: i32 = MARKS + size_of::<u32>() as i32;
const GIVEN: i32 = offset_of!(Place, given) as i32;
const KEEPS: i32 = offset_of!(Place, keeps) as i32;

/// What gates of fast code are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting {
    /// Where the code is executed.
    pub(super) at: usize,
    pub(super) counter: Counter,
    pub(super) offsets: &'static Offsets,
    /// Cells below this have no stub.
    pub(super) first_stub: Cell,
    /// The gate of the handler.
    pub(super) slow: usize,
}

/// Where the definition that an instruction calls is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Callee {
    /// The instruction says no other each time.
    Fixed,
    /// The operand of that number is a procedure.
    Operand(u8),
}

/// When a call is a last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Departs {
    Never,
    /// If the engine finds no choicepoint newer than the frame.
    IfDet,
    Always,
}

/// Code of a call.
pub(super) fn call(setting: &Setting, callee: Callee, departs: Departs) -> Option<Vec<u8>> {
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
    let (choice_frame, choice_value) = (offsets.choice_frame as i32, offsets.choice_value as i32);
    let (clause, codes) = (offsets.clause as i32, offsets.codes as i32);
    let first_stub = setting.first_stub as i64;
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
            // If the clause has alternatives, there is a stub where the next one begins.
            ; cmp r8, [r9 + choice_frame]
            ; jne >watched
            ; cmp DWORD [r9], CLAUSE as i32
            ; jne >watched
            ; mov rdx, [r9 + choice_value]
            ; mov rdx, [rdx + clause]
            ; mov r10, QWORD first_stub
            ; cmp [rdx + codes], r10
            ; jb >slow
            ; watched:
            // A clause on the local stack moves, so its boxes return nowhere. If it has opened the active box, that
            // is for the handler to mark.
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

/// A last call in a frame that is not the one of the active box, as in a body that `call/1` has made: a box opens in the same frame.
fn enter(ops: &mut Code, setting: &Setting) {
    let &Offsets {
        environment,
        choice,
        base,
        limit,
        ..
    } = setting.offsets;
    let (parent, returns_to) = (FRAME_PARENT as i32, FRAME_RETURN as i32);
    let definition = FRAME_DEFINITION as i32;
    let catch = super::catch_definition() as i64;
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

/// A box opens for the place in `rdi`: its number is `r10d`, its frame `r11`, the caller's `r8`, the newest choicepoint `r9`, and
/// it returns to `rax`. Changes `rax`, `rdx`, `r10`.
fn open_box(ops: &mut Code) {
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

/// Code of a cell at which a clause has been entered.
pub(super) fn entered(setting: &Setting) -> Option<Vec<u8>> {
    let mut ops = begin(setting);
    let callee = Place::CALLEE as i32;
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

/// Code of the cell behind a call: an exit, after cuts, if the active box was called there; nothing, if no box was.
pub(super) fn returned(setting: &Setting) -> Option<Vec<u8>> {
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
        ; test DWORD [r11 + BOX_MARKS], SILENT
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
        // No box was called there if the active one is older than this frame, and so are those that exited and were
        // not called there.
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

/// Code of a cell at which control resumes after backtracking: failures, and boxes that are entered again. What was cut is left to the handler.
pub(super) fn resumed(setting: &Setting) -> Option<Vec<u8>> {
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

/// Code of a cell behind a cut: boxes that exited in the active one are cut if their choicepoints are gone.
pub(super) fn cut_behind(setting: &Setting) -> Option<Vec<u8>> {
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

/// The newest exited box, which is `rsi`, is cut. Goes to `slow` before anything has changed. Changes `rax`, `rdx`.
fn cut_newest(ops: &mut Code) {
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

/// The active box is `r11`, and its number `r10d`; `edx` is the number of exited boxes.
fn active_box(ops: &mut Code) {
    dynasm!(ops
        ; .arch x64
        ; mov r10d, [rcx + ACTIVE]
        ; imul r11, r10, BOX
        ; add r11, [rcx + BOXES]
        ; mov edx, [rcx + EXITED]
    );
}

/// The newest of `edx` exited boxes is `rsi`. Changes `rdx`.
fn exited_box(ops: &mut Code) {
    dynasm!(ops
        ; .arch x64
        ; imul rsi, rdx, EXITED_BOX
        ; add rsi, [rcx + EXITED_BOXES_FIRST]
        ; sub rsi, EXITED_BOX
    );
}

/// Goes to `slow` unless the newest choicepoint resumes at a stub.
fn watched(ops: &mut Code, setting: &Setting) {
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

/// Saves registers, and goes to `slow` unless the engine that runs is the one of the shadow, and is recorded.
fn begin(setting: &Setting) -> Code {
    let mut ops = Code::new(setting.at);
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
fn load_counter(ops: &mut Code, counter: Counter) {
    match counter {
        Counter::Register(7) => dynasm!(ops; .arch x64; mov rsi, [rsp + SAVED + 8]),
        Counter::Register(0) => dynasm!(ops; .arch x64; mov rsi, [rsp + 56]),
        Counter::Register(1) => dynasm!(ops; .arch x64; mov rsi, [rsp + 48]),
        Counter::Register(4) => {}
        Counter::Register(number) => dynasm!(ops; .arch x64; mov rsi, Rq(number)),
        Counter::Stack(words) => {
            let at = SAVED + emit::ABOVE_RETURN + 8 * i32::from(words);
            dynasm!(ops; .arch x64; mov rsi, [rsp + at]);
        }
    }
}

/// Writes the event whose word `load` puts into `rax`; its length is that of the place. Goes to `slow` before anything has changed. Changes `rax`, `rdx`.
fn event(ops: &mut Code, load: impl FnOnce(&mut Code)) {
    clock(ops);
    load(ops);
    dynasm!(ops; .arch x64; or rdx, rax; mov rax, [rdi + EVENT_LENGTH]);
    store(ops);
}

fn fixed_event(ops: &mut Code, word: u64, length: usize) {
    clock(ops);
    let (word, length) = (word as i32, length as i32);
    dynasm!(ops; .arch x64; or rdx, word; mov eax, length);
    store(ops);
}

/// Leaves the shifted ticks since the last event in `rdx`, the tick on the stack, and the stream's address below it.
fn clock(ops: &mut Code) {
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
fn store(ops: &mut Code) {
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
fn leave(ops: &mut Code) {
    dynasm!(ops
        ; .arch x64
        ; mov [rcx + TOP], r10d
        ; mov eax, [r11 + BOX_PARENT]
        ; mov [rcx + ACTIVE], eax
    );
}

/// What stubs compare is set again: [`Shadow::settle`]. Changes `rax`, `rdx`.
fn settle(ops: &mut Code) {
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

fn end(mut ops: Code, setting: &Setting) -> Option<Vec<u8>> {
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
