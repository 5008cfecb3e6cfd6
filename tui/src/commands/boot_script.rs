//! The script with which an engine begins to record, before all else that it loads.
//!
//! Tests that do without `portmortem record` have this file, too.

use std::path::Path;

use portmortem_analyzer::trace::names::quoted;

/// Records into `output`. The sources of `library(portmortem)` are in the directory `sources`, and
/// what it loads into the engine in `library`; `options` are those of `pm_start/2`.
pub(crate) fn boot_script(sources: &Path, library: &Path, output: &Path, options: &str) -> String {
    let paths = [sources, library, output];
    let [sources, library, output] = paths.map(|path| quoted(&path.display().to_string()));
    format!(
        ":- asserta(user:file_search_path(library, {sources})).\n\
         :- asserta(user:file_search_path(foreign, {library})).\n\
         :- use_module(library(portmortem_boot), []).\n\
         :- portmortem_boot:boot({output}, [{options}]).\n"
    )
}
