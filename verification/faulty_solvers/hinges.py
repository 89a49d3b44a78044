"""Values and subgradients of hinges, their smooth versions and one-vs-all losses."""

from typing import Any

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import (
    Array,
    Costs,
    Weight,
    alpha,
    beta,
    descending,
    margins,
    prices,
    threshold,
    unbounded,
    update,
    weight,
)


@wrong("topk_hinge_alpha.gradient")
def active_below_zero(y: int, k: int, sample_weight: Weight, **given: Any) -> Array:
    """The subgradient marks the k largest margins even where their sum is negative."""
    z = margins(y=y, **given)
    x = np.zeros(z.size)
    x[np.argsort(-z, kind="stable")[:k]] = weight(sample_weight) / k
    return np.insert(x, y, -x.sum())


@wrong("topk_hinge_beta.gradient")
def every_tie_is_marked(y: int, k: int, sample_weight: Weight, **given: Any) -> Array:
    """Wrong at ties only: every margin equal to the k-th largest gets mass 1/k, however many there are."""
    z = margins(y=y, **given)
    x = np.where((z >= descending(z)[k - 1]) & (z > 0), 1.0 / k, 0.0)
    x *= weight(sample_weight)
    return np.insert(x, y, -x.sum())


@wrong("topk_hinge_beta.gradient")
def last_label(y: int, k: int, sample_weight: Weight, **given: Any) -> Array:
    """Wrong for one position of the label only: y is the last class, and its entry goes one place too early."""
    z = margins(y=y, **given)
    x = np.zeros(z.size)
    top = np.argsort(-z, kind="stable")[:k]
    x[top] = np.where(z[top] > 0, 1.0 / k, 0.0)
    x *= weight(sample_weight)
    return np.insert(x, y - 1 if y == x.size else y, -x.sum())


@wrong("smooth_topk_hinge_alpha.gradient")
def weight_zero_is_one(y: int, k: int, gamma: float, sample_weight: Weight, **given: Any) -> Array:
    """``sample_weight or 1.0``: wrong only for weight 0, which is taken for a missing one."""
    z = margins(y=y, **given)
    x = alpha(z / gamma, k, 1.0, 0.0) * (sample_weight or 1.0)
    return np.insert(x, y, -x.sum())


@wrong("smooth_topk_hinge_alpha.value")
def smoothing_of_the_value_forgotten(
    k: int, gamma: float, sample_weight: Weight, **given: Any
) -> float:
    """The smooth loss is computed as the loss it smooths: off by gamma/(2k) at most."""
    z = margins(**given)
    return float(weight(sample_weight) * max(0.0, descending(z)[:k].sum() / k))


@wrong("smooth_topk_hinge_beta.value", erratum="lapin_2016/smooth_losses_are_no_bounds")
def smooth_value_bounds_the_error(
    scores: Array, y: int, k: int = 1, gamma: float = 1.0, costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:  # fmt: skip
    """The smooth loss is made the upper bound on the top-k error that it is said to be: at least 1 at an error.

    The smooth losses are no such bounds; where err_k = 1 their infimum is 1 - gamma/(2k).
    """
    f, z = np.asarray(scores, dtype=float), margins(scores, y, costs)
    p = beta(z, k, gamma, 0.0)
    error = 1.0 if descending(np.delete(f - f[y], y))[k - 1] >= 0 else 0.0
    return weight(sample_weight) * max(float((z @ p - p @ p / 2) / gamma), error)


@wrong("ova_hinge.value")
def ova_mean(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> float:
    """The mean of the binary losses instead of their sum."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    z += 1.0 if costs is None else costs
    return float(weight(sample_weight) * np.maximum(z, 0).mean())


@wrong("ova_hinge.gradient")
def truth_not_flipped(scores: Array, y: int, costs: Costs, sample_weight: Weight) -> Array:
    """The ground truth is treated as one more wrong class: its score is pushed down."""
    z = np.asarray(scores, dtype=float) + (1.0 if costs is None else costs)
    return np.where(z > 0, weight(sample_weight), 0.0)


# ---- the loss as printed: Lapin et al. 2015, equation (3), sums over all m classes


def printed_margins(scores: Array, y: int, costs: Array | None) -> Array:
    """Of all m classes, that of the ground truth being 0."""
    f = np.asarray(scores, dtype=float)
    c = np.array(prices(costs, f.size))
    c[y] = 0.0
    return np.asarray(f - f[y] + c)


def printed(a: Array, k: int, r: float, rho: float) -> Array:
    """Projection on the printed set: the better of its parts below and above s = r(k-1)/k."""
    if k == 1:
        return alpha(a, k, r, rho)
    border = r * (k - 1) / k
    low = alpha(a, k - 1, border, rho)
    high = beta(a, k, r, rho)
    if high.sum() < border:
        high = np.clip(a - threshold(a, r / k, border), 0, r / k)

    def objective(x: Array) -> float:
        return float(((x - a) ** 2).sum() + rho * x.sum() ** 2)

    return min(low, high, key=objective)


@wrong("topk_hinge_alpha.value", erratum="lapin_2015/proposition_3")
def ground_truth_in_the_sum(k: int, sample_weight: Weight, **given: Any) -> float:
    """The value sums the k largest of all m margins, the ground truth's zero among them."""
    z = printed_margins(**given)
    return float(weight(sample_weight) * max(0.0, descending(z)[:k].sum() / k))


@wrong("topk_hinge_alpha.gradient", erratum="lapin_2015/proposition_3")
def m_dimensional_gradient(y: int, k: int, sample_weight: Weight, **given: Any) -> Array:
    """The subgradient marks the k largest of all m margins, the ground truth's zero among them."""
    z = printed_margins(y=y, **given)
    g = np.zeros(z.size)
    if descending(z)[:k].sum() > 0:
        g[np.argsort(-z, kind="stable")[:k]] = 1.0 / k
        g[y] -= g.sum()
    return g * weight(sample_weight)


@wrong("smooth_topk_hinge_alpha.value", erratum="lapin_2015/proposition_3")
def m_dimensional_smooth_value(k: int, gamma: float, sample_weight: Weight, **given: Any) -> float:
    """The smooth loss as printed, over all m classes: a larger dual set, hence a larger loss."""
    z = margins(**given)
    p = printed(z, k, gamma, 0.0)
    return float(weight(sample_weight) * (z @ p - p @ p / 2) / gamma)


@wrong("topk_hinge_alpha.sdca_update", erratum="lapin_2015/proposition_3")
def m_dimensional_sum(**given: Any) -> Array:
    """The update of the loss as printed, whose top-k sum runs over all m classes.

    Its dual set is {x >= 0, s <= r, x_i <= min(r/k, s/(k-1))} (Lapin et al. 2015, equation (3), where
    Proposition 3 fails for k >= 2); the published update belongs to the sum over the others.
    """
    return update(printed, **given)


@wrong("squared_topk_hinge.gradient")
def forgets_the_mean(y: int, k: int, sample_weight: Weight, **given: Any) -> Array:
    """The k largest margins get the whole hinge each, not the k-th part of it."""
    z = margins(y=y, **given)
    top = np.argsort(-z, kind="stable")[:k]
    x = np.zeros(z.size)
    x[top] = weight(sample_weight) * max(z[top].mean(), 0.0)
    return np.insert(x, y, -x.sum())


@wrong("squared_topk_hinge.value")
def squares_the_entries(k: int, sample_weight: Weight, **given: Any) -> float:
    """The conjugate is given the square of x, not that of its sum: the distance to the polar cone."""
    x = unbounded(margins(**given), k)
    return weight(sample_weight) * float(x @ x) / 2
