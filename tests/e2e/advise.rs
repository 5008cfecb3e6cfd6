//! `portmortem advise`: the causes of programs that are slow for a known reason, and what silences a finding.

use std::fs;

use portmortem_tests::{Outcome, Sandbox, repository};
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

fn record(sandbox: &Sandbox, name: &str, options: &[&str], arguments: &[&str]) {
    let program = repository(&format!("tests/programs/slow/{name}.pl"));
    let mut command = vec!["record", "-o", "run.pmt", "--force"];
    command.extend(options);
    let program = program.display().to_string();
    command.extend([program.as_str(), "--"]);
    command.extend(arguments);
    sandbox.portmortem(command).exits(0);
}

pub(crate) fn advise(sandbox: &Sandbox, options: &[&str]) -> Outcome {
    let command = ["advise", "run.pmt"];
    let outcome = sandbox.portmortem(command.iter().chain(options).copied());
    outcome.exits(0);
    outcome
}

/// All findings, small ones, too: how much time each cost depends on the machine.
pub(crate) fn findings(sandbox: &Sandbox) -> Vec<Value> {
    let options = ["--format", "json", "--least", "0", "--top", "100"];
    let report: Value = serde_json::from_slice(&advise(sandbox, &options).stdout).unwrap();
    assert_eq!(report["more"], 0);
    report["findings"].as_array().unwrap().clone()
}

/// The finding of this kind at this line.
#[track_caller]
pub(crate) fn finding(findings: &[Value], cause: &str, predicate: &str, line: u32) -> Value {
    let found = findings.iter().find(|finding| {
        finding["cause"] == cause && finding["predicate"] == predicate && finding["line"] == line
    });
    found
        .unwrap_or_else(|| panic!("{cause} {predicate}: {findings:#?}"))
        .clone()
}

/// The findings of this cause on a program that is recorded with these options.
pub(crate) fn found(program: &str, options: &[&str], cause: &str) -> Vec<Value> {
    let sandbox = Sandbox::with("run.pl", program);
    let command: Vec<&str> = ["record", "run.pl"]
        .into_iter()
        .chain(options.iter().copied())
        .collect();
    sandbox.portmortem(command).exits(0);
    let mut found = findings(&sandbox);
    found.retain(|finding| finding["cause"] == cause);
    found
}

/// The finding of this title, which is the only one.
#[track_caller]
pub(crate) fn only(found: &[Value], title: &str) -> Value {
    let [one] = found else {
        panic!("{found:#?}");
    };
    assert_eq!(one["title"], title);
    one.clone()
}

pub(crate) fn says(finding: &Value, text: &str) {
    let evidence = finding["evidence"].as_str().unwrap();
    assert!(evidence.contains(text), "{text}: {evidence}");
}

