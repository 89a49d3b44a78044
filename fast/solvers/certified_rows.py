"""Bounds on the losses and the conjugates of a finished multiclass model, row by row, in float64.

What the bounds add for rounding, ``eps`` times sizes, is explained where they are used:
`fast.solvers.multiclass_bounds`, which has the same in numpy for extended precision.
"""

import math

import numpy as np

from fast._elementary import log
from fast._numba import kernel
from fast._simd import larger, plus
from fast.kernels.hinges import ALPHA, BETA

from .working_set import keep_largest

NORMAL = 2.3e-308  # for logarithms: of smaller x too, which makes -x log x smaller
STEEPEST = 750.0  # -log of the smallest float64


@kernel
def hinge_bounds(f, first, y, r, slip, p, loss, eps, work):
    """Upper bound on sum_i r_i L_i, rows first, first+1, ..., for scores off by up to ``slip``.

    ``p`` (rows, m), zero at the own class: for gamma > 0 about the maximisers; any p gives a
    bound. ``work`` (3, m).
    """
    variant, k, gamma = loss
    m = f.shape[1]
    z, top, place = work[0], work[1], work[2]
    total = 0.0
    for row in range(f.shape[0]):
        i = first + row
        if r[i] == 0.0:
            continue
        own = y[i]
        size = 0.0
        for j in range(m):
            size = plus(size, abs(f[row, j]))
        if not size < np.inf:  # nan too
            return np.inf
        largest = 0.0
        for j in range(m):
            largest = larger(largest, abs(f[row, j]))
        shift = 1.0 - f[row, own]
        lift = 2.0 * slip[row] + 4.0 * eps * (1.0 + largest)
        paid = 0.0
        if gamma > 0.0:
            steepest = 0.0
            for j in range(m):
                z[j] = f[row, j] + shift - gamma * p[row, j]
                paid = plus(paid, p[row, j] * p[row, j])
                steepest = larger(steepest, p[row, j])
            lift += 2.0 * eps * gamma * steepest
            paid *= 0.5 * gamma
        else:
            for j in range(m):
                z[j] = f[row, j] + shift
        z[own] = -np.inf
        best = -np.inf
        for j in range(m):
            best = larger(best, z[j])
        value = best + lift
        if value <= 0.0:  # and so are all others
            value = 0.0
        elif k == 1:
            value += 5.0 * eps * value
        else:
            held = keep_largest(z[:m], own, k, top, place)
            value = 0.0
            for t in range(held):
                if variant == BETA and top[t] + lift <= 0.0:
                    break
                value += top[t] + lift
            furthest = top[0] + lift
            if variant == ALPHA:
                furthest = larger(furthest, abs(top[held - 1] + lift))
            value = larger(value / k + (k + 4) * eps * furthest, 0.0)
        total += r[i] * (value + paid)
    return total


@kernel
def _excess(variant, k, r, s, top, above):
    """How far dual variables x >= 0 are, at most, from the domain: s = <1,x>, ``above`` the caps r/k."""
    off = larger(s - r, 0.0)
    if k > 1 and variant == ALPHA:
        off += 2.0 * k * k * larger(top - s / k, 0.0)
    elif k > 1:
        off += above
    return off


@kernel
def hinge_masses(dual_variables, first, y, r, norms, loss, blocks, spread):
    """From dual variables to blocks a_i: (gains, sizes, mass moved times norms, what that costs).

    ``dual_variables`` and ``blocks`` are (data, indices, indptr); a block begins with its own class.
    ``spread[j]`` grows by sum_i |a_ij| norms_i.
    """
    variant, k, gamma = loss
    data, indices, indptr = dual_variables
    out, classes, ends = blocks
    gains, sizes, moved, rough = 0.0, 0.0, 0.0, 0.0
    at = 0
    ends[0] = 0
    for row in range(indptr.shape[0] - 1):
        i = first + row
        own, radius = y[i], r[i]
        begin = at
        at += 1
        s, top, square, above, below = 0.0, 0.0, 0.0, 0.0, 0.0
        for t in range(indptr[row], indptr[row + 1]):
            j = indices[t]
            x = data[t]
            if j == own:
                continue
            if not x > 0.0:
                below -= x
                continue
            if radius > 0.0:
                s += x
                square += x * x
                top = larger(top, x)
                above += larger(x - radius / k, 0.0)
                out[at] = -x
                classes[at] = j
                spread[j] += x * norms[i]
                at += 1
        out[begin] = s
        classes[begin] = own
        spread[own] += s * norms[i]
        ends[row + 1] = at
        gain, steep = s, 0.0
        if gamma > 0.0 and radius > 0.0:
            gain -= 0.5 * gamma * square / radius
            steep = gamma * top / radius
        off = below + _excess(variant, k, radius, s, top, above)
        gains += gain
        sizes += abs(gain) + s
        moved += off * norms[i]
        rough += off * (1.0 + steep)
    return gains, sizes, moved, rough


@kernel
def entropy_masses(blocks, first, y, r, norms, variant, k, eps, spread):
    """As `hinge_masses`, of dense dual variables (rows, m), which become the blocks."""
    m = blocks.shape[1]
    gains, sizes, moved, rough = 0.0, 0.0, 0.0, 0.0
    for row in range(blocks.shape[0]):
        i = first + row
        own, radius = y[i], r[i]
        a = blocks[row]
        below = 0.0
        a[own] = 0.0
        for j in range(m):
            below = plus(below, larger(-a[j], 0.0))
            a[j] = larger(a[j], 0.0)
        if radius == 0.0:
            for j in range(m):
                a[j] = 0.0
        s, top, above, parts, share = 0.0, 0.0, 0.0, 0.0, 0.0
        inverse = 1.0 / radius if radius > 0.0 else 0.0
        cap = radius / k
        for j in range(m):
            s = plus(s, a[j])
            top = larger(top, a[j])
            above = plus(above, larger(a[j] - cap, 0.0))
            q = a[j] * inverse
            share = plus(share, q)
            parts = plus(parts, -q * log(larger(q, NORMAL)))
        rest = 1.0 - share
        if rest > 0.0:
            slope = -math.log1p(-share)  # what rounding in the share costs
            parts += rest * slope - (m + 4) * eps * share * slope
        gain = radius * parts
        for j in range(m):
            spread[j] += a[j] * norms[i]
            a[j] = -a[j]
        spread[own] += s * norms[i]
        a[own] = s
        off = below + _excess(variant, k, radius, s, top, above)
        gains += gain
        sizes += abs(gain) + s
        moved += off * norms[i]
        rough += off * (1.0 + STEEPEST)
    return gains, sizes, moved, rough


def _warmup() -> None:
    """Compile the kernels on one row."""
    one, y, ends = np.ones(1), np.zeros(1, np.int64), np.array([0, 1])
    full, spread = np.ones((1, 2)), np.ones(2)
    loss, work = (ALPHA, 1, 0.0), np.empty((3, 2))
    hinge_bounds(full, 0, y, one, one, full, loss, 1e-16, work)
    given = one.copy(), np.ones(1, np.int64), ends
    blocks = np.empty(2), np.empty(2, np.int64), np.empty(2, np.int64)
    hinge_masses(given, 0, y, one, one, loss, blocks, spread)
    entropy_masses(full, 0, y, one, one, ALPHA, 1, 1e-16, spread)
