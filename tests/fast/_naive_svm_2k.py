"""SVM-2K as the formulas say it, with n x n matrices."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel


def check(found, K, Kz, y, weight, tol, CA, CB, D, eps):
    """P and D of a trained model by the formulas; the gap follows, and multipliers are feasible."""
    alpha, bounds = found.alpha, np.outer([CA, CB, D], weight)
    assert (alpha[:2] >= 0).all()
    assert (abs(alpha) <= bounds).all()
    g = alpha[0] * y - alpha[2], alpha[1] * y + alpha[2]
    assert np.abs(np.sum(g, axis=1)).max() <= 1e-13 * abs(alpha).sum()
    lower = (alpha[:2].sum(axis=0) - eps * abs(alpha[2])).sum()
    lower -= (g[0] @ K @ g[0] + g[1] @ Kz @ g[1]) / 2
    f, h = K @ found.coef + found.b, Kz @ found.correction_coef + found.rho
    P = (found.coef @ K @ found.coef + found.correction_coef @ Kz @ found.correction_coef) / 2
    P += (bounds * np.maximum([1 - y * f, 1 - y * h, abs(f - h) - eps], 0)).sum()
    assert found.primal == pytest.approx(P, rel=1e-9)
    assert found.dual == pytest.approx(lower, rel=1e-9)
    assert -1e-10 * P <= P - lower <= tol * P * (1 + 1e-9)
    assert found.gap == found.history[-1]["gap"] <= tol


class Binary:
    """One class of a fitted SVM2KClassifier, as `check` looks at it: w and v by least squares."""

    def __init__(self, model, j, y, X, Z):
        kernels = model.kernel != "linear", model.kernel_z != "linear"
        self.coef = model.kernel_coef_[j] if kernels[0] else np.linalg.pinv(X.T) @ model.coef_[j]
        self.b, self.rho = model.intercept_[j], model.correction_intercept_[j]
        own = model.correction_kernel_coef_ if kernels[1] else model.correction_coef_
        self.correction_coef = own[j] if kernels[1] else np.linalg.pinv(Z.T) @ own[j]
        self.alpha = np.array(
            [model.dual_coef_[j] * y, model.correction_dual_coef_[j] * y, model.tie_dual_coef_[j]]
        )
        self.primal, self.dual = model.primal_objective_[j], model.dual_objective_[j]
        self.gap = model.dual_gaps_[j]
        last = np.flatnonzero(model.history_["class"] == j)[-1]
        self.history = [{"gap": model.history_["gap"][last]}]


def check_certificate(model, X, y, Z, weight=None):
    """Every class of a fitted model with kernels "linear" or "rbf" of width 0.3."""
    weight = np.ones(len(y)) if weight is None else weight
    Z = Z if model.z_scaler_ is None else model.z_scaler_.transform(Z)
    kernels = {"linear": linear_kernel, "rbf": lambda rows: rbf_kernel(rows, gamma=0.3)}
    K, Kz = kernels[model.kernel](X), kernels[model.kernel_z](Z)
    prices = model.C, model.C_z, model.D, model.eps
    for j in range(len(model.dual_gaps_)):
        positive = model.classes_[j if len(model.classes_) > 2 else 1]
        signs = np.where(y == positive, 1.0, -1.0)
        binary = Binary(model, j, signs, X, Z)
        check(binary, K, Kz, signs, weight, binary.gap + 1e-12, *prices)
    assert model.dual_gap_ == model.dual_gaps_.max()
