"""How many types of the product have a name.

Tests may call theirs as they like, and an associated type is named by its trait.
"""

from collections import Counter

from .files import tokenised

OF_TESTS = {"tests", "benches", "examples", "fuzz"}
TEST_MODULE = ["#", "[", "cfg", "(", "test", ")", "]", "mod"]


def type_names(root, sources):
    """How many types each name stands for."""
    counts = Counter()
    for path in sources:
        parts = path.relative_to(root).with_suffix("").parts
        if path.suffix == ".rs" and not OF_TESTS.intersection(parts):
            counts.update(defined([text for _, text in tokenised(path)[0]]))
    return counts


def defined(words):
    """The types that a file defines, in order."""
    blocks, opens, at = [], "other", 0
    while at < len(words):
        word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
        if words[at : at + len(TEST_MODULE)] == TEST_MODULE:
            opens, at = "tests", at + len(TEST_MODULE)
            continue
        if word == "mod":
            opens = "mod"
        elif word in ("fn", "impl", "trait", "struct", "enum", "union"):
            opens = "other"
        if word == "{":
            blocks.append(opens)
            opens = "other"
        elif word == "}" and blocks:
            blocks.pop()
        elif after[:1].isupper() and "tests" not in blocks:
            is_alias = word == "type" and all(block == "mod" for block in blocks)
            if is_alias or word in ("struct", "enum", "trait", "union"):
                yield after
        at += 1
