use portmortem_analyzer::figures::contexts::ContextFigures;
use portmortem_analyzer::trace::PredicateInfo;
use portmortem_analyzer::{Analysis, Filters, Profile, Progress};

use super::folding::FoldedSizes;
use super::tree::FlameNode;
use super::*;

fn context(parent: Option<u32>, predicate: u32, self_ticks: u64) -> ContextFigures {
    ContextFigures {
        parent,
        predicate,
        self_ticks,
        ..ContextFigures::default()
    }
}

fn analysis(contexts: Vec<ContextFigures>) -> AnalysisView {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/queens.pmt");
    let trace = portmortem_analyzer::Trace::open(&path).unwrap();
    let (progress, filters) = (Default::default(), Filters::default());
    let mut of = Analysis::of(trace, &path, filters, &progress).unwrap();
    of.profile = Profile {
        contexts,
        ..Profile::default()
    };
    AnalysisView::new(Arc::new(of), true)
}

/// `0` (10 itself) calls `1` (20) and `2` (30), which calls `1` (40).
fn small() -> AnalysisView {
    analysis(vec![
        context(None, 0, 10),
        context(Some(0), 1, 20),
        context(Some(0), 2, 30),
        context(Some(2), 1, 40),
    ])
}

fn tree(analysis: &AnalysisView, inverted: bool) -> Tree {
    let shape = FlameShape {
        inverted,
        ..FlameShape::default()
    };
    Tree::of(analysis, shape, &Progress::default()).unwrap()
}

fn sizes(tree: &Tree) -> Vec<(Option<PredicateIndex>, Option<u32>, u64, u64)> {
    let size = |node: &FlameNode| (node.predicate, node.parent, node.own, node.total);
    tree.nodes.iter().map(size).collect()
}

#[test]
fn sizes_sum_up_from_callees() {
    let tree = tree(&small(), false);
    assert_eq!(
        sizes(&tree),
        [
            (None, None, 0, 100),
            (Some(0), Some(0), 10, 100),
            (Some(1), Some(1), 20, 20),
            (Some(2), Some(1), 30, 70),
            (Some(1), Some(3), 40, 40),
        ]
    );
    assert_eq!(tree.below(1), [3, 2]);
    assert_eq!(tree.path(4), [1, 3, 4]);
}

#[test]
fn inverted_it_begins_with_what_took_the_time() {
    let tree = tree(&small(), true);
    let top: Vec<_> = tree
        .below(0)
        .iter()
        .map(|&at| {
            (
                tree.nodes[at as usize].predicate,
                tree.nodes[at as usize].total,
            )
        })
        .collect();
    assert_eq!(top, [(Some(1), 60), (Some(2), 30), (Some(0), 10)]);
    let own: u64 = tree.nodes.iter().map(|node| node.own).sum();
    assert_eq!((own, tree.nodes[0].total), (100, 100));
}

#[test]
fn boxes_lie_below_their_parents() {
    let tree = tree(&small(), false);
    for width in [1, 7, 80, 1000] {
        let placed = layout::place(&tree, 0, width);
        for place in &placed {
            assert!(place.from < place.to && place.to <= width);
            let Some(node) = place.node else { continue };
            let parent = tree.nodes[node as usize].parent;
            if node != 0 {
                let above = placed.iter().find(|above| above.node == parent).unwrap();
                assert!(above.from <= place.from && place.to <= above.to);
                assert_eq!(above.depth + 1, place.depth);
            }
        }
    }
    let placed = layout::place(&tree, 0, 100);
    let of = |node| {
        placed
            .iter()
            .find(|place| place.node == Some(node))
            .unwrap()
    };
    assert_eq!((of(3).from, of(3).to), (0, 70));
    assert_eq!((of(2).from, of(2).to), (70, 90));
}

#[test]
fn dust_is_swept_together() {
    let mut contexts = vec![context(None, 0, 0), context(Some(0), 1, 1000)];
    contexts.extend((2..202).map(|predicate| context(Some(0), predicate, 5)));
    let tree = tree(&analysis(contexts), false);
    let placed = layout::place(&tree, 0, 80);
    assert_eq!(placed.len(), 4);
    assert_eq!(
        (placed[3].node, placed[3].from, placed[3].to),
        (None, 40, 80)
    );
}

#[test]
fn nothing_is_no_graph() {
    let mut flame = FlameScreen::default();
    assert_eq!(flame.act(Action::Down), Effect::Unused);
    flame.follow(&Arc::new(analysis(Vec::new())));
    for action in [
        Action::Down,
        Action::Bottom,
        Action::Right,
        Action::Zoom,
        Action::Invert,
        Action::Measure,
    ] {
        flame.act(action);
        flame.poll(true);
    }
    assert_eq!(flame.export().as_deref(), Some(""));
    assert!(flame.placed().is_empty());
}

