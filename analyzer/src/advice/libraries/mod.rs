//! What advice knows of the built-in and library predicates of an engine, and in which words it
//! proposes them: tables, chosen by the engine that the trace names. Of an engine without tables
//! only that is known which any Prolog has (`iso.rs`): causes of advice that ask for more find
//! none, what has effects may be any predicate that is not known to have none, and remedies are in
//! words that hold for any engine.
//!
//! What predicates are to the engine is no part of it: roles in the trace say that. Nor is what
//! goals mean in Prolog: the causes of advice know it.

mod effects;
mod iso;
mod remedies;
mod swi_built_ins;
mod swi_constraints;
mod swi_effects;
mod swi_prolog;
mod swi_remedies;
#[cfg(test)]
mod tests;

use portmortem_tracer::format::ENGINE_HOME;

use super::clause_text::{self, ElementGoals, KeyedGoal, Lexeme, Token};
use super::name_patterns::is_one_of;
pub(super) use effects::{Effects, KnownEffect, WholeList};
use remedies::Remedies;

/// Predicates that take long for the same reason. A program may have its own ones of the same
/// name: these are none.
#[derive(Debug)]
pub(super) struct BuiltIn {
    /// Separated by spaces.
    names: &'static str,
    /// What a call does; its subject is the predicate.
    pub(super) does: &'static str,
    /// What to do in its place.
    pub(super) instead: &'static str,
}

impl BuiltIn {
    /// Whether a call makes data that may be large.
    pub(super) fn makes_data(&self) -> bool {
        let words = ["copies", "makes", "reads", "sorts", "turns"];
        words.iter().any(|word| self.does.starts_with(word))
    }

    /// Whether what is done in its place is another structure for data that is large.
    pub(super) fn asks_for_structure(&self) -> bool {
        let words = ["goes along", "searches", "compares elements", "sorts"];
        words.iter().any(|word| self.does.starts_with(word))
    }
}

/// Predicates that print a message, or print nothing where no such message is wanted.
#[derive(Debug)]
pub(super) struct MessagePrinter {
    /// Modules, names and numbers of arguments, separated by spaces.
    indicators: &'static str,
    /// In how many ns one call of it prints nothing: it looks at a topic or at the kind of the
    /// message, and does no more.
    pub(super) silent_ns: u64,
    /// How a text is made only where it is printed.
    pub(super) instead: &'static str,
}

/// Predicates that make a list of all of their data. A program may have its own ones of the same
/// name: these are none.
#[derive(Debug)]
pub(super) struct ListMaker {
    /// Names and numbers of arguments, separated by spaces.
    names: &'static str,
    /// What finds the first element alone.
    pub(super) of_first: &'static str,
    /// What finds the last one alone.
    pub(super) of_last: &'static str,
}

/// The library of constraints over finite domains. All indicators have a module.
#[derive(Debug)]
pub(super) struct ConstraintLibrary {
    module: &'static str,
    /// Indicators of predicates that give variables values, separated by spaces.
    labelling: &'static str,
    /// Those of them that do so in an order of the variables.
    ordering: &'static str,
    /// Names of other predicates that post no constraint; with a star, how such names begin.
    asking: &'static [&'static str],
    /// The constraints that are operators. Where their variables have values, the expansion makes
    /// tests of them, which are no calls: only the text says what they were.
    operators: &'static [&'static str],
    /// The indicator of the predicate that runs a propagator.
    pub(super) runs_propagator: &'static str,
    /// The indicator of the one that makes a propagator.
    pub(super) makes_propagator: &'static str,
    /// Names of labelling predicates without options.
    without_options: &'static [&'static str],
    /// Options that say which variable gets a value next.
    orders: &'static [&'static str],
    /// Options of labelling that are worth a trial.
    pub(super) tried: &'static [&'static str],
    /// What to do where variables get values in the order in which they are written.
    pub(super) of_order: &'static str,
    /// What to do where propagators narrow domains step by step.
    pub(super) of_creeping: &'static str,
    /// How a choice of a value is written with constraints, and what comes last then.
    pub(super) of_choice: &'static str,
    /// Some constraints that tests can be written with.
    pub(super) tests: &'static str,
}

impl ConstraintLibrary {
    /// Whether a predicate gives variables values.
    pub(super) fn is_labelling(&self, indicator: &str) -> bool {
        is_among(self.labelling, indicator)
    }

    /// Whether a predicate gives variables values in an order of the variables.
    pub(super) fn is_ordering(&self, indicator: &str) -> bool {
        is_among(self.ordering, indicator)
    }

