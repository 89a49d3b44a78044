"""The knapsack of at most its capacity: <b,x> <= capacity and low <= x <= high, weights of any sign."""

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast.sets import knapsack
from fast.sets._docs import documented_with
from fast.sets.knapsack import minus_product


@kernel
def project_row(a, b, low, high, r, x, work):
    """Write x = argmin ||x - a||^2 over {<b,x> <= r, low <= x <= high}; False if the set is empty.

    Arrays as in the `project_row` of the knapsack. With <b,x> in units of the largest weight nothing overflows.
    """
    unit = 0.0
    for i in range(a.shape[0]):
        unit = max(unit, abs(b[i]))
    if unit == 0.0:
        unit = 1.0
    left, lost = r / unit, 0.0
    for i in range(a.shape[0]):
        x[i] = min(max(a[i], low[i]), high[i])
        left, lost = minus_product(left, lost, b[i] / unit, x[i])
    return left + lost >= 0.0 or knapsack.project_row(a, b, low, high, r, x, work)


@kernel
def project_all(a, k, r, rho, b, low, high, capacity, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite, or empty."""
    for i in range(a.shape[0]):
        weights, least, most = b[i % b.shape[0]], low[i % low.shape[0]], high[i % high.shape[0]]
        c = capacity[i % capacity.shape[0]]
        if not (load(a[i], row) and project_row(row, weights, least, most, c, x[i], work)):
            return i
    return a.shape[0]


@documented_with(
    **knapsack.BOUNDS, capacity=("float or array_like, shape (n,)", "Largest value of <b,x>.")
)
def project(
    a: ArrayLike, b: ArrayLike, low: ArrayLike, high: ArrayLike, capacity: ArrayLike
) -> NDArray[Any]:
    """Projection onto the knapsack of at most its capacity.

    argmin over x of ||x - a||^2 subject to low <= x <= high, <b,x> <= capacity.

    x = clip(a, low, high) where that is in the set; otherwise the capacity is used up, and x is the
    projection on the `knapsack`. Lapin, Hein and Schiele 2015, "Top-k Multiclass SVM", section 4.1.
    """
    return knapsack.project_between(project_all, a, b, low, high, capacity, at_most=True)


def _warmup() -> None:
    project([1.0, 0.0], 1.0, 0.0, 1.0, 1.0)
