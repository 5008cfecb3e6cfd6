"""The scopes of a Rust crate: what each of its modules and blocks binds, imports and names."""

from .files import tokenised

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = set(OPENING.values())
UP_TO_SEMICOLON = {"use", "const", "static", "let", "type"}
WITH_BODY = {"fn", "mod", "impl", "struct", "enum", "trait", "union", "macro_rules", "extern", "unsafe", "async", "pub"}
BLOCKS = {"{", "if", "match", "for", "while", "loop"}
DEFINING = {"fn", "struct", "enum", "union", "trait", "type", "const", "static"}
BEFORE_ITEM = {"", "{", "}", ";", "]", "unsafe", "default"}
NOTHING = ("", "")
AHEAD = 4


class Scope:
    """A block. `itself` is what `Self` stands for in it.

    `methods` are those of an `impl` or a trait, each with the module that sees it.
    """

    children = {}

    def __init__(self, outer, module):
        self.outer, self.module = outer, module
        self.names, self.globs, self.defined = {}, [], set()
        self.paths, self.words = set(), set()
        self.itself = outer.itself if outer else ()
        self.methods = None
        module.scopes.append(self)

    def binds(self, name):
        return name in self.children or name in self.names or name in self.defined

    def sees_globs(self):
        return bool(self.globs or self.outer and self.outer.sees_globs())


class Module(Scope):
    def __init__(self, parent, directory):
        self.scopes, self.children = [], {}
        super().__init__(None, self)
        self.parent, self.directory = parent, directory
        self.macros, self.used_macros, self.called = set(), set(), set()
        self.inherent, self.other_methods = [], []

    @staticmethod
    def of_crate(file):
        root = Module(None, file.parent)
        Reader(root, file).read()
        return root

    def subtree(self):
        yield self
        for child in self.children.values():
            yield from child.subtree()

    def is_in(self, other):
        return self is other or self.parent is not None and self.parent.is_in(other)

    def branch_of(self, module):
        """The name of the module right below this one that another one is in."""
        while module and module.parent is not self:
            module = module.parent
        return module and next(name for name, child in self.children.items() if child is module)

    def child(self, name, directory):
        """A module may have several files, each for another machine."""
        child = self.children.setdefault(name, Module(self, directory))
        child.directory = directory
        return child


