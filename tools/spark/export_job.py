#!/usr/bin/env python3
"""Exports thousands of Portmortem traces on an Apache Spark cluster and adds their figures up.

Map: every task runs `portmortem export` on its share of the traces, one at a time, in a directory of its own below
DIR/.tasks, and renames what is finished to DIR/TABLE/trace=NAME. A rename is atomic and its target the same for every attempt:
a task that runs again after its worker died, or twice at once, neither doubles nor halves anything.
Reduce: Spark SQL reads DIR/TABLE and writes the sums over all traces to DIR/totals/TABLE.parquet.
What became of each trace is in DIR/traces.csv. Every machine must see the traces, portmortem and DIR under the same paths.

Exit status: 0 done, 1 error, 2 usage, 3 done but some traces were damaged (what could be read is in the sums) or failed.

Examples:
  spark-submit --master spark://HOST:7077 export_job.py '/shared/runs/**/*.pmt' --to /shared/tables
  find /shared -name '*.pmt' >list; spark-submit --master spark://HOST:7077 export_job.py --from list --to /shared/tables
  spark-submit --master 'local[*]' export_job.py 'runs/*.pmt' --to tables      # to try it, on this machine alone"""

import argparse, csv, errno, glob, os, re, shutil, subprocess, sys, tempfile
from collections import Counter, namedtuple
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession, functions as F

Trace = namedtuple("Trace", "name path")
Outcome = namedtuple("Outcome", "name status path messages")  # status: whole, damaged or failed

