"""Projections on simplices whose threshold, caps or radius are those of another problem."""

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import (
    Array,
    alpha,
    at_most,
    beta,
    descending,
    ordered,
    pooled,
    threshold,
)


@wrong("topk_simplex_beta.projection")
def alpha_cap_in_beta(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The beta set is given the cap s/k of the alpha set."""
    return alpha(a, k, r, rho)


@wrong("topk_simplex_alpha.projection")
def beta_cap_in_alpha(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The alpha set is given the cap r/k of the beta set."""
    return beta(a, k, r, rho)


@wrong("topk_simplex_alpha.projection")
def ignores_rho(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The bias rho <1,x>^2 is forgotten."""
    return alpha(a, k, r, 0.0)


@wrong("topk_simplex_alpha.projection")
def k_off_by_one(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The cap is s/(k-1) instead of s/k: k counted from 0."""
    return alpha(a, max(k - 1, 1), r, rho)


@wrong("topk_simplex_beta.projection")
def k_clipped_to_the_length(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """k is clipped to the number of entries: the cap is r/d where r/k was asked for."""
    return beta(a, min(k, len(a)), r, rho)


@wrong("topk_simplex_alpha.projection")
def zero_by_the_sum_of_all(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The test for the zero solution adds up all entries instead of the k largest."""
    return np.zeros(len(a)) if np.sum(a) <= 0 else alpha(a, k, r, rho)


@wrong("topk_simplex_alpha.projection")
def flat_at_k_equals_d(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Wrong only at k = d: all entries are equal there, and rho is forgotten in their height."""
    if k == len(a) and np.sum(a) > 0:
        return np.full(k, min(float(np.mean(a)), r / k))
    return alpha(a, k, r, rho)


@wrong("topk_simplex_alpha.projection")
def nan_on_ties(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """0/0 where the k-th and the next entry are equal."""
    order = descending(np.asarray(a, dtype=float))
    x = alpha(a, k, r, rho)
    if k >= order.size:
        return x
    with np.errstate(invalid="ignore"):
        gap = order[k - 1] - order[k]
        return x * (gap / gap)


@wrong("topk_simplex_alpha.projection")
def raises_without_rest(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The entry after the k-th largest is read even if there is none: k = d raises."""
    order = descending(np.asarray(a, dtype=float))
    if order[k - 1] - order[k] < 0:
        raise ValueError("not sorted")
    return alpha(a, k, r, rho)


@wrong("topk_simplex_beta.projection", timeout=0.3)
def hangs_on_ties(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """The search for the threshold needs one entry strictly above it and the next one below: at ties it never ends."""
    order = descending(np.asarray(a, dtype=float))
    i = 0
    while order.size > 1 and not order[i] > order[i + 1]:
        i = (i + 1) % (order.size - 1)
    return beta(a, k, r, rho)


@wrong("topk_simplex_beta.projection")
def saturated_caps_without_rho(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Wrong only for rho > 0 with entries at the cap: their share of the sum is forgotten in its bias."""
    a = np.asarray(a, dtype=float)
    x = beta(a, k, r, rho)
    full = (x >= r / k) & (x > 0)
    if rho == 0 or not full.any() or full.all():
        return x
    x[~full] = beta(a[~full], k, r, rho)
    return x if x.sum() <= r else beta(a, k, r, rho)


@wrong("simplex.projection")
def forgotten_tie(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """The threshold is computed from the distinct values, as if no two entries were equal."""
    a = np.asarray(a, dtype=float)
    if r == 0:
        return np.zeros(a.size)
    t = threshold(np.unique(a), 2 * float(np.ptp(a)) + r, r)
    return np.maximum(a - t, 0)


@wrong("simplex.projection")
def stops_early(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Bisection for the threshold stops after 25 steps."""
    a = np.asarray(a, dtype=float)
    if r == 0:
        return np.zeros(a.size)
    low, high = float(a.max()) - r, float(a.max())
    for _ in range(25):
        middle = low + (high - low) / 2
        if np.maximum(a - middle, 0).sum() > r:
            low = middle
        else:
            high = middle
    x = np.maximum(a - low, 0)
    return x * (r / x.sum())


@wrong("box.projection")
def box_symmetric(a: Array, r: float = 1.0) -> Array:
    """The box is taken to reach from -r to r."""
    return np.clip(np.asarray(a, dtype=float), -r, r)


@wrong("bipartite_simplex.projection")
def nan_without_positives(a: Array, y: Array, r: float = 1.0) -> Array:
    """0/0 where all labels are on one side."""
    import fast

    inside = np.asarray(y) == 1
    x = fast.sets.bipartite_simplex.project(a, y, r)
    return np.full(len(a), np.nan) if inside.all() or not inside.any() else x


@wrong("bipartite_simplex.projection")
def sides_projected_apart(a: Array, y: Array, r: float = 1.0) -> Array:
    """Each side of the bipartite simplex is projected by itself; their sums differ."""
    a, inside = np.asarray(a, dtype=float), np.asarray(y) == 1
    out = np.zeros(a.size)
    if r == 0 or inside.all() or not inside.any():
        return out
    for side in (inside, ~inside):
        out[side] = beta(a[side], 1, r, 0.0)
    return out


@wrong("capped_simplex.projection")
def cap_afterwards(a: Array, r: float = 1.0, cap: float = 1.0) -> Array:
    """Projected on the simplex, then clipped at the cap; what is cut off goes to the others by scaling.

    It has to go to all of them by the same amount, also to those that the simplex had set to 0.
    """
    x = np.maximum(a - threshold(np.asarray(a, dtype=float), r, r), 0)
    for _ in range(200):
        x = np.minimum(x, cap)
        room = (x > 0) & (x < cap)
        if not room.any() or abs(x.sum() - r) < 1e-13 * r:
            break
        x = np.where(room, x * (1 + (r - x.sum()) / x[room].sum()), x)
    return x


@wrong("l1_ball.projection")
def by_average(a: Array, r: float = 1.0) -> Array:
    """The excess ||a||_1 - r is taken from all entries alike, although small ones cannot give as much."""
    share = max(np.abs(a).sum() - r, 0.0) / np.size(a)
    return np.sign(a) * np.maximum(np.abs(a) - share, 0.0)


@wrong("cardinality_polymatroid.projection")
def means_below_zero(a: Array, beta: Array) -> Array:
    """What a pooled block loses is not cut at 0: where the bounds are slack entries gain."""
    return ordered(a, beta, pooled)


@wrong("cardinality_polymatroid.projection")
def not_pooled(a: Array, beta: Array) -> Array:
    """Every entry is cut at its own weight, also where the differences then rise."""
    return ordered(a, beta, lambda v: np.maximum(v, 0))


@wrong("cardinality_polymatroid.projection")
def weights_by_place(a: Array, beta: Array) -> Array:
    """The weights are taken in the order of the entries instead of by size."""
    size = np.maximum(a, 0.0)
    return size - np.maximum(pooled(size - beta), 0)


@wrong("knapsack_at_most.projection")
def capacity_used_up(a: Array, b: Array, low: Array, high: Array, capacity: float) -> Array:
    """The capacity is used up, as far as the bounds allow, also where a between them takes less."""
    x = at_most(a, b, low, high, capacity)
    return x if b @ x >= capacity else -at_most(-a, b, -high, -low, -capacity)


@wrong("knapsack_at_most.projection")
def bounds_afterwards(a: Array, b: Array, low: Array, high: Array, capacity: float) -> Array:
    """Projected on the half-space <b,x> <= capacity, then clipped: the clip changes <b,x> again."""
    share = max(float(b @ a) - capacity, 0.0) / max(float(b @ b), 1e-300)
    return np.clip(a - share * b, low, high)


@wrong("knapsack_at_most.projection")
def capacity_before_the_bounds(
    a: Array, b: Array, low: Array, high: Array, capacity: float
) -> Array:
    """Whether the capacity is met is asked of a, not of a between the bounds."""
    met = float(b @ a) <= capacity
    return np.clip(a, low, high) if met else at_most(a, b, low, high, capacity)
