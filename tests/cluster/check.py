"""Runs tools/spark/export_job.py on a local cluster of a master and two workers and compares every figure with the export of
one machine, also when a worker dies in the middle, a trace is damaged, portmortem is killed, or a task runs twice at once.

Exit status 0 only if everything was checked and equal. Nothing is left running in any case."""

import argparse, contextlib, csv, io, os, shutil, signal, subprocess, sys, tempfile
from pathlib import Path

from cluster import Cluster, wait_until
from compare import KEYS, Comparison

ROOT = Path(__file__).resolve().parents[2]
JOB, HOOK = ROOT / "tools/spark/export_job.py", ROOT / "tests/cluster/hook"
SAMPLES = sorted((ROOT / "traces").glob("*.pmt"))
NAMES_TO_TRY = ["a b", "100%", "x=y&z", "2024", "007", "Größe", "one/run", "two/run", "[1]", "'quoted'"]


class Failure(Exception):
    """A check that failed."""


def check(holds, what):
    print(f"  {'ok' if holds else 'NOT OK'}: {what}", flush=True)
    if not holds:
        raise Failure(what)


class Test:
    def __init__(self, cluster, args):
        self.cluster, self.work, self.portmortem, self.tables = cluster, cluster.work, cluster.portmortem, args.tables

    def copies(self, directory, names):
        """The samples in turn under other names."""
        paths = [self.work / directory / f"{name}.pmt" for name in names]
        for index, path in enumerate(paths):
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SAMPLES[index % len(SAMPLES)], path)
        return paths

    def submit(self, name, traces, disturb, *options, **settings):
        control = self.work / f"{name}.control"
        control.mkdir()
        (self.work / f"{name}.list").write_text("\n".join(map(str, traces)))
        settings |= {"executorEnv_CONTROL": str(control), "executorEnv_DISTURB": disturb}
        arguments = [JOB, "--from", self.work / f"{name}.list", "--to", self.work / name, "--portmortem", HOOK]
        arguments += ["--tables", self.tables, *options]
        return self.cluster.submit(name, arguments, **settings), control

    def finish(self, name, job, expected):
        status = job.wait(timeout=600)
        if status != expected:
            print((self.work / f"{name}.log").read_text(errors="replace")[-3000:], file=sys.stderr)
        check(status == expected, f"the job ended with status {status}")
        check(not (self.work / name / ".tasks").exists(), "no directory of a task is left")
        return (self.work / f"{name}.out").read_text()

    def single(self, name, traces, expected=0):
        """The export of the same traces on one machine, in one run."""
        command = [self.portmortem, "export", *traces, "--to", self.work / name, "--format", "parquet", "--tables", self.tables]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        check(done.returncode == expected, f"export on one machine ended with status {done.returncode} {done.stderr.strip()[:300]}")

    def compare(self, cluster, single, traces):
        print(f"  {'table':<13}{'':<34}{'cluster':>20}{'one machine':>20}")
        for table in self.tables.split(","):
            comparison = Comparison(table, self.work / cluster, self.work / single)
            check(not comparison.differences, f"{table}: every figure is equal {'; '.join(comparison.differences[:3])}")
            check(comparison.sums["rows"] > 0 and comparison.sums["traces"] <= traces, "there was something to compare")
            if table in ("predicates", "edges"):
                check(comparison.sums["traces"] == traces, f"each of the {traces} traces has rows")
                zero = [f for f in ("calls", "redos", "fails") if not comparison.sums[f"sum of {f}"]]
                check(not zero, "the sums of calls, redos and fails are not 0")

    def statuses(self, name):
        with open(self.work / name / "traces.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        return {Path(row["path"]).name: row["status"] for row in rows}

    def a_worker_dies(self):
        traces = self.copies("many", [f"{sample.stem}-{n}" for n in range(6) for sample in SAMPLES] + NAMES_TO_TRY)
        job, control = self.submit("dies", traces, "hold", "--slices", "14")
        holding = {name: control / f"holding-{name}" for name in ("worker-1", "worker-2")}
        wait_until("both workers are in the middle", lambda: job.poll() is not None or all(map(Path.exists, holding.values())))
        check(job.poll() is None, "the job is running")
        runs = [line.split(" ", 2) for line in (control / "journal").read_text().splitlines()]
        finished = {name: {a for w, a, _ in runs if w == name} - {holding[name].read_text().strip()} for name in holding}
        check(all(len(tasks) == 2 for tasks in finished.values()), "both workers have finished two tasks and are in their third")
        begun = {trace for _, _, trace in runs}
        check(len(traces) - len(begun) > 0, f"{len(begun)} of {len(traces)} traces have been begun, {len(traces) - len(begun)} not")
        lost = holding["worker-2"].read_text().strip()
        written = {path.parent.name for path in (self.work / "dies/.tasks").glob(f"{lost}-*/*/*/*.parquet")}
        published = {path.parent.name for path in (self.work / "dies").glob("*/*/*.parquet")}
        check(len(written) == 1 and not written & published, f"worker-2 has written {written}, not yet published")
        killed = self.cluster.kill("worker-2")
        check(any(str(HOOK) in command for command in killed.values()), f"worker-2 killed in the middle of it: {len(killed)} processes")
        (control / "release").touch()
        print(self.finish("dies", job, 0))
        log = (self.work / "dies.log").read_text(errors="replace")
        check("ExecutorLostFailure" in log or "Lost executor" in log, "Spark lost an executor")
        again = [line.split(" ", 2) for line in (control / "journal").read_text().splitlines()]
        of_lost = {trace for _, attempt, trace in runs if attempt == lost}
        redone = {trace for worker, attempt, trace in again if attempt != lost and worker == "worker-1"}
        check(of_lost and of_lost <= redone, f"worker-1 did the {len(of_lost)} traces again that worker-2 had begun in its last task")
        self.single("dies-single", traces)
        self.compare("dies", "dies-single", len(traces))
        self.single("one-less", [path for path in traces if not path.stem.endswith("-0")])
        with contextlib.redirect_stdout(io.StringIO()):
            found = [len(Comparison(table, self.work / "dies", self.work / "one-less").differences) for table in self.tables.split(",")]
        check(all(found), f"the comparison notices in every table when some traces are left out: {sum(found)} differences")

    def traces_are_damaged(self):
        traces = self.copies("some", [sample.stem for sample in SAMPLES] + ["damaged", "cut", "dies-once", "dies-always"])
        damaged, cut, _, dies_always = traces[-4:]
        queens = (ROOT / "traces/queens.pmt").read_bytes()
        middle = len(queens) // 3
        damaged.write_bytes(queens[:middle] + bytes(byte ^ 0xFF for byte in queens[middle : middle + 64]) + queens[middle + 64 :])
        cut.write_bytes(queens[:20])
        missing = self.work / "some/missing.pmt"
        job, control = self.submit("damaged", [*traces, missing], "die")
        said = self.finish("damaged", job, 3)
        print(said[said.rindex("\n\n") :])
        check((control / "died").exists(), "portmortem was killed once for dies-once.pmt")
        expected = {path.name: "whole" for path in traces} | {"damaged.pmt": "damaged"}
        expected |= {"cut.pmt": "failed", "dies-always.pmt": "failed", "missing.pmt": "failed"}
        check(self.statuses("damaged") == expected, f"traces.csv has {len(expected)} traces, 1 damaged and 3 failed")
        for path in (damaged, cut, dies_always, missing):
            check(f"\n{expected[path.name]}: {path}\n" in said, f"listed: {expected[path.name]}: {path.name}")
        readable = [path for path in traces if path not in (cut, dies_always)]
        self.single("damaged-single", [*readable, cut, missing], 3)
        self.compare("damaged", "damaged-single", len(readable))

    def a_task_runs_twice(self):
        traces = self.copies("twice", [f"t{n}" for n in range(11)] + ["straggler"])
        speculation = {"speculation": "true", "speculation_quantile": "0.5", "speculation_multiplier": "1.1"}
        job, control = self.submit("twice", traces, "twice", "--slices", "12", **speculation)
        self.finish("twice", job, 0)
        runs = [line.split(" ", 2) for line in (control / "journal").read_text().splitlines()]
        workers = {worker for worker, _, trace in runs if trace.endswith("/straggler.pmt")}
        check(len(workers) == 2, f"straggler.pmt was exported by {' and '.join(sorted(workers))} at the same time")
        self.single("twice-single", traces)
        self.compare("twice", "twice-single", len(traces))

    def the_directory_is_in_use(self):
        before = sorted((self.work / "twice").rglob("*"))
        arguments = [JOB, *SAMPLES, "--to", self.work / "twice", "--tables", self.tables]
        job = self.cluster.submit("refused", arguments)
        check("holds predicates already" in self.finish("refused", job, 1), "it says why")
        check(sorted((self.work / "twice").rglob("*")) == before, "nothing was changed")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--portmortem", type=Path, default=ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug/portmortem")
    parser.add_argument("--tables", default=",".join([*KEYS, "contexts", "cycles", "streams"]))
    parser.add_argument("--keep", action="store_true", help="keep the working directory")
    args = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    work = Path(tempfile.mkdtemp(prefix="portmortem-cluster-"))
    failed, keep = True, True
    cluster = Cluster(work, args.portmortem.resolve())
    try:
        with cluster:
            cluster.worker("worker-1", "127.0.0.1")
            cluster.worker("worker-2", "127.0.0.2")
            print(f"{cluster.url} with two workers, logs in {work}")
            test = Test(cluster, args)
            print("\nA worker dies in the middle")
            test.a_worker_dies()
            cluster.worker("worker-3", "127.0.0.3")
            print("\nDamaged traces, and portmortem killed")
            test.traces_are_damaged()
            print("\nA task runs twice at the same time")
            test.a_task_runs_twice()
            print("\nThe directory holds tables already")
            test.the_directory_is_in_use()
            print(f"\nStopping {len(cluster.all_processes())} processes")
        check(not cluster.all_processes(), "no process is left")
        failed, keep = False, args.keep
    except (Failure, TimeoutError, subprocess.TimeoutExpired) as error:
        print(f"error: {error}; logs are in {work}", file=sys.stderr)
    except SystemExit:  # interrupted
        keep = args.keep
        raise
    finally:
        if not keep:
            shutil.rmtree(work)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
