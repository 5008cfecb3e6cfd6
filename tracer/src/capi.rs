//! The C interface. `include/portmortem.h` is generated from this file, `capi/roles.rs` and
//! `inline.h`.
//!
//! No function panics across the border, and each accepts null for what another one failed to give.

mod guard;
pub mod roles;

use std::ffi::c_char;
use std::mem::offset_of;
use std::path::Path;
use std::ptr::{self, NonNull};

use guard::{guarded, set_error, text_of};

use crate::clock;
use crate::format::{
    Arguments, CODE_EXCEPTION, CODE_GAP, CODE_PAUSE, CODE_RESUME, Clause, Dialect, Event, Header,
    Outcome, Roles, Site, StreamKind, TAG_CALL, TAG_CUT, TAG_EXIT_DET, TAG_EXIT_NONDET, TAG_FAIL,
    TAG_REDO, TAG_TAIL,
};
use crate::hot::Hot;
use crate::new_predicate::NewPredicate;
use crate::options::{Keep, Options};
use crate::recorder::Recorder;
use crate::shared::NO_ID;
use crate::slow::Core;
use crate::stream::Stream;

/// The id of a name that could not be recorded, because the recording has ended.
pub const PM_NO_ID: u32 = 0xffff_ffff;

/// A stream is an operating system thread of Prolog.
pub const PM_THREAD: u32 = 0;
/// A stream is a coroutining engine.
pub const PM_ENGINE: u32 = 1;

/// Backtracking into a box reports a redo for every re-entered box, outermost first.
pub const PM_EVERY_REDO: u32 = 0;
/// Backtracking into a box reports a redo for the innermost re-entered box only.
pub const PM_INNERMOST_REDO: u32 = 1;

/// There is no hash of arguments: some argument is a term with a variable in it.
pub const PM_NOT_GROUND: u32 = 0;
/// There is no hash of arguments: there was more of them than is looked at.
pub const PM_TOO_LARGE: u32 = 1;

/// Added to the code of an event that has no tag of its own.
const EXTENDED: u32 = 8;
const EXCEPTION: u32 = EXTENDED + CODE_EXCEPTION as u32;
const PAUSE: u32 = EXTENDED + CODE_PAUSE as u32;
const RESUME: u32 = EXTENDED + CODE_RESUME as u32;
const GAP: u32 = EXTENDED + CODE_GAP as u32;

/// How to record. All zero is a good beginning.
#[derive(Debug)]
#[repr(C)]
pub struct PmOptions {
    /// The engine and its version, e.g. "SWI-Prolog 9.0.4"; may be null.
    pub engine: *const c_char,
    /// The file never grows beyond this many bytes; 0 for no limit, else at least 65536.
    pub max_size: u64,
    /// At the limit, keep the most recent events instead of the first ones.
    pub keep_last: bool,
    /// Replace a file that is already there, unless another recording still writes it.
    pub overwrite: bool,
    /// Every exit is re-enterable (Debray's figures).
    pub byrd: bool,
    /// Last calls have boxes of their own; there are no tail events.
    pub no_tail: bool,
}

/// A recording.
#[derive(Debug)]
pub struct PmRecorder(Recorder);

/// A stream of events. Only the functions of this header use the fields.
#[derive(Debug)]
#[repr(C)]
pub struct PmStream {
    cursor: *mut u8,
    limit: *mut u8,
    payload: *mut u8,
    last_tick: u64,
    events: u64,
    cut_end: *mut u8,
}

const _: () = {
    assert!(size_of::<PmStream>() == size_of::<Hot>());
    assert!(offset_of!(PmStream, cursor) == offset_of!(Hot, cursor));
    assert!(offset_of!(PmStream, limit) == offset_of!(Hot, limit));
    assert!(offset_of!(PmStream, payload) == offset_of!(Hot, payload));
    assert!(offset_of!(PmStream, last_tick) == offset_of!(Hot, last_tick));
    assert!(offset_of!(PmStream, events) == offset_of!(Hot, events));
    assert!(offset_of!(PmStream, cut_end) == offset_of!(Hot, cut_end));
    assert!(offset_of!(Core, hot) == 0);
    assert!(PM_NO_ID == NO_ID);
};

/// # Safety
/// `recorder` is null or from [`pm_open`] and not closed.
unsafe fn recorder_of<'a>(recorder: *const PmRecorder) -> Option<&'a Recorder> {
    // SAFETY: as the caller promises.
    unsafe { recorder.as_ref() }.map(|recorder| &recorder.0)
}

