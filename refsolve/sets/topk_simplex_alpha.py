"""Top-k simplex, alpha variant: no entry exceeds the k-th part of the actual sum.

Delta = {x >= 0, s <= r, x_i <= s/k}, s = <1,x>; k = 1 gives {x >= 0, s <= r}.
"""

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
    title="Top-k simplex, alpha variant",
    kind="sets",
    formulas={
        "set": "{x in R^d : x >= 0, s <= r, x_i <= s/k},  s = <1,x>",
        "support": "r max{0, S_k(w)/k},  S_k = sum of the k largest",
        "projection": "argmin 1/2||x - a||^2 + rho/2 <1,x>^2 over the set",
        "solution": (
            "x = clip(a - t, 0, u),  t such that s = k u,\n"
            "u = min((k t + sum_i (a_i - t)_+)/(k (1 + rho k)), r/k);  x = 0 where S_k(a) <= 0"
        ),
    },
    symbols=(
        Symbol("k", "number of guesses", "integer", low=1),
        Symbol("r", "bound on the sum", low=0, default=1.0, unit="x", rows="may"),
    ),
    scaling="r carries the units of x; rho is dimensionless",
    source="Lapin et al. 2015, Definition 1, Proposition 4, Lemmas 3-5; 2016, section 2",
    notes=(
        "k > d leaves only x = 0",
        "S_k(a) <= 0 is necessary and sufficient for x = 0 at every rho >= 0 (erratum E5)",
    ),
)

#: What the caps x_i <= cap(x) are shares of.
caps = "sum"

#: From this many entries on the sum is a variable.
SPARSE = 32


def constraints(x: cp.Expression, k: int, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: x >= 0, s <= r, x_i <= s/k."""
    s, tie = total(x)
    return [x >= 0, s <= r, x <= s / k, *tie]


def total(x: cp.Expression) -> tuple[Any, list[Any]]:
    """S = <1,x>, of many entries as a variable of its own: d caps x_i <= s/k have d^2 entries else.

    At d = 1000 that is 0.03 s instead of 30; with few entries the solvers are more precise without.
    """
    if x.is_constant() or x.size < SPARSE:
        return cp.sum(x), []
    s = cp.Variable(name="s")
    return s, [s == cp.sum(x)]


def halfspaces(d: int, k: int, r: float | Fraction = 1) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h or = h, rational."""
    rows = [*f.units(d, -1), *f.units(d, shift=-Fraction(1, k))]
    return [*rows, ([Fraction(1)] * d, Fraction(r), False)]


def fewest(k: int, r: Number = 1.0) -> int:
    """Number of entries without which 0 is the only point."""
    return k


def radius(a: Array, k: int, r: Floats = 1.0, rho: Floats = 0.0) -> Array:
    """Bound on s at the projection: r, and s^2/d + rho s^2 <= <a,x> <= s S_k(a)/k there.

    The set with r lowered to it is this set cut at s, and has the same projection; a certificate
    on it loses less to rounding when r is inactive.
    """
    d = a.shape[-1]
    total = f.positive(f.top_sum(a, min(k, d)))
    return np.minimum(r, total / (k * (rho + np.ones((), a.dtype) / d)))


def support(w: Array, k: int, r: Number = 1.0) -> Array:
    """Max <w,x> over the set, for each row of ``w``."""
    if k > w.shape[-1]:
        return np.zeros(w.shape[:-1], w.dtype)[()]
    return r * f.positive(f.top_sum(w, k)) / k


def cap(x: Array, k: int, r: Number = 1.0) -> Array:
    """Largest value that the set allows an entry of a feasible x: s/k."""
    return x.sum(axis=-1, keepdims=True) / k


def violation(x: Array, k: int, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    s = x.sum(axis=-1)
    excess = np.maximum((-x).max(axis=-1), x.max(axis=-1) - s / k)
    return f.positive(np.maximum(excess, s - r))


def repair(x: Array, k: int, r: Number = 1.0) -> Array:
    """A feasible point near ``x``: negative entries to 0, the cap by lowering, then the sum."""
    x = f.positive(x)
    if k > x.shape[-1]:
        return np.zeros_like(x)
    # largest u with sum min(x, u) >= k u: u = min over i < k of (sum of all but the i largest)/(k-i)
    tails = np.cumsum(f.descending(x)[..., ::-1], axis=-1)[..., ::-1][..., :k]
    u = (tails / np.arange(k, 0, -1)).min(axis=-1, keepdims=True)
    x = np.minimum(x, u)
    return f.lower_sum(x, r)


def residual(x: Array, w: Array, k: int, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation)."""
    if k > x.shape[-1]:
        return np.zeros(x.shape[:-1], x.dtype)
    s = x.sum(axis=-1)
    t = f.kth_largest(w, k)
    above = f.positive(w - t)
    total = above.sum(axis=-1) + k * t[..., 0]
    slack = f.positive(f.column(s / k) - x) * above + x * f.positive(t - w)
    sums = f.positive(r - s) * f.positive(total) + s * f.positive(-total)
    return slack.sum(axis=-1) + sums / k


def nearest(a: Array, k: int, r: Floats = 1.0, rho: Floats = 0.0) -> Array:
    """Rows near the biased projections, by bisection: a proposal for certificates to judge."""
    d = a.shape[-1]
    if k > d:
        return np.zeros_like(a)
    top, rest = np.split(f.descending(a), [k], axis=-1)
    total, last = top.sum(axis=-1), top[..., -1]
    kappa = k * (1 + rho * k)
    r = np.minimum(r, 2 * radius(a, k, r, rho))  # a short bracket

    def height(delta: Array) -> Array:
        return np.minimum(f.positive(total + delta) / kappa, r / k)

    def moved(q: Array) -> Array:
        return f.positive(rest - (last - q)[..., None]).sum(axis=-1)

    def short(q: Array) -> Array:
        delta = moved(q)
        p = height(delta) - q
        return delta < f.positive(p[..., None] - (top - last[..., None])).sum(axis=-1)

    gap = last - rest[..., 0] if d > k else np.full_like(last, np.inf)
    u = height(np.zeros_like(last))
    # u0 <= gap: the k largest all get u0; else t = a_[k] - q with q between the gap and r/k
    free = gap < u
    low = np.where(free, gap, 0)
    high = low + np.where(free, r / k, 0)
    if d > k:  # the entries that may end above t stand first
        rest = rest[..., : max(1, int((rest > (last - high)[..., None]).sum(axis=-1).max()))]
    q = f.bisect(short, low, high)
    u = np.where(free, height(moved(q)), u)
    q = np.where(free, q, np.where(gap < np.inf, np.minimum(gap, u), u))
    x = np.clip(a - (last - q)[..., None], 0, u[..., None])
    # ties at a_[k] when the solution is constant are no ties: gap >= u0 > 0 there, or u0 = 0
    return repair(x, k, r)
