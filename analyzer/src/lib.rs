//! From traces to figures: reading, replay, tables, exporters. No terminal, no printing.
//!
//! Data flows one way, and each step is one module:
//!
//! | step | module |
//! |---|---|
//! | file → bytes | [`mapping`] |
//! | bytes → header, names, streams, blocks | [`trace`], [`clock`], [`names`], [`damage`] |
//! | blocks → events of one stream | [`events`] |
//! | events → figures | [`mod@replay`], of a part: [`hide`], [`focus`], [`window`] |
//! | events → counts and time by cost centre; symbolic costs | [`centers`], [`costs`] |
//! | figures | [`figures`], [`contexts`], [`profile`], [`laws`], [`compensation`] |
//! | a moment of a stream, and how to get there fast | [`moment`], [`stack`], [`walk`], [`index`] |
//! | what people write → what it means | [`duration`] |
//! | a stretch of a stream as a picture | [`timeline`] |
//! | figures → tables → file formats | [`tables`], [`export`] |
//!
//! Any byte string whatever given as a trace is either analysed or refused with an error; nothing
//! here panics on what a file contains, and no length in a file is believed before it is bounded.

pub mod baseline;
pub mod centers;
pub mod clock;
pub mod compensation;
pub mod contexts;
pub mod costs;
pub mod damage;
pub mod duration;
pub mod events;
pub mod export;
pub mod figures;
pub mod focus;
pub mod hide;
pub mod index;
pub mod laws;
pub mod mapping;
pub mod moment;
pub mod names;
pub mod profile;
pub mod replay;
pub mod stack;
pub mod tables;
pub mod timeline;
pub mod trace;
pub mod walk;
pub mod window;

pub use damage::{Damage, DamageKind};
pub use export::Exporter;
pub use focus::{Focus, FocusOn};
pub use hide::Hide;
pub use profile::Profile;
pub use replay::{ReplayOptions, replay};
pub use tables::Tables;
pub use trace::{Trace, TraceError};
pub use window::Window;
