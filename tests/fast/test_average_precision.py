"""Loss-augmented inference against all rankings in rational arithmetic."""

import numpy as np
import pytest
from _naive_average_precision import brute_force, gains, greedy

from fast.losses import average_precision as ap
from fast.losses._ap_inference import METHODS

pytestmark = pytest.mark.filterwarnings("error")


def small(rng, positives=5, negatives=6):
    """Scores with ties of scores, and often with ties of rankings."""
    p, n = int(rng.integers(1, positives)), int(rng.integers(1, negatives))
    y = rng.permutation(np.arange(p + n) < p)
    kind = rng.integers(3)
    if kind == 0:
        return rng.standard_normal(p + n), y
    if kind == 1:
        return rng.integers(-2, 3, p + n) / rng.choice([1, 2, 4]), y
    return rng.integers(-3, 4, p + n) * n / 12, y


def test_brute_force_finds_the_same_ranking_with_every_method():
    rng = np.random.default_rng(0)
    for _ in range(400):
        scores, y = small(rng)
        value, counts = brute_force(scores, y)
        assert greedy(scores, y)[:2] == (value, counts)
        for method in METHODS:
            found = ap.loss_augmented_inference(scores, y, method)
            assert tuple(sorted(found.counts)) == counts, (scores, y, method)
            assert found.value == pytest.approx(float(value), abs=1e-14)
            assert found.value == pytest.approx(
                found.delta + found.coefficients @ scores, abs=1e-14
            )
            table = gains(scores, y)
            assert value == sum(max(row) for row in table)
