//! What calls of a predicate are to a recording, without how that is told.

/// What a call of a predicate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// All calls get boxes, and so do the goals of its clauses.
    Recorded(u32),
    /// The same, and what its calls are made with is recorded, too.
    WithArguments(u32),
    /// All calls get boxes that are in no trace, and the goals of its clauses get none: the engine
    /// calls it where a predicate is not there.
    Search,
    /// All calls get boxes, and the goals of its clauses get none: it loads a library.
    Loader(u32),
    /// Each call fills a table, which is noted, and gets no box.
    FillsTable(u32),
    /// No call gets a box: the tables that are complete with it are noted.
    CompletesTables,
    /// All calls get boxes, of the cost centre that the first argument names.
    Center,
    /// The bodies of tests. All calls get boxes, of the cost centre of the test that the first
    /// argument names, and so do the goals of its clauses.
    Tests(u32),
    /// Calls from goals of recorded clauses get boxes.
    Boundary(u32),
    /// No call gets a box.
    Unrecorded,
    /// No call gets a box, and nothing is done to its code: a later recording decides what it is.
    Untouched,
    /// The predicate is not there yet: a library may be loaded for it, or its clauses are
    /// asserted later.
    Undefined,
}

impl Standing {
    pub(crate) fn is_recorded(self) -> bool {
        matches!(
            self,
            Self::Recorded(_) | Self::WithArguments(_) | Self::Tests(_)
        )
    }

    /// Whether all calls get boxes.
    pub(crate) fn is_always_called(self) -> bool {
        self.is_recorded() || matches!(self, Self::Loader(_))
    }

    /// Its number in the trace if a goal of a recorded clause calls it.
    pub(crate) fn at_goal(self) -> Option<u32> {
        match self {
            Self::Recorded(id)
            | Self::WithArguments(id)
            | Self::Tests(id)
            | Self::Loader(id)
            | Self::Boundary(id) => Some(id),
            Self::Search
            | Self::FillsTable(_)
            | Self::CompletesTables
            | Self::Center
            | Self::Unrecorded
            | Self::Untouched
            | Self::Undefined => None,
        }
    }
}
