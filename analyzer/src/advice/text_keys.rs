//! Texts that are made of terms to look something up by them: the term is a key itself.

use super::clause_text::Maker;
use super::evidence::{Evidence, share};
use super::unprinted_text::only_computes;
use super::{Cause, Certainty, Finding, clause_text, source};
use crate::tables::SiteData;
use crate::text::count;
use crate::trace::PredicateIndex;

/// Fewer texts are no loop.
const LEAST: u64 = 500;

/// A finding for each goal that makes such a text.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let sites = evidence.sites();
    let found = sites.filter(|site| site.figures.calls >= LEAST);
    found.filter_map(|site| finding(evidence, site)).collect()
}

fn finding(evidence: &Evidence, maker: &SiteData) -> Option<Finding> {
    let name = evidence.name(maker.callee);
    let made = match evidence.libraries.text_made_by(name) {
        Some(argument) => vec![argument],
        None if evidence.is_of_program(maker.callee) && only_computes(evidence, maker) => {
            made_by(evidence, maker.callee)
        }
        None => return None,
    };
    if made.is_empty() {
        return None;
    }
    let is_dynamic =
        |name: &str| evidence.is_dynamic_name(name) && evidence.is_name_of_program(name);
    let keys = source::keys(
        evidence.analysis,
        maker,
        evidence.libraries.keyed,
        is_dynamic,
    );
    if !keys.iter().any(|key| made.contains(key)) {
        return None;
    }
    let (calls, served) = (maker.figures.calls, maker.figures.served_work_ticks);
    Some(Finding {
        cause: Cause::TextKeys,
        place: evidence.place_of(maker),
        cost_ticks: served,
        certainty: Certainty::Likely,
        title: format!(
            "{name} makes a text {} to look something up by it",
            evidence.at(maker)
        ),
        evidence: format!(
            "{name} {} was called {} times and took {}, {} a call: {} of the work. The clause uses the text as a key alone: it looks \
             something up by it, or keeps something under it.",
            evidence.at(maker),
            count(calls),
            evidence.time(served),
            evidence.time(served / calls.max(1)),
            share(served, evidence.total_ticks),
        ),
        remedy: evidence.libraries.remedies.text_keys.to_owned(),
        predicates: vec![maker.callee],
        needs: Vec::new(),
    })
}

/// The arguments of a predicate of the program, counted from 0, that are a text which built-in
/// predicates in its clauses make.
fn made_by(evidence: &Evidence, predicate: PredicateIndex) -> Vec<usize> {
    let Some(text) = source::of_predicate(evidence.analysis, predicate) else {
        return Vec::new();
    };
    let clauses = clause_text::clauses(&text);
    let own = evidence.analysis.trace.predicates();
    let Some(info) = own.get(predicate as usize) else {
        return Vec::new();
    };
    let known = evidence.libraries.text_makers.iter();
    let makers: Vec<Maker> = known
        .filter_map(|&(indicator, argument)| {
            let (_, indicator) = indicator.split_once(':')?;
            let (name, arity) = indicator.split_once('/')?;
            Some(Maker {
                name,
                arity: arity.parse().ok()?,
                argument,
            })
        })
        .collect();
    let own = clauses
        .iter()
        .filter(|clause| clause_text::head_name(clause) == Some(info.declared.name.as_str()));
    let mut made: Vec<usize> = own
        .flat_map(|clause| clause_text::made_in_head(clause, &makers))
        .collect();
    made.sort_unstable();
    made.dedup();
    made
}
