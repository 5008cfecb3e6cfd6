//! What the user chooses about a recording.

/// The smallest limit on the size of a recording, in bytes.
pub const MIN_MAX_SIZE: u64 = 64 << 10;

/// What stays when a recording reaches its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The beginning: recording stops and the program goes on.
    #[default]
    First,
    /// The end: the oldest events make room (flight recorder).
    Last,
    /// The end, and the figures of all that was before: only events make room that another process
    /// has [folded](crate::fold) into figures. If none are, new events are lost until some are.
    Figures,
    /// All, up to so many bytes. Beyond them as [`Keep::Figures`], but the file grows while no
    /// events were folded: nothing is lost where no process folds.
    FiguresBeyond(u64),
}

impl Keep {
    /// Whether blocks are written over older ones, at some time.
    pub(crate) fn reuses(self) -> bool {
        self != Self::First
    }

    /// Whether that is expected of every recording, so that its header says so from the beginning.
    pub(crate) fn expects_to_reuse(self) -> bool {
        matches!(self, Self::Last | Self::Figures)
    }
}

/// How to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// The file never grows beyond this many bytes; at least [`MIN_MAX_SIZE`].
    pub max_size: Option<u64>,
    /// What stays at the limit, or when the disk is full.
    pub keep: Keep,
    /// Replace a file that is already there, unless another recording still writes it.
    pub overwrite: bool,
}
