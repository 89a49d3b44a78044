"""Softmax, top-k entropies and the truncated entropy: optimality, ends of domains, complements."""

from decimal import Decimal

import numpy as np
import pytest

from fast import errors
from fast.kernels.entropy_steps import solve_row
from fast.kernels.hinges import ALPHA, BETA
from fast.losses import (
    softmax,
    topk_entropy_alpha,
    topk_entropy_beta,
    topk_hinge_alpha,
    topk_hinge_beta,
    truncated_topk_entropy,
)

EPS = np.finfo(float).eps
CONVEX = {"alpha": topk_entropy_alpha, "beta": topk_entropy_beta}


@pytest.fixture(params=sorted(CONVEX))
def variant(request):
    return request.param


@pytest.fixture
def module(variant):
    return CONVEX[variant]


def others_first(u):
    """Scores whose true class 0 has score 0, so that u are the scores of the others."""
    return np.concatenate([[0.0], u])


def relative(got, wanted):
    """Relative error; numbers that a double cannot hold in full count as 0."""
    got, wanted = Decimal(float(got)), Decimal(wanted)
    if wanted < Decimal("1e-300"):
        return float(got > Decimal("1e-299"))
    return float(abs(got - wanted) / wanted)


def entropy(x, rest):
    """The conjugate of softmax without a domain."""
    x = np.append(x, rest)
    return float(np.sum(x * np.log(np.where(x > 0, x, 1.0))))


@pytest.mark.parametrize("flag", [np.zeros(3), "yes", None])
def test_a_flag_is_true_or_false(module, flag):
    u = np.zeros((2, 3))
    for call in (module.prox, lambda *a, **b: module.gradient(*a, [0, 0], **b)):
        with pytest.raises(errors.InvalidTypeError, match=r"return_complement: .* True or False"):
            call(u, k=1, return_complement=flag)


def test_softmax_is_k_one(rng):
    scores, y = rng.standard_normal((6, 5)), np.arange(5).repeat(2)[:6]
    for module in (*CONVEX.values(), truncated_topk_entropy):
        np.testing.assert_array_equal(module.value(scores, y, 1), softmax.value(scores, y))
        np.testing.assert_allclose(
            module.gradient(scores, y, 1), softmax.gradient(scores, y), rtol=4 * EPS
        )
        x = np.abs(scores) / 20
        np.testing.assert_array_equal(module.conjugate(x, 1), softmax.conjugate(x))
        np.testing.assert_allclose(
            module.prox(scores, 1), softmax.prox(scores), rtol=0, atol=4 * EPS
        )
    for module in CONVEX.values():
        expected = softmax.sdca_update(scores, y, 2.0, 0.5)
        np.testing.assert_array_equal(module.sdca_update(scores, y, 2.0, 0.5, 1), expected)


def test_conjugate_is_infinite_outside(module, variant):
    outside = [[0.6, 0.6, 0.0], [-1e-9, 0.5, 0.5], [0.4, 0.4, 0.3], [0.6, 0.2, 0.2]]
    if variant == "alpha":
        outside.append([0.3, 0.1, 0.1])
    assert np.isinf(module.conjugate(outside, 2)).all()
    inside = np.array([[0.0, 0.0, 0.0], [0.2, 0.2, 0.0], [0.3, 0.4, 0.3], [0.5, 0.25, 0.25]])
    wanted = [entropy(x, 1 - x.sum()) for x in inside]
    np.testing.assert_allclose(module.conjugate(inside, 2), wanted, atol=1e-15)
    costs = np.array([0.5, 1.0, 2.0])
    got = module.conjugate(inside, 2, costs=costs)
    np.testing.assert_allclose(got, wanted - inside @ costs, atol=1e-15)


def test_complement_of_the_conjugate():
    x = np.array([0.5, 0.5])
    assert softmax.conjugate(x, complement=1e-300) == pytest.approx(np.log(0.5))
    assert softmax.conjugate(x, complement=1e-3) == np.inf
    half = np.array([1 - 1e-13, 0.0])
    exact_rest = softmax.conjugate(half, complement=1e-13)
    assert exact_rest == pytest.approx(1e-13 * np.log(1e-13) - 1e-13, rel=1e-4)
    tiny = np.array([1e-30, 0.0])
    assert softmax.conjugate(tiny) == pytest.approx(1e-30 * np.log(1e-30) - 1e-30, rel=1e-14)
    with pytest.raises(errors.InvalidParameterError, match=r"complement: -0\.1"):
        softmax.conjugate(x, complement=-0.1)
    with pytest.raises(errors.InvalidParameterError, match="complement: shape"):
        softmax.conjugate(x, complement=[0.0, 0.0])


def test_truncated_conjugate():
    np.testing.assert_array_equal(
        truncated_topk_entropy.conjugate([[0.0, 0.0], [0.1, 0.0], [-0.1, 0.0], [1e-300, 0.0]], 2),
        [0.0, np.inf, np.inf, np.inf],
    )
    assert not hasattr(truncated_topk_entropy, "sdca_update")


