//! The boxes that are shown, as a picture and as a text.

use portmortem_analyzer::graphs::{FOLDED, flamegraph, folded};
use portmortem_analyzer::trace::names::printable;

use super::FlameScreen;

/// An SVG. Its title says how much is folded.
pub(super) fn picture(flame: &FlameScreen) -> Option<String> {
    let (analysis, lines) = (flame.analysis.as_ref()?, stacks(flame)?);
    let mut title = printable(&analysis.name);
    if let Some((share, parts)) = flame.about_folded() {
        title += &format!(", without {share}: {parts}");
    }
    let metric = flame.shape.measure.metric(analysis.is_net());
    let mut picture = Vec::new();
    flamegraph::draw(lines.lines(), &title, metric, &mut picture).ok()?;
    String::from_utf8(picture).ok()
}

/// Folded stacks. The first frame of all says what the size is. Boxes that are too deep are folded,
/// as `graph` folds them.
pub(super) fn stacks(flame: &FlameScreen) -> Option<String> {
    let analysis = flame.analysis.as_ref()?;
    let metric = flame.shape.measure.metric(analysis.is_net());
    let mut text = String::new();
    let mut add = |names: &[&str], own: u64| {
        if own > 0 {
            let size = match metric.is_time() {
                true => analysis.ns(own),
                false => own,
            };
            text += &folded::line(metric.column(), names.iter().copied(), size);
        }
    };
    let mut names = around(flame);
    let mut pending = vec![(flame.root, names.len())];
    while let Some((at, above)) = pending.pop() {
        let Some(node) = flame.tree.nodes.get(at as usize) else {
            continue;
        };
        names.truncate(above);
        // The box around all has no name in stacks.
        if at != 0 {
            names.push(flame.name(at));
        }
        add(&names, node.own);
        if names.len() < folded::MOST_DEPTH {
            let below = flame.tree.below(at).iter().rev();
            pending.extend(below.map(|&below| (below, names.len())));
        } else {
            names.push(FOLDED);
            add(&names, node.total.saturating_sub(node.own));
        }
    }
    Some(text)
}

/// The names of the boxes around the one that is shown as all, from the outermost; of very many the
/// innermost.
fn around(flame: &FlameScreen) -> Vec<&str> {
    let mut path = flame.tree.path(flame.root);
    path.pop();
    let most = folded::MOST_DEPTH / 2;
    let first = path.len().saturating_sub(most);
    let left_out = (first > 0).then_some(FOLDED).into_iter();
    let shown = path[first..].iter().map(|&node| flame.name(node));
    left_out.chain(shown).collect()
}
