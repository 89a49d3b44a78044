"""Whatever is passed, the answer is a result or one of our own exceptions that names the argument."""

import pickle

import numpy as np
import pytest
from _draw import LOSSES, SETS, biased, example, set_params
from hypothesis import given, settings
from hypothesis import strategies as st

import refsolve
from refsolve import catalogue
from refsolve.errors import InvalidParameterError

NOT_A_NUMBER = st.one_of(
    st.none(), st.text(max_size=3), st.booleans(), st.just(float("nan")), st.just(float("inf")),
    st.just(1j), st.lists(st.floats(), max_size=2), st.just(object()),
)  # fmt: skip
NOT_A_VECTOR = st.one_of(
    st.none(), st.text(max_size=3), st.just([]), st.just([[1.0, 2.0]]), st.just([1.0, float("nan")]),
    st.just([float("-inf"), 0.0]), st.just(["a", "b"]), st.just([1.0, None]), st.just([[1.0], [1.0, 2.0]]),
    st.just(np.zeros((2, 2))), st.just(np.array([1.0, 2.0], dtype=object)), st.just([True, False]),
    st.just([1e200, 1.0]), st.just(1.0), st.just({"a": 1}),
)  # fmt: skip
QUICK = settings(max_examples=25, deadline=None, derandomize=True)


def _refused(argument, problem, **arguments):
    with pytest.raises(InvalidParameterError) as caught:
        refsolve.solve(problem, **arguments)
    assert caught.value.argument == argument
    message = str(caught.value)
    assert message.startswith((f"{argument} = ", f"{argument} is missing"))
    assert "expected" in message
    assert "Fix: " in message


@pytest.mark.parametrize("object_name", SETS)
@QUICK
@given(bad=NOT_A_VECTOR)
def test_projection_refuses_bad_points(object_name, bad):
    _refused("a", f"{object_name}.projection", a=bad, **set_params(object_name, 1, 1.0, 2))


@pytest.mark.parametrize("object_name", SETS)
@QUICK
@given(bad=NOT_A_NUMBER | st.floats(max_value=-1e-300) | st.floats(min_value=1e151))
def test_projection_refuses_bad_parameters(object_name, bad):
    good = set_params(object_name, 1, 1.0, 2)
    for name in ("r", "rho"):
        if name in good or name in biased(object_name, 1.0):
            _refused(name, f"{object_name}.projection", a=[1.0, 2.0], **{**good, name: bad})
    if "k" in good:
        _refused("k", f"{object_name}.projection", a=[1.0, 2.0], **{**good, "k": bad})


OPERATIONS = {
    "value": ("scores", {"scores": [0.1, 0.2, 0.3], "y": 1}),
    "gradient": ("scores", {"scores": [0.1, 0.2, 0.3], "y": 1}),
    "conjugate": ("x", {"x": [0.1, 0.1, -0.2]}),
    "prox": ("v", {"v": [0.5, -0.5, 0.1]}),
    "sdca_update": ("q", {"q": [0.1, 0.2, 0.3], "y": 1, "k_ii": 1.0}),
}
SCALARS = {
    "value": ("sample_weight",),
    "gradient": ("sample_weight",),
    "conjugate": (),
    "prox": ("t",),
    "sdca_update": ("sample_weight", "k_ii", "C"),
}


@pytest.mark.parametrize(
    "problem", [p for p in catalogue.problems("losses") if catalogue.split(p)[0] in LOSSES]
)
@settings(max_examples=10, deadline=None, derandomize=True)
@given(vector=NOT_A_VECTOR, scalar=NOT_A_NUMBER | st.floats(max_value=-1e-300))
def test_losses_refuse_bad_arguments(problem, vector, scalar):
    object_name, operation = catalogue.split(problem)
    name, good = OPERATIONS[operation]
    case = example(object_name, np.random.default_rng(0), 3)
    params = case.params
    good = {**good, "y": case.y} if "y" in good else {**good, **case.labels}
    if name in ("x", "v"):
        good = {**good, name: good[name][: case.loss.d]}
    _refused(name, problem, **{**good, **params, name: vector})
    for other in (*SCALARS[operation], *params):
        _refused(other, problem, **{**good, **params, other: scalar})
    if vector is not None:
        _refused("costs", problem, **good, **params, costs=vector)
    if "y" in good:
        _refused("y", problem, **{**good, **params, "y": scalar})
        _refused("y", problem, **{**good, **params, "y": 3})
        if case.labels:
            for wrong in ([0, 1, 2], [0, 1], [0, np.nan, 1], [0, 0.5, 1], [[0, 1, 0]]):
                _refused("y", problem, **{**good, **params, "y": wrong})


