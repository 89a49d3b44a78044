"""Smooth top-k hinge, beta variant: Moreau envelope of the top-k hinge.

L(y, f) = (<z,p> - ||p||^2/2)/gamma with p the projection of z on Delta_k^beta(gamma),
z_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.hinges import SmoothHinge
from fast.kernels.hinges import BETA


@dataclass(frozen=True)
class SmoothTopKHingeBeta(SmoothHinge):
    """The loss, with its parameters."""

    k: int = 1
    gamma: float = 1.0
    variant = BETA
    domain = "Delta_k^beta(1) = {0 <= x_i <= 1/k, <1,x> <= 1}"
    unit, radius = "Delta_k^beta(1)", "Delta_k^beta(r)"


value, gradient, conjugate, prox, sdca_update = module_functions(
    SmoothTopKHingeBeta,
    value="""
Losses (<z,p> - ||p||^2/2)/gamma, at most gamma/(2k) below the hinge.

Lapin, Hein and Schiele 2016, Propositions 6 and 10.
""",
)
_warmup = SmoothTopKHingeBeta.warm_up
