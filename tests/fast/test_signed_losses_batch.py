"""One-vs-all and multilabel losses in public: batches, weights, dtypes, purity, and clear errors."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fast import errors, losses

NAMES = [n for n in dir(losses) if n.startswith(("ova_", "multilabel_"))]
OPERATIONS = ("value", "gradient", "conjugate", "prox", "sdca_update")


def test_all_six_are_found():
    assert len(NAMES) == 6


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def call(name, operation, rows, y, **given):
    """Call an operation with what its signature has; ``rows`` is its main argument."""
    function = getattr(getattr(losses, name), operation)
    names = list(inspect.signature(function).parameters)
    arguments = {names[0]: rows, "y": y, "k_ii": 0.7, **given}
    return function(**{n: v for n, v in arguments.items() if n in names})


def dual_points(name, rows, y):
    """Points of the conjugate's domain, far enough inside for float32."""
    return 0.999 * (call(name, "gradient", rows, y)) * signs(name, y, rows)


def signs(name, y, rows):
    if name == "multilabel_entropy":
        return np.ones(rows.shape)
    right = y == 1 if name.startswith("multilabel") else np.arange(rows.shape[1]) == y[:, None]
    return np.where(right, -1, 1)


@pytest.fixture
def data(name, rng):
    scores = rng.standard_normal((20, 6))
    if not name.startswith("multilabel"):
        return scores, rng.integers(0, 6, 20)
    y = rng.integers(0, 2, (20, 6))
    y[np.arange(20), rng.integers(0, 6, 20)] = 1
    return scores, y


@pytest.mark.parametrize("operation", OPERATIONS)
def test_batch_equals_single_rows(name, operation, data, rng):
    rows, y = data
    if operation == "conjugate":
        rows = dual_points(name, rows, y)
    each = {n: rng.uniform(0.1, 2, 20) for n in ("sample_weight", "k_ii", "t")}
    costs = rng.uniform(0, 2, (20, 6))
    batch = call(name, operation, rows, y, costs=costs, C=0.3, **each)
    assert np.isfinite(batch).all()
    for i in range(20):
        own = {n: v[i] for n, v in each.items()}
        single = call(name, operation, rows[i], y[i], costs=costs[i], C=0.3, **own)
        assert np.ndim(single) == batch.ndim - 1
        np.testing.assert_array_equal(single, batch[i])
    shared = call(name, operation, rows, y, costs=costs[0], C=0.3, **each)
    repeated = call(name, operation, rows, y, costs=np.tile(costs[0], (20, 1)), C=0.3, **each)
    np.testing.assert_array_equal(shared, repeated)


