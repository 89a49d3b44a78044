"""The circle: exact facts against search and sampling, the authors' draw, the protocol, the pictures."""

import dataclasses
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from verification.benchmarks import circle, circle_best, circle_report, circle_runs
from verification.benchmarks.circle_runs import METHODS, Choice, Trial
from verification.benchmarks.methods import Fitted, path

READINGS = list(circle.READINGS)
SMOOTH = next(m for m in METHODS if m.name == "smooth top-1 SVM")


@pytest.mark.parametrize("reading", READINGS)
def test_readings_are_distributions(reading: str) -> None:
    assert sum(sum(row) for row in circle.READINGS[reading]) == 1


def test_the_printed_table_is_conditional_on_the_segment() -> None:
    assert [sum(column) for column in zip(*circle.TABLE, strict=True)] == [1] * 5
    assert [sum(row) for row in circle.TABLE] != [1] * 3


@pytest.mark.parametrize(
    ("reading", "bayes", "linear"),
    [("segments", ("84", "98"), ("71", "98")), ("uniform", ("80", "690/7"), ("450/7", "690/7"))],
)
def test_best_values_are_those_on_record(
    reading: str, bayes: tuple[str, str], linear: tuple[str, str]
) -> None:
    found = circle_best.best(reading)
    assert [100 * v for v in found.bayes] == [Fraction(v) for v in bayes]
    assert [100 * v for v in found.linear] == [Fraction(v) for v in linear]


@pytest.mark.parametrize("reading", READINGS)
def test_best_linear_is_approached_and_never_passed(reading: str) -> None:
    """No triangle of weights built from a fine grid of arcs is better; the best one comes close."""
    joint = circle.READINGS[reading]
    best = circle_best.best(reading)
    assert all(a <= b <= c for a, b, c in zip(best.linear, best.biased, best.bayes, strict=True))
    tried = [_triangle(arcs, order) for arcs in _arcs(14) for order in permutations(range(3))]
    reached = np.max([circle.accuracy(s * W, joint) for W in tried for s in (1, -1)], axis=0)
    limits = np.array([float(v) for v in best.linear])
    assert np.all(reached <= limits + 1e-12)
    assert np.all(reached >= limits - 0.01)


def _arcs(steps: int) -> list[tuple[float, float, float]]:
    """Boundaries a < b < c on a grid of the circle, every arc a little shorter than half of it."""
    grid = np.arange(steps) * circle.AROUND / steps
    half = 0.5 * circle.AROUND
    found = []
    for a, b, c in product(grid, grid, grid):
        if a < b < c and max(b - a, c - b, a + circle.AROUND - c) <= half:
            inward = 1e-3 * circle.AROUND / steps
            found.append((a + inward * (b - a == half), b, c - inward * (c - b == half)))
    return found


def _triangle(arcs: tuple[float, float, float], order: tuple[int, ...]) -> np.ndarray:
    """Weights whose winners change at the three positions."""
    a, b, c = circle.points(np.array(arcs))
    # edges of the triangle are perpendicular to the boundaries: find the lengths that close it
    edges = np.column_stack([-np.array([a, b, c])[:, 1], np.array([a, b, c])[:, 0]])
    lengths = np.linalg.svd(edges.T)[2][-1]
    lengths = lengths * np.sign(lengths.sum())
    corners = np.cumsum(lengths[:, None] * edges, axis=0)
    W = np.empty((3, 2))
    W[list(order)] = corners - corners.mean(axis=0)
    return W


def test_words_of_a_biased_classifier() -> None:
    """A word is realisable iff some W, b on the circle has it: tried at random over the segments."""
    assert circle_best.realisable((0, 0, 0, 0, 0))
    assert circle_best.realisable((0, 1, 0, 2, 0))
    assert not circle_best.realisable((0, 1, 0, 1, 1))
    assert not circle_best.realisable((1, 0, 2, 1, 2))
    rng = np.random.default_rng(0)
    angles = 2 * np.pi * (np.arange(5) + 0.5) / 5
    X = np.column_stack([np.cos(angles), np.sin(angles), np.ones(5)])
    seen = {tuple(np.argmax(X @ rng.standard_normal((3, 3)).T, axis=1)) for _ in range(20_000)}
    possible = {w for w in product(range(3), repeat=5) if circle_best.realisable(w)}
    assert seen == possible


