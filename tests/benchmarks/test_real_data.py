"""Single letters against the rest: figures from definitions, and objections that count."""

import dataclasses
import itertools

import numpy as np
import pytest

from verification.benchmarks.protocol import Parts
from verification.trainers import real_data


def test_a_letter_is_certified() -> None:
    rng = np.random.default_rng(0)

    def part(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(0, 26, n)
        X = rng.standard_normal((n, 6))
        X[:, 0] += 2.0 * (y == 0)
        return X, y

    parts = Parts(part(400), part(100), part(300))
    found = real_data.letter(parts, "A")
    assert found.reached
    assert found["P"] == (parts.train[1] == 0).sum()
    assert found["P"] + found["N"] == 400
    assert 0 < 1 - found["AP_train"] <= found["loss"]
    assert 0.1 < found["AP_test"] < 1
    for wrong in ({"gap": 1.0}, {"AP_train": 1 - 1.01 * found["loss"]}):
        assert not dataclasses.replace(found, figures=found.figures | wrong).reached


def test_average_precision_is_that_of_the_worst_order() -> None:
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = int(rng.integers(2, 6))
        positives = np.arange(n) < rng.integers(1, n)
        scores = rng.integers(0, 3, n).astype(float)
        worst = 1.0
        for order in itertools.permutations(range(n)):
            if all(scores[a] >= scores[b] for a, b in itertools.pairwise(order)):
                hits = np.flatnonzero(positives[list(order)])
                worst = min(worst, float(np.mean(np.arange(1, len(hits) + 1) / (hits + 1))))
        assert real_data.average_precision(scores, positives) == pytest.approx(worst)
