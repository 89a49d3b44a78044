"""Random CVXPY problems, written as users write them, whose optimum is known exactly.

A point x* and the values of affine expressions u = Ax + b there are drawn first, small integers times
powers of two at which every atom used has a rational subgradient (a Pythagorean vector for a norm, 0
for an exponential, a Hadamard matrix for eigenvalues). With weights w, multipliers l >= 0 of the active
constraints and c = -sum w_k grad f_k(x*) - sum l_j grad g_j(x*), which floats hold exactly, x* minimises

    sum w_k f_k(x) + c'x   subject to   g_j(x) <= g_j(x*) + slack_j, equations, cones

by convexity alone (Boyd & Vandenberghe 2004, 5.5.3). `check` compares the value and each constraint with
CVXPY's own; `refsolve.cones.exact_simplex` proves linear programs again, in rational numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

from verification.selftest.planted_atoms import TERMS, Term, integers, rotation, square

Array = np.ndarray[Any, Any]
#: Kinds of problems: the atoms that they may use beside linear ones.
KINDS = ("lp", "qp", "socp", "exp", "sdp", "power", "mixed")


@dataclass(frozen=True)
class Case:
    """A problem and what is true of it.

    Attributes
    ----------
    name : str
        Kind and the atoms that it uses.
    problem : cvxpy.Problem
        Its variables have no values.
    truth : {"optimal", "infeasible", "unbounded"}
    low, high : Fraction or None
        The optimal value is between them (equal but for logarithms).
    point : dict of Variable to array
        An optimal point, exactly; if unbounded a feasible one, if infeasible none.
    """

    name: str
    problem: cp.Problem
    truth: str
    low: Fraction | None = None
    high: Fraction | None = None
    point: dict[cp.Variable, Array] = field(default_factory=dict)

    def set_point(self) -> None:
        """Give the variables their optimal values."""
        for variable, value in self.point.items():
            variable.save_value(value)


class _Writer:
    """Variables with values, and affine expressions of them."""

    def __init__(self, rng: np.random.Generator, size: int, scale: int, kind: str) -> None:
        self.rng = rng
        self.variables: list[cp.Variable] = []
        self.values: list[Array] = []  # flat, columns first
        self.powers: list[Array] = []
        self.gradient: list[Array] = []
        self.names: list[str] = []
        left = size
        while left > 0:
            part = left if rng.random() < 0.5 else max(1, left // 2)
            self._variable(part, scale, kind)
            left -= part

    def _variable(self, size: int, scale: int, kind: str) -> None:
        rng = self.rng
        x = integers(rng, size)
        given: dict[str, Any] = {}
        shape: tuple[int, ...] = (size,)
        multiplier = np.zeros(size)
        how = int(rng.integers(6))
        if kind in ("sdp", "mixed") and how < 2 and size >= 4:
            H = rotation(rng)
            n, d = len(H), integers(rng, len(H), 0, 4)
            given = ({"PSD": True}, {"symmetric": True})[how]
            X, dual = H @ np.diag(d) @ H.T, np.where(d == 0, integers(rng, n, 0, 4), 0)
            shape, x = (n, n), X.ravel(order="F")
            multiplier = (H @ np.diag(dual) @ H.T).ravel(order="F") if how == 0 else 0 * x
        elif how == 2:
            given, x = {"nonneg": True}, np.maximum(x, 0)
            multiplier = np.where(x == 0, integers(rng, size, 0, 4), 0)
        elif how == 3:
            given = {"bounds": [-8, 8]}
        elif how == 4 and size % 2 == 0:
            shape = (size // 2, 2)
        power = np.zeros(len(x)) if given else np.asarray(rng.integers(-scale, scale + 1, len(x)))
        self.variables.append(cp.Variable(shape, name=f"x{len(self.variables)}", **given))
        self.values.append(x * np.exp2(power))
        self.powers.append(np.exp2(power))
        self.gradient.append(-multiplier / np.exp2(power))

    def flat(self, i: int) -> Any:
        variable = self.variables[i]
        return variable if variable.ndim == 1 else cp.vec(variable, order="F")

    def affine(self, at: Array) -> tuple[Any, Callable[[Array], None]]:
        """An expression of value ``at``, and what adds a gradient in it to that of the variables."""
        rng, rows = self.rng, len(at)
        chosen = rng.permutation(len(self.variables))[: int(rng.integers(1, 3))]
        parts, rest, used = [], at.copy(), []
        for i in chosen.tolist():
            n = len(self.values[i])
            A = integers(rng, (rows, n), -3, 4) * (rng.random((rows, n)) < min(1.0, 4 / n))
            if n == rows and rng.random() < 0.3:
                A = np.eye(n)
            A = A / self.powers[i]
            rest = rest - A @ self.values[i]
            parts.append(A @ self.flat(i))
            used.append((i, A))

        def add(g: Array) -> None:
            for i, A in used:
                self.gradient[i] = self.gradient[i] + A.T @ g

        expression = parts[0]
        for part in parts[1:]:
            expression = expression + part
        return (expression + rest if np.any(rest) else expression), add


def draw(rng: np.random.Generator, kind: str = "", size: int = 0, scale: int = 0) -> Case:
    """Draw a problem with an optimal point.

    Parameters
    ----------
    rng : numpy.random.Generator
    kind : one of `KINDS`, optional
        Drawn if not given.
    size : int
        Number of variables, about; 2 to 12 if not given.
    scale : int
        Variables, rows and the objective are multiplied by powers of two up to this exponent.
    """
    kind = kind or str(rng.choice(KINDS))
    size = size or int(rng.integers(2, 13))
    writer = _Writer(rng, size, scale, kind)
    constraints: list[Any] = []
    _linear_rows(writer, constraints, scale)
    for _ in range(int(rng.integers(0, 3))):
        _curved_row(writer, constraints, kind)
    objective: Any = 0
    value, logs = Fraction(0), Fraction(0)
    for _ in range(int(rng.integers(1, 4))):
        term = _term(rng, kind)
        expression, add = writer.affine(term.at)
        weight = term.weight * float(np.exp2(rng.integers(-2, 3)))
        objective = objective + weight * term.make(expression)
        add(term.gradient * weight / term.weight)
        value += Fraction(weight) * term.value
        logs += Fraction(weight) * term.logs
        writer.names.append(term.name)
    for i, gradient in enumerate(writer.gradient):
        if np.any(gradient):
            objective = objective - gradient @ writer.flat(i)
            value -= sum(
                (Fraction(g) * Fraction(x) for g, x in zip(gradient.tolist(), writer.values[i].tolist(), strict=True)),
                Fraction(0),
            )  # fmt: skip
    low, high = _with_logs(value, logs)
    factor = float(np.exp2(int(rng.integers(-scale, scale + 1)))) if scale else 1.0
    objective, low, high = factor * objective, Fraction(factor) * low, Fraction(factor) * high
    point = {
        v: x.reshape(v.shape, order="F")
        for v, x in zip(writer.variables, writer.values, strict=True)
    }
    used = {v.id for c in [objective, *constraints] for v in _variables(c)}
    point = {v: x for v, x in point.items() if v.id in used}
    name = f"{kind}: {', '.join(sorted(set(writer.names)))}"
    if rng.random() < 0.3:
        return Case(
            name, cp.Problem(cp.Maximize(-objective), constraints), "optimal", -high, -low, point
        )
    return Case(name, cp.Problem(cp.Minimize(objective), constraints), "optimal", low, high, point)


def _variables(thing: Any) -> list[Any]:
    return list(thing.variables()) if hasattr(thing, "variables") else []


def _term(rng: np.random.Generator, kind: str) -> Term:
    terms = TERMS[kind]
    return terms[int(rng.integers(len(terms)))](rng)


def _linear_rows(writer: _Writer, constraints: list[Any], scale: int) -> None:
    """Inequalities, about half of them active, and equations."""
    rng = writer.rng
    n = sum(map(len, writer.values))
    for _ in range(int(rng.integers(1, 4))):
        rows = int(rng.integers(1, max(2, n)))
        active = rng.random(rows) < 0.6
        u = np.where(active, 0.0, -integers(rng, rows, 1, 5))
        expression, add = writer.affine(u)
        row = np.exp2(rng.integers(-scale, scale + 1, rows)) if scale else np.ones(rows)
        scaled = cp.multiply(row, expression) if scale else expression
        constraints.append(scaled <= 0)
        add(np.where(active, integers(rng, rows, 0, 4), 0.0))
    if rng.random() < 0.5:
        rows = int(rng.integers(1, max(2, n // 3 + 1)))
        expression, add = writer.affine(np.zeros(rows))
        constraints.append(expression == 0)
        add(integers(rng, rows, -3, 4))


def _curved_row(writer: _Writer, constraints: list[Any], kind: str) -> None:
    """One constraint by an atom, or by a cone."""
    rng = writer.rng
    if kind in ("sdp", "mixed") and rng.random() < 0.5:
        H = rotation(rng)
        n, d = len(H), integers(rng, len(H), 0, 4)
        dual = np.where(d == 0, integers(rng, n, 0, 3), 0)
        expression, add = writer.affine((H @ np.diag(d) @ H.T).ravel())
        constraints.append(square(expression, n) >> 0)
        add(-(H @ np.diag(dual) @ H.T).ravel())
        writer.names.append("PSD")
        return
    if kind in ("power", "mixed") and rng.random() < 0.5:
        a, size = float(rng.choice((0.25, 0.5, 0.375, 0.8125))), float(rng.integers(1, 4))
        sign = float(rng.choice((-1.0, 1.0)))
        expression, add = writer.affine(size * np.array([1.0, 1.0, sign]))
        constraints.append(cp.PowCone3D(expression[0], expression[1], expression[2], a))
        add(-float(rng.integers(0, 3)) * np.array([a, 1 - a, -sign]))
        writer.names.append("PowCone3D")
        return
    term = _term(rng, kind)
    while term.logs:
        term = _term(rng, kind)
    expression, add = writer.affine(term.at)
    active = rng.random() < 0.6
    slack = 0.0 if active else float(rng.integers(1, 4))
    limit = term.weight * term.value + Fraction(slack)
    left = term.make(expression) if term.weight == 1 else term.weight * term.make(expression)
    constraints.append(left <= float(limit))
    if active:
        add(term.gradient * float(rng.integers(0, 4)))
    writer.names.append(term.name)


def _with_logs(value: Fraction, logs: Fraction) -> tuple[Fraction, Fraction]:
    if logs == 0:
        return value, value
    with localcontext() as context:
        context.prec = 60
        about = Fraction(Decimal(2).ln()) * logs
    width = abs(about) / 10**50
    return value + about - width, value + about + width


def draw_infeasible(rng: np.random.Generator, kind: str = "", size: int = 0) -> Case:
    """A problem to whose constraints one was added that a combination of linear ones contradicts."""
    case = draw(rng, kind, size)
    x = next(iter(case.point))
    rows = int(rng.integers(1, 4))
    A = integers(rng, (rows, x.size), -3, 4)
    b, share = integers(rng, rows), integers(rng, rows, 1, 4)
    by = float(np.exp2(-int(rng.integers(0, 31))))
    flat = x if x.ndim == 1 else cp.vec(x, order="F")
    extra = [A @ flat <= b, -(share @ A) @ flat <= -float(share @ b) - by]
    problem = cp.Problem(case.problem.objective, [*case.problem.constraints, *extra])
    return Case(f"infeasible by {by:.0e}, {case.name}", problem, "infeasible")


def draw_unbounded(rng: np.random.Generator, kind: str = "", size: int = 0) -> Case:
    """A problem with one more variable that only helps."""
    case = draw(rng, kind, size)
    t = cp.Variable(name="t")
    slope = float(np.exp2(-int(rng.integers(0, 31))))
    sign = -1.0 if isinstance(case.problem.objective, cp.Minimize) else 1.0
    x = next(iter(case.point))
    flat = x if x.ndim == 1 else cp.vec(x, order="F")
    a, at = integers(rng, x.size, -2, 3), case.point[x].ravel(order="F")
    extra = [t >= -1, a @ flat - t <= float(a @ at)]
    objective = type(case.problem.objective)(case.problem.objective.expr + sign * slope * t)
    problem = cp.Problem(objective, [*case.problem.constraints, *extra])
    point = case.point | {t: np.zeros(())}
    return Case(f"unbounded by {slope:.0e}, {case.name}", problem, "unbounded", point=point)


def check(case: Case) -> None:
    """Raise AssertionError unless CVXPY's own values agree with what was planted, to rounding."""
    if case.truth != "optimal":
        return
    assert case.low is not None
    assert case.high is not None
    case.set_point()
    value, size = float(case.problem.objective.value), _size(case.problem.objective.expr)
    assert math.isclose(value, float(case.low), rel_tol=0, abs_tol=1e-11 * size), case.name
    for constraint in case.problem.constraints:
        scale = max(1.0, *map(_size, constraint.args))
        if isinstance(constraint, cp.constraints.PowCone3D):  # CVXPY would ask a solver
            x, y, z = (np.abs(arg.value) for arg in constraint.args)
            alpha = constraint.alpha.value
            residual = np.maximum(z - x**alpha * y ** (1 - alpha), 0.0)
        else:
            residual = constraint.violation()
        assert np.max(residual, initial=0.0) <= 1e-11 * scale, case.name


def _size(expression: Any) -> float:
    own = float(np.abs(expression.value).max(initial=0.0))
    return max([own, *map(_size, expression.args)])
