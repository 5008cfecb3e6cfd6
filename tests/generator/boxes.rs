//! The boxes of one stream that are active or can be re-entered, and what each port adds to the totals.
//!
//! They lie on stacks, as in an engine: what was made after a box that is left for good is gone, too,
//! so memory is bounded by what is alive. A box that departs into another keeps a link for each
//! pair of caller and callee, one after the other, as long as nothing inside it is alive.

use super::figures::{Stream, Totals, WayOut};
use super::program::Way;

/// No box.
pub(super) const NO_BOX: u32 = u32::MAX;

/// More links than this a box does not get: it makes a call instead of a last call.
const MOST_LINKS: u32 = 64;

/// One physical box, and where its execution stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct PhysicalBox {
    parent: u32,
    /// Height of the choice stack when it was called.
    base: u32,
    first_link: u32,
    /// Predicate of the innermost logical box.
    pub(super) predicate: u32,
    pub(super) clause: u32,
    /// Where the caller goes on after an exit.
    pub(super) resume: u32,
    /// How often its recursion goes on.
    pub(super) left: u32,
    /// Clauses still to try.
    pub(super) alternatives: u8,
    links: u8,
    /// Which link is the innermost logical box.
    innermost: u8,
}

/// Logical boxes of one caller and callee that share a physical one.
#[derive(Debug, Clone, Copy)]
struct Link {
    edge: u32,
    predicate: u32,
    times: u32,
    /// How many of them have exited before.
    exited: u32,
    /// Self time of the activation.
    self_ticks: u64,
}

/// A box that can be re-entered.
#[derive(Debug, Clone, Copy)]
struct Choice {
    id: u32,
    /// What must stay of the stacks for it.
    boxes: u32,
    links: u32,
    since: u64,
    work: u64,
    undone: u64,
}

/// Boxes of one predicate, or of one goal, on the active chain.
#[derive(Debug, Clone, Copy, Default)]
struct Presence {
    active: u64,
    /// When the outermost came.
    since: u64,
    /// By which edge.
    edge: u32,
}

impl Presence {
    #[inline(always)]
    fn arrive(&mut self, edge: u32, times: u32, now: u64) {
        if self.active == 0 {
            self.since = now;
            self.edge = edge;
        }
        self.active += u64::from(times);
    }

    /// By which edge the outermost came and how long it was there, if it is left.
    #[inline(always)]
    fn leave(&mut self, times: u64, now: u64) -> Option<(u32, u64)> {
        self.active -= times;
        (self.active == 0).then(|| (self.edge, now - self.since))
    }
}

/// What failed, if a redo comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blame {
    Nothing,
    /// `None`: something outside all boxes.
    On(Option<u32>),
}

/// The state of a stream.
#[derive(Debug)]
pub(super) struct Boxes {
    active: u32,
    boxes: Vec<PhysicalBox>,
    links: Vec<Link>,
    choices: Vec<Choice>,
    presence: Vec<Presence>,
    /// By edge: the goal by which it calls. All calls of a callee that name no site are one goal.
    goals: Vec<u32>,
    /// By goal.
    at_goals: Vec<Presence>,
    depth: u64,
    /// Self time of boxes and untraced time: all but pauses.
    now: u64,
    undone: u64,
    blame: Blame,
    pub(super) paused: bool,
    pub(super) figures: Stream,
}

impl Boxes {
    /// `ways` are how each edge calls.
    pub(super) fn new(predicates: usize, ways: &[Way], stream: u32) -> Self {
        let goals = (0..).zip(ways).map(|(edge, way)| match way.site {
            Some(_) => edge,
            None => ways.len() as u32 + way.callee,
        });
        Self {
            goals: goals.collect(),
            at_goals: vec![Presence::default(); ways.len() + predicates],
            active: NO_BOX,
            boxes: Vec::new(),
            links: Vec::new(),
            choices: Vec::new(),
            presence: vec![Presence::default(); predicates],
            depth: 0,
            now: 0,
            undone: 0,
            blame: Blame::Nothing,
            paused: false,
            figures: Stream {
                stream,
                ..Stream::default()
            },
        }
    }

    #[inline(always)]
    pub(super) fn active(&self) -> Option<&PhysicalBox> {
        self.boxes.get(self.active as usize)
    }

    #[inline(always)]
    pub(super) fn active_mut(&mut self) -> Option<&mut PhysicalBox> {
        self.boxes.get_mut(self.active as usize)
    }

    fn context(&self) -> Option<u32> {
        self.active().map(|active| active.predicate)
    }

    /// How many boxes inside the active one can be re-entered.
    #[inline(always)]
    pub(super) fn choices_inside(&self) -> u32 {
        let base = self.active().map_or(0, |active| active.base);
        self.height() - base
    }

    /// Height of the choice stack.
    pub(super) fn height(&self) -> u32 {
        self.choices.len() as u32
    }

    /// Height of the choice stack when the active box was called.
    pub(super) fn base(&self) -> u32 {
        self.active().map_or(0, |active| active.base)
    }

