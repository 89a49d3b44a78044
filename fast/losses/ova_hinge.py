"""One-vs-all hinge: the sum of the m binary hinges, one for each class against the rest.

L(y, f) = sum_j max{0, z_j} over all m classes, z_j = f_j + c_j at j != y, z_y = c_y - f_y.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.signed import Signed


@dataclass(frozen=True)
class OVAHinge(Signed):
    """The loss, with its parameters."""


value, gradient, conjugate, prox, sdca_update = module_functions(
    OVAHinge,
    value="""
Losses sum_j max{0, z_j}: a sum, not a mean, over the classes.

Lapin, Hein and Schiele 2016, Table 1 and equation (2); the margin there is 1 - z_j.
""",
    gradient="x_j = 1 where z_j > 0, else 0.",
    conjugate="L*(x) = -<c,x> on 0 <= x_j <= 1.",
    prox="v - t x with x = clip((v + costs)/t, 0, 1).",
    sdca_update="""
With r = w C, b_j = q_j + c_j at j != y and b_y = -q_y + c_y: x = clip(b/(r k_ii), 0, 1).
For k_ii = 0 all x_j with b_j > 0 become 1. Blocks do not sum to 0.
""",
)
_warmup = OVAHinge.warm_up
