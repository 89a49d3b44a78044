"""Psi without its factor: a pair in the wrong order costs (s_k - s_j)/(PN), not twice that."""

from __future__ import annotations

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def candidate(scores: Array, y: Array) -> Answer:
    """Inference for half the scores."""
    return sound.infer(scores / 2, y)
