use super::*;
use crate::keys::Action;
use portmortem_analyzer::condition::FieldKind;

/// A list, or a tree if there are parents.
#[derive(Debug)]
struct Rows(Vec<(&'static str, i64, Option<usize>)>);

const COLUMNS: &[ListColumn] = &[
    ListColumn::new("calls", "calls", CellKind::Count, ""),
    ListColumn::new("predicate", "predicate", CellKind::Name, ""),
];

impl Source for Rows {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match column {
            0 if self.0[row].1 < 0 => Cell::Missing,
            0 => Cell::Integer(self.0[row].1),
            _ => Cell::Text(self.0[row].0),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(self.0[row].0)
    }

    fn is_tree(&self) -> bool {
        self.0.iter().any(|row| row.2.is_some())
    }

    fn parent(&self, row: usize) -> Option<usize> {
        self.0[row].2
    }
}

fn list() -> TableView {
    let rows = vec![
        ("b/1", 2, None),
        ("a/1", 7, None),
        ("c/1", -1, None),
        ("d/1", 2, None),
    ];
    TableView::new(Box::new(Rows(rows)), Some("calls"))
}

fn tree() -> TableView {
    let rows = vec![
        ("main", 9, None),
        ("p", 1, Some(0)),
        ("q", 8, Some(0)),
        ("r", 3, Some(2)),
        ("s", 5, Some(2)),
    ];
    TableView::new(Box::new(Rows(rows)), Some("calls"))
}

fn shown(table: &TableView) -> Vec<&str> {
    let name = |&row: &u32| match table.source.cell(row as usize, 1) {
        Cell::Text(name) => name,
        _ => "",
    };
    table.order().iter().map(name).collect()
}

/// Rows below themselves, below each other, and below one that comes later.
#[test]
fn every_way_ends_whatever_the_parents_are() {
    let rows = vec![
        ("itself", 9, Some(0)),
        ("one", 1, Some(2)),
        ("other", 8, Some(1)),
        ("early", 3, Some(4)),
        ("late", 5, None),
    ];
    let mut table = TableView::new(Box::new(Rows(rows.clone())), Some("calls"));
    for row in 0..rows.len() {
        table.select(row);
        for action in [Action::OpenAll, Action::Left, Action::Right, Action::Toggle] {
            table.act(action);
        }
        table.open_hottest(0);
        table.set_root(Some(row as u32));
        table.set_filter("e");
        table.follow(Box::new(Rows(rows.clone())));
        table.set_filter("");
        table.set_root(None);
        table.act(Action::OpenAll);
    }
    table.select(2);
    assert_eq!(shown(&table), ["itself", "late", "early", "one", "other"]);
}

#[test]
fn any_column_sorts_and_the_cursor_goes_to_the_top() {
    let mut table = list();
    assert_eq!(shown(&table), ["a/1", "b/1", "d/1", "c/1"]);
    table.act(Action::Bottom);
    assert_eq!(table.row(), Some(2));
    table.act(Action::Reverse);
    assert_eq!(shown(&table), ["b/1", "d/1", "a/1", "c/1"]);
    assert_eq!(table.row(), Some(0));
    // What the program sorts by itself leaves the cursor on its row.
    table.sort_by_name("predicate");
    assert_eq!(shown(&table), ["a/1", "b/1", "c/1", "d/1"]);
    assert_eq!(table.row(), Some(0));
    table.act(Action::Bottom);
    table.act(Action::SortRight);
    assert_eq!(table.sort(), Some((0, true)));
    assert_eq!(table.row(), Some(1));
}

#[test]
fn filters_are_conditions_or_words() {
    let mut table = list();
    assert_eq!(table.fields()[0].kind, FieldKind::Count);
    table.set_filter("calls = 2 and not d");
    assert_eq!((shown(&table), table.found()), (vec!["b/1"], 1));
    // What is no condition leaves all as it is.
    table.set_filter("calls = 2 and (b");
    assert!(table.filter_error().is_some());
    assert_eq!(shown(&table), ["b/1"]);
    table.set_filter("nothing");
    assert_eq!(shown(&table), Vec::<&str>::new());
    assert_eq!(table.row(), None);
    for action in [
        Action::Down,
        Action::Bottom,
        Action::NextMatch,
        Action::Mark,
        Action::PageUp,
    ] {
        table.act(action);
    }
    table.set_filter("");
    assert_eq!(table.order().len(), 4);
}

#[test]
fn other_rows_keep_what_the_user_did() {
    let mut table = list();
    table.select(3);
    table.act(Action::Mark);
    table.set_filter("calls > 0");
    table.follow(Box::new(Rows(vec![
        ("d/1", 1, None),
        ("a/1", 0, None),
        ("e/1", 5, None),
    ])));
    assert_eq!(shown(&table), ["e/1", "d/1"]);
    assert_eq!(table.row(), Some(0));
    table.act(Action::Top);
    table.act(Action::NextMark);
    assert_eq!(table.row(), Some(0));
}

#[test]
fn trees_fold_and_sort_below_each_row() {
    let mut table = tree();
    assert_eq!(shown(&table), ["main"]);
    table.act(Action::Right);
    assert_eq!(shown(&table), ["main", "q", "p"]);
    table.open_hottest(0);
    assert_eq!(shown(&table), ["main", "q", "s", "r", "p"]);
    assert_eq!(table.row(), Some(4));
    table.act(Action::Left);
    assert_eq!(table.row(), Some(2));
    table.act(Action::Left);
    assert_eq!(shown(&table), ["main", "q", "p"]);
    table.act(Action::CloseAll);
    table.act(Action::OpenAll);
    assert_eq!(table.order().len(), 5);
    table.select(4);
    table.act(Action::Reverse);
    assert_eq!(shown(&table), ["main", "p", "q", "r", "s"]);
    assert_eq!(table.row(), Some(4));
    table.act(Action::Reverse);
    table.set_root(Some(2));
    assert_eq!(shown(&table), ["q", "s", "r"]);
}

#[test]
fn a_row_that_goes_away_gets_the_cursor_back() {
    // Nothing is left of b/1: the cursor is on what is found, and back when the filter is not wanted.
    let mut table = list();
    table.select(0);
    table.set_filter("c");
    assert_eq!(table.row(), Some(2));
    table.set_filter("");
    assert_eq!(table.row(), Some(0));
    // It stays on what was found if that was meant, or after it was moved.
    table.set_filter("c");
    table.stay();
    table.set_filter("");
    assert_eq!(table.row(), Some(2));
    table.set_filter("calls = 2");
    table.act(Action::Top);
    table.set_filter("");
    assert_eq!(table.row(), Some(0));
    // A row that is hidden: the cursor is at the same place of the list, and back if the row is.
    let all = || vec![("b/1", 2, None), ("a/1", 7, None), ("c/1", -1, None)];
    let mut table = TableView::new(Box::new(Rows(all())), Some("calls"));
    let without = vec![("b/1", 2, None), ("c/1", -1, None)];
    assert_eq!(table.row(), Some(1));
    table.follow(Box::new(Rows(without)));
    assert_eq!((shown(&table), table.row()), (vec!["b/1", "c/1"], Some(0)));
    table.follow(Box::new(Rows(all())));
    assert_eq!(table.row(), Some(1));
}

#[test]
fn in_a_tree_the_cursor_goes_to_the_nearest_row_above() {
    let mut table = tree();
    table.select(4);
    table.act(Action::CloseAll);
    assert_eq!((shown(&table), table.row()), (vec!["main"], Some(0)));
    table.select(4);
    let without = vec![("main", 9, None), ("p", 1, Some(0)), ("q", 8, Some(0))];
    table.follow(Box::new(Rows(without)));
    assert_eq!(shown(&table), ["main", "q", "p"]);
    assert_eq!(table.row(), Some(2));
}

#[test]
fn what_is_zoomed_into_is_unfolded_meanwhile() {
    let mut table = tree();
    table.act(Action::Right);
    table.select(2);
    table.set_root(Some(2));
    assert_eq!(shown(&table), ["q", "s", "r"]);
    for action in [Action::Toggle, Action::Left, Action::Right] {
        table.act(action);
        assert_eq!(shown(&table), ["q", "s", "r"]);
    }
    assert_eq!(table.row(), Some(4));
    table.set_root(None);
    assert_eq!(shown(&table), ["main", "q", "p"]);
    assert_eq!(table.row(), Some(2));
}

#[test]
fn a_filter_shows_what_is_above() {
    let mut table = tree();
    table.set_filter("r");
    assert_eq!((shown(&table), table.found()), (vec!["main", "q", "r"], 1));
    table.act(Action::Top);
    table.act(Action::NextMatch);
    assert_eq!(table.row(), Some(3));
}

#[test]
fn files_have_the_columns_and_rows_shown() {
    let mut table = list();
    table.set_filter("calls < 9");
    assert_eq!(table.csv(None), "calls,predicate\n7,a/1\n2,b/1\n2,d/1\n");
    table.show(0, false);
    table.show(1, false);
    assert_eq!(table.csv(Some(0)), "predicate\nb/1\n");
}

#[test]
fn the_cursor_is_always_on_the_screen() {
    assert_eq!(first_row(0, 9, 5, 20), 5);
    assert_eq!(first_row(7, 3, 5, 20), 3);
    assert_eq!(first_row(18, 19, 5, 20), 15);
    assert_eq!(first_row(4, 0, 5, 2), 0);
    assert_eq!(first_row(0, 0, 0, 0), 0);
}

/// Times of two predicates, and other figures.
#[derive(Debug)]
struct Wide {
    whole: u64,
}

const WIDE: &[ListColumn] = &[
    ListColumn::new("share", "%", CellKind::Share, ""),
    ListColumn::new("first", "first one", CellKind::Count, "").rank(1),
    ListColumn::new("zero", "zero in all", CellKind::Count, "").unless_zero(),
    ListColumn::new("second", "second one", CellKind::Count, "").rank(2),
    ListColumn::new("third", "third one", CellKind::Count, ""),
    ListColumn::new("predicate", "predicate", CellKind::Name, ""),
];

impl Source for Wide {
    fn columns(&self) -> &'static [ListColumn] {
        WIDE
    }

    fn rows(&self) -> usize {
        3
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        match column {
            2 => Cell::Integer(0),
            5 => Cell::Text("m:p/1"),
            _ => Cell::Integer(4 >> row),
        }
    }

    fn key(&self, row: usize) -> u64 {
        key_of(row)
    }

    fn whole(&self) -> u64 {
        self.whole
    }

    fn group(&self, row: usize) -> u8 {
        u8::from(row == 2)
    }

    fn is_reversed(&self, group: u8) -> bool {
        group == 0
    }

    fn short_name(&self, _row: usize) -> Option<std::borrow::Cow<'_, str>> {
        Some("p/1".into())
    }

    fn about_names(&self) -> Option<String> {
        Some("of m".to_owned())
    }
}

