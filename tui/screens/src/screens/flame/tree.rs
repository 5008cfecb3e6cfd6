//! What the flame graph is of: a tree of contexts with a size each, from callers to callees or, inverted, from
//! what had the size itself to its callers.

use portmortem_analyzer::figures::contexts::{ContextFigures, way_up};
use portmortem_analyzer::graphs::Metric;
use portmortem_analyzer::trace::PredicateIndex;
use portmortem_analyzer::{Profile, Progress};
use rustc_hash::FxHashMap;

use crate::analysis::AnalysisView;

use super::folding::{ContextFolding, FoldedSizes};

/// What the width of a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Measure {
    /// Inclusive time; percentages are of it.
    #[default]
    Inclusive,
    /// Inclusive time; percentages and emphasis are of self time.
    SelfTime,
    /// Time of work thrown away by redos into boxes there.
    Undone,
    /// Port events.
    Events,
}

impl Measure {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Inclusive => Self::SelfTime,
            Self::SelfTime => Self::Undone,
            Self::Undone => Self::Events,
            Self::Events => Self::Inclusive,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Inclusive => "inclusive time",
            Self::SelfTime => "self time",
            Self::Undone => "undone time, as recorded",
            Self::Events => "events",
        }
    }

    /// The size of a box without those below; `net`: times are without the recorder's own.
    pub(super) fn metric(self, net: bool) -> Metric {
        match self {
            Self::Inclusive | Self::SelfTime if net => Metric::NetTime,
            Self::Inclusive | Self::SelfTime => Metric::SelfTime,
            Self::Undone => Metric::Undone,
            Self::Events => Metric::Events,
        }
    }
}

/// How the boxes are made of the contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FlameShape {
    pub(super) measure: Measure,
    /// From callees to callers.
    pub(super) inverted: bool,
    /// Waiting, loading and collections are left out.
    pub(super) folds: bool,
}

impl Default for FlameShape {
    fn default() -> Self {
        Self {
            measure: Measure::default(),
            inverted: false,
            folds: true,
        }
    }
}

/// A box of the graph.
#[derive(Debug, Clone)]
pub(super) struct FlameNode {
    /// `None` for the box around all.
    pub(super) predicate: Option<PredicateIndex>,
    /// The box above, which has a lower number; `None` for the box around all.
    pub(super) parent: Option<u32>,
    /// Its size without that of the boxes below.
    pub(super) own: u64,
    /// Its size.
    pub(super) total: u64,
    /// A call of a predicate that is above already.
    pub(super) recursive: bool,
}

/// The sizes of contexts without those below, which are asked for in order.
struct ContextSizes<'a> {
    profile: &'a Profile,
    metric: Metric,
    folding: Option<ContextFolding>,
    folded: FoldedSizes,
}

impl<'a> ContextSizes<'a> {
    fn new(analysis: &'a AnalysisView, shape: FlameShape) -> Self {
        Self {
            profile: &analysis.profile,
            metric: shape.measure.metric(analysis.is_net()),
            folding: shape.folds.then(|| ContextFolding::new(analysis)),
            folded: FoldedSizes::default(),
        }
    }

    /// Of what is folded it is 0.
    fn own(&mut self, row: usize, context: &ContextFigures) -> u64 {
        let own = self.metric.own(self.profile, row);
        let folding = self.folding.as_ref();
        let folded = folding.and_then(|folding| folding.of(context.predicate));
        match folded {
            Some(kind) => {
                self.folded.add(kind, own);
                0
            }
            None => own,
        }
    }
}

/// The boxes, the first one around all.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub(super) nodes: Vec<FlameNode>,
    /// What is in none of them.
    pub(super) folded: FoldedSizes,
    starts: Vec<u32>,
    children: Vec<u32>,
}

