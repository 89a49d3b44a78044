"""Inference seeks ranks among 1..P only: every negative stands above some positive."""

from __future__ import annotations

from verification.mutants import _sound_ap_training as sound
from verification.mutants import _sound_ranking as ranking
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.primal"
ERRATA = ("mohapatra_2014/algorithm_1",)


def ranks(table: Array) -> Array:
    """opt_j in 1..P."""
    values = ranking.suffix_sums(table)[:, -2::-1]
    return values.shape[1] - values.argmax(axis=1)


def infer(scores: Array, y: Array) -> tuple[float, Array, Array]:
    """Inference as printed."""
    return ranking.infer(scores, y, ranks=ranks)


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Train with it."""
    return {"w": sound.train(X, y, C, groups, tol, infer)["w"]}
