//! Goals in arguments of meta-predicates, recorded with stubs: they have boxes and sites, whatever
//! calls them.

use std::collections::{BTreeMap, BTreeSet};

use portmortem_tests::{Profiled, Sandbox};

/// Behind each line stands what is called there.
const PROGRAM: &str = r#":- initialization(main, main).
:- meta_predicate mine(0), mine_too(1, ?), passes(0), list(1, ?), body(//).

main :-
    findall(X, member(X, [1,2]), _),                        % findall/3 member/2
    forall(own(Y), catch(own(Y), _, true)),                 % forall/2 own/1 catch/3
    maplist(twice, [1,2], _),                               % maplist/3 twice/2
    maplist(atom_length, [a,bb], _),                        % maplist/3 atom_length/2
    foldl(plus_one(1), [1,2], 0, _),                        % foldl/4 plus_one/4
    aggregate_all(count, between(1, 3, _), _),              % aggregate_all/3 between/3
    aggregate_all(max(N), ( own(N), atom(N) ), _) ->        % aggregate_all/3 own/1
    true
;   more.

more :-
    catch(boom, E, print_message(silent, E)),               % catch/3 boom/0 print_message/2
    catch(boom, _, ( own(1), atom_length(a, _) )),          % catch/3 boom/0 own/1 atom_length/2
    bagof(Z, V^( pair(Z, V), own(V) ), _),                  % bagof/3 pair/2 own/1
    setof(Z1-V1, pair(Z1, V1), _),                          % setof/3 pair/2
    once(append(_, [_], [1])),                              % once/1 append/3
    ignore(sub_atom(abc, _, _, _, x)),                      % ignore/1 sub_atom/5
    \+ own(5),                                              % own/1
    with_mutex(m, own(1)),                                  % with_mutex/2 own/1
    with_mutex(m, ( own(1), twice(1, _) )),                 % with_mutex/2 own/1 twice/2
    with_mutex(m, atom_length(a, _)),                       % with_mutex/2 atom_length/2
    setup_call_cleanup(open('/dev/null', read, S),          % setup_call_cleanup/3 open/3
                       read(S, _),                          % read/2
                       close(S)),                           % close/1
    call(append([1]), [2], _),                              % call/3 append/3
    call((own(1), atom_length(b, _))),                      % call/1 own/1 atom_length/2
    phrase(greeting(_), `hi`, _),                           % phrase/3 greeting/3
    phrase(lists:append([]), [], []),                       % phrase/3 append/3
    maplist([A,B]>>(own(A), twice(A, B)), [1,2], _),        % maplist/3 >>/4 own/1 twice/2
    F = 1, foldl({F}/[C]>>plus_one(F, C), [1], 0, _),       % foldl/4 >>/5 plus_one/4
    maplist(lists:append([a]), [[b]], _),                   % maplist/3 append/3
    own.

own :-
    mine(own(1)),                                           % mine/1 own/1
    mine(append([], [], _)),                                % mine/1 append/3
    mine_too(own, 1),                                       % mine_too/2 own/1
    passes(twice(1, _)),                                    % passes/1 twice/2
    list(atom_length(abc), [3,3,3]),                        % list/2 atom_length/2
    body(greeting(_)),                                      % body/1 greeting/3
    thread_create(twice(1, _), Id), thread_join(Id),        % thread_create/2 thread_join/1
    G = own(1), findall(x, G, _),                           % findall/3
    findall(x, findall(y, own(_), _), _),                   % findall/3 own/1
    forall(own(I), own(I)),                                 % forall/2
    last.

last :-
    maplist(own, [1,2]).                                    % maplist/2 own/1

mine(G) :-
    call(G).                                                % call/1

mine_too(G, X) :-
    call(G, X).                                             % call/2

passes(G) :-
    own(1),                                                 % own/1
    mine(G).                                                % mine/1

list(_, []).
list(G, [X|Xs]) :-
    call(G, X),                                             % call/2
    list(G, Xs).                                            % list/2

body(B) :-
    phrase(B, `hi`, _).                                     % phrase/3

own(1).
own(2).

twice(X, Y) :- Y is X*2.

plus_one(A, _, B, C) :- C is A+B.

pair(a, 1).
pair(b, 2).

boom :- throw(boom).

greeting(x) --> "hi".
"#;

/// What is called in each line, of those that say so.
pub(crate) fn called(profiled: &Profiled, sandbox: &Sandbox) -> BTreeMap<usize, BTreeSet<String>> {
    assert!(profiled.events() > 0);
    let events = sandbox
        .portmortem(["events", "run.pmt", "--format", "csv"])
        .succeeds()
        .out();
    let mut called: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut reader = csv::Reader::from_reader(events.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (port, predicate, line) = (column("port"), column("predicate"), column("line"));
    for record in reader.records().map(Result::unwrap) {
        let is_call = ["call", "tail"].contains(&&record[port]);
        if is_call && let Ok(line) = record[line].parse() {
            let (_, name) = record[predicate]
                .split_once(':')
                .unwrap_or(("", &record[predicate]));
            let name = name.replace(['(', ')'], "");
            called.entry(line).or_default().insert(name);
        }
    }
    called
}

#[test]
fn goals_in_arguments_have_boxes_and_sites() {
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("run", PROGRAM, &[]);
    assert_lines(PROGRAM, &called(&profiled, &sandbox));
}

/// Each line of a program calls what it says behind `% `, and nothing else.
pub(crate) fn assert_lines(program: &str, called: &BTreeMap<usize, BTreeSet<String>>) {
    let nothing = BTreeSet::new();
    let mut complaints = Vec::new();
    for (index, text) in program.lines().enumerate() {
        if let Some((_, wanted)) = text.split_once("% ") {
            let wanted: BTreeSet<String> = wanted.split_whitespace().map(str::to_owned).collect();
            let found = called.get(&(index + 1)).unwrap_or(&nothing);
            if *found != wanted {
                complaints.push(format!("{text}\n  {found:?}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// A goal that two arguments might be has a box, and no site.
#[test]
fn a_goal_that_may_be_either_has_no_site() {
    let program = ":- initialization(main, main).\n\
                   main :- forall(own(X), own(X)).\n\
                   own(1).\n";
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("run", program, &[]);
    assert_eq!(profiled.row("own/1").calls, 2);
    let called = called(&profiled, &sandbox);
    assert_eq!(called[&2], BTreeSet::from([String::from("forall/2")]));
}

/// What a library calls for itself is part of it.
#[test]
fn goals_of_libraries_have_no_boxes() {
    let program = ":- initialization(main, main).\n\
                   main :- aggregate_all(bag(X-Y), own(X, Y), _), findall(X, own(X, _), _), numlist(1, 3, L),\n\
                   \x20   sumlist(L, _), predsort([O,A,B]>>compare(O, A, B), [3,1,2], _), sort(0, @>=, L, _),\n\
                   \x20   format(\"~w~n\", [a]), with_output_to(string(_), write(a)), term_to_atom(a, _).\n\
                   own(1, 2).\n\
                   own(2, 3).\n";
    let sandbox = Sandbox::new();
    let profiled = sandbox.record("run", program, &[]);
    let mut names = profiled.names();
    names.retain(|name| !name.starts_with("system:") || name.contains("write"));
    names.sort();
    let wanted = [
        "'$bags':findall/3",
        "aggregate:aggregate_all/3",
        "backward_compatibility:sumlist/2",
        "lists:numlist/3",
        "main/0",
        "own/2",
        "sort:predsort/3",
        "system:write/1",
        "yall:(>>)/5",
    ];
    assert_eq!(names, wanted);
}

/// The first call of a predicate that a library implements in C, and is loaded for, has a box.
#[test]
fn a_library_in_c_is_loaded_when_it_is_called() {
    for goal in [
        "uri_components('http://a/b', _)",
        "findall(x, uri_components('http://a/b', _), _)",
        "call(uri_components, 'http://a/b', _)",
        "use_module(library(uri), []), uri:uri_components('http://a/b', _)",
    ] {
        let program = format!(":- initialization(main, main).\nmain :- {goal}.\n");
        let profiled = Sandbox::new().record("run", &program, &[]);
        assert_eq!(profiled.row("uri:uri_components/2").calls, 1, "{goal}");
    }
}

/// A library that is loaded when it is called has one row for each predicate.
#[test]
fn a_library_predicate_has_one_row() {
    let program = ":- initialization(main, main).\n\
                   main :- last([1,2], _), last([3], _).\n";
    let profiled = Sandbox::new().record("run", program, &["--libraries"]);
    let names = profiled.names();
    let of_last = names.iter().filter(|name| *name == "lists:last/2").count();
    assert_eq!(of_last, 1, "{names:?}");
    assert_eq!(profiled.row("lists:last/2").calls, 2);
    assert_eq!(profiled.edge("main/0", "lists:last/2").calls, 2);
}

/// One `findall/3` runs inside another, and the goals of a recursion inside each other.
const NESTED: &str = "\
:- initialization(main, main).
main :-
    findall(S, ( between(1, 100, I), total(I, S) ), Ss),
    sum_list(Ss, T),
    fib(12, F),
    format(\"~d ~d~n\", [T, F]).
total(I, S) :-
    findall(Y, ( between(1, 3000, X), Y is X+I ), Ys),
    sum_list(Ys, S).
fib(N, N) :- N < 2, !.
fib(N, F) :-
    A is N-1,
    fib(A, X),
    B is N-2,
    fib(B, Y),
    F is X+Y.
";

#[test]
fn goals_inside_their_own_predicate_have_time() {
    let sandbox = Sandbox::new();
    sandbox.record("run", NESTED, &[]);
    let sites = ["report", "run.pmt", "--sites", "--format", "csv"];
    let sites = sandbox.portmortem(sites).succeeds().out();
    let mut reader = csv::Reader::from_reader(sites.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let (callee, line, served) = (column("callee"), column("line"), column("served_ns"));
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let served = |name: &str, at: u32| -> u64 {
        let is_it =
            |row: &&csv::StringRecord| row[callee].ends_with(name) && row[line] == at.to_string();
        let row = rows.iter().find(is_it);
        row.unwrap_or_else(|| panic!("{name} in line {at} of {sites}"))[served]
            .parse()
            .unwrap()
    };
    // All that the inner one collects is found inside of it, and it is inside the outer one.
    let (inner, outer) = (served("findall/3", 8), served("findall/3", 3));
    assert!(0 < served("between/3", 8) && served("between/3", 8) < inner);
    assert!(inner < served("total/2", 3) && served("total/2", 3) < outer);
    let whole = served("fib/2", 5);
    for line in [13, 15] {
        assert!(0 < served("fib/2", line) && served("fib/2", line) < whole);
    }
    sandbox.portmortem(["verify", "run.pmt"]).succeeds();
}
