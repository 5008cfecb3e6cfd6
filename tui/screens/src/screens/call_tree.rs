//! Screen 3: the call tree with folds.

use std::sync::Arc;
use std::time::Instant;

use portmortem_analyzer::FocusOn;
use portmortem_analyzer::tables::{self, Cell, ContextRow, Row};
use portmortem_analyzer::trace::PredicateIndex;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use crate::analysis::AnalysisView;
use crate::keys::{Action, Binding, bind};
use crate::screen::{
    Clickable, Effect, Exportable, Navigable, Pointing, Screen, Searchable, Spot, Tabular,
};
use crate::table::{CellKind, ListColumn, Source, TableView, path_key};
use crate::theme::Theme;
use crate::worker::{Received, Worker, poll_until, soon};

/// The screen.
#[derive(Debug, Default)]
pub(super) struct CallTreeScreen {
    table: Option<TableView>,
    /// The table while a thread works on it: there may be millions of contexts.
    made: Option<Worker<TableView>>,
    /// Where to go in it when it is there.
    wanted: Option<PredicateIndex>,
    /// Where to go back to when it is there.
    returns: Option<Spot>,
    analysis: Option<Arc<AnalysisView>>,
}

const KEYS: &[Binding] = &[
    bind(
        &["p"],
        Action::HottestPath,
        "hottest path",
        "unfold the hottest path from here down",
    ),
    bind(&["z"], Action::Zoom, "zoom", "show only what is below here"),
    bind(&["space"], Action::Toggle, "", "unfold or fold the row"),
    bind(
        &["+"],
        Action::OpenAll,
        "unfold",
        "unfold all below here, 20,000 rows at most",
    ),
    bind(&["-"], Action::CloseAll, "", "fold everything"),
];

impl Screen for CallTreeScreen {
    fn bindings(&self) -> &'static [Binding] {
        KEYS
    }

    fn follow(&mut self, analysis: &Arc<AnalysisView>) {
        let before = self.table.take();
        let of = Arc::clone(analysis);
        self.made = Some(Worker::start(0, move |task| {
            let rows = Box::new(ContextRows::new(&of));
            let table = match before {
                Some(mut table) => {
                    table.follow(rows);
                    table
                }
                None => {
                    let mut table = TableView::new(rows, Some("share"));
                    table.act(Action::Toggle);
                    table
                }
            };
            task.found(table);
        }));
        self.analysis = Some(Arc::clone(analysis));
        self.take(Some(soon()));
    }

    fn poll(&mut self, wait: bool) -> Effect {
        if self.take(poll_until(wait)) {
            Effect::Done
        } else {
            Effect::Unused
        }
    }

    fn is_ready(&self) -> bool {
        self.made.is_none()
    }

    fn act(&mut self, action: Action) -> Effect {
        let Some(table) = &mut self.table else {
            return Effect::Unused;
        };
        match action {
            Action::Enter => table.predicate().map_or(Effect::Done, Effect::Open),
            // What was unfolded by hand would be lost.
            Action::HottestPath | Action::OpenAll | Action::CloseAll => {
                let before = table.spot();
                match action {
                    Action::HottestPath => table.open_hottest(SHARE),
                    action => {
                        table.act(action);
                    }
                }
                match table.spot() == before {
                    true => Effect::Done,
                    false => Effect::Step,
                }
            }
            Action::Zoom => match table.row() {
                Some(row) if table.root() != Some(row) => {
                    table.set_root(Some(row as u32));
                    Effect::Step
                }
                _ => Effect::Done,
            },
            _ => Effect::Unused,
        }
    }

    fn status(&self) -> String {
        let Some(table) = &self.table else {
            return String::new();
        };
        let shown = table.how_many("context");
        match table.root().and_then(|row| table.source().predicate(row)) {
            Some(root) => {
                let name = self
                    .analysis
                    .as_ref()
                    .map_or("", |analysis| analysis.predicate(root));
                format!("{shown}, below {name}")
            }
            None => shown,
        }
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: &Theme) {
        match &mut self.table {
            Some(table) => table.draw(area, buf, theme),
            None => {
                let text = "the call tree is being made …";
                buf.set_stringn(area.x + 2, area.y + 1, text, area.width.into(), theme.faint);
            }
        }
    }
}

impl Tabular for CallTreeScreen {
    fn table(&self) -> Option<&TableView> {
        self.table.as_ref()
    }

    fn table_mut(&mut self) -> Option<&mut TableView> {
        self.table.as_mut()
    }
}

impl Searchable for CallTreeScreen {}

impl Pointing for CallTreeScreen {
    fn place(&self) -> Option<FocusOn> {
        let row = self.table.as_ref()?.row()?;
        self.analysis.as_ref()?.place(row)
    }
}

