"""l1 ball: the sum of the absolute values is at most r."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats, Number
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="l1 ball",
    kind="sets",
    formulas={
        "set": "{x in R^d : sum_i |x_i| <= r}",
        "support": "r max_i |w_i|",
        "projection": "argmin 1/2||x - a||^2 over the set",
        "solution": "x = sign(a) (|a| - t)_+, t the least real >= 0 with sum_i |x_i| <= r",
    },
    symbols=(Symbol("r", "bound on sum |x_i|", low=0, default=1.0, unit="x", rows="may"),),
    scaling="r carries the units of x",
    source="Duchi, Shalev-Shwartz, Singer and Chandra 2008, Efficient Projections onto the l1-Ball",
    notes=(
        "signs times the projection of |a| on {x >= 0, s <= r}",
        "the prox of r max_i |x_i| is what this projection takes away from a (Moreau)",
    ),
)

arguments = ("a", "r")


def constraints(x: cp.Expression, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: sum |x_i| <= r."""
    return [cp.norm1(x) <= r]


def halfspaces(d: int, r: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h, rational: one per choice of signs."""
    one = Fraction(1)
    signs = itertools.product((-one, one), repeat=d)
    return [(list(row), Fraction(r), False) for row in signs]


def support(w: Array, r: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return r * abs(w).max(axis=-1)


def violation(x: Array, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    return f.positive(abs(x).sum(axis=-1) - r)


def repair(x: Array, r: Number = 1.0) -> Array:
    """A feasible point near ``x``: scaled."""
    return np.where(x < 0, -1, 1) * f.lower_sum(abs(x), r)


def residual(x: Array, w: Array, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    top = abs(w).max(axis=-1, keepdims=True)
    lost = abs(x) * (top - np.where(x < 0, -w, w))
    return lost.sum(axis=-1) + f.positive(r - abs(x).sum(axis=-1)) * top[..., 0]


def nearest(a: Array, r: Floats = 1.0) -> Array:
    """Rows near the projections, by bisection: a proposal for certificates to judge."""
    size = abs(a)

    def shrunk(t: Array) -> Array:
        return f.positive(size - t[..., None])

    high = size.max(axis=-1)
    t = f.bisect(lambda t: shrunk(t).sum(axis=-1) > r, np.zeros_like(high), high)
    return repair(np.where(a < 0, -1, 1) * shrunk(t), r)
