"""The figures of a trace, by brute force: every stretch of time walks the whole active chain.

Boxes and events are those of tracer/FORMAT.md, "Meaning of events". A `Frame` is a physical box, a `Box` a
logical one: a last call adds a box to the frame of its caller.
"""

from collections import Counter, defaultdict

from roles import BETWEEN_PORTS, COLLECTOR, LOADING

ROOT = "<root>"
UNKNOWN = None  # id of the predicate of boxes that are not known

# How boxes stood at the end of a range.
ENDS = {"open", "pending", "left_pending"}

OUTCOMES = {"fail": "failed", "exception": "raised", "open": "open"}


class Box:
    def __init__(self, predicate, caller, site, entry):
        self.predicate = predicate
        self.caller = caller
        self.site = site
        self.exits = 0
        # Ticks of this activation: while the box was active; while it was the outermost of its predicate.
        self.own = 0
        self.outermost = 0
        # The clause that it is in, if one is known, and the ticks of work in the stream when it entered that.
        self.clause = None
        self.entry = entry
        self.exited = False
        self.counted = False


class Frame:
    def __init__(self, parent, base):
        self.parent = parent
        # Boxes that could be re-entered when it was called; whether it left a choicepoint of its own.
        self.base = base
        self.left = False
        self.boxes = []
        # Ticks of work, and of undone work, in the stream when the frame exited.
        self.work = 0
        self.undone = 0


class Figures:
    """Sums over all streams: counters by predicate, by (caller, callee), by site: (caller, callee, id of the site), and by
    clause: (predicate, id of the clause)."""

    def __init__(self, trace, window=None):
        part = trace.part and trace.part[:2]
        self.window = window or part or (0, 1 << 64)
        self.predicates = defaultdict(Counter)
        self.edges = defaultdict(Counter)
        self.sites = defaultdict(Counter)
        self.clauses = defaultdict(Counter)
        for stream in trace.streams:
            Replay(self, trace, stream).run()
        if part and not window:
            self.take(Figures(trace, (part[0], part[0])))

    def take(self, before):
        """Takes away what was counted before a range."""
        for table in ("predicates", "edges", "sites", "clauses"):
            for row, sums in getattr(before, table).items():
                for name in sums.keys() - ENDS:
                    getattr(self, table)[row][name] -= sums[name]


