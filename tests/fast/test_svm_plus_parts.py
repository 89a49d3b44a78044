"""What the trainers of SVM+ are made of, each part against its formula with n x n matrices."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from fast.errors import InvalidParameterError
from fast.svm_plus import correction as corrections
from fast.svm_plus import deformed_kernel as deformed
from fast.svm_plus import factored
from fast.svm_plus.correction import Correction, different_rows
from fast.svm_plus.formulas import Examples, HingeExamples, SquaredExamples

LAM = 0.7


# ---- the correcting space -------------------------------------------------------------------
def printed(Kt, cost):
    """(lam I + Kt C)^-1 Kt."""
    return np.linalg.solve(LAM * np.eye(len(Kt)) + Kt * cost, Kt)


def spaces(rng):
    """Z or Kz as they are given, whether it is Z, and ZZ' in full."""
    few, wide = rng.standard_normal((10, 3)), rng.standard_normal((8, 12))
    equal = rng.standard_normal((4, 5))[[0, 1, 1, 2, 3, 0, 0, 1, 2, 2, 3]]
    gauss = np.exp(-((few[:, None] - few) ** 2).sum(axis=2))
    return [
        (few, True, few @ few.T),
        (few.astype(np.float32), True, None),
        (sp.csr_array(few), True, few @ few.T),
        (wide, True, wide @ wide.T),
        (sp.csr_array(wide), True, wide @ wide.T),
        (equal, True, equal @ equal.T),
        (np.repeat(few[:2, :1], 5, axis=0), True, None),
        (gauss, False, gauss),
        (few @ few.T, False, few @ few.T),
    ]


@pytest.mark.parametrize("which", range(9))
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_the_correcting_space_by_its_formulas(which, delta, rng):
    matrix, linear, K = spaces(rng)[which]
    if K is None:
        K = matrix.astype(float) @ matrix.astype(float).T
    n = len(K)
    cost = rng.uniform(0.2, 3.0, n)
    own, share = K + delta * np.eye(n), cost / cost.sum()
    Q = printed(own + 1.0, cost)
    space = Correction(matrix, linear, cost, LAM, delta)
    x = rng.standard_normal(n)
    np.testing.assert_allclose(space.deformed_product(x), Q @ x, atol=1e-11)
    np.testing.assert_allclose(space.Q, Q, atol=1e-11)
    taken = Correction(matrix, linear, cost, LAM, delta)
    taken.take(Q)
    np.testing.assert_allclose(taken.deformed_product(x), Q @ x, atol=1e-11)
    away = np.eye(n) - share
    centred = (away @ K @ away.T + delta * np.eye(n)) / LAM
    np.testing.assert_allclose(space.centred, centred, atol=1e-12)
    np.testing.assert_allclose(space.product(x), K @ x, atol=1e-12)
    rest = x - x.mean()
    square = float(rest @ (own / LAM) @ rest)
    assert space.centred_square(rest) == pytest.approx(square, rel=1e-9, abs=1e-12)
    g, mean, v2 = space.centred_function(rest)
    np.testing.assert_allclose(g, K @ rest - share @ K @ rest, atol=1e-12)
    assert mean == pytest.approx(share @ K @ rest, rel=1e-9, abs=1e-12)
    assert v2 == pytest.approx(rest @ K @ rest, rel=1e-9, abs=1e-12)
    if linear:
        Z = matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, float)
        np.testing.assert_allclose(space.back([x, rest]), [Z.T @ x, Z.T @ rest], atol=1e-12)
    X, B = factored.factor_of(space, n)
    np.testing.assert_allclose(X @ X.T, K, atol=1e-12)
    np.testing.assert_allclose(B.T @ X, np.eye(X.shape[1]), atol=1e-9)


def test_a_kernel_of_nothing_has_one_empty_factor():
    for K in (np.zeros((3, 3)), np.full((3, 3), -0.0)):
        X, B = factored.factor_of_matrix(K)
        assert X.shape == B.shape == (3, 1)
        assert not X.any()
        assert not B.any()


