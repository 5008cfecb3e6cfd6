//! What may differ between two runs of the same program, and nothing else.

use portmortem_tracer::format::ENGINE_WORK;

/// Standard error without what is by chance: names of variables, and a remark on the collector's
/// thread.
///
/// SWI-Prolog prints a variable as `_` or `_G` and where it lies on the stack (`_123`, `_G123`),
/// which differs
/// as soon as anything else is on the stack. A traced run has the recorder's frames there, as a run
/// with an
/// `init.pl` would have others. And on a busy machine 9.0.4 ends now and then, recorded or not,
/// with the remark
/// that its thread for collecting atoms and clauses would not die in time.
#[must_use]
pub fn stderr(text: &[u8]) -> String {
    const SLOW_COLLECTOR: &str = "% The following threads wouldn't die: [gc]\n";
    let text = variables(text);
    // After output without a line's end, the engine ends the line first.
    let rest = text.strip_prefix('\n').unwrap_or(&text);
    if rest.starts_with(SLOW_COLLECTOR) {
        return rest.replacen(SLOW_COLLECTOR, "", 1);
    }
    text.replace(SLOW_COLLECTOR, "")
}

#[test]
fn a_remark_on_the_collector_is_no_output() {
    let remark = "% The following threads wouldn't die: [gc]\n";
    for before in ["", "\n"] {
        assert_eq!(stderr(format!("{before}{remark}").as_bytes()), "");
    }
    assert_eq!(stderr(format!("Warning\n{remark}").as_bytes()), "Warning\n");
    assert_eq!(stderr(b"\nWarning\n"), "\nWarning\n");
}

/// Text without the names of variables.
#[must_use]
pub fn variables(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let length = if before.is_alphanumeric() || before == '_' {
            None
        } else {
            variable(rest)
        };
        if let Some(length) = length {
            masked.push_str("_VAR");
            rest = &rest[length..];
            before = '0';
        } else {
            masked.push(c);
            rest = &rest[c.len_utf8()..];
            before = c;
        }
    }
    masked
}

/// How long the variable is that `text` begins with.
fn variable(text: &str) -> Option<usize> {
    let name = text.strip_prefix("_G").or_else(|| text.strip_prefix('_'))?;
    let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = name[digits..].chars().next();
    let ends = after.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    (digits > 0 && ends).then(|| text.len() - name.len() + digits)
}

/// The headline without the version of the engine and the number of events, which has the
/// recorder's own pauses
/// in it: `SWI-Prolog VERSION, exit status 0: # events in …`.
#[must_use]
pub fn headline(text: &str) -> String {
    const NAME: &str = "SWI-Prolog ";
    let Some((before, rest)) = text.split_once(NAME) else {
        return text.to_owned();
    };
    let rest = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let Some((between, after)) = rest.split_once(" events in ") else {
        return text.to_owned();
    };
    let between = between.trim_end_matches(|c: char| c == ',' || c.is_ascii_digit());
    format!("{before}{NAME}VERSION{between}# events in {after}")
}

/// A report for a golden file: without its times, and without what depends on them.
///
/// Which columns are times the headings say: numbers under a unit of time, `%`, `incl.` or
/// `recorded` become `#`. Columns of times
/// are as wide as their headings, and all columns are two blanks apart: both depend on times. Else
/// columns keep their
/// width and alignment. Callers and callees of a predicate are in the order of their times, so they
/// are put into the
/// order of their text. All counts and names stay.
#[must_use]
pub fn times(report: &str) -> String {
    let report = &unfolded(report);
    let mut masked: Vec<String> = Vec::new();
    // Whether there were garbage collections and stack shifts depends on time, too.
    let program = |line: &&str| !ENGINE_WORK.iter().any(|name| line.contains(name));
    let lines: Vec<&str> = report.lines().filter(program).collect();
    let mut rest = lines.as_slice();
    while let [first, others @ ..] = rest {
        if is_heading(first) {
            let end = rest.iter().position(|line| line.trim().is_empty());
            let (table, after) = rest.split_at(end.unwrap_or(rest.len()));
            masked.extend(in_columns(table));
            rest = after;
        } else {
            masked.push(in_sentence(first));
            rest = others;
        }
    }
    for mark in ["  <  ", "  >  "] {
        masked
            .chunk_by_mut(|a, b| a.contains(mark) && b.contains(mark))
            .for_each(<[String]>::sort);
    }
    masked.iter().map(|line| format!("{line}\n")).collect()
}

