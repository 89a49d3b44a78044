"""Row kernels of the losses with one signed score per class: z_j = f_j + c_j on N, c_j - f_j on P.

``y`` holds booleans (True: P); one-vs-all losses have the one true class in P. ``variant`` is BOX
(one-vs-all hinges), BIPARTITE (multilabel hinges), LOGISTIC (one-vs-all) or ENTROPY (multilabel;
there z = f + c without signs). The hinges are support functions of their set, smoothed for
gamma > 0. Arrays are writeable float64 with m entries; ``x`` and ``work`` are overwritten.
"""

import math

import numpy as np

from fast._elementary import exp, log
from fast._numba import inlined, kernel
from fast._simd import choose, larger, plus
from fast._validation import LIMIT
from fast.kernels.hinges import divided, envelope
from fast.kernels.projections import write_zero
from fast.kernels.signed_entropies import entropy_row, logistic_step_row, softmax_row
from fast.sets import bipartite_simplex, box

BOX, BIPARTITE, LOGISTIC, ENTROPY = range(4)


@kernel
def margins(variant, scores, y, costs, z):
    """Write z, the scores with the sign of their side, plus costs."""
    for j in range(z.shape[0]):
        signed = choose(y[j] and variant != ENTROPY, -scores[j], scores[j])
        z[j] = signed + costs[j]


@kernel
def with_signs(variant, x, y, factor, block):
    """Write factor * x with the sign of each side: a gradient in the scores, a block for -w C."""
    for j in range(x.shape[0]):
        v = factor * x[j]
        block[j] = choose(y[j] and variant != ENTROPY, -v, v) + 0.0  # no -0


@kernel
def project_row(variant, a, y, r, x, work):
    """Write the projection on the dual set of a hinge."""
    if variant == BOX:
        return box.project_row(a, r, x)
    return bipartite_simplex.project_row(a, y, r, x, work)


@kernel
def _tops(z, y):
    """Positions of the largest entries of N and of P, the first ones among equals; -1 if none."""
    low, high = -1, -1
    for j in range(z.shape[0]):
        if y[j]:
            if high < 0 or z[j] > z[high]:
                high = j
        elif low < 0 or z[j] > z[low]:
            low = j
    return low, high


@kernel
def hinge_point_row(variant, z, y, r, x):
    """Write x = argmax <z,x> over the set, 0 where that is a solution; returns <z,x>/r."""
    total = 0.0
    if variant == BOX:
        for j in range(z.shape[0]):
            x[j] = choose(z[j] > 0.0, r, 0.0)
            total = plus(total, larger(z[j], 0.0))
        return total
    write_zero(x)
    low, high = _tops(z, y)
    if low >= 0 and high >= 0 and z[low] + z[high] > 0.0:
        x[low] = x[high] = r
        total = z[low] + z[high]
    return total


@kernel
def _logistic_value(z):
    """Sum of log(1 + e^z), each term to full relative accuracy."""
    total = 0.0
    for j in range(z.shape[0]):
        e = exp(-abs(z[j]))
        one = 1.0 + e
        rounded = (e - (one - 1.0)) / one  # what 1 + e lost
        total = plus(total, larger(z[j], 0.0) + (log(one) + rounded))
    return total


@kernel
def _entropy_value(z, y):
    """Mean over P of log sum e^(z - z_l)."""
    top = 0
    for j in range(1, z.shape[0]):
        top = j if z[j] > z[top] else top
    rest, below = 0.0, 0.0
    count = 0
    for j in range(z.shape[0]):
        rest = plus(rest, choose(j == top, 0.0, exp(z[j] - z[top])))
        below = plus(below, choose(y[j], z[top] - z[j], 0.0))
        count += y[j]
    return below / count + math.log1p(rest)


@inlined
def value_row(variant, z, y, gamma, x, work):
    """Return the loss; for gamma > 0 ``x`` becomes the projection of z on radius gamma."""
    if variant == LOGISTIC:
        return _logistic_value(z)
    if variant == ENTROPY:
        return _entropy_value(z, y)
    if gamma == 0.0:
        return hinge_point_row(variant, z, y, 1.0, x)
    project_row(variant, z, y, gamma, x, work)
    return envelope(z, x, gamma)


