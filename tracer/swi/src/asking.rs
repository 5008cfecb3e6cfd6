//! The question how long collections and stack shifts have taken ([`crate::engine_work`]).
//!
//! **It runs Prolog**: a signal that waits is handled in it, by predicates that come to
//! our ports, stop the recording, or throw. So no reference to the engine's state is held
//! meanwhile; what the handler calls is recorded as anywhere else; and its exception goes on to
//! the program, as from any other call.

use portmortem_tracer::clock;

use crate::collections::{Stop, ask};
use crate::engine::Engine;
use crate::ffi::exception_is_pending;
use crate::{engines, native};

/// [`look`], if the stretch up to now is long. No reference to the engine's state may be in use;
/// all that was known of it may have changed.
pub(crate) fn look_if_long() -> Result<(), Stop> {
    let now = clock::ticks();
    let epoch = {
        // SAFETY: the reference is not used beyond this block.
        let Some(engine) = (unsafe { engines::existing() }) else {
            return Err(Stop::Ended);
        };
        if !engine.is_long(now) {
            return Ok(());
        }
        engine.epoch()
    };
    look()?;
    // SAFETY: the reference is not used beyond this statement.
    match unsafe { engines::existing() } {
        Some(engine) if engine.epoch() == epoch => Ok(()),
        _ => Err(Stop::Ended),
    }
}

/// Asks what was collected and waited until now, and records it. No reference to the engine's
/// state may be in use.
#[cold]
pub(crate) fn look() -> Result<(), Stop> {
    // SAFETY: the reference is not used beyond this statement.
    let Some(epoch) = unsafe { engines::existing() }.and_then(Engine::begin_question) else {
        return Ok(());
    };
    let found = if exception_is_pending() {
        None // The question would lose it.
    } else {
        native::pauses().or_else(ask)
    };
    // SAFETY: our ports that ran during the question have returned, and use their references to the
    // state no longer.
    if let Some(engine) = unsafe { engines::existing() }
        && engine.epoch() == epoch
    {
        engine.note_collections(found, clock::ticks());
        engine.note_waiting(engine.has_active_box());
    }
    if found.is_none() && exception_is_pending() {
        return Err(Stop::Exception);
    }
    Ok(())
}
