//! Driver loops: what they have done is collected, and only where it is certain that nothing but their `fail` brought them back.

use std::collections::BTreeMap;

use portmortem_analyzer::figures::Caller;
use portmortem_tests::{Profiled, Sandbox};

const PROGRAM: &str = "\
:- initialization(main, main).
main :- forall(loop(Goal), ( Goal -> true ; true )).
loop(plain). loop(printing). loop(branch). loop(pairs). loop(negated). loop(of_facts). loop(soft). loop(of_a_library).
loop(chosen). loop(filtering). loop(for_all). loop(for_each). loop(counting). loop(rejecting). loop(testing). loop(test_between). loop(unifying). loop(goes_on). loop(cutting).
:- dynamic fact/1.
fact(1). fact(2). fact(3).
gen(1). gen(2). gen(3).
work(_).
odd(1). odd(3).

plain :- gen(X), work(X), fail.
plain.
printing :- gen(X), work(X), write(X), nl, fail.
branch :- ( gen(X), work(X), fail ; true ).
chosen :- gen(X), ( X = 1 -> work(X) ; X = 2 -> work(0) ; work(X) ), fail.
pairs :- gen(X), gen(Y), work(X-Y), false.
negated :- \\+ ( gen(X), work(X), fail ), work(0).
of_facts :- fact(X), work(X), fail.
soft :- ( gen(X) *-> work(X) ; true ), fail.
of_a_library :- member(X, [1,2,3]), work(X), fail.
filtering :- gen(X), odd(X), work(X), fail.
for_all :- \\+ ( gen(X), \\+ work(X) ).
for_each :- forall(gen(X), work(X)).
counting :- aggregate_all(count, ( gen(X), work(X) ), _).
rejecting :- gen(X), \\+ work(X).

testing :- gen(X), work(X), X > 3.
test_between :- gen(X), work(X), X > 3, fail.
unifying :- gen(X), work(X), X = 4, fail.
goes_on :- gen(X), ( work(X), fail ; X > 3 ).
cutting :- gen(X), work(X), !, fail.
";

/// By what failed and what was re-entered: whether ticks were undone, and whether some were collected.
fn backtracks(profiled: &Profiled) -> BTreeMap<(&str, &str), (bool, bool)> {
    let name = |predicate| profiled.trace.predicate_name(predicate);
    let rows = profiled.profile.backtracks.iter();
    rows.filter(|(_, row)| row.undone_ticks > 0 || row.collected_ticks > 0)
        .map(|(&(failed, resumed), row)| {
            let failed = match failed {
                Caller::Predicate(failed) => name(failed),
                Caller::Root => "",
            };
            let amounts = (row.undone_ticks > 0, row.collected_ticks > 0);
            ((failed, name(resumed)), amounts)
        })
        .collect()
}

#[test]
fn what_a_driver_loop_did_is_collected() {
    let profiled = Sandbox::new().record("p", PROGRAM, &[]);
    let found = backtracks(&profiled);
    const UNDONE: (bool, bool) = (true, false);
    const COLLECTED: (bool, bool) = (false, true);
    for driver in [
        "plain",
        "printing",
        "branch",
        "chosen",
        "pairs",
        "negated",
        "soft",
        "filtering",
        "for_all",
    ] {
        let pair = (&*format!("{driver}/0"), "gen/1");
        assert_eq!(found.get(&pair), Some(&COLLECTED), "{driver}");
    }
    assert_eq!(found[&("of_facts/0", "fact/1")], COLLECTED);
    assert_eq!(found[&("'$apply':forall/2", "gen/1")], COLLECTED);
    assert_eq!(found[&("aggregate:aggregate_all/3", "gen/1")], COLLECTED);
    assert_eq!(found[&("of_a_library/0", "lists:member/2")], COLLECTED);
    for waste in [
        "testing",
        "test_between",
        "unifying",
        "goes_on",
        "rejecting",
    ] {
        let pair = (&*format!("{waste}/0"), "gen/1");
        assert_eq!(found.get(&pair), Some(&UNDONE), "{waste}");
    }
    assert_eq!(found[&("odd/1", "gen/1")], UNDONE);
    // It goes back to before the clause.
    assert!(!found.contains_key(&("cutting/0", "gen/1")));
}

