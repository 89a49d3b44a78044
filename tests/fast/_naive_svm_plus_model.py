"""Certificates of a fitted SVMPlusClassifier from its attributes alone, with n x n matrices."""

from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels


def dense(X: Any) -> np.ndarray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def gram(kernel: Any, X: np.ndarray, **params: Any) -> np.ndarray:
    if isinstance(kernel, str) and kernel == "precomputed":
        return X
    if isinstance(kernel, str) and kernel == "linear":
        return X @ X.T
    return pairwise_kernels(X, metric=kernel, **params)


def scaled(model: Any, Z: Any, weight: np.ndarray) -> np.ndarray:
    """Z as the model should have scaled it."""
    sparse, Z = hasattr(Z, "toarray"), dense(Z)
    if not model.standardize_z or model.kernel_z == "precomputed":
        return Z
    share = weight / weight.sum()
    mean = share @ Z
    deviation = np.sqrt(share @ (Z - mean) ** 2)
    deviation[deviation < 1e-12] = 1.0
    return (Z - (0.0 if sparse else mean)) / deviation


def root_of(K: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def quadratic(root: np.ndarray, cost: np.ndarray, lam: float, gamma: np.ndarray) -> float:
    """gamma'Q gamma with Q = (lam I + Kt C)^-1 Kt, by QR of a root of Kt: nothing cancels."""
    stack = np.vstack([np.sqrt(cost)[:, None] * root, np.sqrt(lam) * np.eye(root.shape[1])])
    R = np.linalg.qr(stack, mode="r")
    t = np.linalg.solve(R.T, root.T @ gamma)
    return float(t @ t)


def check(
    model: Any, X: Any, y: Any, Z: Any = None, weight: Any = None, params: Any = None,
    params_z: Any = None, slack: float = 1e-9,
) -> list[tuple[float, float]]:  # fmt: skip
    """Recompute P at a feasible point and D at feasible multipliers; returns them per problem."""
    y = np.asarray(y)
    omega = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    on = omega > 0.0
    K = gram(model.kernel, dense(X), **(params or {}))
    positives = model.classes_[1:] if len(model.classes_) == 2 else model.classes_
    squared = model.loss == "squared_hinge"
    cost, lam, delta = model.C * omega[on], model.lam, model.free_slack
    nonneg = not squared if model.nonneg_slack is None else model.nonneg_slack
    if Z is not None:
        Kz = gram(model.kernel_z, scaled(model, Z, omega), **(params_z or {}))[np.ix_(on, on)]
    K = K[np.ix_(on, on)]
    if model.kernel == "linear":  # alpha'y = 0: the mean does not matter, but for rounding
        centred = dense(X)[on] - dense(X)[on].mean(axis=0)
        K = centred @ centred.T
    n = len(K)
    F = np.asarray(model.decision_function(X)).reshape(len(y), -1)[on]
    G = None if Z is None else np.asarray(model.correction_function(Z)).reshape(len(y), -1)[on]
    found = []
    for j, label in enumerate(positives):
        s = np.where(y[on] == label, 1.0, -1.0)
        alpha = model.dual_coef_[j] * np.where(y == label, 1.0, -1.0)
        assert not alpha[~on].any()
        alpha = alpha[on]
        assert alpha.min() >= 0.0
        assert abs(alpha @ s) <= 1e-10 * (alpha.sum() + 1e-300)
        f = F[:, j]
        if hasattr(model, "coef_"):
            np.testing.assert_allclose(
                f, dense(X)[on] @ model.coef_[j] + model.intercept_[j], atol=1e-6, rtol=1e-6
            )
            w2 = model.coef_[j] @ model.coef_[j]
        else:
            c = model.kernel_coef_[j][on]
            again = K @ c + model.intercept_[j]
            scale = abs(K @ abs(c)).max() + abs(f).max()
            np.testing.assert_allclose(f, again, rtol=1e-7, atol=1e-7 + 1e-9 * scale)
            f, w2 = again, c @ K @ c
        margin = s * f
        dual = alpha.sum() - 0.5 * (alpha * s) @ K @ (alpha * s)
        if Z is None:
            xi = np.maximum(1.0 - margin, 0.0)
            if squared:
                primal = 0.5 * w2 + 0.5 * cost @ xi**2
                dual -= 0.5 * (alpha**2 / cost).sum()
            else:
                assert (alpha <= cost * (1 + 1e-12)).all()
                primal = 0.5 * w2 + cost @ xi
        else:
            g, rho = G[:, j], model.correction_intercept_[j]
            if hasattr(model, "correction_coef_"):
                v2 = model.correction_coef_[j] @ model.correction_coef_[j]
            else:
                c = model.correction_kernel_coef_[j][on]
                np.testing.assert_allclose(g, Kz @ c + rho, rtol=1e-7, atol=1e-7)
                v2 = c @ Kz @ c
            beta = model.slack_dual_coef_[j][on]
            assert beta.min() >= 0.0
            assert nonneg or not beta.any()
            if delta:
                kappa = lam / delta * omega[on]
                cheapest = kappa * g / (cost + kappa) if squared else g - cost / kappa
                xi = np.maximum(cheapest, 1.0 - margin)
                xi = np.maximum(xi, 0.0) if nonneg else xi
            else:
                xi = g
                size = 1.0 + abs(g).max() + abs(f).max()
                assert (margin + xi - 1.0).min() >= -slack * size
                assert not nonneg or xi.min() >= -slack * size
            primal = 0.5 * w2 + 0.5 * lam * v2
            primal += 0.5 * cost @ xi**2 + 0.5 * lam * rho**2 if squared else cost @ xi
            if delta:
                primal += 0.5 * lam / delta * omega[on] @ (xi - g) ** 2
            root = scaled(model, Z, omega)[on] if model.kernel_z == "linear" else root_of(Kz)
            root = np.hstack([root, np.diag(np.sqrt(delta / omega[on]))])
            gamma = alpha + beta
            if squared:
                dual -= 0.5 * quadratic(np.hstack([root, np.ones((n, 1))]), cost, lam, gamma)
            else:
                rest = gamma - cost
                assert abs(rest.sum()) <= 1e-9 * cost.sum()
                t = (root - root.mean(axis=0)).T @ rest
                dual -= 0.5 / lam * float(t @ t)
        size = max(abs(primal), abs(dual))
        assert abs(primal - model.primal_objective_[j]) <= 1e-7 * size
        assert abs(dual - model.dual_objective_[j]) <= 1e-7 * size
        gap = (primal - dual) / size
        assert gap >= -1e-9
        assert abs(gap - model.dual_gaps_[j]) <= 1e-7
        found.append((float(primal), float(dual)))
    assert model.dual_gap_ == max(model.dual_gaps_)
    return found
