"""Capped simplex: a sum of r, no entry above the cap.

Delta = {0 <= x_i <= cap, <1,x> = r}; cap >= r gives the simplex, cap = r/d a single point.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats, Number
from refsolve.errors import InvalidParameterError
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol


def _cap(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> float:
    """A cap for which the set is not empty: just so, with room, or without a say."""
    r = float(given.get("r", 1.0))
    share = float(rng.choice([1 / d, 0.5, rng.uniform(1 / d, 1), 1.0, 4.0]))
    cap = max(r * share, r / d)
    return cap if d * Fraction(cap) >= Fraction(r) else float(np.nextafter(cap, np.inf))


SPEC = Spec(
    title="Capped simplex",
    kind="sets",
    formulas={
        "set": "{x in R^d : 0 <= x_i <= cap, s = r},  s = <1,x>;  empty if r > d cap",
        "support": "sum_i c_i w_[i],  c_i = clip(r - (i-1) cap, 0, cap)",
        "projection": "argmin 1/2||x - a||^2 over the set",
        "solution": "x = clip(a - t, 0, cap) with t such that s = r",
    },
    symbols=(
        Symbol("r", "value of the sum", low=0, default=1.0, unit="x", rows="may"),
        Symbol(
            "cap", "largest entry", low=0, default=1.0, unit="x", rows="may", draws=_cap
        ),
    ),
    scaling="r and cap carry the units of x",
    source="Wang and Lu 2015, Projection onto the Capped Simplex",
    notes=(
        "r = k, cap = 1: the convex hull of the 0/1 vectors with k ones; its support function is S_k",
        "r > d cap is an error, compared exactly",
    ),
)  # fmt: skip

arguments = ("a", "r", "cap")


def check(d: int, r: float | Fraction = 1.0, cap: float | Fraction = 1.0) -> None:
    """Refuse r > d cap, for which the set is empty."""
    if Fraction(r) > d * Fraction(cap):
        raise InvalidParameterError(
            "cap", float(cap), f"at least r/d = {float(r) / d!r}: with less the set is empty",
            "raise cap, or lower r",
        )  # fmt: skip


def constraints(
    x: cp.Expression, r: float | Fraction = 1.0, cap: float | Fraction = 1.0
) -> list[Any]:
    """CVXPY constraints: 0 <= x <= cap, s = r."""
    return [x >= 0, x <= cap, cp.sum(x) == r]


def halfspaces(d: int, r: float | Fraction = 1, cap: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h or = h, rational."""
    return [*f.units(d, -1), *f.units(d, bound=cap), ([Fraction(1)] * d, Fraction(r), True)]


def _shares(d: int, r: Number, cap: Number) -> Array:
    """What the i-th largest entry of w gets of r at a maximiser of <w,x>."""
    before = np.arange(d)
    return np.minimum(f.positive(f.column(r) - before * f.column(cap)), f.column(cap))


def support(w: Array, r: Number = 1.0, cap: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    return (f.descending(w) * _shares(w.shape[-1], r, cap)).sum(axis=-1)


def violation(x: Array, r: Number = 1.0, cap: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    ends = np.maximum((-x).max(axis=-1), x.max(axis=-1) - cap)
    return f.positive(np.maximum(ends, abs(x.sum(axis=-1) - r)))


def repair(x: Array, r: Number = 1.0, cap: Number = 1.0) -> Array:
    """A feasible point near ``x``: clipped, then moved towards 0, or towards the caps."""
    top = f.column(cap)
    x = f.lower_sum(np.minimum(f.positive(x), top), r)
    room = (top - x).sum(axis=-1, keepdims=True)
    missing = f.positive(f.column(r) - x.sum(axis=-1, keepdims=True))
    # the quotient only where it counts: int / int would turn Fractions into floats
    return np.minimum(x + (top - x) * (missing / np.where(room > 0, room, top + 1)), top)


def residual(x: Array, w: Array, r: Number = 1.0, cap: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    # t is the entry at which r is used up
    filled = (_shares(w.shape[-1], r, cap) > 0).sum(axis=-1, keepdims=True)
    at = np.broadcast_to(np.maximum(filled - 1, 0), (*w.shape[:-1], 1))
    above = w - np.take_along_axis(f.descending(w), at, axis=-1)
    return (f.positive(f.column(cap) - x) * f.positive(above) + x * f.positive(-above)).sum(axis=-1)


def nearest(a: Array, r: Floats = 1.0, cap: Floats = 1.0) -> Array:
    """Rows near the projections, by bisection: a proposal for certificates to judge."""

    def clipped(t: Array) -> Array:
        return np.minimum(f.positive(a - t[..., None]), f.column(cap))

    high = a.max(axis=-1)
    low = np.maximum(a.min(axis=-1) - np.minimum(cap, r), high - r - (high - a.min(axis=-1)))
    return repair(clipped(f.bisect(lambda t: clipped(t).sum(axis=-1) > r, low, high)), r, cap)
