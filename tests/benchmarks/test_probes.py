"""The benchmark of linear probes: everybody is judged by the same bound, and the command shows it."""

import pytest
from _commands import data

from fast.datasets import make_deep_features
from verification.benchmarks import peers, probe, standing


def test_everybody_is_measured_at_the_same_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "DATA", {"tiny": "tiny"})
    tiny = make_deep_features(400, 5, 8, random_state=0)
    monkeypatch.setitem(standing.DATA, "tiny", lambda: tiny)
    told = data("bench", "probe", "--data", "tiny", "--C", "10", "--repeats", "1")["probes"]
    assert {t["gap"] <= probe.TOL and t["ratio"] > 0.0 for t in told} == {True}
    found = {(t["against"], t["setting"]): t for t in told}
    matched = [t for (who, how), t in found.items() if who.endswith("lbfgs") and "tol" in how]
    assert [t["peer_gap"] <= probe.TOL for t in matched] == [True]
    assert matched[0]["targets"] == "ratio >= 3, gap <= 0.001"
    default = found["scikit-learn lbfgs", "its default"]
    assert (default["targets"], default["reached"]) == ("gap <= 0.001", True)
    assert found["scikit-learn SGD", "its default, one-vs-all"]["peer_gap"] > 0.0
    assert peers.CYANURE.objective is peers.LOGISTIC.objective
