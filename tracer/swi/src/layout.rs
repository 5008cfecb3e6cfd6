//! Where the engine keeps what the ports at goals look at: found by looking, once in a process.
//!
//! A port at a goal asks the foreign interface nothing, because a call of it costs as much as the
//! event. It reads five things where they lie: which engine runs, which port was called, whether
//! an exception is on its way, the newest choicepoint, and of a choicepoint its kind, the one
//! before and its frame. Where they lie differs between versions. `portmortem_goals.pl` calls
//! [`look`] in states that it can describe by documented means; an offset counts as known if it
//! was right every time. Until all are known, and wherever they cannot be found, no clause gets
//! such ports.

use std::ffi::c_void;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ffi::{self, Control, FALSE, Foreign, TRUE, Term, exception_is_pending};

/// Words of the handle of a foreign call that are looked at.
const HANDLE_WORDS: usize = 4;
/// Words of the engine's data: less than a third of it in the oldest version.
const ENGINE_WORDS: usize = 256;
/// Words of a choicepoint.
const CHOICE_WORDS: usize = 12;
const WORD: usize = size_of::<usize>();

/// An offset that is not known.
const UNKNOWN: usize = usize::MAX;

/// The kind of choicepoint that the debugger makes at every call: nothing can be redone there.
const DEBUGGER: u32 = 4;

static ENGINE: AtomicUsize = AtomicUsize::new(UNKNOWN);
static PORT: AtomicUsize = AtomicUsize::new(UNKNOWN);
static NEWEST: AtomicUsize = AtomicUsize::new(UNKNOWN);
static PARENT: AtomicUsize = AtomicUsize::new(UNKNOWN);
static FRAME: AtomicUsize = AtomicUsize::new(UNKNOWN);
static EXCEPTION: AtomicUsize = AtomicUsize::new(UNKNOWN);
static ENVIRONMENT: AtomicUsize = AtomicUsize::new(UNKNOWN);
static BASE: AtomicUsize = AtomicUsize::new(UNKNOWN);

/// Offsets that have been right so far.
#[derive(Clone, Copy)]
struct OffsetCandidates<const WORDS: usize>([bool; WORDS]);

impl<const WORDS: usize> OffsetCandidates<WORDS> {
    const ALL: Self = Self([true; WORDS]);

    /// Keeps those where `wanted` lies.
    ///
    /// # Safety
    /// `WORDS` words can be read at `at`.
    unsafe fn look(&mut self, at: *const u8, wanted: usize) {
        for (word, right) in self.0.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *right &= unsafe { at.cast::<usize>().add(word).read_unaligned() } == wanted;
        }
    }

    /// The only one left.
    fn only(&self) -> Option<usize> {
        let right = self.0.iter().filter(|&&right| right).count();
        (right == 1).then(|| self.first())?
    }

    /// The first one left.
    fn first(&self) -> Option<usize> {
        self.0
            .iter()
            .position(|&right| right)
            .map(|word| word * WORD)
    }
}

struct LayoutSearch {
    looks: usize,
    engine: OffsetCandidates<HANDLE_WORDS>,
    port: OffsetCandidates<HANDLE_WORDS>,
    newest: OffsetCandidates<ENGINE_WORDS>,
    parent: OffsetCandidates<CHOICE_WORDS>,
    frame: OffsetCandidates<CHOICE_WORDS>,
    exception: OffsetCandidates<ENGINE_WORDS>,
    environment: OffsetCandidates<ENGINE_WORDS>,
    base: OffsetCandidates<ENGINE_WORDS>,
}

static SEARCH: Mutex<LayoutSearch> = Mutex::new(LayoutSearch {
    looks: 0,
    engine: OffsetCandidates::ALL,
    port: OffsetCandidates::ALL,
    newest: OffsetCandidates::ALL,
    parent: OffsetCandidates::ALL,
    frame: OffsetCandidates::ALL,
    exception: OffsetCandidates::ALL,
    environment: OffsetCandidates::ALL,
    base: OffsetCandidates::ALL,
});

