"""Solutions by the CVXPY oracle, turned into rational points of the domain before they are judged."""

from fractions import Fraction
from typing import Any

import numpy as np

import refsolve
from refsolve import catalogue, exact
from verification.paper_statements._erm import Problem, column
from verification.paper_statements._rational import Array, Vector
from verification.paper_statements._trial import Inputs


def rational(values: Any) -> Vector:
    """The doubles as the rational numbers that they are."""
    return [Fraction(float(v)) for v in np.ravel(values)]


def features(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """(X, y) in floating point; the problems drawn here lose nothing by it."""
    return np.array(problem.examples, dtype=float), np.array(problem.labels)


def feasible(loss: str, x: Any, k: int, radius: Fraction) -> Vector:
    """The nearest point of the loss's dual set."""
    module = catalogue.load(loss)
    size = {"k": k, **getattr(module, "dual_params", {})}
    return list(exact.project(module.dual_set, rational(x), **size, r=radius).x)


def _parameters(problem: Problem, loss: str, gamma: Fraction) -> Inputs:
    known = {"k": problem.k, "gamma": float(gamma)}
    return {name: known[name] for name in catalogue.load(loss).SPEC.names}


def _data(problem: Problem, loss: str, gamma: Fraction) -> Inputs:
    x, y = features(problem)
    given = {"loss": loss, "X": x, "y": y, "lam": float(problem.lam), "n_classes": problem.m}
    return {**given, **_parameters(problem, loss, gamma)}


def primal_solution(problem: Problem, loss: str, gamma: Fraction) -> Array:
    """W that minimises P up to the solver's accuracy, one vector per class."""
    found = refsolve.solve("multiclass_erm.primal", **_data(problem, loss, gamma)).x
    return np.array([rational(row) for row in np.asarray(found)])


def dual_solution(problem: Problem, loss: str, gamma: Fraction) -> Array:
    """Columns that maximise D up to the solver's accuracy, moved into the domain."""
    found = np.asarray(refsolve.solve("multiclass_erm.dual", **_data(problem, loss, gamma)).x)
    pairs = zip(-found, problem.labels, strict=True)
    blocks = [(feasible(loss, np.delete(a, y), problem.k, problem.radius), y) for a, y in pairs]
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
    given |= _parameters(problem, loss, gamma)
    found = np.asarray(refsolve.solve(f"{loss}.sdca_update", **given).x)
    return feasible(loss, np.delete(-found, y), problem.k, problem.radius)
