"""`refsolve.certify` on semidefinite and power cones, complex, geometric and integer problems."""

import math
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from refsolve import certify
from refsolve.cones import Verdict
from refsolve.cones.dependencies import dependencies
from refsolve.errors import InvalidParameterError
from verification.selftest import programs

REFUTED = (Verdict.INFEASIBLE, Verdict.UNBOUNDED)


def contradiction(case: programs.Case, proof: Any) -> str:
    """What a certificate says that is not true of a planted problem."""
    if case.truth != "optimal":
        return "" if proof.status in (case.truth, Verdict.INCONCLUSIVE, Verdict.VIOLATED,
                                      Verdict.SUBOPTIMAL) else str(proof)  # fmt: skip
    assert case.low is not None
    assert case.high is not None
    wrong = proof.status in REFUTED or proof.lower > case.high or proof.upper < case.low
    if proof.feasible_point is not None and math.isfinite(proof.bound):
        kept = {v: v.value for v in case.problem.variables()}
        for variable, value in proof.feasible_point.items():
            variable.save_value(value)
        value = float(case.problem.objective.value)
        far = abs(value - float(case.low))
        wrong |= far > proof.bound * (1 + 1e-9) + 1e-9 * (1 + abs(value)) * (1 + 1e3 * proof.radius)
        for variable, before in kept.items():
            variable.save_value(before)
    return str(proof) if wrong else ""


@pytest.mark.parametrize("kind", ["sdp", "power", "mixed"])
def test_planted_problems_are_certified_and_lies_are_not(kind: str) -> None:
    rng, seen = np.random.default_rng(1), Counter[str]()
    for i in range(7):
        case = programs.draw(rng, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a solver may say that it is not sure
            try:
                case.problem.solve(solver="CLARABEL" if i % 3 else "SCS")
            except cp.error.SolverError:
                continue
        proof = certify(case.problem)
        assert not contradiction(case, proof), (case.name, contradiction(case, proof))
        seen[proof.status] += 1
        for variable in case.problem.variables():
            level = 10.0 ** -float(rng.integers(0, 9))
            moved = variable.value + level * rng.standard_normal(variable.shape)
            if variable.attributes["PSD"] or variable.attributes["symmetric"]:
                moved = (moved + moved.T) / 2
            variable.save_value(moved)
        proof = certify(case.problem)
        assert not contradiction(case, proof), (case.name, contradiction(case, proof))
    assert seen["certified"] >= 2, seen


@pytest.mark.parametrize("make", [programs.draw_infeasible, programs.draw_unbounded])
def test_what_has_no_solution_is_not_certified(make: Callable[..., programs.Case]) -> None:
    rng, seen = np.random.default_rng(2), 0
    for i in range(6):
        case = make(rng, ("sdp", "power")[i % 2])
        for variable in case.problem.variables():
            variable.value = np.zeros(variable.shape)
        proof = certify(case.problem)
        assert proof.status != "certified"
        assert not contradiction(case, proof), (case.name, str(proof))
        seen += proof.status == case.truth
    assert seen >= 2 or make is programs.draw_unbounded


def theta(n: int) -> tuple[cp.Problem, float]:
    X = cp.Variable((n, n), PSD=True)
    rows = [cp.trace(X) == 1, *[X[i, (i + 1) % n] == 0 for i in range(n)]]
    value = n * math.cos(math.pi / n) / (1 + math.cos(math.pi / n))
    return cp.Problem(cp.Maximize(cp.sum(X)), rows), value


def largest_eigenvalue(n: int) -> tuple[cp.Problem, float]:
    R = np.random.default_rng(n).standard_normal((n, n))
    X = cp.Variable((n, n), symmetric=True)
    problem = cp.Problem(cp.Maximize(cp.trace((R + R.T) @ X)), [X >> 0, cp.trace(X) == 1])
    return problem, float(np.linalg.eigvalsh(R + R.T)[-1])


def spectral_norm(n: int) -> tuple[cp.Problem, float]:
    R = np.random.default_rng(n).standard_normal((n, n + 1))
    X = cp.Variable((n, n + 1))
    return cp.Problem(cp.Minimize(cp.sigma_max(X)), [X == R]), float(np.linalg.norm(R, 2))


def entropy_of_a_matrix(n: int) -> tuple[cp.Problem, float]:
    X = cp.Variable((n, n), symmetric=True)
    return cp.Problem(cp.Minimize(-cp.log_det(X) + cp.trace(X))), float(n)


def product_of_powers(n: int) -> tuple[cp.Problem, float]:
    x, a = cp.Variable(2), 0.3
    problem = cp.Problem(
        cp.Maximize(cp.power(x[0], a, approx=False)), [x[0] + n * x[1] <= 1, x >= 0]
    )
    return problem, 1.0


@pytest.mark.parametrize("make", [theta, largest_eigenvalue, spectral_norm, entropy_of_a_matrix,
                                  product_of_powers])  # fmt: skip
@pytest.mark.parametrize("n", [3, 7])
def test_optima_that_are_known(make: Callable[[int], Any], n: int) -> None:
    problem, value = make(n)
    problem.solve(solver="CLARABEL")
    proof = certify(problem)
    assert proof.status == "certified", proof
    assert proof.lower <= value * (1 + 1e-12)
    assert proof.upper >= value * (1 - 1e-12)
    assert proof.upper - proof.lower <= 2e-6 * (1 + abs(value))


def test_an_infimum_that_is_not_attained_is_told_as_a_bound() -> None:
    x = cp.Variable(2)
    matrix = cp.bmat([[x[0], 1], [1, x[1]]])
    problem = cp.Problem(cp.Minimize(x[0]), [matrix >> 0])
    x.value = np.array([1e-3, 2e3])
    proof = certify(problem)
    assert proof.lower <= 0 <= proof.upper
    assert proof.bound >= 1e-3


def test_matrices_that_are_not_semidefinite_are_seen() -> None:
    X = cp.Variable((3, 3), symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.trace(X)), [X >> np.eye(3)])
    X.value = np.eye(3) * 0.9
    proof = certify(problem)
    assert proof.status in ("violated", "inconclusive")
    assert proof.delta >= 0.0999
    X.value = np.eye(3)
    assert certify(problem).status == "certified"
    assert certify(problem).delta == 0
    never = cp.Problem(cp.Minimize(cp.trace(X)), [X >> np.eye(3), cp.trace(X) <= 2.9])
    assert certify(never).status == "infeasible"


