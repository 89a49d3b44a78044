"""`refsolve.certify`: solutions of every class, problems that have none, and lies of every kind."""

import math
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from refsolve import certify
from refsolve.cones import Verdict
from refsolve.errors import InvalidParameterError

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


def test_a_gap_hidden_behind_a_huge_objective_is_told_as_it_is() -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x + 1e9), [x >= 0])
    x.value = 5.0
    assert certify(problem, tolerance=1e-6).bound == pytest.approx(5.0)
    assert certify(problem, tolerance=1e-12).status is Verdict.SUBOPTIMAL


def test_infeasible_by_next_to_nothing_is_infeasible() -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x >= 1, x <= 1 - 1e-9])
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal", "what the solver says"
    proof = certify(problem)
    assert proof.status is Verdict.INFEASIBLE
    assert proof.delta <= 1.1e-9


@pytest.mark.parametrize(
    "constraints",
    [
        lambda x: [x[0] >= 1, x[1] >= 1, x[0] + x[1] <= 1.99],
        lambda x: [cp.norm(x) <= 1, x[0] + x[1] >= 1.42],
        lambda x: [EDGES[:, :2] @ x >= 1, EDGES[:, :2] @ x <= 0.9],
        lambda x: [cp.sum(cp.exp(x)) <= 1, x[0] >= 0.1],
        lambda x: [x[0] - x[1] == 1, x[1] - x[0] == 1],
    ],
)
def test_infeasible_problems_are_proven_so(constraints: Callable[[Any], list[Any]]) -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints(x))
    problem.solve(solver="CLARABEL")
    assert certify(problem).status is Verdict.INFEASIBLE
    shift_none = cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints(x))
    x.value = np.ones(2)
    assert certify(shift_none).status in (Verdict.INFEASIBLE, Verdict.VIOLATED)


def test_an_infimum_of_nothing_but_asymptotes_is_left_open() -> None:
    x = cp.Variable(2)  # ||(x, y, 1)|| <= x has no solution, and no proof of it by multipliers
    weak = cp.Problem(cp.Minimize(x[0]), [cp.norm(cp.hstack([x, 1])) <= x[0]])
    assert certify(weak).status is Verdict.INCONCLUSIVE
    s, t = cp.Variable(), cp.Variable()  # min s over s t >= 1: 0, not attained
    open_end = cp.Problem(cp.Minimize(s), [cp.SOC(s + t, cp.hstack([2, s - t]))])
    s.value, t.value = 1e-3, 1e3 * (1 + 1e-12)
    proof = certify(open_end)
    assert proof.status is Verdict.SUBOPTIMAL, "as every point is"
    assert proof.bound == pytest.approx(1e-3, rel=1e-6)
    assert proof.lower == pytest.approx(0, abs=1e-9)


def test_unbounded_problems_are_proven_so() -> None:
    x = cp.Variable(2)
    for objective, constraints in (
        (x[0] + x[1], [x[0] >= 0]),
        (x[0] + x[1], [x[0] >= 0, cp.norm(cp.hstack([x[0], 1])) <= x[0] + 10]),
        (cp.square(x[0]) - x[1], [x[0] + x[1] >= 3]),
    ):
        problem = cp.Problem(cp.Minimize(objective), constraints)
        problem.solve(solver="CLARABEL")
        assert certify(problem).status is Verdict.UNBOUNDED


def test_unbounded_so_slowly_that_every_solver_stops() -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(-1e-9 * x), [x >= 0])
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    assert certify(problem).status is Verdict.UNBOUNDED


def test_a_feasible_problem_called_infeasible() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [1e-7 * x[0] >= 1, x >= 0])
    problem.solve(solver="SCS")
    assert problem.status == "infeasible"
    proof = certify(problem)
    assert proof.status is Verdict.INCONCLUSIVE
    assert "a feasible point exists" in proof.reason
    assert proof.lower <= 1e7 <= proof.value


def test_no_status_is_believed() -> None:
    problem = solved("lasso")
    problem._status = "infeasible"
    proof = certify(problem)
    assert proof
    assert proof.solver_said == "infeasible"


def test_problems_out_of_reach_are_named_errors() -> None:
    x, p = cp.Variable(2), cp.Parameter()
    for problem, words in (
        (cp.Problem(cp.Minimize(cp.sqrt(x[0]))), "DCP"),
        (cp.Problem(cp.Minimize(cp.sum(x) * p), [x >= 0, p >= 0]), "values"),
        ("no problem", "cvxpy.Problem"),
    ):
        with pytest.raises(InvalidParameterError, match=words):
            certify(problem)
    with pytest.raises(InvalidParameterError, match="tolerance"):
        certify(PROBLEMS["lasso"](), tolerance=0)


def test_a_point_outside_the_domain_of_the_objective_has_no_bound() -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(-cp.log(x)), [x <= 1])
    x.value = -1e-3
    proof = certify(problem)
    assert proof.status is Verdict.VIOLATED
    assert proof.value == math.inf
