"""Binary SVM, AP-SVM-APPX, latent AP-SVM and ramp: certificates by formulas, and monotone descents."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from _naive_ap_svm import (
    close,
)

from fast.errors import InseparableError, InvalidParameterError
from fast.models import ap_svm_appx, binary_svm
from refsolve.models import ap_svm_appx as appx_truth
from refsolve.models import binary_svm as svm_truth


def problem(seed=0, n=40, d=5, shift=1.0, part=0.4):
    rng = np.random.default_rng(seed)
    y = rng.permutation(n) < part * n
    X = rng.standard_normal((n, d))
    X[y] += shift
    return X, y


# --- binary SVM


def check_binary(result, X, y, C, tol, bias):
    found = svm_truth.certificate(
        X, y, C=C, w=result.w, b=result.b if bias else None, alpha=result.alpha, bias=bias
    )
    assert found.violation <= 1e-15 * C
    assert found.dual <= found.primal
    close(result, found.value, found.dual_value, tol)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
def test_binary_svm(bias, form):
    X, y = problem()
    for C in (1e-3, 1.0, 1e3):
        result = binary_svm.train(form(X), y, C, bias=bias, tol=1e-6)
        check_binary(result, form(X), y, C, 1e-6, bias)
        assert bias or result.b == 0.0


def test_binary_svm_of_one_class_and_of_separable_data():
    X, _ = problem(2)
    for y in (np.ones(40, bool), X[:, 0] > 0.3):
        for C in (1e-6, 1.0, 1e6):
            check_binary(binary_svm.train(X, y, C, tol=1e-6), X, y, C, 1e-6, False)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_binary_svm_of_features_that_a_bias_dwarfs(form):
    """Features of 1e-6 and C = 1e14: where rounding stops the cuts, the interior point goes on."""
    X, y = problem(3, n=14, shift=0.0)
    X = form(1e-6 * X)
    result = binary_svm.train(X, y, 1e14, bias=True, tol=1e-6)
    check_binary(result, X, y, 1e14, 1e-6, True)
    # of sparse rows it is rounding that decides whether the cuts end there
    assert result.solver in ("interior_point", "bundle")[: 1 + (form is sp.csr_array)]
    assert result.n_iter == result.history[-1]["iteration"] < 300
    assert result.history[-1]["gap"] == result.gap < result.history[-2]["gap"]
    stopped = binary_svm.train(X, y, 1e14, bias=True, tol=1e-6, max_iter=5)
    assert stopped.solver == "bundle"
    assert stopped.n_iter == 5


# --- AP-SVM-APPX


def check_appx(result, X, y, C, easy, tol):
    found = appx_truth.certificate(
        X, y, C=C, easy=easy, w=result.w, b=result.b, rankings=result.rankings,
        weights=result.weights, mu=result.mu,
    )  # fmt: skip
    assert found.violation <= 1e-9 * max(1.0, C)
    assert found.dual <= found.primal
    close(result, found.value, found.dual_value, tol)


@pytest.mark.parametrize("easy", ["1111", "1100", "1001", "1000", "0001", "1010", "0000"])
def test_appx_where_a_class_is_missing_on_one_side(easy):
    """No ranking of the difficult: the hard margin SVM; one easy class: no constraint."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [2.0, 1.0], [-3.0, 2.0]])
    y, easy = np.array([True, False, True, False]), np.array([*easy]) == "1"
    result = ap_svm_appx.train(X, y, 5.0, easy, tol=1e-8)
    check_appx(result, X, y, 5.0, easy, 1e-8)
    if easy[0] and easy[1]:  # points at 1 and -1, distance 2
        np.testing.assert_allclose(result.w, [1.0, 0.0], atol=1e-4)
        assert result.primal == pytest.approx(0.5, rel=1e-8)


def test_wide_hard_margin_svm():
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((60, 100)), rng.permutation(60) < 20
    result = ap_svm_appx.train(X, y, 5.0, np.ones(60, bool), tol=1e-6)
    check_appx(result, X, y, 5.0, np.ones(60, bool), 1e-6)


@pytest.mark.parametrize(("n", "d"), [(30, 3), (500, 40), (4, 2)])
def test_inseparable_easy_examples_are_refused_with_a_proof(n, d):
    X, y = problem(7, n=n, d=d, shift=0.3)
    if n == 4:  # a positive is a copy of a negative
        X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]), np.arange(4) < 2
    easy = np.append(np.ones(n, bool), [False, False])
    X, y = np.vstack([X, np.ones((2, d))]), np.append(y, [True, False])
    with pytest.raises(InseparableError, match="easy") as caught:
        ap_svm_appx.train(X, y, 1.0, easy)
    error = caught.value
    assert isinstance(error, InvalidParameterError)
    mu, signs = error.mu, np.where(y, 1.0, -1.0)[easy]
    assert (mu >= 0.0).all()
    assert mu[signs > 0].sum() == pytest.approx(0.5)
    assert mu[signs < 0].sum() == pytest.approx(0.5)
    r = X[easy].T @ (mu * signs)
    assert np.linalg.norm(r) <= 1e-9 * np.abs(X).max() * d
    assert np.linalg.norm(r) == pytest.approx(error.norm, abs=1e-13)
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)


# --- latent AP-SVM
