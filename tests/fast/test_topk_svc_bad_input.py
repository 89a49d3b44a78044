"""Bad input ends in an error that names the argument, ours with the fix; never in a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from fast import TopKSVC
from fast.errors import FastError, InvalidParameterError, InvalidTypeError

RNG = np.random.default_rng(0)
Y = np.arange(12) % 4
X = RNG.standard_normal((12, 3)) + Y[:, None]
SPOT = np.arange(36).reshape(12, 3) == 10
HUGE, NAN, INF = 1e80, float("nan"), float("inf")


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *[("k", v) for v in (0, -1, 4, 10**30, 1.0, 1.5, NAN, "1", None, True, [1], np.array([1]))],
        *[("gamma", v) for v in (-1e-9, NAN, INF, HUGE, 1 / HUGE, "1", None, [0.5, 0.5], 1j)],
        *[("C", v) for v in (0, 0.0, -1, NAN, INF, "1", None, [1.0], 1j, HUGE, 1 / HUGE)],
        *[("tol", v) for v in (0, -1, NAN, INF, "x", None)],
        *[("max_iter", v) for v in (0, -5, 1.5, "10", None, NAN)],
        *[("solver", v) for v in ("newtons", "", None, 3, "ACTIVE", ["auto"])],
        *[("variant", v) for v in ("gamma", "", None, 1, "Alpha", ["alpha"])],
        *[("class_weight", v) for v in ({0: -1.0}, {0: NAN}, {0: INF})],
    ],
    ids=lambda v: repr(v).replace("/", "")[:20],
)
def test_parameters_out_of_range(argument, value):
    model = TopKSVC(**{argument: value})
    with pytest.raises(InvalidParameterError) as caught:
        model.fit(X, Y)
    error = caught.value
    assert error.argument == argument
    assert str(error).startswith(f"{argument}: ")
    assert error.fix
    assert f"Fix: {error.fix}." in str(error)
    assert error.expected in str(error)
    if argument in ("k", "C", "gamma") and isinstance(value, (str, type(None), complex)):
        assert isinstance(error, InvalidTypeError)
    assert not hasattr(model, "coef_")


def test_newton_needs_a_smooth_loss():
    with pytest.raises(InvalidParameterError, match=r"^solver: .*gamma = 0.*Fix: set gamma > 0"):
        TopKSVC(solver="newton").fit(X, Y)


@pytest.mark.parametrize(
    ("data", "labels", "message"),
    [
        (np.where(SPOT, np.nan, X), Y, "X contains NaN"),
        (np.where(SPOT, -np.inf, X), Y, "X contains infinity"),
        (sp.csr_array(np.where(SPOT, np.nan, X)), Y, "X contains NaN"),
        (HUGE * X, Y, r"^X: .*rescale X"),
        (sp.csr_array(HUGE * X), Y, r"^X: .*rescale X"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X[:, 0], Y, "Expected 2D array"),
        (X[None], Y, "dim 3"),
        (X[0, 0], Y, "2D array"),
        (X, np.zeros(12), r"^y: one class.*Fix: "),
        (X[:1], Y[:1], "y: one class|1 sample"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, Y + 0.5 * X[:, 0], "Unknown label type"),
        (X, np.where(Y == 2, np.nan, Y), "contains NaN"),
        (X, np.column_stack([Y, Y]), "y should be a 1d array"),
        (X, None, "requires y to be passed|y cannot be None"),
        (X.astype(str) + np.array("x"), Y, "could not convert string"),
        (np.array([["a"] * 3] * 12, dtype=object), Y, "could not convert string"),
        (X.astype(complex), Y, "Complex data not supported"),
        ([[1.0, 2.0], [3.0]], [0, 1], "inhomogeneous|sequence"),
    ],
)
@pytest.mark.parametrize("solver", ["active", "sdca"])
def test_data(data, labels, message, solver):
    model = TopKSVC(solver=solver)
    with pytest.raises(ValueError, match=message):
        model.fit(data, labels)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(11), "sample_weight.shape"),
        (np.ones((12, 2)), "[Ss]ample.weight"),
        (-np.ones(12), "[Nn]egative values.*sample_weight"),
        (np.where(Y == 1, np.nan, 1.0), "sample_weight contains NaN"),
        (np.where(Y == 1, np.inf, 1.0), "sample_weight contains infinity"),
        (np.zeros(12), "Sample weights must contain at least one non-zero"),
        (np.full(12, HUGE), r"^C: .*sample_weight"),
    ],
)
def test_sample_weights(weight, message):
    with pytest.raises(ValueError, match=message):
        TopKSVC().fit(X, Y, sample_weight=weight)


def test_classes_that_all_weigh_nothing():
    with pytest.raises(InvalidParameterError, match=r"^sample_weight: all zero.*Fix: "):
        TopKSVC(class_weight=dict.fromkeys(range(4), 0.0)).fit(X, Y)


def test_objects_that_are_numbers_are_accepted():
    a = TopKSVC(random_state=0).fit(X.astype(object), Y)
    np.testing.assert_array_equal(a.coef_, TopKSVC(random_state=0).fit(X, Y).coef_)


def test_a_failed_refit_keeps_the_message_clear():
    model = TopKSVC(warm_start=True, random_state=0).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"^k: 2.*<= 1"):
        model.set_params(k=2).fit(X, Y > 1)
    model.set_params(k=1).fit(X, Y > 1)
    assert model.coef_.shape == (2, 3)


ANY_NUMBER = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-3, 6),
    st.sampled_from([None, "1", True, 1e-320, 1e-200, 1e-60, 1e60, 1e200, [1], np.float32(0.5)]),
)


def calm_fit(model, *data):
    """Fit; returns the error, if any. Warnings are errors, but for three harmless ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataConversionWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        try:
            model.fit(*data)
        except ValueError as error:
            return error
        return None


