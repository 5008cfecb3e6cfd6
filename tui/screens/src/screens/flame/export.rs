//! The boxes that are shown, as a picture and as a text.

use portmortem_analyzer::graphs::{flamegraph, folded};
use portmortem_analyzer::trace::names::printable;

use super::Flame;

/// An SVG. Its title says how much is folded.
pub(super) fn picture(flame: &Flame) -> Option<String> {
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

/// Folded stacks. The first frame of all says what the size is.
pub(super) fn stacks(flame: &Flame) -> Option<String> {
    let analysis = flame.analysis.as_ref()?;
    let metric = flame.shape.measure.metric(analysis.is_net());
    let mut text = String::new();
    let mut pending = vec![flame.root];
    while let Some(at) = pending.pop() {
        pending.extend(flame.tree.below(at).iter().rev());
        let own = flame.tree.nodes[at as usize].own;
        if own > 0 {
            let path = flame.tree.path(at);
            let names = path.iter().map(|&node| flame.name(node));
            let size = if metric.is_time() {
                analysis.ns(own)
            } else {
                own
            };
            text += &folded::line(metric.column(), names, size);
        }
    }
    Some(text)
}
