"""Top-k entropy loss, beta variant: the softmax conjugate restricted to entries of at most 1/k.

L(y, f) = max <u,x> - <x,log x> - (1-s) log(1-s) over 0 <= x_i <= 1/k, s = <1,x> <= 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from refsolve._lazy import cp
from refsolve.generators.entropy import Entropy
from refsolve.losses import softmax
from refsolve.losses import topk_entropy_alpha as alpha
from refsolve.sets import topk_simplex_beta
from refsolve.spec import Symbol

SPEC = replace(
    alpha.SPEC,
    title="Top-k entropy loss, beta variant",
    formulas={
        **alpha.SPEC.formulas,
        "value": (
            "min over mu >= 0 of log(1 + sum_j e^{z_j - mu_j}) + <1,mu>/k\n"
            "= rho log k + sum_U z/k + (1-rho) t,  t = log((1 + Z_M)/(1-rho)),  rho = |U|/k,\n"
            "U the u largest, u the least integer >= 0 with\n"
            "(k-u) e^{z_[u+1]} <= 1 + Z_M,  Z_M = sum_M e^{z_j},  M all but U"
        ),
        "conjugate": (
            "<x,log x> + (1-s) log(1-s) - <c,x> on {0 <= x_i <= 1/k, s <= 1}; +inf elsewhere"
        ),
        "gradient": "x_j = min(e^{z_j - t}, 1/k) at j != y, -s at y; 1 - s = e^{-t}",
    },
    symbols=(Symbol("k", "number of guesses", "integer", low=1, default=1),),
    source="named and deferred by Lapin et al. 2016, section 2; derived in the lesson",
    notes=(
        "k = 1 is the softmax loss; any k >= 1 makes sense",
        "costs are 0 by default",
        "topk_entropy_alpha <= this <= softmax",
    ),
)

generator = Entropy()
default_cost = 0.0
dual_set = "topk_simplex_beta"


def value(z: cp.Expression, k: int = 1) -> Any:
    """CVXPY expression of the loss in z = u + c; its own variable mu is to be minimised over."""
    mu = cp.Variable(z.shape, nonneg=True, name="mu")
    return softmax.value(z - mu) + cp.sum(mu) / k


def conjugate(x: cp.Expression, k: int = 1) -> tuple[Any, list[Any]]:
    """CVXPY expression and domain of the conjugate in z; subtract <c,x> for the one in u."""
    return softmax.conjugate(x)[0], topk_simplex_beta.constraints(x, k)