class Replay:
    def __init__(self, figures, trace, stream):
        self.figures = figures
        self.trace = trace
        self.stream = stream
        self.active = None
        self.choices = []
        self.lost = False
        self.paused = False
        self.work = 0
        self.undone = 0
        # Ticks in `work` that are no work of the program, and cannot be undone.
        self.left_out = 0
        # By the last port, what a redo throws away: undone or collected; or the port drove a loop.
        self.reason = None
        # That reason before so many boxes, inside one another, of what comes between two ports.
        self.held = None
        # By clause: stretches of work that came to nothing.
        self.vain = defaultdict(list)

    def run(self):
        events = list(self.trace.events(self.stream))
        ticks = [tick for _, _, tick in events]
        begin, until = self.figures.window
        near = lambda tick: min(max(tick, begin), until)
        now = near(min(ticks[:1] + ([self.stream.begin] if self.stream.begin is not None else []), default=0))
        last = self.stream.end[0] if self.stream.end else 0
        for name, argument, at in events:
            if at >= until:
                last = until
                break
            tick = near(at)
            if name == "gap":
                self.gap()
            else:
                self.pass_time(tick - now)
                port = getattr(self, name)
                if name == "redo":
                    self.collect()
                outermost = self.active and self.active.boxes[0]
                if name in ("call", "tail"):
                    port(*argument)
                elif name in ("cut", "mark", "clause"):
                    port(argument)
                else:
                    port()
                self.note_reason(name, argument, outermost)
            now = max(now, tick)
        self.pass_time(max(near(last) - now, 0))
        self.abandon()

    # why boxes are re-entered

    def has(self, predicate, roles):
        found = self.trace.predicates.get(predicate)
        return bool(found and found.roles & roles)

    def is_left_out(self, chain):
        return bool(chain) and self.has(chain[-1].predicate, BETWEEN_PORTS | LOADING)

    def collect(self):
        """A redo is next: whether what it throws away was collected."""
        if self.reason in (None, "drove"):
            is_collector = self.has(self.caller(), COLLECTOR)
            self.reason = "collected" if self.reason == "drove" or is_collector else "undone"

    def note_reason(self, port, argument, outermost):
        if port == "redo":
            self.held = None
        elif port == "call" and self.has(argument[0], BETWEEN_PORTS):
            reason, inside = self.held or (self.reason, 0)
            self.reason, self.held = None, (reason, inside + 1)
        elif port in ("call", "tail", "cut", "exception"):
            self.reason, self.held = None, None
        elif port == "fail":
            self.reason, self.held = "undone", None
        elif port in ("exit_det", "exit_nondet"):
            drives = outermost and outermost.site and outermost.site.then_fails
            drives = drives and not self.has(outermost.predicate, BETWEEN_PORTS)
            self.reason = "drove" if drives else None
            held, self.held = self.held, None
            if held and port == "exit_det":
                reason, inside = held
                if inside == 1:
                    self.reason = reason
                else:
                    self.reason, self.held = None, (reason, inside - 1)

    # the chain

    def chain(self):
        """The logical boxes on the active chain, outermost first."""
        frames = []
        frame = self.active
        while frame:
            frames.append(frame)
            frame = frame.parent
        return [box for frame in reversed(frames) for box in frame.boxes]

    def caller(self):
        """The predicate of the innermost logical box."""
        if self.active:
            return self.active.boxes[-1].predicate
        return UNKNOWN if self.lost else ROOT

    def pass_time(self, ticks):
        chain = self.chain()
        if self.paused or not ticks or not (chain or self.lost):
            return
        self.work += ticks
        self.left_out += ticks * self.is_left_out(chain)
        predicates = [box.predicate for box in chain]
        if self.lost:
            predicates.insert(0, UNKNOWN)
        self.predicate(predicates[-1])["self"] += ticks
        for row in {(box.predicate, box.clause) for box in chain}:
            self.figures.clauses[row]["inclusive"] += ticks
        if chain:
            self.in_clause(chain[-1])["self"] += ticks
            chain[-1].own += ticks
        else:
            self.predicate(UNKNOWN)["self_open"] += ticks
        self.edge(ROOT, predicates[0])["spent"] += ticks
        for predicate in set(predicates):
            self.predicate(predicate)["inclusive"] += ticks
            outermost = predicates.index(predicate)
            if self.lost and outermost == 0:
                self.predicate(UNKNOWN)["open_time"] += ticks
                caller = ROOT
            else:
                box = chain[outermost - self.lost]
                box.outermost += ticks
                caller = box.caller
            self.edge(caller, predicate)["served"] += ticks
            innermost = len(predicates) - 1 - predicates[::-1].index(predicate)
            if innermost + 1 < len(predicates):
                self.edge(predicate, predicates[innermost + 1])["spent"] += ticks
        goals = [(box.caller, box.predicate, box.site) for box in chain]
        if self.lost:
            goals.insert(0, (ROOT, UNKNOWN, None))
        met = set()
        for caller, predicate, site in goals:
            goal = (predicate, site and site.id)
            if goal not in met:
                met.add(goal)
                self.site(caller, predicate, site)["served"] += ticks

    def real_work(self):
        """Ticks so far that were work of the program."""
        return self.work - self.left_out

    def predicate(self, id):
        return self.figures.predicates[id]

    def edge(self, caller, callee):
        return self.figures.edges[caller, callee]

    def site(self, caller, callee, site):
        """Calls without a site are of the box that called, others of the predicate of the site's clause."""
        if site:
            return self.figures.sites[site.caller, callee, site.id]
        return self.figures.sites[caller, callee, None]

    def sums(self, box):
        """All counters of a box."""
        return (
            self.predicate(box.predicate),
            self.edge(box.caller, box.predicate),
            self.site(box.caller, box.predicate, box.site),
        )

    # events

    def call(self, predicate, site=None, tail=False):
        box = Box(predicate, self.caller(), site, self.real_work())
        if not tail:
            self.active = Frame(self.active, len(self.choices))
        self.active.boxes.append(box)
        for sums in self.sums(box):
            sums["calls"] += 1
            sums["tail_calls"] += tail

    def tail(self, predicate, site):
        self.some_active()
        self.count_entry(self.active.boxes[-1])
        self.call(predicate, site, tail=True)

    def some_active(self):
        """If no box is active, one was called before the gap."""
        if self.active is None:
            self.call(UNKNOWN)

    def exit_det(self):
        self.leave("exit_det")

    def exit_nondet(self):
        self.some_active()
        frame = self.active
        frame.left = len(self.choices) <= frame.base
        self.in_clause(frame.boxes[-1])["left"] += frame.left
        self.leave("exit_nondet")
        frame.work, frame.undone = self.real_work(), self.undone
        self.choices.append(frame)

    def fail(self):
        self.leave("fail")

    def exception(self):
        self.leave("exception")

    def leave(self, way):
        self.some_active()
        for box in reversed(self.active.boxes):
            self.leave_clause(box, way)
        for box in self.active.boxes:
            sums = self.predicate(box.predicate)
            for each in self.sums(box):
                each[way] += 1
                each["exits"] += way.startswith("exit")
            if way.startswith("exit"):
                sums["exits_again"] += box.exits > 0
                box.exits += 1
            elif way == "fail":
                sums["fails_dry"] += box.exits == 0
            if outcome := OUTCOMES.get(way):
                sums["self_" + outcome] += box.own
                sums[outcome + "_time"] += box.outermost
            box.own = box.outermost = 0
        self.active = self.active.parent

    def arguments(self):
        """What a call was made with changes nothing."""

    def table(self):
        """That a table is complete changes nothing."""

    def clause(self, id):
        if not self.active:
            return
        box, clause = self.active.boxes[-1], self.trace.clause(id)
        if clause and clause.predicate != box.predicate:
            return
        if box.counted:
            self.end_clause(box)
        box.clause, box.entry = clause and clause.id, self.real_work()
        box.exited = box.counted = False
        self.count_entry(box)

    def in_clause(self, box):
        return self.figures.clauses[box.predicate, box.clause]

    def count_entry(self, box):
        self.in_clause(box)["entered"] += not box.counted
        box.counted = True

    def end_clause(self, box):
        """The box goes on with its next clause, or fails."""
        sums = self.in_clause(box)
        if box.exited:
            sums["exhausted"] += 1
            return
        sums["failed"] += 1
        now = self.real_work()
        ticks = now - box.entry
        stretches = self.vain[box.predicate, box.clause]
        while stretches and stretches[-1][0] >= box.entry:
            begin, end = stretches.pop()
            ticks -= end - begin
        stretches.append((box.entry, now))
        sums["failed_time"] += ticks

    def leave_clause(self, box, way):
        self.count_entry(box)
        if way == "fail":
            self.end_clause(box)
        elif way.startswith("exit"):
            box.exited = True
            self.in_clause(box)["exits"] += 1
        else:
            self.in_clause(box)[way] += 1

    def redo(self):
        if not self.choices:
            self.call(UNKNOWN)
            self.exit_nondet()
        frame = self.reenter()
        if self.stream.dialect == 1:
            while self.choices and self.choices[-1].parent is frame:
                frame = self.reenter()

    def reenter(self):
        frame = self.choices.pop()
        frame.parent = self.active
        self.active = frame
        # All work since the exit is thrown away, less the work that redos in between have undone already.
        undone = (self.real_work() - frame.work) - (self.undone - frame.undone)
        self.undone += undone
        for sums in self.sums(frame.boxes[0]):
            sums["undone"] += undone * (self.reason != "collected")
        self.in_clause(frame.boxes[-1])["left_redos"] += frame.left
        frame.left = False
        for box in frame.boxes:
            self.in_clause(box)["redos"] += 1
            for sums in self.sums(box):
                sums["redos"] += 1
        return frame

    def cut(self, count):
        for _ in range(count):
            if not self.choices:
                self.call(UNKNOWN)
                self.exit_nondet()
            self.discard("cuts")

    def discard(self, way):
        frame = self.choices.pop()
        self.in_clause(frame.boxes[-1])["left_" + way] += frame.left
        for box in frame.boxes:
            for sums in self.sums(box):
                sums[way] += 1

    def pause(self):
        self.paused = True

    def resume(self):
        self.paused = False

    def mark(self, _text):
        pass

    def gap(self):
        self.reason, self.held = None, None
        self.abandon()
        self.paused = False
        self.lost = True

    def abandon(self):
        """Boxes on the chain stay open, those on the choice stack pending."""
        while self.active:
            self.leave("open")
        while self.choices:
            self.discard("pending")
