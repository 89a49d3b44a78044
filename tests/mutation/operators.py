"""What is changed: every operator, constant and term of `fast` that a mutant replaces."""

import ast
import copy
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ROOMS = ("kernels", "solvers", "sets", "losses", "families", "functions", "ranking", "svm_plus", "models")  # fmt: skip
FURTHER = ("_elementary.py", "_rows.py")
COMPILED_TEXTS = "fast/kernels/rows.py"  # its functions become kernels without a decorator
_DECORATORS = {"kernel", "njit", "inlined", "by_loss"}
_UNTOUCHED = {"warm_up", "_warmup", "describe", "text", "__repr__"}
_NOT_RUN = ("annotation", "returns", "decorator_list", "args")
_COMPARE = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
_OPERATE = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult, ast.Mod: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PAIRS = "min max", "minimum maximum", "larger smaller", "any all", "argmin argmax"
_SWAP = {a: b for p in map(str.split, _PAIRS) for a, b in (p, p[::-1])}
_SKIP = {"abs", "sqrt"}  # of one argument: the argument itself


@dataclass(frozen=True)
class Mutant:
    """One change; ``place`` and ``choice`` find it again in the tree of the file."""

    file: str
    line: int
    column: int
    before: str
    after: str
    place: int
    choice: int
    function: str
    statement: int  # the line of the statement that it stands in; 0 in a constant of the module
    interpreted: bool  # within a kernel: run with numba's compiler off
    source: str = ""  # the line as it stands in the file
    nth: int = 0  # of those whose identity would be the same

    @property
    def name(self) -> str:
        """As a reader finds it."""
        return f"{self.file}:{self.line}:{self.column} {self.before} -> {self.after}"

    @property
    def identity(self) -> str:
        """By which a record knows it, whatever lines come or go elsewhere in its file."""
        return (
            f"{self.file} {self.function} {self.nth}: {self.source}: {self.before} -> {self.after}"
        )

    @property
    def room(self) -> str:
        """The folder below `fast`."""
        return "/".join(self.file.split("/")[1:-1]) or "(elementary)"


def files() -> list[str]:
    """The files of the rooms, relative to the repository."""
    found = [path for room in ROOMS for path in sorted((ROOT / "fast" / room).glob("*.py"))]
    found += [ROOT / "fast" / name for name in FURTHER]
    return [path.relative_to(ROOT).as_posix() for path in found]


def replacements(node: ast.AST) -> list[ast.expr | ast.stmt]:
    """What may stand in the place of a node."""
    if isinstance(node, ast.Compare):
        return [
            _with(node, ops=[*node.ops[:i], other(), *node.ops[i + 1 :]])
            for i, op in enumerate(node.ops)
            for other in _COMPARE.get(type(op), ())
        ]
    if isinstance(node, ast.BinOp):
        changed = _OPERATE.get(type(node.op))
        found = [_with(node, op=changed())] if changed else []
        return found + ([node.left, node.right] if isinstance(node.op, ast.Add | ast.Sub) else [])
    if isinstance(node, ast.AugAssign):
        changed = _OPERATE.get(type(node.op))
        return [_with(node, op=changed())] if changed else []
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        kept = [node.values[:i] + node.values[i + 1 :] for i in range(len(node.values))]
        fewer = [v[0] if len(v) == 1 else _with(node, values=v) for v in kept]
        return [_with(node, op=other), *fewer]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return [] if isinstance(node.operand, ast.Constant) else [node.operand]
    if isinstance(node, ast.Constant):
        return [ast.Constant(value) for value in _numbers(node.value)]
    if isinstance(node, ast.Call):
        return _calls(node)
    return []


def _with(node: Any, **changed: Any) -> Any:
    new = copy.copy(node)
    for name, value in changed.items():
        setattr(new, name, value)
    return new


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1] if value else [1]
    if isinstance(value, float):
        return [value * (1 + 1e-3) if value else 1.0]
    return []


def _calls(node: ast.Call) -> list[ast.expr | ast.stmt]:
    f = node.func
    name = f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""
    if name in _SWAP:
        new = _with(f, id=_SWAP[name]) if isinstance(f, ast.Name) else _with(f, attr=_SWAP[name])
        return [_with(node, func=new)]
    if name == "range" and node.args:  # off by one at the end
        end = min(1, len(node.args) - 1)
        last = ast.BinOp(node.args[end], ast.Sub(), ast.Constant(1))
        return [_with(node, args=[*node.args[:end], last, *node.args[end + 1 :]])]
    return [node.args[0]] if name in _SKIP and len(node.args) == 1 else []


