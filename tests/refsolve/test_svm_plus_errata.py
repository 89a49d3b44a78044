"""SVM+ where the paper needs a correction, and the identities that hold at its optimum."""

from math import fsum

import _privileged as naive
import numpy as np
import pytest
from _privileged import draw
from sklearn.svm import SVC

import refsolve
from refsolve import models
from refsolve.errors import InfeasibleError

PLUS = models.svm_plus_squared_hinge


def _solve(problem, **given):
    found = refsolve.solve(problem, **given).raise_if_uncertain()
    return found.certificate


def test_x2_the_hinge_without_the_sign_has_n_multipliers_too():
    X, y, Z = draw(10, 2, 2, 0)
    proof = _solve("svm_plus_hinge.dual", X=X, y=y, Z=Z, C=0.5, lam=1.0, nonneg_slack=False)
    assert not proof.beta.any()
    for sign in (-1, 1):  # each class has half, so that P is bounded whatever X and Z are
        assert abs(proof.alpha[y == sign].sum() - 0.5 * 10 / 2) < 1e-12
    n_variables = naive.dual(False, X @ X.T, y, Z @ Z.T, 0.5, 1.0, proof.alpha)
    np.testing.assert_allclose(n_variables, proof.primal, rtol=1e-7)
    pair = {"X": 1e3 * X[:2], "y": y[:2], "Z": Z[:2], "C": 1.0, "lam": 1.0}
    far = _solve("svm_plus_hinge.primal", **pair, nonneg_slack=False)
    assert far.primal < 0  # slacks below 0 are paid back


@pytest.mark.parametrize("object_name", ["svm_plus_squared_hinge", "svm_plus_hinge"])
@pytest.mark.parametrize("operation", ["primal", "dual"])
def test_x3_signed_correcting_functions_can_be_infeasible(object_name, operation):
    given = {"X": [[0.0], [0.0]], "y": [1, -1], "Z": [[0.0], [0.0]], "C": 1.0, "lam": 1.0}
    with pytest.raises(InfeasibleError, match="free_slack") as caught:
        refsolve.solve(f"{object_name}.{operation}", **given, label_signed=True)
    alpha, beta = caught.value.farkas
    assert alpha.sum() == pytest.approx(1)
    assert abs(alpha @ [1, -1]) < 1e-12
    assert abs((alpha + beta) @ [1, -1]) < 1e-9
    # feasible with slacks of their own, and without the sign
    _solve(f"{object_name}.{operation}", **given, label_signed=True, free_slack=0.5)
    _solve(f"{object_name}.{operation}", **given)


def test_x3_the_kernel_of_signed_correcting_functions():
    X, y, Z = draw(9, 2, 2, 1)
    Z[:, 0] = y * (1 + abs(Z[:, 0]))
    given = {"X": X, "y": y, "Z": Z, "C": 0.7, "lam": 0.8}
    proof = _solve("svm_plus_squared_hinge.dual", **given, label_signed=True)
    K = X @ X.T + naive.printed_kernel(Z @ Z.T, 0.7, 0.8)  # K + Q, both with yy'
    u = proof.alpha * y
    np.testing.assert_allclose(proof.alpha.sum() - u @ K @ u / 2, proof.primal, rtol=1e-9)


