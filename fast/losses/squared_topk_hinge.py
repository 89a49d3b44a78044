"""Squared top-k hinge: half the square of the top-k hinge, alpha variant.

L(y, f) = max{0, S_k(z)/k}^2/2, z_j = f_j - f_y + c_j over the m - 1 other classes, S_k the sum of
the k largest.
"""

from dataclasses import dataclass

import numpy as np

from fast._numba import kernel
from fast.families import Loss, module_functions
from fast.kernels.hinges import ALPHA, divided, hinge_point_row, top_sum
from fast.kernels.rows import compiled
from fast.sets import topk_cone

SMALLEST = 1e-280  # a smaller a changes nothing, and 1/a would overflow


@kernel
def value_row(p, z, x, work):
    """Half the square of the hinge; p is (k,)."""
    _, total = top_sum(ALPHA, z, p[0], work)
    hinge = max(total, 0.0) / p[0]
    return 0.5 * hinge * hinge


@kernel
def gradient_row(p, z, x, work):
    """The hinge times its subgradient, which has the sum 1."""
    _, total = top_sum(ALPHA, z, p[0], work)
    hinge = max(total, 0.0) / p[0]
    return 1.0 - hinge_point_row(ALPHA, z, p[0], hinge, x, work)


@kernel
def conjugate_row(p, x, costs, known, slack):
    """<1,x>^2/2 - <costs,x> on the top-k cone."""
    k, s, inner, largest, least = p[0], 0.0, 0.0, 0.0, 0.0
    for j in range(x.shape[0]):
        s += x[j]
        inner += costs[j] * x[j]
        largest = max(largest, x[j])
        least = max(least, -x[j])
    inside = k * largest <= s * (1.0 + slack) and k * least <= s * slack and k <= x.shape[0]
    return 0.5 * s * s - inner if inside or largest == least == 0.0 else np.inf


@kernel
def step_row(p, b, a, rho, x, work):
    """Project b on the cone: a/2 ||x - b/a||^2 + (a rho + 1)/2 <1,x>^2."""
    if not a > SMALLEST:
        return gradient_row(p, b, x, work)
    topk_cone.project_row(b, p[0], np.inf, rho + 1.0 / a, x, work)
    return 1.0 - divided(x, a)


@dataclass(frozen=True)
class SquaredTopKHinge(Loss):
    """The loss, with its parameters."""

    k: int = 1
    bounded = True
    kernels = compiled(globals(), __file__)

    @property
    def capabilities(self) -> frozenset[str]:
        """Class lists are enough: at most the ties of the k largest carry mass."""
        return super().capabilities | {"lists"}

    def structure(self, others: int) -> tuple[int, int, float, float]:
        """(variant, k, gamma, price): see `fast.families.hinges.Hinge`."""
        return ALPHA, int(self.parameters(others)[0]), 0.0, 1.0


value, gradient, conjugate, prox, sdca_update = module_functions(
    SquaredTopKHinge,
    value="""
Losses max{0, S_k(z)/k}^2/2.

Half the squared support function of Delta_k^alpha(1), over the other classes.
""",
    gradient="The hinge divided by k at the k largest z_j (ties: the first classes).",
    conjugate="L*(x) = <1,x>^2/2 - <c,x> on the top-k cone {x >= 0, x_i <= <1,x>/k}.",
    prox="""
It is v - t x with x = argmin ||x - (v + c)/t||^2 + <1,x>^2/t over the top-k cone.
""",
    sdca_update="""
With a = w C k_ii and b = q_j - q_y + c_j over the others, x = argmin ||x - b/a||^2 +
(1 + 1/a) <1,x>^2 over the top-k cone; the block is -w C x. For a = 0, x is the gradient at b.
""",
)
_warmup = SquaredTopKHinge.warm_up
