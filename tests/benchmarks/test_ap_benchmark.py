"""The AP benchmark: regimes as described, honest gaps; no test asserts a time."""

import numpy as np
import pytest

from fast.losses import average_precision
from fast.ranking.queries import Queries
from verification.benchmarks import ap_greedy, ap_inference, ap_shapes, ap_training


def test_regimes_are_what_they_are_called() -> None:
    P, N = 100, 5000
    drawn = {regime: ap_shapes.draw(regime, P, N) for regime in ap_shapes.REGIMES}
    for regime, (scores, y) in drawn.items():
        assert (y.sum(), len(y), len(scores)) == (P, P + N, P + N)
        np.testing.assert_array_equal(scores, ap_shapes.draw(regime, P, N)[0])
    active = {regime: ap_inference.active_negatives(*data) for regime, data in drawn.items()}
    assert active["few active"] < 0.01 * N < active["near optimum"] < 0.5 * N < active["random"]
    assert active["reversed"] == active["all equal"] == N
    assert np.ptp(drawn["all equal"][0]) == 0.0
    assert len(np.unique(drawn["ties"][0])) == 5


def test_the_grid_is_complete_and_every_method_is_timed() -> None:
    cells = list(ap_shapes.grid())
    assert len(set(cells)) == len(cells) == 6 * len(ap_shapes.PS) * len(ap_shapes.NS)
    assert (min(ap_shapes.PS), max(ap_shapes.PS), max(ap_shapes.NS)) == (1, 3000, 10**6)
    assert set(ap_inference.METHODS) == set(average_precision.METHODS)


def test_methods_are_compared_on_small_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ap_inference, "SHAPE", (5, 40))
    monkeypatch.setattr(ap_inference, "LONG", (5, 40))
    found = ap_inference.against_greedy(1) + ap_inference.against_sort(1)
    peers = ap_inference.CPP, ap_inference.RECURSION, ap_inference.AP
    assert {r["against"] for r in found} <= {"greedy", *peers, "numpy.sort"}
    methods = [r["method"] for r in found if (r["regime"], r["against"]) == ("random", "greedy")]
    assert methods == list(ap_inference.METHODS)
    assert min(r["milliseconds"] for r in found) > 0.0
    assert {r["regime"] for r in found if r.least} == {"random", "trained model", "few active"}
    (cell,) = ap_inference.against_search("reversed", 4, 30, 1)
    assert (cell["active"], cell.least) == (30, {"ratio": 0.5})


@pytest.mark.parametrize("name", ["greedy", "recursion"])
def test_peers_in_cpp_find_the_same_ranking(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = ap_greedy.compiled(name)
    if greedy is None:
        pytest.skip("no C++ compiler")
    for regime in ap_shapes.REGIMES:
        scores, y = ap_shapes.draw(regime, 4, 30)
        value, coefficients = greedy(scores, y)
        found = ap_inference.infer(ap_inference.DEFAULT, scores, y)
        assert value == pytest.approx(found.value, rel=1e-12)
        if regime not in ("ties", "all equal"):
            np.testing.assert_allclose(coefficients, found.coefficients, rtol=1e-15)
    monkeypatch.setattr(ap_greedy, "COMPILERS", ("no-such-compiler",))
    assert ap_greedy.compiled() is None


def test_the_cutting_plane_and_ours_end_at_the_same_optimum() -> None:
    size = {"n": 300, "d": 6, "share": 0.1, "separation": 1.5}
    ours, plain, logistic = ap_training.measure(10.0, 1, size)
    assert ours.reached
    assert ours.most == {"gap": ap_training.GAP, "calls": 60}
    assert 0.0 <= plain["gap"] <= ap_training.GAP
    assert plain["calls"] > ours["calls"] > 3
    assert logistic["calls"] is logistic["gap"] is None
    assert abs(ours["training_AP"] - plain["training_AP"]) < 0.02


def test_a_cutting_plane_that_is_cut_short_says_what_it_has() -> None:
    X, y = ap_shapes.make_problem(200, 5, 0.1, 1.5)
    stopped = ap_training.cutting_plane(X, Queries(y), 10.0, 1e-6, 5, 60.0)
    assert (stopped.calls, stopped.rankings.shape) == (5, (6, 200))
    gap = ap_training.certified(X, y, 10.0, stopped.w, stopped.rankings, stopped.weights)
    assert gap > 1e-6
    assert ap_training.certified(X, y, 10.0, 2 * stopped.w, stopped.rankings, stopped.weights) > gap


def test_problem_has_the_classes_it_says() -> None:
    X, y = ap_shapes.make_problem(4000, 8, 0.25, 3.0)
    assert y.sum() == 1000
    means = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert np.linalg.norm(means) == pytest.approx(3.0, abs=0.2)
    assert X[y == 0].std() == pytest.approx(1.0, abs=0.02)
