"""The top-k simplex of the first kind: x >= 0, s <= r and no entry above s/k."""

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast.kernels.projections import (
    WHOLE,
    around,
    kth_largest,
    ranks,
    uncapped_row,
    write_clipped,
    write_zero,
)
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel
def project_row(a, k, r, rho, x, work):
    """Write x = argmin ||x - a||^2 + rho <1,x>^2 over {x >= 0, s <= r, x_i <= s/k}; returns s = <1,x>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries; r may be inf.
    The solution is x = clip(a - t, 0, u) with F(t) = F(t + u), F(v) = kv + sum (a - v)_+. From the
    k-th largest entry measure B >= 0 upwards (top k) and A >= 0 downwards (rest): then
    sum (p - B)_+ = sum (q - A)_+ with q = a_[k] - t and p = u - q. For guessed active sets (n
    entries B < p, m entries A < q) both equations for (q, u) are linear. Guessing again from
    (p, q) makes the common value of the two sums grow, so that the right sets are met after
    finitely many steps, without any bracket or tolerance.
    """
    d = a.shape[0]
    if k == 1:
        return uncapped_row(a, r, rho, False, x, work)
    if k > d or not r > 0.0:
        return write_zero(x)
    cap = r / k
    excess = rho * k * k
    pivot, taken = kth_largest(a, k, cap, work)
    near = a if taken == WHOLE else work[:taken]
    higher, total, tied, gap = ranks(near, pivot)
    tied_top = k - higher  # entries equal to the pivot that belong to the top k
    u = min((total + k * pivot) / (k + excess), cap)
    if not u > 0.0:
        return write_zero(x)
    gap = 0.0 if tied > tied_top else gap
    if gap >= u:  # the cap binds the whole top, and nothing below it is reached
        return write_clipped(a, pivot, u, u, x)
    n, b, outer = tied_top, 0.0, total
    m, g = max(1, tied - tied_top), gap
    q = u
    seen_n, seen_m, step, mark = -1, -1, 0, 1
    while True:
        loose = excess + (k - n)
        q = (n * (k * pivot + outer) - loose * (b - g)) / (n * n + loose * (n + m))
        u = ((n + m) * q + (b - g)) / n
        if not u <= cap:
            u = cap
            q = (n * u - b + g) / (n + m)
        if not u > q:
            break
        n_new, b, outer, m_new, g = around(near, pivot, u - q, q)
        n_new += tied_top
        m_new += tied - tied_top
        if (n_new == n and m_new == m) or (n_new == seen_n and m_new == seen_m):
            break
        n, m = n_new, m_new
        step += 1
        if step == mark:  # rounding can make guesses repeat in a cycle: its members are as good
            seen_n, seen_m, mark = n, m, 2 * mark
    return write_clipped(a, pivot, q, u, x)


@kernel
def project_all(a, k, r, rho, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, k, r[i], rho[i], x[i], work)
    return a.shape[0]


@documented
def project(a: ArrayLike, k: int, r: ArrayLike = 1.0, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the top-k simplex of the first kind, biased for rho > 0.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to x >= 0, <1,x> <= r, x_i <= <1,x>/k.

    For k = 1 this is {x >= 0, <1,x> <= r}; the result is 0 exactly if the k largest entries sum to
    0 or less. Lapin, Hein and Schiele 2015, "Top-k Multiclass SVM", section 3.2. Expected time
    O(d) per row for small k.
    """
    return project_rows(project_all, a, k, r, rho)


def _warmup() -> None:
    project([1.0, 0.0], 1)
