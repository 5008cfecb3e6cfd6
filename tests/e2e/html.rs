//! `portmortem html`: the page has the figures of the report, and works in a browser.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use portmortem_tests::generator::{Shape, Workload, generate};
use portmortem_tests::{Outcome, Sandbox, Status, sample};
use serde_json::Value;

/// Names that would end the script, an attribute or a template that they stand in.
const PROGRAM: &str = r#"
:- initialization(main, main).
main :-
    forall(between(1, 40, X), ignore('</script><script>window.bad=1</script>'(X))),
    forall('"quoted" & <b>bold</b>'(X, 40), X > 0),
    'line\nbreak\u2028', 'größe 日本', '<!-- <script>', '${x} `y` \\u003c %%data%%'.
'</script><script>window.bad=1</script>'(X) :- X mod 2 =:= 0, 'größe 日本'.
'"quoted" & <b>bold</b>'(X, N) :- between(1, N, X), count(X).
count(0) :- !.
count(X) :- Y is X - 1, count(Y).   % </script><!-- a comment & more
'line\nbreak\u2028'.
'größe 日本' :- atom_length('größe', _).
'<!-- <script>' :- \+ fail.
'${x} `y` \\u003c %%data%%'.
"#;

/// It is recorded in a file that has such a name, too.
const FILE: &str = "a&'<b>";

fn recorded() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(&format!("{FILE}.pl"), PROGRAM);
    let program = format!("{FILE}.pl");
    sandbox
        .portmortem(["record", "-o", "run.pmt", &program])
        .succeeds();
    sandbox
}

