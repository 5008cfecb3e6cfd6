//! What arguments of a predicate were at calls and exits.

use portmortem_analyzer::figures::values::ValueFigures;
use portmortem_analyzer::text::count;

/// A line for each fact.
pub(super) fn lines(figures: &ValueFigures) -> String {
    let mut lines = vec![on_calls(figures)];
    lines.extend((1..).zip(&figures.arguments).filter_map(|(number, of)| {
        let sizes = (of.bound_in > 0).then(|| match of.least_in == of.greatest_in {
            true => format!("{} cells", count(of.greatest_in.into())),
            false => format!(
                "{} to {} cells",
                count(of.least_in.into()),
                count(of.greatest_in.into())
            ),
        })?;
        Some(format!("argument {number}: {sizes} at calls"))
    }));
    let handed = figures.pairs.iter().filter(|(_, pair)| pair.handed_on > 0);
    lines.extend(handed.map(|((given, result), pair)| {
        format!(
            "what comes out as argument {result} goes in as argument {given} of the next call: {} of {} times",
            count(pair.handed_on),
            count(figures.calls)
        )
    }));
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

fn on_calls(figures: &ValueFigures) -> String {
    let unknown = match figures.unknown_exits {
        0 => String::new(),
        exits => format!(", {} more not", count(exits)),
    };
    let mut line = format!(
        "values of {} calls and {} exits are known{unknown}",
        count(figures.calls),
        count(figures.exits)
    );
    if figures.again > 0 {
        line += &format!(
            "; {} were made before, {} with the same result",
            count(figures.again),
            count(figures.same)
        );
    }
    line
}