# What identifies a row across traces, and what is shown of it, the most of the first column first.
TOTALS = {
    "predicates": (["predicate"], ["self_ns", "inclusive_ns", "undone_ns", "calls", "exits", "redos", "fails", "traces"]),
    "edges": (["caller", "callee"], ["served_ns", "spent_ns", "calls", "exits", "redos", "fails", "traces"]),
    "backtracks": (["failed", "resumed"], ["undone_ns", "count", "traces"]),
    "cuts": (["cutter", "predicate"], ["count", "traces"]),
    "choicepoints": (["predicate"], ["left", "redone", "cut", "pending", "lifetime_ns", "max_height", "traces"]),
}
SETTINGS = {
    "spark.sql.ansi.enabled": True,  # a sum that does not fit is an error
    "spark.sql.sources.partitionColumnTypeInference.enabled": False,  # the trace 007 is not the number 7
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": 100,  # not a task for every directory
    "spark.ui.showConsoleProgress": sys.stderr.isatty(),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("traces", nargs="*", metavar="TRACE", help="trace files; quoted patterns (** for any depth) are expanded here")
    add("--from", dest="list", metavar="FILE", help="a file that lists further traces, one per line")
    add("--to", required=True, metavar="DIR", help="shared directory for the tables; must not hold any yet")
    add("--tables", default=",".join(TOTALS), metavar="T1,T2", help="tables to export (default: %(default)s)")
    add("--portmortem", default="portmortem", metavar="PATH", help="the program on the workers (default: on their PATH)")
    add("--slices", type=int, metavar="N", help="number of tasks (default: 8 per core, more for over 32 traces each)")
    add("--master", metavar="URL", help="the cluster (default: the one of spark-submit)")
    args = parser.parse_args()
    if args.list:
        args.traces += filter(None, os.fsdecode(Path(args.list).read_bytes()).split("\n"))
    if not args.traces:
        parser.error("no traces given")
    args.to, args.tables = os.path.abspath(args.to), args.tables.split(",")
    if "/" in args.portmortem:
        args.portmortem = os.path.abspath(args.portmortem)
    return args


def named(patterns):
    """The files meant, each once, by the names that `portmortem export` would give them if it had them all: the stem, and as
    many directories as tell equal ones apart. A pattern without a match stays, so that it is reported."""
    matches = [[p] if os.path.exists(p) else sorted(glob.glob(p, recursive=True)) or [p] for p in patterns]
    parts = {os.path.abspath(path): Path(os.path.abspath(path)).parts[1:] for match in matches for path in match}
    depths = dict.fromkeys(parts, 1)
    while True:
        whole = {path: "/".join(parts[path][-depth:]) for path, depth in depths.items()}
        names = {path: name if depths[path] > len(parts[path]) else os.path.splitext(name)[0] for path, name in whole.items()}
        times = Counter(names.values())
        deeper = [path for path, name in names.items() if times[name] > 1 and depths[path] <= len(parts[path])]
        if not deeper:
            return [Trace(name, path) for path, name in names.items()]
        for path in deeper:
            depths[path] += 1


def export(share, args):
    """On a worker: exports the traces of `share`, publishes the tables, yields an outcome per trace."""
    task = TaskContext.get()
    attempt = f"{task.stageId()}-{task.partitionId()}-{task.taskAttemptId()}-"
    for trace in share:
        with tempfile.TemporaryDirectory(prefix=attempt, dir=f"{args.to}/.tasks") as private:
            command = [args.portmortem, "export", trace.path, "--to", private, "--format", "parquet"]
            command += ["--tables", ",".join(args.tables), "--threads", str(task.cpus())]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
            if done.returncode < 0 and task.attemptNumber() < 2:
                # Perhaps this machine is going down: let Spark try elsewhere before the trace is blamed.
                raise RuntimeError(f"{trace.path}: portmortem was killed by signal {-done.returncode}")
            written = [next(Path(private).glob(f"{table}/trace=*/part-0.parquet"), None) for table in args.tables]
            messages = done.stderr.strip() or (f"portmortem ended with status {done.returncode}" if done.returncode else "")
            status = {0: "whole", 3: "damaged"}.get(done.returncode, "failed") if all(written) else "failed"
            if status != "failed":
                for table, file in zip(args.tables, written):
                    publish(file.parent, Path(args.to, table, "trace=" + escaped(trace.name)))
            yield Outcome(trace.name, status, trace.path, messages)


def escaped(name):
    """The name of a partition, as Hive and portmortem write it."""
    return re.sub(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""", lambda match: f"%{ord(match[0]):02X}", name)


def publish(finished, target):
    """A target that exists is complete: another attempt was faster."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        finished.rename(target)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def total(spark, args, table):
    """Writes the sums over all traces, prints the rows with most, returns the number of files that were added up."""
    rows = spark.read.parquet(f"file://{args.to}/{table}")
    files = len(rows.inputFiles())
    if table in TOTALS:
        keys, shown = TOTALS[table]
        if table == "predicates":
            rows = rows.withColumn("exits", F.col("exits_det") + F.col("exits_nondet"))
        numbers = [name for name, kind in rows.dtypes if kind.startswith(("decimal", "bigint", "int")) and name != "line"]
        sums = [(F.max if name.startswith("max_") else F.sum)(name).cast("bigint").alias(name) for name in numbers]
        path = f"file://{args.to}/totals/{table}.parquet"
        rows.groupBy(keys).agg(F.countDistinct("trace").alias("traces"), *sums).coalesce(1).write.parquet(path)
        totals = spark.read.parquet(path)
        print(f"\n{table}, {files:,} traces, {totals.count():,} rows: {args.to}/totals/{table}.parquet")
        print("".join(f"{name:>16}" for name in shown), "", "  <  ".join(reversed(keys)))
        for row in totals.orderBy(F.desc(shown[0]), *keys).limit(10).collect():
            print("".join(f"{row[name]:>16,}" for name in shown), "", "  <  ".join(row[key] for key in reversed(keys)))
    return files


def run(spark, args):
    """Exports, checks that no trace was lost on the way, adds up. Returns the exit status."""
    traces = named(args.traces)
    largest_first = sorted(traces, key=lambda trace: -os.path.getsize(trace.path) if os.path.exists(trace.path) else 0)
    slices = min(args.slices or max(8 * spark.sparkContext.defaultParallelism, len(traces) // 32), len(traces))
    shares = spark.sparkContext.parallelize([largest_first[i::slices] for i in range(slices)], slices)
    outcomes = sorted(shares.flatMap(lambda share: export(share, args)).collect())
    if sorted(outcome.path for outcome in outcomes) != sorted(trace.path for trace in traces):
        sys.exit("error: traces in and traces out differ")
    with open(f"{args.to}/traces.csv", "w", newline="", errors="surrogateescape") as file:
        csv.writer(file).writerows([Outcome._fields, *outcomes])
    count = Counter(outcome.status for outcome in outcomes)
    readable = len(traces) - count["failed"]
    for table in args.tables if readable else []:
        if total(spark, args, table) != readable:
            sys.exit(f"error: {args.to}/{table} does not hold one file per trace")
    print(f"\n{len(traces):,} traces: {count['whole']:,} whole, {count['damaged']:,} damaged, {count['failed']:,} failed")
    for outcome in outcomes:
        if outcome.status != "whole":
            print(f"{outcome.status}: {outcome.path}\n    " + outcome.messages.replace("\n", "\n    "))
    return 0 if count["whole"] == len(traces) else 3 if readable else 1


def main():
    args = arguments()
    if used := [name for name in [*args.tables, "totals"] if os.path.exists(f"{args.to}/{name}")]:
        sys.exit(f"error: {args.to} holds {used[0]} already; give another directory, or remove it")
    sys.stdout.reconfigure(errors="backslashreplace")
    os.makedirs(f"{args.to}/.tasks", exist_ok=True)
    builder = SparkSession.builder.appName("portmortem export")
    for setting, value in SETTINGS.items():
        builder = builder.config(setting, value)
    spark = (builder.master(args.master) if args.master else builder).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    try:
        status = run(spark, args)
    finally:
        spark.stop()
        shutil.rmtree(f"{args.to}/.tasks", ignore_errors=True)  # last: attempts that were overtaken may write for a while
    sys.exit(status)


if __name__ == "__main__":
    main()