def places(
    tree: ast.Module, file: str
) -> Iterator[tuple[Any, str, int | None, Any, dict[str, Any]]]:
    """Parent, field, index, node and surroundings of every node that may change, in a fixed order."""
    found = {n for node in ast.walk(tree) for n in _decorators(node)}
    any_kernel = bool(found & {"kernel", "intrinsic"})
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from _definitions(node, "", file)
        elif isinstance(node, ast.Assign) and not isinstance(node.value, ast.Dict):
            about = {"function": "", "statement": 0, "interpreted": any_kernel}
            yield from _below(node, about)


def _definitions(node: Any, prefix: str, file: str) -> Iterator[Any]:
    decorators = _decorators(node)
    if node.name in _UNTOUCHED or "intrinsic" in decorators:
        return
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef | ast.ClassDef):
                yield from _definitions(inner, f"{node.name}.", file)
        return
    text = file == COMPILED_TEXTS and node.name != "compiled"
    about = {"function": prefix + node.name, "interpreted": text or bool(decorators & _DECORATORS)}
    for i, statement in enumerate(node.body):
        inner = about | {"statement": statement.lineno}
        if not isinstance(statement, ast.Raise):
            yield node, "body", i, statement, inner
            yield from _below(statement, inner)


def _decorators(node: ast.AST) -> set[str]:
    found = (d.func if isinstance(d, ast.Call) else d for d in getattr(node, "decorator_list", ()))
    return {d.id if isinstance(d, ast.Name) else getattr(d, "attr", "") for d in found}


def _below(node: ast.AST, about: dict[str, Any]) -> Iterator[Any]:
    """Places within a statement, itself left to its parent; messages and types are left alone."""
    for field, value in ast.iter_fields(node):
        if field in _NOT_RUN and not isinstance(node, ast.Call):
            continue
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for index, item in items:
            if not isinstance(item, ast.AST) or isinstance(item, ast.Raise | ast.JoinedStr):
                continue
            inner = about
            if isinstance(item, ast.stmt) and about["statement"]:
                inner = about | {"statement": item.lineno}
            if not (isinstance(item, ast.Constant) and isinstance(node, ast.Expr)):
                yield node, field, index, item, inner
                yield from _below(item, inner)


@cache
def mutants(file: str) -> list[Mutant]:
    """Every mutant of a file."""
    text = (ROOT / file).read_text()
    found, seen, lines = [], Counter[str](), text.splitlines()
    for place, (_, _, _, node, about) in enumerate(places(ast.parse(text), file)):
        for choice, new in enumerate(replacements(node)):
            where, what = (file, node.lineno, node.col_offset), (_short(node), _short(new))
            mutant = Mutant(
                *where,
                *what,
                place=place,
                choice=choice,
                source=lines[node.lineno - 1].strip(),
                **about,
            )
            found.append(replace(mutant, nth=seen[mutant.identity]))
            seen[mutant.identity] += 1
    return found


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 90 else text[:87] + "..."


def changed(mutant: Mutant) -> ast.Module:
    """The tree of the mutant's file, with its change."""
    tree = ast.parse((ROOT / mutant.file).read_text())
    for place, (parent, field, index, node, _) in enumerate(places(tree, mutant.file)):
        if place == mutant.place:
            new = ast.copy_location(replacements(node)[mutant.choice], node)
            if index is None:
                setattr(parent, field, new)
            else:
                getattr(parent, field)[index] = new
            return ast.fix_missing_locations(tree)
    raise LookupError(mutant.name)


def sample(count: int, seed: int, *only: str) -> tuple[list[Mutant], dict[str, int]]:
    """A share of every file's mutants, drawn by ``seed``, and how many there are by room.

    ``only`` is what the names of the files begin with that are drawn from.
    """
    every = {file: mutants(file) for file in files() if file.startswith(only or ("",))}
    rng = random.Random(seed)
    total = sum(map(len, every.values()))
    drawn, owed = [], 0.0
    for found in every.values():  # what rounding leaves out goes to the next file
        owed += count * len(found) / total
        take = min(round(owed), len(found))
        owed -= take
        drawn += sorted(rng.sample(found, take), key=lambda m: (m.line, m.column, m.choice))
    rooms: dict[str, int] = {}
    for found in every.values():
        for mutant in found:
            rooms[mutant.room] = rooms.get(mutant.room, 0) + 1
    return drawn, rooms
