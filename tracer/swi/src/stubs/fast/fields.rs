//! Where machine code finds what it reads and writes.

use std::mem::offset_of;

use crate::native::open_box::{StubBox, mark};
use crate::native::place::StubPlace;
use crate::native::shadow::{Shadow, exited};
use crate::native::stack::ElementStack;

/// Registers that this code saves, in bytes.
pub(super) const SAVED: i32 = 8 * 8;

pub(super) const QUIET: i32 = offset_of!(Shadow, quiet) as i32;
pub(super) const ANNOUNCED: i32 = offset_of!(Shadow, announced) as i32;
pub(super) const EXPECTED: i32 = offset_of!(Shadow, expected) as i32;
pub(super) const STREAM: i32 = offset_of!(Shadow, stream) as i32;
pub(super) const ACTIVE: i32 = offset_of!(Shadow, active) as i32;
pub(super) const EXITED: i32 = (exited::STACK + offset_of!(ElementStack<StubBox>, length)) as i32;
pub(super) const EXITED_ROOM: i32 =
    (exited::STACK + offset_of!(ElementStack<StubBox>, capacity)) as i32;
pub(super) const EXITED_BOXES_FIRST: i32 =
    (exited::STACK + offset_of!(ElementStack<StubBox>, first)) as i32;
pub(super) const EXITED_BOX: i32 = exited::SIZE as i32;
pub(super) const EXITED_OPEN: i32 = exited::OPEN as i32;
pub(super) const EXITED_BOXES: i32 = exited::BOXES as i32;
pub(super) const EXITED_CHOICE: i32 = exited::CHOICE as i32;
pub(super) const BOXES: i32 =
    offset_of!(Shadow, boxes) as i32 + offset_of!(ElementStack<StubBox>, first) as i32;
pub(super) const TOP: i32 =
    offset_of!(Shadow, boxes) as i32 + offset_of!(ElementStack<StubBox>, length) as i32;
pub(super) const ROOM: i32 =
    offset_of!(Shadow, boxes) as i32 + offset_of!(ElementStack<StubBox>, capacity) as i32;

pub(super) const BOX: i32 = size_of::<StubBox>() as i32;
pub(super) const BOX_FRAME: i32 = offset_of!(StubBox, frame) as i32;
pub(super) const BOX_CALLER: i32 = offset_of!(StubBox, caller) as i32;
pub(super) const BOX_CHOICE: i32 = offset_of!(StubBox, choice) as i32;
pub(super) const BOX_RETURN: i32 = offset_of!(StubBox, returns_to) as i32;
pub(super) const BOX_PARENT: i32 = offset_of!(StubBox, parent) as i32;
pub(super) const BOX_EXITED: i32 = offset_of!(StubBox, exited) as i32;
pub(super) const BOX_MARKS: i32 = offset_of!(StubBox, marks) as i32;
pub(super) const SILENT: i32 = mark::SILENT as i32;
/// Machine code leaves exits of such boxes to handlers.
pub(super) const SILENT_OR_VALUES: i32 = (mark::SILENT | mark::VALUES) as i32;
pub(super) const STACKED: i32 = mark::STACKED as i32;
pub(super) const BOX_BOUNDARY: i32 = offset_of!(StubBox, boundary) as i32;
pub(super) const BOX_GIVEN: i32 = offset_of!(StubBox, given) as i32;

pub(super) const CALLEE: i32 = StubPlace::CALLEE as i32;
pub(super) const CALL_WORD: i32 = offset_of!(StubPlace, call_word) as i32;
pub(super) const TAIL_WORD: i32 = offset_of!(StubPlace, tail_word) as i32;
pub(super) const EVENT_LENGTH: i32 = offset_of!(StubPlace, event_length) as i32;
pub(super) const INSTRUCTION_LENGTH: i32 = offset_of!(StubPlace, length) as i32;
pub(super) const SILENCE: i32 = offset_of!(StubPlace, silence) as i32;
pub(super) const MARKS: i32 = offset_of!(StubPlace, marks) as i32;
pub(super) const BOUNDARY: i32 = MARKS + size_of::<u32>() as i32;
pub(super) const GIVEN: i32 = offset_of!(StubPlace, given) as i32;
pub(super) const KEEPS: i32 = offset_of!(StubPlace, keeps) as i32;