def test_without_a_quadratic_the_update_is_the_gradient(module, rng):
    q, y = rng.standard_normal((4, 6)) * 5, np.array([0, 1, 2, 3])
    expected, rest = module.gradient(q, y, 3, return_complement=True)
    for k_ii in (0.0, 1e-300, 1e-20, 1e-17):
        block, complement = module.sdca_update(q, y, k_ii, 1.0, 3, return_complement=True)
        np.testing.assert_allclose(block, -expected, rtol=1e-15)
        np.testing.assert_allclose(complement, rest, rtol=1e-15)
    block = module.sdca_update(q, y, 1.1e-17, 1.0, 3)  # by the iteration
    np.testing.assert_allclose(block, -expected, rtol=1e-13)


def check_optimal(variant, b, k, a, rho, x, y):
    """The KKT system of min a/2 (<x,x> + rho s^2) - <b,x> + <x,log x> + (1-s) log(1-s) over Delta_k(1).

    At x and y = 1 - s, up to rounding of the exponents:
    x_i = min(X(b_i - t), cap) with one t for all, which is also that of y, and x, y sum to 1.
    """
    s = x.sum()
    unit = 64 * np.finfo(float).eps * max(1, np.abs(b).max(), a)
    cap = s / k if variant == "alpha" else 1 / k
    assert abs(s + y - 1) <= unit
    assert x.min() >= 0
    assert x.max() <= cap * (1 + 1e-13)
    on = x > 1e-290
    level = b[on] - a * x[on] - np.log(x[on])  # t, or more at a cap
    free = (x[on] < cap * (1 - 1e-9)) | (k == 1)
    if not free.any():
        return
    t = np.median(level[free])
    assert np.abs(level[free] - t).max() <= unit
    assert (level >= t - unit).all()
    if y > 1e-290:
        p = np.sum(level[~free] - t) if variant == "alpha" else 0.0
        assert abs(a * rho * s - np.log(y) - p / k - t) <= 4 * unit


@pytest.mark.parametrize("part", range(15))
def test_optimality_of_random_rows(variant, part):
    """Short and long rows, wide gaps, ties, from almost no quadratic to nothing else."""
    code, rng = ALPHA if variant == "alpha" else BETA, np.random.default_rng(part)
    for i in range(100 * part, 100 * part + 100):
        d = int(rng.choice([1, 2, 3, 5, 10, 50, 300]))
        k = int(rng.integers(1, d + 1)) + (3 * d if variant == "beta" and i % 10 == 0 else 0)
        scale = 10 ** rng.uniform(-6, 6)
        b = rng.standard_normal(d) * scale + rng.standard_normal() * rng.choice([0, 1, scale])
        b = np.round(b) if i % 3 == 0 else b
        b = np.sort(b)[::-1] * np.exp(-np.arange(d)) if i % 5 == 0 else b
        a, rho = 10 ** rng.uniform(-16, 12), i % 2
        x, work = np.empty((2, d))
        y = solve_row(code, np.ascontiguousarray(b), k, a, float(rho), x, work)
        check_optimal(variant, b, k, a, rho, x, y)


def test_extreme_arguments_end_and_stay_finite(module, rng):
    q = rng.standard_normal((3, 8)) * np.array([[1.0], [1e150], [1e299]])
    y = np.array([0, 3, 7])
    for k_ii, C in ((1e300, 1e300), (1e-300, 1e-300), (1e300, 1e-300), (1e200, 1.0)):
        block, rest = module.sdca_update(q, y, k_ii, C, 3, return_complement=True)
        assert np.isfinite(block).all()
        assert ((rest >= 0) & (rest <= 1)).all()
    for t in (1e-300, 1e300):
        assert np.isfinite(module.prox(q, 3, t)).all()
        assert np.isfinite(module.value(q, y, 3)).all()


def test_far_beyond_the_entropy_the_update_is_the_projection(variant, rng):
    """For a huge alpha only the quadratic is left: the smooth hinge's update without smoothing."""
    hinge = topk_hinge_alpha if variant == "alpha" else topk_hinge_beta
    q, y = rng.standard_normal((5, 7)) * 1e120, np.arange(5)
    expected = hinge.sdca_update(q, y, 1e120, 1.0, 2, costs=np.zeros(7))
    got = CONVEX[variant].sdca_update(q, y, 1e120, 1.0, 2)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_return_complement_gives_pairs(rng):
    scores, y = rng.standard_normal((4, 5)).astype(np.float32), np.zeros(4, int)
    for module in (softmax, *CONVEX.values(), truncated_topk_entropy):
        g, rest = module.gradient(scores, y, return_complement=True)
        assert (g.dtype, rest.dtype, rest.shape) == (np.float32, np.float64, (4,))
        _, one = module.prox(scores[0], return_complement=True)
        assert isinstance(one, float)
    # A complement that float32, and double next to 1, cannot hold.
    _, rest = softmax.gradient(np.float32([0, 600]), 0, return_complement=True)
    assert relative(rest, 1 / (1 + Decimal(600).exp())) <= 4 * EPS