/// The id that `make` gives, which gets the text if there is one.
///
/// # Safety
/// `recorder` is null or open; `text` is null or a string.
unsafe fn id_with(
    recorder: *const PmRecorder,
    text: *const c_char,
    make: impl FnOnce(&Recorder, Option<String>) -> u32,
) -> u32 {
    guarded(PM_NO_ID, || {
        // SAFETY: as the caller promises.
        let (recorder, text) = unsafe { (recorder_of(recorder), text_of(text)) };
        recorder.map_or(PM_NO_ID, |recorder| make(recorder, text))
    })
}

/// The stream behind a pointer that C has, without the right to drop it.
///
/// # Safety
/// `stream` is from [`pm_stream_begin`] and not ended.
unsafe fn core_of<'a>(stream: *mut PmStream) -> &'a Core {
    // SAFETY: as the caller promises; `PmStream` is the beginning of a `Core`.
    unsafe { &*stream.cast::<Core>() }
}

/// Begins a recording in a new file. Returns null on failure; `pm_error_message` says why.
///
/// # Safety
/// `path` is a string; `options` is null or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_open(
    path: *const c_char,
    options: *const PmOptions,
) -> *mut PmRecorder {
    guarded(ptr::null_mut(), || {
        // SAFETY: as the caller promises.
        let (path, options) = unsafe { (text_of(path), options.as_ref()) };
        let Some(path) = path else {
            set_error("pm_open: no path");
            return ptr::null_mut();
        };
        // SAFETY: as the caller promises.
        let engine = options.and_then(|options| unsafe { text_of(options.engine) });
        let mut header = Header::of_this_process(engine.as_deref().unwrap_or("unknown engine"));
        let mut chosen = Options::default();
        if let Some(options) = options {
            header.mode.byrd = options.byrd;
            header.mode.no_tail = options.no_tail;
            chosen.max_size = (options.max_size != 0).then_some(options.max_size);
            chosen.keep = if options.keep_last {
                Keep::Last
            } else {
                Keep::First
            };
            chosen.overwrite = options.overwrite;
        }
        match Recorder::create(Path::new(&path), &header, &chosen) {
            Ok(recorder) => Box::into_raw(Box::new(PmRecorder(recorder))),
            Err(error) => {
                set_error(&error.to_string());
                ptr::null_mut()
            }
        }
    })
}

/// Why the last call of this thread that failed did so. Valid until the next one fails.
#[unsafe(no_mangle)]
pub extern "C" fn pm_error_message() -> *const c_char {
    guard::error()
}

/// Makes a predicate known and gives its id: 0, 1, ... in the order of the calls. `file` may be
/// null, `line` 0.
///
/// # Safety
/// `recorder` is null or open; the other pointers are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_predicate(
    recorder: *const PmRecorder,
    module: *const c_char,
    name: *const c_char,
    arity: u32,
    file: *const c_char,
    line: u32,
) -> u32 {
    // SAFETY: as the caller promises.
    unsafe { pm_predicate_with_roles(recorder, module, name, arity, file, line, 0) }
}

/// Makes a predicate known as `pm_predicate` does: `roles` is a sum of `PM_COLLECTION` and others.
///
/// # Safety
/// `recorder` is null or open; the other pointers are null or strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_predicate_with_roles(
    recorder: *const PmRecorder,
    module: *const c_char,
    name: *const c_char,
    arity: u32,
    file: *const c_char,
    line: u32,
    roles: u32,
) -> u32 {
    // SAFETY: as the caller promises.
    let (module, name) = unsafe { (text_of(module), text_of(name)) };
    let (module, name) = (module.unwrap_or_default(), name.unwrap_or_default());
    let roles = Roles::from_bits(roles);
    let predicate = |recorder: &Recorder, file: Option<String>| {
        recorder.predicate(NewPredicate {
            file: file.as_deref(),
            line,
            roles,
            ..NewPredicate::named(&module, &name, arity)
        })
    };
    // SAFETY: as the caller promises.
    unsafe { id_with(recorder, file, predicate) }
}

/// Makes a goal of a clause known and gives its id, the same for the same goal: a call or a last call of
/// that id is one of the predicate `callee`, from there. `clause` counts the clauses of the predicate
/// `caller` from 1, `goal` the goals of that clause from 1, in the order in which they are written. `file` may be
/// null if it is that of the caller, `line` 0.
///
/// # Safety
/// `recorder` is null or open; `file` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_site(
    recorder: *const PmRecorder,
    callee: u32,
    caller: u32,
    clause: u32,
    goal: u32,
    file: *const c_char,
    line: u32,
) -> u32 {
    let site = |recorder: &Recorder, file: Option<String>| {
        recorder.site(Site {
            callee,
            caller,
            clause,
            goal,
            line,
            file: file.map(|path| recorder.file(&path)),
            then_fails: false,
        })
    };
    // SAFETY: as the caller promises.
    unsafe { id_with(recorder, file, site) }
}

