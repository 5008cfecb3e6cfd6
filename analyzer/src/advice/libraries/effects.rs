//! Which built-in predicates do more than compute from their arguments: they write, read, or change
//! or look at a state.

use super::super::name_patterns::is_one_of;

/// What is known of the built-in predicates of an engine. In lists of names, a star at the end says
/// how such names begin.
#[derive(Debug)]
pub(in crate::advice) struct Effects {
    /// Built-in predicates that do more than compute.
    pub(super) names: &'static [&'static str],
    /// Of these, those that change clauses.
    pub(super) changing: &'static [&'static str],
    /// Of these, what does so as an atom by itself, too: as a goal, in an expression, or as what
    /// another predicate is to call. Other names are words that data is named by.
    pub(super) alone: &'static [&'static str],
    /// Those that write to a stream or make a text, as their first of so many arguments says.
    pub(super) to_stream_or_text: &'static [(&'static str, u32)],
    /// What that says if it is a text.
    pub(super) texts: &'static [&'static str],
    /// Built-in predicates and functions of arithmetic that compute alone, if nothing is known of
    /// those that stand in no list. `None`: all of these compute alone.
    pub(super) computing: Option<&'static [&'static str]>,
}

impl Effects {
    /// Whether a built-in predicate does more than compute, as far as its name says. One of which
    /// nothing is known may do anything.
    pub(in crate::advice) fn does_more(&self, name: &str) -> bool {
        match self.computing {
            Some(known) => !known.contains(&name),
            None => self.is_named(name),
        }
    }

    /// Whether a built-in predicate changes clauses.
    pub(in crate::advice) fn changes_clauses(&self, name: &str) -> bool {
        is_one_of(name, self.changing)
    }

    /// Whether nothing is known of a predicate by its name.
    pub(in crate::advice) fn is_unknown(&self, name: &str) -> bool {
        let may_be = self.computing.is_some_and(|known| !known.contains(&name));
        may_be && !self.is_named(name)
    }

    /// Whether built-in predicates that stand in no list compute alone.
    pub(in crate::advice) fn is_complete(&self) -> bool {
        self.computing.is_none()
    }

    /// Whether a predicate of any kind is known to compute alone.
    pub(in crate::advice) fn is_computing(&self, name: &str) -> bool {
        self.computing.is_some_and(|known| known.contains(&name))
    }

    /// Whether a name that has arguments is that of a built-in predicate which does more than
    /// compute, wherever it stands.
    pub(in crate::advice) fn is_named(&self, name: &str) -> bool {
        is_one_of(name, self.names)
    }

    /// The same of an atom without arguments.
    pub(in crate::advice) fn is_named_alone(&self, name: &str) -> bool {
        is_one_of(name, self.alone)
    }

    /// Whether the first argument of a predicate says if it writes to a stream or makes a text.
    pub(in crate::advice) fn is_to_stream_or_text(&self, name: &str, arity: u32) -> bool {
        self.to_stream_or_text.contains(&(name, arity))
    }

    /// Whether a first argument of such a name says that a text is made.
    pub(in crate::advice) fn makes_text(&self, name: &str, first: &str) -> bool {
        let mut names = self.to_stream_or_text.iter();
        names.any(|(one, _)| *one == name) && self.texts.contains(&first)
    }
}
