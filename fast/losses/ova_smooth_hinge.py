"""Smooth one-vs-all hinge: the sum of the m smooth binary hinges.

L(y, f) = sum_j (z_j p_j - p_j^2/2)/gamma with p = clip(z, 0, gamma), over all m classes,
z_j = f_j + c_j at j != y, z_y = c_y - f_y.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.signed import Signed


@dataclass(frozen=True)
class OVASmoothHinge(Signed):
    """The loss, with its parameters."""

    gamma: float = 1.0
    smooth = True


value, gradient, conjugate, prox, sdca_update = module_functions(
    OVASmoothHinge,
    value="""
Losses sum_j (z_j p_j - p_j^2/2)/gamma, p = clip(z, 0, gamma).

Each term is at most gamma/2 below the hinge: 0 for z <= 0, z^2/(2 gamma) up to gamma, then
z - gamma/2. Lapin, Hein and Schiele 2016, equation (9) of the long version, at alpha = 1 - z.
""",
    gradient="x = p/gamma; it is 1/gamma-Lipschitz.",
    conjugate="""
L*(x) = gamma/2 ||x||^2 - <c,x> on 0 <= x_j <= 1. In the paper the argument is beta = -x.
""",
    prox="v - t x with x = clip((v + costs)/(gamma + t), 0, 1).",
    sdca_update="""
With r = w C, b_j = q_j + c_j at j != y and b_y = -q_y + c_y: x = clip(b/(r k_ii + gamma), 0, 1).
Blocks do not sum to 0.
""",
)
_warmup = OVASmoothHinge.warm_up
