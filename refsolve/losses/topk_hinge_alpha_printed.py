"""Top-k hinge, alpha variant, as the papers print it: the sum runs over all m classes.

L(y, f) = max{0, S_k([z, 0])/k}: the ground truth, with z_y = 0, takes part in the sum. Kept to be
refuted: for k >= 2 the published dual and update belong to the sum over the others.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import formulas as f
from refsolve._lazy import cp
from refsolve._types import Number
from refsolve.formulas import Array
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Top-k hinge loss, alpha variant, m-dimensional as printed",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y; z_y = 0",
        "value": "max{0, S_k([z, 0])/k} = max{phi_k(z), (k-1)/k phi_(k-1)(z)}, phi over the others",
        "conjugate": "-<c,x> on {x >= 0, s <= 1, x_i <= min(1/k, s/(k-1))}; +inf elsewhere",
        "gradient": "x_j at j != y, -s at y, for any x attaining max <z,x>",
    },
    symbols=(Symbol("k", "number of guesses", "integer", low=1, high="d", default=1),),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2015, equations (3), (4) and Proposition 3; 2016, equation (6)",
    notes=(
        (
            "erratum E1: Proposition 3 (compatibility with the ground truth) fails for k >= 2, "
            "so that the printed dual is not the dual of this loss; smallest case m = 3, k = 2"
        ),
        "at k = 2 this is the beta variant",
    ),
    homogeneous=True,
    oracle_only=True,
    erratum="E1",
)

# its dual set occurs nowhere else; the formulas stand below
dual_set = "topk_hinge_alpha_printed"


def value(z: cp.Expression, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c (over the others)."""
    return cp.pos(cp.sum_largest(cp.hstack([z, np.zeros(1)]), k)) / k


def conjugate(x: cp.Expression, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return cp.Constant(0), constraints(x, k)


def constraints(x: cp.Expression, k: int, r: float | Fraction = 1.0) -> list[Any]:
    """CVXPY constraints: x >= 0, s <= r, x_i <= r/k, (k-1) x_i <= s."""
    s, tie = topk_simplex_alpha.total(x)
    return [x >= 0, s <= r, x <= r / k, (k - 1) * x <= s, *tie]


def halfspaces(d: int, k: int, r: float | Fraction = 1) -> f.Rows:
    """The dual set as rows (g, h, equality) meaning <g,x> <= h, rational."""
    rows = [*f.units(d, -1), *f.units(d, bound=Fraction(r) / k), *f.units(d, k - 1, -1)]
    return [*rows, ([Fraction(1)] * d, Fraction(r), False)]


def fewest(k: int, r: Number = 1.0) -> int:
    """Number of entries without which 0 is the only point."""
    return k - 1


def _with_zero(w: Array) -> Array:
    return np.concatenate([w, np.zeros((*w.shape[:-1], 1), w.dtype)], axis=-1)


def support(w: Array, k: int, r: Number = 1.0) -> Array:
    """Max <w,x> over the dual set, for each row of ``w``: r S_k([w, 0])_+/k."""
    return r * f.positive(f.top_sum(_with_zero(w), k)) / k


def violation(x: Array, k: int, r: Number = 1.0) -> Array:
    """Largest violated constraint, 0 if feasible."""
    s, high = x.sum(axis=-1), x.max(axis=-1)
    excess = np.maximum(np.maximum((-x).max(axis=-1), high - r / k), (k - 1) * high - s)
    return f.positive(np.maximum(excess, s - r))


def repair(x: Array, k: int, r: Number = 1.0) -> Array:
    """A feasible point near ``x``: box, then the cap by lowering, then the sum."""
    x = np.clip(x, 0, f.column(r) / k)
    if k > 1:
        tails = f.descending(np.cumsum(np.sort(x, axis=-1), axis=-1))[..., : k - 1]
        x = np.minimum(x, (tails / np.arange(k - 1, 0, -1)).min(axis=-1, keepdims=True))
    return f.lower_sum(x, r)


def residual(x: Array, w: Array, k: int, r: Number = 1.0) -> Array:
    """support(w) - <w,x> for feasible x, as a sum of nonnegative terms (no cancellation).

    x with the mass theta - s on the ground truth lies in {0 <= v <= theta/k, <1,v> = theta} for
    theta = min(r, k s/(k-1)); the rest of r stays at the origin.
    """
    s = x.sum(axis=-1)
    theta = np.minimum(r, k * s / (k - 1)) if k > 1 else r + 0 * s  # type: ignore[arg-type]
    full = np.concatenate([x, f.positive(theta - s)[..., None]], axis=-1)
    return topk_simplex_alpha.residual(full, _with_zero(w), k, r)
