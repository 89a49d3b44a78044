"""The SVM with a free bias and the SVM-2K: both programs, kernels, peers; P and D are those of `selftest`."""

import numpy as np
import pytest
import scipy.sparse
from _draw import certified
from _privileged import draw
from sklearn.svm import SVC

from refsolve.models import svm, svm_2k

LOSSES = ("hinge", "squared_hinge")


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_svm_primal_meets_dual_and_libsvm(loss, seed):
    X, y, _ = draw(16, 3, 1, seed)
    weight = np.random.default_rng(seed).exponential(size=16) * (np.arange(16) != 5)
    C = 10.0 ** (seed - 1)
    given = {"X": X, "y": y, "C": C, "loss": loss, "sample_weight": weight}
    upper, lower = certified("svm.primal", **given), certified("svm.dual", **given)
    np.testing.assert_allclose(upper.value, lower.value, rtol=1e-7)
    proof = upper.certificate
    np.testing.assert_allclose(svm.dual(**given, alpha=lower.x), lower.value)
    np.testing.assert_allclose(svm.primal(**given, w=proof.w, b=proof.b), proof.primal)

    kept = weight > 0
    K = X[kept] @ X[kept].T
    if loss == "hinge":
        peer = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y[kept], sample_weight=weight[kept])
    else:  # a hard-margin SVM: the squares are the diagonal
        diagonal = np.diag(1 / (C * weight[kept]))
        peer = SVC(C=1e9, kernel="precomputed", tol=1e-9).fit(K + diagonal, y[kept])
    found = X[kept][peer.support_].T @ peer.dual_coef_[0]
    np.testing.assert_allclose(found, proof.w, atol=1e-4 * (1 + abs(proof.w).max()))

    kernel = certified("svm.primal", K=X @ X.T, **{k: v for k, v in given.items() if k != "X"})
    np.testing.assert_allclose(kernel.value, upper.value, rtol=1e-7)
    np.testing.assert_allclose(X.T @ kernel.x, proof.w, atol=1e-5 * (1 + abs(proof.w).max()))
    sparse = svm.certificate(**{**given, "X": scipy.sparse.csr_array(X)}, alpha=lower.x)
    assert sparse.relative_gap < 1e-8


@pytest.mark.parametrize(("D", "eps"), [(0.0, 0.0), (0.5, 0.0), (2.0, 0.2), (50.0, 0.01)])
@pytest.mark.parametrize("seed", range(2))
def test_svm_2k_primal_meets_dual(D, eps, seed):
    X, y, Z = draw(13, 2, 3, seed)
    Z = Z + 0.5 * y[:, None]
    weight = np.random.default_rng(seed).exponential(size=13) * (np.arange(13) != 4)
    p = {"CA": 1.0, "CB": 0.6, "D": D, "eps": eps}
    given = {"X": X, "y": y, "Z": Z, "sample_weight": weight, **p}
    upper, lower = certified("svm_2k.primal", **given), certified("svm_2k.dual", **given)
    np.testing.assert_allclose(upper.value, lower.value, rtol=1e-7)
    proof = upper.certificate
    model = {"w": proof.w, "b": proof.b, "v": proof.v, "rho": proof.rho}
    np.testing.assert_allclose(svm_2k.primal(**given, **model), proof.primal)
    np.testing.assert_allclose(svm_2k.dual(**given, alpha=lower.x), lower.value)
    swapped = {"X": Z, "Z": X, "CA": 0.6, "CB": 1.0, "D": D, "eps": eps}
    other = certified("svm_2k.primal", y=y, sample_weight=weight, **swapped)
    np.testing.assert_allclose(other.value, upper.value, rtol=1e-7)
    kernels = {"K": X @ X.T, "Kz": Z @ Z.T, "y": y, "sample_weight": weight, **p}
    np.testing.assert_allclose(certified("svm_2k.dual", **kernels).value, upper.value, rtol=1e-7)
    if D == 0:
        alone = [
            certified("svm.primal", X=view, y=y, C=cost, sample_weight=weight).value
            for view, cost in ((X, 1.0), (Z, 0.6))
        ]
        np.testing.assert_allclose(sum(alone), upper.value, rtol=1e-7)
    elif D == 50.0:  # the views agree where it is dear not to
        apart = X @ proof.w + proof.b - Z @ proof.v - proof.rho
        assert abs(apart[weight > 0]).max() < 1.0
