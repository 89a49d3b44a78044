"""The gradient of the top-k entropy loss.

With u_j = f_j - f_y over the d = m - 1 other classes the top-k entropy (alpha) is

    L = max over x of <u,x> - <x,log x> - (1 - s) log(1 - s),  x >= 0, s = <1,x> <= 1, x_j <= s/k.

Write `gradient(scores, y, k=1)`: the gradient of L in the m scores. For k = 1 it is
softmax. Every entry counts, also the tiny ones.

Hints
-----
The gradient in u is the maximiser x (Danskin). Which entries can be at their cap s/k?

The largest ones, U. For the others x_j is proportional to e^{u_j}: x_j = s min(1/k, (1 -
rho) e^{u_j}/Z), rho = |U|/k, Z = sum of e^{u_j} outside U. U is the least number of largest
entries with (k - |U|) e^{u of the next} <= Z.

s = 1/(1 + e^{-v}) with v = rho log k + (sum of u over U)/k + (1 - rho) log(Z/(1 - rho)).
Keep Z as a logarithm (log-sum-exp from the smallest entry on, never by subtraction) and log
s = -log(1 + e^{-v}). The gradient is x_j at j != y and -s at y.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 4
PROBLEM = "topk_entropy_alpha.gradient"


def gradient(scores: np.ndarray, y: int, k: int = 1) -> np.ndarray:
    """Everything in logarithms, the sums from the smallest entry on."""
    u = np.delete(scores - scores[y], y)
    order = -np.sort(-u)
    log_z = np.logaddexp.accumulate(order[::-1])[::-1]  # of each entry and all that follow
    n = next(n for n in range(k) if np.log(k - n) + order[n] <= log_z[n] + 1e-15)
    rho = n / k
    v = rho * np.log(k) + order[:n].sum() / k + (1 - rho) * (log_z[n] - np.log(1 - rho))
    log_s = -np.logaddexp(0.0, -v)
    x = np.exp(log_s + np.minimum(-np.log(k), np.log(1 - rho) + u - log_z[n]))
    return np.insert(x, y, -np.exp(log_s))


@wrong
def caps_of_one(scores: np.ndarray, y: int, k: int = 1) -> np.ndarray:
    """Softmax probabilities clipped at s/k: what is cut off is not given to the others."""
    u = scores - scores.max()
    x = np.delete(np.exp(u) / np.exp(u).sum(), y)
    x = np.minimum(x, x.sum() / k)
    return np.insert(x, y, -x.sum())


@wrong
def softmax_only(scores: np.ndarray, y: int, k: int = 1) -> np.ndarray:
    """The caps are ignored."""
    return gradient(scores, y, 1)


@wrong
def overflows(scores: np.ndarray, y: int, k: int = 1) -> np.ndarray:
    """e^u as it stands: infinite from scores of 710 on."""
    u = np.delete(scores - scores[y], y)
    with np.errstate(all="ignore"):
        e = np.exp(u)
        sums = np.cumsum(np.sort(e))[::-1]
        order = -np.sort(-u)
        n = next(n for n in range(k) if (k - n) * np.exp(order[n]) <= sums[n] or n == k - 1)
        v = n / k * np.log(k) + order[:n].sum() / k + (1 - n / k) * np.log(sums[n] / (1 - n / k))
        s = 1 / (1 + np.exp(-v))
        return np.insert(s * np.minimum(1 / k, (1 - n / k) * e / sums[n]), y, -s)
