"""Class against rest: the protocol, the certificates, inference on real trainings, tables and pictures."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from fast.metrics import average_precision
from fast.ranking.queries import Queries
from verification.benchmarks import ap_calls, ap_classes, ap_classes_plots, ap_methods, ap_paper
from verification.benchmarks.ap_classes import BASE, ClassResult, Fit
from verification.benchmarks.ap_classes_report import document, duel_table
from verification.errors import InvalidArgumentError

NAMES = ap_methods.NAMES


@pytest.fixture(scope="module")
def result() -> ClassResult:
    return ap_classes.run_class("digits", 8, NAMES, (100.0, 1.0), 1e-3)


def fit(method: str, C: float, validation: float, test: float, gap: float = 1e-5) -> Fit:
    return Fit(method, C, validation, test, 10, 0.1, gap)


def made_up(name: str, **tests: float) -> ClassResult:
    fits = tuple(fit(m.replace("_", " "), 1.0, 0.5, v) for m, v in tests.items())
    return ClassResult("letter", name, 5, 50, fits, {f.method: f for f in fits})


def test_every_part_has_every_digit_and_no_example_twice() -> None:
    parts = ap_classes.load_digits()
    sizes = [len(y) for _, y in parts.pairs]
    assert sizes == [898, 449, 450]
    for X, y in parts.pairs:
        counts = np.bincount(y, minlength=10) / len(y)
        assert np.ptp(counts) < 0.02
        assert 0.0 <= X.min() < X.max() <= 1.0


def test_a_constant_is_appended_and_one_class_stands_against_the_rest() -> None:
    parts = ap_classes.data_of("digits", 3)
    (X, y), plain = parts.train, ap_classes.load_digits().train
    np.testing.assert_array_equal(X[:, -1], 1.0)
    np.testing.assert_array_equal(X[:, :-1], plain[0])
    np.testing.assert_array_equal(y == 1, plain[1] == 3)


def test_validation_chooses_and_among_equals_the_smallest_c() -> None:
    fits = [fit("x", 10.0, 0.9, 0.1), fit("x", 1.0, 0.9, 0.2), fit("x", 0.1, 0.8, 0.99)]
    assert ap_classes.choose(fits).C == 1.0


@pytest.mark.parametrize("method", NAMES)
def test_every_method_is_trained_certified_and_better_than_chance(
    result: ClassResult, method: str
) -> None:
    mine = [f for f in result.fits if f.method == method]
    assert [f.C for f in mine] == [1.0, 100.0]
    best = result.chosen[method]
    assert best.validation == max(f.validation for f in mine)
    assert best.gap is not None
    assert 0.0 <= best.gap <= 1e-3
    assert best.test > 0.5
    assert (best.calls is None) is (method in (ap_methods.LOGISTIC, "balanced SVM"))


def test_methods_are_different_ones() -> None:
    """No two end at the same weights, and AP-SVM's objective is the least at its own."""
    X, y = ap_classes.data_of("digits", 8).train
    models = {m.name: m.fit(X, y, 50.0, 1e-4).w for m in ap_methods.METHODS}
    objective = {
        name: 0.5 * float(w @ w) + 50.0 * Queries(y).infer(X @ w).value
        for name, w in models.items()
    }
    assert min(objective, key=objective.__getitem__) == BASE
    far = [
        np.linalg.norm(a - b) / np.linalg.norm(a)
        for (i, a), (j, b) in itertools.product(models.items(), repeat=2)
        if i != j
    ]
    assert min(far) > 0.01


def test_the_reported_ap_is_that_of_the_metric() -> None:
    parts = ap_classes.data_of("digits", 8)
    base = next(m for m in ap_methods.METHODS if m.name == BASE)
    found = ap_classes.run_class("digits", 8, (BASE,), (1.0,), 1e-3)
    model = base.fit(*parts.train, 1.0, 1e-3)
    X, y = parts.test
    expected = average_precision(y, X @ model.w, ties="pessimistic")
    assert found.chosen[BASE].test == pytest.approx(expected, abs=1e-12)
    assert abs(model.w[-1]) < 1e-12  # the constant means nothing to a ranking


def test_methods_minimise_what_they_say() -> None:
    """Logistic and hinge objectives at neighbouring weights are no better than the gap allows."""
    X, y = ap_classes.data_of("digits", 8).train
    signs, C = np.where(y == 1, 1.0, -1.0), 50.0
    losses = {
        ap_methods.LOGISTIC: lambda s: np.logaddexp(0.0, -signs * s).mean(),
        "binary SVM": lambda s: np.maximum(0.0, 1.0 - signs * s).mean(),
        "balanced SVM": lambda s: sum(
            np.maximum(0.0, 1.0 - signs * s)[y == label].mean() / 2 for label in (0, 1)
        ),
        BASE: lambda s: Queries(y).infer(s).value,
    }
    rng = np.random.default_rng(0)
    for method in ap_methods.METHODS:
        if method.name not in losses:
            continue
        w = method.fit(X, y, C, 1e-5).w

        def P(w: np.ndarray, name: str = method.name) -> float:
            return 0.5 * float(w @ w) + C * float(losses[name](X @ w))

        steps = [1.01, 0.99, *(1e-2 * rng.standard_normal((5, len(w))))]
        near = [w * s if np.isscalar(s) else w + s for s in steps]
        assert min(map(P, near)) >= P(w) * (1 - 1e-5)


