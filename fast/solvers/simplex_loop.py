"""Steps of `fast.solvers.simplex_interior` on hinges of few numbers, compiled as one loop.

The same predictor, corrector and corrections of centrality as `SimplexInteriorSolver._advance`, which calls
numpy and LAPACK some sixty times: on a hundred examples these calls take ten times as long as their work.
"""

import numpy as np

from fast._numba import kernel
from fast._simd import plus

from . import simplex_steps as steps

BOUNDARY = 0.995  # part of the way to the first wall
SHORT = 0.1  # a step so short is replaced by one that centres
CENTRINGS = 2
JITTER = 1e-15  # what the first pivot that is not positive adds to a diagonal of ones


@kernel
def scores(U, Q, f):
    """U Q', (m, examples)."""
    for j in range(U.shape[0]):
        for i in range(Q.shape[0]):
            s = 0.0
            for t in range(Q.shape[1]):
                s += U[j, t] * Q[i, t]
            f[j, i] = s


@kernel
def factor(metric, pairs, curvature, H, scale):
    """Cholesky's factor L of `kronecker.assemble`'s matrix, scaled to a diagonal of ones, below H's diagonal.

    ``pairs`` are the products q_il q_ih, h <= l, one after the other. Above the diagonal H keeps the matrix.
    """
    p = metric.shape[0]
    size, m = H.shape[0], H.shape[0] // p + 1
    H[:] = 0.0
    at = 0
    for a in range(m):
        for b in range(a):
            weights = curvature[at]
            at += 1
            t = 0
            for g in range(p):
                for h in range(g + 1):
                    found = -metric[g, h] / m
                    products = pairs[t]
                    t += 1
                    for i in range(weights.shape[0]):
                        found = plus(found, weights[i] * products[i])
                    H[b * p + h, b * p + g] -= found
                    if a < m - 1:
                        H[a * p + h, a * p + g] -= found
                        H[b * p + h, a * p + g] = found
                        H[b * p + g, a * p + h] = found
    for i in range(size):
        scale[i] = 1.0 / np.sqrt(H[i, i])
    for i in range(size):
        for j in range(i, size):
            H[i, j] *= scale[i] * scale[j]
    jitter, diagonal, done = 0.0, 1.0, False
    while not done and jitter < 1.0:
        done = True
        for j in range(size):
            for i in range(j, size):
                s = diagonal if i == j else H[j, i]
                for t in range(j):
                    s -= H[i, t] * H[j, t]
                if i == j:
                    if not s > 0.0:
                        done = False
                        break
                    H[j, j] = np.sqrt(s)
                else:
                    H[i, j] = s / H[j, j]
            if not done:
                break
        if not done:
            jitter += max(9.0 * jitter, JITTER)
            diagonal = 1.0 + jitter


@kernel
def towards(pieces, r, kind, walls, slopes, aims, matrix, change, space, f, numbers, H, scale, dU):
    """A step to products ``aims``, and how much of it can be taken."""
    U, Q, metric = space
    sums, v, moved, out, df = numbers
    p, size = metric.shape[0], H.shape[0]
    m = U.shape[0]
    steps.pull(pieces, f, r, walls, slopes, aims, kind, matrix, sums, v, moved, out)
    for j in range(m - 1):
        for t in range(p):
            s = 0.0
            for i in range(Q.shape[0]):
                s += out[j, i] * Q[i, t]
            for h in range(p):
                s -= U[j, h] * metric[h, t]
            dU[j, t] = s * scale[j * p + t]
    for a in range(size):
        s = dU[a // p, a % p]
        for b in range(a):
            s -= H[a, b] * dU[b // p, b % p]
        dU[a // p, a % p] = s / H[a, a]
    for a in range(size - 1, -1, -1):
        s = dU[a // p, a % p]
        for b in range(a + 1, size):
            s -= H[b, a] * dU[b // p, b % p]
        dU[a // p, a % p] = s / H[a, a]
    for t in range(p):
        mean = 0.0
        for j in range(m - 1):
            dU[j, t] *= scale[j * p + t]
            mean += dU[j, t] / m
        dU[m - 1, t] = 0.0
        for j in range(m):
            dU[j, t] -= mean
    scores(dU, Q, df)
    most = steps.step(pieces, df, v, walls, aims, kind, matrix, sums, change)
    return min(1.0, BOUNDARY / most) if most > 0.0 else 1.0


@kernel
def total(flat, change, length, r):
    """Sum of radius times products after a part of a step."""
    found = 0.0
    for i in range(0, 6, 2):
        four = flat[i], flat[i + 1], change[i], change[i + 1]
        found += steps.products(*four, length, r)
    return found


@kernel
def advance(
    count, until, pieces, r, kind, cost, weight, walls, flat, slopes, aims, flat_aims, matrix, changes, flat_changes,
    space, pairs, curvature, f, numbers, H, scale, dUs,
):  # fmt: skip
    """Up to ``count`` steps, until the sum of products is at most ``until``; returns (steps, that sum).

    ``flat``, ``flat_aims`` and ``flat_changes`` are the same variables with two dimensions all of them, ``aims``
    those of a first-order step and two that are written, ``changes`` and ``dUs`` two steps that are.
    """
    x, U = walls[0], space[0]
    left = total(flat, flat, 0.0, r)
    for done in range(count):
        if not left > until:
            return done, left
        tau = left / weight
        steps.centre(pieces, walls, kind, matrix)
        for a in range(x.shape[0]):
            for i in range(x.shape[1]):
                slopes[a, i] = kind[2] * x[a, i] - cost
        scores(U, space[1], f)
        steps.curvature(pieces, r, kind, matrix, np.uint64(0), curvature)
        factor(space[2], pairs, curvature, H, scale)
        length = towards(
            pieces, r, kind, walls, slopes, aims[0], matrix, changes[0], space, f, numbers, H, scale, dUs[0]
        )
        share = total(flat, flat_changes[0], length, r) / weight / tau
        target = tau * min(max(share, 0.0), 1.0) ** 3
        for i in range(3):
            steps.aim_at(target, tau, flat_changes[0][2 * i], flat_changes[0][2 * i + 1], flat_aims[1][i])
        length = towards(
            pieces, r, kind, walls, slopes, aims[1], matrix, changes[0], space, f, numbers, H, scale, dUs[0]
        )
        if length < SHORT:  # the corrections were made for a step of length 1
            target = 0.5 * tau
            for i in range(3):
                flat_aims[1][i][:] = target
            length = towards(
                pieces, r, kind, walls, slopes, aims[1], matrix, changes[0], space, f, numbers, H, scale, dUs[0]
            )
        held = 0
        for turn in range(CENTRINGS):
            if length > BOUNDARY - SHORT:
                break
            now, new = 1 + turn % 2, 2 - turn % 2
            for i in range(3):
                u, w, du, dw = flat[2 * i], flat[2 * i + 1], flat_changes[held][2 * i], flat_changes[held][2 * i + 1]
                steps.aim_nearer(
                    target, min(1.0, 1.1 * length + 0.1), u, w, du, dw, flat_aims[now][i], flat_aims[new][i]
                )
            found = towards(
                pieces, r, kind, walls, slopes, aims[new], matrix, changes[1 - held], space, f, numbers, H, scale,
                dUs[1 - held],
            )  # fmt: skip
            if not found > 1.01 * length:
                break
            length, held = found, 1 - held
        steps.advance(length, U, dUs[held])
        for i in range(6):
            steps.advance(length, flat[i], flat_changes[held][i])
        steps.tidy(pieces, walls, kind, numbers[0])
        left = total(flat, flat, 0.0, r)
    return count, left
