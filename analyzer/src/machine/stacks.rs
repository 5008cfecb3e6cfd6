//! The active chain and the choice stack, and how each event changes them.

use portmortem_tracer::format::Dialect;

use super::{At, Class, Observer, OpenBox, WayOut};
use crate::scope::Scope;
use crate::trace::PredicateIndex;

/// Boxes on top of each other, each with what an [`Observer`] keeps with it.
pub(crate) trait Pile {
    type Kept;

    /// How many boxes there are.
    fn height(&self) -> usize;

    /// The newest box.
    fn newest(&self) -> Option<(&OpenBox, &Self::Kept)>;

    /// The newest box, of which only what is kept may change.
    fn newest_kept(&mut self) -> Option<(&OpenBox, &mut Self::Kept)>;

    /// The newest box, to be changed.
    fn newest_mut(&mut self) -> Option<(&mut OpenBox, &mut Self::Kept)>;

    fn put(&mut self, open: OpenBox, kept: Self::Kept);

    fn take(&mut self) -> Option<(OpenBox, Self::Kept)>;

    /// Only the oldest boxes stay, so many; `gone` is told of the others, the newest first.
    fn shrink(&mut self, height: usize, gone: impl FnMut(Self::Kept));
}

impl<K> Pile for Vec<(OpenBox, K)> {
    type Kept = K;

    #[inline]
    fn height(&self) -> usize {
        self.len()
    }

    #[inline]
    fn newest(&self) -> Option<(&OpenBox, &K)> {
        self.last().map(|(open, kept)| (open, kept))
    }

    #[inline]
    fn newest_kept(&mut self) -> Option<(&OpenBox, &mut K)> {
        self.last_mut().map(|(open, kept)| (&*open, kept))
    }

    #[inline]
    fn newest_mut(&mut self) -> Option<(&mut OpenBox, &mut K)> {
        self.last_mut().map(|(open, kept)| (open, kept))
    }

    #[inline]
    fn put(&mut self, open: OpenBox, kept: K) {
        self.push((open, kept));
    }

    #[inline]
    fn take(&mut self) -> Option<(OpenBox, K)> {
        self.pop()
    }

    #[inline]
    fn shrink(&mut self, height: usize, mut gone: impl FnMut(K)) {
        while self.len() > height
            && let Some((_, kept)) = self.pop()
        {
            gone(kept);
        }
    }
}

/// The boxes of a stream. They are those of the engine: last calls share the box of their caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stacks<P> {
    dialect: Dialect,
    /// The predicate of boxes from before a gap.
    pub(super) unknown: PredicateIndex,
    /// After a gap callers are not known.
    pub(crate) lost: bool,
    pub(crate) paused: bool,
    /// The active box on top.
    pub(crate) active: P,
    /// The newest box that can be re-entered on top.
    pub(crate) choices: P,
}

impl<P: Pile> Stacks<P> {
    /// Before the first event of a stream.
    pub(crate) fn new(dialect: Dialect, unknown: PredicateIndex) -> Self
    where
        P: Default,
    {
        Self {
            dialect,
            unknown,
            lost: false,
            paused: false,
            active: P::default(),
            choices: P::default(),
        }
    }

    /// The same boxes in other stacks, which are made of the active chain and of the
    /// choice stack.
    pub(crate) fn into_piles<Q>(
        self,
        active: impl FnOnce(P) -> Q,
        choices: impl FnOnce(P) -> Q,
    ) -> Stacks<Q> {
        Stacks {
            dialect: self.dialect,
            unknown: self.unknown,
            lost: self.lost,
            paused: self.paused,
            active: active(self.active),
            choices: choices(self.choices),
        }
    }

