"""The shortest CVXPY problem about which something is still said that is not true.

`shrink` drops constraints, terms of the objective, rows and entries of variables, and rounds numbers, as
long as a predicate holds (Zeller & Hildebrandt 2002); `script` writes what is left as Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.index import index, special_index
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.unary_operators import NegExpression

Array = np.ndarray[Any, Any]
Predicate = Callable[[cp.Problem], bool]
_DIGITS = (0, 1, 2, 4, 8)


def _array(constant: Any) -> Array:
    value = constant.value
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)


def _constant(expression: Any) -> bool:
    return expression.is_constant() and not expression.parameters()


def _matmul(expression: Any) -> bool:
    """Whether it is a product of matrices; `multiply` is a subclass of its class."""
    return isinstance(expression, MulExpression) and not isinstance(expression, multiply)


def simplified(expression: Any) -> Any:
    """The same expression with constants multiplied out and rows chosen where the numbers are."""
    if isinstance(expression, cp.Variable | cp.Constant):
        return expression
    if _constant(expression):
        return cp.Constant(_array(expression))
    args = [simplified(a) for a in expression.args]
    if isinstance(expression, AddExpression):
        args = [a for a in args if not (_constant(a) and not np.any(_array(a)))] or args[:1]
        total = args[0]
        for a in args[1:]:
            total = total + a
        if total.shape == expression.shape:
            return total
        return expression.copy([simplified(a) for a in expression.args])
    if _matmul(expression) and _constant(args[0]):
        inner = args[1]
        if _matmul(inner) and _constant(inner.args[0]):
            return _product(_product(args[0], inner.args[0]), inner.args[1])
    if isinstance(expression, index | special_index):
        chosen = _rows_of(args[0], expression)
        if chosen is not None:
            return chosen
    return expression.copy(args)


def _product(left: Any, right: Any) -> Any:
    """Their product, computed where both are numbers."""
    scalar = left.ndim == 0 or right.ndim == 0
    if _constant(right):
        one, other = _array(left), _array(right)
        return cp.Constant(one * other if scalar else one @ other)
    return left * right if scalar else left @ right


def _rows_of(inner: Any, chooser: Any) -> Any:
    """Rows of a sum or product, taken from its numbers; None where that is not simple."""
    if inner.ndim != 1:
        return None
    where = chooser.key[0] if isinstance(chooser, index) else np.ravel(chooser.key)
    if isinstance(inner, AddExpression) and all(a.ndim == 1 for a in inner.args):
        return simplified(sum((a[where] for a in inner.args[1:]), inner.args[0][where]))
    if isinstance(inner, multiply):
        return cp.multiply(*(simplified(a[where] if a.ndim else a) for a in inner.args))
    if _matmul(inner) and _constant(inner.args[0]) and inner.args[0].ndim == 2:
        return cp.Constant(_array(inner.args[0])[where]) @ inner.args[1]
    if isinstance(inner, NegExpression):
        return -simplified(inner.args[0][where])
    if isinstance(inner, Promote):
        return cp.promote(inner.args[0], np.zeros(inner.shape)[where].shape)
    return None


def _map(expression: Any, leaf: Callable[[Any], Any]) -> Any:
    """A copy with leaves, or whole subexpressions, replaced."""
    new = leaf(expression)
    if new is not expression or not expression.args:
        return new
    return expression.copy([_map(a, leaf) for a in expression.args])


def _changed(problem: cp.Problem, leaf: Callable[[Any], Any]) -> cp.Problem:
    def new(thing: Any) -> Any:
        return thing.copy([simplified(_map(a, leaf)) for a in thing.args])

    return cp.Problem(new(problem.objective), [new(c) for c in problem.constraints])


def _replacement(old: Any, new: Any) -> Callable[[Any], Any]:
    return lambda leaf: new if leaf is old else leaf


def _copy(variable: Any, shape: tuple[int, ...] | None = None) -> cp.Variable:
    given = {k: v for k, v in variable.attributes.items() if v is not None and v is not False}
    return cp.Variable(variable.shape if shape is None else shape, **given)


def _parts(length: int) -> Iterator[tuple[int, int]]:
    """Pieces to leave out: halves first, single ones last."""
    size = length
    while size > 1:
        size = (size + 1) // 2
        yield from ((start, min(start + size, length)) for start in range(0, length, size))


def _without_constraints(problem: cp.Problem) -> Iterator[cp.Problem]:
    kept = problem.constraints
    for low, high in [(0, len(kept))] * (len(kept) > 0) + list(_parts(len(kept))):
        yield cp.Problem(problem.objective, kept[:low] + kept[high:])


def _without_terms(problem: cp.Problem) -> Iterator[cp.Problem]:
    expression, kind = problem.objective.expr, type(problem.objective)
    terms = expression.args if isinstance(expression, AddExpression) else []
    for i in range(len(terms)):
        rest = terms[:i] + terms[i + 1 :]
        yield cp.Problem(kind(sum(rest[1:], rest[0])), problem.constraints)
    scaled = isinstance(expression, MulExpression) and _constant(expression.args[0])
    if scaled and expression.args[1].size == 1 and np.all(_array(expression.args[0]) > 0):
        yield cp.Problem(kind(expression.args[1]), problem.constraints)


def _without_rows(problem: cp.Problem) -> Iterator[cp.Problem]:
    relations = {
        cp.constraints.Inequality: lambda e: e <= 0,
        cp.constraints.Equality: lambda e: e == 0,
    }
    for i, constraint in enumerate(problem.constraints):
        make: Any = relations.get(type(constraint))
        if make is None or len(constraint.shape) != 1:
            continue
        left = constraint.args[0] - constraint.args[1]
        for low, high in _parts(constraint.size):
            keep = np.r_[0:low, high : constraint.size]
            if len(keep):
                rows = [*problem.constraints]
                rows[i] = make(simplified(left[keep]))
                yield cp.Problem(problem.objective, rows)


def _affine(expression: Any) -> Iterator[Any]:
    """The largest affine vectors inside functions of them."""
    for argument in expression.args:
        if argument.ndim == 1 and argument.size > 1 and argument.is_affine() and argument.args:
            yield argument
        elif not argument.is_affine():
            yield from _affine(argument)


def _without_arguments(problem: cp.Problem) -> Iterator[cp.Problem]:
    """Entries of the vectors that functions are taken of."""
    for tree in [problem.objective, *[a for c in problem.constraints for a in c.args]]:
        for vector in _affine(tree):
            for low, high in _parts(vector.size):
                keep = np.r_[0:low, high : vector.size]
                if len(keep):
                    yield _changed(problem, _replacement(vector, simplified(vector[keep])))


def _without_entries(problem: cp.Problem) -> Iterator[cp.Problem]:
    """Entries of variables are set to 0."""
    for variable in problem.variables():
        given = {k: v for k, v in variable.attributes.items() if v is not None and v is not False}
        both = any(k in given for k in ("PSD", "NSD", "symmetric", "hermitian", "diag"))
        for axis in range(1 if both else variable.ndim):
            length = variable.shape[axis]
            for low, high in _parts(length):
                keep = np.r_[0:low, high:length]
                if not len(keep) or any(isinstance(v, list | tuple) for v in given.values()):
                    continue
                shape = tuple(
                    len(keep) if both or i == axis else s for i, s in enumerate(variable.shape)
                )
                small, E = _copy(variable, shape), np.eye(length)[:, keep]
                padded = E @ small if axis == 0 else small @ E.T
                padded = padded @ E.T if both else padded
                yield _changed(problem, _replacement(variable, padded))


def _with_round_numbers(problem: cp.Problem) -> Iterator[cp.Problem]:
    for constant in {id(c): c for c in problem.constants()}.values():
        value = _array(constant)
        for digits in _DIGITS:
            size = 10.0 ** np.floor(np.log10(np.maximum(np.abs(value), 1e-300)))
            rounded = np.round(value / size, digits) * size if digits else np.sign(value)
            rounded = np.array([float(f"{v:.12g}") for v in rounded.ravel()]).reshape(value.shape)
            if np.array_equal(rounded, value):
                break
            new = cp.Constant(rounded)
            yield _changed(problem, _replacement(constant, new))


_MOVES = (
    _without_constraints,
    _without_terms,
    _without_entries,
    _without_rows,
    _with_round_numbers,
)


def shrink(problem: cp.Problem, lie: Predicate, *, tries: int = 2000) -> cp.Problem:
    """The smallest problem found for which ``lie`` holds.

    Parameters
    ----------
    problem : cvxpy.Problem
        Without parameters; it is not changed.
    lie : callable
        Whether what is wrong is still wrong of a problem, which it may solve; what raises is not.
    tries : int
        Number of calls of ``lie``.
    """
    fresh = {id(v): _copy(v) for v in problem.variables()}
    problem = _changed(problem, lambda leaf: fresh.get(id(leaf), leaf))
    again = True
    while again and tries > 0:
        again = False
        for move in _MOVES:
            candidates = move(problem)
            while tries > 0:
                candidate = next(candidates, None)
                if candidate is None:
                    break
                tries -= 1
                for variable in candidate.variables():  # as if nobody had solved it yet
                    variable.save_value(None)
                try:
                    holds = bool(candidate.variables()) and lie(candidate)
                except Exception:  # a candidate need not make sense
                    holds = False
                if holds:
                    problem, again = candidate, True
                    candidates = move(problem)
    return problem


class _Script:
    """Python text of a problem."""

    def __init__(self) -> None:
        self.imports: dict[str, str] = {}
        self.names: dict[int, str] = {}
        self.declared: list[str] = []

    def number(self, value: Any) -> str:
        array = np.asarray(value, dtype=float)
        text = repr((array + 0.0).tolist()).replace(".0,", ",").replace(".0]", "]")
        text = text.replace("inf", "np.inf").replace("nan", "np.nan")
        return text if array.ndim == 0 else f"np.array({text})"

    def data(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            return self.number(value)
        if isinstance(value, cp.Expression):
            return self.text(value)
        if isinstance(value, list | tuple):
            return f"[{', '.join(map(self.data, value))}]"
        if isinstance(value, Fraction):
            self.imports["Fraction"] = "from fractions import Fraction"
        return repr(value.item() if isinstance(value, np.generic) else value)

    def called(self, thing: Any) -> str:
        name = type(thing).__name__
        if getattr(cp, name, None) is type(thing):
            return f"cp.{name}"
        self.imports[name] = f"from {type(thing).__module__} import {name}"
        return name

    def variable(self, leaf: Any) -> str:
        if leaf.id not in self.names:
            name = self.names[leaf.id] = f"x{len(self.names)}"
            given = [
                f", {k}={self.data(v)}"
                for k, v in leaf.attributes.items()
                if v is not None and v is not False
            ]
            self.declared.append(f"{name} = cp.Variable({leaf.shape}{''.join(given)})")
        return self.names[leaf.id]

    def text(self, e: Any) -> str:
        if isinstance(e, cp.Variable):
            return self.variable(e)
        if _constant(e):
            return self.number(_array(e))
        args = [self.text(a) for a in e.args]
        if isinstance(e, AddExpression):
            return f"({' + '.join(args)})"
        if isinstance(e, NegExpression):
            return f"-{args[0]}"
        if _matmul(e) or isinstance(e, DivExpression):
            scalar = e.args[0].ndim == 0 or e.args[1].ndim == 0
            sign = "/" if isinstance(e, DivExpression) else "*" if scalar else "@"
            return f"({args[0]} {sign} {args[1]})"
        if isinstance(e, Promote):
            return f"cp.promote({args[0]}, {e.shape})"
        if isinstance(e, index):
            slices = [f"{k.start}:{k.stop}:{k.step}".replace("None", "") for k in e.key]
            return f"{args[0]}[{', '.join(slices)}]"
        if isinstance(e, special_index):
            keys = e.key if isinstance(e.key, tuple) else (e.key,)
            return f"{args[0]}[{', '.join(repr(np.asarray(k).tolist()) for k in keys)}]"
        return f"{self.called(e)}({', '.join([*args, *map(self.data, e.get_data() or [])])})"

    def constraint(self, c: Any) -> str:
        args = [self.text(a) for a in c.args]
        if isinstance(c, cp.constraints.Inequality):
            return f"{args[0]} <= {args[1]}"
        if isinstance(c, cp.constraints.Equality):
            return f"{args[0]} == {args[1]}"
        if isinstance(c, cp.constraints.PSD):
            return f"{args[0]} >> 0"
        if isinstance(c, cp.PowCone3D):
            args.append(self.number(c.alpha.value))
        return f"{self.called(c)}({', '.join(args)})"


def script(problem: cp.Problem) -> str:
    """Python that makes the problem, as ``problem``."""
    writer = _Script()
    objective = writer.text(problem.objective.expr)
    rows = [f"    {writer.constraint(c)},\n" for c in problem.constraints]
    kind = type(problem.objective).__name__
    head = ["import cvxpy as cp", "import numpy as np", *sorted(writer.imports.values())]
    constraints = f"[\n{''.join(rows)}]" if rows else "[]"
    return "\n".join(
        [
            *head,
            "",
            *writer.declared,
            f"problem = cp.Problem(cp.{kind}({objective}), {constraints})",
            "",
        ]
    )
