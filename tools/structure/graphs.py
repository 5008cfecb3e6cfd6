"""A graph has for each node others, each with the reason."""


def reached(graph):
    """By node, all that its arrows lead to."""
    found = {}
    for start in graph:
        seen, todo = set(), list(graph[start])
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo.extend(graph.get(node, ()))
        found[start] = seen
    return found


def circles(graph):
    """Sets of nodes that each reach all others of the set."""
    after = reached(graph)
    found = {frozenset(b for b in after[a] if a in after.get(b, ())) for a in graph if a in after[a]}
    return sorted(found, key=sorted)
