//! What advice proposes where the engine is SWI-Prolog.

use super::remedies::Remedies;

pub(super) static REMEDIES: Remedies = Remedies {
    names_options: true,
    tabling: Some(":- table"),
    by_key: "library(assoc) or library(rbtrees)",
    looked_up: "library(assoc)",
    for_all_rounds: "sums by key in an assoc, or pairs that are grouped (keysort/2, group_pairs_by_key/2).",
    in_place_of_facts: "library(assoc), library(ordsets)",
    some_solutions: "; for at least N, findnsols/4 or limit/2 of library(solution_sequences).",
    sorted_by_key: "sort pairs Key-Element with keysort/2 or sort/4, and take the keys off again (library(pairs): map_list_to_pairs/3, \
                    pairs_values/2).",
    copied_data: "hand the data from call to call as an argument, or use b_setval/2, which does not copy; or keep it in clauses or in a \
                  table that is changed in place (library(nb_set), nb_setval/2 for each key).",
    consumed_text: "make codes or chars of the text once (string_codes/2, atom_codes/2) and walk that list, also with a grammar and \
                    phrase/2; or keep the text, hand on an offset, and take out of it only what is needed.",
    grown_data: "collect what is new in a list, and make the whole once, behind the loop (sort/2, list_to_ord_set/2); or keep the data \
                 where one element is found without the others: library(assoc), library(rbtrees), a fact for each element.",
    sorted_again: "if most of the list was there at the call before, keep it sorted: library(heaps) where only the least is wanted, \
                   library(assoc), or ord_union/3 with what is new. If it is another list each time, it is as it should be.",
    more_clauses: "each call looks at more clauses than the one before. Give it a first argument that the engine can look up: an atom \
                   or a number that is bound at the call (variant_sha1/2 or term_hash/2 make one of a term); or keep the data in \
                   library(assoc) or library(rbtrees).",
    text_keys: "use the term itself: library(assoc), library(rbtrees) and tries (trie_insert/2 fails for what is there already) compare \
                terms as they are. Of a fact only the name and number of arguments of a term are looked up at once: give it \
                a number of the term as first argument beside the term (term_hash/2), or keep such terms in a trie.",
    filled_again: "let the tables stay: call abolish_all_tables/0 only where what they depend on has changed, not after each question; \
                   of facts that change, declare predicate and facts incremental (:- table p/1 as incremental), which throws away no \
                   more than what depends on a change.",
    many_answers: "if one way is wanted, such as the shortest, have the table keep that one: put what decides and what is handed back \
                   into one argument, Cost-Way, and declare it with the mode min, as in (:- table way(_, _, min)); calls have a \
                   variable there, W, and then W = Cost-Way. If only the ends are wanted, leave the argument out.",
    reachable: " (library(ugraphs): reachable/3)",
    fractions: " (rdiv, rational/1, the flag prefer_rationals)",
    power_modulo: "powm(Base, Exponent, Modulus) computes the same for integers, and never has more digits than the modulus; or \
                   multiply and reduce by mod at each step.",
    searched_numbers: " Where numbers are searched for, library(clpfd) can do that.",
    distinct: ", distinct/1",
    commits_in_grammar: "!, once//1",
    one_solution: "once/1, an if-then-else, memberchk/2 for member/2",
    short_threads: "to make a thread takes as long as that. Let a few threads do many jobs each: concurrent_maplist/3 or \
                    concurrent_forall/2, or threads that take jobs from one queue (message_queue_create/1); or do small jobs without \
                    a thread.",
    passing_time: "wait for the event itself (thread_get_message/3 with a timeout, thread_wait/2) instead of asking again and again.",
};