/// What recording took on one line, which is folded where times say; whether waiting is named
/// depends
/// on the machine.
fn unfolded(text: &str) -> String {
    const ENDS: [&str; 2] = ["recording took ", "--baseline)"];
    let Some((before, rest)) = text.split_once(ENDS[0]) else {
        return text.to_owned();
    };
    let Some((share, after)) = rest.split_once(ENDS[1]) else {
        return text.to_owned();
    };
    let share = share.replace('\n', " ").replace(" without waiting", "");
    format!("{before}{}{share}{}{after}", ENDS[0], ENDS[1])
}

/// Whether a table with counts begins with this line.
fn is_heading(line: &str) -> bool {
    line.find("calls").is_some_and(|at| {
        line[at..]
            .split_whitespace()
            .nth(1)
            .is_some_and(|next| next == "exits")
    })
}

fn is_unit(word: &str) -> bool {
    ["s", "ms", "µs"].contains(&word)
}

/// The columns of a table, with `#` for times. A column ends where all lines have a blank.
fn in_columns(table: &[&str]) -> Vec<String> {
    let lines: Vec<Vec<char>> = table.iter().map(|line| line.chars().collect()).collect();
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    let used = |at: &usize| {
        let at = *at;
        lines
            .iter()
            .any(|line| line.get(at).is_some_and(|&c| c != ' '))
    };
    let places: Vec<usize> = (0..width).filter(used).collect();
    let mut masked = vec![String::new(); lines.len()];
    for column in places.chunk_by(|a, b| a + 1 == *b) {
        let cell = |line: &Vec<char>| -> String {
            let at = |at: &usize| line.get(*at).unwrap_or(&' ');
            column.iter().map(at).collect()
        };
        let mut cells: Vec<String> = lines.iter().map(cell).collect();
        let last = cells[0].split_whitespace().last().unwrap_or_default();
        if is_unit(last) || ["%", "incl.", "recorded"].contains(&last) {
            mask_column(&mut cells);
        }
        for (line, cell) in masked.iter_mut().zip(cells) {
            line.push_str("  ");
            line.push_str(&cell);
        }
    }
    masked
        .iter()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// A column of times, its heading first.
fn mask_column(cells: &mut [String]) {
    let words = cells[0].split_whitespace();
    let words: Vec<&str> = words
        .map(|word| if is_unit(word) { "UNIT" } else { word })
        .collect();
    let heading = words.join(" ");
    let width = heading.len();
    for cell in &mut cells[1..] {
        let shown = if cell.trim() == "–" { "–" } else { "#" };
        *cell = format!("{shown:>width$}");
    }
    cells[0] = heading;
}

/// `1.234 ms` becomes `# UNIT`.
fn in_sentence(line: &str) -> String {
    const SHARE: [&str; 2] = ["recording took ", " of the time"];
    if let Some((before, rest)) = line.split_once(SHARE[0])
        && let Some((_, after)) = rest.split_once(SHARE[1])
    {
        // A net time stands there only if it is known well enough.
        let after = match after.split_once(" (estimated") {
            Some((_, rest)) => format!(" (estimated{rest}"),
            None => after.to_owned(),
        };
        return format!("{before}{}#{}{after}", SHARE[0], SHARE[1]);
    }
    let mut shown: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 1..shown.len() {
        let unit = shown[at].trim_end_matches([',', ';', '.']).to_owned();
        if is_unit(&unit) && shown[at - 1].parse::<f64>().is_ok() {
            shown[at - 1] = "#".to_owned();
            shown[at] = shown[at].replacen(&unit, "UNIT", 1);
        }
        if unit == "%" && shown[at - 1].parse::<f64>().is_ok() {
            shown[at - 1] = "#".to_owned();
        }
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_variables_are_masked() {
        assert_eq!(variables(b"foo(_123,_G45)"), "foo(_VAR,_VAR)");
        assert_eq!(
            variables(b"a_12 _12a _ __1 x_G3 12"),
            "a_12 _12a _ __1 x_G3 12"
        );
        assert_eq!(variables(b"_1"), "_VAR");
    }

    #[test]
    fn times_are_masked_and_counts_are_not() {
        let report = "1 event, 1.5 ms in all; x\n\n  self ms      %  calls  exits  predicate\n    0.100  100.0  1,234      3  p/1\n";
        assert_eq!(
            times(report),
            "1 event, # UNIT in all; x\n\n  self UNIT  %  calls  exits  predicate\n          #  #  1,234      3  p/1\n"
        );
    }
}
