"""Top-k hinge, alpha variant: hinge of the mean of the k largest margin violations.

L(y, f) = max{0, S_k(z)/k}, z_j = f_j - f_y + c_j over the m - 1 *other* classes.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Top-k hinge loss, alpha variant",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": "max{0, S_k(z)/k},  S_k = sum of the k largest",
        "conjugate": "-<c,x> on {x >= 0, s <= 1, x_i <= s/k}, s = <1,x>; +inf elsewhere",
        "gradient": "x_j at j != y, -s at y, for any x attaining max <z,x>",
        "sdca_update": (
            "b = (q - q_y + c)/K_ii over the others,\n"
            "x = argmin ||x - b||^2 + <1,x>^2 over the set scaled by omega C, a = -x, a_y = s"
        ),
    },
    symbols=(Symbol("k", "number of guesses", "integer", low=1, high="d", default=1),),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2015, equations (3), (4) and Proposition 2; 2016, equation (6)",
    notes=(
        (
            "sums over the other classes: the dual and update that were published belong to this sum, "
            "the printed m-dimensional one is topk_hinge_alpha_printed (erratum E1)"
        ),
        "k = m makes the loss identically 0 and is refused",
    ),
    homogeneous=True,
)

dual_set = "topk_simplex_alpha"


def value(z: cp.Expression, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c."""
    # sum_largest at k = size raises when a solved problem goes to another solver (cvxpy 1.9)
    top = cp.sum(z) if k == z.size else cp.sum_largest(z, k)
    return cp.pos(top) / k


def conjugate(x: cp.Expression, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return cp.Constant(0), topk_simplex_alpha.constraints(x, k)