fn drawn(table: &mut TableView, width: u16) -> (Vec<String>, ratatui::buffer::Buffer) {
    let area = Rect::new(0, 0, width, 4);
    let mut buffer = ratatui::buffer::Buffer::empty(area);
    table.draw(area, &mut buffer, &crate::theme::Theme::plain());
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect();
    ((0..4).map(row).collect(), buffer)
}

#[test]
fn where_there_is_no_room_columns_go_by_rank() {
    let mut table = TableView::new(Box::new(Wide { whole: 8 }), Some("share"));
    let heading = |table: &mut TableView, width| drawn(table, width).0.remove(0);
    let all = heading(&mut table, 100);
    assert!(all.contains("second one") && !all.contains("zero"), "{all}");
    assert!(all.contains("predicate of m"));
    let narrow = heading(&mut table, 50);
    assert!(narrow.contains("third one"), "{narrow}");
    assert!(!narrow.contains("second one"), "{narrow}");
    // What rows are sorted by is seen, and so is what is asked for.
    table.sort_by_name("second");
    let sorted = heading(&mut table, 50);
    assert!(sorted.contains("second one"), "{sorted}");
    table.show(2, true);
    assert!(heading(&mut table, 100).contains("zero in all"));
    // Whatever is left out can be scrolled to.
    let mut seen = String::new();
    for _ in 0..WIDE.len() {
        seen += &heading(&mut table, 40);
        table.act(Action::ScrollRight);
    }
    for column in &WIDE[1..5] {
        assert!(seen.contains(column.heading), "{}: {seen}", column.name);
    }
}

