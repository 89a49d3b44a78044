"""The conjugate of the softmax loss.

With u_j = f_j - f_y over the d = m - 1 other classes the softmax (cross-entropy) loss is

    L(u) = log(1 + sum_j e^{u_j}).

Write `conjugate(x)`: L*(x) = sup over u of <x,u> - L(u), a number, and infinity (`np.inf`)
where the supremum is not finite.

Hints
-----
Set the gradient to zero: x_j = e^{u_j} / (1 + sum e^u). What is 1 - s, s = <1,x>, then?

1 - s = 1/(1 + sum e^u), so that u_j = log x_j - log(1 - s) and L(u) = -log(1 - s).

<x,log x> + (1 - s) log(1 - s) with 0 log 0 = 0 where x >= 0 and s <= 1, infinity otherwise:
the negative entropy of the m probabilities. The sum rounds: s up to 1 + a few d eps counts
as 1.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 4
PROBLEM = "softmax.conjugate"


def conjugate(x: np.ndarray) -> float:
    """The negative entropy of (x, 1 - s)."""
    s = x.sum()
    if x.min() < 0 or s > 1 + 4 * x.size * np.finfo(float).eps:
        return np.inf
    inner = x[x > 0]
    rest = max(1 - s, 0.0)
    return float((inner * np.log(inner)).sum() + (rest * np.log1p(-s) if rest > 0 else 0.0))


@wrong
def forgets_the_truth(x: np.ndarray) -> float:
    """Without (1 - s) log(1 - s): the probability of the ground truth is left out."""
    if conjugate(x) == np.inf:
        return np.inf
    inner = x[x > 0]
    return float((inner * np.log(inner)).sum())


@wrong
def needs_sum_one(x: np.ndarray) -> float:
    """Finite on s = 1 only: the domain of log sum e^u without the 1."""
    return conjugate(x) if abs(x.sum() - 1) < 1e-9 else np.inf
