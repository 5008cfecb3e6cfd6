//! What built-in and library predicates of SWI-Prolog do at each call, where that takes long, and
//! what is done in their place.

use super::BuiltIn;

/// Built-in predicates that have no box, as they take next to no time where their data is small.
pub(super) const UNSEEN: &[&str] = &["=..", "compound_name_arguments", "nb_setarg", "nb_setval"];

pub(super) const ALL: &[BuiltIn] = &[
    BuiltIn {
        names: "append",
        does: "copies each list but the last, and asked to take a list apart tries each way to do so",
        instead: "put new elements in front and reverse once, use a difference list or a grammar, or collect with findall/3; take a \
                  list apart by its head, [X|Xs].",
    },
    BuiltIn {
        names: "nth0 nth1 random_member",
        does: "goes along the list from its beginning to the place",
        instead: "go along the list once and use each element as it comes; hand on the rest of the list with the place; or make a \
                  term of the list once (T =.. [row|List]) and use arg/3, which goes to a place at once.",
    },
    BuiltIn {
        names: "last length proper_length sumlist sum_list max_list min_list max_member min_member",
        does: "goes along the whole list",
        instead: "keep the figure beside the list and bring it up to date with each element, or compute it once before the loop; to \
                  see whether a list is empty or has one element, match it with [] or [_].",
    },
    BuiltIn {
        names: "reverse flatten exclude include partition pairs_keys_values pairs_values pairs_keys \
                numlist",
        does: "makes a new list of all elements",
        instead: "do it once, before the loop; collect in the order that is wanted; or let what makes the list leave out or part its \
                  elements (between/3 gives numbers without a list).",
    },
    BuiltIn {
        names: "member select nextto",
        does: "searches the list from its beginning; where the element is not known, it gives one after the other, and what waits for \
               that variable (dif/2, freeze/2, constraints) runs in it",
        instead: "to look something up, keep it by its key: library(assoc) or library(rbtrees), a fact for each element with the key \
                  as its first argument, or an ordered set. Where it chooses, leave out of the list what cannot pass, and choose first \
                  where fewest are left.",
    },
    BuiltIn {
        names: "memberchk selectchk option select_option merge_options",
        does: "searches the list from its beginning",
        instead: "keep what is looked up by its key: library(assoc) or library(rbtrees), a fact for each element with the key as its \
                  first argument, or an ordered set; take options out once, before the loop.",
    },
    BuiltIn {
        names: "delete subtract union intersection permutation list_to_set subset is_set",
        does: "compares elements of one list with all of another, or of the same",
        instead: "keep sorted sets and use library(ordsets) (list_to_ord_set/2, ord_subtract/3, ord_union/3), which go along both \
                  lists once; or library(assoc) where single elements are looked up. Permutations are n!: place one element \
                  at a time and test it.",
    },
    BuiltIn {
        names: "ord_union ord_subtract ord_intersection ord_memberchk ord_add_element \
                ord_del_element ord_subset",
        does: "goes along its sets, and makes a new one",
        instead: "collect what is new in a list, and make one set of it behind the loop (sort/2); or keep single elements where one \
                  is found without the others: library(assoc), library(rbtrees), a fact for each.",
    },
    BuiltIn {
        names: "sort msort predsort keysort list_to_ord_set",
        does: "sorts the whole list",
        instead: "sort once, behind the loop that collects; keep what is sorted already and merge what is new; where only the least is \
                  wanted next, use library(heaps) or an assoc; predsort/3 calls a predicate for each comparison: sort pairs Key-Value \
                  with keysort/2 or sort/4.",
    },
    BuiltIn {
        names: "must_be is_list ground is_of_type is_assoc term_variables cyclic_term acyclic_term",
        does: "goes over the whole term to check it",
        instead: "check once where the data comes in, not in each step of a recursion.",
    },
    BuiltIn {
        names: "term_hash variant_sha1 variant_hash subsumes_term unifiable =@= ?=",
        does: "goes over the whole terms",
        instead: "give what is compared a number or an atom as its name once, and compare that.",
    },
    BuiltIn {
        names: "copy_term copy_term_nat duplicate_term findnsols",
        does: "copies the whole term",
        instead: "take out of it first what is needed (one rule, one element), and copy that alone; hand what is fixed on as an argument; a predicate in place of a term that is copied to be \
                  filled in.",
    },
    BuiltIn {
        names: "=.. compound_name_arguments",
        does: "copies all arguments of a term",
        instead: "use arg/3 and setarg/3 for one of many, and keep what changes in library(assoc), library(rbtrees) or a list.",
    },
    BuiltIn {
        names: "nb_setval nb_setarg recorda recordz",
        does: "copies the whole term",
        instead: "hand the data on as an argument; or keep small pieces under keys of their own, or a fact for each. b_setval/2 does not copy, but \
                  backtracking takes back what it set.",
    },
    BuiltIn {
        names: "recorded",
        does: "tries the terms of its key one after the other, and copies each",
        instead: "a fact for each term, whose first arguments an index finds; or keys that fewer terms share.",
    },
    BuiltIn {
        names: "findall bagof setof aggregate_all aggregate",
        does: "copies each solution",
        instead: "ask for what is needed alone: collect fewer variables, not whole terms; collect once before the loop, and in it only \
                  what is new; for one solution use once/1; for a sum or a count aggregate_all/3 makes no list; forall/2 where nothing is collected.",
    },
    BuiltIn {
        names: "assertz asserta assert retract retractall erase",
        does: "compiles or erases clauses, copies their terms, and has the indexes of the predicate made again",
        instead: "hand the data on in arguments (library(assoc), library(rbtrees)); keep a counter in an argument, or in flag/3 or \
                  nb_setval/2; of what is kept in clauses change small facts, with a first argument that is bound at the call.",
    },
    BuiltIn {
        names: "clause predicate_property current_predicate current_op",
        does: "looks through what is defined",
        instead: "ask once and keep the answer; write the rules that are interpreted as clauses that run.",
    },
    BuiltIn {
        names: "atom_concat string_concat atomic_list_concat atomics_to_string",
        does: "makes a new text of the whole, and where no part is known tries each way to take it apart",
        instead: "collect the parts in a list and join them once (atomic_list_concat/2), or write them with with_output_to/2; to take \
                  a text apart, use split_string/4 or sub_string/5 with a known part, or make codes of it once and use a grammar.",
    },
    BuiltIn {
        names: "sub_atom sub_string sub_atom_icasechk atom_length string_length char_code \
                get_string_code string_code",
        does: "makes a new text of each part, and tries each place where that is not given",
        instead: "make codes or chars of the text once (string_codes/2, atom_codes/2) and go along that list, also with a grammar; \
                  or take out with known places what is needed alone.",
    },
    BuiltIn {
        names: "atom_codes atom_chars string_codes string_chars atom_string atom_number number_codes \
                number_string string_to_atom text_to_string number_chars upcase_atom downcase_atom \
                string_lower string_upper normalize_space",
        does: "turns the whole text into another form",
        instead: "turn it once, where it comes in, and work with one form of it; compare numbers and terms, not their texts.",
    },
    BuiltIn {
        names: "term_to_atom term_string read_term_from_atom read_term read atom_to_term \
                split_string parse_time re_match re_matchsub re_replace re_split re_foldl",
        does: "reads a text as a term, a time or its parts",
        instead: "read it once, where it comes in, and hand the term on; keep a pattern compiled (re_compile/3), and facts in place of \
                  texts.",
    },
    BuiltIn {
        names: "portray_clause listing",
        does: "copies the clause, names its variables and lays it out goal by goal",
        instead: "for plain facts write_canonical/1 or format('~q.~n', [Fact]), which lay out nothing.",
    },
    BuiltIn {
        names: "call",
        does: "compiles a body that is more than one goal (conjunction, disjunction, if-then-else) each time before it runs",
        instead: "keep such a body as a clause, which is compiled once (assertz((run(X) :- Body)), or a clause for each in the \
                  program), and call that; where data is interpreted, one goal at a time is not compiled.",
    },
    BuiltIn {
        names: "format write print writeq write_canonical write_term print_message \
                print_message_lines with_output_to nl put_char tab writeln",
        does: "makes a text, or writes one",
        instead: "make texts for what is printed alone, where it is printed; collect data and not its text; for keys use terms (key(A, \
                  B)), which need no text; write much at once to a stream that is fully buffered.",
    },
    BuiltIn {
        names: "format_time stamp_date_time date_time_stamp date_time_value day_of_the_week",
        does: "computes with calendars, time zones and texts",
        instead: "keep and compare time stamps (numbers), and make a date of them once, where one is printed.",
    },
    BuiltIn {
        names: "open close see seen tell told exists_file exists_directory directory_files \
                absolute_file_name size_file time_file delete_file read_file_to_terms \
                read_file_to_string read_file_to_codes load_files consult csv_read_file tmp_file \
                tmp_file_stream",
        does: "asks the system for a file",
        instead: "open and read a file once, keep the stream or what was in it, and close it at the end.",
    },
    BuiltIn {
        names: "get_char get_code get_byte peek_char peek_code peek_byte peek_string \
                at_end_of_stream read_line_to_string read_line_to_codes read_pending_codes seek \
                set_stream_position stream_property",
        does: "locks and looks at the stream for a little of it",
        instead: "read much at once (read_string/3, read_stream_to_codes/2, phrase_from_file/2), and go along that.",
    },
    BuiltIn {
        names: "list_to_assoc assoc_to_list assoc_to_keys assoc_to_values ord_list_to_assoc \
                map_assoc list_to_rbtree rb_keys rb_visit ord_list_to_rbtree dict_pairs dict_create \
                max_assoc min_assoc",
        does: "goes over the whole tree or dict, or makes a new one",
        instead: "make it once, before the loop, and look up or change single keys in it (get_assoc/3, put_assoc/4, del_min_assoc/4).",
    },
    BuiltIn {
        names: "put_dict del_dict get_dict .",
        does: "copies all pairs of the dict for each that is put in, and looks keys up by halving",
        instead: "library(assoc) or library(rbtrees), whose versions share what did not change; or collect pairs, and make the dict once.",
    },
    BuiltIn {
        names: "put_assoc rb_insert rb_insert_new rb_update del_assoc del_min_assoc add_to_heap",
        does: "makes new nodes from the root to the key, and compares keys as terms on the way",
        instead: "make keys small (numbers, atoms); if all pairs are known beforehand, list_to_assoc/2 makes it at once; group by \
                  sorting (keysort/2, group_pairs_by_key/2) in place of a tree that is changed for each element.",
    },
    BuiltIn {
        names: "get_assoc rb_lookup rb_in",
        does: "compares keys as terms from the root of the tree on",
        instead: "make keys small (numbers, atoms), look a key up once and hand the value on; facts with the key as their first \
                  argument, or arg/3 for numbers, are found at once.",
    },
    BuiltIn {
        names: "gen_assoc between repeat arg",
        does: "gives one after the other",
        instead: "give fewer: compute the value from what is known, narrow the bounds, or test each part as soon as it is known.",
    },
    BuiltIn {
        names: "string_without string nonblanks blanks blank whites white digits digit integer float number xinteger",
        does: "takes codes from the front of a text, one after the other",
        instead: "take each part of the text once: what alternatives begin with in one goal before them; where parts are divided by \
                  single characters, split_string/4 and number_codes/2 do it at once.",
    },
    BuiltIn {
        names: ">> /",
        does: "copies the lambda at each call, with all that its variables are bound to",
        instead: "write a predicate and hand it the data as arguments (foldl(step(Data), …)).",
    },
    BuiltIn {
        names: "foldl maplist call_dcg phrase forall",
        does: "calls its goal for each element or solution, and most of its time is that of the goal",
        instead: "make that goal cheaper; where it does next to nothing, write the loop as a predicate of its own.",
    },
    BuiltIn {
        names: "neighbours neighbors add_edges add_vertices del_edges del_vertices \
                vertices_edges_to_ugraph transitive_closure reachable edges vertices \
                transpose_ugraph top_sort",
        does: "goes along the list of all vertices",
        instead: "make the graph once of all edges (vertices_edges_to_ugraph/3); look neighbours up in an assoc, or as facts \
                  edge(From, To).",
    },
    BuiltIn {
        names: "transpose foldsubterms mapargs mapsubterms sub_term occurrences_of_term \
                sub_term_shared_variables numbervars",
        does: "goes over the whole term or matrix",
        instead: "do it once, before the loop, and keep the result; change a row or part alone.",
    },
    BuiltIn {
        names: "garbage_collect garbage_collect_atoms garbage_collect_clauses trim_stacks statistics",
        does: "looks at all stacks, atoms or clauses",
        instead: "leave it out: the engine collects when it has to.",
    },
    BuiltIn {
        names: "abolish_all_tables untable abolish_module_tables abolish_table_subgoals",
        does: "throws away tables, which are filled again",
        instead: "keep the tables as long as their facts hold; (:- dynamic p/1 as incremental) and (:- table q/1 as incremental) \
                  throw away only what a change made wrong.",
    },
    BuiltIn {
        names: "thread_create thread_join first_solution concurrent concurrent_maplist \
                concurrent_forall message_queue_create engine_create engine_destroy",
        does: "makes or ends a thread or engine, with stacks of its own, and copies its goal",
        instead: "keep a few threads that take their work from a message queue, and give each a large piece; concurrent_maplist/3 is \
                  worth it for goals of milliseconds.",
    },
    BuiltIn {
        names: "thread_send_message thread_get_message thread_peek_message",
        does: "copies the whole message, or waits for it",
        instead: "send what differs alone, a number or a key, and give each thread what is the same for all when it is made; if \
                  messages are small, send fewer, with many jobs in each.",
    },
    BuiltIn {
        names: "mutex_lock mutex_unlock with_mutex",
        does: "waits for its turn",
        instead: "hold a mutex for the shortest part; give each thread data of its own and join it at the end.",
    },
    BuiltIn {
        names: "crypto_data_hash sha_hash md5_hash crypto_password_hash base64 base64_encoded \
                json_read json_read_dict json_write atom_json_term atom_json_dict load_html load_xml \
                load_structure xpath uri_components uri_encoded",
        does: "goes over the whole text or document",
        instead: "do it once for each document, and keep what came out.",
    },
    BuiltIn {
        names: "alarm alarm_at call_with_depth_limit call_with_inference_limit call_with_time_limit \
                remove_alarm",
        does: "sets a limit or an alarm, which another thread watches, and takes it off",
        instead: "set one limit around the whole loop; or look at the time (get_time/1) or at a count in each round, and end \
                  the loop where it is over.",
    },
    BuiltIn {
        names: "indomain label labeling",
        does: "tries one value after the other, and each wakes the constraints of its variable",
        instead: "post all constraints of these variables before the first of them gets a value, and give all of them values in one \
                  goal behind that: what is posted later only rejects what was tried. labeling([ff], Vars) searches less in \
                  many programs, and gives solutions in another order.",
    },
    BuiltIn {
        names: "#= #< #> #=< #>= #\\= sum scalar_product all_different all_distinct tuples_in \
                element global_cardinality circuit in ins",
        does: "posts a constraint, or wakes those of its variables",
        instead: "a constraint on variables that get their values later is woken for each of them: call what gives them values first, \
                  or use is/2 and comparisons where these are known. Where they are searched for, post fewer or stronger \
                  constraints.",
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ALL;

    #[test]
    fn each_name_is_known_once() {
        let mut seen = BTreeSet::new();
        for name in ALL.iter().flat_map(|one| one.names.split(' ')) {
            assert!(seen.insert(name), "{name} stands in two entries");
        }
    }

    #[test]
    fn they_are_sentences() {
        for one in ALL {
            assert!(!one.does.ends_with('.'), "{}", one.does);
            assert!(one.instead.ends_with('.'), "{}", one.instead);
        }
    }
}
