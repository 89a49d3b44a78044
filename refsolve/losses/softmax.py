"""Softmax (multinomial logistic) loss: minus the logarithm of the ground truth's probability.

L(y, f) = log(1 + sum_j e^{u_j}) = -log(e^{f_y} / sum_j e^{f_j}), u_j = f_j - f_y + c_j over j != y.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.entropy import Entropy
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec

SPEC = Spec(
    title="Softmax loss (multinomial logistic, cross-entropy)",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": "log(1 + sum_j e^{z_j})",
        "conjugate": "<x,log x> + (1-s) log(1-s) - <c,x> on {x >= 0, s <= 1}, s = <1,x>; +inf elsewhere",
        "gradient": "x_j = e^{z_j - L} at j != y, -s at y; 1 - s = e^{-L} is returned by itself",
        "prox": "u = v - t x,  t x_j + log x_j = v_j + c_j + log(1-s)",
        "sdca_update": (
            "b = q - q_y + c over the others, alpha = omega C K_ii,\n"
            "x = argmin alpha/2 (||x||^2 + s^2) - <b,x> + <x,log x> + (1-s) log(1-s),\n"
            "a = -omega C x, a_y = omega C s"
        ),
    },
    symbols=(),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2016, equations (5), (12), (14) and Proposition 7",
    notes=(
        "costs are 0 by default: a cost shifts the margin, u + c, as for the hinges",
        "not homogeneous: scores have a unit",
        "equals both top-k entropy losses at k = 1",
    ),
)

generator = Entropy()
default_cost = 0.0
dual_set = "topk_simplex_alpha"
dual_params = {"k": 1}


def value(z: cp.Expression) -> Any:
    """CVXPY expression of the loss in z = u + c."""
    return cp.log_sum_exp(cp.hstack([z, cp.Constant([0.0])]))


def conjugate(x: cp.Expression) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    entropy = -cp.sum(cp.entr(x)) - cp.entr(1 - cp.sum(x))
    return entropy, topk_simplex_alpha.constraints(x, 1)
