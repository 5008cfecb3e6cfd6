"""The source files below a directory, by language."""

from functools import lru_cache

from . import tokens

LANGUAGES = {
    ".rs": tokens.rust,
    ".pl": tokens.prolog,
    ".plt": tokens.prolog,
    ".py": tokens.python,
    ".c": tokens.c,
    ".h": tokens.c,
    ".sh": tokens.shell,
    ".toml": tokens.toml,
    ".mk": tokens.make,
}
INTERPRETERS = {"python": tokens.python, "swipl": tokens.prolog}
FUZZED = {"corpus", "regressions"}
HIDDEN_BUT_OURS = {".ci", ".github"}


def sources(root):
    """What is written in a language that we know."""
    for path in sorted(root.iterdir()):
        if path.name.startswith(".") and path.name not in HIDDEN_BUT_OURS or path.is_symlink():
            continue
        if path.is_dir():
            is_built = path.name == "target" and (root / "Cargo.toml").exists()
            if not is_built and not (root.name == "fuzz" and path.name in FUZZED):
                yield from sources(path)
        elif language(path):
            yield path


@lru_cache(None)
def language(path):
    """The tokeniser of a file. A script says in its first line what it is written in."""
    if path.name == "Makefile":
        return tokens.make
    if path.suffix or not path.is_file():
        return LANGUAGES.get(path.suffix)
    with path.open("rb") as file:
        first = file.readline(200).decode(errors="replace")
    if not first.startswith("#!"):
        return None
    return next((found for name, found in INTERPRETERS.items() if name in first), tokens.shell)


@lru_cache(None)
def text(path):
    return path.read_text(encoding="utf-8", errors="replace")


@lru_cache(None)
def tokenised(path):
    """Its tokens and its comments."""
    return language(path)(text(path))


def rows_and_comments(path):
    """How many lines it has, and how many columns each line with a comment has."""
    lines = text(path).split("\n")
    commented, row, at = set(), 0, 0
    for start, end in tokenised(path)[1]:
        row += text(path).count("\n", at, start)
        commented.add(row)
        below = text(path).count("\n", start, max(start, end))
        commented.update(range(row, row + below + 1))
        row, at = row + below, end
    return len(lines) - (lines[-1] == ""), [len(lines[row]) for row in sorted(commented)]
