"""Top-k simplex, beta variant: no entry exceeds the k-th part of the bound on the sum.

Delta = {0 <= x_i <= r/k, s <= r}, s = <1,x>: a box with a bound on the sum; k = 1 gives the
alpha variant.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats, Number
from refsolve.formulas import Array
from refsolve.sets import topk_simplex_alpha as alpha

SPEC = replace(
    alpha.SPEC,
    title="Top-k simplex, beta variant",
    formulas={
        "set": "{x in R^d : 0 <= x_i <= r/k, s <= r},  s = <1,x>",
        "support": "(r/k) S_k(max(w, 0)),  S_k = sum of the k largest",
        "projection": "argmin 1/2||x - a||^2 + rho/2 <1,x>^2 over the set",
        "solution": ("x = clip(a - t, 0, r/k),  t the least real >= 0 with s <= r and rho s <= t"),
    },
    source="Lapin et al. 2015, section 2.3; 2016, section 2",
    notes=("for k >= d the bound on the sum follows from the box",),
)

#: What the caps x_i <= cap(x) are shares of.
caps = "radius"


def constraints(x: cp.Expression, k: int, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: 0 <= x_i <= r/k, s <= r."""
    return [x >= 0, x <= r / k, cp.sum(x) <= r]


def halfspaces(d: int, k: int, r: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h, rational."""
    return [
        *f.units(d, -1),
        *f.units(d, bound=Fraction(r) / k),
        ([Fraction(1)] * d, Fraction(r), False),
    ]


def support(w: Array, k: int, r: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return r * f.top_sum(f.positive(w), k) / k


def cap(x: Array, k: int, r: Number = 1.0) -> Array:
    """Largest value that the set allows an entry of a feasible x: r/k."""
    return (f.column(r) + 0 * x) / k  # in the dtype of x: 1/k has to have its digits


def violation(x: Array, k: int, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    excess = np.maximum((-x).max(axis=-1), x.max(axis=-1) - r / k)
    return f.positive(np.maximum(excess, x.sum(axis=-1) - r))


def repair(x: Array, k: int, r: Number = 1.0) -> Array:
    """A feasible point near ``x``: clipped to the box, then the sum scaled down."""
    x = np.clip(x, 0, f.column(r) / k)
    return f.lower_sum(x, r)


def residual(x: Array, w: Array, k: int, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    zero = np.zeros((*w.shape[:-1], 1), w.dtype)
    t = f.positive(f.kth_largest(w, k)) if k <= w.shape[-1] else zero
    slack = f.positive(f.column(r) / k - x) * f.positive(w - t) + x * f.positive(t - w)
    return slack.sum(axis=-1) + t[..., 0] * f.positive(r - x.sum(axis=-1))


def nearest(a: Array, k: int, r: Floats = 1.0, rho: Floats = 0.0) -> Array:
    """Rows near the biased projections, by bisection: a proposal for certificates to judge."""

    def point(t: Array) -> Array:
        return np.clip(a - t[..., None], 0, f.column(r) / k)

    def too_small(t: Array) -> Array:
        s = point(t).sum(axis=-1)
        return (s > r) | (rho * s > t)

    low = np.zeros(a.shape[:-1], a.dtype)
    high = f.positive(a.max(axis=-1))
    t = np.where(too_small(low), f.bisect(too_small, low, high), low)
    return repair(point(t), k, r)
