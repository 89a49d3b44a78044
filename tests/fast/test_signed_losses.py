"""One-vs-all and multilabel losses at ties, small values, ends of domains; tests/losses has all else."""

from decimal import getcontext

import numpy as np
import pytest

from fast import losses
from fast.kernels import signed_entropies as _signed_entropy

EPS = np.finfo(float).eps
NAMES = [n for n in dir(losses) if n.startswith(("ova_", "multilabel_"))]
SMOOTH = [n for n in NAMES if not n.endswith("_hinge") or "smooth" in n]
getcontext().prec = 50


def multilabel(name):
    return name.startswith("multilabel")


def params(name, gamma=0.7):
    return {"gamma": gamma} if "smooth" in name else {}


def point(name, y):
    """What conjugate and prox take of the ground truth."""
    return {"y": y} if multilabel(name) else {}


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def module(name):
    return getattr(losses, name)


def draw(name, rng, scale=1.0, ties=False):
    m = int(rng.integers(2, 8))
    scores = np.round(rng.standard_normal(m) * 1.5) if ties else rng.standard_normal(m) * scale
    if not multilabel(name):
        return scores, int(rng.integers(m))
    y = rng.integers(0, 2, m)
    y[rng.integers(m)] = 1
    return scores, y


def signs(name, y, m):
    """The diagonal map from scores to z."""
    if name == "multilabel_entropy":
        return np.ones(m)
    right = np.asarray(y) == 1 if multilabel(name) else np.arange(m) == y
    return np.where(right, -1.0, 1.0)


def test_default_costs(module, name, rng):
    """1 for the hinges (on the wrong labels only), 0 for the entropies."""
    scores, y = draw(name, rng)
    costs = np.ones(scores.size) if "hinge" in name else np.zeros(scores.size)
    if name in ("multilabel_hinge", "multilabel_smooth_hinge"):
        costs[y == 1] = 0.0
    q = rng.standard_normal(scores.size)

    def results(costs):
        return (
            module.value(scores, y, costs=costs),
            module.gradient(scores, y, costs=costs),
            module.conjugate(np.zeros(scores.size), costs=costs, **point(name, y)),
            module.prox(scores, costs=costs, **point(name, y)),
            module.sdca_update(q, y, 0.5, costs=costs),
        )

    for a, b in zip(results(None), results(costs), strict=True):
        np.testing.assert_array_equal(a, b)


INSIDE = {
    "ova": [[0.0] * 4, [1.0] * 4, [0.3, 1.0, 0.0, 0.9]],
    "hinge": [[0.0] * 4, [0.25, 0.5, 0.25, 0.0], [1.0, 0.0, 0.0, 1.0]],
    "entropy": [[0.0] * 4, [0.25, -0.5, 0.25, 0.0], [0.25, 0.25, 0.0, -0.5]],
}
OUTSIDE = {
    "ova": [[1 + 1e-9, 0, 0, 0], [0.5, -1e-9, 0.5, 0.5]],
    "hinge": [[0.5, 0.5, 0.5, 0.25], [0.7, 0.7, 0.7, 0.7], [0.5, -1e-9, 0.5, 0.0]],
    "entropy": [[0.1, 0, 0, 0], [-1e-9, 0.0, 0.0, 1e-9], [0.3, -0.6, 0.3, 0.0]],
}


def test_conjugate_is_infinite_outside(module, name):
    """With P = {2, 4} (of 1..4); rounding of the format is allowed, not more."""
    kind = name.split("_")[-1] if multilabel(name) else "ova"
    y = [0, 1, 0, 1]
    for x in INSIDE[kind]:
        assert np.isfinite(module.conjugate(x, **point(name, y), **params(name)))
    for x in OUTSIDE[kind]:
        assert module.conjugate(x, **point(name, y), **params(name)) == np.inf
    if kind != "ova":
        third = np.full(4, 1 / 3, dtype=np.float32)
        third[1] = 2 / 3
        y = [0, 1, 0, 0]
        x = third.copy()
        x[1] = 1.0
        if kind == "entropy":
            x[1] = -1.0
        assert x.astype(float)[[0, 2, 3]].sum() != 1
        assert np.isfinite(module.conjugate(x, y, **params(name)))
        assert np.isinf(module.conjugate(x.astype(float), y, **params(name)))


@pytest.mark.parametrize("stem", ["multilabel_hinge", "multilabel_smooth_hinge"])
@pytest.mark.parametrize("y", [[0, 0, 0], [1, 1, 1]])
def test_rows_with_one_side_cost_nothing(stem, y):
    module = getattr(losses, stem)
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


def test_update_without_a_norm_takes_the_gradient_at_the_costs(module, name):
    """k_ii = 0 leaves the dual without its quadratic part: C times a maximiser of <c,x> - L*(x)."""
    costs = [0.5, -1.0, 3.0, 2.0, 3.0]
    y = [0, 1, 0, 1, 0] if multilabel(name) else 1
    block = module.sdca_update(np.zeros(5), y, 0.0, 1.5, costs=costs, **params(name))
    g = module.gradient(np.zeros(5), y, costs=costs, **params(name))
    np.testing.assert_allclose(block, -1.5 * g, rtol=8 * EPS)
    assert block.any()
    tiny = module.sdca_update(np.zeros(5), y, 1e-300, 1.5, costs=costs, **params(name))
    if name in SMOOTH:
        np.testing.assert_allclose(tiny, block, rtol=1e-14)
    assert np.isfinite(tiny).all()
    assert not module.sdca_update(np.ones(5), y, 1.0, sample_weight=0.0, **params(name)).any()


def test_newton_ends_early_for_every_curvature(rng):
    """From the lower bound on the multiplier: at most a dozen steps, without any bracket."""
    for _ in range(400):
        m = int(rng.choice([2, 5, 30, 300]))
        z = rng.standard_normal(m) * 10.0 ** rng.uniform(-2, 4)
        y = np.zeros(m, dtype=bool)
        y[rng.integers(0, m, rng.integers(1, 5))] = True
        alpha, count, x = 10.0 ** rng.uniform(-16, 10), int(y.sum()), np.empty(m)
        level = _signed_entropy._level(z, y, z.max(), alpha, count)
        for step in range(20):
            total, slope = _signed_entropy._shares(z, y, z.max(), level, alpha, 1 / count, x)
            move = total / slope
            if step == 0:  # a lower bound: the sum is not yet below 0
                assert move >= -64 * EPS * (1 + abs(level) + alpha)
            level += move
            if abs(move) <= 1e-8 * np.sqrt(1 + abs(level)):
                break
        assert step <= 12
