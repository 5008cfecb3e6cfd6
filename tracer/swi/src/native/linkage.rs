//! The addresses of functions in the engine's library that other parts of it call: an exported
//! function is called through a table, which the loader fills in.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ffi;

/// What of the dynamic section is read.
const RELOCATIONS: [(i64, i64); 2] = [(23, 2), (7, 8)];
const STRINGS: i64 = 5;
const SYMBOLS: i64 = 6;

/// Kinds of relocations by which a word becomes the address of a function.
#[cfg(target_arch = "x86_64")]
const FUNCTIONS: [u32; 2] = [6, 7];
#[cfg(not(target_arch = "x86_64"))]
const FUNCTIONS: [u32; 2] = [1025, 1026];

/// `PT_GNU_RELRO`: what the loader protects when it has filled it in.
const PROTECTED: u32 = 0x6474_e552;

/// The words that have the address of a function.
#[derive(Debug)]
pub(crate) struct Slots {
    words: Vec<usize>,
    protected: Range<usize>,
}

struct LinkageSearch<'a> {
    name: &'a CStr,
    found: Option<Slots>,
}

impl Slots {
    /// Those in the engine's library. `None` if there are none: it is linked into the program.
    pub(crate) fn of(name: &CStr) -> Option<Self> {
        let mut search = LinkageSearch { name, found: None };
        // SAFETY: the callback is not kept, and gets the search of this frame.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast::<c_void>()) };
        search.found.filter(|slots| !slots.words.is_empty())
    }

    /// Other code is called from now on. `None` if the system does not let them be written.
    pub(crate) fn lead_to(&self, function: usize) -> Option<()> {
        for &slot in &self.words {
            let protected = self.protected.contains(&slot);
            if protected {
                protect(slot, libc::PROT_READ | libc::PROT_WRITE)?;
            }
            // SAFETY: an aligned word of the engine's table, which may be written now.
            unsafe { AtomicUsize::from_ptr(slot as *mut usize) }.store(function, Ordering::Release);
            if protected {
                protect(slot, libc::PROT_READ)?;
            }
        }
        Some(())
    }
}

fn protect(slot: usize, access: c_int) -> Option<()> {
    // SAFETY: asks for a number.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    // SAFETY: the page of the table, whose other words stay as they are.
    let done = unsafe { libc::mprotect((slot & !(page - 1)) as *mut c_void, page, access) };
    (done == 0).then_some(())
}

/// Looks at an object; answers 1 if it contains the engine.
unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes valid headers, as many as it says; `search` is that of
    // `Slots::of`.
    let (info, search, headers) = unsafe {
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum.into());
        (&*info, &mut *search.cast::<LinkageSearch<'_>>(), headers)
    };
    let base = info.dlpi_addr as usize;
    let place = |kind: u32| {
        let of_kind = headers.iter().filter(move |header| header.p_type == kind);
        of_kind.map(|header| {
            let start = base + header.p_vaddr as usize;
            start..start + header.p_memsz as usize
        })
    };
    let of_engine = ffi::PL_thread_self as *const () as usize;
    if !place(libc::PT_LOAD).any(|part| part.contains(&of_engine)) {
        return 0;
    }
    let protected = place(PROTECTED).next().unwrap_or_default();
    search.found = place(libc::PT_DYNAMIC).next().and_then(|dynamic| {
        // SAFETY: the dynamic section of a loaded object.
        let words = unsafe { slots(base, &dynamic, search.name) }?;
        Some(Slots { words, protected })
    });
    1
}

/// # Safety
/// The dynamic section of an object that is loaded at `base`.
unsafe fn slots(base: usize, dynamic: &Range<usize>, name: &CStr) -> Option<Vec<usize>> {
    let entry = |tag: i64| {
        let entries = dynamic.clone().step_by(size_of::<[usize; 2]>());
        entries
            // SAFETY: the caller's promise.
            .map(|at| unsafe { (at as *const (i64, usize)).read() })
            .take_while(|&(tag, _)| tag != 0)
            .find_map(|(found, value)| (found == tag).then_some(value))
    };
    // The C library of some systems leaves distances there.
    let address = |tag| entry(tag).map(|at| if at < base { at + base } else { at });
    let (strings, symbols) = (address(STRINGS)?, address(SYMBOLS)?);
    let mut words = Vec::new();
    for (table, size) in RELOCATIONS {
        let (Some(first), Some(size)) = (address(table), entry(size)) else {
            continue;
        };
        for at in (first..first + size).step_by(size_of::<libc::Elf64_Rela>()) {
            // SAFETY: the object's tables of relocations, symbols and names.
            unsafe {
                let relocation = (at as *const libc::Elf64_Rela).read();
                if !FUNCTIONS.contains(&(relocation.r_info as u32)) {
                    continue;
                }
                let number = (relocation.r_info >> u32::BITS) as usize;
                let symbol = (symbols as *const libc::Elf64_Sym).add(number).read();
                let text = (strings + symbol.st_name as usize) as *const c_char;
                if CStr::from_ptr(text) == name {
                    words.push(base + relocation.r_offset as usize);
                }
            }
        }
    }
    Some(words)
}
