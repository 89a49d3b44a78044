"""Easy examples as constraints without a bias: problem (10) as it is printed."""

import numpy as np
import pytest
import scipy.sparse as sp

import refsolve
from fast.errors import InseparableError
from fast.models import ap_svm_appx

SIGNS = np.array([1, 1, -1, -1, -1, 1, -1, -1])


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that a hyperplane through 0 nearly separates, the three or, of one class, two clearest as easy."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=3)
    X = rng.normal(size=(8, 3)) + SIGNS[:, None] * w
    order = np.argsort(-SIGNS * (X @ w))
    easy = np.zeros(8, dtype=bool)
    easy[order[:3] if seed % 2 else order[SIGNS[order] < 0][:2]] = True
    return X, easy


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_the_oracle(seed, layout):
    X, easy = drawn(seed)
    given = {"X": X, "y": SIGNS > 0, "C": 2.0, "easy": easy, "bias": False}
    found = ap_svm_appx.train(layout(X), SIGNS, 2.0, easy, bias=False, tol=1e-6)
    truth = refsolve.solve("ap_svm_appx.primal", **given)
    assert found.b == 0.0
    assert (SIGNS * (X @ found.w))[easy].min() >= 1 - 1e-9
    assert found.primal == pytest.approx(truth.value, rel=1e-5)
    proof = refsolve.models.ap_svm_appx.certificate(
        w=found.w, b=0.0, rankings=found.rankings, weights=found.weights, mu=found.mu, **given
    )
    assert proof.gap <= 2e-6 * proof.primal
    with_bias = ap_svm_appx.train(layout(X), SIGNS, 2.0, easy, tol=1e-6)
    assert with_bias.primal <= found.primal * (1 + 1e-5)


def test_what_only_a_bias_separates_is_refused_with_the_proof():
    X = np.array([[2.0], [1.0], [1.5], [0.5]])
    y, easy = np.array([1, 0, 1, 0]), np.array([True, True, False, False])
    assert ap_svm_appx.train(X, y, 1.0, easy).b < 0
    with pytest.raises(InseparableError) as caught:
        ap_svm_appx.train(X, y, 1.0, easy, bias=False)
    mu = caught.value.mu
    assert mu.shape == (2,)
    assert mu.min() >= 0
    assert mu.sum() == pytest.approx(1.0)
    assert abs(float(mu @ (np.array([1.0, -1.0]) * X[:2, 0]))) <= 1e-9
