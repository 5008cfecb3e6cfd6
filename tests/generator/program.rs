//! A made-up Prolog program: clauses of goals, and for each predicate how its calls turn out.

use std::collections::HashMap;

/// How the calls of a predicate turn out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fate {
    /// Out of 65536 calls, how many fail at once.
    pub(super) fails: u32,
    /// Out of 65536 calls, how many select their clause at once and leave no choice of clauses.
    pub(super) indexed: u32,
    /// How often it recurses when called from outside its recursion; 0: not recursive. If it
    /// is, the first clause is taken until then, and the second at the end.
    pub(super) length: u32,
    /// A call recurses up to this much less often than that; at least 1, which is never.
    pub(super) spread: u32,
    /// Exceptions from inside end here.
    pub(super) catches: bool,
}

/// A predicate: its clauses, and the fate of its calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Predicate {
    pub(super) fate: Fate,
    first_clause: u32,
    clauses: u8,
}

/// One goal of a clause as the engine runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    Call {
        edge: u32,
        /// The recursion goes on: one less to go.
        again: bool,
    },
    Cut,
    /// Something that is not recorded.
    Builtin,
    /// The end of the clause.
    End,
}

/// One goal of a clause as one writes it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Say {
    Call(u32),
    /// A call that continues the recursion of the caller.
    Again(u32),
    Cut,
    Builtin,
}

/// A program. Predicate 0 is called first, from outside all boxes.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// The last call of a clause reuses its frame, if nothing inside can be re-entered.
    pub(super) last_calls: bool,
    /// There are exceptions now and then.
    pub(super) exceptions: bool,
    pub(super) predicates: Vec<Predicate>,
    /// Who calls what, and where. The first one is the outermost call, of predicate 0.
    pub(super) edges: Vec<Way>,
    /// Where each clause begins in `goals`.
    clauses: Vec<u32>,
    goals: Vec<Goal>,
    ids: HashMap<Way, u32>,
    /// Calls in clauses so far.
    calls: u32,
}

/// How a predicate is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Way {
    pub(super) caller: Option<u32>,
    pub(super) callee: u32,
    /// Clause and goal, each from 1, if its events name them.
    pub(super) site: Option<(u32, u32)>,
    /// What its events name: the predicate or the site.
    pub(super) id: u32,
}

/// The calls of each such number in clauses do not name their sites.
const WITHOUT_SITE: u32 = 8;

impl Program {
    /// A program of so many predicates, without clauses as yet.
    pub(super) fn new(predicates: u32) -> Self {
        let mut program = Self {
            predicates: vec![Predicate::default(); predicates as usize],
            ..Self::default()
        };
        program.edge(None, 0, None);
        program
    }

    /// The predicate's clauses, at most 255, and its fate; only once for each predicate.
    pub(super) fn define(&mut self, predicate: u32, fate: Fate, clauses: &[Vec<Say>]) {
        let first_clause = self.clauses.len() as u32;
        for (body, clause) in clauses.iter().zip(1..) {
            self.clauses.push(self.goals.len() as u32);
            for (&goal, at) in body.iter().zip(1..) {
                let place = (clause, at);
                let goal = match goal {
                    Say::Call(callee) => self.call(predicate, callee, place, false),
                    Say::Again(callee) => self.call(predicate, callee, place, true),
                    Say::Cut => Goal::Cut,
                    Say::Builtin => Goal::Builtin,
                };
                self.goals.push(goal);
            }
            self.goals.push(Goal::End);
        }
        self.predicates[predicate as usize] = Predicate {
            fate: Fate {
                spread: fate.spread.max(1),
                ..fate
            },
            first_clause,
            clauses: clauses.len() as u8,
        };
    }

    fn call(&mut self, caller: u32, callee: u32, place: (u32, u32), again: bool) -> Goal {
        self.calls += 1;
        let site = (!self.calls.is_multiple_of(WITHOUT_SITE)).then_some(place);
        let edge = self.edge(Some(caller), callee, site);
        Goal::Call { edge, again }
    }

    fn edge(&mut self, caller: Option<u32>, callee: u32, site: Option<(u32, u32)>) -> u32 {
        let sites = self.edges.iter().filter(|way| way.site.is_some()).count();
        let id = match site {
            None => callee,
            Some(_) => (self.predicates.len() + sites) as u32,
        };
        let way = Way {
            caller,
            callee,
            site,
            id,
        };
        let next = self.edges.len() as u32;
        let edge = *self.ids.entry(way).or_insert(next);
        if edge == next {
            self.edges.push(way);
        }
        edge
    }

    #[inline(always)]
    pub(super) fn goal(&self, at: u32) -> Goal {
        self.goals[at as usize]
    }

    /// Where the goals of a clause begin.
    #[inline(always)]
    pub(super) fn start(&self, clause: u32) -> u32 {
        self.clauses[clause as usize]
    }

    #[inline(always)]
    pub(super) fn callee(&self, edge: u32) -> u32 {
        self.edges[edge as usize].callee
    }

    /// What events name that call by an edge.
    #[inline(always)]
    pub(super) fn id(&self, edge: u32) -> u32 {
        self.edges[edge as usize].id
    }
}

impl Predicate {
    /// The first clause that a call tries, and how many there are after it to try. `left` is how
    /// often the recursion goes on, `index` decides about the choice of clauses.
    #[inline(always)]
    pub(super) fn select(&self, left: u32, index: u16) -> (u32, u8) {
        let indexed = u32::from(index) < self.fate.indexed;
        if self.fate.length > 0 {
            let at_end = u32::from(left == 0);
            return (self.first_clause + at_end, u8::from(left > 0 && !indexed));
        }
        if indexed {
            let clause = u32::from(index) % u32::from(self.clauses.max(1));
            return (self.first_clause + clause, 0);
        }
        (self.first_clause, self.clauses.saturating_sub(1))
    }
}
