import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from verification import Instance, InvalidArgumentError
from verification.instances.instance import literal

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@given(
    hnp.arrays(np.float64, hnp.array_shapes(max_dims=2, max_side=5), elements=FLOATS),
    FLOATS,
    st.integers(1, 9),
)
def test_storage_keeps_every_bit(tmp_path_factory, a, r, k):
    instance = Instance.of(
        "topk_simplex_alpha.projection",
        "family",
        a=a,
        r=r,
        k=k,
        costs=None,
        small=a.astype(np.float32) if abs(a).max(initial=0) < 1e30 else None,
    )
    path = tmp_path_factory.mktemp("npz") / "instance.npz"
    instance.to_npz(path)
    for back in (Instance.from_json(instance.to_json()), Instance.from_npz(path)):
        assert back == instance
        assert hash(back) == hash(instance)
        assert back["a"].tobytes() == a.tobytes()
        assert back["a"].dtype == a.dtype
        assert np.float64(back["r"]).tobytes() == np.float64(r).tobytes()
        assert type(back["k"]) is int
        assert back["costs"] is None


@given(hnp.arrays(np.float64, st.integers(1, 5), elements=FLOATS))
def test_code_is_exact(a):
    namespace = {"np": np}
    assert eval(literal(a), namespace).tobytes() == a.tobytes()


@pytest.mark.parametrize("value", [np.float32([0.1, 3.0]), np.array([1, 2]), 0.1, None, 3])
def test_code_keeps_type(value):
    back = eval(literal(value), {"np": np})
    assert type(back) is type(value)
    assert np.asarray(back).dtype == np.asarray(value).dtype
    assert np.array_equal(np.asarray(back), np.asarray(value))


def test_nobody_can_change_an_instance():
    a = np.array([1.0, 2.0])
    instance = Instance.of("topk_simplex_alpha.projection", a=a)
    a[0] = 5.0
    instance["a"][1] = 7.0
    instance.params["a"][1] = 7.0
    assert instance["a"].tolist() == [1.0, 2.0]


def test_negative_zero_is_another_array():
    assert Instance.of("topk_simplex_alpha.projection", a=np.array([0.0])) != Instance.of(
        "topk_simplex_alpha.projection", a=np.array([-0.0])
    )


def test_astype_rounds_numbers_too():
    instance = Instance.of("topk_simplex_alpha.projection", a=np.array([0.1]), r=0.1, k=2).astype(
        np.float32
    )
    assert instance["a"].dtype == np.float32
    assert instance["r"] == float(np.float32(0.1))
    assert instance["k"] == 2
    assert instance.has_dtype(np.float32)


@pytest.mark.parametrize("bad", [object(), np.array(["a"]), np.array([1j]), {"a": 1}])
def test_what_cannot_be_stored_is_refused(bad):
    with pytest.raises(InvalidArgumentError):
        Instance.of("topk_simplex_alpha.projection", a=bad)


def test_another_schema_is_refused():
    data = Instance.of("topk_simplex_alpha.projection", a=np.ones(1)).to_dict()
    with pytest.raises(InvalidArgumentError, match="schema"):
        Instance.from_dict({**data, "schema": 99})
