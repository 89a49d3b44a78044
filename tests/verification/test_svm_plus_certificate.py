"""Certificates of SVM+ models against exact rational arithmetic, and of models that are wrong."""

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import quietly
from _svm_plus_exact import deformed, exact, feasible
from sklearn.metrics.pairwise import rbf_kernel

from fast import SVMPlusClassifier
from fast.errors import CollapseWarning
from verification import InvalidArgumentError
from verification.certificates import judge_claims, trained
from verification.certificates.plus_model import of_multipliers, problem

LOSSES = ("hinge", "squared_hinge")


def data(n=40, d=3, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    f = X[:, 0] + 0.6 * rng.standard_normal(n)
    y = np.digitize(f, np.quantile(f, np.arange(1, classes) / classes))
    return X, y, np.column_stack([10 + 3 * abs(f), rng.standard_normal(n)])


def fit(X, y, Z=None, weight=None, **params):
    model = SVMPlusClassifier(**{"tol": 1e-8} | params)
    return quietly(model, X, y, Z, sample_weight=weight, ignored=(CollapseWarning,))


# -- against Fractions ------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [1e-16, 1e-8, 1.0, 1e6, 1e10])
@pytest.mark.parametrize("s", [2, 9])
def test_it_survives_any_ratio_of_C_and_lam(ratio, s):
    """D is right where formula (5) would have no digit left."""
    rng = np.random.default_rng(s)
    X, Z = rng.standard_normal((6, 2)), rng.standard_normal((6, s))
    y = np.array([1, -1, 1, -1, -1, 1.0])
    for kind in ({"X": X, "Z": Z}, {"K": X @ X.T, "Kz": np.round(4 * Z @ Z.T) / 4 + 4 * np.eye(6)}):
        alpha = rng.uniform(0.1, 1, 6)
        found = of_multipliers(problem(y, loss="squared_hinge", C=ratio, lam=1.0, **kind), alpha)
        Kz = exact(Z) @ exact(Z).T if "Z" in kind else exact(kind["Kz"])
        K = exact(X) @ exact(X).T if "X" in kind else exact(kind["K"])
        H = K * np.outer(y, y).astype(int) + deformed(Kz, ratio, 1.0, np.ones(6))
        a, _ = feasible(alpha, 0 * alpha, y, 1, loss="squared_hinge", weight=0 * y, nonneg=False)
        g = H @ a
        m = (min(g[y > 0]) + min(g[y < 0])) / 2
        if m <= 0:
            assert found.gap == np.inf
            continue
        S, q = sum(a), sum(a * g)
        assert found.dual == pytest.approx(float(S * S / q / 2), rel=1e-9)
        assert found.relative_gap == pytest.approx(float(1 - (S * m / q) ** 2), rel=1e-9)


def test_scale_free():
    X, y, Z = data(12)
    given = problem(2.0 * y - 1, loss="squared_hinge", C=1.0, X=X, Z=Z)
    alpha = abs(fit(X, y, Z, tol=1e-3, standardize_z=False).dual_coef_[0])
    one, many = of_multipliers(given, alpha), of_multipliers(given, 1e-7 * alpha)
    assert one.relative_gap == pytest.approx(many.relative_gap, rel=1e-9)
    nothing = of_multipliers(given, 0 * alpha)
    assert nothing.gap == nothing.relative_gap == np.inf


# -- of the estimator -------------------------------------------------------------------------


def test_sparse_single_precision_and_precomputed():
    X, y, Z = data(60)
    X32, Z32 = (X * (X > 0)).astype(np.float32), Z.astype(np.float32)
    for A, B in ((sp.csr_array(X32), sp.csr_array(Z32)), (X32, Z32)):
        model = fit(A, y, B, loss="squared_hinge")
        assert trained(model, A, y, Z=B).relative_gap <= 1.1e-8
        assert judge_claims(model, A, y, Z=B).ok
    K, Kz = rbf_kernel(X), rbf_kernel(Z)
    for loss in LOSSES:
        model = fit(K, y, Kz, loss=loss, kernel="precomputed", kernel_z="precomputed", tol=1e-6)
        assert trained(model, K, y, Z=Kz).relative_gap <= 1.1e-6
        assert judge_claims(model, K, y, Z=Kz).ok


# -- wrong models -----------------------------------------------------------------------------


class LastClassWins(SVMPlusClassifier):
    """The last class with a positive score is predicted."""

    def predict(self, X):
        f = self.decision_function(X)
        if f.ndim == 1:
            return super().predict(X)
        last = f.shape[1] - 1 - (f[:, ::-1] > 0).argmax(axis=1)
        return self.classes_[np.where((f > 0).any(axis=1), last, f.argmax(axis=1))]


@pytest.mark.parametrize("classes", [2, 4])
def test_the_last_positive_class_must_not_win(classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X @ rng.standard_normal((3, classes))).argmax(axis=1)
    said = judge_claims(LastClassWins(tol=1e-8).fit(X, y), X, y).message
    assert ("largest score" in said) == (classes > 2), said


def test_bad_input_is_named():
    X, y, Z = data()
    model = fit(X, y, Z)
    with pytest.raises(InvalidArgumentError, match="Z of shape"):
        trained(model, X, y, Z=Z[:-1])
    with pytest.raises(InvalidArgumentError, match=r"dual_coef_ of shape"):
        trained(fit(X, y), X[:-1], y[:-1])
    with pytest.raises(InvalidArgumentError, match=r"w = .*shape \(3,\)"):
        trained(model, X[:, :2], y, Z=Z)
    shifted = fit(X, y, Z)
    shifted.z_scaler_.mean_ = shifted.z_scaler_.mean_ + 1
    with pytest.raises(InvalidArgumentError, match="variance"):
        trained(shifted, X, y, Z=Z)
    good = {"loss": "hinge", "C": 1.0, "X": X, "Z": Z}
    for bad, says in (
        ({"loss": "logistic"}, "loss="),
        ({"C": 0.0}, "C = "),
        ({"lam": -1.0}, "lam = "),
        ({"free_slack": -1.0}, "free_slack = "),
        ({"X": None}, "X is missing: .*either X .* or K"),
        ({"X": None, "K": -X @ X.T}, "positive semidefinite"),
        ({"X": None, "K": X}, "square"),
        ({"sample_weight": -np.ones(len(y))}, "sample_weight"),
        ({"sample_weight": 1.0 * (y == 1)}, "both classes"),
    ):
        with pytest.raises(InvalidArgumentError, match=says):
            problem(2 * y - 1, **(good | bad))
    with pytest.raises(InvalidArgumentError, match=r"y = .*0/1, -1/1 or booleans"):
        problem(y + 1, **good)
