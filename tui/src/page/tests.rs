use std::path::Path;
use std::sync::Arc;

use portmortem_analyzer::trace::Trace;
use portmortem_analyzer::{Filters, Progress};

use super::*;

fn page_of(name: &str, top: usize) -> (Analysis, Page) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../traces")
        .join(name);
    let trace = Arc::new(Trace::open(&path).unwrap());
    let progress = Progress::default();
    let analysis = Analysis::explored(trace, &path, Filters::default(), &progress).unwrap();
    let options = PageOptions {
        top,
        outside: false,
    };
    let page = Page::of(&analysis, options, &|work| work(&Progress::default()));
    (analysis, page)
}

const SAMPLES: [&str; 5] = [
    "queens.pmt",
    "scan.pmt",
    "parser.pmt",
    "metainterp.pmt",
    "threads_exceptions.pmt",
];

fn integers<'v>(values: impl Iterator<Item = &'v Value>) -> i64 {
    values.map(|value| value.as_i64().unwrap()).sum()
}

/// The rows and the line below them have all that there is, whatever is shown.
#[test]
fn what_is_left_out_is_summed_up() {
    for name in SAMPLES {
        let all = serde_json::to_value(page_of(name, 1000).1).unwrap();
        let few = serde_json::to_value(page_of(name, 2).1).unwrap();
        assert_eq!(all["predicates"]["rest"]["predicates"], 0, "{name}");
        let rows = |page: &Value| page["predicates"]["rows"].as_array().unwrap().clone();
        assert!(rows(&few).len() <= 4, "{name}");
        let rest = &few["predicates"]["rest"];
        let left_out = rest["predicates"].as_u64().unwrap() as usize;
        assert_eq!(rows(&few).len() + left_out, rows(&all).len(), "{name}");
        let columns = all["predicates"]["columns"].as_array().unwrap();
        for (at, column) in columns.iter().enumerate() {
            let Some(sum) = rest["sums"][at].as_i64() else {
                continue;
            };
            let sum_of = |rows: &[Value]| integers(rows.iter().map(|row| &row[at]));
            assert_eq!(
                sum_of(&rows(&few)) + sum,
                sum_of(&rows(&all)),
                "{name}: {column}"
            );
        }
    }
}

/// Shares are of one whole: that of the flame graph and of the table is the work in the head, and
/// the calls around a predicate add up to its inclusive time, but for rounding.
#[test]
fn times_add_up_to_the_work() {
    for name in SAMPLES {
        let (analysis, page) = page_of(name, 1000);
        let page = serde_json::to_value(page).unwrap();
        let work = page["head"]["work_ns"].as_u64().unwrap();
        let near = |a: u64, b: u64, parts: usize, what: &str| {
            assert!(a.abs_diff(b) <= parts as u64, "{name}: {what}: {a} {b}");
        };
        let sum = |values: &mut dyn Iterator<Item = &Value>| integers(values) as u64;
        let frames = page["flame"]["frames"].as_array().unwrap();
        let drawn = sum(&mut frames.iter().map(|frame| &frame[2]));
        near(drawn, work, frames.len(), "frames");
        let columns = page["predicates"]["columns"].as_array().unwrap();
        let place = |column: &str| {
            let mut names = columns.iter();
            names.position(|known| known["name"] == column).unwrap()
        };
        let [own, inclusive] = match analysis.net_is_measured() {
            true => ["self_comp_ns", "inclusive_comp_ns"],
            false => ["self_ns", "inclusive_ns"],
        }
        .map(place);
        let rows = page["predicates"]["rows"].as_array().unwrap();
        let all = sum(&mut rows.iter().map(|row| &row[own]));
        near(all, work, rows.len(), "predicates");
        for (row, around) in rows.iter().zip(page["calls"].as_array().unwrap()) {
            let whole = row[inclusive].as_u64().unwrap();
            let mut served = 0;
            let mut spent = row[own].as_u64().unwrap();
            for (side, sum) in [("callers", &mut served), ("callees", &mut spent)] {
                let shown = around[side]["shown"].as_array().unwrap();
                let others = around[side]["others"].get(1);
                let times = shown.iter().chain(others).map(|one| &one["ns"]);
                *sum += integers(times) as u64;
            }
            near(served, whole, 50, "callers");
            near(spent, whole, 50, "callees");
        }
    }
}

/// By column of time, each row has a value; names and lines are those that there are.
#[test]
fn every_number_leads_somewhere() {
    for name in SAMPLES {
        let (_, page) = page_of(name, 3);
        let names = page.names.len() as i64;
        let timeline = serde_json::to_value(&page.timeline).unwrap();
        for stream in timeline["streams"].as_array().unwrap() {
            for row in stream["rows"].as_array().unwrap() {
                let row: Vec<i64> = serde_json::from_value(row.clone()).unwrap();
                let columns: i64 = row.chunks(2).map(|run| run[1]).sum();
                assert_eq!(columns, timeline["columns"], "{name}");
                let steps = timeline["steps"].as_i64().unwrap();
                assert!(row.chunks(2).all(|run| run[0] / steps < names), "{name}");
            }
        }
        let flame = serde_json::to_value(&page.flame).unwrap();
        let mut frames = flame["frames"].as_array().unwrap().iter();
        assert!(frames.all(|frame| frame[1].as_i64().is_none_or(|id| id < names)));
    }
}

/// No text of the page ends the element that it stands in.
#[test]
fn nothing_in_the_page_ends_it() {
    let (_, mut page) = page_of("queens.pmt", 10);
    let hostile = "</script><!-- <script> ]]> & \u{2028} %%data%%";
    page.head.title = hostile.to_owned();
    let mut out = Vec::new();
    page.write(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.matches("</script>").count(), 2);
    assert_eq!(text.matches("<script").count(), 2);
    assert!(!text.contains("<!--"));
    let (_, json) = text.split_once("id=\"data\">").unwrap();
    let (json, _) = json.split_once("</script>").unwrap();
    let data: Value = serde_json::from_str(json).unwrap();
    assert_eq!(data["head"]["title"], hostile);
    for part in [FRAME, STYLE].iter().chain(&SCRIPTS) {
        // The name of a language is no address.
        let part = part.replace("http://www.w3.org/2000/svg", "");
        let loads = ["http:", "https:", "@import", "url("];
        assert!(!loads.iter().any(|way| part.contains(way)));
    }
}
