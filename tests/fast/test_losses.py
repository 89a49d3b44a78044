"""Losses at ties, at the ends of their domains and at extreme magnitudes; tests/losses has all else."""

import numpy as np
import pytest

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


def params(name, k, gamma):
    """Keyword arguments that the loss has."""
    out = {} if name == "multiclass_hinge" else {"k": k}
    return {**out, "gamma": gamma} if LOSSES[name][2] else out


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
