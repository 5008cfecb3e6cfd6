//! `portmortem annotate`: source files with figures beside their lines.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use portmortem_tests::{Sandbox, repository, sample};
use serde_json::{Value, json};

const PROGRAM: &str = "\
:- initialization(main, main).
main :-
    p(X),
    X > 1,
    q(X),
    !.
p(1).
p(2).
q(2) :- findall(Y, p(Y), Ys), length(Ys, _).
% α <b> & c
";

fn recorded() -> Sandbox {
    let sandbox = Sandbox::with("small.pl", PROGRAM);
    sandbox.portmortem(["record", "small.pl"]).succeeds();
    sandbox
}

/// Numbers before the line's number, without the times.
fn counts(text: &str, line: usize) -> Vec<String> {
    let source = PROGRAM.lines().nth(line - 1).unwrap();
    let row = text
        .lines()
        .find(|row| row.ends_with(&format!("{line}  {source}")));
    let row = row.unwrap_or_else(|| panic!("line {line} in {text}"));
    let figures = row.strip_suffix(&format!("{line}  {source}")).unwrap();
    let words = figures.split_whitespace().skip(2);
    words.map(str::to_owned).collect()
}

#[test]
fn lines_have_the_figures_of_their_goals() {
    let sandbox = recorded();
    let outcome = sandbox.portmortem(["annotate", "small.pmt"]);
    let text = outcome.succeeds().out();
    // The library's work that it called counts, too.
    let shares = text.lines().next().unwrap().strip_prefix("small.pl: ");
    let shares = shares.and_then(|shares| shares.strip_suffix(" % with what it called"));
    let shares = shares.and_then(|shares| shares.split_once(" % of the work, "));
    let (own, all) = shares.unwrap_or_else(|| panic!("{text}"));
    let number = |text: &str| text.parse::<f64>().unwrap();
    assert!(number(own) < number(all) && number(all) <= 100.0, "{text}");
    // p(X) exits, is redone, exits again; calls, exits, redos, fails.
    assert_eq!(counts(&text, 3), ["1", "2", "1", "0"]);
    assert_eq!(counts(&text, 5), ["1", "1", "0", "0"]);
    assert_eq!(counts(&text, 4), [""; 0]);
    assert_eq!(counts(&text, 7), [""; 0]);
    // findall/3, in it p(Y) with its two solutions, and length/2.
    let [calls, exits, redos, fails] = &counts(&text, 9)[..] else {
        panic!("{text}");
    };
    assert_eq!(
        (
            calls.as_str(),
            exits.as_str(),
            redos.as_str(),
            fails.as_str()
        ),
        ("3", "4", "1", "0")
    );
    // Before its first line each predicate has its own.
    let rows: Vec<&str> = text.lines().collect();
    let at = rows
        .iter()
        .position(|row| row.starts_with("  ── p/1: self "))
        .unwrap();
    assert!(rows[at].ends_with(" %), 2 calls, 0 failed"), "{text}");
    assert!(rows[at + 1].ends_with("7  p(1)."), "{text}");
    assert!(text.contains("10  % α <b> & c"));
    // The file, as it may be named.
    let path = sandbox.path("small.pl");
    for name in ["small.pl".into(), "./small.pl".into(), path] {
        let arguments: [PathBuf; 3] = ["annotate".into(), "small.pmt".into(), name];
        sandbox.portmortem(arguments).succeeds().prints(&text);
    }
    sandbox
        .portmortem(["annotate", "small.pmt", "other.pl"])
        .refuses("no figures of other.pl; it has small.pl");
    let part = sandbox.portmortem(["annotate", "small.pmt", "--focus", "q/1"]);
    assert_eq!(counts(&part.succeeds().out(), 3), [""; 0]);
}