/// The goals after which their clause fails, by predicate: their numbers.
fn marked(profiled: &Profiled) -> BTreeMap<&str, Vec<u32>> {
    let mut marked: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let sites = profiled.trace.sites().iter();
    for site in sites.filter(|site| site.then_fails) {
        let caller = profiled.trace.predicate_name(site.caller);
        marked.entry(caller).or_default().push(site.goal);
    }
    marked.values_mut().for_each(|goals| goals.sort_unstable());
    marked
}

#[test]
fn the_recorder_says_after_which_goals_a_clause_fails() {
    let program = "\
:- initialization(main, main).
main :-
    forall(( current_predicate(N/A), functor(G, N, A), N \\== main,
             predicate_property(G, file(F)), file_base_name(F, 'p.pl') ),
           ignore(catch(G, _, true))).
p. q. r.
conjunction :- p, q, true, nl, fail.
both_ends :- ( p -> q ; r ), fail.
chosen(X) :- ( p -> q ; X > 1 -> r ; q ), fail.
alternatives :- ( p ; q ), fail.
the_rest_fails :- ( p, fail ; q ), nl, fail.
the_rest_calls :- ( p, fail ; true ), q.
the_rest_ends :- ( p, fail ; true ).
the_rest_tests(X) :- ( p, fail ; true ), X > 1, q.
nested(X) :- ( ( p, fail ; q ), r, fail ; X > 1 ).
otherwise :- ( p, fail -> true ; q ).
otherwise_tests(X) :- ( p, fail -> true ; X > 1 ).
soft_otherwise(X) :- ( p, fail *-> true ; X > 1 ).
soft_branches :- ( p, q *-> r ; q ), fail.
condition :- ( p -> fail ; true ).
without :- \\+ p, fail.
twice :- \\+ \\+ p, fail.
unless :- p, \\+ q.
for_all :- \\+ ( p, \\+ q ).
for_all_then(X) :- \\+ ( p, \\+ q ), X > 1.
for_either :- \\+ ( p, \\+ ( q ; r ) ).
argument :- findall(X, ( p, fail ; q, X = 1 ), _), fail.
a_variable(G) :- p, G, fail.
arithmetic(X) :- p, _ is X, fail.
qualified :- p, user:fail.
last :- p, q.
";
    let wanted = [
        ("a_variable/1", vec![2]),
        ("alternatives/0", vec![1, 2]),
        ("argument/0", vec![1, 2]),
        ("both_ends/0", vec![2, 3]),
        ("chosen/1", vec![2, 4, 5]),
        ("conjunction/0", vec![2]),
        ("for_all/0", vec![2]),
        ("for_either/0", vec![2, 3]),
        ("otherwise/0", vec![1]),
        ("qualified/0", vec![1]),
        ("soft_branches/0", vec![3, 4]),
        ("the_rest_calls/0", vec![1]),
        ("the_rest_ends/0", vec![1]),
        ("the_rest_fails/0", vec![1, 3]),
        ("twice/0", vec![1]),
        ("without/0", vec![1]),
    ];
    let wanted = BTreeMap::from(wanted);
    for options in [&[][..], &["--ports"]] {
        let profiled = Sandbox::new().record("p", program, options);
        assert_eq!(marked(&profiled), wanted, "{options:?}");
    }
}

/// Unrecorded goals may fail, unless it is known that they cannot.
#[test]
fn unrecorded_goals_in_between() {
    let program = "\
:- initialization(main, main).
main :- \\+ writes, \\+ looks.
p.
writes :- p, write(a), nl, fail.
looks :- p, atom_length(a, 1), fail.
";
    let marked_with = |options: &[&str]| {
        let profiled = Sandbox::new().record("p", program, options);
        let marked = marked(&profiled);
        let owned = marked
            .iter()
            .map(|(&name, goals)| (name.to_owned(), goals.clone()));
        owned.collect::<Vec<_>>()
    };
    let last = |name: &str, goal| (name.to_owned(), vec![goal]);
    assert_eq!(marked_with(&[]), [last("looks/0", 2), last("writes/0", 2)]);
    assert_eq!(marked_with(&["--no-boundary"]), [last("writes/0", 1)]);
}
