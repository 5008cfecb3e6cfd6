//! Events of a folded recording whose scenes stay since a condition of the user holds for them.

use std::ops::ControlFlow;

use super::scenes::EventOf;
use crate::condition::ListedCondition;
use crate::listing::Listing;
use crate::replay::growing::{Growing, NewParts};
use crate::tables::SiteNames;
use crate::trace::Trace;

/// Looks for them in what was folded.
#[derive(Debug)]
pub(super) struct AskedScenes {
    condition: String,
}

impl AskedScenes {
    pub(super) fn new(condition: &str) -> Self {
        Self {
            condition: condition.to_owned(),
        }
    }

    /// The first events of blocks of new parts that the condition holds for. Where it is the end of
    /// an activation, the call of its box, too: that may be in an earlier part.
    pub(super) fn find(&self, trace: &Trace, growing: &Growing, new: &NewParts) -> Vec<EventOf> {
        let sites = SiteNames::of(trace);
        let mut found = Vec::new();
        let Ok(condition) = ListedCondition::parse_so_far(&self.condition, trace, &sites) else {
            return found;
        };
        let trail = growing.trail(trace);
        for (at, blocks) in &new.parts {
            let begin = |block| Some(trace.block_header(block)?.first_event);
            let begins: Vec<u64> = blocks.clone().filter_map(begin).collect();
            let behind = blocks.clone().next_back();
            let behind = behind.and_then(|last| trace.number_after(last));
            let (Some(first), Some(behind)) = (begins.first(), behind) else {
                continue;
            };
            let mut listing = Listing::new(trace, "", Some(&trail), &sites);
            listing.streams = vec![trace.streams()[*at].id];
            listing.numbers = *first..behind;
            let mut last = None;
            let _ = listing.each(&condition, &mut |event, _| {
                let number = event.at.step.number;
                let block = begins.partition_point(|begin| *begin <= number);
                if last.replace(block) != Some(block) {
                    found.push((event.at.stream, number));
                    let step = &event.at.step;
                    let ended = step.of.filter(|_| step.class().way_out().is_some());
                    found.extend(ended.map(|(of, _)| (event.at.stream, of.called)));
                }
                ControlFlow::Continue(())
            });
        }
        found
    }
}