#[test]
fn a_page() {
    let sandbox = recorded();
    let page = sandbox.portmortem(["annotate", "small.pmt", "--format", "html"]);
    page.succeeds()
        .shows("<!DOCTYPE html>")
        .shows("% α &lt;b&gt; &amp; c")
        .shows("<td class=\"line\">5</td><td>    q(X),</td></tr>");
    // A parser of HTML finds a cell for every figure of every line.
    sandbox.write(
        "check.py",
        "\
import sys
from html.parser import HTMLParser
class Page(HTMLParser):
    open, rows, links = [], [], 0
    def handle_starttag(self, tag, attributes):
        if tag == 'meta': return
        self.open.append(tag)
        if tag == 'tr': self.rows.append(0)
        if tag == 'td': self.rows[-1] += int(dict(attributes).get('colspan', 1))
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
page = Page()
page.feed(open('page.html', encoding='utf-8').read())
assert not page.open, page.open
assert page.rows[0] == 0 and set(page.rows[1:]) == {8}, page.rows
print(len(page.rows))
",
    );
    sandbox.write("page.html", &page.stdout);
    // A row of headings, the lines, and one for each predicate of the file.
    sandbox.sh("python3 check.py").succeeds().prints("14\n");
}

/// Figures by line, for editors. Each member is described.
#[test]
fn figures_for_editors() {
    let sandbox = recorded();
    let annotate = |options: &[&str]| -> Value {
        let words = [&["annotate", "small.pmt", "--format", "json"], options].concat();
        let out = sandbox.portmortem(words).succeeds().out();
        serde_json::from_str(&out).unwrap()
    };
    let json = annotate(&[]);
    let [file] = &json["files"].as_array().unwrap()[..] else {
        panic!("{json}");
    };
    assert_eq!(file["file"], "small.pl");
    let path = fs::canonicalize(file["path"].as_str().unwrap()).unwrap();
    assert_eq!(path, fs::canonicalize(sandbox.path("small.pl")).unwrap());
    assert_eq!(
        (&file["newer"], &json["incomplete"]),
        (&json!(false), &json!(false))
    );
    let counts = |of: &Value| {
        ["line", "calls", "exits", "redos", "fails"].map(|name| of[name].as_u64().unwrap())
    };
    let all = |name: &str| {
        file[name]
            .as_array()
            .unwrap()
            .iter()
            .map(counts)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        all("lines"),
        [[3, 1, 2, 1, 0], [5, 1, 1, 0, 0], [9, 3, 4, 1, 0]]
    );
    assert_eq!(
        all("predicates"),
        [[2, 1, 1, 0, 0], [7, 2, 4, 2, 0], [9, 1, 1, 0, 0]]
    );
    let work = json["work_ns"].as_u64().unwrap();
    for line in file["lines"].as_array().unwrap() {
        let served = line["served_ns"].as_u64().unwrap();
        assert!(0 < served && served <= work, "{served} of {work}");
    }
    assert_eq!(annotate(&["small.pl"]), json);
    let text = fs::read_to_string(repository("docs/editors.md")).unwrap();
    for object in [&json, file, &file["lines"][0], &file["predicates"][0]] {
        for name in object.as_object().unwrap().keys() {
            assert!(text.contains(&format!("{name}`")), "{name}");
        }
    }
    let source = File::options().append(true).open(path).unwrap();
    let later = fs::metadata(sandbox.path("small.pmt"))
        .unwrap()
        .modified()
        .unwrap();
    source.set_modified(later + Duration::from_secs(1)).unwrap();
    assert_eq!(annotate(&[])["files"][0]["newer"], true);
    fs::remove_file(sandbox.path("small.pl")).unwrap();
    let gone = annotate(&[]);
    assert_eq!(gone["files"][0]["path"], Value::Null);
    assert_eq!(gone["files"][0]["lines"], file["lines"]);
}

#[test]
fn files_that_changed_or_went_are_said() {
    let sandbox = recorded();
    let trace = fs::metadata(sandbox.path("small.pmt"))
        .unwrap()
        .modified()
        .unwrap();
    let source = File::options()
        .append(true)
        .open(sandbox.path("small.pl"))
        .unwrap();
    source.set_modified(trace + Duration::from_secs(1)).unwrap();
    let annotate = || sandbox.portmortem(["annotate", "small.pmt"]);
    annotate().succeeds().shows("newer than the trace");
    fs::remove_file(sandbox.path("small.pl")).unwrap();
    annotate()
        .succeeds()
        .shows("cannot be read")
        .shows("p/1: self");
}

#[test]
fn traces_without_sites_say_so() {
    let sandbox = Sandbox::new();
    let trace = sample("queens.pmt");
    sandbox
        .portmortem(["annotate".as_ref(), trace.as_os_str()])
        .refuses("does not say which goals made calls; record the program again");
}
