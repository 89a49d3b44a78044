"""Hard cases of `certify`: bounded problems, odd objectives, complex numbers, extreme scales."""

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

from refsolve import certify
from refsolve.cones import Verdict, exact_simplex
from refsolve.errors import InvalidParameterError

RNG = np.random.default_rng(1)


def test_nothing_false_is_claimed_at_extreme_scales() -> None:
    x, y = cp.Variable(2), cp.Variable()
    s = 1e-299
    problem = cp.Problem(
        cp.Minimize(-1e10 * cp.sum(x) + 1e10 * y),
        [s * cp.sum(x) == s, s * (x[0] - x[1]) == 0, y >= 0, y <= 1],
    )
    x.value, y.value = np.full(2, 0.5), 1.0
    assert certify(problem).bound >= 1e10 * (1 - 1e-9)
    u, v = cp.Variable(), cp.Variable()
    tiny = cp.Problem(
        cp.Minimize(0.5e-322 * cp.square(u) + 1e-162 * u + cp.square(v) / 2), [v >= -1e-163 * u]
    )
    u.value = v.value = 0.0
    assert certify(tiny).bound >= 4e-3
    flat = cp.Problem(cp.Minimize(0.5e-200 * cp.square(u)), [u >= 1])
    u.value = 2.0
    assert certify(flat).bound >= 1.5e-200
    t = 2.0**-1030
    far = cp.Problem(cp.Minimize(u + v), [t * u + v == 1, v == 1])
    u.value, v.value = 0.0, 1.0
    assert certify(far).status is not Verdict.INFEASIBLE
    huge = cp.Problem(cp.Minimize(cp.sum_squares(x)))
    x.value = np.full(2, 1e155)
    assert certify(huge).bound == math.inf


def test_equations_beyond_the_range_of_floats_have_no_bound() -> None:
    x, y = cp.Variable(), cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [1e-150 * x + 1e300 * y == 1.0, y >= 0, y <= 1])
    x.value, y.value = 3.0, 0.5
    for constraint in problem.constraints:
        constraint.dual_variables[0].value = np.asarray(1.3e150)
    proof = certify(problem)
    assert proof.status is Verdict.VIOLATED
    assert proof.bound == np.inf


def test_declared_bounds_are_constraints_for_every_verdict() -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x))
    assert certify(problem, bounds={x: (0, 1)}).status is Verdict.INCONCLUSIVE
    x.value = 5.0
    proof = certify(problem, bounds={x: (0, 10)})
    assert proof.status is Verdict.SUBOPTIMAL
    assert proof.bound == pytest.approx(5)
    assert "declared bounds" in " ".join(proof.assumptions)
    x.value = 50.0
    assert certify(problem, bounds={x: (0, 1)}).status is Verdict.VIOLATED


def test_values_that_break_the_attributes_are_refused() -> None:
    S = cp.Variable((2, 2), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(S)))
    S.save_value(np.array([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(InvalidParameterError, match="attributes"):
        certify(problem)
    x = cp.Variable(2)
    x.save_value(np.array([np.nan, 0.0]))
    proof = certify(cp.Problem(cp.Minimize(cp.sum_squares(x))))
    assert "nan" in proof.reason
    assert certify(cp.Problem(cp.Minimize(cp.sum_squares(x))), tolerance=np.float32(1e-3)).bound > 0


def test_equations_that_follow_from_others_are_left_out() -> None:
    T = cp.Variable((5, 5), nonneg=True)  # each total of rows and of columns
    transport = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(RNG.random((5, 5)), T))),
        [cp.sum(T, axis=0) == 1 / 5, cp.sum(T, axis=1) == 1 / 5],
    )
    hot = np.repeat(np.eye(3), 4, axis=0)  # one of three groups, and a constant beside them
    w, b = cp.Variable(3), cp.Variable()
    groups = cp.Problem(cp.Minimize(cp.sum(cp.logistic(hot @ w + b - RNG.standard_normal(12))
                                           - (hot @ w + b) / 4)))  # fmt: skip
    least = cp.Problem(cp.Minimize(cp.sum_squares(hot @ w + b - RNG.standard_normal(12))))
    for problem in (transport, groups, least):
        problem.solve(solver="CLARABEL")
        proof = certify(problem)
        assert proof
        assert proof.bound < 1e-5
    wrong = cp.Problem(transport.objective, [*transport.constraints, T[0, 0] + cp.sum(T) == 3])
    wrong.solve(solver="CLARABEL")
    assert certify(wrong).status is Verdict.INFEASIBLE


def test_nearly_dependent_equations_of_a_small_program_are_solved_in_rationals() -> None:
    """Two rows that repeat four others but for their rounding: the last digits decide how long duals are."""
    rng, certified = np.random.default_rng(0), 0
    for n in (5, 8, 10, 10, 10, 12, 12):
        A = rng.standard_normal((2, n))
        A = np.vstack((A, rng.random((2, 2)) @ A))
        at = np.where(np.arange(n) % 2, rng.integers(1, 9, n), 0).astype(float)
        c = A.T @ rng.integers(-3, 4, 4) + (at == 0) * rng.random(n)
        x = cp.Variable(n)
        problem = cp.Problem(cp.Minimize(c @ x), [x >= 0, A @ x == A @ at])
        problem.solve(solver="CLARABEL")
        exact = exact_simplex.solve(c, A, A @ at, -np.eye(n), np.zeros(n))
        proof = certify(problem)
        near = exact.value is not None and abs(problem.value - float(exact.value)) < 1e-5
        assert bool(proof) == near  # of the others some are infeasible, one is unbounded
        if near:
            certified += 1
            assert proof.bound <= 1e-10
            assert Fraction(proof.lower) <= exact.value <= Fraction(proof.upper)
    assert certified >= 3
