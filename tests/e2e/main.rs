//! The end-to-end tests: the built program on the real engine. Each module is one subject.
//!
//! One of them alone: `cargo nextest run --workspace -E 'binary(e2e) & test(crash::)'`.

#![allow(
    clippy::unwrap_used,
    reason = "in a test a panic is a failure with its place"
)]

mod advice_pages;
mod advise;
mod advise_causes;
mod advise_constraints;
mod advise_loops;
mod advise_places;
mod advise_values;
mod annotate;
mod arguments;
mod at_once;
mod attach;
mod baseline;
mod clauses;
mod cli;
mod closed_pipe;
mod counts;
mod crash;
mod cutting;
mod damage;
mod debray;
mod diagnose;
mod diff;
mod documents;
mod dollar_names;
mod drivers;
mod ends;
mod events;
mod export;
mod facts;
mod failures;
mod false_findings;
mod folding;
mod generated;
mod generator;
mod goals;
mod graph;
mod hostile;
mod html;
mod index;
mod install;
mod library;
mod loading_recorder;
mod mistakes;
mod names;
mod noting;
mod opium;
mod other_engine;
mod packing;
mod port_counts;
mod portable;
mod predict;
mod query;
mod questions;
mod random_control;
mod random_programs;
mod reloading;
mod run_time_goals;
mod same_behaviour;
mod selection;
mod set_up_row;
mod setup;
mod shortened;
mod signals;
mod sites;
mod starting;
mod structure;
mod stubs;
mod stubs_end;
mod table_order;
mod tabling;
mod tools;
mod toplevel;
mod trials;
mod try_changes;
mod try_constraints;
mod try_moves;
mod try_starts;
mod tui;
mod unit_tests;
mod values;
mod viewers;
mod waiting;
mod waits;
mod width;