    /// Whether a module is the library.
    pub(super) fn is_module(&self, module: &str) -> bool {
        self.module == module
    }

    /// Whether a predicate of the library that does not label is one that asks for domains, or
    /// does something else without a constraint.
    pub(super) fn is_asking(&self, name: &str) -> bool {
        is_one_of(name, self.asking)
    }

    /// Whether an option of labelling says which variable gets a value next.
    pub(super) fn orders(&self, option: &str) -> bool {
        self.orders.contains(&option)
    }

    /// Whether a labelling predicate has no options.
    pub(super) fn is_without_options(&self, name: &str) -> bool {
        self.without_options.contains(&name)
    }

    /// Whether a token of a clause is a constraint that is an operator.
    pub(super) fn is_constraint(&self, token: &Token) -> bool {
        token.kind == Lexeme::Atom && self.operators.contains(&token.text)
    }
}

/// The library of constraint handling rules, and what the predicates call that it makes of rules.
#[derive(Debug)]
pub(super) struct RuleRuntime {
    /// Its name.
    pub(super) library: &'static str,
    /// The directive that declares constraints.
    pub(super) declaration: &'static str,
    /// The directive that has rules compiled without code for the debugger.
    pub(super) no_debugger: &'static str,
    /// The indicator of the predicate that gives one constraint after the other.
    pub(super) gives_constraints: &'static str,
    /// How the indicators of predicates begin that look for a variable to look constraints up by.
    pub(super) seeks_variable: &'static str,
    /// How the indicators of predicates begin that only rules for the debugger call.
    pub(super) tells_debugger: &'static str,
}

/// The predicates of an engine and its libraries that advice knows by name.
#[derive(Debug)]
pub(super) struct EngineLibraries {
    /// What predicates do, where that takes long. No cause is decided by it: it explains a goal
    /// whose time was counted.
    built_ins: &'static [BuiltIn],
    /// Names of those that have no box.
    unseen: &'static [&'static str],
    /// Names of built-in predicates that copy a term and have no box, as they take next to no time
    /// by themselves: they have no values that would show it.
    copying: &'static [&'static str],
    /// Modules and names of predicates that copy a lambda and call it.
    lambdas: &'static [(&'static str, &'static str)],
    /// Modules of predicates that do with each element of a list what a goal of theirs does.
    for_elements: &'static [&'static str],
    /// Predicates that make a text: the argument, counted from 0, that is the text or a term with
    /// it, such as `string(Text)`.
    pub(super) text_makers: &'static [(&'static str, usize)],
    /// Predicates that take a text apart: the text, and a part of it, counted from 1.
    text_parts: &'static [(&'static str, u8, u8)],
    message_printers: &'static [MessagePrinter],
    list_makers: &'static [ListMaker],
    /// Predicates that choose a value for a variable: the argument that it is, counted from 0.
    choosing: &'static [(&'static str, usize)],
    pub(super) effects: &'static Effects,
    pub(super) keyed: &'static [KeyedGoal],
    pub(super) elements: ElementGoals,
    /// Names of predicates that tell how long a list is.
    measuring: &'static [&'static str],
    /// Names of predicates that count solutions, as their first argument says. Their third one is
    /// the number.
    counting: &'static [(&'static str, &'static str)],
    /// What it says of changes that a program may need.
    pub(super) remedies: &'static Remedies,
    /// The directory with the files of libraries, below that of the engine.
    directory: Option<&'static str>,
    /// What modules of libraries may begin with that the names of their files do not.
    module_prefix: &'static str,
    /// Modules of libraries whose work inside is of interest, and which call nothing of the
    /// program.
    looked_into: &'static [&'static str],
    pub(super) constraints: Option<&'static ConstraintLibrary>,
    pub(super) rules: Option<&'static RuleRuntime>,
}

/// What is known of an engine without tables.
static UNKNOWN: EngineLibraries = EngineLibraries {
    built_ins: &[],
    unseen: &[],
    copying: &[],
    lambdas: &[],
    for_elements: &[],
    text_makers: &[],
    text_parts: &[],
    message_printers: &[],
    list_makers: &[],
    choosing: &[],
    effects: &iso::EFFECTS,
    keyed: &[],
    elements: ElementGoals {
        first: iso::FIRST_ELEMENT,
        last: &[],
    },
    measuring: iso::MEASURING,
    counting: &[],
    remedies: &remedies::OF_ANY_PROLOG,
    directory: None,
    module_prefix: "",
    looked_into: &[],
    constraints: None,
    rules: None,
};

