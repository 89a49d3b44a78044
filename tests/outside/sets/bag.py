"""Nonnegative points with capped entries and a bounded sum."""

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve.formulas import Array
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Bag",
    kind="sets",
    formulas={"set": "{0 <= x <= cap, s <= r}"},
    symbols=(
        Symbol("r", "bound on the sum", low=0, default=1.0, unit="x", rows="may"),
        Symbol("cap", "bound on every entry", low=0, default=0.4, unit="x"),
    ),
    scaling="r and cap carry the units of x",
    source="none",
)


def constraints(x: Any, r: Any = 1.0, cap: Any = 0.4) -> list[Any]:
    """CVXPY constraints."""
    return [x >= 0, x <= cap, cp.sum(x) <= r]


def halfspaces(d: int, r: Any = 1.0, cap: Any = 0.4) -> list[tuple[list[Fraction], Fraction, bool]]:
    """Rows (g, h, equality)."""
    unit = [[Fraction(i == j) for j in range(d)] for i in range(d)]
    rows = [([-g for g in row], Fraction(0), False) for row in unit]
    rows += [(row, Fraction(cap), False) for row in unit]
    return [*rows, ([Fraction(1)] * d, Fraction(r), False)]


def _threshold(w: Array, r: Any, cap: Any) -> Array:
    """The t >= 0 above which entries are at their caps: the (r/cap)-th largest entry."""
    if r >= cap * w.shape[-1]:
        return 0 * w[..., :1]
    return f.positive(f.kth_largest(w, int(r / cap) + 1))


def support(w: Array, r: Any = 1.0, cap: Any = 0.4) -> Array:
    """Max <w,x>."""
    t = _threshold(w, r, cap)
    return r * t[..., 0] + cap * f.positive(w - t).sum(axis=-1)


def violation(x: Array, r: Any = 1.0, cap: Any = 0.4) -> Array:
    """Largest violated constraint."""
    excess = np.maximum((-x).max(axis=-1), x.max(axis=-1) - cap)
    return f.positive(np.maximum(excess, x.sum(axis=-1) - r))


def repair(x: Array, r: Any = 1.0, cap: Any = 0.4) -> Array:
    """A feasible point near x."""
    return f.lower_sum(np.minimum(f.positive(x), cap), r)


def residual(x: Array, w: Array, r: Any = 1.0, cap: Any = 0.4) -> Array:
    """support(w) - <w,x>, a sum of nonnegative terms."""
    t = _threshold(w, r, cap)
    slack = f.positive(cap - x) * f.positive(w - t) + x * f.positive(t - w)
    return slack.sum(axis=-1) + t[..., 0] * f.positive(r - x.sum(axis=-1))


def nearest(a: Array, r: Any = 1.0, cap: Any = 0.4, rho: Any = 0.0) -> Array:
    """Proposal for the biased projection."""

    def too_small(t: Array) -> Array:
        s = np.clip(a - t[..., None], 0, cap).sum(axis=-1)
        return (s > r) | (rho * s > t)

    low, high = np.zeros(a.shape[:-1], a.dtype), f.positive(a.max(axis=-1))
    t = np.where(too_small(low), f.bisect(too_small, low, high), low)
    return repair(np.clip(a - t[..., None], 0, cap), r, cap)
