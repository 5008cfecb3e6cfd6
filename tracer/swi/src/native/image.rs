//! Where the engine's library lies in memory: its code, its data, and its thread-local storage.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use crate::ffi;

/// The mapped parts of the object that defines the engine's foreign language interface.
#[derive(Debug, Clone, Default)]
pub(crate) struct Image {
    /// Its machine code.
    pub(crate) text: Range<usize>,
    /// All of it.
    pub(crate) whole: Range<usize>,
    /// Data that the engine may write, or that the loader has written.
    pub(crate) data: Vec<Range<usize>>,
    /// The calling thread's copy of its thread-local variables, and their size; none if it has
    /// none.
    pub(crate) thread_local: Option<(usize, usize)>,
}

/// The engine's library, or the program if the engine is linked into it. `None` if the loader
/// does not know it.
pub(crate) fn engine_image() -> Option<Image> {
    let mut image = Image::default();
    // SAFETY: the closure is an `Image` of this frame, and the callback is not kept.
    let found =
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut image).cast::<c_void>()) != 0 };
    found.then_some(image)
}

/// Fills in the image and answers 1 if this object contains the engine.
unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    image: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes valid headers; `image` is that of `engine_image`.
    let (info, image) = unsafe { (&*info, &mut *image.cast::<Image>()) };
    // SAFETY: as many headers as the loader says.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let of_engine = ffi::PL_thread_self as *const () as usize;
    let place = |header: &libc::Elf64_Phdr| {
        let start = info.dlpi_addr as usize + header.p_vaddr as usize;
        start..start + header.p_memsz as usize
    };
    let loaded = || {
        headers
            .iter()
            .filter(|header| header.p_type == libc::PT_LOAD)
    };
    if !loaded().any(|header| place(header).contains(&of_engine)) {
        return 0;
    }
    (image.whole.start, image.whole.end) = (usize::MAX, 0);
    for header in loaded() {
        let part = place(header);
        image.whole.start = image.whole.start.min(part.start);
        image.whole.end = image.whole.end.max(part.end);
        if header.p_flags & libc::PF_X != 0 {
            image.text = part;
        } else if header.p_flags & libc::PF_W != 0 {
            image.data.push(part);
        }
    }
    let storage = headers.iter().find(|header| header.p_type == libc::PT_TLS);
    image.thread_local = storage
        .filter(|_| !info.dlpi_tls_data.is_null())
        .map(|header| (info.dlpi_tls_data as usize, header.p_memsz as usize));
    1
}
