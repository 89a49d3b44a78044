"""Ordered weighted hinge: margin violations, each weighted by its rank.

L_beta(y, f) = sum_i beta_i max(z_[i], 0), z_j = f_j - f_y + c_j over the other classes, the largest first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve.formulas import Array
from refsolve.losses import topk_hinge_alpha as alpha
from refsolve.sets import cardinality_polymatroid as polymatroid


def _beta(rng: np.random.Generator, d: int, size: float, given: Mapping[str, Any]) -> Array:
    """Weights as the set draws them, often with the sum 1."""
    beta = polymatroid.weights(rng, d)
    return beta * rng.choice([1.0, *[1 / (beta.sum() or 1.0)] * 2, 10.0 ** rng.uniform(-2, 2)])


SPEC = replace(
    alpha.SPEC,
    title="Ordered weighted hinge loss",
    formulas={
        **alpha.SPEC.formulas,
        "value": "sum_i beta_i max(z_[i], 0),  z_[1] >= ... >= z_[d]",
        "conjugate": "-<c,x> on {x >= 0, S_i(x) <= S_i(beta)}, i = 1..d; +inf elsewhere",
        "gradient": "x_j at j != y, -<1,x> at y, for any x attaining max <z,x>",
    },
    symbols=(replace(polymatroid.SPEC.symbols[0], unit="", rows="no", default=1.0, largest=1e70, draws=_beta),),
    source="Usunier, Buffoni and Gallinari 2009; L_beta in Lapin et al. 2015, section 2.3",
    notes=(
        "beta = (1/k, ..., 1/k, 0, ..., 0) is topk_hinge_beta, (1, 0, ..., 0) the multiclass hinge",
        "equal weights give the sum of all violations of Weston and Watkins 1999",
        "the paper sums over all m entries of a + c: the ground truth contributes 0 and takes no weight",
    ),
)  # fmt: skip

dual_set = "cardinality_polymatroid"
check = polymatroid.check


def value(z: cp.Expression, beta: Any) -> Any:
    """CVXPY expression of the loss in z = u + c."""
    return cp.dotsort(cp.pos(z), beta)


def conjugate(x: cp.Expression, beta: Any) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return cp.Constant(0), polymatroid.constraints(x, beta)
