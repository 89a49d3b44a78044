"""Softmax, top-k entropies and the truncated entropy: optimality, ends of domains, complements."""

from decimal import Decimal

import numpy as np
import pytest

from fast import errors
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


def relative(got, wanted):
    """Relative error; numbers that a double cannot hold in full count as 0."""
    got, wanted = Decimal(float(got)), Decimal(wanted)
    if wanted < Decimal("1e-300"):
        return float(got > Decimal("1e-299"))
    return float(abs(got - wanted) / wanted)


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
