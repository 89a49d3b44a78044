"""Simplex of the probability vectors, scaled: {x >= 0, <1,x> = r}."""

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
    title="Simplex",
    kind="sets",
    formulas={
        "set": "{x in R^d : x >= 0, s = r},  s = <1,x>",
        "support": "r max_i w_i",
        "projection": "argmin 1/2||x - a||^2 + rho/2 <1,x>^2 over the set",
        "solution": "x = (a - t)_+ with t such that s = r",
    },
    symbols=(Symbol("r", "value of the sum", low=0, default=1.0, unit="x", rows="may"),),
    scaling="r carries the units of x; rho is dimensionless and only shifts the objective",
    source="Lapin et al. 2015, section 2.1 (there with s <= r); Crammer and Singer 2001",
)


def constraints(x: cp.Expression, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: x >= 0, s = r."""
    return [x >= 0, cp.sum(x) == r]


def halfspaces(d: int, r: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h or = h, rational."""
    return [*f.units(d, -1), ([Fraction(1)] * d, Fraction(r), True)]


def support(w: Array, r: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return r * w.max(axis=-1)


def violation(x: Array, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    return f.positive(np.maximum((-x).max(axis=-1), abs(x.sum(axis=-1) - r)))


def repair(x: Array, r: Number = 1.0) -> Array:
    """A feasible point near ``x``: negative entries to 0, then scaled (uniform if all are 0)."""
    x = f.positive(x)
    s = x.sum(axis=-1, keepdims=True)
    x = np.where(s > 0, x, 1)
    return x * (f.column(r) / np.where(s > 0, s, x.shape[-1]))


def residual(x: Array, w: Array, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    return (x * (w.max(axis=-1, keepdims=True) - w)).sum(axis=-1)


def nearest(a: Array, r: Floats = 1.0, rho: Floats = 0.0) -> Array:
    """Rows near the projections, by bisection: a proposal for certificates to judge."""

    def too_small(t: Array) -> Array:
        return f.positive(a - t[..., None]).sum(axis=-1) > r

    high = a.max(axis=-1)
    t = f.bisect(too_small, high - r, high)
    return repair(f.positive(a - t[..., None]), r)
