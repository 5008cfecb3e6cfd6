//! Models of cost: how counts grow with the size of the input, what the components of a program's work cost on a platform,
//! and both together as predicted times (Mera et al. 2006, "Towards Execution Time Estimation for Logic Programs via
//! Static Analysis and Profiling").
//!
//! | step | module |
//! |---|---|
//! | counts at several sizes → functions | [`growth`] |
//! | observations → constants | [`least_squares`] |

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        reason = "in a test a panic is a failure with its place"
    )
)]

pub mod growth;
pub mod least_squares;