/// By an option, of all predicates or of one, and by a comment in the source.
#[test]
fn findings_that_are_to_be_ignored() {
    let sandbox = Sandbox::new();
    let program = repository("tests/programs/slow/formula.pl");
    let text = fs::read_to_string(program).unwrap();
    let record = |text: &str| {
        sandbox.write("formula.pl", text);
        let command = [
            "record",
            "-o",
            "run.pmt",
            "--force",
            "formula.pl",
            "--",
            "4",
        ];
        sandbox.portmortem(command).exits(0);
    };
    let of = |options: &[&str]| {
        let all = ["--format", "json", "--least", "0", "--top", "100"];
        let report = advise(&sandbox, &[&all, options].concat());
        let report: Value = serde_json::from_slice(&report.stdout).unwrap();
        let findings = report["findings"].as_array().unwrap().iter();
        let alike = findings.filter(|finding| finding["cause"] == "repeated-prefix");
        let mut found: Vec<String> = alike.map(|one| one["predicate"].to_string()).collect();
        found.sort();
        found
    };
    record(&text);
    assert_eq!(of(&[]), ["\"args/3\"", "\"expr/3\"", "\"term/3\""]);
    let one = ["--ignore", "repeated-prefix:term/3"];
    assert_eq!(of(&one), ["\"args/3\"", "\"expr/3\""]);
    assert!(of(&["--ignore", "repeated-prefix"]).is_empty());
    let unknown = sandbox.portmortem(["advise", "run.pmt", "--ignore", "prefix"]);
    unknown.exits(2);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("no finding is named prefix"), "{said}");
    assert!(said.contains("repeated-prefix"), "{said}");
    // The line of the finding on term/3.
    let lines = text.lines().zip(1..);
    let commented: String = lines
        .map(|(line, number)| match number {
            95 => format!("{line} % portmortem: ignore repeated-prefix\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    record(&commented);
    assert_eq!(of(&[]), ["\"args/3\"", "\"expr/3\""]);
}

#[test]
fn alternatives_that_begin_alike() {
    let sandbox = Sandbox::new();
    record(&sandbox, "formula", &[], &["4"]);
    let found = findings(&sandbox);
    let of_terms = finding(&found, "repeated-prefix", "term/3", 95);
    says(
        &of_terms,
        "3 clauses of term/3 begin with factor/3 (lines 95, 96, 97)",
    );
    finding(&found, "repeated-prefix", "expr/3", 91);
    // Repaired, nothing of that is left but what takes little: two clauses for arguments.
    record(&sandbox, "formula_fix", &["--goal", "main(['4'])"], &[]);
    let left = findings(&sandbox);
    assert!(
        left.iter()
            .filter(|finding| finding["cause"] == "repeated-prefix")
            .all(|finding| finding["predicate"] == "args/3"),
        "{left:#?}"
    );
}

#[test]
fn a_generator_and_a_test() {
    let sandbox = Sandbox::new();
    record(&sandbox, "library_generator", &[], &[]);
    let found = findings(&sandbox);
    let first = finding(&found, "generator", "slow/2", 4);
    assert_eq!(
        first["title"],
        "ok/2 rejects 98 % of what lists:member/2 generates"
    );
    says(
        &first,
        "ok/2 at line 4 of slow/2 failed at 359,429 of 363,600 calls",
    );
    assert_eq!(
        first["commands"][0],
        "portmortem report run.pmt --predicate ok/2"
    );
}

#[test]
fn unused_choicepoints() {
    let sandbox = Sandbox::new();
    record(&sandbox, "whilei", &["--clauses"], &["30000"]);
    let found = findings(&sandbox);
    let unused = finding(&found, "unused-choicepoints", "value/3", 66);
    says(
        &unused,
        "value/3 left a choicepoint of its own at 176,247 of 318,192 exits; 164,253 of them (93 %) were never used",
    );
    says(&unused, "So did eval/3 (95,208 unused)");
    says(&unused, "clause 1 of eval/3 (line 73) 95,208");
    says(
        &unused,
        "calls of run/3 at line 40 of run/3 were no last calls",
    );
    record(&sandbox, "whilei_fix", &[], &["30000"]);
    let left = findings(&sandbox);
    assert!(
        left.iter()
            .all(|finding| finding["cause"] != "unused-choicepoints"),
        "{left:#?}"
    );
}

#[test]
fn calls_that_repeat_one_another() {
    let sandbox = Sandbox::new();
    record(&sandbox, "movies", &[], &[]);
    let may = finding(&findings(&sandbox), "may-repeat", "similarity/3", 62);
    says(&may, "norm/2 (14,280 calls");
    let remedy = may["remedy"].as_str().unwrap();
    assert!(remedy.contains("--arguments 'norm/2'"), "{remedy}");
    record(&sandbox, "movies", &["--arguments", "norm/2"], &[]);
    let repeated = finding(&findings(&sandbox), "repeated-calls", "norm/2", 82);
    says(
        &repeated,
        "14,160 of 14,280 calls of norm/2 (99 %) had the same arguments as an earlier one: only 120 are different",
    );
}

#[test]
fn threads_that_wait() {
    let sandbox = Sandbox::new();
    record(&sandbox, "pool", &[], &[]);
    let waiting = finding(&findings(&sandbox), "waiting", "handle/2", 57);
    says(&waiting, "system:with_mutex/2 was called 400 times there");
}

/// A thread is made for each small job; a few that do all of them are not said to be short.
#[test]
fn threads_that_are_made_for_small_jobs() {
    let program = |jobs: u32, each: u32| {
        format!(
            ":- initialization(main, main).
             main :- forall(between(1, {jobs}, Job), ( thread_create(job(Job), Id), thread_join(Id) )).
             job(Job) :- numlist(1, {each}, L), sum_list(L, S), S >= Job."
        )
    };
    let title = |jobs, each| {
        let found = found(&program(jobs, each), &[], "waiting");
        found
            .first()
            .map_or(String::new(), |one| one["title"].to_string())
    };
    let short = title(150, 20);
    assert!(short.contains("151 threads work "), "{short}");
    let long = title(4, 300_000);
    assert!(long.contains("threads wait for one another"), "{long}");
}

/// Whether times grow is decided by times: so these traces are given (`tests/programs/slow/record`).
#[test]
fn calls_that_take_longer_and_longer() {
    let found_in = |name: &str| {
        let sandbox = Sandbox::new();
        let trace = repository(&format!("tests/programs/slow/{name}.pmt"));
        fs::copy(trace, sandbox.path("run.pmt")).unwrap();
        findings(&sandbox)
    };
    finding(&found_in("htmlrep"), "growing-calls", "rows/3", 39);
    let lookup = finding(&found_in("memo"), "growing-calls", "lookup/2", 72);
    let remedy = lookup["remedy"].as_str().unwrap();
    assert!(remedy.contains("variant_sha1/2"), "{lookup}");
    let found = found_in("paths");
    let member = finding(&found, "growing-calls", "bfs/4", 46);
    assert!(
        member["title"].as_str().unwrap().contains("lists:member/2"),
        "{member}"
    );
    finding(&found, "growing-calls", "bfs/4", 50);
    // findall/3 around member/2 grows for no reason of its own.
    let of_findall = |finding: &Value| finding["line"] == 44 && finding["cause"] == "growing-calls";
    assert!(!found.iter().any(of_findall), "{found:#?}");
}

#[test]
fn goals_that_fail_late_and_exceptions() {
    let sandbox = Sandbox::new();
    // Next to nothing is done before the costly goal: what the machine is busy with is not there.
    let numbers: Vec<u32> = (1..=200).collect();
    let program = "
        :- initialization(main, main).
        main :- forall(between(1, 2000, N), ( accept(N) -> true ; true )),
            forall(between(1, 50, N), catch(risky(N), _, true)).
        accept(N) :- numbers(L), costly(L, S), S > 0, wanted(N).
        costly([], 0).
        costly([X|Xs], S) :- costly(Xs, S0), S is S0 + X.
        wanted(N) :- N mod 10 =:= 0.
        risky(N) :- numbers(L), costly(L, S), check(N, S).
        check(N, S) :- S > N, throw(too_large(S)).
        check(_, _).
        ";
    sandbox.write("late.pl", format!("{program}numbers({numbers:?}).\n"));
    sandbox
        .portmortem(["record", "late.pl", "-o", "run.pmt"])
        .exits(0);
    let found = findings(&sandbox);
    let late = finding(&found, "failing-late", "accept/1", 5);
    assert_eq!(late["title"], "wanted/1 fails after costly/2 has worked");
    says(&late, "failed at 1,800 of 2,000 calls (90 %)");
    assert_eq!(late["certainty"], "to-check");
    // That a condition fails rejects nothing of what forall/2 asks for.
    assert!(!causes(&found).contains(&"generator"), "{found:#?}");
    let raised = finding(&found, "exceptions", "risky/1", 9);
    says(&raised, "50 of 50 calls of risky/1");
}

#[test]
fn text_says_what_to_do_and_where() {
    let sandbox = Sandbox::new();
    record(&sandbox, "library_generator", &[], &[]);
    let text = advise(&sandbox, &[]);
    text.shows("1. ")
        .shows("ok/2 rejects 98 % of what lists:member/2 generates\n   library_generator.pl:4, slow/2\n")
        .shows("   Change: generate less:")
        .shows("   Sure:   likely\n   See:    portmortem report run.pmt --predicate ok/2\n");
    let command = text.out();
    let widest = command.lines().map(UnicodeWidthStr::width).max();
    assert!(widest <= Some(80), "{text}");
    let shown = sandbox.sh("$portmortem report run.pmt --predicate ok/2");
    shown.exits(0).shows("360,055");
    // There is always an answer.
    let hottest = advise(&sandbox, &["--least", "100", "--top", "100"]);
    let words = hottest.out();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        ": most of the work: ",
        "A change may save more than that",
        "The hottest path: ",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let few = advise(&sandbox, &["--least", "0", "--top", "0"]);
    few.shows(" more; --top ");
    let part = advise(&sandbox, &["--focus", "numlist/3", "--least", "0"]);
    part.hides("ok/2 rejects");
    sandbox
        .portmortem(["advise", "missing.pmt"])
        .refuses("missing.pmt");
    sandbox
        .portmortem(["advise", "run.pmt", "--least", "200"])
        .exits(2);
}

/// The findings on a program of these clauses, run by `main/0`.
pub(crate) fn findings_on(sandbox: &Sandbox, program: &str) -> Vec<Value> {
    sandbox.write("program.pl", program);
    let command = ["record", "program.pl", "--force", "-o", "run.pmt"];
    sandbox.portmortem(command).exits(0);
    findings(sandbox)
}

pub(crate) fn causes(findings: &[Value]) -> Vec<&str> {
    let causes = findings.iter().map(|finding| finding["cause"].as_str());
    causes.map(Option::unwrap).collect()
}

/// Each level of a search generates, and most of what it generates is in vain; a recursion cannot be called before what it works on.
#[test]
fn a_search_is_no_generator_before_a_test() {
    let sandbox = Sandbox::new();
    let found = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        main :- numlist(1, 8, L), findall(Q, place(L, [], Q), Qs), length(Qs, N), writeln(N),
            findall(P, perm([1, 2, 3, 4, 5, 6], P), Ps), length(Ps, M), writeln(M).
        place([], Q, Q).
        place(L, Q0, Q) :- sel(X, L, R), safe(Q0, X, 1), place(R, [X|Q0], Q).
        safe([], _, _).
        safe([Y|Ys], X, D) :- X =\\= Y + D, X =\\= Y - D, D1 is D + 1, safe(Ys, X, D1).
        perm([], []).
        perm(L, [X|Xs]) :- sel(X, L, R), perm(R, Xs).
        sel(X, [X|Xs], Xs).
        sel(X, [Y|Ys], [Y|Zs]) :- sel(X, Ys, Zs).
        ",
    );
    let causes = causes(&found);
    assert!(
        !causes.contains(&"generator") && !causes.contains(&"failing-late"),
        "{found:#?}"
    );
}

/// A whole solution is tested too late; a search that tests each step is not.
#[test]
fn a_whole_solution_is_tested_too_late() {
    let sandbox = Sandbox::new();
    let found = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        main :- numlist(1, 40, L), ( walk(1, L) -> true ; writeln(none) ),
            findall(P, sorted([4, 2, 6, 1, 5, 3, 7], P), Ps), writeln(Ps).
        walk(_, []).
        walk(X, L) :-
            del(Y, L, R),
            edge(X, Y),
            walk(Y, R).
        del(X, [X|Xs], Xs).
        del(X, [Y|Ys], [Y|Zs]) :- del(X, Ys, Zs).
        edge(X, Y) :- member(D, [1, 2, 3]), Y is X + D, Y < 16.
        sorted(L, P) :-
            perm(L, P),
            up(P).
        perm([], []).
        perm(L, [X|Xs]) :- del(X, L, R), perm(R, Xs).
        up([_]).
        up([X, Y|Zs]) :- X < Y, up([Y|Zs]).
        ",
    );
    let is_of_walk = |one: &Value| one["predicate"] == "walk/2" && one["cause"] == "generator";
    assert!(!found.iter().any(is_of_walk), "{found:#?}");
    // What it takes to generate is in the cost, and not only what comes after.
    let sorted = finding(&found, "generator", "sorted/2", 15);
    assert_eq!(sorted["certainty"], "likely");
    let names = |predicate: &str| found.iter().any(|one| one["predicate"] == predicate);
    assert!(!names("perm/2"), "{found:#?}");
}

