"""`certify` is two-sided: what was once called certified, violated, infeasible or unbounded, and is not."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from refsolve import certify
from refsolve.cones import Verdict

REFUTED = (Verdict.VIOLATED, Verdict.SUBOPTIMAL, Verdict.INFEASIBLE, Verdict.UNBOUNDED)


def convex_fit(n: int) -> tuple[cp.Problem, cp.Variable]:
    """LISWET1: the nearest sequence with second differences >= 0."""
    data = np.sqrt(np.linspace(0, 1, n)) + 0.1 * np.sin(np.arange(1, n + 1))
    x = cp.Variable(n)
    objective = cp.Minimize(cp.sum_squares(x - data) / 2)
    return cp.Problem(objective, [x[2:] - 2 * x[1:-1] + x[:-2] >= 0]), x


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_a_value_below_the_optimum_is_not_certified() -> None:
    problem, _x = convex_fit(2002)
    problem.solve(solver="CLARABEL")
    assert problem.value < 7.2205, "the optimum is 7.221895"
    proof = certify(problem)
    assert proof.status is Verdict.NEARLY_FEASIBLE
    assert proof.lower >= 7.2218
    assert proof.upper >= proof.lower > problem.value + 1e-3
    assert proof.below >= 1e-3
    assert "below the optimum" in proof.reason


def test_a_feasible_answer_of_an_active_set_method_is_certified() -> None:
    problem, x = convex_fit(502)
    problem.solve(solver="HIGHS")
    proof = certify(problem)
    assert proof
    assert proof.feasible_point is not None
    at = proof.feasible_point[x]
    assert np.all(at[2:] - 2 * at[1:-1] + at[:-2] >= -1e-15)
    assert proof.moved <= 1e-6


@pytest.mark.parametrize("atom", ["inv_pos", "log"])
def test_cancellation_inside_an_atom_makes_no_verdict(atom: str) -> None:
    x = cp.Variable(3)
    x.value = np.array([0.1 + 1e-13, 0.2, -0.3 + 1.3e-12])
    total = sum((Fraction(v) for v in x.value.tolist()), Fraction())
    assert 0 < total < Fraction(1, 10**11)
    level = float(total)
    for share, holds in ((1e-9, True), (-1e-9, False)):
        if atom == "log":
            held = cp.log(cp.sum(x)) >= math.log(level) - share
        else:
            held = cp.inv_pos(cp.sum(x)) <= 1 / level * (1 + share)
        proof = certify(cp.Problem(cp.Minimize(cp.sum_squares(x)), [held]))
        if holds:
            assert proof.status is not Verdict.VIOLATED
        else:
            assert not proof
            assert proof.delta > 0


def test_equations_that_contradict_each_other_by_rounding_are_told_so() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for n in (5, 6, 8):
        T = cp.Variable((n, n), nonneg=True)
        a, b = rng.random(n), rng.random(n)
        rows = [cp.sum(T, axis=1) == a / a.sum(), cp.sum(T, axis=0) == b / b.sum()]
        problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(rng.random((n, n)), T))), rows)
        problem.solve(solver="CLARABEL")
        proof = certify(problem)
        seen.add(proof.status)
        assert proof.upper - proof.lower <= 1e-6
        assert abs(proof.value - problem.value) <= 1e-6
        rows[0] = cp.sum(T, axis=1) == a / a.sum() * (1 + 1e-6)
        wrong = cp.Problem(problem.objective, rows)
        assert certify(wrong).status is Verdict.INFEASIBLE
    assert Verdict.INCONSISTENT in seen
    assert seen <= {Verdict.INCONSISTENT, Verdict.CERTIFIED}


def test_a_slope_below_rounding_is_no_direction() -> None:
    for n in (3, 4, 5, 7, 11, 49):
        x = cp.Variable(n)
        problem = cp.Problem(cp.Minimize(cp.cvar(x, 0)), [x == np.arange(n) / 7])
        problem.solve(solver="CLARABEL")
        proof = certify(problem)
        assert proof.status not in REFUTED
        if proof:
            assert proof.lower <= np.arange(n).mean() / 7 + 1e-12


def test_scales_over_nine_decades() -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        A, x0 = rng.standard_normal((10, 6)), rng.standard_normal(6)
        b = A @ x0 + np.abs(rng.standard_normal(10)) * (rng.random(10) < 0.5)
        c = -A.T @ np.abs(rng.standard_normal(10))
        row, column = 10.0 ** rng.uniform(-4.5, 4.5, 10), 10.0 ** rng.uniform(-4.5, 4.5, 6)
        x = cp.Variable(6)
        rows = [(A * row[:, None] * column) @ x <= b * row]
        problem = cp.Problem(cp.Minimize((c * column) @ x), rows)
        problem.solve(solver="CLARABEL")
        assert certify(problem)


def test_the_feasible_point_is_feasible_and_as_good_as_told() -> None:
    rng = np.random.default_rng(5)
    p = cp.Variable(9)
    mean, risk = rng.standard_normal(9), rng.standard_normal((9, 9))
    problem = cp.Problem(
        cp.Minimize(cp.norm(risk @ p) - mean @ p), [cp.sum(p) == 1, p >= 0, p <= 0.3]
    )
    problem.solve(solver="CLARABEL")
    p.save_value(p.value + 1e-9 * rng.standard_normal(9))
    proof = certify(problem)
    assert proof
    assert 0 < proof.delta < 1e-8
    assert proof.feasible_point is not None
    at = proof.feasible_point[p]
    assert abs(sum(map(Fraction, at.tolist())) - 1) <= 9 * Fraction(proof.radius)
    assert at.min() >= proof.radius or at.min() >= 0
    assert at.max() <= 0.3
    value = np.linalg.norm(risk @ at) - mean @ at
    assert proof.lower - 1e-12 <= value <= proof.lower + proof.bound + 1e-12
    assert np.abs(at - p.value).max() <= proof.moved