@pytest.mark.parametrize("wrong", ["scaled", "other cost", "shifted", "nan"])
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_a_deformed_kernel_that_does_not_belong_is_refused(wrong, delta, rng):
    Z, cost = rng.standard_normal((9, 2)), rng.uniform(0.5, 2.0, 9)
    Kt = Z @ Z.T + 1.0 + delta * np.eye(9)
    Q = {
        "scaled": printed(Kt, cost) * (1.0 + 1e-4),
        "other cost": printed(Kt, cost * (1.0 + 1e-4)),
        "shifted": printed(Kt + 1e-4 * np.eye(9), cost),
        "nan": np.full((9, 9), np.nan),
    }[wrong]
    with pytest.raises(InvalidParameterError, match="Q"):
        Correction(Z, True, cost, LAM, delta).take(Q)
    unknown = Correction(None, False, cost, LAM, delta)
    unknown.take(Q)
    assert unknown.Q is Q


def test_rows_that_are_equal_are_few_or_left_alone():
    Z = np.array([[1.0, 0.0], [2.0, 1.0], [1.0, -0.0], [1.0, 0.0]])
    rows, group = different_rows(Z)
    np.testing.assert_array_equal(rows[group], Z)
    assert len(rows) == 2
    for other in (Z[:3], sp.csr_array(Z)):
        kept, none = different_rows(other)
        assert none is None
        assert kept.shape == other.shape


@pytest.mark.parametrize("short", [False, True])
def test_a_rough_kernel_is_only_taken_where_it_is_good_and_pays(short, rng, monkeypatch):
    monkeypatch.setattr(corrections, "WORTH", 20)
    Z = rng.standard_normal((20, 3))
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))

    def rough(K, cost, lam, linear=False, delta=0.0):
        space = Correction(K, linear, cost, lam, delta, short)
        return space, space.rough()

    cost = rng.uniform(5.0, 20.0, 20)
    space, found = rough(K, cost, 1.0, delta=0.3)
    if short:
        assert found is None
        return
    Q, error = found
    exact = np.linalg.solve(
        np.eye(20) + (K + 1.0 + 0.3 * np.eye(20)) * cost, K + 1.0 + 0.3 * np.eye(20)
    )
    assert error == pytest.approx(6e-8 * (1.0 + space.summed.max() * 2.0 * 20), rel=1e-9)
    away = np.abs(Q - exact).max() / np.abs(exact).max()
    assert 1e-10 < away <= error
    x = rng.standard_normal(20)
    np.testing.assert_allclose(space.deformed_product(x), exact @ x, atol=1e-10)
    np.testing.assert_allclose(space.Q, exact, atol=1e-10)
    assert space.rough() is None  # the exact one is there
    taken = Correction(K, False, cost, 1.0, 0.3, short)
    taken.take(exact)
    assert taken.rough() is None
    assert rough(K[:19, :19], cost[:19], 1.0)[1] is None  # spares no time
    assert rough(K, np.full(20, 0.49), 1.0)[1] is None  # Q' is not near S^-2
    assert rough(K, np.full(20, 0.51), 1.0)[1] is not None
    assert rough(K, np.where(np.arange(20) < 9, 1.0, 1001.0), 1.0)[1] is None
    assert rough(K, np.where(np.arange(20) < 9, 1.0, 999.0), 1.0)[1] is not None
    assert rough(K, np.full(20, 1e5), 1.0)[1] is None  # error 0.24
    assert rough(K, np.full(20, 3e4), 1.0)[1] is not None
    assert rough(Z, cost, 1.0, linear=True)[1] is None


