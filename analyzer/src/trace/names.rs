//! Predicate indicators as Prolog would write them: `foo/2`, `lists:append/3`, `(-)/2`, `'my
//! pred'/1`.
//!
//! The text is what SWI-Prolog's `writeq/1` prints for the indicator (checked against 9.0.4),
//! except that names with symbols outside ASCII are always quoted, that operators are those of a
//! fresh SWI-Prolog, and that characters which could deceive a reader of a terminal (soft hyphens,
//! direction marks) are escaped like control characters. It reads back as the same indicator.

use std::fmt::Write as _;

/// The operators of SWI-Prolog 9 in module `user`, before a program declares its own.
const OPERATORS: &[&str] = &[
    "$",
    "*",
    "**",
    "*->",
    "+",
    ",",
    "-",
    "-->",
    "->",
    ".",
    "/",
    "//",
    "/\\",
    ":",
    ":-",
    ":<",
    ":=",
    ";",
    "<",
    "<<",
    "=",
    "=..",
    "=:=",
    "=<",
    "==",
    "=>",
    "=@=",
    "=\\=",
    ">",
    ">:<",
    ">=",
    ">>",
    "?-",
    "@<",
    "@=<",
    "@>",
    "@>=",
    "\\",
    "\\+",
    "\\/",
    "\\=",
    "\\==",
    "\\=@=",
    "^",
    "as",
    "discontiguous",
    "div",
    "dynamic",
    "initialization",
    "is",
    "meta_predicate",
    "mod",
    "module_transparent",
    "multifile",
    "public",
    "rdiv",
    "rem",
    "table",
    "thread_initialization",
    "thread_local",
    "volatile",
    "xor",
    "|",
];

/// Characters that make an atom on their own, without letters.
const SYMBOLS: &str = "#$&*+-./:<=>?@^~\\";

/// The indicator of `module:name/arity` (unquoted), with the module left out if it is `user`.
#[must_use]
pub fn indicator(module: &str, name: &str, arity: u32) -> String {
    let mut text = String::with_capacity(module.len() + name.len() + 8);
    if module != "user" {
        text += &qualifier(module);
    }
    let quoted = atom(name);
    if is_operator(name) {
        let _ = write!(text, "({quoted})/{arity}");
    } else if name.chars().all(|c| SYMBOLS.contains(c)) && quoted == name {
        // Without the spaces the slash, and the colon before, would be part of the symbol.
        let space = if text.is_empty() { "" } else { " " };
        let _ = write!(text, "{space}{quoted} / {arity}");
    } else {
        let _ = write!(text, "{quoted}/{arity}");
    }
    text
}

/// What stands before the name of a predicate of a module: `lists:`.
#[must_use]
pub fn qualifier(module: &str) -> String {
    let quoted = atom(module);
    if is_operator(module) {
        format!("({quoted}):")
    } else {
        format!("{quoted}:")
    }
}

/// A cost centre, as the goal that enters it begins: `cost_center(name)`. Unlike any indicator.
#[must_use]
pub fn center(name: &str) -> String {
    format!("cost_center({})", atom(name))
}

/// `name` as an atom that reads back, quoted and escaped where it must be.
#[must_use]
pub fn atom(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    quoted(name)
}

/// `name` as an atom in quotes, whether or not it needs them.
#[must_use]
pub fn quoted(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    text.push('\'');
    for c in name.chars() {
        escape(c, &mut text);
    }
    text.push('\'');
    text
}

/// `text` with everything escaped that would move a cursor or deceive the eye, for display.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if deceives(c) {
            escape(c, &mut out)
        } else {
            out.push(c)
        }
    }
    out
}

/// The name of a file without its directories, for display.
#[must_use]
pub fn file_name(path: &str) -> String {
    printable(path.rsplit('/').next().unwrap_or(path))
}

/// `file:line`, the file without its directories, for display.
#[must_use]
pub fn file_line(path: &str, line: u32) -> String {
    format!("{}:{line}", file_name(path))
}

/// Whether nothing in `text` would be escaped by [`printable`].
#[must_use]
pub fn is_printable(text: &str) -> bool {
    let is_plain = |byte: u8| (b' '..0x7f).contains(&byte);
    text.bytes().all(is_plain) || !text.chars().any(deceives)
}

/// Whether it is an operator of SWI-Prolog before a program declares its own.
pub(crate) fn is_operator(name: &str) -> bool {
    OPERATORS.contains(&name)
}

/// Whether the atom needs no quotes.
fn is_plain(name: &str) -> bool {
    match name {
        "[]" | "{}" | "!" | ";" => return true,
        // The atom, and not the empty list: recorders leave it its quotes.
        "'[]'" => return true,
        // The end of a clause, and nothing.
        "." | "" => return false,
        _ => {}
    }
    if name.chars().all(|c| SYMBOLS.contains(c)) {
        // That would begin a comment.
        return !name.starts_with("/*");
    }
    let mut chars = name.chars();
    let first = chars
        .next()
        .is_some_and(|c| c.is_alphabetic() && !c.is_uppercase());
    first && chars.all(|c| c.is_alphabetic() || c.is_ascii_digit() || c == '_')
}