/// Makes a clause known and gives its id for `pm_in_clause`, the same for the same clause: 0, 1,
/// ... `number` counts the clauses of the predicate from 1. `file` may be null if it is that of
/// the predicate, `line` 0.
///
/// # Safety
/// `recorder` is null or open; `file` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_clause(
    recorder: *const PmRecorder,
    predicate: u32,
    number: u32,
    file: *const c_char,
    line: u32,
) -> u32 {
    let clause = |recorder: &Recorder, file: Option<String>| {
        recorder.clause(Clause {
            predicate,
            number,
            line,
            file: file.map(|path| recorder.file(&path)),
        })
    };
    // SAFETY: as the caller promises.
    unsafe { id_with(recorder, file, clause) }
}

/// Says that each call of a predicate is followed by `pm_arguments_hash` or `pm_arguments_unknown`.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_keeps_arguments(recorder: *const PmRecorder, predicate: u32) {
    guarded((), || {
        // SAFETY: as the caller promises.
        if let Some(recorder) = unsafe { recorder_of(recorder) } {
            recorder.keeps_arguments(predicate);
        }
    });
}

/// Makes a text known and gives its id, the same for the same text.
///
/// # Safety
/// `recorder` is null or open; `text` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_text(recorder: *const PmRecorder, text: *const c_char) -> u32 {
    let known =
        |recorder: &Recorder, text: Option<String>| recorder.text(&text.unwrap_or_default());
    // SAFETY: as the caller promises.
    unsafe { id_with(recorder, text, known) }
}

/// Makes a cost centre known and gives its id, the same for the same name: entering and leaving it
/// are the ports of a box of this id.
///
/// # Safety
/// `recorder` is null or open; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_cost_center(recorder: *const PmRecorder, name: *const c_char) -> u32 {
    let center =
        |recorder: &Recorder, name: Option<String>| recorder.cost_center(&name.unwrap_or_default());
    // SAFETY: as the caller promises.
    unsafe { id_with(recorder, name, center) }
}

/// Declares that every box of a predicate is in a cost centre.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_in_cost_center(
    recorder: *const PmRecorder,
    predicate: u32,
    center: u32,
) {
    guarded((), || {
        // SAFETY: as the caller promises.
        if let Some(recorder) = unsafe { recorder_of(recorder) } {
            recorder.in_cost_center(predicate, center);
        }
    });
}

/// Adds something that the reader of a report should know.
///
/// # Safety
/// `recorder` is null or open; `text` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_note(recorder: *const PmRecorder, text: *const c_char) {
    guarded((), || {
        // SAFETY: as the caller promises.
        if let (Some(recorder), Some(text)) = unsafe { (recorder_of(recorder), text_of(text)) } {
            recorder.note(&text);
        }
    });
}

/// Begins a stream. Only one thread at a time may use it. Null if `recorder` is.
///
/// # Safety
/// `recorder` is null or open; `name` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_stream_begin(
    recorder: *const PmRecorder,
    kind: u32,
    name: *const c_char,
    dialect: u32,
) -> *mut PmStream {
    guarded(ptr::null_mut(), || {
        // SAFETY: as the caller promises.
        let (recorder, name) = unsafe { (recorder_of(recorder), text_of(name)) };
        let Some(recorder) = recorder else {
            return ptr::null_mut();
        };
        let kind = if kind == PM_ENGINE {
            StreamKind::Engine
        } else {
            StreamKind::Thread
        };
        let dialect = match dialect {
            PM_INNERMOST_REDO => Dialect::InnermostRedo,
            _ => Dialect::EveryRedo,
        };
        recorder
            .stream(kind, &name.unwrap_or_default(), dialect)
            .into_raw()
            .as_ptr()
            .cast()
    })
}

/// Ends a stream, which must not be used any more. This may happen after `pm_close`.
///
/// # Safety
/// `stream` is null or was begun and not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_stream_end(stream: *mut PmStream) {
    guarded((), || {
        if let Some(core) = NonNull::new(stream.cast::<Core>()) {
            // SAFETY: as the caller promises.
            drop(unsafe { Stream::from_raw(core) });
        }
    });
}

