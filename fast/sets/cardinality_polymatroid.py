"""The polymatroid of the cardinality: x >= 0, the j largest entries sum to at most beta_1 + ... + beta_j."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast._validation import LIMIT, per_entry, real_array
from fast.errors import InvalidParameterError
from fast.ranking.many import sort_places
from fast.sets._batch import project_rows
from fast.sets._docs import documented_with


@kernel
def project_row(a, beta, size, rho, x, rest, order, ends):
    """Write x = argmin ||x - a||^2 + rho <1,x>^2, S_j(x) <= size (beta_1 + ... + beta_j); returns <1,x>.

    ``a``, ``x`` and ``rest`` are float64 arrays with d entries, ``order`` and ``ends`` int64 ones. In the
    order of a, the positive entries less the weights are pooled until the means v of the blocks fall;
    x = clip(a - t, 0, a - v), t = rho <1,x>. A block is kept as the sum of what it has beside its
    largest entry, so that large entries that differ by little lose no digits.
    """
    d = a.shape[0]
    sort_places(a, order, ends)
    blocks = 0
    for p in range(d):
        if not a[order[d - 1 - p]] > 0.0:
            break
        first, total = p, -size * beta[p]
        while blocks > 0:
            before = ends[blocks - 2] if blocks > 1 else 0
            gap = a[order[d - 1 - before]] - a[order[d - 1 - first]]
            length, count = first - before, p + 1 - first
            if gap + rest[blocks - 1] / length > total / count:
                break
            total += rest[blocks - 1] - count * gap
            first = before
            blocks -= 1
        rest[blocks], ends[blocks] = total, p + 1
        blocks += 1
    t = _threshold(a, beta, size, rho, rest, order, ends, blocks) if rho > 0.0 else 0.0
    x[:] = 0.0
    s, start = 0.0, 0
    for block in range(blocks):
        top = a[order[d - 1 - start]]
        mean = rest[block] / (ends[block] - start)
        for p in range(start, ends[block]):
            i = order[d - 1 - p]
            x[i] = max(min((a[i] - top) - mean, a[i] - t), 0.0)
            s += x[i]
        start = ends[block]
    return s


@kernel
def _threshold(a, beta, size, rho, rest, order, ends, blocks):
    """The t = rho s(t), from above: the ``tight`` largest entries are at their caps, others above t free."""
    d, positive = a.shape[0], ends[blocks - 1] if blocks > 0 else 0
    tight, above, block = 0, 0, 0
    held, free = 0.0, 0.0  # the sums of the weights and of the entries
    while True:
        entry = a[order[d - 1 - above]] if above < positive else 0.0
        fall = 0.0
        if block < blocks:
            fall = a[order[d - 1 - tight]] + rest[block] / (ends[block] - tight)
        t = (held + free) / (1.0 / rho + (above - tight))
        if t >= max(entry, fall) or (above == positive and not fall > 0.0):
            return t
        if above < positive and (entry >= fall or above < ends[block]):
            free += entry
            above += 1
            continue
        for p in range(tight, ends[block]):
            held += size * beta[p]
            free -= a[order[d - 1 - p]]
        tight = ends[block]
        block += 1
        free = 0.0 if tight == above else free


@kernel
def project_all(a, k, r, rho, beta, x, row, work, order, ends):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, beta[i % beta.shape[0]], 1.0, rho[i], x[i], work, order, ends)
    return a.shape[0]


def check_weights(
    beta: ArrayLike, shape: tuple[int, ...], limit: float = LIMIT
) -> NDArray[np.float64]:
    """Weights of the ordered entries of arrays of this shape, in rows; they must not rise."""
    weights = per_entry("beta", beta, shape, limit)
    if (weights < 0).any():
        raise InvalidParameterError("beta", f"{weights.min():g}", "weights >= 0", "change them")
    if (weights[:, 1:] > weights[:, :-1]).any():
        rise = f"a rise by {np.diff(weights, axis=1).max():g}"
        raise InvalidParameterError("beta", rise, "beta_1 >= ... >= beta_d", "sort them")
    return weights


_VECTOR = "float or array_like, shape (d,) or (n, d)"


@documented_with(beta=(_VECTOR, "Weights beta_1 >= ... >= beta_d >= 0; one number for a box."))
def project(a: ArrayLike, beta: ArrayLike, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the polymatroid of the cardinality, biased for rho > 0.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to x >= 0 and, for every j, the sum of the j largest
    entries at most beta_1 + ... + beta_j.

    Pooling of adjacent violators: O(d log d) per row for the sort, O(d) for the rest. The dual set of the
    ordered weighted sum of Usunier, Buffoni and Gallinari 2009, "Ranking with Ordered Weighted Pairwise
    Classification", in Lapin, Hein and Schiele 2015, section 2.3.
    """
    given = real_array("a", a)
    weights = check_weights(beta, given.shape)
    return project_rows(project_all, given, rho=rho, entries=(weights,), places=2)


def _warmup() -> None:
    project([1.0, 0.0], 1.0, 1.0)
