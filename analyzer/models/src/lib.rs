//! Models of cost: how counts grow with the size of the input, what the components of a program's work cost on a platform,
//! and both together as predicted times (Mera et al. 2006, "Towards Execution Time Estimation for Logic Programs via
//! Static Analysis and Profiling").
//!
//! | step | module |
//! |---|---|
//! | traces → work by predicate and size | [`recordings`] |
//! | counts at several sizes → functions | [`growth`] |
//! | programs → counts and times | [`measure`] |
//! | counts and times → constants of a platform | [`calibration`], [`least_squares`], [`model`], [`platform`] |
//! | functions and constants → times | [`prediction`], [`table`] |

#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        reason = "in a test a panic is a failure with its place"
    )
)]

pub mod calibration;
pub mod growth;
pub mod least_squares;
pub mod measure;
pub mod model;
pub mod platform;
pub mod prediction;
pub mod recordings;
pub mod table;