/// The slow path of the functions below: not to be called by itself.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_stream_slow(
    stream: *mut PmStream,
    now: u64,
    event: u32,
    argument: u64,
) {
    const CALL: u32 = TAG_CALL as u32;
    const TAIL: u32 = TAG_TAIL as u32;
    const EXIT_DET: u32 = TAG_EXIT_DET as u32;
    const EXIT_NONDET: u32 = TAG_EXIT_NONDET as u32;
    const REDO: u32 = TAG_REDO as u32;
    const FAIL: u32 = TAG_FAIL as u32;
    const CUT: u32 = TAG_CUT as u32;
    let small = argument as u32;
    let event = match event {
        CALL => Event::Call { predicate: small },
        TAIL => Event::Tail { predicate: small },
        EXIT_DET => Event::ExitDet,
        EXIT_NONDET => Event::ExitNondet,
        REDO => Event::Redo,
        FAIL => Event::Fail,
        CUT => Event::Cut { count: small },
        EXCEPTION => Event::Exception,
        PAUSE => Event::Pause,
        RESUME => Event::Resume,
        GAP => Event::Gap { lost: argument },
        _ => return,
    };
    // SAFETY: as the caller promises.
    guarded((), || unsafe { core_of(stream) }.slow(event, now));
}

/// The predicate that was called last in the active box enters a clause, from `pm_clause`.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_in_clause(stream: *mut PmStream, clause: u32) {
    // SAFETY: as the caller promises.
    unsafe { note(stream, Event::Clause { clause }) };
}

/// An argument of the last call, from 1, is an integer. Comes before `pm_arguments_hash` or
/// `pm_arguments_unknown`.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_argument_integer(stream: *mut PmStream, argument: u8, value: i64) {
    let size = Arguments::Integer { argument, value };
    // SAFETY: as the caller promises.
    unsafe { note(stream, Event::Arguments(size)) };
}

/// An argument of the last call, from 1, is a proper list of that length. Comes before
/// `pm_arguments_hash` or `pm_arguments_unknown`.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_argument_list(stream: *mut PmStream, argument: u8, length: u64) {
    let size = Arguments::List { argument, length };
    // SAFETY: as the caller promises.
    unsafe { note(stream, Event::Arguments(size)) };
}

/// What the last call was made with: each argument is ground or unbound, and this is a hash of all
/// of them, and of which are unbound and the same variable.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_arguments_hash(stream: *mut PmStream, hash: u64) {
    // SAFETY: as the caller promises.
    unsafe { note(stream, Event::Arguments(Arguments::Hash(hash))) };
}

/// The last call was made with something that has no hash: `PM_NOT_GROUND` or `PM_TOO_LARGE`.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_arguments_unknown(stream: *mut PmStream, why: u32) {
    let arguments = match why {
        PM_TOO_LARGE => Arguments::TooLarge,
        _ => Arguments::NotGround,
    };
    // SAFETY: as the caller promises.
    unsafe { note(stream, Event::Arguments(arguments)) };
}

/// # Safety
/// As for [`pm_in_clause`].
unsafe fn note(stream: *mut PmStream, event: Event) {
    let now = clock::ticks();
    // SAFETY: as the caller promises.
    guarded((), || unsafe { core_of(stream) }.slow(event, now));
}

/// A remark of the traced program, at this moment.
///
/// # Safety
/// `stream` was begun and not ended, and no other thread uses it; `text` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_mark(stream: *mut PmStream, text: *const c_char) {
    let now = clock::ticks();
    guarded((), || {
        // SAFETY: as the caller promises.
        let (core, text) = unsafe { (core_of(stream), text_of(text)) };
        core.mark(&text.unwrap_or_default(), now);
    });
}

/// The clock of events.
#[unsafe(no_mangle)]
pub extern "C" fn pm_ticks() -> u64 {
    clock::ticks()
}

/// Whether the limit or a full disk has cost events.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_is_full(recorder: *const PmRecorder) -> bool {
    guarded(false, || {
        // SAFETY: as the caller promises.
        let recorder = unsafe { recorder_of(recorder) };
        recorder.is_some_and(Recorder::is_full)
    })
}

/// Ends the recording: the process is about to exit with `status`. Returns 0, or -1 if the end could
/// not be written. The recorder must not be used any more; streams may, to no effect.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_close(recorder: *mut PmRecorder, status: i32) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { close(recorder, Outcome::Exited(status)) }
}

/// Ends the recording as `pm_close` does: the program goes on unrecorded.
///
/// # Safety
/// `recorder` is null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pm_stop(recorder: *mut PmRecorder) -> i32 {
    // SAFETY: as the caller promises.
    unsafe { close(recorder, Outcome::Stopped) }
}

/// # Safety
/// `recorder` is null or open.
unsafe fn close(recorder: *mut PmRecorder, outcome: Outcome) -> i32 {
    guarded(-1, || {
        if recorder.is_null() {
            return 0;
        }
        // SAFETY: from `pm_open`, and the caller gives it up.
        let recorder = unsafe { Box::from_raw(recorder) };
        match recorder.0.close(outcome) {
            Ok(()) => 0,
            Err(error) => {
                set_error(&error.to_string());
                -1
            }
        }
    })
}