/// `look(+Frame, +Choice, +Parent, +ChoiceFrame)`: the clause that calls runs in `Frame`, the
/// newest choicepoint is `Choice`, the one before it `Parent`, and it belongs to
/// `ChoiceFrame`. Fails if what these are cannot be found.
pub(crate) extern "C" fn look(arguments: Term, _arity: i32, handle: Control) -> Foreign {
    let mut context = ffi::FrameContext::EMPTY;
    if !context.fill() {
        return FALSE;
    }
    let engine = context.engine as usize;
    let running = context.frame as usize;
    if !context.step() {
        return FALSE;
    }
    let place = |argument: usize| -> usize {
        let mut value = 0;
        // SAFETY: terms of our own argument list.
        unsafe { ffi::PL_get_int64(arguments + argument, &raw mut value) };
        value as usize * WORD
    };
    let base = (context.frame as usize).wrapping_sub(place(0));
    let choice = base.wrapping_add(place(1));
    let parent = base.wrapping_add(place(2));
    let frame = base.wrapping_add(place(3));
    // SAFETY: a handle, of which the first field of the procedure is what the handle refers to.
    let procedure = unsafe { ffi::PL_foreign_context_predicate(handle) };
    if procedure.is_null() {
        return FALSE;
    }
    // SAFETY: a procedure begins with a pointer to its definition.
    let definition = unsafe { procedure.cast::<usize>().read() };
    let Ok(mut search) = SEARCH.lock() else {
        return FALSE;
    };
    search.looks += 1;
    // SAFETY: the handle and the engine's data are larger than what is read; so is the newest
    // choicepoint, which is followed by at least the frame that runs.
    unsafe {
        search.engine.look(handle.cast(), engine);
        search.port.look(handle.cast(), definition);
        search.newest.look(engine as *const u8, choice);
        search.parent.look(choice as *const u8, parent);
        search.frame.look(choice as *const u8, frame);
        search.exception.look(engine as *const u8, 0);
        search.environment.look(engine as *const u8, running);
        search.base.look(engine as *const u8, base);
    }
    TRUE
}

/// `look_pending`: raises an exception, to find where one is kept that is on its way, and takes
/// it back.
pub(crate) fn look_pending() -> Foreign {
    let mut context = ffi::FrameContext::EMPTY;
    let Ok(mut search) = SEARCH.lock() else {
        return FALSE;
    };
    if exception_is_pending() || !context.fill() {
        return FALSE;
    }
    // SAFETY: a term made here; the engine's data is larger than what is read.
    unsafe {
        let exception = ffi::PL_new_term_ref();
        if !ffi::truth(ffi::PL_put_atom_chars(exception, c"portmortem".as_ptr())) {
            return FALSE;
        }
        let _ = ffi::PL_raise_exception(exception);
        let pending = ffi::PL_exception(0);
        search.exception.look(context.engine.cast(), pending);
        ffi::PL_clear_exception();
        search.exception.look(context.engine.cast(), 0);
        Foreign::from(pending != 0)
    }
}

/// `known`: ends the search. Succeeds if everything was found.
pub(crate) fn known() -> Foreign {
    Foreign::from(SEARCH.lock().is_ok_and(|search| search.end().is_some()))
}

impl LayoutSearch {
    fn end(&self) -> Option<()> {
        const ENOUGH: usize = 4;
        if self.looks < ENOUGH {
            return None;
        }
        let found = [
            (&ENGINE, self.engine.only()?),
            (&PORT, self.port.only()?),
            (&NEWEST, self.newest.only()?),
            (&PARENT, self.parent.only()?),
            // The frame that follows a choicepoint begins with its parent, which may be the frame
            // of the choicepoint.
            (&FRAME, self.frame.first()?),
            // If it is not known, the engine is asked: see `is_exception_pending`.
            (&EXCEPTION, self.exception.only().unwrap_or(UNKNOWN)),
            // Only stubs need these two. The base of the local stack lies before its top, and may
            // lie among other bases again.
            (&ENVIRONMENT, self.environment.first().unwrap_or(UNKNOWN)),
            (&BASE, self.base.first().unwrap_or(UNKNOWN)),
        ];
        for (place, offset) in found {
            place.store(offset, Ordering::Relaxed);
        }
        Some(())
    }
}

