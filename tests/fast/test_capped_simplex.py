"""The capped simplex of `fast` against exact arithmetic, at lengths that take their own path."""

from fractions import Fraction

import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.sets import capped_simplex, simplex
from refsolve import exact

EPS = np.finfo(float).eps


def draw(rng, d):
    """A row of any scale, often with ties, and r and cap that fit."""
    a = rng.standard_normal(d) * 10.0 ** rng.integers(-6, 7)
    if rng.random() < 0.4:
        a = np.round(rng.standard_normal(d) * 2) * 10.0 ** rng.integers(-6, 7)
    r = float(10.0 ** rng.integers(-6, 7))
    share = rng.choice([1.0, 1.5, rng.uniform(1, d), d, 3 * d])
    cap = float(r / d * share)
    return a, r, cap if d * Fraction(cap) >= Fraction(r) else float(np.nextafter(cap, np.inf))


@pytest.mark.parametrize(("d", "draws"), [(1, 20), (2, 60), (5, 100), (20, 30), (65, 8), (300, 4)])
def test_against_exact_arithmetic(d, draws):
    rng = np.random.default_rng(d)
    for _ in range(draws):
        a, r, cap = draw(rng, d)
        expected = exact.project("capped_simplex", a, r=r, cap=cap).array()
        x = capped_simplex.project(a, r=r, cap=cap)
        # errors of a few ulp of the result, however large the entries of a are
        assert np.abs(x - expected).max() <= 64 * EPS * expected.max()


def test_a_cap_beyond_r_is_the_simplex_and_one_of_r_over_d_the_mean():
    a = np.random.default_rng(8).standard_normal((20, 9))
    np.testing.assert_array_equal(
        capped_simplex.project(a, r=0.7, cap=3.0), simplex.project(a, r=0.7)
    )
    np.testing.assert_allclose(capped_simplex.project(a, r=4.5, cap=0.5), 0.5, rtol=1e-15)
    third = capped_simplex.project(np.arange(49.0), r=1.0, cap=1 / 49)  # 49 * (1/49) < 1 in floats
    np.testing.assert_allclose(third, 1 / 49, rtol=1e-15)


def test_rows_have_their_own_sums_and_caps(rng):
    a, r = rng.standard_normal((30, 6)), rng.uniform(0, 2, 30)
    cap = r * rng.uniform(1 / 5, 1, 30)
    together = capped_simplex.project(a, r=r, cap=cap)
    for row, ri, ci, x in zip(a, r, cap, together, strict=True):
        np.testing.assert_array_equal(capped_simplex.project(row, r=ri, cap=ci), x)


def test_bad_caps_are_named():
    with pytest.raises(InvalidParameterError, match="empty"):
        capped_simplex.project([0.9, 0.4, -0.2], r=1, cap=0.3)
    with pytest.raises(InvalidParameterError, match="cap"):
        capped_simplex.project([0.9, 0.4, -0.2], r=1, cap=-0.3)
    with pytest.raises(InvalidParameterError, match="cap"):
        capped_simplex.project(np.zeros((3, 2)), r=1, cap=[1.0, 1.0])
