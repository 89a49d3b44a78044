"""Projections at the edges of their cases; tests/sets has all else, against exact arithmetic."""

import inspect

import numpy as np
import pytest

from fast import sets
from refsolve import exact

#: Parameters that many sets have; a set with others, or without signs, has a file of its own.
COMMON = {"a", "y", "k", "r", "rho"}
OBJECTS = sorted(
    n
    for n in set(dir(sets)) - {"l1_ball"}
    if hasattr(module := getattr(sets, n), "project")
    and inspect.signature(module.project).parameters.keys() <= COMMON
)
MODULES = {object_name: getattr(sets, object_name) for object_name in OBJECTS}
HAS = {
    object_name: inspect.signature(module.project).parameters
    for object_name, module in MODULES.items()
}
EPS = np.finfo(float).eps


def parameters(object_name, d, k, r, rho=0.0):
    """Those that the set has; the sides are drawn anew for every length."""
    y = np.random.default_rng(d).integers(0, 2, d)
    values = {"k": k, "r": r, "rho": rho, "y": y}
    return {name: value for name, value in values.items() if name in HAS[object_name]}


@pytest.mark.parametrize("object_name", OBJECTS)
@pytest.mark.parametrize("factor", [2.0**-990, 2.0**-500, 2.0**500, 2.0**990])
def test_extreme_scales_are_exact_multiples(object_name, factor, rng):
    """Multiplying a and r by a power of two multiplies x by it, as long as nothing overflows."""
    for d in (7, 100):
        a = rng.standard_normal(d)
        for k in (1, 3):
            x = MODULES[object_name].project(a, **parameters(object_name, d, k, 0.5, 0.5))
            scaled = MODULES[object_name].project(
                factor * a, **parameters(object_name, d, k, 0.5 * factor, 0.5)
            )
            np.testing.assert_array_equal(scaled, factor * x)


@pytest.mark.parametrize("rho", [0.0, 1e-3, 10.0, 1e300])
def test_alpha_is_zero_iff_the_top_k_sum_to_zero_or_less(rho):
    """However large rho is: an absolute threshold anywhere would return 0 too early."""
    assert sets.topk_simplex_alpha.project([1.0, -0.9, -5.0], k=2, rho=rho).any()
    for a in ([1.0, -1.0, -5.0], [1.0, -1.5, -5.0], [0.0, 0.0]):
        assert not sets.topk_simplex_alpha.project(a, k=2, rho=rho).any()
        assert not sets.topk_cone.project(a, k=2, rho=rho).any()


def test_printed_counterexamples():
    """Cases that a strict inequality or a fall-back on 0 gets wrong."""
    a = [0.8, 2.1, 1.9, 0.4, -1.5, -0.2]
    x = sets.topk_cone.project(a, k=4)
    np.testing.assert_allclose(x, exact.project("topk_cone", a, k=4).array(), rtol=4 * EPS)
    np.testing.assert_allclose(x, [1.4, 1.4, 1.4, 1.0, 0.0, 0.4], rtol=1e-14)
    x = sets.topk_simplex_alpha.project([1.0, -0.9], k=2, rho=10.0)
    np.testing.assert_allclose(x, [0.1 / 42, 0.1 / 42], rtol=1e-14)


@pytest.mark.parametrize("object_name", OBJECTS)
def test_integer_ties_do_not_cycle(object_name):
    """Rounding can make two guesses of the active set imply each other; the search must end."""
    rng = np.random.default_rng(12)
    rows = np.round(rng.standard_normal((400, 100)) * 2)
    params = parameters(object_name, 100, 5, 3.0, 0.5)
    each = {n: np.tile(v, (400, 1)) if n == "y" else v for n, v in params.items()}
    x = MODULES[object_name].project(rows, **each)
    for row, result in zip(rows[:10], x, strict=False):
        expected = exact.project(object_name, row, **params).array()
        np.testing.assert_allclose(result, expected, atol=64 * EPS * 10, rtol=0)


