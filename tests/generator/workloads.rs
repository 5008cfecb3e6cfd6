//! The programs of the named workloads. All but `mixed` are a few predicates with one habit.

use super::program::{Fate, Program, Say};
use super::random::Random;

/// Of 65536.
const ALWAYS: u32 = 1 << 16;

/// A predicate that succeeds once.
fn det() -> Fate {
    Fate {
        indexed: ALWAYS,
        ..Fate::default()
    }
}

/// One that fails so often, of 100 calls.
fn test(fails: u32) -> Fate {
    Fate {
        fails: percent(fails),
        ..det()
    }
}

/// One of several clauses, that leaves a choice of them so often, of 100 calls.
fn choosing(leaves: u32) -> Fate {
    Fate {
        indexed: percent(100 - leaves),
        ..Fate::default()
    }
}

/// One that recurses so often, or up to `spread - 1` times less.
fn recursive(length: u32, spread: u32) -> Fate {
    Fate {
        length,
        spread,
        ..det()
    }
}

fn percent(of_100: u32) -> u32 {
    of_100 * ALWAYS / 100
}

fn facts(count: u32) -> Vec<Vec<Say>> {
    vec![Vec::new(); count as usize]
}

/// `main :- p1.  p1 :- p2, true.  p2 :- p3, true.  …`, so deep, then all exit. Predicates call one
/// another in a circle.
pub(super) fn deep(predicates: u32, depth: u32) -> Program {
    let circle = predicates.max(2) - 1;
    let mut program = Program::new(circle + 1);
    program.define(0, det(), &[vec![Say::Call(1)]]);
    for at in 0..circle {
        let next = 1 + (at + 1) % circle;
        let clauses = [vec![Say::Again(next)], Vec::new()];
        program.define(1 + at, recursive(depth.saturating_sub(2), 1), &clauses);
    }
    program
}

/// Two predicates at each depth, each of which calls both of the next: every path there is, which are two to the power of the
/// depth.
pub(super) fn contexts(predicates: u32) -> Program {
    let levels = (predicates.max(3) - 1) / 2;
    let mut program = Program::new(1 + 2 * levels);
    let both = |level: u32| vec![Say::Call(1 + 2 * level), Say::Call(2 + 2 * level)];
    program.define(0, det(), &[both(0)]);
    for level in 0..levels {
        let body = if level + 1 < levels {
            both(level + 1)
        } else {
            Vec::new()
        };
        for predicate in [1 + 2 * level, 2 + 2 * level] {
            program.define(predicate, det(), std::slice::from_ref(&body));
        }
    }
    program
}

/// Loops by last calls: some call themselves, some each other, with a few calls in each round; and
/// generators that have one more solution each time they are asked, by a last call.
pub(super) fn tails(predicates: u32, length: u32) -> Program {
    const LEAVES: u32 = 4;
    /// Predicates of the longest circle.
    const LONGEST: u32 = 7;
    let loops = predicates.max(LEAVES + 3) - LEAVES - 1;
    let mut program = Program::new(LEAVES + 1 + loops);
    program.last_calls = true;
    let first = LEAVES + 1;
    let starts: Vec<u32> = circles(loops, LONGEST).collect();
    // Asks the generator for solutions until one is good enough, then runs a loop, and so on.
    let goals = |&at| [Say::Call(3), Say::Call(4), Say::Cut, Say::Call(first + at)];
    let body = starts.iter().flat_map(goals).collect();
    program.define(0, det(), &[body]);
    program.define(1, det(), &facts(1));
    program.define(2, det(), &facts(3));
    program.define(3, choosing(100), &[Vec::new(), vec![Say::Call(3)]]);
    program.define(4, test(99), &facts(1));
    for (circle, &start) in starts.iter().enumerate() {
        let end = starts.get(circle + 1).copied().unwrap_or(loops);
        let length = length / [1, 10, 100][circle % 3];
        for at in start..end {
            let next = if at + 1 < end { at + 1 } else { start };
            let mut body = vec![Say::Call(1 + at % 2); circle % 4];
            body.push(Say::Again(first + next));
            let clauses = [body, vec![Say::Call(1)]];
            program.define(first + at, recursive(length, length / 2), &clauses);
        }
    }
    program
}

