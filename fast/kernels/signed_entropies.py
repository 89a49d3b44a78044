"""Scalar and row kernels of the binary and the multilabel entropy: gradients and dual steps."""

import math

from fast._elementary import exp, log
from fast._numba import kernel
from fast._simd import choose, larger, plus
from fast.functions.lambert_w_exp import root

_SMALLEST = 1e-17  # a smaller alpha does not change a root <= 1 by half a unit of rounding
_LARGEST = 1e100  # the end of the range of `root`
_STEPS = 100
_MOVE = 1e-8  # the last Newton step: its square is below a unit of rounding
_EPS = 4e-16


@kernel
def logistic_step_row(z, alpha, x):
    """Write the x_j in (0,1) with alpha x + log(x/(1-x)) = z_j.

    x -> 1 - x, z -> alpha - z moves the root to the lower half. There v = log p, p the root of
    alpha p + log p = z, is at most log 2 below the logit of x. A step d of Newton's method for the
    logit leaves an error of at most d^2/2, so that v stays below 1, and five steps end below a unit of
    rounding.
    """
    log_alpha = math.log(max(alpha, 1e-307))
    for j in range(z.shape[0]):
        flip = z[j] > 0.5 * alpha
        w = choose(flip, alpha - z[j], z[j])
        t = w + log_alpha
        u = root(t, 1.0, 0.0)
        v = choose(t > 0.5, log(larger(u, 0.1)) - log_alpha, w - u)
        for _ in range(5):
            e = exp(v)
            one = 1.0 + e
            v -= (v + alpha * (e / one) - w) / (1.0 + alpha * (e / (one * one)))
        e = exp(v)
        own = e / (1.0 + e)
        # e^v has |v| roundings, and the difference one of v and alpha x
        own = choose(alpha * own > 1.0, (w - v) / larger(alpha, 1.0), own)
        x[j] = choose(flip, 1.0 / (1.0 + e), own)


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
def _refined(v, right, t, alpha):
    """Two Newton steps for alpha v + log(1 + v/t) = right: a v beside t that is no difference."""
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
def _shares(z, y, top, level, alpha, t, x):
    """Write the x_j with alpha x_j + log(t_j + x_j) = z_j - top - level.

    Returns their sum and minus its derivative in ``level``.
    """
    log_alpha = math.log(alpha)
    large = alpha > 1.0  # a rounding error of p counts alpha times
    shift, a, log_a, unit = 0.0, alpha, log_alpha, 1.0
    if alpha > _LARGEST:
        shift, a, log_a, unit = log_alpha, 1.0, 0.0, 1.0 / alpha
    total, slope = 0.0, 0.0
    for j in range(z.shape[0]):
        own = choose(y[j], t, 0.0)
        p = root(((z[j] - top) - level) + alpha * own + shift, a, log_a) * unit
        x[j] = p - own
        total = plus(total, choose(y[j] and large, 0.0, x[j]))
        slope = plus(slope, p / (1.0 + alpha * p))
    if large:
        for j in range(z.shape[0]):
            if y[j]:
                if abs(x[j]) < 0.5 * t:
                    x[j] = _refined(x[j], ((z[j] - top) - level) - math.log(t), t, alpha)
                total += x[j]
    return total, slope


@kernel
def entropy_row(z, y, alpha, x):
    """Write x = p - t, p = argmin alpha/2 ||p - t||^2 - <z,p> + <p,log p> over the simplex.

    alpha x_j + log(t_j + x_j) = z_j - lambda, with lambda such that the x sum to 0: that sum is
    convex and decreasing in lambda, so that Newton's method from the left is monotone.
    """
    if not alpha > _SMALLEST:
        softmax_row(z, y, x)
        return
    top = z[0]
    count = 0
    for j in range(z.shape[0]):
        top = larger(z[j], top)
        count += y[j]
    t = 1.0 / count
    level = _level(z, y, top, alpha, count)
    move = 0.0
    for _ in range(_STEPS):
        total, slope = _shares(z, y, top, level, alpha, t, x)
        move = total / slope
        level += move
        # a step d leaves an error of d^2/2 at most: the curvature of the sum is below its slope
        size = 1.0 + abs(level)
        if abs(move) <= _MOVE * math.sqrt(size) + _EPS * size:
            break
    others = 0.0
    for j in range(z.shape[0]):  # the last step, to first order
        p = x[j] + choose(y[j], t, 0.0)
        x[j] -= move * p / (1.0 + alpha * p)
        others = plus(others, choose(y[j], 0.0, x[j]))
    if count == 1:
        for j in range(z.shape[0]):
            x[j] = choose(y[j], -others, x[j])