def test_search_for_one_level_ends_on_rounded_ties():
    """Found by verification: the active set alternated for ever between two sizes."""
    v = 1.696108950000001
    a = [2.0, v, v, v, v, 2.0, 2.0, v, 2.0, v]
    rng = np.random.default_rng(0)
    for _ in range(2000):
        r, rho = 10 * rng.random(), 10 * rng.random()
        x = sets.topk_simplex_alpha.project(a, k=1, r=r, rho=rho)
        assert x.min() >= 0
        assert x.sum() <= r * (1 + 1e-14)


def test_the_bipartite_simplex_is_zero_iff_the_largest_entries_sum_to_zero_or_less():
    y = [0, 0, 1, 1]
    assert sets.bipartite_simplex.project([1.0, -5.0, -1.0 + 2.0**-50, -9.0], y).any()
    for a in ([1.0, -5.0, -1.0, -9.0], [1.0, 0.0, -2.0, -3.0], [0.0] * 4):
        assert not sets.bipartite_simplex.project(a, y).any()
    for one_sided in ([0, 0, 0, 0], [1, 1, 1, 1]):
        assert not sets.bipartite_simplex.project([3.0, 2.0, 1.0, 4.0], one_sided).any()


def test_the_bipartite_simplex_depends_on_the_sum_of_both_levels_only(rng):
    """<1,x_N> = <1,x_P>: shifting N up and P down by the same number changes nothing."""
    a = np.round(rng.standard_normal((50, 9)) * 8)
    y = rng.integers(0, 2, (50, 9))
    shifted = a + np.where(y, -64.0, 64.0)
    x = sets.bipartite_simplex.project(a, y, r=5.0)
    np.testing.assert_array_equal(sets.bipartite_simplex.project(shifted, y, r=5.0), x)
    low, high = np.where(y, 0, x).sum(axis=1), np.where(y, x, 0).sum(axis=1)
    np.testing.assert_allclose(low, high, rtol=8 * EPS)
    assert (low > 0).any()
    assert (low < 4.9).any()


def test_a_point_of_the_ball_stays_and_signs_are_kept(rng):
    a = np.array([0.1, -0.2, 0.0, 0.3])
    np.testing.assert_array_equal(sets.l1_ball.project(a, r=1.0), a)
    assert not sets.l1_ball.project(a, r=0.0).any()
    x = sets.l1_ball.project(np.array([3.0, -0.5, 0.0, -4.0]), r=2.0)
    np.testing.assert_array_equal(x, [0.5, 0.0, 0.0, -1.5])
    a, r = np.abs(rng.standard_normal((40, 7)) + 1.0), rng.uniform(0, 2, 40)
    signs, x = rng.choice([-1.0, 1.0], size=a.shape), sets.l1_ball.project(a, r=r)
    np.testing.assert_array_equal(sets.l1_ball.project(signs * a, r=r), signs * x)
    outside = a.sum(axis=1) > r
    np.testing.assert_array_equal(x[outside], sets.simplex.project(a, r=r)[outside])


