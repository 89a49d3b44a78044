"""The table of two classes beside its peers, on data of a moment."""

import numpy as np
import pytest

from verification.benchmarks import peers, two_classes
from verification.benchmarks.standing import fitted
from verification.certificates import trained


def few(m: int) -> tuple[np.ndarray, np.ndarray]:
    rng, y = np.random.default_rng(0), np.arange(80) % m
    return rng.standard_normal((m, 4))[y] + rng.standard_normal((80, 4)), y


def test_every_case_has_a_line_for_each_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = {
        "two": ("one-vs-rest logistic", (1.0,), lambda: few(2)),
        "three": ("softmax", (0.1,), lambda: few(3)),
    }
    monkeypatch.setattr(two_classes, "CASES", cases)
    monkeypatch.setattr(two_classes, "REPEATS", 1)
    found = [record.to_dict() for record in two_classes.table()]
    assert [(line["data"], line["gap asked"]) for line in found] == [
        (name, gap) for name in cases for gap in two_classes.GAPS
    ]
    assert all(line["gap"] <= line["gap asked"] and line["ratio"] > 0.0 for line in found)


@pytest.mark.parametrize("loss", [loss for loss in two_classes.RIVALS if loss != "softmax"])
def test_peers_of_two_classes_minimise_our_problem(loss: str) -> None:
    X, y = few(2)
    lower = trained(fitted(loss, X, y, 2.0, 1e-9), X, y).dual
    for peer in two_classes.RIVALS[loss].values():
        found = peers.match(X, y, 2.0, lower, 1e-5, peer)
        assert found.reached
        assert found.suboptimality >= -1e-12


def test_data_like_covertype_have_every_class_and_code() -> None:
    X, y = two_classes.cover(5000)
    assert X.shape == (5000, 54)
    assert set(y) == set(range(7))
    assert (X[:, 10:14].sum(axis=1) == 1.0).all()
    assert (X[:, 14:].sum(axis=1) == 1.0).all()
