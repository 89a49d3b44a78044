"""Top-k entropy with a margin: of the family of entropies, at another default of the costs."""

from dataclasses import dataclass

from fast.families import module_functions
from fast.families.entropies import Entropy
from fast.kernels.hinges import BETA


@dataclass(frozen=True)
class TopKSoftmaxMargin(Entropy):
    """The loss, with its parameters."""

    k: int = 1
    variant = BETA
    cost = 1.0


value, gradient, conjugate, prox, sdca_update = module_functions(
    TopKSoftmaxMargin,
    value="Losses of the top-k entropy (beta) at u + 1.",
    gradient="As of the top-k entropy.",
)