/// One exception leaves all calls of a recursion that are open.
#[test]
fn one_exception_is_no_pattern() {
    let sandbox = Sandbox::new();
    let program = |times: u32| {
        format!(
            "
            :- initialization(main, main).
            main :- forall(between(1, {times}, _), catch(down(2000), ball, true)).
            down(0) :- throw(ball).
            down(N) :- N1 is N - 1, down(N1), true.
            "
        )
    };
    let one = findings_on(&sandbox, &program(1));
    assert!(!causes(&one).contains(&"exceptions"), "{one:#?}");
    let many = findings_on(&sandbox, &program(20));
    let raised = finding(&many, "exceptions", "down/1", 4);
    says(
        &raised,
        "40,020 of 40,020 calls of down/1 (100 %) were left by an exception",
    );
    says(&raised, "Most were raised in down/1: 20.");
}

/// Collections and stack shifts of a recording are partly the recorder's.
#[test]
fn memory_of_the_program_and_of_the_recorder() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "deep.pl",
        "
        :- initialization(main, main).
        main :- numlist(1, 200000, L), len(L, N), writeln(N).
        len([], 0).
        len([_|Xs], N) :- len(Xs, N0), N is N0 + 1.
        ",
    );
    let of_memory = |options: &[&str]| {
        let command = ["record", "deep.pl", "--force", "-o", "run.pmt"];
        sandbox
            .portmortem(command.iter().chain(options).copied())
            .exits(0);
        let found = findings(&sandbox);
        found
            .into_iter()
            .find(|finding| finding["cause"] == "memory")
            .unwrap()
    };
    let unknown = of_memory(&[]);
    let remedy = unknown["remedy"].as_str().unwrap();
    assert!(
        remedy.starts_with("record again with --baseline"),
        "{remedy}"
    );
    let known = of_memory(&["--baseline"]);
    says(&known, "In the runs that were not recorded it was ");
    let remedy = known["remedy"].as_str().unwrap();
    assert!(
        remedy.contains("len/2 calls itself where that is not its last call"),
        "{remedy}"
    );
}

