"""Class against rest: the protocol, the certificates, inference on real trainings, tables and pictures."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from fast.metrics import average_precision
from fast.ranking.queries import Queries
from verification.benchmarks import ap_calls, ap_classes, ap_methods, ap_paper, ap_report
from verification.benchmarks.ap_classes import BASE, ClassResult, Fit
from verification.errors import InvalidArgumentError

NAMES = ap_methods.NAMES


@pytest.fixture(scope="module")
def result() -> ClassResult:
    return ap_classes.run_class("digits", 8, NAMES, (100.0, 1.0), 1e-3)


@pytest.fixture(scope="module")
def train() -> tuple[np.ndarray, np.ndarray]:
    return ap_classes.data_of("digits", 8).train


def fit(method: str, C: float, validation: float, test: float, gap: float = 1e-5) -> Fit:
    return Fit(method, C, validation, test, 10, 0.1, gap)


def test_every_part_has_every_digit_a_constant_and_one_class_against_the_rest() -> None:
    parts, mine = ap_classes.load_digits(), ap_classes.data_of("digits", 3)
    assert [len(y) for _, y in parts.pairs] == [898, 449, 450]
    for (X, y), (own, labels) in zip(parts.pairs, mine.pairs, strict=True):
        assert np.ptp(np.bincount(y, minlength=10) / len(y)) < 0.02
        assert 0.0 <= X.min() < X.max() <= 1.0
        np.testing.assert_array_equal(own, np.column_stack([X, np.ones(len(X))]))
        np.testing.assert_array_equal(labels == 1, y == 3)


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


def test_methods_minimise_what_they_say(train: tuple[np.ndarray, np.ndarray]) -> None:
    """Objectives at neighbouring weights, and at those of the others, are no better than the gap allows."""
    (X, y), C = train, 50.0
    signs = np.where(y == 1, 1.0, -1.0)
    losses = {
        ap_methods.LOGISTIC: lambda s: np.logaddexp(0.0, -signs * s).mean(),
        "binary SVM": lambda s: np.maximum(0.0, 1.0 - signs * s).mean(),
        "balanced SVM": lambda s: sum(
            np.maximum(0.0, 1.0 - signs * s)[y == label].mean() / 2 for label in (0, 1)
        ),
        BASE: lambda s: Queries(y).infer(s).value,
    }
    models = {m.name: m.fit(X, y, C, 1e-5).w for m in ap_methods.METHODS}
    rng = np.random.default_rng(0)
    for name, loss in losses.items():
        w = models[name]

        def P(w: np.ndarray, loss=loss) -> float:  # type: ignore[no-untyped-def]
            return 0.5 * float(w @ w) + C * float(loss(X @ w))

        others = [v for other, v in models.items() if other != name]
        assert min(map(P, others)) > P(w)
        near = [1.01 * w, 0.99 * w, *(w + 1e-2 * rng.standard_normal((5, len(w))))]
        assert min(map(P, near)) >= P(w) * (1 - 1e-5)


def test_the_reported_ap_is_that_of_the_metric() -> None:
    parts = ap_classes.data_of("digits", 8)
    base = next(m for m in ap_methods.METHODS if m.name == BASE)
    found = ap_classes.run_class("digits", 8, (BASE,), (1.0,), 1e-3)
    model = base.fit(*parts.train, 1.0, 1e-3)
    X, y = parts.test
    expected = average_precision(y, X @ model.w, ties="pessimistic")
    assert found.chosen[BASE].test == pytest.approx(expected, abs=1e-12)
    assert abs(model.w[-1]) < 1e-12  # the constant means nothing to a ranking


def test_inference_of_a_training_is_timed_on_its_own_scores(
    train: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = train
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
    (hinge,) = ap_calls.costs(ap_calls.hinge_calls(X, y, 10.0, 1e-2), ("binary SVM",), 1)
    assert hinge.calls >= 3
    hard = ap_calls.appx_calls(X, y, 50.0, 1e-2)
    assert hard.scores.shape[1] < len(y)  # difficult examples are ranked alone
    (appx,) = ap_calls.costs(hard, ("greedy",), 1)
    assert appx.calls == len(hard.scores) >= 3


def test_methods_that_disagree_are_not_timed_as_equals(
    train: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = train
    calls = ap_calls.ranking_calls(X, y, 10.0, 1e-1)
    queries = Queries(y)

    def oracle(scores: np.ndarray, method: str) -> object:
        return queries.infer(scores if method == "greedy" else -scores, method)

    with pytest.raises(ap_calls.DisagreementError, match="search and greedy"):
        ap_calls.costs(ap_calls.Calls(calls.scores, oracle), ("greedy", "search"), 1)


def test_selection_of_classes() -> None:
    assert len(ap_classes.select(None, "")) == 36
    assert ap_classes.select(["digits"], "") == [("digits", j) for j in range(10)]
    assert ap_classes.select(None, " b, 7") == [("letter", 1), ("digits", 7)]
    for given, match in (((["iris"], ""), "iris"), ((["digits"], "A,1"), "'A'"), ((None, "1,"), "''")):  # fmt: skip
        with pytest.raises(InvalidArgumentError, match=match):
            ap_classes.select(*given)


def test_document_and_pictures(tmp_path: Path, result: ClassResult) -> None:
    costs = {("digits", "8"): [ap_calls.Cost("greedy", 2.0, 10), ap_calls.Cost("all", 0.5, 10)]}
    written = ap_report.write(tmp_path / "new", ap_report.ranks_of([result], 1e-2))
    assert len(written) == 2
    assert min(p.stat().st_size for p in written) > 5000
    found = ap_report.made([result], costs, 1e-3, written)
    assert found.ok is True
    aps = found.data["digits: test AP in percent"][0]
    assert set(aps) > set(NAMES)
    faster = found.data["digits: time of inference"][1]["greedy / method"]
    assert faster == pytest.approx(4.0)
    worse = dataclasses.replace(result.chosen[BASE], gap=2e-3)
    bad = dataclasses.replace(result, chosen={**result.chosen, BASE: worse})
    assert ap_report.made([bad], {}, 1e-3).ok is False
    assert ap_report.made([], {}, 1e-3).ok is False


def test_printed_means() -> None:
    assert ap_paper.means() == pytest.approx((47.934, 51.196, 50.888, 50.258, 49.151))
    greedy, faster = ap_paper.SECONDS["greedy"], ("APPX 50 %", "search", "select", "all")
    ratios = [greedy / ap_paper.SECONDS[m] for m in faster]
    assert np.round(ratios, 1).tolist() == [2.4, 8.4, 14.0, 22.5]  # M10: not "5-10"
