//! What polars writes to. It hides the reasons of failures in messages of its own; this keeps them.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use polars_error::PolarsError;
use portmortem_analyzer::export::ExportError;

/// An output that remembers why it failed first.
pub(crate) struct Output<'w> {
    out: Box<dyn Write + Send + 'w>,
    failure: OutputFailure,
}

/// Why the output failed, if it did.
#[derive(Clone, Default)]
pub(crate) struct OutputFailure(Arc<Mutex<Option<io::Error>>>);

impl<'w> Output<'w> {
    pub(crate) fn new(out: Box<dyn Write + Send + 'w>) -> (Self, OutputFailure) {
        let failure = OutputFailure::default();
        let output = Self {
            out,
            failure: failure.clone(),
        };
        (output, failure)
    }

    fn noted<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let told = io::Error::new(error.kind(), error.to_string());
            if error.kind() != io::ErrorKind::Interrupted {
                self.failure.slot().get_or_insert(error);
            }
            told
        })
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.out.write(bytes);
        self.noted(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.out.flush();
        self.noted(result)
    }
}

impl OutputFailure {
    /// What an error of polars is, when it writes `format`.
    pub(crate) fn explain(&self, format: &'static str, error: &PolarsError) -> ExportError {
        match self.slot().take() {
            Some(failure) => ExportError::Io(failure),
            None => ExportError::Format {
                format,
                reason: error.to_string(),
            },
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<io::Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
