"""SVM+ with the label's sign in `fast`: certificates recomputed from formulas, beside the oracle's."""

import numpy as np
import pytest

import refsolve
from fast.errors import InvalidParameterError
from fast.models import svm_plus_hinge, svm_plus_squared_hinge

C, LAM = 1.7, 0.6
MODULES = {"svm_plus_squared_hinge": svm_plus_squared_hinge, "svm_plus_hinge": svm_plus_hinge}
VARIANTS = [
    ("svm_plus_squared_hinge", False, 0.0),
    *(("svm_plus_squared_hinge", nonneg, d) for nonneg in (False, True) for d in (0.01, 1.0, 30.0)),
    *(("svm_plus_hinge", True, d) for d in (0.01, 1.0, 30.0)),
]


@pytest.mark.parametrize("path", ["features", "Z", "Kz"])
@pytest.mark.parametrize(("name", "nonneg", "delta"), VARIANTS)
def test_the_gap_is_that_of_the_formulas(name, nonneg, delta, path):
    rng = np.random.default_rng([VARIANTS.index((name, nonneg, delta)), len(path)])
    n, squared = 14, name == "svm_plus_squared_hinge"
    y = np.where(rng.uniform(size=n) < 0.4, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X, Z = rng.standard_normal((n, 3)), 2.0 * rng.standard_normal((n, 2))
    X[:, 0] += (6.0 if delta == 0.0 else 0.5) * y
    omega = rng.uniform(0.3, 2.0, n)
    K, Kz, cost = X @ X.T, Z @ Z.T, C * omega
    options = {
        "sample_weight": omega, "nonneg_slack": nonneg, "free_slack": delta, "label_signed": True,
    }  # fmt: skip
    module = MODULES[name]
    if path == "features":
        found = module.train(X, y, Z, C, LAM, tol=1e-8, **options)
        w, v = found.w, found.v
    else:
        more = {"Z": Z} if path == "Z" else {"Kz": Kz}
        found = module.train_kernel(K, y, C, LAM, tol=1e-8, **more, **options)
        w, v = X.T @ found.coef, Z.T @ found.correction_coef
    signed, margins = y * (Z @ v + found.rho), y * (X @ w + found.b)
    xi, own = signed, 0.0
    if delta > 0.0:
        kappa = LAM * omega / delta
        xi = kappa * signed / (cost + kappa) if squared else signed - cost / kappa
        xi = np.maximum(xi, 1.0 - margins)
        xi = np.maximum(xi, 0.0) if nonneg else xi
        own = 0.5 * kappa @ (xi - signed) ** 2
    assert (margins + xi >= 1.0 - 1e-9).all()
    P = 0.5 * (w @ w + LAM * (v @ v)) + own
    P += 0.5 * (cost @ xi**2 + LAM * found.rho**2) if squared else cost @ xi
    alpha, gamma = found.alpha, found.alpha + found.beta
    assert alpha.min() >= 0.0
    assert found.beta.min() >= 0.0
    assert abs(alpha @ y) <= 1e-12 * alpha.sum()
    if squared:
        Kt = np.outer(y, y) * (Kz + 1.0) + np.diag(delta / omega)
        second = gamma @ np.linalg.solve(LAM * np.eye(n) + Kt * cost, Kt) @ gamma
    else:
        assert abs(y @ (gamma - cost)) <= 1e-12 * cost.sum()
        R = np.outer(y, y) * Kz + np.diag(delta / omega)
        second = (gamma - cost) @ R @ (gamma - cost) / LAM
    D = alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y) - 0.5 * second
    assert (found.primal, found.dual) == pytest.approx((P, D), rel=1e-8)
    assert found.gap <= 1e-8
    exact = refsolve.solve(f"{name}.primal", X=X, y=y, Z=Z, C=C, lam=LAM, **options).certificate
    assert exact.dual <= found.primal * (1.0 + 1e-9)
    assert found.dual <= exact.primal * (1.0 + 1e-9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("svm_plus_hinge", {"nonneg_slack": False, "free_slack": 1.0}),
        ("svm_plus_hinge", {"nonneg_slack": True, "free_slack": 0.0}),
        ("svm_plus_squared_hinge", {"nonneg_slack": True, "free_slack": 0.0}),
        ("svm_plus_squared_hinge", {}),  # the classes below are not separable
    ],
)
def test_no_feasible_point_is_an_error(name, options):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, -1.0, 1.0, -1.0])
    module = MODULES[name]
    with pytest.raises(InvalidParameterError, match=r"label_signed|free_slack"):
        module.train(X, y, X, C, LAM, label_signed=True, **options)
    with pytest.raises(InvalidParameterError, match=r"label_signed|free_slack"):
        module.train_kernel(X @ X.T, y, C, LAM, Z=X, label_signed=True, **options)
