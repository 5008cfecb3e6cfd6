//! From traces to figures: reading, replay, tables, exporters. No terminal, no printing.
//!
//! Data flows one way, and each step is one module:
//!
//! | step | module |
//! |---|---|
//! | file → header, names, streams, events | [`trace`] |
//! | trace → packed trace, and back | [`trace::packing`] |
//! | what of a trace is looked at | [`scope`] |
//! | events → figures | [`mod@replay`] → [`figures`] |
//! | events → what happens to boxes | [`machine`] |
//! | events → figures by clause | [`clauses`] |
//! | events → times of single calls | [`calls`] |
//! | events → what calls were made with | [`arguments`] |
//! | events → what arguments were at calls and exits | [`values`] |
//! | events → who waited for whom | `waits` |
//! | records → symbolic costs | [`costs`] |
//! | figures → times without the recorder's own | [`net`] |
//! | a moment of a stream, and how to get there fast | [`moment`], [`walk`], [`index`] |
//! | text → conditions on rows of tables, and on events | [`condition`] |
//! | the events that a condition holds for, and why they happened | [`listing`] |
//! | a stretch of a stream as a picture | [`timeline`] |
//! | figures → tables → file formats | [`tables`], [`export`] |
//! | all of it, of one trace; what is lost | [`analysis`], [`remarks`] |
//! | call tree and call graph → formats of other viewers | [`graphs`] |
//! | source files, and figures beside their lines | [`sources`], [`annotation`] |
//! | two programs, side by side | [`comparison`] |
//! | figures → what to change | [`advice`] |
//! | numbers → text for people | [`text`], [`sentences`] |
//!
//! Any byte string whatever given as a trace is either analysed or refused with an error; nothing
//! here panics on what a file contains, and no length in a file is believed before it is bounded.

pub mod advice;
pub mod analysis;
pub mod annotation;
pub mod arguments;
pub mod calls;
pub mod clauses;
pub mod comparison;
pub mod condition;
pub mod costs;
pub mod cutting;
pub mod export;
pub mod figures;
pub mod graphs;
pub mod hottest_path;
pub mod index;
mod large_pages;
pub mod listing;
pub mod machine;
pub mod moment;
pub mod net;
mod observed_walk;
mod on_panic;
mod progress;
mod reading;
pub mod remarks;
pub mod replay;
pub mod scope;
pub mod sentences;
pub mod sources;
pub mod tables;
pub mod text;
pub mod timeline;
pub mod trace;
pub mod values;
mod waits;
pub mod walk;

pub use analysis::{Analysis, SoFar};
pub use export::Exporter;
pub use figures::profile::Profile;
pub use progress::Progress;
pub use replay::{ReplayOptions, replay};
pub use scope::{Filter, Filters, Focus, FocusOn, Hide, Scope, Window};
pub use tables::Tables;
pub use trace::damage::{Damage, DamageKind};
pub use trace::{Trace, TraceError};
