//! A stack that machine code can push to and pop from.

use std::alloc::{self, Layout};
use std::ops::{Index, IndexMut};
use std::ptr;

/// Elements in a row, the newest last.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Stack<T: Copy> {
    /// Where the oldest is.
    pub(super) first: *mut T,
    pub(super) length: u32,
    /// For how many there is room.
    pub(super) capacity: u32,
}

impl<T: Copy> Stack<T> {
    pub(super) const fn new() -> Self {
        Self {
            first: ptr::null_mut(),
            length: 0,
            capacity: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    #[inline]
    pub(super) fn push(&mut self, element: T) {
        if self.length == self.capacity {
            self.grow();
        }
        // SAFETY: there is room.
        unsafe { self.first.add(self.len()).write(element) };
        self.length += 1;
    }

    pub(super) fn pop(&mut self) -> Option<T> {
        let last = self.last().copied()?;
        self.length -= 1;
        Some(last)
    }

    pub(super) fn last(&self) -> Option<&T> {
        self.as_slice().last()
    }

    /// Only the oldest `length` elements stay.
    pub(super) fn truncate(&mut self, length: usize) {
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
        let capacity = (self.capacity * 2).max(1024);
        let new = Self::layout(capacity);
        let grown = if self.first.is_null() {
            // SAFETY: the layout is not empty.
            unsafe { alloc::alloc(new) }
        } else {
            // SAFETY: allocated with that layout; the new size is not 0.
            unsafe { alloc::realloc(self.first.cast(), Self::layout(self.capacity), new.size()) }
        };
        if grown.is_null() {
            alloc::handle_alloc_error(new);
        }
        self.first = grown.cast();
        self.capacity = capacity;
    }

    fn layout(capacity: u32) -> Layout {
        match Layout::array::<T>(capacity as usize) {
            Ok(layout) => layout,
            Err(_) => alloc::handle_alloc_error(Layout::new::<T>()),
        }
    }
}

impl<T: Copy> Index<usize> for Stack<T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.as_slice()[index]
    }
}

impl<T: Copy> IndexMut<usize> for Stack<T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        assert!(index < self.len(), "an index beyond the stack");
        // SAFETY: within the stack.
        unsafe { &mut *self.first.add(index) }
    }
}

impl<T: Copy> Drop for Stack<T> {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: allocated with that layout.
            unsafe { alloc::dealloc(self.first.cast(), Self::layout(self.capacity)) };
        }
    }
}
