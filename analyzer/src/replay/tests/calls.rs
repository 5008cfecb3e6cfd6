//! The times of single calls are those of a model that keeps every box, and every stretch of time, to the end.

use std::collections::BTreeMap;

use portmortem_tracer::format::{Dialect, Event};
use proptest::prelude::*;

use super::chains::in_focus;
use super::{Script, files, kind, parallel, parts};
use crate::calls::figures::{BINS, Bins, CallFigures, SLOWEST, SlowCall, bin_begin_ns};
use crate::calls::growth::CallGrowth;
use crate::calls::pass::Timer;
use crate::calls::{CallLedger, Calls, Goal};
use crate::figures::Caller;
use crate::figures::profile::Profile;
use crate::replay::ReplayOptions;
use crate::scope::Scope;
use crate::trace::BoxKind;

/// A logical box.
#[derive(Debug, Clone)]
struct Logical {
    goal: Goal,
    stream: u32,
    event: u64,
    tick: u64,
    /// It was called in the window.
    is_inside: bool,
    /// Its chain of last calls had called the predicate before.
    is_departed: bool,
    is_outermost: bool,
    /// Stretches of time before its call, and before its first way out.
    begin: usize,
    end: Option<usize>,
    /// Redos in the window.
    redos: u64,
}

/// A physical box: the predicates of its chain, and the visible ones of its logical boxes.
struct Frame {
    parent: Option<usize>,
    predicates: Vec<u32>,
    visible: Vec<usize>,
}

/// The boxes of a stream; and the ticks of its stretches, each with whether the engine had it for itself.
type Run = (Vec<Logical>, Vec<(u64, bool)>);

/// A stream of a script.
struct Model<'m> {
    script: &'m Script,
    stream: u32,
    frames: Vec<Frame>,
    active: Option<usize>,
    choices: Vec<usize>,
    boxes: Vec<Logical>,
    /// Ticks of each stretch, and whether the engine had them for itself.
    stretches: Vec<(u64, bool)>,
    paused: bool,
    lost: bool,
    is_inside: bool,
}

