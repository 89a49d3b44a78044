"""Row kernels of the top-k hinge family, in z = u + c over the d = m - 1 other classes.

All losses here are support functions of a top-k simplex, smoothed for gamma > 0:
phi(z) = max <z,x> - gamma/2 ||x||^2 over Delta_k(1). ``variant`` is ALPHA or BETA, gamma = 0 the
hinge; p is (variant, k, gamma). Arrays are writeable float64 with d entries; ``x`` and ``work`` are overwritten.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import numpy as np

from fast._numba import inlined, kernel, remade
from fast._simd import choose, larger, plus
from fast._validation import LIMIT
from fast.kernels.projections import WHOLE, kth_largest, largest_below, uncapped_row, write_zero
from fast.sets import topk_simplex_alpha, topk_simplex_beta

ALPHA = 0
BETA = 1


@inlined
def project_row(variant, a, k, r, rho, x, work):
    """Write the biased projection on the top-k simplex of the variant; returns <1,x>."""
    if variant == ALPHA:
        return topk_simplex_alpha.project_row(a, k, r, rho, x, work)
    return topk_simplex_beta.project_row(a, k, r, rho, x, work)


@inlined
def _simplex_row(variant, a, k, r, rho, x, work):
    return uncapped_row(a, r, rho, False, x, work)


@inlined
def _alpha_row(variant, a, k, r, rho, x, work):
    return topk_simplex_alpha.project_row(a, k, r, rho, x, work)


@inlined
def _beta_row(variant, a, k, r, rho, x, work):
    return topk_simplex_beta.project_row(a, k, r, rho, x, work)


_ROWS = _alpha_row, _beta_row, _simplex_row


def by_loss(place: int) -> Callable[[Callable], Callable]:
    """Decorate a loop that calls `project_row`: compiled for each set apart, without the code of the others.

    ``place`` is that of (variant, k, gamma, ...) among its arguments; where gamma is 0, ``SMOOTH`` is false.
    """

    def decorate(text: Callable) -> Callable:
        @cache
        def made(row: int, smooth: bool) -> Any:
            names = {"project_row": _ROWS[row], "SMOOTH": smooth}
            return kernel(remade(text, f"{text.__name__}_{row}{smooth:d}", names))

        @wraps(text)
        def call(*arguments: Any) -> Any:
            variant, k, gamma = arguments[place][:3]
            return made(2 if k == 1 else variant, gamma > 0.0)(*arguments)

        return call

    return decorate


@kernel
def others(scores, y, costs, z):
    """Write z = scores_j - scores_y + costs_j over the classes j != y, in class order."""
    own = scores[y]
    for j in range(y):
        z[j] = (scores[j] - own) + costs[j]
    for j in range(y + 1, scores.shape[0]):
        z[j - 1] = (scores[j] - own) + costs[j]


@kernel
def with_own(x, y, sign, block):
    """Write block_j = sign * x_j at the other classes and the number that makes the sum 0 at y."""
    s = 0.0
    for j in range(y):
        block[j] = sign * x[j] + 0.0  # no -0
        s = plus(s, x[j])
    for j in range(y + 1, block.shape[0]):
        block[j] = sign * x[j - 1] + 0.0
        s = plus(s, x[j - 1])
    block[y] = 0.0 - sign * s


@kernel
def top_sum(variant, z, k, work):
    """k-th largest entry, sum of the k largest (of their positive parts for BETA).

    More than d entries cannot be summed: k > d gives 0 for ALPHA and all entries for BETA.
    """
    d = z.shape[0]
    if k > d and variant == ALPHA:
        return np.inf, 0.0
    j = min(k, d)
    if j == 1:
        pivot = largest_below(z, np.inf)
        return pivot, (larger(pivot, 0.0) if variant == BETA else pivot)
    pivot, taken = kth_largest(z, j, 0.0, work)
    near = z if taken == WHOLE else work[:taken]
    count = 0
    total = 0.0
    least = 0.0 if variant == BETA else -np.inf
    for i in range(near.shape[0]):
        v = near[i]
        count += v > pivot
        total = plus(total, choose((v > pivot) & (v > least), v, 0.0))
    if pivot > least:
        total += (j - count) * pivot
    return pivot, total


@kernel
def hinge_point_row(variant, z, k, r, x, work):
    """Write x = argmax <z,x> over Delta_k(r), ties to the first classes; returns <1,x>.

    Where x = 0 is among the solutions, it is the one returned.
    """
    pivot, total = top_sum(variant, z, k, work)
    if not total > 0.0:
        return write_zero(x)
    least = max(pivot, 0.0) if variant == BETA else pivot
    cap = r / k
    left = min(k, z.shape[0])
    for i in range(z.shape[0]):
        take = z[i] > least
        x[i] = choose(take, cap, 0.0)
        left -= take
    s = cap * (min(k, z.shape[0]) - left)
    if variant == ALPHA or pivot > 0.0:
        for i in range(z.shape[0]):
            if left == 0:
                break
            if z[i] == pivot:
                x[i] = cap
                s += cap
                left -= 1
    return s


@kernel
def envelope(z, x, gamma):
    """Return (<z,x> - ||x||^2/2)/gamma >= 0, the smoothed loss at z with projection x."""
    half = 0.0
    for i in range(z.shape[0]):
        half = plus(half, choose(x[i] > 0.0, (z[i] - 0.5 * x[i]) * (x[i] / gamma), 0.0))
    return half if half > 0.0 else 0.0


@kernel
def divided(x, den):
    """Divide x by a number; returns the new sum."""
    s = 0.0
    for i in range(x.shape[0]):
        x[i] = x[i] / den
        s = plus(s, x[i])
    return s


@inlined
def value_row(p, z, x, work):
    """Return the loss phi(z) >= 0; for gamma > 0 ``x`` becomes the projection of z on radius gamma."""
    variant, k, gamma = p
    if gamma == 0.0:
        _, total = top_sum(variant, z, k, work)
        return total / k if total > 0.0 else 0.0
    project_row(variant, z, k, gamma, 0.0, x, work)
    return envelope(z, x, gamma)


@inlined
def gradient_row(p, z, x, work):
    """Write the (sub)gradient x of phi at z, a point of Delta_k(1); returns 1 - <1,x>."""
    variant, k, gamma = p
    if gamma == 0.0:
        return 1.0 - hinge_point_row(variant, z, k, 1.0, x, work)
    project_row(variant, z, k, gamma, 0.0, x, work)
    return 1.0 - divided(x, gamma)


@inlined
def conjugate_row(p, x, costs, known, slack):
    """Return gamma/2 ||x||^2 - <costs,x> on Delta_k(1), +inf outside.

    ``slack`` > 0 allows for rounding: conditions may fail by that part of the radius or cap.
    """
    variant, k, gamma = p
    s = 0.0
    largest = 0.0
    least = 0.0
    square = 0.0
    inner = 0.0
    for i in range(x.shape[0]):
        v = x[i]
        s = plus(s, v)
        largest = larger(v, largest)
        least = larger(-v, least)
        square = plus(square, v * v)
        inner = plus(inner, costs[i] * v)
    bound = s if variant == ALPHA else 1.0
    room = 1.0 + slack
    inside = s <= room and k * largest <= bound * room and k * least <= bound * slack
    if variant == ALPHA and k > x.shape[0]:
        inside = largest == 0.0 and least == 0.0
    return 0.5 * gamma * square - inner if inside else np.inf


@inlined
def prox_row(p, v, costs, t, out, z, work):
    """Write out = argmin over u of phi(u + costs) + ||u - v||^2/(2t); what is returned is not used.

    By Moreau's identity it is v - t x with x the projection of (v + costs)/(gamma + t) on Delta_k(1).
    """
    variant, k, gamma = p
    total = gamma + t
    for i in range(v.shape[0]):
        z[i] = v[i] + costs[i]
    project_row(variant, z, k, total, 0.0, out, work)
    for i in range(v.shape[0]):
        out[i] = v[i] - (t / total) * out[i]
    return 0.0


@inlined
def update_row(p, b, r, k_ii, x, work):
    """Write x, the maximiser of the dual in a block -x; returns (1, 1 - <1,x>).

    x = argmin of ||x - b/den||^2 + rho <1,x>^2 over Delta_k(r), rho = k_ii/den, where
    b = q_j - q_y + c_j; ``den`` = k_ii + gamma/r. For den = 0 the dual is linear in the block. ``b``
    stays as it is: scaling the radius instead avoids an overflow of b/den.
    """
    variant, k, gamma = p
    den = k_ii + (gamma / r if gamma > 0.0 else 0.0)
    radius = min(r * den, LIMIT)
    if not r > 0.0:
        return 1.0, 1.0 - write_zero(x)
    if not radius > 0.0:
        return 1.0, 1.0 - hinge_point_row(variant, b, k, r, x, work)
    project_row(variant, b, k, radius, k_ii / den, x, work)
    return 1.0, 1.0 - divided(x, den)
