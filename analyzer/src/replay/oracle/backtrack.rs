//! The choice stack: what an exit leaves there, and how redos, cuts and the end take it away.

use portmortem_tracer::format::Dialect;

use super::accounts::Slot;
use super::chain::{Chain, Member};
use super::state::{BoxId, Choice, Context, NOBODY};
use super::stream::StreamReplay;
use crate::figures::{Port, PredicateFigures, PredicateIndex};
use crate::profile::ViolationKind;

impl StreamReplay<'_> {
    /// The active box, that was left, can be re-entered.
    #[inline]
    pub(super) fn push_choice(&mut self) {
        self.state.push_choice(self.now, self.work, self.undone);
        let height = self.state.choices();
        self.figures.max_choices = self.figures.max_choices.max(height);
        if self.early {
            return;
        }
        let Some(choice) = self.state.top_choice() else {
            return;
        };
        let chain = &self.state.get(choice.id).chain;
        for member in (0..chain.members()).filter_map(|at| chain.member(at)) {
            let highest = &mut self.accounts.figures(member.predicate).max_height;
            *highest = height.max(*highest);
        }
    }

    pub(super) fn redo(&mut self) {
        // Said before a box is made up, which did not fail.
        let failed = self.failure.unwrap_or(self.context.predicate);
        if self.state.top_choice().is_none() && !self.unknown_exited() {
            return;
        }
        let mut entered = self.reenter(failed);
        if self.dialect == Dialect::InnermostRedo {
            // The event means the innermost box on the way; those around it were re-entered with it.
            while let Some(choice) = self.state.top_choice()
                && Some(self.state.get(choice.id).parent) == entered
            {
                entered = self.reenter(failed);
            }
        }
        self.failure = Some(failed);
    }

    /// Enters the newest box of the choice stack again.
    fn reenter(&mut self, failed: PredicateIndex) -> Option<BoxId> {
        let choice = self.state.top_choice()?;
        let caller = self.context;
        let called_by = self.state.get(choice.id).parent;
        if called_by != self.state.active().unwrap_or(NOBODY) {
            self.violations.push(ViolationKind::RedoElsewhere);
        }
        self.state.reenter();
        self.figures.max_depth = self.figures.max_depth.max(self.state.depth());
        let visible = self.move_below(choice.id, &caller);
        if let Some(kind) = self.state.get(choice.id).chain.hidden() {
            self.accounts
                .hidden(caller.row)
                .count_port(Port::Redo, kind);
        }
        if visible {
            self.accounts
                .count_port(Port::Redo, Some(self.context.row), caller.row, 1);
            self.charge_undone(failed, &choice);
            self.enter_members(&caller, &choice);
        }
        Some(choice.id)
    }

    /// The context is that of the box just re-entered, and its rows are below the caller's. Whether any
    /// of its boxes is visible.
    fn move_below(&mut self, id: BoxId, caller: &Context) -> bool {
        let physical = self.state.get_mut(id);
        if let Some(outermost) = physical.chain.pair(0) {
            let contexts = &self.accounts.contexts;
            if contexts.parent(outermost.row) != contexts.context(caller.row) {
                // Only after a violation: somebody else had called it.
                physical
                    .chain
                    .move_below(caller.row, |above, predicate, again| {
                        let recursive = again || self.accounts.is_on_chain(predicate);
                        self.accounts.contexts.row(above, predicate, recursive)
                    });
            }
        }
        let row = physical.chain.innermost_row();
        match row {
            Some(row) => physical.context.row = row,
            None => physical.context = *caller,
        }
        self.context = physical.context;
        row.is_some()
    }

    /// All that ran since the box exited is thrown away; what an inner redo has charged already is
    /// in the running total (Debray 1988, section 3.3: who keeps being re-entered).
    fn charge_undone(&mut self, failed: PredicateIndex, choice: &Choice) {
        let since = self.work.saturating_sub(choice.work);
        let charged = self.undone.saturating_sub(choice.undone);
        let undone = since.saturating_sub(charged);
        self.undone += undone;
        if let Some(outermost) = self.state.get(choice.id).chain.pair(0) {
            self.accounts.count_undone(failed, &outermost, undone);
        }
    }

    /// Books that the logical boxes of the active box are re-entered.
    fn enter_members(&mut self, caller: &Context, choice: &Choice) {
        let lifetime = self.now - choice.since;
        let chain = &mut self.state.get_mut(choice.id).chain;
        let Some(outermost) = chain.pair(0) else {
            return;
        };
        let mut edge = outermost.edge;
        if self.accounts.caller(edge) != caller.predicate {
            // Only after a violation: the caller waits for a box that somebody else had called.
            edge = self.accounts.edge(caller.predicate, outermost.predicate);
        }
        self.accounts
            .turn(caller.predicate, Slot::edge(edge), self.now);
        for at in 0..chain.members() {
            let Some(member) = chain.member(at) else {
                break;
            };
            self.accounts
                .count_choice(&member, lifetime, |figures| &mut figures.redos);
            let Member {
                predicate,
                entered,
                multiplicity,
                rest,
                ..
            } = member;
            let saved = self
                .accounts
                .enter(predicate, entered, multiplicity, rest, self.now);
            chain.save(at, saved);
        }
        let mut at = 0;
        while let Some(pair) = chain.pair(at) {
            self.accounts.count_pair_redo(&pair);
            at += 1;
        }
    }

    pub(super) fn cut(&mut self, count: u32) {
        for cut in 0..count {
            let parent = self.state.top_choice();
            let parent = parent.map(|choice| self.state.get(choice.id).parent);
            let Some((choice, chain)) = self.state.discard_choice() else {
                return self.unknown_cut(u64::from(count - cut));
            };
            let caller = match parent {
                Some(id) if id != NOBODY => self.state.get(id).context.row,
                _ => self.bottom.row,
            };
            match chain.hidden() {
                Some(kind) => self.accounts.hidden(caller).count_port(Port::Cut, kind),
                None => self.accounts.count_port(Port::Cut, None, caller, 1),
            }
            self.count_on_choices(&choice, &chain, |figures| &mut figures.cuts);
            for member in (0..chain.members()).filter_map(|at| chain.member(at)) {
                let (victim, boxes) = (member.predicate, member.multiplicity);
                self.accounts
                    .count_cut(self.context.predicate, victim, boxes);
            }
        }
    }

    /// What is on the choice stack counts as pending.
    pub(super) fn leave_choices(&mut self) {
        while let Some((choice, chain)) = self.state.discard_choice() {
            self.count_on_choices(&choice, &chain, |figures| &mut figures.pending);
        }
    }

    fn count_on_choices(
        &mut self,
        choice: &Choice,
        chain: &Chain,
        count: impl Fn(&mut PredicateFigures) -> &mut u64,
    ) {
        let lifetime = self.now - choice.since;
        for member in (0..chain.members()).filter_map(|at| chain.member(at)) {
            self.accounts.count_choice(&member, lifetime, &count);
        }
    }
}
