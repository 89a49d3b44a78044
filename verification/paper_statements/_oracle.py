"""Solutions by the CVXPY oracle, turned into rational points of the domain before they are judged."""

from fractions import Fraction
from typing import Any

import numpy as np

import refsolve
from refsolve import exact
from verification.paper_statements._erm import Problem, column
from verification.paper_statements._rational import Array, Vector
from verification.paper_statements._trial import Inputs


def rational(values: Any) -> Vector:
    """The doubles as the rational numbers that they are."""
    return [Fraction(float(v)) for v in np.ravel(values)]


def features(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) in floating point; the problems drawn here lose nothing by it."""
    return np.array(problem.examples, dtype=float), np.array(problem.labels)


def feasible(x: Any, k: int, radius: Fraction) -> Vector:
    """The nearest point of the top-k simplex."""
    return list(exact.project("topk_simplex_alpha", rational(x), k=k, r=radius).x)


def _smoothing(gamma: Fraction) -> Inputs:
    return {"gamma": float(gamma)} if gamma else {}


def _data(problem: Problem, loss: str, gamma: Fraction) -> Inputs:
    x, y = features(problem)
    given = {"loss": loss, "X": x, "y": y, "lam": float(problem.lam), "k": problem.k}
    return {**given, "n_classes": problem.m, **_smoothing(gamma)}


def primal_solution(problem: Problem, loss: str, gamma: Fraction) -> Array:
    """W that minimises P up to the solver's accuracy, one vector per class."""
    found = refsolve.solve("multiclass_erm.primal", **_data(problem, loss, gamma)).x
    return np.array([rational(row) for row in np.asarray(found)])


def dual_solution(problem: Problem, loss: str, gamma: Fraction) -> Array:
    """Columns that maximise D up to the solver's accuracy, moved into the domain."""
    found = np.asarray(refsolve.solve("multiclass_erm.dual", **_data(problem, loss, gamma)).x)
    pairs = zip(-found, problem.labels, strict=True)
    blocks = [(feasible(np.delete(a, y), problem.k, problem.radius), y) for a, y in pairs]
    return np.array([column(x, y) for x, y in blocks])


def update_solution(problem: Problem, q: Array, y: int, k_ii: Fraction, gamma: Fraction) -> Vector:
    """Block that maximises D over one column, by CVXPY, moved into the domain."""
    loss = "smooth_topk_hinge_alpha" if gamma else "topk_hinge_alpha"
    given: dict[str, Any] = {
        "q": q.astype(float),
        "y": y,
        "k_ii": float(k_ii),
        "C": float(problem.radius),
    }
    given |= {"k": problem.k, **_smoothing(gamma)}
    found = np.asarray(refsolve.solve(f"{loss}.sdca_update", **given).x)
    return feasible(np.delete(-found, y), problem.k, problem.radius)
