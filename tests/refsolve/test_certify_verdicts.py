"""What `refsolve.certify` tells of a point: one table of problems, where they stand, and what is true of them."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

from refsolve import certify
from refsolve.cones import Verdict
from refsolve.errors import InvalidParameterError

RNG = np.random.default_rng(1)
WIDE, EDGES = RNG.standard_normal((2, 4)), RNG.standard_normal((14, 2))
NINE = RNG.standard_normal((9, 4))  # at 0.8, the mean of the 1.8 largest of nine
CERTIFIED, SUBOPTIMAL, VIOLATED = Verdict.CERTIFIED, Verdict.SUBOPTIMAL, Verdict.VIOLATED
INFEASIBLE, UNBOUNDED, INCONCLUSIVE = Verdict.INFEASIBLE, Verdict.UNBOUNDED, Verdict.INCONCLUSIVE


class Told(NamedTuple):
    """A problem in x, its point, and the verdict with numbers of the certificate."""

    make: Callable[[Any], Any]
    at: Any  # a solver, a point, or None
    status: Any  # the verdict, several that may be told, or what must not be told
    size: Any = 2
    never: bool = False
    options: Any = None
    near: Any = None
    says: str = ""
    said: str = ""  # what the solver tells of the problem: the premise, where it is wrong
    between: Any = (
        None  # a feasible point's objective: neither below the lower bound nor above the value
    )


def constant_cone(x: Any) -> cp.Constraint:
    """Infeasible by 5e-15: ||(1, 1e-7)|| <= 1."""
    return cp.SOC(cp.Constant(1.0) + 0 * x[0], cp.hstack([1 + 0 * x[0], 1e-7 + 0 * x[1]]))


def row(x: Any) -> Any:
    """X_0, in floats 0 at (1, 1, 1)."""
    return 1e16 * x[1] + x[0] - 1e16 * x[2]


BOUNDED = {
    "a square above its floor": lambda x: (cp.sum_squares(x), [x >= 1]),
    "a square of all, a floor of one": lambda x: (cp.sum_squares(x - 1), [x[0] >= 1]),
    "maximised": lambda x: (cp.Maximize(-cp.sum_squares(x)), [x >= 1]),
    "fewer rows than unknowns": lambda x: (cp.sum_squares(WIDE @ x - 1), []),
    "differences": lambda x: (cp.sum_squares(cp.diff(x) - 1), []),
    "fewer rows, and floors": lambda x: (cp.sum_squares(WIDE @ x - 1), [x >= -1]),
}
NO_POINT = {
    "three halfspaces": lambda x: [x[0] >= 1, x[1] >= 1, x[0] + x[1] <= 1.99],
    "a disc and a halfspace": lambda x: [cp.norm(x) <= 1, x[0] + x[1] >= 1.42],
    "many halfspaces": lambda x: [EDGES @ x >= 1, EDGES @ x <= 0.9],
    "exponentials": lambda x: [cp.sum(cp.exp(x)) <= 1, x[0] >= 0.1],
    "equations": lambda x: [x[0] - x[1] == 1, x[1] - x[0] == 1],
    "an equation without a variable": lambda x: [0 * x[0] == 1, x >= 0],
}
FEASIBLE = [
    (lambda x: (cp.exp(x[0]), [x >= 1]), [20.0, 1.0]),
    (lambda x: (cp.exp(x[0]), [x >= 1]), [100.0, 1.0]),
    (lambda x: (cp.quad_over_lin(x[0], x[1]) + x[1], [x >= 1]), [1e6, 1.0]),
    (lambda x: (cp.inv_pos(x[0]), [x <= 1]), [1e-8, 0.0]),
    (lambda x: (cp.sum(x), [cp.sum_squares(x) <= 25e6]), [3000.0, 4000.0]),
    (lambda x: (cp.sum(x), [cp.norm1(x) <= 7e8, x >= 0]), [3e8, 4e8]),
    (lambda x: (cp.sum(x), [cp.max(x) <= 3e10]), [3e10, 1.0]),
]
EXACT = [
    lambda x: (cp.sum(cp.power(x, 1.5)), [x >= 1]),
    lambda x: (cp.sum(cp.power(x, -1)), [x <= 4]),
    lambda x: (cp.sum(x), [cp.power(x, Fraction(1, 3)) >= 2]),
    lambda x: (cp.sum(x), [cp.quad_form(x, np.array([[2.0, 0.3], [0.3, 1.0]])) <= 1]),
    lambda x: (cp.quad_form(x, np.ones((2, 2))) - cp.sum(x), [x[0] >= 0]),
    lambda x: (-cp.geo_mean(x), [cp.sum(x) <= 1]),
]
C = np.array([1.0, -2.0, 0.5])
TOLD: dict[str, Told] = {
    **{f"bounded, solved: {n}": Told(f, "CLARABEL", CERTIFIED, 4) for n, f in BOUNDED.items()},
    **{f"bounded, no point: {n}": Told(f, None, INCONCLUSIVE, 4) for n, f in BOUNDED.items()},
    **{f"infeasible: {n}": Told(lambda x, f=f: (cp.sum_squares(x), f(x)), "CLARABEL", INFEASIBLE)
       for n, f in NO_POINT.items()},
    **{f"infeasible, with a point: {n}": Told(
        lambda x, f=f: (cp.sum_squares(x), f(x)), [1.0, 1.0], (INFEASIBLE, VIOLATED)) for n, f in NO_POINT.items()},
    **{f"feasible {i}": Told(f, at, VIOLATED, never=True) for i, (f, at) in enumerate(FEASIBLE)},
    **{f"exact fractions and factors {i}": Told(f, "CLARABEL", CERTIFIED) for i, f in enumerate(EXACT)},
    "infeasible by next to nothing": Told(
        lambda x: (x, [x >= 1, x <= 1 - 1e-9]), "CLARABEL", INFEASIBLE, (), near={"delta": 1e-9},
        said="optimal"),
    "an infimum of nothing but asymptotes": Told(
        lambda x: (x[0], [cp.norm(cp.hstack([x, 1])) <= x[0]]), None, INCONCLUSIVE),
    "an infimum that is not attained": Told(
        lambda x: (x[0], [cp.SOC(x[0] + x[1], cp.hstack([2, x[0] - x[1]]))]), [1e-3, 1e3 * (1 + 1e-12)],
        SUBOPTIMAL, near={"bound": 1e-3, "lower": 0}),
    "unbounded along an axis": Told(lambda x: (x[0] + x[1], [x[0] >= 0]), "CLARABEL", UNBOUNDED),
    "unbounded beside a cone": Told(
        lambda x: (x[0] + x[1], [x[0] >= 0, cp.norm(cp.hstack([x[0], 1])) <= x[0] + 10]), "CLARABEL", UNBOUNDED),
    "unbounded beside a square": Told(lambda x: (cp.square(x[0]) - x[1], [x[0] + x[1] >= 3]), "CLARABEL", UNBOUNDED),
    "unbounded so slowly that every solver stops": Told(
        lambda x: (-1e-9 * x, [x >= 0]), "CLARABEL", UNBOUNDED, (), said="optimal"),
    "maximised without end": Told(
        lambda x: (cp.Maximize(cp.sum(x)), [x[0] <= 1]), None, UNBOUNDED, says="rises for ever"),
    "maximised, no point": Told(
        lambda x: (cp.Maximize(cp.sum(x)), [x <= 1]), None, INCONCLUSIVE, says="with objective 2"),
    "maximised, far from it": Told(
        lambda x: (cp.Maximize(cp.sum(x)), [x <= 1]), [0.0, 0.0], SUBOPTIMAL,
        near={"value": 0, "upper": 2, "bound": 2}),
    "a feasible problem that is called infeasible": Told(
        lambda x: (cp.sum(x), [1e-7 * x[0] >= 1, x >= 0]), "SCS", INCONCLUSIVE, says="a feasible point exists",
        said="infeasible", between=1e7),
    "a gap behind a huge objective": Told(lambda x: (x + 1e9, [x >= 0]), 5.0, CERTIFIED, (), near={"bound": 5.0}),
    "the same, asked for more": Told(lambda x: (x + 1e9, [x >= 0]), 5.0, SUBOPTIMAL, (), options={"tolerance": 1e-12}),
    "outside of the domain of the objective": Told(
        lambda x: (-cp.log(x), [x <= 1]), -1e-3, VIOLATED, (), near={"value": math.inf}),
    "what the reduction hides": Told(
        lambda x: (cp.Maximize(x), [cp.exp(x) <= 1e6]), math.log(1e6 + 0.5), VIOLATED, (), near={"delta": 0.5}),
    "a constant cone, linear": Told(lambda x: (cp.sum(x), [constant_cone(x)]), None, UNBOUNDED, never=True),
    "a constant cone, squares": Told(
        lambda x: (cp.sum_squares(x), [constant_cone(x)]), [3.0, 3.0], SUBOPTIMAL, never=True),
    "a constant equation": Told(lambda x: (cp.sum(x), [x >= 0, cp.sum(0 * x) == 1]), None, INFEASIBLE),
    "what rounding makes of an equation": Told(
        lambda x: (x[0], [row(x) == 1, x[0] <= 1 - 1e-9]), [1.0] * 3, VIOLATED, 3, never=True),
    "what rounding makes of an exponent": Told(
        lambda x: (cp.square(x[0]), [cp.exp(row(x)) <= math.exp(1) * 1.5, x[0] <= 1 - 1e-9]), [1.0] * 3, VIOLATED, 3,
        never=True),
    "logistic losses at their optimum, the tolerance next to nothing": Told(
        lambda x: (cp.sum(cp.logistic(x)), [x >= 1]), [1.0, 1.0], INCONCLUSIVE, options={"tolerance": 1e-16}),
    "a norm and exponentials at their optimum, the tolerance next to nothing": Told(
        lambda x: (cp.norm(x) + cp.sum(cp.exp(x)), [x >= 1]), [1.0, 1.0], INCONCLUSIVE, options={"tolerance": 1e-16}),
    "a square beyond floats": Told(
        lambda x: (cp.sum_squares(x), [x >= 0]), [1e200, 1.0], INCONCLUSIVE, says="range of floats"),
    "a sum beyond floats": Told(
        lambda x: (1e300 * cp.sum(x), [x >= 0]), [1e10, 1e10], INCONCLUSIVE, says="range of floats"),
    "a form that is not convex": Told(
        lambda x: (cp.quad_form(x, np.diag([1, -1e-10]), assume_PSD=True), [x >= -1, x <= 1]), [0.0, 0.0],
        INCONCLUSIVE),
    "a small objective, not optimal": Told(
        lambda x: (1e-7 * (C @ x), [x >= 0, x <= 1]), [1.0, 0.0, 1.0], SUBOPTIMAL, 3),
    "a small objective, optimal": Told(
        lambda x: (1e-7 * (C @ x), [x >= 0, x <= 1]), [0.0, 1.0, 0.0], CERTIFIED, 3),
    "small squares, not optimal": Told(
        lambda x: (1e-7 * cp.sum_squares(x - C), [x >= 0, x <= 1]), [0.5, 0.0, 0.5], SUBOPTIMAL, 3),
    "a constant objective": Told(
        lambda x: (3.5, [cp.sum(x) == 1, x >= 0]), "CLARABEL", CERTIFIED, near={"value": 3.5, "bound": 0}),
    "a constant objective, maximised": Told(
        lambda x: (cp.Maximize(3.5), [cp.sum(x) == 1, x >= 0]), "CLARABEL", CERTIFIED, near={"value": 3.5}),
    "a long chain of equations": Told(lambda x: (cp.norm1(x - 3), [cp.diff(x) == 1]), "CLARABEL", CERTIFIED, 300),
    "a large share of losses": Told(
        lambda x: (cp.cvar(NINE @ x - 1, 0.8) + cp.sum_squares(x), []), "CLARABEL", CERTIFIED, 4),
    "an indicator": Told(
        lambda x: (cp.sum_squares(x) + cp.transforms.indicator([x >= 1]), []), "CLARABEL", CERTIFIED,
        near={"value": 2}),
}  # fmt: skip


def canonicalized(make: Callable[[Any], Any], size: Any) -> tuple[cp.Problem, Any]:
    x = cp.Variable(size)
    objective, constraints = make(x)
    sides = cp.problems.objective.Minimize, cp.problems.objective.Maximize
    objective = objective if isinstance(objective, sides) else cp.Minimize(objective)
    return cp.Problem(objective, constraints), x


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told_is_true(name: str) -> None:
    told = TOLD[name]
    problem, x = canonicalized(told.make, told.size)
    if isinstance(told.at, str):
        problem.solve(solver=told.at)
    elif told.at is not None:
        x.value = np.asarray(told.at)
    assert not told.said or problem.status == told.said
    proof = certify(problem, **(told.options or {}))
    among = proof.status in (told.status if isinstance(told.status, tuple) else (told.status,))
    assert among is not told.never, proof
    for number, right in (told.near or {}).items():
        assert getattr(proof, number) == pytest.approx(right, rel=1e-6, abs=1e-12), number
    if told.between is not None:
        assert proof.lower <= told.between <= proof.value
    assert told.says in proof.reason
    assert bool(proof) == (proof.status is CERTIFIED)
    if told.never and told.status is VIOLATED:
        assert proof.delta <= 1e-6 or proof.status is INCONCLUSIVE
        assert proof.value >= problem.objective.value * (1 - 1e-12)


REFUSED: list[tuple[Any, str]] = [
    (lambda x: (cp.sqrt(x[0]), []), "DCP"),
    (lambda x: (cp.sum(x) * (p := cp.Parameter()), [x >= 0, p >= 0]), "values"),
    (lambda x: (3, []), "variables"),
    (lambda x: (cp.sum_squares(x), [cp.FiniteSet(x, [1, 2])]), "whole numbers"),
    (lambda x: (cp.sum_squares(x), [x >= 1, cp.Variable(0) >= 1]), "size 0"),
    (lambda x: (x[0], [cp.power(x[0], 0.3334) >= 10]), "exponent"),
    (lambda x: (cp.power(x[0], 1.0004) - 1.002 * x[0], [x >= 0, x <= 1e5]), "exponent"),
    (lambda x: (cp.power(x[0], 2.0001), [x >= 1]), "exponent"),
    (lambda x: (cp.pnorm(x, 3.001), [x >= 1]), "exponent"),
    (lambda x: (cp.Maximize(cp.geo_mean(x[:2], [1e-4, 1])), [x <= 1]), "weight"),
    (lambda x: (cp.Maximize(cp.sum(x[:2])), [cp.quad_form(x[:2], np.diag([1, 1e-10])) <= 1]), "factors"),
    (lambda x: (cp.sum(x[:2]), [cp.quad_form(x[:2], np.diag([1, -1e-10])) <= 1]), "factors"),
    (lambda x: (cp.exp(cp.quad_form(x[:2], np.diag([1, 1e-10])) - x[0]), []), "factors"),
    (lambda x: (cp.sum_largest(x, 7), [x >= 1]), "k = 7 of 5"),
    (lambda x: (cp.sum(cp.sum_largest(cp.reshape(x[:4], (2, 2), order="F"), 3, axis=0)), [x >= 1]), "k = 3 of 2"),
    (lambda x: (cp.loggamma(x[0]), [x >= 1]), "loggamma"),
    (lambda x: (cp.Maximize(cp.log_normcdf(x[0])), [x <= 1]), "log_normcdf"),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("make", "words"), REFUSED)
def test_problems_out_of_reach_are_named_errors(make: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        certify(canonicalized(make, 5)[0])


S = cp.Variable((2, 2), symmetric=True)
X = cp.Variable()
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"tolerance": 0}, "tolerance"), ({"bounds": {S: (0, 1)}}, "bounds"), ({"bounds": {X: ([0, 1], 2)}}, "bounds"),
    ({"bounds": {"x": (0, 1)}}, "bounds"), ({"bounds": {X: 3}}, "bounds"), ({"bounds": {X: (1, 0)}}, "low <= high"),
    ({"bounds": {cp.Variable(): (0, 1)}}, "variables of the problem"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "words"), OPTIONS)
def test_options_that_mean_nothing_are_named_errors(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        certify(cp.Problem(cp.Minimize(X + cp.trace(S))), **options)
    with pytest.raises(InvalidParameterError, match=r"cvxpy\.Problem"):
        certify("no problem")  # type: ignore[arg-type]
