"""Sound, slow algorithms that the mutants are made from; in the tests they pass every check.

Plain numpy, by the statements of the papers with their errata repaired: knapsack first, its
multiplier decides between it and the cone, whose partition is found by enumeration.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Project = Callable[[Array, int, float, float], Array]
#: (lower, t, upper): whether a threshold fits between two entries.
Fits = Callable[[float, float, float], bool]
Costs = Array | None
Weight = float | None


def descending(a: Array) -> Array:
    """Sorted from large to small."""
    return -np.sort(-a)


def prices(costs: Array | None, n: int) -> Array:
    """The costs; 1 where none are given."""
    return np.ones(n) if costs is None else np.asarray(costs, dtype=float)


def weight(sample_weight: float | None) -> float:
    """The weight; 1 where none is given."""
    return 1.0 if sample_weight is None else sample_weight


def margins(scores: Array, y: int, costs: Array | None) -> Array:
    """f_j - f_y + c_j over the others, c = 1 by default."""
    f = np.asarray(scores, dtype=float)
    return np.delete(f - f[y] + prices(costs, f.size), y)


def threshold(a: Array, cap: float, goal: float) -> float:
    """Root t of sum clip(a − t, 0, cap) = goal, for 0 < goal <= d cap."""
    knots = np.sort(np.concatenate([a, a - cap]))
    sums = np.clip(a - knots[:, None], 0, cap).sum(axis=1)
    i = int(np.searchsorted(-sums, -goal, side="left"))
    if i == 0:
        return float(knots[0])
    # on the piece left of knot i the free entries are known: solve for t there
    middle = (knots[i - 1] + knots[i]) / 2
    free = (a > middle) & (a - cap < middle)
    full = a - cap >= middle
    if not free.any():
        return float(knots[i])
    t = (a[free].sum() + cap * full.sum() - goal) / free.sum()
    return float(np.clip(t, knots[i - 1], knots[i]))


def simplex(a: Array, r: float) -> Array:
    """Projection on the simplex of a vector of any length: max(height - below, 0) under its largest entry."""
    below = np.max(a) - np.asarray(a, dtype=float)
    if r <= 0:
        return np.zeros(below.size)
    ascending = np.sort(below)
    heights = (r + np.cumsum(ascending)) / np.arange(1, below.size + 1)
    return np.maximum(heights[ascending < heights][-1] - below, 0.0)


def knapsack(a: Array, k: int, r: float) -> tuple[Array, float, float]:
    """Projection on {0 <= x <= r/k, s = r}, its threshold t, and p = sum over U of a − t − r/k."""
    t = threshold(a, r / k, r)
    return np.clip(a - t, 0, r / k), t, float(np.maximum(a - t - r / k, 0).sum())


def thresholds(order: Array, k: int, rho: float, p: int, q: int) -> tuple[float, float]:
    """Threshold t and height u with the p largest entries at the cap and the next q between the bounds."""
    top, middle = order[:p].sum(), order[p : p + q].sum()
    slope = (k - p) ** 2 + (p + rho * k * k) * q
    u = (q * top + (k - p) * middle) / slope
    return (middle - (k - p) * u) / q, u


def cone(a: Array, k: int, rho: float) -> Array:
    """Projection on the top-k cone with S_k(a) > 0, by trying every partition (U, M, L)."""
    order = descending(a)
    d = a.size
    sums = np.concatenate([[0.0], np.cumsum(order)])
    best, least = np.zeros(d), np.inf
    for p in range(k):
        for q in range(max(1, k - p), d - p + 1):
            top, middle = sums[p], sums[p + q] - sums[p]
            slope = (k - p) ** 2 + (p + rho * k * k) * q
            u = (q * top + (k - p) * middle) / slope
            t = (middle - (k - p) * u) / q
            bounds = [t - order[p + q - 1], order[p] - t - u, -u]
            if p > 0:
                bounds.append(t + u - order[p - 1])
            if p + q < d:
                bounds.append(order[p + q] - t)
            if max(bounds) < least:
                best, least = np.clip(a - t, 0, max(u, 0.0)), max(bounds)
    return best


def constant(a: Array, k: int, u: float) -> Array | None:
    """Height u on the k largest entries, if they stand clear of the rest by u."""
    order = descending(a)
    if k < a.size and order[k - 1] - order[k] < u:
        return None
    x = np.zeros(a.size)
    x[np.argsort(-a, kind="stable")[:k]] = u
    return x


def begin(a: Array, k: int, rho: float) -> tuple[Array, Array | None]:
    """The entries in descending order, and the projection where no partition has to be searched for."""
    order = descending(a)
    total = order[:k].sum()
    if k > a.size or total <= 0:
        return order, np.zeros(a.size)
    return order, constant(a, k, total / (k + rho * k * k))


def search(a: Array, k: int, rho: float, fits: Fits) -> Array:
    """Projection by trying every partition; zero where none fits, as Lemma 4 offers."""
    a = np.asarray(a, dtype=float)
    order, easy = begin(a, k, rho)
    if easy is not None:
        return easy
    d = a.size
    for p in range(k):
        for q in range(max(1, k - p), d - p + 1):
            t, u = thresholds(order, k, rho, p, q)
            below = order[p + q] if p + q < d else -np.inf
            above = order[p - 1] if p else np.inf
            if fits(below, t, order[p + q - 1]) and fits(order[p], t + u, above):
                return np.clip(a - t, 0, u)
    return np.zeros(d)


@np.errstate(over="ignore", invalid="ignore")  # sizes near the largest float
def alpha(
    a: Array,
    k: int,
    r: float = 1.0,
    rho: float = 0.0,
) -> Array:
    """Biased projection on the top-k simplex, alpha variant."""
    a = np.array(a, dtype=float)
    total = descending(a)[:k].sum()
    if k > a.size or total <= 0 or r <= 0:
        return np.zeros(a.size)
    flat = constant(a, k, min(total / (k + rho * k * k), r / k))
    if flat is not None:
        return flat
    x, t, p = knapsack(a, k, r)
    return x if t + p / k - rho * r >= 0 else cone(a, k, rho)


@np.errstate(over="ignore", invalid="ignore")  # sizes near the largest float
def unbounded(a: Array, k: int, rho: float = 0.0) -> Array:
    """Biased projection on the top-k cone."""
    a = np.array(a, dtype=float)
    _, easy = begin(a, k, rho)
    return cone(a, k, rho) if easy is None else easy


@np.errstate(over="ignore", invalid="ignore")  # sizes near the largest float
def beta(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Biased projection on the top-k simplex, beta variant: clip(a − t, 0, r/k), t >= 0."""
    a = np.array(a, dtype=float)
    cap = r / k
    t = 0.0
    if np.clip(a, 0, cap).sum() > r:
        t = threshold(a, cap, r)
    if rho > 0 and rho * np.clip(a - t, 0, cap).sum() > t:
        # the root of rho s(t) = t: find its piece among the knots, then solve there
        knots = np.unique(np.concatenate([[0.0], a, a - cap]))
        knots = knots[knots >= 0]
        ahead = rho * np.clip(a - knots[:, None], 0, cap).sum(axis=1) - knots
        i = int(np.flatnonzero(ahead <= 0)[0])
        low, high = knots[max(i - 1, 0)], knots[i]  # neighbours may have no float between them
        free = (a >= high) & (a - cap <= low)
        full = a - cap >= high
        t = (a[free].sum() + cap * full.sum()) / (1 / rho + free.sum())
    return np.clip(a - t, 0, cap)


