"""Certificates of the AP-SVM trainer, recomputed by naive formulas, and what it costs."""

import numpy as np
import pytest
from _naive_ap_svm import bounds, close, cut, mean_hinge

from fast.models import ap_svm
from fast.ranking.queries import Queries
from fast.solvers import cuts

SOLVERS = ["bundle", "cutting_plane"]


def problem(seed=0, n=40, d=5, shift=0.7, part=0.3):
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < part * n
    X = rng.standard_normal((n, d))
    X[y] += shift
    return X, y


def check(result, X, y, C, tol, **step):
    assert (result.weights > 0.0).all()
    close(result, *bounds(result, X, y, C, **step), tol)


DEGENERATE = {
    "one pair": lambda X, y: (np.array([[1.0], [-1.0]]), np.array([True, False])),
    "all wrong": lambda X, y: (np.array([[-1.0], [1.0], [2.0]]), np.array([True, False, False])),
    "repeated rows": lambda X, y: (np.repeat(X[:5], 8, axis=0), y),
    "zero rows": lambda X, y: (X * (np.arange(40) % 2)[:, None], y),
    "zero": lambda X, y: (0.0 * X, y),
    "separable": lambda X, y: (X + 10.0 * y[:, None], y),
    "more columns than rows": lambda X, y: (np.random.default_rng(5).random((10, 300)), y[:10]),
    "a large constant column": lambda X, y: (np.hstack([X, np.full((40, 1), 1e3)]), y),
    "columns of other sizes": lambda X, y: (X * 10.0 ** np.arange(-4, 5, 2), y),
    "small": lambda X, y: (1e-5 * X, y),
    "large": lambda X, y: (1e5 * X, y),
}


@pytest.mark.parametrize("name", sorted(DEGENERATE))
def test_degenerate_data_at_every_size_of_C(name):
    X, y = DEGENERATE[name](*problem(2))
    assert 0 < y.sum() < len(y)
    for C in (1e-6, 1.0, 1e3, 1e6):
        check(ap_svm.train(X, Queries(y), C, tol=1e-6), X, y, C, 1e-6)


def test_where_nothing_can_be_learnt_w_is_zero_after_one_call():
    X, y = problem()
    result = ap_svm.train(0.0 * X, Queries(y), 7.0, tol=1e-12)
    assert result.n_oracle == 1
    assert not result.w.any()
    k = np.arange(1, y.sum() + 1)
    worst = 1.0 - np.mean(k / (k + (~y).sum()))
    assert result.primal == pytest.approx(7.0 * worst, rel=1e-12)
    assert result.dual == pytest.approx(7.0 * worst, rel=1e-12)


def test_history_is_what_happened():
    X, y = problem(7)
    seen = []

    def report(state):
        seen.append((state.n_iter, state.primal, state.dual, state.n_oracle, state.w.copy()))
        offset, a = cut(state.inversions, y)
        assert offset + a @ np.zeros(len(y)) == pytest.approx(state.cut.offset)
        assert np.count_nonzero(state.inversions[~y]) == state.cut.active
        return False

    result = ap_svm.train(X, Queries(y), 10.0, tol=1e-6, report=report)
    history = result.history
    assert [h["iteration"] for h in history] == list(range(len(history)))
    assert history[0]["oracle_calls"] == 1
    assert history[-1]["oracle_calls"] == result.n_oracle
    assert len(seen) == result.n_iter == history[-1]["iteration"]
    primal, dual = ([h[name] for h in history] for name in ("primal", "dual"))
    assert (np.diff(primal) <= 0.0).all()
    assert (np.diff(dual[:-1]) >= 0.0).all()
    assert history[-1]["gap"] == result.gap
    for _, at, _, _, w in seen:
        assert 0.5 * w @ w + 10.0 * mean_hinge(X @ w, y) == pytest.approx(at, rel=1e-12)


def test_oracle_calls_are_all_counted(monkeypatch):
    X, y = problem(8)
    calls = []
    infer = Queries.infer
    monkeypatch.setattr(Queries, "infer", lambda *a, **k: calls.append(1) or infer(*a, **k))
    for data in (X, X.astype(np.float32)):
        for solver in SOLVERS:
            calls.clear()
            result = ap_svm.train(data, Queries(y), 5.0, tol=1e-6, solver=solver)
            assert result.n_oracle == len(calls)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_a_rounded_copy_is_left_in_time(offset, monkeypatch):
    """In float32 a large constant column hides the rest."""
    monkeypatch.setattr(cuts, "ROUNDED", (1, 1000))
    X, y = problem(4, n=120)
    X[:, 0] += offset
    for tol in (1e-3, 1e-7):
        result = ap_svm.train(X, Queries(y), 10.0, tol=tol)
        check(result, X, y, 10.0, tol)
        assert result.n_oracle <= 60


@pytest.mark.parametrize("shift", [1.0, 3.0, 6.0])
@pytest.mark.parametrize(("C", "most"), [(10.0, 60), (1000.0, 100)])
def test_calls_on_twenty_thousand_examples(shift, C, most):
    rng = np.random.default_rng(0)
    y = np.arange(20_000) < 400
    direction = rng.standard_normal(64)
    X = rng.standard_normal((20_000, 64))
    X[y] += shift * direction / np.linalg.norm(direction)
    result = ap_svm.train(X, Queries(y), C, tol=1e-6)
    assert result.n_oracle <= most
    primal = 0.5 * result.w @ result.w + C * mean_hinge(X @ result.w, y)
    dual, v = 0.0, np.zeros(len(y))
    for weight, inversions in zip(result.weights, result.rankings, strict=True):
        c, t = np.sort(inversions[y]), np.sort(inversions[~y])[::-1]
        np.testing.assert_array_equal(t, 400 - np.searchsorted(c, np.arange(1, len(t) + 1)))
        k = np.arange(1, 401)
        dual += weight * (1.0 - np.mean(k / (k + c)))
        v += weight * 2.0 / (400 * 19_600) * np.where(y, -1.0, 1.0) * inversions
    dual -= 0.5 * np.sum((X.T @ v) ** 2)
    assert -1e-12 * primal <= primal - dual <= 1.001e-6 * primal