    /// Time passes before the next event.
    #[inline(always)]
    pub(super) fn pass(&mut self, ticks: u64) {
        if self.paused {
            self.figures.paused_ticks += ticks;
            return;
        }
        self.now += ticks;
        match self.active() {
            None => self.figures.untraced_ticks += ticks,
            Some(active) => {
                let innermost = active.first_link as usize + usize::from(active.innermost);
                self.links[innermost].self_ticks += ticks;
            }
        }
    }

    /// Ticks so far while a box was active.
    fn work(&self) -> u64 {
        self.now - self.figures.untraced_ticks
    }

    /// A box is called.
    #[inline]
    pub(super) fn call(&mut self, edge: u32, predicate: u32, resume: u32, totals: &mut Totals) {
        totals.counts[edge as usize].calls += 1;
        self.boxes.push(PhysicalBox {
            parent: self.active,
            base: self.height(),
            first_link: self.links.len() as u32,
            predicate,
            clause: 0,
            resume,
            left: 0,
            alternatives: 0,
            links: 1,
            innermost: 0,
        });
        self.links.push(Link {
            edge,
            predicate,
            times: 1,
            exited: 0,
            self_ticks: 0,
        });
        self.active = self.boxes.len() as u32 - 1;
        self.deeper();
        self.blame = Blame::Nothing;
        self.arrive(predicate, edge, 1);
    }

    /// Whether the active box can depart by this edge now.
    #[inline]
    pub(super) fn may_depart(&self, edge: u32) -> bool {
        self.active().is_some_and(|active| {
            active.alternatives == 0
                && self.choices_inside() == 0
                && (u32::from(active.links) < MOST_LINKS || self.link_of(active, edge).is_some())
        })
    }

    fn link_of(&self, active: &PhysicalBox, edge: u32) -> Option<usize> {
        let first = active.first_link as usize;
        (first..first + usize::from(active.links))
            .rev()
            .find(|&at| self.links[at].edge == edge)
    }

    /// The active box departs, as it may.
    #[inline]
    pub(super) fn depart(&mut self, edge: u32, predicate: u32, totals: &mut Totals) {
        let Some(active) = self.active().copied() else {
            return;
        };
        let counts = &mut totals.counts[edge as usize];
        counts.calls += 1;
        counts.tail_calls += 1;
        let known = self.link_of(&active, edge);
        let at = known.unwrap_or(self.links.len());
        match known {
            Some(at) => self.links[at].times += 1,
            None => self.links.push(Link {
                edge,
                predicate,
                times: 1,
                exited: 0,
                self_ticks: 0,
            }),
        }
        if let Some(active) = self.active_mut() {
            active.links += u8::from(known.is_none());
            active.innermost = (at - active.first_link as usize) as u8;
            active.predicate = predicate;
        }
        self.blame = Blame::Nothing;
        self.arrive(predicate, edge, 1);
    }

    fn deeper(&mut self) {
        self.depth += 1;
        self.figures.max_depth = self.figures.max_depth.max(self.depth);
    }

    #[inline(always)]
    fn arrive(&mut self, predicate: u32, edge: u32, times: u32) {
        self.presence[predicate as usize].arrive(edge, times, self.now);
        let goal = self.goals[edge as usize];
        self.at_goals[goal as usize].arrive(edge, times, self.now);
    }

    /// The active box is left, in whatever way; gives where its caller goes on.
    #[inline]
    pub(super) fn leave(&mut self, way_out: WayOut, totals: &mut Totals) -> u32 {
        let Some(left) = self.active().copied() else {
            return 0;
        };
        let first = left.first_link as usize;
        self.blame = Blame::Nothing;
        if way_out == WayOut::Fail {
            self.blame = Blame::On(Some(self.links[first].predicate));
        }
        for at in first..first + usize::from(left.links) {
            self.leave_link(at, way_out, totals);
        }
        self.depth -= 1;
        match way_out {
            WayOut::ExitNondet => self.keep(&left, totals),
            WayOut::ExitDet | WayOut::Fail => {
                self.boxes.truncate(self.active as usize);
                self.links.truncate(first);
            }
            // What is inside may stay until a cut.
            WayOut::Exception | WayOut::Open => {}
        }
        self.active = left.parent;
        if way_out == WayOut::Exception {
            self.release();
        }
        left.resume
    }