fn escape(c: char, text: &mut String) {
    match c {
        '\'' => text.push_str("\\'"),
        '\\' => text.push_str("\\\\"),
        '\x07' => text.push_str("\\a"),
        '\x08' => text.push_str("\\b"),
        '\t' => text.push_str("\\t"),
        '\n' => text.push_str("\\n"),
        '\x0b' => text.push_str("\\v"),
        '\x0c' => text.push_str("\\f"),
        '\r' => text.push_str("\\r"),
        c if deceives(c) => {
            let _ = write!(text, "\\x{:X}\\", u32::from(c));
        }
        c => text.push(c),
    }
}

/// Controls, spaces that are not the space, and characters without a picture of their own.
fn deceives(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(
            u32::from(c),
            0xad | 0x34f
                | 0x61c
                | 0x115f..=0x1160
                | 0x17b4..=0x17b5
                | 0x180b..=0x180f
                | 0x200b..=0x200f
                | 0x202a..=0x202e
                | 0x2060..=0x206f
                | 0x3164
                | 0xfe00..=0xfe0f
                | 0xfeff
                | 0xffa0
                | 0xfff0..=0xfffb
                | 0xe0000..=0xe0fff
        )
}

#[cfg(test)]
mod tests {
    use portmortem_tracer::pattern::PredicatePattern;

    use super::*;

    /// What `writeq/1` of SWI-Prolog 9.0.4 prints for `Name/0` and for `m:Name/0`.
    #[test]
    fn as_writeq_writes_them() {
        for (name, user, qualified) in [
            ("foo", "foo/0", "m:foo/0"),
            ("-", "(-)/0", "m:(-)/0"),
            ("[]", "[]/0", "m:[]/0"),
            ("'[]'", "'[]'/0", "m:'[]'/0"),
            ("{}", "{}/0", "m:{}/0"),
            ("hello world", "'hello world'/0", "m:'hello world'/0"),
            ("dynamic", "(dynamic)/0", "m:(dynamic)/0"),
            ("is", "(is)/0", "m:(is)/0"),
            ("=..", "(=..)/0", "m:(=..)/0"),
            ("<>", "<> / 0", "m: <> / 0"),
            ("\\", "(\\)/0", "m:(\\)/0"),
            (",", "(',')/0", "m:(',')/0"),
            ("|", "('|')/0", "m:('|')/0"),
            ("!", "!/0", "m:!/0"),
            (";", "(;)/0", "m:(;)/0"),
            (".", "('.')/0", "m:('.')/0"),
            ("a\nb", "'a\\nb'/0", "m:'a\\nb'/0"),
            (
                "a\tb\x1b\x01\x7f",
                "'a\\tb\\x1B\\\\x1\\\\x7F\\'/0",
                "m:'a\\tb\\x1B\\\\x1\\\\x7F\\'/0",
            ),
            (
                "\x08\x07\x0c\x0b\0",
                "'\\b\\a\\f\\v\\x0\\'/0",
                "m:'\\b\\a\\f\\v\\x0\\'/0",
            ),
            ("\u{202e}", "'\\x202E\\'/0", "m:'\\x202E\\'/0"),
            ("é", "é/0", "m:é/0"),
            ("É", "'É'/0", "m:'É'/0"),
            ("日本", "日本/0", "m:日本/0"),
            ("it's", "'it\\'s'/0", "m:'it\\'s'/0"),
            ("back\\slash", "'back\\\\slash'/0", "m:'back\\\\slash'/0"),
            ("", "''/0", "m:''/0"),
            ("/*", "'/*'/0", "m:'/*'/0"),
            ("/", "(/)/0", "m:(/)/0"),
            ("$foo", "'$foo'/0", "m:'$foo'/0"),
            ("aBC_1", "aBC_1/0", "m:aBC_1/0"),
            ("_x", "'_x'/0", "m:'_x'/0"),
            ("X", "'X'/0", "m:'X'/0"),
            ("1a", "'1a'/0", "m:'1a'/0"),
            ("%", "'%'/0", "m:'%'/0"),
            ("..", ".. / 0", "m: .. / 0"),
        ] {
            assert_eq!(indicator("user", name, 0), user);
            assert_eq!(indicator("m", name, 0), qualified);
            // A user who copies it means the predicate.
            let meant = |text, module| PredicatePattern::new(text).matches(module, name, 0);
            assert!(meant(user, "user") && meant(qualified, "m"), "{user}");
            assert!(!meant(qualified, "other"), "{qualified}");
        }
    }

    #[test]
    fn modules() {
        assert_eq!(indicator("My Mod", "foo", 1), "'My Mod':foo/1");
        assert_eq!(indicator("dynamic", "foo", 1), "(dynamic):foo/1");
    }

    #[test]
    fn every_character_that_could_deceive_is_escaped() {
        for c in [
            '\u{85}', '\u{a0}', '\u{ad}', '\u{200b}', '\u{2028}', '\u{2066}', '\u{feff}',
        ] {
            let text = indicator("user", &format!("a{c}b"), 2);
            assert_eq!(text, format!("'a\\x{:X}\\b'/2", u32::from(c)));
            assert_eq!(
                printable(&c.to_string()),
                format!("\\x{:X}\\", u32::from(c))
            );
        }
        assert_eq!(printable("two words"), "two words");
        assert_eq!(file_line("/a/two\u{a0}words.pl", 3), "two\\xA0\\words.pl:3");
        assert_eq!(file_line("words.pl", 3), "words.pl:3");
    }
}
