"""Softmax, top-k entropies and the truncated entropy against naive twins in high precision."""

import itertools
from decimal import Decimal

import numpy as np
import pytest
from _naive_entropy import check_optimal, closed, exact, log1p, solve
from scipy.optimize import minimize
from scipy.special import expit

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


def draw(rng, variant, scale=1.0, ties=False, most=7):
    d = int(rng.integers(1, most))
    k = int(rng.integers(1, d + 1 + 3 * (variant == "beta")))
    u = (rng.standard_normal(d) + rng.standard_normal()) * scale
    return (np.round(u) if ties else u), k


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


def point_of(variant, d, k, rng):
    """A random point of Delta_k(1): a mixture of sets of k classes, or clipped."""
    if variant == "beta":
        x = rng.dirichlet(np.full(d + 1, rng.choice([0.1, 1.0])))[:d]
        return np.minimum(x, 1 / k)
    sets = np.stack([rng.permutation(np.arange(d) < k) for _ in range(4)])
    return rng.uniform() * rng.dirichlet(np.full(4, 0.3)) @ (sets / k)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e3, 1e4])
def test_value_gradient_and_complement(module, variant, scale, rng):
    for i in range(30):
        u, k = draw(rng, variant, scale, ties=i % 3 == 0)
        total, x, rest = closed(variant, u, k)
        tolerance = 16 * EPS * (1 + np.abs(u).max())
        scores = others_first(u)
        assert relative(module.value(scores, 0, k), total) <= tolerance
        g, complement = module.gradient(scores, 0, k, return_complement=True)
        assert relative(complement, rest) <= tolerance
        for got, wanted in zip(g[1:], x, strict=True):
            assert relative(got, wanted) <= tolerance
        assert -g[0] == pytest.approx(float(sum(x)), rel=tolerance, abs=1e-300)


@pytest.mark.parametrize("flag", [np.zeros(3), "yes", None])
def test_a_flag_is_true_or_false(module, flag):
    u = np.zeros((2, 3))
    for call in (module.prox, lambda *a, **b: module.gradient(*a, [0, 0], **b)):
        with pytest.raises(errors.InvalidTypeError, match=r"return_complement: .* True or False"):
            call(u, k=1, return_complement=flag)


def test_value_is_the_maximum_over_the_dual_set(module, variant, rng):
    """Above every point of the set, and equal at the gradient."""
    for i in range(40):
        u, k = draw(rng, variant, 3.0, ties=i % 3 == 0)
        total = module.value(others_first(u), 0, k)
        g, rest = module.gradient(others_first(u), 0, k, return_complement=True)
        assert total + module.conjugate(g[1:], k, complement=rest) == pytest.approx(
            u @ g[1:], abs=1e-13
        )
        for _ in range(20):
            x = point_of(variant, u.size, k, rng)
            assert np.isfinite(module.conjugate(x, k))
            assert total >= u @ x - entropy(x, max(1 - x.sum(), 0)) - 1e-13


def test_gradient_by_finite_differences(module, rng):
    for _ in range(20):
        d = int(rng.integers(1, 8))
        k = int(rng.integers(1, d + 1))
        scores = rng.standard_normal(d + 1) * 2
        y = int(rng.integers(d + 1))
        costs = rng.uniform(0, 2, d + 1)
        costs[y] = 0.0
        h = 1e-5
        steps = h * np.eye(d + 1)
        up = module.value(scores + steps, np.full(d + 1, y), k, costs=costs)
        down = module.value(scores - steps, np.full(d + 1, y), k, costs=costs)
        g = module.gradient(scores, y, k, costs=costs)
        np.testing.assert_allclose(g, (up - down) / (2 * h), atol=1e-8)


@pytest.mark.parametrize("u", [700.0, 300.0, 40.0, -40.0, -300.0, -690.0])
def test_tiny_losses_and_complements_keep_their_digits(u, module):
    """Softmax of one other class: L = log(1 + e^u), 1 - s = 1/(1 + e^u)."""
    total, x, rest = closed("alpha", [u], 1)
    g, complement = module.gradient([0.0, u], 0, 1, return_complement=True)
    assert relative(complement, rest) <= 4 * EPS
    assert relative(g[1], x[0]) <= 4 * EPS
    assert relative(module.value([0.0, u], 0, 1), total) <= 4 * EPS


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


def test_losses_are_ordered(rng):
    """Truncated <= alpha <= beta <= softmax, for every k."""
    for scale in (0.1, 1.0, 100.0):
        scores, y = rng.standard_normal((50, 9)) * scale, rng.integers(0, 9, 50)
        for k in range(1, 9):
            chain = [
                truncated_topk_entropy.value(scores, y, k),
                topk_entropy_alpha.value(scores, y, k),
                topk_entropy_beta.value(scores, y, k),
                softmax.value(scores, y),
            ]
            for low, high in itertools.pairwise(chain):
                assert (low <= high * (1 + 1e-13)).all()


