"""Top-k hinge, beta variant: mean of the k largest hinges.

L(y, f) = S_k(max(z, 0))/k, z_j = f_j - f_y + c_j over the other classes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from refsolve._lazy import cp
from refsolve.losses import topk_hinge_alpha as alpha
from refsolve.sets import topk_simplex_beta

SPEC = replace(
    alpha.SPEC,
    title="Top-k hinge loss, beta variant",
    formulas={
        **alpha.SPEC.formulas,
        "value": "S_k(max(z, 0))/k,  S_k = sum of the k largest",
        "conjugate": "-<c,x> on {0 <= x_i <= 1/k, s <= 1}, s = <1,x>; +inf elsewhere",
    },
    source="Usunier et al. 2009; Lapin et al. 2015, section 2.3; 2016, equation (7)",
    notes=(
        "the ground truth contributes 0, so that the sum over all m classes is the same for k < m",
        "bounds the alpha variant from above; both are the multiclass hinge at k = 1",
    ),
)

dual_set = "topk_simplex_beta"


def value(z: cp.Expression, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c."""
    hinges = cp.pos(z)
    # sum_largest at k = size raises when a solved problem goes to another solver (cvxpy 1.9)
    return (cp.sum(hinges) if k == z.size else cp.sum_largest(hinges, k)) / k


def conjugate(x: cp.Expression, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return cp.Constant(0), topk_simplex_beta.constraints(x, k)