class Reader:
    """Reads a file into the scopes of a module."""

    def __init__(self, module, file):
        self.module, self.file = module, file
        self.tokens = [*map(plain, tokenised(file)[0]), *[NOTHING] * AHEAD]
        self.root = module
        while self.root.parent:
            self.root = self.root.parent
        self.scope, self.opened = module, []
        self.paths_given = []
        self.next_scope = None

    def text(self, at):
        return self.tokens[at][1]

    def is_word(self, at):
        return self.tokens[at][0] == "word"

    def read(self):
        at, end = 0, len(self.tokens) - AHEAD
        while at < end:
            kind, text = self.tokens[at]
            if kind == "word":
                at = self.word(at, text)
            elif kind == "mark":
                at = self.mark(at, text)
            else:
                at += 1

    def mark(self, at, text):
        if text == "{":
            self.open(self.next_scope or Scope(self.scope, self.scope.module))
        elif text == "}" and self.opened:
            self.scope = self.opened.pop()
        elif text == ";":
            self.next_scope = None
        elif text == "#" and self.text(at + 1) in ("[", "!"):
            return self.attribute(at)
        return at + 1

    def open(self, scope):
        self.opened.append(self.scope)
        self.scope, self.next_scope = scope, None

    def attribute(self, at):
        """Leaves out what is of tests, and keeps the path of a module."""
        is_inner = self.text(at + 1) == "!"
        start = at + 1 + is_inner
        if self.text(start) != "[":
            return at + 1
        end = self.group_end(start)
        words = [text for _, text in self.tokens[start + 1 : end - 1]]
        if is_of_tests(words):
            return self.block_end(end) if is_inner else self.item_end(end)
        for word, mark, value in zip(words, words[1:], words[2:]):
            if (word, mark, value[:1]) == ("path", "=", '"'):
                self.paths_given.append(value[1:-1])
        return at + 1

    def group_end(self, at):
        """After the group of brackets that begins here."""
        depth = 0
        while self.tokens[at] != NOTHING:
            depth += (self.text(at) in OPENING) - (self.text(at) in CLOSING)
            at += 1
            if depth == 0:
                break
        return at

    def block_end(self, at):
        """Where the block around this ends."""
        while self.text(at) not in ("}", ""):
            at = self.group_end(at) if self.text(at) in OPENING else at + 1
        return at

    def item_end(self, at):
        """After the item, field, statement or arm of a match that begins here."""
        while self.text(at) == "#":
            at = self.group_end(at + 1)
        if self.text(at) == "pub":
            at = self.group_end(at + 1) if self.text(at + 1) == "(" else at + 1
        first = self.text(at)
        to_semicolon = first in UP_TO_SEMICOLON and self.text(at + 1) not in WITH_BODY or self.text(at + 1) == "crate"
        has_body = not to_semicolon and (first in WITH_BODY or first == "const" or self.text(at + 1) == "!")
        while (text := self.text(at)) and text not in CLOSING:
            is_arm = self.text(at - 1) == "=>"
            at = self.group_end(at) if text in OPENING else at + 1
            if text == "{" and (has_body or is_arm or first in BLOCKS and self.text(at) != "else"):
                break
            if text == ";" or text == "," and not has_body and not to_semicolon:
                break
        return at

    def word(self, at, text):
        """Records what begins with a word, and returns where to read on."""
        before, after = self.text(at - 1) if at else "", self.text(at + 1)
        if before == "$" and text != "crate":
            return at + 1
        if before == "." or before == "::" and self.text(at - 2) == ">":
            if after in ("(", "::"):
                self.scope.module.called.add(text)
        elif before == "::":
            pass
        elif text == "use" and after != "<":
            return self.use_tree(at + 1, ())
        elif text == "mod" and self.is_word(at + 1):
            return self.submodule(at)
        elif text == "impl" and before in BEFORE_ITEM:
            self.implementation(at + 1)
        elif text == "macro_rules" and after == "!":
            self.scope.module.macros.add(self.text(at + 2))
            self.scope.defined.add(self.text(at + 2))
            return at + 3
        elif text == "extern" and after == "crate":
            return self.extern_crate(at + 2)
        elif text in DEFINING and self.is_word(at + 1):
            self.definition(text, at + 1)
        elif text == "include" and after == "!" and self.tokens[at + 3][0] == "string":
            self.include(self.text(at + 3)[1:-1])
        else:
            self.path(at)
        return at + 1

    def definition(self, keyword, at):
        name = self.text(at + 1 if self.text(at) == "mut" else at)
        if self.scope.methods is not None:
            self.scope.methods[name] = self.visible_in(at - 2)
        else:
            self.scope.defined.add(name)
        if keyword == "trait":
            self.next_scope = Scope(self.scope, self.scope.module)
            self.next_scope.methods = {}
            self.scope.module.other_methods.append(self.next_scope.methods)

    def visible_in(self, at):
        """The module that sees what has its visibility here or before: the innermost that may."""
        module = self.scope.module
        while self.text(at) in ("const", "unsafe", "async", "extern") or self.tokens[at][0] == "string":
            at -= 1
        if self.text(at) != ")" and self.text(at) != "pub":
            return module
        return {"self": module, "super": module.parent}.get(self.text(at - 1), self.root)

    def implementation(self, at):
        """The block that comes next has methods of a type."""
        if self.text(at) == "<":
            at = self.angle_end(at)
        path, is_of_trait = [], False
        while self.text(at) not in ("{", "where", ";", ""):
            if self.text(at) == "<":
                at = self.angle_end(at)
                continue
            if self.text(at) == "for":
                is_of_trait, path = True, []
            elif self.is_word(at) and self.text(at) not in ("dyn", "mut"):
                path.append(self.text(at))
            at += 1
        scope = self.next_scope = Scope(self.scope, self.scope.module)
        scope.itself, scope.methods = tuple(path), {}
        if is_of_trait:
            scope.module.other_methods.append(scope.methods)
        else:
            scope.module.inherent.append(scope)

    def angle_end(self, at):
        """After the `<…>` that begins here."""
        depth = 0
        while self.tokens[at] != NOTHING:
            text = self.text(at)
            depth += (text == "<") - (text == ">")
            at = self.group_end(at) if text in OPENING else at + 1
            if depth == 0:
                break
        return at

    def path(self, at):
        """Records the path that begins here, `a::b::<T>::c`, or a name that stands alone."""
        path = [self.text(at)]
        while True:
            at += 1
            if self.text(at) == "::" and self.text(at + 1) == "<":
                at = self.angle_end(at + 1)
            if self.text(at) != "::" or not self.is_word(at + 1):
                break
            at += 1
            path.append(self.text(at))
        if self.text(at) == "!":
            self.scope.module.used_macros.add(path[-1])
        if path[0] == "Self" and self.scope.itself:
            path[:1] = self.scope.itself
        if len(path) > 1:
            self.scope.paths.add(tuple(path))
        elif path[0][:1].isupper() or self.text(at) in ("(", "!"):
            self.scope.words.add(path[0])

    def use_tree(self, at, before):
        """Records the imports of a tree of `use`.

        What is of another crate, or a hole of a macro, gets a path that leads nowhere.
        """
        path, name = before, None
        while self.tokens[at] != NOTHING:
            text = self.text(at)
            if text == "{":
                at += 1
                while self.text(at) not in ("}", ""):
                    at = self.use_tree(at, path)
                    at += self.text(at) == ","
                return at + 1
            if text == "*" and path:
                self.scope.globs.append(path)
                self.scope.paths.add(path)
                return at + 1
            if text in (",", "}", ";"):
                break
            if text == "as":
                name, at = self.text(at + 1), at + 1
            elif self.is_word(at):
                path += (text,)
            elif text == "::" and not path or text == "$" and self.text(at + 1) != "crate":
                path += ("",)
            at += 1
        if len(path) > 1 and path[-1] == "self":
            path = path[:-1]
        if path and (path != before or name):
            self.scope.paths.add(path)
            if name != "_":
                self.scope.names[name or path[-1]] = path
        return at

    def extern_crate(self, at):
        name = self.text(at + 2) if self.text(at + 1) == "as" else self.text(at)
        self.scope.names[name] = ("crate",) if self.text(at) == "self" else ("", name)
        return at + 1

    def submodule(self, at):
        """`mod x;` reads the files of x, `mod x {` goes into it."""
        parent, name, after = self.scope.module, self.text(at + 1), self.text(at + 2)
        given, self.paths_given = self.paths_given, []
        if after == "{":
            self.open(parent.child(name, parent.directory / name))
            return at + 3
        base = self.file.parent if parent is self.module else parent.directory
        files = [(base / path, (base / path).parent) for path in given]
        files += [(parent.directory / path, parent.directory / name) for path in (f"{name}.rs", f"{name}/mod.rs")]
        for file, directory in files if after == ";" else ():
            if file.exists():
                Reader(parent.child(name, directory), file).read()
        return at + 2

    def include(self, name):
        file = self.file.parent / name
        if file.suffix == ".rs" and file.exists():
            Reader(self.scope.module, file).read()


def plain(token):
    """A raw identifier is the identifier."""
    kind, text = token
    return (kind, text.removeprefix("r#")) if kind == "word" else token


def is_of_tests(attribute):
    """Whether it is `cfg(test)` or `cfg(all(test, …))`."""
    if attribute[:2] != ["cfg", "("]:
        return False
    if attribute[2] != "all":
        return attribute[2:] == ["test", ")"]
    depth = 0
    for before, text in zip(attribute[3:], attribute[4:]):
        depth += (before == "(") - (before == ")")
        if depth == 1 and before in ("(", ",") and text == "test":
            return True
    return False