@pytest.mark.parametrize("reading", READINGS)
def test_exact_accuracy_is_what_sampling_estimates(reading: str, rng: np.random.Generator) -> None:
    joint = circle.READINGS[reading]
    X, y = circle.draw(joint, 40_000, 3)
    for W in rng.standard_normal((5, 3, 2)):
        exact = np.array(circle_runs.exact(W, joint))
        np.testing.assert_allclose(circle_runs.sampled(W, X, y), exact, atol=5 * 50 / 200)


def test_ties_count_against_the_classifier() -> None:
    joint = circle.READINGS["segments"]
    assert circle.accuracy(np.zeros((3, 2)), joint) == (0.0, 0.0)
    W = np.array([[1.0, 0.0], [1.0, 0.0], [-2.0, 0.0]])
    X, y = circle.draw(joint, 20_000, 0)
    np.testing.assert_allclose(circle_runs.exact(W, joint), circle_runs.sampled(W, X, y), atol=1.5)
    low, high = circle_runs.shaken(W, X, y)[0]
    assert circle_runs.sampled(W, X, y)[0] < low < high


def test_regions_are_those_of_the_scores(rng: np.random.Generator) -> None:
    W = rng.standard_normal((3, 2))
    positions = rng.uniform(0, circle.AROUND, 200)
    winners = np.argmax(circle.points(positions) @ W.T, axis=1)
    for position, winner in zip(positions, winners, strict=True):
        assert [j for a, b, j in circle.regions(W) if a <= position < b] == [winner]


def test_the_authors_draw_has_matlab_s_bits() -> None:
    """MATLAB's rng(0): rand begins .8147, .9058, .1270; randi(10) with 9, 10, 2."""
    stream = np.random.RandomState(circle.MATLAB_SEED)
    assert np.round(stream.random_sample(3), 4).tolist() == [0.8147, 0.9058, 0.127]
    X, y = circle.authors_draw()
    assert X.shape == (200_400, 2)
    joint = np.array(circle.READINGS["segments"], dtype=np.float64)
    share = np.bincount(y) / len(y)
    spread = np.sqrt(share * (1 - share) / len(y))
    assert np.all(np.abs(share - joint.sum(axis=1)) <= 4 * spread)
    turn = np.mod(np.arctan2(X[:, 1], X[:, 0]), 2 * np.pi) * circle.AROUND / (2 * np.pi)
    assert set(y[turn < 1]) == {1}
    assert set(y[(turn > 1) & (turn < 2)]) == {0}
    assert set(y[turn > 6]) == {2}


@pytest.fixture(scope="module")
def remade() -> list[circle_runs.Remade]:
    hinges = [m for m in METHODS if m.name in ("SVM-OVA", "SVM-Multi", "smooth top-1 SVM")]
    return circle_runs.run_authors_draw(hinges, circle_runs.GRID[::2])


def test_printed_cells_come_back_on_the_authors_draw(remade: list[circle_runs.Remade]) -> None:
    """The smooth SVM of Figure 4 has both printed accuracies; its top-1 cell of Table 2 too."""
    ova, multi, smooth = remade
    match = circle_report.figure_match(smooth)
    assert match is not None
    assert match.C == 2.0**-4 == smooth.choice.C[0]
    assert np.round(ova.choice.test[0], 1) == 54.3
    assert multi.spread is not None
    assert "SVM-Multi" in circle_report.tie_texts(remade)[0]


def test_models_are_certified_by_formulas(remade: list[circle_runs.Remade]) -> None:
    """The one-vs-all gap is that of the sum over classes, recomputed here from its definition."""
    n = circle.SIZES[0]
    X, y = circle.authors_draw()
    X, y = X[:n], y[:n]
    model = circle_runs.fitted(remade[0].method, X, y, circle_runs.GRID[::2])[9]
    np.testing.assert_array_equal(model.W, remade[0].weights[9])
    signs = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    primal = 0.5 * np.sum(model.W**2) + model.C * np.maximum(0, 1 - signs * (X @ model.W.T)).sum()
    A = csr_array(model.dual).toarray()
    x = signs * A
    assert x.min() >= 0.0
    assert x.max() <= model.C * (1 + 1e-12)
    dual = x.sum() - 0.5 * np.sum((A.T @ X) ** 2)
    assert model.primal == pytest.approx(primal, rel=1e-12)
    assert primal - dual <= 1e-12 * primal


