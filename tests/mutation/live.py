"""The functions that are alive in this process, and other code put in their place."""

import ast
import builtins
import gc
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from tests.mutation.operators import ROOT, Mutant, changed

_HITS = "__statements_reached__"


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects within one of a module."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from codes(constant)


def compiled(tree: ast.Module | str, file: str) -> dict[tuple[str, int], CodeType]:
    """The code of every function of a file, by qualified name and first line."""
    module = compile(tree, str(ROOT / file), "exec", dont_inherit=True)
    return {(c.co_qualname, c.co_firstlineno): c for c in codes(module)}


class Live:
    """The functions alive now by their code, where code is the same in whatever file it stands."""

    def __init__(self, files: list[str]) -> None:
        self.functions: dict[CodeType, list[FunctionType]] = {}
        for f in gc.get_objects():
            if type(f) is FunctionType:
                self.functions.setdefault(f.__code__, []).append(f)
        self.original = {file: compiled((ROOT / file).read_text(), file) for file in files}

    def put(self, file: str, tree: ast.Module | str, only: set[str] | None = None) -> int:
        """Replace the code of every function of ``file`` that differs; returns how many were alive."""
        new, count = compiled(tree, file), 0
        for key, code in self.original[file].items():
            if key in new and new[key] != code and (only is None or key[0] in only):
                for f in self.functions.get(code, ()):
                    f.__code__ = new[key].replace(co_filename=f.__code__.co_filename)
                    count += 1
        return count

    def restore(self) -> None:
        """Put every function's own code back."""
        for code, alive in self.functions.items():
            for f in alive if any(f.__code__ is not code for f in alive) else ():
                f.__code__ = code.replace(co_filename=f.__code__.co_filename)

    def mutate(self, mutant: Mutant) -> bool:
        """Put a mutant in place; whether anything alive was changed by it."""
        tree = changed(mutant)
        if mutant.function:
            return self.put(mutant.file, tree) > 0
        statement = next(s for s in tree.body if s.lineno <= mutant.line <= (s.end_lineno or 0))
        home: dict[str, Any] = vars(sys.modules[mutant.file[:-3].replace("/", ".")])
        before, space = dict(home), dict(home)
        exec(compile(ast.Module([statement], []), mutant.file, "exec"), space)
        moved = {n: (before[n], v) for n, v in space.items() if n in before and before[n] is not v}
        for name, module in list(sys.modules.items()):
            if name.startswith("fast.") and module is not None:
                for key, (old, value) in moved.items():
                    if vars(module).get(key) is old:
                        setattr(module, key, value)
        for f in (f for fs in self.functions.values() for f in fs):  # kernels made of texts
            if f.__module__ and f.__module__.startswith("fast."):
                for key, (old, value) in moved.items():
                    if f.__globals__.get(key) is old:
                        f.__globals__[key] = value
        return bool(moved)


class Probes:
    """Which statements a test reaches: each leaves its number when it runs."""

    def __init__(self, live: Live, wanted: dict[str, set[str]]) -> None:
        self.statements: list[tuple[str, int]] = []
        self.reached = bytearray()
        for file, functions in wanted.items():
            tree = _Marked(self.statements, file).visit(ast.parse((ROOT / file).read_text()))
            self.reached.extend(bytes(len(self.statements) - len(self.reached)))
            setattr(builtins, _HITS, self.reached)
            live.put(file, ast.fix_missing_locations(tree), functions)

    def take(self) -> list[int]:
        """The numbers of the statements reached since the last time."""
        found = [i for i, hit in enumerate(self.reached) if hit]
        self.reached[:] = bytes(len(self.reached))
        return found


class _Marked(ast.NodeTransformer):
    """A mark before every statement of every function."""

    def __init__(self, statements: list[tuple[str, int]], file: str) -> None:
        self.statements, self.file, self.depth = statements, file, 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody") if self.depth else ():
            block = getattr(node, field, None)
            if isinstance(block, list):
                marked: list[ast.stmt] = []
                for statement in block:
                    mark = ast.parse(f"{_HITS}[{len(self.statements)}] = 1").body[0]
                    self.statements.append((self.file, statement.lineno))
                    for part in ast.walk(mark):
                        ast.copy_location(part, statement)
                    marked += [mark, statement]
                setattr(node, field, marked)
        return node
