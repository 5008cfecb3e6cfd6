//! What may be spent on looking at the arguments of calls.

/// What a stream may spend on the lengths of lists, in elements: at first,
const CREDIT: i64 = 1 << 24;
/// and in addition for each call. So recursion over a long list takes no quadratic time.
const CREDIT_PER_CALL: i64 = 1 << 11;

/// What an engine may still spend on the lengths of lists; it may be in debt by those of one call.
#[derive(Debug)]
pub(crate) struct Credit(i64);

impl Credit {
    pub(crate) fn new() -> Self {
        Self(CREDIT)
    }

    /// One more call is looked at: whether its lists may be counted.
    pub(crate) fn of_call(&mut self) -> bool {
        self.0 = self.0.saturating_add(CREDIT_PER_CALL).min(CREDIT);
        self.0 > 0
    }

    /// So many elements were counted.
    pub(crate) fn spend(&mut self, elements: u64) {
        self.0 = self.0.saturating_sub_unsigned(elements);
    }
}
