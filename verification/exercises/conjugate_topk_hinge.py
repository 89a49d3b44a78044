"""The conjugate of the top-k hinge loss.

For an example of class y let u_j = f_j - f_y over the d = m - 1 other classes, and

    L(u) = max{0, S_k(u + 1)/k},  S_k = sum of the k largest.

Write `conjugate(x, k=1)`: L*(x) = sup over u of <x,u> - L(u), for a vector x of d numbers:
a number, and infinity (`np.inf`) where the supremum is not finite. This is what stands in
the dual. Points on the border count as inside, and sums are rounded: allow for a few d eps.

Hints
-----
Without the 1, L would be positively homogeneous: the support function of a set, whose
conjugate is 0 on that set. A shift of the argument adds a linear term.

S_k(z)/k, or 0, is the largest <x,z> over {x >= 0, <1,x> <= 1, x_i <= <1,x>/k}; and for L(u)
= phi(u + c) the conjugate is phi*(x) - <c,x>.

-<1,x> if x >= 0, s <= 1 and x_i <= s/k for all i, with s = <1,x>; infinity otherwise.
Compare k x_i with s, and allow for the rounding of the sum: a few d eps.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 4
PROBLEM = "topk_hinge_alpha.conjugate"


def conjugate(x: np.ndarray, k: int = 1) -> float:
    """-<1,x> on the top-k simplex, whose borders are as sharp as the sum is."""
    s = x.sum()
    slack = 4 * x.size * np.finfo(float).eps * np.abs(x).sum()
    inside = x.min() >= 0 and s <= 1 + slack and k * x.max() <= s + slack
    return -float(s) if inside else np.inf


@wrong
def domain_of_beta(x: np.ndarray, k: int = 1) -> float:
    """Caps 1/k instead of s/k: the domain of the other top-k hinge."""
    s = x.sum()
    inside = x.min() >= 0 and s <= 1 + 1e-15 and x.max() <= (1 + 1e-15) / k
    return -float(s) if inside else np.inf


@wrong
def without_the_margin(x: np.ndarray, k: int = 1) -> float:
    """0 on the domain: the conjugate of the support function, without the shift by 1."""
    return 0.0 * conjugate(x, k) if conjugate(x, k) < np.inf else np.inf


@wrong
def wrong_sign(x: np.ndarray, k: int = 1) -> float:
    """+<1,x>: the shift u = z - 1 taken in the wrong direction."""
    return abs(conjugate(x, k))