@pytest.mark.parametrize("object_name", ["svm_plus_squared_hinge", "svm_plus_hinge"])
def test_x4_collapse_and_its_cure(object_name):
    X, y = np.arange(4.0)[:, None], np.array([-1, 1, -1, 1])
    given = {"X": X, "y": y, "Z": np.zeros((4, 1)), "C": 1.0, "lam": 1.0}
    for operation in ("primal", "dual"):
        proof = _solve(f"{object_name}.{operation}", **given)
        assert proof.collapsed
        found = [proof.model.w[0], proof.model.b, proof.model.rho]
        np.testing.assert_allclose(found, [0, 0, 1], atol=1e-5)
        np.testing.assert_allclose(proof.primal, 2.5 if "squared" in object_name else 4.0)
        cured = _solve(f"{object_name}.{operation}", **given, free_slack=1.0)
        assert not cured.collapsed
        assert abs(cured.model.w[0]) > 0.1
    svm = _solve("svm.primal", X=X, y=y, C=1.0)
    np.testing.assert_allclose(svm.w[0], 2 / 3, atol=1e-6)
    peer = SVC(C=1.0, kernel="linear", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(peer.coef_[0, 0], 2 / 3, atol=1e-5)


def test_x4_a_small_w_is_no_collapse():
    X, y, Z = draw(10, 2, 2, 5)
    proof = _solve("svm_plus_squared_hinge.primal", X=X, y=y, Z=Z, C=1e-12, lam=1e-12)
    assert np.linalg.norm(proof.model.w) < 1e-10  # w = 0 is nearly as good, but the classes differ
    assert not proof.collapsed
    # hulls that are close beside the spread of the data, but w explains what slacks cannot
    X = np.array([[1.0, 1e5], [-1.0, 1e5], [1.0, -1e5], [-1.0, -1e5]])
    given = {"X": X, "y": [1, -1, 1, -1], "Z": np.zeros((4, 1)), "C": 1.0, "lam": 1.0}
    proof = _solve("svm_plus_squared_hinge.primal", **given)
    assert abs(proof.model.w[0]) > 0.5
    assert not proof.collapsed


def test_x5_the_bound_that_a_box_must_not_undercut():
    for seed in range(5):
        X, y, Z = draw(12, 2, 2, seed)
        C, lam = 0.5, 0.4
        proof = _solve("svm_plus_squared_hinge.dual", X=X, y=y, Z=Z, C=C, lam=lam)
        bound = (12 * C + lam) / 2
        np.testing.assert_allclose(proof.alpha.sum(), 2 * proof.primal, rtol=1e-7)
        assert fsum(proof.alpha[y > 0]) <= bound
        assert proof.alpha.max() > C  # so C is none
    small = np.minimum(proof.alpha, C)
    assert PLUS.certificate(X, y, Z, C=C, lam=lam, alpha=small).relative_gap > 1e-3


def test_x6_the_one_in_the_correcting_kernel():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    alpha = np.array([1.0, 2.0, 1.0])  # <alpha,y> = 0, X'(alpha y) = 0
    without = np.zeros((3, 3))  # (5) with Kt = ZZ' = 0
    for t in (1.0, 10.0, 100.0):
        u = t * alpha * y
        assert t * alpha.sum() - u @ (X @ X.T + without) @ u / 2 == 4 * t  # unbounded
    proof = _solve("svm_plus_squared_hinge.primal", X=X, y=y, Z=np.zeros((3, 1)), C=1.0, lam=1.0)
    np.testing.assert_allclose(PLUS.deformed_kernel(Z=np.zeros((3, 1)), C=1.0, lam=1.0), 0.25)
    assert proof.primal == pytest.approx(2.0)  # rho = 1


@pytest.mark.parametrize("seed", range(6))
def test_x7_identities_at_the_optimum(seed):
    X, y, Z = draw(14, 2, 3, seed)
    C, lam = 1.3, 0.6
    proof = _solve("svm_plus_squared_hinge.dual", X=X, y=y, Z=Z, C=C, lam=lam)
    alpha, model = proof.alpha, proof.model
    Q = PLUS.deformed_kernel(Z=Z, C=C, lam=lam)
    np.testing.assert_allclose(Q, naive.printed_kernel(Z @ Z.T, C, lam), atol=1e-12)
    np.testing.assert_allclose(Q @ alpha, model.xi, atol=1e-6)
    np.testing.assert_allclose(alpha.sum() / 2, proof.primal, rtol=1e-7)
    vt = np.column_stack([Z, np.ones(14)]).T @ (alpha - C * model.xi) / lam
    np.testing.assert_allclose(vt, [*model.v, model.rho], atol=1e-5)
    support = alpha > 1e-4 * alpha.max()
    biases = (y * (1 - Q @ alpha) - X @ (X.T @ (alpha * y)))[support]
    np.testing.assert_allclose(biases, model.b, atol=1e-5)


def test_x8_a_vanishing_weight_is_not_removal():
    X, y, Z = draw(7, 2, 2, 9)
    X, y, Z = np.vstack([X, [[-20, 0]]]), np.append(y, 1.0), np.vstack([Z, [[0, 0]]])  # an outlier
    values = []
    for weight in (1e-9, 0.0):
        weights = np.append(np.ones(7), weight)
        given = {"X": X, "y": y, "Z": Z, "C": 1.0, "lam": 1.0, "sample_weight": weights}
        values.append(_solve("svm_plus_squared_hinge.primal", **given).primal)
    without = _solve("svm_plus_squared_hinge.primal", X=X[:7], y=y[:7], Z=Z[:7], C=1.0, lam=1.0)
    np.testing.assert_allclose(values[1], without.primal, rtol=1e-9)
    assert values[0] > 1.01 * values[1]


def test_the_certificate_holds_where_the_printed_kernel_does_not():
    X, y, Z = draw(10, 2, 2, 3)
    proof = _solve("svm_plus_squared_hinge.dual", X=X, y=y, Z=Z, C=1e6, lam=1e-4)
    assert PLUS.certificate(X, y, Z, C=1e6, lam=1e-4, alpha=proof.alpha).relative_gap < 1e-8
    printed = naive.printed_kernel(Z @ Z.T, 1e6, 1e-4) @ proof.alpha
    assert abs(printed - proof.model.xi).max() > 1e2 * abs(proof.model.xi).max()


def test_own_slacks_lead_back_to_the_svm():
    X, y, Z = draw(12, 2, 2, 2)
    svm = _solve("svm.primal", X=X, y=y, C=1.5, loss="squared_hinge")
    proof = _solve("svm_plus_squared_hinge.primal", X=X, y=y, Z=Z, C=1.5, lam=1.0, free_slack=1e7)
    np.testing.assert_allclose(proof.primal, svm.primal, rtol=1e-4)
    np.testing.assert_allclose(proof.model.w, svm.w, atol=1e-3)
    svm = _solve("svm.primal", X=X, y=y, C=1.5)
    proof = _solve("svm_plus_hinge.primal", X=X, y=y, Z=Z, C=1.5, lam=1.0, free_slack=1e7)
    np.testing.assert_allclose(proof.primal, svm.primal, rtol=1e-4)
