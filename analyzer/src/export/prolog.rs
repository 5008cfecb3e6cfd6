//! Facts of ISO Prolog: a fact for each row. Texts are atoms, and what is not known is the atom
//! `null`.
//!
//! Invariant: the files are ASCII, and no character in them is a command of a terminal. Other
//! characters are escaped (`\x2713\`), so that a Prolog reads the same atoms in every encoding.

use std::fmt::Write as _;
use std::io::Write;

use super::shared_output::SharedOutput;
use super::{Encoded, ExportError, Exporter, Rows, TableWriter};
use crate::tables::{Cell, Column};
use crate::trace::names;

/// Facts of Prolog.
#[derive(Debug, Clone, Copy, Default)]
pub struct Prolog;

impl Exporter for Prolog {
    fn name(&self) -> &'static str {
        "prolog"
    }

    fn extension(&self) -> &'static str {
        "pl"
    }

    fn begin<'w>(
        &self,
        name: &'static str,
        columns: &'static [Column],
        mut out: Box<dyn Write + Send + 'w>,
    ) -> Result<Box<dyn TableWriter + 'w>, ExportError> {
        let mut facts = PrologFacts::new();
        facts.declare(name, columns.iter().map(|column| column.name));
        out.write_all(facts.text().as_bytes())?;
        Ok(Box::new(FactTable {
            name,
            out: SharedOutput::new(out),
        }))
    }
}

/// The fact that names the columns of the others.
const COLUMNS: &str = "pm_columns";

/// A term, as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WrittenTerm<'t> {
    /// Nothing is known, or there is nothing: `null`.
    Missing,
    /// An atom.
    Text(&'t str),
    /// A whole number.
    Integer(i128),
    /// Another number; `null` if it is infinite or none.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A list.
    List(&'t [WrittenTerm<'t>]),
    /// A term with a name and arguments.
    Compound(&'static str, &'t [WrittenTerm<'t>]),
}

impl<'t> From<Cell<'t>> for WrittenTerm<'t> {
    fn from(cell: Cell<'t>) -> Self {
        match cell {
            Cell::Missing => Self::Missing,
            Cell::Text(text) => Self::Text(text),
            Cell::Integer(number) => Self::Integer(number.into()),
            Cell::Bool(truth) => Self::Bool(truth),
        }
    }
}

/// Facts as text. [`Self::declare`] says what the arguments of the facts of a name are, and comes
/// before any of them is taken by [`Self::text`].
#[derive(Debug)]
pub struct PrologFacts {
    /// What stands before all facts.
    head: String,
    facts: String,
}

impl PrologFacts {
    /// The head of a file.
    #[must_use]
    pub fn new() -> Self {
        Self {
            head: format!(
                "% From portmortem. Times are in nanoseconds; null is what is not known.\n\
                 :- multifile({COLUMNS}/2).\n"
            ),
            facts: String::new(),
        }
    }

    /// Facts behind others.
    fn without_head() -> Self {
        Self {
            head: String::new(),
            facts: String::new(),
        }
    }

    /// Says that facts have this name and arguments. Several files may have facts of a name, and
    /// none at all is no error for a Prolog that loads them.
    pub fn declare<'n>(&mut self, name: &str, arguments: impl IntoIterator<Item = &'n str>) {
        let arguments: Vec<WrittenTerm> = arguments.into_iter().map(WrittenTerm::Text).collect();
        let arity = arguments.len();
        let functor = functor(name);
        let _ = writeln!(self.head, ":- multifile({functor}/{arity}).");
        let columns = [WrittenTerm::Text(name), WrittenTerm::List(&arguments)];
        fact(COLUMNS, &columns, &mut self.head);
    }

    /// Adds a fact.
    pub fn fact(&mut self, name: &str, arguments: &[WrittenTerm]) {
        fact(name, arguments, &mut self.facts);
    }

    /// What was added since the beginning, or since this was asked last.
    pub fn text(&mut self) -> String {
        let mut text = std::mem::take(&mut self.head);
        text.push_str(&std::mem::take(&mut self.facts));
        text
    }
}

impl Default for PrologFacts {
    fn default() -> Self {
        Self::new()
    }
}

fn fact(name: &str, arguments: &[WrittenTerm], out: &mut String) {
    out.push_str(&functor(name));
    if !arguments.is_empty() {
        terms('(', arguments, ')', out);
    }
    out.push_str(".\n");
}

fn terms(open: char, terms: &[WrittenTerm], close: char, out: &mut String) {
    out.push(open);
    for (at, of) in terms.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        term(of, out);
    }
    out.push(close);
}

fn term(term: &WrittenTerm, out: &mut String) {
    match *term {
        WrittenTerm::Missing => out.push_str("null"),
        WrittenTerm::Text(text) => atom(text, out),
        WrittenTerm::Integer(number) => out.push_str(itoa::Buffer::new().format(number)),
        WrittenTerm::Float(number) => out.push_str(&float(number)),
        WrittenTerm::Bool(truth) => out.push_str(if truth { "true" } else { "false" }),
        WrittenTerm::List(of) => terms('[', of, ']', out),
        WrittenTerm::Compound(name, arguments) => {
            out.push_str(name);
            terms('(', arguments, ')', out);
        }
    }
}

