"""Top-k entropy loss, alpha variant: the softmax conjugate restricted to the top-k simplex.

L(y, f) = max <u,x> - <x,log x> - (1-s) log(1-s) over x >= 0, s = <1,x> <= 1, x_i <= s/k.
"""

from __future__ import annotations

from typing import Any

from refsolve._lazy import cp
from refsolve.generators.entropy import Entropy
from refsolve.losses import softmax
from refsolve.sets import topk_simplex_alpha
from refsolve.spec import Spec, Symbol

SPEC = Spec(
    title="Top-k entropy loss, alpha variant",
    kind="losses",
    formulas={
        "z": "z_j = f_j - f_y + c_j for the d = m - 1 classes j != y",
        "value": (
            "log(1 + e^v),  v = min over mu >= 0 of log sum_j e^{z_j - mu_j} + <1,mu>/k\n"
            "= rho log k + sum_U z/k + (1-rho) log(Z_M/(1-rho)),  rho = |U|/k,\n"
            "U the u largest, u the least integer >= 0 with (k-u) e^{z_[u+1]} <= Z_M,\n"
            "Z_M = sum_M e^{z_j},  M all but U"
        ),
        "conjugate": (
            "<x,log x> + (1-s) log(1-s) - <c,x> on {x >= 0, s <= 1, x_i <= s/k}; +inf elsewhere"
        ),
        "gradient": (
            "x_j = s min(1/k, (1-rho) e^{z_j}/Z_M) at j != y, -s at y; s = 1/(1 + e^{-v}),\n"
            "1 - s = e^{-L}"
        ),
        "sdca_update": (
            "b = q - q_y + c over the others, alpha = omega C K_ii,\n"
            "x = argmin alpha/2 (||x||^2 + s^2) - <b,x> + conjugate,  a = -omega C x, a_y = omega C s"
        ),
    },
    symbols=(Symbol("k", "number of guesses", "integer", low=1, high="d", default=1),),
    scaling="a loss per example; the objective is (1/n) sum L + lambda/2 ||W||^2, C = 1/(lambda n)",
    source="Lapin et al. 2016, equation (13) and Propositions 8, 11",
    notes=(
        "k = 1 is the softmax loss",
        "costs are 0 by default",
        "truncated_topk_entropy <= this <= topk_entropy_beta <= softmax",
    ),
)

generator = Entropy()
default_cost = 0.0
dual_set = "topk_simplex_alpha"


def value(z: cp.Expression, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c; its own variable mu is to be minimised over."""
    mu = cp.Variable(z.shape, nonneg=True, name="mu")
    return cp.logistic(cp.log_sum_exp(z - mu) + cp.sum(mu) / k)


def conjugate(x: cp.Expression, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return softmax.conjugate(x)[0], topk_simplex_alpha.constraints(x, k)
