//! What is kept of a box while it is open.

use super::sites::Given;

/// A frame or a choicepoint: its distance from the base of the local stack.
pub(crate) type Offset = i64;

/// No frame is there.
pub(crate) const NOWHERE: Offset = -1;

/// The cell to which a call returns. 0 if the calling clause lies on the local stack, where it
/// moves.
pub(crate) type Return = usize;

/// Marks of a box.
pub(crate) mod mark {
    /// It was opened while recording was paused: its ports are no events.
    pub(crate) const SILENT: u32 = 1;
    /// Foreign code called it. When it fails, control goes on there, and no stub sees it.
    pub(crate) const FOREIGN: u32 = 2;
    /// Its predicate begins later: a library is loaded for it, or the handler of a signal runs
    /// first.
    pub(crate) const AWAITED: u32 = 8;
    /// The wrapper of its predicate runs, or has run.
    pub(crate) const WRAPPED: u32 = 16;
    /// Arguments of its calls are held: see [`mod@crate::native::held_values`].
    pub(crate) const VALUES: u32 = 32;
    /// The box that called it returns to the same cell: it runs in the frame of a last call.
    pub(crate) const STACKED: u32 = 4;
}

/// An invocation of a predicate. Machine code reads and writes it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct StubBox {
    /// Of the predicate.
    pub(crate) frame: Offset,
    /// Of the clause that called.
    pub(crate) caller: Offset,
    /// The newest choicepoint before the call.
    pub(crate) choice: Offset,
    pub(crate) returns_to: Return,
    /// The box that was active.
    pub(crate) parent: u32,
    /// How many exited boxes there were.
    pub(crate) exited: u32,
    /// See [`mark`].
    pub(crate) marks: u32,
    /// 1 if its predicate is not recorded, and calls from it are the program's only if they are
    /// goals that the program gave it. Behind the marks, because machine code sets both at once.
    pub(crate) boundary: u32,
    /// The goals that it may call for the program.
    pub(crate) given: Given,
}

/// The caller of outermost boxes.
pub(crate) const ROOT: StubBox = StubBox {
    frame: NOWHERE,
    caller: NOWHERE,
    choice: 0,
    returns_to: 0,
    parent: 0,
    exited: 0,
    marks: mark::SILENT,
    boundary: 0,
    given: Given::UNKNOWN,
};

impl StubBox {
    /// Its ports are no events.
    pub(crate) fn is_silent(&self) -> bool {
        self.marks & mark::SILENT != 0
    }
}

/// A box that exited and can be entered again.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exited {
    pub(crate) open: u32,
    /// How many boxes there were then.
    pub(crate) boxes: u32,
    /// The newest choicepoint at its exit.
    pub(crate) choice: Offset,
}
