//! What the process of a recorded program tells `portmortem record` when it ends in order.

/// The end of a recorded program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its exit status.
    pub status: u8,
    /// What became of the trace.
    pub trace: Written,
}

/// What became of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Written {
    /// There is none: no recording began.
    Nothing,
    /// It was written.
    Whole,
    /// Another program shortened it meanwhile.
    Shortened,
}

impl ProgramEnd {
    /// As it is sent.
    #[must_use]
    pub fn encode(self) -> [u8; 2] {
        [self.trace as u8, self.status]
    }

    /// From what was received.
    #[must_use]
    pub fn decode([trace, status]: [u8; 2]) -> Option<Self> {
        let known = [Written::Nothing, Written::Whole, Written::Shortened];
        let trace = known.into_iter().find(|&known| known as u8 == trace)?;
        Some(Self { status, trace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        for trace in [Written::Nothing, Written::Whole, Written::Shortened] {
            let end = ProgramEnd { status: 143, trace };
            assert_eq!(ProgramEnd::decode(end.encode()), Some(end));
        }
        assert_eq!(ProgramEnd::decode([3, 0]), None);
    }
}
