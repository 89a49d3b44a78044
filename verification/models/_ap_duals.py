"""Dual points of the models over rankings: weighted rankings, each a vector of inversions."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from refsolve.proofs import ranking_truth
from refsolve.proofs.space import EPS
from verification.models import Violation

#: A length that the candidate chooses.
ANY = None


def rankings_defect(
    given: Mapping[str, np.ndarray], queries: list[tuple[np.ndarray, np.ndarray]]
) -> str:
    """What is wrong with rankings (m, n) and weights (m,) as such; empty if nothing.

    ``queries``: the rows of each query, and which of them are positive.
    """
    if "rankings" not in given or "weights" not in given:
        return ""
    rankings, weights = given["rankings"], given["weights"]
    if len(rankings) != len(weights):
        return f"{len(rankings)} rankings with {len(weights)} weights"
    if (rankings != np.round(rankings)).any():
        return "rankings are inversions, which are integers"
    outside = np.ones(rankings.shape[1], dtype=bool)
    for rows, _ in queries:
        outside[rows] = False
    for t, row in enumerate(whole(rankings)):
        if row[outside].any():
            return f"rankings[{t}] has inversions of an example that is not ranked"
        for rows, positives in queries:
            if defect := ranking_truth.ranking_defect(positives, row[rows]):
                return f"rankings[{t}]: {defect}"
    return ""


def whole(rankings: Any) -> np.ndarray:
    """Inversions as integers."""
    return np.asarray(rankings).astype(np.int64)


def weights_violations(weights: np.ndarray, C: float) -> dict[str, Violation]:
    """Weights >= 0 with sum at most C (what is left is the right ranking's), in units of C."""
    lam = np.asarray(weights, dtype=np.longdouble)
    rounding = 4 * (len(lam) + 2) * EPS
    negative = float(np.maximum(-lam, 0).max(initial=0.0)) / C
    excess = max(float(lam.sum()) / C - 1.0, 0.0)
    return {
        "weights >= 0": Violation(negative, 1.0, rounding),
        "sum of the weights <= C": Violation(excess, 1.0, rounding),
    }


def by_query(y: np.ndarray, groups: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows of each query, and which of them are positive."""
    names = np.zeros(len(y), dtype=int) if groups is None else groups
    found = []
    for name in np.unique(names):
        rows = np.flatnonzero(names == name)
        found.append((rows, y[rows] > 0))
    return found
