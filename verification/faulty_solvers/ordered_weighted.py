"""Ordered weighted hinges whose weights, domain or bias are those of another problem."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import (
    Array,
    Costs,
    Weight,
    descending,
    margins,
    ordered,
    prices,
    update,
    weight,
)


@wrong("ordered_weighted_hinge.value")
def weights_by_class(beta: Any, sample_weight: Weight, **given: Any) -> float:
    """The weights go to the violations in the order of the classes instead of by size."""
    return float(weight(sample_weight) * (np.maximum(margins(**given), 0) * beta).sum())


@wrong("ordered_weighted_hinge.value")
def ordered_sum_cut_at_zero(beta: Any, sample_weight: Weight, **given: Any) -> float:
    """The weighted sum is cut at 0 as a whole: classes far behind pay for those in front."""
    total = (descending(margins(**given)) * beta).sum()
    return float(weight(sample_weight) * max(total, 0.0))


@wrong("ordered_weighted_hinge.gradient")
def ties_share_no_weight(y: int, beta: Any, sample_weight: Weight, **given: Any) -> Array:
    """Wrong at ties only: violations that are equal all get the weight of the first of them."""
    z = margins(y=y, **given)
    weights = np.broadcast_to(beta, z.shape)
    ranks = (z[:, None] < z).sum(axis=1)
    x = np.where(z > 0, weights[ranks], 0.0) * weight(sample_weight)
    return np.insert(x, y, -x.sum())


@wrong("ordered_weighted_hinge.conjugate")
def largest_and_sum_only(x: Array, beta: Any, costs: Costs) -> float:
    """The domain has the bounds on the largest entry and on the sum of all, and none between."""
    x = np.asarray(x, dtype=float)
    weights = np.broadcast_to(beta, x.shape)
    inside = (x >= 0).all() and (x <= weights[0]).all() and x.sum() <= weights.sum()
    return float(-(prices(costs, x.size) @ x)) if inside else float("inf")


@wrong("ordered_weighted_hinge.prox")
def weights_without_step(v: Array, beta: Any, t: float, costs: Costs) -> Array:
    """The projection in the prox is on the weights as they are, and not on t times these."""
    v = np.asarray(v, dtype=float)
    return v - ordered(v + prices(costs, v.size), np.broadcast_to(beta, v.shape))


@wrong("ordered_weighted_hinge.sdca_update")
def own_entry_without_curvature(
    q: Array, y: int, k_ii: float, C: float, beta: Any, costs: Costs, sample_weight: Weight
) -> Array:
    """The block's entry at the truth is left out of the quadratic term: rho = 0."""
    weights = np.broadcast_to(beta, (len(q) - 1,))
    if k_ii > 0:
        unbiased = lambda a, k, r, rho: ordered(a, r * weights)  # noqa: E731
        return update(unbiased, q, y, k_ii, C, costs=costs, sample_weight=sample_weight)
    z, x = margins(q, y, costs), np.zeros(len(q) - 1)
    order = np.argsort(-z, kind="stable")
    x[order] = C * weight(sample_weight) * weights * (z[order] > 0)
    return np.insert(-x, y, x.sum())
