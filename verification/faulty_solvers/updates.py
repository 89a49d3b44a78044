"""Proximal points and SDCA updates with another radius, step or denominator."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers import entropies
from verification.reference_solvers.projections import Array, alpha, beta, prices, update, weight


@wrong("topk_hinge_alpha.prox")
def costs_ignored(v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None) -> Array:
    """Wrong only where costs are given: the margin is 1 all the same."""
    v = np.asarray(v, dtype=float)
    return v - t * alpha((v + 1.0) / t, k, 1.0, 0.0)


@wrong("multiclass_hinge.prox")
def prox_of_the_conjugate(v: Array, t: float = 1.0, costs: Array | None = None) -> Array:
    """Moreau's identity stops half way: the prox of the conjugate, not of the loss."""
    v = np.asarray(v, dtype=float)
    return t * beta((v + prices(costs, v.size)) / t, 1, 1.0, 0.0)


@wrong("topk_hinge_beta.prox")
def prox_without_step(v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None) -> Array:
    """The prox projects on the dual set without dividing by t: a unit step whatever t is."""
    v = np.asarray(v, dtype=float)
    return v - t * beta(v + prices(costs, v.size), k, 1.0, 0.0)


@wrong("topk_hinge_beta.sdca_update")
def divides_by_zero_rows(k_ii: float, **given: Any) -> Array:
    """b = (q - q_y + c)/K_ii without a look at K_ii = 0."""
    scale = 1.0 / k_ii
    return update(beta, k_ii=k_ii, **given) * (scale * k_ii > 0)


@wrong("smooth_topk_hinge_beta.sdca_update")
def ignores_sample_weight(sample_weight: float | None = None, **given: Any) -> Array:
    """The sample weight scales neither the radius nor the smoothing."""
    return update(beta, **given)


@wrong("multiclass_hinge.sdca_update")
def lambda_for_c(C: float = 1.0, **given: Any) -> Array:
    """The regularisation weight is taken for C: a block of radius 1/C."""
    return update(alpha, C=1.0 / C, **given)


@wrong("topk_hinge_alpha.sdca_update")
def radius_one(C: float = 1.0, **given: Any) -> Array:
    """The dual block is projected on the unit set: 1/(lambda n) was taken for 1."""
    return update(alpha, C=1.0, **given)


@wrong("topk_hinge_alpha.sdca_update", erratum="libsdca/zero_rows")
def skips_zero_rows(q: Array, k_ii: float, **given: Any) -> Array:
    """Examples with K_ii = 0 are skipped, which leaves their share of the gap for ever."""
    return np.zeros(len(q)) if k_ii == 0 else update(alpha, q, k_ii=k_ii, **given)


@wrong("smooth_topk_hinge_alpha.sdca_update")
def smoothing_not_scaled(
    C: float = 1.0, gamma: float = 1.0, sample_weight: float | None = None, **given: Any
) -> Array:
    """The denominator is K_ii + gamma instead of K_ii + gamma/C."""
    mass = C * weight(sample_weight)
    return update(alpha, C=C, gamma=gamma * mass, sample_weight=sample_weight, **given)


@wrong("ova_smooth_hinge.sdca_update")
def ova_smoothing_not_scaled(
    q: Array, y: int, k_ii: float, C: float = 1.0, gamma: float = 1.0, costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:  # fmt: skip
    """The denominator of the one-vs-all update is K_ii + gamma instead of K_ii + gamma/C."""
    signs = np.ones(len(q))
    signs[y] = -1.0
    z = signs * np.asarray(q, dtype=float) + (1.0 if costs is None else costs)
    radius = C * weight(sample_weight)
    return np.asarray(-signs * np.clip(z / (k_ii + gamma), 0.0, radius))


@wrong("softmax.sdca_update")
def weight_outside_the_curvature(sample_weight: float | None, **given: Any) -> Array:
    """The sample weight scales the block but not the curvature alpha = w C K_ii."""
    return (
        weight(sample_weight) * entropies.update(k=1, shared=True, sample_weight=None, **given)[0]
    )
