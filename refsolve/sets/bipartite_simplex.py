"""Bipartite simplex: nonnegative, with equal sums over two groups of entries, bounded by r.

Delta = {x >= 0, <1,x_N> = <1,x_P> <= r} for an indicator y, P = {y = 1}, N = {y = 0}.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats, Number
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Bipartite simplex",
    kind="sets",
    formulas={
        "set": "{x in R^d : x >= 0, <1,x_N> = <1,x_P> <= r},  P = {y = 1}, N = {y = 0}",
        "support": "r max{0, max w_N + max w_P};  0 if N or P is empty",
        "projection": "argmin 1/2||x - a||^2 over the set",
        "solution": (
            "x = (a - t - q)_+ on N, (a + t - q)_+ on P, t such that <1,x_N> = <1,x_P>,\n"
            "q the least real >= 0 with <1,x_P> <= r"
        ),
    },
    symbols=(
        Symbol("r", "bound on the sum of each side", low=0, default=1.0, unit="x", rows="may"),
    ),
    scaling="r carries the units of x",
    source="Lapin et al. 2018 (TPAMI), multilabel SVM; vertices r (e_j + e_l), j in N, l in P, and 0",
    notes=(
        "N or P empty leaves only x = 0",
        "x = 0 is the projection if and only if max a_N + max a_P <= 0 (or r = 0)",
    ),
)

arguments = ("a", "y", "r")


def constraints(x: cp.Expression, y: ArrayLike, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: x >= 0, <1,x_N> = <1,x_P> <= r."""
    y = np.asarray(y, dtype=float)
    return [x >= 0, (1 - 2 * y) @ x == 0, y @ x <= r]


def halfspaces(d: int, y: Array | Sequence[int], r: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h or = h, rational."""
    rows = f.units(d, -1)
    inside = [Fraction(bool(v)) for v in y]
    rows.append(([1 - 2 * v for v in inside], Fraction(0), True))
    return [*rows, (inside, Fraction(r), False)]


def _empty(y: Array) -> Any:
    """Rows where N or P is empty."""
    return ~y.any(axis=-1) | y.all(axis=-1)


def _sums(x: Array, y: Array) -> tuple[Array, Array]:
    """<1,x_N> and <1,x_P>."""
    return np.where(y, 0, x).sum(axis=-1), np.where(y, x, 0).sum(axis=-1)


def _tops(w: Array, y: Array) -> tuple[Array, Array]:
    """Largest entries of w_N and w_P with the axis kept; a number without meaning where empty."""
    least = w.min(axis=-1, keepdims=True)
    low = np.where(y, least, w).max(axis=-1, keepdims=True)
    return low, np.where(y, w, least).max(axis=-1, keepdims=True)


def radius(a: Array, y: ArrayLike, r: Floats = 1.0) -> Array:
    """Bound on the common sum at the projection: r, and s^2 d/(|N||P|) <= <a,x> <= s (tops) there."""
    y = np.asarray(y, dtype=bool)
    low, high = _tops(a, y)
    right, d = y.sum(axis=-1), y.shape[-1]
    total = f.positive((low + high)[..., 0])
    return np.minimum(r, total * (right * (d - right) * np.ones((), a.dtype) / d))


def support(w: Array, y: ArrayLike, r: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    y = np.asarray(y, dtype=bool)
    low, high = _tops(w, y)
    return r * np.where(_empty(y), 0, f.positive((low + high)[..., 0]))


def violation(x: Array, y: ArrayLike, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    low, high = _sums(x, np.asarray(y, dtype=bool))
    excess = np.maximum(abs(low - high), np.maximum(low, high) - r)
    return f.positive(np.maximum((-x).max(axis=-1), excess))


def repair(x: Array, y: ArrayLike, r: Number = 1.0) -> Array:
    """A feasible point near ``x``: negative entries to 0, then each side scaled to the least sum."""
    y = np.asarray(y, dtype=bool)
    x = f.positive(x)
    low, high = _sums(x, y)
    s = np.minimum(np.minimum(low, high), r)  # type: ignore[arg-type]
    return np.where(y, f.lower_sum(np.where(y, x, 0), s), f.lower_sum(np.where(y, 0, x), s))


def residual(x: Array, w: Array, y: ArrayLike, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    y = np.asarray(y, dtype=bool)
    low, high = _tops(w, y)
    lost = x * f.positive(np.where(y, high, low) - w)
    total, s = (low + high)[..., 0], np.minimum(*_sums(x, y))
    rest = f.positive(r - s) * f.positive(total) + s * f.positive(-total)
    return np.where(_empty(y), 0, lost.sum(axis=-1) + rest)


def nearest(a: Array, y: ArrayLike, r: Floats = 1.0) -> Array:
    """Rows near the projections, by bisection: a proposal for certificates to judge."""
    y = np.broadcast_to(np.asarray(y, dtype=bool), a.shape)
    low, high = _tops(a, y)
    below = a - np.where(y, high, low)
    height = np.where(_empty(y), 0, f.positive((low + high)[..., 0]))

    def mass(depth: Array, side: Array) -> Array:
        return np.where(side, f.positive(below + depth[..., None]), 0).sum(axis=-1)

    def common(p: Array) -> Array:
        return mass(p, ~y) < mass(height - p, y)

    p = f.bisect(common, np.zeros_like(height), height)
    top = np.minimum(height, r)

    # where the common sum exceeds r both depths do, and each side is cut at r by itself
    def cut(depth: Array, side: Array) -> Array:
        return np.minimum(depth, f.bisect(lambda v: mass(v, side) < r, np.zeros_like(top), top))

    p, q = cut(p, ~y), cut(height - p, y)
    x = f.positive(below + np.where(y, q[..., None], p[..., None]))
    return repair(x, y, r)
