"""The values that a problem's variables have: what constraints fail by, and what the objective is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.bounds import Bounds, better
from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import down, up
from refsolve.cones.from_cvxpy import Compiled, compiled, dense
from refsolve.cones.lower import LowerBound, lower_bound
from refsolve.cones.membership import outside
from refsolve.cones.program import ConeProgram
from refsolve.cones.solving import few_digits, proposal
from refsolve.cones.upper import SMALL, Completion, Point, relaxed_program


class GivenValues:
    """Values of the variables, which those that CVXPY added have to complete.

    Parameters
    ----------
    problem : cvxpy.Problem
    whole : Compiled
    bounds : Bounds
    tolerance : float
    """

    def __init__(self, problem: Any, whole: Compiled, bounds: Bounds, tolerance: float) -> None:
        self.problem, self.whole, self.tolerance = problem, whole, tolerance
        self.program, self.bounds = whole.program, bounds
        #: The values with added variables with which their rows hold, if these were found.
        self.completed: Point | None = None

    def feasibility(self, x: Array) -> tuple[Point, bool, float, float, float]:
        """The values completed; whether rows of added variables hold; what the constraints fail by.

        By at most; by at most and at least relative to the largest coefficient of a row, and 1.
        """
        program, fixed = self.program, self.whole.fixed
        given = Completion(program, fixed)
        mixed = given.used & (not fixed.all())
        point, certain = None, 0.0
        if fixed.all():
            point = Point(x, np.zeros(len(x)))
        elif not self._fails():
            point = given.at_ends(x)
            if point is None and self.bounds.solution is not None and self.bounds.solution.solved:
                point = given.enclosed(np.where(fixed, x, self.bounds.solution.x))
            if point is None:
                _, point = next(given.attempts(x), (0.0, None))
        whole, self.completed = point is not None, point
        met = np.zeros(len(program.b), dtype=bool)
        if point is not None:
            met[: program.zero] = mixed[: program.zero]
        else:
            loose, point = self._relaxed(x)
        far = outside(program, point.x, point.eta, met)
        delta = float(far.max(initial=0.0))
        if delta == 0 and whole:
            return point, True, 0.0, 0.0, 0.0
        share = float((far / self._sizes).max(initial=0.0))
        if not whole and share > self.tolerance:
            certain = self._certain_of_relaxed(loose, x)
        certain = max(certain, self._certain(far, point.x, ~mixed))
        least, most = self._curved_residual(x)
        return point, whole, max(delta, most), max(share, most), max(certain, least)

    def _curved(self) -> list[Any]:
        """The user's own inequalities that are not affine."""
        kinds = (cp.constraints.Inequality, cp.constraints.NonPos, cp.constraints.NonNeg)
        return [
            row
            for row in self.problem.constraints
            if isinstance(row, kinds) and not all(argument.is_affine() for argument in row.args)
        ]

    def _fails(self) -> bool:
        """Whether a curved inequality fails in floats by more than rounding, so that nothing completes it."""
        with np.errstate(all="ignore"):
            return any(
                float(np.max(row.violation(), initial=0.0))
                > 1e-12 * max(map(largest_number, row.args))
                for row in self._curved()
            )

    @cached_property
    def _sizes(self) -> Array:
        """The largest coefficient of each row, and of its cone, at least 1: multiplying a row is no change."""
        program, rows = self.program, abs(self.program.rows)
        size = np.ones(len(program.b))
        np.maximum.at(size, np.repeat(np.arange(len(size)), np.diff(rows.indptr)), rows.data)
        blocks = [*program.second_order, *(cone for _, cone in program.more)]
        blocks += [slice(start, start + 3) for start in program.exponential.tolist()]
        for cone in blocks:
            size[cone] = size[cone].max()
        return size

    def _certain(self, far: Array, x: Array, simple: Array) -> float:
        """The relative violation of rows that only given variables are in, less rounding."""
        program, rows = self.program, self.program.rows
        with np.errstate(all="ignore"):
            rough = (abs(rows) @ np.abs(x) + np.abs(program.b)) * (np.diff(rows.indptr) + 4.0)
            if program.soc:
                tails, cone = program.tails
                np.add.at(rough, program.heads[cone], rough[tails])
            least = (far * (1 - 1e-9) - 1e-15 * rough) / self._sizes
        simple = simple & np.isfinite(least)
        simple[program.zero + program.nonneg + sum(program.soc) :] = False
        return float(least[simple].max(initial=0.0))

    def _relaxed(self, x: Array) -> tuple[ConeProgram, Point]:
        """Added variables with which the values violate as little as a solver can find."""
        loose = relaxed_program(self.program)
        mask, start = np.append(self.whole.fixed, False), np.append(x, 0.0)
        y, found = Completion(loose, mask).solved(start, 0.0)
        x = x if found is None else y[:-1]
        return loose, Point(x, 0 * x)

    def _certain_of_relaxed(self, loose: ConeProgram, x: Array) -> float:
        """By how much the values violate at least, whatever the added variables are."""
        program, fixed = self.program, self.whole.fixed
        mask, start = np.append(fixed, False), np.append(x, 0.0)
        strict = replace(loose, q=np.append(0 * program.q, 1.0))
        least = given_bound(strict, mask, start)
        middles = self.program.exponential + 1
        open_middles = (program.rows[middles] != 0) @ ~fixed if program.exp else np.zeros(0, bool)
        certain = 0.0 if least is None or np.any(open_middles) else down(least)
        return max(certain, 0.0) / float(self._sizes.max(initial=1.0))

    def _curved_residual(self, x: Array) -> tuple[float, float]:
        """At least and at most the largest residual of the user's own curved inequalities."""
        t = cp.Variable(nonneg=True)
        rows = [
            -row.args[0] <= t if isinstance(row, cp.constraints.NonNeg) else row.expr <= t
            for row in self._curved()
        ]
        if not rows:
            return 0.0, 0.0
        alone = compiled(cp.Problem(cp.Minimize(t), rows))
        fixed, values = alone.fixed.copy(), np.zeros(len(alone.program.q))
        for variable_id, columns in alone.columns.items():
            if variable_id in self.whole.columns:
                values[columns] = x[self.whole.columns[variable_id]]
            else:
                fixed[columns] = False
        most = self._residual_in_floats(alone, rows, t, values)
        if most is None:
            most = given_value(alone.program, fixed, values)
        least = None
        if most is None or most > self.tolerance:  # or else nothing follows from it
            least = given_bound(alone.program, fixed, values, most, self.tolerance)
        low = 0.0 if least is None else max(down(least), 0.0)
        return low, low if most is None else max(up(most), low)

    def _residual_in_floats(
        self, alone: Compiled, rows: list[Any], t: Any, values: Array
    ) -> Fraction | None:
        """The largest residual as CVXPY computes it, or a little more, if that is proven enough."""
        t.save_value(np.array(0.0))
        with np.errstate(all="ignore"):
            residual = max(float(np.max(row.violation(), initial=0.0)) for row in rows)
            size = max(largest_number(argument) for row in rows for argument in row.args)
        for more in (1e-13, 1e-10, 1e-7) if math.isfinite(residual + size) else ():
            values[alone.columns[t.id]] = residual + more * size
            point = next(Completion(alone.program, alone.fixed).attempts(values), None)
            if point is not None:
                return Fraction(float(values[alone.columns[t.id]][0]))
        return None

    def objective(self, x: Array, scale: Fraction) -> tuple[Fraction | None, Fraction | None]:
        """At most and at least the objective, to be minimised, from the objective alone."""
        goal, objective = float(scale), self.problem.objective
        if objective.expr.is_constant():
            value = Fraction(float(np.asarray(objective.expr.value).ravel()[0]))
            value = -value if isinstance(objective, cp.Maximize) else value
            return value, value
        alone, values = self.whole, x
        if not self.completed:
            alone = compiled(cp.Problem(type(objective)(objective.expr)))
            values = np.zeros(len(alone.program.q))
            for variable_id, columns in alone.columns.items():
                values[columns] = x[self.whole.columns[variable_id]]
        program, offset = alone.program, Fraction(alone.offset)
        given = Completion(program, alone.fixed)
        least = next(_given_bounds(given, values), LowerBound(None)).value
        most = self.bounds.value(self.completed) if self.completed else None
        most = None if most is None else most - self.bounds.offset
        if most is None or least is None or most - least > goal / 10:
            most = given_value(given.mine, alone.fixed, values, goal, least)
            least = given_bound(given.mine, alone.fixed, values, most, goal)
        return (
            None if most is None else most + offset,
            None if least is None else least + offset,
        )


