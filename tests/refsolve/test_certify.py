"""`refsolve.certify`: solutions of every class, problems that have none, and lies of every kind."""

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from refsolve import certify
from refsolve.cones import Verdict

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((40, 8)), RNG.standard_normal(40)
SIGNS = np.sign(Y)
EDGES = RNG.standard_normal((14, 8))


def minimise(
    make: Callable[[cp.Variable], Any], *, shape: Any = 8, **attributes: Any
) -> cp.Problem:
    made = make(cp.Variable(shape, **attributes))
    objective, constraints = made if isinstance(made, tuple) else (made, [])
    return cp.Problem(cp.Minimize(objective), constraints)


PROBLEMS: dict[str, Callable[[], cp.Problem]] = {
    "linear, bounded by its rows": lambda: minimise(
        lambda x: (EDGES.sum(axis=0) @ x, [EDGES @ x >= -1])
    ),
    "linear on a simplex": lambda: minimise(lambda x: (X[0] @ x, [cp.sum(x) == 1]), nonneg=True),
    "least absolute deviations": lambda: minimise(lambda w: cp.norm1(X @ w - Y)),
    "least squares": lambda: minimise(lambda w: cp.sum_squares(X @ w - Y)),
    "lasso": lambda: minimise(lambda w: cp.sum_squares(X @ w - Y) + 3 * cp.norm1(w)),
    "ridge with a norm, not squared": lambda: minimise(lambda w: cp.norm(X @ w - Y) + cp.norm(w)),
    "SVM": lambda: minimise(
        lambda w: cp.sum_squares(w) / 2 + cp.sum(cp.pos(1 - cp.multiply(SIGNS, X @ w)))
    ),
    "dual of the SVM, singular Gram matrix": lambda: minimise(
        lambda a: (
            cp.quad_form(a, cp.psd_wrap(np.outer(SIGNS, SIGNS) * (X @ X.T))) / 2 - cp.sum(a),
            [SIGNS @ a == 0],
        ),
        shape=40,
        bounds=[0, 1],
    ),
    "logistic regression": lambda: minimise(
        lambda w: cp.sum_squares(w) / 2 + cp.sum(cp.logistic(-cp.multiply(SIGNS, X @ w)))
    ),
    "softmax": lambda: minimise(
        lambda W: (
            cp.sum_squares(W) / 2 + cp.sum(cp.log_sum_exp(X[:9] @ W, axis=1) - (X[:9] @ W)[:, 1])
        ),
        shape=(8, 3),
    ),
    "portfolio": lambda: minimise(
        lambda p: (cp.norm(X @ p) - 0.1 * (Y[:8] @ p), [cp.sum(p) == 1, p <= 0.3]), nonneg=True
    ),
    "relative entropy": lambda: minimise(
        lambda p: (cp.sum(cp.kl_div(p, np.full(8, 0.125))), [cp.sum(p) == 1, X[0] @ p == 0.2])
    ),
    "robust: a cone in constraints": lambda: minimise(
        lambda x: (cp.sum(x), [cp.norm(x - 1) <= 2, x[0] + x[1] == 0.5])
    ),
    "symmetric matrix of variables": lambda: minimise(
        lambda S: cp.sum_squares(S - X[:3, :3]) + cp.norm1(S), shape=(3, 3), symmetric=True
    ),
    "sparse matrix of variables": lambda: minimise(
        lambda S: cp.sum_squares(S - X[:3, :3]), shape=(3, 3), sparsity=[(0, 1), (0, 2)]
    ),
    "far from 1": lambda: minimise(
        lambda w: cp.sum_squares(1e3 * X @ w - 1e5 * Y) + 1e6 * cp.norm1(w)
    ),
}


@pytest.mark.filterwarnings("ignore:Reading from a sparse")
@pytest.mark.parametrize("name", PROBLEMS)
def test_solutions_are_certified(name: str) -> None:
    problem = PROBLEMS[name]()
    problem.solve(solver="CLARABEL")
    proof = certify(problem)
    assert proof.status is Verdict.CERTIFIED, proof
    assert proof
    assert proof.lower <= problem.value + proof.bound + 1e-7 * (1 + abs(problem.value))
    assert proof.value == pytest.approx(problem.value, rel=1e-6, abs=1e-7)
    assert proof.feasible_point is not None
    assert proof.bound <= 1e-6 * (1 + abs(proof.value))
    assert proof.below <= 1e-6 * (1 + abs(proof.value))
    assert proof.assumptions


def solved(name: str) -> cp.Problem:
    problem = PROBLEMS[name]()
    problem.solve(solver="CLARABEL")
    return problem


def shift(problem: cp.Problem, by: float) -> None:
    for variable in problem.variables():
        variable.save_value(variable.value + by)


@pytest.mark.parametrize(
    "name", ["linear on a simplex", "portfolio", "robust: a cone in constraints"]
)
def test_a_violated_constraint_is_seen_whatever_the_status_says(name: str) -> None:
    problem = solved(name)
    shift(problem, -1e-3)
    assert problem.status == "optimal"
    proof = certify(problem)
    assert proof.status is Verdict.VIOLATED
    assert proof.delta >= 0.999e-3
    assert proof.feasible_point is not None, "and a feasible point is near all the same"
    assert proof.bound < 0.1
    assert "constraint" in proof.reason


@pytest.mark.parametrize("name", ["lasso", "SVM", "logistic regression", "softmax"])
def test_a_point_that_is_not_optimal_is_seen(name: str) -> None:
    problem = solved(name)
    best = problem.value
    shift(problem, 1e-2)
    proof = certify(problem)
    assert proof.status is Verdict.SUBOPTIMAL
    lost = problem.objective.value - best
    assert lost * (1 - 1e-6) <= proof.bound <= lost * (1 + 1e-3) + 1e-7


def test_no_status_is_believed() -> None:
    problem = solved("lasso")
    problem._status = "infeasible"
    proof = certify(problem)
    assert proof
    assert proof.solver_said == "infeasible"
