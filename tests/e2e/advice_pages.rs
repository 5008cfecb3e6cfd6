//! Each finding has a page, and the program on it has that finding.

use std::fs;

use portmortem_analyzer::advice::Cause;
use portmortem_tests::{Sandbox, repository};
use serde_json::Value;

/// The lines of the only block of code in that language.
fn block<'p>(page: &'p str, language: &str) -> &'p str {
    let begin = format!("```{language}\n");
    let (_, rest) = page.split_once(&begin).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn a_page_explains_each_finding_and_its_example_has_it() {
    for cause in Cause::ALL {
        let name = cause.name();
        let file = repository(&format!("docs/advice/{name}.md"));
        let page = fs::read_to_string(file).unwrap();
        assert_eq!(page, cause.page());
        assert!(page.starts_with(&format!("# {name}\n\n")), "{name}");
        assert!(page.contains("\n## When it is wrong\n\n"), "{name}");

        let sandbox = Sandbox::with("example.pl", block(&page, "prolog"));
        sandbox
            .portmortem(["advise", "--explain", name])
            .exits(0)
            .prints(&page);
        // As the page says.
        let record = page
            .lines()
            .find_map(|line| line.strip_prefix("    portmortem "));
        let words = record.unwrap().split(' ');
        sandbox.portmortem(words).exits(0);
        let advise = ["advise", "example.pmt", "--format", "json"];
        let all = ["--least", "0", "--top", "100"];
        let outcome = sandbox.portmortem([advise, all].concat());
        outcome.exits(0);
        let report: Value = serde_json::from_slice(&outcome.stdout).unwrap();
        let found = report["findings"].as_array().unwrap();
        assert!(
            found.iter().any(|finding| finding["cause"] == name),
            "{name}: {report:#}"
        );
    }
}

#[test]
fn pages_are_of_findings() {
    let pages = fs::read_dir(repository("docs/advice")).unwrap();
    assert_eq!(pages.count(), Cause::ALL.len());
    let sandbox = Sandbox::new();
    let unknown = sandbox.portmortem(["advise", "--explain", "prefix"]);
    unknown.exits(2).says("no finding is named prefix");
    sandbox.portmortem(["advise"]).exits(2);
}