@pytest.mark.parametrize("n", [3, 64, 65, 130])
def test_tiles_cover_a_matrix_once(n, rng):
    K = 0.01 * rng.standard_normal((n, n))
    top, skew, total = deformed.extremes(K)
    assert (top, skew) == (np.abs(K).max(), np.abs(K - K.T).max())
    assert total == pytest.approx(np.abs(K).sum() + np.abs(K.diagonal()).sum(), rel=1e-12)
    for i, j in ((0, n - 1), (n - 1, 0), (n - 1, n - 1), (n // 2, 0)):
        bad = K.copy()
        bad[i, j] = np.nan
        assert np.isnan(deformed.extremes(bad)[2])
        bad[i, j] = -99.0
        assert deformed.extremes(bad)[0] == 99.0
    root, inverse = rng.uniform(0.5, 2.0, n), np.triu(K)
    wanted = np.triu(K) + np.triu(K, 1).T
    deformed.from_inverse(inverse, root, LAM)
    np.testing.assert_allclose(
        inverse, (np.eye(n) - LAM * wanted) / np.outer(root, root), rtol=1e-12
    )


@pytest.mark.parametrize("costs", ["even", "uneven", "zero", "small"])
@pytest.mark.parametrize("short", [False, True])
def test_every_way_from_a_kernel_matrix(costs, short, rng):
    Z = rng.standard_normal((12, 2))
    cost = {
        "even": np.full(12, 2.0), "uneven": np.where(np.arange(12) < 3, 1e-2, 100.0),
        "zero": np.where(np.arange(12) < 3, 0.0, 1.0), "small": np.full(12, 1e-3),
    }[costs]  # fmt: skip
    for K in (Z @ Z.T, np.exp(-((Z[:, None] - Z) ** 2).sum(axis=2))):
        kept = K.copy()
        wanted = printed(K + 1.0, cost)
        np.testing.assert_allclose(deformed.from_kernel(K, cost, LAM, short), wanted, atol=1e-10)
        np.testing.assert_array_equal(K, kept)
        root = np.sqrt(np.maximum(cost, 1e-2))
        B = (K + 1.0) * root * root[:, None] - 1e-14 * np.eye(12)
        found = deformed._from_eigenvalues(B, root, LAM)
        np.testing.assert_allclose(found, printed(K + 1.0, root**2), atol=1e-10)


def test_sparse_features_keep_their_digits(rng):
    """Few columns are not squared; many are, where nothing else would do."""
    Z = rng.standard_normal((12, 2))
    dense, sparse = (
        deformed.from_features(z, np.full(12, 1e10), 1.0) for z in (Z, sp.csr_array(Z))
    )
    np.testing.assert_allclose(sparse, dense, rtol=0, atol=1e-13 * np.abs(dense).max())


def test_an_indefinite_matrix_loses_what_is_negative():
    root = np.array([1.0, 2.0])
    B = np.diag([3.0, -5.0])
    found = deformed._from_eigenvalues(B, root, 0.5)
    np.testing.assert_allclose(found, np.diag([3.0 / 3.5, 0.0]), atol=1e-15)


# ---- formulas -------------------------------------------------------------------------------
def examples(kind, rng, delta=0.0, nonneg=True, n=7):
    data, y = kind(), np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    data.price_examples(y, rng.uniform(0.5, 2.0, n), LAM, delta, nonneg)
    if kind is SquaredExamples:
        data.theta = LAM / (LAM + delta * data.cost)
        data.reduced = data.cost * data.theta
    return data


def test_offsets_multipliers_and_slacks(rng):
    data = examples(Examples, rng, 0.3)
    assert data.kappa == pytest.approx(LAM / 0.3)
    np.testing.assert_allclose(data.own, data.cost * 0.3 / LAM)
    assert not examples(Examples, rng).own.any()
    for _ in range(20):
        a = rng.standard_normal(7)
        least, b = data.lowest(a)
        for shift in (0.0, 1e-3, -1e-3, 0.5, -0.5):
            assert (a + data.y * (b + shift)).min() <= least + 1e-14
        assert (a + data.y * b).min() == pytest.approx(least, abs=1e-14)
        alpha = data.balanced(a)
        sums = alpha[data.positive].sum(), alpha[~data.positive].sum()
        assert sums[0] == pytest.approx(sums[1], rel=1e-14)
        kept = np.maximum(a, 0.0)
        assert min(kept[data.positive].sum(), kept[~data.positive].sum()) == pytest.approx(sums[0])
        assert (alpha <= kept * (1 + 1e-15)).all()
        margins = rng.standard_normal(7)
        free = np.maximum(a, 1.0 - margins)
        np.testing.assert_array_equal(data.slacks(a, margins), np.maximum(free, 0.0))
        data.nonneg = False
        np.testing.assert_array_equal(data.slacks(a, margins), free)
        data.nonneg = True
    assert not data.balanced(np.where(data.positive, 1.0, -1.0)).any()
    assert not data.balanced(np.where(data.positive, 0.0, 1.0)).any()
    uniform = data.uniform(3.0)
    assert uniform[data.positive].sum() == pytest.approx(1.5)
    assert uniform[~data.positive].sum() == pytest.approx(1.5)
    assert len(set(uniform)) == 2


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_best_multiple_of_a_hinge_model(nonneg, rng):
    data = examples(HingeExamples, rng, 0.0, nonneg)
    for m, q, a in itertools.product((-1.0, 0.0, 0.3, 2.0), (0.0, 0.5, 20.0), (0.01, 0.4, 3.0)):
        t, rho = data.multiple(m, q, a)
        if m <= 0.0 or q <= 0.0:
            assert (t, rho) == (0.0, 1.0)
            continue
        grid = np.concatenate([np.linspace(0.0, 2.0 * t, 201), [1.0 / (m + a), data.total * m / q]])
        least = 1.0 - grid * m
        least = np.maximum(least, grid * a) if nonneg else least
        values = 0.5 * grid**2 * q + data.total * least
        found = 0.5 * t**2 * q + data.total * rho
        assert found <= values.min() + 1e-12 * abs(values).max()
        assert rho >= 1.0 - t * m - 1e-15
        assert not nonneg or rho >= t * a - 1e-15


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("delta", [0.0, 0.4])
def test_objectives_by_definition(nonneg, delta, rng):
    for kind in (HingeExamples, SquaredExamples):
        data = examples(kind, rng, delta, nonneg)
        for _ in range(10):
            margins, g, rho = rng.standard_normal(7), rng.standard_normal(7), 0.3
            xi, kappa = g, np.inf if not delta else LAM / delta
            if delta:
                free = g - data.cost / kappa
                free = free if kind is HingeExamples else kappa * g / (data.cost + kappa)
                xi = np.maximum(free, 1.0 - margins)
                xi = np.maximum(xi, 0.0) if nonneg else xi
            own = kappa * float(((xi - g) ** 2).sum()) if delta else 0.0
            if kind is HingeExamples:
                found = data.objective(2.0, 3.0, margins, g)
                wanted = 0.5 * (2.0 + LAM * 3.0 + own) + data.cost @ xi
            else:
                found = data.objective(2.0, 3.0, rho, margins, g)
                wanted = 0.5 * (2.0 + LAM * (3.0 + rho**2) + own + data.cost @ xi**2)
            assert found == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_best_shift_of_a_squared_hinge_model(nonneg, rng):
    """P of (w, v, rho + tau)/(m + own tau), without own slacks and where all have the same ones."""
    w2, v2, rho = 2.0, 1.5, -0.2
    for delta, _ in itertools.product((0.0, 0.5), range(10)):
        data = examples(SquaredExamples, rng, delta, nonneg)
        data.cost[:] = 1.3
        data.theta[:] = LAM / (LAM + delta * 1.3)
        data.reduced = data.cost * data.theta
        own = float(data.theta[0])
        g, m = rng.standard_normal(7), float(rng.uniform(0.2, 2.0))
        tau, square, mixed, total = data.shift(m, w2, v2, rho, g)

        def value(x, g=g, m=m, data=data, own=own):
            P = w2 + data.reduced @ (g + x) ** 2 + LAM * (v2 + (rho + x) ** 2)
            return 0.5 * P / (m + own * x) ** 2

        again = 0.5 * (square + tau * (2.0 * mixed + tau * total)) / (m + own * tau) ** 2
        assert again == pytest.approx(value(tau), rel=1e-12)
        lowest = -float(g.min()) if nonneg else -m / own + 1e-6
        for x in (*np.linspace(tau - 1.0, tau + 1.0, 41), lowest):
            if x >= lowest - 1e-15 and m + own * x > 0.0:
                assert value(tau) <= value(x) * (1 + 1e-12)
        assert not nonneg or (g + tau).min() >= -1e-15
    data = examples(SquaredExamples, rng, 0.5, nonneg)  # different ones: all count as the least
    g, m, own = 0.1 * rng.standard_normal(7), 0.9, float(data.theta.min())
    tau, square, mixed, total = data.shift(m, w2, v2, rho, g)
    if tau > -float(g.min()):
        for x in np.linspace(tau - 0.5, tau + 0.5, 41):
            values = [
                (square + 2.0 * t * mixed + t * t * total) / (m + own * t) ** 2 for t in (tau, x)
            ]
            assert m + own * x <= 0.0 or values[0] <= values[1] * (1 + 1e-12)
