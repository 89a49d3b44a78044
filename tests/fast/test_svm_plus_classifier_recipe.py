"""The paper's recipe: LIBSVM on the deformed kernel finds the model that SVMPlusClassifier finds."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fast import SVMPlusClassifier
from fast.errors import InvalidParameterError
from fast.models.svm_plus_squared_hinge import deformed_problem


def problem(n=60):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 3))
    f = X @ rng.standard_normal(3) + 0.8 * rng.standard_normal(n)
    return X, np.where(f > 0, 1, -1), np.column_stack([np.abs(f), rng.standard_normal(n)])


def libsvm(kernel, y, box):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SVC(C=box, kernel="precomputed", tol=1e-8, max_iter=10**6).fit(kernel, y)


@pytest.mark.parametrize("kernel_z", ["linear", "rbf"])
@pytest.mark.parametrize("delta", [0.0, 0.5])
@pytest.mark.parametrize("weighted", [False, True])
def test_libsvm_agrees(kernel_z, delta, weighted):
    X, y, Z = problem()
    weight = np.linspace(0.5, 2.0, len(y)) if weighted else None
    model = SVMPlusClassifier(
        C=3.0, lam=0.5, kernel_z=kernel_z, gamma_z=0.3, standardize_z=False, free_slack=delta,
        tol=1e-8,
    ).fit(X, y, Z, sample_weight=weight)  # fmt: skip
    given = {"Z": Z} if kernel_z == "linear" else {"Kz": rbf_kernel(Z, gamma=0.3)}
    M, box = deformed_problem(
        X @ X.T, y, 3.0, 0.5, sample_weight=weight, free_slack=delta, **given
    )  # fmt: skip
    found = libsvm(M, y, box)
    alpha = np.abs(found.dual_coef_[0])
    assert alpha.max() < box * (1 - 1e-6)
    np.testing.assert_allclose(found.dual_coef_[0] @ X[found.support_], model.coef_[0], atol=2e-3)
    np.testing.assert_allclose(found.intercept_, model.intercept_, atol=2e-3)
    np.testing.assert_allclose(0.5 * alpha.sum(), model.primal_objective_[0], rtol=1e-3)
    wrong = libsvm(M, y, 3.0)  # C as the box binds here
    assert np.abs(wrong.dual_coef_).max() >= 3.0 * (1 - 1e-9)
    assert 0.5 * np.abs(wrong.dual_coef_).sum() < 0.99 * model.primal_objective_[0]


def test_bad_input_of_the_recipe():
    X, y, Z = problem(8)
    K = X @ X.T
    for arguments, name in (
        ((-K, y, 1.0, 1.0), "K"),
        ((K[:4], y, 1.0, 1.0), "K"),
        ((K, np.ones(8), 1.0, 1.0), "y"),
        ((K, y[:4], 1.0, 1.0), "y"),
        ((K, y, 0.0, 1.0), "C"),
        ((K, y, 1.0, -1.0), "lam"),
    ):
        with pytest.raises(InvalidParameterError) as caught:
            deformed_problem(*arguments, Z=Z)
        assert caught.value.argument == name
    with pytest.raises(InvalidParameterError, match="neither"):
        deformed_problem(K, y, 1.0, 1.0)
    with pytest.raises(InvalidParameterError, match=r"^sample_weight: 0"):
        deformed_problem(K, y, 1.0, 1.0, Z=Z, sample_weight=np.arange(8.0))
