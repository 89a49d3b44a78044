"""Projections against exact rational arithmetic, at every length and k that takes its own path."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fast import sets
from refsolve import exact

#: Parameters that many sets have; a set with others, or without signs, has a file of its own.
COMMON = {"a", "y", "k", "r", "rho"}
STEMS = sorted(
    n
    for n in set(dir(sets)) - {"l1_ball"}
    if hasattr(module := getattr(sets, n), "project")
    and inspect.signature(module.project).parameters.keys() <= COMMON
)
MODULES = {stem: getattr(sets, stem) for stem in STEMS}
HAS = {stem: inspect.signature(module.project).parameters for stem, module in MODULES.items()}
EPS = np.finfo(float).eps


def parameters(stem, d, k, r, rho=0.0):
    """Those that the set has; the sides are drawn anew for every length."""
    y = np.random.default_rng(d).integers(0, 2, d)
    values = {"k": k, "r": r, "rho": rho, "y": y}
    return {name: value for name, value in values.items() if name in HAS[stem]}


def check(stem, a, k, r, rho):
    """Errors of a few ulp of the largest entry; of the result itself where its sum is r."""
    params = parameters(stem, a.size, k, r, rho)
    x = MODULES[stem].project(a, **params)
    # the oracle refuses k > d for the sets that are {0} then
    if k > a.size and stem in ("topk_cone", "topk_simplex_alpha"):
        assert not x.any()
        return
    right = exact.project(stem, a, **params)
    expected = right.array()
    tight = params.get("rho", 0) == 0 and "r" in params and sum(right.x) == Fraction(r)
    tight = tight or stem == "bipartite_simplex"  # the sums agree to the precision of the sums
    scale = expected.max() if tight else max(expected.max(), np.abs(a).max())
    assert np.abs(x - expected).max() <= 64 * EPS * scale + 5e-324


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize(("d", "draws"), [(1, 20), (2, 40), (5, 80), (20, 20), (64, 6), (65, 6)])
def test_random_rows_at_all_scales(stem, d, draws):
    rng = np.random.default_rng([d, len(stem)])
    for i in range(draws):
        a = rng.standard_normal(d) * 10.0 ** rng.integers(-6, 7)
        if i % 3 == 0:
            a = np.round(rng.standard_normal(d) * 2) * 10.0 ** rng.integers(-6, 7)
        k = int(rng.integers(1, d + 3))
        r = float(10.0 ** rng.integers(-6, 7))
        rho = float(rng.choice([0.0, 1.0, rng.random(), 10.0 ** rng.integers(-6, 7)]))
        check(stem, a, k, r, rho)


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("k", [1, 2, 24, 25, 70, 149])
def test_long_rows(stem, k):
    """Longer rows are filtered by interleaved maxima, or by quickselect for large k."""
    rng = np.random.default_rng(k)
    normal = rng.standard_normal(150)
    for a in (normal, np.sort(normal), np.round(normal), normal - 3, 2.0 ** -np.arange(150)):
        check(stem, a, k, 1.0, 0.5)
        check(stem, a, k, 100.0, 0.0)


@pytest.mark.parametrize("stem", STEMS)
@given(data=st.data())
def test_tie_grids(stem, data):
    """Small integers meet every tie and every boundary between the cases exactly."""
    a = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=1, max_size=6)), dtype=float)
    k = data.draw(st.integers(1, a.size + 1))
    r = data.draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 100.0]))
    rho = data.draw(st.sampled_from([0.0, 0.5, 1.0, 3.0]))
    check(stem, a, k, r, rho)


@pytest.mark.parametrize("stem", [s for s in STEMS if "r" in HAS[s] and s != "box"])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("large", [1e6, 1e12, 2.0**52])
def test_large_tied_rows_keep_the_precision_of_the_radius(stem, k, large):
    """Coordinates relative to the threshold: errors are relative to r = 1e-6, not to the entries."""
    a = large + np.array([1.0, 2.0, 2.0, 0.0, 2.0, 1.0])
    params = parameters(stem, a.size, k, 1e-6)
    x = MODULES[stem].project(a, **params)
    expected = exact.project(stem, a, **params).array()
    np.testing.assert_allclose(x, expected, rtol=8 * EPS, atol=0)


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("factor", [2.0**-990, 2.0**-500, 2.0**500, 2.0**990])
def test_extreme_scales_are_exact_multiples(stem, factor, rng):
    """Multiplying a and r by a power of two multiplies x by it, as long as nothing overflows."""
    for d in (7, 100):
        a = rng.standard_normal(d)
        for k in (1, 3):
            x = MODULES[stem].project(a, **parameters(stem, d, k, 0.5, 0.5))
            scaled = MODULES[stem].project(factor * a, **parameters(stem, d, k, 0.5 * factor, 0.5))
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


@pytest.mark.parametrize("stem", STEMS)
def test_integer_ties_do_not_cycle(stem):
    """Rounding can make two guesses of the active set imply each other; the search must end."""
    rng = np.random.default_rng(12)
    rows = np.round(rng.standard_normal((400, 100)) * 2)
    params = parameters(stem, 100, 5, 3.0, 0.5)
    each = {n: np.tile(v, (400, 1)) if n == "y" else v for n, v in params.items()}
    x = MODULES[stem].project(rows, **each)
    for row, result in zip(rows[:10], x, strict=False):
        expected = exact.project(stem, row, **params).array()
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
