//! What of a trace is read, and which of its events are listed.

use std::ops::Range;
use std::sync::Arc;

use portmortem_analyzer::Analysis;
use portmortem_analyzer::condition::ListedCondition;
use portmortem_analyzer::figures::StreamFigures;
use portmortem_analyzer::machine::Class;
use portmortem_analyzer::moment::OpenBox;
use portmortem_analyzer::moment::Stack;
use portmortem_analyzer::tables::{EventRow, SiteNames};
use portmortem_analyzer::trace::StreamInfo;
use portmortem_analyzer::walk::{Step, Walk};

use super::asked::AskedCondition;
use super::{is_of_recording, leaves};
use crate::analysis::AnalysisView;

/// Boxes of a stack that are kept to be shown or copied.
const MOST_BOXES: usize = 300;

/// Boxes of a stack that are looked at for some that are not hidden.
const MOST_LOOKED_AT: usize = 100_000;

/// A stream, and which of its events are listed.
#[derive(Debug, Clone)]
pub(in crate::screens) struct EventReader {
    pub(in crate::screens) analysis: Arc<AnalysisView>,
    /// Its place in the trace.
    pub(in crate::screens) stream: usize,
    condition: Option<Arc<AskedCondition>>,
}

/// The newest boxes of a stack that are not hidden, the newest first.
#[derive(Debug, Default)]
pub(in crate::screens) struct ShownBoxes {
    /// With how many are around it.
    pub(in crate::screens) newest: Vec<(u64, OpenBox)>,
    /// How many boxes there are, hidden ones included.
    pub(in crate::screens) height: u64,
}

/// Both stacks at an event.
#[derive(Debug, Default)]
pub(in crate::screens) struct ShownStacks {
    pub(in crate::screens) active: ShownBoxes,
    pub(in crate::screens) choices: ShownBoxes,
}

impl EventReader {
    pub(in crate::screens) fn new(analysis: &Arc<AnalysisView>, stream: usize) -> Self {
        Self {
            analysis: Arc::clone(analysis),
            stream,
            condition: None,
        }
    }

    pub(in crate::screens) fn set_condition(&mut self, condition: Option<AskedCondition>) {
        self.condition = condition.map(Arc::new);
    }

    /// The condition, if it depends on how boxes end or who called them, and what goals are called.
    pub(in crate::screens) fn on_boxes(&self) -> Option<(&ListedCondition, &SiteNames)> {
        self.condition.as_ref()?.on_boxes()
    }

    /// Whether the names of predicates and ports alone tell that no event is listed. That takes long if there are
    /// very many predicates.
    pub(in crate::screens) fn lists_nothing(&self) -> bool {
        let asked = self.condition.as_ref();
        asked.is_some_and(|asked| asked.holds_nowhere(&self.analysis.trace))
    }

    /// The same, if that was found out.
    pub(in crate::screens) fn is_known_to_list_nothing(&self) -> bool {
        let asked = self.condition.as_ref();
        asked.is_some_and(|asked| asked.is_known_to_hold_nowhere())
    }

    pub(in crate::screens) fn info(&self) -> Option<&StreamInfo> {
        self.analysis.trace.streams().get(self.stream)
    }

    /// Numbers of the events of the stream that are looked at.
    pub(in crate::screens) fn numbers(&self) -> Range<u64> {
        self.numbers_of(self.stream)
    }

    /// The same of another one.
    pub(in crate::screens) fn numbers_of(&self, stream: usize) -> Range<u64> {
        let figures = self.analysis.profile.streams.get(stream);
        figures.map_or(0..0, StreamFigures::numbers)
    }

    /// The number of the last of them.
    pub(in crate::screens) fn last(&self) -> u64 {
        self.numbers().end.saturating_sub(1)
    }

    pub(in crate::screens) fn walk(&self, from: u64) -> Option<Walk<'_>> {
        let analysis = &self.analysis;
        let trail = analysis.trail();
        Some(Walk::from(&analysis.trace, trail, self.info()?, from))
    }

    /// Every event is listed.
    pub(in crate::screens) fn lists_all(&self) -> bool {
        self.condition.is_none() && !self.analysis.scope.has_transparent()
    }

    /// Whether a box is part of the one around it, or outside of what is looked at.
    pub(in crate::screens) fn is_hidden(&self, boxed: &OpenBox) -> bool {
        !boxed.is_shown(&self.analysis.scope)
    }

    /// Whether an event is listed: it is visible, the condition holds, and it is none of what is
    /// left out, unless the condition asks for that by its name. What a condition on boxes says is
    /// only known once they are read; here it may hold.
    pub(in crate::screens) fn lists(&self, step: &Step) -> bool {
        if !self.is_visible(step) {
            return false;
        }
        let leaves_out = self.leaves_out(step);
        match (&self.condition, self.row(step)) {
            (Some(asked), Some(row)) => {
                asked.may_hold(step, &row, true)
                    && !(leaves_out && asked.may_hold(step, &row, false))
            }
            _ => !leaves_out,
        }
    }

    /// Whether it is not an event of a hidden box.
    pub(in crate::screens) fn is_visible(&self, step: &Step) -> bool {
        let hidden = step.of.is_some_and(|(of, _)| self.is_hidden(&of));
        !hidden || is_of_recording(step)
    }

    /// Whether it is an event of waiting, loading, memory management or set-up, which are left out
    /// unless all is shown.
    fn leaves_out(&self, step: &Step) -> bool {
        let of = step.of.map(|(of, _)| of.predicate);
        of.is_some_and(|of| self.analysis.leaves_out(of)) && !is_of_recording(step)
    }

    /// Whether a gap stands for events that were not kept.
    pub(in crate::screens) fn is_not_kept(&self, gap: &Step) -> bool {
        let trace = &self.analysis.trace;
        let stream = self.info();
        stream.is_some_and(|stream| trace.are_not_kept(stream.id, gap.number))
    }

    /// An event as a row of the table `events`.
    pub(in crate::screens) fn row(&self, step: &Step) -> Option<EventRow<'_>> {
        let Analysis { trace, name, .. } = &**self.analysis;
        Some(EventRow::of(trace, name, self.info()?.id, *step))
    }

    /// The stacks at an event: a box that ends there is still on the chain.
    pub(in crate::screens) fn stacks(&self, at: &Step) -> ShownStacks {
        let gap = matches!(at.class(), Class::Lose(_));
        let Some(mut walk) = self.walk(at.number).filter(|_| !gap) else {
            return ShownStacks::default();
        };
        loop {
            let ends = leaves(at).then(|| self.shown(walk.moment().active()));
            match walk.next() {
                Some(step) if step == *at => {
                    let active = match ends {
                        Some(ends) if ends.height > 0 => ends,
                        // After a gap the box that ends may never have been seen before.
                        Some(_) => ShownBoxes {
                            newest: step.of.iter().map(|(of, depth)| (*depth, *of)).collect(),
                            height: step.of.iter().len() as u64,
                        },
                        None => self.shown(walk.moment().active()),
                    };
                    let choices = self.shown(walk.moment().choices());
                    return ShownStacks { active, choices };
                }
                Some(step) if step.number < at.number => {}
                _ => return ShownStacks::default(),
            }
        }
    }

    fn shown(&self, boxes: &Stack) -> ShownBoxes {
        let height = boxes.len() as u64;
        let newest = (0..height).rev().zip(boxes.newest());
        let newest = newest
            .take(MOST_LOOKED_AT)
            .filter(|(_, of)| !self.is_hidden(of));
        ShownBoxes {
            newest: newest.take(MOST_BOXES).collect(),
            height,
        }
    }
}