    /// An event happens. The box that it belongs to, and how many are around that: of a port its
    /// box, of anything else the active one.
    #[inline]
    pub(crate) fn step<O>(
        &mut self,
        scope: &Scope,
        at: &At,
        observer: &mut O,
    ) -> Option<(OpenBox, u64)>
    where
        O: Observer<Kept = P::Kept>,
    {
        match at.class() {
            Class::Enter(predicate) => {
                let (open, around) = self.make(scope, at, predicate);
                let kept = observer.called(at, &open, around);
                self.active.put(open, kept);
            }
            Class::Depart(predicate) => {
                self.be_active(scope, at, observer);
                if let Some((open, kept)) = self.active.newest_mut() {
                    open.predicate = predicate;
                    open.last_calls += 1;
                    open.way = scope.enter(Some(open.way), false, predicate);
                    observer.departed(at, open, kept);
                }
            }
            Class::Leave(way_out) => {
                self.be_active(scope, at, observer);
                let (open, mut kept) = self.active.take()?;
                observer.left(at, &mut kept, way_out);
                if way_out == WayOut::ExitNondet {
                    self.choices.put(open, kept);
                }
                return Some((open, self.active.height() as u64));
            }
            Class::ReEnter => self.redo(scope, at, observer),
            Class::Cut(count) => {
                let left = self.choices.height().saturating_sub(count as usize);
                self.choices.shrink(left, |kept| observer.cut(at, kept));
            }
            Class::Lose(_) => {
                self.abandon(at, WayOut::Lost, observer);
                (self.lost, self.paused) = (true, false);
            }
            Class::Pause(paused) => self.paused = paused,
            Class::Note(note) => observer.noted(at, note, self.active.newest_kept()),
        }
        let (open, _) = self.active.newest()?;
        Some((*open, self.active.height() as u64 - 1))
    }

    /// Nothing is known of any box from here on.
    pub(crate) fn abandon<O>(&mut self, at: &At, way_out: WayOut, observer: &mut O)
    where
        O: Observer<Kept = P::Kept>,
    {
        self.active
            .shrink(0, |mut kept| observer.left(at, &mut kept, way_out));
        self.choices.shrink(0, |kept| observer.lost(at, kept));
    }

    /// A new box, and what is kept with the one around it.
    #[inline]
    fn make(
        &self,
        scope: &Scope,
        at: &At,
        predicate: PredicateIndex,
    ) -> (OpenBox, Option<&P::Kept>) {
        let (caller, kept) = self.active.newest().unzip();
        let open = OpenBox {
            called: at.number,
            caller: caller.map(|caller| caller.called),
            predicate,
            called_as: predicate,
            last_calls: 0,
            way: scope.enter(caller.map(|caller| caller.way), self.lost, predicate),
        };
        (open, kept)
    }

    /// After a gap a port may belong to a box that nothing is known of.
    #[inline]
    fn be_active<O>(&mut self, scope: &Scope, at: &At, observer: &mut O)
    where
        O: Observer<Kept = P::Kept>,
    {
        if self.active.newest().is_none() {
            self.find(scope, at, observer);
        }
    }

    #[cold]
    fn find<O>(&mut self, scope: &Scope, at: &At, observer: &mut O)
    where
        O: Observer<Kept = P::Kept>,
    {
        let (open, around) = self.make(scope, at, self.unknown);
        let kept = observer.found(at, &open, around);
        self.active.put(open, kept);
    }

    #[inline]
    fn redo<O>(&mut self, scope: &Scope, at: &At, observer: &mut O)
    where
        O: Observer<Kept = P::Kept>,
    {
        let Some(mut entered) = self.choices.take() else {
            return self.find(scope, at, observer);
        };
        loop {
            let (mut open, mut kept) = entered;
            let (caller, around) = self.active.newest().unzip();
            open.caller = caller.map(|caller| caller.called);
            observer.re_entered(at, &mut kept, around);
            self.active.put(open, kept);
            // In this dialect the event means the innermost box on the way; those around it were
            // re-entered with it.
            let inside = |(choice, _): &(&OpenBox, _)| {
                self.dialect == Dialect::InnermostRedo && choice.caller == Some(open.called)
            };
            if self.choices.newest().filter(inside).is_none() {
                return;
            }
            let Some(next) = self.choices.take() else {
                return;
            };
            entered = next;
        }
    }
}
