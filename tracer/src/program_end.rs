//! What the process of a recorded program tells `portmortem record` when it ends in order.

/// The end of a recorded program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEnd {
    /// Its exit status.
    pub status: u8,
    /// What became of the trace.
    pub trace: Written,
    /// How many inferences the engine made in threads with a stream, from its first event to its
    /// end; `None` if that is not known.
    pub inferences: Option<u64>,
}

/// How many bytes the message has.
pub const MESSAGE_BYTES: usize = 10;

/// Inferences that are not known.
const UNKNOWN: u64 = u64::MAX;

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
    pub fn encode(self) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        message[..2].copy_from_slice(&[self.trace as u8, self.status]);
        let inferences = self.inferences.unwrap_or(UNKNOWN);
        message[2..].copy_from_slice(&inferences.to_le_bytes());
        message
    }

    /// From what was received.
    #[must_use]
    pub fn decode([trace, status, inferences @ ..]: [u8; MESSAGE_BYTES]) -> Option<Self> {
        let known = [Written::Nothing, Written::Whole, Written::Shortened];
        let trace = known.into_iter().find(|&known| known as u8 == trace)?;
        let inferences = u64::from_le_bytes(inferences);
        Some(Self {
            status,
            trace,
            inferences: Some(inferences).filter(|&known| known != UNKNOWN),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        for trace in [Written::Nothing, Written::Whole, Written::Shortened] {
            for inferences in [None, Some(0), Some(1 << 40)] {
                let end = ProgramEnd {
                    status: 143,
                    trace,
                    inferences,
                };
                assert_eq!(ProgramEnd::decode(end.encode()), Some(end));
            }
        }
        assert_eq!(ProgramEnd::decode([3; MESSAGE_BYTES]), None);
    }
}
