//! Figures beside the lines of small files.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use portmortem_tracer::format::{Dialect, Header, Outcome, Site, StreamKind};
use portmortem_tracer::{NewPredicate, Options, Recorder};

use super::*;
use crate::Filters;
use crate::trace::Trace;

const PROGRAM: &str = "main :-\n    p(1), all(p(_)),\n    \"<&>\" = _.\np(_).\n";

/// `main` calls `p` and, on the same line, `all`, which calls the goal in its argument: `p`, which
/// fails, too.
fn recorded(directory: &Path) -> Analysis {
    let path = directory.join("run.pmt");
    fs::write(directory.join("a.pl"), PROGRAM).unwrap();
    let header = Header::of_this_process("test engine");
    let recorder = Recorder::create(&path, &header, &Options::default()).unwrap();
    let source = directory.join("a.pl");
    let source = source.to_str().unwrap();
    let main = recorder.predicate(NewPredicate::named("user", "main", 0).at(source, 1));
    let p = recorder.predicate(NewPredicate::named("user", "p", 1).at(source, 4));
    let all = recorder.predicate(NewPredicate::named("lists", "all", 1));
    let site = |callee, goal| {
        recorder.site(Site {
            callee,
            caller: main,
            clause: 1,
            goal,
            line: 2,
            file: Some(recorder.file(source)),
            then_fails: false,
        })
    };
    let goals = [site(p, 1), site(all, 2), site(p, 3)];
    let stream = recorder.stream(StreamKind::Thread, "main", Dialect::EveryRedo);
    stream.call(main);
    stream.call(goals[0]);
    stream.exit_det();
    stream.call(goals[1]);
    stream.call(goals[2]);
    stream.fail();
    stream.exit_det();
    stream.exit_det();
    stream.end();
    recorder.close(Outcome::Exited(0)).unwrap();
    let trace = Trace::open(&path).unwrap();
    Analysis::of(trace, &path, Filters::default(), &AtomicU64::new(0)).unwrap()
}

#[test]
fn figures_are_beside_their_lines() {
    let directory = tempfile::tempdir().unwrap();
    let analysis = recorded(directory.path());
    let files = files(&analysis);
    assert_eq!(files.len(), 1);
    // All that ran, `all` of another file as well, is the work of `main`.
    assert_eq!(files[0].inclusive_ticks, analysis.profile.total_ticks());
    assert!(files[0].self_ticks < files[0].inclusive_ticks);
    let annotated = files[0].annotated(&analysis);
    assert_eq!(annotated.remark, None);
    let texts: Vec<&str> = annotated
        .lines
        .iter()
        .map(|line| line.text.as_str())
        .collect();
    assert_eq!(texts.join("\n") + "\n", PROGRAM);
    let predicates = annotated.lines.iter().map(|line| line.predicates.len());
    assert_eq!(predicates.collect::<Vec<_>>(), [1, 0, 0, 1]);
    let with_goals = annotated.lines.iter().filter(|line| line.goals.is_some());
    assert_eq!(with_goals.map(|line| line.number).collect::<Vec<_>>(), [2]);
    let goals = annotated.lines[1].goals.unwrap();
    assert_eq!((goals.calls, goals.exits(), goals.fails), (3, 2, 1));
    // The goal in the argument took its time inside the one around it.
    let outside = analysis.profile.sites.iter();
    let outside =
        outside.filter(|((caller, _, site), _)| site.is_some() && *caller == Caller::Predicate(0));
    let outside: u64 = outside.map(|(_, figures)| figures.served_ticks).sum();
    assert_eq!(goals.served_ticks, outside);
    assert!(predicate_line(&analysis, 1).starts_with("p/1: self "));
    assert!(predicate_line(&analysis, 1).ends_with(" %), 2 calls, 1 failed"));
}

#[test]
fn changed_and_missing_files_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let analysis = recorded(directory.path());
    let path = directory.path().join("a.pl");
    let recorded = fs::metadata(&analysis.path).unwrap().modified().unwrap();
    let touch = |time| {
        File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(time)
            .unwrap()
    };
    let remark = || files(&analysis)[0].annotated(&analysis).remark;
    touch(recorded + Duration::from_secs(1));
    assert!(remark().unwrap().contains("newer than the trace"));
    touch(recorded - Duration::from_secs(1));
    assert_eq!(remark(), None);
    // A line with figures that is gone.
    fs::write(&path, "main.\n").unwrap();
    let numbers = |annotated: AnnotatedFile| {
        let lines = annotated.lines.into_iter();
        lines.map(|line| line.number).collect::<Vec<_>>()
    };
    assert_eq!(numbers(files(&analysis)[0].annotated(&analysis)), [1, 2, 4]);
    fs::remove_file(&path).unwrap();
    assert!(remark().unwrap().contains("cannot be read"));
    assert_eq!(numbers(files(&analysis)[0].annotated(&analysis)), [1, 2, 4]);
}

#[test]
fn a_page_is_html() {
    let directory = tempfile::tempdir().unwrap();
    let analysis = recorded(directory.path());
    let files = files(&analysis);
    let mut page = Vec::new();
    html::write(&analysis, &[&files[0], &files[0]], &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(page.contains("&quot;&lt;&amp;&gt;&quot; = _."), "{page}");
    assert!(page.contains("<a href=\"#file1\">") && page.contains("<h2 id=\"file1\">"));
    assert_eq!(page.matches("<tr style=\"--heat: ").count(), 2);
    for tag in [
        "html", "body", "table", "tbody", "tr", "th", "td", "h2", "p", "ul", "li", "style",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert!(opened > 0, "{tag}");
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // It asks for nothing else.
    for outside in ["http", "src=", "<link", "<script", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}
