"""Sparsemax loss: softmax with the squared norm in the place of the entropy.

L(y, f) = max over p in the simplex of <f + c,p> - 1/2||p||^2 + 1/2 - f_y; over the m - 1 other classes
the maximum of <z,x> - 1/2||x||^2 - 1/2(1-s)^2 + 1/2 over {x >= 0, s <= 1}, z_j = f_j - f_y + c_j.
"""

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.quadratic import Quadratic
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec

SPEC = Spec(
    title="Sparsemax loss",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": "min_t t + 1/2 + 1/2 (-t)_+^2 + 1/2 sum_j (z_j - t)_+^2",
        "conjugate": (
            "1/2||x||^2 + 1/2(1-s)^2 - 1/2 - <c,x> on {x >= 0, s <= 1}, s = <1,x>; +inf elsewhere"
        ),
        "gradient": "x_j at j != y, -s at y; x_j = (z_j - t)_+, t such that s + (-t)_+ = 1",
        "prox": "u = v - t x, x = argmin ||x - b||^2 + <1,x>^2/(1+t), b = (v + c + 1)/(1+t)",
        "sdca_update": (
            "alpha = omega C K_ii, b = (q - q_y + c + 1)/(1 + alpha) over the others,\n"
            "x = argmin ||x - b||^2 + <1,x>^2 over {x >= 0, s <= 1},\n"
            "a = -omega C x, a_y = omega C s"
        ),
    },
    symbols=(),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Martins and Astudillo 2016, From Softmax to Sparsemax, sections 2 and 3",
    notes=(
        "costs are 0 by default: the margin of 1 is in the loss, which is 0 iff z_j <= -1 for all j",
        "two classes: the modified Huber loss, 1/4 (1+z)^2 on [-1, 1]; the gradient is 1-Lipschitz",
        "not homogeneous: scores have a unit",
    ),
)

default_cost = 0.0
dual_set = "topk_simplex_alpha"
dual_params = {"k": 1}
generator = Quadratic(gamma=1, sigma=1, ell=1)


def value(z: Any) -> Any:
    """CVXPY expression of the loss in z = u + c; its own variable t is to be minimised over."""
    t = cp.Variable(name="tau")
    return t + 0.5 + (cp.square(cp.pos(-t)) + cp.sum_squares(cp.pos(z - t))) / 2


def conjugate(x: Any) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    square = cp.sum_squares(x) + cp.square(1 - cp.sum(x))
    return (square - 1) / 2, topk_simplex_alpha.constraints(x, 1)
