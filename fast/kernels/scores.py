"""Losses of rows of scores and their gradients, in the dtype of the scores: what tensors on a processor go by.

Each loop fills ``losses`` (n,) and ``x`` (n, m), the gradients of the losses by the scores; x may have one row, as
scratch. It returns the number of rows done, less than there are at a label that is no class. A few of the largest
entries decide a hinge, and mostly its projections too; an entropy reads its row once more.

``space`` (3, m) float64, ``lanes`` (LANES,) and ``places`` (3, m + 1) int64 are scratch. Losses of nan are nan.
"""

import numpy as np

from fast._elementary import exp
from fast._numba import kernel
from fast._simd import choose, count_if, larger, largest_or_nan, plus, smaller
from fast._validation import LIMIT
from fast.kernels.entropies import TRUNCATED, narrowed, shares, value_of
from fast.kernels.hinges import BETA, envelope, project_row, with_own
from fast.losses import sparsemax

LANES = 64  # interleaved parts of a row: its largest entries stand in those with the largest maxima
NEAR = 8  # more than k that are looked at before the whole row is
SPARSEMAX = 2  # a third variant, beside ALPHA and BETA


@kernel
def _level(lanes, n):
    """A level that n of the maxima reach, few more if possible: bisection; none if one is nan."""
    unknown, low, high = np.int32(0), np.inf, -np.inf
    for j in range(LANES):
        unknown = count_if(unknown, lanes[j] != lanes[j])
    if unknown:
        return -np.inf
    for j in range(LANES):
        low = smaller(lanes[j], low)
        high = larger(lanes[j], high)
    for _ in range(8):
        level = 0.5 * low + 0.5 * high
        count = np.int32(0)
        for j in range(LANES):
            count = count_if(count, lanes[j] >= level)
        if count < n:
            high = level
        else:
            low = level
            if count <= n + 2:
                break
    return low


@kernel
def _candidates(row, own, n, lanes, hit, at):
    """Write to ``at`` classes other than ``own``, the n largest among them; returns how many."""
    m = row.shape[0]
    count = 0
    if m < 2 * LANES:
        for j in range(m):
            at[count] = j
            count += j != own
        return count
    for j in range(LANES):
        lanes[j] = row[j]
    start = LANES
    while start + LANES <= m:  # this form becomes SIMD
        for j in range(LANES):
            lanes[j] = largest_or_nan(row[start + j], lanes[j])
        start += LANES
    for j in range(m - start):
        lanes[j] = largest_or_nan(row[start + j], lanes[j])
    low = _level(lanes, n + 1)  # one of them may be the own
    hits = 0
    for j in range(LANES):
        hit[hits] = j
        hits += not lanes[j] < low
    for i in range(hits):
        for j in range(hit[i], m, LANES):
            at[count] = j
            count += (not row[j] < low) & (j != own)
    return count


@kernel
def largest(row, own, top, classes, lanes, hit, at):
    """Write the largest of the other entries and their classes, in descending order; nan comes first.

    As many as ``top`` has room for; among equals the order is not defined.
    """
    n = top.shape[0]
    for i in range(_candidates(row, own, n, lanes, hit, at)):
        v = row[at[i]]
        j = i
        if i >= n:
            j = n - 1
            if v <= top[j] or top[j] != top[j]:
                continue
        while j > 0 and not (top[j - 1] >= v or top[j - 1] != top[j - 1]):
            top[j] = top[j - 1]
            classes[j] = classes[j - 1]
            j -= 1
        top[j] = v
        classes[j] = at[i]


@kernel
def hinge_rows(f, y, variant, k, squared, margin, losses, x, space, lanes, places):
    """max{0, S_k(z)/k}, or for BETA S_k(max(z, 0))/k; half the square with ``squared``."""
    m = f.shape[1]
    n = min(k, m - 1)
    top, classes = space[0, :n], places[0, :n]
    for i in range(f.shape[0]):
        if not 0 <= y[i] < m:
            return i
        largest(f[i], y[i], top, classes, lanes, places[1], places[2])
        own = float(f[i, y[i]]) - margin
        total = 0.0
        for j in range(n):
            top[j] -= own
            total += top[j] if variant != BETA or not top[j] <= 0.0 else 0.0
        hinge = total / k
        if hinge <= 0.0:
            hinge = 0.0
        losses[i] = 0.5 * hinge * hinge if squared else hinge
        g = x[i % x.shape[0]]
        g[:] = 0.0
        if hinge != 0.0:
            each, s = (hinge if squared else 1.0) / k, 0.0
            for j in range(n):
                if variant != BETA or not top[j] <= 0.0:
                    g[classes[j]] = each
                    s += each
            g[y[i]] = -s
    return f.shape[0]


@kernel
def _solved(variant, k, gamma, z, p, work):
    """Write gamma times the gradient of a smooth loss at z; returns the loss."""
    if variant == SPARSEMAX:
        return sparsemax.value_row(0, z, p, work)
    project_row(variant, z, k, gamma, 0.0, p, work)
    return envelope(z, p, gamma)


