"""The ordinary SVM from its formulas: certified on features and on any kernel matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import relevant
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from fast.models import svm
from fast.solvers import (
    plain_svm,
)

KERNELS = {"linear": linear_kernel, "rbf": rbf_kernel, "poly": polynomial_kernel}


def problem(seed=0, n=70, d=5, **more):
    X, y = relevant(seed, n, d, **more)
    return X + 2.0, np.where(y, 1.0, -1.0)


def check(found, K, y, C, loss, weight, tol):
    """P and D by the formulas, K the kernel matrix; the gap follows, and multipliers are feasible."""
    a, cost, squared = found.alpha, C * weight, loss == "squared_hinge"
    assert (a >= 0).all()
    assert squared or (a <= cost * (1 + 1e-12)).all()
    assert not a[weight == 0].any()
    assert abs(a @ y) <= 1e-12 * a.sum()
    xi = np.maximum(1 - y * (K @ found.coef + found.b), 0)
    P = 0.5 * found.coef @ K @ found.coef + cost @ (0.5 * xi**2 if squared else xi)
    own = a[weight > 0] ** 2 @ (1 / cost[weight > 0]) if squared else 0.0
    D = a.sum() - 0.5 * (a * y) @ K @ (a * y) - 0.5 * own
    assert found.primal == pytest.approx(P, rel=1e-9)
    assert found.dual == pytest.approx(D, rel=1e-9)
    assert -1e-10 * P <= P - D <= tol * P * (1 + 1e-9)
    assert found.gap <= tol
    assert found.history[-1]["gap"] == found.gap


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("loss", svm.LOSSES)
@pytest.mark.parametrize("C", [0.01, 1.0, 1e3])
def test_kernels_are_certified(kernel, loss, C):
    X, y = problem(1)
    K = KERNELS[kernel](X)
    weight = np.arange(70) % 3.0
    found = svm.train_kernel(K, y, C, loss=loss, sample_weight=weight, tol=1e-6)
    assert found.w is None
    check(found, K, y, C, loss, weight, 1e-6)
    if loss == "hinge":
        kept, a = np.flatnonzero(weight), np.zeros(70)
        theirs = SVC(C=C, kernel="precomputed", tol=1e-8)
        theirs.fit(K[np.ix_(kept, kept)], y[kept], sample_weight=weight[kept])
        a[kept[theirs.support_]] = np.abs(theirs.dual_coef_[0])
        D = a.sum() - 0.5 * (a * y) @ K @ (a * y)
        assert pytest.approx(found.dual, rel=1e-4) == D


@pytest.mark.parametrize("loss", svm.LOSSES)
@pytest.mark.parametrize("d", [5, 90])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_features_give_the_model_of_their_kernel(loss, d, form):
    X, y = problem(2, d=d)
    X = np.float32(X).astype(float)
    found = svm.train(form(X), y, 0.5, loss=loss, tol=1e-6)
    check(found, X @ X.T, y, 0.5, loss, np.ones(70), 1e-6)
    np.testing.assert_allclose(found.w, X.T @ found.coef, atol=1e-6)
    other = svm.train_kernel(X @ X.T, y, 0.5, loss=loss, tol=1e-6, definite=True)
    assert other.dual <= found.primal * (1 + 1e-12)
    assert found.dual <= other.primal * (1 + 1e-12)


def test_many_examples_on_a_kernel_matrix():
    X, y = problem(3, n=svm.FEW + 20)
    K = rbf_kernel(X)
    weight = 1.0 * (np.arange(len(y)) > 4)
    found = svm.train_kernel(K, y, 2.0, loss="squared_hinge", sample_weight=weight, tol=1e-4)
    check(found, K, y, 2.0, "squared_hinge", weight, 1e-4)


def test_a_report_stops_and_the_best_is_kept():
    X, y = problem(4)
    found = svm.train(X, y, 1.0, tol=1e-12, report=lambda state: state.n_iter == 3)
    assert (found.n_iter, found.stopped, found.interrupted) == (3, True, False)
    check(found, X @ X.T, y, 1.0, "hinge", np.ones(70), found.gap)


class Counted(np.ndarray):
    """Scores that count how often an offset is added."""

    added = 0

    def __add__(self, other):
        Counted.added += 1
        return np.asarray(self) + other


def test_the_best_offset_of_the_squared_hinge_takes_few_steps(rng):
    for i in range(40):
        n = int(rng.integers(2, 30))
        y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
        y[:2] = -1.0, 1.0
        f, cost = rng.standard_normal(n) * 10.0 ** rng.uniform(-2, 2), rng.uniform(0.5, 2.0, n)
        Counted.added = 0
        b = plain_svm.squared_offset(
            f.view(Counted), y, cost, float(rng.standard_normal() * 10.0 ** (i % 4))
        )
        assert Counted.added <= 12
        loss = np.maximum(1 - y * (f + b), 0.0)
        assert abs(cost @ (y * loss)) <= 1e-12 * cost.sum() * (1 + np.abs(f).max()) * n


def test_the_best_offsets_of_all_examples_on_one_side():
    y, cost = np.ones(3), np.ones(3)
    f = np.array([0.0, 1.0, 5.0])
    b = plain_svm.hinge_offset(f, y, cost)
    assert np.maximum(1 - y * (f + b), 0.0).sum() == 0.0
    b = plain_svm.squared_offset(f, y, cost, -50.0)
    assert np.maximum(1 - y * (f + b), 0.0).sum() == pytest.approx(0.0, abs=1e-12)
