"""Roles of predicates: their bits, and those that names say in traces of before version 12."""

COLLECTION, STACK_SHIFT, WAITING, PREEMPTED, LOADING, SET_UP, TABLE_FILLING, COLLECTOR = (1 << bit for bit in range(8))
BETWEEN_PORTS = COLLECTION | STACK_SHIFT | WAITING | PREEMPTED | SET_UP | TABLE_FILLING

OF_NAMES = {
    "system:garbage_collect/0": COLLECTION,
    "system:stack_shift/0": STACK_SHIFT,
    "system:waiting/0": WAITING,
    "system:preempted/0": PREEMPTED,
    "system:autoload/0": LOADING,
    "portmortem:instrument/0": SET_UP,
    "system:fill_table/0": TABLE_FILLING,
}
COLLECTORS = {
    f"{module}:{name}"
    for module in ("system", "$apply", "$bags", "aggregate")
    for name in (
        "findall/3",
        "findall/4",
        "findnsols/4",
        "findnsols/5",
        "forall/2",
        "foreach/2",
        "bagof/3",
        "setof/3",
        "aggregate_all/3",
        "aggregate_all/4",
        "aggregate/3",
        "aggregate/4",
    )
}


def roles_by_name(name):
    """Those that change figures."""
    return COLLECTOR if name in COLLECTORS else OF_NAMES.get(name, 0)
