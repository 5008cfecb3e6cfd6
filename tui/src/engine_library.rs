//! The library that SWI-Prolog loads, and the Prolog sources that go with it.

use std::path::PathBuf;

use anyhow::Result;

use crate::parts::ProgramFile;

/// What undoes the traces of a site file of ours.
pub(crate) const START: &str = include_str!("../../tracer/swi/prolog/portmortem_start.pl");

/// The Prolog sources, by file name.
pub(crate) const SOURCES: &[(&str, &str)] = &[
    (
        "portmortem.pl",
        include_str!("../../tracer/swi/prolog/portmortem.pl"),
    ),
    (
        "portmortem_engine.pl",
        include_str!("../../tracer/swi/prolog/portmortem_engine.pl"),
    ),
    (
        "portmortem_wrap.pl",
        include_str!("../../tracer/swi/prolog/portmortem_wrap.pl"),
    ),
    (
        "portmortem_registry.pl",
        include_str!("../../tracer/swi/prolog/portmortem_registry.pl"),
    ),
    (
        "portmortem_selection.pl",
        include_str!("../../tracer/swi/prolog/portmortem_selection.pl"),
    ),
    (
        "portmortem_ways.pl",
        include_str!("../../tracer/swi/prolog/portmortem_ways.pl"),
    ),
    (
        "portmortem_wrapper.pl",
        include_str!("../../tracer/swi/prolog/portmortem_wrapper.pl"),
    ),
    (
        "portmortem_copies.pl",
        include_str!("../../tracer/swi/prolog/portmortem_copies.pl"),
    ),
    (
        "portmortem_names.pl",
        include_str!("../../tracer/swi/prolog/portmortem_names.pl"),
    ),
    (
        "portmortem_terms.pl",
        include_str!("../../tracer/swi/prolog/portmortem_terms.pl"),
    ),
    (
        "portmortem_internal.pl",
        include_str!("../../tracer/swi/prolog/portmortem_internal.pl"),
    ),
    (
        "portmortem_goals.pl",
        include_str!("../../tracer/swi/prolog/portmortem_goals.pl"),
    ),
    (
        "portmortem_boundary.pl",
        include_str!("../../tracer/swi/prolog/portmortem_boundary.pl"),
    ),
    (
        "portmortem_lines.pl",
        include_str!("../../tracer/swi/prolog/portmortem_lines.pl"),
    ),
    (
        "portmortem_walk.pl",
        include_str!("../../tracer/swi/prolog/portmortem_walk.pl"),
    ),
    (
        "portmortem_meta.pl",
        include_str!("../../tracer/swi/prolog/portmortem_meta.pl"),
    ),
    (
        "portmortem_drivers.pl",
        include_str!("../../tracer/swi/prolog/portmortem_drivers.pl"),
    ),
    (
        "portmortem_symbolic.pl",
        include_str!("../../tracer/swi/prolog/portmortem_symbolic.pl"),
    ),
    (
        "portmortem_trials.pl",
        include_str!("../../tracer/swi/prolog/portmortem_trials.pl"),
    ),
    (
        "portmortem_calibrate.pl",
        include_str!("../../tracer/swi/prolog/portmortem_calibrate.pl"),
    ),
    (
        "portmortem_hooks.pl",
        include_str!("../../tracer/swi/prolog/portmortem_hooks.pl"),
    ),
    (
        "portmortem_changes.pl",
        include_str!("../../tracer/swi/prolog/portmortem_changes.pl"),
    ),
    (
        "portmortem_temporary.pl",
        include_str!("../../tracer/swi/prolog/portmortem_temporary.pl"),
    ),
    (
        "portmortem_report.pl",
        include_str!("../../tracer/swi/prolog/portmortem_report.pl"),
    ),
    (
        "portmortem_settings.pl",
        include_str!("../../tracer/swi/prolog/portmortem_settings.pl"),
    ),
    ("portmortem_start.pl", START),
    (
        "portmortem_boot.pl",
        include_str!("../../tracer/swi/prolog/portmortem_boot.pl"),
    ),
    (
        "portmortem_stubs.pl",
        include_str!("../../tracer/swi/prolog/portmortem_stubs.pl"),
    ),
    (
        "portmortem_arguments.pl",
        include_str!("../../tracer/swi/prolog/portmortem_arguments.pl"),
    ),
    (
        "portmortem_listen.pl",
        include_str!("../../tracer/swi/prolog/portmortem_listen.pl"),
    ),
    (
        "portmortem_layout.pl",
        include_str!("../../tracer/swi/prolog/portmortem_layout.pl"),
    ),
    (
        "portmortem_loaded.pl",
        include_str!("../../tracer/swi/prolog/portmortem_loaded.pl"),
    ),
    (
        "portmortem_rules.pl",
        include_str!("../../tracer/swi/prolog/portmortem_rules.pl"),
    ),
    (
        "portmortem_declared.pl",
        include_str!("../../tracer/swi/prolog/portmortem_declared.pl"),
    ),
    (
        "portmortem_queue.pl",
        include_str!("../../tracer/swi/prolog/portmortem_queue.pl"),
    ),
    (
        "portmortem_disguise.pl",
        include_str!("../../tracer/swi/prolog/portmortem_disguise.pl"),
    ),
];

const LIBRARY: ProgramFile = ProgramFile {
    what: "the engine library",
    file: "libportmortem_swi.so",
    variable: "PORTMORTEM_ENGINE_LIBRARY",
};

/// The engine library.
///
/// # Errors
/// If it is in none of the places where it may be; the message names them.
pub(crate) fn find() -> Result<PathBuf> {
    LIBRARY.find()
}
