"""Losses of sets of labels: which side is which, and what a side weighs."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers.entropies import log_sum
from verification.reference_solvers.projections import Array, weight


@wrong("multilabel_smooth_hinge.sdca_update")
def multilabel_half_the_curvature(k_ii: float, **given: Any) -> Array:
    """The two sides share the curvature: K_ii/2 in the update of the smooth multilabel hinge."""
    import fast

    return fast.losses.multilabel_smooth_hinge.sdca_update(k_ii=k_ii / 2, **given)


@wrong("multilabel_hinge.gradient")
def multilabel_sides_swapped(
    scores: Array, y: Array, costs: Array | None = None, sample_weight: float | None = None
) -> Array:
    """Positives and negatives are swapped: the wrong labels are to win."""
    f, inside = np.asarray(scores, dtype=float), np.asarray(y) == 0
    g = np.zeros(f.size)
    if inside.all() or not inside.any():
        return g
    c = np.where(inside, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    z = np.where(inside, -f, f) + c
    low = int(np.argmax(np.where(inside, -np.inf, z)))
    high = int(np.argmax(np.where(inside, z, -np.inf)))
    if z[low] + z[high] > 0:
        g[low], g[high] = 1.0, -1.0
    return g * weight(sample_weight)


@wrong("multilabel_entropy.value")
def multilabel_target_entropy(
    scores: Array, y: Array, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """The value adds the entropy log |P| of the target: that of the divergence's other half."""
    f, inside = np.asarray(scores, dtype=float), np.asarray(y) == 1
    z = f + (0.0 if costs is None else costs)
    return float(weight(sample_weight) * (log_sum(z) - f[inside].mean() - np.log(inside.sum())))


@wrong("multilabel_entropy.gradient")
def multilabel_target_not_normalised(
    scores: Array, y: Array, costs: Array | None = None, sample_weight: float | None = None
) -> Array:
    """The target is 1 on every positive label instead of 1/|P|."""
    z = np.asarray(scores, dtype=float) + (0.0 if costs is None else costs)
    return np.asarray(weight(sample_weight) * (np.exp(z - log_sum(z)) - y))
