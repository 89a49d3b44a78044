"""Softmax (cross-entropy, multinomial logistic) loss.

L(y, f) = log(1 + sum_j e^{u_j}), u_j = f_j - f_y + c_j over the m - 1 other classes.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.entropies import Entropy


@dataclass(frozen=True)
class Softmax(Entropy):
    """The loss, with its parameters."""

    place = "Lapin, Hein and Schiele 2016, Proposition 11 (arXiv version: 12) at k = 1."


value, gradient, conjugate, prox, sdca_update = module_functions(
    Softmax,
    value="""
Losses log(1 + sum_j e^{u_j}), free of overflow and accurate where they are tiny.

Lapin, Hein and Schiele 2016, equations (5) and (14).
""",
    gradient="""
x_j = e^{u_j}/(1 + sum_l e^{u_l}) over the other classes: their probabilities.
""",
)
_warmup = Softmax.warm_up
