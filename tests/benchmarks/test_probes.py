"""The benchmark of linear probes: everybody is judged by the same bound, and the command shows it."""

import pytest
from _commands import data

from verification.benchmarks import peers, probe


def test_everybody_is_measured_at_the_same_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "SIZES", {"tiny": (400, 5, 8)})
    told = data("bench", "probe", "--data", "tiny", "--C", "10", "--repeats", "1")["probes"]
    ours, *others = told
    assert ours["who"] == "refsolve"
    assert ours["gap"] <= probe.TOL
    found = {(t["who"], t["setting"]): t for t in others}
    matched = [t for (who, how), t in found.items() if who.endswith("lbfgs") and "tol" in how]
    assert [t["gap"] <= probe.TOL for t in matched] == [True]
    assert matched[0]["limit"] == probe.LIMITS["scikit-learn lbfgs"]
    sgd = found["scikit-learn SGD", "its default, one-vs-all"]
    assert sgd["gap"] > 0.0
    assert {t["ratio"] > 0.0 for t in told} == {True}


def test_a_gap_that_is_not_reached_misses_no_limit() -> None:
    slow = probe.Timing("tiny", 1.0, 1, "cyanure", "tol 1", 1.0, 0.5, 1.0, 20.0)
    assert slow.reached
    assert not probe.Timing(*[*vars(slow).values()][:6], 1e-4, 1.0, 20.0).reached
    assert peers.CYANURE.objective is peers.softmax_objective
