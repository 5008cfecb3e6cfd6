//! Why a file is no trace that can be analysed.

use std::path::{Path, PathBuf};

use portmortem_tracer::format::{HeaderError, NEWEST_VERSION};

use super::foreign;
use super::mapping::MappingError;

/// Why a file cannot be analysed at all.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: MappingError,
    },
    /// It got shorter since it was opened.
    #[error("{}: the file was cut short while it was read; what was found is of no use", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// Not a trace.
    #[error("{}: not a Portmortem trace{}", path.display(), foreign::clause(.looks_like))]
    NotATrace {
        /// The file.
        path: PathBuf,
        /// What it looks like, with an article, if that is easy to see.
        looks_like: Option<&'static str>,
    },
    /// A trace of a later format.
    #[error(
        "{}: written by a newer Portmortem (format {found}, this one reads up to {NEWEST_VERSION}); \
         use that version to read it", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format version.
        found: u16,
    },
    /// The part of a trace, and it is not known which.
    #[error(
        "{}: it is damaged: it does not say which part of a trace it is; cut that out again",
        path.display()
    )]
    NoPart {
        /// The file.
        path: PathBuf,
    },
    /// A trace whose first 4096 bytes are damaged.
    #[error("{}: {source}; without its header a trace cannot be read", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: HeaderError,
    },
}

impl TraceError {
    /// Why these bytes, which `path` names, are not opened as a trace.
    pub(super) fn of_header(bytes: &[u8], path: &Path, error: HeaderError) -> Self {
        let path = path.to_owned();
        match error {
            HeaderError::NotATrace => Self::NotATrace {
                path,
                looks_like: foreign::looks_like(bytes),
            },
            HeaderError::NewerVersion { found } => Self::Newer { path, found },
            source => Self::Header { path, source },
        }
    }
}