@pytest.mark.parametrize("object_name", LOSSES)
def test_ranges_that_depend_on_the_number_of_classes(object_name):
    case = example(object_name, np.random.default_rng(0), 3)
    params = {**case.params, "k": 1} if "k" in case.params else case.params
    good = {"scores": [0.1, 0.2, 0.3], "y": case.y, **params}
    if "k" in params:
        (symbol,) = (s for s in catalogue.load(object_name).SPEC.symbols if s.name == "k")
        if symbol.high == "d":
            _refused("k", f"{object_name}.value", **{**good, "k": 3})
        else:
            assert refsolve.solve(f"{object_name}.value", **{**good, "k": 3}).status == "certified"
        _refused("k", f"{object_name}.value", **{**good, "k": 0})
    if "gamma" in params:
        _refused("gamma", f"{object_name}.value", **{**good, "gamma": 0.0})
    _refused("scores", f"{object_name}.value", **{**good, "scores": [1.0]})
    if case.family.name == "multiclass":
        _refused("costs", f"{object_name}.value", **good, costs=[1.0, 1.0, 1.0])
    _refused("nonsense", f"{object_name}.value", **good, nonsense=1)


@pytest.mark.parametrize("problem", refsolve.problems())
def test_a_call_without_arguments_says_what_is_missing(problem):
    with pytest.raises(InvalidParameterError, match=r"^[A-Za-z_]+ is missing: expected") as refused:
        refsolve.solve(problem)
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_overflow_of_a_product_is_refused():
    given = {"q": [0.0, 1.0], "y": 0, "k_ii": 1e100, "C": 1e100}
    _refused("k_ii", "multiclass_hinge.sdca_update", **given)


def test_unknown_solver():
    _refused("solver", "simplex.projection", a=[1.0], solver="GUROBI")
    _refused("solver", "simplex.projection", a=[1.0], solver=3)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    a=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6),
    k=st.integers(1, 7),
    r=st.floats(0, 1e6),
    rho=st.floats(0, 1e3),
    object_name=st.sampled_from(SETS),
)
def test_any_valid_projection_is_answered(a, k, r, rho, object_name):
    point = np.array(a)
    params = set_params(object_name, k, r, point.size) | biased(object_name, rho)
    result = refsolve.solve(f"{object_name}.projection", a=point, **params)
    assert (point == a).all()
    assert result.certificate.gap >= 0
    truth = refsolve.exact.project(object_name, a, **params).array()
    error = np.linalg.norm(result.x - truth)
    assert error <= result.certificate.distance + 1e-15 * (1 + np.linalg.norm(truth))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6),
    k=st.integers(1, 7),
    gamma=st.floats(1e-6, 1e6),
    object_name=st.sampled_from(LOSSES),
    operation=st.sampled_from(["value", "gradient"]),
)
def test_any_loss_is_answered_or_refused_by_name(scores, k, gamma, object_name, operation):
    module = catalogue.load(object_name)
    names, m = module.SPEC.names, len(scores)
    y = (
        0
        if "y" not in example(object_name, np.random.default_rng(0), 2).labels
        else np.eye(m, dtype=int)[0]
    )
    params = {n: v for n, v in (("k", k), ("gamma", gamma)) if n in names}
    if "k" in params and k > m - 1 and "d" in [s.high for s in module.SPEC.symbols]:
        _refused("k", f"{object_name}.{operation}", scores=scores, y=y, **params)
    else:
        result = refsolve.solve(f"{object_name}.{operation}", scores=scores, y=y, **params)
        assert str(result.status) == "certified"