/// Offsets of the engine's data and of choicepoints, for code that reads them itself.
pub(crate) struct Places {
    /// In the engine's data: the running frame, the newest choicepoint, the base of the local
    /// stack.
    pub(crate) environment: usize,
    pub(crate) choice: usize,
    pub(crate) base: usize,
    /// In a choicepoint: the one before, and its frame.
    pub(crate) choice_parent: usize,
    pub(crate) choice_frame: usize,
}

/// The offsets, if all of them are known.
pub(crate) fn places() -> Option<Places> {
    let known = |place: &AtomicUsize| match place.load(Ordering::Relaxed) {
        UNKNOWN => None,
        offset => Some(offset),
    };
    Some(Places {
        environment: known(&ENVIRONMENT)?,
        choice: known(&NEWEST)?,
        base: known(&BASE)?,
        choice_parent: known(&PARENT)?,
        choice_frame: known(&FRAME)?,
    })
}

/// # Safety
/// A word can be read there.
#[inline(always)]
unsafe fn word(start: *const c_void, offset: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { start.cast::<u8>().add(offset).cast::<usize>().read() }
}

/// The engine that calls a port.
#[derive(Clone, Copy)]
pub(crate) struct CallingEngine(*mut c_void);

impl CallingEngine {
    /// # Safety
    /// `handle` is what the engine passed, and the layout is known: no port is called before.
    #[inline(always)]
    pub(crate) unsafe fn of(handle: Control) -> Self {
        // SAFETY: the caller's promise.
        Self(unsafe { word(handle, ENGINE.load(Ordering::Relaxed)) as *mut c_void })
    }

    /// The same where the layout may not be known.
    ///
    /// # Safety
    /// `handle` is what the engine passed.
    #[inline(always)]
    pub(crate) unsafe fn if_known(handle: Control) -> Option<Self> {
        let known = ENGINE.load(Ordering::Relaxed) != UNKNOWN;
        // SAFETY: the caller's promise.
        known.then(|| unsafe { Self::of(handle) })
    }

    /// The address of the engine's data.
    #[inline(always)]
    pub(crate) fn data(self) -> *mut c_void {
        self.0
    }

    /// [`exception_is_pending`], for this engine.
    #[inline(always)]
    pub(crate) fn has_exception(self) -> bool {
        let place = EXCEPTION.load(Ordering::Relaxed);
        if place == UNKNOWN {
            return exception_is_pending();
        }
        // SAFETY: the engine's data.
        unsafe { word(self.0, place) != 0 }
    }

    /// The newest choicepoint.
    #[inline(always)]
    pub(crate) fn newest_choice(self) -> Choicepoint {
        // SAFETY: the engine's data, and a choicepoint: a query begins with one.
        unsafe {
            Choicepoint(word(self.0, NEWEST.load(Ordering::Relaxed)) as *const c_void).or_older()
        }
    }
}

/// Tells the port that was called from all others.
///
/// # Safety
/// As for [`CallingEngine::of`].
#[inline(always)]
pub(crate) unsafe fn port_of(handle: Control) -> usize {
    // SAFETY: the caller's promise.
    unsafe { word(handle, PORT.load(Ordering::Relaxed)) }
}

/// A choicepoint of the calling engine that something can be redone at.
#[derive(Clone, Copy)]
pub(crate) struct Choicepoint(*const c_void);

impl Choicepoint {
    /// The one before it.
    ///
    /// # Safety
    /// There is one, and none has been removed since the newest was asked for.
    #[inline(always)]
    pub(crate) unsafe fn older(self) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self(word(self.0, PARENT.load(Ordering::Relaxed)) as *const c_void).or_older() }
    }

    /// # Safety
    /// It is not null.
    #[inline(always)]
    unsafe fn or_older(self) -> Self {
        let mut at = self;
        // SAFETY: a choicepoint begins with its kind, and the oldest is not one of the debugger's.
        unsafe {
            while at.0.cast::<u32>().read() == DEBUGGER {
                at = Self(word(at.0, PARENT.load(Ordering::Relaxed)) as *const c_void);
            }
        }
        at
    }

    /// The address of the frame that it belongs to.
    ///
    /// # Safety
    /// It is not null.
    #[inline(always)]
    pub(crate) unsafe fn frame(self) -> usize {
        // SAFETY: the caller's promise.
        unsafe { word(self.0, FRAME.load(Ordering::Relaxed)) }
    }

    /// Where it lies.
    #[inline(always)]
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }
}
