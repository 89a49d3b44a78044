"""Naive twins of the trainer's formulas: loops, sorting, ternary search, nothing of ``fast``.

P(W) = 1/2 ||W||^2 + sum_i r_i L(z_i), z_i the margins f_j - f_y + 1 of the other classes.
"""

import numpy as np


def with_sum(z, s, cap):
    """The point of {0 <= p <= cap, <1,p> = s} nearest to z: clip(z - t) sums to s for some t."""
    shifts = np.sort(np.concatenate([z - cap, z]))
    sums = np.clip(z - shifts[:, None], 0.0, cap).sum(axis=1)  # falls, linearly in between
    t = np.interp(s, sums[::-1], shifts[::-1])
    return np.clip(z - t, 0.0, cap)


def argmax(f, low, high, steps=70):
    """Of a concave function on an interval, by golden sections."""
    golden = 0.5 * (5.0**0.5 - 1.0)
    a, b = high - golden * (high - low), low + golden * (high - low)
    at_a, at_b = f(a), f(b)
    for _ in range(steps):
        if at_a < at_b:
            low, a, at_a, b = a, b, at_b, a + golden * (high - a)
            at_b = f(b)
        else:
            high, b, at_b, a = b, a, at_a, b - golden * (b - low)
            at_a = f(a)
    return 0.5 * (low + high)


def smooth_value(z, variant, k, gamma):
    """max <z,p> - gamma/2 ||p||^2 over the top-k simplex: the sum of p by golden sections."""
    z = np.asarray(z, float)

    def best(s):
        p = with_sum(z / gamma, s, s / k if variant == "alpha" else 1.0 / k) if s > 0 else 0.0 * z
        return float(z @ p - 0.5 * gamma * p @ p)

    high = min(1.0, len(z) / k) if variant == "beta" else 1.0
    return max(best(0.0), best(argmax(best, 0.0, high)), best(high))


def hinge_value(z, variant, k):
    top = sorted(z, reverse=True)[:k]
    if variant == "alpha":
        return max(0.0, sum(top) / k)
    return sum(max(v, 0.0) for v in top) / k


def loss_value(z, variant, k, gamma):
    return smooth_value(z, variant, k, gamma) if gamma else hinge_value(z, variant, k)


def margins(f, y):
    return np.delete(f - f[y] + 1.0, y)


def primal(W, X, y, r, variant, k, gamma):
    losses = [loss_value(margins(W @ x, c), variant, k, gamma) for x, c in zip(X, y, strict=True)]
    return 0.5 * float((W * W).sum()) + float(np.dot(r, losses))


def violation(A, y, r, variant, k):
    """Largest violation of a_i = s e_y - x, x in Delta_k(r_i)."""
    worst = 0.0
    for a, c, radius in zip(A, y, r, strict=True):
        x = -np.delete(a, c)
        s = x.sum()
        cap = s / k if variant == "alpha" else radius / k
        worst = max(worst, -x.min(), s - radius, x.max() - cap, abs(a.sum()))
    return worst


def dual(A, X, y, r, gamma):
    W = A.T @ X
    total = -0.5 * float((W * W).sum())
    for a, c, radius in zip(A, y, r, strict=True):
        x = -np.delete(a, c)
        total += x.sum() - (0.5 * gamma / radius * float(x @ x) if radius > 0 else 0.0)
    return total
