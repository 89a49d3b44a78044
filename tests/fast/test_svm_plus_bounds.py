"""Claims of SVM+ do not depend on how the privileged features are stored, nor expand them."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from fast import SVM2KClassifier, SVMPlusClassifier
from fast.estimators._svm_plus_bounds import Level


def problem(seed, s, sparse, real):
    rng = np.random.default_rng(seed)
    n = 30
    Z = sp.random_array((n, s), density=min(0.2, 200.0 / s), rng=rng, format="csr")
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    given = SimpleNamespace(
        squared=True, omega=rng.uniform(0.1, 2.0, n), C=3.0, lam=0.5, nonneg=False,
        free_slack=float(seed % 2), plain=False, X=rng.standard_normal((n, 3)), K=None,
        Z=Z if sparse else Z.toarray(), Kz=None,
    )  # fmt: skip
    return Level(given, real), rng.random(n), y


def model(s):
    """Of any solution: features, unlike a kernel matrix, have no negative squares."""
    return SimpleNamespace(v=np.zeros(s), correction_coef=None)


@pytest.mark.parametrize("real", [np.float64, np.longdouble])
@pytest.mark.parametrize("s", [4, 29, 30, 31, 80])
@pytest.mark.parametrize("seed", range(4))
def test_sparse_and_dense_make_the_same_bound_and_it_is_the_square(seed, s, real):
    found = []
    for sparse in (True, False):
        level, gamma, _ = problem(seed, s, sparse, real)
        found.append(level._deformed_square(gamma, model(s)))
    level, gamma, _ = problem(seed, s, False, np.float64)
    Z = np.hstack([level.z.X, np.ones((30, 1))])
    Kt = Z @ Z.T + np.diag(level.delta)
    # 1/2 g'Qg = max_a of the concave problem in Kt: g'(I + Kt C/lam)^-1 Kt g / lam
    exact = gamma @ np.linalg.solve(np.eye(30) + Kt * level.cost / level.lam, Kt @ gamma)
    assert found == pytest.approx([float(exact / level.lam)] * 2, rel=1e-10)
    assert min(found) >= float(exact / level.lam) * (1.0 - 1e-13)


def test_a_million_sparse_columns_stay_sparse(monkeypatch):
    original = sp.csr_array.toarray

    def small(self, *args, **options):
        assert np.prod(self.shape) <= 10_000
        return original(self, *args, **options)

    monkeypatch.setattr(sp.csr_array, "toarray", small)
    level, gamma, _ = problem(1, 1_000_000, True, np.float64)
    assert level._deformed_square(gamma, model(1_000_000)) > 0.0


def rounded_kernels(seed, n=12):
    """Kernel matrices of rank 2, whose rounding makes them indefinite, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, 3)) * 10.0 ** rng.uniform(0, 4)
    Z = rng.standard_normal((n, 2)) * 10.0 ** rng.uniform(0, 3)
    X, Z = X @ rng.standard_normal((3, 3)), Z @ rng.standard_normal((2, 5))
    y = rng.choice([-1, 1], n)
    y[:2] = 1, -1
    return X @ X.T, Z @ Z.T, y


# before the last term of the bound, D > P by rounding in the second to fifth of these
@pytest.mark.parametrize(
    ("make", "C", "seed"),
    [
        (lambda C: SVMPlusClassifier(loss="squared_hinge", C=C, lam=1e-3), 1.0, 1),
        (lambda C: SVMPlusClassifier(loss="squared_hinge", C=C, lam=1e-3), 1e-6, 26),
        (lambda C: SVMPlusClassifier(loss="hinge", C=C, lam=1e-3), 1.0, 27),
        (lambda C: SVMPlusClassifier(loss="hinge", C=C, lam=1e-3), 1.0, 33),
        (lambda C: SVMPlusClassifier(loss="hinge", C=C, lam=1e-3), 1e3, 6),
        (lambda C: SVM2KClassifier(C=C), 1.0, 27),
        (lambda C: SVM2KClassifier(C=C), 1e3, 6),
    ],
)
@pytest.mark.filterwarnings("ignore::fast.errors.CollapseWarning")
def test_bounds_of_kernels_that_rounding_made_indefinite_do_not_contradict(make, C, seed):
    K, Kz, y = rounded_kernels(seed)
    assert min(np.linalg.eigvalsh(K)[0], np.linalg.eigvalsh(Kz)[0]) < 0.0
    fitted = make(C).set_params(
        kernel="precomputed", kernel_z="precomputed", standardize_z=False, tol=1e-10, max_iter=3000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted.fit(K, y, Kz)
    assert 0.0 <= fitted.dual_gap_ <= 1e-3
