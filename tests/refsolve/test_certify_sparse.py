"""Large sparse problems: what is proven of them without a solver, and without dense matrices."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from refsolve.cones import bounds, certify, given_values, membership, upper
from refsolve.cones.curvature import curvature
from refsolve.cones.dependencies import dependencies
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks a solver fails."""

    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("a solver was asked")

    for module in (bounds, given_values, upper):
        monkeypatch.setattr(module, "proposal", refused)


def incidence(nodes: int, arcs: int, rng: np.random.Generator) -> Any:
    tail, head = rng.integers(0, nodes, (2, arcs))
    tail, head = tail[tail != head], head[tail != head]
    m = len(tail)
    entries = (np.r_[np.ones(m), -np.ones(m)], (np.r_[tail, head], np.r_[0:m, 0:m]))
    return sp.csr_array(entries, (nodes, m))


@pytest.mark.parametrize(("nodes", "arcs"), [(40, 45), (1500, 1600)])
def test_one_equation_of_every_component_follows(nodes: int, arcs: int) -> None:
    rng = np.random.default_rng(3)
    N = incidence(nodes, arcs, rng)
    parts, label = connected_components(N @ N.T)
    b = N @ rng.integers(-3, 4, N.shape[1]).astype(float)
    found = dependencies(N, b)
    assert found is not None
    assert len(found.kept) == nodes - parts
    assert found.contradiction == 0
    b[np.argmax(np.bincount(label)[label])] += 1  # a node of the largest component
    found = dependencies(N, b)
    assert found is not None
    assert found.contradiction == 1


@pytest.mark.parametrize("constant", [1, 2])
def test_multipliers_of_constant_rows_follow_into_the_dual(constant: int) -> None:
    rng = np.random.default_rng(constant)
    cones = 200
    rows = np.setdiff1d(np.arange(3 * cones), 3 * np.arange(cones) + constant)
    A = sp.csc_array((np.ones(len(rows)), (rows, np.arange(len(rows)))), (3 * cones, len(rows)))
    n = len(rows)
    program = ConeProgram(sp.csc_array((n, n)), np.zeros(n), A, np.zeros(3 * cones), exp=cones)
    z = np.zeros((cones, 3))
    z[:, 0] = -(10.0 ** rng.uniform(-3, 3, cones))
    z[:, 1] = -z[:, 0] * rng.uniform(-20, 20, cones)
    z[:, 2] = 10.0 ** rng.uniform(-3, 3, cones)
    eta = 10.0 ** rng.uniform(-18, -12, (cones, 3)) * np.abs(z)
    moved = membership.followed(program, z.ravel(), eta.ravel()).reshape(-1, 3)
    others = np.setdiff1d(np.arange(3), [constant])
    assert np.array_equal(moved[:, others], z[:, others])
    assert all(membership._room_exponential(*pair) for pair in zip(moved, eta, strict=True))
    lower = moved.copy()  # and no further than needed
    lower[:, constant] -= 1e-9 * (1 + np.abs(moved).max(axis=1))
    assert not any(membership._room_exponential(*pair) for pair in zip(lower, eta, strict=True))


def test_ranges_of_exponential_cones_keep_every_point() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        y = 10.0 ** rng.uniform(-6, 3)
        x = y * rng.uniform(-5, 5)
        z = y * np.exp(x / y) * (1 + 1e-12) * rng.choice([1.0, 2.0])
        point, known = np.array([x, y, z]), rng.random(3) < 0.6
        wide = np.abs(point) * rng.choice([0.0, 1e-3, 0.5], 3)
        lo, hi = np.where(known, point - wide, -np.inf), np.where(known, point + wide, np.inf)
        program = ConeProgram(
            sp.csc_array((3, 3)), np.zeros(3), -sp.eye_array(3, format="csc"), np.zeros(3), exp=1
        )
        ranges = Ranges(program, (lo, hi))
        ranges.narrow()
        assert not ranges.empty
        assert np.all(ranges.lo <= point)
        assert np.all(point <= ranges.hi)


def test_a_sparse_form_that_is_nearly_singular_has_a_curvature_just_below_zero() -> None:
    n = 4500
    L = sp.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(n - 1, n))  # constants cost nothing
    found = curvature(L.T @ L)
    assert found is not None
    assert np.all(found < 0)
    assert np.all(found > -1e-8)
    assert curvature(L.T @ L - 1e-6 * sp.eye_array(n)) is None


@pytest.mark.usefixtures("no_solver")
def test_an_accurate_answer_of_a_quadratic_program_needs_no_solver() -> None:
    n = 300
    i = np.arange(1, n + 1)
    c = np.sqrt(np.linspace(0, 1, n)) + 0.1 * np.sin(i)
    x = cp.Variable(n)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - c) / 2), [cp.diff(x, 2) >= 0])
    line = np.polynomial.polynomial.polyfit(i, c, 1)  # c is concave but for its noise
    x.value = np.polynomial.polynomial.polyval(i, line)
    proof = certify(problem)
    assert proof.certified
    assert proof.bound < 1e-7
    assert proof.moved < 1e-6


