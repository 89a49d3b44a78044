"""The sum over the smaller entries is the sum of all minus the larger ones: it cancels."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import margins, softplus

PROBLEM = "topk_entropy_alpha.value"
ERRATA = ("lapin_2016/tails_by_subtraction",)


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value with a running remainder."""
    z = -np.sort(-margins(scores, y, costs))
    top = float(z[0])
    e = np.exp(z - top)
    u, rest = 0, float(e.sum())
    while u < k - 1 and (k - u) * e[u] > rest > 0:
        rest -= float(e[u])
        u += 1
    cap = (np.log(rest) if rest > 0 else -750.0) - np.log(k - u)  # log of the cap, less the shift
    v = top + np.log(k) + cap + float((z[:u] - top - cap).sum()) / k
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * softplus(v))
