//! The built-in and library predicates of SWI-Prolog that advice knows.

use super::super::clause_text::{ElementGoals, KeyUse, KeyedGoal};
use super::swi_constraints::{CONSTRAINTS, RULES};
use super::{EngineLibraries, ListMaker, MessagePrinter};
use super::{iso, swi_built_ins, swi_effects, swi_remedies};

/// The name of the engine in headers of traces, before its version.
pub(super) const NAME: &str = "SWI-Prolog";

pub(super) static LIBRARIES: EngineLibraries = EngineLibraries {
    built_ins: swi_built_ins::ALL,
    unseen: swi_built_ins::UNSEEN,
    copying: &[
        "nb_setval",
        "nb_setarg",
        "duplicate_term",
        "copy_term",
        "copy_term_nat",
    ],
    lambdas: &[("yall", ">>"), ("yall", "/")],
    for_elements: &["apply"],
    text_makers: &[
        ("system:format/3", 0),
        ("system:sformat/3", 0),
        ("system:with_output_to/2", 0),
        ("system:term_to_atom/2", 1),
        ("system:term_string/2", 0),
        ("strings:term_string/2", 0),
        ("system:string_concat/3", 2),
        ("system:atom_concat/3", 2),
        ("system:atomic_list_concat/2", 1),
        ("system:atomic_list_concat/3", 2),
        ("strings:interpolate_string/4", 1),
    ],
    text_parts: &[
        ("system:sub_string/5", 1, 5),
        ("system:sub_atom/5", 1, 5),
        ("system:string_concat/3", 3, 1),
        ("system:string_concat/3", 3, 2),
        ("system:atom_concat/3", 3, 1),
        ("system:atom_concat/3", 3, 2),
    ],
    message_printers: MESSAGE_PRINTERS,
    list_makers: LIST_MAKERS,
    choosing: &[("lists:member/2", 0), ("system:between/3", 2)],
    effects: &swi_effects::EFFECTS,
    keyed: KEYED,
    elements: ElementGoals {
        first: iso::FIRST_ELEMENT,
        last: &["last"],
    },
    measuring: iso::MEASURING,
    counting: &[("aggregate_all", "count")],
    remedies: &swi_remedies::REMEDIES,
    directory: Some("library"),
    module_prefix: "prolog_",
    looked_into: &["clpfd"],
    constraints: Some(&CONSTRAINTS),
    rules: Some(&RULES),
};

const fn looked_up(name: &'static str, key: usize) -> KeyedGoal {
    let does = KeyUse::Lookup;
    KeyedGoal { name, key, does }
}

const fn kept(name: &'static str, key: usize) -> KeyedGoal {
    let does = KeyUse::Store;
    KeyedGoal { name, key, does }
}

const KEYED: &[KeyedGoal] = &[
    looked_up("del_assoc", 0),
    looked_up("get_assoc", 0),
    looked_up("ht_get", 1),
    kept("ht_put", 1),
    looked_up("memberchk", 0),
    kept("put_assoc", 0),
    kept("rb_insert", 1),
    looked_up("rb_insert_new", 1),
    looked_up("rb_lookup", 0),
    kept("rb_update", 1),
    looked_up("trie_gen", 1),
    looked_up("trie_insert", 1),
    looked_up("trie_lookup", 1),
];

const MESSAGE_PRINTERS: &[MessagePrinter] = &[
    MessagePrinter {
        indicators: "prolog_debug:debug/3 debug:debug/3 '$messages':debug/3 system:debug/3",
        silent_ns: 5_000,
        instead: "make the text only if it is wanted: give the format and its arguments to debug/3 itself, which formats nothing if the \
                 topic is off; or ask debugging(Topic) first. The same goes for what is computed for the text alone.",
    },
    MessagePrinter {
        indicators: "prolog_debug:print_message/2 debug:print_message/2 '$messages':print_message/2 system:print_message/2",
        silent_ns: 20_000,
        instead: "make the text only if it is wanted: give print_message/2 the format and its arguments, as format(Format, Arguments); or \
                 ask first whether such messages are shown. The same goes for what is computed for the text alone.",
    },
];

const LIST_MAKERS: &[ListMaker] = &[
    ListMaker {
        names: "assoc_to_keys/2 assoc_to_values/2 assoc_to_list/2",
        of_first: "min_assoc/3 finds the least key and its value, and del_min_assoc/4 takes them out, too",
        of_last: "max_assoc/3 finds the greatest key and its value, and del_max_assoc/4 takes them out, too",
    },
    ListMaker {
        names: "rb_keys/2 rb_visit/2",
        of_first: "rb_min/3 finds the least key and its value, and rb_del_min/4 takes them out, too",
        of_last: "rb_max/3 finds the greatest key and its value, and rb_del_max/4 takes them out, too",
    },
    ListMaker {
        names: "sort/2 msort/2 list_to_ord_set/2",
        of_first: "min_member/2 goes along the list once; if the next one is wanted soon, keep the elements in library(heaps) or an assoc",
        of_last: "max_member/2 goes along the list once; if the next one is wanted soon, keep the elements in library(heaps) or an assoc",
    },
    ListMaker {
        names: "sort/4 predsort/3 keysort/2",
        of_first: "go along the list once and keep the best so far (foldl/4); if the next one is wanted soon, keep the elements in \
                   library(heaps) or an assoc",
        of_last: "go along the list once and keep the best so far (foldl/4); if the next one is wanted soon, keep the elements in \
                  library(heaps) or an assoc",
    },
    ListMaker {
        names: "setof/3",
        of_first: "aggregate_all(min(X), Goal, X) keeps the least so far; it fails if there is none, as setof/3 does",
        of_last: "aggregate_all(max(X), Goal, X) keeps the greatest so far; it fails if there is none, as setof/3 does",
    },
    ListMaker {
        names: "reverse/2",
        of_first: "last/2 goes along the list and makes nothing",
        of_last: "the first element of the list is the last one of the other: take it from that, [X|_]",
    },
];
