"""Top-k entropy loss, beta variant: softmax with its dual restricted to caps 1/k.

L(y, f) = max of <u,x> - <x,log x> - (1-s) log(1-s) over Delta_k^beta(1), s = <1,x>,
u_j = f_j - f_y + c_j over the m - 1 other classes. k = 1 is softmax.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.entropies import Entropy
from fast.kernels.hinges import BETA


@dataclass(frozen=True)
class TopKEntropyBeta(Entropy):
    """The loss, with its parameters."""

    k: int = 1
    variant = BETA
    domain = "Delta_k^beta(1) = {0 <= x_i <= 1/k, s <= 1}"
    place = "Lapin, Hein and Schiele 2016, Proposition 11 (arXiv version: 12) has it for the alpha variant."


value, gradient, conjugate, prox, sdca_update = module_functions(
    TopKEntropyBeta,
    value="""
Losses rho log k + sum_U u/k + (1-rho) t, t = log((1 + Z)/(1-rho)), rho = |U|/k.

U are the capped classes, the fewest of the largest u for which the others satisfy
(k-|U|) e^{u_j} <= 1 + Z, Z = sum of e^u over them. Lapin, Hein and Schiele 2016 name this
variant in section 2.4 and leave it to future work.
""",
    gradient="x_j = min(e^{u_j - t}, 1/k) over the other classes, and 1 - s = e^{-t}.",
)
_warmup = TopKEntropyBeta.warm_up
