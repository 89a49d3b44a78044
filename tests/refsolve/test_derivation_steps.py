"""`check_step`: right steps are accepted, wrong ones refused with a point at which both values are exact."""

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from refsolve import check_step, derivation_steps
from refsolve.cones import ProblemCertificate, Verdict
from refsolve.errors import InvalidParameterError
from refsolve.exact_values import Interval, UndefinedError, expression_value

x, y = cp.Variable(4, name="x"), cp.Variable(4, name="y")
M = cp.Variable((2, 3), name="M")
s, t = cp.Variable(name="s"), cp.Variable(name="t")
g = cp.Parameter(nonneg=True, name="g")
A = np.array([[1.0, -2, 0.5, 0], [0.1, 3, 0, -1]])

#: Atoms and movements of entries, each beside the same by other means.
IDENTITIES = {
    "sum_largest": (cp.sum_largest(x, 3), lambda x: sum(sorted(x)[-3:])),
    "sum_smallest": (cp.sum_smallest(x, 2), "sum(x) - sum_largest(x, 2)"),
    "max": (cp.max(x), "-min(-x)"),
    "abs": (cp.norm1(x), "sum(pos(x) + pos(-x))"),
    "norm_inf": (cp.norm_inf(x), "max(abs(x))"),
    "norm2": (cp.norm2(x), "sqrt(sum(x^2))"),
    "quadratic": (cp.quad_form(x, np.diag([1.0, 2, 3, 4])), lambda x: sum((i + 1) * v * v for i, v in enumerate(x))),
    "quotient": (cp.quad_over_lin(x, g), "sum(x^2)/g"),
    "power": (cp.sum(cp.power(cp.pos(x), 3)), lambda x: sum(v**3 for v in x if v > 0)),
    "root": (cp.sum(cp.power(cp.abs(x), 1.5)), "sum(abs(x)*sqrt(abs(x)))"),
    "product": (cp.sum_squares(A @ x), "(x[0] - 2*x[1] + x[2]/2)^2 + (x[0]/10 + 3*x[1] - x[3])^2"),
    "matrix": (cp.sum_squares(M.T @ M[:, 1]), lambda M: sum((M.T @ M[:, 1]) ** 2)),
    "reshaped": (cp.max(cp.reshape(M, (3, 2), order="F")[1]), lambda M: max(M[1, 0], M[0, 2])),
    "stacked": (cp.max(cp.hstack([x, 2 * y[1:3], s])), lambda x, y, s: max(*x, *(2 * y[1:3]), s)),
    "rows": (cp.sum(cp.max(M, axis=1)), lambda M: max(M[0]) + max(M[1])),
    "columns": (cp.sum_squares(cp.sum(M, axis=0)), lambda M: sum((M[0] + M[1]) ** 2)),
    "diagonal": (cp.sum(cp.diag(x) @ y), "sum(x*y)"),
    "log_sum_exp": (cp.log_sum_exp(x), lambda x: np.log(np.exp(x).sum())),
    "logistic": (cp.sum(cp.logistic(x)), "sum(log(1 + exp(x)))"),
    "entropy": (-cp.sum(cp.entr(cp.abs(x) + 1)), "dot(abs(x) + 1, log(abs(x) + 1))"),
    "tenths": (0.1 * s + 0.2 * s, 0.3 * s),
    "thirds": (s / 3 + s * (1 / 3), 2 / 3 * s),
}  # fmt: skip
#: Before, relation, after, other arguments; none holds.
WRONG = {
    "a term": ("(s+t)^2", "equal", "s^2 + t^2", {}),
    "a tie": (cp.sum_largest(x, 2), "equal", cp.max(x) + cp.min(x), {}),
    "only where a square is small": (s**2, "at_least", cp.abs(s), {}),
    "only beyond large numbers": (s, "at_most", 40, {}),
    "only below small numbers": (cp.abs(s), "at_least", 0.125, {}),
    "the edge of a domain": (s, "at_most", 0.999, {"where": [s >= 0, s <= 1]}),
    "a sign": (cp.sum(cp.abs(x)), "equal", cp.sum(x), {}),
    "60 digits": (cp.log_sum_exp(x[:2]), "at_most", cp.max(x[:2]) + 0.6931471805599453, {}),
    "a parameter": (g * s, "equal", g**2 * s, {}),
    "transposed": (lambda M: (M @ M.T)[0, 0], "equal", "(M.T @ M)[0, 0]", {"shapes": {"M": (2, 3)}}),
}  # fmt: skip


