"""Interleaving ranks end at P: no negative may stay below all positives.

As Algorithm 1 and (7), (8) of Mohapatra et al. 2014 print it.
"""

from __future__ import annotations

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"
ERRATA = ("mohapatra_2014/algorithm_1",)


def ranks(table: Array) -> Array:
    """Argmax over 1..P."""
    return sound.suffix_sums(table)[:, :-1].argmax(axis=1) + 1


def candidate(scores: Array, y: Array) -> Answer:
    """Inference without rank P + 1."""
    return sound.infer(scores, y, ranks=ranks)
