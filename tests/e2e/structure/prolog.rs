//! Circles among Prolog files of a directory.

use portmortem_tests::{Outcome, Sandbox};

use super::{checked, faults, sound};

/// A directory with `two.pl`, of the module `zwei`, which loads `one.pl`.
fn with_one(text: &str) -> Outcome {
    directory(text, ":- module(zwei, [go/0]).\n:- use_module(one).\ngo.\n")
}

/// As [`with_one`], where `two.pl` loads a foreign library.
fn with_foreign(text: &str) -> Outcome {
    let library = ":- use_foreign_library(two).\n:- dynamic known/1.\n";
    let two = format!(":- module(zwei, []).\n:- use_module(one).\n{library}go.\n");
    directory(text, &two)
}

fn directory(one: &str, two: &str) -> Outcome {
    let one = format!(":- module(one, []).\n{one}\n");
    checked(&Sandbox::new(), &[("pl/one.pl", &one), ("pl/two.pl", two)])
}

faults! { with_one says "error: pl/{one,two}: ":
    plain: ":- use_module(two).";
    with_imports: ":- use_module( two, [go/0] ).";
    as_a_library: ":- use_module(library(two)).";
    quoted: ":- use_module('two').";
    with_its_suffix: ":- use_module('two.pl').";
    as_a_string: ":- use_module(\"two\").";
    relative: ":- use_module('./two').";
    by_way_of_above: ":- use_module('../pl/two').";
    path_of_atoms: ":- use_module('..'/pl/two).";
    in_a_list: ":- use_module([library(lists), two]).";
    ensure_loaded: ":- ensure_loaded(two).";
    consult: ":- initialization(consult(two)).";
    load_files: ":- load_files([two], [if(not_loaded)]).";
    brackets: ":- [two].";
    brackets_of_several: ":- [library(lists), 'two.pl'].";
    reexport: ":- reexport(two, [go/0]).";
    autoload: ":- autoload(two).";
    autoload_of_some: ":- autoload(library(two), [go/0]).";
    include: ":- include(two).";
    in_a_clause: "go :- use_module(two).";
    qualified_goal: "go :- zwei:go.";
    quoted_module: "go :- 'zwei':go.";
    qualified_argument: "go :- findall(X, zwei:go(X), _).";
    qualified_variable: "go(X) :- call(zwei:X).";
    hook_of_the_other: ":- multifile zwei:hook/0.\nzwei:hook.";
    after_a_percent_sign: "x('%'). :- use_module(two).";
    after_a_percent_character: "x(0'%). :- use_module(two).";
    after_a_quote_character: "x(0''). :- use_module(two). y(0'').";
    after_two_quotes: "x(0'''). :- use_module(two). y(0''').";
    after_an_escaped_quote: "x('\\''). :- use_module(two). y('\\'').";
    after_a_doubled_quote: "x('it''s', \"\"\"\"). :- use_module(two). % '";
    after_a_radix: "x(16'FF). :- use_module(two). y(16'FF).";
    after_a_comment_in_quotes: "x('/*'). :- use_module(two). y('*/').";
    after_a_comment: "/* ' */ :- /* % */ use_module(two).";
}

faults! { with_foreign says "error: pl/{one,two}: ":
    what_it_defines: "go :- zwei:go.";
    what_it_declares: "go :- zwei:known(_).";
}

sound! { with_one:
    another_library: ":- use_module(library(lists)).\n:- use_module(library(x/two)).";
    another_directory: ":- use_module('../two').\n:- use_module(sub/two).";
    in_comments: "% :- use_module(two).\n/* :- [two]. /* */";
    in_quotes: "x(':- use_module(two).', \"zwei:go\", `[two]`).";
    after_a_character: "x(0'a, 0'\\n, 0'\\\\). % :- use_module(two).";
    list_of_a_clause: "x :- y([two]).\nx([two]).";
    import_list: ":- use_module(library(lists), [two/2]).";
    number: "x(zwei:3).";
    variable: "x(M, G) :- M:G.";
}

sound! { with_foreign:
    what_the_library_defines: "go :- zwei:'$begin', zwei:end(_).";
}