@pytest.mark.parametrize("name", IDENTITIES)
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_equal_is_accepted_and_what_is_moved_is_not(name: str, seed: int) -> None:
    before, after = IDENTITIES[name]
    shapes = {"x": 4, "y": 4, "M": (2, 3)}
    found = check_step(before, after, seed=seed, shapes=shapes)
    assert found, found
    assert found.tried >= 60
    moved = check_step(before - 1e-9, before, seed=seed)
    assert moved.status == "refused"
    assert check_step(before - 1e-9, before, "at_most", seed=seed)


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_wrong_is_refused_with_a_point(name: str, seed: int) -> None:
    before, relation, after, more = WRONG[name]
    found = check_step(before, after, relation, seed=seed, **more)
    assert found.status == "refused"
    assert found.point is not None
    a, b = float(found.before), float(found.after)
    assert {"equal": a != b, "at_least": a <= b, "at_most": a >= b}[relation]
    written = sum(len(str(v)) for value in found.point.values() for v in np.ravel(value))
    assert written <= 6 * sum(np.size(v) for v in found.point.values())  # small and round


def test_the_point_is_where_the_values_are() -> None:
    found = check_step(cp.sum_squares(x) / 2, cp.sum_squares(x) / 3)
    assert found.point is not None
    at = [Fraction(v) for v in found.point["x"]]
    assert sorted(at) == [0, 0, 0, 1]
    assert (found.before, found.after) == (Fraction(1, 2), Fraction(1, 3))
    assert "before = 1/2, after = 1/3" in str(found)


def test_a_problem_is_infinite_outside_of_its_constraints() -> None:
    domain = [x >= 0, cp.sum(x) <= 1, 2 * x <= cp.sum(x)]
    one = cp.Problem(cp.Minimize(-cp.sum(x)), domain)
    assert check_step(one, cp.Problem(cp.Minimize(-cp.sum(x)), domain[::-1]))
    for lost in range(3):
        kept = [rule for number, rule in enumerate(domain) if number != lost]
        found = check_step(one, cp.Problem(cp.Minimize(-cp.sum(x)), kept))
        assert found.status == "refused", lost
        assert found.before == math.inf > found.after
    equal = cp.Problem(cp.Minimize(0), [cp.sum(x) == 1, x >= 0])
    assert check_step(equal, cp.Problem(cp.Minimize(cp.sum(x) - 1), equal.constraints))


def test_equations_are_met_exactly() -> None:
    where = [cp.sum(x) == 1, x >= 0, x[0] == x[1]]
    assert check_step(cp.sum_squares(x), 1, "at_most", where=where)
    found = check_step(cp.sum_squares(x), 0.4, "at_most", where=where)
    assert found.point is not None
    assert sum(found.point["x"]) == 1
    assert found.point["x"][0] == found.point["x"][1]


def test_optima_of_primal_and_dual() -> None:
    X, C = cp.Parameter((3, 2), name="X"), cp.Parameter(nonneg=True, name="C")
    w, alpha = cp.Variable(2, name="w"), cp.Variable(3, name="alpha")
    primal = cp.Problem(cp.Minimize(C * cp.sum(cp.pos(1 - X @ w)) + cp.sum_squares(w) / 2))

    def dual(half: float, *rules: Any) -> Any:
        D = cp.sum(alpha) - half * cp.sum_squares(X.T @ alpha)
        return cp.Problem(cp.Maximize(D), list(rules))

    assert check_step(primal, dual(0.5, alpha >= 0, alpha <= C), "same_optimum")
    assert primal.status is None
    assert C.value is None
    assert w.value is None
    for wrong in (
        dual(1.0, alpha >= 0, alpha <= C),
        dual(0.5, alpha <= C),
        dual(0.5, alpha >= 0),
        dual(0.5, alpha >= 0, cp.sum(alpha) <= C),
        dual(0.5, alpha >= 0, alpha <= C, cp.sum(alpha) == 0),
    ):
        found = check_step(primal, wrong, "same_optimum")
        assert found.status == "refused"
        assert found.point is not None
        assert set(found.point) == {"X", "C"}


def test_infeasible_and_unbounded_optima_are_infinite() -> None:
    p = cp.Parameter(name="p")
    ends = cp.Problem(cp.Minimize(s), [s >= p])
    assert check_step(ends, "p", "same_optimum")
    none = cp.Problem(cp.Minimize(s), [s >= p + 1, s <= p])
    assert check_step(none, cp.Problem(cp.Minimize(0), [0 * p >= 1]), "same_optimum")
    found = check_step(none, ends, "same_optimum")
    assert (found.status, found.before) == ("refused", math.inf)
    below = cp.Problem(cp.Minimize(s), [s <= p])
    assert check_step(below, ends, "same_optimum").before == -math.inf


