"""Dual points of models whose intercept is not regularised: blocks a_i that sum to 0 in every class.

Blocks of slopes, a_i = r_i (e_y - p_i), sum to rho_j = R_j - sum_i r_i p_ij, R_j the weight of class j. So do those of
one u for all examples, r_i (e_y - u), to R_j - R u_j, and the mixture

    (1 - t) a_i + t r_i (e_y - u),    u_j = R_j/R + (1 - t) rho_j/(t R),

to 0, feasible for every t from that on at which u is one: t = 1 is the model that knows only the shares. D is concave
along it. What rounding may hide in rho is hidden in u, whose gain is taken at the worst end.
"""

from typing import Any

import numpy as np
from scipy.special import entr, softmax

from fast.kernels.signed import LOGISTIC
from fast.solvers.one_vs_rest_bounds import slopes
from fast.solvers.rounding import EPS

LEAST, GROWTH = 1e-13, 1.25  # of the shares in the mixture
LONGEST = 4.0  # step of an intercept


def prior_sums(X: Any, r: np.ndarray, norms: np.ndarray, own: np.ndarray) -> list[Any]:
    """Over a block: sums of r_i x_i and of r_i ||x_i||, of each class (m, d + 1) and (m,), and of all."""
    weights = own * r[:, None]
    each = np.asarray((X.T @ weights).T, dtype=np.float64)
    return [each, np.asarray(X.T @ r, dtype=np.float64), norms @ weights, float(norms @ r)]


def curvature(f: np.ndarray, own: np.ndarray, r: np.ndarray, loss: Any, signed: bool) -> Any:
    """Second derivatives of the risk in the intercepts: (m, m) of a softmax, (m,) one-vs-all."""
    if not signed:
        p = softmax(f, axis=1)
        weighted = p * r[:, None]
        return np.diag(weighted.sum(axis=0)) - weighted.T @ p
    x = slopes(np.where(own, -f, f), loss)
    each = x * (1.0 - x) if loss.variant == LOGISTIC else ((x > 0.0) & (x < 1.0)) / loss.gamma
    return r @ each


def newton_step(H: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Of the intercepts, not longer than `LONGEST`."""
    mean = max(float(np.trace(H) if H.ndim == 2 else H.sum()) / len(rho), float(np.abs(rho).max()))
    if H.ndim == 1:
        step = rho / (H + 1e-9 * mean)
    else:
        m = len(rho)  # adding one number to all intercepts changes nothing
        step = np.linalg.solve(H + mean / m + 1e-9 * mean * np.eye(m), rho)
    return np.asarray(step * min(1.0, LONGEST / max(np.abs(step).max(), 1e-300)))


def balanced(
    totals: np.ndarray, V: np.ndarray, spread: np.ndarray, prior: list[Any], n: int, loss: Any,
    signed: bool, gamma: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Gains, A'X and its rounding of blocks that sum to 0, from those of blocks that need not.

    The last column of V is their sums; ``gamma`` smooths a hinge where its dual variables are at most r.
    """
    each, whole, lengths, length = prior
    rho, R, all_R = V[:, -1], each[:, -1], whole[-1]
    hidden = (2 * n + 16) * EPS * (spread + R) + 2.0 * totals[3]  # |x_i| >= 1: spread is a bound
    t = LEAST
    while True:
        u = R / all_R + (1.0 - t) / t * rho / all_R
        off = (1.0 - t) / t * hidden / all_R + (2 * n + 16) * EPS * u
        low, high = u - off, u + off
        if t == 1.0 or (low.min() >= 0.0 and high.max() <= 1.0):
            break
        t = min(t * GROWTH, 1.0)
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    gain = np.minimum(*(_gains(at, R, all_R, loss, signed, gamma) for at in (low, high))).sum()
    sizes = abs(gain) + (R * (1.0 - u) + (all_R - R) * u).sum()
    moved = np.sqrt((off * off).sum() * (whole * whole).sum())
    totals = (1.0 - t) * totals + t * np.array([gain, sizes, moved, 0.0])
    V = (1.0 - t) * V + t * (each - u[:, None] * whole)
    return totals, V[:, :-1], (1.0 - t) * spread + t * (lengths + u * length)


def _gains(
    u: np.ndarray, R: np.ndarray, all_R: float, loss: Any, signed: bool, gamma: float
) -> np.ndarray:
    """What the blocks r_i (e_y - u) gain, class by class: concave in each u_j."""
    others = all_R - R
    if loss.complements and not signed:
        return np.asarray(all_R * entr(u))
    if not signed:
        return np.asarray(R * (1.0 - u) - gamma / 2.0 * others * u * u)
    if loss.variant == LOGISTIC:
        return np.asarray(all_R * (entr(u) + entr(1.0 - u)))
    own = 1.0 - u
    return np.asarray(R * (own - gamma / 2.0 * own * own) + others * (u - gamma / 2.0 * u * u))
