"""Right by default; method="search" looks at the ranks 1..min(P, j) only."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"
METHODS = ("greedy", "search")


def short(table: Array) -> Array:
    """Argmax over 1..min(P, j), and P + 1."""
    deltas = sound.suffix_sums(table)
    N, P = table.shape
    beyond = np.arange(1, P + 1) > np.minimum(P, np.arange(1, N + 1))[:, None]
    deltas[:, :-1][beyond] = -np.inf
    values = deltas[:, ::-1]
    return P + 1 - values.argmax(axis=1)


def candidate(scores: Array, y: Array, method: str = "greedy") -> Answer:
    """Inference by one of two methods."""
    return sound.infer(scores, y, ranks=short if method == "search" else sound.ranks)
