"""Box: every entry between 0 and r."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats, Number
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Box",
    kind="sets",
    formulas={
        "set": "{x in R^d : 0 <= x_i <= r}",
        "support": "r sum_i max(0, w_i)",
        "projection": "argmin 1/2||x - a||^2 over the set",
        "solution": "x = clip(a, 0, r)",
    },
    symbols=(Symbol("r", "upper end of every entry", low=0, default=1.0, unit="x", rows="may"),),
    scaling="r carries the units of x",
    source="dual set of a sum of binary hinges: Lapin et al. 2016, equations (2) and (9) of the long version",
)

arguments = ("a", "r")


def constraints(x: cp.Expression, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: 0 <= x <= r."""
    return [x >= 0, x <= r]


def halfspaces(d: int, r: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h, rational."""
    return [*f.units(d, -1), *f.units(d, bound=r)]


def support(w: Array, r: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return r * f.positive(w).sum(axis=-1)


def violation(x: Array, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    return f.positive(np.maximum((-x).max(axis=-1), x.max(axis=-1) - r))


def repair(x: Array, r: Number = 1.0) -> Array:
    """The feasible point nearest to ``x``."""
    return np.clip(x, 0, f.column(r))


def residual(x: Array, w: Array, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    return (f.positive(f.column(r) - x) * f.positive(w) + x * f.positive(-w)).sum(axis=-1)


def nearest(a: Array, r: Floats = 1.0) -> Array:
    """The projections, row by row."""
    return repair(a, r)
