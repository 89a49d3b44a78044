"""What a shrunk problem has left, and that its script is the problem."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from verification.failures.shrink_program import script, shrink, simplified
from verification.selftest import programs


def made(text: str) -> cp.Problem:
    names: dict[str, Any] = {}
    exec(text, names)
    return names["problem"]


@pytest.mark.filterwarnings("ignore:.*approx:UserWarning")
@pytest.mark.parametrize("kind", programs.KINDS)
def test_a_script_makes_the_same_problem(kind: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        case = programs.draw(rng, kind)
        case.set_point()
        again = made(script(case.problem))
        for old, new in zip(case.problem.variables(), again.variables(), strict=True):
            assert old.shape == new.shape
            for name, value in old.attributes.items():
                assert np.all(np.equal(value, new.attributes[name]))
            new.save_value(old.value)
        assert again.objective.value == pytest.approx(case.problem.objective.value, rel=1e-12)
        for old, new in zip(case.problem.constraints, again.constraints, strict=True):
            assert type(old) is type(new)
            for one, other in zip(old.args, new.args, strict=True):
                assert np.allclose(one.value, other.value, rtol=1e-12, atol=1e-12)


def test_simpler_expressions_have_the_same_values() -> None:
    rng = np.random.default_rng(4)
    x, A, y = cp.Variable(3), rng.standard_normal((4, 3)), rng.choice((-1.0, 1.0), 4)
    x.value = rng.standard_normal(3)
    margins = 1 - cp.multiply(y, A @ x)
    for e in (margins, margins[np.array([1, 3])], (A @ x)[1:3], A.T @ (A @ x), 2 * (3 * x),
              cp.multiply(y, A @ (2 * x)) / 2, -(A @ x + 0 * y)[np.array([2])]):  # fmt: skip
        short = simplified(e)
        assert short.shape == e.shape
        assert np.allclose(short.value, e.value)
        again = made(script(cp.Problem(cp.Minimize(cp.sum(short)))))
        again.variables()[0].value = x.value
        assert again.objective.value == pytest.approx(float(np.sum(e.value)))


def test_what_is_left_is_what_matters() -> None:
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((12, 8)), rng.random(12) + 1
    x, Y = cp.Variable(8), cp.Variable((3, 3), symmetric=True)
    problem = cp.Problem(
        cp.Minimize(A[0] @ x + cp.sum_squares(x) + 3.7 * cp.norm1(x - 0.123456) + cp.lambda_max(Y)),
        [A @ x <= b, cp.norm(x) <= 5, x >= -2, cp.exp(1.234567 * x[3]) <= 2, cp.trace(Y) == 1],
    )
    size = len(script(problem))

    def lie(small: cp.Problem) -> bool:
        """Stands for a solver that fails wherever an exponential is."""
        return any(
            isinstance(a, cp.exp) for c in small.constraints for e in c.args for a in atoms(e)
        )

    small = shrink(problem, lie)
    assert lie(small)
    assert lie(made(script(small)))
    assert len(small.constraints) == 1
    assert sum(v.size for v in small.variables()) <= 2
    assert len(script(small)) < size / 5, script(small)
    assert "1.234567" not in script(small)
    assert len(problem.constraints) == 5, "the problem itself is not changed"


def atoms(expression: Any) -> list[Any]:
    return [expression, *[a for arg in expression.args for a in atoms(arg)]]


def test_rows_and_entries_go_where_a_solution_decides() -> None:
    rng = np.random.default_rng(3)
    A, b = rng.integers(-3, 4, (10, 6)).astype(float), rng.random(10) + 1
    A[:, 5], b[7] = 0.0, -1.0
    A[7] = [0, 0, 0, 0, 0, 1.0]
    x = cp.Variable(6)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [A @ x <= b, cp.sum(x) <= 3])

    def positive_optimum(small: cp.Problem) -> bool:
        small.solve(solver="CLARABEL")
        return small.status == "optimal" and bool(small.value > 0.5)

    small = shrink(problem, positive_optimum)
    assert small.constraints[0].size == 1
    assert len(small.constraints) == 1
    assert small.variables()[0].size == 1
