//! A stack that machine code can push to and pop from.

use std::alloc::{self, Layout};
use std::ops::{Index, IndexMut};
use std::{io, ptr};

use memmap2::{Advice, MmapMut, MmapOptions};

/// Elements in a row, the newest last.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ElementStack<T: Copy> {
    /// Where the oldest is.
    pub(crate) first: *mut T,
    pub(crate) length: u32,
    /// For how many there is room.
    pub(crate) capacity: u32,
    memory: Option<MmapMut>,
}

/// Room for so many elements comes first.
const FIRST_CAPACITY: u32 = 1024;
/// A stack that is full moves to so many times the room, most of which it never touches; or, if
/// that cannot be had, to twice the room.
const GROWTH: u32 = 16;
/// From so many bytes on the system may give large pages: a deep recursion would spend more time
/// on page faults than on boxes.
const LARGE: usize = 4 << 20;

impl<T: Copy> ElementStack<T> {
    pub(crate) const fn new() -> Self {
        Self {
            first: ptr::null_mut(),
            length: 0,
            capacity: 0,
            memory: None,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.length as usize
    }

    #[inline]
    pub(crate) fn push(&mut self, element: T) {
        if self.length == self.capacity {
            self.grow();
        }
        // SAFETY: there is room.
        unsafe { self.first.add(self.len()).write(element) };
        self.length += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.last().copied()?;
        self.length -= 1;
        Some(last)
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.as_slice().last()
    }

    /// Only the oldest `length` elements stay.
    pub(crate) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length as u32);
    }

    fn as_slice(&self) -> &[T] {
        if self.first.is_null() {
            return &[];
        }
        // SAFETY: so many elements were pushed.
        unsafe { std::slice::from_raw_parts(self.first, self.len()) }
    }

    #[cold]
    fn grow(&mut self) {
        let more = |times: u32| self.capacity.saturating_mul(times).max(FIRST_CAPACITY);
        let room = [more(GROWTH), more(2)]
            .into_iter()
            .find_map(|capacity| Some((capacity, Self::map(capacity).ok()?)));
        let Some((capacity, mut memory)) = room else {
            alloc::handle_alloc_error(Layout::new::<T>());
        };
        let first = memory.as_mut_ptr().cast::<T>();
        if self.length > 0 {
            // SAFETY: the new room is larger, and other memory.
            unsafe { ptr::copy_nonoverlapping(self.first, first, self.len()) };
        }
        self.first = first;
        self.capacity = capacity;
        self.memory = Some(memory);
    }

    fn map(capacity: u32) -> io::Result<MmapMut> {
        let bytes = capacity as usize * size_of::<T>();
        let memory = MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?;
        if bytes >= LARGE {
            // Where the system has none, smaller ones do.
            let _ = memory.advise(Advice::HugePage);
        }
        Ok(memory)
    }
}

impl<T: Copy> Index<usize> for ElementStack<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.as_slice()[index]
    }
}

impl<T: Copy> IndexMut<usize> for ElementStack<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.len(), "an index beyond the stack");
        // SAFETY: within the stack.
        unsafe { &mut *self.first.add(index) }
    }
}
