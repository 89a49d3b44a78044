"""SVM+: random data, its optimum by refsolve, and P and D of models by the certificate."""

from types import SimpleNamespace
from typing import Any

import numpy as np

import refsolve
from verification.certificates import plus_model


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
    nonneg: bool, delta: float = 0.0, weight: Any = None, signed: bool = False,
) -> tuple[float, np.ndarray]:  # fmt: skip
    """Optimal value and w."""
    problem = f"svm_plus_{'squared_' * squared}hinge.primal"
    found = refsolve.solve(
        problem, X=X, y=y, Z=Z, C=C, lam=lam, sample_weight=weight, nonneg_slack=nonneg,
        free_slack=delta, label_signed=signed,
    )  # fmt: skip
    return float(found.value), np.asarray(found.x, dtype=float)


def objectives(
    result: Any, X: np.ndarray, y: np.ndarray, Z: np.ndarray, C: float, lam: float, *,
    squared: bool, nonneg: bool, delta: float = 0.0, weight: Any = None, signed: bool = False,
) -> tuple[float, float, float]:  # fmt: skip
    """P, D and the largest violation of any constraint, beside the multipliers' sum."""
    problem = plus_model.problem(
        y, loss="squared_hinge" if squared else "hinge", C=C, lam=lam, X=X, Z=Z,
        sample_weight=weight, nonneg_slack=nonneg, free_slack=delta, label_signed=signed,
    )  # fmt: skip
    alpha, beta = result.alpha, result.beta
    parts = {"v": result.v, "rho": result.rho, "beta": beta}
    found = plus_model.certificate(problem, result.w, result.b, alpha, **parts)
    return found.primal, found.dual, found.moved / (1.0 + float(np.sum(alpha + beta)))


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
