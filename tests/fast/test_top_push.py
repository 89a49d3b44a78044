"""TopPush: certified by the formulas, equal to its authors' recipe and to the oracle, and exact in its parts."""

import _problems
import numpy as np
import pytest
import scipy.sparse as sp
from _certified import check_certificate
from _naive_top_push import check_result, mapped, primal

from fast import TopPush
from fast.errors import InvalidParameterError
from fast.models import top_push
from fast.solvers import toppush_newton
from verification.benchmarks.top_push import nesterov


def drawn(rng, kind):
    n, d = int(rng.integers(2, 40)), int(rng.integers(1, 12))
    y = np.zeros(n, bool)
    y[rng.permutation(n)[: int(rng.integers(1, n))]] = True
    X = rng.standard_normal((n, d))
    if kind == "ties":
        X = np.round(X)
    if kind == "zeros":
        X[rng.random(n) < 0.5] = 0.0
    if kind == "copies":
        X = X[rng.integers(0, max(1, n // 3), n)]
    if kind == "separable":
        X[y] += 4.0
    unit = 10.0 ** rng.uniform(-3, 3)
    return X * unit, y, 10.0 ** rng.uniform(-3, 3) / unit**2


@pytest.mark.parametrize("kind", ["random", "ties", "zeros", "copies", "separable"])
def test_the_gap_is_certified_whatever_the_data(rng, kind):
    for _ in range(60):
        X, y, C = drawn(rng, kind)
        found = top_push.train(X, y, C, tol=1e-8)
        assert found.gap <= 1e-8
        assert found.n_iter <= 40
        check_result(found, X, y, C)


def test_rows_that_are_nearly_one_point_far_from_zero_end_with_an_honest_gap():
    """No positive is left inside the loss in one step: t has no curvature of its own there."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        n, d = int(rng.integers(4, 60)), int(rng.integers(1, 120))
        X = rng.standard_normal((n, d)) + 10.0 ** rng.uniform(3, 9)
        y = rng.random(n) < 0.4
        y[:2] = True, False
        found = top_push.train(X, y, 10.0 ** rng.uniform(-2, 3), tol=1e-10, max_iter=50)
        assert 0.0 <= found.gap <= 1.0


def test_the_recipe_finds_the_same_optimum(rng):
    for C in (0.05, 1.0, 20.0):
        X, y = _problems.relevant(3, n=80, d=4, shift=6.0)
        found = top_push.train(X, y, C, tol=1e-9)
        _, P, D = nesterov(X[y], X[~y], C, 1e-7, 200_000)
        assert D - 1e-9 * P <= found.primal <= P * (1 + 1e-9)
        assert P - D <= 1.1e-7 * P


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("C", [0.05, 1.0, 50.0])
def test_classes_are_ranked_as_by_the_rows_that_are_not_built(form, C):
    for n, m, d in ((90, 4, 3), (24, 3, 20)):
        X, y = _problems.classes(5, n=n, m=m, d=d)
        rows, own = mapped(X, y, m)
        model = TopPush(C=C, tol=1e-8, warm_start=True).fit(form(X), y)
        check_certificate(model, X, y)
        naive = top_push.train(rows, own, C, tol=1e-10)
        assert model.primal_objective_ == pytest.approx(naive.primal, rel=2e-8)
        np.testing.assert_allclose(model.coef_.ravel(), naive.w, atol=1e-3 * abs(naive.w).max())
        f = model.decision_function(X)
        np.testing.assert_allclose(f.ravel(), rows @ model.coef_.ravel())
        np.testing.assert_array_equal(model.predict(X), f.argmax(axis=1))
        np.testing.assert_array_equal(model.predict_topk(X, 2), np.argsort(-f, axis=1)[:, :2])
        assert model.score(X, y) == (f.argmax(axis=1) == y).mean()
        with pytest.raises(InvalidParameterError, match="groups"):
            model.score(X, y, groups=y)
        cold = model.n_iter_
        assert model.fit(form(X), y).n_iter_ < cold  # with its multipliers
        assert model.fit(form(X), (y + 1) % m).dual_gap_ <= 1e-8  # with its weights alone


def test_a_step_of_rounding_is_not_taken_far(rng):
    """Where w is the solution dw is noise: going 1e15 times along it ended at a gap of .17."""
    s, r = rng.standard_normal(4), rng.standard_normal(3)
    noise = [1e-17 * rng.standard_normal(n) for n in (4, 3)]
    square = 1e-34
    assert (
        toppush_newton.search(s, noise[0], r, noise[1], square, -1e-15, 1.0)
        == toppush_newton.LONGEST
    )
    for seed in range(40):
        at = np.random.default_rng(seed)
        X, y = at.standard_normal((7, 3)), np.array([0, 1, 0, 1, 1, 0, 1])
        found = top_push.train(X, y, C=0.9, tol=1e-12)
        again = top_push.train(X, y, C=0.9, tol=0.0, start=found)
        assert max(found.gap, again.gap) <= 1e-11


def test_noise_makes_the_weights_collapse():
    """One negative among the positives, and w = 0 is the optimum: P = C P."""
    X, y = _problems.relevant(1, n=400, d=2, shift=0.5)
    model = TopPush(C=0.25).fit(X, y)
    assert model.primal_objective_ == pytest.approx(0.25 * y.sum(), rel=1e-3)
    assert primal(0 * model.coef_[0], X, y, 0.25) == 0.25 * y.sum()
