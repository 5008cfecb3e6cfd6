//! An output to which several threads add rows that they have encoded as text.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::{Encoded, ExportError, own};

/// The output of a table.
pub(super) struct SharedOutput<W>(Mutex<W>);

impl<W: Write> SharedOutput<W> {
    pub(super) fn new(out: W) -> Self {
        Self(Mutex::new(out))
    }

    /// The output. No other thread can add to it meanwhile.
    pub(super) fn alone(&mut self) -> &mut W {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds text that a table of the format encoded, as bytes.
    ///
    /// # Errors
    /// If another table encoded it, or the output fails.
    pub(super) fn add(&self, encoded: Encoded, format: &'static str) -> Result<(), ExportError> {
        let text: Vec<u8> = own(encoded, format)?;
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(out.write_all(&text)?)
    }

    /// Nothing more comes.
    ///
    /// # Errors
    /// If the output fails.
    pub(super) fn finish(mut self) -> Result<(), ExportError> {
        Ok(self.alone().flush()?)
    }
}
