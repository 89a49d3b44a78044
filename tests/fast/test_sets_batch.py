"""The public projections: batches, dtypes, layouts, purity, and clear errors."""

import inspect
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_sets import OBJECTS

from fast import errors, sets

PROJECTIONS = [getattr(sets, object_name).project for object_name in OBJECTS]


def call(project, a, **params):
    """Call with the parameters that the set has; P holds every other entry unless y is given."""
    names = inspect.signature(project).parameters
    if "y" in names and "y" not in params:
        params["y"] = sides(a)
    return project(a, **{n: v for n, v in params.items() if n in names})


def sides(a):
    """0, 1, 0, 1, ... in the shape of a."""
    try:
        return np.broadcast_to(np.arange(np.shape(a)[-1]) % 2, np.shape(a))
    except (ValueError, IndexError):  # a itself is refused
        return [0, 1]


@pytest.fixture(params=PROJECTIONS, ids=lambda p: p.__module__.rpartition(".")[2])
def project(request):
    return request.param


@pytest.mark.parametrize("shape", [(3, 40_000), (40_000, 3)])
def test_batches_longer_than_a_chunk(project, shape, rng):
    a = rng.standard_normal(shape)
    batch = call(project, a, k=2, r=0.5, rho=0.1)
    for i in (0, shape[0] // 2, shape[0] - 1):
        np.testing.assert_array_equal(batch[i], call(project, a[i], k=2, r=0.5, rho=0.1))


def test_integers_lists_and_booleans_become_float64(project):
    expected = call(project, np.array([[3.0, 1.0, 0.0]]), k=2)
    for a in ([[3, 1, 0]], np.array([[3, 1, 0]], dtype=np.int8), [[3.0, True, False]]):
        x = call(project, a, k=2)
        assert x.dtype == np.float64
        np.testing.assert_array_equal(x, expected)


def test_layouts_and_read_only_arrays_give_the_same_and_stay_unchanged(project, rng, tmp_path):
    a = rng.standard_normal((8, 10))
    copy = a.copy()
    expected = call(project, a, k=3)
    a.flags.writeable = False
    np.save(tmp_path / "a.npy", a)
    wide = np.empty((16, 20))
    wide[::2, ::2] = a
    variants = [
        a,
        np.asfortranarray(a),
        wide[::2, ::2],
        a[::-1][::-1],
        np.load(tmp_path / "a.npy", mmap_mode="r"),
        a.astype(">f8"),
    ]
    for variant in variants:
        np.testing.assert_array_equal(call(project, variant, k=3), expected)
    np.testing.assert_array_equal(a, copy)
    result = call(project, a, k=3)
    assert result.flags.writeable
    assert not np.shares_memory(result, a)


def test_empty_batch(project):
    assert call(project, np.empty((0, 4)), k=2).shape == (0, 4)


BAD = [
    ({"a": [1.0, np.nan]}, r"a\[1\] = nan"),
    ({"a": [[1.0, 2.0], [np.inf, 0.0]]}, r"a\[1, 0\] = inf"),
    ({"a": [1e301, 0.0]}, r"1e\+301.*magnitude"),
    ({"a": []}, "at least one entry"),
    ({"a": np.empty((3, 0))}, "at least one entry"),
    ({"a": 1.0}, "a vector or a matrix"),
    ({"a": np.zeros((2, 2, 2))}, r"shape \(2, 2, 2\)"),
    ({"a": [1.0, None]}, "dtype object"),
    ({"a": ["1", "2"]}, "dtype"),
    ({"a": [1j, 0]}, "complex"),
    ({"a": [[1.0], [1.0, 2.0]]}, "rectangular"),
    ({"a": np.array([1.0], dtype=np.longdouble)}, "float64, float32"),
    ({"y": [0, 1]}, r"y: shape \(2,\); expected shape \(3,\)"),
    ({"y": [0, 1, 2]}, r"y\[2\] = 2.0; expected 0 or 1"),
    ({"y": [0, 0.5, 1]}, r"y\[1\] = 0.5"),
    ({"y": [0, np.nan, 1]}, r"y\[1\] = nan"),
    ({"y": None}, "y: "),
    ({"y": ["a", "b", "c"]}, "y: "),
    ({"y": 1}, "y: shape"),
    ({"rho": -1.0}, "rho: -1.0; expected a number >= 0"),
    ({"rho": np.nan}, "rho"),
    ({"rho": [0.0, 1.0]}, r"rho: shape \(2,\)"),
    ({"rho": "x"}, "rho"),
]
BAD_R = [({"r": -1.0}, "r: -1.0"), ({"r": np.inf}, "r: inf"), ({"r": [1.0, 2.0]}, r"r: shape")]
BAD_K = [
    ({"k": 0}, "k: 0; expected an integer >= 1"),
    ({"k": -3}, "k: -3"),
    ({"k": 1.0}, "k: 1.0 of type float"),
    ({"k": True}, "k: True of type bool"),
    ({"k": None}, "k: None"),
    ({"k": 2**70}, "k"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD + BAD_R + BAD_K)
def test_bad_input_names_argument_and_value(project, wrong, message):
    if not wrong.keys() <= inspect.signature(project).parameters.keys():
        return
    with pytest.raises(errors.InvalidParameterError, match=message) as caught:
        call(project, **{"a": [1.0, 2.0, 3.0], "k": 1, **wrong})
    assert caught.value.argument in wrong
    assert "Fix: " in str(caught.value)
    assert isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.text(max_size=2),
    st.binary(max_size=2),
    st.complex_numbers(),
    st.dictionaries(st.integers(), st.integers(), max_size=1),
    st.lists(st.one_of(st.floats(), st.integers(-3, 3), st.none(), st.text()), max_size=3),
    st.lists(st.lists(st.floats(-5, 5), max_size=3), max_size=3),
)


@given(a=JUNK, k=JUNK, r=JUNK, rho=JUNK, y=JUNK)
def test_junk_raises_only_our_errors(a, k, r, rho, y):
    for project in PROJECTIONS:
        try:
            x = call(project, a, k=k, r=r, rho=rho, y=y)
        except errors.FastError:
            continue
        assert np.isfinite(x).all()
        assert (x >= 0).all()


OWN = {  # sets with parameters of their own, and some that are right
    "knapsack": {"a": [0.5, 2.0], "b": 1.0, "low": 0.0, "high": 1.0, "capacity": 1.0},
    "knapsack_at_most": {"a": [0.5, 2.0], "b": 1.0, "low": 0.0, "high": 1.0, "capacity": 1.0},
    "capped_simplex": {"a": [0.9, 0.4, -0.2], "r": 1.0, "cap": 1.0},
    "l1_ball": {"a": [1.0, 2.0], "r": 1.0},
    "cardinality_polymatroid": {"a": [1.0, 2.0], "beta": [1.0, 0.5]},
}
BAD_OWN = [
    ("l1_ball", {"r": -1.0}, "r: -1.0"),
    ("capped_simplex", {"cap": 0.3}, "empty"),
    ("capped_simplex", {"cap": 1 / 3 - 1e-6}, "cap"),
    ("capped_simplex", {"cap": 1 / 3 - 1e-12}, "cap"),
    ("capped_simplex", {"cap": -0.3}, "cap"),
    ("capped_simplex", {"a": np.zeros((3, 2)), "cap": [1.0, 1.0]}, "cap"),
    ("knapsack", {"b": [1.0, np.nan]}, r"b\[1\] = nan"),
    ("knapsack", {"b": [1.0, np.inf]}, r"b\[1\] = inf"),
    ("knapsack", {"b": [1.0, 1e-80]}, "0 or of magnitude"),
    ("knapsack", {"b": [1.0]}, r"b: shape \(1,\)"),
    ("knapsack", {"low": np.inf}, "low: inf; expected finite numbers or -inf"),
    ("knapsack", {"high": [1.0, -np.inf]}, r"high\[1\] = -inf"),
    ("knapsack", {"low": 0.7, "high": 0.5}, "high: below low by 0.2"),
    ("knapsack", {"capacity": 1e200}, "capacity"),
    ("knapsack", {"capacity": 2.5}, r"capacity: 2.5 \(row 0\); expected between 0 and 2: otherwise the set is empty"),
    ("knapsack", {"a": np.zeros((3, 2)), "capacity": [1.0, 2.0, -0.5]}, r"-0.5 \(row 2\); .*empty"),
    ("knapsack", {"b": 0.0}, r"between 0 and 0.*empty"),
    ("knapsack", {"a": [np.nan, 1.0]}, r"a\[0\] = nan"),
    ("knapsack_at_most", {"b": [1.0, 1e-80]}, "0 or of magnitude"),
    ("knapsack_at_most", {"low": 0.7, "high": 0.5}, "high: below low by 0.2"),
    ("knapsack_at_most", {"capacity": np.inf}, "capacity"),
    ("knapsack_at_most", {"a": np.zeros((3, 2)), "capacity": [9.0, 0.0, -0.5]}, r"-0.5 \(row 2\); .*0 and inf"),
    ("knapsack_at_most", {"b": 0.0, "capacity": -1e-300}, r"between 0 and inf.*empty"),
    ("knapsack_at_most", {"a": [np.nan, 1.0]}, r"a\[0\] = nan"),
    ("cardinality_polymatroid", {"beta": [0.5, 1.0]}, "beta: a rise by 0.5; expected beta_1 >="),
    ("cardinality_polymatroid", {"beta": [0.5, -1.0]}, "beta: -1; expected weights >= 0"),
    ("cardinality_polymatroid", {"beta": [1.0, np.nan]}, r"beta\[1\] = nan"),
    ("cardinality_polymatroid", {"beta": [1.0]}, r"beta: shape \(1,\)"),
    ("cardinality_polymatroid", {"a": [1.0, np.inf]}, r"a\[1\] = inf"),
]  # fmt: skip


@pytest.mark.parametrize(("object_name", "wrong", "message"), BAD_OWN)
def test_bad_parameters_of_single_sets(object_name, wrong, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        getattr(sets, object_name).project(**{**OWN[object_name], **wrong})
