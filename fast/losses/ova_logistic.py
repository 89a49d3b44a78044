"""One-vs-all logistic loss: the sum of the m binary logistic losses.

L(y, f) = sum_j log(1 + e^{z_j}) over all m classes, z_j = f_j + c_j at j != y, z_y = c_y - f_y.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.signed import Signed
from fast.kernels.signed import LOGISTIC


@dataclass(frozen=True)
class OVALogistic(Signed):
    """The loss, with its parameters."""

    variant = LOGISTIC
    cost = 0.0
    smooth = True


value, gradient, conjugate, prox, sdca_update = module_functions(
    OVALogistic,
    value="""
Losses sum_j log(1 + e^{z_j}): a sum, not a mean, over the classes.

Lapin, Hein and Schiele 2016, Table 1 and equation (3), with margin -z_j.
""",
    gradient="x_j = 1/(1 + e^{-z_j}).",
    conjugate="""
L*(x) = sum_j x_j log x_j + (1 - x_j) log(1 - x_j) - <c,x> on 0 <= x_j <= 1.
""",
    prox="v - t x with x_j the root of t x + log(x/(1-x)) = v_j + c_j.",
    sdca_update="""
With r = w C, b_j = q_j + c_j at j != y and b_y = -q_y + c_y: x_j is the root of
r k_ii x + log(x/(1-x)) = b_j, by Newton's method for the logit, started at W(e^t).
""",
)
_warmup = OVALogistic.warm_up
