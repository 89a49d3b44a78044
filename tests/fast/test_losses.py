"""Losses at ties, default margins, rows with one side; tests/losses has all else, in exact arithmetic."""

import numpy as np
import pytest

from fast import losses
from fast.kernels import signed_entropies
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
SIGNED = [n for n in dir(losses) if n.startswith(("ova_", "multilabel_"))]


def params(name, k, gamma):
    """Keyword arguments that the loss has."""
    out = {} if name == "multiclass_hinge" else {"k": k}
    return {**out, "gamma": gamma} if LOSSES[name][2] else out


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


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


@pytest.mark.parametrize("name", SIGNED)
def test_default_costs(name, rng):
    """1 for the hinges (on the wrong labels only), 0 for the entropies."""
    module, labelled = getattr(losses, name), name.startswith("multilabel")
    scores, y = rng.standard_normal(6), np.array([0, 1, 0, 1, 1, 0]) if labelled else 3
    label = {"y": y} if labelled else {}
    costs = np.ones(scores.size) if "hinge" in name else np.zeros(scores.size)
    if name in ("multilabel_hinge", "multilabel_smooth_hinge"):
        costs[y == 1] = 0.0
    q = rng.standard_normal(scores.size)

    def results(costs):
        return (
            module.value(scores, y, costs=costs),
            module.gradient(scores, y, costs=costs),
            module.conjugate(np.zeros(scores.size), costs=costs, **label),
            module.prox(scores, costs=costs, **label),
            module.sdca_update(q, y, 0.5, costs=costs),
        )

    for a, b in zip(results(None), results(costs), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("object_name", ["multilabel_hinge", "multilabel_smooth_hinge"])
@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_rows_with_one_side_cost_nothing(object_name, y):
    module = getattr(losses, object_name)
    scores = [3.0, -1.0, 2.0]
    assert module.value(scores, y) == 0
    assert not module.gradient(scores, y).any()
    assert not module.sdca_update(scores, y, 1.0).any()
    assert not module.sdca_update(scores, y, 0.0).any()
    np.testing.assert_array_equal(module.prox(scores, y), scores)
    assert module.conjugate([0.0] * 3, y) == 0
    assert module.conjugate([0.5, 0.0, 0.0], y) == np.inf


def test_ties_go_to_the_first_labels_and_zero_is_preferred():
    g = losses.multilabel_hinge.gradient([2.0, 0.0, 2.0, 0.0], [0, 1, 0, 1])
    np.testing.assert_array_equal(g, [1.0, -1.0, 0.0, 0.0])
    assert not losses.multilabel_hinge.gradient([0.0, 1.0, 0.0, 1.0], [0, 1, 0, 1]).any()
    g = losses.ova_hinge.gradient([-1.0, 1.0, 0.5], 1)
    np.testing.assert_array_equal(g, [0.0, 0.0, 1.0])


def test_newton_ends_early_for_every_curvature(rng):
    """From the lower bound on the multiplier: at most a dozen steps, without any bracket."""
    for _ in range(400):
        m = int(rng.choice([2, 5, 30, 300]))
        z = rng.standard_normal(m) * 10.0 ** rng.uniform(-2, 4)
        y = np.zeros(m, dtype=bool)
        y[rng.integers(0, m, rng.integers(1, 5))] = True
        alpha, count, x = 10.0 ** rng.uniform(-16, 10), int(y.sum()), np.empty(m)
        level = signed_entropies._level(z, y, z.max(), alpha, count)
        for step in range(20):
            total, slope = signed_entropies._shares(z, y, z.max(), level, alpha, 1 / count, x)
            move = total / slope
            if step == 0:  # a lower bound: the sum is not yet below 0
                assert move >= -64 * 2.0**-52 * (1 + abs(level) + alpha)
            level += move
            if abs(move) <= 1e-8 * np.sqrt(1 + abs(level)):
                break
        assert step <= 12
