//! Which built-in predicates do more than compute from their arguments: they write, read, or change
//! or look at a state.

use super::super::name_patterns::is_one_of;

/// Names, each with the numbers of arguments that it has.
pub(super) type Indicators = &'static [(&'static str, &'static [u32])];

/// What is known of the built-in predicates of an engine.
#[derive(Debug)]
pub(in crate::advice) enum Effects {
    /// All that do more than compute.
    Whole(WholeList),
    /// Those of the standard.
    Standard(StandardList),
}

/// All built-in predicates of an engine that do more than compute, by their names: in lists of
/// names, a star at the end says how such names begin.
#[derive(Debug)]
pub(in crate::advice) struct WholeList {
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
}

/// Predicates of the standard, and functions of arithmetic. Others may do anything.
#[derive(Debug)]
pub(in crate::advice) struct StandardList {
    /// Those that do more than compute.
    pub(super) doing_more: Indicators,
    /// Those that change clauses.
    pub(super) changing: Indicators,
    /// Those that compute alone.
    pub(super) computing: Indicators,
    /// What an expression may be made of. Some have the name of a predicate that is no function.
    pub(super) functions: Indicators,
}

/// What is known of a predicate by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::advice) enum KnownEffect {
    /// It computes from its arguments, and does no more.
    Computes,
    /// It computes if it is a built-in predicate. What one of a library does, its clauses say.
    Unlisted,
    /// It writes to a stream or makes a text, as its first argument says.
    WritesOrMakesText,
    /// It changes clauses.
    ChangesClauses,
    /// It does something else besides computing.
    DoesMore,
    /// Nothing is known: it may do anything.
    Unknown,
}

impl Effects {
    /// What is known of a predicate that is none of the program.
    pub(in crate::advice) fn of(&self, name: &str, arity: u32) -> KnownEffect {
        match self {
            Self::Whole(list) if list.to_stream_or_text.contains(&(name, arity)) => {
                KnownEffect::WritesOrMakesText
            }
            Self::Whole(list) if is_one_of(name, list.changing) => KnownEffect::ChangesClauses,
            Self::Whole(list) if is_one_of(name, list.names) => KnownEffect::DoesMore,
            Self::Whole(_) => KnownEffect::Unlisted,
            Self::Standard(list) if has(list.computing, name, arity) => KnownEffect::Computes,
            Self::Standard(list) if has(list.changing, name, arity) => KnownEffect::ChangesClauses,
            Self::Standard(list) if has(list.doing_more, name, arity) => KnownEffect::DoesMore,
            Self::Standard(_) => KnownEffect::Unknown,
        }
    }
}

impl WholeList {
    /// Whether a name in a text is one of a built-in predicate that does more than compute.
    pub(in crate::advice) fn is_mentioned(&self, name: &str, has_arguments: bool) -> bool {
        match has_arguments {
            true => is_one_of(name, self.names),
            false => is_one_of(name, self.alone),
        }
    }

    /// Whether a first argument of such a name says that a text is made.
    pub(in crate::advice) fn makes_text(&self, name: &str, first: &str) -> bool {
        let mut names = self.to_stream_or_text.iter();
        names.any(|(one, _)| *one == name) && self.texts.contains(&first)
    }
}

impl StandardList {
    /// Whether an expression may be made of it.
    pub(in crate::advice) fn is_function(&self, name: &str, arity: u32) -> bool {
        has(self.functions, name, arity)
    }
}

fn has(all: Indicators, name: &str, arity: u32) -> bool {
    all.iter()
        .any(|(one, arities)| *one == name && arities.contains(&arity))
}