/// Where circles of 1, 2, 3, …, `longest`, 1, 2, … begin, so many predicates in all.
fn circles(predicates: u32, longest: u32) -> impl Iterator<Item = u32> {
    let mut at = 0;
    let mut length = 0;
    std::iter::from_fn(move || {
        let start = at;
        length = length % longest + 1;
        at += length;
        (start < predicates).then_some(start)
    })
}

/// Searches: choose, test and go on, deeper and deeper, back at the first test that fails.
pub(super) fn backtrack(predicates: u32, random: &mut Random) -> Program {
    /// Of a search: its recursion, what it chooses from, two tests.
    const PART: u32 = 4;
    let searches = (predicates.max(PART + 1) - 1) / PART;
    let mut program = Program::new(1 + searches * PART);
    let clauses: Vec<Vec<Say>> = (0..searches)
        .map(|search| {
            let mut body = vec![Say::Call(1 + search * PART)];
            if search % 2 == 0 {
                // The first solution will do; else the toplevel decides.
                body.push(Say::Cut);
            }
            body
        })
        .collect();
    program.define(0, choosing(20), &clauses[..clauses.len().min(255)]);
    for search in 0..searches {
        let first = 1 + search * PART;
        let goals = [1, 2, 3].map(|at| Say::Call(first + at));
        let mut body = goals.to_vec();
        if search % 3 == 1 {
            body.insert(2, Say::Cut);
        }
        body.push(Say::Again(first));
        let length = 6 + random.below(16);
        program.define(first, recursive(length, length / 2), &[body, Vec::new()]);
        program.define(first + 1, choosing(90), &facts(3 + random.below(6)));
        program.define(first + 2, test(50), &facts(1));
        program.define(first + 3, test(40), &facts(2));
    }
    program
}

/// How many predicates of `mixed` call nothing.
fn leaves_of(predicates: u32) -> u32 {
    predicates / 3
}

/// Like a program as people write them: a tree of predicates, each calling a few, half of
/// them recursive, some mutually; many small ones at the bottom that all use. Almost all contexts are
/// those of the tree, so their number is in proportion to the predicates.
pub(super) fn mixed(predicates: u32, random: &mut Random) -> Program {
    let predicates = predicates.max(12);
    let leaves = leaves_of(predicates);
    let mut program = Program::new(predicates);
    program.last_calls = true;
    program.exceptions = true;
    for leaf in 0..leaves {
        match leaf % 8 {
            1 => program.define(1 + leaf, test(20 + random.below(30)), &facts(1)),
            2 | 5 => program.define(1 + leaf, choosing(40), &facts(2 + random.below(4))),
            _ => program.define(1 + leaf, det(), &facts(1)),
        }
    }
    Tree::new(predicates - leaves, leaves).define(&mut program, random);
    program
}

/// The predicates of `mixed` that call others, numbered as a heap of `FAN` below each.
struct Tree {
    nodes: u32,
    leaves: u32,
    /// Nodes below each, itself included.
    sizes: Vec<u32>,
    /// Events that a call of each may cost.
    budgets: Vec<u32>,
    /// Which one each recurses into, if not itself.
    partners: Vec<Option<u32>>,
}

const FAN: u32 = 3;

/// A run of the whole program takes about so many events, so that small traces have all of it.
const EVENTS_PER_RUN: u32 = 60_000;

/// A call of a node takes about so many events without its recursion and the nodes below.
const EVENTS_PER_NODE: u32 = 10;

/// The longest recursion.
const LONGEST: u32 = 64;

impl Tree {
    fn new(nodes: u32, leaves: u32) -> Self {
        let mut sizes = vec![1; nodes as usize];
        for node in (1..nodes).rev() {
            sizes[((node - 1) / FAN) as usize] += sizes[node as usize];
        }
        Self {
            nodes,
            leaves,
            sizes,
            budgets: vec![EVENTS_PER_RUN; nodes as usize],
            partners: vec![None; nodes as usize],
        }
    }

    fn define(&mut self, program: &mut Program, random: &mut Random) {
        for node in 0..self.nodes {
            let below: Vec<u32> = (FAN * node + 1..=FAN * node + FAN)
                .filter(|&below| below < self.nodes)
                .collect();
            let (fate, clauses) = match random.below(8) {
                _ if node == 0 => self.main(&below, random),
                _ if self.partners[node as usize].is_some() => self.recursive(node, &below, random),
                0..2 => self.descending(node, &below, random),
                2..5 => self.recursive(node, &below, random),
                _ => self.plain(node, &below, random),
            };
            let catches = random.chance(1, 8);
            program.define(self.id(node), Fate { catches, ..fate }, &clauses);
        }
    }

