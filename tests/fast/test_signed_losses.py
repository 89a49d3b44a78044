"""One-vs-all and multilabel losses at ties, small values, ends of domains; tests/losses has all else."""

import itertools
from decimal import Decimal, getcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

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


@pytest.fixture(params=SMOOTH)
def smooth(request):
    return request.param


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


def naive_logistic(z, alpha):
    """(x, 1 - x) with alpha x + log(x/(1-x)) = z: bisection and Newton in 50 digits."""
    z, alpha = Decimal(z), Decimal(alpha)

    def sigmoid(v):
        e = (-abs(v)).exp()
        return (1 if v > 0 else e) / (1 + e)

    low, high = z - alpha, z
    for _ in range(180):
        middle = (low + high) / 2
        low, high = (low, middle) if middle + alpha * sigmoid(middle) > z else (middle, high)
    for _ in range(3):
        x = sigmoid(low)
        low -= (low + alpha * x - z) / (1 + alpha * x * (1 - x))
    return sigmoid(low), sigmoid(-low)


def test_logistic_update_is_accurate_for_every_curvature(rng):
    """To a few units of what the rounding of z explains, for alpha from 1e-300 to 1e10."""
    for i in range(150):
        alpha = float(10.0 ** (rng.uniform(-300, 10) if i % 3 == 0 else rng.uniform(-3, 10)))
        z = float(rng.normal() * 10.0 ** rng.uniform(-3, 2.5))
        if i % 2:
            z = float(alpha * rng.uniform(-0.1, 1.1))
        right, rest = (float(v) for v in naive_logistic(z, alpha))
        # class 1 of q = (0, z): block -C x, and the own class of q = (-z, 0) the same
        block = losses.ova_logistic.sdca_update([0.0, z], 0, alpha)
        condition = rest * abs(z) / (1 + alpha * right * rest)
        assert -block[1] == pytest.approx(right, rel=16 * EPS * (1 + condition), abs=1e-300)
        own = losses.ova_logistic.sdca_update([-z, 0.0], 0, alpha)
        assert own[0] == -block[1]


def stationarity(z, y, alpha, x):
    """Spread of alpha x + log(x + t) - z over the labels, in units that rounding explains.

    Where x = -t up to its rounding, or is subnormal, log(x + t) says nothing.
    """
    t = np.asarray(y, dtype=float) / np.sum(y)
    known = (x > -t * (1 - 8 * EPS)) & ((t > 0) | (x > 1e-300))
    z, x, t = (np.asarray(v, dtype=np.longdouble)[known] for v in (z, x, t))
    right = t > 0
    scale = np.where(right, t, 1)
    logs = np.where(right, np.log1p(np.where(right, x / scale, 0)) + np.log(scale), 0)
    logs[~right] = np.log(x[~right])
    level = alpha * x + logs - z
    allowed = EPS * (1 + abs(z) + alpha * abs(x) + abs(logs) + np.where(right, t / (x + t), 0))
    middle = np.argmin(allowed)
    return float(np.max(abs(level - level[middle]) / (allowed + allowed[middle])))


@pytest.mark.parametrize("part", range(20))
def test_multilabel_entropy_update_is_stationary_for_every_curvature(part):
    """alpha x + log(x + t) - z is the same number for all labels, and the x sum to 0."""
    module, rng = losses.multilabel_entropy, np.random.default_rng(part)
    for i in range(150):
        alpha = float(10.0 ** (rng.uniform(-300, 120) if i % 3 == 0 else rng.uniform(-3, 10)))
        scale = alpha if i % 2 and 1e3 < alpha < 1e10 else 10.0 ** rng.uniform(-3, 2)
        z, y = draw("multilabel_entropy", rng, scale=scale)
        x = -module.sdca_update(z, y, alpha)
        assert abs(x.sum()) <= 2 * x.size * EPS * (np.abs(x).max() + (alpha <= 1))
        assert stationarity(z, y, alpha, x) <= 8


