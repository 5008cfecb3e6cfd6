"""Which Prolog files of a directory import which."""

import re
from collections import defaultdict

from .files import language, sources, tokenised
from .tokens import prolog

LOADING = {"use_module", "ensure_loaded", "consult", "reexport", "autoload", "load_files", "include"}
FOREIGN = {"use_foreign_library", "load_foreign_library", "open_shared_object"}
END = ("end", "")


def directories(root):
    """Directories and, for each, which of its files imports which others."""
    files = defaultdict(list)
    for path in sources(root):
        if language(path) is prolog:
            files[path.parent].append(File(path))
    for directory, there in sorted(files.items()):
        names = {file.path.stem for file in there}
        modules = {file.module: file for file in there if file.module}
        graph = {file.path.stem: file.imported(names, modules) for file in there}
        for name, imported in graph.items():
            imported.pop(name, None)
        yield directory, graph


class File:
    """What a Prolog file loads, and the goals of modules that it names."""

    def __init__(self, path):
        self.path = path
        self.tokens = [plain(token) for token in tokenised(path)[0]] + [END] * 3
        self.module = None
        self.loaded, self.goals, self.defined = [], set(), set()
        words = {text for kind, text in self.tokens if kind == "word"}
        self.is_foreign = not words.isdisjoint(FOREIGN)
        starts = True
        for at in range(len(self.tokens) - 3):
            self.read(at, starts)
            starts = self.tokens[at][0] == "end"

    def read(self, at, starts):
        """Records what begins with a token, which may be the first of a clause."""
        before, (kind, text), after, third = self.tokens[at - 1], *self.tokens[at : at + 3]
        if starts and kind == "word":
            self.defined.add(text)
        if starts and text in (":-", "?-") and after == ("mark", "["):
            self.loaded += self.specifications(at + 1)
        elif kind == "word" and after == ("mark", "("):
            if text == "module" and before[1] == ":-" and third[0] == "word":
                self.module = third[1]
            elif text in LOADING:
                self.loaded += self.specifications(at + 2)
            elif text == "dynamic":
                self.declare(at + 2)
        elif text == "dynamic" and before[1] == ":-":
            self.declare(at + 1)
        if kind == "word" and after == ("symbol", ":") and third[0] != "number" and before[1] != ":":
            self.goals.add((text, third[1] if third[0] == "word" else ""))

    def declare(self, at):
        """Names before a slash, up to the end of the clause."""
        while self.tokens[at][0] != "end":
            if self.tokens[at][0] == "word" and self.tokens[at + 1][1] in ("/", "//"):
                self.defined.add(self.tokens[at][1])
            at += 1

    def specifications(self, at):
        """The names of files in an argument, as paths: x, 'x.pl', library(x), [x, y], a/x."""
        depth, name = 0, ""
        while at < len(self.tokens):
            kind, text = self.tokens[at]
            at += 1
            if text in ("(", "[") and kind == "mark":
                depth, name = depth + 1, ""
            elif kind in ("word", "string", "number") or text in ("/", "..", "../", "./", "."):
                name += text
            elif kind == "symbol":
                name = ""
            else:
                if name:
                    yield name
                name = ""
                depth -= text in (")", "]")
                if kind == "end" or depth < 0 or depth == 0 and text in (",", "]", ")"):
                    return

    def imported(self, names, modules):
        """The names of the files that this one imports, each with the reason."""
        here = self.path.parent
        found = {}
        for specification in self.loaded:
            file = here / re.sub(r"\.(pl|plt|prolog)$", "", specification)
            if file.parent.resolve() == here and file.name in names:
                found[file.name] = specification
        for name, goal in sorted(self.goals):
            other = modules.get(name)
            # What a file loads a foreign library for is defined there.
            if other and (goal in other.defined or not other.is_foreign):
                found.setdefault(other.path.stem, f"{name}:{goal or '…'}")
        return found


def plain(token):
    """Quoted atoms are words, and strings their text."""
    kind, text = token
    if kind == "quoted":
        return "word", unescaped(text)
    return (kind, unescaped(text)) if kind == "string" else token


def unescaped(text):
    quote = text[0]
    return re.sub(r"\\(.)|" + quote * 2, lambda escape: escape.group(1) or quote, text[1:-1])
