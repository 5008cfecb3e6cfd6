//! Calls that were made before with the same arguments and had the same result, as the values of
//! arguments show.

use super::evidence::{Evidence, part_of, share};
use super::{Cause, Certainty, Finding, effects, labelled_first};
use crate::text::count;

/// Fewer repetitions are no loop.
const LEAST: u64 = 50;

/// What is computed in less time than this, in ns, is not worth keeping.
const LEAST_NS: u64 = 5000;

/// At least so many of a hundred calls must be repetitions.
const LEAST_SHARE: u64 = 20;

/// The same of built-in and library predicates: their results are computed before a loop, or not.
const LEAST_OF_LIBRARY: u64 = 60;

/// A finding for each predicate whose calls mostly had a result that an earlier call had. What
/// state it reads does not matter: the results are the same.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let predicates = evidence.predicates();
    let repeated = predicates.filter_map(|(predicate, _, figures)| {
        if evidence.analysis.arguments().contains_key(&predicate) {
            return None; // That is in another file.
        }
        let values = evidence.analysis.values().of(predicate)?;
        let least = match evidence.is_of_program(predicate) {
            true => LEAST_SHARE,
            false => LEAST_OF_LIBRARY,
        };
        // Of several solutions the further ones are compared, too.
        let is_one = figures.redos == 0 && !values.pairs.is_empty();
        let is_several = evidence.is_of_program(predicate)
            && !evidence.is_leaf(predicate)
            && values.again_later >= values.again
            && values.same_later == values.again_later;
        let is_repeated = values.again >= LEAST
            && values.again >= values.calls / 100 * least
            && values.same == values.again
            && (is_one || is_several)
            && evidence
                .analysis
                .ns(figures.inclusive_work_ticks / figures.calls.max(1))
                >= LEAST_NS;
        // What calls the program back computes what that does.
        let calls_back = || {
            let mut called = evidence.boxes_called(predicate);
            called.any(|callee| evidence.is_of_program(callee))
        };
        let is_of_program = evidence.is_of_program(predicate);
        if !is_repeated
            || !is_of_program && calls_back()
            || evidence.is_tabled(predicate)
            || effects::does_more(evidence, predicate)
            || labelled_first::posts(evidence, predicate)
        {
            return None;
        }
        let name = evidence.name(predicate);
        Some(Finding {
            cause: match is_one {
                true => Cause::RepeatedCalls,
                false => Cause::RepeatedSolutions,
            },
            place: match evidence.costliest_goal_to(predicate).filter(|_| !is_of_program) {
                Some(goal) => evidence.place_of(goal),
                None => evidence.place(predicate),
            },
            cost_ticks: part_of(figures.inclusive_work_ticks, values.again, values.calls),
            certainty: Certainty::Likely,
            title: format!("{name} computes again what it has computed before"),
            evidence: format!(
                "{} of {} calls of {name} that were looked at ({}) had the same arguments as an earlier one, and all of these the same \
                 result. All {} calls took {}.",
                count(values.again),
                count(values.calls),
                share(values.again, values.calls),
                count(figures.calls),
                evidence.time(figures.inclusive_work_ticks),
            ),
            remedy: match evidence.is_of_program(predicate) {
                true if !is_one => format!(
                    "collect its solutions once, before the loop that calls it (findall/3), and hand the list on; or {}, if what it \
                     reads does not change meanwhile, and neither the order of solutions nor how often one comes matters.",
                    evidence.libraries.remedies.table_of(name)
                ),
                true => format!(
                    "compute it once: before the loop that calls it, or with {}, if what it reads does not change meanwhile.",
                    evidence.libraries.remedies.table_of(name)
                ),
                false => "compute it once, before the loop, and pass the result on.".to_owned(),
            },
            predicates: vec![predicate],
            needs: Vec::new(),
        })
    });
    repeated.collect()
}
