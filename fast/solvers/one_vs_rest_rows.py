"""Coordinate ascent over rows for hinges with one signed score per class, all classes of a row at once.

The dual block of an example is x_i in r_i times the loss's set, a_i = -x_i on N and x_i on P, W = A'X. W' is
kept as (d, m), so that scores and changes of a row run over classes next to each other, and x (n, m) is dense.
"""

from fast._numba import kernel
from fast.kernels.signed import hinge_point_row, margins, project_row

from .rows import FUSE

FEW = 8  # where fewer than one class in so many moves, each is pulled by itself
RESTING = 6  # visits that an example without change is left out, at most


@kernel(fastmath=FUSE)
def _scores(dense, data, indices, indptr, i, V, f):
    for j in range(f.shape[0]):
        f[j] = 0.0
    if dense.ndim == 1:
        for t in range(indptr[i], indptr[i + 1]):
            for j in range(f.shape[0]):
                f[j] += data[t] * V[indices[t], j]
    else:
        d = dense.shape[1]
        for t in range(d % 4):
            for j in range(f.shape[0]):
                f[j] += dense[i, t] * V[t, j]
        for t in range(d % 4, d, 4):  # f is loaded and stored once for four features
            a, b, c, e = dense[i, t], dense[i, t + 1], dense[i, t + 2], dense[i, t + 3]
            for j in range(f.shape[0]):
                first = a * V[t, j] + b * V[t + 1, j]
                f[j] += first + (c * V[t + 2, j] + e * V[t + 3, j])


@kernel(fastmath=FUSE)
def _pull(dense, data, indices, indptr, i, change, moved, V):
    if moved.shape[0] * FEW < change.shape[0]:
        for j in moved:
            if dense.ndim == 1:
                for t in range(indptr[i], indptr[i + 1]):
                    V[indices[t], j] += data[t] * change[j]
            else:
                for t in range(dense.shape[1]):
                    V[t, j] += dense[i, t] * change[j]
    elif dense.ndim == 1:
        for t in range(indptr[i], indptr[i + 1]):
            for j in range(change.shape[0]):
                V[indices[t], j] += data[t] * change[j]
    else:
        for t in range(dense.shape[1]):
            for j in range(change.shape[0]):
                V[t, j] += dense[i, t] * change[j]


@kernel
def sweep(rows, y, r, norms, order, loss, V, x, rest, places, work):
    """Exact updates of the examples in ``order``; returns how many were visited.

    An example whose block does not change rests for a pass more each time, up to `RESTING`.
    """
    dense, data, indices, indptr = rows
    variant, gamma, costs = loss
    m = V.shape[1]
    f, b, new, scratch = work[0], work[1], work[2], work[3]
    visited = 0
    for i in order:
        if not r[i] > 0.0:
            continue
        if rest[i, 0] > 0:
            rest[i, 0] -= 1
            continue
        visited += 1
        _scores(dense, data, indices, indptr, i, V, f)
        margins(variant, f, y[i], costs[i % costs.shape[0]], b)
        den = norms[i] + gamma / r[i]
        for j in range(m):
            b[j] += norms[i] * x[i, j]
        if den > 0.0:
            project_row(variant, b, y[i], r[i] * den, new, scratch)
        else:
            hinge_point_row(variant, b, y[i], r[i], new)
            den = 1.0
        moved = 0
        for j in range(m):
            v = new[j] / den
            change = v - x[i, j]
            if change != 0.0:
                places[moved] = j
                moved += 1
            x[i, j] = v
            f[j] = change if y[i, j] else -change
        if moved:
            rest[i, 1] = 0
            _pull(dense, data, indices, indptr, i, f, places[:moved], V)
        else:
            rest[i, 1] = min(rest[i, 1] + 1, RESTING)
            rest[i, 0] = rest[i, 1]
    return visited
