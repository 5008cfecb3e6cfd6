//! How often boxes passed each port: the counters that every row of figures has.

use bincode::{Decode, Encode};

/// Declares a row of counters: a counter is one line of it, and sums, windows and the index have
/// it.
macro_rules! counters {
    (
        $(#[$attribute:meta])*
        pub struct $name:ident {
            events { $($(#[$about:meta])* $event:ident,)* }
            ends { $($(#[$about_end:meta])* $end:ident,)* }
        }
    ) => {
        $(#[$attribute])*
        pub struct $name {
            $($(#[$about])* pub $event: u64,)*
            $($(#[$about_end])* pub $end: u64,)*
        }

        impl $name {
            /// How many counters there are.
            pub(crate) const COUNTERS: usize =
                [$(stringify!($event),)* $(stringify!($end),)*].len();

            /// Changes each counter by that of other boxes.
            #[inline]
            fn change(&mut self, other: &Self, change: impl Fn(u64, u64) -> u64) {
                $(self.$event = change(self.$event, other.$event);)*
                $(self.$end = change(self.$end, other.$end);)*
            }

            /// Adds the counts of other boxes.
            pub fn add(&mut self, other: &Self) {
                self.change(other, u64::saturating_add);
            }

            /// Takes away the events of the time before a window. How boxes stood at the end stays.
            pub(crate) fn take(&mut self, before: &Self) {
                $(self.$event = self.$event.saturating_sub(before.$event);)*
            }

            /// Each counter with its name.
            #[must_use]
            pub fn each(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($event), self.$event),)* $((stringify!($end), self.$end),)*]
            }
        }
    };
}

pub(super) use counters;

counters! {
    /// Counts of boxes: of the events at their ports, and of how they stood at the end.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
    pub struct PortTotals {
        events {
            /// Boxes opened, `tail_calls` included.
            calls,
            /// Exits that left no choicepoint.
            exits_det,
            /// Exits that left a choicepoint.
            exits_nondet,
            /// Re-entries by backtracking.
            redos,
            /// Final failures.
            fails,
            /// Those exits, of both kinds, that were not the first one of their box.
            exits_again,
            /// Those of `fails` whose box had never exited.
            fails_dry,
            /// Re-enterable boxes discarded before being re-entered.
            cuts,
            /// Those of `calls` that were last calls into a departed box.
            tail_calls,
            /// Boxes left by an exception.
            exceptions,
        }
        ends {
            /// Boxes still active at the end (or where the trace lost track).
            open,
            /// Boxes still re-enterable at the end (or where the trace lost track).
            pending,
        }
    }
}

impl PortTotals {
    /// Adds the counts modulo 2⁶⁴, `times` over.
    pub(crate) fn add_times(&mut self, other: &Self, times: u64) {
        self.change(other, |sum, count| {
            sum.wrapping_add(count.wrapping_mul(times))
        });
    }

    /// Exits of both kinds.
    #[must_use]
    pub fn exits(&self) -> u64 {
        self.exits_det.saturating_add(self.exits_nondet)
    }

    /// Port events of the boxes, cuts left out: a cost that is the same on every run.
    #[must_use]
    pub fn events(&self) -> u64 {
        [self.exits(), self.redos, self.fails, self.exceptions]
            .iter()
            .fold(self.calls, |sum, count| sum.saturating_add(*count))
    }
}

/// These rows of figures are their counters, and more.
macro_rules! has_totals {
    ($($row:ty),*) => {
        $(
            impl std::ops::Deref for $row {
                type Target = $crate::figures::PortTotals;

                #[inline]
                fn deref(&self) -> &Self::Target {
                    &self.ports
                }
            }

            impl std::ops::DerefMut for $row {
                #[inline]
                fn deref_mut(&mut self) -> &mut Self::Target {
                    &mut self.ports
                }
            }
        )*
    };
}

pub(super) use has_totals;
