"""Bad input that every estimator meets, and how a fit of it is judged."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from fast.errors import CollapseWarning, InvalidParameterError, InvalidTypeError

HUGE, NAN, INF = 1e80, float("nan"), float("inf")
SPOT = np.arange(36).reshape(12, 3) == 10
PRICES = (0, 0.0, -1, NAN, INF, "1", None, [1.0], 1j, HUGE, 1 / HUGE)
COMMON = [
    *[("C", v) for v in PRICES],
    *[("tol", v) for v in (0, -1, NAN, INF, "x", None)],
    *[("max_iter", v) for v in (0, -5, 1.5, "10", None, NAN)],
]


def name(value):
    """Identifier of an estimator, an argument or a value."""
    return getattr(value, "__name__", repr(value)).replace("/", "")[:20]


def refused(model, argument, *data, typed=()):
    """The error that names the argument and the fix; nothing is fitted."""
    with pytest.raises(InvalidParameterError) as caught:
        model.fit(*data)
    error = caught.value
    assert error.argument == argument
    assert str(error).startswith(f"{argument}: ")
    assert error.fix
    assert f"Fix: {error.fix}." in str(error)
    assert error.expected in str(error)
    value = getattr(model, argument)
    if argument in typed and isinstance(value, (str, type(None), complex)):
        assert isinstance(error, InvalidTypeError)
    assert not hasattr(model, "coef_")


def refused_data(model, message, *data):
    """An error that says this; nothing is fitted."""
    with pytest.raises(ValueError, match=message):
        model.fit(*data)
    assert not hasattr(model, "coef_")


def data(X, Y):
    """Features and labels, and what is said of them, for 12 rows of 3 features."""
    return [
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
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X, Y + 0.5 * X[:, 0], "Unknown label type"),
        (X, np.column_stack([Y, Y]), "y should be a 1d array"),
        (X, None, "requires y to be passed|y cannot be None"),
        (X.astype(str) + np.array("x"), Y, "could not convert string"),
        (np.array([["a"] * 3] * 12, dtype=object), Y, "could not convert string"),
        (X.astype(complex), Y, "Complex data not supported"),
        ([[1.0, 2.0], [3.0]], [0, 1], "inhomogeneous|sequence"),
    ]


def weights(Y):
    """Weights of 12 examples, and what is said of them."""
    return [
        (np.ones(11), "sample_weight.shape"),
        (np.ones((12, 2)), "[Ss]ample.weight"),
        (-np.ones(12), "[Nn]egative values.*sample_weight"),
        (np.where(Y == 1, np.nan, 1.0), "sample_weight contains NaN"),
        (np.where(Y == 1, np.inf, 1.0), "sample_weight contains infinity"),
        (np.zeros(12), "Sample weights must contain at least one non-zero"),
        (np.full(12, HUGE), r"^C: .*sample_weight"),
    ]


def calm_fit(model, *data, **more):
    """Fit; returns the error, if any. Warnings are errors, but for four harmless ones."""
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, CollapseWarning, DataConversionWarning):
            warnings.simplefilter("ignore", kind)
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        try:
            model.fit(*data, **more)
        except ValueError as error:
            return error
        return None


def assert_consistent(model):
    """Finite numbers, and a dual below its primal."""
    for name in ("coef_", "kernel_coef_", "intercept_", "dual_coef_", "correction_intercept_"):
        values = getattr(model, name, 0.0)
        assert np.isfinite(values.data if sp.issparse(values) else values).all(), name
    assert 0.0 <= model.dual_gap_ <= np.inf
    lower, upper = model.dual_objective_, model.primal_objective_
    assert np.less_equal(lower, upper + 1e-9 * np.maximum(np.abs(lower), np.abs(upper))).all()


ANY_NUMBER = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(-3, 6),
    st.sampled_from([None, "1", True, [1], np.float32(0.5)]),
    st.sampled_from([1e-320, 1e-200, 1e-60, 1e-9, 0.1, 1e6, 1e60, 1e200]),
)
ROWS = st.shared(st.integers(0, 6), key="rows")
LENGTHS = ROWS | hnp.array_shapes(max_dims=2, min_side=0, max_side=6)
MATRIX = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64]),
    st.tuples(ROWS, st.integers(0, 4)) | hnp.array_shapes(max_dims=3, min_side=0, max_side=6),
)
WEIGHTS = st.none() | hnp.arrays(np.float64, ROWS | st.integers(0, 6))
FLAGS = (bool, st.booleans())


def labels(integers, floats, words, objects, *more, lengths=LENGTHS):
    """Arrays of labels of several types."""
    kinds = [
        (np.int64, integers),
        (np.float64, st.sampled_from([*floats, NAN, INF])),
        ("U3", st.sampled_from([*words, "nan"])),
        (object, st.sampled_from(objects)),
        *more,
    ]
    return st.sampled_from(kinds).flatmap(lambda e: hnp.arrays(e[0], lengths, elements=e[1]))
