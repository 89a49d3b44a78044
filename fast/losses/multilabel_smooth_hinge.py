"""Smooth multilabel hinge: Moreau envelope of the multilabel hinge.

L(y, f) = (<z,p> - ||p||^2/2)/gamma with p the projection of z on the bipartite simplex of radius
gamma, z_j = f_j + c_j on N = {y = 0}, z_l = c_l - f_l on P = {y = 1}.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.signed import Multilabel
from fast.kernels.signed import BIPARTITE


@dataclass(frozen=True)
class MultilabelSmoothHinge(Multilabel):
    """The loss, with its parameters."""

    gamma: float = 1.0
    variant = BIPARTITE
    smooth = True
    default_costs = "1 on N and 0 on P"


value, gradient, conjugate, prox, sdca_update = module_functions(
    MultilabelSmoothHinge,
    value="""
Losses (<z,p> - ||p||^2/2)/gamma, at most gamma below the hinge.

The conjugate of the hinge plus gamma/2 ||x||^2 over both sides; Lapin, Hein and Schiele 2018,
"Analysis and Optimization of Loss Functions for Multiclass, Top-k, and Multilabel
Classification".
""",
    gradient="x = p/gamma; it is 1/gamma-Lipschitz.",
    conjugate="L*(x) = gamma/2 ||x||^2 - <c,x> on {x >= 0, <1,x_N> = <1,x_P> <= 1}.",
    prox="""
v - t x with x the projection of (v + costs)/(gamma + t) on
{x >= 0, <1,x_N> = <1,x_P> <= 1}.
""",
    sdca_update="""
With r = w C, b = q + c on N and -q + c on P:
x = argmin ||x - b/(r k_ii + gamma)||^2 over {x >= 0, <1,x_N> = <1,x_P> <= 1}; a = -r x on N,
r x on P.
""",
)
_warmup = MultilabelSmoothHinge.warm_up
