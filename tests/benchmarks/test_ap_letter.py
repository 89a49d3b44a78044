"""Single letters against the rest: figures from definitions, and objections that count."""

import dataclasses
import itertools

import numpy as np
import pytest

from verification.benchmarks import ap_letter
from verification.benchmarks.protocol import Parts


@pytest.fixture
def parts() -> Parts:
    rng = np.random.default_rng(0)

    def part(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = rng.integers(0, 26, n)
        X = rng.standard_normal((n, 6))
        X[:, 0] += 2.0 * (y == 0)
        return X, y

    return Parts(part(400), part(100), part(300))


def test_a_letter_is_certified(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ap_letter.measure(parts, "A")
    assert found.ok
    assert found.positives == (parts.train[1] == 0).sum()
    assert found.positives + found.negatives == 400
    assert 0 < 1 - found.train <= found.bound
    assert 0.1 < found.test < 1
    monkeypatch.setattr(ap_letter, "LETTERS", "AB")
    both = ap_letter.run(parts)
    assert [r.letter for r in both] == ["A", "B"]
    assert len(ap_letter.rankers_table(both).rows) == 2
    assert both[0].to_dict()["ok"] is True
    for wrong in ({"gap": 1.0}, {"objection": "gap"}, {"bound": 0.0}):
        assert not dataclasses.replace(found, **wrong).ok


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
        assert ap_letter.average_precision(scores, positives) == pytest.approx(worst)