/// What the page shows.
fn data_of(page: &str) -> Value {
    let (_, json) = page.split_once(" id=\"data\">").unwrap();
    let (json, _) = json.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

fn page(sandbox: &Sandbox, options: &[&str]) -> Value {
    let arguments = ["html", "run.pmt", "-o", "-"];
    let page = sandbox.portmortem(arguments.iter().chain(options).copied());
    data_of(&page.succeeds().out())
}

fn report(sandbox: &Sandbox) -> Value {
    let report = sandbox.portmortem(["report", "run.pmt", "--format", "json"]);
    serde_json::from_slice(&report.succeeds().stdout).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

/// What stands in a column of a row.
fn cell<'v>(data: &'v Value, row: &'v Value, column: &str) -> &'v Value {
    let mut columns = list(&data["predicates"]["columns"]).iter();
    &row[columns.position(|known| known["name"] == column).unwrap()]
}

#[test]
fn the_page_has_the_figures_of_the_report() {
    let sandbox = recorded();
    let (data, report) = (page(&sandbox, &[]), report(&sandbox));
    let known: BTreeMap<&str, &Value> = list(&report["predicates"])
        .iter()
        .map(|row| (row["predicate"].as_str().unwrap(), row))
        .collect();
    let left_out = list(&data["head"]["left_out"]).iter();
    let left_out: u64 = left_out.map(|part| part[1].as_u64().unwrap()).sum();
    let rows = list(&data["predicates"]["rows"]);
    for row in rows {
        let name = cell(&data, row, "predicate").as_str().unwrap();
        let wanted = known[name];
        for column in list(&data["predicates"]["columns"]) {
            let column = column["name"].as_str().unwrap();
            let shown = cell(&data, row, column);
            match (column, wanted.get(column)) {
                ("exits", _) => {
                    let kinds = ["exits_det", "exits_nondet"];
                    let exits = kinds.map(|kind| wanted[kind].as_u64().unwrap());
                    assert_eq!(*shown, exits.iter().sum::<u64>(), "{name}");
                }
                // Of work, as reports for people are; files have all time.
                ("inclusive_ns" | "inclusive_comp_ns" | "failed_ns", Some(all)) => {
                    let (all, work) = (all.as_u64().unwrap(), shown.as_u64().unwrap());
                    assert!(work <= all && all - work <= left_out + 9, "{name} {column}");
                }
                (_, Some(same)) => assert_eq!(shown, same, "{name} {column}"),
                (_, None) => {}
            }
        }
    }
    // All that has no row is what is left out of the work.
    let self_ns = |row: &&Value| row["self_ns"].as_u64().unwrap();
    let all: u64 = known.values().map(self_ns).sum();
    let shown = rows.iter().map(|row| cell(&data, row, "self_ns"));
    let shown: u64 = shown.map(|ns| ns.as_u64().unwrap()).sum();
    assert!(
        (all - shown).abs_diff(left_out) < 20,
        "{all} {shown} {left_out}"
    );
    assert!(shown.abs_diff(data["head"]["work_ns"].as_u64().unwrap()) <= rows.len() as u64);
    for name in [
        "'</script><script>window.bad=1</script>'/1",
        "'\"quoted\" & <b>bold</b>'/2",
        "'<!-- <script>'/0",
        "'größe 日本'/0",
    ] {
        assert!(known.contains_key(name), "{name}: {known:?}");
    }
    calls_are_edges(&data, &report);
}

/// Each caller is an edge of the report, with its counts.
fn calls_are_edges(data: &Value, report: &Value) {
    let name = |id: &Value| match id.as_u64() {
        None => "<root>".to_owned(),
        Some(id) => data["names"][id as usize]["name"]
            .as_str()
            .unwrap()
            .to_owned(),
    };
    let edges: BTreeMap<(String, String), &Value> = list(&report["edges"])
        .iter()
        .map(|edge| {
            let text = |column: &str| edge[column].as_str().unwrap().to_owned();
            ((text("caller"), text("callee")), edge)
        })
        .collect();
    let mut compared = 0;
    for (at, around) in list(&data["calls"]).iter().enumerate() {
        let own = data["names"][at]["name"].as_str().unwrap().to_owned();
        let callers = list(&around["callers"]["shown"]).iter();
        let callers = callers.map(|one| (one, (name(&one["id"]), own.clone()), "served_ns"));
        let callees = list(&around["callees"]["shown"]).iter();
        let callees = callees.map(|one| (one, (own.clone(), name(&one["id"])), "spent_ns"));
        for (one, pair, time) in callers.chain(callees) {
            let edge = edges[&pair];
            for count in ["calls", "exits", "redos", "fails"] {
                assert_eq!(one[count], edge[count], "{pair:?} {count}");
            }
            assert!(one["ns"].as_u64() <= edge[time].as_u64(), "{pair:?}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

/// What a browser says of a page in which a script runs after those of the page: what the script
/// returns, and that nothing went wrong.
fn browse(sandbox: &Sandbox, page: &str, script: &str) -> Value {
    const BROWSER: &str = "chromium-headless-shell";
    let installed = sandbox.sh(&format!("command -v {BROWSER}"));
    installed.demand(
        installed.status == Status::Exit(0),
        "`make test-packages` installs it",
    );
    // Strings are ASCII without what HTML escapes, so that they stand in the output as they are.
    let first = "<script>window.wrong = []; \
        addEventListener('error', (event) => wrong.push(event.message)); \
        addEventListener('securitypolicyviolation', (event) => wrong.push(event.violatedDirective));\
        </script>\n<style>";
    let last = format!(
        "<script>const found = (() => {{ {script} }})(); \
        const plain = JSON.stringify({{ found, wrong }}).replace(/[<>&\\u007f-\\uffff]/g, \
            (c) => '\\\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')); \
        document.body.append(el('pre', {{ id: 'found' }}, plain));</script>\n</body>"
    );
    let page = page.replacen("<style>", first, 1);
    let (before, after) = page.rsplit_once("</body>").unwrap();
    let file = sandbox.write("browsed.html", format!("{before}{last}{after}"));
    let profile = format!("--user-data-dir={}", sandbox.path("browser").display());
    let shown = sandbox.run(
        Path::new(BROWSER),
        [
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
            "--window-size=1400,1000",
            profile.as_str(),
            "--dump-dom",
            &format!("file://{}", file.display()),
        ],
    );
    shown.exits(0);
    shown.demand(!shown.err().contains("CONSOLE"), "nothing on the console");
    let dom = shown.out();
    let (_, found) = dom
        .rsplit_once("<pre id=\"found\">")
        .unwrap_or_else(|| panic!("{shown}"));
    let (found, _) = found.split_once("</pre>").unwrap();
    let found: Value = serde_json::from_str(found).unwrap();
    assert_eq!(found["wrong"], Value::Array(Vec::new()), "{shown}");
    found["found"].clone()
}

fn written(sandbox: &Sandbox) -> String {
    sandbox
        .portmortem(["html", "run.pmt", "-o", "run.html"])
        .succeeds()
        .prints("");
    fs::read_to_string(sandbox.path("run.html")).unwrap()
}

#[test]
fn tables_sort_in_a_browser() {
    let sandbox = recorded();
    let page = written(&sandbox);
    let found = browse(
        &sandbox,
        &page,
        "
        const heading = (name) => document.querySelector(`#profile th[data-column=${name}] button`);
        const names = () => [...document.querySelectorAll('#profile tbody tr')].map((row) => row.cells[0].textContent);
        const found = { first: names() };
        heading('calls').click();
        found.calls = names();
        heading('calls').click();
        found.fewest = names();
        heading('predicate').click();
        found.alphabet = names();
        const filter = document.querySelector('#profile input');
        filter.value = 'SCRIPT';
        filter.dispatchEvent(new Event('input'));
        found.filtered = names();
        document.querySelector('#profile tbody tr').click();
        found.card = document.querySelector('#calls .card h3').textContent;
        found.callers = [...document.querySelectorAll('#calls .side .name')].map((name) => name.textContent);
        document.querySelector('#calls .side .name.link').click();
        found.after = document.querySelector('#calls .card h3').textContent;
        found.bands = document.querySelectorAll('#calls path').length;
        found.bad = 'bad' in window;
        found.scripts = document.scripts.length;
        found.bold = document.querySelectorAll('main td b').length;
        return found;
        ",
    );
    let data = data_of(&page);
    let rows = list(&data["predicates"]["rows"]);
    let figures = |order: &Value, column: &str| -> Vec<u64> {
        let names = list(order).iter();
        let row = |name: &Value| rows.iter().find(|row| row[0] == *name).unwrap();
        let cells = names.map(|name| cell(&data, row(name), column).as_u64().unwrap());
        cells.collect()
    };
    let falls = |figures: &[u64]| figures.windows(2).all(|two| two[0] >= two[1]);
    assert_eq!(list(&found["first"]).len(), rows.len());
    assert!(falls(&figures(&found["first"], "self_ns")), "{found}");
    let calls = figures(&found["calls"], "calls");
    assert!(falls(&calls) && calls[0] > calls[rows.len() - 1], "{found}");
    let mut fewest = figures(&found["fewest"], "calls");
    fewest.reverse();
    assert!(falls(&fewest), "{found}");
    let mut names = list(&found["alphabet"]).to_vec();
    assert_eq!(names.len(), rows.len());
    assert_eq!(
        names.first().unwrap().as_str(),
        Some("'\"quoted\" & <b>bold</b>'/2")
    );
    names.retain(|name| name.as_str().unwrap().contains("script"));
    assert_eq!(found["filtered"], Value::Array(names));
    assert_eq!(found["card"], found["filtered"][0]);
    assert_eq!(found["after"], found["callers"][0]);
    assert!(found["bands"].as_u64() > Some(1), "{found}");
    assert_eq!((&found["bad"], &found["bold"]), (&false.into(), &0.into()));
    // Those of the page, and the two of this test.
    assert_eq!(found["scripts"], 4);
}

#[test]
fn pictures_zoom_in_a_browser() {
    let sandbox = recorded();
    let page = written(&sandbox);
    let found = browse(
        &sandbox,
        &page,
        "
        const boxes = () => [...document.querySelectorAll('#flame .frame')];
        const width = (at) => boxes().find((box) => box.dataset.node === at)?.style.width;
        const inner = boxes().find((box) => box.textContent.startsWith('count'));
        const found = { all: boxes().length, node: inner.dataset.node, before: inner.style.width };
        inner.click();
        found.zoomed = width(found.node);
        found.around = document.querySelectorAll('#flame .frame.around').length;
        found.said = document.querySelector('#flame .said').textContent;
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }));
        found.out = width(found.node);
        document.querySelector('#flame .reset').click();
        found.again = [boxes().length, width(found.node)];
        const canvas = document.querySelector('#timeline canvas');
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        found.painted = pixels.filter((value, at) => at % 4 === 3 && value > 0).length;
        const box = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new MouseEvent('mousemove', { clientX: box.left + box.width / 2, clientY: box.top + 5 }));
        found.moment = document.querySelector('#timeline .said').textContent;
        found.lines = [...document.querySelectorAll('#source details[open] td.code')].map((cell) => cell.textContent);
        document.querySelector('#profile .link.place').click();
        found.line = document.querySelectorAll('#source tr.found').length;
        return found;
        ",
    );
    let width = |value: &Value| -> f64 {
        let width = value.as_str().unwrap().strip_suffix('%').unwrap();
        width.parse().unwrap()
    };
    assert!(width(&found["before"]) < 99.0, "{found}");
    assert_eq!(width(&found["zoomed"]), 100.0);
    assert!(found["around"].as_u64() > Some(0), "{found}");
    assert!(found["said"].as_str().unwrap().starts_with("count/1 — "));
    assert!(width(&found["out"]) <= 100.0);
    assert_eq!(found["again"][0], found["all"]);
    assert_eq!(found["again"][1], found["before"]);
    assert!(found["painted"].as_u64() > Some(1000), "{found}");
    assert!(
        found["moment"]
            .as_str()
            .unwrap()
            .contains(" main/0 at depth 0 — "),
        "{found}"
    );
    let lines: Vec<&str> = PROGRAM.lines().collect();
    assert_eq!(found["lines"], Value::from(lines));
    assert_eq!(found["line"], 1);
}

/// A trace of very many predicates that call one another, and one of many that do not: the page has
/// a limit, says what is left out, and opens.
#[test]
fn pages_stay_small() {
    let sandbox = Sandbox::new();
    for (workload, predicates, depth) in [
        (Workload::Deep, 30_000, 30_000),
        (Workload::Mixed, 3_000, 0),
    ] {
        let shape = Shape {
            predicates,
            depth,
            ..Shape::new(workload, 200_000, 1)
        };
        generate(&sandbox.path("run.pmt"), &shape).unwrap();
        let arguments = [
            "html", "run.pmt", "-o", "run.html", "--force", "--top", "600",
        ];
        sandbox.portmortem(arguments).exits(0);
        let page = fs::read_to_string(sandbox.path("run.html")).unwrap();
        assert!(page.len() < 1_500_000, "{} bytes", page.len());
        let data = data_of(&page);
        let shown = list(&data["predicates"]["rows"]).len();
        assert!((600..=1200).contains(&shown), "{shown}");
        let rest = &data["predicates"]["rest"]["predicates"];
        assert!(rest.as_u64() > Some(1000), "{rest}");
        let found = browse(
            &sandbox,
            &page,
            "return [document.querySelectorAll('#profile tbody tr').length, \
                document.querySelector('#profile tfoot td').textContent, \
                document.querySelectorAll('#flame .frame').length];",
        );
        assert_eq!(found[0], shown);
        assert!(found[1].as_str().unwrap().starts_with("… and "), "{found}");
        assert!((1..4000).contains(&found[2].as_u64().unwrap()), "{found}");
    }
}

#[test]
fn files_are_not_lost() {
    let sandbox = Sandbox::new();
    fs::copy(sample("queens.pmt"), sandbox.path("queens.pmt")).unwrap();
    let html = |options: &[&str]| -> Outcome {
        sandbox.portmortem(["html", "queens.pmt"].iter().chain(options).copied())
    };
    html(&[])
        .exits(0)
        .prints("")
        .says("note: the page is queens.html");
    let page = fs::read_to_string(sandbox.path("queens.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    html(&[]).refuses("queens.html exists; replace it with --force");
    html(&["--force"]).exits(0);
    html(&["-o", "-"]).succeeds().prints(&page);
    html(&["-o", "./queens.pmt", "--force"]).refuses("is the trace itself");
    html(&["-o", "nowhere/x.html"]).refuses("cannot write nowhere/x.html");
    // A device that takes nothing: it is not removed, as half a file would be.
    symlink("/dev/full", sandbox.path("full")).unwrap();
    html(&["-o", "full", "--force"]).refuses("cannot write full: No space left on device");
    assert!(fs::symlink_metadata(sandbox.path("full")).is_ok());
    html(&["--focus", "nothing/7", "-o", "-"]).refuses("no predicate of this trace matches");
    let part = html(&["--focus", "attack/2", "-o", "-"]);
    let data = data_of(&part.succeeds().out());
    assert_eq!(
        data["predicates"]["rows"][1][0], "attack/2",
        "{}",
        data["predicates"]["rows"]
    );
    html(&["--time", "..1ns", "-o", "-"])
        .exits(0)
        .shows("</html>");
    // What a damaged trace has is written, and that it is damaged is said.
    let mut bytes = fs::read(sandbox.path("queens.pmt")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    sandbox.write("damaged.pmt", bytes);
    let damaged = sandbox.portmortem(["html", "damaged.pmt", "-o", "-"]);
    damaged.exits(3).says("warning: ");
    let losses = &data_of(&damaged.out())["head"]["losses"];
    assert!(losses[0].as_str().unwrap().contains("lost"), "{losses}");
}
