"""Scalar and row kernels of the binary and the multilabel entropy: gradients and dual steps."""

from __future__ import annotations

import math

from fast._elementary import exp, log
from fast._numba import kernel
from fast._simd import choose, larger, plus
from fast.functions.lambert_w_exp import root

_SMALLEST = 1e-17  # a smaller alpha does not change a root <= 1 by half a unit of rounding
_LARGEST = 1e100  # the end of the range of `root`
_STEPS = 100
_MOVE = 1e-8  # the last Newton step: its square is below a unit of rounding


@kernel(forceinline=True)
def _share(w, alpha, log_alpha):
    """The p > 0 with alpha p + log p = w, for p up to 1 where alpha is tiny."""
    if alpha > _LARGEST:
        return root(w + log_alpha, 1.0, 0.0) / alpha
    return root(w, alpha, log_alpha)


@kernel
def logistic_root(z, alpha, log_alpha):
    """Return the x in (0,1) with alpha x + log(x/(1-x)) = z.

    x -> 1 - x, z -> alpha - z moves the root to the lower half. There v = log p, p the root of
    alpha p + log p = z, is at most log 2 below the logit of x. A step d of Newton's method for the
    logit leaves an error of at most d^2/2, so that five steps end below a unit of rounding.
    """
    flip = z > 0.5 * alpha
    w = alpha - z if flip else z
    t = w + log_alpha
    u = root(t, 1.0, 0.0)
    v = log(u) - log_alpha if t > 0.5 else w - u
    for _ in range(_STEPS):
        e = exp(-abs(v))
        one = 1.0 + e
        x = choose(v > 0.0, 1.0, e) / one
        move = (v + alpha * x - w) / (1.0 + alpha * e / (one * one))
        v -= move
        if abs(move) <= _MOVE * (1.0 + abs(v)):
            break
    e = exp(-abs(v))
    return choose((v > 0.0) != flip, 1.0, e) / (1.0 + e)


@kernel
def softmax_row(z, y, x):
    """Write x = p - t, p = e^z / sum e^z and t = 1/|P| on P.

    With one label in P its entry is minus the sum of the others, which p - 1 would lose.
    """
    top = z[0]
    for j in range(1, z.shape[0]):
        top = larger(z[j], top)
    total = 0.0
    count = 0
    for j in range(z.shape[0]):
        x[j] = exp(z[j] - top)
        total = plus(total, x[j])
        count += y[j]
    others = 0.0
    for j in range(z.shape[0]):
        p = x[j] / total
        others = plus(others, choose(y[j], 0.0, p))
        x[j] = p - choose(y[j], 1.0 / count, 0.0)
    if count == 1:
        for j in range(z.shape[0]):
            x[j] = choose(y[j], -others, x[j])


@kernel
def _excess(w, t, alpha, log_alpha):
    """Return v = p - t, alpha v + log p = w, also where v is tiny: then it is no difference.

    Near t the equation is alpha v + log(1 + v/t) = w - log t, almost linear for a large alpha.
    """
    p = _share(w + alpha * t, alpha, log_alpha)
    v = p - t
    if abs(v) >= 0.5 * t:
        return v
    right = w - math.log(t)
    if alpha * t > 1e4:
        v = right / (alpha + 1.0 / t)
    for _ in range(2):
        v -= ((alpha * v + math.log1p(v / t)) - right) / (alpha + 1.0 / (t + v))
    return v


@kernel
def _level(z, y, top, alpha, count):
    """A lambda (relative to ``top``) at which the p sum to 1 or more.

    p <= 1 gives log sum e^(z + alpha t) - alpha; convexity gives mean z_P + log |P|.
    """
    share = alpha / count
    peak = -1e308
    mean = 0.0
    for j in range(z.shape[0]):
        b = (z[j] - top) + choose(y[j], share, 0.0)
        peak = larger(b, peak)
        mean = plus(mean, choose(y[j], z[j] - top, 0.0))
    total = 0.0
    for j in range(z.shape[0]):
        total = plus(total, exp(((z[j] - top) + choose(y[j], share, 0.0)) - peak))
    return max((peak - alpha) + math.log(total), mean / count + math.log(count))


@kernel
def entropy_row(z, y, alpha, x):
    """Write x = p - t, p = argmin alpha/2 ||p - t||^2 - <z,p> + <p,log p> over the simplex.

    alpha x_j + log(t_j + x_j) = z_j - lambda, with lambda such that the x sum to 0: that sum is
    convex and decreasing in lambda, so that Newton's method from the left is monotone.
    """
    if not alpha > _SMALLEST:
        softmax_row(z, y, x)
        return
    log_alpha = math.log(alpha)
    m = z.shape[0]
    top = z[0]
    count = 0
    for j in range(m):
        top = larger(z[j], top)
        count += y[j]
    t = 1.0 / count
    level = _level(z, y, top, alpha, count)
    for _ in range(_STEPS):
        total, slope = 0.0, 0.0
        for j in range(m):
            w = (z[j] - top) - level
            if y[j]:
                v = _excess(w, t, alpha, log_alpha)
                p = t + v
            else:
                p = _share(w, alpha, log_alpha)
                v = p
            x[j] = v
            total += v
            slope += p / (1.0 + alpha * p)
        move = total / slope
        level += move
        # a step d leaves an error of d^2/2 at most: the curvature of the sum is below its slope
        if abs(move) <= _MOVE * (1.0 + abs(level)):
            break
    others = 0.0
    for j in range(m):  # the last step, to first order
        p = x[j] + choose(y[j], t, 0.0)
        x[j] -= move * p / (1.0 + alpha * p)
        others = plus(others, choose(y[j], 0.0, x[j]))
    if count == 1:
        for j in range(m):
            x[j] = choose(y[j], -others, x[j])