/// A driver loop and `forall/2` ask for the next solution; a global variable is a state, and no
/// table keeps what reads it.
#[test]
fn loops_and_effects_are_no_causes() {
    let sandbox = Sandbox::new();
    let found = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        main :- numlist(1, 3000, L), total(L, T), writeln(T), forall(job(X), used(X)),
            nb_setval(n, 0), maplist(next_id, L, Ids), last(Ids, Y), writeln(Y).
        total(L, T) :- nb_setval(t, 0), ( member(X, L), work(X), fail ; nb_getval(t, T) ).
        work(X) :- numlist(1, 300, L), sum_list(L, S), nb_getval(t, T0), T is T0+S+X, nb_setval(t, T).
        job(X) :- between(1, 2000, X).
        used(X) :- numlist(1, 300, L), sum_list(L, S), S > X.
        next_id(_, Id) :- nb_getval(n, N0), slow, Id is N0+1, nb_setval(n, Id).
        slow :- numlist(1, 300, L), sum_list(L, _).
        ",
    );
    for cause in ["generator", "failing-late", "repeated-calls"] {
        assert!(!causes(&found).contains(&cause), "{found:#?}");
    }
    for may in found.iter().filter(|one| one["cause"] == "may-repeat") {
        let named = may["evidence"].as_str().unwrap();
        assert!(
            !named.contains("next_id/2") && !named.contains(" work/1"),
            "{may}"
        );
    }
    // What it is instead.
    assert_eq!(found.last().unwrap()["cause"], "hottest", "{found:#?}");
}

