"""Top-k entropy loss, alpha variant: softmax with its dual restricted to the top-k simplex.

L(y, f) = max of <u,x> - <x,log x> - (1-s) log(1-s) over Delta_k^alpha(1), s = <1,x>,
u_j = f_j - f_y + c_j over the m - 1 other classes. k = 1 is softmax.
"""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.entropies import Entropy


@dataclass(frozen=True)
class TopKEntropyAlpha(Entropy):
    """The loss, with its parameters."""

    k: int = 1
    bounded = True
    domain = "Delta_k^alpha(1) = {x >= 0, s <= 1, x_i <= s/k}"


value, gradient, conjugate, prox, sdca_update = module_functions(
    TopKEntropyAlpha,
    value="""
Losses log(1 + e^v).

v = rho log k + sum_U u/k + (1-rho) log(Z/(1-rho)), rho = |U|/k: U are the capped classes, the
fewest of the largest u for which the others satisfy (k-|U|) e^{u_j} <= Z = sum of e^u over them.
Lapin, Hein and Schiele 2016, Proposition 8 (arXiv version: 9).
""",
    gradient="""
With s = 1/(1 + e^{-v}): x_j = s/k on U and s (1-rho) e^{u_j}/Z on the other classes.
""",
)
_warmup = TopKEntropyAlpha.warm_up
