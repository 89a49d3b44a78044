"""Top-k hinge, beta variant: mean of the k largest margin violations, each cut at 0.

L(y, f) = S_k(max(z, 0))/k, z_j = f_j - f_y + c_j over the m - 1 other classes, S_k the sum of
the k largest.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.hinges import Hinge
from fast.kernels.hinges import BETA


@dataclass(frozen=True)
class TopKHingeBeta(Hinge):
    """The loss, with its parameters."""

    k: int = 1
    variant = BETA
    domain = "Delta_k^beta(1) = {0 <= x_i <= 1/k, <1,x> <= 1}"
    unit, radius = "Delta_k^beta(1)", "Delta_k^beta(r)"


value, gradient, conjugate, prox, sdca_update = module_functions(
    TopKHingeBeta,
    value="""
Losses S_k(max(z, 0))/k.

Lapin, Hein and Schiele 2015, equation (5).
""",
    gradient="""
1/k at those of the k largest z_j that are positive (ties: the first classes).
""",
)
_warmup = TopKHingeBeta.warm_up
