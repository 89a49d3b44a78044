"""Top-k cone: no entry exceeds the k-th part of the sum.

K = {x >= 0, x_i <= s/k}, s = <1,x>: the top-k simplex without its bound on the sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Floats
from refsolve.formulas import Array
from refsolve.sets import topk_simplex_alpha as bounded
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Top-k cone",
    kind="sets",
    formulas={
        "set": "{x in R^d : x >= 0, x_i <= s/k},  s = <1,x>",
        "support": "0 if S_k(w) <= 0, else +inf",
        "projection": "argmin 1/2||x - a||^2 + rho/2 <1,x>^2 over the set",
        "solution": (
            "x = clip(a - t, 0, u),  t such that s = k u,\n"
            "u = (k t + sum_i (a_i - t)_+)/(k (1 + rho k));  x = 0 where S_k(a) <= 0"
        ),
        "radius": "s <= max{0, S_k(a)} / (k (rho + 1/d)) at the solution",
    },
    symbols=(Symbol("k", "number of guesses", "integer", low=1),),
    scaling="a cone: the projection of c a is c times the projection of a, c >= 0",
    source="Lapin et al. 2015, Lemmas 3 and 4",
    notes=(
        "k > d leaves only x = 0",
        "S_k(a) <= 0 is necessary and sufficient for x = 0 at every rho >= 0 (erratum E5)",
        (
            "case 2 of Lemma 3 holds if and only if S_k(a) > 0 and "
            "S_k(a)/(k + rho k^2) <= a_[k] - a_[k+1] (erratum E4)"
        ),
    ),
)

cone = True
fewest = bounded.fewest


def constraints(x: cp.Expression, k: int) -> list[Any]:
    """CVXPY constraints: x >= 0, x_i <= s/k."""
    s, tie = bounded.total(x)
    return [x >= 0, x <= s / k, *tie]


def halfspaces(d: int, k: int) -> f.Rows:
    """The set as rows (g, h, equality) meaning <g,x> <= h, rational."""
    return bounded.halfspaces(d, k)[:-1]


def radius(a: Array, k: int, rho: Floats = 0.0) -> Array:
    """Bound on s at the projection: s^2/d + rho s^2 <= <a,x> <= s S_k(a)/k there."""
    return bounded.radius(a, k, np.inf, rho)


def support(w: Array, k: int, r: Floats = np.inf) -> Array:
    """Max <w,x> over the part of the cone with s <= r; r = inf is the cone itself."""
    positive = f.top_sum(w, k) > 0 if k <= w.shape[-1] else np.zeros(w.shape[:-1], bool)
    if np.ndim(r) == 0 and r == np.inf:
        return np.where(positive, np.inf, 0.0)
    return bounded.support(w, k, r)


def violation(x: Array, k: int) -> Array:
    """Largest violated constraint, 0 if feasible."""
    return bounded.violation(x, k, np.inf)


def repair(x: Array, k: int) -> Array:
    """A feasible point near ``x``: negative entries to 0, then the cap by lowering."""
    return bounded.repair(x, k, np.inf)


def residual(x: Array, w: Array, k: int, r: Floats = np.inf) -> Array:
    """support(w, r) - <w,x> for feasible x, as a sum of nonnegative terms."""
    if np.ndim(r) == 0 and r == np.inf:
        inside = bounded.residual(x, w, k, x.sum(axis=-1))
        outside = support(w, k) > 0
        return np.where(outside, np.inf, inside) if np.any(outside) else inside
    return bounded.residual(x, w, k, r)


def nearest(a: Array, k: int, rho: Floats = 0.0) -> Array:
    """Rows near the biased projections, by bisection: a proposal for certificates to judge."""
    return bounded.nearest(a, k, np.inf, rho)
