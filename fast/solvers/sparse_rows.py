"""Kernels for sparse rows and weights V = W' (d, m): a nonzero touches contiguous memory only.

``rows`` is what `parts` makes of a CSR matrix. The scores of all classes cost 1/8 as much per class as
those of a short list: SIMD, and no second reading of the row.
"""

from typing import Any

import numpy as np

from fast._numba import kernel
from fast.kernels.hinges import by_loss, project_row

from .rows import FUSE, TINY
from .working_set import SMOOTH, hinge_of_sorted, keep_largest, smoothed

CHUNK = 256  # classes at once: what a block of rows needs of V stays in the cache
DENSE = 6  # a scattered class costs as much as so many in a row


def parts(X: Any, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices and ends of the rows of a CSR matrix: always the same types, copied only if they differ."""
    found = X.data.astype(dtype, copy=False), X.indices.astype(np.int32, copy=False)
    views = tuple(part.view() for part in (*found, X.indptr.astype(np.int64)))
    for view in views:
        view.flags.writeable = False
    return views


@kernel(fastmath=FUSE)
def row_scores(data, indices, begin, end, V, left, f):
    """f_j = sum_t data_t V[indices_t, left + j]; four nonzeros at once."""
    m = f.shape[0]
    for j in range(m):
        f[j] = 0.0
    t = begin
    while t + 4 <= end:
        x0, x1, x2, x3 = data[t], data[t + 1], data[t + 2], data[t + 3]
        v0, v1 = V[indices[t]][left:], V[indices[t + 1]][left:]
        v2, v3 = V[indices[t + 2]][left:], V[indices[t + 3]][left:]
        for j in range(m):
            f[j] += x0 * v0[j] + x1 * v1[j] + (x2 * v2[j] + x3 * v3[j])
        t += 4
    while t < end:
        x0, v0 = data[t], V[indices[t]][left:]
        for j in range(m):
            f[j] += x0 * v0[j]
        t += 1


@kernel
def block_scores(rows, V, first, f):
    """Scores (B, m) of the rows first, first+1, ..."""
    data, indices, indptr = rows
    m = V.shape[1]
    for left in range(0, m, CHUNK):
        right = min(left + CHUNK, m)
        for row in range(f.shape[0]):
            i = first + row
            row_scores(data, indices, indptr[i], indptr[i + 1], V, left, f[row, left:right])


@kernel(fastmath=FUSE)
def add_row(data, indices, begin, end, V, classes, factors, p, whole):
    """V[indices_t, classes_a] += data_t factors_a, a < p; ``whole`` (m,) scratch."""
    m = V.shape[1]
    if DENSE * p > m:  # SIMD
        for j in range(m):
            whole[j] = 0.0
        for a in range(p):
            whole[classes[a]] += factors[a]
        for t in range(begin, end):
            x, v = data[t], V[indices[t]]
            for j in range(m):
                v[j] += x * whole[j]
        return
    for t in range(begin, end):
        x, v = data[t], V[indices[t]]
        for a in range(p):
            v[classes[a]] += x * factors[a]


@kernel
def renew_list(f, own, index, value, n_list, keep, top, place, seen, stamp):
    """The classes with mass and the ``keep`` best others; returns (length, whether it was too short)."""
    kept = 0
    for t in range(n_list):
        if value[t] > 0.0:
            index[kept], value[kept] = index[t], value[t]
            seen[index[t]] = stamp
            kept += 1
    held = keep_largest(f, own, keep, top, place)
    for t in range(held):
        j = int(place[t])
        if seen[j] != stamp:
            if kept == index.shape[0]:
                return kept, 1
            index[kept], value[kept] = j, 0.0
            kept += 1
    return kept, 0


@kernel
def young_gap(reached, z, value, r, gamma):
    """Fenchel-Young gap of a block whose loss is ``reached`` at margins z."""
    linear, square = 0.0, 0.0
    for t in range(z.shape[0]):
        linear += value[t] * z[t]
        square += value[t] * value[t]
    return max(r * reached - linear + 0.5 * gamma / r * square, 0.0)


@kernel
def replace_block(x, value, classes, factors, z, K, ridge, change):
    """Write x over the block, and put what changes first; returns (dual increase, number of changes)."""
    linear, square, smooth, changed = 0.0, 0.0, 0.0, 0
    for t in range(x.shape[0]):
        delta = x[t] - value[t]
        if delta != 0.0:
            linear += z[t] * delta
            square += delta * delta
            smooth += delta * (x[t] + value[t])
            value[t] = x[t]
            classes[changed], factors[changed] = classes[t], -delta
            changed += 1
    return linear - 0.5 * K * (square + change * change) - 0.5 * ridge * smooth, changed


@by_loss(4)
def sparse_pass(
    rows, y, r, squares, loss, lists, mass, V, order, fresh, gaps, far, work, classes, short
):
    """Exact updates of the blocks in ``order``; returns (dual increase, lists that were too short).

    The scores of all classes renew the list of each example first, with the ``fresh`` best.
    ``gaps`` receives the Fenchel-Young gaps before the updates, ``far`` how far below its margin an
    example without mass is. For the update see `active_list.active_pass`. Scratch: ``work`` (8, m + 1),
    ``classes`` (m + 1,), ``short`` (m + 1,) of the type of V.
    """
    data, indices, indptr = rows
    variant, k, gamma, _ = loss
    index, value, count = lists
    f, top, place, seen = work[0, : V.shape[1]], work[1], work[2], work[3]
    seen[:] = -1.0
    gain, crowded = 0.0, 0
    for i in order:
        begin, end, own, p = indptr[i], indptr[i + 1], y[i], count[i]
        row_scores(data, indices, begin, end, V, 0, short[: f.shape[0]])
        for j in range(f.shape[0]):
            f[j] = short[j]
        p, full = renew_list(f, own, index[i], value[i], p, fresh, top, place, seen, i)
        count[i] = p
        crowded += full
        for t in range(p):
            classes[t] = index[i, t]
        factors, x, z, scratch = work[4], work[5, :p], work[6, :p], work[7, :p]
        for t in range(p):
            z[t] = f[classes[t]] - f[own] + 1.0
        if SMOOTH:
            project_row(variant, z, k, gamma, 0.0, x, scratch)
            reached = smoothed(z, x, gamma)
        else:
            keep_largest(z, -1, k, top, place)
            reached = hinge_of_sorted(variant, top, k)
        gaps[i] = young_gap(reached, z, value[i], r[i], gamma)
        K, ridge, s = squares[i], gamma / r[i], r[i]
        if K + ridge > TINY:
            b = factors[:p]
            for t in range(p):
                b[t] = (z[t] + K * (value[i, t] + mass[i])) / (K + ridge)
            s = project_row(variant, b, k, r[i], K / (K + ridge), x, scratch)
        else:  # a zero row without smoothing: k classes, all equally good
            for t in range(p):
                x[t] = s / k if t < k else 0.0
        far[i] = 0.0 if SMOOTH or s > 0.0 or mass[i] > 0.0 else -top[0]
        change = s - mass[i]
        more, changed = replace_block(x, value[i], classes, factors, z, K, ridge, change)
        if changed:
            gain += more
            classes[changed], factors[changed] = own, change
            add_row(data, indices, begin, end, V, classes, factors, changed + 1, short)
            mass[i] = s
    return gain, crowded


@kernel
def pull_rows(rows, blocks, V, whole):
    """V += X'A, with the `parts` of X and of A (n, m); ``whole`` (m,) scratch."""
    data, indices, indptr = rows
    factors, classes, ends = blocks
    for i in range(indptr.shape[0] - 1):
        first, p = ends[i], ends[i + 1] - ends[i]
        add_row(
            data, indices, indptr[i], indptr[i + 1], V, classes[first:], factors[first:], p, whole
        )
