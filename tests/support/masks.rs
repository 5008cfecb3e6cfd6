//! What may differ between two runs of the same program, and nothing else.

use portmortem_tracer::format::ENGINE_WORK;

/// Standard error without what is by chance: names of variables, and a remark on the collector's thread.
///
/// SWI-Prolog prints a variable as `_` or `_G` and where it lies on the stack (`_123`, `_G123`), which differs
/// as soon as anything else is on the stack. A traced run has the recorder's frames there, as a run with an
/// `init.pl` would have others. And on a busy machine 9.0.4 ends now and then, recorded or not, with the remark
/// that its thread for collecting atoms and clauses would not die in time.
#[must_use]
pub fn stderr(text: &[u8]) -> String {
    const SLOW_COLLECTOR: &str = "% The following threads wouldn't die: [gc]\n";
    variables(text).replace(SLOW_COLLECTOR, "")
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

/// The headline without the version of the engine and the number of events, which has the recorder's own pauses
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
/// Which columns are times the headings say: numbers under a unit of time, `%`, `incl.` or `net` become `#`. Widths depend
/// on them, so columns are two blanks apart. Callers and callees of a predicate are in the order of their times,
/// so they are put into the order of their text. All counts and names stay.
#[must_use]
pub fn times(report: &str) -> String {
    let mut columns: Vec<usize> = Vec::new();
    let mut masked: Vec<String> = Vec::new();
    // Whether there were garbage collections and stack shifts depends on time, too.
    let program = |line: &&str| !ENGINE_WORK.iter().any(|name| line.contains(name));
    for line in report.lines().filter(program) {
        if let Some(found) = heading(line) {
            columns = found;
            masked.push(with_units_masked(line));
        } else if line.trim().is_empty() {
            columns.clear();
            masked.push(String::new());
        } else if columns.is_empty() {
            masked.push(in_sentence(line));
        } else {
            masked.push(in_columns(line, &columns));
        }
    }
    for mark in ["  <  ", "  >  "] {
        masked
            .chunk_by_mut(|a, b| a.contains(mark) && b.contains(mark))
            .for_each(<[String]>::sort);
    }
    masked.iter().map(|line| format!("{line}\n")).collect()
}

/// Ends of the columns of times of a table's heading; None if the line is no heading.
fn heading(line: &str) -> Option<Vec<usize>> {
    let first = line.find("calls")?;
    line[first..]
        .split_whitespace()
        .nth(1)
        .filter(|&next| next == "exits")?;
    let mut ends = Vec::new();
    for (at, word) in words(line) {
        if at < first && (is_unit(word) || ["%", "incl.", "net"].contains(&word)) {
            ends.push(line[..at].chars().count() + word.chars().count());
        }
    }
    Some(ends)
}

fn is_unit(word: &str) -> bool {
    ["s", "ms", "µs"].contains(&word)
}

fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.split_whitespace()
        .map(move |word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

fn with_units_masked(line: &str) -> String {
    let shown: Vec<&str> = line
        .split_whitespace()
        .map(|word| if is_unit(word) { "UNIT" } else { word })
        .collect();
    format!("  {}", shown.join("  "))
}

/// The cells that end in the columns of times become `#`.
fn in_columns(line: &str, columns: &[usize]) -> String {
    let shown: Vec<&str> = words(line)
        .map(|(at, word)| {
            let end = line[..at].chars().count() + word.chars().count();
            let time = columns.contains(&end) && word != "–";
            if time { "#" } else { word }
        })
        .collect();
    format!("  {}", shown.join("  "))
}

/// `1.234 ms` becomes `# UNIT`.
fn in_sentence(line: &str) -> String {
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
            "1 event, # UNIT in all; x\n\n  self  UNIT  %  calls  exits  predicate\n  #  #  1,234  3  p/1\n"
        );
    }
}
