"""Smooth top-k hinge, alpha variant: Moreau envelope of the top-k hinge.

L(y, f) = (<z,p> - ||p||^2/2)/gamma with p the projection of z on Delta_k^alpha(gamma),
z_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.hinges import SmoothHinge


@dataclass(frozen=True)
class SmoothTopKHingeAlpha(SmoothHinge):
    """The loss, with its parameters."""

    k: int = 1
    gamma: float = 1.0
    bounded = True
    domain = "Delta_k^alpha(1) = {x >= 0, <1,x> <= 1, x_i <= <1,x>/k}"
    unit, radius = "Delta_k^alpha(1)", "Delta_k^alpha(r)"


value, gradient, conjugate, prox, sdca_update = module_functions(
    SmoothTopKHingeAlpha,
    value="""
Losses (<z,p> - ||p||^2/2)/gamma, at most gamma/(2k) below the hinge.

Lapin, Hein and Schiele 2016, Propositions 6 and 10.
""",
)
_warmup = SmoothTopKHingeAlpha.warm_up
