"""The public losses: batches, weights, costs, dtypes, purity, and clear errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fast import errors, losses

NAMES = [
    n
    for n in dir(losses)
    if ("hinge" in n or "entropy" in n or n == "softmax")
    and not n.startswith(("_", "ova", "multilabel"))
]


@pytest.fixture(params=NAMES)
def module(request):
    return getattr(losses, request.param)


@pytest.fixture
def data(rng):
    return rng.standard_normal((20, 6)), rng.integers(0, 6, 20)


def test_all_nine_are_found():
    assert len(NAMES) == 9


def has_update(module):
    return hasattr(module, "sdca_update")


def test_batch_equals_single_rows(module, data, rng):
    scores, y = data
    weights, norms, t = rng.uniform(0, 2, (3, 20))
    costs = rng.uniform(0, 2, (20, 6))
    costs[np.arange(20), y] = 0.0
    v, cost = scores[:, :5], costs[:, :5]
    batches = [
        module.value(scores, y, costs=costs, sample_weight=weights),
        module.gradient(scores, y, costs=costs, sample_weight=weights),
        module.prox(v, t=t, costs=cost),
        module.conjugate(np.abs(v) / 40, costs=cost),
    ]
    if has_update(module):
        batches.append(
            module.sdca_update(scores, y, norms, 0.3, costs=costs, sample_weight=weights)
        )
    for i in range(20):
        w, c = weights[i], costs[i]
        singles = [
            module.value(scores[i], y[i], costs=c, sample_weight=w),
            module.gradient(scores[i], y[i], costs=c, sample_weight=w),
            module.prox(v[i], t=t[i], costs=cost[i]),
            module.conjugate(np.abs(v[i]) / 40, costs=cost[i]),
        ]
        if has_update(module):
            singles.append(
                module.sdca_update(scores[i], y[i], norms[i], 0.3, costs=c, sample_weight=w)
            )
        for batch, single in zip(batches, singles, strict=True):
            assert np.ndim(single) == batch.ndim - 1
            np.testing.assert_array_equal(single, batch[i])


def test_float32_is_the_rounded_float64_result(module, data):
    scores, y = data
    single = scores.astype(np.float32)
    double = single.astype(np.float64)
    pairs = [
        (module.value(single, y), module.value(double, y)),
        (module.gradient(single, y), module.gradient(double, y)),
        (module.prox(single), module.prox(double)),
    ]
    if has_update(module):
        pairs.append((module.sdca_update(single, y, 1.0), module.sdca_update(double, y, 1.0)))
    for got, expected in pairs:
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, expected.astype(np.float32))


def test_float32_overflow_becomes_inf_in_silence(module):
    scores = np.array([-3e38, 3e38], dtype=np.float32)
    assert module.value(scores, 0) == np.inf


def test_inputs_stay_unchanged_and_may_be_read_only_or_strided(module, data):
    scores, y = data
    costs = np.ones(6)
    wide = np.asfortranarray(np.repeat(scores, 2, axis=1))
    expected = module.gradient(scores, y, costs=costs)
    for array in (scores, y, costs):
        array.flags.writeable = False
    np.testing.assert_array_equal(module.gradient(scores, y, costs=costs), expected)
    np.testing.assert_array_equal(
        module.gradient(wide[:, ::2], y.astype(np.uint8), costs=costs), expected
    )


def test_default_costs_and_shared_costs_that_are_zero_at_the_own_class(module, data):
    """Margins are 1 for the hinges and 0 for the entropies."""
    scores, y = data
    expected = module.value(scores, y)
    default = np.full(6, float("hinge" in module.__name__))
    np.testing.assert_array_equal(module.value(scores, y, costs=default), expected)
    shared = np.full(6, 0.5)
    full = np.full((20, 6), 0.5)
    full[np.arange(20), y] = 0
    expected = module.value(scores, y, costs=shared)
    np.testing.assert_array_equal(module.value(scores, y, costs=full), expected)


def test_shifting_the_scores_of_a_row_changes_nothing(module, data):
    scores, y = np.round(data[0] * 8), data[1]
    np.testing.assert_array_equal(module.gradient(scores + 64, y), module.gradient(scores, y))


GOOD = {
    "value": {"scores": [1.0, 0.0, 2.0], "y": 1},
    "gradient": {"scores": [1.0, 0.0, 2.0], "y": 1},
    "conjugate": {"x": [0.1, 0.2]},
    "prox": {"v": [0.1, 0.2]},
    "sdca_update": {"q": [1.0, 0.0, 2.0], "y": 1, "k_ii": 1.0},
}
BAD = {
    "value": [
        ({"scores": [1.0, np.nan, 0.0]}, r"scores\[1\] = nan"),
        ({"scores": [1.0]}, "at least 2 classes"),
        ({"scores": np.zeros((2, 3))}, r"y: shape \(\)"),
        ({"y": 3}, "y: class 3; expected class numbers in 0..2"),
        ({"y": -1}, "y: class -1"),
        ({"y": 1.0}, "y: dtype float64"),
        ({"y": "a"}, "y: dtype"),
        ({"y": [0, 1]}, r"y: shape \(2,\)"),
        ({"costs": [1.0, 1.0, 1.0]}, "1.0 for the own class 1"),
        ({"costs": [1.0, 0.0]}, r"costs: shape \(2,\)"),
        ({"costs": [1.0, 0.0, np.inf]}, r"costs\[2\] = inf"),
        ({"sample_weight": -1.0}, "sample_weight: -1.0"),
        ({"sample_weight": [1.0, 1.0]}, "sample_weight: shape"),
    ],
    "conjugate": [({"costs": [1.0, 0.0, 1.0]}, "costs: shape"), ({"x": [np.inf, 0]}, r"x\[0\]")],
    "prox": [({"t": 0.0}, "t: 0.0; expected a number > 0"), ({"t": [1.0, 1.0]}, "t: shape")],
    "sdca_update": [
        ({"C": 0.0}, "C: 0.0"),
        ({"C": [1.0]}, "C: shape"),
        ({"k_ii": -1.0}, "k_ii: -1.0"),
    ],
}


@pytest.mark.parametrize(
    ("operation", "wrong", "message"),
    [(o, w, m) for o, cases in BAD.items() for w, m in cases],
)
def test_bad_input_names_argument_and_value(module, operation, wrong, message):
    if operation == "sdca_update" and not has_update(module):
        return
    with pytest.raises(errors.InvalidParameterError, match=message):
        getattr(module, operation)(**{**GOOD[operation], **wrong})


CASES = [(n, o) for n in NAMES for o in sorted(GOOD) if hasattr(getattr(losses, n), o)]


@pytest.mark.parametrize(("name", "operation"), [(n, o) for n, o in CASES if "topk" in n])
def test_k_and_gamma_have_ranges(name, operation):
    function = getattr(getattr(losses, name), operation)
    for k in (0, 1.5, "1"):
        with pytest.raises(errors.InvalidParameterError, match="k: "):
            function(**GOOD[operation], k=k)
    if name.endswith("alpha") or name.startswith("truncated"):
        with pytest.raises(errors.InvalidParameterError, match=r"k: 3.*<= 2 .*other classes"):
            function(**GOOD[operation], k=3)
    else:
        function(**GOOD[operation], k=3)
    if name.startswith("smooth"):
        for gamma in (0.0, -1.0, np.nan, None):
            with pytest.raises(errors.InvalidParameterError, match="gamma"):
                function(**GOOD[operation], gamma=gamma)


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
    arguments = dict(GOOD[operation])
    for key in data.draw(st.sets(st.sampled_from([*arguments, "costs"]), min_size=1)):
        arguments[key] = data.draw(JUNK)
    try:
        result = getattr(getattr(losses, name), operation)(**arguments)
    except errors.FastError:
        return
    assert not np.isnan(result).any()