/// Rows whose parents are themselves, each other, later or not there: no way up or down is endless,
/// and no time is lost.
#[test]
fn every_way_ends_whatever_the_parents_are() {
    let parents = [Some(0), Some(2), Some(1), Some(7), Some(3), None];
    let rows = (0..).zip(parents);
    let rows = rows.map(|(of, parent)| context(parent, of, 10 + u64::from(of)));
    let analysis = Arc::new(analysis(rows.collect()));
    for inverted in [false, true] {
        let tree = tree(&analysis, inverted);
        assert_eq!(tree.nodes[0].total, 75);
        let below: u64 = tree
            .below(0)
            .iter()
            .map(|&at| tree.nodes[at as usize].total)
            .sum();
        assert_eq!(below, 75);
        let mut flame = FlameScreen::default();
        flame.follow(&analysis);
        while flame.poll(true) != Effect::Unused {}
        if inverted {
            flame.act(Action::Invert);
            while flame.poll(true) != Effect::Unused {}
        }
        flame.set_filter("e");
        for predicate in 0..6 {
            flame.select(predicate);
            flame.act(Action::Bottom);
            flame.act(Action::Zoom);
            for other in 0..6 {
                flame.select(other);
                flame.act(Action::Up);
            }
            assert!(flame.export().is_some() && flame.copy().is_some());
        }
    }
}

/// The box of the predicate that is selected elsewhere is outside of the zoom, above it or beside
/// it.
#[test]
fn a_selection_outside_of_the_zoom_undoes_it() {
    for (zoomed, selected) in [(2, 0), (1, 2), (2, 2)] {
        let mut flame = FlameScreen::default();
        flame.follow(&Arc::new(small()));
        while flame.poll(true) != Effect::Unused {}
        flame.select(zoomed);
        assert_eq!(flame.act(Action::Zoom), Effect::Step);
        let effect = flame.select(selected);
        assert_eq!(flame.predicate(), Some(selected));
        assert_eq!(effect == Effect::Step, zoomed != selected);
        assert_eq!(flame.root == 0, zoomed != selected);
    }
}

#[test]
fn the_bottom_is_the_end_of_the_widest_boxes() {
    let mut flame = FlameScreen::default();
    flame.follow(&Arc::new(small()));
    while flame.poll(true) != Effect::Unused {}
    flame.act(Action::Bottom);
    assert_eq!(flame.selected, 4);
    flame.act(Action::Bottom);
    assert_eq!(flame.selected, 4);
    // What is too narrow to be seen is no place to begin from.
    flame.area.width = 1;
    flame.selected = 2;
    flame.act(Action::Bottom);
    assert_eq!(flame.selected, 1);
}

#[test]
fn keys_work_while_the_tree_is_made() {
    let mut flame = FlameScreen::default();
    flame.follow(&Arc::new(small()));
    // Before there is a first tree, keys wait.
    while flame.poll(true) != Effect::Unused {}
    flame.select(1);
    // The last wish counts, however long each takes.
    for _ in 0..5 {
        flame.act(Action::Measure);
    }
    flame.act(Action::Invert);
    while flame.poll(true) != Effect::Unused {}
    assert_eq!(
        (flame.shape.measure, flame.shape.inverted),
        (Measure::SelfTime, true)
    );
    assert_eq!((flame.progress(), flame.predicate()), (None, Some(1)));
}

#[test]
fn what_is_folded_and_what_is_shown_is_all_there_is() {
    for name in ["scan.pmt", "debray1.pmt", "threads_exceptions.pmt"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
        let path = path.join(name);
        let trace = Arc::new(portmortem_analyzer::Trace::open(&path).unwrap());
        let analysis = AnalysisView::part(trace, &path, Filters::default());
        let contexts = &analysis.profile.contexts;
        let predicates = analysis.trace.predicates();
        let part_of = |row: usize| {
            let info = &predicates[contexts[row].predicate as usize];
            Some(info).filter(|info| info.is_engine_work())
        };
        let mut measure = Measure::default();
        let mut sums = Vec::new();
        for _ in 0..4 {
            let metric = measure.metric(analysis.is_net());
            let own = |row| metric.own(&analysis.profile, row);
            let sum = |is: &dyn Fn(usize) -> bool| {
                (0..contexts.len())
                    .filter(|row| is(*row))
                    .map(own)
                    .sum::<u64>()
            };
            let expected = FoldedSizes {
                waiting: sum(&|row| part_of(row).is_some_and(PredicateInfo::is_waiting)),
                loading: sum(&|row| {
                    part_of(row).is_some_and(|of| {
                        !of.is_waiting() && !of.is_memory_work() && !of.is_set_up()
                    })
                }),
                memory: sum(&|row| part_of(row).is_some_and(PredicateInfo::is_memory_work)),
                set_up: sum(&|row| part_of(row).is_some_and(PredicateInfo::is_set_up)),
            };
            for inverted in [false, true] {
                let tree = |folds| {
                    let shape = FlameShape {
                        measure,
                        inverted,
                        folds,
                    };
                    Tree::of(&analysis, shape, &Progress::default()).unwrap()
                };
                let (folded, all) = (tree(true), tree(false));
                assert_eq!(folded.folded, expected, "{name} {measure:?}");
                assert_eq!(all.folded, FoldedSizes::default());
                let total = folded.nodes[0].total;
                assert_eq!(
                    total + expected.sum(),
                    all.nodes[0].total,
                    "{name} {measure:?}"
                );
                let owns: u64 = folded.nodes.iter().map(|node| node.own).sum();
                assert_eq!(owns, total);
                let is_work = |node: &FlameNode| {
                    let of = node.predicate.filter(|_| node.own > 0);
                    of.is_some_and(|of| predicates[of as usize].is_engine_work())
                };
                assert!(!folded.nodes.iter().any(is_work));
            }
            sums.push(expected.sum());
            measure = measure.next();
        }
        assert!(sums[0] > 0, "{name}");
    }
}
