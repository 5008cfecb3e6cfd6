//! The kinds of events: what they are called, and their order.

use portmortem_tracer::format::Event;

/// Declares [`EventKind`], so that no kind lacks a name or a place among all.
macro_rules! kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// Of what kind an event is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventKind {
            $(#[doc = concat!("Tables call it `", $name, "`.")] $kind,)*
        }

        impl EventKind {
            /// All of them, each at the place `kind as usize`.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// What tables call it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    Call = "call",
    Tail = "tail",
    ExitDet = "exit_det",
    ExitNondet = "exit_nondet",
    Redo = "redo",
    Fail = "fail",
    Exception = "exception",
    Cut = "cut",
    Pause = "pause",
    Resume = "resume",
    Gap = "gap",
    Mark = "mark",
    Clause = "clause",
    Arguments = "arguments",
    Table = "table",
    Value = "value",
    Sync = "sync",
}

impl EventKind {
    /// That of an event.
    #[inline]
    #[must_use]
    pub fn of(event: Event) -> Self {
        match event {
            Event::Call { .. } => Self::Call,
            Event::Tail { .. } => Self::Tail,
            Event::ExitDet => Self::ExitDet,
            Event::ExitNondet => Self::ExitNondet,
            Event::Redo => Self::Redo,
            Event::Fail => Self::Fail,
            Event::Exception => Self::Exception,
            Event::Cut { .. } => Self::Cut,
            Event::Pause => Self::Pause,
            Event::Resume => Self::Resume,
            Event::Gap { .. } => Self::Gap,
            Event::Mark { .. } => Self::Mark,
            Event::Clause { .. } => Self::Clause,
            Event::Arguments(_) => Self::Arguments,
            Event::Table(_) => Self::Table,
            Event::Value(_) => Self::Value,
            Event::Sync(_) => Self::Sync,
        }
    }

    /// The one that tables call so.
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
