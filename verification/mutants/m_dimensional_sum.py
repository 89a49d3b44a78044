"""The update of the loss as printed, whose top-k sum runs over all m classes.

Its dual set is {x >= 0, s <= r, x_i <= min(r/k, s/(k-1))} (Lapin et al. 2015, equation (3), where
Proposition 3 fails for k >= 2); the published update belongs to the sum over the others.
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha, beta, threshold, update

PROBLEM = "topk_hinge_alpha.sdca_update"
ERRATA = ("lapin_2015/proposition_3",)


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


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update of another loss."""
    return update(printed, q, y, k_ii, C, k, 0.0, costs, sample_weight)