def largest_number(expression: Any) -> float:
    """The largest number on the way to the values of an expression."""
    if not isinstance(expression, cp.Expression) or expression.value is None:
        return 0.0
    value: Any = expression.value
    data = value.data if hasattr(value, "tocoo") else dense(value)
    own = float(np.abs(data).max(initial=0.0))
    return max([own, *map(largest_number, expression.args)])


def given_value(
    program: ConeProgram,
    fixed: Array,
    values: Array,
    goal: float = 0.0,
    least: Fraction | None = None,
) -> Fraction | None:
    """At least the least objective with some variables given, offset apart.

    Points are looked for until their objective is within ``goal`` of ``least``, about.
    """
    given, best = Completion(program, fixed), None
    for margin, point in given.attempts(values):
        try:
            value = point.objective(program)
        except (OverflowError, ValueError):
            continue
        pure = np.zeros(len(program.b), dtype=bool)
        pure[: program.zero] = given.used[: program.zero]
        if outside(program, point.x, point.eta, pure).any():
            return None
        best = value if best is None else min(best, value)
        if margin >= goal / 100 or (least is not None and best - least <= goal / 10):
            break
    return best


def given_bound(
    program: ConeProgram,
    fixed: Array,
    values: Array,
    goal: Fraction | None = None,
    scale: float = 0.0,
) -> Fraction | None:
    """At most the least objective with some variables given, offset apart.

    Multipliers are looked for until the bound is within ``scale`` of ``goal``.
    """
    best = LowerBound(None)
    for bound in _given_bounds(Completion(program, fixed), values):
        best = better(best, bound)
        if goal is not None and best.value is not None and goal - best.value <= scale / 10:
            break
    return best.value


def _given_bounds(given: Completion, values: Array) -> Iterator[LowerBound]:
    """The same without multipliers first, for what ranges decide; then with a solver's."""
    mine, ranges, form = given.mine, given.ranges(values), curvature(given.program.P)
    if ranges.empty:
        return

    def bound(z: Array, w: Array) -> LowerBound:
        return lower_bound(mine, z, w, ranges.lo, ranges.hi, form)

    x, none = given.ends(ranges), np.zeros(len(mine.b))
    yield bound(none, x)
    base = np.where(given.fixed, values, 0.0)
    part = given.part(base)
    if part is None or form is None or not len(given.free):
        return
    size = 1.0 + float(np.abs(part.q).max(initial=0.0))
    for reward in (0.0, 1e-9, 1e-8, 1e-7, 1e-5):
        found = proposal(part, reward=reward * size)
        if found is not None:
            x = base.copy()
            x[given.free] = found.x
            yield bound(found.z, x)
            for few in few_digits(found.z) if reward == 0 and len(found.z) <= SMALL else ():
                yield bound(few, x)
            if reward == 0:
                yield bound(none, x)
