"""Which modules of a Rust crate import which.

The scopes of a crate are read first (scopes.py); then what they name is looked up, as the compiler
does, and is drawn as arrows from module to module.
"""

import tomllib
from collections import defaultdict

from .files import sources
from .graphs import reached
from .scopes import Module

DEEPEST_GLOBS = 8


def crates(root):
    """By module that has others below it: its directory, and which of those import which."""
    for manifest in sources(root):
        if manifest.name == "Cargo.toml":
            for file in sorted(roots(manifest)):
                yield from Crate(Module.of_crate(file)).graphs()


def roots(manifest):
    """The first file of each crate of a package."""
    directory = manifest.parent
    package = tomllib.loads(manifest.read_text())
    if "package" not in package:
        return set()
    files = {directory / name for name in ("src/lib.rs", "src/main.rs", "build.rs")}
    targets = [package.get("lib", {})]
    for kind, place in (("bin", "src/bin"), ("test", "tests"), ("example", "examples"), ("bench", "benches")):
        targets += package.get(kind, [])
        files |= {*(directory / place).glob("*.rs"), *(directory / place).glob("*/main.rs")}
    files |= {directory / target["path"] for target in targets if "path" in target}
    return {file for file in files if file.is_file()}


class Crate:
    """Its modules, and from each an arrow to every one that it needs, with the reason."""

    def __init__(self, root):
        self.root = root
        self.modules = list(root.subtree())
        self.arrows = {module: {} for module in self.modules}
        self.with_globs = [scope for module in self.modules for scope in module.scopes if scope.globs]
        self.opened = {}
        self.open_globs()
        self.methods, self.moved = self.inherent_methods()
        macros = only((name, module) for module in self.modules for name in module.macros)
        for module in self.modules:
            for scope in module.scopes:
                for path in sorted(scope.paths):
                    self.draw(scope, path)
                if scope.sees_globs():
                    for word in sorted(scope.words):
                        self.draw(scope, (word,))
            for name in sorted(module.used_macros & macros.keys()):
                self.arrows[module].setdefault(macros[name], f"{name}!")
        for module, known in reached(self.arrows).items():
            for name in sorted(module.called & self.moved.keys()):
                home, there, seen_in = self.moved[name]
                if module.is_in(seen_in) and (home is module or home in known):
                    self.arrows[module].setdefault(there, f".{name}()")

    def draw(self, scope, path):
        """Arrows to all that a path needs."""
        passed = set()
        found = self.resolve(scope, path, passed)
        if found in self.methods:
            passed.add(self.methods[found])
        for module in passed:
            self.arrows[scope.module].setdefault(module, "::".join(path))

    def inherent_methods(self):
        """Where inherent methods are defined that are not beside their type.

        First by the type and the name, as `Type::method` is found; then by the name alone, as
        `.method()` is, for names that only one `impl` or trait of the crate defines. That has the
        module of the type, too, and the one that the method is visible in.
        """
        methods, by_name = {}, []
        for module in self.modules:
            by_name += [(name, None) for names in module.other_methods for name in names]
            for scope in module.inherent:
                home, type_path = scope.itself and self.resolve(scope, scope.itself, set()) or (module, ())
                is_moved = home is not module
                by_name += [(name, (home, module, seen_in) if is_moved else None) for name, seen_in in scope.methods.items()]
                if is_moved:
                    methods.update(((home, type_path + (name,)), module) for name in scope.methods)
        return methods, {name: found for name, found in only(by_name).items() if found}

    def graphs(self):
        for module in self.modules:
            if module.children:
                graph = {name: {} for name in module.children}
                for name, child in module.children.items():
                    for one in child.subtree():
                        for other, reason in self.arrows[one].items():
                            branch = module.branch_of(other)
                            if branch not in (name, None):
                                graph[name].setdefault(branch, reason)
                yield module.directory, graph

    def resolve(self, scope, path, passed, seen=frozenset()):
        """The module that a path leads to, and what is left of the path. None for another crate.

        That module, and those whose imports the path goes through, are put into `passed`.
        """
        first, rest = path[0], path[1:]
        if first == "crate":
            return self.walk(self.root, rest, passed, seen)
        if first == "self":
            return self.walk(scope.module, rest, passed, seen)
        if first == "super":
            return self.walk(scope.module.parent or scope.module, rest, passed, seen)
        while scope:
            if scope.binds(first) or self.through_globs(scope, first):
                return self.walk(scope, path, passed, seen)
            scope = scope.outer
        return None

    def walk(self, at, rest, passed, seen):
        """As resolve(), from a module downwards."""
        while rest:
            name, after = rest[0], rest[1:]
            if name == "super":
                at = at.module.parent or at
            elif name in at.children:
                at = at.children[name]
            elif name in at.names and (at, name) not in seen:
                passed.add(at.module)
                found = self.resolve(at, at.names[name] + after, passed, seen | {(at, name)})
                return found or (at.module, rest)
            elif name in at.defined:
                break
            elif name != "self":
                found = self.through_globs(at, name)
                if not found or (found, name) in seen:
                    break
                passed.add(at.module)
                at = found
                continue
            rest = after
        passed.add(at.module)
        return at.module, rest

    def through_globs(self, scope, name):
        """The module that a name comes from by `use …::*`."""
        seen, todo = set(), [*self.opened.get(scope, ())]
        while todo:
            module = todo.pop(0)
            if module.binds(name):
                return module
            if module not in seen:
                seen.add(module)
                todo.extend(self.opened.get(module, ()))
        return None

    def open_globs(self):
        """Which modules each `use …::*` opens. What one brings in may be in the path of another."""
        for _ in range(DEEPEST_GLOBS):
            before = self.opened
            found = {scope: [self.resolve(scope, path, set()) for path in scope.globs] for scope in self.with_globs}
            self.opened = {scope: [at for at, rest in filter(None, ends) if not rest] for scope, ends in found.items()}
            if before == self.opened:
                break


def only(pairs):
    """The values of names that have one value only."""
    values = defaultdict(list)
    for name, value in pairs:
        values[name].append(value)
    return {name: found[0] for name, found in values.items() if len(found) == 1}