@pytest.mark.usefixtures("no_solver")
def test_added_variables_are_ends_of_ranges() -> None:
    x = cp.Variable(50)
    x.value = np.random.default_rng(0).standard_normal(50)
    terms = cp.norm1(x) + cp.norm(x) + cp.sum(cp.exp(x)) + cp.sum(cp.pos(x)) + cp.norm_inf(x)
    problem = cp.Problem(cp.Minimize(terms + cp.sum_squares(2 * x - 1)))
    whole = given_values.compiled(problem)
    judged = bounds.Bounds(whole.program, given_values.Fraction(whole.offset))
    given = given_values.GivenValues(problem, whole, judged, 1e-6)
    point, completed, *_ = given.feasibility(whole.values())
    most, least = given.objective(whole.values(), given_values.Fraction(1, 10**6))
    value = float(problem.objective.value)
    assert completed
    assert most is not None
    assert least is not None
    assert least <= most
    assert abs(float(most) - value) < 1e-11 * value > abs(float(least) - value)
    assert abs(float(judged.value(point) or 0) - value) < 1e-11 * value


def boxed(n: int, rng: np.random.Generator) -> cp.Problem:
    A, x = sp.random_array((n // 2, n), density=10 / n, rng=rng, format="csr"), cp.Variable(n)
    rows = [A @ x <= A @ rng.random(n) + 0.1, x >= 0, x <= 1]
    return cp.Problem(cp.Maximize(rng.standard_normal(n) @ x), rows)


def transported(n: int, rng: np.random.Generator) -> cp.Problem:
    x, plan = cp.Variable((n, n), bounds=[0, 9]), rng.integers(0, 9, (n, n))
    rows = [cp.sum(x, axis=1) == plan.sum(axis=1), plan.sum(axis=0) == cp.sum(x, axis=0)]
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(rng.random((n, n)), x))), rows)


def circulated(n: int, rng: np.random.Generator) -> cp.Problem:
    """Least cost flow without capacities: a level bounds it."""
    N = incidence(n, 4 * n, rng)
    m = N.shape[1]
    x, flow = cp.Variable(m, nonneg=True), rng.integers(0, 9, m) * (rng.random(m) < 0.2)
    return cp.Problem(cp.Minimize((1 + rng.random(m)) @ x), [N @ x == N @ flow])


@pytest.mark.usefixtures("no_solver")
@pytest.mark.parametrize("solver", ["CLARABEL", "HIGHS"])
@pytest.mark.parametrize(("make", "size"), [(boxed, 400), (transported, 30), (circulated, 200)])
def test_dual_values_of_the_constraints_spare_a_solver(make: Any, size: int, solver: str) -> None:
    problem = make(size, np.random.default_rng(8))
    problem.solve(solver=solver)
    assert certify(problem).certified


@pytest.mark.parametrize("bad", [0.0, -1.0, 1e-6, 1e150, np.nan, np.inf, "noise", "shape"])
def test_wrong_dual_values_prove_nothing_wrong(bad: Any) -> None:
    rng = np.random.default_rng(9)
    for make, size in ((boxed, 250), (transported, 20)):
        problem = make(size, rng)
        problem.solve(solver="HIGHS")
        optimum = problem.value
        for row in problem.constraints:
            value = np.asarray(row.dual_value, dtype=float)
            noise = rng.standard_normal(value.shape)
            wrong = noise if bad == "noise" else value[:1] if bad == "shape" else value * 0 + bad
            row.dual_variables[0].save_value(wrong)
        proof = certify(problem)
        assert proof.certified
        assert proof.lower - 1e-9 <= optimum <= proof.upper + 1e-9
        x = problem.variables()[0]
        x.save_value(np.clip(x.value + 0.3, 0, 1) if make is boxed else x.value * 0.99)
        assert not certify(problem).certified


def test_multipliers_charge_for_slack_exactly() -> None:
    rng = np.random.default_rng(10)
    tight = 0
    for _ in range(200):
        n = int(rng.integers(1, 6))
        q, a, z = rng.standard_normal(n), rng.standard_normal(n), float(rng.random())
        x = np.where(q + z * a > 0, 0.0, 1.0)  # where the bound of z is attained
        slack = float(rng.random())
        A = sp.csc_array(np.vstack((a, np.eye(n), -np.eye(n))))
        b = np.r_[a @ x + slack, np.ones(n), np.zeros(n)]
        program = ConeProgram(sp.csc_array((n, n)), q, A, b, nonneg=2 * n + 1)
        ranges, zs, none = Ranges(program), np.r_[z, np.zeros(2 * n)], np.zeros(n)
        ranges.narrow()
        least = bounds.lower_bound(program, zs, none, ranges.lo, ranges.hi, none).value
        assert least is not None
        high = ranges.slack_hi[0]
        ranges.charge(zs, float(q @ x) - float(least) + 1e-13)
        assert slack <= ranges.slack_hi[0] <= max(slack * (1 + 1e-9), slack + 1e-11 / z)
        assert np.all((ranges.lo <= x) & (x <= ranges.hi))
        tight += ranges.slack_hi[0] < high
    assert tight > 100