def test_the_polymatroid_has_the_top_k_simplex_and_the_box_as_special_cases(rng):
    project = sets.cardinality_polymatroid.project
    for d in (1, 2, 7, 40):
        a = np.round(rng.normal(size=(20, d)), 1) * 3
        for k in range(1, d + 1):
            beta = (np.arange(d) < k) / k
            right = sets.topk_simplex_beta.project(a, k=k)
            np.testing.assert_allclose(project(a, beta), right, rtol=0, atol=1e-14)
        first = np.arange(d) < 1  # x >= 0, <1,x> <= 1
        np.testing.assert_allclose(
            project(a, 2.5 * first),
            sets.topk_simplex_alpha.project(a, k=1, r=2.5),
            rtol=0,
            atol=1e-14,
        )
        np.testing.assert_allclose(project(a, 0.7), sets.box.project(a, r=0.7), rtol=0, atol=1e-14)
        beta = -np.sort(-rng.exponential(size=(20, d)))
        each = [project(row, own) for row, own in zip(a, beta, strict=True)]
        np.testing.assert_array_equal(project(a, beta), each)
        large = project(a + 2.0**40, beta)  # digits are lost in a, not in what is made of it
        np.testing.assert_allclose(large.sum(axis=1), beta.sum(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(project([0.5, -1.0, 0.25], [0.75, 0.5, 0.0]), [0.5, 0.0, 0.25])


def test_the_knapsack_of_at_most_its_capacity_is_the_box_or_the_knapsack(rng):
    project, equal = sets.knapsack_at_most.project, sets.knapsack.project
    a = rng.normal(size=(40, 7))
    right = sets.topk_simplex_alpha.project(a, k=1, r=1.5)  # x >= 0, <1,x> <= 1.5
    np.testing.assert_allclose(project(a, 1.0, 0.0, np.inf, 1.5), right, rtol=0, atol=1e-14)
    b = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0], size=(40, 7))
    low, high = -rng.exponential(size=(2, 40, 7)) * [[[1.0]], [[-1.0]]]
    box = np.clip(a, low, high)
    spent = (b * box).sum(axis=1)
    np.testing.assert_array_equal(project(a, b, low, high, 1e150), box)
    np.testing.assert_array_equal(project(a, b, low, high, spent + 1e-9), box)
    short = spent - 0.1
    least = np.minimum(b * low, b * high).sum(axis=1)
    c = np.maximum(short, least)
    np.testing.assert_array_equal(project(a, b, low, high, c), equal(a, b, low, high, c))
    low, high = np.round(4 * low) / 4, np.round(4 * high) / 4  # the least value is a float, and met
    corner = np.where(b > 0, low, np.where(b < 0, high, np.clip(a, low, high)))
    least = np.minimum(b * low, b * high).sum(axis=1)
    np.testing.assert_allclose(project(a, b, low, high, least), corner, rtol=1e-15)
    far = project([1e300, -1e300, 5.0], [1e70, 1.0, 0.0], -np.inf, np.inf, -1e150)
    np.testing.assert_array_equal(far[1:], [-1e300, 5.0])
    assert abs(far[0]) < 1e285
    tiny = project([3.0, 4.0], [1e-70, -1e-70], [0.0, -np.inf], np.inf, -2e-70)
    np.testing.assert_allclose(tiny, [2.5, 4.5], rtol=1e-15)
    # 0.1 + 0.2 is above 0.3 in floats alone: what the capacity just allows is not moved
    for third in (0.3, 0.1 + 0.2):
        x = project([0.1, 0.2], 1.0, 0.0, 1.0, third)
        np.testing.assert_allclose(x, [0.1, 0.2], rtol=1e-15)
    assert project([0.1, 0.2], 1.0, 0.0, 1.0, 0.1 + 0.2).tolist() == [0.1, 0.2]


def test_the_knapsack_has_simplex_and_capped_simplex_as_special_cases(rng):
    a = rng.normal(size=(40, 7))
    for high in (np.inf, 0.3):
        x = sets.knapsack.project(a, 1.0, 0.0, high, 1.5)
        right = sets.capped_simplex.project(a, r=1.5, cap=min(high, 9.0))
        np.testing.assert_allclose(x, right, rtol=0, atol=64 * EPS)
    a, b, low = rng.normal(size=(3, 6, 4))
    high, c = low + 1, (b * (low + rng.uniform(0, 1, (6, 4)))).sum(axis=1)
    together = sets.knapsack.project(a, b, low, high, c)
    for i in range(6):  # numbers, one for all rows or one per row
        alone = sets.knapsack.project(a[i], b[i], low[i], high[i], c[i])
        np.testing.assert_array_equal(together[i], alone)
    shared = sets.knapsack.project(a, b[0], -2.0, np.full(4, 2.0), 0.1)
    wide = np.full((6, 4), 2.0)
    each = sets.knapsack.project(a, np.tile(b[0], (6, 1)), -wide, wide, 0.1)
    np.testing.assert_array_equal(shared, each)
    assert sets.knapsack.project(a[:0], b[0], -2.0, 2.0, 0.1).shape == (0, 4)