def test_long_rows_and_every_k(module, rng):
    """Other code finds the largest of many: insertion, lanes, or quickselect."""
    u = rng.standard_normal(400) * 3
    u[5:40] = u[4]
    for k in (2, 5, 16, 17, 30, 200, 399, 400):
        total = module.value(others_first(u), 0, k)
        g, rest = module.gradient(others_first(u), 0, k, return_complement=True)
        x = g[1:]
        assert x.sum() + rest == pytest.approx(1, abs=1e-13)
        assert total + module.conjugate(x, k, complement=rest) == pytest.approx(u @ x, abs=1e-12)


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


def pieces(u, k):
    """All sets of d - k + 1 classes."""
    return itertools.combinations(range(len(u)), len(u) - k + 1)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_truncated_value_and_gradient_are_those_of_the_best_piece(scale, rng):
    for i in range(40):
        d = int(rng.integers(1, 7))
        k = int(rng.integers(1, d + 1))
        u = rng.standard_normal(d) * scale
        u = np.round(u * 2 / scale) if i % 2 else u
        terms = [v.exp() for v in exact(u)]
        sums = {kept: sum(terms[j] for j in kept) for kept in pieces(u, k)}
        least = min(sums.values())
        tolerance = 8 * EPS * (1 + np.abs(u).max())
        got = truncated_topk_entropy.value(others_first(u), 0, k)
        assert relative(got, log1p(least)) <= tolerance
        # The first of equal classes are dropped: the last of equal pieces in this order.
        kept = max(piece for piece, total in sums.items() if total == least)
        g, rest = truncated_topk_entropy.gradient(others_first(u), 0, k, return_complement=True)
        assert relative(rest, 1 / (1 + least)) <= tolerance
        for j in range(d):
            assert relative(g[1 + j], terms[j] / (1 + least) if j in kept else 0) <= tolerance


def test_truncated_prox_is_the_best_of_all_pieces(rng):
    for i in range(40):
        v, k = draw(rng, "alpha", 2.0, ties=i % 2, most=6)
        costs = rng.uniform(0, 1, v.size) * (i % 3 > 0)
        t = float(10 ** rng.uniform(-2, 3))

        def objective(u, v=v, costs=costs, t=t, k=k):
            loss = truncated_topk_entropy.value(others_first(u + costs), 0, k)
            return loss + np.sum((u - v) ** 2) / (2 * t)

        best = np.inf
        for kept in map(list, pieces(v, k)):
            u = v.copy()
            u[kept] = softmax.prox(v[kept], t=t, costs=costs[kept])
            best = min(best, objective(u))
        got, rest = truncated_topk_entropy.prox(v, k, t, costs=costs, return_complement=True)
        assert objective(got) <= best + 1e-13
        moved = np.flatnonzero(got != v)
        assert len(moved) <= v.size - k + 1
        assert np.sum(v - got) / t == pytest.approx(1 - rest, abs=1e-12)


def test_truncated_conjugate():
    np.testing.assert_array_equal(
        truncated_topk_entropy.conjugate([[0.0, 0.0], [0.1, 0.0], [-0.1, 0.0], [1e-300, 0.0]], 2),
        [0.0, np.inf, np.inf, np.inf],
    )
    assert not hasattr(truncated_topk_entropy, "sdca_update")


def test_two_classes_are_logistic(module, variant):
    """m = 2: log(1 + e^u) for k = 1; beta has the cap 1/k for larger k."""
    u = np.array([-800.0, -1.0, 0.0, 2.0, 800.0])
    scores = np.stack([np.zeros(5), u], axis=1)
    np.testing.assert_allclose(module.value(scores, np.zeros(5, int), 1), np.logaddexp(0, u))
    if variant == "beta":
        x = -module.gradient(scores, np.zeros(5, int), 4)[:, 0]
        np.testing.assert_allclose(x, np.minimum(expit(u), 0.25))
    with pytest.raises(errors.InvalidParameterError, match="at least 2 classes"):
        module.value([1.0], 0)


def test_weights_scale_values_and_gradients(module, rng):
    scores, y = rng.standard_normal((3, 5)), np.array([0, 1, 4])
    w = np.array([0.0, 0.5, 3.0])
    np.testing.assert_allclose(
        module.value(scores, y, 2, sample_weight=w), w * module.value(scores, y, 2)
    )
    g, rest = module.gradient(scores, y, 2, sample_weight=w, return_complement=True)
    np.testing.assert_allclose(g, w[:, None] * module.gradient(scores, y, 2))
    _, unweighted = module.gradient(scores, y, 2, return_complement=True)
    np.testing.assert_array_equal(rest, unweighted)
    block = module.sdca_update(scores, y, 2.0, 0.3, 2, sample_weight=w)
    assert not block[0].any()
    for i in (1, 2):
        alone = module.sdca_update(scores[i], y[i], 2.0, 0.3 * w[i], 2)
        np.testing.assert_allclose(block[i], alone, rtol=1e-14)


