//! What the size of a row of the call tree stands for.

use crate::Profile;

/// What the size of a row stands for: a figure of the row itself, without the rows below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Self time, as recorded.
    SelfTime,
    /// Self time without the recorder's own.
    NetTime,
    /// Time of work thrown away by redos into boxes of the row, as recorded.
    Undone,
    /// Port events.
    Events,
}

impl Metric {
    /// The column of the table `contexts` that has it.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Self::SelfTime => "self_ns",
            Self::NetTime => "self_comp_ns",
            Self::Undone => "undone_ns",
            Self::Events => "events",
        }
    }

    /// Whether sizes are ticks. If not, they are numbers of events.
    #[must_use]
    pub fn is_time(self) -> bool {
        self != Self::Events
    }

    /// The size of a row of the call tree without the rows below: ticks or events. Net times that
    /// are not known are 0.
    #[must_use]
    pub fn own(self, profile: &Profile, row: usize) -> u64 {
        let Some(context) = profile.contexts.get(row) else {
            return 0;
        };
        match self {
            Self::SelfTime => context.self_ticks,
            Self::NetTime => {
                let times = profile.net.as_ref().and_then(|net| net.contexts.get(row));
                times.map_or(0, |times| times.self_ticks)
            }
            Self::Undone => context.undone_ticks,
            Self::Events => context.events(),
        }
    }
}
