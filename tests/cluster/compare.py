"""Compares what the cluster wrote with the export of one machine; DuckDB reads both."""

import duckdb

KEYS = {
    "predicates": ["predicate"],
    "edges": ["caller", "callee"],
    "backtracks": ["failed", "resumed"],
    "cuts": ["cutter", "predicate"],
    "choicepoints": ["predicate"],
}
INTEGERS = {f"{sign}{size}INT" for sign in ("", "U") for size in ("TINY", "SMALL", "", "BIG", "HUGE")} | {"INTEGER", "UINTEGER"}


class Comparison:
    """Of a table in the directories `cluster` and `single`. Every check prints a line and adds to `differences`."""

    def __init__(self, table, cluster, single, quiet=False):
        self.table, self.quiet, self.differences, self.sums = table, quiet, [], {}
        self.db = duckdb.connect()
        self.db.execute("set enable_progress_bar = false")
        for name, directory in ("cluster", cluster), ("single", single):
            files = f"'{directory}/{table}/*/*.parquet', hive_partitioning = true, hive_types_autocast = false"
            self.db.execute(f"create view {name} as select * from read_parquet({files})")
        self.db.execute(f"create view totals as select * from read_parquet('{cluster}/totals/{table}.parquet/*.parquet')"
                        if table in KEYS else "select 1")
        self.compare_sums()
        self.compare_rows()
        if table in KEYS:
            self.compare_totals()

    def one(self, query):
        return self.db.execute(query).fetchone()

    def integers(self, relation):
        return [name for name, kind, *_ in self.db.execute(f"describe {relation}").fetchall() if kind in INTEGERS]

    def check(self, what, cluster, single):
        if cluster != single:
            self.differences.append(f"{self.table}: {what}: {cluster} on the cluster, {single} on one machine")
        if not self.quiet:
            number = lambda value: "–" if value is None else f"{value:,}"
            print(f"  {self.table:<13}{what:<34}{number(cluster):>20}{number(single):>20}  {'=' if cluster == single else 'DIFFERS'}")

    def compare_sums(self):
        columns = self.integers("single")
        self.check("columns", len(self.integers("cluster")), len(columns))
        figures = {"rows": "count(*)", "traces": "count(distinct trace)"}
        figures |= {f"sum of {column}": f'sum("{column}")::hugeint' for column in columns}
        query = f"select {', '.join(figures.values())} from"
        for what, cluster, single in zip(figures, self.one(f"{query} cluster"), self.one(f"{query} single")):
            self.check(what, cluster, single)
            self.sums[what] = single

    def compare_rows(self):
        columns = ", ".join(f'"{name}"' for name, *_ in self.db.execute("describe single").fetchall())
        for here, there in ("cluster", "single"), ("single", "cluster"):
            query = f"select count(*) from (select {columns} from {here} except all select {columns} from {there})"
            self.check(f"rows only in {here}", *self.one(query), 0)

    def compare_totals(self):
        """The sums that Spark wrote against those that DuckDB makes of the rows from one machine, row by row."""
        keys = KEYS[self.table]
        exits = ", exits_det + exits_nondet as exits" if self.table == "predicates" else ""
        numbers = [column for column in self.integers("totals") if column != "traces"]
        how = {name: "max" if name.startswith("max_") else "sum" for name in numbers}
        sums = [f'{how[name]}("{name}")::bigint as "{name}"' for name in numbers]
        self.db.execute(f"create view expected as select {', '.join(keys)}, count(distinct trace) as traces, {', '.join(sums)} "
                        f"from (select *{exits} from single) group by {', '.join(keys)}")
        self.check("totals: columns", len(numbers), len([c for c in self.integers("single") if c != "line"]) + bool(exits))
        self.check("totals: rows", *self.one("select (select count(*) from totals), (select count(*) from expected)"))
        joined = " and ".join(f"totals.{key} = expected.{key}" for key in keys)
        for name in ["traces", *numbers]:
            query = f'from totals join expected on {joined} where totals."{name}" is not distinct from expected."{name}"'
            self.check(f"totals: rows with equal {name}", *self.one(f"select count(*) {query}"), *self.one("select count(*) from expected"))
