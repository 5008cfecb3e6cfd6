//! What advice proposes, in words of an engine: its libraries, declarations and recorder.

use super::super::Need;
use crate::text::shell_quoted;

/// Texts of findings, most of them named by their cause. One that begins as a sentence does in the
/// middle, or ends in no full stop, is a part of one.
#[derive(Debug)]
pub(in crate::advice) struct Remedies {
    /// Whether its traces are made by `portmortem record`, with the options of that.
    pub(super) names_options: bool,
    /// The directive that keeps the results of a predicate, without its indicator.
    pub(super) tabling: Option<&'static str>,
    /// Keeps data by key, in versions that share what did not change.
    pub(in crate::advice) by_key: &'static str,
    /// The simplest that keeps data by key.
    pub(in crate::advice) looked_up: &'static str,
    /// What goes over a result once, for all rounds of a loop.
    pub(in crate::advice) for_all_rounds: &'static str,
    /// Arguments in place of facts that are stored again and again.
    pub(in crate::advice) in_place_of_facts: &'static str,
    /// How it is asked whether there are at least so many solutions.
    pub(in crate::advice) some_solutions: &'static str,
    /// How elements are sorted by a key that is computed once for each.
    pub(in crate::advice) sorted_by_key: &'static str,
    /// Data that is copied by a built-in predicate in each call.
    pub(in crate::advice) copied_data: &'static str,
    /// Text of which the rest is copied in each step.
    pub(in crate::advice) consumed_text: &'static str,
    /// Data that grows and is gone over in each round.
    pub(in crate::advice) grown_data: &'static str,
    /// A list that is sorted in each round.
    pub(in crate::advice) sorted_again: &'static str,
    /// Clauses of which there are more at each call.
    pub(in crate::advice) more_clauses: &'static str,
    /// Texts as keys.
    pub(in crate::advice) text_keys: &'static str,
    pub(in crate::advice) filled_again: &'static str,
    pub(in crate::advice) many_answers: &'static str,
    /// What finds all that is reached with a set of what was seen, in brackets.
    pub(in crate::advice) reachable: &'static str,
    /// What makes exact fractions, in brackets.
    pub(in crate::advice) fractions: &'static str,
    pub(in crate::advice) power_modulo: &'static str,
    /// A sentence on numbers that are searched for.
    pub(in crate::advice) searched_numbers: &'static str,
    /// What leaves out a solution that was given before, behind a declaration of tables.
    pub(in crate::advice) distinct: &'static str,
    /// What commits in a grammar.
    pub(in crate::advice) commits_in_grammar: &'static str,
    /// How it is said that one solution of a built-in or library predicate is enough.
    pub(in crate::advice) one_solution: &'static str,
    /// Threads that work for as short a time as it takes to make them.
    pub(in crate::advice) short_threads: &'static str,
    /// What waits for time to pass.
    pub(in crate::advice) passing_time: &'static str,
}

/// How results are kept where no declaration is known that does so.
const KEPT: &str = "a fact for each result, or tabling where the engine has it";

impl Remedies {
    /// The declaration that keeps the results of a predicate; or in words what keeps them.
    pub(in crate::advice) fn table_of(&self, name: &str) -> String {
        match self.tabling {
            Some(table) => format!("\"{table} {name}.\""),
            None => KEPT.to_owned(),
        }
    }

    /// Whether a declaration is known that keeps results.
    pub(in crate::advice) fn has_tables(&self) -> bool {
        self.tabling.is_some()
    }

    /// What keeps results of any predicate.
    pub(in crate::advice) fn tabling(&self) -> &'static str {
        self.tabling.unwrap_or(KEPT)
    }

    /// Whether the options of `portmortem record` can be named.
    pub(in crate::advice) fn names_options(&self) -> bool {
        self.names_options
    }

    /// What another recording is to be made with, behind that word: options; or what they would
    /// keep.
    pub(in crate::advice) fn recorded_with(&self, needs: &[Need]) -> String {
        let each = needs.iter().map(|need| match self.names_options {
            true => match need.options().as_slice() {
                [option, value] => format!("{option} {}", shell_quoted(value)),
                options => options.join(" "),
            },
            false => need.in_words(),
        });
        let each: Vec<String> = each.collect();
        each.join(if self.names_options { " " } else { " and " })
    }

    /// To keep the results of a predicate, in words.
    pub(in crate::advice) fn to_table(&self, predicate: &str) -> String {
        match self.tabling {
            Some(_) => format!("table {predicate}"),
            None => format!("keep the results of {predicate}"),
        }
    }
}

/// What is true in any Prolog.
pub(super) static OF_ANY_PROLOG: Remedies = Remedies {
    names_options: false,
    tabling: None,
    by_key: "a balanced tree",
    looked_up: "a balanced tree",
    for_all_rounds: "sums by key in a balanced tree, or pairs that are sorted by key (keysort/2).",
    in_place_of_facts: "a balanced tree, a sorted list",
    some_solutions: ".",
    sorted_by_key: "sort pairs Key-Element with keysort/2, and take the keys off again.",
    copied_data: "hand the data from call to call as an argument; or keep small pieces of it, a fact for each.",
    consumed_text: "make codes or chars of the text once (atom_codes/2, atom_chars/2) and walk that list, also with a grammar; or keep \
                    the text, hand on an offset, and take out of it only what is needed.",
    grown_data: "collect what is new in a list, and make the whole once, behind the loop (sort/2); or keep the data where one element is \
                 found without the others: a balanced tree, a fact for each element.",
    sorted_again: "if most of the list was there at the call before, keep it sorted: a heap where only the least is wanted, a balanced \
                   tree, or merge it with what is new. If it is another list each time, it is as it should be.",
    more_clauses: "each call looks at more clauses than the one before. Give it a first argument that the engine can look up: an atom \
                   or a number that is bound at the call; or keep the data in a balanced tree.",
    text_keys: "use the term itself: a balanced tree compares terms as they are. Of a fact only the name and number of arguments of a \
                term are looked up at once, in most engines: give it a number of the term as first argument beside the term.",
    filled_again: "let the tables stay: throw them away only where what they depend on has changed, not after each question.",
    many_answers: "if one way is wanted, such as the shortest, have the table keep that one, where the engine can: put what decides and \
                   what is handed back into one argument, Cost-Way. If only the ends are wanted, leave the argument out.",
    reachable: "",
    fractions: "",
    power_modulo: "multiply and reduce by mod at each step; to square the base and halve the exponent takes few steps.",
    searched_numbers: "",
    distinct: "",
    commits_in_grammar: "!",
    one_solution: "once/1 or an if-then-else",
    short_threads: "to make a thread takes as long as that. Let a few threads do many jobs each, which they take from one queue; or do \
                    small jobs without a thread.",
    passing_time: "wait for the event itself instead of asking again and again.",
};
