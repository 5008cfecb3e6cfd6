//! What a predicate was called with: how many of its calls are different, and how large its arguments are.

use portmortem_analyzer::figures::arguments::{ArgumentFigures, SizeKind};
use portmortem_analyzer::text::count;

use super::page_width;

/// One line on the calls, of which there are so many, and one for each argument with a size.
pub(super) fn lines(calls: u64, figures: &ArgumentFigures) -> String {
    let mut lines = vec![on_calls(calls, figures)];
    lines.extend(figures.sizes.iter().map(|(&(argument, kind), sizes)| {
        let range = if sizes.least == sizes.greatest {
            integer(sizes.least)
        } else {
            format!("{} to {}", integer(sizes.least), integer(sizes.greatest))
        };
        let what = match kind {
            SizeKind::Integer => format!("an integer, {range}"),
            SizeKind::List => format!("a list, length {range}"),
        };
        let often = if sizes.calls == calls {
            String::new()
        } else {
            format!(" (in {} calls)", count(sizes.calls))
        };
        format!("argument {argument}: {what}{often}")
    }));
    let wrap = textwrap::Options::new(page_width());
    let wrap = wrap.initial_indent("  ").subsequent_indent("  ");
    let wrapped = lines.iter().map(|line| textwrap::fill(line, &wrap) + "\n");
    wrapped.collect()
}

fn on_calls(calls: u64, figures: &ArgumentFigures) -> String {
    let least = if figures.cut_short { "at least " } else { "" };
    let mut line = if figures.hashed == calls {
        format!("{} calls", count(calls))
    } else {
        format!(
            "{} of {} calls have a hash",
            count(figures.hashed),
            count(calls)
        )
    };
    if figures.hashed > 0 {
        line.push_str(&format!(
            ", {least}{} distinct arguments; the most repeated {least}{} times",
            count(figures.distinct),
            count(figures.most_repeated)
        ));
    }
    for (calls, why) in [
        (figures.not_ground, "not ground"),
        (figures.too_large, "too large"),
    ] {
        if calls > 0 {
            line.push_str(&format!("; {} {why}", count(calls)));
        }
    }
    line
}

fn integer(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", count(value.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use portmortem_analyzer::figures::arguments::SizeFigures;

    use super::*;

    #[test]
    fn what_is_said() {
        let mut figures = ArgumentFigures {
            hashed: 14_280,
            distinct: 120,
            most_repeated: 240,
            ..ArgumentFigures::default()
        };
        let said = |figures: &ArgumentFigures, calls| lines(calls, figures);
        assert_eq!(
            said(&figures, 14_280),
            "  14,280 calls, 120 distinct arguments; the most repeated 240 times\n"
        );
        (figures.not_ground, figures.too_large) = (2, 1);
        figures.cut_short = true;
        let mut sizes = SizeFigures::of(-5);
        sizes.add(1000);
        figures.sizes.insert((2, SizeKind::Integer), sizes);
        figures
            .sizes
            .insert((1, SizeKind::List), SizeFigures::of(3));
        assert_eq!(
            said(&figures, 14_283),
            "  14,280 of 14,283 calls have a hash, at least 120 distinct arguments; the most\n  \
             repeated at least 240 times; 2 not ground; 1 too large\n  \
             argument 1: a list, length 3 (in 1 calls)\n  \
             argument 2: an integer, -5 to 1,000 (in 2 calls)\n"
        );
    }
}