    #[inline]
    fn leave_link(&mut self, at: usize, way_out: WayOut, totals: &mut Totals) {
        let link = &mut self.links[at];
        let times = u64::from(link.times);
        let counts = &mut totals.counts[link.edge as usize];
        let row = &mut totals.predicates[link.predicate as usize];
        let own = std::mem::take(&mut link.self_ticks);
        row.self_ticks += own;
        if matches!(way_out, WayOut::ExitDet | WayOut::ExitNondet) {
            counts.exits_again += u64::from(link.exited);
            link.exited = link.times;
        }
        match way_out {
            WayOut::ExitDet => counts.exits_det += times,
            WayOut::ExitNondet => counts.exits_nondet += times,
            WayOut::Fail => {
                counts.fails += times;
                counts.fails_dry += times - u64::from(link.exited);
                row.self_failed_ticks += own;
            }
            WayOut::Exception => {
                counts.exceptions += times;
                row.self_raised_ticks += own;
            }
            WayOut::Open => {
                counts.open += times;
                row.self_open_ticks += own;
            }
        }
        let goal = self.goals[link.edge as usize];
        if let Some((edge, stretch)) = self.at_goals[goal as usize].leave(times, self.now) {
            totals.counts[edge as usize].goal_ticks += stretch;
        }
        let presence = &mut self.presence[link.predicate as usize];
        let Some((edge, stretch)) = presence.leave(times, self.now) else {
            return;
        };
        totals.counts[edge as usize].served_ticks += stretch;
        row.inclusive_ticks += stretch;
        match way_out {
            WayOut::ExitDet | WayOut::ExitNondet => {}
            WayOut::Fail => row.failed_ticks += stretch,
            WayOut::Exception => row.raised_ticks += stretch,
            WayOut::Open => row.open_ticks += stretch,
        }
    }

    /// Puts the active box, which was just left, on the choice stack.
    fn keep(&mut self, left: &PhysicalBox, totals: &mut Totals) {
        self.choices.push(Choice {
            id: self.active,
            boxes: self.boxes.len() as u32,
            links: self.links.len() as u32,
            since: self.now,
            work: self.work(),
            undone: self.undone,
        });
        let height = self.choices.len() as u64;
        self.figures.max_choices = self.figures.max_choices.max(height);
        let first = left.first_link as usize;
        for link in &self.links[first..first + usize::from(left.links)] {
            let row = &mut totals.predicates[link.predicate as usize];
            row.max_height = row.max_height.max(height);
        }
    }

    /// Gives up what neither the active chain nor the choice stack holds.
    fn release(&mut self) {
        let (mut boxes, mut links) = match self.active() {
            None => (0, 0),
            Some(active) => (self.active + 1, active.first_link + u32::from(active.links)),
        };
        if let Some(newest) = self.choices.last() {
            boxes = boxes.max(newest.boxes);
            links = links.max(newest.links);
        }
        self.boxes.truncate(boxes as usize);
        self.links.truncate(links as usize);
    }

    /// The newest box that can be re-entered, which the active one had called, is active again.
    #[inline]
    pub(super) fn redo(&mut self, totals: &mut Totals) {
        let Some(choice) = self.choices.pop() else {
            return;
        };
        let failed = match self.blame {
            Blame::On(who) => who,
            Blame::Nothing => self.context(),
        };
        self.blame = Blame::On(failed);
        self.active = choice.id;
        self.boxes.truncate(choice.boxes as usize);
        self.links.truncate(choice.links as usize);
        self.deeper();
        let entered = self.boxes[choice.id as usize];
        let first = entered.first_link as usize;
        let Link {
            edge,
            predicate: outermost,
            ..
        } = self.links[first];
        let undone = (self.work() - choice.work) - (self.undone - choice.undone);
        self.undone += undone;
        totals.counts[edge as usize].undone_ticks += undone;
        let row = totals.backtracks.entry((failed, outermost)).or_default();
        row.0 += 1;
        row.1 += undone;
        for at in first..first + usize::from(entered.links) {
            let link = self.links[at];
            totals.counts[link.edge as usize].redos += u64::from(link.times);
            let row = &mut totals.predicates[link.predicate as usize];
            row.lifetime_ticks += (self.now - choice.since) * u64::from(link.times);
            self.arrive(link.predicate, link.edge, link.times);
        }
    }

    /// Whether the active box had called the newest box that can be re-entered.
    pub(super) fn called_newest(&self) -> bool {
        self.choices
            .last()
            .is_some_and(|choice| self.boxes[choice.id as usize].parent == self.active)
    }

    /// The choice stack is cut to a height.
    pub(super) fn cut(&mut self, height: u32, totals: &mut Totals) {
        let cutter = self.context();
        for choice in self.choices.drain(height as usize..) {
            let cut = &self.boxes[choice.id as usize];
            let first = cut.first_link as usize;
            for link in &self.links[first..first + usize::from(cut.links)] {
                let times = u64::from(link.times);
                totals.counts[link.edge as usize].cuts += times;
                let row = &mut totals.predicates[link.predicate as usize];
                row.lifetime_ticks += (self.now - choice.since) * times;
                *totals.cuts.entry((cutter, link.predicate)).or_default() += times;
            }
        }
        self.release();
    }

    /// The stream ends: what is active is open, what can be re-entered is pending.
    pub(super) fn end(mut self, totals: &mut Totals) {
        self.figures.self_ticks = self.work();
        while self.active != NO_BOX {
            self.leave(WayOut::Open, totals);
        }
        for choice in &self.choices {
            let kept = &self.boxes[choice.id as usize];
            let first = kept.first_link as usize;
            for link in &self.links[first..first + usize::from(kept.links)] {
                let times = u64::from(link.times);
                totals.counts[link.edge as usize].pending += times;
                let row = &mut totals.predicates[link.predicate as usize];
                row.lifetime_ticks += (self.now - choice.since) * times;
            }
        }
        totals.streams.push(self.figures);
    }
}
