"""Multilabel hinge: the worst violation of a margin between a wrong and a right label.

L(y, f) = max{0, max z_N + max z_P}, z_j = f_j + c_j on N = {y = 0}, z_l = c_l - f_l on P = {y = 1}.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.signed import Multilabel
from fast.kernels.signed import BIPARTITE


@dataclass(frozen=True)
class MultilabelHinge(Multilabel):
    """The loss, with its parameters."""

    variant = BIPARTITE
    default_costs = "1 on N and 0 on P"


value, gradient, conjugate, prox, sdca_update = module_functions(
    MultilabelHinge,
    value="""
Losses max{0, max over j in N, l in P of f_j - f_l + c_j + c_l}.

Crammer and Singer 2003; Lapin, Hein and Schiele 2018, "Analysis and Optimization of Loss
Functions for Multiclass, Top-k, and Multilabel Classification".
""",
    gradient="""
x is 1 at the largest z of N and of P (ties: the first labels); 0 where the loss is 0.
""",
    conjugate="L*(x) = -<c,x> on {x >= 0, <1,x_N> = <1,x_P> <= 1}.",
    prox="""
v - t x with x the projection of (v + costs)/t on {x >= 0, <1,x_N> = <1,x_P> <= 1}.
""",
    sdca_update="""
With r = w C, b = q + c on N and -q + c on P:
x = argmin ||x - b/(r k_ii)||^2 over {x >= 0, <1,x_N> = <1,x_P> <= 1}; a = -r x on N, r x on P.
For k_ii = 0 all mass that is allowed goes to the largest b of both sides.
""",
)
_warmup = MultilabelHinge.warm_up