def test_inference_of_a_training_is_timed_on_its_own_scores() -> None:
    X, y = ap_classes.data_of("digits", 8).train
    calls = ap_calls.ranking_calls(X, y, 10.0, 1e-2)
    assert calls.scores.shape[1] == len(y)
    assert len(calls.scores) >= 4
    np.testing.assert_array_equal(calls.scores[0], 0.0)  # where training begins
    found = ap_calls.costs(calls, repeats=1)
    assert [c.method for c in found] == list(ap_calls.METHODS)
    assert {c.calls for c in found} == {len(calls.scores)}
    assert min(c.seconds for c in found) > 0.0
    ranks = ap_calls.interleaving_ranks(calls, y)
    P = int(y.sum())
    assert ranks.shape == (len(calls.scores), len(y) - P)
    assert (ranks.min(), ranks.max()) == (1, P + 1)
    assert np.all(ranks[0] == 1)  # at equal scores every negative pays before every positive
    assert np.all(np.diff(ranks, axis=1) >= 0)


def test_methods_that_disagree_are_not_timed_as_equals() -> None:
    X, y = ap_classes.data_of("digits", 8).train
    calls = ap_calls.ranking_calls(X, y, 10.0, 1e-1)
    queries = Queries(y)

    def oracle(scores: np.ndarray, method: str) -> object:
        return queries.infer(scores if method == "greedy" else -scores, method)

    with pytest.raises(ap_calls.DisagreementError, match="search and greedy"):
        ap_calls.costs(ap_calls.Calls(calls.scores, oracle), ("greedy", "search"), 1)


def test_the_hinge_s_oracle_is_timed_too() -> None:
    X, y = ap_classes.data_of("digits", 8).train
    (found,) = ap_calls.costs(ap_calls.hinge_calls(X, y, 10.0, 1e-2), ("binary SVM",), 1)
    assert found.calls >= 3


def test_difficult_examples_are_ranked_alone() -> None:
    X, y = ap_classes.data_of("digits", 8).train
    calls = ap_calls.appx_calls(X, y, 50.0, 1e-2)
    assert calls.scores.shape[1] < len(y)
    (found,) = ap_calls.costs(calls, ("greedy",), 1)
    assert found.calls == len(calls.scores) >= 3


def test_selection_of_classes() -> None:
    assert len(ap_classes.select(None, "")) == 36
    assert ap_classes.select(["digits"], "") == [("digits", j) for j in range(10)]
    assert ap_classes.select(None, " b, 7") == [("letter", 1), ("digits", 7)]
    with pytest.raises(InvalidArgumentError, match="iris"):
        ap_classes.select(["iris"], "")
    with pytest.raises(InvalidArgumentError, match="'A'"):
        ap_classes.select(["digits"], "A,1")
    with pytest.raises(InvalidArgumentError, match="''"):
        ap_classes.select(None, "1,")


def test_duels_count_wins_and_name_the_extremes() -> None:
    results = [
        made_up("A", AP_SVM=0.90, other=0.80),
        made_up("B", AP_SVM=0.70, other=0.75),
        made_up("C", AP_SVM=0.5004, other=0.50),
    ]
    for r in results:  # keyword arguments have no hyphens
        r.chosen[BASE] = r.chosen.pop("AP SVM")
    (row,) = duel_table("letter", results).rows
    assert row[0] == "other"
    assert row[3:] == ("1 / 1 / 1", "A +10.0", "B -5.0")
    assert row[1] == "+1.68"


def test_document_and_pictures(tmp_path: Path, result: ClassResult) -> None:
    costs = {("digits", "8"): [ap_calls.Cost("greedy", 2.0, 10), ap_calls.Cost("all", 0.5, 10)]}
    ranks = ap_classes_plots.ranks_of([result], 1e-2)
    written = ap_classes_plots.write(tmp_path / "new", [result], ranks)
    assert {p.name for p in written} == {
        f"ap_{name}.{kind}" for name in ("classes", "ranks") for kind in ("png", "svg")
    }
    assert min(p.stat().st_size for p in written) > 5000
    found = document([result], costs, 1e-3, [str(p) for p in written])
    assert found.ok is True
    assert found.data["summary"][0]["mean"].keys() == set(NAMES)
    assert "4.0" in str(found.blocks)
    worse = dataclasses.replace(result.chosen[BASE], gap=2e-3)
    bad = dataclasses.replace(result, chosen={**result.chosen, BASE: worse})
    assert document([bad], {}, 1e-3).ok is False
    assert document([], {}, 1e-3).ok is False


def test_printed_means() -> None:
    assert ap_paper.means() == pytest.approx((47.934, 51.196, 50.888, 50.258, 49.151))
    greedy, faster = ap_paper.SECONDS["greedy"], ("APPX 50 %", "search", "select", "all")
    ratios = [greedy / ap_paper.SECONDS[m] for m in faster]
    assert np.round(ratios, 1).tolist() == [2.4, 8.4, 14.0, 22.5]  # M10: not "5-10"