def pooled(values: Array) -> Array:
    """The nonincreasing vector nearest to the values: a mean over the longest of the best blocks, in turn."""
    found, start = np.zeros(len(values)), 0
    while start < len(values):
        means = np.cumsum(values[start:]) / np.arange(1, len(values) - start + 1)
        stop = start + 1 + int(np.flatnonzero(means == means.max())[-1])
        found[start:stop] = means.max()
        start = stop
    return found


def ordered(
    a: Array, beta: Array, losses: Callable[[Array], Array] = lambda v: np.maximum(pooled(v), 0)
) -> Array:
    """Projection on the polymatroid of the cardinality: what the largest entries lose, by their order."""
    x = np.maximum(np.asarray(a, dtype=float), 0)
    order = np.argsort(-x, kind="stable")
    x[order] -= losses(x[order] - beta)
    return x


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # infinite bounds, weights of 0
def at_most(a: Array, b: Array, low: Array, high: Array, capacity: float) -> Array:
    """Projection on the knapsack of at most its capacity: the first piece of <b,x(t)>, t >= 0, that meets it."""
    a, b, low, high = (np.asarray(v, dtype=float) for v in (a, b, low, high))
    knots = np.concatenate([(a - low) / b, (a - high) / b])
    knots = np.unique([0.0, *knots[np.isfinite(knots) & (knots > 0)]])
    excess = [float(b @ np.clip(a - t * b, low, high)) - capacity for t in knots]
    passed = int(np.searchsorted(-np.array(excess), 0.0))  # the knots where there is too much
    if passed == 0:
        return np.clip(a, low, high)
    last = float(knots[passed - 1])
    inside = (last + knots[passed]) / 2 if passed < knots.size else last + max(last, 1.0)
    free = (a - inside * b > low) & (a - inside * b < high)
    slope = float(b[free] @ b[free]) or np.inf
    return np.clip(a - (last + excess[passed - 1] / slope) * b, low, high)


@np.errstate(over="ignore", invalid="ignore")  # sizes near the largest float
def update(
    project: Project,
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    gamma: float = 0.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """SDCA block: projection of b = (q − q_y + c)/den on the set of radius weight C; gamma >= 0."""
    radius = C * weight(sample_weight)
    if radius == 0:
        return np.zeros(len(q))
    z = margins(q, y, costs)
    den = k_ii + gamma / radius
    if den > 0:
        bias = k_ii / den
        # z/den may not overflow; beyond this size of it the solution does not change any more
        den = max(den, float(np.abs(z).max(initial=0.0)) / min(1e300, 1e60 * radius))
        x = project(z / den, k, radius, bias)
    else:
        x = np.zeros(z.size)
        if descending(z)[:k].sum() > 0:
            x[np.argsort(-z, kind="stable")[:k]] = radius / k
    return np.insert(-x, y, x.sum())
