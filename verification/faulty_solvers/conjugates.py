"""Conjugates with another domain, another infinity, or a term less."""

import numpy as np
from scipy.special import xlogy

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import Array, Costs, prices

TOLERANCE = 1e-7
INF = float("inf")


@wrong("topk_hinge_beta.conjugate", erratum="lapin_2015/theorem_1")
def conjugate_minus_infinity(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """The dual objective is +inf outside of its domain, as Theorem 1 of Lapin et al. 2015 prints it.

    A maximiser would run there; the conjugate that belongs to it is -inf.
    """
    x = np.asarray(x, dtype=float)
    inside = (x >= 0).all() and x.sum() <= 1 and (x <= 1 / k).all()
    return float(-(prices(costs, x.size) @ x)) if inside else -INF


@wrong("topk_hinge_beta.conjugate")
def conjugate_with_a_tolerance(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """The domain has a tolerance of 1e-7: a point outside by less than that is projected, and finite."""
    x = np.asarray(x, dtype=float)
    outside = max(float(x.sum()) - 1, float(x.max()) - 1 / k, -float(x.min()))
    return -float(prices(costs, x.size) @ x) if outside <= TOLERANCE else INF


@wrong("smooth_topk_hinge_alpha.conjugate")
def conjugate_without_domain(x: Array, k: int, gamma: float, costs: Costs) -> float:
    """The conjugate is finite everywhere: its domain is forgotten."""
    x = np.asarray(x, dtype=float)
    return float(gamma / 2 * (x @ x) - prices(costs, x.size) @ x)


@wrong("topk_hinge_alpha.conjugate", erratum="lapin_2015/proposition_3")
def m_dimensional_conjugate(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """The conjugate of the loss as printed, whose top-k sum runs over all m classes.

    Its domain {x >= 0, s <= 1, x_i <= min(1/k, s/(k-1))} is larger than that of the loss over the others.
    """
    x = np.asarray(x, dtype=float)
    s = x.sum()
    cap = s if k == 1 else min(1 / k, s / (k - 1))
    inside = (x >= 0).all() and s <= 1 and (x <= cap).all()
    return float(-(prices(costs, x.size) @ x)) if inside else INF


@wrong("softmax.conjugate")
def conjugate_of_zero_is_nan(x: Array, costs: Array | None = None) -> float:
    """0 log 0 is computed as it stands: NaN at the vertices of the simplex."""
    x = np.asarray(x, dtype=float)
    s = x.sum()
    if (x < 0).any() or s > 1:
        return INF
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = x @ np.log(x) + (1 - s) * np.log(1 - s)
    return float(entropy - (0.0 if costs is None else np.dot(costs, x)))


@wrong("topk_entropy_beta.conjugate")
def conjugate_without_the_rest(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """The conjugate drops (1-s) log(1-s): that of the loss without the ground truth's 1."""
    x = np.asarray(x, dtype=float)
    if (x < 0).any() or x.sum() > 1 or (x > 1 / k).any():
        return INF
    return float(xlogy(x, x).sum() - (0.0 if costs is None else np.dot(costs, x)))


@wrong("multilabel_hinge.conjugate")
def multilabel_domain_of_one_side(x: Array, y: Array, costs: Array | None = None) -> float:
    """The conjugate's domain asks for the sum of the wrong labels only; that of the right ones may differ."""
    x, inside = np.asarray(x, dtype=float), np.asarray(y) == 1
    c = np.where(inside, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    return INF if (x < 0).any() or x[~inside].sum() > 1 else float(-(c @ x))