def test_every_column_takes_its_own_best_and_the_smallest_c_of_equals() -> None:
    trials = [
        Trial(1.0, (60.0, 80.0), (50.0, 81.0)),
        Trial(2.0, (62.0, 80.0), (51.0, 82.0)),
        Trial(4.0, (62.0, 79.0), (52.0, 99.0)),
    ]
    X, y = circle.draw(circle.READINGS["segments"], 60, 0)
    models = path(SMOOTH.loss, X, y, [t.C for t in trials], 1e-3)
    choice = circle_runs.choose(SMOOTH, models, trials, X, y)
    assert choice.C == (2.0, 1.0)
    assert choice.validation == (62.0, 80.0)
    assert choice.test == (51.0, 81.0)
    np.testing.assert_array_equal(choice.weights, [models[1].W, models[0].W])
    assert 0.0 < choice.gap <= 1e-12  # small problems are solved to rounding


def test_the_gap_of_a_choice_is_computed_anew() -> None:
    X, y = circle.draw(circle.READINGS["segments"], 60, 0)
    model = path(SMOOTH.loss, X, y, (1.0,), 1e-3)[0]
    model.estimator.coef_ = 1.1 * model.estimator.coef_
    trial = Trial(1.0, (60.0, 80.0), (50.0, 81.0))
    assert circle_runs.choose(SMOOTH, [model], [trial], X, y).gap > 1e-4


def test_zero_is_told_from_a_small_model() -> None:
    """Where W = 0 is optimal nothing is classified; a model scaled with C is not zero."""
    dual = np.zeros((200, 3))
    W = np.ones((3, 2))
    assert Fitted(1e-6, 1e-12 * W, dual, 2e-4, 1e-16).is_zero
    assert not Fitted(1e-6, 1e-6 * W, dual, 2e-4, 1e-16).is_zero
    assert Fitted(1.0, 1e-3 * W, dual, 200.0, 1e-6).is_zero


def _choice(test: tuple[float, float], zero: bool = False) -> Choice:
    W = np.arange(6.0).reshape(3, 2)
    return Choice(SMOOTH.name, (1.0, 1.0), test, test, 1e-9, zero, (W, W))


def test_summary_leaves_out_draws_without_a_classifier() -> None:
    choices = [_choice((v, v + 10)) for v in range(101)] + [_choice((0, 0), True)]
    found = circle_runs.summarise(SMOOTH, choices)
    assert found.quantiles == ((5.0, 50.0, 95.0), (15.0, 60.0, 105.0))
    assert (found.draws, found.zero, found.tied) == (102, 1, 0)
    assert not found.outside(0)  # printed: 65.7
    low = dataclasses.replace(found, method=dataclasses.replace(SMOOTH, paper=(4.9, 105.1)))
    assert low.outside(0)
    assert low.outside(1)


def test_a_draw_is_repeatable_and_the_reading_matters() -> None:
    methods = [SMOOTH]
    grid = (0.125, 1.0)
    first, again, other = (
        circle_runs.run_draw(reading, 4, methods, grid)[0]
        for reading in ("segments", "segments", "uniform")
    )
    assert first.test == again.test != other.test
    assert first.gap <= circle_runs.TOL


def test_document_and_pictures(tmp_path: Path, remade: list[circle_runs.Remade]) -> None:
    methods = [r.method for r in remade]
    draws = [circle_runs.run_draw("segments", s, methods, (0.25, 4.0)) for s in range(3)]
    summaries = {"segments": circle_runs.summarise_all(draws, methods)}
    best = [circle_best.best(name) for name in READINGS]
    rings = circle_report.figure_models(remade)
    assert list(rings) == ["smooth top-1 SVM, C = $2^{-4}$: top-1 65.7 %, top-2 81.3 %"]
    written = circle_report.write(tmp_path / "new", rings)
    assert len(written) == 2
    assert all(p.stat().st_size > 5000 for p in written)
    found = circle_report.made(best, summaries, remade, written)
    assert found.ok is True
    assert found.data["authors_draw"][2]["test"][0] == pytest.approx(65.735)
    assert found.data["figure_4"][0]["ours"] == "65.7 / 81.3"
    worse = [dataclasses.replace(s, worst_gap=1.0) for s in summaries["segments"]]
    assert circle_report.made(best, {"segments": worse}, remade).ok is False
