"""The coordinate ascent step of softmax.

Write `sdca_update(q, y, k_ii, C=1.0)`: the new dual block a of one example. With b_j = q_j
- q_y over the d = m - 1 other classes and alpha = C K_ii >= 0, the block is a = -C x over
the others and a_y = C s, where x minimises

    alpha/2 (||x||^2 + s^2) - <b,x> + <x,log x> + (1 - s) log(1 - s),  x >= 0, s = <1,x> <= 1.

Every entry of a counts, also the tiny ones: scores of size 50 give x of size e^-50, and 1 -
s as small.

Hints
-----
Set the derivative in x_j to zero and give what all j have in common a name, theta.

theta = alpha s - log(1 - s), and alpha x_j + log x_j = b_j - theta: x_j = W(alpha e^{b_j -
theta})/alpha, or e^{b_j - theta} if alpha = 0. One unknown is left, and sum x_j(theta(s)) -
s falls in s.

Bisect s in (0, 1/2) if the root is there (theta with log1p(-s)). Otherwise bisect theta: 1
- s is the root at alpha - theta of the same equation, and everything adds up to 1. W(e^t)
is scipy.special.wrightomega(t); for alpha < 1 Newton in log x spares the digits of log
alpha.
"""

import numpy as np
from scipy.special import wrightomega

from verification.exercises import wrong

LECTURE = 6
PROBLEM = "softmax.sdca_update"


def sdca_update(q: np.ndarray, y: int, k_ii: float, C: float = 1.0) -> np.ndarray:
    """One root: in s where s is small, in theta where 1 - s is."""
    b, alpha = np.delete(q - q[y], y), C * k_ii

    def roots(w: np.ndarray) -> np.ndarray:
        """The x with alpha x + log x = w."""
        if alpha > 1:
            return wrightomega(w + np.log(alpha)) / alpha
        log_x = w.copy()  # Newton in log x from above; log alpha would cost digits
        for _ in range(20):
            rise = alpha * np.exp(np.minimum(log_x, 700.0))
            log_x = log_x - (log_x + rise - w) / (1 + rise)
        return np.exp(np.minimum(log_x, 700.0))

    def theta_of(s: float) -> float:
        return alpha * s - np.log1p(-s)

    if roots(b - theta_of(0.5)).sum() < 0.5:
        low, high = 0.0, 0.5
        while low < (middle := (low + high) / 2) < high:
            more = roots(b - theta_of(middle)).sum() > middle
            low, high = (middle, high) if more else (low, middle)
        x = C * roots(b - theta_of(high))
    else:
        everything = np.append(b, alpha)  # the root at alpha - theta is 1 - s
        low, high = theta_of(0.5), max(b.max(), alpha) + np.log(b.size + 1.0)
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if roots(everything - middle).sum() > 1 else (low, middle)
        x = C * roots(b - high)
    return np.insert(-x, y, x.sum())


@wrong
def gradient_step(q: np.ndarray, y: int, k_ii: float, C: float = 1.0) -> np.ndarray:
    """The softmax probabilities at q: right for K_ii = 0 only, the block's own effect is forgotten."""
    p = np.exp(q - q.max())
    p /= p.sum()
    return C * ((np.arange(q.size) == y) - p)


@wrong
def sum_forgotten(q: np.ndarray, y: int, k_ii: float, C: float = 1.0) -> np.ndarray:
    """alpha/2 ||x||^2 without s^2: the entry of the ground truth is part of the block's norm."""
    b, alpha = np.delete(q - q[y], y), C * k_ii
    low, high = -1e4, 1e4
    for _ in range(200):
        t = (low + high) / 2
        x = np.exp(b - t) if alpha == 0 else wrightomega(b - t + np.log(alpha)) / alpha
        low, high = (t, high) if x.sum() + np.exp(min(-t, 700)) > 1 else (low, t)
    return C * np.insert(-x, y, x.sum())


@wrong
def newton_once(q: np.ndarray, y: int, k_ii: float, C: float = 1.0) -> np.ndarray:
    """One damped step from the probabilities at q: an ascent step, not the maximiser."""
    p = np.exp(q - q.max())
    p /= p.sum()
    return C * ((np.arange(q.size) == y) - p) / (1 + C * k_ii)
