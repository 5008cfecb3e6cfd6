//! The recorder of Portmortem: the trace format, and the writer that an engine calls at each port.
//!
//! An engine creates a [`Recorder`], tells it the predicates, begins a [`Stream`] for each of its
//! threads and calls one method of it at each port. The trace file is the buffer: an event is part
//! of it when the method returns, whatever happens to the process then. [`format`](mod@format)
//! reads it back; `FORMAT.md` says what each byte means.
//!
//! ```
//! use portmortem_tracer::format::{Dialect, Header, Outcome, StreamKind};
//! use portmortem_tracer::{NewPredicate, Options, Recorder};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("run.pmt");
//! let header = Header::of_this_process("my engine 1.0");
//! let recorder = Recorder::create(&path, &header, &Options::default())?;
//! let main = recorder.predicate(NewPredicate::named("user", "main", 0).at("main.pl", 3));
//! let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
//! stream.call(main);
//! stream.exit_det();
//! stream.end();
//! recorder.close(Outcome::Exited(0))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here knows a particular engine, but for names of one (`format/swi_prolog.rs`). Data
//! flows from `stream` (the fast path) and `slow` (the rest of it) into a `block` that `space` has
//! carved from a mapped `segment` of the file; `records` go into blocks of their own.

mod amend;
pub mod attach;
mod block;
pub mod capi;
pub mod clock;
mod describe;
mod ending;
pub mod fold;
pub mod format;
mod hot;
mod ids;
mod index_lock;
pub mod last_moments;
pub mod locks;
pub mod machine_code;
mod new_predicate;
mod options;
pub mod pattern;
mod phase;
pub mod program_end;
mod recorder;
mod records;
mod registry;
mod segment;
mod shared;
mod slow;
mod sources;
mod space;
mod stream;
pub mod trials;
pub mod truncation;
mod writer_lock;

pub use amend::{AmendError, amend};
pub use ending::index_and_footer;
pub use ids::Ids;
pub use index_lock::IndexLock;
pub use new_predicate::NewPredicate;
pub use options::{Keep, MIN_MAX_SIZE, Options};
pub use recorder::{RecordError, Recorder};
pub use shared::NO_ID;
pub use stream::{Ready, Stream};
pub use writer_lock::is_being_recorded;