#[test]
fn a_conjunction_inside_bagof_is_seen() {
    let sandbox = Sandbox::new();
    let found = findings_on(
        &sandbox,
        "
        :- initialization(main, main).
        a(X) :- between(1, 3000, X).
        b(X) :- X =:= 2999.
        main :- findall(N, ( between(1, 20, N), bagof(X, (a(X), b(X)), _) ), L), length(L, Len), writeln(Len).
        ",
    );
    finding(&found, "generator", "main/0", 5);
}

#[test]
fn files_read_again_flushes_and_solutions_that_are_counted() {
    let sandbox = Sandbox::new();
    let program = |times: u32, length: &str| {
        format!(
            "
            :- initialization(main, main).
            main :- forall(between(1, {times}, N), ( again, put(N), ( none(N) -> true ; true ) )).
            again :- read_file_to_terms('data.pl', _, []).
            put(_) :- put_char(x), flush_output.
            none(N) :- findall(X, some(N, X), Xs), length(Xs, {length}).
            some(N, X) :- between(1, N, X).
            "
        )
    };
    sandbox.write("data.pl", "a(1).\na(2).\n");
    let many = findings_on(&sandbox, &program(1000, "0"));
    let read = finding(&many, "read-again", "again/0", 4);
    says(&read, "was called 1,000 times");
    let flush = finding(&many, "flushes", "put/1", 5);
    says(&flush, "was called 1,000 times");
    let collected = finding(&many, "collected-to-test", "none/1", 6);
    says(&collected, "failed at 1,000 of 1,000 calls (100 %)");
    // A few times is no pattern, and a length that is asked for is none.
    let few = findings_on(&sandbox, &program(10, "_"));
    for cause in ["read-again", "flushes", "collected-to-test"] {
        assert!(!causes(&few).contains(&cause), "{few:#?}");
    }
    let asked = findings_on(&sandbox, &program(1000, "_"));
    assert!(!causes(&asked).contains(&"collected-to-test"), "{asked:#?}");
}