@pytest.mark.filterwarnings("ignore:.*approx:UserWarning")
def test_complex_numbers() -> None:
    rng = np.random.default_rng(3)
    A, b = rng.standard_normal((6, 3)) + 1j * rng.standard_normal((6, 3)), rng.standard_normal(6)
    x = cp.Variable(3, complex=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)))
    problem.solve(solver="CLARABEL")
    proof = certify(problem)
    assert proof.status == "certified", proof
    best = np.linalg.lstsq(A, b, rcond=None)
    assert proof.lower <= float(best[1][0]) * (1 + 1e-9)
    assert proof.upper >= float(best[1][0]) * (1 - 1e-9)
    assert proof.feasible_point is not None
    assert np.allclose(proof.feasible_point[x], best[0], atol=1e-5)
    assert any("imaginary" in a for a in proof.assumptions)
    H = A[:3] + A[:3].conj().T
    X = cp.Variable((3, 3), hermitian=True)
    least = cp.Problem(cp.Minimize(cp.real(cp.trace(H @ X))), [X >> 0, cp.real(cp.trace(X)) == 1])
    least.solve(solver="CLARABEL")
    proof = certify(least)
    value = float(np.linalg.eigvalsh(H)[0])
    assert proof.status == "certified", proof
    assert proof.lower <= value + 1e-9
    assert proof.upper >= value - 1e-9
    X.value = X.value + 1e-2 * np.eye(3)
    assert certify(least).status in ("violated", "inconclusive")


def test_geometric_programs_are_certified_after_the_logarithm() -> None:
    h, w, d = (cp.Variable(pos=True) for _ in range(3))
    rows = [2 * (h * w + h * d) <= 100, w * d <= 10, h / w >= 0.5, h / w <= 2, d / w >= 0.5]
    problem = cp.Problem(cp.Maximize(h * w * d), rows)
    problem.solve(gp=True, solver="CLARABEL")
    proof = certify(problem)
    assert proof.status == "certified", proof
    value = math.sqrt(6000)  # w = sqrt(20), h d w with both first rows tight
    assert proof.lower <= value * (1 + 1e-7)
    assert proof.upper >= value * (1 - 1e-7)
    assert proof.upper - proof.lower <= 1e-4
    assert any("logarithm" in a for a in proof.assumptions)
    h.value = 0.9 * h.value
    assert certify(problem).status in ("suboptimal", "violated", "inconclusive")
    h.save_value(-1.0)
    with pytest.raises(InvalidParameterError, match="positive"):
        certify(problem)


