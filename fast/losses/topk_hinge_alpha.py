"""Top-k hinge, alpha variant: hinge of the mean of the k largest margin violations.

L(y, f) = max{0, S_k(z)/k}, z_j = f_j - f_y + c_j over the m - 1 *other* classes, S_k the sum of
the k largest.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.hinges import Hinge


@dataclass(frozen=True)
class TopKHingeAlpha(Hinge):
    """The loss, with its parameters."""

    k: int = 1
    bounded = True
    domain = "Delta_k^alpha(1) = {x >= 0, <1,x> <= 1, x_i <= <1,x>/k}"
    unit, radius = "Delta_k^alpha(1)", "Delta_k^alpha(r)"


value, gradient, conjugate, prox, sdca_update = module_functions(
    TopKHingeAlpha,
    value="""
Losses max{0, S_k(z)/k}.

Lapin, Hein and Schiele 2015, equation (3), over the other classes.
""",
    gradient="1/k at the k largest z_j (ties: the first classes); 0 where the loss is 0.",
)
_warmup = TopKHingeAlpha.warm_up
