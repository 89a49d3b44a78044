"""The binary SVM: one slack and all labellings, against the sum of hinges."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse
from _draw import certified

import refsolve
from refsolve.models import binary_svm


def _hinges(X, y, C, bias):
    """The usual machine: C/n for each example."""
    n, d = X.shape
    w, b, signs = cp.Variable(d), cp.Variable(), np.where(np.asarray(y) == 1, 1.0, -1.0)
    size = cp.sum_squares(w) + (cp.square(b) if bias is True else 0)
    margins = cp.multiply(signs, X @ w + (b if bias else 0))
    objective = size / 2 + C / n * cp.sum(cp.pos(1 - margins))
    return cp.Problem(cp.Minimize(objective)).solve(solver="CLARABEL")


def _data(rng, n, d=3):
    y = rng.integers(0, 2, size=n)
    y[:2] = 0, 1
    return rng.normal(size=(n, d)), y


@pytest.mark.parametrize("bias", [False, True, "free"])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n", [3, 6, 9, 40])
def test_the_structural_form_has_the_optimum_of_the_hinges(n, C, bias):
    X, y = _data(np.random.default_rng(140 + n), n)
    optimum = _hinges(X, y, C, bias)
    for operation in ("primal", "dual"):
        for labels in ("all", "cutting_plane") if n <= 9 else ("cutting_plane",):
            given = {"X": X, "y": y, "C": C, "bias": bias, "labels": labels}
            found = certified(f"binary_svm.{operation}", **given)
            assert found.value == pytest.approx(optimum, abs=1e-6 * C)
            proof = found.certificate
            assert binary_svm.primal(X, y, w=proof.w, b=proof.b, C=C, bias=bias) == pytest.approx(
                proof.primal, rel=1e-12
            )
            assert binary_svm.dual(X, y, alpha=proof.weights, C=C, bias=bias) == pytest.approx(
                proof.dual, abs=1e-12 * C
            )


def test_the_best_bias_is_a_minimiser():
    rng = np.random.default_rng(153)
    for _ in range(30):
        X, y = _data(rng, int(rng.integers(2, 9)))
        w = rng.normal(size=3)
        proof = binary_svm.certificate(X, y, C=1.0, w=w, bias="free")
        for b in np.where(y == 1, 1, -1) - X @ w:  # the hinges are linear between these
            other = binary_svm.certificate(X, y, C=1.0, w=w, b=b, bias="free")
            assert proof.primal <= other.primal + 1e-12


def test_a_regularised_bias_is_a_column_of_ones():
    X, y = _data(np.random.default_rng(154), 20)
    X, ones = X + 3, np.hstack([X + 3, np.ones((20, 1))])
    for operation in ("primal", "dual"):
        none, column, true, free = (
            refsolve.solve(f"binary_svm.{operation}", X=form, y=y, C=10.0, bias=bias)
            for form, bias in ((X, False), (ones, False), (X, True), (X, "free"))
        )
        assert none.value >= true.value >= free.value + 1e-4
        assert true.value == pytest.approx(column.value, abs=1e-8)
    assert true.certificate.b == pytest.approx(column.dual[-1], abs=1e-6)
    proof = binary_svm.certificate(
        X, y, C=10.0, w=true.dual, b=true.certificate.b, alpha=true.x, bias=True
    )
    assert proof.gap == pytest.approx(true.certificate.gap, abs=1e-12)
    sparse = binary_svm.certificate(
        scipy.sparse.csr_matrix(X), y, C=10.0, w=true.dual, b=true.certificate.b, bias=True
    )
    assert sparse.primal == pytest.approx(proof.primal, rel=1e-14)


def test_duals_outside_their_domain():
    X, y = np.eye(2), [0, 1]
    assert binary_svm.dual(X, y, alpha=[0.5, 0.5], C=1.0) == pytest.approx(0.75)
    assert binary_svm.dual(X, y, alpha=[0.6, 0.5], C=1.0) == -np.inf
    assert binary_svm.dual(X, y, alpha=[-0.1, 0.5], C=1.0) == -np.inf
    assert binary_svm.dual(X, y, alpha=[0.4, 0.5], C=1.0) > 0
    assert binary_svm.dual(X, y, alpha=[0.4, 0.5], C=1.0, bias="free") == -np.inf
    assert binary_svm.dual(X, y, alpha=[0.4, 0.5], C=1.0, bias=True) < 1


def test_one_class_and_sparse_rows():
    one = refsolve.solve("binary_svm.primal", X=[[1.0], [2.0]], y=[1, 1], C=1.0, bias="free")
    assert one.value == pytest.approx(0, abs=1e-9)
    assert one.certificate.b >= 1 - 1e-6
    X, y = _data(np.random.default_rng(155), 8)
    sparse = refsolve.solve("binary_svm.dual", X=scipy.sparse.csr_matrix(X), y=y, C=1.0)
    assert sparse.value == pytest.approx(_hinges(X, y, 1.0, False), abs=1e-7)
