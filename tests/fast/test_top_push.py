"""TopPush: certified by the formulas, equal to its authors' recipe and to the oracle, and exact in its parts."""

from itertools import combinations

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


def test_the_recipe_finds_the_same_optimum(rng):
    for C in (0.05, 1.0, 20.0):
        X, y = _problems.relevant(3, n=80, d=4, shift=6.0)
        found = top_push.train(X, y, C, tol=1e-9)
        _, P, D = nesterov(X[y], X[~y], C, 1e-7, 200_000)
        assert D - 1e-9 * P <= found.primal <= P * (1 + 1e-9)
        assert P - D <= 1.1e-7 * P


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("m", [1, 3])
def test_features_and_positives_take_the_same_steps(rng, form, m):
    """More features than positives, and less: both ways to the Hessian, on every form of X."""
    for n, d in ((40, 3), (20, 30)):
        X, y = _problems.relevant(5, n=n, d=d, shift=4.0)
        X = form(X).astype(float)
        own, rows = y[:, None], toppush_newton.dense(X)
        if m > 1:
            rows, flat = mapped(X, np.arange(n) % m, m)
            rows, own = rows.toarray(), flat.reshape(n, m)
        parts = [rows[own.ravel()], rows[~own.ravel()]]
        for C in (0.1, 10.0):
            sides = []
            for kind in (toppush_newton.ByFeatures, toppush_newton.ByPositives):
                blocks = toppush_newton.Blocks(X, own, C)
                blocks.sides = [kind(side.positives, C) for side in blocks.sides]
                sides.append(blocks)
            for number in range(4):  # sets come and go
                inside = rng.random(own.sum()) < 0.8
                inside[0] = True
                if number == 2:  # a class without any
                    inside[1::m] = False
                    inside[0] = True
                J = np.sort(rng.permutation(int((~own).sum()))[:6])
                a, b = (side.step(inside, J, np.ones(6, bool)) for side in sides)
                np.testing.assert_allclose(a.beta, b.beta, rtol=1e-7, atol=1e-9 * a.beta.max())
                np.testing.assert_allclose(a.w, b.w, atol=1e-8 * abs(a.w).max())
                assert a.t == pytest.approx(b.t, abs=1e-8)
                check_step(a._replace(w=a.w.ravel()), parts, inside, J, C)


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


def check_step(step, parts, inside, J, C):
    """The conditions of optimality below J, the hinges of ``inside`` counting on both sides."""
    up, down = parts[0][inside], parts[1][J]
    z = 1.0 + step.t - up @ step.w
    size = 1e-9 * (1.0 + C * abs(z).sum() * abs(up).max())
    np.testing.assert_allclose(step.w - 2.0 * C * z @ up + step.beta @ down, 0.0, atol=size)
    assert abs(2.0 * C * z.sum() - step.beta.sum()) <= size
    over = down @ step.w - step.t
    assert over.max() <= 1e-8
    assert abs(over * step.beta).max() <= 1e-8 * (1.0 + step.beta.max())


def enumerated(M):
    """Minimum of 1/2 b'Mb - <1,b> over b >= 0 by all supports."""
    best = 0.0
    for size in range(1, len(M) + 1):
        for kept in map(list, combinations(range(len(M)), size)):
            b = np.linalg.lstsq(M[np.ix_(kept, kept)], np.ones(size), rcond=None)[0]
            if b.min() >= 0.0 and (M[:, kept] @ b).min() >= 1.0 - 1e-9:
                best = min(best, -0.5 * b.sum())
    return best


@pytest.mark.parametrize("pivots", [toppush_newton.PIVOTS, 1, 0])
def test_block_pivoting_finds_the_minimum_from_any_guess(rng, monkeypatch, pivots):
    """With few pivots left by interior points."""
    monkeypatch.setattr(toppush_newton, "PIVOTS", pivots)
    for _ in range(40):
        m, d = int(rng.integers(1, 8)), int(rng.integers(1, 9))
        V = np.column_stack([rng.standard_normal((m, d)), np.ones(m)])
        M = V @ V.T
        b = toppush_newton.nonnegative(M, rng.random(m) < 0.5)
        assert b.min() >= 0.0
        assert 0.5 * b @ M @ b - b.sum() == pytest.approx(enumerated(M), rel=1e-6)


def test_the_line_search_finds_the_minimum(rng):
    for _ in range(50):
        P, N, C = 6, 5, 10.0 ** rng.uniform(-2, 2)
        s, r = rng.standard_normal(P), rng.standard_normal(N)
        ds, dr = 3.0 * rng.standard_normal(P), 3.0 * rng.standard_normal(N)
        square, cross = rng.uniform(0.1, 3.0), -rng.uniform(0.0, 5.0)

        def value(a, s=s, ds=ds, r=r, dr=dr, square=square, cross=cross, C=C):
            top = (r + a * dr).max()
            hinges = np.maximum(1.0 + top - s - a * ds, 0.0)
            return cross * a + 0.5 * square * a * a + C * hinges @ hinges

        step = toppush_newton.search(s, ds, r, dr, square, cross, C)
        grid = np.linspace(0.0, max(2.0 * step, 1.0), 4001)
        assert value(step) <= min(map(value, grid)) + 1e-9 * abs(value(0.0))


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


def test_a_matrix_that_rounding_made_indefinite_gets_a_ridge():
    H = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]])
    L = toppush_newton.factored(H)
    np.testing.assert_allclose(L @ L.T, H, atol=1e-11)


def test_noise_makes_the_weights_collapse():
    """One negative among the positives, and w = 0 is the optimum: P = C P."""
    X, y = _problems.relevant(1, n=400, d=2, shift=0.5)
    model = TopPush(C=0.25).fit(X, y)
    assert model.primal_objective_ == pytest.approx(0.25 * y.sum(), rel=1e-3)
    assert primal(0 * model.coef_[0], X, y, 0.25) == 0.25 * y.sum()
