"""The AP benchmark: regimes as described, honest gaps, targets as agreed; no test asserts a time."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fast.losses import average_precision
from fast.ranking.queries import Queries
from verification.benchmarks import (
    ap_cutting_plane,
    ap_greedy,
    ap_inference,
    ap_plots,
    ap_shapes,
    ap_training,
)
from verification.benchmarks.ap_exactness import Row
from verification.benchmarks.ap_inference import Timing
from verification.benchmarks.ap_report import document
from verification.benchmarks.ap_training import Run

TIMING = Timing("random", 3, 9, ap_inference.DEFAULT, 1e-4, 2, "greedy", 26.0, 25.0)
CELL = Timing("ties", 3, 9, ap_inference.DEFAULT, 1e-4, 2, "search", 1.5, 2.0, True)
RUN = Run("APSVM", 10.0, 40, 9e-7, 1.0, 0.5, 60)


@pytest.mark.parametrize("regime", ap_shapes.REGIMES)
@pytest.mark.parametrize(("P", "N"), [(1, 1), (3, 40), (50, 2)])
def test_regimes_have_the_shape_and_repeat(regime: str, P: int, N: int) -> None:
    scores, y = ap_shapes.draw(regime, P, N)
    assert (y.sum(), len(y), len(scores)) == (P, P + N, P + N)
    np.testing.assert_array_equal(scores, ap_shapes.draw(regime, P, N)[0])


def test_regimes_are_what_they_are_called() -> None:
    P, N = 100, 5000
    active = {r: ap_inference.active_negatives(*ap_shapes.draw(r, P, N)) for r in ap_shapes.REGIMES}
    assert active["few active"] < 0.01 * N < active["near optimum"] < 0.5 * N < active["random"]
    assert active["reversed"] == active["all equal"] == N
    assert np.ptp(ap_shapes.draw("all equal", P, N)[0]) == 0.0
    assert len(np.unique(ap_shapes.draw("ties", P, N)[0])) == 5


def test_the_grid_is_complete_and_every_method_is_timed() -> None:
    cells = list(ap_shapes.grid())
    assert len(set(cells)) == len(cells) == 6 * len(ap_shapes.PS) * len(ap_shapes.NS)
    assert (min(ap_shapes.PS), max(ap_shapes.PS), max(ap_shapes.NS)) == (1, 3000, 10**6)
    assert set(ap_inference.METHODS) == set(average_precision.METHODS)
    assert len(list(ap_inference.curves())) == 2 * 2 * 7


@pytest.mark.parametrize(
    ("timing", "reached"),
    [
        (TIMING, True),
        (dataclasses.replace(TIMING, ratio=24.9), False),
        (dataclasses.replace(TIMING, ratio=24.9, target=None), True),
        (CELL, True),
        (dataclasses.replace(CELL, ratio=2.1), False),
    ],
)
def test_a_timing_is_reached_on_its_side_of_the_target(timing: Timing, reached: bool) -> None:
    assert timing.reached is reached
    assert document([timing], [], [], [], strict=True).ok is reached
    assert document([], [timing], [], [], strict=True).ok is reached
    assert document([timing], [timing], [], [], strict=False).ok is None


@pytest.mark.parametrize(
    ("change", "reached"),
    [({}, True), ({"calls": 61}, False), ({"gap": 2e-6}, False), ({"target": None, "gap": 1.0}, True)],
)  # fmt: skip
def test_training_is_reached_certified_and_within_the_calls(change: dict, reached: bool) -> None:
    run = dataclasses.replace(RUN, **change)
    assert run.reached is reached
    found = document([], [], [run], [], strict=True)
    assert found.ok is reached
    assert found.data["training"][0]["reached"] is reached


def test_methods_are_compared_on_small_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ap_inference, "SHAPE", (5, 40))
    monkeypatch.setattr(ap_inference, "LONG", (5, 40))
    timings = ap_inference.against_greedy(1) + ap_inference.against_sort(1)
    assert {t.against for t in timings} <= {"greedy", ap_inference.CPP, "numpy.sort"}
    assert [t.method for t in timings if t.regime == "random" and t.against == "greedy"] == list(
        ap_inference.METHODS
    )
    assert min(t.seconds for t in timings) > 0.0
    assert {t.regime for t in timings if t.target} == {"random", "trained model", "few active"}
    cell = ap_inference.against_search("reversed", 4, 30, 1)
    assert (cell.active, cell.target, cell.at_most) == (30, 2.0, True)


def test_the_greedy_in_cpp_finds_the_same_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    greedy = ap_greedy.compiled()
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
    shown = document([TIMING], [], [], [], strict=True).blocks[-1]
    assert "no C++ compiler" in shown.text  # type: ignore[union-attr]


def test_the_cutting_plane_and_ours_end_at_the_same_optimum() -> None:
    size = {"n": 300, "d": 6, "share": 0.1, "separation": 1.5}
    ours, plain, logistic = ap_training.measure(10.0, 1, size)
    assert ours.gap is not None
    assert plain.gap is not None
    assert 0.0 <= ours.gap <= ap_training.GAP
    assert 0.0 <= plain.gap <= ap_training.GAP
    assert plain.calls > ours.calls > 3  # type: ignore[operator]
    assert logistic.calls is logistic.gap is logistic.target is None
    assert abs(ours.ap - plain.ap) < 0.02


def test_a_cutting_plane_that_is_cut_short_says_what_it_has() -> None:
    X, y = ap_shapes.make_problem(200, 5, 0.1, 1.5)
    stopped = ap_cutting_plane.train(X, Queries(y), 10.0, 1e-6, 5, 60.0)
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


def test_pictures_of_the_curves(tmp_path: Path) -> None:
    curves = [
        ap_inference.curve(regime, method, over, 3, (2, 5), 1)
        for over in ("N", "P")
        for regime in ap_inference.CURVE_REGIMES
        for method in ("greedy", ap_inference.DEFAULT, "numpy.sort")
    ]
    assert all(c.sizes == (2, 5) and min(c.seconds) > 0 for c in curves)
    written = ap_plots.write(tmp_path / "new", curves)
    assert {p.name for p in written} == {"ap_inference.png", "ap_inference.svg"}
    assert min(p.stat().st_size for p in written) > 5000
    assert set(ap_plots.STYLES) == {*ap_inference.METHODS, "numpy.sort"}


def test_the_greedy_s_curve_ends_where_it_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ap_inference, "GREEDY_PAIRS", 50)
    assert ap_inference.curve("random", "greedy", "N", 5, (2, 10, 11), 1).sizes == (2, 10)
    assert ap_inference.curve("random", "search", "N", 5, (2, 10, 11), 1).sizes == (2, 10, 11)


def test_wrong_rankings_make_the_document_negative() -> None:
    row = Row("greedy", "search", 10, 3, 0, 0.5)
    for wrong, ok in ((0, True), (1, False)):
        found = document([], [], [], [dataclasses.replace(row, wrong=wrong)], strict=True)
        assert found.ok is ok
        assert found.data["exactness"][0]["wrong"] == wrong