def test_what_cannot_be_said_is_no_acceptance(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = check_step(s, t, where=[s >= 1, s <= 0])
    assert (empty.status, bool(empty), empty.point) == ("inconclusive", False, None)
    nowhere = check_step(cp.log(-cp.abs(s)), cp.log(-cp.abs(s)) + 1)
    assert nowhere.status == "inconclusive"
    half = check_step(cp.sum(cp.log(x)), lambda x: sum(np.log(x)))
    assert "see where=" in half.reason
    assert check_step(cp.sum(cp.log(x)), lambda x: sum(np.log(x)), where=[x >= 0.1])
    p = cp.Parameter(name="p")
    same = cp.Problem(cp.Minimize(cp.square(s - p)), [s <= p + 1])
    assert check_step(same, 0, "same_optimum")
    unknown = ProblemCertificate(Verdict.INCONCLUSIVE)
    monkeypatch.setattr(derivation_steps, "certify", lambda *_, **__: unknown)
    unsure = check_step(same, 0, "same_optimum")
    assert (unsure.status, bool(unsure)) == ("inconclusive", False)


def test_functions_may_sort_what_they_get_in_place() -> None:
    def largest(x: Any) -> Any:
        x.sort()
        return x[-1] + x[-2]

    assert check_step(cp.sum_largest(x, 2), largest)
    assert check_step(largest, cp.max(x), "at_least", where=[x >= 0])


def test_symbols_that_are_left() -> None:
    found = check_step(cp.sum_squares(x), lambda x: sum(x**2), symbols=[y])
    assert (found.status, found.point) == ("refused", None)
    assert "x still in it; expected y alone" in str(found)
    assert check_step("(a - a) + b", "b", symbols=["b"])


def test_declared_signs_are_kept() -> None:
    assert check_step(cp.abs(g), g)
    whole = cp.Variable(2, boolean=True, name="b")
    assert check_step(cp.sum_squares(whole), cp.sum(whole))
    low = cp.Variable(nonpos=True, name="low")
    assert check_step(cp.pos(low), 0)
    assert check_step(cp.abs(g), -g).status == "refused"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("s", "t", "greater"), "relation"),
        (("s +", "t"), "before"),
        (("__import__('os')", "t"), "before"),
        (("s.real", "t"), "before"),
        ((x, s), "before"),
        ((lambda s: np.logaddexp(s, 0), "s"), "before"),
        ((..., "s"), "before"),
        (("a[i]", "a"), "before"),
        (("a[3]", "a"), "before"),
        (("sum_largest(a)", "a"), "before"),
        (("a", "a", {"where": ["a @ 2 >= 0"]}), "where"),
        ((float("nan"), "s"), "before"),
        (("x", "x"), "values"),
        ((cp.lambda_max(cp.Variable((2, 2), name="S")), s), "before or after"),
        ((cp.trace(cp.Variable((2, 2), PSD=True, name="S")), s), "S"),
        ((s, cp.sum(cp.Variable(3, name="s"))), "s"),
        ((s, t, "same_optimum"), "relation"),
        ((s, t, "equal", {"where": ["s"]}), "where"),
        ((cp.Problem(cp.Minimize(-cp.square(s))), 0, "same_optimum"), "relation"),
    ],
)
def test_bad_input_is_named(arguments: tuple[Any, ...], named: str) -> None:
    *given, more = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    if named == "values":
        more = {"values": {"x": np.ones(3)}}
    with pytest.raises(InvalidParameterError, match=f"^{named}"):
        check_step(*given, **more)


def test_enclosures_hold_the_value() -> None:
    for value in (Fraction(1, 100), Fraction(3, 10), Fraction(7), Fraction(171, 200)):
        for there, back in (
            (Interval.log, Interval.exp),
            (Interval.exp, Interval.log),
            (Interval.sqrt, lambda v: v**2),
        ):
            found = back(there(Interval(value)))
            assert found.low <= value <= found.high
            assert found.high - found.low < Fraction(1, 10**50)
    assert Interval(Fraction(9, 4)).sqrt().ends == (Fraction(3, 2), Fraction(3, 2))
    assert (Interval(-2, 1) ** 2).ends == (0, 4)
    with pytest.raises(UndefinedError):
        1 / Interval(-1, 1)
    with pytest.raises(UndefinedError):
        _ = Interval(0, 2) < Interval(1)


def test_no_entry_passes_through_floats() -> None:
    """CVXPY's own arithmetic on entries is in floats: 1/3 in 60 digits must come out as it went in."""
    third = np.frompyfunc(lambda _: Interval(Fraction(1, 3)), 1, 1)(np.zeros(4))
    for e in (cp.hstack([x, x]), cp.reshape(x, (2, 2), order="C").T, cp.diag(x)[1, 1] + s, s + x):
        found = expression_value(e, {"x": third, "s": np.array(Interval(0), dtype=object)})
        assert {v.low for v in np.ravel(found)} <= {Fraction(1, 3)}
