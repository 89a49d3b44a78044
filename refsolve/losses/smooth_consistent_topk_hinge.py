"""Smooth consistent top-k hinge: gamma/2 (||p||^2 - 1) added to the conjugate of the consistent top-k hinge.

L(y, f) = max over p in the simplex of <u,p> - S_k(p) + 1 - gamma/2 (||p||^2 - 1), u_j = f_j - f_y + c_j.
"""

from dataclasses import replace
from typing import Any

from refsolve._lazy import cp
from refsolve.generators.top_sum import TopSum
from refsolve.losses import consistent_topk_hinge as hinge
from refsolve.spec import Symbol

SPEC = replace(
    hinge.SPEC,
    title="Smooth consistent top-k hinge loss",
    formulas={
        **hinge.SPEC.formulas,
        "value": (
            "1 + gamma/2 + v + (sum_j (z_j - q_j - v)_+^2 + (-r - v)_+^2)/(2 gamma),\n"
            "v = max{max_i (S_i((z - q,-r)) - gamma)/i, (sum_j (z_j - q_j) - r - gamma)/(d + 1)},\n"
            "q_j = clip(z_j - w, 0, 1), r = clip(-w, 0, 1), w such that sum_j q_j + r = k"
        ),
        "conjugate": (
            "S_k((x,1-s)) - 1 + gamma/2 (||x||^2 + (1-s)^2 - 1) - <c,x> on {x >= 0, s <= 1}, s = <1,x>; "
            "+inf elsewhere"
        ),
        "gradient": "x_j at j != y, -s at y; x_j = (z_j - q_j - v)_+/gamma",
        "prox": (
            "u = v - t x, x = argmin t/2 ||x||^2 - <v + c,x> + S_k((x,1-s)) + gamma/2 (||x||^2 + (1-s)^2)"
            " over {x >= 0, s <= 1}"
        ),
        "sdca_update": (
            "alpha = omega C K_ii, b = q - q_y + c over the others,\n"
            "x = argmin alpha/2 (||x||^2 + s^2) - <b,x> + S_k((x,1-s)) + gamma/2 (||x||^2 + (1-s)^2)"
            " over {x >= 0, s <= 1},\n"
            "a = -omega C x, a_y = omega C s"
        ),
    },
    symbols=(
        *hinge.SPEC.symbols,
        Symbol("gamma", "smoothing", low=0, low_open=True, default=1.0, normal=True),
    ),
    notes=(
        "costs are 0 by default: the margin of 1 is in the loss; a cost shifts it, u + c",
        "0 <= L - hinge <= gamma/2 (1 - 1/m), >= 0; the gradient is 1/gamma-Lipschitz in z",
        "not homogeneous: scores have a unit",
    ),
)

default_cost = 0.0
dual_set, dual_params = hinge.dual_set, hinge.dual_params
generator = TopSum(gamma="gamma")


def value(z: Any, k: int = 1, gamma: Any = 1.0) -> Any:
    """CVXPY expression of the loss in z = u + c; its variables e and tau are to be minimised over."""
    e = cp.Variable(z.size + 1, name="e")
    u = cp.hstack([z, cp.Constant([0.0])]) - e
    return hinge.of_scores(u, k) + cp.sum_squares(e) / (2 * gamma) + gamma / 2


def conjugate(x: Any, k: int = 1, gamma: Any = 1.0) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    top, domain = hinge.conjugate(x, k)
    square = cp.sum_squares(x) + cp.square(1 - cp.sum(x))
    return top + gamma / 2 * (square - 1), domain