@settings(max_examples=150)
@given(
    k=st.one_of(st.integers(-1, 5), ANY_NUMBER),
    C=ANY_NUMBER,
    gamma=ANY_NUMBER,
    tol=ANY_NUMBER,
    variant=st.sampled_from(["alpha", "beta", "delta", None]),
    solver=st.sampled_from(["auto", "active", "sdca", "newton", "x"]),
)
@example(k=1, C=1.0, gamma=1e200, tol=1e-3, variant="alpha", solver="newton")
@example(k=2, C=1e60, gamma=1e-200, tol=1e-9, variant="beta", solver="newton")
@example(k=2, C=1e-60, gamma=1e200, tol=1e-9, variant="beta", solver="active")
@example(k=2, C=1e-60, gamma=0.5, tol=1e-200, variant="alpha", solver="newton")
@example(k=3, C=1e60, gamma=0.0, tol=1e-3, variant="alpha", solver="active")
def test_fuzzed_parameters(k, C, gamma, tol, variant, solver):
    """Either an error of ours, or a model whose claims are consistent."""
    model = TopKSVC(
        k=k, C=C, gamma=gamma, tol=tol, variant=variant, solver=solver, max_iter=5, random_state=0
    )
    error = calm_fit(model, X, Y)
    if error is not None:
        assert isinstance(error, FastError)
        assert error.argument in ("k", "C", "gamma", "tol", "variant", "solver")
        assert "Fix: " in str(error)
        return
    assert np.isfinite(model.coef_).all()
    assert 0.0 <= model.dual_gap_ <= np.inf
    assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)


ROWS = st.shared(st.integers(0, 6), key="rows")
LENGTHS = ROWS | hnp.array_shapes(max_dims=2, min_side=0, max_side=6)
LABELS = [
    (np.int64, st.integers(-2, 2)),
    (np.float64, st.sampled_from([0.0, 1.0, -3.0, 0.5, NAN, INF])),
    ("U3", st.sampled_from(["", "a", "b", "nan"])),
    (bool, st.booleans()),
    (object, st.sampled_from(["a", "b", "c", None, 1])),
]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)


@settings(max_examples=300)
@given(
    X=hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64]),
        st.tuples(ROWS, st.integers(0, 4)) | SHAPES,
    ),
    y=st.sampled_from(LABELS).flatmap(lambda e: hnp.arrays(e[0], LENGTHS, elements=e[1])),
    weight=st.none() | hnp.arrays(np.float64, ROWS | st.integers(0, 6)),
    sparse=st.booleans(),
    solver=st.sampled_from(["active", "sdca"]),
)
def test_fuzzed_data(X, y, weight, sparse, solver):
    if sparse and X.ndim == 2:
        X = sp.csr_array(X)
    model = TopKSVC(solver=solver, max_iter=3, random_state=0)
    error = calm_fit(model, X, y, weight)
    if error is not None:
        assert str(error)
        return
    assert model.coef_.shape == (len(np.unique(y)), X.shape[1])
    assert np.isfinite(model.coef_).all()
    assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)
    assert model.predict(X).shape == (X.shape[0],)