#[test]
fn solutions_of_which_the_first_is_used() {
    let sandbox = Sandbox::new();
    let program = |then: &str| {
        format!(
            "
            :- initialization(main, main).
            main :- forall(between(1, 50, N), ( first(N, X), X > 0 )).
            first(N, X) :-
                findall(f(Y), ( over(N, Y), even(Y) ), Fs),
                {then}.
            over(N, Y) :- between(N, 100, Y).
            even(Y) :- Y mod 2 =:= 0.
            "
        )
    };
    let first = findings_on(&sandbox, &program("Fs = [f(X)|_]"));
    let found = finding(&first, "collected-for-first", "first/2", 5);
    // Of N to 100 every second one.
    says(&found, "even/1 gave 1,900 solutions in them");
    for then in ["Fs = [f(X)|Rest], length(Rest, _)", "last(Fs, f(X))"] {
        let other = findings_on(&sandbox, &program(then));
        assert!(!causes(&other).contains(&"collected-for-first"), "{then}");
    }
}

/// Programs with causes that are written as users write them.
#[test]
fn causes_of_whole_programs() {
    let sandbox = Sandbox::new();
    for (program, cause, predicate, line) in [
        ("exists", "collected-to-test", "is_free/3", 24),
        ("join", "generator", "total/2", 18),
        ("config", "read-again", "setting/1", 31),
        ("progress", "flushes", "emit/1", 17),
    ] {
        record(&sandbox, program, &[], &[]);
        finding(&findings(&sandbox), cause, predicate, line);
    }
}
