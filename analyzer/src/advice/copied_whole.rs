//! Data that is made anew at each step and handed on, as the values of arguments show.

use super::evidence::Evidence;
use super::{Cause, Certainty, Finding};
use crate::figures::values::{PairFigures, ValueFigures};
use crate::tables::SiteData;
use crate::text::count;

/// Fewer exits are no loop.
const LEAST: u64 = 10;

/// A finding for each goal whose result is most often as good as a copy of what it was given, and
/// is given to it the next time. Where one of several goals calls another, the inner one copies.
pub(super) fn find(evidence: &Evidence) -> Vec<Finding> {
    let copying: Vec<Copying> = evidence
        .sites()
        .filter_map(|site| Copying::of(evidence, site))
        .collect();
    let is_inner = |outer: &&Copying| {
        let callee = outer.site.callee;
        !copying.iter().any(|inner| {
            inner.site.callee != callee && inner.site.caller.predicate() == Some(callee)
        })
    };
    copying
        .iter()
        .filter(is_inner)
        .map(|one| one.finding(evidence))
        .collect()
}

/// A goal that copies.
struct Copying<'e, 'a> {
    site: &'e SiteData<'a>,
    figures: &'a ValueFigures,
    given: u8,
    result: u8,
    pair: PairFigures,
}

impl<'e, 'a> Copying<'e, 'a> {
    fn of(evidence: &Evidence<'a>, site: &'e SiteData<'a>) -> Option<Self> {
        let goals = &evidence.analysis.values().goals;
        let figures = goals.get(&(site.callee, site.site))?;
        let mut pairs = figures.pairs.iter();
        let (&(given, result), &pair) = pairs.find(|(_, pair)| {
            pair.copied >= LEAST
                && pair.copied >= pair.exits / 8
                && pair.handed_on >= pair.exits / 10 * 8
        })?;
        Some(Self {
            site,
            figures,
            given,
            result,
            pair,
        })
    }

    /// Whether the result is most of the text that was given: a step takes away some of it, and
    /// copies the rest.
    fn consumes_text(&self, evidence: &Evidence) -> bool {
        let Some(given) = self.figures.arguments.get(usize::from(self.given) - 1) else {
            return false;
        };
        let before = given.mean_in();
        let made = self.pair.made / self.pair.exits.max(1);
        let callee = evidence.name(self.site.callee);
        let libraries = evidence.libraries;
        libraries.is_part_of_text(callee, self.given, self.result) && made >= before / 4 * 3
    }

    fn finding(&self, evidence: &Evidence) -> Finding {
        let Self { site, pair, .. } = self;
        let (given, result) = (self.given, self.result);
        let callee = evidence.name(site.callee);
        let sizes = &self.figures.arguments[usize::from(given) - 1];
        let is_consumed = self.consumes_text(evidence);
        // What goes along lists does with the elements what its goal does.
        let known = evidence.built_in(site.callee).filter(|_| {
            !evidence
                .libraries
                .is_for_elements(evidence.module(site.callee))
        });
        let grows = sizes.greatest_in / 2 >= sizes.least_in;
        let size = match grows {
            _ if is_consumed => format!(
                "shrank from at most {} cells",
                count(sizes.greatest_in.into())
            ),
            true => format!(
                "grew from {} to {} cells",
                count(sizes.least_in.into()),
                count(sizes.greatest_in.into())
            ),
            false => format!("had up to {} cells", count(sizes.greatest_in.into())),
        };
        Finding {
            cause: Cause::CopiedData,
            place: evidence.place_of(site),
            cost_ticks: site.figures.served_work_ticks,
            certainty: match grows || is_consumed {
                true => Certainty::Likely,
                false => Certainty::ToCheck,
            },
            title: format!(
                "{callee} {} at each step {}",
                match is_consumed {
                    true => "copies what is left of a text",
                    false => "makes its data anew",
                },
                evidence.at(site)
            ),
            evidence: format!(
                "Argument {given} {size}. At {} of {} exits that are known much of argument {result} was made anew: {} cells a call. {} calls were \
                 given the result of a call before. All {} calls took {}.",
                count(pair.copied),
                count(pair.exits),
                count(pair.made / pair.exits.max(1)),
                count(pair.handed_on),
                count(site.figures.calls),
                evidence.time(site.figures.served_work_ticks),
            ),
            remedy: match known {
                _ if is_consumed => evidence.libraries.remedies.consumed_text.to_owned(),
                Some(known) => format!("{callee} {}: {}", known.does, known.instead),
                None => format!(
                    "keep the data where a step changes a small part of it: {}, whose versions share the rest; a fact for each \
                     element; or collect what is new in a list, and make the whole once, behind the loop.",
                    evidence.libraries.remedies.by_key
                ),
            },
            predicates: vec![site.callee],
            needs: Vec::new(),
        }
    }
}