def test_quasiconvex_problems_are_refused_by_name() -> None:
    x = cp.Variable(pos=True)
    problem = cp.Problem(cp.Minimize(cp.ceil(x)), [x >= 1.5])
    x.value = 1.5
    with pytest.raises(InvalidParameterError, match="DQCP"):
        certify(problem)


def knapsack() -> tuple[cp.Problem, cp.Variable]:
    x = cp.Variable(4, boolean=True)
    return cp.Problem(
        cp.Maximize(np.array([10.0, 13, 7, 8]) @ x), [np.array([3.0, 4, 2, 3]) @ x <= 7]
    ), x


def test_integers_are_bounded_by_the_relaxation_and_said_so() -> None:
    problem, x = knapsack()
    x.value = np.array([1.0, 1, 0, 0])  # 23, the optimum; the relaxation has 23.5
    proof = certify(problem)
    assert proof.status == "inconclusive"
    assert proof.lower == pytest.approx(23, abs=1e-6)
    assert proof.upper >= 23.5 - 1e-9
    assert "relaxation" in proof.reason
    x.save_value(np.array([1.0, 0.5, 0, 0]))
    assert certify(problem).status == "violated"
    x.value = np.ones(4)
    assert certify(problem).status == "violated"


def test_integers_whose_relaxation_is_tight_are_certified() -> None:
    y = cp.Variable(3, integer=True)
    t = cp.Variable()
    problem = cp.Problem(
        cp.Minimize(t + cp.sum(y)), [y >= np.array([1.0, 2, 3]), t >= cp.norm1(y) - 5]
    )
    y.save_value(np.array([1.0, 2, 3 + 1e-9]))
    t.value = 1.0
    proof = certify(problem)
    assert proof.status == "certified", proof
    assert proof.lower <= 7 <= proof.upper
    assert proof.feasible_point is not None
    assert np.array_equal(proof.feasible_point[y], [1, 2, 3])
    y.value = np.array([1.0, 2, 4])
    assert certify(problem).status != "certified"
    partly = cp.Variable(2, integer=[(0,)])
    problem = cp.Problem(cp.Minimize(cp.sum(partly)), [partly >= np.array([1.0, 0.5])])
    partly.save_value(np.array([1.0, 0.5]))
    assert certify(problem).status == "certified"
    never = cp.Problem(cp.Minimize(cp.sum(y)), [cp.sum(y) >= 1, cp.sum(y) <= 0])
    assert certify(never).status == "infeasible"


def test_a_certified_bound_is_within_the_tolerance_of_the_value_that_is_told() -> None:
    """The completion of the point had an objective of thousands, and the tolerance went with it."""
    y = cp.Variable(3)
    noise = np.log([[0.5, 0.1, 0.2], [0.5, 0.1, 0.1], [0.5, 0.3, 0.1]])
    rows = [y >= math.log(0.1), y <= math.log(5)]
    for i, others in enumerate([[1, 2], [0, 2], [0, 1]]):
        terms = cp.hstack([noise[i, 0], noise[i, 1] + y[others[0]], noise[i, 2] + y[others[1]]])
        rows.append(cp.log_sum_exp(terms) - y[i] <= math.log(2))
    problem = cp.Problem(cp.Minimize(cp.log_sum_exp(y)), rows)
    problem.solve(solver="CLARABEL")
    proof = certify(problem)
    assert proof.bound <= 1e-6 * (1 + abs(proof.value)) or not proof


def test_files_that_would_say_something_else_are_refused(tmp_path: Path) -> None:
    whole, x = knapsack()
    x.value = np.array([1.0, 1, 0, 0])
    with pytest.raises(InvalidParameterError, match="these integers"):
        certify(whole).save(tmp_path / "problem.cert")
    assert not list(tmp_path.iterdir())


def test_equations_that_all_follow_from_nothing_are_no_index() -> None:
    told = dependencies(sp.csr_array((2, 3)), np.zeros(2))
    assert told is not None
    assert told.kept.dtype.kind == "i"
    assert len(told.kept) == 0