/// The tables of an engine, by its name and version as in the header of a trace.
pub(super) fn of_engine(engine: &str) -> &'static EngineLibraries {
    match engine.split(' ').next() {
        Some(swi_prolog::NAME) => &swi_prolog::LIBRARIES,
        _ => &UNKNOWN,
    }
}

/// Whether a name is among some that are separated by spaces.
fn is_among(names: &str, name: &str) -> bool {
    names.split(' ').any(|one| one == name)
}

/// The argument that a list of predicates says of one.
fn argument_of(all: &[(&str, usize)], indicator: &str) -> Option<usize> {
    let found = all.iter().find(|(one, _)| *one == indicator);
    found.map(|&(_, argument)| argument)
}

impl EngineLibraries {
    /// What is known of a predicate that is none of the program, by its name without module.
    pub(super) fn built_in(&self, name: &str) -> Option<&'static BuiltIn> {
        let mut all = self.built_ins.iter();
        all.find(|one| is_among(one.names, name))
    }

    /// Those that have no box and that the clauses of a text name, in its order.
    pub(super) fn unseen_in(&self, text: &str) -> Vec<(&'static str, &'static BuiltIn)> {
        let clauses = clause_text::clauses(text);
        let atoms = clauses.iter().flat_map(|clause| clause_text::body(clause));
        let atoms = atoms.filter(|token| token.kind == Lexeme::Atom);
        let found = atoms.filter_map(|token| {
            let name = self.unseen.iter().find(|&&name| name == token.text)?;
            Some((*name, self.built_in(name)?))
        });
        found.collect()
    }

    /// Whether a built-in predicate of that name copies a term and has no box.
    pub(super) fn copies_unseen(&self, name: &str) -> bool {
        self.copying.contains(&name)
    }

    /// Whether a predicate copies a lambda and calls it.
    pub(super) fn is_lambda(&self, module: &str, name: &str) -> bool {
        self.lambdas.contains(&(module, name))
    }

    /// Whether predicates of a module do with each element of a list what a goal of theirs does.
    pub(super) fn is_for_elements(&self, module: &str) -> bool {
        self.for_elements.contains(&module)
    }

    /// Whether a predicate takes a text apart, and an argument is a part of the text in another
    /// one. Both are counted from 1.
    pub(super) fn is_part_of_text(&self, indicator: &str, text: u8, part: u8) -> bool {
        self.text_parts.contains(&(indicator, text, part))
    }

    /// What is known of a predicate that makes a list of all of its data.
    pub(super) fn list_maker(&self, name: &str, arity: u32) -> Option<&'static ListMaker> {
        let indicator = format!("{name}/{arity}");
        let mut all = self.list_makers.iter();
        all.find(|one| is_among(one.names, &indicator))
    }

    /// The argument of a predicate, counted from 0, that is a text which it makes.
    pub(super) fn text_made_by(&self, indicator: &str) -> Option<usize> {
        argument_of(self.text_makers, indicator)
    }

    /// The argument of a predicate, counted from 0, that is a variable for which it chooses values.
    pub(super) fn chosen_by(&self, indicator: &str) -> Option<usize> {
        argument_of(self.choosing, indicator)
    }

    /// Whether a predicate tells how long a list is.
    pub(super) fn is_measuring(&self, name: &str) -> bool {
        self.measuring.contains(&name)
    }

    /// With which first argument a predicate counts solutions, if it is one that does.
    pub(super) fn counts_with(&self, name: &str) -> Option<&'static str> {
        let found = self.counting.iter().find(|(one, _)| *one == name);
        found.map(|&(_, count)| count)
    }

    /// The files, as traces name them, one of which may define a module of a library.
    pub(super) fn files_of(&self, module: &str) -> Vec<String> {
        let short = module.strip_prefix(self.module_prefix).unwrap_or(module);
        let directory = self.directory.into_iter();
        let files = directory.flat_map(|directory| {
            [module, short].map(|name| format!("{ENGINE_HOME}{directory}/{name}.pl"))
        });
        files.collect()
    }

    /// Whether the work inside a library is of interest.
    pub(super) fn is_looked_into(&self, module: &str) -> bool {
        self.looked_into.contains(&module)
    }

    /// What is known of a predicate that prints messages.
    pub(super) fn message_printer(&self, indicator: &str) -> Option<&'static MessagePrinter> {
        let mut all = self.message_printers.iter();
        all.find(|one| is_among(one.indicators, indicator))
    }
}
