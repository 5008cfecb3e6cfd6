//! The border to C: panics do not cross it, errors wait for whoever asks, and texts are copied.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static ERROR: RefCell<CString> = RefCell::default();
}

pub(super) fn set_error(message: &str) {
    let message = CString::new(message.replace('\0', "\u{fffd}")).unwrap_or_default();
    // Without thread-local storage, at the very end of a thread, it cannot be read any more.
    let _ = ERROR.try_with(|error| error.replace(message));
}

/// The message of the last error of this thread, valid until there is another one.
pub(super) fn error() -> *const c_char {
    const NONE: &CStr = c"";
    ERROR
        .try_with(|error| error.borrow().as_ptr())
        .unwrap_or(NONE.as_ptr())
}

/// Runs `body`; a panic becomes `otherwise` and an error message.
pub(super) fn guarded<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        set_error(&format!("internal error: {}", panic_text(&*panic)));
        otherwise
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let owned = panic.downcast_ref::<String>().map(String::as_str);
    owned
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panic")
}

/// The text, if there is one.
///
/// # Safety
/// `text` is null or ends with a zero byte.
pub(super) unsafe fn text_of(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, and ends with a zero byte as the caller promises.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
