#!/usr/bin/env python3
"""Prints the table `predicates`, `edges`, `sites` or `clauses` of a trace as CSV: the columns of `portmortem export` without net times.

    tables.py predicates TRACE.pmt
    tables.py edges TRACE.pmt
    tables.py sites TRACE.pmt
    tables.py clauses TRACE.pmt
    tables.py --compare DIRECTORY TRACE.pmt...

The last form compares these tables of all traces with predicates.csv, edges.csv, sites.csv and clauses.csv, that
`portmortem export` has written into DIRECTORY, cell by cell. Exit status 1 if any cell differs.
"""

import csv
import sys
from pathlib import Path

from replay import ROOT, Figures
from tracefile import Trace


# A predicate has a row if one of these is not zero.
USED = "calls exit_det exit_nondet redos fail exception cuts inclusive".split()


def predicate_rows(name, trace, figures):
    ns = trace.duration_ns
    for id, sums in figures.predicates.items():
        predicate = trace.predicates.get(id)
        exits = sums["exit_det"] + sums["exit_nondet"]
        if not any(sums[name] for name in USED):
            continue
        yield {
            "trace": name,
            "predicate": trace.name(id),
            "file": predicate and predicate.file is not None and trace.files.get(predicate.file) or "",
            "line": predicate and predicate.line or "",
            "calls": sums["calls"],
            "tail_calls": sums["tail_calls"],
            "exits_det": sums["exit_det"],
            "exits_nondet": sums["exit_nondet"],
            "redos": sums["redos"],
            "fails": sums["fail"],
            "exceptions": sums["exception"],
            "cuts": sums["cuts"],
            "open": sums["open"],
            "pending": sums["pending"],
            "events": sums["calls"] + exits + sums["redos"] + sums["fail"] + sums["exception"],
            "self_ns": ns(sums["self"]),
            "inclusive_ns": ns(sums["inclusive"]),
            "failed_ns": ns(sums["failed_time"]),
            "raised_ns": ns(sums["raised_time"]),
            "open_ns": ns(sums["open_time"]),
            "self_failed_ns": ns(sums["self_failed"]),
            "self_raised_ns": ns(sums["self_raised"]),
            "self_open_ns": ns(sums["self_open"]),
            "undone_ns": ns(sums["undone"]),
            "determinism": determinism(trace, sums, exits),
        }


def determinism(trace, sums, exits):
    again = sums["exits_again"] > 0 or (sums["exit_nondet"] > 0 and not trace.description.byrd)
    if exits == 0:
        return "failing" if sums["fails_dry"] else ""
    if sums["fails_dry"]:
        return "nondet" if again else "semidet"
    return "multi" if again else "det"


def edge_rows(name, trace, figures):
    ns = trace.duration_ns
    for (caller, callee), sums in figures.edges.items():
        if any(sums.values()):
            yield {
                "trace": name,
                "caller": ROOT if caller == ROOT else trace.name(caller),
                "callee": trace.name(callee),
                "calls": sums["calls"],
                "tail_calls": sums["tail_calls"],
                "exits": sums["exits"],
                "redos": sums["redos"],
                "fails": sums["fail"],
                "recursive": "true" if caller == callee else "false",
                "served_ns": ns(sums["served"]),
                "spent_ns": ns(sums["spent"]),
            }


def site_rows(name, trace, figures):
    ns = trace.duration_ns
    for (caller, callee, id), sums in figures.sites.items():
        if not any(sums.values()):
            continue
        site = trace.sites.get(id)
        file = site and (trace.predicates[site.caller].file if site.file is None else site.file)
        yield {
            "trace": name,
            "caller": ROOT if caller == ROOT else trace.name(caller),
            "clause": site.clause if site else "",
            "goal": site.goal if site else "",
            "file": trace.files.get(file, ""),
            "line": site and site.line or "",
            "callee": trace.name(callee),
            "calls": sums["calls"],
            "tail_calls": sums["tail_calls"],
            "exits": sums["exits"],
            "redos": sums["redos"],
            "fails": sums["fail"],
            "exceptions": sums["exception"],
            "cuts": sums["cuts"],
            "served_ns": ns(sums["served"]),
            "undone_ns": ns(sums["undone"]),
        }


def clause_rows(name, trace, figures):
    ns = trace.duration_ns
    known = {clause.predicate for clause in trace.clauses.values()}
    for (predicate, id), sums in figures.clauses.items():
        if predicate not in known or not any(sums.values()):
            continue
        clause = trace.clause(id)
        file = clause and (trace.predicates[predicate].file if clause.file is None else clause.file)
        yield {
            "trace": name,
            "predicate": trace.name(predicate),
            "clause": clause.number if clause else "",
            "file": trace.files.get(file, ""),
            "line": clause and clause.line or "",
            **{column: sums[column] for column in COUNTS_OF_CLAUSES},
            "exceptions": sums["exception"],
            "self_ns": ns(sums["self"]),
            "inclusive_ns": ns(sums["inclusive"]),
            "failed_ns": ns(sums["failed_time"]),
        }


COUNTS_OF_CLAUSES = "entered exits redos failed exhausted open left left_redos left_cuts left_pending".split()
TABLES = {"predicates": predicate_rows, "edges": edge_rows, "sites": site_rows, "clauses": clause_rows}
KEYS = {
    "predicates": ("trace", "predicate"),
    "edges": ("trace", "caller", "callee"),
    "sites": ("trace", "caller", "clause", "goal", "line", "callee"),
    "clauses": ("trace", "predicate", "clause", "line"),
}


def rows_of(table, path):
    trace = Trace(path.read_bytes())
    figures = Figures(trace)
    for row in TABLES[table](path.stem, trace, figures):
        yield {column: str(cell) for column, cell in row.items()}


def compare(directory, traces):
    """All differences between the tables computed here and those in the directory, as text."""
    for table, key in KEYS.items():
        by_key = lambda rows: {tuple(row[column] for column in key): row for row in rows}
        with open(directory / f"{table}.csv", newline="", encoding="utf-8") as file:
            theirs = by_key(csv.DictReader(file))
        ours = by_key(row for path in traces for row in rows_of(table, path))
        for name in sorted(theirs.keys() ^ ours.keys()):
            yield f"{table} {name}: only in the {'export' if name in theirs else 'reader'}"
        for name in sorted(theirs.keys() & ours.keys()):
            for column, cell in ours[name].items():
                if theirs[name][column] != cell:
                    yield f"{table} {name} {column}: export {theirs[name][column]}, reader {cell}"
        cells = sum(len(row) for row in ours.values())
        print(f"{table}: {len(ours)} rows, {cells} cells of {len(traces)} traces compared")


def main(arguments):
    if len(arguments) == 2 and arguments[0] in TABLES:
        rows = list(rows_of(arguments[0], Path(arguments[1])))
        if rows:
            output = csv.DictWriter(sys.stdout, rows[0].keys(), lineterminator="\n")
            output.writeheader()
            output.writerows(rows)
        return 0
    if len(arguments) > 2 and arguments[0] == "--compare":
        differences = list(compare(Path(arguments[1]), [Path(path) for path in arguments[2:]]))
        print("\n".join(differences[:100]))
        return 1 if differences else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