impl Navigable for CallTreeScreen {
    fn recall(&mut self, spot: &Spot) {
        self.wanted = None;
        if self.table.is_some() {
            self.recall_list(spot);
        } else {
            self.returns = Some(spot.clone());
        }
    }

    fn select(&mut self, predicate: PredicateIndex) -> Effect {
        let Some(table) = &mut self.table else {
            (self.wanted, self.returns) = (Some(predicate), None);
            return Effect::Done;
        };
        // Of all its contexts the one with most time.
        let source = table.source();
        let rows = (0..source.rows()).filter(|&row| source.predicate(row) == Some(predicate));
        let time = |row: &usize| match source.cell(*row, INCLUSIVE) {
            Cell::Integer(time) => time,
            _ => 0,
        };
        if let Some(row) = rows.max_by_key(time) {
            table.select(row);
        }
        Effect::Done
    }
}

impl Exportable for CallTreeScreen {
    fn file_name(&self) -> &'static str {
        "contexts"
    }
}

impl Clickable for CallTreeScreen {}

impl CallTreeScreen {
    /// Takes the table if it is made, for which it waits until some moment, or as long as it takes;
    /// `true` if it was.
    fn take(&mut self, until: Option<Instant>) -> bool {
        let Some(made) = &self.made else { return false };
        self.table = match made.next(until) {
            Received::NotYet => return false,
            Received::Value(table) => Some(table),
            Received::Ended => None,
        };
        self.made = None;
        if let Some(spot) = self.returns.take() {
            self.recall_list(&spot);
        }
        if let Some(wanted) = self.wanted.take() {
            self.select(wanted);
        }
        true
    }
}

/// Contexts: those of the profile, in its order.
#[derive(Debug)]
struct ContextRows {
    analysis: Arc<AnalysisView>,
    keys: Vec<u64>,
    /// Of the contexts, side by side: a filter on names asks all of them.
    predicates: Vec<PredicateIndex>,
}

const SHARE: usize = 0;
const INCLUSIVE: usize = 1;

const fn of(name: &'static str) -> ListColumn {
    ListColumn::of(tables::Table::Contexts, name)
}

const COLUMNS: &[ListColumn] = &[
    of("inclusive_ns").shown_as(
        "share",
        "incl %",
        CellKind::Share,
        "Work there and below, of all work; with w inclusive time, of all time.",
    ),
    of("inclusive_ns"),
    of("self_ns"),
    of("calls"),
    of("redos"),
    of("fails"),
    of("exits"),
    of("exceptions"),
    of("events"),
    of("undone_ns"),
    of("depth").hidden(),
    of("recursive").hidden(),
    of("predicate").name(),
];

impl ContextRows {
    fn new(analysis: &Arc<AnalysisView>) -> Self {
        let contexts = &analysis.profile.contexts;
        let mut keys: Vec<u64> = Vec::with_capacity(contexts.len());
        for context in contexts {
            let parent = context
                .parent
                .and_then(|parent| keys.get(parent as usize).copied());
            keys.push(path_key(parent, (context.predicate, context.recursive)));
        }
        Self {
            analysis: Arc::clone(analysis),
            keys,
            predicates: contexts.iter().map(|context| context.predicate).collect(),
        }
    }
}

impl Source for ContextRows {
    fn columns(&self) -> &'static [ListColumn] {
        COLUMNS
    }

    fn rows(&self) -> usize {
        self.keys.len()
    }

    fn cell(&self, row: usize, column: usize) -> Cell<'_> {
        if column == SHARE {
            return Cell::Integer(self.analysis.inside_context(row) as i64);
        }
        let of = self.analysis.tables().context(row);
        COLUMNS[column].cell(self.is_net(), |at| ContextRow::cell(&of, at))
    }

    fn key(&self, row: usize) -> u64 {
        self.keys[row]
    }

    fn is_left_out(&self, row: usize) -> bool {
        let analysis = &self.analysis;
        let inside = analysis.inside_context(row);
        !(analysis.counted()).shows(&analysis.trace, self.predicates[row], inside)
    }

    fn whole(&self) -> u64 {
        self.analysis.total_ns()
    }

    fn is_net(&self) -> bool {
        self.analysis.is_net()
    }

    fn predicate(&self, row: usize) -> Option<PredicateIndex> {
        Some(self.predicates[row])
    }

    fn is_tree(&self) -> bool {
        true
    }

    fn parent(&self, row: usize) -> Option<usize> {
        let parent = self.analysis.profile.contexts[row].parent;
        parent.map(|parent| parent as usize)
    }

    fn depth(&self, row: usize) -> usize {
        self.analysis.profile.contexts[row].depth as usize
    }

    fn note(&self, row: usize) -> &'static str {
        if self.analysis.profile.contexts[row].recursive {
            " (recursive)"
        } else {
            ""
        }
    }
}