impl Model<'_> {
    fn run(mut self) -> Run {
        let events = &self.script.streams[self.stream as usize - 1];
        let nearest = |tick| {
            self.script
                .window
                .map_or(tick, |window| window.nearest(tick))
        };
        let mut last = events.first().map_or(0, |&(_, tick)| nearest(tick));
        for (&(event, tick), number) in self.script.until_over(events).iter().zip(0..) {
            let stretch = nearest(tick) - last;
            last = nearest(tick);
            if !self.paused && !matches!(event, Event::Gap { .. }) {
                let is_engine = self.chain().into_iter().any(|of| self.is_engine(of));
                self.stretches.push((stretch, is_engine));
            }
            self.is_inside = self.script.window.is_none_or(|window| tick >= window.from);
            self.happen(event, number, tick);
        }
        (self.boxes, self.stretches)
    }

    fn is_engine(&self, predicate: u32) -> bool {
        predicate < self.script.hidden.len() as u32
            && !matches!(kind(predicate), BoxKind::Call { .. })
    }

    fn active_frames(&self) -> Vec<usize> {
        let mut frames: Vec<usize> =
            std::iter::successors(self.active, |&at| self.frames[at].parent).collect();
        frames.reverse();
        frames
    }

    /// What all boxes on the active chain run.
    fn chain(&self) -> Vec<u32> {
        let frames = self.active_frames().into_iter();
        frames
            .flat_map(|at| self.frames[at].predicates.clone())
            .collect()
    }

    fn visible(&self) -> Vec<usize> {
        let frames = self.active_frames().into_iter();
        frames
            .flat_map(|at| self.frames[at].visible.clone())
            .collect()
    }

    fn active_or_unknown(&mut self) -> usize {
        if self.active.is_none() {
            self.push();
            let unknown = self.script.hidden.len() as u32;
            self.frames.last_mut().unwrap().predicates.push(unknown);
        }
        self.active.unwrap()
    }

    fn push(&mut self) {
        self.frames.push(Frame {
            parent: self.active,
            predicates: Vec::new(),
            visible: Vec::new(),
        });
        self.active = Some(self.frames.len() - 1);
    }

    fn open(&mut self, callable: u32, event: u64, tick: u64) {
        let (callee, site) = self.script.callee(callable);
        let frame = self.active.unwrap();
        let visible = self.visible();
        self.frames[frame].predicates.push(callee);
        let hidden = |of: u32| self.script.hidden.get(of as usize) == Some(&true);
        if hidden(callee) || !in_focus(&self.chain(), &self.script.places, hidden) {
            return;
        }
        let unknown = self.lost.then_some(self.script.hidden.len() as u32);
        let by = visible
            .last()
            .map(|&at| self.boxes[at].goal.callee)
            .or(unknown);
        let caller = match site {
            Some(site) => Some(caller_of(self.script, site)),
            None => by,
        };
        let runs = |&&at: &&usize| self.boxes[at].goal.callee == callee;
        let is_departed = self.frames[frame].visible.iter().any(|at| runs(&at));
        let logical = Logical {
            goal: Goal {
                callee,
                caller: caller.map_or(Caller::Root, Caller::Predicate),
                site,
            },
            stream: self.stream,
            event,
            tick,
            is_inside: self.is_inside,
            is_departed,
            is_outermost: visible.iter().filter(runs).count() == 0 && !self.is_engine(callee),
            begin: self.stretches.len(),
            end: None,
            redos: 0,
        };
        self.frames[frame].visible.push(self.boxes.len());
        self.boxes.push(logical);
    }

    fn happen(&mut self, event: Event, number: u64, tick: u64) {
        match event {
            Event::Call { predicate } => {
                self.push();
                self.open(predicate, number, tick);
            }
            Event::Tail { predicate } => {
                self.active_or_unknown();
                self.open(predicate, number, tick);
            }
            Event::ExitDet | Event::ExitNondet | Event::Fail | Event::Exception => {
                let frame = self.active_or_unknown();
                for &at in &self.frames[frame].visible {
                    self.boxes[at].end.get_or_insert(self.stretches.len());
                }
                self.active = self.frames[frame].parent;
                if event == Event::ExitNondet {
                    self.choices.push(frame);
                }
            }
            Event::Redo => self.redo(),
            Event::Cut { count } => {
                let left = self.choices.len().saturating_sub(count as usize);
                self.choices.truncate(left);
            }
            Event::Gap { .. } => {
                (self.active, self.lost, self.paused) = (None, true, false);
                self.choices.clear();
            }
            Event::Pause => self.paused = true,
            Event::Resume => self.paused = false,
            _ => {}
        }
    }

    fn redo(&mut self) {
        let Some(frame) = self.choices.pop() else {
            self.push();
            let unknown = self.script.hidden.len() as u32;
            self.frames.last_mut().unwrap().predicates.push(unknown);
            return;
        };
        self.enter(frame);
        if self.script.dialect == Dialect::InnermostRedo {
            while let Some(&top) = self.choices.last()
                && self.frames[top].parent == self.active
            {
                self.choices.pop();
                self.enter(top);
            }
        }
    }

    fn enter(&mut self, frame: usize) {
        self.frames[frame].parent = self.active;
        self.active = Some(frame);
        for &at in &self.frames[frame].visible {
            self.boxes[at].redos += u64::from(self.is_inside);
        }
    }
}

fn caller_of(script: &Script, site: u32) -> u32 {
    site % 3 % script.hidden.len() as u32
}