impl Tree {
    /// `None` if it was given up.
    pub(super) fn of(
        analysis: &AnalysisView,
        shape: FlameShape,
        progress: &Progress,
    ) -> Option<Self> {
        let mut sizes = ContextSizes::new(analysis, shape);
        let mut nodes = vec![FlameNode {
            predicate: None,
            parent: None,
            own: 0,
            total: 0,
            recursive: false,
        }];
        if shape.inverted {
            invert(analysis, &mut sizes, &mut nodes, progress)?;
        } else {
            let contexts = analysis.profile.contexts.iter();
            nodes.extend(contexts.enumerate().map(|(row, context)| {
                FlameNode {
                    predicate: Some(context.predicate),
                    parent: Some(
                        (context.parent)
                            .filter(|&parent| (parent as usize) < row)
                            .map_or(0, |parent| parent + 1),
                    ),
                    own: sizes.own(row, context),
                    total: 0,
                    recursive: context.recursive,
                }
            }));
            for at in (0..nodes.len()).rev() {
                let total = nodes[at].total.saturating_add(nodes[at].own);
                nodes[at].total = total;
                if let Some(parent) = nodes[at].parent {
                    let sum = &mut nodes[parent as usize].total;
                    *sum = sum.saturating_add(total);
                }
            }
        }
        one_more(progress)?;
        Some(Self {
            folded: sizes.folded,
            ..Self::linked(nodes)
        })
    }

    /// Finds who is below whom, the largest first.
    fn linked(nodes: Vec<FlameNode>) -> Self {
        let mut starts = vec![0_u32; nodes.len() + 1];
        let parent = |at: usize| nodes[at].parent.map_or(0, |parent| parent as usize);
        for at in 1..nodes.len() {
            starts[parent(at) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; nodes.len() - 1];
        for at in 1..nodes.len() {
            let place = &mut next[parent(at)];
            children[*place as usize] = at as u32;
            *place += 1;
        }
        for range in starts.windows(2) {
            let below = &mut children[range[0] as usize..range[1] as usize];
            below.sort_unstable_by_key(|&at| (u64::MAX - nodes[at as usize].total, at));
        }
        Self {
            nodes,
            starts,
            children,
            ..Self::default()
        }
    }

    /// Boxes directly below, the largest first.
    pub(super) fn below(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.children[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// From the outermost box to this one, without the one around all.
    pub(super) fn path(&self, node: u32) -> Vec<u32> {
        let mut path: Vec<u32> = self.way_up(node).filter(|&at| at != 0).collect();
        path.reverse();
        path
    }

    /// A box, and those around it, the nearest first.
    pub(super) fn way_up(&self, node: u32) -> impl Iterator<Item = u32> {
        way_up(Some(node), |at| self.nodes.get(at as usize)?.parent)
    }
}

/// One more context was dealt with; `None` to stop.
fn one_more(progress: &Progress) -> Option<()> {
    progress.advance(1);
    (!progress.is_stopped()).then_some(())
}

/// Every context that has a size of its own, below the box of its predicate: its callers, one below the other.
fn invert(
    analysis: &AnalysisView,
    sizes: &mut ContextSizes,
    nodes: &mut Vec<FlameNode>,
    progress: &Progress,
) -> Option<()> {
    let mut ids: FxHashMap<(u32, PredicateIndex), u32> = FxHashMap::default();
    let contexts = &analysis.profile.contexts;
    for (row, context) in contexts.iter().enumerate() {
        one_more(progress)?;
        let own = sizes.own(row, context);
        if own == 0 {
            continue;
        }
        nodes[0].total = nodes[0].total.saturating_add(own);
        let mut below = 0;
        for at in way_up(Some(row as u32), |at| contexts[at as usize].parent) {
            let next = nodes.len() as u32;
            let predicate = contexts[at as usize].predicate;
            let id = *ids.entry((below, predicate)).or_insert(next);
            if id == next {
                nodes.push(FlameNode {
                    predicate: Some(predicate),
                    parent: Some(below),
                    own: 0,
                    total: 0,
                    recursive: false,
                });
            }
            let node = &mut nodes[id as usize];
            node.total = node.total.saturating_add(own);
            below = id;
        }
        let last = &mut nodes[below as usize];
        last.own = last.own.saturating_add(own);
    }
    Some(())
}
