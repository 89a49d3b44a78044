"""Every convex operation as a CVXPY problem: its optimum is the oracle's, and it reads as it is written."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

import refsolve
from refsolve import catalogue
from refsolve.cvxpy_problem import problem
from refsolve.errors import InvalidParameterError, UnknownProblemError
from refsolve.spec import REQUIRED
from verification.checks import agreement
from verification.problems.problem import lookup

OPERATIONS = [
    name
    for name in refsolve.problems()
    if catalogue.kind(name.partition(".")[0]) != "models"
    and not hasattr(catalogue.load(name.partition(".")[0]), "pieces")
]
#: ECOS has no wheels for Python 3.13 and later.
SOLVERS = tuple(s for s in ("CLARABEL", "SCS", "ECOS") if s in cp.installed_solvers())

SETTINGS = {
    "SCS": {"eps": 1e-9, "max_iters": 100_000},
    "ECOS": {"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},
}


def solved(p: cp.Problem, solver: str = "CLARABEL") -> float:
    settings = SETTINGS.get(solver, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of long runs, of parameters that cannot be compiled once
        return float(p.solve(solver=solver, **settings))


def drawn(name: str, number: int) -> dict[str, object]:
    """The number-th instance by which solvers are compared with the oracle."""
    instance = agreement.instances(lookup(name), "quick", 0)[number]
    return {n: v for n, v in instance.params.items() if v is not None}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_as_it_is_declared_has_the_answer_of_the_oracle(name, solver):
    given = drawn(name, SOLVERS.index(solver))
    if name == "lambert_w_exp.value":
        given = {"t": float(np.ravel(given["t"])[0])}
    p = problem(name, **given)
    assert p.is_dcp()
    solved(p, solver)
    oracle = refsolve.solve(name, **given)
    if np.ndim(oracle.x) == 0 and np.isinf(oracle.x):
        assert "unbounded" in p.status
        return
    assert p.status.startswith("optimal")
    size = 1.0 + float(np.max(np.abs(oracle.x)))
    if lookup(
        name
    ).unique:  # of an entropy, as near as the root of the gap that cones are solved to
        curved = lookup(name).kind == "functions" or not lookup(name).generator.rational
        near = 3e-4 if curved else 1e-5
        np.testing.assert_allclose(p.answer, oracle.x, rtol=0, atol=near * size)
    else:  # of a gradient, what it attains; of a prox, the objective
        whole = given.get("sample_weight") or 1.0
        attained = p.value * (whole if name.endswith("gradient") else 1.0)
        reference = refsolve.solve(name.replace("gradient", "value"), **given)
        assert attained == pytest.approx(float(np.ravel(reference.value)[0]), abs=1e-5 * size)


@pytest.mark.parametrize("name", OPERATIONS)
def test_it_is_read_as_text_and_as_latex(name):
    given = drawn(name, 0)
    if name == "lambert_w_exp.value":
        given = {"t": float(np.ravel(given["t"])[0])}
    p = problem(name, **given)
    text, latex = str(p), p.latex()
    assert text.startswith(("minimize    ", "maximize    "))
    assert not any(unnamed in text + latex for unnamed in ("var", "param", "Expression"))
    assert latex.count("{") == latex.count("}")
    assert latex.count("\\left(") == latex.count("\\right)")
    assert p._repr_latex_().startswith("$$")


X = np.random.default_rng(5).standard_normal((6, 3))
Z = np.random.default_rng(6).standard_normal((6, 2))
SIGNS, WEIGHT = np.array([1, -1, 1, -1, 1, -1]), np.linspace(0.5, 2.0, 6)
POSITIVE, CLASSES = (SIGNS > 0).astype(int), [0, 1, 2, 3, 1, 2]
GRAM, GRAM_Z = X @ X.T, Z @ Z.T
PLUS = {"y": SIGNS, "C": 1.0, "lam": 0.5}
MODELS = [
    ("svm", {"X": X, "y": SIGNS, "C": 2.0, "loss": "hinge"}),
    ("svm", {"X": X, "y": SIGNS, "C": 2.0, "loss": "squared_hinge", "sample_weight": WEIGHT}),
    ("svm", {"K": GRAM, "y": SIGNS, "C": 2.0, "loss": "hinge", "sample_weight": WEIGHT}),
    *(("binary_svm", {"X": X, "y": POSITIVE, "C": 3.0, "bias": b}) for b in (False, True, "free")),
    ("svm_2k", {"X": X, "y": SIGNS, "Z": Z, "CA": 1.0, "CB": 2.0, "D": 0.5, "eps": 0.1}),
    ("svm_2k", {"K": GRAM, "y": SIGNS, "Kz": GRAM_Z, "CA": 1.0, "CB": 2.0, "D": 0.5,
                "sample_weight": WEIGHT}),
    *(
        (f"svm_plus_{loss}", {**PLUS, **data, "free_slack": own, "nonneg_slack": sign})
        for loss in ("hinge", "squared_hinge")
        for data, own, sign in (
            ({"X": X, "Z": Z}, 0.0, True),
            ({"X": X, "Z": Z, "sample_weight": WEIGHT}, 0.7, False),
            ({"K": GRAM, "Kz": GRAM_Z}, 0.7, True),
        )
    ),
    *(
        (f"svm_plus_{loss}", {**PLUS, "X": X, "Z": Z, "free_slack": own, **options})
        for loss in ("hinge", "squared_hinge")
        for own, options in (
            (0.0, {"penalize_bias": True}),
            (0.7, {"label_signed": True}),
            (0.0, {"label_signed": True, "penalize_bias": True, "nonneg_slack": True}),
        )
    ),
    ("top_push", {"X": X, "y": POSITIVE, "C": 2.0}),
    ("recall_at_k", {"X": X, "y": POSITIVE, "C": 2.0, "k": 2}),
    ("ap_svm", {"X": X, "y": POSITIVE, "C": 2.0}),
    ("ap_svm", {"X": X, "y": POSITIVE, "C": 2.0, "groups": [0, 0, 0, 1, 1, 1]}),
    ("ap_svm_appx", {"X": X, "y": POSITIVE, "C": 2.0, "easy": [True, True, *[False] * 4]}),
    ("ap_svm_appx", {"X": X, "y": POSITIVE, "C": 2.0, "easy": [True, True, *[False] * 4], "bias": False}),
    *(
        (model, {**data, "loss": loss, **more})
        for model, data in (
            ("multiclass_erm", {"X": X, "y": CLASSES, "C": 1.5}),
            ("pointwise_risk", {"p": [0.1, 0.2, 0.3, 0.4]}),
        )
        for loss, more in (
            ("topk_hinge_alpha", {"k": 2}),
            ("smooth_topk_hinge_beta", {"k": 2, "gamma": 0.5}),
            ("softmax", {}),
            ("ova_logistic", {}),
        )
    ),
    ("multiclass_erm", {"X": X, "y": CLASSES, "C": 1.5, "loss": "softmax", "sample_weight": WEIGHT}),
    ("multiclass_erm", {"X": X, "y": CLASSES, "lam": 0.2, "loss": "softmax", "n_classes": 6}),
    ("pointwise_risk", {"p": [0.1, 0.2, 0.3, 0.4], "loss": "softmax", "behind": (3, 0)}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "given"), MODELS)
@pytest.mark.parametrize("side", ["primal", "dual"])
def test_a_model_as_it_is_written_has_the_optimum_of_the_oracle(model, given, side):
    p = problem(f"{model}.{side}", **given)
    assert solved(p) == pytest.approx(
        float(refsolve.solve(f"{model}.{side}", **given).value), rel=2e-6, abs=1e-7
    )
    assert p.status == "optimal"
    assert set(p.answer) == {v.name() for v in p.variables()}
    assert not any(unnamed in str(p) + p.latex() for unnamed in ("var", "param", "Expression"))


@pytest.mark.parametrize("solver", [s for s in SOLVERS if s != "CLARABEL"])
@pytest.mark.parametrize(("model", "given"), list({m: (m, g) for m, g in MODELS}.values()))
def test_a_model_is_solved_by_every_solver(model, given, solver):
    for side in ("primal", "dual"):
        p = problem(f"{model}.{side}", **given)
        oracle = float(refsolve.solve(f"{model}.{side}", **given).value)
        assert solved(p, solver) == pytest.approx(oracle, rel=1e-5, abs=1e-6)
        assert p.status.startswith("optimal")


def test_every_convex_model_is_written():
    written = {model for model, _ in MODELS}
    convex = {m for m in catalogue.object_names("models") if "dual" in catalogue.operations(m)}
    assert written == convex


def test_multipliers_are_the_other_side():
    given = {"X": X, "y": SIGNS, "C": 2.0, "loss": "squared_hinge"}
    primal, dual = problem("svm.primal", **given), problem("svm.dual", **given)
    solved(primal)
    solved(dual)
    np.testing.assert_allclose(primal.duals["alpha"], dual.answer["alpha"], atol=1e-5)
    assert abs(dual.duals["b"]) == pytest.approx(abs(float(primal.answer["b"])), abs=1e-5)
    value = problem("softmax.value", scores=[1.0, 0.2, -0.5], y=0)
    solved(value)
    gradient = problem("softmax.gradient", scores=[1.0, 0.2, -0.5], y=0)
    solved(gradient)
    x = gradient.answer[1:]
    np.testing.assert_allclose(np.abs(value.duals["x"]), x, atol=1e-4)


def test_a_parameter_is_changed_and_the_problem_solved_again():
    p = problem("topk_simplex_alpha.projection", a=[0.9, 0.4, -0.2], k=2, r=1.0)
    assert p.is_dcp(dpp=True)
    solved(p)
    p.param_dict["a"].value = np.array([2.0, 1.5, 0.1])
    solved(p)
    again = refsolve.solve("topk_simplex_alpha.projection", a=[2.0, 1.5, 0.1], k=2, r=1.0)
    np.testing.assert_allclose(p.answer, again.x, atol=1e-6)


def test_nothing_is_known_before_a_solve():
    p = problem("simplex.projection", a=[0.6, 0.6, -1.0])
    assert p.answer is None
    assert set(p.duals.values()) == {None}


@pytest.mark.parametrize(
    ("name", "given", "error", "says"),
    [
        ("simplex.projektion", {}, UnknownProblemError, "simplex.projection"),
        ("simplex.projection", {}, InvalidParameterError, "a is missing"),
        ("simplex.projection", {"a": [0.5], "k": 2}, InvalidParameterError, "k"),
        ("truncated_topk_entropy.value", {}, InvalidParameterError, "least of several convex"),
        ("ap_ramp.primal", {}, InvalidParameterError, "has no dual"),
        ("svm.primal", {"X": X, "y": SIGNS, "C": 0.0}, InvalidParameterError, "C"),
        (
            "recall_at_k.primal",
            {"X": np.eye(40), "y": [0, 1] * 20, "C": 1.0, "k": 20},
            InvalidParameterError,
            "at most 10000 sets",
        ),
        (
            "ap_svm.primal",
            {"X": np.eye(40), "y": [0, 1] * 20, "C": 1.0},
            InvalidParameterError,
            "fewer examples",
        ),
    ],
)
def test_bad_input_is_refused(name, given, error, says):
    with pytest.raises(error, match=says):
        problem(name, **given)


def test_expressions_are_written_as_they_are():
    """No sign, bracket, factor, step or axis is lost."""
    from refsolve.notation import text

    x, y = cp.Variable(3, name="x"), cp.Variable(3, name="y")
    X, C = cp.Variable((3, 2), name="X"), cp.Parameter(name="C", nonneg=True, value=2.0)
    A = cp.Constant(np.arange(9.0).reshape(3, 3), name="A")
    for expression, shown in (
        (C * (-y), "-C * y"),
        (C * cp.sum(cp.entr(x)), "-C sum_i x_i log x_i"),
        (y - C * cp.Constant(-2.0), "y + 2 C"),
        (cp.sum(cp.entr(x)) / 2, "-1/2 sum_i x_i log x_i"),
        (cp.quad_over_lin(x, C), "||x||^2/C"),
        (cp.quad_over_lin(x, 4), "||x||^2/4"),
        (x[::2], "x[0:3:2]"),
        (cp.sum(cp.square(A @ x - 1)), "sum_i ((A x)_i - 1)^2"),
        (np.ones((3, 3)) @ x, "[3 x 3] x"),
        (cp.sum(X, axis=0), "Sum(X, 0)"),
        (cp.huber(y, 2), "huber(y, 2.0)"),
        ((x + y) / np.array([1, 2, 4.0]), "(x + y)/(1, 2, 4)"),
        (cp.sum(cp.entr(X[0])), "-sum_i X[0,i] log X[0,i]"),
        (C * (x - y), "C * (x - y)"),
        (2 * (x - y), "2 (x - y)"),
        (cp.sum(cp.hstack([cp.max(x), cp.sum_squares(y)])), "max(x) + ||y||^2"),
        (cp.sum(cp.hstack([x, y])), "<1,x> + <1,y>"),
    ):
        assert text(expression) == shown


def test_constraints_that_read_alike_are_all_kept():
    from refsolve.notation import by_text

    x = cp.Variable(20, name="x")
    rules = [np.arange(20.0) @ x <= 1, np.ones(20) @ x >= 0, np.arange(20.0)[::-1] @ x <= 1]
    assert list(by_text(rules).values()) == rules


def test_a_model_without_rankings_is_a_hard_margin():
    given = {"X": X, "y": POSITIVE, "C": 2.0, "easy": [True] * 6}
    rows = X * 1.0
    rows[:, 0] = 2.0 * SIGNS + 0.1 * X[:, 0]
    given["X"] = rows
    for side in ("primal", "dual"):
        p = problem(f"ap_svm_appx.{side}", **given)
        assert solved(p) == pytest.approx(
            float(refsolve.solve(f"ap_svm_appx.{side}", **given).value), rel=1e-6
        )


@pytest.mark.parametrize(("model", "given"), MODELS)
def test_answers_of_the_oracle_have_the_names_of_the_problem(model, given):
    """The values by name, put into the problem, are feasible and have its optimum."""
    seen = 0
    for side in ("primal", "dual"):
        p, found = problem(f"{model}.{side}", **given), refsolve.solve(f"{model}.{side}", **given)
        named = found.named
        fixed = [
            v for v in p.variables() if v.name() in named and np.shape(named[v.name()]) == v.shape
        ]
        if not fixed or ("rankings" in named and side == "dual"):  # alpha of the cuts that are kept
            continue
        rules = [cp.abs(v - named[v.name()]) <= 1e-6 for v in fixed]
        bound = cp.Problem(p.objective, [*p.constraints, *rules])
        assert solved(bound) == pytest.approx(float(found.value), rel=1e-4, abs=1e-5)
        for v in fixed:
            assert np.array_equal(getattr(found, v.name()), named[v.name()])
        seen += 1
    assert seen
    with pytest.raises(AttributeError, match="by name it has"):
        _ = found.weight


#: Arguments that some model takes.
KNOWN = {
    s.name: s
    for model in catalogue.object_names("models")
    for s in (*catalogue.load(model).SPEC.arguments, *catalogue.load(model).SPEC.options)
}
VALUES = {"sample_weight": WEIGHT, "costs": [1.0] * 4, "groups": [0] * 6, "n_classes": 4, "lam": 0.3, "k": 2,
          "Z": Z, "Kz": GRAM_Z, "gamma": 0.5, "start": np.zeros(3), "tol": 1e-6}  # fmt: skip


@pytest.mark.parametrize("model", sorted({model for model, _ in MODELS}))
def test_what_is_listed_is_taken_and_what_is_not_is_refused(model):
    given, spec = dict(next(g for m, g in MODELS if m == model)), catalogue.load(model).SPEC
    listed = {s.name: s.default for s in (*spec.arguments, *spec.options)}
    for call in (refsolve.solve, problem):
        for name, default in listed.items():
            call(f"{model}.primal", **{**given, name: given.get(name, default)})
        for name in KNOWN.keys() - listed.keys():
            value = VALUES.get(name, KNOWN[name].default)
            with pytest.raises(InvalidParameterError):
                call(f"{model}.primal", **{**given, name: 1.0 if value is REQUIRED else value})
        call(f"{model}.primal", **given, tol=1e-6)
    with pytest.raises(InvalidParameterError, match="tol"):
        refsolve.solve(f"{model}.primal", **given, tol=0.0)


def test_the_tolerance_decides_what_is_certified():
    given = {"X": X, "y": SIGNS, "C": 2.0}
    found = refsolve.solve("svm.primal", **given, solver="SCS", tol=0.1)
    assert str(found.status) == "certified"
    assert str(refsolve.solve("svm.primal", **given, solver="SCS", tol=1e-17).status) == "uncertain"
