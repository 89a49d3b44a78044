"""Kernel SVMs by steps on rows of K: certified from the formulas on data nobody tuned for."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import laplacian_kernel, pairwise_kernels, rbf_kernel
from sklearn.svm import SVC

from fast import SVMPlusClassifier, TopKSVC
from fast.errors import InvalidParameterError
from fast.models import svm
from fast.solvers import kernel_smo, plain_svm
from fast.solvers.box_interior_point import MatrixGram
from fast.solvers.kernel_rows import KernelRows, RowGram
from fast.solvers.rounding import Gram

N = svm.FEW + 50


def problem(seed, n=N, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    return X, y, rng.exponential(1.0, n)


def between(kernel, **params):
    return lambda X, Y: pairwise_kernels(X, Y, metric=kernel, **params)


def bounds(K, y, cost, a, coef, offset, squared=False, gamma=0.0):
    """P at the model and D at the multipliers, by the formulas."""
    z = np.maximum(1.0 - y * (K @ coef + offset), 0.0)
    own = np.divide(a * a, cost, out=np.zeros(len(y)), where=cost > 0.0)
    if squared:
        loss = 0.5 * z * z
    elif gamma > 0.0:
        loss = np.where(z < gamma, 0.5 * z * z / gamma, z - 0.5 * gamma)
    else:
        loss = z
    ridge = 1.0 if squared else gamma
    P = 0.5 * coef @ K @ coef + cost @ loss
    return P, a.sum() - 0.5 * (a * y) @ K @ (a * y) - 0.5 * ridge * own.sum()


REGIMES = {
    "tiny gamma": {"gamma": 1e-6, "C": 100.0},
    "small C": {"gamma": 0.1, "C": 1e-3},
    "large C": {"gamma": 1.0, "C": 1e5},
    "huge gamma": {"gamma": 1e3, "C": 10.0},
    "repeated rows": {"gamma": 0.5, "C": 10.0, "repeat": 4},
    "imbalance": {"gamma": 0.5, "C": 1.0, "rare": 3},
    "unscaled": {"gamma": 1e-7, "C": 10.0, "spread": 1e3},
}


@pytest.mark.parametrize("name", REGIMES)
@pytest.mark.parametrize("kind", ["hinge", "squared", "no offset", "smooth"])
def test_gaps_follow_from_the_formulas(name, kind):
    given = {"repeat": 1, "rare": 0, "spread": 1.0, **REGIMES[name]}
    X, y, weight = problem(1)
    X = np.repeat(X[:: given["repeat"]], given["repeat"], axis=0) * given["spread"] + 5.0
    if given["rare"]:
        y[:] = -1.0
        y[: given["rare"]] = 1.0
    cost, gamma = given["C"] * weight, 0.3 if kind == "smooth" else 0.0
    squared, free = kind == "squared", kind in ("hinge", "squared")
    rows = KernelRows(X, between("rbf", gamma=given["gamma"]), given["gamma"])
    found = kernel_smo.train(rows, y, cost, squared, gamma, free, tol=1e-6)
    K = rbf_kernel(X - X.mean(axis=0), gamma=given["gamma"])
    assert found.gap <= 1e-6
    assert (found.alpha >= 0.0).all()
    assert squared or (found.alpha <= cost).all()
    assert not free or abs(found.alpha @ y) <= 1e-12 * found.alpha.sum()
    assert free or found.b == 0.0
    P, D = bounds(K, y, cost, found.alpha, found.coef, found.b, squared, gamma)
    slip = 1e-12 * np.abs(found.coef).sum() ** 2  # K as computed here and there
    assert found.primal == pytest.approx(P, rel=1e-9, abs=slip)
    assert found.dual == pytest.approx(D, rel=1e-9, abs=slip)
    other = plain_svm.train(MatrixGram(K), y, cost, squared, tol=1e-8) if free else None
    if other is not None:
        assert other.dual <= found.primal * (1.0 + 1e-9)
        assert found.dual <= other.primal * (1.0 + 1e-9)


@pytest.mark.parametrize("memory", [1, 20 * 4 * N, 10**9])
@pytest.mark.parametrize("free", [True, False])
def test_few_kept_rows_give_the_same_optimum(memory, free):
    X, y, weight = problem(2)
    rows = KernelRows(X, between("rbf", gamma=0.5), 0.5)
    found = kernel_smo.train(rows, y, 3.0 * weight, free=free, tol=1e-7, memory=memory)
    assert found.gap <= 1e-7
    assert len(rows.held.values) == max(min(memory // (4 * N), N), 4) + (not free)
    other = kernel_smo.train(MatrixGram(rbf_kernel(X, gamma=0.5)), y, 3.0 * weight, free=free)
    assert other.dual <= found.primal * (1.0 + 1e-9)
    assert found.dual <= other.primal * (1.0 + 1e-9)


def test_rows_are_not_computed_all_at_once():
    X, y, _ = problem(3, n=3000)

    class Watched(KernelRows):
        largest = 0

        def rows(self, which, dtype, columns=None, out=None):
            found = super().rows(which, dtype, columns, out)
            self.largest = max(self.largest, found.size)
            return found

    rows = Watched(X, between("rbf", gamma=0.5), 0.5)
    found = kernel_smo.train(rows, y, np.ones(3000), tol=1e-3, memory=200 * 4 * 3000)
    assert found.gap <= 1e-3
    assert rows.held.values.shape == (200, 3000)
    assert rows.largest <= 200 * 3000


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_rows_are_those_of_the_matrix(kernel, scale):
    X, _, _ = problem(4, n=60)
    params = {"gamma": 0.3}
    K = scale * pairwise_kernels(X, metric=kernel, **params)
    rows = KernelRows(X, between(kernel, **params), 0.3 if kernel == "rbf" else None, 0.0, scale)
    which, columns = np.array([3, 50, 0]), np.array([1, 7, 3, 59])
    np.testing.assert_allclose(rows.rows(which, np.float64), K[which], rtol=1e-13, atol=1e-15)
    part = rows.rows(which, np.float32, columns)
    np.testing.assert_allclose(part, K[np.ix_(which, columns)], rtol=2e-6)
    out = np.empty((3, 60), np.float32)
    assert rows.rows(which, np.float32, out=out) is out
    np.testing.assert_allclose(out, K[which], rtol=2e-6)
    np.testing.assert_allclose(rows.diagonal, K.diagonal())
    np.testing.assert_allclose(rows.whole().K, K, rtol=1e-13, atol=1e-15)
    c = np.random.default_rng(0).standard_normal(60) * (np.arange(60) % 3 > 0)
    for found, right in zip(rows.products(c), (K @ c, np.abs(K) @ np.abs(c)), strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-11, atol=1e-12)


def test_bounds_of_near_vectors_hold_without_a_product():
    X, y, weight = problem(5, n=80)
    rows = KernelRows(X, between("laplacian", gamma=0.3))
    K = laplacian_kernel(X, gamma=0.3).astype(np.longdouble)
    space, whole = RowGram(rows, np.float64), Gram(np.float64(K), np.float64)
    p = np.where(np.arange(80) % 4 > 0, y * weight, 0.0)
    space.values(p)
    rng, size = np.random.default_rng(1), np.abs(p)
    for off in (0.0, 1e-15, 1e-11, 0.1):
        a = p * (1.0 + off * rng.standard_normal(80))
        true = a.astype(np.longdouble) @ K @ a
        for bound in (space.pulled_square(a, size), whole.pulled_square(a, size)):
            assert true <= bound <= true * (1.0 + 1e-9)
        d = (p - a).astype(np.longdouble)
        assert -(d @ K @ d) <= space.negative(p, a, size) <= 1e-9 * float(true)
    a = np.where(np.arange(80) % 4 == 1, 0.0, p)  # with another support
    assert a.astype(np.longdouble) @ K @ a <= space.pulled_square(a, np.abs(a))


KERNELS = {
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly"},
    "function": {"kernel": lambda a, b: float(np.exp(-((a - b) ** 2).sum()))},
    "precomputed": {"kernel": "precomputed"},
}


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_svm_plus_without_z(name, loss, form):
    X, y, weight = problem(6)
    X, weight = np.float32(X).astype(float), weight * (np.arange(N) % 5 > 0)
    if name == "precomputed":
        X = X @ X.T  # of low rank
    if name in ("function", "precomputed") and form is sp.csr_array:
        form = np.asarray
    model = SVMPlusClassifier(loss=loss, C=2.0, tol=1e-5, **KERNELS[name])
    model.fit(form(X), y, sample_weight=weight)
    assert model.solver_ == "smo"
    assert model.dual_gap_ <= 1e-5
    assert not model.dual_coef_[0, weight == 0.0].any()
    if loss == "hinge" and name in ("rbf", "poly") and form is np.asarray:
        kept, gamma = weight > 0.0, model._map.params["gamma"]
        theirs = SVC(C=2.0, gamma=gamma, tol=1e-7, **KERNELS[name])
        theirs.fit(X[kept], y[kept], sample_weight=weight[kept])
        a = np.zeros(N)
        a[np.flatnonzero(kept)[theirs.support_]] = theirs.dual_coef_[0]
        K = pairwise_kernels(
            X, metric=name, gamma=gamma, **{"coef0": 0.0} if name == "poly" else {}
        )
        D = np.abs(a).sum() - 0.5 * a @ K @ a
        assert pytest.approx(model.dual_objective_[0], rel=2e-5) == D


@pytest.mark.parametrize("gamma", [0.0, 0.5])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_two_classes_agree_with_the_linear_trainer(name, gamma, intercept):
    X, y, weight = problem(7)
    X = rbf_kernel(X) if name == "precomputed" else X
    given = {"gamma": gamma, "fit_intercept": intercept, "class_weight": {-1.0: 2.0, 1.0: 0.5}}
    given |= KERNELS[name] | {"tol": 1e-6, "C": 3.0}
    found = TopKSVC(**given).fit(X, y, sample_weight=weight)
    other = TopKSVC(solver="active", **given).fit(X, y, sample_weight=weight)
    assert found.solver_ == "smo" or name == "poly"
    assert max(found.dual_gap_, other.dual_gap_) <= 1e-6
    assert found.dual_objective_ <= other.primal_objective_
    assert other.dual_objective_ <= found.primal_objective_
    spread = np.sqrt(2.0 * 2e-6 * found.primal_objective_ * (1.0 + np.abs(X).max() ** 6))
    difference = found.decision_function(X) - other.decision_function(X)
    assert np.abs(difference).max() <= 4.0 * spread
    again = TopKSVC(**given).fit(X, y, sample_weight=weight)
    assert (again.dual_coef_ != found.dual_coef_).nnz == 0


def test_a_warm_start_begins_at_the_last_dual():
    X, y, _ = problem(8)
    model = TopKSVC(kernel="rbf", warm_start=True, tol=1e-7).fit(X, y)
    before = model.primal_objective_
    model.fit(X, y)
    assert model.n_iter_ == 1
    assert model.primal_objective_ == pytest.approx(before, rel=1e-9)


def test_several_classes_share_the_rows():
    X = problem(9)[0]
    labels = np.digitize(X[:, 2], [-0.5, 0.5])
    model = SVMPlusClassifier(loss="hinge", kernel="rbf", tol=1e-6).fit(X, labels)
    assert model.dual_gap_ <= 1e-6
    for j in range(3):
        one = SVMPlusClassifier(loss="hinge", kernel="rbf", tol=1e-6).fit(X, labels == j)
        assert one.dual_objective_[0] <= model.primal_objective_[j]
        assert model.dual_objective_[j] <= one.primal_objective_[0]


def test_indefinite_kernels_are_refused():
    X, y, _ = problem(10)
    K = X @ X.T - 0.1 * np.eye(N)
    for model in (
        SVMPlusClassifier(loss="hinge", kernel="precomputed"),
        TopKSVC(kernel="precomputed"),
    ):
        with pytest.raises(InvalidParameterError, match="semidefinite"):
            model.fit(K, y)


def test_a_hard_problem_goes_on_to_the_interior_point():
    X, y, _ = problem(11)
    found = svm.train_kernel(X @ X.T, y, 1e5, tol=1e-6, definite=True)
    assert found.solver == "interior_point"
    assert found.gap <= 1e-6
    gaps = [entry["gap"] for entry in found.history]
    assert all(later <= before for before, later in pairwise(gaps))


def test_max_iter_and_reports_stop():
    X, y, _ = problem(12)
    K = rbf_kernel(X)
    found = svm.train_kernel(K, y, 1.0, tol=1e-9, max_iter=1)
    assert (found.n_iter, found.stopped) == (1, False)
    found = svm.train_kernel(K, y, 1.0, tol=1e-9, report=lambda state: state.n_iter == 2)
    assert (found.n_iter, found.stopped) == (2, True)


def test_kept_rows_serve_problems_with_and_without_an_offset():
    X, y, weight = problem(13)
    rows = KernelRows(X, between("rbf", gamma=0.5), 0.5)
    for free in (True, False, True, False):
        found = kernel_smo.train(rows, y, weight, free=free, tol=1e-6)
        fresh = KernelRows(X, between("rbf", gamma=0.5), 0.5)
        again = kernel_smo.train(fresh, y, weight, free=free, tol=1e-6)
        assert found.gap <= 1e-6
        assert max(found.dual, again.dual) <= min(found.primal, again.primal) * (1.0 + 1e-12)
