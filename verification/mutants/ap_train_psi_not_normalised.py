"""The joint feature is the sum over the pairs, without 1/(PN), in each query."""

from __future__ import annotations

from verification.mutants import _sound_ap_training as sound
from verification.mutants import _sound_ranking as ranking
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.primal"


def infer(scores: Array, y: Array) -> tuple[float, Array, Array]:
    """Inference at scores that are P N times as large."""
    pairs = float((y > 0).sum() * (y <= 0).sum())
    value, counts, coefficients = ranking.infer(pairs * scores, y)
    return value, counts, pairs * coefficients


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Train with it."""
    return {"w": sound.train(X, y, C, groups, tol, infer)["w"]}
