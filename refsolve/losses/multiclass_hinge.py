"""Multiclass hinge (Crammer and Singer): the largest margin violation.

L(y, f) = max{0, max_j z_j}, z_j = f_j - f_y + c_j over the other classes j != y.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec

SPEC = Spec(
    title="Multiclass hinge loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": "max{0, max_j z_j}",
        "conjugate": "-<c,x> on {x >= 0, <1,x> <= 1}, +inf elsewhere (x over the others)",
        "gradient": "x_j at j != y, -<1,x> at y, for any x attaining max <z,x>",
    },
    symbols=(),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Crammer and Singer 2001; Lapin et al. 2015, equation (1) and Proposition 1",
    notes=("equals both top-k hinge losses at k = 1",),
    homogeneous=True,
)

dual_set = "topk_simplex_alpha"
dual_params = {"k": 1}


def value(z: cp.Expression) -> Any:
    """CVXPY expression of the loss in z = u + c."""
    return cp.pos(cp.max(z))


def conjugate(x: cp.Expression) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return cp.Constant(0), topk_simplex_alpha.constraints(x, 1)
