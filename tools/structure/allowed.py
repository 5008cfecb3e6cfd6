"""The list of what may break the rules: tools/structure.allowed."""

import subprocess

RULES = 3
MOST_LINES = 600
MOST_COLUMNS = 100
NAME = "tools/structure.allowed"
COUNTED = ("lines", "comments", "type")

HEADER = f"""\
# What breaks the rules of tools/check-structure. This list only shrinks; --shrink does it.
# circle MODULES; lines FILE AT-MOST; comments FILE HOW-MANY; type NAME HOW-MANY; unchecked DIRECTORY
# rules {RULES}
"""


def check(root, found, shrink):
    """What is wrong, a line each. Shrinks the list before if asked."""
    path = root / NAME
    listed = parsed(path.read_text()) if path.exists() else {}
    places = tuple(f"{subject}/" for rule, subject in listed if rule == "unchecked")
    found = {key: many for key, many in found.items() if not key[1].startswith(places)}
    if shrink:
        listed = shrunk(found, listed)
        path.write_text(HEADER + "".join(f"{line(key, many)}\n" for key, many in sorted(listed.items())))
    return [*compared(found, listed), *grown(root, listed)]


def shrunk(found, listed):
    """The list without what is better now."""
    kept = {key: many for key, many in listed.items() if key[0] == "unchecked"}
    at_most = {key: min(many, allowance(key, listed)) for key, many in found.items()}
    return kept | {key: many for key, many in at_most.items() if many}


def allowance(key, listed):
    """How many of it a list allows. A part of a circle is allowed with the circle."""
    return listed.get(key) or int(any(is_part(key, other) for other in listed))


def is_part(key, other):
    if key[0] != "circle" or other[0] != "circle":
        return False
    (place, names), (other_place, other_names) = (subject.rstrip("}").split("{") for _, subject in (key, other))
    return place == other_place and set(names.split(",")) <= set(other_names.split(","))


def compared(found, listed):
    """What breaks the rules more than is listed, and what is listed and no longer there."""
    for (rule, subject), many in sorted(found.items()):
        most = allowance((rule, subject), listed)
        if many > most:
            yield {
                "circle": f"{subject}: these modules import each other in a circle; move what they share below them",
                "lines": f"{subject} has {many} lines, more than {max(most, MOST_LINES)}: part it",
                "comments": f"{subject} has {many} lines of comments of more than {MOST_COLUMNS} columns, not {most}: fold them",
                "type": f"{subject} names {many} types: call each by a name of its own",
            }[rule]
    for (rule, subject), most in sorted(listed.items()):
        many = found.get((rule, subject), 0)
        if rule != "unchecked" and (many == 0 or rule in ("comments", "type") and many < most):
            yield f"{NAME} allows `{line((rule, subject), most)}`, which is better now; take it off: tools/check-structure --shrink"


def grown(root, listed):
    """What is on the list, and was not on one of its versions in git."""
    least = None
    for version in map(parsed, versions(root)):
        at_most = {key: min(many, allowance(key, version)) for key, many in (least or {}).items()}
        least = version if least is None else {key: many for key, many in at_most.items() if many}
    for key, many in sorted(listed.items()) if least is not None else ():
        most = allowance(key, least)
        if many > most:
            before = f"`{line(key, most)}`" if most else "not there"
            yield f"{NAME} has grown: `{line(key, many)}` was {before}; the list only shrinks"


def versions(root):
    """The texts of the list under these rules that git knows."""
    commits = git(root, ["log", "--format=%H", "--", NAME]).split()
    asked = "".join(f"{commit}:./{NAME}\n" for commit in commits)
    answer = git(root, ["cat-file", "--batch"], asked) if commits else ""
    while answer:
        head, _, answer = answer.partition("\n")
        if not head.endswith(" missing"):
            size = int(head.split()[-1])
            text, answer = answer[:size], answer[size + 1 :]
            if f"\n# rules {RULES}\n" in text:
                yield text.encode("latin-1").decode()


def git(root, arguments, asked=""):
    """What it prints; nothing if there is none, or no repository."""
    try:
        run = subprocess.run(["git", "-C", root, *arguments], input=asked, capture_output=True, encoding="latin-1")
    except FileNotFoundError:
        return ""
    return run.stdout if run.returncode == 0 else ""


def parsed(text):
    """How many of what is allowed where."""
    listed = {}
    for words in map(str.split, text.splitlines()):
        if not words or words[0].startswith("#"):
            continue
        rule, rest = words[0], words[1:]
        counted = rule in COUNTED
        listed[rule, " ".join(rest[:-1] if counted else rest)] = int(rest[-1]) if counted else 1
    return listed


def line(key, many):
    rule, subject = key
    return f"{rule} {subject} {many}" if rule in COUNTED else f"{rule} {subject}"
