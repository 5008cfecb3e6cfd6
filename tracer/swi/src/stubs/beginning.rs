//! A recording with stubs begins, by the rules that Prolog has said before.

use std::sync::Mutex;

use portmortem_tracer::locks;

use super::{continuations, labels, plant};
use crate::engines;
use crate::ffi::{Atom, FALSE, Foreign, TRUE, Term};
use crate::native::identity::{definition, identity};
use crate::native::plan::Always;
use crate::native::predicates;
use crate::native::rules::Rules;
use crate::values::{int64, kept_atom, text};
use crate::{listening, recording};

static RULES: Mutex<Option<Rules>> = Mutex::new(None);

/// `stub_rule(+Kind, +A, +B, +C)`: what the next recording records: `scope(Class)`,
/// `boundary(Class)`, `no_box(Name, Arity)`, any arity if it is negative, `elsewhere(Name, Arity,
/// Module)`, `of_engine(Name, Arity)`, `of_system(Name, Arity)`, `own(Module)`, `succeeds(Module,
/// Name, Arity)`, `fails(Module, Name, Arity)`, `left_out(Module, Name, Arity)`, `loader(Module,
/// Name, Arity)`, `search(Module, Name, Arity)`, `fills(Module, Name, Arity)`,
/// `completes(Module, Name, Arity)`, `center(Module, Name, Arity)`, `trial(Module, Name, Arity)`,
/// `tests`.
/// What is not needed is 0.
pub(crate) fn rule(kind: Term, a: Term, b: Term, c: Term) -> Foreign {
    let mut rules = locks::lock(&RULES);
    let rules = rules.get_or_insert_default();
    match text(kind).as_str() {
        "scope" => rules.scope.extend(kept_atom(a)),
        "boundary" => rules.boundary.extend(kept_atom(a)),
        "own" => rules.own.extend(kept_atom(a)),
        "no_box" => {
            let arity = int64(b).and_then(|arity| usize::try_from(arity).ok());
            rules.no_box.extend(kept_atom(a).map(|name| (name, arity)));
        }
        "elsewhere" => rules.elsewhere.extend(name_arity(a, b).zip(kept_atom(c))),
        "of_engine" => rules.internal.of_engine.extend(name_arity(a, b)),
        "of_system" => rules.internal.of_system.extend(name_arity(a, b)),
        "succeeds" | "fails" => {
            let always = if text(kind) == "fails" {
                Always::Fails
            } else {
                Always::Succeeds
            };
            let of = definition(a, b, c).map(identity);
            rules.always.extend(of.map(|of| (of, always)));
        }
        "left_out" => rules.left_out.extend(definition(a, b, c).map(identity)),
        "center" => rules.center = definition(a, b, c).map(identity),
        "tests" => rules.tests = true,
        "trial" => rules.trials.extend(definition(a, b, c).map(identity)),
        "fills" => rules.fills.extend(definition(a, b, c).map(identity)),
        "completes" => rules.completes = definition(a, b, c).map(identity),
        "search" => rules.search = definition(a, b, c).map(identity),
        "loader" => rules.loader = definition(a, b, c).map(identity),
        _ => return FALSE,
    }
    TRUE
}

fn name_arity(name: Term, arity: Term) -> Option<(Atom, usize)> {
    let arity = int64(arity).and_then(|arity| usize::try_from(arity).ok());
    kept_atom(name).zip(arity)
}

/// `stub_begin`: from now on stubs record, by the rules that were said. Fails if nothing is being
/// recorded.
pub(crate) fn begin() -> Foreign {
    let rules = locks::lock(&RULES).take().unwrap_or_default();
    if recording::epoch().is_none() {
        return FALSE;
    }
    let of_trials = rules.is_of_trials();
    predicates::begin(rules);
    let facts = recording::with(|current| current.clauses).unwrap_or(false);
    let exchanged = plant::planter().is_some_and(|mut planter| {
        labels::plant_exit_cleanup(&mut planter);
        continuations::plant(&mut planter);
        planter.withdraw();
        planter.of_trials = of_trials;
        planter.exchange(facts).is_some()
    });
    // SAFETY: called by Prolog, and the reference is not kept.
    let attached = listening::is_ours() || unsafe { engines::current() }.is_some();
    Foreign::from(exchanged && attached)
}
