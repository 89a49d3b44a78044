"""Bad input to APSVM ends in an error that names the argument and the fix; never in a crash."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from fast import APSVM
from fast.errors import FastError, InvalidParameterError, InvalidTypeError

RNG = np.random.default_rng(0)
Y = np.arange(12) % 3 == 0
X = RNG.standard_normal((12, 3)) + Y[:, None]
G = np.repeat([5, 3], 6)
SPOT = np.arange(36).reshape(12, 3) == 10
HUGE, NAN, INF = 1e80, float("nan"), float("inf")


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *[("C", v) for v in (0, 0.0, -1, NAN, INF, "1", None, [1.0], 1j, HUGE, 1 / HUGE)],
        *[("tol", v) for v in (0, -1, NAN, INF, "x", None)],
        *[("max_iter", v) for v in (0, -5, 1.5, "10", None, NAN, True)],
        *[("solver", v) for v in ("newton", "", None, 3, "BUNDLE", ["auto"])],
        *[("method", v) for v in ("yue", "", None, 3, "Greedy", ["greedy"])],
        *[("easy_fraction", v) for v in (-0.1, 1.01, NAN, INF, "0.5", None, [0.5])],
        *[("ramp", v) for v in (1, 0, None, "yes")],
        *[("warm_start", v) for v in (1, None)],
        *[("verbose", v) for v in (None, "1", 0.5)],
    ],
    ids=lambda v: repr(v).replace("/", "")[:20],
)
def test_parameters_out_of_range(argument, value):
    model = APSVM(**{argument: value})
    with pytest.raises(InvalidParameterError) as caught:
        model.fit(X, Y)
    error = caught.value
    assert error.argument == argument
    assert str(error).startswith(f"{argument}: ")
    assert f"Fix: {error.fix}." in str(error)
    if argument in ("C", "easy_fraction") and isinstance(value, (str, type(None), complex)):
        assert isinstance(error, InvalidTypeError)
    assert not hasattr(model, "coef_")


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
        (X, np.zeros(12), r"^y: one class.*Fix: "),
        (X, np.arange(12) % 3, r"^y: 3 classes.*Only binary classification.*y == label"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, Y + 0.5 * X[:, 0], "Unknown label type"),
        (X, np.where(Y, np.nan, 0.0), "contains NaN"),
        (X, np.column_stack([Y, Y]), "y should be a 1d array"),
        (X, None, "requires y to be passed|y cannot be None"),
        (X.astype(str) + np.array("x"), Y, "could not convert string"),
        (np.array([["a"] * 3] * 12, dtype=object), Y, "could not convert string"),
        (X.astype(complex), Y, "Complex data not supported"),
        ([[1.0, 2.0], [3.0]], [0, 1], "inhomogeneous|sequence"),
        (X, np.where(Y, "a", None), "label|y: "),
    ],
)
def test_data(data, labels, message):
    model = APSVM()
    with pytest.raises(ValueError, match=message):
        model.fit(data, labels)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (G[:-1], r"^groups: shape \(11,\).*Fix: "),
        (G[:, None], r"^groups: shape \(12, 1\)"),
        (3, r"^groups: shape \(\)"),
        (np.where(Y, 7, 8), r"^groups: .*without a positive \(8\).*Fix: drop"),
        (np.where(np.arange(12) == 3, "odd", "rest"), r"^groups: .*without a negative \(odd\)"),
        (np.arange(12), r"^groups: 8 without a positive \(1, 2, 4, 5, 7, \.\.\.\)"),
        (np.where(Y, None, "a"), r"^groups: a missing label"),
        (np.array([NAN, *"ab" * 5, "a"], dtype=object), r"^groups: a missing label"),
        (np.array([1, "a"] * 6, dtype=object), r"^groups: labels of several types.*Fix: convert"),
        (G + 0.5, r"^groups: dtype float64"),
    ],
)
def test_groups(groups, message):
    with pytest.raises(InvalidParameterError, match=message):
        APSVM().fit(X, Y, groups=groups)


def test_missing_groups_of_pandas():
    pd = pytest.importorskip("pandas")
    for groups in (pd.Series(["a", None] * 6), pd.Series([1, None] * 6, dtype="Int64")):
        with pytest.raises(InvalidParameterError, match=r"^groups: a missing label"):
            APSVM().fit(X, Y, groups=groups)


def test_score_says_what_is_wrong():
    model = APSVM().fit(X, Y)
    for labels, groups, message in (
        (Y[:-1], None, r"^y: 11 labels for 12 rows"),
        (np.where(Y, "a", "b"), None, r"^y: label .*Fix: "),
        (np.zeros(12, bool), None, r"^y: no example of class .*True.*Fix: "),
        (Y, G[:-1], r"^groups: shape"),
        (Y, np.where(Y, 7, 8), r"^groups: no example of class .*True.* in query .*8"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            model.score(X, labels, groups)
    with pytest.raises(InvalidParameterError, match=r"^sample_weight: given"):
        model.score(X, Y, sample_weight=np.ones(12))
    with pytest.raises(ValueError, match="3 features"):
        model.score(X[:, :2], Y)
    assert model.score(X, np.ones(12, bool)) == 1.0  # nothing to rank below them


ANY_NUMBER = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-3, 6),
    st.sampled_from([None, "1", True, 1e-320, 1e-200, 1e-60, 1e60, 1e200, [1], np.float32(0.5)]),
)


def calm_fit(model, *data, **more):
    """Fit; returns the error, if any. Warnings are errors, but for three harmless ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataConversionWarning)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        try:
            model.fit(*data, **more)
        except ValueError as error:
            return error
        return None


