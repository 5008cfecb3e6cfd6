//! Why an index cannot be used.

use std::io;

/// Why there is no index to be used.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// None was made.
    #[error("there is no index")]
    Missing,
    /// It is of another trace, of this one before it changed, or of another version.
    #[error("the index is stale")]
    Stale,
    /// Its bytes changed after they were written.
    #[error("the index is damaged")]
    Damaged,
    /// The recording did not end, the trace is damaged, or it is a part of another one.
    #[error(
        "a trace that is damaged, whose recording did not end, or that was cut out of another one \
         has no index"
    )]
    NotWhole,
    /// Where it should be is something else: a directory, a pipe, or to be written a symbolic link.
    #[error("where the index should be is something that is not a regular file; remove it")]
    NotAFile,
    /// It was cancelled before it was made.
    #[error("interrupted")]
    Interrupted,
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}
