//! Reports are as wide as the terminal.

use portmortem_tests::terminal::Terminal;
use portmortem_tests::{Sandbox, built, sample};
use unicode_width::UnicodeWidthStr;

/// Names too long for 80 columns beside their figures.
const LONG_NAMES: &str = "
:- initialization(main, main).
main :- a_predicate_whose_name_takes_about_half_of_the_line(3), writeln(done).
a_predicate_whose_name_takes_about_half_of_the_line(N) :- another_predicate_whose_name_is_rather_long(N).
another_predicate_whose_name_is_rather_long(_).
";
const CALLER: &str = "a_predicate_whose_name_takes_about_half_of_the_line/1";
const CALLEE: &str = "another_predicate_whose_name_is_rather_long/1";

fn widest(text: &str) -> usize {
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

#[test]
fn as_wide_as_the_terminal_or_as_columns_says() {
    let sandbox = Sandbox::with("names.pl", LONG_NAMES);
    sandbox.portmortem(["record", "names.pl"]).exits(0);
    let report = |options: &[&str]| {
        let run = sandbox.command(built::portmortem());
        run.args(["report", "names.pmt"]).args(options)
    };
    let piped = report(&[]).wait();
    let text = piped.succeeds().out();
    assert!(
        widest(&text) <= 80 && !text.contains(&format!("{CALLER}\n")),
        "{text}"
    );
    let mut said = report(&[]);
    said.command.env("COLUMNS", "140");
    let said = said.wait();
    let wide = said.succeeds().out();
    assert!(wide.contains(&format!("  {CALLER}\n")), "{wide}");
    assert!(widest(&wide) > 80 && widest(&wide) <= 140, "{wide}");
    let (_, shown) = Terminal::start_with_columns(report(&[]), 140).ends();
    assert_eq!(shown, wide);
    let (_, shown) = Terminal::start(report(&[])).ends();
    assert_eq!(shown, text);
    // A caller gives way to its callee.
    let goals = report(&["--sites"]).wait();
    let goals = goals.succeeds().out();
    assert!(goals.contains(&format!("… > {}", &CALLEE[..30])), "{goals}");
}

#[test]
fn columns_that_make_no_sense_do_not_count() {
    let sandbox = Sandbox::new();
    let trace = sample("queens.pmt");
    let report = |columns: &str| {
        let mut run = sandbox.command(built::portmortem());
        run.command.env("COLUMNS", columns);
        run.args(["report"]).args([&trace]).wait().succeeds().out()
    };
    let usual = report("");
    for columns in ["x", "-5", "0", "40"] {
        assert_eq!(report(columns), usual, "{columns}");
    }
}