@kernel
def smooth_rows(f, y, variant, k, gamma, margin, losses, x, space, lanes, places):
    """Smooth top-k hinges; sparsemax, for which k and gamma are 1."""
    m = f.shape[1]
    n = min(k + NEAR, m - 1)
    z, p, work = space[0], space[1], space[2]
    for i in range(f.shape[0]):
        row, label, g = f[i], y[i], x[i % x.shape[0]]
        if not 0 <= label < m:
            return i
        top, classes = z[:n], places[0, :n]
        largest(row, label, top, classes, lanes, places[1], places[2])
        own = float(row[label]) - margin
        first = top[0] - own
        if not (first <= LIMIT and own <= LIMIT):
            losses[i] = np.inf if first == np.inf else np.nan
            g[:] = np.nan
            continue
        for j in range(n):
            top[j] = larger(top[j] - own, -LIMIT)
        loss = _solved(variant, k, gamma, top, p[:n], work[:n])
        whole = n < m - 1 and p[n - 1] > 0.0  # there may be more
        if whole:
            for j in range(m - 1):
                z[j] = larger(float(row[j + (j >= label)]) - own, -LIMIT)
            loss = _solved(variant, k, gamma, z[: m - 1], p[: m - 1], work[: m - 1])
        losses[i] = loss
        if whole:
            with_own(p[: m - 1], label, 1.0 / gamma, g)
            continue
        g[:] = 0.0
        s = 0.0
        for j in range(n):
            g[classes[j]] = p[j] / gamma
            s += p[j] / gamma
        g[label] = -s
    return f.shape[0]


@kernel
def _exponentials(row, base, e):
    """Write e^(f - b), at most 1; returns the sum over f <= b."""
    total = 0.0
    for j in range(row.shape[0]):
        v = float(row[j])
        part = exp(choose(v < base, v - base, 0.0))
        total = plus(total, choose(v <= base, part, 0.0))
        e[j] = part
    return total


@kernel
def entropy_rows(f, y, variant, k, margin, losses, x, space, lanes, places):
    """The top-k entropies and the truncated one."""
    m = f.shape[1]
    n = min(k, m - 1)
    top, classes = space[0, :n], places[0, :n]
    for i in range(f.shape[0]):
        row, label, g = f[i], y[i], x[i % x.shape[0]]
        if not 0 <= label < m:
            return i
        largest(row, label, top, classes, lanes, places[1], places[2])
        own = float(row[label]) - margin
        last = top[n - 1]
        first = (last if variant == TRUNCATED and top[0] == top[0] else top[0]) - own
        if not (first <= LIMIT and own <= LIMIT and last >= -LIMIT):
            losses[i] = np.inf if first == np.inf else np.nan
            g[:] = np.nan
            continue
        z = _exponentials(row[:label], last, g[:label])
        z += _exponentials(row[label + 1 :], last, g[label + 1 :])
        for j in range(n):
            z -= top[j] == last and j < n - 1  # which is among the largest
            top[j] -= own
        base = top[n - 1]
        kept = 0  # of the largest, which are written by themselves
        if variant == TRUNCATED:
            loss = value_of(variant, k, 0, base, z, top)
            shift, factor, cap, s, _ = shares(variant, k, 0, base, z, top)
            cap, kept = 0.0, n - 1
        else:
            kept, b, z = narrowed(variant, k, m - 1, base, z, top)
            loss = value_of(variant, k, kept, b, z, top)
            shift, factor, cap, s, _ = shares(variant, k, kept, b, z, top)
        losses[i] = loss
        scale = factor * exp(base - shift)
        for j in range(m):
            g[j] = g[j] * scale
        for j in range(n):
            g[classes[j]] = cap if j < kept else min(factor * exp(top[j] - shift), cap or 1.0)
        g[label] = -s
    return f.shape[0]


@kernel
def _binary(row, gamma, margin, x):
    """Write the slopes of the binary hinges of f + c, smoothed for gamma > 0; returns the sum of the hinges."""
    total = 0.0
    for j in range(row.shape[0]):
        z = largest_or_nan(0.0, float(row[j]) + margin)  # nan stays
        if gamma > 0.0:
            p = -largest_or_nan(-gamma, -z)
            total = plus(total, (z - 0.5 * p) * (p / gamma))
            x[j] = p / gamma
        else:
            total = plus(total, z)
            x[j] = choose(z > 0.0, 1.0, 0.0)
    return total


@kernel
def signed_rows(f, y, gamma, margin, losses, x, space, lanes, places):
    """The sums of binary hinges of f_j + c and, for the label, c - f_y."""
    m = f.shape[1]
    for i in range(f.shape[0]):
        row, label, g = f[i], y[i], x[i % x.shape[0]]
        if not 0 <= label < m:
            return i
        total = _binary(row[:label], gamma, margin, g[:label])
        total += _binary(row[label + 1 :], gamma, margin, g[label + 1 :])
        space[0, 0] = -row[label]
        total += _binary(space[0, :1], gamma, margin, space[1, :1])
        g[label] = -space[1, 0]
        losses[i] = total
    return f.shape[0]
