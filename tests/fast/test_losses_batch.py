"""The public losses: batches, weights, costs, dtypes, purity, and clear errors."""

import inspect
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fast import errors, losses

OPERATIONS = ("value", "gradient", "conjugate", "prox", "sdca_update")
SIGNED = [n for n in dir(losses) if n.startswith(("ova_", "multilabel_"))]
NAMES = [
    n
    for n in dir(losses)
    if ("hinge" in n or "entropy" in n or n in ("softmax", "sparsemax"))
    and not n.startswith("_")
    and n not in SIGNED
]
CASES = [(n, o) for n in NAMES + SIGNED for o in OPERATIONS if hasattr(getattr(losses, n), o)]
each_loss = pytest.mark.parametrize("name", NAMES + SIGNED)
each_operation = pytest.mark.parametrize(("name", "operation"), CASES)


@pytest.fixture(params=NAMES)
def module(request):
    return getattr(losses, request.param)


def draw(name, rng):
    """Scores (20, 6), and classes or labels."""
    scores = rng.standard_normal((20, 6))
    y = rng.integers(0, 6, 20)
    if not name.startswith("multilabel"):
        return scores, y
    return scores, (rng.random((20, 6)) < 0.5) | (np.arange(6) == y[:, None])


def test_all_losses_are_found():
    assert len(NAMES) == 14
    assert len(SIGNED) == 6


def others(name, operation):
    """Whether an operation is one over the other classes alone."""
    return name not in SIGNED and operation in ("conjugate", "prox")


def call(name, operation, rows, y, **given):
    """Call an operation with what its signature has; ``rows`` is its main argument."""
    function = getattr(getattr(losses, name), operation)
    names = list(inspect.signature(function).parameters)
    arguments = {names[0]: rows, "y": y, "k_ii": 0.7, **given}
    return function(**{n: v for n, v in arguments.items() if n in names})


@each_loss
def test_labels_of_any_type_and_memory(name, rng):
    scores, y = draw(name, rng)
    expected, wide = call(name, "gradient", scores, y), np.repeat(scores, 2, axis=1)[:, ::2]
    for array in (scores, y):
        array.flags.writeable = False
    kinds = (bool, np.float32) if name.startswith("multilabel") else (np.int8,)
    given = [y.astype(kind) for kind in (np.uint8, *kinds)]
    for labels in (y, *given, np.asfortranarray(y), y.tolist()):
        np.testing.assert_array_equal(call(name, "gradient", wide, labels), expected)


@each_loss
def test_float32_overflow_becomes_inf_in_silence(name):
    scores = np.array([[-3.4e38, 3.4e38, 3.4e38]], dtype=np.float32)
    y = np.array([[1, 0, 0]]) if name.startswith("multilabel") else np.array([0])
    assert call(name, "value", scores, y) == np.inf


@pytest.mark.parametrize("name", SIGNED)
def test_empty_batch(name):
    y = np.empty((0, 4)) if name.startswith("multilabel") else np.empty(0, dtype=int)
    assert call(name, "value", np.empty((0, 4)), y).shape == (0,)
    assert call(name, "gradient", np.empty((0, 4)), y).shape == (0, 4)


def test_default_costs_and_shared_costs_that_are_zero_at_the_own_class(module, rng):
    """Margins are 1 for the hinges and 0 for the entropies and the consistent hinges."""
    scores, y = draw(NAMES[0], rng)
    expected = module.value(scores, y)
    plain = "hinge" in module.__name__ and "consistent" not in module.__name__  # whose margins are in the loss
    default = np.full(6, float(plain))
    np.testing.assert_array_equal(module.value(scores, y, costs=default), expected)
    shared = np.full(6, 0.5)
    full = np.full((20, 6), 0.5)
    full[np.arange(20), y] = 0
    expected = module.value(scores, y, costs=shared)
    np.testing.assert_array_equal(module.value(scores, y, costs=full), expected)


def good(name, length=3):
    """The main argument and y of a row with so many entries."""
    truth = {"ova": 1, "multilabel": [0, 1, 0]}
    return {"rows": [0.1, 0.2, 0.3][:length], "y": truth.get(name.partition("_")[0], 1)}


@pytest.mark.parametrize(("name", "operation"), [(n, o) for n, o in CASES if "topk" in n])
def test_k_and_gamma_have_ranges(name, operation):
    function = partial(call, name, operation, **good(name, 3 - others(name, operation)))
    for k in (0, 1.5, "1"):
        with pytest.raises(errors.InvalidParameterError, match="k: "):
            function(k=k)
    if name.endswith("alpha") or name.startswith(("truncated", "squared")) or "consistent" in name:
        with pytest.raises(errors.InvalidParameterError, match=r"k: 3.*<= 2 .*other classes"):
            function(k=3)
    else:
        function(k=3)
    if name.startswith("smooth"):
        for gamma in (0.0, -1.0, np.nan, None):
            with pytest.raises(errors.InvalidParameterError, match="gamma"):
                function(gamma=gamma)


BAD_ROWS = [
    ({"rows": [1.0, np.nan, 0.0]}, r"ROWS\[1\] = nan"),
    ({"rows": [1.0, -np.inf, 0.0]}, r"ROWS\[1\] = -inf"),
    ({"rows": [np.inf, 0.0, 0.0]}, r"ROWS\[0\]"),
    ({"rows": ["a", "b", "c"]}, "dtype"),
    ({"rows": np.zeros((2, 2, 2))}, "shape"),
    ({"rows": []}, "at least one entry"),
    ({"costs": [1.0, 0.0]}, r"costs: shape \(2,\); expected shape \(3,\)"),
    ({"costs": [1.0, 0.0, 1.0, 1.0]}, "costs: shape"),
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
    ({"y": "a"}, "y: dtype"),
    ({"y": [0, 1]}, r"y: shape \(2,\)"),
    ({"rows": [1.0], "y": 0}, "at least 2 classes"),
    ({"rows": np.zeros((2, 3)), "y": 1}, r"y: shape \(\)"),
]
BAD_OTHERS = [*BAD_CLASS, ({"costs": [1.0, 1.0, 1.0], "y": 1}, "1.0 for the own class 1")]
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
BAD_TRUTHS = {"ova": BAD_CLASS, "multilabel": BAD_LABELS}


@each_operation
def test_bad_input_names_argument_and_value(name, operation):
    family = name.partition("_")[0]
    rows, *names = inspect.signature(getattr(getattr(losses, name), operation)).parameters
    tried = 0
    for wrong, message in BAD_ROWS + BAD_TRUTHS.get(family, BAD_OTHERS):
        if not set(wrong) - {"rows"} <= set(names):
            continue
        message = message.replace("ROWS", rows)
        with pytest.raises(errors.InvalidParameterError, match=message) as caught:
            call(name, operation, **{**good(name), **wrong})
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


@given(case=st.sampled_from(CASES), data=st.data())
def test_junk_raises_only_our_errors(case, data):
    name, operation = case
    arguments = good(name, 3 - others(name, operation))
    names = [*arguments, "costs", "sample_weight", "gamma", "t", "k_ii", "C"]
    for key in data.draw(st.sets(st.sampled_from(names), min_size=1)):
        arguments[key] = data.draw(JUNK)
    try:
        result = call(name, operation, **arguments)
    except errors.FastError:
        return
    assert not np.isnan(result).any()
