"""The conjugate of the one-vs-all logistic loss.

The loss of m binary problems is L(z) = sum_j log(1 + e^{z_j}). Write `conjugate(x)`,

    L*(x) = sup over z of <x,z> - L(z),

for a vector x: a number, and infinity (`np.inf`) where the supremum is not finite.

Hints
-----
L is a sum over coordinates, and so is its conjugate. Solve one: where is the derivative of
x z - log(1 + e^z) zero?

z = log(x/(1 - x)) for 0 < x < 1; for x < 0 or x > 1 nothing bounds the supremum.

x log x + (1 - x) log(1 - x), with 0 log 0 = 0, summed over the coordinates if all of them
lie in [0, 1], and infinity otherwise. log1p(-x) keeps the digits of small x.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 1
PROBLEM = "ova_logistic.conjugate"


def conjugate(x: np.ndarray) -> float:
    """The negative binary entropy."""
    if x.min() < 0 or x.max() > 1:
        return np.inf
    inner = x[x > 0]
    rest = x[x < 1]
    return float((inner * np.log(inner)).sum() + ((1 - rest) * np.log1p(-rest)).sum())


@wrong
def nan_at_the_ends(x: np.ndarray) -> float:
    """0 log 0 is computed as it stands: nan at the ends of the domain."""
    if x.min() < 0 or x.max() > 1:
        return np.inf
    with np.errstate(all="ignore"):
        return float((x * np.log(x) + (1 - x) * np.log(1 - x)).sum())


@wrong
def without_domain(x: np.ndarray) -> float:
    """The formula is continued beyond its domain, where the conjugate is infinite."""
    x = np.clip(x, 0, 1)
    return conjugate(x)


@wrong
def entropy_itself(x: np.ndarray) -> float:
    """The sign is that of the entropy: a conjugate is convex."""
    return -conjugate(x)
