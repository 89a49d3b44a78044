"""SVM+ as printed: the primal problems in CVXPY, and P, D written out from the n x n formulas."""

from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np


def instance(
    rng: np.random.Generator, n: int, d: int, s: int, informative: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X, y, Z with noisy labels; Z knows how far an example is on its side."""
    X = rng.standard_normal((n, d)) + 0.3
    f = X @ rng.standard_normal(d) + 0.8 * rng.standard_normal(n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    Z = rng.standard_normal((n, s))
    if informative:
        Z[:, 0] = 0.3 * Z[:, 0] + y * f
    return X, y, Z


def solve(
    X: np.ndarray, y: np.ndarray, Z: np.ndarray, C: float, lam: float, *, squared: bool,
    nonneg: bool, delta: float = 0.0, weight: Any = None,
) -> tuple[float, np.ndarray]:  # fmt: skip
    """Optimal value and w."""
    n = len(y)
    omega = np.ones(n) if weight is None else np.asarray(weight)
    w, v, b, rho = cp.Variable(X.shape[1]), cp.Variable(Z.shape[1]), cp.Variable(), cp.Variable()
    xi = cp.Variable(n)
    objective = 0.5 * cp.sum_squares(w) + lam / 2 * cp.sum_squares(v)
    if squared:
        objective += C / 2 * cp.sum(cp.multiply(omega, xi**2)) + lam / 2 * cp.square(rho)
    else:
        objective += C * omega @ xi
    constraints = [cp.multiply(y, X @ w + b) >= 1 - xi]
    g = Z @ v + rho
    if delta:
        objective += lam / (2 * delta) * omega @ (xi - g) ** 2
    else:
        constraints.append(xi == g)
    if nonneg:
        constraints.append(xi >= 0)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value), np.asarray(w.value)


def slacks(
    g: np.ndarray, margins: np.ndarray, C: float, lam: float, omega: np.ndarray, *,
    squared: bool, nonneg: bool, delta: float,
) -> np.ndarray:  # fmt: skip
    """Cheapest slacks for given f and g."""
    if not delta:
        return g
    kappa = lam / delta * omega
    if squared:
        cheapest = kappa * g / (C * omega + kappa)
    else:
        cheapest = g - C * omega / kappa
    xi = np.maximum(cheapest, 1.0 - margins)
    return np.maximum(xi, 0.0) if nonneg else xi


def objectives(
    result: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray, C: float, lam: float, *,
    squared: bool, nonneg: bool, delta: float = 0.0, weight: Any = None,
) -> tuple[float, float, float]:  # fmt: skip
    """P, D and the largest violation of any constraint, with n x n matrices."""
    n = len(y)
    omega = np.ones(n) if weight is None else np.asarray(weight)
    on = omega > 0.0
    X, y, Z, omega = X[on], y[on], Z[on], omega[on]
    alpha, beta = result.alpha[on], result.beta[on]
    n = len(y)
    margins = y * (X @ result.w + result.b)
    g = Z @ result.v + result.rho
    xi = slacks(g, margins, C, lam, omega, squared=squared, nonneg=nonneg, delta=delta)
    primal = 0.5 * result.w @ result.w + lam / 2 * result.v @ result.v
    if squared:
        primal += C / 2 * omega @ xi**2 + lam / 2 * result.rho**2
    else:
        primal += C * omega @ xi
    if delta:
        primal += lam / (2 * delta) * omega @ (xi - g) ** 2
    worst = max(float((1.0 - xi - margins).max()), 0.0)
    worst = max(worst, float(-xi.min())) if nonneg else worst
    worst = max(worst, float(-alpha.min()), float(-beta.min()))
    size = max(float(alpha.sum()), 1e-300)
    worst = max(worst, abs(float(alpha @ y)) / size)
    gamma = alpha + beta
    K = Z @ Z.T + delta * np.diag(1.0 / omega)
    dual = alpha.sum() - 0.5 * (alpha * y) @ (X @ X.T) @ (alpha * y)
    if squared:
        Q = np.linalg.solve(lam * np.eye(n) + C * (K + 1.0) * omega, K + 1.0)
        dual -= 0.5 * gamma @ Q @ gamma
    else:
        difference = gamma - C * omega
        worst = max(worst, abs(float(difference.sum())) / float(C * omega.sum()))
        # not through K, whose product loses ten digits where alpha + beta is nearly C omega
        dual -= (
            0.5
            / lam
            * (np.sum((Z.T @ difference) ** 2) + delta * difference @ (difference / omega))
        )
    return float(primal), float(dual), worst


def bounds(
    result: Any, X: Any, y: Any, Z: Any, C: float, lam: float, loss: str,
    nonneg: bool | None = None, **more: Any,
) -> tuple[float, float]:  # fmt: skip
    """P and D of a feasible result of this loss, whose slacks are signed as usual unless told."""
    nonneg = loss == "hinge" if nonneg is None else nonneg
    squared = loss == "squared_hinge"
    *found, worst = objectives(result, X, y, Z, C, lam, squared=squared, nonneg=nonneg, **more)
    assert worst <= 1e-9
    return found[0], found[1]


def judged(
    squared: bool, model: Any, multipliers: Any, given: Any, C: float, lam: float, nonneg: bool,
    delta: float,
) -> tuple[float, float, float]:  # fmt: skip
    """P of a model, D of a bound and the largest violation; ``given`` is X, y, Z and the weights."""
    X, y, Z, weight = given
    result = SimpleNamespace(**vars(model) | vars(multipliers))
    return objectives(
        result, X, y, Z, C, lam, squared=squared, nonneg=nonneg, delta=delta, weight=weight
    )
