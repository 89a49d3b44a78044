"""The l1 ball of `fast` against exact arithmetic, at lengths that take their own path."""

import numpy as np
import pytest

from fast.errors import InvalidParameterError
from fast.sets import l1_ball, simplex
from refsolve import exact

EPS = np.finfo(float).eps


@pytest.mark.parametrize(("d", "draws"), [(1, 20), (2, 60), (5, 100), (20, 30), (65, 8), (300, 4)])
def test_against_exact_arithmetic(d, draws):
    rng = np.random.default_rng(d)
    for i in range(draws):
        a = rng.standard_normal(d) * 10.0 ** rng.integers(-6, 7)
        if i % 3 == 0:
            a = np.round(rng.standard_normal(d) * 2) * 10.0 ** rng.integers(-6, 7)
        r = float(10.0 ** rng.integers(-6, 7))
        expected = exact.project("l1_ball", a, r=r).array()
        x = l1_ball.project(a, r=r)
        assert np.abs(x - expected).max() <= 64 * EPS * np.abs(expected).max()


def test_a_point_of_the_ball_stays_to_the_last_digit_and_zeros_keep_their_place():
    a = np.array([0.1, -0.2, 0.0, 0.3])
    np.testing.assert_array_equal(l1_ball.project(a, r=1.0), a)
    assert not l1_ball.project(a, r=0.0).any()
    x = l1_ball.project(np.array([3.0, -0.5, 0.0, -4.0]), r=2.0)
    np.testing.assert_array_equal(x, [0.5, 0.0, 0.0, -1.5])


def test_signs_turn_with_the_signs_of_a_and_rows_have_their_own_radius(rng):
    a, r = rng.standard_normal((40, 7)) + 1.0, rng.uniform(0, 2, 40)
    signs = rng.choice([-1.0, 1.0], size=a.shape)
    x = l1_ball.project(np.abs(a), r=r)
    np.testing.assert_array_equal(l1_ball.project(signs * np.abs(a), r=r), signs * x)
    outside = np.abs(a).sum(axis=1) > r
    np.testing.assert_array_equal(x[outside], simplex.project(np.abs(a), r=r)[outside])


def test_bad_radius_is_named():
    with pytest.raises(InvalidParameterError, match="r"):
        l1_ball.project([1.0, 2.0], r=-1.0)
