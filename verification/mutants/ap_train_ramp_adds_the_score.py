"""Adds the score of the predicted ranking where the ramp subtracts it."""

from __future__ import annotations

from verification.mutants import _sound_ap_training as sound
from verification.mutants import _sound_ranking as ranking
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_ramp.primal"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Inference as for the hinge, and the predicted ranking once more."""

    def infer(scores: Array, labels: Array) -> tuple[float, Array, Array]:
        value, counts, coefficients = ranking.infer(scores, labels)
        predicted, _, slopes = ranking.infer(scores, labels, loss=lambda counts: 0.0, gains=plain)
        return value + predicted, counts, coefficients + slopes

    return {"w": sound.train(X, y, C, groups, tol, infer)["w"]}


def plain(up: Array, down: Array) -> Array:
    """Gains of the score alone."""
    return -2.0 * (up[None, :] - down[:, None]) / (len(up) * len(down))