def test_one_label_is_the_multiclass_loss(rng):
    """The multilabel losses at |P| = 1: multiclass hinge and softmax."""
    for _ in range(40):
        scores, label = draw("ova_hinge", rng, scale=10.0 ** rng.integers(-1, 3))
        y = np.eye(scores.size)[label]
        hinge = losses.multiclass_hinge.value(scores, label)
        slip = 4 * EPS * (1 + np.abs(scores).max())
        assert losses.multilabel_hinge.value(scores, y) == pytest.approx(hinge, rel=0, abs=slip)
        block = losses.multilabel_hinge.sdca_update(scores, y, 0.8, 1.3)
        same = losses.multiclass_hinge.sdca_update(scores, label, 0.8, 1.3)
        np.testing.assert_allclose(block, same, atol=1e-14 * (1 + np.abs(scores).max()))
        u = np.delete(scores - scores[label], label)
        softmax = np.log1p(np.exp(u).sum()) if u.max() < 700 else logsumexp([*u, 0.0])
        got = losses.multilabel_entropy.value(scores, y)
        assert got == pytest.approx(softmax, rel=16 * EPS * (1 + np.abs(u).max()), abs=1e-300)


def test_small_losses_keep_their_digits():
    """log(1 + e^-500) is e^-500, and so is the gradient at the own class."""
    right = np.exp(-500.0)
    y = [0, 1]
    value = losses.multilabel_entropy.value([-500.0, 0.0], y)
    assert value == pytest.approx(right, rel=1e-13, abs=0)
    g = losses.multilabel_entropy.gradient([-500.0, 0.0], y)
    np.testing.assert_allclose(g, [right, -right], rtol=1e-13)
    value = losses.ova_logistic.value([-500.0, 500.0], 1)
    assert value == pytest.approx(2 * right, rel=1e-13, abs=0)
    g = losses.ova_logistic.gradient([-500.0, 500.0], 1)
    np.testing.assert_allclose(g, [right, -right], rtol=1e-13)


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


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e4, 1e300])
def test_extreme_magnitudes_stay_finite(module, name, size):
    p = params(name, size)
    scores, zero = np.array([1.0, -1.0, 0.5, 0.0]) * size, np.zeros(4)
    truths = ([1, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 1]) if multilabel(name) else (0, 1)
    for y in truths:
        assert 0 <= module.value(scores, y, costs=zero, **p) <= 4 * size + 4
        assert np.abs(module.gradient(scores, y, costs=zero, **p)).max() <= 1
        for k_ii, C in itertools.product(
            (0.0, 1e-300, 1e-16, 1.0, 1e10, 1e300), (1e-300, 1, 1e300)
        ):
            block = module.sdca_update(scores, y, k_ii, C, costs=zero, **p)
            assert np.abs(block).max() <= C * (1 + 8 * EPS)
            assert not np.signbit(block[block == 0]).any()
        for t in (1e-300, 1e-17, 1.0, 1e10, 1e300):
            assert np.isfinite(module.prox(scores, t=t, costs=zero, **point(name, y), **p)).all()


@given(
    f=st.lists(st.integers(-3, 3), min_size=2, max_size=5),
    y=st.lists(st.integers(0, 1), min_size=5, max_size=5),
    exponent=st.integers(-300, 300),
)
def test_hinges_at_ties_and_powers_of_two(f, y, exponent):
    scores, y = np.array(f, dtype=float) * 2.0**exponent, y[: len(f)]
    zero = np.zeros(len(f))
    z = signs("multilabel_hinge", y, len(f)) * scores
    sums = [
        a + b for (a, s), (b, t) in itertools.product(zip(z, y, strict=True), repeat=2) if t > s
    ]
    right = max([0.0, *sums])
    assert losses.multilabel_hinge.value(scores, y, costs=zero) == right
    z = signs("ova_hinge", 0, len(f)) * scores
    assert losses.ova_hinge.value(scores, 0, costs=zero) == np.maximum(z, 0).sum()


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