@settings(max_examples=100)
@given(
    C=ANY_NUMBER,
    tol=ANY_NUMBER,
    fraction=st.just(0.0) | ANY_NUMBER,
    ramp=st.booleans(),
    solver=st.sampled_from(["auto", "bundle", "cutting_plane", "x"]),
    groups=st.sampled_from([None, G, G[::-1]]),
)
def test_fuzzed_parameters(C, tol, fraction, ramp, solver, groups):
    """Either an error of ours, or a model whose claims are consistent."""
    model = APSVM(C=C, tol=tol, easy_fraction=fraction, ramp=ramp, solver=solver, max_iter=5)
    error = calm_fit(model, X, Y, groups=groups)
    if error is not None:
        assert isinstance(error, FastError)
        assert error.argument in ("C", "tol", "easy_fraction", "solver", "easy_mask")
        assert "Fix: " in str(error)
        return
    assert np.isfinite(model.coef_).all()
    assert 0.0 <= model.dual_gap_ <= np.inf
    assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)


ROWS = st.shared(st.integers(0, 6), key="rows")
LENGTHS = ROWS | hnp.array_shapes(max_dims=2, min_side=0, max_side=6)
LABELS = [
    (np.int64, st.integers(0, 1)),
    (np.float64, st.sampled_from([0.0, 1.0, 0.5, NAN, INF])),
    ("U3", st.sampled_from(["", "a", "nan"])),
    (bool, st.booleans()),
    (object, st.sampled_from(["a", "b", None, 1])),
]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)


@settings(max_examples=200)
@given(
    X=hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64]),
        st.tuples(ROWS, st.integers(0, 4)) | SHAPES,
    ),
    y=st.sampled_from(LABELS).flatmap(lambda e: hnp.arrays(e[0], LENGTHS, elements=e[1])),
    groups=st.none() | hnp.arrays(np.int64, ROWS | st.integers(0, 6), elements=st.integers(0, 1)),
    sparse=st.booleans(),
)
def test_fuzzed_data(X, y, groups, sparse):
    if sparse and X.ndim == 2:
        X = sp.csr_array(X)
    model = APSVM(max_iter=3)
    error = calm_fit(model, X, y, groups=groups)
    if error is not None:
        assert str(error)
        return
    assert model.coef_.shape == (1, X.shape[1])
    assert np.isfinite(model.coef_).all()
    assert model.dual_objective_ <= model.primal_objective_ * (1 + 1e-9)
    assert model.predict(X).shape == (X.shape[0],)
