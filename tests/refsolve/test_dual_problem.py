"""Duals, conjugates and the table of residuals: of every operation, every model, and problems of the user's own."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import refsolve
from refsolve.cvxpy_problem import conjugate, dual, primal_dual, problem
from refsolve.errors import InvalidParameterError, UnknownProblemError
from tests.refsolve.test_cvxpy_problem import MODELS, OPERATIONS, SIGNS, X, drawn, solved
from verification.problems.problem import lookup


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_and_its_dual_have_one_optimum(name):
    given = {"t": 0.3} if name == "lambert_w_exp.value" else drawn(name, 0)
    p = problem(name, **given)
    d = dual(p)
    assert d.is_dcp()
    assert type(d.objective) is not type(p.objective)
    shown = str(d) + d.latex()
    assert not any(unnamed in shown for unnamed in ("var", "param", "Expression"))
    optimum = solved(p)
    if not np.isfinite(optimum):
        assert not np.isfinite(solved(d))
        return
    size = 1.0 + abs(optimum)
    assert solved(d) == pytest.approx(optimum, rel=0, abs=2e-6 * size)
    # a gradient of logarithms is as far off as the root of the gap that cones are solved to
    curved = lookup(name).kind == "functions" or (
        lookup(name).kind == "losses" and not lookup(name).generator.rational
    )
    for each in (p, d):
        rows = each.kkt()
        # nan where the k largest of (x, 1 - <1,x>) are tied: no gradient, and no loss whose gap could say it
        known = [row.residual for row in rows if "consistent" not in name or not np.isnan(row.residual)]
        assert max(known) < (3e-3 if curved else 1e-6) * size
        assert len({row.says for row in each.kkt() if row.kind == "stationarity"}) > 0


@pytest.mark.parametrize(("model", "given"), MODELS)
def test_a_model_and_its_dual_know_one_another(model, given):
    both = primal_dual(f"{model}.primal", **given)
    assert (both.primal.name, both.dual.name) == (f"{model}.primal", f"{model}.dual")
    assert np.isnan(both.gap)
    optimum = solved(both.primal)
    solved(both.dual)
    assert abs(both.gap) < 1e-6 * (1.0 + abs(optimum))
    assert dual(both.dual).name == both.primal.name
    for each in (both.primal, both.dual):
        assert each.kkt().largest < 1e-4 * (1.0 + abs(optimum))
    bare = cp.Problem(both.primal.objective, both.primal.constraints)
    assert solved(dual(bare)) == pytest.approx(optimum, rel=1e-5, abs=1e-6)
    assert str(both).count("to ") == 2
    assert both._repr_latex_().count("aligned}\n\\qquad\n") == 1


def own_problems():
    rng = np.random.default_rng(3)
    A, x = rng.standard_normal((4, 3)), cp.Variable(3, name="x")
    M, w = cp.Variable((2, 2), name="M", symmetric=True), cp.Variable(2, name="w", nonneg=True)
    r = cp.Parameter(name="r", nonneg=True, value=0.5)
    Q = A.T @ A
    yield "kinks", cp.Minimize(
        cp.norm1(A @ x - 1) + cp.sum_squares(x) / 2 + cp.max(A @ x) + 2 * cp.sum_largest(x, 2)
        + cp.sum(cp.pos(x - 1)) + cp.sum(cp.maximum(x, -2 * x, 0.1)) + r * cp.norm(x - 1)
    ), [x <= 5, cp.norm_inf(x) <= r]  # fmt: skip
    yield (
        "maximise",
        cp.Maximize(x[0] - 2 * x[2] - cp.quad_form(x, Q) / 3),
        [cp.sum(x) == 1, x[1:] >= -r],
    )
    yield "weights", cp.Minimize(
        np.array([1.0, 2.0, 3.0]) @ cp.square(x - 1) + cp.sum_squares(cp.hstack([x[0], x[1] + 1])) / r
    ), [A @ x >= 0, cp.reshape(x, (3, 1), order="F") <= 1]  # fmt: skip
    yield (
        "exponential",
        cp.Minimize(cp.sum(cp.exp(x)) - cp.sum(cp.entr(w))),
        [cp.sum(x) + w[0] == 1],
    )
    yield (
        "semidefinite",
        cp.Minimize(cp.trace(M) + cp.square(M[0, 1] - 1)),
        [M >> np.eye(2), cp.norm(M, "fro") <= 4],
    )
    yield "norms", cp.Minimize(cp.norm(A @ x - 1, 3) + cp.norm(x)), [x >= 0.1]


@pytest.mark.parametrize(("title", "objective", "rules"), list(own_problems()))
def test_the_dual_of_any_problem_has_its_optimum(title, objective, rules):
    p = cp.Problem(objective, rules)
    optimum = solved(p)
    d = dual(p)
    assert solved(d) == pytest.approx(optimum, rel=1e-6, abs=1e-6)
    assert ("A" in d.answer or "z" in d.answer) == (
        title in ("exponential", "semidefinite", "norms")
    )


def test_the_multipliers_of_a_dual_are_the_answer_of_the_problem():
    p = problem("simplex.projection", a=[0.9, 0.4, -0.2], rho=0.5)
    d = dual(p)
    solved(p)
    solved(d)
    np.testing.assert_allclose(np.abs(d.duals["x"]), p.answer, atol=1e-6)
    np.testing.assert_allclose(d.answer["lambda"], p.duals["x >= 0"], atol=1e-6)


def test_a_dual_follows_the_parameters_of_its_problem():
    p = problem("topk_hinge_alpha.prox", v=[1.0, 0.2, -0.3], k=2, t=0.5)
    d = dual(p)
    p.param_dict["v"].value = np.array([3.0, 0.0, 1.0])
    assert solved(d) == pytest.approx(solved(p), abs=1e-7)
    model = problem("svm.primal", X=X, y=SIGNS, C=2.0)
    model.param_dict["C"].value = 3.0
    with pytest.raises(InvalidParameterError, match="the new arguments"):
        dual(model)


def test_residuals_say_what_is_wrong():
    p = problem("simplex.projection", a=[0.6, 0.6, -1.0])
    solved(p)
    rows = {(row.kind, row.says): row.residual for row in p.kkt()}
    assert max(rows.values()) < 1e-7
    p.variables()[0].value = np.array([0.5, 0.7, -0.1])
    named = {row.kind: row for row in p.kkt() if row.residual > 1e-3}
    rows = {(row.kind, row.says): row.residual for row in p.kkt()}
    assert rows["primal feasibility", "x >= 0"] == pytest.approx(0.1)
    assert rows["primal feasibility", "<1,x> = r"] == pytest.approx(0.1)
    assert rows["stationarity", "gradient in x"] == pytest.approx(0.2, abs=1e-6)
    assert rows["dual feasibility", "multiplier of x >= 0"] < 1e-7
    assert set(named) == {"primal feasibility", "stationarity", "complementary slackness"}
    p.constraints[0].dual_variables[0].save_value(np.array([-1.0, 0.0, 0.0]))
    rows = {(row.kind, row.says): row.residual for row in p.kkt()}
    assert rows["dual feasibility", "multiplier of x >= 0"] == 1.0
    assert "1.0e+00" in str(p.kkt())
    assert ">1.0e+00</td>" in p.kkt()._repr_html_()


def test_stationarity_at_ties_of_the_largest_entries_is_that_of_the_subdifferential():
    given = {"a": [1.1, 1.0, 0.9, 0.2, -0.4], "beta": [0.8, 0.4, 0.2, 0.1, 0.0]}
    p = problem("cardinality_polymatroid.projection", **given)
    solved(p)
    x = p.variables()[0]
    assert p.kkt().largest < 1e-6
    x.value = x.value + np.array([0.01, -0.01, 0.0, 0.0, 0.0])
    assert p.kkt().largest > 1e-3
    p = problem("cardinality_polymatroid.projection", a=[1.0, 1.0], beta=[1.0, 0.0])
    solved(p)  # a tie: only <1,x> <= 1 need be paid for
    assert p.kkt().largest < 1e-6
    tops = [rule for rule in p.constraints if "sum_largest" in str(rule)]
    assert len(tops) == 1
    tops[0].save_dual_value(tops[0].dual_value + 0.1)
    assert p.kkt().largest > 0.01


def test_a_kink_is_judged_by_the_conjugate():
    p = problem("topk_hinge_alpha.prox", v=[1.0, 0.2, -0.3], k=2, t=0.5)
    solved(p)
    assert p.kkt().largest < 1e-7
    next(v for v in p.variables() if v.name() == "z").value = np.array([-5.0, -5.0, -5.0])
    rows = {row.says: row.residual for row in p.kkt()}
    assert rows["L(z) + L*(x) = <z,x>"] > 0.01


def test_conjugates_are_suprema():
    assert solved(conjugate("l1_ball", w=[1.0, -3.0, 2.0], r=2.0)) == pytest.approx(6.0)
    x = [0.2, 0.5, 0.0]
    found = solved(conjugate("softmax", x=x))
    assert found == pytest.approx(float(refsolve.solve("softmax.conjugate", x=x).x), abs=1e-6)
    u = cp.Variable(3, name="u")
    assert solved(conjugate(cp.sum_squares(u) / 2, [1.0, 2.0, 3.0])) == pytest.approx(7.0)
    p = conjugate(cp.norm1(u), [1.0, 2.0, 3.0])
    assert solved(p) == np.inf
    assert str(p).startswith("maximize    <x,u> - ||u||_1")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: dual(problem("simplex.projection", a=[1.0]), k=2), "alone"),
        (lambda: dual(cp.Variable(2)), "cvxpy.Problem"),
        (lambda: dual(cp.Problem(cp.Minimize(cp.sqrt(cp.Variable())))), "convex"),
        (lambda: dual("ap_ramp.primal"), "has no dual"),
        (lambda: dual("truncated_topk_entropy.prox", v=[1.0, 2.0], k=1), "several convex"),
        (lambda: conjugate(cp.sqrt(cp.Variable())), "convex scalar"),
        (lambda: conjugate(cp.square(cp.Variable()), [1.0, 2.0]), "shape"),
        (lambda: conjugate(cp.square(cp.Variable()) + cp.Variable(), 1.0), "one variable"),
        (lambda: conjugate("simplex", [1.0], w=[1.0]), "name it"),
        (lambda: conjugate(cp.norm1(cp.Variable(2)), "a"), "finite numbers"),
        (lambda: problem("simplex.projection", a=[0.6]).kkt(), "a value"),
        (lambda: refsolve.kkt(_psd()), "inequality"),
    ],
)
def test_bad_input_is_refused(call, says):
    with pytest.raises(InvalidParameterError, match=says):
        call()


def _psd():
    M = cp.Variable((2, 2), name="M", value=np.eye(2))
    return cp.Problem(cp.Minimize(cp.trace(M)), [M >> 0])


def test_unknown_names_list_near_ones():
    with pytest.raises(UnknownProblemError, match="softmax"):
        conjugate("sofmax", x=[0.1])
    with pytest.raises(UnknownProblemError, match="svm"):
        dual("svn.primal")


def test_no_warning_comes_from_a_dual_that_is_dpp():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dual("simplex.projection", a=[0.6, 0.6, -1.0]).solve(solver="CLARABEL")


def test_equal_names_and_matrix_norms_keep_the_value_of_the_dual() -> None:
    x, same, X = cp.Variable(2, name="x"), cp.Variable(2, name="x"), cp.Variable((2, 3), name="X")
    C = np.arange(6.0).reshape(2, 3)
    for given in (
        cp.Problem(cp.Minimize(cp.sum(x) + 2 * cp.sum(same)), [x >= -1, same >= -1, x <= 1]),
        cp.Problem(cp.Minimize(cp.pnorm(X - C, 2)), [X <= 1]),
        cp.Problem(cp.Minimize(cp.sum(X, axis=0, keepdims=True) @ np.ones((3, 1))), [X >= -1]),
    ):
        dual = refsolve.dual(given)
        optimum = given.solve(solver="CLARABEL")
        assert abs(optimum - dual.solve(solver="CLARABEL")) < 1e-6 * (1 + abs(optimum))


def test_the_conditions_pass_no_point_that_they_do_not_prove() -> None:
    z, held = cp.Variable(2, name="z"), cp.Variable(2, name="held", nonneg=True)
    z.value, held.value = [0.0, 0.0], [0.0, 0.0]
    for objective in (-cp.sum_squares(z), cp.sum_squares(held)):
        with pytest.raises(InvalidParameterError):
            refsolve.kkt(cp.Problem(cp.Minimize(objective)))
    with pytest.raises(InvalidParameterError):
        refsolve.kkt("simplex")  # type: ignore[arg-type]
    kinked = cp.Problem(cp.Minimize(cp.pnorm(z, 2)), [cp.sum(z) == 0])
    z.value = [0.0, 0.0]
    kinked.constraints[0].dual_variables[0].save_value(np.array(0.0))
    assert np.isnan(refsolve.kkt(kinked).largest)


def _tied(kind: str, z: cp.Variable) -> tuple[cp.Problem, list[float], list[float], list[float]]:
    """A problem with a kink at its optimum, this, the only multiplier, and another point of the same value."""
    objective, optimum, price, other = {
        "norm1": (cp.norm1(z), [1.0, 0.0, 0.0], -1.0, [1.5, -0.5, 0.0]),
        "abs": (cp.sum(cp.abs(z - np.array([1.0, 1.0, 1.0]))), [1.0, 1.0, -1.0], 1.0, [1.0, 1.5, -1.5]),
        "norm_inf": (cp.norm_inf(z), [1 / 3] * 3, -1 / 3, [0.5, 0.5, 0.0]),
        "max": (cp.max(2 * z), [1 / 3] * 3, -2 / 3, [0.5, 0.5, 0.0]),
        "min": (-cp.min(z - 1), [1 / 3] * 3, 1 / 3, [0.5, 0.5, 0.0]),
        "maximum": (cp.sum(cp.maximum(z, 2 * z, 0)), [0.0, 0.0, 1.0], -2.0, [0.5, -0.5, 1.0]),
        "minimum": (-cp.sum(cp.minimum(z, 2 * z)), [1 / 3] * 3, 1.0, [0.5, -0.5, 1.0]),
        "sum_largest": (cp.sum_largest(z[::-1] + 1, 2), [1 / 3] * 3, -2 / 3, [0.5, 0.25, 0.25]),
        "nested": (cp.maximum(cp.max(z), cp.sum_largest(z, 2) - 1 / 3), [1 / 3] * 3, -1 / 3, [0.5, 0.5, 0.0]),
        "squared": (cp.square(cp.norm_inf(z)), [1 / 3] * 3, -2 / 9, [0.5, 0.5, 0.0]),
    }[kind]  # fmt: skip
    return cp.Problem(cp.Minimize(objective), [cp.sum(z) == 1]), optimum, price, other


KINKS = ["norm1", "abs", "norm_inf", "max", "min", "maximum", "minimum", "sum_largest", "nested", "squared"]


@pytest.mark.parametrize("kind", KINKS)
def test_at_kinks_a_subgradient_is_looked_for(kind: str) -> None:
    z = cp.Variable(3, name="z")
    p, optimum, price, other = _tied(kind, z)
    value = p.solve(solver="CLARABEL")
    z.value = np.array(optimum)
    assert p.objective.value == pytest.approx(value, abs=1e-7)
    multiplier = p.constraints[0].dual_variables[0]
    multiplier.save_value(np.array(price))
    assert refsolve.kkt(p).largest < 1e-7
    multiplier.save_value(np.array(price + 0.1))
    wrong = [refsolve.kkt(p).largest]
    multiplier.save_value(np.array(price))
    z.value = np.array(other)
    wrong.append(refsolve.kkt(p).largest)
    assert min(wrong) > 0.02


def test_the_dual_of_the_consistent_hinge_has_conditions_at_its_ties() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 3))
    given = {"X": rows, "y": np.arange(12) % 4, "C": 1.0, "k": 2}
    p = problem("multiclass_erm.dual", loss="consistent_topk_hinge", **given)
    solved(p)
    assert p.kkt().largest < 1e-6
    x = p.variables()[0]
    x.value = 0.99 * x.value
    assert {row.says: row.residual for row in p.kkt()}["gradient in x"] > 0.01


def test_what_a_declared_value_minimises_over_counts():
    p = problem("smooth_topk_hinge_alpha.prox", v=[1.0, 0.2, -0.3], k=2, gamma=0.5, t=0.5)
    solved(p)
    assert p.kkt().largest < 1e-6
    next(v for v in p.variables() if v.name() == "p").value = np.array([0.3, 0.3, 0.3])
    assert p.kkt().largest > 0.01


def test_a_dual_in_numbers_is_refused_after_a_change():
    x, r = cp.Variable(2, name="x"), cp.Parameter(name="r", nonneg=True, value=0.0)
    p = cp.Problem(cp.Minimize(r * cp.sum_squares(x - 2) + cp.sum(x)), [cp.abs(x) <= 1])
    d = dual(p)
    assert solved(d) == pytest.approx(solved(p), abs=1e-6)
    r.value = 2.0
    with pytest.raises(InvalidParameterError, match=r"call refsolve\.dual again"):
        d.solve(solver="CLARABEL")
    assert solved(dual(p)) == pytest.approx(solved(p), abs=1e-6)
    r.value = 3.0
    follows = dual(p)
    r.value = 1.0
    assert solved(follows) == pytest.approx(solved(p), abs=1e-6)


def test_parts_that_differ_are_printed_differently():
    from refsolve.notation import text

    x, y, X = cp.Variable(2, name="x"), cp.Variable(2, name="y"), cp.Variable((2, 3), name="X")
    shown = [
        text(each)
        for each in (
            cp.sum(cp.hstack([x, y])), cp.norm(X, 2, axis=0), cp.norm(X, "fro"),
            cp.reshape(X, (6,), order="C"), cp.reshape(X, (6,), order="F"), cp.log_sum_exp(X, axis=1),
            cp.log_sum_exp(X),
        )
    ]  # fmt: skip
    assert len(set(shown)) == len(shown), shown


def test_a_parameter_that_divides_is_no_warning():
    p = problem("smooth_topk_hinge_alpha.value", scores=[1.0, 0.2, -0.3], y=0, k=1, gamma=0.5)
    assert not p.is_dcp(dpp=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = p.solve(solver="CLARABEL")
        p.param_dict["gamma"].value = 1.0
        assert p.solve(solver="CLARABEL") < first - 1e-3
        dual("softmax.prox", v=[1.0, 0.2], t=0.5).solve(solver="CLARABEL")
    with pytest.raises(cp.DPPError):
        p.solve(solver="CLARABEL", enforce_dpp=True)


def test_values_that_nobody_solved_for_have_an_answer():
    p = problem("softmax.value", scores=[1.0, 0.2], y=0)
    for v in p.variables():
        v.value = np.full(v.shape, 0.5)
    assert p.answer == pytest.approx(np.log1p(np.exp(0.5)))


def test_large_problems_stay_sparse():
    n = 4_000
    x = cp.Variable(n, name="x")
    p = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) / 2), [x[::2] <= 0.5])
    q = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) / 2 + cp.exp(x[0])), [x[::2] <= 0.5])
    duals = [dual(each) for each in (p, q)]  # read off the expressions, and of its cones
    for d in duals:
        assert all(c.size < 10 * n or hasattr(c.value, "tocsr") for c in d.constants())
    assert solved(duals[0]) == pytest.approx(solved(p), rel=1e-6)


def test_conditions_at_sums_of_the_largest_of_a_matrix_or_of_half_an_entry():
    X = cp.Variable((2, 2), name="X", value=np.array([[0.4, 0.2], [0.1, 0.3]]))
    x = cp.Variable(3, name="x", value=np.array([0.3, 0.2, 0.1]))
    for objective, rule in (
        (
            cp.sum_squares(X - np.array([[1.0, 0.2], [0.1, 0.3]])),
            cp.sum_largest(cp.vec(X, order="F"), 1) <= 0.4,
        ),
        (cp.sum_squares(x - 1), cp.sum_largest(x, 1.5) <= 0.4),
    ):
        p = cp.Problem(cp.Minimize(objective), [rule])
        rule.dual_variables[0].save_value(np.array(0.0))
        assert not refsolve.kkt(p).largest < 0.1
