"""Losses at ties, at the ends of their domains and at extreme magnitudes; tests/losses has all else."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fast.losses import (
    multiclass_hinge,
    smooth_topk_hinge_alpha,
    smooth_topk_hinge_beta,
    topk_hinge_alpha,
    topk_hinge_beta,
)

LOSSES = {
    "multiclass_hinge": (multiclass_hinge, "alpha", False),
    "topk_hinge_alpha": (topk_hinge_alpha, "alpha", False),
    "topk_hinge_beta": (topk_hinge_beta, "beta", False),
    "smooth_topk_hinge_alpha": (smooth_topk_hinge_alpha, "alpha", True),
    "smooth_topk_hinge_beta": (smooth_topk_hinge_beta, "beta", True),
}
NAMES = sorted(LOSSES)
EPS = np.finfo(float).eps


def params(name, k, gamma):
    """Keyword arguments that the loss has."""
    out = {} if name == "multiclass_hinge" else {"k": k}
    return {**out, "gamma": gamma} if LOSSES[name][2] else out


def naive_value(variant, z, k):
    """Best average over all sets of k classes."""
    terms = np.maximum(z, 0) if variant == "beta" else z
    best = max(sum(chosen) for chosen in itertools.combinations(terms, k))
    return max(0.0, best / k)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_conjugate_is_infinite_outside(name):
    module, variant, _ = LOSSES[name]
    k = 1 if name == "multiclass_hinge" else 2
    p = params(name, k, 1.0)
    outside = [[0.6, 0.6, 0.0], [-1e-9, 0.5, 0.5], [0.4, 0.4, 0.3], [1.0 + 1e-9, 0, 0]]
    if k == 2:
        outside.append([0.6, 0.2, 0.2])
        if variant == "alpha":
            outside.append([0.3, 0.1, 0.1])
    assert np.isinf(module.conjugate(outside, **p)).all()
    inside = [[0.0, 0.0, 0.0], [0.2, 0.2, 0.0], [0.3, 0.4, 0.3], [0.5, 0.25, 0.25]]
    assert np.isfinite(module.conjugate(inside, **p)).all()
    # rounding of the format is allowed, not more
    tenth = np.full((1, 10), 0.1, dtype=np.float32)
    assert tenth.astype(np.float64).sum() > 1
    assert np.isfinite(module.conjugate(tenth, **p)).all()
    assert np.isinf(module.conjugate(tenth.astype(np.float64), **p)).all()


def test_sdca_update_without_a_norm_puts_the_mass_on_the_largest_costs(name):
    module, _, smooth = LOSSES[name]
    if smooth:
        return
    k = 1 if name == "multiclass_hinge" else 2
    costs = [0.5, 0.0, 3.0, 2.0, 3.0]
    block = module.sdca_update(np.zeros(5), 1, 0.0, 1.5, costs=costs, **params(name, k, 0.0))
    expected = [0, 1.5, -1.5, 0, 0] if k == 1 else [0, 1.5, -0.75, 0, -0.75]
    np.testing.assert_array_equal(block, expected)
    tiny = module.sdca_update(np.zeros(5), 1, 1e-300, 1.5, costs=costs, **params(name, k, 0.0))
    assert np.isfinite(tiny).all()
    assert tiny[1] == pytest.approx(1.5)


def test_weight_zero_and_huge_norms_give_zero_blocks(name):
    module, _, _ = LOSSES[name]
    p = params(name, 1, 1.0)
    assert not module.sdca_update([1.0, 2.0, 0.0], 0, 1.0, sample_weight=0.0, **p).any()
    block = module.sdca_update([1.0, 2.0, 0.0], 0, 1e200, **p)
    assert 0 < block[0] < 1e-199


def test_ties_go_to_the_first_classes():
    g = topk_hinge_alpha.gradient([0.0, 1.0, 1.0, 1.0], 0, k=2)
    np.testing.assert_array_equal(g, [-1.0, 0.5, 0.5, 0.0])
    g = topk_hinge_beta.gradient([0.0, -1.0, 1.0, -1.0, 1.0, 1.0], 0, k=2)
    np.testing.assert_array_equal(g, [-1.0, 0.0, 0.5, 0.0, 0.5, 0.0])
    # beta: entries of the top k that are not positive carry nothing, and k may exceed m - 1
    g = topk_hinge_beta.gradient([0.0, 1.0, -3.0], 0, k=2)
    np.testing.assert_array_equal(g, [-0.5, 0.5, 0.0])
    assert topk_hinge_beta.value([0.0, 1.0, 1.0], 0, k=4) == 1.0


@given(
    z=st.lists(st.integers(-3, 3), min_size=1, max_size=5),
    k=st.integers(1, 5),
    exponent=st.integers(-300, 300),
)
def test_hinges_at_ties_and_powers_of_two(z, k, exponent):
    k = min(k, len(z))
    z = np.array(z, dtype=float) * 2.0**exponent
    scores = np.concatenate([[0.0], z])
    costs = np.zeros(scores.size)
    for variant, module in (("alpha", topk_hinge_alpha), ("beta", topk_hinge_beta)):
        expected = naive_value(variant, z, k)
        assert module.value(scores, 0, k, costs=costs) == pytest.approx(expected, rel=1e-15, abs=0)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_magnitudes_stay_finite(name, size):
    module, _, smooth = LOSSES[name]
    p = params(name, 1 if name == "multiclass_hinge" else 2, size)
    scores = np.array([1.0, -1.0, 0.5, 0.0]) * size
    zero = np.zeros(4)
    value = module.value(scores, 1, costs=zero, **p)
    assert 0 < value < 3 * size
    assert np.isfinite(module.gradient(scores, 1, costs=zero, **p)).all()
    for k_ii, C in itertools.product((0.0, 1e-300, 1.0, 1e300), (1e-300, 1e300)):
        block = module.sdca_update(scores, 1, k_ii, C, costs=zero, **p)
        assert np.isfinite(block).all()
        assert not np.signbit(block[block == 0]).any()
        assert 0 <= block[1] <= C * (1 + 8 * EPS)
        assert smooth or k_ii > 0 or block[1] == C
