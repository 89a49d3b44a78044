"""Problems with a known optimum: the generator proves its own answers, and so does the exact simplex."""

from collections import Counter
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

from refsolve.cones import exact_simplex as simplex
from verification.selftest import exact_lp, programs


@pytest.mark.parametrize("kind", programs.KINDS)
@pytest.mark.parametrize("scale", [0, 6])
def test_what_is_planted_is_optimal(kind: str, scale: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        case = programs.draw(rng, kind, scale=scale)
        assert case.problem.is_dcp(), case.name
        programs.check(case)
        if scale:
            continue
        for variable in case.point:
            variable.save_value(None)
        case.problem.solve(solver="CLARABEL")
        assert case.low is not None
        assert case.problem.value == pytest.approx(float(case.low), rel=1e-4, abs=1e-4), case.name


def test_an_infeasible_problem_contradicts_itself() -> None:
    rng = np.random.default_rng(2)
    for i in range(14):
        case = programs.draw_infeasible(rng, programs.KINDS[i % 7])
        alone = cp.Problem(cp.Minimize(0), case.problem.constraints[-2:])
        data, _, _ = alone.get_problem_data("CLARABEL")
        G, n = sp.csr_array(data["A"]).toarray(), data["A"].shape[1]
        answer = simplex.solve(np.zeros(n), np.zeros((0, n)), [], G, data["b"])
        assert answer.status == "infeasible"


def test_an_unbounded_problem_falls_from_a_feasible_point() -> None:
    rng = np.random.default_rng(2)
    for i in range(14):
        case = programs.draw_unbounded(rng, programs.KINDS[i % 7])
        case.set_point()
        sign = 1 if isinstance(case.problem.objective, cp.Minimize) else -1
        values = []
        for t in (0.0, 1e9):
            next(v for v in case.point if v.name() == "t").value = t
            for constraint in case.problem.constraints[-2:]:
                assert constraint.violation() <= 1e-12
            values.append(sign * case.problem.objective.expr.value)
        assert values[1] < values[0]


def test_a_wrong_plant_is_noticed() -> None:
    rng = np.random.default_rng(3)
    case = programs.draw(rng, "qp")
    assert case.low is not None
    with pytest.raises(AssertionError):
        programs.check(programs.Case(case.name, case.problem, "optimal", case.low + 1,
                                     case.low + 1, case.point))  # fmt: skip


def test_planted_linear_programs_have_the_value_of_the_exact_simplex() -> None:
    rng = np.random.default_rng(4)
    for _ in range(12):
        case = programs.draw(rng, "lp", size=3)
        data, _, _ = case.problem.get_problem_data("CLARABEL")
        dims, A = data["dims"], sp.csr_array(data["A"]).toarray()
        at = dims.zero
        answer = simplex.solve(data["c"], A[:at], data["b"][:at], A[at:], data["b"][at:])
        assert answer.status == "optimal"
        offset = Fraction(float(data["param_prob"].apply_parameters()[1]))
        sign = 1 if isinstance(case.problem.objective, cp.Minimize) else -1
        assert answer.value is not None
        assert sign * (answer.value + offset) == case.low


def test_the_exact_simplex_agrees_with_highs_where_that_is_right() -> None:
    rng, seen = np.random.default_rng(5), Counter[str]()
    for _ in range(150):
        c, E, f, G, h = exact_lp.random_program(rng)
        answer = simplex.solve(c, E, f, G, h)
        seen[answer.status] += 1
        told = linprog(c, G, h, E if len(f) else None, f if len(f) else None, (None, None))
        if told.status == 0 and answer.value is not None:
            assert told.fun == pytest.approx(float(answer.value), rel=1e-6, abs=1e-6)
        if answer.status == "unbounded":
            assert told.status != 0
    assert min(seen.values()) > 10
    assert len(seen) == 3