/// Figures of some boxes, in the order in which they were called; each stream with its stretches.
fn figures(boxes: &[&Logical], streams: &[Run]) -> CallFigures {
    let inside = || boxes.iter().filter(|one| one.is_inside);
    let timed = || inside().filter(|one| !one.is_departed && one.end.is_some());
    let took = |one: &Logical, own: bool| -> u64 {
        let all = &streams[one.stream as usize - 1].1[one.begin..one.end.unwrap()];
        let counts = all.iter().filter(|(_, is_engine)| !own || !is_engine);
        counts.map(|(ticks, _)| ticks).sum()
    };
    let mut slowest: Vec<SlowCall> = timed()
        .map(|one| SlowCall {
            ticks: took(one, false),
            stream: one.stream,
            event: one.event,
            tick: one.tick,
            caller: one.goal.caller,
            site: one.goal.site,
        })
        .collect();
    let times: Vec<u64> = slowest.iter().map(|call| call.ticks).collect();
    slowest.sort_by_key(|call| (call.stream, call.event));
    slowest.sort_by_key(|call| u64::MAX - call.ticks);
    slowest.truncate(SLOWEST);
    let mut histogram = [0; BINS];
    for (bin, calls) in histogram.iter_mut().enumerate() {
        let is_in = |ticks: u64| {
            ticks >= bin_begin_ns(bin) && (bin + 1 == BINS || ticks < bin_begin_ns(bin + 1))
        };
        *calls = times.iter().filter(|&&ticks| is_in(ticks)).count() as u64;
    }
    let mut growth = CallGrowth::default();
    for stream in 1..=streams.len() as u32 {
        let outermost = inside().filter(|one| one.is_outermost && one.stream == stream);
        for (one, ordinal) in outermost.zip(0..) {
            if one.end.is_some() {
                growth.add(ordinal, took(one, true));
            }
        }
    }
    CallFigures {
        calls: inside().count() as u64,
        timed: times.len() as u64,
        departed: inside().filter(|one| one.is_departed).count() as u64,
        open: inside()
            .filter(|one| !one.is_departed && one.end.is_none())
            .count() as u64,
        redos: boxes.iter().map(|one| one.redos).sum(),
        ticks: times.iter().map(|&ticks| u128::from(ticks)).sum(),
        histogram,
        slowest,
        growth,
    }
}

/// Figures by predicate and by goal.
type Figures = (BTreeMap<u32, CallFigures>, BTreeMap<Goal, CallFigures>);

fn model(script: &Script) -> Figures {
    let streams: Vec<_> = (1..=script.streams.len() as u32)
        .map(|stream| {
            let model = Model {
                script,
                stream,
                frames: Vec::new(),
                active: None,
                choices: Vec::new(),
                boxes: Vec::new(),
                stretches: Vec::new(),
                paused: false,
                lost: false,
                is_inside: false,
            };
            model.run()
        })
        .collect();
    let boxes = || streams.iter().flat_map(|(boxes, _)| boxes);
    let mut predicates: BTreeMap<u32, Vec<&Logical>> = BTreeMap::new();
    let mut goals: BTreeMap<Goal, Vec<&Logical>> = BTreeMap::new();
    for one in boxes() {
        predicates.entry(one.goal.callee).or_default().push(one);
        goals.entry(one.goal).or_default().push(one);
    }
    let used = |figures: &CallFigures| *figures != CallFigures::default();
    let figures = |boxes: Vec<&Logical>| figures(&boxes, &streams);
    (
        predicates
            .into_iter()
            .map(|(of, boxes)| (of, figures(boxes)))
            .filter(|(_, figures)| used(figures))
            .collect(),
        goals
            .into_iter()
            .map(|(of, boxes)| (of, figures(boxes)))
            .filter(|(_, figures)| used(figures))
            .collect(),
    )
}

fn comparable(calls: &Calls) -> Figures {
    let owned = |(&goal, figures): (&Goal, &CallFigures)| (goal, figures.clone());
    (
        calls
            .predicates()
            .map(|(of, figures)| (of, figures.clone()))
            .collect(),
        calls.goals().map(owned).collect(),
    )
}

/// The calls of a script, some streams at a time; a tick is a nanosecond.
fn fast(script: &Script, scope: &Scope, at_a_time: usize) -> Calls {
    let bins = Bins::by(|ticks| ticks);
    let callers: Vec<u32> = (0..script.callees().len() as u32)
        .map(|site| caller_of(script, site))
        .collect();
    let streams: Vec<u32> = (1..=script.streams.len() as u32).collect();
    let parts = streams.chunks(at_a_time).map(|streams| {
        let ledger = CallLedger::new(scope, &bins, &callers, script.hidden.len() as u32);
        let mut timer = Timer::new(ledger);
        for &stream in streams {
            script.tell(&mut timer, scope, stream);
        }
        timer.into_books().into_calls()
    });
    parts.fold(Calls::default(), Calls::and)
}

