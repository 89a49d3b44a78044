"""Certificates of SVM+ models against exact rational arithmetic, and of models that are wrong."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from _problems import quietly
from _svm_plus_exact import deformed, dual, exact, feasible, primal
from sklearn.metrics.pairwise import rbf_kernel

from fast import SVMPlusClassifier
from fast.errors import CollapseWarning
from verification import InvalidArgumentError
from verification.certificates import judge_claims, trained
from verification.certificates.plus_model import Problem
from verification.verdicts.verdict import Verdict

LOSSES = ("hinge", "squared_hinge")
CASES = list(itertools.product(LOSSES, (False, True), (0.0, 0.5), (0.01, 1.0, 1e4)))


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


@pytest.mark.parametrize(("loss", "nonneg", "delta", "C"), CASES)
def test_the_certificate_is_that_of_the_formulas(loss, nonneg, delta, C):
    """Of points and multipliers that are near no optimum, and violate all constraints."""
    rng = np.random.default_rng(int(C * 100))
    n, lam = 7, 0.3
    X, Z = rng.standard_normal((n, 2)), rng.standard_normal((n, 3))
    y, weight = np.array([1, 1, -1, 1, -1, -1, 1.0]), rng.uniform(0.3, 2, n)
    alpha, beta = rng.uniform(-0.2, 1, n) * C, rng.uniform(-0.2, 1, n) * C
    w, b, v, rho = rng.standard_normal(2), 0.3, rng.standard_normal(3), -0.2
    problem = Problem(
        y, loss=loss, C=C, lam=lam, X=X, Z=Z, sample_weight=weight, nonneg_slack=nonneg,
        free_slack=delta,
    )  # fmt: skip
    found = problem.certificate(w, b, alpha, v=v, rho=rho, beta=beta)
    kind = {"loss": loss, "weight": weight}
    P = primal(w, b, v, rho, X, y, Z, C, lam, nonneg=nonneg, delta=delta, **kind)
    a, c = feasible(alpha, beta, y, C, nonneg=nonneg, **kind)
    D = dual(a, c, X, y, Z, C, lam, delta=delta, **kind)
    size = float(max(abs(P), abs(D)))
    assert 0 <= float(Fraction(found.primal) - P) <= 1e-15 * size
    assert 0 <= float(Fraction(found.gap) - (P - D)) <= 2e-15 * size
    assert found.error <= 1e-15 * size
    gram = Problem(
        y, loss=loss, C=C, lam=lam, K=X @ X.T, Kz=Z @ Z.T, sample_weight=weight,
        nonneg_slack=nonneg, free_slack=delta,
    )  # fmt: skip
    coef, c_v = np.linalg.pinv(X).T @ w, np.linalg.pinv(Z).T @ v
    other = gram.certificate(coef, b, alpha, v=c_v, rho=rho, beta=beta)
    assert other.primal == pytest.approx(found.primal, rel=1e-12)
    assert other.gap == pytest.approx(found.gap, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_ordinary_svm(loss):
    rng = np.random.default_rng(3)
    X, y, w = rng.standard_normal((6, 2)), np.array([1, -1, 1, -1, -1, 1.0]), np.array([0.4, -1])
    alpha = rng.uniform(-0.2, 3, 6)
    found = Problem(y, loss=loss, C=2.0, X=X).certificate(w, 0.1, alpha)
    xi = np.maximum(1 - exact(y) * (exact(X) @ exact(w) + Fraction(0.1)), Fraction(0))
    squared = loss == "squared_hinge"
    P = sum(exact(w) ** 2) / 2 + 2 * sum(xi * xi / 2 if squared else xi)
    clipped = alpha if squared else np.minimum(alpha, 2.0)
    a, _ = feasible(
        clipped, 0 * alpha, y, 2.0, loss="squared_hinge", weight=np.ones(6), nonneg=False
    )
    u = (a * exact(y)) @ exact(X)
    D = sum(a) - sum(u * u) / 2 - (sum(a * a) / 4 if squared else 0)
    assert found.primal == pytest.approx(float(P), rel=1e-15)
    assert found.gap == pytest.approx(float(P - D), rel=1e-15)


@pytest.mark.parametrize("ratio", [1e-16, 1e-8, 1.0, 1e6, 1e10])
@pytest.mark.parametrize("s", [2, 9])
def test_it_survives_any_ratio_of_C_and_lam(ratio, s):
    """D is right where formula (5) would have no digit left."""
    rng = np.random.default_rng(s)
    X, Z = rng.standard_normal((6, 2)), rng.standard_normal((6, s))
    y = np.array([1, -1, 1, -1, -1, 1.0])
    for kind in ({"X": X, "Z": Z}, {"K": X @ X.T, "Kz": np.round(4 * Z @ Z.T) / 4 + 4 * np.eye(6)}):
        alpha = rng.uniform(0.1, 1, 6)
        found = Problem(y, loss="squared_hinge", C=ratio, lam=1.0, **kind).of_multipliers(alpha)
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
    problem = Problem(2.0 * y - 1, loss="squared_hinge", C=1.0, X=X, Z=Z)
    alpha = abs(fit(X, y, Z, tol=1e-3, standardize_z=False).dual_coef_[0])
    one, many = problem.of_multipliers(alpha), problem.of_multipliers(1e-7 * alpha)
    assert one.relative_gap == pytest.approx(many.relative_gap, rel=1e-9)
    assert problem.of_multipliers(0 * alpha).gap == np.inf


# -- of the estimator -------------------------------------------------------------------------

KERNELS = (("linear", "linear"), ("rbf", "linear"), ("linear", "rbf"))


@pytest.mark.parametrize(("loss", "kernels"), list(itertools.product(LOSSES, KERNELS)))
@pytest.mark.parametrize("classes", [2, 3])
def test_fitted_models(loss, kernels, classes):
    X, y, Z = data(classes=classes)
    weight = np.random.default_rng(1).integers(0, 3, len(y)) * 0.5
    for C, nonneg, delta in itertools.product((0.1, 100.0), (False, True), (0.0, 0.3)):
        model = fit(
            X, y, Z, weight, loss=loss, C=C, kernel=kernels[0], kernel_z=kernels[1],
            nonneg_slack=nonneg, free_slack=delta, tol=1e-6,
        )  # fmt: skip
        found = trained(model, X, y, weight, Z=Z)
        assert len(found.parts) == (1 if classes == 2 else 3)
        assert found.relative_gap <= 1.1e-6
        assert found.error <= 1e-9 * abs(found.primal)
        judgement = judge_claims(model, X, y, weight, Z=Z)
        assert judgement.ok, judgement.message
        assert judgement.gap_tolerance <= 1e-8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_fitted_models_without_privileged_features(loss, kernel):
    X, y, _ = data(classes=3)
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    model = fit(X, y, None, weight, loss=loss, kernel=kernel, C=2.0)
    assert trained(model, X, y, weight).relative_gap <= 1.1e-8
    assert judge_claims(model, X, y, weight).ok


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


@pytest.mark.parametrize("loss", LOSSES)
def test_claims_that_are_too_good(loss):
    X, y, Z = data(classes=3)
    model = fit(X, y, Z, loss=loss, tol=1e-2, kernel="rbf")
    assert judge_claims(model, X, y, Z=Z).ok
    for name, factor in (
        ("dual_gaps_", 0.5),
        ("primal_objective_", 1 - 1e-6),
        ("dual_objective_", 1 + 1e-6),
        ("dual_gap_", 0.9),
    ):
        honest = getattr(model, name)
        setattr(model, name, honest * factor)
        judgement = judge_claims(model, X, y, Z=Z)
        assert judgement.verdict is Verdict.FAIL
        word = "gap" if "gap" in name else name.partition("_")[0]
        assert word in judgement.message
        setattr(model, name, honest)
    model.dual_gaps_ = 10 * model.dual_gaps_  # a weaker claim
    model.dual_gap_ *= 10
    assert judge_claims(model, X, y, Z=Z).ok


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "name", ["coef_", "intercept_", "correction_coef_", "correction_intercept_", "dual_coef_"]
)
def test_attributes_of_another_model(loss, name):
    """One class of three has a part that is not its own; C, lam and weights are not those claimed."""
    X, y, Z = data(classes=3)
    model = fit(X, y, Z, loss=loss, free_slack=0.1, C=3.0)
    values = getattr(model, name).copy()
    values[1] *= np.random.default_rng(0).uniform(0.98, 1.02, values[1].shape)
    setattr(model, name, values)
    judgement = judge_claims(model, X, y, Z=Z)
    assert judgement.verdict is Verdict.FAIL
    assert "problem 1" in judgement.message
    assert "problem 0" not in judgement.message


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "change",
    [{"C": 3.03}, {"lam": 0.99}, {"free_slack": 0.101}, {"loss": None}, {"gamma_z": 0.3},
     {"nonneg_slack": None}],
    ids=str,
)  # fmt: skip
def test_a_model_of_another_problem(loss, change):
    X, y, Z = data()
    model = fit(X, y, Z, loss=loss, free_slack=0.1, C=3.0, kernel_z="rbf")
    other = {"loss": LOSSES[loss == "hinge"], "nonneg_slack": loss != "hinge"}
    model.set_params(**{name: value or other[name] for name, value in change.items()})
    assert judge_claims(model, X, y, Z=Z).verdict is Verdict.FAIL


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_that_were_forgotten(loss):
    X, y, Z = data()
    weight = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    model = fit(X, y, Z, loss=loss, standardize_z=False)
    assert judge_claims(model, X, y, weight, Z=Z).verdict is Verdict.FAIL


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
    with pytest.raises(InvalidArgumentError, match="w of shape"):
        trained(model, X[:, :2], y, Z=Z)
    shifted = fit(X, y, Z)
    shifted.z_scaler_.mean_ = shifted.z_scaler_.mean_ + 1
    with pytest.raises(InvalidArgumentError, match="variance"):
        trained(shifted, X, y, Z=Z)
    good = {"loss": "hinge", "C": 1.0, "X": X, "Z": Z}
    for bad, says in (
        ({"loss": "logistic"}, "loss="),
        ({"C": 0.0}, "C="),
        ({"lam": -1.0}, "lam="),
        ({"free_slack": -1.0}, "free_slack="),
        ({"X": None}, "X, K"),
        ({"sample_weight": -np.ones(len(y))}, "sample_weight"),
        ({"sample_weight": 1.0 * (y == 1)}, "both classes"),
    ):
        with pytest.raises(InvalidArgumentError, match=says):
            Problem(2 * y - 1, **(good | bad))
    with pytest.raises(InvalidArgumentError, match="labels -1 and 1"):
        Problem(y, **good)
