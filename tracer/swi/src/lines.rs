//! The lines of goals in files: from characters counted by the loader.

use std::collections::HashMap;
use std::fs;
use std::sync::Mutex;

use portmortem_tracer::locks;

use crate::ffi::{self, Foreign, TRUE, Term};
use crate::values::{integers, text};

/// For each file, how many characters come before each of its lines but the first.
static STARTS: Mutex<Option<HashMap<String, Vec<u32>>>> = Mutex::new(None);

/// `lines(+File, +Characters, -Lines)`: in which lines of a file the goals are that begin after
/// so many characters. Those are 0 that have less than 0, and all if the file cannot be read.
pub(crate) fn lines(file: Term, characters: Term, lines: Term) -> Foreign {
    unify_integers(lines, &of_goals(&text(file), &integers(characters)))
}

/// In which lines of a file the goals are that begin after so many characters. Those are 0 that
/// have less than 0, and all if the file cannot be read.
pub(crate) fn of_goals(file: &str, characters: &[i64]) -> Vec<i64> {
    let mut starts = locks::lock(&STARTS);
    let starts = starts.get_or_insert_default();
    if !starts.contains_key(file) {
        let content = fs::read(file).unwrap_or_default();
        starts.insert(file.to_owned(), line_starts(&content));
    }
    let starts = &starts[file];
    let line = |&character: &i64| line_of(starts, character);
    characters.iter().map(line).collect()
}

/// `forget_lines(+File)`: the file may have changed.
pub(crate) fn forget(file: Term) -> Foreign {
    if let Some(starts) = locks::lock(&STARTS).as_mut() {
        starts.remove(&text(file));
    }
    TRUE
}

fn line_starts(bytes: &[u8]) -> Vec<u32> {
    let content = String::from_utf8_lossy(bytes);
    let newlines = content.chars().enumerate().filter(|(_, c)| *c == '\n');
    newlines.map(|(index, _)| index as u32 + 1).collect()
}

fn line_of(starts: &[u32], character: i64) -> i64 {
    if starts.is_empty() || character < 0 {
        return 0;
    }
    let before = starts.partition_point(|&start| i64::from(start) <= character);
    before as i64 + 1
}

fn unify_integers(list: Term, values: &[i64]) -> Foreign {
    // SAFETY: term references of this foreign call.
    let unified = unsafe {
        let head = ffi::PL_new_term_ref();
        let tail = ffi::PL_copy_term_ref(list);
        values.iter().all(|&value| {
            ffi::truth(ffi::PL_unify_list(tail, head, tail))
                && ffi::truth(ffi::PL_unify_int64(head, value))
        }) && ffi::truth(ffi::PL_unify_nil(tail))
    };
    Foreign::from(unified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one_in_characters() {
        let starts = line_starts("a(X) :-\n  \u{e4}(X),\n  b.\n".as_bytes());
        let lines = [0, 7, 10, 15, 16, 20].map(|at| line_of(&starts, at));
        assert_eq!(lines, [1, 1, 2, 2, 3, 3]);
        assert_eq!(line_of(&line_starts(b""), 5), 0);
        assert_eq!(line_of(&starts, -1), 0);
    }
}