/// What holds for any calls, and between them and the profile of the same part of a trace.
fn check_laws(calls: &Calls, profile: &Profile, unknown: u32) -> Result<(), TestCaseError> {
    let rows = calls.predicates().map(|(_, figures)| figures);
    for figures in rows.chain(calls.goals().map(|(_, figures)| figures)) {
        let ends = figures.timed + figures.departed + figures.open;
        prop_assert_eq!(figures.calls, ends);
        prop_assert_eq!(figures.histogram.iter().sum::<u64>(), figures.timed);
        prop_assert!(figures.mean_ticks() <= figures.max_ticks());
        prop_assert_eq!(
            figures.slowest.len() as u64,
            figures.timed.min(SLOWEST as u64)
        );
    }
    for (predicate, figures) in calls.predicates().filter(|&(of, _)| of != unknown) {
        let counted = &profile.predicates[predicate as usize];
        prop_assert_eq!(figures.calls, counted.calls);
        prop_assert_eq!(figures.redos, counted.redos);
        let sum = |part: fn(&CallFigures) -> u64| -> u64 {
            calls
                .goals_of(predicate)
                .map(|(_, figures)| part(figures))
                .sum()
        };
        prop_assert_eq!(figures.calls, sum(|goal| goal.calls));
        prop_assert_eq!(figures.timed, sum(|goal| goal.timed));
        prop_assert_eq!(figures.departed, sum(|goal| goal.departed));
        prop_assert_eq!(figures.redos, sum(|goal| goal.redos));
        let ticks: u128 = calls.goals_of(predicate).map(|(_, goal)| goal.ticks).sum();
        prop_assert_eq!(figures.ticks, ticks);
    }
    for (&(_, callee, site), counted) in &profile.sites {
        let figures = calls.goals_of(callee);
        let figures = figures.filter(|(goal, _)| goal.site == site && site.is_some());
        for (_, figures) in figures {
            let rows = profile.sites.iter();
            let rows = rows.filter(|((_, _, other), _)| *other == site);
            let all: u64 = rows.map(|(_, row)| row.calls).sum();
            prop_assert_eq!(figures.calls, all);
            prop_assert!(counted.calls <= all);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn calls_are_those_of_the_model(script in parts::script(false), at_a_time in 1..4usize) {
        let calls = fast(&script, &script.scope(), at_a_time);
        prop_assert_eq!(comparable(&calls), model(&script));
        let profile = parts::in_window(&script, |script| script.replay().0);
        check_laws(&calls, &profile, script.hidden.len() as u32)?;
    }

    #[test]
    fn calls_in_damaged_streams_are_those_of_the_model(mut script in parts::script(true)) {
        // After a gap it is not known what is on the way to a focus.
        script.places.clear();
        let calls = fast(&script, &script.scope(), usize::MAX);
        prop_assert_eq!(comparable(&calls), model(&script));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn files_have_the_calls_of_their_script(script in parallel::long()) {
        let trace = files::trace(files::record(&script));
        let scope = ReplayOptions::default().scope(&trace);
        let (predicates, goals) = model(&script);
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let (mut of_file, mut of_goals) = comparable(&pool.install(|| Calls::of(&trace, &scope)));
            // A tick of the trace is no nanosecond.
            for figures in of_file.values_mut() {
                prop_assert_eq!(figures.histogram.iter().sum::<u64>(), figures.timed);
                figures.histogram = [0; BINS];
            }
            of_goals.values_mut().for_each(|figures| figures.histogram = [0; BINS]);
            let plain = |figures: &CallFigures| CallFigures { histogram: [0; BINS], ..figures.clone() };
            let expected: BTreeMap<_, _> = predicates.iter().map(|(&of, f)| (of, plain(f))).collect();
            prop_assert_eq!(&of_file, &expected);
            let expected: BTreeMap<_, _> = goals.iter().map(|(&of, f)| (of, plain(f))).collect();
            prop_assert_eq!(&of_goals, &expected);
        }
    }
}