def test_weights_multiply(name, data, rng):
    rows, y = data
    weight = rng.uniform(0, 2, 20)
    for operation in ("value", "gradient"):
        plain = call(name, operation, rows, y)
        factor = weight if operation == "value" else weight[:, None]
        got = call(name, operation, rows, y, sample_weight=weight)
        np.testing.assert_allclose(got, factor * plain, rtol=1e-15)
    np.testing.assert_allclose(
        call(name, "sdca_update", rows, y, C=0.5, sample_weight=weight)[1],
        call(name, "sdca_update", rows, y, C=0.5 * weight[1])[1],
        rtol=1e-14,
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_float32_is_the_rounded_float64_result(name, operation, data):
    rows, y = data
    if operation == "conjugate":
        rows = dual_points(name, rows, y)
    single = rows.astype(np.float32)
    double = single.astype(np.float64)
    got = call(name, operation, single, y)
    assert got.dtype == np.float32
    if operation != "conjugate":
        np.testing.assert_array_equal(got, call(name, operation, double, y).astype(np.float32))
    else:  # rounding may leave the domain in float64
        assert np.isfinite(got).all()


def test_float32_overflow_becomes_inf_in_silence(name):
    scores = np.array([[-3.4e38, 3.4e38, 3.4e38]], dtype=np.float32)
    y = np.array([[1, 0, 0]]) if name.startswith("multilabel") else np.array([0])
    assert call(name, "value", scores, y) == np.inf


@pytest.mark.parametrize("operation", OPERATIONS)
def test_inputs_stay_unchanged_and_may_be_read_only_or_strided(name, operation, data):
    rows, y = data
    if operation == "conjugate":
        rows = dual_points(name, rows, y)
    costs = np.ones(6)
    wide = np.asfortranarray(np.repeat(rows, 2, axis=1))
    expected = call(name, operation, rows, y, costs=costs)
    for array in (rows, y, costs):
        array.flags.writeable = False
    np.testing.assert_array_equal(call(name, operation, rows, y, costs=costs), expected)
    for labels in (y.astype(np.uint8), np.asfortranarray(y), y.tolist()):
        got = call(name, operation, wide[:, ::2], labels, costs=costs)
        np.testing.assert_array_equal(got, expected)
    if name.startswith("multilabel"):
        for labels in (y.astype(bool), y.astype(np.float32)):
            got = call(name, operation, rows, labels, costs=costs)
            np.testing.assert_array_equal(got, expected)


def test_batches_longer_than_a_chunk(name, rng):
    rows = rng.standard_normal((30_000, 4)).astype(np.float32)
    y = rng.integers(0, 4, 30_000)
    y = np.eye(4, dtype=bool)[y] if name.startswith("multilabel") else y
    weight, costs = rng.uniform(0, 1, 30_000), rng.uniform(0, 2, (30_000, 4))
    batch = call(name, "value", rows, y, costs=costs, sample_weight=weight)
    for i in range(0, 30_000, 1_111):
        single = call(name, "value", rows[i], y[i], costs=costs[i], sample_weight=weight[i])
        assert single == batch[i]


def test_empty_batch(name):
    y = np.empty((0, 4)) if name.startswith("multilabel") else np.empty(0, dtype=int)
    assert call(name, "value", np.empty((0, 4)), y).shape == (0,)
    assert call(name, "gradient", np.empty((0, 4)), y).shape == (0, 4)


GOOD_Y = {"ova": 1, "multilabel": [0, 1, 0]}
BAD = [
    ({"rows": [1.0, np.nan, 0.0]}, r"\[1\] = nan"),
    ({"rows": [1.0, -np.inf, 0.0]}, r"\[1\] = -inf"),
    ({"rows": ["a", "b", "c"]}, "dtype"),
    ({"rows": np.zeros((2, 2, 2))}, "shape"),
    ({"rows": []}, "at least one entry"),
    ({"costs": [1.0, 0.0]}, r"costs: shape \(2,\); expected shape \(3,\)"),
    ({"costs": [[1.0, 0.0, 0.0]]}, r"costs: shape \(1, 3\)"),
    ({"costs": [1.0, 0.0, np.inf]}, r"costs\[2\] = inf"),
    ({"sample_weight": -1.0}, "sample_weight: -1.0"),
    ({"sample_weight": [1.0, 1.0]}, "sample_weight: shape"),
    ({"gamma": 0.0}, "gamma: 0.0; expected a number > 0"),
    ({"gamma": None}, "gamma"),
    ({"t": 0.0}, "t: 0.0; expected a number > 0"),
    ({"t": [1.0, 1.0]}, "t: shape"),
    ({"C": 0.0}, "C: 0.0"),
    ({"C": [1.0]}, "C: shape"),
    ({"k_ii": -1.0}, "k_ii: -1.0"),
]
BAD_CLASS = [
    ({"y": 3}, "y: class 3; expected class numbers in 0..2"),
    ({"y": -1}, "y: class -1"),
    ({"y": 1.0}, "y: dtype float64"),
    ({"y": None}, "y: dtype"),
    ({"y": [0, 1]}, r"y: shape \(2,\)"),
    ({"rows": [1.0], "y": 0}, "at least 2 classes"),
]
BAD_LABELS = [
    ({"y": 1}, r"y: shape \(\)"),
    ({"y": [0, 1]}, r"y: shape \(2,\); expected shape \(3,\)"),
    ({"y": [[0, 1, 0]]}, r"y: shape \(1, 3\)"),
    ({"y": [0, 1, 2]}, r"y\[2\] = 2.0; expected 0 or 1"),
    ({"y": [-1, 1, 0]}, r"y\[0\] = -1.0"),
    ({"y": [0, np.nan, 1]}, r"y\[1\] = nan"),
    ({"y": None}, "y: "),
    ({"y": ["a", "b", "c"]}, "y: "),
]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_bad_input_names_argument_and_value(name, operation):
    family = name.partition("_")[0]
    names = inspect.signature(getattr(getattr(losses, name), operation)).parameters
    good = {"rows": [0.1, 0.2, 0.3], "y": GOOD_Y[family]}
    tried = 0
    for wrong, message in BAD + (BAD_CLASS if family == "ova" else BAD_LABELS):
        if not set(wrong) - {"rows"} <= set(names):
            continue
        with pytest.raises(errors.InvalidParameterError, match=message) as caught:
            call(name, operation, **{**good, **wrong})
        assert "Fix: " in str(caught.value)
        tried += 1
    assert tried >= 8


def test_a_row_without_labels_has_no_target_distribution():
    for operation in OPERATIONS:
        with pytest.raises(
            errors.InvalidParameterError, match=r"y: no label in row 1; .* every row"
        ):
            call("multilabel_entropy", operation, np.zeros((2, 3)), [[0, 1, 0], [0, 0, 0]])


JUNK = st.one_of(
    st.none(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=2),
    st.lists(st.one_of(st.floats(), st.integers(-3, 3), st.none(), st.text()), max_size=3),
    st.lists(st.lists(st.floats(-5, 5), max_size=3), max_size=3),
)


@given(name=st.sampled_from(NAMES), operation=st.sampled_from(OPERATIONS), data=st.data())
def test_junk_raises_only_our_errors(name, operation, data):
    arguments = {"rows": [0.1, 0.2, 0.3], "y": GOOD_Y[name.partition("_")[0]]}
    names = [*arguments, "costs", "sample_weight", "gamma", "t", "k_ii", "C"]
    for key in data.draw(st.sets(st.sampled_from(names), min_size=1)):
        arguments[key] = data.draw(JUNK)
    try:
        result = call(name, operation, **arguments)
    except errors.FastError:
        return
    assert not np.isnan(result).any()
