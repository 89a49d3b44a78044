"""SVM-2K from its formulas: certified on features and kernels of both views, each part beside a naive twin."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import privileged
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from fast.models import svm, svm_2k

PRICES = {"CA": 0.5, "CB": 2.0, "D": 0.7, "eps": 0.1}


def problem(seed=0, n=60, d=4):
    X, y, Z = privileged(seed, n, d)
    return X, np.where(y > 0, 1.0, -1.0), (Z - Z.mean(axis=0)) / Z.std(axis=0)


def check(found, K, Kz, y, weight, tol, CA, CB, D, eps):
    """P and D of a trained model by the formulas; the gap follows, and multipliers are feasible."""
    alpha, bounds = found.alpha, np.outer([CA, CB, D], weight)
    assert (alpha[:2] >= 0).all()
    assert (abs(alpha) <= bounds).all()
    g = alpha[0] * y - alpha[2], alpha[1] * y + alpha[2]
    assert np.abs(np.sum(g, axis=1)).max() <= 1e-13 * abs(alpha).sum()
    lower = (alpha[:2].sum(axis=0) - eps * abs(alpha[2])).sum()
    lower -= (g[0] @ K @ g[0] + g[1] @ Kz @ g[1]) / 2
    f, h = K @ found.coef + found.b, Kz @ found.correction_coef + found.rho
    P = (found.coef @ K @ found.coef + found.correction_coef @ Kz @ found.correction_coef) / 2
    P += (bounds * np.maximum([1 - y * f, 1 - y * h, abs(f - h) - eps], 0)).sum()
    assert found.primal == pytest.approx(P, rel=1e-9)
    assert found.dual == pytest.approx(lower, rel=1e-9)
    assert -1e-10 * P <= P - lower <= tol * P * (1 + 1e-9)
    assert found.gap == found.history[-1]["gap"] <= tol


KERNELS = {"features": None, "linear": linear_kernel, "rbf": rbf_kernel}


@pytest.mark.parametrize("kernel_z", sorted(KERNELS))
@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("more", [{}, {"D": 0.0}, {"D": 100.0, "eps": 0.0}, {"CB": 1e4}])
def test_views_of_any_kind_are_certified(kernel, kernel_z, more):
    X, y, Z = problem(1)
    weight = np.arange(60) % 3.0
    given, grams, prices = {"X": None, "Z": None}, {}, PRICES | more
    for rows, gram, value, name in (("X", "K", X, kernel), ("Z", "Kz", Z, kernel_z)):
        make = KERNELS[name]
        given[gram if make else rows] = make(value) if make else value
        grams[gram] = make(value) if make else value @ value.T
    found = svm_2k.train(**given, y=y, **prices, sample_weight=weight, tol=1e-8)
    for form, gram, w in (("X", "K", found.w), ("Z", "Kz", found.v)):
        assert (w is None) == (gram in given)
        if w is not None:
            coef = found.coef if form == "X" else found.correction_coef
            np.testing.assert_allclose(w, given[form].T @ coef, atol=1e-9 * abs(coef).sum())
    check(found, *grams.values(), y, weight, 1e-8, **prices)
    assert not found.alpha[:, weight == 0].any()


@pytest.mark.parametrize("form", [np.float32, sp.csr_array])
@pytest.mark.parametrize("d", [4, 90])
def test_forms_of_features_and_a_common_offset(form, d):
    X, y, Z = problem(2, d=d)
    X, Z = (np.float32(v).astype(float) for v in (X + 3.0, Z))
    dense = svm_2k.train(X, y, Z, **PRICES, tol=1e-9)
    other = svm_2k.train(form(X), y, form(Z), **PRICES, tol=1e-9)
    for found in (dense, other):
        check(found, X @ X.T, Z @ Z.T, y, np.ones(60), 1e-9, **PRICES)
    np.testing.assert_allclose(other.w, dense.w, atol=1e-4)


def test_without_disagreement_there_are_two_svms():
    X, y, Z = problem(3)
    found = svm_2k.train(X, y, Z, 0.5, 2.0, 0.0, tol=1e-10)
    alone = [svm.train(rows, y, C, tol=1e-10) for rows, C in ((X, 0.5), (Z, 2.0))]
    assert found.primal == pytest.approx(sum(each.primal for each in alone), rel=1e-9)
    np.testing.assert_allclose(found.w, alone[0].w, atol=1e-6)
    np.testing.assert_allclose(found.v, alone[1].w, atol=1e-6)
    assert not found.alpha[2].any()


def test_the_views_are_equals():
    X, y, Z = problem(4)
    found = svm_2k.train(X, y, Z, 0.5, 2.0, 1.0, eps=0.1, tol=1e-10)
    other = svm_2k.train(Z, y, X, 2.0, 0.5, 1.0, eps=0.1, tol=1e-10)
    assert other.primal == pytest.approx(found.primal, rel=1e-9)
    np.testing.assert_allclose(other.v, found.w, atol=1e-6)


def test_offsets_of_which_one_is_hardly_felt():
    """Every multiplier of the view B but one is at its bound: its equation has 1e-15 of A's weight."""
    Z = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
    X, y = np.array([[0.0], [1.0], [0.0]]), np.array([1.0, -1.0, -1.0])
    assert svm_2k.train(X, y, Z, 1.0, 16.0, 1.0, tol=1e-11).gap <= 1e-11


def test_a_report_stops_and_the_best_is_kept():
    X, y, Z = problem(6)
    found = svm_2k.train(X, y, Z, **PRICES, tol=1e-12, report=lambda state: state.n_iter == 3)
    assert (found.n_iter, found.stopped, found.interrupted) == (3, True, False)
    check(found, X @ X.T, Z @ Z.T, y, np.ones(60), found.gap, **PRICES)
