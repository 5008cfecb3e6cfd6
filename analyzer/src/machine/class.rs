//! What an event means for the boxes of its stream.

use portmortem_tracer::format::{ArgumentValue, Arguments, CompleteTable, Event, SyncCall};

use crate::trace::PredicateIndex;

/// What an event does to the active chain and the choice stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A new box of this predicate, called by the active one, becomes active.
    Enter(PredicateIndex),
    /// The active box departs into this predicate.
    Depart(PredicateIndex),
    /// The active box is left; after a nondeterminate exit it lies on the choice stack.
    Leave(WayOut),
    /// The newest box of the choice stack becomes active again.
    ReEnter,
    /// So many of the newest boxes leave the choice stack.
    Cut(u32),
    /// So many events were lost, 0 if unknown: nothing is known of any box from here on.
    Lose(u64),
    /// Recording is suspended, or goes on.
    Pause(bool),
    /// No box moves.
    Note(Note),
}

/// What an event says that moves no box. Code for which all notes are the same matches
/// [`Class::Note`] alone, so that a new one does not concern it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// The program says the text of this id.
    Mark(u32),
    /// The innermost logical box of the active one enters the clause of this id.
    Clause(u32),
    /// What that box was called with.
    Arguments(Arguments),
    /// A table is complete.
    Table(CompleteTable),
    /// What one argument of a call is, at the call or at an exit.
    Value(ArgumentValue),
    /// What the innermost logical box does with something that threads share.
    Sync(SyncCall),
}

/// How an activation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WayOut {
    /// By an exit without a choicepoint inside.
    ExitDet,
    /// By an exit with one.
    ExitNondet,
    /// By failure.
    Fail,
    /// By an exception.
    Exception,
    /// Not before the end of the stream.
    Open,
    /// Events were lost before that.
    Lost,
}

impl Class {
    /// That of an event whose predicates are [`PredicateIndex`], or callables, as in the replay.
    // The replay takes each kind of event apart as it is decoded: then nothing is left of this.
    #[inline(always)]
    #[must_use]
    pub fn of(event: Event) -> Self {
        match event {
            Event::Call { predicate } => Self::Enter(predicate),
            Event::Tail { predicate } => Self::Depart(predicate),
            Event::ExitDet => Self::Leave(WayOut::ExitDet),
            Event::ExitNondet => Self::Leave(WayOut::ExitNondet),
            Event::Fail => Self::Leave(WayOut::Fail),
            Event::Exception => Self::Leave(WayOut::Exception),
            Event::Redo => Self::ReEnter,
            Event::Cut { count } => Self::Cut(count),
            Event::Gap { lost } => Self::Lose(lost),
            Event::Pause => Self::Pause(true),
            Event::Resume => Self::Pause(false),
            Event::Mark { text } => Self::Note(Note::Mark(text)),
            Event::Clause { clause } => Self::Note(Note::Clause(clause)),
            Event::Arguments(arguments) => Self::Note(Note::Arguments(arguments)),
            Event::Table(table) => Self::Note(Note::Table(table)),
            Event::Value(value) => Self::Note(Note::Value(value)),
            Event::Sync(call) => Self::Note(Note::Sync(call)),
        }
    }

    /// How the active box is left by it; `None` if it is not.
    #[inline]
    #[must_use]
    pub fn way_out(self) -> Option<WayOut> {
        match self {
            Self::Leave(way_out) => Some(way_out),
            Self::Enter(_)
            | Self::Depart(_)
            | Self::ReEnter
            | Self::Cut(_)
            | Self::Lose(_)
            | Self::Pause(_)
            | Self::Note(_) => None,
        }
    }
}

impl WayOut {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::ExitDet,
        Self::ExitNondet,
        Self::Fail,
        Self::Exception,
        Self::Open,
        Self::Lost,
    ];

    /// What tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ExitDet => "exit_det",
            Self::ExitNondet => "exit_nondet",
            Self::Fail => "fail",
            Self::Exception => "exception",
            Self::Open => "open",
            Self::Lost => "lost",
        }
    }
}

/// What an event does to an exception that is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It leaves one more box.
    Flies,
    /// It is caught.
    Lands,
    /// Nothing.
    Stays,
}

impl Passage {
    /// Not to be asked of what happens between ports.
    pub(crate) fn of(class: Class) -> Self {
        match class {
            Class::Leave(WayOut::Exception) => Self::Flies,
            Class::Cut(_) | Class::Pause(_) | Class::Note(_) => Self::Stays,
            Class::Enter(_)
            | Class::Depart(_)
            | Class::Leave(_)
            | Class::ReEnter
            | Class::Lose(_) => Self::Lands,
        }
    }
}