@inlined
def gradient_row(variant, z, y, gamma, x, work):
    """Write the (sub)gradient x of the loss in z."""
    if variant == LOGISTIC:
        for j in range(z.shape[0]):
            e = exp(-abs(z[j]))
            x[j] = choose(z[j] > 0.0, 1.0, e) / (1.0 + e)
    elif variant == ENTROPY:
        softmax_row(z, y, x)
    elif gamma == 0.0:
        hinge_point_row(variant, z, y, 1.0, x)
    else:
        project_row(variant, z, y, gamma, x, work)
        divided(x, gamma)


@inlined
def conjugate_row(variant, x, y, costs, gamma, slack):
    """Return the conjugate at x less <costs,x>, +inf outside its domain.

    ``slack`` > 0 allows for rounding: conditions may fail by that much, the radius being 1.
    """
    count = 0
    for j in range(x.shape[0]):
        count += y[j]
    share = 1.0 / count if variant == ENTROPY else 0.0
    total = 0.0
    low, high = 0.0, 0.0
    least, largest = 0.0, 0.0
    for j in range(x.shape[0]):
        v = x[j]
        p = v + choose(y[j], share, 0.0)
        least = larger(-p, least)
        largest = larger(p, largest)
        low = plus(low, choose(y[j], 0.0, v))
        high = plus(high, choose(y[j], v, 0.0))
        term = 0.5 * gamma * v * v
        if variant >= LOGISTIC:
            term = choose(p > 0.0, p * log(larger(p, 1e-307)), 0.0)
        if variant == LOGISTIC:
            q = 1.0 - p
            term += choose(q > 0.0, q * log(larger(q, 1e-307)), 0.0)
        total = plus(total, term - costs[j] * v)
    inside = least <= slack and largest <= 1.0 + slack
    if variant == ENTROPY:
        inside = inside and abs(low + high) <= slack
    elif variant == BIPARTITE:
        inside = inside and abs(low - high) <= slack and larger(low, high) <= 1.0 + slack
    return total if inside else np.inf


@kernel
def step_row(variant, z, y, alpha, gamma, x, work):
    """Write x = argmin alpha/2 ||x||^2 - <z,x> + conjugate(x), alpha + gamma > 0 for a hinge."""
    if variant == LOGISTIC:
        logistic_step_row(z, alpha, x)
    elif variant == ENTROPY:
        entropy_row(z, y, alpha, x)
    else:  # scaling the radius instead of z avoids an overflow
        den = min(alpha + gamma, LIMIT)
        project_row(variant, z, y, den, x, work)
        divided(x, den)


@inlined
def prox_row(variant, v, y, costs, t, gamma, p, z, work):
    """Write p = argmin over u of L(u + costs) + ||u - v||^2/(2t) = v - t x, x the dual step."""
    for j in range(v.shape[0]):
        z[j] = v[j] + costs[j]
    step_row(variant, z, y, t, gamma, p, work)
    for j in range(v.shape[0]):
        p[j] = v[j] - t * p[j]


@inlined
def update_row(variant, b, y, r, k_ii, gamma, x, work):
    """Write r times the maximiser x of the dual in one block.

    x = argmin k_ii r/2 ||x||^2 - <b,x> + conjugate(x), b the margins without the example's own
    part. For k_ii = gamma = 0 the dual of a hinge is linear in the block.
    """
    if not r > 0.0:
        write_zero(x)
        return
    if variant <= BIPARTITE:
        den = k_ii + (gamma / r if gamma > 0.0 else 0.0)
        radius = min(r * den, LIMIT)
        if radius > 0.0:
            project_row(variant, b, y, radius, x, work)
            divided(x, den)
        else:
            hinge_point_row(variant, b, y, r, x)
        return
    alpha = min(k_ii * r, LIMIT)
    if alpha > 0.0:
        step_row(variant, b, y, alpha, gamma, x, work)
    else:
        gradient_row(variant, b, y, gamma, x, work)
    for j in range(x.shape[0]):
        x[j] *= r
