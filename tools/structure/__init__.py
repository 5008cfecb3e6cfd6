"""Checks how the sources are laid out:

- no circle of imports among the modules of a Rust crate, nor among Prolog modules of a directory,
- no source file of more than 600 lines,
- no line with a comment of more than 100 columns,
- no name that stands for two types of the product.

A module also imports another one if it calls a method that only an inherent `impl` in that module
defines. Modules of tests are left out: they may use everything.

What broke these rules when they were made is listed in tools/structure.allowed, which may only
shrink. What is no longer there must leave the list, too; --shrink takes it off. No version of the
list that git knows may lack an entry of the present one, or have a smaller number. Only versions
whose header has the number of these rules count, so rules that see more begin with a new list.
Without git nothing is compared; a shallow clone knows fewer versions.
"""

import argparse
import sys
from pathlib import Path

from . import allowed
from .files import rows_and_comments, sources
from .graphs import circles
from .prolog import directories
from .rust import crates
from .types import type_names


def main():
    parser = argparse.ArgumentParser(prog="check-structure", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--shrink", action="store_true", help="take off the list what is no longer there")
    parser.add_argument("--why", action="store_true", help="print, for each circle, what makes its modules import others")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.why:
        for place, circle, graph in circles_below(root):
            for module in sorted(circle):
                for other in sorted(circle & graph[module].keys()):
                    print(f"{place}: {module} imports {other}: {graph[module][other]}")
    errors = allowed.check(root, violations(root), options.shrink)
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


def violations(root):
    """How many there are, by rule and by what breaks it."""
    found = {}
    for path in sources(root):
        name, (rows, comments) = path.relative_to(root).as_posix(), rows_and_comments(path)
        if rows > allowed.MOST_LINES:
            found["lines", name] = rows
        long = sum(columns > allowed.MOST_COLUMNS for columns in comments)
        if long:
            found["comments", name] = long
    for name, types in type_names(root, sources(root)).items():
        if types > 1:
            found["type", name] = types
    for place, circle, _ in circles_below(root):
        found["circle", f"{place}/{{{','.join(sorted(circle))}}}"] = 1
    return found


def circles_below(root):
    """Where they are, their modules, and the graph that they are in."""
    for directory, graph in [*crates(root), *directories(root)]:
        for circle in circles(graph):
            yield directory.relative_to(root).as_posix(), circle, graph
