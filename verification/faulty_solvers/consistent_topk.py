"""Consistent top-k hinges with another loss's classes, count, margin, set or bias."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import Array, Costs, Weight, weight


def relative(f: Any, y: int, costs: Costs) -> Array:
    """Scores less that of the truth, costs added; that of the truth last."""
    f = np.asarray(f, dtype=float)
    u = f - f[y] + (0.0 if costs is None else np.asarray(costs, dtype=float))
    return np.append(np.delete(u, y), 0.0)


def tau(u: Array, k: int) -> float:
    """Where sum_j (u_j - tau)_+ = k."""
    sums = np.cumsum(-np.sort(-u)) - k
    return float((sums / np.arange(1, u.size + 1)).max())


def clipped(u: Array, total: float) -> Array:
    """Projection on {0 <= q <= 1, <1,q> = total}: the threshold lies between two of its knots."""
    a = u - u.max()
    knots = np.sort(np.concatenate([a, a - 1]))
    low, high = 0, knots.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        more = np.clip(a - knots[middle], 0, 1).sum() > total
        low, high = (middle, high) if more else (low, middle)
    at = knots[low] / 2 + knots[high] / 2
    free, full = (a > at) & (a - 1 < at), a - 1 >= at
    t = (a[free].sum() + full.sum() - total) / free.sum() if free.any() else knots[high]
    return np.clip(a - np.clip(t, knots[low], knots[high]), 0, 1)


def probabilities(u: Array, a: float, slopes: Array) -> Array:
    """Projection of (u - slopes)/a on the simplex."""
    with np.errstate(over="ignore", invalid="ignore"):
        return clipped((u - slopes) / a, 1.0)


def smallest(x: Array, k: int) -> float:
    """Minus the conjugate: all but the k largest of (x, 1 - s)."""
    p = np.append(x, 1 - x.sum())
    return float(np.sort(p)[: p.size - k].sum())


@wrong("consistent_topk_hinge.value")
def sum_over_the_other_classes(
    scores: Any, y: int, k: int, costs: Costs, sample_weight: Weight
) -> float:
    """The sum that defines tau leaves the truth out, as those of the top-k hinges do."""
    u = relative(scores, y, costs)
    return float(weight(sample_weight) * (1 + max(u.max() - 1, tau(u[:-1], k))))


@wrong("consistent_topk_hinge.value")
def largest_score_without_margin(
    scores: Any, y: int, k: int, costs: Costs, sample_weight: Weight
) -> float:
    """The slopes of S_k are not cut at 1: tau alone, which is too small where one score is far above."""
    return float(weight(sample_weight) * (1 + tau(relative(scores, y, costs), k)))


@wrong("consistent_topk_hinge.gradient")
def mass_on_one_of_several(
    scores: Any, y: int, k: int, costs: Costs, sample_weight: Weight
) -> Array:
    """All of the probability is on the largest score, also where the loss shares it among those above tau."""
    u = relative(scores, y, costs)
    x = (np.arange(u.size) == np.argmax(u))[:-1] * weight(sample_weight)
    return np.insert(x, y, -x.sum())


@wrong("consistent_topk_hinge.conjugate")
def truth_out_of_the_sum(x: Array, k: int, costs: Costs) -> float:
    """S_k counts the probabilities of the other classes only, and not the rest 1 - s."""
    x = np.asarray(x, dtype=float)
    if (x < 0).any() or x.sum() > 1:
        return float("inf")
    return float(np.sort(x)[::-1][:k].sum() - 1 - (0.0 if costs is None else np.dot(costs, x)))


@wrong("consistent_topk_hinge.sdca_update")
def one_projection_of_two(
    q: Any, y: int, k_ii: float, C: float, k: int, costs: Costs, sample_weight: Weight
) -> Array:
    """The slopes of S_k are those at the scores alone, without the part of the block at the truth."""
    r = C * weight(sample_weight)
    u, a = relative(q, y, costs), r * k_ii
    slopes = clipped(u, k)
    u[-1] += a
    p = probabilities(u, a, slopes) if a > 0 else np.eye(u.size)[np.argmax(u)]
    x = r * p[:-1]
    return np.insert(-x, y, x.sum())


@wrong("consistent_topk_hinge.prox")
def truth_as_curved_as_others(v: Any, k: int, t: float, costs: Costs) -> Array:
    """The prox moves the score of the truth, too: an update's bias, which the prox has not."""
    v = np.asarray(v, dtype=float)
    u = np.append(v + (0.0 if costs is None else np.asarray(costs, dtype=float)), t)
    return v - t * probabilities(u, t, clipped(u, k))[:-1]


@wrong("smooth_consistent_topk_hinge.value")
def without_the_constant(
    scores: Any, y: int, k: int, gamma: float, costs: Costs, sample_weight: Weight
) -> float:
    """gamma/2 ||p||^2 without the -1: the least loss is -gamma/2 instead of 0."""
    u = relative(scores, y, costs)
    p = probabilities(u, gamma, clipped(u, k))
    value = u @ p - np.sort(p)[::-1][:k].sum() + 1 - gamma / 2 * (p @ p)
    return float(weight(sample_weight) * value)


@wrong("smooth_consistent_topk_hinge.gradient")
def sparsemax_in_its_place(
    scores: Any, y: int, k: int, gamma: float, costs: Costs, sample_weight: Weight
) -> Array:
    """The projection of the scores themselves: the slopes of S_k are left out."""
    x = probabilities(relative(scores, y, costs), gamma, np.zeros(len(scores)))[:-1] * weight(
        sample_weight
    )
    return np.insert(x, y, -x.sum())


@wrong("smooth_consistent_topk_hinge.conjugate")
def square_of_the_others_only(x: Array, k: int, gamma: float, costs: Costs) -> float:
    """The square has the probabilities of the other classes only."""
    x = np.asarray(x, dtype=float)
    if (x < 0).any() or x.sum() > 1:
        return float("inf")
    return float(
        gamma / 2 * (x @ x) - smallest(x, k) - (0.0 if costs is None else np.dot(costs, x))
    )


@wrong("smooth_consistent_topk_hinge.sdca_update")
def scores_divided_by_gamma_too(
    q: Any, y: int, k_ii: float, C: float, k: int, gamma: float, costs: Costs, sample_weight: Weight
) -> Array:
    """The truth's score gets alpha + gamma in the place of alpha."""
    r = C * weight(sample_weight)
    u, a = relative(q, y, costs), r * k_ii + gamma
    u[-1] += a
    x = r * probabilities(u, a, clipped(u, k))[:-1]
    return np.insert(-x, y, x.sum())


@wrong("smooth_consistent_topk_hinge.prox")
def step_without_gamma(v: Any, k: int, gamma: float, t: float, costs: Costs) -> Array:
    """The prox of the hinge without gamma, with the truth's score as in an update."""
    v = np.asarray(v, dtype=float)
    u = np.append(v + (0.0 if costs is None else np.asarray(costs, dtype=float)), t)
    return v - t * probabilities(u, t, clipped(u, k))[:-1]