    /// Those that many call have low ids, which take fewer bytes: leaves first, then shared nodes.
    fn id(&self, node: u32) -> u32 {
        let first_shared = self.first_shared();
        match node {
            0 => 0,
            _ if node >= first_shared => 1 + self.leaves + node - first_shared,
            _ => self.leaves + self.nodes - first_shared + node,
        }
    }

    fn leaf(&self, random: &mut Random) -> Say {
        Say::Call(1 + random.below(self.leaves))
    }

    /// Calls of the nodes below, and of leaves in between.
    fn body(&self, node: u32, below: &[u32], random: &mut Random) -> Vec<Say> {
        let mut body = Vec::new();
        if random.chance(1, 2) {
            body.push(self.leaf(random));
            if random.chance(2, 3) {
                body.push(Say::Cut);
            }
        }
        for &below in below {
            body.push(Say::Call(self.id(below)));
            if random.chance(1, 3) {
                body.push(self.leaf(random));
            }
        }
        if below.is_empty() {
            body.push(self.leaf(random));
        }
        if node < self.first_shared() && random.chance(1, 3) {
            body.push(Say::Call(self.shared(random)));
        }
        match random.below(8) {
            0..3 => body.push(Say::Builtin),
            3 => body.push(Say::Cut),
            _ => {}
        }
        body
    }

    /// The last nodes have none below and do not recurse into their callers, so all may call them.
    fn first_shared(&self) -> u32 {
        self.nodes - self.nodes / 3
    }

    fn shared(&self, random: &mut Random) -> u32 {
        self.id(self.first_shared() + random.below(self.nodes / 3))
    }

    /// Each run is of one of the nodes below.
    fn main(&mut self, below: &[u32], random: &mut Random) -> (Fate, Vec<Vec<Say>>) {
        self.give(below, EVENTS_PER_RUN);
        let clauses = below.iter().map(|&node| self.body(0, &[node], random));
        (det(), clauses.collect())
    }

    /// One clause for each node below, or so.
    fn plain(&mut self, node: u32, below: &[u32], random: &mut Random) -> (Fate, Vec<Vec<Say>>) {
        let mut clauses: Vec<Vec<Say>> = below
            .iter()
            .map(|&below| self.body(node, &[below], random))
            .collect();
        clauses.push(self.body(node, &[], random));
        let budget = self.budgets[node as usize];
        self.give(below, budget);
        (choosing(35), clauses)
    }

    /// The nodes below are called in each round, so it is the longer the less they cost.
    fn recursive(
        &mut self,
        node: u32,
        below: &[u32],
        random: &mut Random,
    ) -> (Fate, Vec<Vec<Say>>) {
        let enough = self.sizes[node as usize] * EVENTS_PER_NODE;
        let most = (self.budgets[node as usize] / enough).clamp(1, LONGEST);
        let length = 1 + random.below(most);
        let mut into = self.partners[node as usize].unwrap_or(node);
        let mut others = below;
        if into == node
            && random.chance(1, 4)
            && let [partner, rest @ ..] = below
            && *partner < self.first_shared()
        {
            self.partners[*partner as usize] = Some(node);
            into = *partner;
            others = rest;
        }
        let mut body = self.body(node, others, random);
        body.push(Say::Again(self.id(into)));
        // Most of them have something left to do, so that their frames stay.
        if random.chance(2, 3) {
            body.push(Say::Builtin);
        }
        let base = self.body(node, &[], random);
        self.give(below, self.budgets[node as usize] / length);
        let fate = Fate {
            indexed: choosing(5).indexed,
            ..recursive(length, 1 + length / 2)
        };
        (fate, vec![body, base])
    }

    /// Goes down before it does anything, as one does in a term.
    fn descending(
        &mut self,
        node: u32,
        below: &[u32],
        random: &mut Random,
    ) -> (Fate, Vec<Vec<Say>>) {
        let length = 1 + random.below(LONGEST / 2);
        let body = vec![Say::Again(self.id(node)), Say::Builtin];
        let base = self.body(node, below, random);
        self.give(below, self.budgets[node as usize]);
        (recursive(length, 1 + length / 2), vec![body, base])
    }

    /// Divides a budget.
    fn give(&mut self, below: &[u32], budget: u32) {
        for &node in below {
            self.budgets[node as usize] = budget / below.len() as u32;
        }
    }
}