/// A number with a point, as ISO wants it: `1.0e21`.
fn float(number: f64) -> String {
    if !number.is_finite() {
        return "null".to_owned();
    }
    let text = format!("{number:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

/// An atom as an argument. ISO wants parentheses around operators.
fn atom(text: &str, out: &mut String) {
    let is_operator = names::is_operator(text);
    if is_operator {
        out.push('(');
    }
    if is_plain(text) {
        out.push_str(text);
    } else {
        quoted(text, out);
    }
    if is_operator {
        out.push(')');
    }
}

/// An atom before its arguments.
fn functor(name: &str) -> String {
    let mut text = String::new();
    if is_plain(name) {
        text.push_str(name);
    } else {
        quoted(name, &mut text);
    }
    text
}

/// Whether an atom needs no quotes in any Prolog.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

fn quoted(text: &str, out: &mut String) {
    out.push('\'');
    for c in text.chars() {
        match c {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            c => {
                let _ = write!(out, "\\x{:X}\\", u32::from(c));
            }
        }
    }
    out.push('\'');
}

/// Rows that are encoded at a time.
const BATCH: usize = 1 << 12;

struct FactTable<W> {
    name: &'static str,
    out: SharedOutput<W>,
}

fn add_row(facts: &mut PrologFacts, name: &str, cells: &[Cell<'_>]) {
    let terms: Vec<WrittenTerm> = cells.iter().copied().map(WrittenTerm::from).collect();
    facts.fact(name, &terms);
}

impl<W: Write + Send> TableWriter for FactTable<W> {
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), ExportError> {
        let mut facts = PrologFacts::without_head();
        add_row(&mut facts, self.name, cells);
        Ok(self.out.alone().write_all(facts.text().as_bytes())?)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    fn encode(&self, rows: &Rows<'_>) -> Result<Encoded, ExportError> {
        let mut facts = PrologFacts::without_head();
        for row in rows.iter() {
            add_row(&mut facts, self.name, row);
        }
        Ok(Box::new(facts.text().into_bytes()))
    }

    fn add(&self, encoded: Encoded) -> Result<(), ExportError> {
        self.out.add(encoded, Prolog.name())
    }

    fn finish(self: Box<Self>) -> Result<(), ExportError> {
        self.out.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Table;

    #[test]
    fn texts_are_atoms_that_any_prolog_reads() {
        for (text, written) in [
            ("queens", "queens"),
            ("aB_1", "aB_1"),
            ("sel/3", "'sel/3'"),
            ("", "''"),
            ("Foo", "'Foo'"),
            ("[]", "'[]'"),
            ("{}", "'{}'"),
            ("null", "null"),
            ("it's", "'it\\'s'"),
            ("a\\b\nc\td", "'a\\\\b\\nc\\td'"),
            (
                "\0\x1b\r\u{7f}\u{9b}",
                "'\\x0\\\\x1B\\\\xD\\\\x7F\\\\x9B\\'",
            ),
            ("größe ✓ 🦀", "'gr\\xF6\\\\xDF\\e \\x2713\\ \\x1F980\\'"),
            ("mod", "(mod)"),
            (":-", "(':-')"),
            ("a,b.", "'a,b.'"),
        ] {
            let mut out = String::new();
            atom(text, &mut out);
            assert_eq!(out, written);
        }
    }

    #[test]
    fn numbers_are_of_iso() {
        for (number, written) in [
            (0.25, "0.25"),
            (3.0, "3.0"),
            (-1e21, "-1.0e21"),
            (1.5e-9, "1.5e-9"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(float(number), written);
        }
    }

    #[test]
    fn a_fact_a_row() {
        let mut out = Vec::new();
        let columns = &Table::Edges.columns()[..4];
        let mut writer = Prolog.begin("edges", columns, Box::new(&mut out)).unwrap();
        let row = [
            Cell::Text("it's"),
            Cell::Missing,
            Cell::Integer(-7),
            Cell::Bool(true),
        ];
        writer.row(&row).unwrap();
        writer.row(&row).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        let (head, rows) = text.split_once(":- multifile(edges/4).\n").unwrap();
        assert!(head.ends_with(":- multifile(pm_columns/2).\n"), "{head}");
        let row = "edges('it\\'s',null,-7,true).\n";
        assert_eq!(
            rows,
            format!("pm_columns(edges,[trace,caller,callee,calls]).\n{row}{row}")
        );
    }

    #[test]
    fn terms_may_be_nested() {
        let mut facts = PrologFacts::without_head();
        let inner = [WrittenTerm::Integer(3), WrittenTerm::Text("p/1")];
        let list = [
            WrittenTerm::Compound("box", &inner),
            WrittenTerm::Compound("box", &inner),
        ];
        facts.fact("event", &[WrittenTerm::List(&list), WrittenTerm::List(&[])]);
        facts.fact("It's", &[]);
        assert_eq!(
            facts.text(),
            "event([box(3,'p/1'),box(3,'p/1')],[]).\n'It\\'s'.\n"
        );
    }
}
