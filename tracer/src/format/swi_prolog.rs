//! The roles that predicates of SWI-Prolog have, by their names. Its adapter writes them into
//! traces. In traces of before format version 12, names are all that says them.

use std::ops::RangeInclusive;

use super::roles::{Role, Roles};

/// Predicates of arity 0 that the adapter for SWI-Prolog names for what is done without a call of
/// the program ([`Roles::is_engine_work`]). All are of the module `system`, but for [`INSTRUMENT`].
pub const ENGINE_WORK: [&str; 6] = [
    "stack_shift",
    "garbage_collect",
    WAITING,
    PREEMPTED,
    AUTOLOAD,
    INSTRUMENT,
];

/// The predicate of [`Role::SetUp`]: it is of the recorder's own module.
pub const INSTRUMENT: &str = "instrument";

/// The predicate of [`Role::Loading`].
pub const AUTOLOAD: &str = "autoload";

/// The predicate of [`Role::TableFilling`], of arity 0 and of the module `system`.
pub const FILL_TABLE: &str = "fill_table";

/// The predicate of [`Role::Waiting`].
pub const WAITING: &str = "waiting";

/// The predicate of [`Role::Preempted`].
pub const PREEMPTED: &str = "preempted";

/// The module of a predicate of [`ENGINE_WORK`].
#[must_use]
pub fn engine_work_module(name: &str) -> &'static str {
    if name == INSTRUMENT {
        "portmortem"
    } else {
        "system"
    }
}

/// Predicates that collect solutions, and the modules that versions of the engine have them in.
const COLLECTORS: [(&str, RangeInclusive<u32>); 8] = [
    ("findall", 3..=4),
    ("findnsols", 4..=5),
    ("forall", 2..=2),
    ("foreach", 2..=2),
    ("bagof", 3..=3),
    ("setof", 3..=3),
    ("aggregate_all", 3..=4),
    ("aggregate", 3..=4),
];
const COLLECTOR_MODULES: [&str; 4] = ["system", "$apply", "$bags", "aggregate"];

/// What built-in and library predicates do, by name; with a star, by how their names begin.
const OF_LIBRARIES: [(Role, &[&str]); 7] = [
    (Role::Flushes, &["flush_output", "ttyflush"]),
    (
        Role::Writes,
        &["format*", "nl*", "print*", "put_*", "tab*", "write*"],
    ),
    (
        Role::ReadsFile,
        &[
            "consult*",
            "csv_read_file*",
            "load_files*",
            "load_html*",
            "load_structure*",
            "load_xml*",
            "read_file_to_*",
            "see*",
        ],
    ),
    (
        Role::ReadsText,
        &[
            "atom_json_*",
            "atom_to_term*",
            "read_term_from_atom*",
            "sformat*",
            "term_string*",
            "term_to_atom*",
            "text_to_term*",
        ],
    ),
    (
        Role::Sorts,
        &[
            "keysort",
            "list_to_assoc",
            "list_to_ord_set",
            "list_to_set",
            "msort",
            "predsort",
            "sort",
        ],
    ),
    (
        Role::Walks,
        &[
            "last",
            "length",
            "max_list",
            "max_member",
            "min_list",
            "min_member",
            "nth0",
            "nth1",
            "reverse",
            "subtract",
            "sum_list",
            "sumlist",
        ],
    ),
    (Role::SortsByGoal, &["predsort"]),
];

/// The roles of a predicate of SWI-Prolog or of the recorder for it; none of most.
#[must_use]
pub fn swi_prolog_roles(module: &str, name: &str, arity: u32) -> Roles {
    let role = own(module, name)
        .filter(|_| arity == 0)
        .or_else(|| collector(module, name, arity))
        .or_else(|| waiter(module, name));
    let built_in = is_built_in(module).then_some(Role::BuiltIn);
    let is_name = |known: &&str| match known.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *known,
    };
    let of_libraries = OF_LIBRARIES.iter();
    let of_library = of_libraries.filter(|(_, names)| names.iter().any(is_name));
    let roles = [role, built_in].into_iter().flatten();
    let roles = roles.chain(of_library.map(|&(role, _)| role));
    roles.fold(Roles::default(), Roles::with)
}

fn is_built_in(module: &str) -> bool {
    module == "system" || module.starts_with('$')
}

fn own(module: &str, name: &str) -> Option<Role> {
    let role = match name {
        "garbage_collect" => Role::Collection,
        "stack_shift" => Role::StackShift,
        WAITING => Role::Waiting,
        PREEMPTED => Role::Preempted,
        AUTOLOAD => Role::Loading,
        INSTRUMENT => Role::SetUp,
        FILL_TABLE => Role::TableFilling,
        _ => return None,
    };
    (module == engine_work_module(name)).then_some(role)
}

fn collector(module: &str, name: &str, arity: u32) -> Option<Role> {
    let is_one = COLLECTOR_MODULES.contains(&module)
        && (COLLECTORS.iter()).any(|(known, arities)| *known == name && arities.contains(&arity));
    is_one.then_some(Role::Collector)
}

fn waiter(module: &str, name: &str) -> Option<Role> {
    // The library waits for the threads that it made.
    if module == "thread" && (name.starts_with("concurrent") || name.starts_with("first_sol")) {
        return Some(Role::WaitsForThread);
    }
    if !is_built_in(module) {
        return None;
    }
    Some(match name {
        "with_mutex" | "mutex_lock" => Role::WaitsForMutex,
        "thread_get_message"
        | "thread_send_message"
        | "thread_join"
        | "thread_peek_message"
        | "thread_wait"
        | "thread_idle" => Role::WaitsForThread,
        "sleep" => Role::WaitsForTime,
        "process_wait" | "wait_for_input" => Role::WaitsForInput,
        name if ["read", "get_", "peek_"]
            .iter()
            .any(|begin| name.starts_with(begin)) =>
        {
            Role::WaitsForInput
        }
        _ => return None,
    })
}