#[test]
fn the_bar_of_the_selected_row_is_not_reversed() {
    let mut table = TableView::new(Box::new(Wide { whole: 8 }), Some("share"));
    let (rows, buffer) = drawn(&mut table, 80);
    // The first group is in the opposite order; bars are of the largest row.
    assert_eq!(table.order(), [1, 0, 2]);
    assert!(rows[2].starts_with(" █████  50.0"), "{rows:?}");
    assert!(rows[1].starts_with(" ██▌    25.0"), "{rows:?}");
    let is_reversed = |x: u16| {
        let style = buffer[(x, 1)].style();
        style
            .add_modifier
            .contains(ratatui::style::Modifier::REVERSED)
    };
    let reversed: Vec<bool> = (0..12).map(is_reversed).collect();
    assert_eq!(reversed[..1], [true]);
    assert_eq!(reversed[1..6], [false; 5]);
    assert_eq!(reversed[6..], [true; 6]);
}

#[test]
fn shares_are_exported_in_percent_and_never_as_times() {
    let shares = |whole| {
        let mut table = TableView::new(Box::new(Wide { whole }), None);
        (1..5).for_each(|at| table.show(at, false));
        table.csv(None)
    };
    assert_eq!(
        shares(8),
        "share,predicate\n50.0,m:p/1\n25.0,m:p/1\n12.5,m:p/1\n"
    );
    assert_eq!(shares(0), "share,predicate\n,m:p/1\n,m:p/1\n,m:p/1\n");
}
