//! Folded stacks, one a line, as `flamegraph.pl`, inferno and speedscope read them.

use std::io::{self, Write};

use super::{Graph, LeftOut, stacks};

/// Rows with so many above them are folded. A stack has the names of all that are above: without a
/// limit the text would grow with the square of the depth, to gigabytes for some ten thousand
/// predicates that call one another.
pub const MOST_DEPTH: usize = 1000;

/// A stack: the figure, then the names from the outermost, `;` between, then the size of the
/// innermost itself.
///
/// No reader knows an escape for `;`, so it is written as its wide form (`；`) in names.
#[must_use]
pub fn line<'n>(figure: &str, names: impl IntoIterator<Item = &'n str>, size: u64) -> String {
    let mut text = figure.to_owned();
    for name in names {
        text.push(';');
        text.push_str(&name.replace(';', "；"));
    }
    format!("{text} {size}\n")
}

/// Writes the stacks that have a size of their own. The first frame of all says which figure that
/// is.
///
/// # Errors
/// If the output fails.
pub fn write(graph: &Graph, out: &mut dyn Write) -> io::Result<LeftOut> {
    let (frames, left_out) = stacks::of(graph, MOST_DEPTH);
    let mut names = Vec::new();
    for frame in &frames {
        names.truncate(frame.depth);
        names.push(frame.name(graph));
        if frame.own > 0 {
            let stack = line(graph.metric.column(), names.iter().copied(), frame.own);
            out.write_all(stack.as_bytes())?;
        }
    }
    Ok(left_out)
}
