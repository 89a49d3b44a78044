"""The margins are divided by N^2 where PN stands."""

from __future__ import annotations

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def gains(up: Array, down: Array) -> Array:
    """The gains of scores scaled by P/N."""
    ratio = len(up) / len(down)
    return sound.gains(up * ratio, down * ratio)


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with ranks for the wrong margins; value and coefficients are those of its ranking."""
    return sound.infer(scores, y, gains=gains)