def test_costs_are_added_to_the_margins(module, rng):
    scores, costs = rng.standard_normal(6), rng.uniform(0, 3, 6)
    costs[2] = 0.0
    for operation in ("value", "gradient"):
        function = getattr(module, operation)
        np.testing.assert_allclose(
            function(scores, 2, 3, costs=costs), function(scores + costs, 2, 3), rtol=1e-13
        )
    np.testing.assert_allclose(
        module.sdca_update(scores, 2, 1.5, 0.7, 3, costs=costs),
        module.sdca_update(scores + costs, 2, 1.5, 0.7, 3),
        rtol=1e-12,
    )
    v, c = scores[:5], costs[:5]
    np.testing.assert_allclose(
        module.prox(v, 3, 0.7, costs=c) + c, module.prox(v + c, 3, 0.7), rtol=1e-13
    )


def test_prox_beats_a_general_minimiser(module, variant, rng):
    for _ in range(10):
        v, k = draw(rng, variant, 2.0)
        t = float(10 ** rng.uniform(-1, 2))

        def objective(u, v=v, k=k, t=t):
            return module.value(others_first(u), 0, k) + np.sum((u - v) ** 2) / (2 * t)

        found = minimize(objective, v, method="Nelder-Mead", options={"maxfev": 400})
        assert objective(module.prox(v, k, t)) <= found.fun + 1e-14


def check_dual(variant, b, k, a, rho, x, rest):
    """Compare with the twin; errors are relative to the size of the exponents."""
    wanted, own = solve(variant, b, k, a, rho)
    tolerance = 16 * EPS * max(1, np.abs(b).max(), a)
    assert relative(rest, own) <= tolerance
    for got, exact_x in zip(x, wanted, strict=True):
        assert relative(got, exact_x) <= tolerance


DUAL = [(s, a) for s in (0.3, 3.0, 100.0) for a in (1e-9, 1e-2, 1.0, 30.0, 1e4)]


@pytest.mark.parametrize(("scale", "a"), [*DUAL, (1e4, 1e-3), (1e4, 1e4), (10.0, 1e10)])
def test_dual_update_and_prox_in_high_precision(module, variant, scale, a, rng):
    for i in range(2):
        b, k = draw(rng, variant, scale, ties=i == 1 and scale > 1, most=6)
        u, rest = module.prox(b, k, a, return_complement=True)
        x = (b - u) / a  # loses digits, so that only 1 - s and its own rounding are compared
        wanted, own = solve(variant, b, k, a, 0)
        assert relative(rest, own) <= 16 * EPS * max(1, np.abs(b).max(), a)
        loss = 8 * EPS * (1 + np.abs(b).max() / a)
        np.testing.assert_allclose(x, [float(v) for v in wanted], rtol=0, atol=loss)
        block, rest = module.sdca_update(others_first(b), 0, a / 2, 2.0, k, return_complement=True)
        check_dual(variant, b, k, a, 1, -block[1:] / 2, rest)
        assert block.sum() == pytest.approx(0, abs=4 * EPS)


def test_without_a_quadratic_the_update_is_the_gradient(module, rng):
    q, y = rng.standard_normal((4, 6)) * 5, np.array([0, 1, 2, 3])
    expected, rest = module.gradient(q, y, 3, return_complement=True)
    for k_ii in (0.0, 1e-300, 1e-20, 1e-17):
        block, complement = module.sdca_update(q, y, k_ii, 1.0, 3, return_complement=True)
        np.testing.assert_allclose(block, -expected, rtol=1e-15)
        np.testing.assert_allclose(complement, rest, rtol=1e-15)
    block = module.sdca_update(q, y, 1.1e-17, 1.0, 3)  # by the iteration
    np.testing.assert_allclose(block, -expected, rtol=1e-13)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("k", [1, 5, 40, 200])
def test_optimality_of_long_rows_over_the_whole_range_of_alpha(module, variant, k, scale, rng):
    b = rng.standard_normal((2, 200)) * scale
    b[1, 20:60] = b[1, 10]
    for a in (1e-300, 1e-12, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e6, 1e10):
        q = np.concatenate([np.zeros((2, 1)), b], axis=1)
        block, rest = module.sdca_update(q, [0, 0], a, 1.0, k, return_complement=True)
        for b_i, x, y in zip(b, -block[:, 1:], rest, strict=True):
            check_optimal(variant, b_i, k, a, 1, x, y)


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
    assert relative(rest, closed("alpha", [600.0], 1)[2]) <= 4 * EPS
